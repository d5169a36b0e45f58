package consume

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/compress"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// compressed returns bytes in a codec's form.
func compressed(t testing.TB, c compress.Compression, p []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := c.Codec().NewWriter(&out)
	if _, err := w.Write(p); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// rawBatch is a record batch that says of itself what it is told to, with a right checksum.
func rawBatch(attributes byte, count int, payload []byte) []byte {
	batch := make([]byte, batchHeader, batchHeader+len(payload))
	batch = append(batch, payload...)
	binary.BigEndian.PutUint32(batch[8:], uint32(len(batch)-logOverhead))
	batch[formatEnd-1] = 2
	batch[22] = attributes
	binary.BigEndian.PutUint32(batch[23:], uint32(count-1))
	binary.BigEndian.PutUint64(batch[27:], 1_700_000_000_000)
	binary.BigEndian.PutUint64(batch[35:], 1_700_000_000_000)
	copy(batch[43:57], bytes.Repeat([]byte{0xff}, 14)) // no producer id
	binary.BigEndian.PutUint32(batch[57:], uint32(count))
	seal(batch)
	return batch
}

// recordBytes are records as they stand in a batch without compression.
func recordBytes(t testing.TB, values ...string) []byte {
	records := make([]kafka.Record, len(values))
	for i, v := range values {
		records[i] = kafka.Record{Value: kafka.NewBytes([]byte(v))}
	}
	return encodeBatch(t, 0, 0, records...)[batchHeader:]
}

// produceRaw sends a record batch as it is, and returns its offset.
func produceRaw(t testing.TB, addr, topic string, batch []byte) int64 {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.MaxVersions(kversion.V2_4_0())) // topics have names
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	request := kmsg.NewPtrProduceRequest()
	request.Acks, request.TimeoutMillis = -1, 5000
	request.Topics = []kmsg.ProduceRequestTopic{{Topic: topic,
		Partitions: []kmsg.ProduceRequestTopicPartition{{Records: batch}}}}
	res, err := request.RequestWith(t.Context(), client)
	if err == nil {
		err = kerr.ErrorForCode(res.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
	return res.Topics[0].Partitions[0].BaseOffset
}

// zeros is much that compresses to little.
func zeros(t testing.TB, c compress.Compression, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := c.Codec().NewWriter(&out)
	if _, err := io.CopyN(w, zeroReader{}, int64(n)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// seen collects what a consumer is given: values, and the reasons of poison, by offset.
type seen struct {
	mu   sync.Mutex
	what map[int64]string
	last map[int64]int64 // of poison
	many chan int
}

func newSeen() *seen {
	return &seen{what: map[int64]string{}, last: map[int64]int64{}, many: make(chan int, 1000)}
}

func (s *seen) Handle(_ context.Context, b *Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range b.Records {
		if r.Poison != nil {
			s.what[r.Offset], s.last[r.Offset] = "poison: "+string(r.Poison.Reason), r.Poison.Last
		} else {
			s.what[r.Offset] = string(r.Value)
		}
	}
	s.many <- len(s.what)
	return nil
}

func (s *seen) handler(string, int) Handler { return s }

func (s *seen) await(t testing.TB, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d things are handled", n), func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.what) >= n
	})
}

func TestAPartitionGoesOnBehindABatchThatCannotBeRead(t *testing.T) {
	const limit = 1 << 20
	three := recordBytes(t, "a", "b", "c")
	torn := bytes.Clone(three)
	torn[len(torn)-3] = 0x7f // the length of the last value, now negative
	framed := append(append(append([]byte{}, xerialMagic...), 0, 0, 0, 1, 0, 0, 0, 1), 0xff, 0xff, 0xff, 0xf0)
	for _, test := range []struct {
		name  string
		batch []byte
		want  PoisonReason
	}{
		{"gzip that inflates to too much", rawBatch(1, 3, zeros(t, compress.Gzip, 4*limit)), PoisonTooLarge},
		{"snappy that inflates to too much", rawBatch(2, 3, snappy.Encode(nil, make([]byte, 4*limit))), PoisonTooLarge},
		{"framed snappy that inflates to too much", rawBatch(2, 3, zeros(t, compress.Snappy, 4*limit)), PoisonTooLarge},
		{"lz4 that inflates to too much", rawBatch(3, 3, zeros(t, compress.Lz4, 4*limit)), PoisonTooLarge},
		{"zstd that inflates to too much", rawBatch(4, 3, zeros(t, compress.Zstd, 4*limit)), PoisonTooLarge},
		{"no gzip", rawBatch(1, 3, three), PoisonCompression},
		{"no snappy", rawBatch(2, 3, bytes.Repeat([]byte{0xfe}, 40)), PoisonCompression},
		{"framed snappy with a block that is not there", rawBatch(2, 3, framed), PoisonCompression},
		{"no lz4", rawBatch(3, 3, three), PoisonCompression},
		{"no zstd", rawBatch(4, 3, three), PoisonCompression},
		{"gzip that is cut off", rawBatch(1, 3, compressed(t, compress.Gzip, three)[:20]), PoisonCompression},
		{"fewer records than it says", rawBatch(0, 4, three), PoisonRecords},
		{"fewer records than it says, compressed", rawBatch(1, 4, compressed(t, compress.Gzip, three)), PoisonRecords},
		{"more records than it says", rawBatch(0, 2, three), PoisonRecords},
		{"no records at all", rawBatch(0, 3, nil), PoisonRecords},
		{"a torn record", rawBatch(0, 3, torn), PoisonRecords},
		{"records that are no records", rawBatch(0, 3, bytes.Repeat([]byte{0xff}, 50)), PoisonRecords},
	} {
		t.Run(test.name, func(t *testing.T) {
			addr := startBroker(t).ListenAddrs()[0]
			p := newProcess(t, addr)
			topic := createTopic(t, p.client, 1)
			produce(t, p.client, topic, 0, "before")
			base := produceRaw(t, addr, topic, test.batch)
			after := produce(t, p.client, topic, 0, "after")
			cfg := testConfig(t)
			cfg.MaxInflatedBytes = limit
			all := newSeen()
			r := start(t, cfg, p, []string{topic}, all.handler)
			all.await(t, 3)
			if base != 1 || all.what[0] != "before" || all.what[base] != "poison: "+string(test.want) ||
				all.last[base] != after-1 || all.what[after] != "after" {
				t.Errorf("%v, %v", all.what, all.last)
			}
			if n := r.metric(t, "poison_total"); n != 1 {
				t.Errorf("%v are counted", n)
			}
			eventually(t, "the group is behind all of it", func() bool {
				offset, _ := committed(t, p.client, cfg.Group, topic)
				return offset == after+1
			})
		})
	}
}

// TestDamageThatABrokerWouldNotTake is about what disks and networks do, and what very old brokers have left.
func TestDamageThatABrokerWouldNotTake(t *testing.T) {
	mark := []byte("the batch with this text")
	before := bytes.Index(encodeBatch(t, 0, 0,
		kafka.Record{Key: kafka.NewBytes([]byte("k")), Value: kafka.NewBytes(mark)}), mark)
	at := func(p []byte) []byte { // from the batch's first byte on, or nothing
		if i := bytes.Index(p, mark); i >= before {
			return p[i-before:]
		}
		return nil
	}
	for _, test := range []struct {
		name   string
		damage func(batch []byte)
		want   PoisonReason
	}{
		{"a flipped bit", func(b []byte) { b[bytes.Index(b, mark)] ^= 4 }, PoisonChecksum},
		{"an unknown compression", func(b []byte) {
			b[22] |= 7
			seal(b[:int(binary.BigEndian.Uint32(b[8:]))+logOverhead])
		}, PoisonCodec},
		{"format 1", func(b []byte) { b[16] = 1 }, PoisonFormat},
		{"format 0", func(b []byte) { b[16] = 0 }, PoisonFormat},
		{"a negative length", func(b []byte) { binary.BigEndian.PutUint32(b[8:], 0xffffff00) }, PoisonFraming},
		{"a length of a gigabyte", func(b []byte) { binary.BigEndian.PutUint32(b[8:], 1<<30) }, PoisonFraming},
		{"an offset far behind the log's end", func(b []byte) { b[0] = 0x40 }, PoisonFraming},
		{"a negative offset", func(b []byte) { b[0] = 0x80 }, PoisonFraming},
	} {
		for _, times := range []int{2, 1 << 30} {
			if times == 2 && test.want == PoisonCodec {
				continue // no network makes the checksum right
			}
			t.Run(fmt.Sprintf("%s, %d times", test.name, times), func(t *testing.T) {
				addr := startBroker(t).ListenAddrs()[0]
				p := newProcess(t, addr)
				topic := createTopic(t, p.client, 1)
				produce(t, p.client, topic, 0, "before")
				produce(t, p.client, topic, 0, string(mark))
				produce(t, p.client, topic, 0, "after")
				left := times
				p.damage = func(p []byte) {
					if batch := at(p); batch != nil && left > 0 {
						left--
						test.damage(batch)
					}
				}
				cfg := testConfig(t)
				cfg.FetchBytes, cfg.RetryMax = 1<<20, cfg.RetryMin
				all := newSeen()
				start(t, cfg, p, []string{topic}, all.handler)
				all.await(t, 3)
				want := "poison: " + string(test.want)
				if times == 2 {
					want = string(mark) // it was the network
				}
				if all.what[0] != "before" || all.what[1] != want || all.what[2] != "after" || times != 2 && all.last[1] != 1 {
					t.Errorf("%v, %v", all.what, all.last)
				}
			})
		}
	}
}

func TestPoisonHasARangeOfItsOwnAndIsFormedAlikeAgain(t *testing.T) {
	addr := startBroker(t).ListenAddrs()[0]
	p := newProcess(t, addr)
	topic := createTopic(t, p.client, 1)
	produce(t, p.client, topic, 0, numbered("v", 5)...)
	for range 2 {
		produceRaw(t, addr, topic, rawBatch(1, 10, []byte("no gzip")))
	}
	produce(t, p.client, topic, 0, numbered("w", 5)...)
	cfg := testConfig(t)
	cfg.Linger = cfg.FetchWait
	ranges := func(from int64, metadata string, n int) (all []string) {
		cfg.Group = uniqueName(t, "group")
		commitAs(t, p.client, cfg.Group, topic, from, metadata)
		handled := make(chan string, 100)
		r := start(t, cfg, newProcess(t, addr), []string{topic}, func(string, int) Handler {
			return handle(func(_ context.Context, b *Batch) error {
				text := fmt.Sprintf("%d-%d:", b.First, b.Last)
				for _, r := range b.Records {
					if r.Poison != nil {
						text += fmt.Sprintf(" %d-%d %s %d", r.Offset, r.Poison.Last, r.Poison.Reason, r.Time)
					} else {
						text += " " + string(r.Value)
					}
				}
				handled <- text
				return nil
			})
		})
		for range n {
			all = append(all, <-handled)
		}
		r.stop()
		_ = r.wait(t)
		return all
	}
	const poisoned = "5-24: 5-14 compression 1700000000000 15-24 compression 1700000000000"
	want := []string{"0-4: v-0 v-1 v-2 v-3 v-4", poisoned, "25-29: w-0 w-1 w-2 w-3 w-4"}
	if got := ranges(0, "", 3); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := ranges(5, formatPlan(24), 2); !slices.Equal(got, want[1:]) {
		t.Errorf("after a crash: %q", got)
	}
	// Ranges that were planned when the bytes could still be read.
	want = []string{
		"3-7: v-3 v-4 5-7 compression 1700000000000",
		"8-24: 8-14 compression 1700000000000 15-24 compression 1700000000000", want[2],
	}
	if got := ranges(3, formatPlan(7), 3); !slices.Equal(got, want) {
		t.Errorf("a range that ends within: %q", got)
	}
	if got := ranges(8, "", 2); !slices.Equal(got, want[1:]) {
		t.Errorf("a range that begins within: %q", got)
	}
}

// TestABombTakesNoMemory measures what the reader allocates for a megabyte that inflates to 1.1 GiB.
func TestABombTakesNoMemory(t *testing.T) {
	limit := DefaultConfig("g").MaxInflatedBytes
	gzipped := bytes.Repeat(zeros(t, compress.Gzip, 11<<20), 102) // members, one behind the other
	// A frame of zstd that says that its window is a gigabyte, and one that its content is.
	window := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 20 << 3, 0x03, 0x00, 0x10, 0x00}
	content := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0}, 0, 0, 0, 0x40, 0x03, 0x00, 0x10, 0x00)
	lie := append([]byte{0xff, 0xff, 0xff, 0x7f}, 1, 2, 3) // of snappy: two gigabytes
	for name, batch := range map[string][]byte{
		"gzip": rawBatch(1, 3, gzipped), "zstd's window": rawBatch(4, 3, window), "zstd's content": rawBatch(4, 3, content),
		"snappy": rawBatch(2, 3, lie),
	} {
		set := recordSet{inflater: inflater{limit: limit}}
		set.reset(batch, 0, 0)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := set.open()
		runtime.ReadMemStats(&after)
		took := after.TotalAlloc - before.TotalAlloc
		if found := asPoison(err); found == nil || !strings.Contains("too_large compression", string(found.reason)) {
			t.Errorf("%s: %v", name, err)
		}
		if took > 3*uint64(limit) || cap(set.inflater.memory) > keptInflated {
			t.Errorf("%s: %d bytes are allocated and %d kept, for a batch of %d", name, took,
				cap(set.inflater.memory), len(batch))
		}
		t.Logf("%s: %d bytes are allocated for a batch of %d: %v", name, took, len(batch), err)
	}
}
