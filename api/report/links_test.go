package report

import (
	"strings"
	"testing"

	"github.com/motorpool/fleet/query/report"
)

// Taxes are of the location at which a rental began, revenue of that at which vehicles are at home.
func TestEntriesAreListedByTheLocationOfAReport(t *testing.T) {
	for name, figure := range map[string]string{"tax_summary": "owed", "revenue": "discounts"} {
		d := report.Named(name)
		link := func(group string, locations ...uint64) string {
			q := &report.Question{Basis: report.Accrual, Currency: "USD", Filters: report.Filters{Locations: locations}}
			links, _ := linksOf(d, d, q, &report.Row{Key: "1"}, group)
			return links[figure]
		}
		if total := link("total"); !strings.HasPrefix(total, "/v1/ledger/entries?") {
			t.Errorf("%s: in total %q", name, total)
		}
		for what, got := range map[string]string{"by location": link("location"), "of a location": link("total", 1)} {
			want := map[string]string{"revenue": "&location_id=loc_1", "tax_summary": "&pickup_location_id=loc_1"}[name]
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s %q", name, what, got)
			}
		}
	}
}
