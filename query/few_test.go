package query

import (
	"strings"
	"testing"
)

// A list is counted with its page where a filter leaves few records: an id, what is not over, or an instant between two
// that are no more than 31 days apart; not where it leaves as many as there are.
func TestWhichFiltersLeaveFew(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                   false,
		"vehicle_id eq veh_1":                true,
		"channel eq direct":                  false,
		"status eq confirmed":                true,
		"status eq pending,active":           true,
		"status eq active,completed":         false,
		"pickup_at gte 2026-01-01T00:00:00Z": false,
		"pickup_at eq 1970-01-01T00:00:00Z":  false,
		"pickup_at gte 2026-01-01T00:00:00Z; pickup_at lt 2026-02-01T00:00:00Z":                                    true,
		"pickup_at lte 2026-02-01T00:00:00Z; pickup_at gt 2026-01-01T00:00:00Z":                                    true,
		"pickup_at gte 2026-01-01T00:00:00Z; pickup_at lt 2026-02-01T00:00:00.001Z":                                false,
		"pickup_at gte 2020-01-01T00:00:00Z; pickup_at gt 2026-01-31T00:00:00Z; pickup_at lt 2026-02-01T00:00:00Z": true,
		"pickup_at gte 2026-01-02T00:00:00Z; pickup_at lt 2026-01-01T00:00:00Z":                                    true,
		"pickup_at gte 2026-01-01T00:00:00Z; return_at lt 2026-01-02T00:00:00Z":                                    false,
		"created_at gte 2026-01-01T00:00:00Z; created_at lt 2026-01-02T00:00:00Z":                                  false,
		"total gte 1; total lt 2": false,
	} {
		var filters []Filter
		for _, one := range strings.Split(text, "; ") {
			if words := strings.Fields(one); len(words) == 3 {
				filters = append(filters, Filter{words[0], words[1], strings.Split(words[2], ",")})
			}
		}
		b, err := Bookings.build(ListRequest{Filters: filters, Limit: 10})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := b.total == "toInt64(count() OVER ())"; got != want {
			t.Errorf("%q is counted with its page: %v", text, got)
		}
	}
}
