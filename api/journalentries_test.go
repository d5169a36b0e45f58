package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/auth"
)

// journal is a journal entry of a day with lines of an account and an amount in cents, a debit positive: "cash 100".
func journal(on, more string, lines ...string) string {
	all := make([]string, len(lines))
	for i, line := range lines {
		account, amount, _ := strings.Cut(line, " ")
		amount, dims, _ := strings.Cut(amount, " ")
		side := "debit"
		if credit, ok := strings.CutPrefix(amount, "-"); ok {
			side, amount = "credit", credit
		}
		all[i] = `{"ledger_account":"` + account + `","` + side + `":{"amount":` + amount + `,"currency":"USD"}` + dims + `}`
	}
	return `{"on":"` + on + `",` + more + `"lines":[` + strings.Join(all, ",") + `]}`
}

// What an owner puts in is posted once, is found, balances, and is taken back once by its opposite.
func TestAJournalEntryIsPostedAndReversedOnce(t *testing.T) {
	w := newWorld(t)
	car := w.vehicle(`{"make":"A","model":"B"}`)
	body := journal("2026-03-01", `"memo":"Capital",`, "cash 500000", "equity -400000",
		`cost.marketing -100000 ,"vehicle_id":"`+car+`"`)
	made := w.do("POST", "/v1/journal_entries", body, "Idempotency-Key", "k").ok(201)
	wantEqual(t, "again", w.do("POST", "/v1/journal_entries", body, "Idempotency-Key", "k").id(), made.id())
	path := "/v1/journal_entries/" + made.id()
	entry := w.do("GET", path, "").ok(200).object()
	wantEqual(t, "number", entry["number"], any("J-1001"))
	wantEqual(t, "total", fmt.Sprint(entry["total"]), "map[amount:500000 currency:USD]")
	of := "/v1/ledger/entries?sort=local_on&source_id=" + made.id()
	wantEqual(t, "entries", w.do("GET", of, "").entries(), "2026-03-01 cash 500000 USD\n"+
		"2026-03-01 cost.marketing -100000 USD\n2026-03-01 equity -400000 USD\n")
	wantEqual(t, "of the vehicle", len(w.do("GET", of+"&vehicle_id="+car, "").data()), 1)
	for filter, count := range map[string]int{"": 1, "ledger_account=equity": 1, "ledger_account=fx": 0, "opening=true": 0,
		"opening=false": 1, "on[gte]=2026-03-02": 0, "on=2026-03-01": 1, "number=j1001": 1, "q=capital": 1,
		"vehicle_id=" + car: 1, "total[gte]=500000": 1, "currency=EUR": 0, "status=reversed": 0} {
		wantEqual(t, filter, w.do("GET", "/v1/journal_entries?"+filter, "").pagination().Total, count)
	}
	sheet := w.do("GET", of+"&format=csv", "").ok(200).body
	if !strings.Contains(string(sheet), "Journal entry J-1001: Capital") {
		t.Errorf("the sheet does not say what it is: %s", sheet)
	}

	// What was said is not changed, and taken back on a day that can be.
	for _, method := range []string{"PUT", "PATCH", "DELETE"} {
		w.do(method, path, body).problem(405, "method_not_allowed")
	}
	wantEqual(t, "before", w.do("POST", path+"/reverse", `{"on":"2026-02-28"}`).faults(), "/on")
	back := w.do("POST", path+"/reverse", `{"on":"2026-04-02","reason":"was a loan"}`, "Idempotency-Key", "r").ok(200)
	wantEqual(t, "again", string(w.do("POST", path+"/reverse", `{"on":"2026-04-02","reason":"was a loan"}`,
		"Idempotency-Key", "r").ok(200).body), string(back.body))
	wantEqual(t, "reversed", back.object()["reversed_on"], any("2026-04-02"))
	w.do("POST", path+"/reverse", `{"on":"2026-04-02"}`).problem(409, "invalid_state_transition")
	wantEqual(t, "both stand", w.do("GET", of, "").entries(), "2026-03-01 cash 500000 USD\n"+
		"2026-03-01 cost.marketing -100000 USD\n2026-03-01 equity -400000 USD\n2026-04-02 cash -500000 USD\n"+
		"2026-04-02 cost.marketing 100000 USD\n2026-04-02 equity 400000 USD\n")
	wantEqual(t, "history", len(w.do("GET", path+"/history", "").data()), 2)
	w.audited()

	w.key = w.newKey(w.account, auth.FinanceRead)
	w.do("POST", "/v1/journal_entries", body).problem(403, "insufficient_scope")
	w.do("GET", path, "").ok(200)
}

