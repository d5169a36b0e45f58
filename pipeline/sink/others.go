package sink

import (
	"encoding/binary"
	"hash/fnv"
	"time"

	"github.com/motorpool/fleet"
)

// boxedSignals are the names of the signals, ready for a column of low cardinality.
var boxedSignals = func() []any {
	names := make([]any, len(fleet.Signals))
	for i := range fleet.Signals {
		names[i] = fleet.Signals[i].Name
	}
	return names
}()

// telemetryRows are the rows of telemetry.
type telemetryRows struct {
	accounts, vehicles list[uint64]
	signals            words
	times              list[int64]
	values             list[float64]
}

// Signal adds a measurement, whose value the signal must accept.
func (b *Batch) Signal(account fleet.AccountID, vehicle fleet.VehicleID, at fleet.Millis, v fleet.SignalValue) {
	r := &b.telemetry
	r.accounts.add(uint64(account))
	r.vehicles.add(uint64(vehicle))
	r.signals.add(boxedSignals[v.Signal])
	r.times.add(int64(at))
	r.values.add(v.Value)
}

// Signals returns how many measurements the batch has.
func (b *Batch) Signals() int { return b.telemetry.rows() }

func (r *telemetryRows) rows() int { return len(r.accounts) }
func (r *telemetryRows) insert() string {
	return "INSERT INTO telemetry (account, vehicle, signal, time, value)"
}

func (r *telemetryRows) columns() []part {
	return []part{&r.accounts, &r.vehicles, &r.signals, &r.times, &r.values}
}

// Letter is a report or a whole record that could not become data.
type Letter struct {
	Account  fleet.AccountID // The account; 0 if the device is not known.
	At       fleet.Millis    // When the record was received.
	Reason   fleet.Refusal
	Detail   string
	UniqueID string
	Offset   int64
	Index    int
	Format   string
	Payload  []byte // The raw bytes of the record, cut to MaxPayload.
	Bytes    int    // The size of the whole record.
}

// MaxPayload is how much of a record a dead letter keeps.
const MaxPayload = 64 << 10

// LetterID names a dead letter by where it came from, so that one that is written again is the same.
func LetterID(topic string, partition int, offset int64, index int) uint64 {
	hash := fnv.New64a()
	hash.Write([]byte(topic))
	var at [24]byte
	binary.BigEndian.PutUint64(at[0:], uint64(partition))
	binary.BigEndian.PutUint64(at[8:], uint64(offset))
	binary.BigEndian.PutUint64(at[16:], uint64(index))
	hash.Write(at[:])
	return max(hash.Sum64(), 1)
}

// letterRows are the rows of dead_letters.
type letterRows struct{ letters records[Letter] }

// Letter adds a dead letter.
func (b *Batch) Letter(l Letter) { b.letters.letters = append(b.letters.letters, l) }

// Letters returns the batch's dead letters.
func (b *Batch) Letters() []Letter { return b.letters.letters }

func (r *letterRows) rows() int { return len(r.letters) }

// names tells these rows from others of the same range.
func (r *letterRows) names() uint64 {
	hash := fnv.New64a()
	var row []byte
	for i := range r.letters {
		l := &r.letters[i]
		row = binary.BigEndian.AppendUint64(row[:0], uint64(l.Offset))
		row = binary.BigEndian.AppendUint64(row, uint64(l.Index))
		row = binary.BigEndian.AppendUint64(row, uint64(l.Account))
		hash.Write(append(row, l.Reason...))
	}
	return hash.Sum64()
}

func (r *letterRows) insert() string {
	return "INSERT INTO dead_letters (account, id, at, reason, detail, unique_id, source_topic, source_partition, source_offset, " +
		"source_index, format, payload, payload_bytes)"
}

func (r *letterRows) columns() []part { return []part{&r.letters} }

func (l Letter) values(s Source) []any {
	return []any{
		uint64(l.Account), LetterID(s.Topic, s.Partition, l.Offset, l.Index), l.At.Time(), string(l.Reason), l.Detail,
		l.UniqueID, s.Topic, uint16(s.Partition), uint64(l.Offset), uint32(l.Index), l.Format,
		string(l.Payload), uint64(l.Bytes),
	}
}

// apartRows are the rows of unregistered_reports.
type apartRows struct {
	uniqueIDs, runs, reports list[string]
	times                    list[int64]
	offsets                  list[uint64]
	indexes                  list[uint32]
}

