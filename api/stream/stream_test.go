package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

func newHub(t testing.TB, db driver.Conn, change func(*Config)) *Hub {
	t.Helper()
	cfg := DefaultConfig()
	if change != nil {
		change(&cfg)
	}
	h, err := NewHub(cfg, db, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// eventAt is the event of a sequence: of account 1 or 2, of several vehicles, types and geofences.
func eventAt(sequence uint64) fleet.Event {
	e := fleet.Event{
		ID: sequence, Account: fleet.AccountID(1 + sequence%2), Vehicle: fleet.VehicleID(1 + sequence%5),
		At:   fleet.MillisOf(time.Now()),
		Type: fleet.EventTripEnded, Kind: fleet.KindTrip, Object: 7, Revision: 1, Body: json.RawMessage(`{"distance_m":1}`),
	}
	if sequence%3 == 0 {
		e.Type, e.Kind, e.Body = fleet.EventFenceEntered, fleet.KindVisit,
			json.RawMessage(fmt.Sprintf(`{"geofence":"%d"}`, 1+sequence%4))
	}
	return e
}

// store writes the events [first, last] into the table, as the log of events does.
func store(t testing.TB, db driver.Conn, first, last uint64, noted time.Time) {
	t.Helper()
	rows, err := db.PrepareBatch(t.Context(),
		"INSERT INTO events (account, sequence, id, type, vehicle, at, noted_at, late, kind, object, revision, body)")
	if err != nil {
		t.Fatal(err)
	}
	for n := first; n <= last; n++ {
		e := eventAt(n)
		err := rows.Append(uint64(e.Account), n, e.ID, e.Type, uint64(e.Vehicle), e.At.Time(), noted, e.Late, string(e.Kind),
			e.Object, e.Revision, string(e.Body))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Send(); err != nil {
		t.Fatal(err)
	}
}

// readAll reads pages until there is nothing more, and returns the sequences.
func readAll(t testing.TB, h *Hub, after uint64, f *Filter, limit int) []uint64 {
	t.Helper()
	var all []uint64
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		page, err := h.Read(t.Context(), 1, after, f, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			all = append(all, item.Sequence)
		}
		if page.Upto < after {
			t.Fatalf("from %d back to %d", after, page.Upto)
		}
		after = page.Upto
		if !page.More && !page.Behind {
			return all
		}
	}
	t.Fatal("there is no end")
	return nil
}

// wanted are the sequences of account 1 behind after that a filter takes.
func wanted(after, last uint64, f *Filter) []uint64 {
	var all []uint64
	for n := after + 1; n <= last; n++ {
		if item := newItem(n, eventAt(n)); item.Event.Account == 1 && f.Wants(item) {
			all = append(all, n)
		}
	}
	return all
}

// TestReadHasNoGaps reads from everywhere, with a table that ends within the ring, before it and behind it.
func TestReadHasNoGaps(t *testing.T) {
	db := schematest.Open(t)
	store(t, db, 1, 300, time.Now())
	h := newHub(t, db, func(c *Config) { c.Ring = 64 })
	offset, err := h.Begin(t.Context())
	if err != nil || offset != 300 {
		t.Fatalf("begins at offset %d, %v", offset, err)
	}
	last := uint64(300)
	filters := []*Filter{{}, {Types: []string{fleet.EventFenceEntered}}, {Vehicles: []fleet.VehicleID{2, 3}},
		{Fences: []fleet.FenceID{1}}}
	check := func() {
		t.Helper()
		for range 20 {
			after := rand.Uint64N(last + 1)
			f := filters[rand.IntN(len(filters))]
			limit := 1 + rand.IntN(100)
			if got, want := readAll(t, h, after, f, limit), wanted(after, last, f); !slices.Equal(got, want) {
				t.Fatalf("behind %d of %d, %+v, by %d: %v\nwant %v", after, last, f, limit, got, want)
			}
		}
	}
	check()
	for n := last + 1; n <= 340; n++ {
		h.Event(n, eventAt(n))
		h.Event(n-1, eventAt(n-1)) // told twice
	}
	last = 340
	check()
	for n := last + 1; n <= 900; n++ { // far beyond the ring, while the table lags
		h.Event(n, eventAt(n))
	}
	last = 900
	page, err := h.Read(t.Context(), 1, 340, &Filter{}, 10)
	if err != nil || !page.Behind || page.Upto != 340 || len(page.Items) != 0 {
		t.Fatalf("what nobody has any more is read as %+v, %v", page, err)
	}
	store(t, db, 301, 900, time.Now())
	check()
	if n := len(h.ring); n != 64 {
		t.Errorf("the ring has %d events", n)
	}
}

// Account 1 asks for places, and its own stream reads the older ones from the table; that of account 2 finds all that
// it had in the ring.
func TestPlacesOfOneAccountTakeNoRoomOfOthers(t *testing.T) {
	db := schematest.Open(t)
	store(t, db, 1, 200, time.Now())
	h := newHub(t, db, func(c *Config) { c.Ring = 30 })
	tell := h.EventRecords(codec.ParseEvent)
	for n := uint64(1); n <= 200; n++ {
		e := eventAt(n)
		switch {
		case e.Account == 1:
			e.Type, e.Kind, e.Body = fleet.EventLocationUpdated, fleet.KindPosition, json.RawMessage(`{}`)
		case n > 40:
			tell(0, int64(n)-1, nil)
			continue
		}
		h.Event(n, e)
	}
	if page, _, ok := h.fromRing(2, 0, &Filter{}, 100); !ok || len(page.Items) != 20 {
		t.Errorf("account 2 finds %d of 20 events in the ring, which reaches back: %v", len(page.Items), ok)
	}
	if page, _, ok := h.fromRing(1, 150, &Filter{}, 100); !ok || len(page.Items) != 25 {
		t.Errorf("account 1 finds %d of its 25 newest places in the ring, which reaches back: %v", len(page.Items), ok)
	}
	if items := len(h.feeds[1].items); items != 30 {
		t.Errorf("%d places are in memory", items)
	}
	for _, after := range []uint64{0, 39, 139, 140, 141, 199} {
		if got, want := readAll(t, h, after, &Filter{}, 7), wanted(after, 200, &Filter{}); !slices.Equal(got, want) {
			t.Errorf("behind %d: %v, want %v", after, got, want)
		}
	}
	// Who has nothing in memory any more, and nobody who listens, still does not believe that there was nothing.
	for n := uint64(201); n <= 400; n++ {
		h.Event(n, fleet.Event{ID: n, Account: 3, Type: fleet.EventLocationUpdated, Kind: fleet.KindPosition})
	}
	if _, _, ok := h.fromRing(1, 100, &Filter{}, 100); ok {
		t.Error("the ring says that it has all places of account 1")
	}
}

func TestAGapInTheTopicIsFilledFromTheTable(t *testing.T) {
	db := schematest.Open(t)
	h := newHub(t, db, nil)
	if _, err := h.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, n := range []uint64{1, 2, 3, 10, 11} {
		h.Event(n, eventAt(n))
	}
	tell := h.EventRecords(codec.ParseEvent)
	tell(0, 11, []byte("no event")) // sequence 12, which is nobody's
	of := eventAt(13)
	tell(0, 12, codec.AppendEvent(nil, &of))
	h.Event(14, eventAt(14))
	store(t, db, 1, 11, time.Now())
	if got, want := readAll(t, h, 0, &Filter{}, 100), []uint64{2, 4, 6, 8, 10, 14}; !slices.Equal(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
	if h.Begins() != 9 || h.Newest() != 14 {
		t.Errorf("the ring is behind %d up to %d", h.Begins(), h.Newest())
	}
}

func TestACursorBehindWhichEventsAreGone(t *testing.T) {
	db := schematest.Open(t)
	// what is old is gone whenever the server likes
	if err := db.Exec(t.Context(), "SYSTEM STOP MERGES events"); err != nil {
		t.Fatal(err)
	}
	store(t, db, 1, 50, time.Now().Add(-query.EventRetention-time.Hour))
	store(t, db, 51, 60, time.Now())
	h := newHub(t, db, nil)
	if _, err := h.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[uint64]error{0: ErrExpired, 49: ErrExpired, 50: nil, 60: nil, 70: nil,
		60 + ahead + 1: ErrExpired} {
		if _, err := h.Read(t.Context(), 1, after, &Filter{}, 10); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("behind %d: %v, want %v", after, err, want)
		}
	}
}

// change is a vehicle at a place, with the time in seconds.
func change(vehicle, at int, lng float64) *fleet.Change {
	return &fleet.Change{Account: 1, Vehicle: fleet.VehicleID(vehicle),
		Live: &fleet.Live{FixTime: fleet.Millis(at * 1000), Lat: 10, Lng: lng}}
}

// places names what Places gives, as vehicle@seconds.
func places(s *Subscription, now time.Time) string {
	var all []string
	for _, p := range s.Places(nil, now) {
		all = append(all, fmt.Sprintf("%d@%d", p.Vehicle, p.Live.FixTime/1000))
	}
	slices.Sort(all)
	return fmt.Sprint(all)
}

func subscribe(t testing.TB, h *Hub, key string, f Filter) *Subscription {
	t.Helper()
	s, err := h.Subscribe(1, key, f)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPlaces(t *testing.T) {
	h := newHub(t, nil, nil)
	now := time.Now()
	h.Change(change(1, 1, 0)) // nobody listens
	all := subscribe(t, h, "1", Filter{Positions: true})
	none := subscribe(t, h, "1", Filter{})
	some := subscribe(t, h, "1", Filter{Positions: true, Vehicles: []fleet.VehicleID{2}})
	boxed := subscribe(t, h, "1", Filter{Positions: true, Box: &query.Box{West: 170, East: -170, South: 0, North: 20}})
	rare := subscribe(t, h, "1", Filter{Positions: true, Every: 10 * time.Second})
	other, err := h.Subscribe(2, "2", Filter{Positions: true})
	if err != nil {
		t.Fatal(err)
	}
	want := func(s *Subscription, at time.Duration, want string) {
		t.Helper()
		if got := places(s, now.Add(at)); got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	}
	for at := 1; at <= 3; at++ {
		h.Change(change(1, at, 175))
		h.Change(change(2, at, 0))
	}
	h.Change(change(2, 2, 0)) // late
	want(all, 0, "[1@3 2@3]")
	want(all, 0, "[]")
	want(none, 0, "[]")
	want(some, 0, "[2@3]")
	want(boxed, 0, "[1@3]")
	want(rare, 0, "[1@3 2@3]")
	want(other, 0, "[]")

	h.Change(change(1, 4, 160)) // leaves the box
	h.Change(change(2, 4, -175))
	want(all, time.Second, "[1@4 2@4]")
	want(boxed, time.Second, "[1@4 2@4]")
	want(rare, time.Second, "[]")
	if !rare.holds.Load() {
		t.Error("nobody knows of what is held")
	}
	h.Change(change(1, 5, 160))
	want(boxed, 2*time.Second, "[]") // it is outside, and was told so
	want(rare, 2*time.Second, "[]")
	want(rare, 10*time.Second, "[1@5 2@4]") // the newest that was held
	want(rare, 30*time.Second, "[]")
	if rare.holds.Load() {
		t.Error("nothing is held any more")
	}

	// What a snapshot told already is not told again.
	fresh := subscribe(t, h, "1", Filter{Positions: true})
	h.Change(change(1, 6, 0))
	h.Change(change(2, 7, 0))
	fresh.Told(1, 6000, now)
	fresh.Told(2, 6000, now)
	want(fresh, 0, "[2@7]")
}

// TestAFeedStaysSmall sends far more changes than there are vehicles to a reader that does not read.
func TestAFeedStaysSmall(t *testing.T) {
	h := newHub(t, nil, nil)
	s := subscribe(t, h, "1", Filter{Positions: true})
	for i := range 100_000 {
		h.Change(change(1+i%100, i, 0))
	}
	if n := len(h.feeds[1].log); n > 2000 {
		t.Errorf("%d places are kept of 100 vehicles", n)
	}
	if n := len(s.Places(nil, time.Now())); n != 100 {
		t.Errorf("%d places were told", n)
	}
	s.Close()
	if len(h.feeds) != 0 || len(h.keys) != 0 || len(h.dirty) != 0 {
		t.Errorf("without readers the hub keeps %d feeds, %d keys, %d to wake", len(h.feeds), len(h.keys), len(h.dirty))
	}
}

func TestReadersAreWokenAndEnded(t *testing.T) {
	h := newHub(t, nil, func(c *Config) { c.Gather, c.Heartbeat = 5*time.Millisecond, time.Hour })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	s := subscribe(t, h, "1", Filter{Positions: true})
	stalled := subscribe(t, h, "1", Filter{Positions: true})
	woken := func(what string) {
		t.Helper()
		select {
		case <-s.Woken():
		case <-time.After(20 * time.Second):
			t.Fatalf("%s wakes nobody", what)
		}
	}
	for n := range uint64(50) {
		h.Event(n+1, eventAt(n+1))
	}
	woken("an event")
	h.Change(change(1, 1, 0))
	woken("a change")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for _, s := range []*Subscription{s, stalled} {
		select {
		case <-s.Ended():
		default:
			t.Error("a subscription outlives the hub")
		}
	}
	if _, err := h.Subscribe(1, "1", Filter{}); !errors.Is(err, ErrEnded) {
		t.Errorf("a hub that has ended says %v", err)
	}
}

func TestSubscriptionsAreCounted(t *testing.T) {
	h := newHub(t, nil, func(c *Config) { c.PerKey, c.PerAccount = 2, 3 })
	first := subscribe(t, h, "1", Filter{})
	subscribe(t, h, "1", Filter{})
	if _, err := h.Subscribe(1, "1", Filter{}); !errors.Is(err, ErrTooMany) {
		t.Errorf("the third of a key: %v", err)
	}
	subscribe(t, h, "2", Filter{})
	if _, err := h.Subscribe(1, "2", Filter{}); !errors.Is(err, ErrTooMany) {
		t.Errorf("the fourth of an account: %v", err)
	}
	first.Close()
	subscribe(t, h, "2", Filter{})
}

func TestAnItemIsWrittenOnceForEachUnit(t *testing.T) {
	item := newItem(1, eventAt(1))
	n := 0
	for range 3 {
		for _, metric := range []bool{false, true} {
			text, err := item.Text(metric, func() ([]byte, error) { n++; return fmt.Append(nil, metric), nil })
			if err != nil || string(text) != fmt.Sprint(metric) {
				t.Errorf("%s, %v", text, err)
			}
		}
	}
	if n != 2 {
		t.Errorf("written %d times", n)
	}
}
