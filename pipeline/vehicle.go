package pipeline

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/ext"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/pipeline/fix"
	"github.com/motorpool/fleet/pipeline/geofence"
	"github.com/motorpool/fleet/pipeline/sink"
	"github.com/motorpool/fleet/schemas"
)

type vehicleKey struct {
	account fleet.AccountID
	vehicle fleet.VehicleID
}

// vehicle is what a chain remembers of a vehicle.
type vehicle struct {
	key    vehicleKey
	state  fix.State
	loaded bool

	touchedIn uint64 // the batch in which the rest holds
	before    fix.State
	from, to  fleet.Millis                // of what is new in the batch; to is 0 if there is nothing
	times     []told                      // accepted in the batch, in order of arrival
	timeSet   map[fleet.Millis]reportMark // of times, once somebody asked
	packed    *derive.Packer              // what the batch stores of it; nil between batches

	lookedIn      uint64       // the batch in which these hold, of fixes whose clock is too far ahead:
	looked, given fleet.Millis // up to when it was looked what is stored, and the newest time that one of them got

	cellLat, cellLng float64
	cell             fleet.Cell
}

// vehicle returns what is remembered of a vehicle; load loads what is new.
func (c *Chain) vehicle(key vehicleKey) *vehicle {
	v := c.vehicles[key]
	if v == nil {
		v = &vehicle{key: key}
		c.vehicles[key] = v
	}
	return v
}

// keptTimes is how many times a vehicle keeps room for between batches. A recording that was sent at once has a whole
// batch of one vehicle, and the next batch of another.
const keptTimes = 32

// touch notes that the vehicle is in the batch.
func (v *vehicle) touch(c *Chain) {
	if v.touchedIn == c.batch {
		return
	}
	v.touchedIn, v.before, v.from, v.to = c.batch, v.state, 0, 0
	if len(c.touched) == len(c.packers) {
		c.packers = append(c.packers, new(derive.Packer))
	}
	v.packed = c.packers[len(c.touched)]
	v.packed.Reset()
	c.touched = append(c.touched, v)
}

// changed notes that the vehicle has something new at t.
func (v *vehicle) changed(c *Chain, t fleet.Millis) {
	v.touch(c)
	if v.to == 0 {
		v.from, v.to = t, t
		return
	}
	v.from, v.to = min(v.from, t), max(v.to, t)
}

// reportMark is what tells a position's report from others with the same fix: the device's own time, and its alarm.
type reportMark struct {
	at    fleet.Millis
	alarm string // one of fleet.Alarms, or none
}

func reportMarkOf(p *fleet.Position) reportMark { return reportMark{p.DeviceTime, p.Alarm} }

// told is a position that the batch has accepted.
type told struct {
	fix fleet.Millis
	by  reportMark
}

// accept notes that the vehicle has a position now.
func (v *vehicle) accept(c *Chain, p *fleet.Position) {
	v.touch(c)
	v.times = append(v.times, told{p.FixTime, reportMarkOf(p)})
	if v.timeSet != nil {
		v.timeSet[p.FixTime] = reportMarkOf(p)
	}
}

// accepted says whether the batch has given the vehicle a position at t, and told by what.
func (v *vehicle) accepted(c *Chain, t fleet.Millis) (by reportMark, ok bool) {
	if v.touchedIn != c.batch || len(v.times) == 0 {
		return reportMark{}, false
	}
	if v.timeSet == nil {
		v.timeSet = make(map[fleet.Millis]reportMark, len(v.times))
		for _, entry := range v.times {
			v.timeSet[entry.fix] = entry.by
		}
	}
	by, ok = v.timeSet[t]
	return by, ok
}

// has says whether the vehicle has a position at t, from this batch or from before, and told by what.
func (v *vehicle) has(c *Chain, stored storedTimes, t fleet.Millis) (by reportMark, ok bool) {
	if !v.state.MayBeStored(t) {
		return reportMark{}, false
	}
	if by, ok = v.accepted(c, t); !ok {
		by, ok = stored[storedTime{v.key, t}]
	}
	return by, ok
}

// spare is how many more times than it needs a batch looks at for fixes whose clock is too far ahead.
const spare = 64

