package sink

import (
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
)

// fixColumns are the columns that a position and a vehicle's state have in common.
type fixColumns struct {
	accounts, vehicles, devices, cells []uint64
	fixTimes, deviceTimes, received    []int64
	lats, lngs                         []int32
	altitudes                          optional[int32]
	speeds, courses                    optional[uint16]
	accuracies, odometers              optional[uint32]
	satellites                         optional[uint8]
	ignitions, motions                 []int8
	alarms                             []string
	flags                              []uint32
	offsets                            []uint64
}

func (c *fixColumns) reset() {
	c.accounts, c.vehicles, c.devices, c.cells = c.accounts[:0], c.vehicles[:0], c.devices[:0], c.cells[:0]
	c.fixTimes, c.deviceTimes, c.received = c.fixTimes[:0], c.deviceTimes[:0], c.received[:0]
	c.lats, c.lngs = c.lats[:0], c.lngs[:0]
	c.altitudes.reset()
	c.speeds.reset()
	c.courses.reset()
	c.accuracies.reset()
	c.odometers.reset()
	c.satellites.reset()
	c.ignitions, c.motions, c.alarms = c.ignitions[:0], c.motions[:0], c.alarms[:0]
	c.flags, c.offsets = c.flags[:0], c.offsets[:0]
}

func (c *fixColumns) add(p *fleet.Position, offset int64) {
	s := p.Stored()
	c.accounts = append(c.accounts, uint64(p.Account))
	c.vehicles = append(c.vehicles, uint64(p.Vehicle))
	c.devices = append(c.devices, uint64(s.Device))
	c.fixTimes = append(c.fixTimes, int64(s.FixTime))
	c.deviceTimes = append(c.deviceTimes, int64(s.DeviceTime))
	c.received = append(c.received, int64(s.ReceivedTime))
	c.lats = append(c.lats, s.Lat)
	c.lngs = append(c.lngs, s.Lng)
	c.altitudes.add(s.Altitude, s.Altitude != fleet.NoAltitude)
	c.speeds.add(uint16(s.Speed), s.Speed >= 0)
	c.courses.add(uint16(s.Course), s.Course >= 0)
	c.accuracies.add(uint32(s.Accuracy), s.Accuracy >= 0)
	c.odometers.add(uint32(s.Odometer), s.Odometer >= 0)
	c.satellites.add(uint8(s.Satellites), s.Satellites >= 0)
	c.ignitions = append(c.ignitions, int8(s.Ignition))
	c.motions = append(c.motions, int8(s.Motion))
	c.alarms = append(c.alarms, s.Alarm)
	c.cells = append(c.cells, uint64(s.Cell))
	c.flags = append(c.flags, uint32(s.Flags))
	c.offsets = append(c.offsets, uint64(offset))
}

const fixColumnNames = "account, vehicle, " + fleet.StoredColumns + ", source_offset, source_topic, source_partition"

func (c *fixColumns) fill(f *filler, source Source) {
	f.column(c.accounts)
	f.column(c.vehicles)
	f.column(c.devices)
	f.column(c.fixTimes)
	f.column(c.deviceTimes)
	f.column(c.received)
	f.column(c.lats)
	f.column(c.lngs)
	f.column(c.altitudes.pointers())
	f.column(c.speeds.pointers())
	f.column(c.courses.pointers())
	f.column(c.accuracies.pointers())
	f.column(c.odometers.pointers())
	f.column(c.satellites.pointers())
	f.column(c.ignitions)
	f.column(c.motions)
	f.column(c.alarms)
	f.column(c.cells)
	f.column(c.flags)
	f.column(c.offsets)
	f.constant(source.Topic, len(c.accounts))
	f.constant(uint16(source.Partition), len(c.accounts))
}

// positionRows are the rows of positions.
type positionRows struct{ fixColumns }

// Position adds an accepted position that came at an offset.
func (b *Batch) Position(p *fleet.Position, offset int64) { b.positions.add(p, offset) }

// Positions returns how many positions the batch has.
func (b *Batch) Positions() int { return b.positions.rows() }

func (r *positionRows) rows() int      { return len(r.accounts) }
func (r *positionRows) insert() string { return "INSERT INTO positions (" + fixColumnNames + ")" }

func (r *positionRows) fill(into driver.Batch, source Source) error {
	f := filler{batch: into}
	r.fixColumns.fill(&f, source)
	return f.err
}

// State is what vehicle_state keeps of a vehicle.
type State struct {
	Last          fleet.Position // the live position; all of it zero but account and vehicle if there is none
	Newest        fleet.Millis   // newest fix time of any stored position
	CandidateTime fleet.Millis   // of a jump that waits to be confirmed; 0 if there is none
	CandidateLat  float64
	CandidateLng  float64
	Wheels        fleet.Wheels // since the live place last changed
}

// stateRows are the rows of vehicle_state.
type stateRows struct {
	fixColumns
	versions       []uint64
	newest         []int64
	candidateTimes optional[int64]
	candidateLats  []int32
	candidateLngs  []int32
	wheels         wheelColumns
}

// wheelColumns are the columns of fleet.Wheels, for as much of it as the classifier asks.
type wheelColumns struct {
	goes, same, mute []int64
	speeds, ways     []float64
}

func (c *wheelColumns) add(w *fleet.Wheels) {
	c.goes, c.same, c.mute = append(c.goes, int64(w.Goes)), append(c.same, int64(w.Same)), append(c.mute, int64(w.Mute))
	c.speeds, c.ways = append(c.speeds, w.Speed), append(c.ways, w.Way)
}

func (c *wheelColumns) reset() {
	c.goes, c.same, c.mute = c.goes[:0], c.same[:0], c.mute[:0]
	c.speeds, c.ways = c.speeds[:0], c.ways[:0]
}

func (c *wheelColumns) fill(f *filler) {
	f.column(c.goes)
	f.column(c.same)
	f.column(c.speeds)
	f.column(c.ways)
	f.column(c.mute)
}

// State adds where a vehicle stands after the batch; offset is that of the batch's last record.
func (b *Batch) State(s *State, offset int64) {
	r := &b.states
	r.add(&s.Last, offset)
	r.versions = append(r.versions, uint64(s.Newest))
	r.newest = append(r.newest, int64(s.Newest))
	r.candidateTimes.add(int64(s.CandidateTime), s.CandidateTime != 0)
	r.candidateLats = append(r.candidateLats, fleet.StoredCoordinate(s.CandidateLat))
	r.candidateLngs = append(r.candidateLngs, fleet.StoredCoordinate(s.CandidateLng))
	r.wheels.add(&s.Wheels)
}

func (r *stateRows) reset() {
	r.fixColumns.reset()
	r.versions, r.newest = r.versions[:0], r.newest[:0]
	r.candidateTimes.reset()
	r.candidateLats, r.candidateLngs = r.candidateLats[:0], r.candidateLngs[:0]
	r.wheels.reset()
}

func (r *stateRows) rows() int { return len(r.accounts) }

func (r *stateRows) insert() string {
	return "INSERT INTO vehicle_state (" + fixColumnNames + ", version, newest_time, candidate_time, candidate_lat7, candidate_lng7, " +
		"still_goes_ms, still_same_ms, still_speed_mps, still_way_m, still_mute_ms)"
}

func (r *stateRows) fill(into driver.Batch, source Source) error {
	f := filler{batch: into}
	r.fixColumns.fill(&f, source)
	f.column(r.versions)
	f.column(r.newest)
	f.column(r.candidateTimes.pointers())
	f.column(r.candidateLats)
	f.column(r.candidateLngs)
	r.wheels.fill(&f)
	return f.err
}
