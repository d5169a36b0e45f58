package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// standing returns where some texts stand in the database, in whatever column that holds text.
func (w *world) standing(texts []string) map[string][]string {
	w.t.Helper()
	var columns []struct {
		Table string `ch:"table"`
		Name  string `ch:"name"`
	}
	if err := w.db.Select(w.t.Context(), &columns, `SELECT table, name FROM system.columns
		WHERE database = currentDatabase() AND default_kind NOT IN ('ALIAS', 'EPHEMERAL') AND type LIKE '%String%'
			AND table IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree')`); err != nil {
		w.t.Fatal(err)
	}
	if len(columns) < 50 {
		w.t.Fatalf("only %d columns are searched", len(columns))
	}
	found := map[string][]string{}
	for _, c := range columns {
		var here []struct {
			Word string `ch:"word"`
		}
		if err := w.db.Select(w.t.Context(), &here,
			"SELECT DISTINCT arrayJoin(arrayFilter(word -> positionCaseInsensitiveUTF8(text, word) > 0, $1)) AS word FROM (SELECT toString("+
				c.Name+") AS text FROM "+c.Table+")", texts); err != nil {
			w.t.Fatalf("%s.%s: %v", c.Table, c.Name, err)
		}
		for _, h := range here {
			found[h.Word] = append(found[h.Word], c.Table+"."+c.Name)
		}
	}
	return found
}

// quux is a customer of whom every value is unmistakable.
const quux = `{"first_name":"Xantippe","last_name":"Quuxington","email":"Xantippe.Q@quux.example","phone":"+19995550123","date_of_birth":"1971-03-29",
	"address":{"line1":"77 Zyzzyva \"Lane\"","line2":"Flat Zed","city":"Xanadu","postal_code":"ZQ9 9QZ","country":"GB"},"tax_id":"TAXQ-778","licence":{"number":"ZZLIC998877","country":"GB","region":"Zregion","expires_on":"2039-01-01"},
	"tags":["ztagged"],"metadata":{"m":"zmetadata"},"custom_fields":{"c":"zcustom"},"external_refs":[{"system":"crm","id":"zref-4711"}],"consents":{"marketing":true,"source":"zsource"}}`

// quuxWords are those values, and what the tests write about the customer beside them.
var quuxWords = []string{"Xantippe", "Quuxington", "xantippe.q@quux.example", "19995550123", "1971-03-29", "Zyzzyva",
	"Flat Zed", "Xanadu", "ZQ9 9QZ", "TAXQ-778", "ZZLIC998877", "Zregion", "ztagged", "zmetadata", "zcustom", "zref-4711",
	"zref-old", "zsource", "Quuxold", "old@quux.example", "znote the first", "znote the second", "zdocname",
	"zfilecontent", "zbarnote", "Zalias", "ZTAG01"}

// quuxWrites makes that customer and everything about it that there can be, and returns its id.
func quuxWrites(w *world) string {
	w.t.Helper()
	id := w.do("POST", "/v1/customers", strings.Replace(quux, "Quuxington", "Quuxold", 1), "Idempotency-Key",
		"quux").ok(201).id()
	path := "/v1/customers/" + id
	w.do("PATCH", path, `{"email":"old@quux.example","external_refs":[{"system":"crm","id":"zref-old"}]}`).ok(200)
	w.do("PUT", path, quux).ok(200)
	w.do("POST", path+"/do_not_rent", `{"active":true,"reason_code":"debt","note":"zbarnote about her"}`,
		"Idempotency-Key", "bar").ok(200)
	note := w.do("POST", path+"/notes", `{"text":"znote the first"}`, "Idempotency-Key", "note").ok(201).id()
	w.do("PATCH", path+"/notes/"+note, `{"text":"znote the second"}`).ok(200)
	w.do("DELETE", path+"/notes/"+
		w.do("POST", path+"/notes", `{"text":"znote the second, deleted"}`).ok(201).id(), "").ok(204)
	document := w.do("POST", path+"/documents", `{"kind":"id","name":"zdocname"}`).ok(201).id()
	w.do("PUT", path+"/documents/"+document+"/file", "%PDF-1.7 zfilecontent", "Content-Type", "application/pdf").ok(200)
	w.do("POST", "/v1/customers/check", `{"email":"xantippe.q@quux.example"}`, "Idempotency-Key", "check").ok(200)
	w.do("POST", "/v1/driver_tags", `{"tag":"ztag:01","holders":[{"driver_id":"`+id+`"}]}`,
		"Idempotency-Key", "tag").ok(201)
	w.tags(w.account, w.vehicle(`{"make":"A","model":"B"}`), map[float64]string{0: "ZTAG01"})
	alias := w.customer(`{"display_name":"Zalias","email":"xantippe.q@quux.example"}`)
	w.do("POST", "/v1/customers/"+alias+"/merge", `{"into":"`+id+`"}`, "Idempotency-Key", "merge").ok(200)
	return id
}

