package query_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

// meterWorld writes readings of meters, and reads what they come to.
type meterWorld struct {
	t  *testing.T
	db driver.Conn
}

// reading writes revision of a meter reading of vehicle 5 of account 7.
func (w *meterWorld) reading(id, revision uint64, kind string, at time.Time, value float64, voided bool) {
	w.t.Helper()
	body := fmt.Sprintf(`{"vehicle_id":"veh_5","kind":%q,"value":%v,"recorded_at":%q,"source":"return","source_id":"bkg_1","voided":%v}`,
		kind, value, at.Format("2006-01-02T15:04:05.000Z"), voided)
	written := time.Date(2026, 3, 1, int(id), int(revision), 0, 0, time.UTC)
	schematest.Write(w.t, w.db, "meter_reading", 7, id, revision, written, body)
}

func (w *meterWorld) exec(text string, args ...any) {
	w.t.Helper()
	if err := w.db.Exec(w.t.Context(), text, args...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *meterWorld) meters(now time.Time) query.Meters {
	w.t.Helper()
	all, err := query.MetersOf(w.t.Context(), w.db, 7, []uint64{5, 6}, now)
	if err != nil {
		w.t.Fatal(err)
	}
	if all[6] != (query.Meters{}) {
		w.t.Errorf("of a vehicle without meters: %+v", all[6])
	}
	return all[5]
}

func rate(v *float64) string {
	if v == nil {
		return "unknown"
	}
	return fmt.Sprint(math.Round(*v*100) / 100)
}

func TestAMeterStandsWhereItsNewestReadingSays(t *testing.T) {
	w := &meterWorld{t, schematest.Open(t)}
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	day := func(n int) time.Time { return now.AddDate(0, 0, -n) }
	w.reading(1, 1, query.Odometer, day(80), 1000, false)
	if m := w.meters(now).OdometerMi; m.Value != 1000 || m.Source != "return" || m.At != fleet.MillisOf(day(80)) ||
		m.PerDay90 != nil {
		t.Errorf("one reading: %+v", m)
	}
	w.reading(2, 1, query.Odometer, day(20), 4000, false)
	w.reading(3, 1, query.Odometer, day(10), 4500, false)
	w.reading(4, 1, query.Odometer, day(5), 9999, false)
	w.reading(4, 2, query.Odometer, day(5), 9999, true)
	w.reading(5, 1, query.Odometer, now.Add(time.Hour), 8888, false)
	w.reading(6, 1, query.EngineHours, day(3), 120, false)
	m := w.meters(now)
	if m.OdometerMi.Value != 4500 || rate(m.OdometerMi.PerDay30) != "50" || rate(m.OdometerMi.PerDay90) != "50" {
		t.Errorf("%+v, %s and %s a day", m.OdometerMi, rate(m.OdometerMi.PerDay30), rate(m.OdometerMi.PerDay90))
	}
	if m.EngineHours.Value != 120 || m.EngineHours.PerDay30 != nil {
		t.Errorf("%+v", m.EngineHours)
	}
	// What devices say of a day goes before readings; a counter that was reset begins anew; the same twice is once.
	for range 2 {
		for i, miles := range []float64{100, 140, 20, 60, 100} {
			w.exec(`INSERT INTO telemetry (account, vehicle, signal, time, value) VALUES (7, 5, 'odometer_m', $1, $2)`, day(9-i),
				miles*1609.344)
		}
	}
	w.exec(`INSERT INTO vehicle_mileage (account, vehicle, time, raw_m, base_m, before_m) VALUES (7, 5, $1, 160934, 643738, 0)`, day(4))
	m = w.meters(now)
	if math.Round(m.OdometerMi.Value) != 500 || m.OdometerMi.Source != "telematics" ||
		rate(m.OdometerMi.PerDay30) != "30" {
		t.Errorf("%+v, %s a day", m.OdometerMi, rate(m.OdometerMi.PerDay30))
	}
	near, err := query.MetersAround(t.Context(), w.db, 7, 5, query.Odometer, day(20))
	if err != nil || near.Before == nil || near.Before.ID != 2 || near.After == nil || near.After.ID != 3 {
		t.Errorf("around: %+v %v", near, err)
	}
	if near.Told == nil || math.Round(near.Told.Value) != 500 || !near.Told.At.Equal(day(4)) {
		t.Errorf("told by devices: %+v", near.Told)
	}
	near, err = query.MetersAround(t.Context(), w.db, 7, 5, query.Odometer, day(100), 1)
	if err != nil || near.Before != nil || near.After == nil || near.After.ID != 2 {
		t.Errorf("before the first, but for that: %+v %v", near, err)
	}
}
