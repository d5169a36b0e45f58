package sink

import (
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
)

// VehicleState is a row of vehicle_state: where a vehicle stands in event time.
type VehicleState struct {
	Last          fleet.Position // the live position
	Newest        fleet.Millis   // newest fix time stored, trusted or not
	CandidateTime fleet.Millis   // of a jump that waits to be confirmed; 0 if there is none
	CandidateLat  float64
	CandidateLng  float64
}

// offsetBits is how much of the version of a state is the offset. The fix time, in milliseconds until 2100, takes 42
// bits above it; the version orders states by fix time, and those of one fix time by offset.
const offsetBits = 21

// Version returns the version under which a state is stored; of several rows of a vehicle the highest version counts.
func Version(fixTime fleet.Millis, offset int64) uint64 {
	return uint64(millis(fixTime))<<offsetBits | uint64(offset)&(1<<offsetBits-1)
}

// states is the rows of the table vehicle_state.
type states struct {
	fixes
	version       []uint64
	newest        []int64
	candidateTime optional[int64]
	candidateLat7 []int32
	candidateLng7 []int32
}

// AddState adds the state in which a batch leaves a vehicle; from is the last report that touched it. A vehicle without
// a live position has no state to be stored, and nothing is added.
func (s *Sink) AddState(v *VehicleState, from Source) {
	if v.Last.FixTime == 0 {
		return
	}
	t := &s.states
	t.add(&v.Last, from)
	t.version = append(t.version, Version(v.Last.FixTime, from.Offset))
	t.newest = append(t.newest, millis(v.Newest))
	t.candidateTime.add(millis(v.CandidateTime), v.CandidateTime != 0)
	t.candidateLat7 = append(t.candidateLat7, degrees7(v.CandidateLat))
	t.candidateLng7 = append(t.candidateLng7, degrees7(v.CandidateLng))
}

func (*states) name() string { return "vehicle_state" }
func (*states) insert() string {
	return "INSERT INTO vehicle_state (" + fixColumns + `,
	version, newest_time, candidate_time, candidate_lat7, candidate_lng7)`
}
func (t *states) rows() int { return len(t.vehicle) }
func (t *states) columns(b driver.Batch) error {
	return fill(b, append(t.all(), t.version, t.newest, t.candidateTime.column(), t.candidateLat7, t.candidateLng7)...)
}

func (t *states) reset() {
	t.fixes.reset()
	t.version, t.newest = t.version[:0], t.newest[:0]
	t.candidateTime.reset()
	t.candidateLat7, t.candidateLng7 = t.candidateLat7[:0], t.candidateLng7[:0]
}

// Mileage is a row of vehicle_mileage: the vehicle has gone Base + Raw metres.
type Mileage struct {
	Time              fleet.Millis
	Raw, Base, Before uint32
}

// mileages is the rows of the table vehicle_mileage.
type mileages struct {
	account, vehicle  []uint64
	time              []int64
	raw, base, before []uint32
}

// AddMileage adds a vehicle's odometer as a batch leaves it.
func (s *Sink) AddMileage(account fleet.AccountID, vehicle fleet.VehicleID, m Mileage) {
	t := &s.mileages
	t.account = append(t.account, uint64(account))
	t.vehicle = append(t.vehicle, uint64(vehicle))
	t.time = append(t.time, millis(m.Time))
	t.raw = append(t.raw, m.Raw)
	t.base = append(t.base, m.Base)
	t.before = append(t.before, m.Before)
}

func (*mileages) name() string { return "vehicle_mileage" }
func (*mileages) insert() string {
	return "INSERT INTO vehicle_mileage (account, vehicle, time, raw_m, base_m, before_m)"
}
func (t *mileages) rows() int { return len(t.vehicle) }
func (t *mileages) columns(b driver.Batch) error {
	return fill(b, t.account, t.vehicle, t.time, t.raw, t.base, t.before)
}

func (t *mileages) reset() {
	t.account, t.vehicle, t.time = t.account[:0], t.vehicle[:0], t.time[:0]
	t.raw, t.base, t.before = t.raw[:0], t.base[:0], t.before[:0]
}