func TestErasureLeavesNothing(t *testing.T) {
	w := newWorld(t)
	other := w.customer(`{"first_name":"Other","last_name":"Person","email":"other@example.com","phone":"+15125550100"}`)
	w.do("POST", "/v1/customers/"+other+"/notes", `{"text":"keep this note, please"}`).ok(201)
	id := quuxWrites(w)
	path := "/v1/customers/" + id
	there := w.standing(quuxWords)
	for _, word := range quuxWords {
		if there[word] == nil {
			t.Errorf("%s stands nowhere before: the test proves nothing", word)
		}
	}
	number := w.do("GET", path, "").member("number")
	before := w.do("GET", path+"/history", "").data()
	bare := w.key
	w.key = w.newKey(w.account, auth.CustomersRead, auth.CustomersWrite)
	w.do("POST", path+"/erase", `{"reason":"asked"}`).problem(403, "insufficient_scope")
	w.key = bare
	wantEqual(t, "reason", w.do("POST", path+"/erase", `{}`).faults(), "/reason")
	erased := w.do("POST", path+"/erase", `{"reason":"she asked"}`, "Idempotency-Key", "erase").ok(200)
	if erased.member("erased_at") == nil || erased.member("erasing_since") != nil {
		t.Fatalf("not done: %s\n%s", erased.body, w.log)
	}
	for word, places := range w.standing(quuxWords) {
		t.Errorf("%s still stands in %v", word, places)
	}
	wantEqual(t, "the number, by which people speak of it", erased.member("number"), number)
	// The id is good, and its history has no gap.
	wantEqual(t, "rentable", w.do("GET", path, "").ok(200).member("not_rentable_reason"), "customer_erased")
	after := w.do("GET", path+"/history", "").data()
	wantEqual(t, "revisions", len(after), len(before)+3)
	for i, v := range after {
		wantEqual(t, "number", v["revision"], float64(len(after)-i))
		if i >= 3 {
			wantEqual(t, "when and who", fmt.Sprint(v["at"], v["actor"], v["action"]),
				fmt.Sprint(before[i-3]["at"], before[i-3]["actor"], before[i-3]["action"]))
		}
	}
	// What repeats an old request neither shows nor makes anything.
	w.do("POST", "/v1/customers", strings.Replace(quux, "Quuxington", "Quuxold", 1), "Idempotency-Key",
		"quux").problem409(t)
	wantEqual(t, "customers", w.do("GET", "/v1/customers", "").listed("id"), other)
	wantEqual(t, "again", w.do("POST", path+"/erase", `{"reason":"again"}`).ok(200).member("revision"),
		erased.member("revision"))
	w.do("PATCH", path, `{"first_name":"X"}`).problem(409, "conflict")
	w.do("POST", path+"/notes", `{"text":"X"}`).problem(409, "conflict")
	w.do("POST", path+"/do_not_rent", `{"active":true,"reason_code":"x"}`).problem(409, "conflict")
	// Others are as they were, and what was theirs can be taken.
	wantEqual(t, "note", w.do("GET", "/v1/customers/"+other+"/notes", "").listed("text"), "keep this note, please")
	wantEqual(t, "name", w.do("GET", "/v1/customers/"+other, "").member("display_name"), "Other Person")
	w.do("POST", "/v1/customers", `{"first_name":"New","external_refs":[{"system":"crm","id":"zref-4711"}]}`).ok(201)
	if records, claims, err := w.api.Store.Audit(t.Context()); records != 0 || claims != 0 || err != nil {
		t.Errorf("audit: %d, %d, %v", records, claims, err)
	}
	w.key = w.newKey(w.newAccount("Other"), auth.Admin)
	w.do("POST", path+"/erase", `{"reason":"x"}`).problem(404, "not_found")
}

// The answer of a batch calls who may not rent by name and number, not by id, and the name is too short to look for.
func TestAnErasureFindsWhomAnAnswerCallsByName(t *testing.T) {
	w := newLot(t)
	w.customer = w.do("POST", "/v1/customers", `{"first_name":"Bo","last_name":"Qy"}`).ok(201).id()
	w.do("POST", "/v1/customers/"+w.customer+"/do_not_rent", `{"active":true,"reason_code":"theft"}`).ok(200)
	batch := func() *reply {
		return w.do("POST", "/v1/bookings/batch", `{"data":[`+w.booking(1, 20, `,"confirm":true`)+`]}`,
			"Idempotency-Key", "bo")
	}
	if first := batch().ok(200); !strings.Contains(string(first.body), "Bo Qy (C-") {
		t.Fatalf("the answer does not say the name: the test proves nothing: %s", first.body)
	}
	w.do("POST", "/v1/customers/"+w.customer+"/erase", `{"reason":"he asked"}`).ok(200)
	if again := batch(); strings.Contains(string(again.body), "Qy") {
		t.Errorf("the answer still says the name: %s", again.body)
	}
	var kept uint64
	if err := w.db.QueryRow(t.Context(),
		"SELECT count() FROM claim_log WHERE position(detail, 'Qy') > 0").Scan(&kept); err != nil || kept > 0 {
		t.Errorf("%d answers that are kept say the name, %v", kept, err)
	}
}

