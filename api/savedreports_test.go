package api

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// savedDay is when these tests begin: clocks in Chicago go forward on the day after. It lies ahead, because the store
// deletes by its own clock what has been kept long enough.
var savedDay = time.Date(2030, 3, 9, 18, 0, 0, 0, time.UTC)

// doJobs does what jobs there are in the account, until nothing is left.
func (w *world) doJobs(by *API) {
	w.t.Helper()
	for {
		open, err := query.OpenTransfers(w.t.Context(), w.db, w.api.Now())
		if err != nil {
			w.t.Fatal(err)
		}
		if len(open) == 0 {
			return
		}
		for _, job := range open {
			by.transfer.WorkOn(w.t.Context(), job)
		}
	}
}

// reportJobs are the jobs of a saved report, the oldest first.
func (w *world) reportJobs(saved string) []map[string]any {
	w.t.Helper()
	return w.do("GET", "/v1/jobs?sort=created_at&subject_id="+saved, "").data()
}

func TestSavedReportsAreMadeOnce(t *testing.T) {
	told := &keptEvents{}
	w := newWorld(t, func(_ *rest.Config, d *Deps) { d.Events = told })
	w.clock.Store(int64(time.Until(savedDay)))
	other, err := New(w.api.Config, Deps{Events: told, Deps: rest.Deps{DB: w.db,
		IDs: fleet.NewIDSource(2, w.api.Now), Log: w.api.Log, Now: w.api.Now}})
	if err != nil {
		t.Fatal(err)
	}
	w.savedReportsAreChecked()
	made := w.do("POST", "/v1/saved_reports", `{"name":"Nightly","report":"revenue","span":"month_to_date",
		"parameters":{"group_by":"vehicle"},"schedule":{"every":"day","at":"02:30"}}`).ok(201)
	id, path := made.id(), "/v1/saved_reports/"+made.id()
	wantEqual(t, "next", made.object()["next_run_at"], "2030-03-10T08:30:00.000Z") // there is no half past two
	w.do("PATCH", path, `{"name":"Every night"}`).ok(200)

	w.makeDue(w.api, other)
	wantEqual(t, "jobs before the time", len(w.reportJobs(id)), 0)
	w.passTo("2030-03-10T08:30:00Z")
	w.do("PATCH", path, `{"name":"Nightly again"}`).ok(200) // that does not pass over the time that has come
	w.makeDue(w.api, other)
	jobs := w.reportJobs(id)
	if len(jobs) != 1 || jobs[0]["status"] != "queued" || jobs[0]["kind"] != "report" || jobs[0]["records"] != "revenue" {
		t.Fatalf("jobs: %v", jobs)
	}
	job := jobs[0]["id"].(string)
	seen := w.do("GET", path, "").ok(200).object()
	wantEqual(t, "moved on",
		fmt.Sprint(seen["next_run_at"], seen["last_run_at"], seen["last_job_id"], seen["missed_runs"]),
		fmt.Sprint("2030-03-11T07:30:00.000Z", "2030-03-10T08:30:00.000Z", job, 0))
	w.aFileIsOfOneAttempt(other, job)
	w.nobodyElseSeesReports(path, job)

	// After an outage of days the last time is made up for, and the others are counted.
	w.passTo("2030-03-14T12:00:00Z")
	w.aJobThatADeadProcessMadeIsTheSame(id, "2030-03-14T07:30:00Z")
	w.makeDue(w.api, other)
	jobs = w.reportJobs(id)
	seen = w.do("GET", path, "").ok(200).object()
	if len(jobs) != 2 || seen["missed_runs"] != 3.0 || seen["next_run_at"] != "2030-03-15T07:30:00.000Z" {
		t.Fatalf("%d jobs, %v", len(jobs), seen)
	}
	w.doJobs(w.api)
	told.check(t, job, "report.ready")
	w.aKeyThatMayNotAnyMoreStopsItsReports(told)

	// A file is kept for 90 days.
	w.passTo("2030-06-07T00:00:00Z")
	w.do("GET", "/v1/jobs/"+job+"/result", "").ok(200)
	w.passTo("2030-06-09T00:00:00Z")
	w.do("GET", "/v1/jobs/"+job+"/result", "").problem(404, "not_found")
	w.do("DELETE", path, "").ok(204)
	w.makeDue(w.api, other)
	wantEqual(t, "jobs of what is archived", len(w.reportJobs(id)), 3) // one of the 15th
	w.do("POST", path+"/run", "").problem(409, "conflict")
}

// passTo lets time pass.
func (w *world) passTo(text string) {
	w.t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		w.t.Fatal(err)
	}
	w.clock.Store(int64(time.Until(at)) + int64(time.Second))
}

// makeDue has several processes make what is due, all at once, and then once more.
func (w *world) makeDue(all ...*API) {
	w.t.Helper()
	for range 2 {
		var wait sync.WaitGroup
		for _, a := range all {
			for range 3 {
				wait.Go(func() {
					if err := a.saved.MakeDue(w.t.Context()); err != nil {
						w.t.Error(err)
					}
				})
			}
		}
		wait.Wait()
	}
}