// look returns of which times it must be looked whether they are stored, so that a fix whose clock is too far ahead and
// that came at t finds one that is free. Such fixes of a batch have times in the order in which they came.
func (v *vehicle) look(c *Chain, t fleet.Millis) (from, to fleet.Millis) {
	if v.lookedIn != c.batch {
		v.lookedIn, v.looked, v.given = c.batch, 0, 0
	}
	from = max(t, v.looked+1)
	v.looked = max(t+spare, v.looked+1)
	return from, v.looked
}

// free returns a time for a fix whose clock is too far ahead and that came at t, where it was looked up
// to another time.
func (v *vehicle) free(c *Chain, stored storedTimes, t, looked fleet.Millis) fleet.Millis {
	v.given = v.state.Free(max(t, v.given+1), looked, func(t fleet.Millis) bool {
		_, ok := v.has(c, stored, t)
		return ok
	})
	return v.given
}

// cellOf returns the cell of a position; a vehicle that stands still costs nothing.
func (v *vehicle) cellOf(p *fleet.Position) fleet.Cell {
	if v.cell == 0 || v.cellLat != p.Lat || v.cellLng != p.Lng {
		v.cell, v.cellLat, v.cellLng = geofence.CellOf(p.Lat, p.Lng), p.Lat, p.Lng
	}
	return v.cell
}

var (
	ignitionSignal = fleet.MustSignal("ignition")
	motionSignal   = fleet.MustSignal("motion")
	odometerSignal = fleet.MustSignal("odometer_m")
)

// report adds the signals of an accepted position: those it names, and of its own members what has changed since the
// live position before, and the odometer once a minute.
func (v *vehicle) report(c *Chain, p *fleet.Position, r *fleet.Report, before *fleet.Position, mileage fleet.Millis) {
	v.measured(c, p, r)
	if p.Ignition != fleet.Unknown && p.Ignition != before.Ignition {
		v.signal(c, p, ignitionSignal, signalOfTri(p.Ignition))
	}
	if p.Motion != fleet.Unknown && p.Motion != before.Motion {
		v.signal(c, p, motionSignal, signalOfTri(p.Motion))
	}
	const minute = fleet.Millis(time.Minute / time.Millisecond)
	if !math.IsNaN(p.Odometer) && p.FixTime/minute != mileage/minute {
		v.signal(c, p, odometerSignal, p.Odometer)
	}
}

// signals adds all signals of a report without an accepted position, and returns how many there were.
func (v *vehicle) signals(c *Chain, p *fleet.Position, r *fleet.Report) int {
	n := v.measured(c, p, r)
	if r.Ignition != fleet.Unknown {
		v.signal(c, p, ignitionSignal, signalOfTri(r.Ignition))
		n++
	}
	if r.Motion != fleet.Unknown {
		v.signal(c, p, motionSignal, signalOfTri(r.Motion))
		n++
	}
	if odometerSignal.Accepts(r.Odometer) {
		v.touch(c)
		c.cfg.Fix.Advance(&v.state.Mileage, p.FixTime, r.Odometer)
		v.signal(c, p, odometerSignal, r.Odometer)
		n++
	}
	if n > 0 {
		v.changed(c, p.FixTime)
	}
	return n
}

// measured adds the signals and the driver's tag that a report names, and returns how many there were.
func (v *vehicle) measured(c *Chain, p *fleet.Position, r *fleet.Report) int {
	for _, s := range r.Signals {
		v.signal(c, p, s.Signal, s.Value)
	}
	if r.Driver == "" {
		return len(r.Signals)
	}
	c.rows.Tag(p.Account, fleet.TagReport{Vehicle: p.Vehicle, At: p.FixTime, Tag: r.Driver})
	return len(r.Signals) + 1
}

func (v *vehicle) signal(c *Chain, p *fleet.Position, s fleet.Signal, value float64) {
	v.touch(c)
	measured := fleet.SignalValue{Signal: s, Value: value}
	c.rows.Signal(p.Account, p.Vehicle, p.FixTime, measured)
	v.packed.Signal(p.FixTime, measured)
}

// signalOfTri returns 1 for yes, else 0, as a signal has it.
func signalOfTri(t fleet.Tri) float64 {
	if t == fleet.Yes {
		return 1
	}
	return 0
}

