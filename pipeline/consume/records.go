package consume

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/segmentio/kafka-go/compress"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/topic"
)

// errTruncated says that the record set ends inside a record batch: the response was not large enough for it.
var errTruncated = errors.New("record batch does not fit the fetch")

// recordSet walks the records of one fetch response, without copying or allocating for uncompressed batches. It reads
// record batches of format 2, the only one that brokers write since Kafka 0.11. The layout is Kafka's "Record Batch":
//
//	0 base offset int64 | 8 length int32 (of what follows it) | 12 leader epoch int32 | 16 format int8 |
//	17 CRC-32C of the rest uint32 | 21 attributes int16 | 23 last offset delta int32 | 27 first timestamp int64 |
//	35 max timestamp int64 | 43 producer id int64, epoch int16, sequence int32 | 57 count int32 |
//	61 records, perhaps compressed
//
// kafka-go's own decoder is not used: it gives the producer's timestamps for topics with LogAppendTime, hides where a
// batch ends (after compaction and transaction markers the next fetch must start there), believes what a batch says of
// its size, and takes five times the processor time and four allocations a record (BenchmarkFetchPaths).
type recordSet struct {
	data    []byte // The record batches that are not yet opened.
	batches int    // How many were opened, or found to be poison, since reset.
	end     int64  // The end of the log; 0 if it is not known.

	records    []byte // The records of the open batch that are not yet read.
	left       int    // How many records those are.
	base       int64
	next       int64 // The offset after the open batch; before one is opened, the one that was asked for.
	firstTime  int64
	maxTime    int64
	appendTime bool // The broker set the time, which is maxTime for all records.

	inflater inflater
	names    interner
}

const (
	batchHeader = 61
	logOverhead = 12 // base offset and length
	formatEnd   = 17 // in every format the byte before it is the format
	leastBatch  = 26 // bytes of the shortest message of an old format

	attrCompression = 0x07
	attrAppendTime  = 0x08
	attrControl     = 0x20
)

// endSlack is how far the offsets of a batch may lie behind the log's end, which a broker reads before the records.
const endSlack = 1 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// reset starts on the record set of another response, to a fetch from an offset of a log that ends at end; memory of
// the former one may be reused from here on.
func (s *recordSet) reset(data []byte, from, end int64) {
	s.close()
	s.data, s.batches, s.next, s.end = data, 0, from, end
}

// close forgets what is left of the open batch.
func (s *recordSet) close() {
	s.records, s.left = nil, 0
	s.inflater.release()
}

// open makes the next batch the open one and returns false at the end of the set. A control batch (a transaction
// marker) has no records for us, but its offsets count. A batch that cannot be read is an error, *poison, and the next
// call goes on behind it. All of a batch is looked at before its first record is given.
func (s *recordSet) open() (bool, error) {
	if len(s.data) == 0 {
		return false, nil
	}
	if len(s.data) < formatEnd {
		return false, errTruncated
	}
	size, format := s.size(), s.data[formatEnd-1]
	if size < leastBatch || format == 2 && size < batchHeader {
		return false, s.poison(s.data, PoisonFraming, fmt.Sprintf("impossible length of %d bytes", size))
	}
	if size > int64(len(s.data)) {
		return false, errTruncated
	}
	batch := s.data[:size]
	if format != 2 {
		return false, s.poison(batch, PoisonFormat,
			fmt.Sprintf("record format %d; Kafka 0.11 and later write 2", int8(format)))
	}
	if sum := crc32.Checksum(batch[21:], castagnoli); sum != binary.BigEndian.Uint32(batch[17:]) {
		return false, s.poison(batch, PoisonChecksum, fmt.Sprintf("its bytes have the checksum %08x", sum))
	}
	base, last, ok := s.offsets(batch)
	if !ok {
		return false, s.poison(batch, PoisonFraming, fmt.Sprintf("impossible offsets %d to %d", base, last))
	}
	s.firstTime = int64(binary.BigEndian.Uint64(batch[27:]))
	s.maxTime = int64(binary.BigEndian.Uint64(batch[35:]))
	attributes := batch[22]
	s.appendTime = attributes&attrAppendTime != 0
	s.base, s.records = base, batch[batchHeader:]
	s.left = int(int32(binary.BigEndian.Uint32(batch[57:])))
	if attributes&attrControl != 0 {
		s.records, s.left = nil, 0
	} else if reason, err := s.prepare(compress.Compression(attributes&attrCompression), last); err != nil {
		return false, s.poison(batch, reason, err.Error())
	}
	s.data = s.data[len(batch):]
	s.batches++
	s.next = last + 1
	return true, nil
}

// prepare inflates the records of the open batch and looks through them.
func (s *recordSet) prepare(codec compress.Compression, last int64) (PoisonReason, error) {
	if codec != compress.None && s.left != 0 {
		records, err := s.inflater.inflate(codec, s.records)
		switch {
		case errors.Is(err, errInflatesTooLarge):
			return PoisonTooLarge, fmt.Errorf("%w of %d bytes (%s)", err, s.inflater.limit, codec)
		case errors.Is(err, errUnknownCodec):
			return PoisonCodec, err
		case err != nil:
			return PoisonCompression, fmt.Errorf("decompress (%s): %w", codec, err)
		}
		s.records = records
	}
	return PoisonRecords, s.check(last)
}