func (w *world) savedReportsAreChecked() {
	w.t.Helper()
	for body, pointer := range map[string]string{
		`{"name":"x","report":"nonsense"}`:                                                         "/report",
		`{"name":"x","report":"revenue","parameters":{"group_by":"planet"}}`:                       "/parameters/group_by",
		`{"name":"x","report":"revenue","parameters":{"colour":"red"}}`:                            "/parameters/colour",
		`{"name":"x","report":"revenue","parameters":{"from":"2026-01-01"}}`:                       "/parameters/from",
		`{"name":"x","report":"revenue","span":"last_month","from":"2026-01-01"}`:                  "/span",
		`{"name":"x","report":"revenue","span":"fixed","from":"2026-01-02","until":"2026-01-01"}`:  "/until",
		`{"name":"x","report":"revenue","schedule":{"every":"day","at":"06:00","weekday":"mon"}}`:  "/schedule",
		`{"name":"x","report":"revenue","schedule":{"every":"day","at":"25:00"}}`:                  "/schedule/at",
		`{"name":"x","report":"revenue","format":"pdf"}`:                                           "/format",
		`{"name":"x","report":"revenue","schedule":{"every":"month","at":"06:00","day":32}}`:       "/schedule/day",
		`{"name":"x","report":"revenue","span":"last_century"}`:                                    "/span",
		`{"name":"","report":"revenue","parameters":{"currency":"USD"},"span":"year_to_date"}`:     "/name",
		`{"name":"x","report":"revenue","span":"fixed","from":"2026-01-02","parameters":{"a":""}}`: "/until",
	} {
		p := w.do("POST", "/v1/saved_reports", body).problem(422, "validation_failed")
		if !slices.ContainsFunc(p.Errors, func(e rest.FieldIssue) bool { return e.Pointer == pointer }) {
			w.t.Errorf("%s: %+v, want %s", body, p.Errors, pointer)
		}
	}
	writer := w.newKey(w.account, auth.FinanceWrite)
	w.do("POST", "/v1/saved_reports", `{"name":"x","report":"revenue"}`, "Authorization", "Bearer "+writer).
		problem(403, "insufficient_scope")
	now := w.do("POST", "/v1/saved_reports", `{"name":"Now","report":"revenue","span":"last_week","format":"json"}`).ok(201)
	job := w.do("POST", "/v1/saved_reports/"+now.id()+"/run", "", "Idempotency-Key", "once").ok(202)
	wantEqual(w.t, "run again", w.do("POST", "/v1/saved_reports/"+now.id()+"/run", "", "Idempotency-Key", "once").
		ok(202).id(), job.id())
	wantEqual(w.t, "where", job.header.Get("Location"), "/v1/jobs/"+job.id())
	w.do("GET", "/v1/jobs/"+job.id()+"/result", "").problem(409, "conflict")
	w.doJobs(w.api)
	view := w.do("GET", "/v1/jobs/"+job.id()+"/result", "").ok(200).object()
	wantEqual(w.t, "span", fmt.Sprint(view["name"], view["from"], view["until"]), "revenue2030-02-252030-03-03")
	done := w.do("GET", "/v1/jobs/"+job.id(), "").ok(200).object()
	wantEqual(w.t, "done", outcomeOf(done), "done 1/1")
}

func outcomeOf(job map[string]any) string {
	progress := job["progress"].(map[string]any)
	return fmt.Sprint(job["status"], " ", progress["done"], "/", progress["total"])
}

// aFileIsOfOneAttempt has a process die in the middle of a job, when some of its file is stored: the next one begins
// anew.
func (w *world) aFileIsOfOneAttempt(other *API, job string) {
	w.t.Helper()
	n, err := fleet.ParseID(fleet.JobPrefix, job)
	if err != nil {
		w.t.Fatal(err)
	}
	ref := query.JobRef{Account: w.account, ID: n}
	if _, err := w.api.transfer.Lease(w.t.Context(), ref); err != nil {
		w.t.Fatal(err)
	}
	if err := w.db.Exec(w.t.Context(), `INSERT INTO job_output (account, job, attempt, row, at, body)
		VALUES (?, ?, 1, 1, now(), 'torn')`, uint64(w.account), n); err != nil {
		w.t.Fatal(err)
	}
	w.doJobs(other) // it is still the dead one's
	wantEqual(w.t, "job", w.do("GET", "/v1/jobs/"+job, "").ok(200).object()["status"], "running")
	w.do("GET", "/v1/jobs/"+job+"/result", "").problem(409, "conflict")
	w.clock.Add(int64(61 * time.Second))
	w.doJobs(other)
	wantEqual(w.t, "done", outcomeOf(w.do("GET", "/v1/jobs/"+job, "").ok(200).object()), "done 1/1")
	r := w.do("GET", "/v1/jobs/"+job+"/result", "").ok(200)
	live := w.do("GET", "/v1/reports/revenue?from=2030-03-01&until=2030-03-10&group_by=vehicle&format=csv", "").ok(200)
	if string(r.body) != string(live.body) || !strings.HasPrefix(string(r.body), "Vehicle,From,Until,Currency,Revenue,") ||
		r.header.Get("Content-Disposition") != `attachment; filename="revenue-`+job+`.csv"` {
		w.t.Errorf("%v %q, and live %q", r.header, r.body, live.body)
	}
	var days []uint16
	if err := w.db.QueryRow(w.t.Context(),
		"SELECT groupUniqArray(keep_days) FROM job_output WHERE job = ? AND attempt > 1", n).Scan(&days); err != nil || len(days) != 1 || days[0] != 90 {
		w.t.Error("kept for", days, err)
	}
}

