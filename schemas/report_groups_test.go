//go:build long

package schemas_test

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/motorpool/fleet/schemas"
)

// reportNames are the reports that these tests are about.
var reportNames = []string{"alerts", "bookings", "customer_cohorts", "customers", "damage_recovery", "driver_score",
	"energy", "geofence_time", "idling", "distance", "pace", "pickups", "quotes", "rental_economics", "take_rate", "trips",
	"turnaround"}

var (
	groupsLine = regexp.MustCompile(`(?m)^-- groups: (.*)$`)
	figureLine = regexp.MustCompile(`(?m)^-- figure (\w+) (money|count|seconds|days|mi|gal|kwh)\b`)
)

// Each report is run by each of its groups on what many() makes; what can be added up comes to the totals, except by
// tag, of which a vehicle may have several, and of nothing there is nothing.
func TestRowsOfReportsAddUpToTheirTotals(t *testing.T) {
	db := openReports(t)
	many(t, db, 7, 40, 1200, 4000)
	many(t, db, 8, 10, 300, 500)
	for _, name := range reportNames {
		text := schemas.Query("report_" + name)
		total := ask(t, db, name, "total", "from", "2026-01-01", "to", "2026-12-31")[""]
		if total == nil {
			t.Errorf("%s: nothing in a year", name)
			continue
		}
		some := false
		for _, group := range strings.Fields(groupsLine.FindStringSubmatch(text)[1]) {
			rows := ask(t, db, name, group, "from", "2026-01-01", "to", "2026-12-31")
			if group != "total" && group != "year" && len(rows) < 2 {
				t.Errorf("%s by %s: %d rows", name, group, len(rows))
			}
			if group == "tag" {
				continue
			}
			for _, m := range figureLine.FindAllStringSubmatch(text, -1) {
				sum, unknown := 0.0, false
				for _, row := range rows {
					if row[m[1]] == nil {
						unknown = true
					} else {
						sum += *row[m[1]]
					}
				}
				if whole := total[m[1]]; whole != nil && !unknown && math.Abs(sum-*whole) > 1e-6*max(1, math.Abs(sum)) {
					t.Errorf("%s by %s: %s comes to %f, and the total is %f", name, group, m[1], sum, *whole)
				}
				some = some || sum != 0
			}
		}
		if !some {
			t.Errorf("%s: all figures are 0", name)
		}
		if nobody := ask(t, db, name, "total", "account", "9"); nobody[""] != nil {
			for figure, value := range nobody[""] {
				if value != nil && *value != 0 {
					t.Errorf("%s: %s of an account without anything is %f", name, figure, *value)
				}
			}
		}
	}
}