func TestAJournalEntryThatCannotBeIsRefused(t *testing.T) {
	w := newWorld(t)
	w.do("POST", "/v1/ledger/close", `{"through":"2026-01-31"}`).ok(200)
	first := w.key
	w.key = w.newKey(w.newAccount("Second"), auth.Admin)
	foreign := ` ,"vehicle_id":"` + w.vehicle(`{"make":"A","model":"B"}`) + `"`
	w.key = first
	euro := strings.Replace(journal("2026-03-01", "", "cash 100", "equity -100"), `100,"currency":"USD"}}]`,
		`100,"currency":"EUR"}}]`, 1)
	const march = "2026-03-01"
	for body, want := range map[string]string{
		journal(march, "", "cash 100", "equity -99"):                                      "/lines",
		journal(march, "", "cash 100"):                                                    "/lines",
		journal(march, "", "cash 100", "equity -0"):                                       "/lines/1/credit/amount",
		journal(march, "", "cash 100", "capital -100"):                                    "/lines/1/ledger_account",
		journal("2026-01-31", "", "cash 100", "equity -100"):                              "/on",
		journal("1969-03-01", "", "cash 100", "equity -100"):                              "/on",
		journal(march, `"opening":true,`, "cash 100", "revenue.time -100"):                "/lines/1/ledger_account",
		journal(march, "", "cash 100", "equity -100"+foreign):                             "/lines/1/vehicle_id",
		journal(march, "", `cash 100 ,"customer_id":"cus_1"`, "equity -100"):              "/lines/0/customer_id",
		journal(march, "", `cash 100 ,"location_id":"x"`, "equity -100"):                  "/lines/0/location_id",
		journal(march, "", `cash 1 ,"credit":{"amount":1,"currency":"USD"}`, "equity -1"): "/lines/0/credit",
		`{"on":"2026-03-01","lines":[{"ledger_account":"cash"},{"ledger_account":"fx"}]}`: "/lines/0/debit /lines/1/debit",
		euro: "/lines/1",
	} {
		wantEqual(t, body, w.do("POST", "/v1/journal_entries", body).faults(), want)
	}
	most := journal(march, "", "cash 9007199254740991", "cash 1", "equity -9007199254740991", "equity -1")
	wantEqual(t, "too much", w.do("POST", "/v1/journal_entries", most).faults(), "/lines")
	said := w.do("POST", "/v1/journal_entries", journal("2026-03-01", "", "cash 140050", "equity -140000")).body
	if !strings.Contains(string(said), "the debits are USD 0.50 more than the credits: "+
		"USD 1400.50 of debits and USD 1400.00 of credits") {
		t.Errorf("it does not say by how much: %s", said)
	}
	said = w.do("POST", "/v1/journal_entries", journal("2026-01-31", "", "cash 100", "equity -100")).body
	if !strings.Contains(string(said), "closed through 2026-01-31; give 2026-02-01 or a later day") {
		t.Errorf("it does not say what to do: %s", said)
	}
	wantEqual(t, "written", w.do("GET", "/v1/journal_entries", "").pagination().Total, 0)

	// A reversal counts on an open day, too.
	path := "/v1/journal_entries/" + w.do("POST", "/v1/journal_entries", journal("2026-03-01", "", "cash 100",
		"equity -100")).ok(201).id()
	w.do("POST", "/v1/ledger/close", `{"through":"2026-03-31"}`).ok(200)
	wantEqual(t, "closed", w.do("POST", path+"/reverse", `{"on":"2026-03-15"}`).faults(), "/on")
	w.do("POST", path+"/reverse", `{"on":"2026-04-01"}`).ok(200)
}