// aJobThatADeadProcessMadeIsTheSame makes a job as a process does that dies before it has moved the saved report on.
func (w *world) aJobThatADeadProcessMadeIsTheSame(saved, due string) {
	w.t.Helper()
	id, err := fleet.ParseID(fleet.SavedReportPrefix, saved)
	if err != nil {
		w.t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339, due)
	if err != nil {
		w.t.Fatal(err)
	}
	before := w.do("GET", "/v1/jobs/"+w.reportJobs(saved)[0]["id"].(string), "").ok(200).object()
	first, err := fleet.ParseID(fleet.JobPrefix, before["id"].(string))
	if err != nil {
		w.t.Fatal(err)
	}
	jobs := record.NewLog(w.api.Store, record.Jobs)
	was, err := jobs.Get(w.t.Context(), w.account, first)
	if err != nil {
		w.t.Fatal(err)
	}
	again := was.Body
	again.Transfer = &record.Transfer{Records: was.Body.Transfer.Records, Format: "csv", Query: was.Body.Transfer.Query,
		Asker: was.Body.Transfer.Asker}
	if _, _, err := jobs.Ensure(w.t.Context(), record.System, w.account, rest.DerivedRecordID(id, int(at.Unix())),
		again); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) nobodyElseSeesReports(path, job string) {
	w.t.Helper()
	other := "Bearer " + w.newKey(w.newAccount("Second"), auth.Admin)
	for _, ask := range [][2]string{{"GET", path}, {"POST", path + "/run"}, {"DELETE", path}, {"GET", path + "/history"},
		{"GET", "/v1/jobs/" + job}, {"GET", "/v1/jobs/" + job + "/result"}} {
		w.do(ask[0], ask[1], "", "Authorization", other).problem(404, "not_found")
	}
	if all := w.do("GET", "/v1/saved_reports", "", "Authorization", other).data(); len(all) != 0 {
		w.t.Errorf("another account lists %v", all)
	}
	key := "Bearer " + w.newKey(w.account, auth.BookingsRead)
	for _, to := range []string{path, "/v1/jobs/" + job, "/v1/jobs/" + job + "/result"} {
		w.do("GET", to, "", "Authorization", key).problem(403, "insufficient_scope")
	}
}

// aKeyThatMayNotAnyMoreStopsItsReports revokes a key before a report is made for it, and while a job waits.
func (w *world) aKeyThatMayNotAnyMoreStopsItsReports(told *keptEvents) {
	w.t.Helper()
	made := w.do("POST", "/v1/api_keys", `{"name":"Accountant","scopes":["reports:read","finance:write"]}`).ok(201)
	key := "Bearer " + made.object()["key"].(string)
	saved := w.do("POST", "/v1/saved_reports", `{"name":"Daily","report":"revenue","schedule":{"every":"day","at":"06:00"}}`,
		"Authorization", key).ok(201)
	wantEqual(w.t, "key", saved.object()["api_key_id"], made.id())
	waits := w.do("POST", "/v1/saved_reports/"+saved.id()+"/run", "", "Authorization", key).ok(202).id()
	w.do("DELETE", "/v1/api_keys/"+made.id(), "").ok(204)
	w.passTo("2030-03-15T12:00:00Z")
	w.doJobs(w.api)
	failed := w.do("GET", "/v1/jobs/"+waits, "").ok(200).object()
	if failed["status"] != "failed" || !strings.Contains(fmt.Sprint(failed["result"]), "is revoked") {
		w.t.Errorf("%v", failed)
	}
	told.check(w.t, waits, "report.failed")
	w.do("GET", "/v1/jobs/"+waits+"/result", "").problem(404, "not_found")
	w.makeDue(w.api)
	seen := w.do("GET", "/v1/saved_reports/"+saved.id(), "").ok(200).object()
	if seen["next_run_at"] != nil || !strings.Contains(fmt.Sprint(seen["stopped_because"]), `"Accountant"`) ||
		len(w.reportJobs(saved.id())) != 1 {
		w.t.Errorf("%v, jobs %v", seen, w.reportJobs(saved.id()))
	}
	// Another key takes it on.
	seen = w.do("PATCH", "/v1/saved_reports/"+saved.id(), `{"span":"yesterday"}`).ok(200).object()
	if seen["next_run_at"] != "2030-03-16T11:00:00.000Z" || seen["stopped_because"] != nil {
		w.t.Errorf("%v", seen)
	}
	w.do("DELETE", "/v1/saved_reports/"+saved.id(), "").ok(204)
}
