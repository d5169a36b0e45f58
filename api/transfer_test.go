//go:build long

package api

import (
	"context"
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/transfer"
	"github.com/motorpool/fleet/query"
)

// Fetch exports and returns the file.
func (w *world) Fetch(params string) string {
	w.t.Helper()
	made := w.do("POST", "/v1/exports?"+params, "").ok(202)
	w.do("GET", "/v1/jobs/"+made.id()+"/result", "").problem(409, "conflict")
	w.work()
	return string(w.do("GET", "/v1/jobs/"+made.id()+"/result", "").ok(200).body)
}

func TestAnImportMakesWhatIsGoodAndTellsOfTheRest(t *testing.T) {
	w := newWorld(t)
	file := "make,model,year,external_refs.0.system,external_refs.0.id,tags,custom_fields.seats,status\n" +
		"Tesla,Model 3,2024,turo,t1,a;b,5,rented\n" +
		"Tesla,Model Y,soon,turo,t2,,,\n" + // no number
		"Kia,'=Niro,2023,turo,t3,,\"\"\"5\"\"\",inactive\n" +
		"\nKia,Rio\n" // an empty row, and one that is too short
	job := w.bringIn("kind=vehicles&format=csv", file)
	wantEqual(t, "job", outcome(job), "done 4/4 2+2")
	wantEqual(t, "kind", fmt.Sprint(job["kind"], job["records"], job["mode"]), "importvehiclescreate")
	errs := w.do("GET", "/v1/jobs/"+job["id"].(string)+"/errors", "").data()
	if len(errs) != 2 || errs[0]["row"] != 3.0 || errs[1]["row"] != 6.0 || errs[0]["code"] != "validation_failed" {
		t.Errorf("errors: %v", errs)
	}
	if issues := errs[0]["errors"].([]any); issues[0].(map[string]any)["pointer"] != "/year" {
		t.Errorf("errors of row 3: %v", issues)
	}
	lines := w.bringIn("kind=vehicles&format=jsonl&dry_run=true", "{\"make\":\"A\",\"model\":\"B\"}\n\n{\"make\":1}\n")
	if errs := w.do("GET", "/v1/jobs/"+lines["id"].(string)+"/errors", "").data(); len(errs) != 1 ||
		errs[0]["row"] != 3.0 {
		t.Errorf("errors by line: %v", errs)
	}
	made := w.do("GET", "/v1/vehicles?sort=-make", "").data()
	if len(made) != 2 {
		t.Fatalf("made %v", made)
	}
	wantEqual(t, "first", fmt.Sprint(made[0]["make"], made[0]["year"], made[0]["tags"], made[0]["custom_fields"],
		made[0]["status"]), "Tesla2024 [a b] map[seats:5]available")
	wantEqual(t, "second", fmt.Sprint(made[1]["model"], made[1]["status"]), "=Niroinactive")
	if seats := made[1]["custom_fields"].(map[string]any)["seats"]; seats != "5" {
		t.Errorf("seats %v", seats)
	}
	wantEqual(t, "by", w.do("GET", "/v1/vehicles/"+made[0]["id"].(string)+"/history", "").data()[0]["action"], "create")

	for _, params := range []string{"kind=boats&format=csv", "format=csv", "kind=vehicles&format=jsonl",
		"kind=quotes&format=csv&mode=upsert"} {
		w.do("POST", "/v1/imports?"+params, "make\nA\n", "Content-Type", "text/csv").problem(400, "invalid_request")
	}
	for _, bad := range []string{"make,make\nA,B\n", "nonsense\nA\n", "make\n", "metadata,metadata.a\n1,2\n",
		"make\n\"A\n"} {
		w.do("POST", "/v1/imports?kind=vehicles&format=csv", bad, "Content-Type", "text/csv").problem(422,
			"validation_failed")
	}
	for header, says := range map[string]string{
		"make,plate\n":            "did you mean license_plate?",
		"make;model;nickname\n":   "separate them by commas",
		"Make,model,daily_rate\n": "did you mean make?",
	} {
		got := w.do("POST", "/v1/imports?kind=vehicles&format=csv", header+"A,B,C\n", "Content-Type", "text/csv").
			problem(422, "validation_failed").Detail
		if !strings.Contains(got, says) {
			t.Errorf("%q is refused with %q, which does not say %q", header, got, says)
		}
	}
	w.do("POST", "/v1/imports?kind=vehicles&format=csv", "make\n"+strings.Repeat("A\n", transfer.MaxRows+1),
		"Content-Type", "text/csv").problem(422, "validation_failed")
}

