package ledger_test

import (
	"testing"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// An entry by hand stands as it was written; its reversal is its opposite on the day of that, and keeps what stands.
func TestAnEntryByHandStandsUntilItIsReversed(t *testing.T) {
	hundred, sixty, forty := usd(100), usd(60), usd(40)
	j := record.JournalEntry{Status: record.JournalPosted, JournalEntryFields: record.JournalEntryFields{On: "2026-03-31",
		Memo: "by hand", Lines: []record.JournalLine{
			{LedgerAccount: "cost.marketing", Debit: &hundred, VehicleID: "veh_1", CustomerID: "cus_1"},
			{LedgerAccount: "cash", Credit: &sixty}, {LedgerAccount: "cash", Credit: &forty, Memo: "the rest"}}},
		BookedFor: []record.BookedFor{
			{VehicleID: "veh_1", ClassID: "vcl_1", CustomerID: "cus_1", LocationID: "loc_1"}, {}, {}}}
	stood := ledger.OfJournalEntry(&j)
	want(t, stood, true, "2026-03-31 cash -100 USD \n2026-03-31 cost.marketing 100 USD veh_1")
	if p := stood[1]; p.Class != "vcl_1" || p.Customer != "cus_1" || p.Location != "loc_1" || p.Purpose != "" {
		t.Errorf("it stands under %+v", p)
	}
	if total := j.Total(); total != hundred {
		t.Errorf("its total is %v", total)
	}

	j.Status, j.ReversedOn = record.JournalReversed, "2026-04-30"
	want(t, ledger.Between(stood, ledger.OfJournalEntry(&j)), true,
		"2026-04-30 cash 100 USD \n2026-04-30 cost.marketing -100 USD veh_1")
	j.ReversedOn = j.On
	want(t, ledger.OfJournalEntry(&j), false, "")

	j.Status, j.ReversedOn, j.Opening = record.JournalPosted, "", true
	for _, p := range ledger.OfJournalEntry(&j) {
		if p.Purpose != "opening balance" {
			t.Errorf("it is for %q", p.Purpose)
		}
	}
}
