package consume

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/motorpool/fleet"
)

// Poison is a record batch of Kafka that cannot be read, and stands in a Batch as one Record. Its offsets are those
// that the batch takes in the log, as far as its header can be believed. Poison shares a range with records only where
// a range that was planned has come to hold it.
//
// The verdict depends on the batch's bytes and on Config.MaxInflatedBytes alone, so that a range that is formed again
// has the same one. Bytes that the network may have changed are fetched again until the same have come sameBytes times,
// which is when they are those of the log. Should the verdict on a range change all the same, because a disk or the
// limit did, then nothing that can be read is lost by it: what was poison had no rows under the range's token.
type Poison struct {
	Last   int64        // Its last offset; the record's Offset is the first.
	Reason PoisonReason // The kind of fault.
	Detail string       // What is wrong, for people to read.
	Head   []byte       // The first bytes of the batch, up to maxPoisonHead.
	Bytes  int          // The size of the whole batch, as far as it came.
}

// PoisonReason is the kind of a fault, for counters; the set is closed.
type PoisonReason string

// The reasons for which a record batch cannot be read.
const (
	PoisonFraming     PoisonReason = "framing"     // its length or offsets cannot be
	PoisonFormat      PoisonReason = "format"      // a message format from before Kafka 0.11, or none
	PoisonChecksum    PoisonReason = "checksum"    // the CRC-32C is not that of its bytes
	PoisonCodec       PoisonReason = "codec"       // a compression that is not known
	PoisonCompression PoisonReason = "compression" // it is not compressed as it says
	PoisonTooLarge    PoisonReason = "too_large"   // it inflates to more than Config.MaxInflatedBytes
	PoisonRecords     PoisonReason = "records"     // its records are not those that it says, or torn
)

// maxPoisonHead is how much of an unreadable batch is kept.
const maxPoisonHead = 64 << 10

// sameBytes is how many times the same damaged bytes must come, where the network may have damaged them.
const sameBytes = 3

// poison is a record batch that cannot be read, as recordSet finds it.
type poison struct {
	base, last int64
	time       fleet.Millis
	reason     PoisonReason
	detail     string
	batch      []byte // Its bytes, valid until the next response.
}

func (p *poison) Error() string {
	return fmt.Sprintf("record batch at offsets %d to %d: %s: %s", p.base, p.last, p.reason, p.detail)
}

// doubtful says whether the network may be to blame: the checksum has not shown that these are the producer's bytes.
func (p *poison) doubtful() bool {
	return p.reason == PoisonFraming || p.reason == PoisonFormat || p.reason == PoisonChecksum
}

// comparedBytes is the part of the bytes that shows whether they are the same again: of a batch whose end is not
// known, its header.
func (p *poison) comparedBytes() []byte {
	if p.reason == PoisonFraming {
		return p.batch[:min(len(p.batch), batchHeader)]
	}
	return p.batch
}

// doubt counts how often the same bytes have come.
type doubt struct {
	at   int64
	sum  uint32
	seen int
}

// confirm says whether bytes that come for an offset are those of the log.
func (d *doubt) confirm(at int64, batch []byte) bool {
	sum := crc32.ChecksumIEEE(batch)
	if d.at != at || d.sum != sum || d.seen == 0 {
		*d = doubt{at: at, sum: sum}
	}
	d.seen++
	return d.seen >= sameBytes
}

// bury makes what open has found one record of b, unless it must be fetched again first. Without a planned range poison
// and records do not share one: then f.found holds it for the next batch.
func (f *fetcher) bury(b *buffer, found *poison) (closed bool, err error) {
	f.found = nil
	first, last := max(found.base, f.position), found.last
	if f.planned && first > f.planEnd {
		f.found, f.position = found, f.planEnd+1
		return true, nil
	}
	if found.doubtful() && !f.doubt.confirm(f.position, found.comparedBytes()) {
		f.set.reset(nil, f.position, f.end)
		return false, found
	}
	if f.full(b) || !f.planned && len(b.Records) > 0 && !b.poisoned() {
		f.found = found
		return true, nil
	}
	if f.planned && last > f.planEnd { // what is behind the range is the next one's
		f.found, last = found, f.planEnd
	}
	if !b.poisoned() { // one line a batch
		f.log.Error("a record batch cannot be read; it becomes a dead letter, and the partition goes on behind it",
			"first", first, "last", last, "reason", found.reason, "detail", found.detail)
	}
	f.metrics.poison.WithLabelValues(f.topic, string(found.reason)).Inc()
	p := &Poison{
		Last: last, Reason: found.reason, Detail: found.detail, Bytes: len(found.batch),
		Head: bytes.Clone(found.batch[:min(len(found.batch), maxPoisonHead)]),
	}
	b.Records = append(b.Records, Record{Offset: first, Time: found.time, Poison: p})
	b.bytes += len(p.Head)
	f.position = last + 1
	f.maxBytes, f.retry, f.doubt = f.cfg.FetchBytes, 0, doubt{}
	return f.found != nil, nil
}

// poisoned says whether the last record is poison.
func (b *buffer) poisoned() bool {
	n := len(b.Records)
	return n > 0 && b.Records[n-1].Poison != nil
}

// asPoison returns the poison that an error is, or nil.
func asPoison(err error) *poison {
	var found *poison
	_ = errors.As(err, &found)
	return found
}
