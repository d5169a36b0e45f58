package report

import (
	"strings"
	"testing"

	"github.com/motorpool/fleet/query/report"
)

// Taxes are of the location at which a rental began, and the list of entries knows only where vehicles are at home.
func TestThereIsNoListOfEntriesByTheLocationOfBookings(t *testing.T) {
	for name, figure := range map[string]string{"tax_summary": "owed", "revenue": "discounts"} {
		d := report.Named(name)
		link := func(group string, locations ...uint64) string {
			q := &report.Question{Basis: report.Accrual, Currency: "USD", Filters: report.Filters{Locations: locations}}
			return linksOf(d, d, q, &report.Row{Key: "loc_1"}, group)[figure]
		}
		if total := link("total"); !strings.HasPrefix(total, "/v1/ledger/entries?") {
			t.Errorf("%s: in total %q", name, total)
		}
		for what, got := range map[string]string{"by location": link("location"), "of a location": link("total", 1)} {
			if linked := strings.Contains(got, "location_id=loc_"); linked != (name == "revenue") || !linked && got != "" {
				t.Errorf("%s: %s %q", name, what, got)
			}
		}
	}
}
