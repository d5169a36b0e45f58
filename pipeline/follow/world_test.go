package follow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/uber/h3-go/v4"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/pipeline/sink"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

const account fleet.AccountID = 7

// morning is when the recordings begin: the afternoon before a midnight.
var morning = fleet.MillisOf(time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC))

// world is a store, a topic of events and a clock.
type world struct {
	t       testing.TB
	db      *flaky
	cfg     Config
	laying  sync.Mutex    // guards the next two
	policy  *fleet.Policy //
	laid    *fleet.Policy // the next, known after RefreshNow; nil for none
	now     fleet.Millis
	f       *Follower
	h       *Handler
	offset  int64
	parts   int                  // partitions of the topic of changes
	moved   []fleet.Change       // that owners have put on their partition
	metrics *prometheus.Registry // of f
	packed  bool                 // changes carry their inputs, mostly
	pack    *rand.Rand           // what decides on that, and on what comes twice or later
	held    []fleet.Change       // that come with a later batch

	refuse error // of the next events
	events []fleet.Event
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, db: &flaky{Conn: schematest.Open(t)}, cfg: DefaultConfig(), policy: town(), now: morning, parts: 1,
		packed: true, pack: rand.New(rand.NewPCG(4, 4))}
	w.cfg.Tick, w.cfg.RepairPause = 0, 0
	w.restart()
	return w
}