func TestAnImportGoesOnWhereAnotherProcessDied(t *testing.T) {
	w := newWorld(t)
	var file strings.Builder
	for i := range 250 {
		fmt.Fprintf(&file, `{"make":"M","model":"X","vin":"5YJ3E1EA7KF3%05d"}`+"\n", i)
	}
	id := w.do("POST", "/v1/imports?kind=vehicles&format=jsonl", file.String(), "Content-Type",
		"application/x-ndjson").ok(202).id()
	open, err := query.OpenTransfers(t.Context(), w.db, w.api.Now())
	if err != nil || len(open) != 1 {
		t.Fatal(open, err)
	}
	// The first process brings 100 rows, and 100 more of which it notes only half, and dies.
	l, err := w.api.transfer.Lease(t.Context(), open[0])
	if err != nil {
		t.Fatal(err)
	}
	ctx := w.api.transfer.OnBehalf(t.Context(), &l.Rec)
	input, err := query.JobInput(ctx, w.db, open[0])
	if err != nil {
		t.Fatal(err)
	}
	some, others := w.api.transfer.Chunk(l, input, rest.MaxBatch)
	if _, err := w.api.transfer.BringSome(ctx, l, some, 0); err != nil {
		t.Fatal(err)
	}
	some, _ = w.api.transfer.Chunk(l, others, rest.MaxBatch)
	w.api.Transfers["vehicles"].ImportRows(transfer.AsItself(ctx, "/v1/vehicles"), l.Rec.Body.Transfer, some)
	if err := w.api.transfer.NoteSteps(ctx, open[0], []uint64{101, 102}, nil); err != nil {
		t.Fatal(err)
	}
	deps := Deps{Deps: w.api.Deps}
	deps.Metrics = nil
	other, err := New(w.api.Config, deps)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "half", outcome(w.do("GET", "/v1/jobs/"+id, "").object()), "running 102/250 102+0")
	if _, err := other.transfer.Lease(t.Context(), open[0]); err != transfer.ErrTaken {
		t.Errorf("a second process gets the lease too: %v", err)
	}
	w.clock.Add(int64(2 * transfer.LeaseTime))
	other.transfer.WorkOn(t.Context(), open[0])
	if err := l.Keep(t.Context()); err != transfer.ErrTaken {
		t.Errorf("the first process keeps its lease: %v", err)
	}
	wantEqual(t, "job", outcome(w.do("GET", "/v1/jobs/"+id, "").object()), "done 250/250 250+0")
	wantEqual(t, "vehicles", w.do("GET", "/v1/vehicles", "").ok(200).pagination().Total, 250)
	wantEqual(t, "first revisions", w.do("GET", "/v1/vehicles?sort=-id&per_page=1", "").data()[0]["revision"], 1.0)
}

