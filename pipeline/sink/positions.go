package sink

import "github.com/motorpool/fleet"

// fixColumns are the columns that a position and a vehicle's state have in common.
type fixColumns struct {
	accounts, vehicles, devices, cells list[uint64]
	fixTimes, deviceTimes, received    list[int64]
	lats, lngs                         list[int32]
	altitudes                          optional[int32]
	speeds, courses                    optional[uint16]
	accuracies, odometers              optional[uint32]
	satellites                         optional[uint8]
	ignitions, motions                 list[int8]
	alarms                             list[string]
	flags                              list[uint32]
	offsets                            list[uint64]
}

func (c *fixColumns) add(p *fleet.Position, offset int64) {
	s := p.Stored()
	c.accounts.add(uint64(p.Account))
	c.vehicles.add(uint64(p.Vehicle))
	c.devices.add(uint64(s.Device))
	c.fixTimes.add(int64(s.FixTime))
	c.deviceTimes.add(int64(s.DeviceTime))
	c.received.add(int64(s.ReceivedTime))
	c.lats.add(s.Lat)
	c.lngs.add(s.Lng)
	c.altitudes.add(s.Altitude, s.Altitude != fleet.NoAltitude)
	c.speeds.add(uint16(s.Speed), s.Speed >= 0)
	c.courses.add(uint16(s.Course), s.Course >= 0)
	c.accuracies.add(uint32(s.Accuracy), s.Accuracy >= 0)
	c.odometers.add(uint32(s.Odometer), s.Odometer >= 0)
	c.satellites.add(uint8(s.Satellites), s.Satellites >= 0)
	c.ignitions.add(int8(s.Ignition))
	c.motions.add(int8(s.Motion))
	c.alarms.add(s.Alarm)
	c.cells.add(uint64(s.Cell))
	c.flags.add(uint32(s.Flags))
	c.offsets.add(uint64(offset))
}

func (c *fixColumns) rows() int { return len(c.accounts) }

const fixColumnNames = "account, vehicle, " + fleet.StoredColumns + ", source_offset, source_topic, source_partition"

// columns are those of fixColumnNames.
func (c *fixColumns) columns() []part {
	return []part{
		&c.accounts, &c.vehicles, &c.devices, &c.fixTimes, &c.deviceTimes, &c.received, &c.lats, &c.lngs, &c.altitudes,
		&c.speeds, &c.courses, &c.accuracies, &c.odometers, &c.satellites, &c.ignitions, &c.motions, &c.alarms, &c.cells,
		&c.flags, &c.offsets, origin{},
	}
}

// positionRows are the rows of positions.
type positionRows struct{ fixColumns }

// Position adds an accepted position that came at an offset.
func (b *Batch) Position(p *fleet.Position, offset int64) { b.positions.add(p, offset) }

// Positions returns how many positions the batch has.
func (b *Batch) Positions() int { return b.positions.rows() }

func (r *positionRows) insert() string { return "INSERT INTO positions (" + fixColumnNames + ")" }

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
	versions       list[uint64]
	newest         list[int64]
	candidateTimes optional[int64]
	candidateLats  list[int32]
	candidateLngs  list[int32]
	wheels         wheelColumns
}

// wheelColumns are the columns of fleet.Wheels, for as much of it as the classifier asks.
type wheelColumns struct {
	goes, same, mute list[int64]
	speeds, ways     list[float64]
}

func (c *wheelColumns) add(w *fleet.Wheels) {
	c.goes.add(int64(w.Goes))
	c.same.add(int64(w.Same))
	c.mute.add(int64(w.Mute))
	c.speeds.add(w.Speed)
	c.ways.add(w.Way)
}

// State adds where a vehicle stands after the batch; offset is that of the batch's last record.
func (b *Batch) State(s *State, offset int64) {
	r := &b.states
	r.add(&s.Last, offset)
	r.versions.add(uint64(s.Newest))
	r.newest.add(int64(s.Newest))
	r.candidateTimes.add(int64(s.CandidateTime), s.CandidateTime != 0)
	r.candidateLats.add(fleet.StoredCoordinate(s.CandidateLat))
	r.candidateLngs.add(fleet.StoredCoordinate(s.CandidateLng))
	r.wheels.add(&s.Wheels)
}

func (r *stateRows) insert() string {
	return "INSERT INTO vehicle_state (" + fixColumnNames +
		", version, newest_time, candidate_time, candidate_lat7, candidate_lng7, " +
		"still_goes_ms, still_same_ms, still_speed_mps, still_way_m, still_mute_ms)"
}

func (r *stateRows) columns() []part {
	w := &r.wheels
	return append(r.fixColumns.columns(), &r.versions, &r.newest, &r.candidateTimes, &r.candidateLats, &r.candidateLngs,
		&w.goes, &w.same, &w.speeds, &w.ways, &w.mute)
}