// Apart adds a report of an unknown device, in the native JSON.
func (b *Batch) Apart(uniqueID string, at fleet.Millis, offset int64, index int, run string, report []byte) {
	r := &b.apart
	r.uniqueIDs.add(uniqueID)
	r.runs.add(run)
	r.reports.add(string(report))
	r.times.add(int64(at))
	r.offsets.add(uint64(offset))
	r.indexes.add(uint32(index))
}

func (r *apartRows) rows() int { return len(r.uniqueIDs) }

// names tells these rows from others of the same range.
func (r *apartRows) names() uint64 {
	hash := fnv.New64a()
	var row []byte
	for i, offset := range r.offsets {
		row = binary.BigEndian.AppendUint64(row[:0], offset)
		hash.Write(binary.BigEndian.AppendUint32(row, r.indexes[i]))
	}
	return hash.Sum64()
}

func (r *apartRows) insert() string {
	return "INSERT INTO unregistered_reports (unique_id, at, source_topic, source_partition, source_offset, source_index, run, report)"
}

func (r *apartRows) columns() []part {
	return []part{&r.uniqueIDs, &r.times, origin{}, &r.offsets, &r.indexes, &r.runs, &r.reports}
}

// Outcome is what became of the reports of one account and run in a batch: Read = Stored + the sum of Refused.
type Outcome struct {
	Account      fleet.AccountID
	Run          string
	First, Last  int64
	At           fleet.Millis
	Read, Stored int64
	Signals      int64
	Refused      map[string]int64
	Devices      []DeviceOutcome
}

// DeviceOutcome is what became of reports of one device that were received in a quarter of an hour and are not
// stored as positions.
type DeviceOutcome struct {
	Device  fleet.DeviceID
	Quarter fleet.Millis // When the quarter of an hour begins.
	Outcome string       // A reason of refusal, or measured.
	Count   uint32
}

// outcomeRows are the rows of ingest_outcomes, one for each account and run of the batch.
type outcomeRows struct{ outcomes records[Outcome] }

// Outcome adds a count.
func (b *Batch) Outcome(o Outcome) { b.outcomes.outcomes = append(b.outcomes.outcomes, o) }

func (r *outcomeRows) rows() int { return len(r.outcomes) }
func (r *outcomeRows) insert() string {
	return "INSERT INTO ingest_outcomes (account, run, topic, partition, first_offset, last_offset, at, read, stored, signals, refused, " +
		"outcome_devices, outcome_quarters, outcome_names, outcome_counts)"
}

func (r *outcomeRows) columns() []part { return []part{&r.outcomes} }

func (o Outcome) values(s Source) []any {
	devices, quarters := make([]uint64, len(o.Devices)), make([]time.Time, len(o.Devices))
	names, counts := make([]string, len(o.Devices)), make([]uint32, len(o.Devices))
	for i, d := range o.Devices {
		devices[i], quarters[i], names[i], counts[i] = uint64(d.Device), d.Quarter.Time(), d.Outcome, d.Count
	}
	return []any{
		uint64(o.Account), o.Run, s.Topic, uint16(s.Partition), uint64(o.First), uint64(o.Last), o.At.Time(),
		o.Read, o.Stored, o.Signals, o.Refused, devices, quarters, names, counts,
	}
}

// Mileage is what vehicle_mileage keeps of a vehicle.
type Mileage struct {
	Account           fleet.AccountID
	Vehicle           fleet.VehicleID
	Time              fleet.Millis
	Raw, Base, Before uint32 // All three are in metres.
}

// mileageRows are the rows of vehicle_mileage.
type mileageRows struct {
	accounts, vehicles list[uint64]
	times              list[int64]
	raw, base, before  list[uint32]
}

// Mileage adds how far a vehicle has gone after the batch.
func (b *Batch) Mileage(m Mileage) {
	r := &b.mileages
	r.accounts.add(uint64(m.Account))
	r.vehicles.add(uint64(m.Vehicle))
	r.times.add(int64(m.Time))
	r.raw.add(m.Raw)
	r.base.add(m.Base)
	r.before.add(m.Before)
}

func (r *mileageRows) rows() int { return len(r.accounts) }
func (r *mileageRows) insert() string {
	return "INSERT INTO vehicle_mileage (account, vehicle, time, raw_m, base_m, before_m)"
}

func (r *mileageRows) columns() []part {
	return []part{&r.accounts, &r.vehicles, &r.times, &r.raw, &r.base, &r.before}
}