func TestAnUpsertChangesWhatIsKnown(t *testing.T) {
	w := newWorld(t)
	known := w.vehicle(`{"make":"Tesla","model":"3","color":"red","external_refs":[{"system":"turo","id":"t1"}]}`)
	byVIN := w.vehicle(`{"make":"Kia","model":"Rio","vin":"5YJ3E1EA7KF317000"}`)
	file := "make,model,external_refs.0.system,external_refs.0.id,vin\n" +
		"Tesla,Model 3,turo,t1,\nTesla,S,getaround,t1,\nKia,Niro,,,5yj3e1ea7kf317000\nTesla,Model X,turo,t9,\nTesla,Model XX,turo,t9,\n"
	job := w.bringIn("kind=vehicles&format=csv&mode=upsert&dry_run=true", file)
	wantEqual(t, "trial", outcome(job), "done 5/5 5+0")
	wantEqual(t, "after the trial", w.do("GET", "/v1/vehicles", "").ok(200).pagination().Total, 2)
	wantEqual(t, "after the trial", w.do("GET", "/v1/vehicles/"+known, "").object()["revision"], 1.0)
	job = w.bringIn("kind=vehicles&format=csv&mode=upsert", file)
	wantEqual(t, "job", outcome(job), "done 5/5 5+0")
	one := w.do("GET", "/v1/vehicles/"+known, "").object()
	wantEqual(t, "known", fmt.Sprint(one["model"], one["color"], one["revision"]), "Model 3red2")
	wantEqual(t, "by VIN", w.do("GET", "/v1/vehicles/"+byVIN, "").object()["model"], "Niro")
	wantEqual(t, "of one reference", w.do("GET", "/v1/vehicles?external_ref=t9", "").data()[0]["model"], "Model XX")
	wantEqual(t, "all", w.do("GET", "/v1/vehicles", "").ok(200).pagination().Total, 4)
	job = w.bringIn("kind=vehicles&format=csv&mode=upsert", "id,make\n"+known+",Testla\nveh_1,A\n")
	wantEqual(t, "by id", outcome(job), "done 2/2 1+1")
	wantEqual(t, "by id", w.do("GET", "/v1/vehicles/"+known, "").object()["make"], "Testla")
}

func TestWhatWasExportedCanBeImported(t *testing.T) {
	w := newWorld(t)
	w.do("POST", "/v1/customers",
		`{"display_name":"Ann Lee","phone":"+15125550100","tags":["vip; loyal","x"],"address":{"city":"Austin","country":"US"},`+
			`"licence":{"number":"D1234567","country":"US","region":"TX"},"custom_fields":{"a.b":"007","n":"7","f":[1,{"x":null}],"q":"\"q","neg":"-5"},"external_refs":[{"system":"s","id":"e1"}]}`).ok(201)
	w.do("POST", "/v1/customers", `{"display_name":"=Bob, \"B\"\nline"}`).ok(201)
	for _, format := range []string{"csv", "jsonl"} {
		file := w.Fetch("kind=customers&format=" + format + "&sort=display_name")
		if format == "csv" {
			rows, err := csv.NewReader(strings.NewReader(file)).ReadAll()
			if err != nil || len(rows) != 3 || rows[0][0] != "id" {
				t.Fatal(err, file)
			}
		}
		// Into the same account nothing changes; into another it is the same again.
		wantEqual(t, "again", outcome(w.bringIn("kind=customers&mode=upsert&format="+format, file)), "done 2/2 2+0")
		before := w.do("GET", "/v1/customers?sort=display_name", "").data()
		for _, c := range before {
			wantEqual(t, "revision after "+format, c["revision"], 1.0)
		}
		mine := w.key
		w.key = w.newKey(w.newAccount("Other "+format), auth.Admin)
		wantEqual(t, "copy", outcome(w.bringIn("kind=customers&format="+format, file)), "done 2/2 2+0")
		for i, c := range w.do("GET", "/v1/customers?sort=display_name", "").data() {
			for _, name := range []string{"display_name", "phone", "tags", "address", "licence", "custom_fields",
				"external_refs"} {
				wantEqual(t, format+" "+name, c[name], before[i][name])
			}
		}
		w.key = mine
	}
	if file := w.Fetch("kind=customers&format=jsonl&external_ref=e1"); strings.Count(file, "\n") != 1 ||
		!strings.Contains(file, "D1234567") {
		t.Errorf("filtered: %s", file)
	}
	if file := w.Fetch("kind=customers&format=csv&q=nobody"); file != "id\n" {
		t.Errorf("of nothing: %q", file)
	}
	w.do("POST", "/v1/exports?kind=customers&format=csv&make=A", "").problem(400, "invalid_request")
	w.do("POST", "/v1/exports?kind=customers&format=csv&sort=nonsense", "").problem(400, "invalid_request")
}