// Whoever writes lines of JSON has the choice of blanks, of escapes and of the order of members. What was imported is
// found all the same, also in a row that made nothing.
func TestAnErasureFindsThePersonHoweverTheFileWroteIt(t *testing.T) {
	w := newWorld(t)
	file := `{ "last_name" : "Quüx & Söhne" , "first_name":"Xantippe", "nonsense": 1e2}` + "\n" +
		`{"first_name":"Xantippe","last_name":"Qu\u00fcx \u0026 S\u00f6hne","nonsense":true}` + "\n" +
		`{"first_name":"Xantippe","last_name":"Nobody","last_name": "Quüx & Söhne","nonsense":1}` + "\n" +
		`{"first_name":"Xantippe","last_name": "Quüx & Söhne"` + "\n" + // no JSON
		`{"first_name":"Other","last_name":"Person","custom_fields":{"n": 12345678901234567890.10}}`
	w.do("POST", "/v1/imports?kind=customers&format=jsonl", file, "Content-Type", "application/x-ndjson").ok(202)
	id := w.customer(`{"first_name":"Xantippe","last_name":"Quüx & Söhne"}`)
	w.do("POST", "/v1/customers/"+id+"/erase", `{"reason":"asked"}`).ok(200)
	var bodies []string
	if err := w.db.QueryRow(t.Context(),
		"SELECT arraySort((b, r) -> r, groupArray(body), groupArray(row)) FROM job_input").Scan(&bodies); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "rows", strings.Join(bodies, " "),
		`{} {} {}  {"custom_fields":{"n":12345678901234567890.10},"first_name":"Other","last_name":"Person"}`)
}

// problem409 fails the test unless the answer is the one that stands in the place of an erased one.
func (r *reply) problem409(t *testing.T) {
	t.Helper()
	if r.status != 409 || r.header.Get("Content-Type") != "application/problem+json" ||
		!strings.Contains(string(r.body), "erased since") {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// An erasure that cannot be done at once is decided, and said to go on; the same request asked again tells the end.
func TestErasureThatTakesLonger(t *testing.T) {
	w := newWorld(t)
	path := "/v1/customers/" + w.customer(`{"first_name":"Ann","last_name":"Lee"}`)
	w.exec("RENAME TABLE document_files TO document_files_away")
	under := w.do("POST", path+"/erase", `{"reason":"asked"}`).ok(202)
	if under.member("erasing_since") == nil || under.member("erased_at") != nil {
		t.Errorf("under way: %s", under.body)
	}
	w.exec("RENAME TABLE document_files_away TO document_files")
	done := w.do("POST", path+"/erase", `{"reason":"asked"}`).ok(200)
	if done.member("erasing_since") != nil || done.member("erased_at") == nil {
		t.Errorf("done: %s", done.body)
	}
}

// Whoever decided an erasure may die at any step; what is left is done by the duty, or by asking again.
func TestErasureIsFinishedByOthers(t *testing.T) {
	w := newWorld(t)
	id := quuxWrites(w)
	number, err := fleet.ParseID(fleet.CustomerPrefix, id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.api.desk.Persons.DecideErasure(t.Context(), record.Author{Actor: "test"}, w.account, number, "asked",
		false); err != nil {
		t.Fatal(err)
	}
	shown := w.do("GET", "/v1/customers/"+id, "").ok(200)
	if shown.member("erasing_since") == nil || shown.member("erased_at") != nil {
		t.Errorf("decided: %s", shown.body)
	}
	w.do("POST", "/v1/customers/"+id+"/notes", `{"text":"late"}`).problem(409, "conflict")
	w.clock.Store(int64(time.Minute))
	if err := w.api.desk.Duty(t.Context(), "erase customers"); err != nil {
		t.Fatal(err)
	}
	if w.do("GET", "/v1/customers/"+id, "").ok(200).member("erased_at") == nil {
		t.Error("the duty did not finish it")
	}
	for word, places := range w.standing(quuxWords) {
		t.Errorf("%s still stands in %v", word, places)
	}
}