// restart drops the owner as a crash does, and makes another.
func (w *world) restart() {
	w.t.Helper()
	if w.h != nil {
		w.h.stop()
	}
	var err error
	w.metrics = prometheus.NewRegistry()
	w.f, err = New(w.cfg, Deps{
		DB: w.db, Policies: w, Events: w, Changes: w, Topic: w, Now: func() time.Time { return w.now.Time() },
		Metrics: NewMetrics(w.metrics), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.h = w.f.handler(0)
}

func (w *world) Count(context.Context, time.Duration) (int, error) { return w.parts, nil }

func (w *world) Partition(vehicle fleet.VehicleID, partitions int) int {
	return int(vehicle) % partitions
}

func (w *world) PublishChanges(_ context.Context, changes []fleet.Change) error {
	w.moved = append(w.moved, changes...)
	return nil
}

func (w *world) Of(fleet.AccountID) *fleet.Policy {
	w.laying.Lock()
	defer w.laying.Unlock()
	return w.policy
}

// lay has another policy hold at once.
func (w *world) lay(p *fleet.Policy) {
	w.laying.Lock()
	defer w.laying.Unlock()
	w.policy = p
}

func (w *world) RefreshNow(ctx context.Context) error {
	w.laying.Lock()
	defer w.laying.Unlock()
	if w.laid != nil {
		w.policy, w.laid = w.laid, nil
	}
	return ctx.Err()
}

func (w *world) PublishEvents(_ context.Context, events []fleet.Event) error {
	if err := w.refuse; err != nil {
		w.refuse = nil
		return err
	}
	w.events = append(w.events, events...)
	return nil
}

var errFlaky = errors.New("the server went away")

// flaky is a store that fails an insert into a table once: before it happens, or after, or between table and views.
type flaky struct {
	driver.Conn
	table string
	after bool
	torn  bool
	gate  func(statement string) // called before each query, if set
	bytes atomic.Int64           // of text, the most that a query has returned
}

func (f *flaky) PrepareBatch(ctx context.Context, statement string,
	options ...driver.PrepareBatchOption) (driver.Batch, error) {
	fails := f.table != "" && strings.HasPrefix(statement, "INSERT INTO "+f.table)
	if fails {
		f.table = ""
		if !f.after {
			return nil, errFlaky
		}
	}
	if fails && f.torn {
		for _, kind := range fleet.Kinds {
			if err := f.Exec(ctx, fmt.Sprintf("DETACH TABLE %ss_feed", kind)); err != nil {
				return nil, err
			}
		}
	}
	b, err := f.Conn.PrepareBatch(ctx, statement, options...)
	if err == nil && fails {
		b = lost{b, f}
	}
	return b, err
}

func (f *flaky) Query(ctx context.Context, statement string, args ...any) (driver.Rows, error) {
	if f.gate != nil {
		f.gate(statement)
	}
	rows, err := f.Conn.Query(ctx, statement, args...)
	return &weighed{Rows: rows, f: f}, err
}

// QueryRow is for queries of one row.
func (f *flaky) QueryRow(ctx context.Context, statement string, args ...any) driver.Row {
	if f.gate != nil {
		f.gate(statement)
	}
	return f.Conn.QueryRow(ctx, statement, args...)
}

// weighed are rows whose text is weighed.
type weighed struct {
	driver.Rows
	f     *flaky
	bytes int
}

func (w *weighed) Scan(into ...any) error {
	err := w.Rows.Scan(into...)
	for _, p := range into {
		if text, ok := p.(*string); ok {
			w.bytes += len(*text)
		}
	}
	for known := w.f.bytes.Load(); int64(w.bytes) > known &&
		!w.f.bytes.CompareAndSwap(known, int64(w.bytes)); known = w.f.bytes.Load() {
	}
	return err
}

// lost is an insert that happens, and whose answer is lost.
type lost struct {
	driver.Batch
	f *flaky
}

func (l lost) Send() error {
	err := l.Batch.Send()
	if l.f.torn {
		l.f.torn = false
		for _, kind := range fleet.Kinds {
			err = errors.Join(err, l.f.Exec(context.Background(), fmt.Sprintf("ATTACH TABLE %ss_feed", kind)))
		}
	}
	return errors.Join(errFlaky, err)
}

// town is a policy with something of everything.
func town() *fleet.Policy {
	fence := func(id fleet.FenceID, geometry string) fleet.FenceVersion {
		return fleet.FenceVersion{ID: id, Revision: 1, Name: fmt.Sprint(id), Geometry: []byte(geometry), Dwell: 5 * 60_000,
			SpeedLimit: 10}
	}
	rule := func(id fleet.RuleID, kind fleet.AlertKind, threshold float64, hold fleet.Millis,
		fences ...fleet.FenceID) fleet.Rule {
		return fleet.Rule{ID: id, Revision: 1, Kind: kind, Severity: "warning", Threshold: threshold, MinDuration: hold,
			Fences: fences}
	}
	warm := rule(20, fleet.AlertSignal, 0, 60_000)
	warm.Signal = &fleet.SignalTest{Signal: fleet.MustSignal("temp1_c"), Is: fleet.SignalAbove, Low: 8,
		High: 8, Hysteresis: 1}
	return &fleet.Policy{
		Account: account, Version: 1,
		Fences: []fleet.FenceVersion{
			fence(1, `{"type":"Circle","center":[-97.7431,30.2672],"radius_m":300}`),
			fence(2,
				`{"type":"Polygon","coordinates":[[[-97.75,30.27],[-97.73,30.27],[-97.73,30.29],[-97.75,30.29],[-97.75,30.27]]]}`),
		},
		Rules: []fleet.Rule{
			rule(11, fleet.AlertSpeeding, 25, 20_000), rule(12, fleet.AlertOffline, 1800, 0),
			rule(13, fleet.AlertIdling, 300, 0), rule(14, fleet.AlertFenceEnter, 0, 0, 1, 2),
			rule(15, fleet.AlertBatteryLow, 20, 0), rule(16, fleet.AlertFenceExit, 0, 0, 2),
			rule(17, fleet.AlertHarshBraking, 0, 0), rule(18, fleet.AlertTow, 100, 0),
			rule(19, fleet.AlertStopReached, 0, 0), rule(20, fleet.AlertStopMissed, 600, 0),
			rule(21, fleet.AlertRouteDeviation, 60, 0), rule(22, fleet.AlertDeviceAlarm, 0, 0), warm,
		},
		Default: fleet.Traits{Zone: time.UTC, Routes: rounds()},
	}
}

// rounds are route plans through the town: one the whole time, and one that is changed under way.
func rounds() []fleet.RoutePlan {
	const hour = fleet.Millis(3_600_000)
	stops := []fleet.PlanStop{
		{ID: "a", Fence: 2, ArriveUntil: morning + hour},
		{ID: "b", Place: fleet.Place{Lat: 30.2672, Lng: -97.7431}, Radius: 3000, ArriveUntil: morning + 3*hour},
		{ID: "c", Place: fleet.Place{Lat: 30.35, Lng: -97.75}, Radius: 4000, ArriveFrom: morning + 2*hour},
		{ID: "d", Fence: 1, ArriveFrom: morning + 5*hour},
	}
	corridor := []byte(`{"type":"Corridor","coordinates":[[-97.7431,30.2672],[-97.75,30.35]],"width_m":4000}`)
	return []fleet.RoutePlan{
		{ID: 31, Revision: 1, To: morning + 2*hour, Start: morning + hour/2, End: morning + 6*hour,
			Stops: stops[:2], Fence: 2},
		{ID: 31, Revision: 2, From: morning + 2*hour, Start: morning + hour/2, End: morning + 6*hour, Stops: stops[:3],
			Corridor: corridor},
		{ID: 30, Revision: 1, Start: morning, End: morning + 9*hour, Stops: stops, Corridor: corridor},
	}
}

// input is one thing a vehicle's device has said, and when we heard it.
type input struct {
	derive.Input
	vehicle fleet.VehicleID
	heard   fleet.Millis
}

// recording makes up what vehicles say during some hours, in order of event time.
func recording(rng *rand.Rand, vehicles int, hours float64) []input {
	var all []input
	for v := 1; v <= vehicles; v++ {
		at, end := morning+fleet.Millis(rng.IntN(600_000)), morning+fleet.Millis(hours*3_600_000)
		lat, lng, odometer, soc := 30.2672, -97.7431, 1e6, 80.0
		id := fleet.VehicleID(v)
		for at < end {
			phase := rng.IntN(7)
			course, every := rng.Float64()*360, fleet.Millis(5000+rng.IntN(4)*10_000)
			if phase == 0 {
				at += fleet.Millis(rng.IntN(2 * 3_600_000))
			}
			for range 5 + rng.IntN(40) {
				at += every + fleet.Millis(rng.IntN(1000))
				speed, ignition := 5+rng.Float64()*28, fleet.Yes
				switch phase {
				case 1, 2, 3:
					speed = 0
					if phase > 1 {
						ignition = fleet.No
					}
				case 4:
					soc = math.Mod(soc+99, 100)
					all = append(all, input{Input: derive.Input{At: at,
						Signal: fleet.SignalValue{Signal: fleet.MustSignal("soc_pct"), Value: math.Round(soc)}}, vehicle: id})
				}
				way := speed * float64(every) / 1000
				if lat > 30.4 || lat < 30.1 || lng > -97.6 || lng < -97.9 {
					course += 180
					lat, lng = min(max(lat, 30.1), 30.4), min(max(lng, -97.9), -97.6)
				}
				lat += way * math.Cos(course*math.Pi/180) / 111_195
				lng += way * math.Sin(course*math.Pi/180) / 96_000
				odometer += way
				p := &fleet.Position{
					Account: account, Vehicle: id, Device: 5, FixTime: at, DeviceTime: at, ReceivedTime: at + 1500,
					Lat: fleet.Quantise(lat + rng.NormFloat64()*1e-5),
					Lng: fleet.Quantise(lng + rng.NormFloat64()*1e-5), Altitude: 150, Speed: math.Round(speed*100) / 100,
					Course:   math.Mod(math.Round(math.Abs(course)), 360),
					Accuracy: 5, Odometer: math.Round(odometer), Satellites: 9, Ignition: ignition,
				}
				if rng.IntN(60) == 0 {
					p.Lat += 0.5 // a jump
				}
				if rng.IntN(80) == 0 {
					p.Alarm = append(fleet.Alarms, "lowBattery,sos", "made up")[rng.IntN(len(fleet.Alarms)+2)]
				}
				cell, err := h3.LatLngToCell(h3.NewLatLng(p.Lat, p.Lng), fleet.CellResolution)
				if err != nil {
					panic(err)
				}
				p.Cell = fleet.Cell(cell)
				all = append(all, input{Input: derive.Input{At: at, Position: p}, vehicle: id})
				if rng.IntN(10) == 0 {
					measured := fleet.SignalValue{Signal: fleet.MustSignal("battery_v"), Value: 12.5}
					if n := len(all); n%2 == 0 {
						measured = fleet.SignalValue{Signal: fleet.MustSignal("temp1_c"), Value: float64(n % 13)}
					}
					all = append(all, input{Input: derive.Input{At: at, Signal: measured}, vehicle: id})
				}
			}
		}
	}
	return all
}

// store inserts inputs, with whatever flags arrival gave them, and returns the batch of changes that tells of them.
func (w *world) store(rng *rand.Rand, all []input) *consume.Batch {
	w.t.Helper()
	type source struct {
		vehicle fleet.VehicleID
		device  int
	}
	rows := sink.NewBatch(w.db.Conn, "positions", 0)
	spans := map[source]*fleet.Change{}
	packers := map[source]*derive.Packer{}
	devices := 1 + w.pack.IntN(2)
	for _, in := range all {
		from := source{in.vehicle, w.pack.IntN(devices)}
		c := spans[from]
		if c == nil {
			c = &fleet.Change{Account: account, Vehicle: in.vehicle, From: in.At, To: in.At}
			spans[from], packers[from] = c, new(derive.Packer)
		}
		c.From, c.To = min(c.From, in.At), max(c.To, in.At)
		if in.Position == nil {
			rows.Signal(account, in.vehicle, in.At, in.Signal)
			packers[from].Signal(in.At, in.Signal)
			continue
		}
		p := *in.Position
		switch rng.IntN(6) {
		case 0:
			p.Flags |= fleet.FlagLate
		case 1:
			p.Flags |= fleet.FlagOutOfOrder
		case 2:
			p.Flags |= fleet.FlagDrift
		}
		rows.Position(&p, w.offset)
		packers[from].Fix(&p)
	}
	w.offset++
	if err := rows.Flush(w.t.Context(), fmt.Sprintf("test/0/%d", w.offset)); err != nil {
		w.t.Fatal(err)
	}
	b := &consume.Batch{Topic: "changes", First: w.offset, Last: w.offset}
	for from, c := range spans {
		if w.packed && w.pack.IntN(8) > 0 {
			c.Inputs = packers[from].Bytes()
		}
		b.Records = append(b.Records, w.record(*c))
	}
	rng.Shuffle(len(b.Records), func(i, j int) { b.Records[i], b.Records[j] = b.Records[j], b.Records[i] })
	return b
}

func (w *world) record(c fleet.Change) consume.Record {
	value, err := json.Marshal(c)
	if err != nil {
		w.t.Fatal(err)
	}
	return consume.Record{Offset: w.offset, Time: w.now, Value: value}
}

func (w *world) handle(b *consume.Batch) {
	w.t.Helper()
	if err := w.h.Handle(w.t.Context(), b); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) tick() {
	w.t.Helper()
	if err := w.h.tick(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// repair does the repairs that wait.
func (w *world) repair() {
	w.t.Helper()
	for {
		key, ok := w.h.nextRepair()
		if !ok {
			return
		}
		if err := w.h.repair(w.t.Context(), key); err != nil {
			w.t.Fatal(err)
		}
	}
}

// finish lets a day pass, does everything there is to do, and ends the owner.
func (w *world) finish(end fleet.Millis) {
	w.t.Helper()
	w.now = end + 2*3_600_000
	w.repair()
	w.tick()
	for len(w.h.recheck) > 0 {
		w.tick()
	}
	w.repair()
	if err := w.h.Close(); err != nil {
		w.t.Fatal(err)
	}
	for _, kind := range fleet.Kinds {
		if n := w.count(fmt.Sprintf(`(SELECT count() FROM (SELECT id, revision, open, deleted, end_at FROM derivations FINAL WHERE kind = '%s') AS d
			FULL OUTER JOIN (SELECT id, revision, open, deleted, end_at FROM %ss FINAL) AS k USING (id)
			WHERE (d.revision, d.open, d.deleted, d.end_at) != (k.revision, k.open, k.deleted, k.end_at))`, kind, kind)); n != 0 {
			w.t.Errorf("the table of each %s differs from what is derived in %d rows", kind, n)
		}
	}
}

// derived is everything that holds, as text by name, and which positions are jumps.
func (w *world) derived() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	text := `SELECT concat(toString(vehicle), ' ', kind, ' ', toString(id)),
		concat(toString(recognised_at), ' ', toString(start_at), ' ', toString(end_at), ' ', toString(local_date), ' ', toString(open), ' ', toString(digest), ' ', body)
		FROM derivations FINAL WHERE NOT deleted
		UNION ALL SELECT concat(toString(vehicle), ' jump ', toString(fix_time)), toString(cell) FROM positions FINAL WHERE bitAnd(flags, $1) != 0`
	err := schemas.EachRow(w.t.Context(), w.db.Conn, "read what is derived", text, []any{uint32(fleet.FlagJump)},
		func(row schemas.Row) error {
			var name, text string
			if err := row.Scan(&name, &text); err != nil {
				return err
			}
			all[name] = text
			return nil
		})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// differ tells how what is derived differs from what ought to be.
func differ(want, got map[string]string) []string {
	var lines []string
	for name, text := range want {
		if got[name] != text {
			lines = append(lines, "- "+name+" "+text+"\n+ "+name+" "+got[name])
		}
	}
	for name, text := range got {
		if _, ok := want[name]; !ok {
			lines = append(lines, "+ "+name+" "+text)
		}
	}
	return lines
}
