package api

import (
	"fmt"
	"testing"
	"time"
)

// The calendar has a vehicle on the days on which facts count it in the fleet, whatever says when it came and went.
func TestTheCalendarHasAVehicleWhileItIsInTheFleet(t *testing.T) {
	b := &business{world: newWorld(t)}
	for name, more := range map[string]string{"says": `,"in_service_on":"2026-01-05","acquired_on":"2026-01-02"`,
		"acquired": `,"acquired_on":"2026-01-05"`, "written down": ``,
		"gone": `,"in_service_on":"2026-01-01","out_of_service_on":"2026-01-05"`,
		"sold": `,"in_service_on":"2026-01-01","disposal_on":"2026-01-05","out_of_service_on":"2026-01-08"`} {
		id := b.vehicle(fmt.Sprintf(`{"make":"A","model":"B","license_plate":"%s"%s}`, name, more))
		got := b.report("occupancy_calendar?from=2026-01-01&to=2026-01-10&group_by=total&vehicle_id=" + id)
		days := map[string]string{"says": "6", "acquired": "6", "gone": "4", "sold": "4"}[name]
		if figure := string(got.Totals.Figures["vehicle_days"]); figure != days && (figure != "0" || days != "") {
			t.Errorf("%s: %s days in the fleet, and ought to be %q", name, figure, days)
		}
	}
}

// A quote that can still be accepted has not expired, even if it runs out today.
func TestAQuoteOfTodayHasNotExpired(t *testing.T) {
	b := &business{world: newWorld(t)}
	for id, runsOut := range []time.Duration{-time.Minute, time.Minute} {
		b.exec(fmt.Sprintf(`INSERT INTO quotes (account, id, revision, created_at, updated_at, body)
			VALUES (%d, %d, 1, now64(3) - 3600, now64(3), '{"expires_at":"%s"}')`, uint64(b.account), id+1,
			time.Now().Add(runsOut).UTC().Format(time.RFC3339)))
	}
	day := time.Now().UTC()
	got := b.report("quotes?from=" + day.AddDate(0, 0, -2).Format(time.DateOnly) +
		"&to=" + day.AddDate(0, 0, 1).Format(time.DateOnly)).Totals.Figures
	if made, expired := string(got["quotes"]), string(got["expired"]); made != "2" || expired != "1" {
		t.Errorf("%s of %s quotes expired, and ought to be 1 of 2", expired, made)
	}
}
