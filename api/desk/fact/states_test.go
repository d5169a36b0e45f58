package fact_test

import (
	"testing"
	"time"

	"github.com/motorpool/fleet/api/desk/fact"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// Of states since one second the one that was written last counts, whatever their fractions of it; one that began
// before the days that are made counts on them; and one that is yet to come does not count before.
func TestTheStateThatWasWrittenLastCountsFromItsSecondOn(t *testing.T) {
	w := open(t, "UTC")
	then := began.Add(-72 * time.Hour).Truncate(time.Second)
	const sooner, later = 250 * time.Millisecond, 500 * time.Millisecond
	for _, moves := range [][]move{
		{{record.VehicleMaintenance, then.Add(later)}, {record.VehicleAvailable, then.Add(sooner)}},
		{{record.VehicleAvailable, then.Add(later)}, {record.VehicleMaintenance, then.Add(sooner)}},
		{{record.VehicleMaintenance, then}, {record.VehicleAvailable, began.Add(20 * time.Hour)}},
		{{record.VehicleAvailable, began.Add(20 * time.Hour)}, {record.VehicleMaintenance, then}},
		{{record.VehicleMaintenance, then.Add(48 * time.Hour)}, {record.VehicleAvailable, then}},
	} {
		id := w.vehicle("", "2026-02-20")
		for _, m := range moves {
			w.move(id, m.status, m.since)
		}
	}
	w.look()
	same(t, "days", w.stored("vehicle_days", "local_date"), w.expected())
	down := 0
	for _, f := range w.stored("vehicle_days", "local_date") {
		if f["down_s"] > 0 {
			down++
		}
	}
	if down == 0 {
		t.Error("no vehicle was ever down")
	}
	// From nothing, one day after the other: of each the states of before are folded into one.
	if err := w.db.Exec(t.Context(), "TRUNCATE TABLE vehicle_days"); err != nil {
		t.Fatal(err)
	}
	for day := ledger.DayOf(began, time.UTC) - 8; day <= ledger.DayOf(began, time.UTC); day++ {
		if err := w.facts.Make(t.Context(), account, day, day, func(fact.Made) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "days one by one", w.stored("vehicle_days", "local_date"), w.expected())
}
