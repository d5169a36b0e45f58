package query

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// The meters of vehicles, as readings name them.
const (
	Odometer      = "odometer_mi"
	EngineHours   = "engine_hours"
	BatteryCycles = "battery_cycles"
)

// MeterReadings is how meter readings are listed.
var MeterReadings = Listing{Table: "meter_readings", Fields: []ListField{
	{Name: "vehicle_id", Type: TextField, Few: true},
	{Name: "kind", Type: TextField},
	{Name: "source", Type: TextField},
	{Name: "source_id", Type: TextField},
	{Name: "recorded_at", Type: TimeField, Range: true, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
}}

// Blocks is how blocks of calendars are listed.
var Blocks = Listing{Table: "blocks", Fields: []ListField{
	{Name: "vehicle_id", Type: TextField, Few: true},
	{Name: "kind", Type: TextField, Sort: true},
	{Name: "source_id", Type: TextField},
	{Name: "from_location_id", Type: TextField, Column: "JSONExtractString(body, 'from_location_id')"},
	{Name: "to_location_id", Type: TextField, Column: "JSONExtractString(body, 'to_location_id')"},
	{Name: "from", Type: TimeField, Range: true, Sort: true, Column: "`from`"},
	{Name: "until", Type: TimeField, Range: true, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"reason"}}

// Meter is where a meter of a vehicle stands. Of its zero value nothing is known.
type Meter struct {
	Value  float64      // miles, hours or cycles
	At     fleet.Millis // of the reading; 0: there is none
	Source string       // telematics, manual, pickup, return, work_order, import; track

	// Track is how an odometer was worked out by the way that was driven since it was read, if it was: then its
	// source is track.
	Track *OdometerTrack

	// PerDay30 and PerDay90 are how much was added a day in the last 30 and 90 days, by what its devices said of it, or
	// else by its readings; nil if these do not span a day.
	PerDay30, PerDay90 *float64
}

// Meters are the meters of a vehicle.
type Meters struct {
	OdometerMi, EngineHours, BatteryCycles Meter
}

// of returns the meter of a kind, or nil.
func (m *Meters) of(kind string) *Meter {
	switch kind {
	case Odometer:
		return &m.OdometerMi
	case EngineHours:
		return &m.EngineHours
	case BatteryCycles:
		return &m.BatteryCycles
	}
	return nil
}

// MetersOf returns where the meters of some vehicles of an account stand now, by the newest of what their devices say
// and of the valid readings, and the odometers of vehicles whose trackers tell none by their track since. A vehicle of
// which nothing is known has an entry too.
func MetersOf(ctx context.Context, db driver.Conn, account fleet.AccountID, vehicles []uint64,
	now time.Time) (map[uint64]Meters, error) {
	return metersOf(ctx, db, account, vehicles, now, true)
}

// MetersNow is MetersOf without what is added a day.
func MetersNow(ctx context.Context, db driver.Conn, account fleet.AccountID, vehicles []uint64,
	now time.Time) (map[uint64]Meters, error) {
	return metersOf(ctx, db, account, vehicles, now, false)
}

func metersOf(ctx context.Context, db driver.Conn, account fleet.AccountID, vehicles []uint64, now time.Time,
	perDay bool) (map[uint64]Meters, error) {
	all := make(map[uint64]Meters, len(vehicles))
	if len(vehicles) == 0 {
		return all, nil
	}
	for _, id := range vehicles {
		all[id] = Meters{}
	}
	args := []any{clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicles", vehicles),
		clickhouse.Named("now", now.UnixMilli())}
	err := scanMeters(ctx, db, "vehicles_meters", args, func(p *meterPoint) {
		m := all[p.vehicle]
		if meter := m.of(p.kind); meter != nil {
			meter.Value, meter.At, meter.Source = p.value, fleet.MillisOf(p.at), p.source
			all[p.vehicle] = m
		}
	})
	if err == nil {
		err = addTracks(ctx, db, account, all, now)
	}
	if err != nil || !perDay {
		return all, err
	}
	rates := meterRates{now: now}
	args = append(args, clickhouse.Named("from", now.Add(-90*24*time.Hour).UnixMilli()))
	err = scanMeters(ctx, db, "vehicles_meter_days", args, func(p *meterPoint) { rates.add(p) })
	for _, r := range rates.series {
		m := all[r.vehicle]
		meter := m.of(r.kind)
		if meter == nil || meter.PerDay90 != nil && r.source != "telematics" {
			continue
		}
		if long := r.perDay(90); long != nil {
			meter.PerDay30, meter.PerDay90 = r.perDay(30), long
			all[r.vehicle] = m
		}
	}
	return all, err
}

// meterPoint is how high a meter stood.
type meterPoint struct {
	vehicle      uint64
	kind, source string
	at           time.Time
	value        float64
}

func scanMeters(ctx context.Context, db driver.Conn, name string, args []any, visit func(*meterPoint)) error {
	return schemas.EachRow(ctx, db, "read "+name, schemas.Query(name), args, func(row schemas.Row) error {
		var p meterPoint
		if err := row.Scan(&p.vehicle, &p.kind, &p.source, &p.at, &p.value); err != nil {
			return err
		}
		visit(&p)
		return nil
	})
}

// meterRates are series of points, each of one vehicle, meter and source, in order of time.
type meterRates struct {
	now    time.Time
	series []*meterSeries
}

type meterSeries struct {
	meterPoint            // the last
	added      [2]float64 // in the last 30 and 90 days
	first      [2]time.Time
}

// rateDays are the lengths of the spans of meterSeries.
var rateDays = [2]int{30, 90}

func (m *meterRates) add(p *meterPoint) {
	var s *meterSeries
	if n := len(m.series); n > 0 && m.series[n-1].vehicle == p.vehicle && m.series[n-1].kind == p.kind &&
		m.series[n-1].source == p.source {
		s = m.series[n-1]
	} else {
		s = &meterSeries{}
		m.series = append(m.series, s)
	}
	for i, days := range rateDays {
		if p.at.Before(m.now.AddDate(0, 0, -days)) {
			continue
		}
		if s.first[i].IsZero() {
			s.first[i] = p.at
			continue
		}
		s.added[i] += max(p.value-s.value, 0) // a counter that was reset begins anew
	}
	s.meterPoint = *p
}

// perDay returns how much was added a day, or nil if the points do not span a day.
func (s *meterSeries) perDay(days int) *float64 {
	for i := range rateDays {
		if span := s.at.Sub(s.first[i]); rateDays[i] == days && !s.first[i].IsZero() && span >= 24*time.Hour {
			rate := s.added[i] / (span.Hours() / 24)
			return &rate
		}
	}
	return nil
}

// MeterNeighbour is a valid reading next to another.
type MeterNeighbour struct {
	ID    uint64
	At    time.Time
	Value float64
}

// Around are the readings of a meter of a vehicle next to an instant; those that there are not are nil.
type Around struct {
	Before, After *MeterNeighbour // valid readings: the last at or before it, and the first after it
	Told          *MeterNeighbour // what its devices said last, at whatever time: of an odometer only, and without an id
}

// MetersAround returns the readings of a meter of a vehicle next to an instant, but for those with some ids.
func MetersAround(ctx context.Context, db driver.Conn, account fleet.AccountID, vehicle uint64, kind string,
	at time.Time, but ...uint64) (Around, error) {
	var around Around
	err := schemas.EachRow(ctx, db, "read meter readings", schemas.Query("meters_around"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicle", vehicle),
		clickhouse.Named("kind", kind), clickhouse.Named("at", at.UnixMilli()),
		clickhouse.Named("but", append([]uint64{}, but...)),
	}, func(row schemas.Row) error {
		var n MeterNeighbour
		if err := row.Scan(&n.ID, &n.At, &n.Value); err != nil {
			return err
		}
		switch {
		case n.ID == 0:
			around.Told = &n
		case n.At.After(at):
			around.After = &n
		default:
			around.Before = &n
		}
		return nil
	})
	return around, err
}

// MetersTold returns the vehicles of an account of which anything was ever reported, with what their devices said of
// the odometer last; nil where they said nothing of that.
func MetersTold(ctx context.Context, db driver.Conn, account fleet.AccountID) (map[uint64]*MeterNeighbour, error) {
	all := map[uint64]*MeterNeighbour{}
	return all, schemas.EachRow(ctx, db, "read what devices say of meters", schemas.Query("meters_told"), []any{
		clickhouse.Named("account", uint64(account)),
	}, func(row schemas.Row) error {
		var vehicle uint64
		var n MeterNeighbour
		if err := row.Scan(&vehicle, &n.At, &n.Value); err != nil {
			return err
		}
		if all[vehicle] = nil; n.At.Unix() > 0 {
			all[vehicle] = &n
		}
		return nil
	})
}

// VoidedMeters returns the ids of the readings of a meter of a vehicle that are voided, in the order of their times.
func VoidedMeters(ctx context.Context, db driver.Conn, account fleet.AccountID, vehicle uint64,
	kind string) ([]uint64, error) {
	return schemas.AllRows(ctx, db, "read voided meter readings", schemas.Query("meters_voided"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicle", vehicle),
		clickhouse.Named("kind", kind),
	}, func(id *uint64, row schemas.Row) error {
		return row.Scan(id)
	})
}
