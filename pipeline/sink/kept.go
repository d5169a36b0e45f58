package sink

import (
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/cespare/xxhash/v2"

	"github.com/motorpool/fleet"
)

// DeadLetter is a row of dead_letters: a record, or one report of it, that could not become data.
type DeadLetter struct {
	Account      fleet.AccountID // 0 if the device is not known
	At           fleet.Millis
	Reason       fleet.Refusal
	Detail       string
	UniqueID     string
	Format       string
	Payload      []byte // what is kept of the record
	PayloadBytes int    // how long it was
}

// DeadLetterID returns the id of a dead letter, which its source alone decides, so that a batch that is worked through
// again makes the same one.
func DeadLetterID(from Source) uint64 {
	var d xxhash.Digest
	d.Reset()
	var numbers [24]byte
	for i, n := range [...]uint64{uint64(from.Partition), uint64(from.Offset), uint64(from.Index)} {
		for b := range 8 {
			numbers[i*8+b] = byte(n >> (8 * b))
		}
	}
	_, _ = d.Write(numbers[:])
	_, _ = d.WriteString(from.Topic)
	return max(d.Sum64(), 1) // 0 is no id
}

// deadLetters is the rows of the table dead_letters. They are rare, so they may allocate.
type deadLetters struct {
	account, id           []uint64
	at                    []int64
	reason, topic, format []string
	detail, uniqueID      []string
	partition             []uint16
	offset, bytes         []uint64
	index                 []uint32
	payload               []string
}

// AddDeadLetter adds a dead letter. The payload is copied.
func (s *Sink) AddDeadLetter(l DeadLetter, from Source) {
	t := &s.deadLetters
	t.account = append(t.account, uint64(l.Account))
	t.id = append(t.id, DeadLetterID(from))
	t.at = append(t.at, millis(l.At))
	t.reason = append(t.reason, string(l.Reason))
	t.detail = append(t.detail, l.Detail)
	t.uniqueID = append(t.uniqueID, l.UniqueID)
	t.topic = append(t.topic, from.Topic)
	t.partition = append(t.partition, uint16(from.Partition))
	t.offset = append(t.offset, uint64(from.Offset))
	t.index = append(t.index, uint32(from.Index))
	t.format = append(t.format, l.Format)
	t.payload = append(t.payload, string(l.Payload))
	t.bytes = append(t.bytes, uint64(l.PayloadBytes))
}

func (*deadLetters) name() string { return "dead_letters" }
func (*deadLetters) insert() string {
	return `INSERT INTO dead_letters (account, id, at, reason, detail, unique_id, source_topic, source_partition,
	source_offset, source_index, format, payload, payload_bytes)`
}
func (t *deadLetters) rows() int { return len(t.id) }
func (t *deadLetters) columns(b driver.Batch) error {
	return fill(b, t.account, t.id, t.at, t.reason, t.detail, t.uniqueID, t.topic, t.partition,
		t.offset, t.index, t.format, t.payload, t.bytes)
}

func (t *deadLetters) reset() { *t = deadLetters{} } // their payloads are not worth keeping

// unregistered is the rows of the table unregistered_reports.
type unregistered struct {
	at         []int64
	uniqueID   []string
	topic, run []string
	partition  []uint16
	offset     []uint64
	index      []uint32
	report     []string
}

// AddUnregistered adds a report of a device that nobody has registered, in its native form, which is copied.
func (s *Sink) AddUnregistered(uniqueID string, at fleet.Millis, run string, report []byte, from Source) {
	t := &s.unregistered
	t.uniqueID = append(t.uniqueID, strings.Clone(uniqueID))
	t.at = append(t.at, millis(at))
	t.topic = append(t.topic, from.Topic)
	t.partition = append(t.partition, uint16(from.Partition))
	t.offset = append(t.offset, uint64(from.Offset))
	t.index = append(t.index, uint32(from.Index))
	t.run = append(t.run, run)
	t.report = append(t.report, string(report))
}

func (*unregistered) name() string { return "unregistered_reports" }
func (*unregistered) insert() string {
	return `INSERT INTO unregistered_reports (unique_id, at, source_topic, source_partition, source_offset, source_index,
	run, report)`
}
func (t *unregistered) rows() int { return len(t.uniqueID) }
func (t *unregistered) columns(b driver.Batch) error {
	return fill(b, t.uniqueID, t.at, t.topic, t.partition, t.offset, t.index, t.run, t.report)
}

func (t *unregistered) reset() { *t = unregistered{} }

// Outcome is a row of ingest_outcomes: what became of an account's reports in one batch of one run.
type Outcome struct {
	Account         fleet.AccountID
	Run             string
	Topic           string
	Partition       int
	First, Last     int64
	At              fleet.Millis
	Read            int64
	Stored, Signals int64
	Refused         map[string]int64
}

// outcomes is the rows of the table ingest_outcomes.
type outcomes struct {
	account               []uint64
	run, topic            []string
	partition             []uint16
	first, last           []uint64
	at                    []int64
	read, stored, signals []int64
	refused               []map[string]int64
}

// AddOutcome adds the counts of a batch for an account and a run; the map is kept until the flush.
func (s *Sink) AddOutcome(o Outcome) {
	t := &s.outcomes
	t.account = append(t.account, uint64(o.Account))
	t.run = append(t.run, o.Run)
	t.topic = append(t.topic, o.Topic)
	t.partition = append(t.partition, uint16(o.Partition))
	t.first = append(t.first, uint64(o.First))
	t.last = append(t.last, uint64(o.Last))
	t.at = append(t.at, millis(o.At))
	t.read = append(t.read, o.Read)
	t.stored = append(t.stored, o.Stored)
	t.signals = append(t.signals, o.Signals)
	t.refused = append(t.refused, o.Refused)
}

func (*outcomes) name() string { return "ingest_outcomes" }
func (*outcomes) insert() string {
	return `INSERT INTO ingest_outcomes (account, run, topic, partition, first_offset, last_offset, at, read, stored,
	signals, refused)`
}
func (t *outcomes) rows() int { return len(t.account) }
func (t *outcomes) columns(b driver.Batch) error {
	return fill(b, t.account, t.run, t.topic, t.partition, t.first, t.last, t.at, t.read, t.stored, t.signals, t.refused)
}

func (t *outcomes) reset() { *t = outcomes{} }