// addRows adds the vehicle's state and mileage to the rows, if the batch changed them, and forgets its times.
func (v *vehicle) addRows(c *Chain, last int64) {
	v.times, v.timeSet = v.times[:0], nil
	if cap(v.times) > keptTimes {
		v.times = nil
	}
	if m := v.state.Mileage; m != v.before.Mileage {
		c.rows.Mileage(sink.Mileage{
			Account: v.key.account, Vehicle: v.key.vehicle, Time: m.Time, Raw: m.Raw, Base: m.Base, Before: m.Before,
		})
	}
	if v.state.Known() && (v.state.Newest != v.before.Newest || v.state.Last.FixTime != v.before.Last.FixTime ||
		v.state.Candidate != v.before.Candidate) {
		c.rows.State(&sink.State{
			Last: v.state.Last, Newest: v.state.Newest, CandidateTime: v.state.Candidate.Time,
			CandidateLat: v.state.Candidate.Lat, CandidateLng: v.state.Candidate.Lng, Wheels: v.state.Wheels,
		}, last)
	}
}

// load reads the states of the vehicles that the chain meets for the first time, in three queries for all of them.
func (c *Chain) load(ctx context.Context, b *consume.Batch) error {
	var missing []*vehicle
	for i := range c.works {
		if v := c.works[i].vehicle; v != nil && !v.loaded {
			v.loaded = true
			missing = append(missing, v)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if err := c.loadStates(ctx, missing); err != nil {
		return fmt.Errorf("load states of %d vehicles: %w", len(missing), err)
	}
	if err := c.loadMileages(ctx, missing); err != nil {
		return fmt.Errorf("load mileages of %d vehicles: %w", len(missing), err)
	}
	var stateless []*vehicle
	for _, v := range missing {
		if !v.state.Known() {
			stateless = append(stateless, v)
		}
	}
	if err := c.loadNewest(ctx, b, stateless); err != nil {
		return fmt.Errorf("load newest positions of %d vehicles: %w", len(stateless), err)
	}
	return nil
}

// wanted gives a query the vehicles it is about, as an external table.
func wanted(ctx context.Context, vehicles []*vehicle) (context.Context, error) {
	table, err := ext.NewTable("wanted", ext.Column("account", "UInt64"), ext.Column("vehicle", "UInt64"))
	if err != nil {
		return nil, err
	}
	for _, v := range vehicles {
		if err := table.Append(uint64(v.key.account), uint64(v.key.vehicle)); err != nil {
			return nil, err
		}
	}
	return clickhouse.Context(ctx, clickhouse.WithExternalTable(table)), nil
}

func (c *Chain) loadStates(ctx context.Context, vehicles []*vehicle) error {
	ctx, err := wanted(ctx, vehicles)
	if err != nil {
		return err
	}
	return schemas.EachRow(ctx, c.deps.DB, "read states", schemas.Query("vehicle_states"), nil,
		func(row schemas.Row) error {
			var account, id uint64
			var last fleet.StoredPosition
			var newest time.Time
			var candidateTime *time.Time
			var candidateLat, candidateLng int32
			var wheels fleet.Wheels
			columns := append([]any{&account, &id}, last.Columns()...)
			columns = append(columns, &newest, &candidateTime, &candidateLat, &candidateLng,
				(*int64)(&wheels.Goes), (*int64)(&wheels.Same), &wheels.Speed, &wheels.Way, (*int64)(&wheels.Mute))
			if err := row.Scan(columns...); err != nil {
				return err
			}
			v := c.vehicle(vehicleKey{fleet.AccountID(account), fleet.VehicleID(id)})
			v.state.Last = fleet.Position{Account: v.key.account, Vehicle: v.key.vehicle}
			last.Restore(&v.state.Last)
			v.state.Newest, v.state.Wheels = fleet.MillisOf(newest), wheels
			if candidateTime != nil {
				v.state.Candidate = fix.Candidate{
					Time: fleet.MillisOf(*candidateTime), Lat: fleet.CoordinateOf(candidateLat), Lng: fleet.CoordinateOf(candidateLng),
				}
			}
			return nil
		})
}

func (c *Chain) loadMileages(ctx context.Context, vehicles []*vehicle) error {
	ctx, err := wanted(ctx, vehicles)
	if err != nil {
		return err
	}
	return schemas.EachRow(ctx, c.deps.DB, "read mileages", schemas.Query("vehicle_mileages"), nil,
		func(row schemas.Row) error {
			var account, id uint64
			var at time.Time
			var m fix.Mileage
			if err := row.Scan(&account, &id, &at, &m.Raw, &m.Base, &m.Before); err != nil {
				return err
			}
			m.Time = fleet.MillisOf(at)
			c.vehicle(vehicleKey{fleet.AccountID(account), fleet.VehicleID(id)}).state.Mileage = m
			return nil
		})
}

// loadNewest finds the newest position of vehicles without a live one: all that they have is doubtful.
func (c *Chain) loadNewest(ctx context.Context, b *consume.Batch, vehicles []*vehicle) error {
	if len(vehicles) == 0 {
		return nil
	}
	ctx, err := wanted(ctx, vehicles)
	if err != nil {
		return err
	}
	text := schemas.Query("positions_newest")
	return schemas.EachRow(ctx, c.deps.DB, "read newest positions", text, own(b), func(row schemas.Row) error {
		var account, id uint64
		var newest time.Time
		if err := row.Scan(&account, &id, &newest); err != nil {
			return err
		}
		c.vehicle(vehicleKey{fleet.AccountID(account), fleet.VehicleID(id)}).state.Newest = fleet.MillisOf(newest)
		return nil
	})
}

// own names the batch's range for queries that leave its rows out: when the batch is formed again after a crash,
// they may be there.
func own(b *consume.Batch) []any {
	return []any{clickhouse.Named("topic", b.Topic), clickhouse.Named("partition", b.Partition),
		clickhouse.Named("first", b.First)}
}

type storedTime struct {
	key vehicleKey
	at  fleet.Millis
}

// storedTimes are fix times that vehicles had positions at before the batch, and what told of these.
type storedTimes map[storedTime]reportMark

// stored asks, in one query, which of the batch's older fixes are there already. Most batches have none
// and ask nothing.
func (c *Chain) stored(ctx context.Context, b *consume.Batch) (storedTimes, error) {
	var table *ext.Table
	ask := func(p *fleet.Position, t fleet.Millis) (err error) {
		if table == nil {
			table, err = ext.NewTable("wanted", ext.Column("account", "UInt64"), ext.Column("vehicle", "UInt64"),
				ext.Column("fix_ms", "Int64"))
			if err != nil {
				return err
			}
		}
		return table.Append(uint64(p.Account), uint64(p.Vehicle), int64(t))
	}
	for i := range c.works {
		w, r := &c.works[i], &c.reports[i]
		p := &w.position
		if w.vehicle == nil || w.refusal != "" || !r.Positioned {
			continue
		}
		from, to := p.FixTime, p.FixTime
		if p.Flags&fleet.FlagFutureClock != 0 {
			from, to = w.vehicle.look(c, p.FixTime)
			w.looked = to
		}
		for t := from; t <= to && w.vehicle.state.MayBeStored(t); t++ {
			if err := ask(p, t); err != nil {
				return nil, err
			}
		}
		if t := c.alarmTime(p); t != 0 && w.vehicle.state.MayBeStored(t) {
			if err := ask(p, t); err != nil {
				return nil, err
			}
		}
	}
	if table == nil {
		return nil, nil
	}
	found := make(storedTimes)
	ctx = clickhouse.Context(ctx, clickhouse.WithExternalTable(table))
	text := schemas.Query("positions_stored")
	err := schemas.EachRow(ctx, c.deps.DB, "look for duplicates", text, own(b), func(row schemas.Row) error {
		var account, id uint64
		var at, device time.Time
		var alarm string
		if err := row.Scan(&account, &id, &at, &device, &alarm); err != nil {
			return err
		}
		found[storedTime{vehicleKey{fleet.AccountID(account), fleet.VehicleID(id)}, fleet.MillisOf(at)}] = reportMark{
			fleet.MillisOf(device), alarm}
		return nil
	})
	return found, err
}