// check reads all records of the open batch and goes back to its start. Whoever has read some of a batch could not take
// them back.
func (s *recordSet) check(last int64) error {
	records, count := s.records, s.left
	if count < 0 || int64(count) > last-s.base+1 {
		return fmt.Errorf("%d records at %d offsets", count, last-s.base+1)
	}
	var r Record
	for before := s.base - 1; s.left > 0; before = r.Offset {
		if err := s.read(&r); err != nil {
			return fmt.Errorf("record %d of %d: %w", count-s.left+1, count, err)
		}
		if r.Offset <= before || r.Offset > last {
			return fmt.Errorf("record %d of %d has offset %d", count-s.left, count, r.Offset)
		}
	}
	if len(s.records) > 0 {
		return fmt.Errorf("%d bytes are left behind its %d records", len(s.records), count)
	}
	s.records, s.left = records, count
	return nil
}

// offsets returns the first and last offset of a batch of format 2, and whether they can be.
func (s *recordSet) offsets(batch []byte) (base, last int64, ok bool) {
	base = int64(binary.BigEndian.Uint64(batch))
	delta := int64(int32(binary.BigEndian.Uint32(batch[23:])))
	last = base + delta
	return base, last, base >= 0 && delta >= 0 && last >= s.next && (s.batches == 0 || base >= s.next) &&
		(s.end == 0 || last < s.end+endSlack)
}

// poison makes an error of the batch at the start of data, as far as it is known, and steps over it. Where its offsets
// cannot be believed it is taken to have the one that is next.
func (s *recordSet) poison(batch []byte, reason PoisonReason, detail string) *poison {
	p := &poison{base: s.next, last: s.next, reason: reason, detail: detail, batch: batch}
	switch base := int64(binary.BigEndian.Uint64(batch)); {
	case len(batch) >= batchHeader && batch[formatEnd-1] == 2:
		base, last, ok := s.offsets(batch)
		// Where the checksum is wrong two numbers must say the same.
		if count := int64(int32(binary.BigEndian.Uint32(batch[57:]))); ok &&
			(reason != PoisonChecksum || last-base == count-1) {
			p.base, p.last = base, last
		}
		if at := int64(binary.BigEndian.Uint64(batch[35:])); at > 0 {
			p.time = fleet.Millis(at)
		}
	case base > s.next && (s.end == 0 || base < s.end): // of an old message, which may hold those before it
		p.last = base
	}
	s.data = s.data[len(batch):]
	s.close()
	s.batches++
	s.next = p.last + 1
	return p
}

// size is what the next batch says of its own length, or 0 if not even that is there.
func (s *recordSet) size() int64 {
	if len(s.data) < logOverhead {
		return 0
	}
	return int64(int32(binary.BigEndian.Uint32(s.data[8:]))) + logOverhead
}

// cut makes poison of what is left of the set, which ends although there was room for more. It has 12 bytes or more.
func (s *recordSet) cut() *poison {
	return s.poison(s.data, PoisonFraming, fmt.Sprintf("%d bytes are there of %d", len(s.data), s.size()))
}

var errBadRecord = errors.New("impossible record")

// read reads the next record of the open batch, which must have one. Its slices are valid until the next call of open,
// close or reset.
func (s *recordSet) read(r *Record) error {
	p := s.records
	length, n := binary.Varint(p)
	if n <= 0 || length < 0 || length > int64(len(p)-n) {
		return errBadRecord
	}
	s.records = p[n+int(length):]
	s.left--
	p = p[n : n+int(length)]
	if len(p) == 0 {
		return errBadRecord
	}
	p = p[1:] // attributes: none are defined
	timeDelta, n := binary.Varint(p)
	if n <= 0 {
		return errBadRecord
	}
	p = p[n:]
	offsetDelta, n := binary.Varint(p)
	if n <= 0 {
		return errBadRecord
	}
	p = p[n:]
	r.Offset = s.base + offsetDelta
	switch {
	case s.appendTime:
		r.Time = fleet.Millis(s.maxTime)
	case s.firstTime+timeDelta > 0:
		r.Time = fleet.Millis(s.firstTime + timeDelta)
	default:
		r.Time = fleet.Millis(s.maxTime)
	}
	var ok bool
	if r.Key, p, ok = sized(p); !ok {
		return errBadRecord
	}
	if r.Value, p, ok = sized(p); !ok {
		return errBadRecord
	}
	r.ContentType, r.Run, r.Released, r.Account, r.Poison = "", "", false, 0, nil
	headers, n := binary.Varint(p)
	if n <= 0 || headers < 0 {
		return errBadRecord
	}
	p = p[n:]
	for ; headers > 0; headers-- {
		var key, value []byte
		if key, p, ok = sized(p); !ok {
			return errBadRecord
		}
		if value, p, ok = sized(p); !ok {
			return errBadRecord
		}
		switch string(key) {
		case "content-type":
			r.ContentType = s.names.of(value)
		case "motorpool-run":
			r.Run = s.names.of(value)
		case "motorpool-released":
			r.Released = string(value) == "1"
		case topic.AccountHeader:
			r.Account = topic.AccountOf(value)
		}
	}
	if len(p) > 0 {
		return errBadRecord
	}
	return nil
}

// sized reads bytes with their length before them; length -1 is null.
func sized(p []byte) (value, rest []byte, ok bool) {
	length, n := binary.Varint(p)
	if n <= 0 || length < -1 || length > int64(len(p)-n) {
		return nil, nil, false
	}
	p = p[n:]
	if length < 0 {
		return nil, p, true
	}
	return p[:length:length], p[length:], true
}

// interner makes strings of header values, of which a topic has few.
type interner struct{ names map[string]string }

func (in *interner) of(p []byte) string {
	if name, ok := in.names[string(p)]; ok {
		return name
	}
	if len(in.names) >= 256 || in.names == nil {
		in.names = make(map[string]string, 8)
	}
	name := string(p)
	in.names[name] = name
	return name
}
