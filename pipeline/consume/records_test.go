package consume

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/compress"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/motorpool/fleet"
)

func newTestMetrics(t testing.TB) *metrics {
	t.Helper()
	m, err := newMetrics("g", prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// encodeBatch writes a record batch as kafka-go's producer does, at an offset and with further attributes.
func encodeBatch(t testing.TB, base int64, attributes byte, records ...kafka.Record) []byte {
	t.Helper()
	var out bytes.Buffer
	set := protocol.RecordSet{
		Version: 2, Attributes: protocol.Attributes(attributes & attrCompression),
		Records: protocol.NewRecordReader(records...),
	}
	if _, err := set.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	batch := out.Bytes()[4:] // without the size of the set
	binary.BigEndian.PutUint64(batch, uint64(base))
	batch[22] |= attributes
	seal(batch)
	return batch
}

// seal makes a batch's checksum right.
func seal(batch []byte) {
	binary.BigEndian.PutUint32(batch[17:], crc32.Checksum(batch[21:], castagnoli))
}

// readAll reads every record of a set; its errors end it.
func readAll(data []byte) (records []Record, next int64, err error) {
	set := recordSet{inflater: inflater{limit: DefaultConfig("g").MaxInflatedBytes}}
	set.reset(data, 0, 0)
	for {
		opened, err := set.open()
		if err != nil || !opened {
			return records, next, err
		}
		for set.left > 0 {
			var r Record
			if err := set.read(&r); err != nil {
				return records, next, err
			}
			r.Key, r.Value = bytes.Clone(r.Key), bytes.Clone(r.Value)
			records = append(records, r)
		}
		next = set.next
	}
}

func TestRecordsOfEveryCompression(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_123)
	for _, c := range []compress.Compression{compress.None, compress.Gzip, compress.Snappy, compress.Lz4, compress.Zstd} {
		data := encodeBatch(t, 41, byte(c),
			kafka.Record{Time: at, Key: kafka.NewBytes([]byte("key")),
				Value: kafka.NewBytes([]byte(strings.Repeat("value", 100))), Headers: []kafka.Header{
					{Key: "other", Value: []byte("x")}, {Key: "content-type", Value: []byte("application/json")},
					{Key: "motorpool-run", Value: []byte("run-1")}, {Key: "motorpool-released", Value: []byte("1")},
					{Key: "motorpool-account", Value: []byte("7")},
				}},
			kafka.Record{Time: at.Add(5 * time.Millisecond)},
		)
		data = append(data, encodeBatch(t, 50, byte(c),
			kafka.Record{Time: at, Key: kafka.NewBytes([]byte{}), Value: kafka.NewBytes([]byte{})})...)
		records, next, err := readAll(data)
		if err != nil || len(records) != 3 || next != 51 {
			t.Fatalf("%s: %d records, next %d, error %v", c, len(records), next, err)
		}
		first := records[0]
		if first.Offset != 41 || first.Time != 1_700_000_000_123 || string(first.Key) != "key" || len(first.Value) != 500 ||
			first.ContentType != "application/json" || first.Run != "run-1" || !first.Released || first.Account != 7 {
			t.Errorf("%s: first record is %+v", c, first)
		}
		if r := records[1]; r.Offset != 42 || r.Time != 1_700_000_000_128 || r.Key != nil || r.Value != nil ||
			r.ContentType != "" || r.Released || r.Account != 0 {
			t.Errorf("%s: second record is %+v", c, r)
		}
		if r := records[2]; r.Offset != 50 || r.Key == nil || r.Value == nil {
			t.Errorf("%s: third record is %+v", c, r)
		}
	}
}

func TestBrokersTimeIsTakenWithLogAppendTime(t *testing.T) {
	batch := encodeBatch(t, 0, attrAppendTime,
		kafka.Record{Time: time.UnixMilli(1000), Value: kafka.NewBytes([]byte("a"))},
		kafka.Record{Time: time.UnixMilli(2000), Value: kafka.NewBytes([]byte("b"))})
	// The broker leaves the producer's first timestamp and sets the largest one to its own time.
	binary.BigEndian.PutUint64(batch[35:], 1_700_000_000_000)
	seal(batch)
	records, _, err := readAll(batch)
	if err != nil || len(records) != 2 {
		t.Fatal(records, err)
	}
	for _, r := range records {
		if r.Time != 1_700_000_000_000 {
			t.Errorf("time is %d", r.Time)
		}
	}
}

func TestMarkersAndCompactedEndsAreStepsForward(t *testing.T) {
	marker := encodeBatch(t, 5, attrControl, kafka.Record{Key: kafka.NewBytes([]byte{0, 0, 0, 1})})
	compacted := encodeBatch(t, 6, 0, kafka.Record{Value: kafka.NewBytes([]byte("v"))})
	binary.BigEndian.PutUint32(compacted[23:], 9) // its last offset is 15, but that record is gone
	seal(compacted)
	records, next, err := readAll(append(marker, compacted...))
	if err != nil || len(records) != 1 || records[0].Offset != 6 || next != 16 {
		t.Errorf("records %v, next %d, error %v", records, next, err)
	}
}

func TestRecordsWithoutTimeGetANeighboursTime(t *testing.T) {
	b := newBuffer("t", 0)
	for _, at := range []int64{0, -1, 500, 0, 700, -5} {
		b.Records = append(b.Records, Record{Time: 0})
		b.Records[len(b.Records)-1].Time = fleet.Millis(at)
	}
	b.settleTimes()
	want := []int64{500, 500, 500, 500, 700, 700}
	for i, r := range b.Records {
		if int64(r.Time) != want[i] {
			t.Errorf("record %d has time %d, want %d", i, r.Time, want[i])
		}
	}
	none := newBuffer("t", 0)
	none.Records = append(none.Records, Record{Time: -1})
	none.settleTimes()
	if none.Records[0].Time != 0 {
		t.Errorf("no time is %d", none.Records[0].Time)
	}
}

func TestBufferForgetsTheMemoryOfABacklog(t *testing.T) {
	b := newBuffer("t", 0)
	value := make([]byte, 1000)
	fill := func(n int) {
		for range n {
			b.Records = append(b.Records, Record{Value: b.keep(value)})
		}
		b.reset()
	}
	fill(5000)
	large := len(b.chunks)
	fill(10)
	fill(10)
	if large < 19 || len(b.chunks) != 1 || cap(b.Records) > 1024 {
		t.Errorf("%d chunks for the backlog, %d chunks and room for %d records later", large, len(b.chunks), cap(b.Records))
	}
}

func TestPlanText(t *testing.T) {
	if last, ok := parsePlan(formatPlan(1234567890123), 5); !ok || last != 1234567890123 {
		t.Errorf("read %d, %v", last, ok)
	}
	for _, metadata := range []string{"", "plan:1:", "plan:1:4", "plan:1:x", "plan:2:9", "somebody else's",
		"plan:1:99999999999999999999"} {
		if last, ok := parsePlan(metadata, 5); ok {
			t.Errorf("%q is a plan to %d", metadata, last)
		}
	}
}

// FuzzRecordSet reads damaged record sets: whatever the bytes are, reading ends, offsets rise, and a batch that was
// opened can be read to its end.
func FuzzRecordSet(f *testing.F) {
	f.Add(encodeBatch(f, 0, 0, kafka.Record{Value: kafka.NewBytes([]byte("value")),
		Headers: []kafka.Header{{Key: "content-type", Value: []byte("x")}}}))
	for _, c := range []compress.Compression{compress.Gzip, compress.Snappy, compress.Lz4, compress.Zstd} {
		f.Add(encodeBatch(f, 7, byte(c), kafka.Record{Key: kafka.NewBytes([]byte("k"))},
			kafka.Record{Value: kafka.NewBytes([]byte("v"))}))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= batchHeader {
			length := int64(int32(binary.BigEndian.Uint32(data[8:]))) + logOverhead
			if length >= batchHeader && length <= int64(len(data)) {
				seal(data[:length]) // or the checksum would refuse nearly everything
			}
		}
		set := recordSet{inflater: inflater{limit: 1 << 20}}
		set.reset(data, 3, 1000)
		for before := int64(2); ; {
			opened, err := set.open()
			if set.next <= before && (opened || asPoison(err) != nil) {
				t.Fatalf("offset %d comes after %d", set.next-1, before)
			}
			before = set.next - 1
			if found := asPoison(err); found != nil {
				if found.base > found.last || found.base < 0 || found.last > 1000+endSlack {
					t.Fatalf("poison at offsets %d to %d", found.base, found.last)
				}
				continue
			}
			if err != nil || !opened {
				return
			}
			for r := (Record{}); set.left > 0; {
				if err := set.read(&r); err != nil || r.Offset > before {
					t.Fatalf("offset %d of %d: %v", r.Offset, before, err)
				}
			}
		}
	})
}

// FuzzFetchResponse reads damaged responses.
func FuzzFetchResponse(f *testing.F) {
	f.Add(int16(11), make([]byte, 80))
	f.Fuzz(func(_ *testing.T, version int16, body []byte) {
		e := &exchange{version: version, body: body}
		_, _ = e.parse()
	})
}