func TestJobsAskForTheScopeOfWhatTheyAreAbout(t *testing.T) {
	w := newWorld(t)
	w.do("POST", "/v1/customers",
		`{"display_name":"Ann Lee","licence":{"number":"D1234567","country":"US","region":"TX"}}`).ok(201)
	as := func(scopes ...auth.Scope) []string {
		return []string{"Authorization", "Bearer " + w.newKey(w.account, scopes...)}
	}
	admin := w.do("POST", "/v1/exports?kind=customers&format=jsonl", "").ok(202).id()
	reader := as(auth.CustomersRead)
	masked := w.do("POST", "/v1/exports?kind=customers&format=jsonl", "", reader...).ok(202).id()
	w.work()
	file := string(w.do("GET", "/v1/jobs/"+masked+"/result", "", reader...).ok(200).body)
	if strings.Contains(file, "D1234567") || !strings.Contains(file, "Ann Lee") {
		t.Errorf("masked: %s", file)
	}
	w.do("GET", "/v1/jobs/"+masked, "", reader...).ok(200)
	w.do("GET", "/v1/jobs/"+admin+"/result", "", reader...).problem(403, "insufficient_scope")
	w.do("GET", "/v1/jobs/"+masked+"/result", "", as(auth.VehiclesRead)...).problem(403, "insufficient_scope")
	w.do("GET", "/v1/jobs/"+masked, "", as(auth.VehiclesRead)...).problem(403, "insufficient_scope")
	w.do("POST", "/v1/exports?kind=customers&format=csv", "", as(auth.VehiclesRead)...).problem(403, "insufficient_scope")
	w.do("POST", "/v1/imports?kind=customers&format=csv", "display_name\nA\n",
		append(as(auth.VehiclesWrite), "Content-Type", "text/csv")...).problem(403, "insufficient_scope")
	imported := w.bringIn("kind=customers&format=csv", "display_name\nA\n")["id"].(string)
	w.do("GET", "/v1/jobs/"+imported+"/errors", "", as(auth.VehiclesWrite)...).problem(403, "insufficient_scope")
	w.do("GET", "/v1/jobs/"+imported+"/result", "").problem(404, "not_found")
	w.key = w.newKey(w.newAccount("Second"), auth.Admin)
	for _, path := range []string{"", "/errors", "/result"} {
		w.do("GET", "/v1/jobs/"+masked+path, "").problem(404, "not_found")
	}
}

func TestEveryKindCanBeExported(t *testing.T) {
	w := newWorld(t)
	for name := range w.api.Transfers {
		first := "id"
		if name == "bookings" { // whose CSV is the table for people
			first = "number"
		}
		if file := w.Fetch("kind=" + name + "&format=csv"); !strings.HasPrefix(file, first) {
			t.Errorf("%s: %q", name, file)
		}
	}
}

func TestRunDoesWhatIsAskedFor(t *testing.T) {
	w := newWorld(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- w.api.transfer.Run(ctx) }()
	id := w.do("POST", "/v1/imports?kind=vehicles&format=csv", "make,model\nA,B\n", "Content-Type",
		"text/csv").ok(202).id()
	for w.do("GET", "/v1/jobs/"+id, "").object()["status"] != "done" {
		if t.Context().Err() != nil {
			t.Fatal("not done")
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Rentals that are brought along from another system took place, which need not be said of each.
func TestImportedRentalsMayLieInThePast(t *testing.T) {
	w := newLot(t)
	job := w.bringIn("kind=bookings&format=jsonl", w.booking(-500, -450, `,"confirm":true`)+"\n"+w.booking(50, 100, ""))
	wantEqual(t, "outcome", outcome(job), "done 2/2 2+0")
	for _, b := range w.do("GET", "/v1/bookings", "").data() {
		wantEqual(t, "backdated", b["backdated"], b["status"] == "confirmed")
	}
}
