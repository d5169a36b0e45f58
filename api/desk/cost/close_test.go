package cost_test

import (
	"strings"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// Who closes the books has all that belongs to days through that one posted, however little a round does, and does not
// wait for what belongs to later days.
func TestBooksAreClosedWithWhatBelongsToThem(t *testing.T) {
	o := open(t, "2025-02-03")
	o.vehicle(van())
	other := van()
	other.Financing, other.Ownership = nil, ""
	o.vehicle(other)
	o.Costs.LookMost, o.Costs.WriteMost = 1, 1
	through := ledger.DayOf(o.now.Load().AddDate(0, 0, -3), o.now.Load().Location()) // 31 January
	for range 2 {
		if err := o.Costs.PostOf(t.Context(), account, through); err != nil {
			t.Fatal(err)
		}
		o.want("January", o.made(), "depreciation 2025-01-01 15500, depreciation 2025-01-01 15500, "+
			"loan_interest 2025-02-01 1200, purchase 2025-01-01 365000, purchase 2025-01-01 365000")
	}
	january := o.books("2025-01-31")
	o.Costs.LookMost, o.Costs.WriteMost = 1000, 1000
	o.post()
	if n := strings.Count(o.made(), ",") + 1; n != 9 {
		t.Errorf("%d are made in the end, want 9: %s", n, o.made())
	}
	o.want("January afterwards", o.books("2025-01-31"), january)
}

// What cannot be posted on a day that is to be closed is named, and what is of later days alone is not in the way.
func TestWhatCannotBePostedIsNamedWhereTheBooksAreClosed(t *testing.T) {
	o := open(t, "2025-02-03")
	o.vehicle(van())
	parking := record.RecurringCostFields{VehicleID: "veh_9", Category: "parking", Amount: *usd(100), Every: "month",
		From: "2025-02-01"}
	rec, err := o.Recurring.New(t.Context(), by, account, record.RecurringCost{RecurringCostFields: parking})
	if err != nil {
		t.Fatal(err)
	}
	january := ledger.DayOf(o.now.Load().AddDate(0, 0, -3), o.now.Load().Location())
	if err := o.Costs.PostOf(t.Context(), account, january); err != nil {
		t.Errorf("January: %v", err)
	}
	err = o.Costs.PostOf(t.Context(), account, january+1)
	if fleet.CodeOf(err) != fleet.CodeConflict ||
		!strings.Contains(err.Error(), fleet.FormatID(fleet.RecurringCostPrefix, rec.ID)) {
		t.Errorf("the first of February: %v", err)
	}
}
