package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/topic"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

// begin is not long ago, because events expire.
var begin = fleet.MillisOf(time.Now().Add(-time.Hour).Truncate(time.Second))

func numberedEvent(i int) fleet.Event {
	return fleet.Event{
		ID: uint64(1000 + i), Type: fleet.EventTripEnded, Account: fleet.AccountID(7 + i%2),
		Vehicle: fleet.VehicleID(1 + i%3),
		At:      begin + fleet.Millis(i), Late: i%5 == 0, Kind: fleet.KindTrip, Object: uint64(1) << 62, Revision: uint32(i),
		Body: json.RawMessage(fmt.Sprintf(`{"start_ms":%d,"distance_m":1234.5}`, begin)),
	}
}

func encode(t testing.TB, e fleet.Event) []byte {
	t.Helper()
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func newLog(t testing.TB, db driver.Conn) *Log {
	t.Helper()
	l, err := New(db, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func count(t testing.TB, db driver.Conn, what string) uint64 {
	t.Helper()
	var n uint64
	if err := db.QueryRow(t.Context(), "SELECT toUInt64("+what+")").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// lossy handles batches, but the word of every first success is lost on its way, as when the process dies after it.
type lossy struct {
	*Log
	mu     sync.Mutex
	tried  map[string]int
	stored chan int64
}

func (l *lossy) Handle(ctx context.Context, b *consume.Batch) error {
	if err := l.Log.Handle(ctx, b); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tried[b.Token()]++; l.tried[b.Token()] == 1 {
		return errors.New("the acknowledgement is lost")
	}
	l.stored <- b.Last
	return nil
}

// TestEventsAreInTheTableOnce consumes a topic with batches that are all handled twice, and then all of it again by a
// group that knows nothing of the first and cuts other batches.
func TestEventsAreInTheTableOnce(t *testing.T) {
	db := schematest.Open(t)
	kafka := topic.DefaultConfig()
	kafka.Brokers, kafka.Replication = []string{embeddedtest.Broker(t)}, 1
	suffix := fmt.Sprint(".", time.Now().UnixNano())
	for _, name := range []*string{&kafka.Positions, &kafka.Telemetry, &kafka.Traccar, &kafka.DeadLetters, &kafka.Changes,
		&kafka.Events} {
		*name += suffix
	}
	if _, err := topic.Ensure(t.Context(), kafka); err != nil {
		t.Fatal(err)
	}
	feed, err := topic.NewFeed(kafka)
	if err != nil {
		t.Fatal(err)
	}
	defer feed.Close()
	const n = 500
	messages := make([]topic.Message, n)
	for i := range messages {
		messages[i].Value = encode(t, numberedEvent(i))
	}
	messages[17].Value = []byte("no event")
	if err := feed.PublishRaw(t.Context(), kafka.Events, messages); err != nil {
		t.Fatal(err)
	}

	consumeAll := func(group string, rows int) {
		client, err := kafka.Client()
		if err != nil {
			t.Fatal(err)
		}
		defer topic.Disconnect(client)
		dialer, err := kafka.Dialer()
		if err != nil {
			t.Fatal(err)
		}
		cfg := consume.DefaultConfig(group + suffix)
		cfg.MaxRows, cfg.Linger, cfg.RetryMin = rows, 20*time.Millisecond, time.Millisecond
		handler := &lossy{Log: newLog(t, db), tried: map[string]int{}, stored: make(chan int64, n)}
		consumer, err := consume.New(cfg, client, dialer, []string{kafka.Events},
			func(string, int) consume.Handler { return handler }, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- consumer.Run(ctx) }()
		for last, timeout := int64(-1), time.After(60*time.Second); last < n-1; {
			select {
			case last = <-handler.stored:
			case <-timeout:
				t.Fatalf("only stored to offset %d", last)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		for token, times := range handler.tried {
			if times != 2 {
				t.Errorf("%s was handled %d times", token, times)
			}
		}
	}
	consumeAll("first", 64)
	if rows := count(t, db, "(SELECT count() FROM events)"); rows != n-1 {
		t.Errorf("%d rows of %d events", rows, n-1)
	}
	consumeAll("second", 33)
	if rows := count(t, db, "(SELECT count() FROM events FINAL)"); rows != n-1 {
		t.Errorf("%d events of %d after the topic was read again", rows, n-1)
	}
	if sum := count(t, db, "(SELECT sum(sequence) FROM events FINAL)"); sum != n*(n+1)/2-18 {
		t.Errorf("sequences add up to %d", sum)
	}
}

func TestAnEventIsStoredAsItIs(t *testing.T) {
	db := schematest.Open(t)
	e := numberedEvent(5)
	noted := begin + 777
	b := &consume.Batch{Topic: "events", First: 41, Last: 41,
		Records: []consume.Record{{Offset: 41, Time: noted, Value: encode(t, e)}}}
	if err := newLog(t, db).Handle(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	var got fleet.Event
	var account, sequence, vehicle uint64
	var at, notedAt time.Time
	var kind, body string
	err := db.QueryRow(t.Context(),
		"SELECT account, sequence, id, type, vehicle, at, noted_at, late, kind, object, revision, body FROM events").
		Scan(&account, &sequence, &got.ID, &got.Type, &vehicle, &at, &notedAt, &got.Late, &kind, &got.Object,
			&got.Revision, &body)
	if err != nil {
		t.Fatal(err)
	}
	got.Account, got.Vehicle, got.At, got.Kind, got.Body =
		fleet.AccountID(account), fleet.VehicleID(vehicle), fleet.MillisOf(at), fleet.Kind(kind), json.RawMessage(body)
	if fmt.Sprint(got) != fmt.Sprint(e) || sequence != 42 || fleet.MillisOf(notedAt) != noted {
		t.Errorf("%+v with sequence %d, noted at %s, was %+v", got, sequence, notedAt, e)
	}
}

func TestRecordsThatAreNoEvents(t *testing.T) {
	whole := numberedEvent(1)
	for name, change := range map[string]func(*fleet.Event){
		"no account":    func(e *fleet.Event) { e.Account = 0 },
		"no type":       func(e *fleet.Event) { e.Type = "" },
		"no kind":       func(e *fleet.Event) { e.Kind = "" },
		"no id":         func(e *fleet.Event) { e.ID = 0 },
		"no time":       func(e *fleet.Event) { e.At = 0 },
		"a far-off day": func(e *fleet.Event) { e.At = 1 << 60 },
	} {
		e := whole
		change(&e)
		if _, err := Decode(encode(t, e)); err == nil {
			t.Errorf("%s: it is taken for an event", name)
		}
	}
	for _, text := range []string{"", "null", "[]", `{"id":1}`} {
		if _, err := Decode([]byte(text)); err == nil {
			t.Errorf("%q is taken for an event", text)
		}
	}
	if e, err := Decode(encode(t, whole)); err != nil || fmt.Sprint(e) != fmt.Sprint(whole) {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestATopicWithoutOrderIsFatal(t *testing.T) {
	l := newLog(t, nil)
	if err := l.Handle(t.Context(), &consume.Batch{Topic: "events", Partition: 1}); !errors.Is(err, consume.ErrFatal) {
		t.Errorf("error is %v", err)
	}
}

// The server noted the token of an insert and was killed before it had the rows: which looks as if somebody had
// taken them away.
func TestEventsWhoseTokenWasSpentAreStored(t *testing.T) {
	db := schematest.Open(t)
	l := newLog(t, db)
	b := &consume.Batch{Topic: "events", First: 4, Last: 5, Records: []consume.Record{
		{Offset: 4, Time: begin, Value: encode(t, numberedEvent(1))},
		{Offset: 5, Time: begin, Value: encode(t, numberedEvent(2))}}}
	for range 3 {
		for range 2 {
			if err := l.Handle(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		if n := count(t, db, "(SELECT count() FROM events)"); n != 2 {
			t.Errorf("%d events of two", n)
		}
		if err := db.Exec(t.Context(), "ALTER TABLE events DELETE WHERE true SETTINGS mutations_sync = 1"); err != nil {
			t.Fatal(err)
		}
	}
}

// A topic that was lost and made again counts from zero, so its batches are called as those of its predecessor were.
func TestATopicMadeAgainDoesNotMeetItsPredecessor(t *testing.T) {
	db := schematest.Open(t)
	l := newLog(t, db)
	batch := func(id int, noted fleet.Millis) *consume.Batch {
		return &consume.Batch{Topic: "events", Records: []consume.Record{{Time: noted, Value: encode(t, numberedEvent(id))}}}
	}
	before, after := batch(1, begin), batch(3, begin+60_000)
	for _, b := range []*consume.Batch{before, before, after, after} {
		if err := l.Handle(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if ids := count(t, db, "(SELECT sum(id) FROM events)"); ids != 1001+1003 {
		t.Errorf("ids add up to %d", ids)
	}
}
