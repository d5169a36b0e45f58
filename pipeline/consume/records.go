package consume

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/segmentio/kafka-go/compress"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/topic"
)

// errTruncated says that the record set ends inside a record batch: the response was not large enough for it.
var errTruncated = errors.New("record batch does not fit the fetch")

// recordSet walks the records of one fetch response, without copying or allocating for uncompressed batches. It reads
// record batches of format 2, the only one that brokers write since Kafka 0.11. The layout is Kafka's "Record Batch":
//
//	0 base offset int64 | 8 length int32 (of what follows it) | 12 leader epoch int32 | 16 format int8 | 17 CRC-32C of the
//	rest uint32 | 21 attributes int16 | 23 last offset delta int32 | 27 first timestamp int64 | 35 max timestamp int64 |
//	43 producer id int64, epoch int16, sequence int32 | 57 count int32 | 61 records, perhaps compressed
//
// kafka-go's own decoder is not used: it gives the producer's timestamps for topics with LogAppendTime, hides where a
// batch ends (after compaction and transaction markers the next fetch must start there), and takes five times the processor
// time and four allocations a record (BenchmarkFetchPaths).
type recordSet struct {
	data    []byte // record batches not yet opened
	batches int    // opened since reset

	records    []byte // of the open batch, not yet read
	left       int    // how many those are
	base       int64
	next       int64 // the offset after the open batch
	firstTime  int64
	maxTime    int64
	appendTime bool // the broker set the time: it is maxTime for all records

	inflated []byte // memory for decompressed records, reused
	names    interner
}

const (
	batchHeader = 61
	logOverhead = 12 // base offset and length

	attrCompression = 0x07
	attrAppendTime  = 0x08
	attrControl     = 0x20

	maxInflated = 1 << 30 // bytes of one decompressed record batch
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// reset starts on the record set of another response; memory of the former one may be reused from here on.
func (s *recordSet) reset(data []byte) {
	s.data, s.records, s.left, s.batches = data, nil, 0, 0
}

// open makes the next batch the open one and returns false at the end of the set. A control batch (a transaction marker)
// has no records for us, but its offsets count.
func (s *recordSet) open() (bool, error) {
	if len(s.data) == 0 {
		return false, nil
	}
	if len(s.data) < batchHeader {
		return false, errTruncated
	}
	if format := s.data[16]; format != 2 {
		return false, fmt.Errorf("record format %d is not supported: it predates Kafka 0.11", format)
	}
	base := int64(binary.BigEndian.Uint64(s.data))
	length := int64(int32(binary.BigEndian.Uint32(s.data[8:])))
	if length < batchHeader-logOverhead {
		return false, fmt.Errorf("record batch at offset %d: impossible length %d", base, length)
	}
	if length+logOverhead > int64(len(s.data)) {
		return false, errTruncated
	}
	batch := s.data[:length+logOverhead]
	if sum := crc32.Checksum(batch[21:], castagnoli); sum != binary.BigEndian.Uint32(batch[17:]) {
		return false, fmt.Errorf("record batch at offset %d: checksum does not match", base)
	}
	s.data = s.data[len(batch):]
	s.batches++
	attributes := batch[22]
	s.base = base
	s.next = base + int64(int32(binary.BigEndian.Uint32(batch[23:]))) + 1
	s.firstTime = int64(binary.BigEndian.Uint64(batch[27:]))
	s.maxTime = int64(binary.BigEndian.Uint64(batch[35:]))
	s.appendTime = attributes&attrAppendTime != 0
	s.left = int(int32(binary.BigEndian.Uint32(batch[57:])))
	s.records = batch[batchHeader:]
	if attributes&attrControl != 0 || s.left <= 0 {
		s.records, s.left = nil, 0
		return true, nil
	}
	if codec := attributes & attrCompression; codec != 0 {
		if err := s.inflate(compress.Compression(codec)); err != nil {
			return false, fmt.Errorf("record batch at offset %d: %w", base, err)
		}
	}
	return true, nil
}

// inflate replaces the records of the open batch by their decompressed form.
func (s *recordSet) inflate(c compress.Compression) error {
	codec := c.Codec()
	if codec == nil {
		return fmt.Errorf("unknown compression %d", int8(c))
	}
	r := codec.NewReader(bytes.NewReader(s.records))
	defer r.Close()
	out := s.inflated[:0]
	for {
		if len(out) == cap(out) {
			out = append(out, 0)[:len(out)]
		}
		n, err := r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("decompress (%s): %w", codec.Name(), err)
		}
		if len(out) > maxInflated {
			return fmt.Errorf("decompress (%s): more than %d bytes", codec.Name(), maxInflated)
		}
	}
	s.inflated, s.records = out, out
	return nil
}

var errBadRecord = errors.New("impossible record")

// read reads the next record of the open batch, which must have one. Its slices are valid until the next call of open
// or reset.
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
	r.ContentType, r.Run, r.Released, r.Account = "", "", false, 0
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
type interner struct{ known map[string]string }

func (in *interner) of(p []byte) string {
	if name, ok := in.known[string(p)]; ok {
		return name
	}
	if len(in.known) >= 256 || in.known == nil {
		in.known = make(map[string]string, 8)
	}
	name := string(p)
	in.known[name] = name
	return name
}
