package api

import (
	"testing"
	"time"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
)

// What has drifted in the books of an account is told to those who may read its money, with what was expected and the
// command that repairs it, and to nobody else.
func TestADriftOfTheBooksIsTold(t *testing.T) {
	publisher := &directly{}
	w, h, _ := newLiveWith(t, func(_ *rest.Config, d *Deps) { d.Events = publisher })
	publisher.hub = h
	w.do("POST", "/v1/expenses", `{"category":"parking","amount":{"amount":700,"currency":"USD"},`+
		`"incurred_on":"2026-03-01","status":"posted"}`).ok(201)
	if err := w.db.Exec(t.Context(), "TRUNCATE TABLE ledger_months"); err != nil {
		t.Fatal(err)
	}
	w.api.desk.Audit.Apart = time.Millisecond
	if err := w.api.desk.Audit.Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	drifts := func(key string) []map[string]any {
		return w.do("GET", "/v1/events?types=books.drift", "", "Authorization", "Bearer "+key).ok(200).data()
	}
	told := drifts(w.newKey(w.account, auth.FinanceRead))
	if len(told) != 1 {
		t.Fatalf("told is %v", told)
	}
	object := told[0]["data"].(map[string]any)["object"].(map[string]any)
	first := object["examples"].([]any)[0].(map[string]any)
	wantEqual(t, "check", object["check"], any("rollups"))
	wantEqual(t, "what", first["what"], any("ledger_months amount"))
	if first["expected"] == first["found"] || first["difference"] == 0.0 || object["drifts"] == 0.0 ||
		object["repair"] != "motorpool doctor --books --repair" || object["id"] != w.account.String() {
		t.Errorf("told is %v", object)
	}
	if other := drifts(w.newKey(w.newAccount("Second"), auth.FinanceRead)); len(other) != 0 {
		t.Errorf("another account is told %v", other)
	}
	w.do("GET", "/v1/events?types=books.drift", "", "Authorization",
		"Bearer "+w.newKey(w.account, auth.BookingsRead)).problem(403, "insufficient_scope")
	again, err := w.api.desk.Audit.Look(t.Context())
	if err != nil || len(again) != 0 {
		t.Errorf("the night has not put the sums right: %v, %v", again, err)
	}
}
