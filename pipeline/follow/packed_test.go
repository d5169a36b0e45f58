package follow

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/pipeline/registry"
)

// given is how many vehicles' inputs were taken from changes by the present owner.
func (w *world) given() int {
	families, err := w.metrics.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	n := 0.0
	for _, family := range families {
		if family.GetName() != "motorpool_follow_unpacked_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			if m.GetLabel()[0].GetValue() == "yes" {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return int(n)
}

// TestInputsThatComeWithChanges has changes come some batches after what they tell of was stored, in order of time,
// while owners die that had derived more than their checkpoints know.
func TestInputsThatComeWithChanges(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 8))
			all := recording(rng, 2, 3)
			slices.SortStableFunc(all, func(a, b input) int { return cmp.Compare(a.At, b.At) })
			end := all[len(all)-1].At
			inOrder := newWorld(t)
			inOrder.packed = false
			inOrder.handle(inOrder.store(rng, all))
			inOrder.finish(end)

			w := newWorld(t)
			w.cfg.SaveEvery, w.cfg.IdleAfter = 24*time.Hour, 24*time.Hour
			w.restart()
			var waiting []*consume.Batch
			given, ahead := 0, rng.IntN(4)
			handle := func() {
				w.handle(waiting[0])
				waiting = waiting[1:]
				w.repair() // a batch may end between a fix and a measurement of its time
				switch rng.IntN(14) {
				case 0:
					given += w.given()
					w.restart()
				case 1:
					given += w.given()
					if err := w.h.Close(); err != nil {
						t.Fatal(err)
					}
					w.restart()
				}
			}
			for part := range slices.Chunk(all, 8) {
				w.now = part[len(part)-1].At + 1000
				waiting = append(waiting, w.store(rng, part))
				if len(waiting) > ahead {
					handle()
				}
			}
			for len(waiting) > 0 {
				handle()
			}
			given += w.given()
			w.finish(end)
			if lines := differ(inOrder.derived(), w.derived()); len(lines) > 0 {
				t.Errorf("%d differ:\n%s", len(lines), strings.Join(lines[:min(3, len(lines))], "\n"))
			}
			if given < 10 {
				t.Errorf("inputs were taken from changes %d times only", given)
			}
		})
	}
}

// TestChangesThatCannotBeReadLoseNothingThatCameInOrder puts poison in the place of some changes, as consume gives it.
func TestChangesThatCannotBeReadLoseNothingThatCameInOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 8))
	all := recording(rng, 2, 2)
	slices.SortStableFunc(all, func(a, b input) int { return cmp.Compare(a.At, b.At) })
	end := all[len(all)-1].At
	inOrder := newWorld(t)
	inOrder.handle(inOrder.store(rng, all))
	inOrder.finish(end)

	w := newWorld(t)
	w.cfg.SaveEvery, w.cfg.IdleAfter = 24*time.Hour, 24*time.Hour
	w.restart()
	n := 0
	for part := range slices.Chunk(all, 40) {
		w.now = part[len(part)-1].At + 1000
		b := w.store(rng, part)
		if n++; n%4 == 0 {
			b.Records = []consume.Record{{Offset: w.offset,
				Poison: &consume.Poison{Last: w.offset, Reason: consume.PoisonChecksum}}}
		}
		w.handle(b)
		w.repair()
	}
	if given := w.given(); given < 3 || n < 8 {
		t.Errorf("of %d batches inputs were taken from changes %d times only", n, given)
	}
	w.finish(end)
	if lines := differ(inOrder.derived(), w.derived()); len(lines) > 0 {
		t.Errorf("%d differ:\n%s", len(lines), strings.Join(lines[:min(3, len(lines))], "\n"))
	}
}

// TestOneThatWasHandledBeforeIsReadBack: a checkpoint says that there was an owner before, who may have been told of
// what no change tells any more, even if it cannot be read and nothing was derived.
func TestOneThatWasHandledBeforeIsReadBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(9, 9))
	all := recording(rng, 1, 3)
	var signals, fixes []input
	for _, in := range all {
		switch {
		case in.Position == nil && len(fixes) == 0:
			signals = append(signals, in)
		case in.Position != nil && len(signals) > 0 && in.At > signals[len(signals)-1].At && len(fixes) < 20:
			fixes = append(fixes, in)
		}
	}
	handle := func(part []input) {
		w.now = part[len(part)-1].At
		for {
			if b := w.store(rng, part); !slices.ContainsFunc(b.Records, func(r consume.Record) bool {
				return !bytes.Contains(r.Value, []byte(`"inputs"`))
			}) {
				w.handle(b)
				return
			}
		}
	}
	handle(signals)
	if n := w.count("(SELECT count() FROM derivations)"); n != 0 {
		t.Fatalf("%d things were derived of signals alone", n)
	}
	for _, statement := range []string{
		"ALTER TABLE checkpoints UPDATE format = 99 WHERE true SETTINGS mutations_sync = 1",
		"TRUNCATE TABLE telemetry",
	} {
		if err := w.db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	w.restart()
	opening, _, _ := strings.Cut(queryOf("follow_newest"), "\n")
	asked := false
	w.db.gate = func(statement string) { asked = asked || strings.HasPrefix(statement, opening) }
	handle(fixes)
	if !asked {
		t.Error("nobody asked what is stored")
	}
}

// TestWhatComesInOrderIsNotReadBack counts the queries for fixes, from the first of a vehicle on.
func TestWhatComesInOrderIsNotReadBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pack = rand.New(rand.NewPCG(2, 3))
	rng := rand.New(rand.NewPCG(9, 9))
	all := recording(rng, 1, 3)
	pulls := 0
	opening, _, _ := strings.Cut(queryOf("follow_fixes"), "\n")
	w.db.gate = func(statement string) {
		if strings.HasPrefix(statement, opening) {
			pulls++
		}
	}
	handled := 0
	for part := range slices.Chunk(all, 50) {
		w.now = part[len(part)-1].At
		b := w.store(rng, part)
		lacking := strings.Count(string(b.Records[0].Value), `"inputs"`) == 0 ||
			len(b.Records) > 1 && !strings.Contains(string(b.Records[1].Value), `"inputs"`)
		before := pulls
		w.handle(b)
		if read := pulls > before; read != lacking {
			t.Errorf("batch %d: read back: %v, and a record lacks its inputs: %v", handled, read, lacking)
		}
		handled++
	}
	if pulls == 0 || pulls > handled/2 {
		t.Errorf("%d of %d batches were read back", pulls, handled)
	}
}

// told is a topic of changes.
type told struct{ changes []fleet.Change }

func (p *told) PublishChanges(_ context.Context, changes []fleet.Change) error {
	p.changes = append(p.changes, changes...)
	return nil
}

// TestChangesCarryWhatTheStoreHas holds what a chain packs against what is read back, bit by bit, whatever devices say.
func TestChangesCarryWhatTheStoreHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	const devices = 3
	for i := 1; i <= devices; i++ {
		// two have one vehicle
		body := fmt.Sprintf(`{"unique_id":"d%d","assignments":[{"vehicle_id":"veh_%d","from":null,"until":null}]}`, i,
			(i+1)/2)
		if err := w.db.Exec(ctx, "INSERT INTO devices (account, id, revision, created_at, updated_at, unique_id, body) VALUES (7, $1, 1, now() - INTERVAL 3 HOUR, now(), $2, $3)",
			uint64(1000+i), fmt.Sprintf("d%d", i), body); err != nil {
			t.Fatal(err)
		}
	}
	registered := registry.NewDevices(w.db)
	if err := registered.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	cfg, topic := pipeline.DefaultConfig(), new(told)
	chain := pipeline.NewChain(&cfg, pipeline.Deps{
		DB: w.db, Registry: registered, Apart: pipeline.NewApart(&cfg), Changes: topic,
		Metrics: pipeline.NewMetrics(prometheus.NewRegistry()), Log: slog.New(slog.DiscardHandler),
	}, "positions", 0)

	rng := rand.New(rand.NewPCG(6, 6))
	begin := fleet.MillisOf(time.Now().Add(-2 * time.Hour))
	alone := func(context.Context) bool { return true }
	compared, offset := 0, int64(0)
	reached := map[fleet.VehicleKey]fleet.Millis{}
	for round := range 60 {
		b := &consume.Batch{Topic: "positions", First: offset, Alone: alone}
		for range 1 + rng.IntN(40) {
			at := begin + fleet.Millis(round*60_000+rng.IntN(70_000))
			r := messy(rng, at)
			r.UniqueID = fmt.Sprintf("d%d", 1+rng.IntN(devices))
			b.Records = append(b.Records, consume.Record{Offset: offset, Time: at + 2000, Value: codec.AppendReport(nil, &r)})
			offset++
		}
		b.Last = offset - 1
		if round%7 == 6 {
			b.Alone = nil
		}
		topic.changes = nil
		if err := chain.Handle(ctx, b); err != nil {
			t.Fatal(err)
		}
		for _, c := range topic.changes {
			key := fleet.VehicleKey{Account: c.Account, Vehicle: c.Vehicle}
			before := reached[key] // the owner takes what is later
			reached[key] = max(before, c.To)
			if c.Inputs == nil || c.From <= before {
				continue
			}
			if b.Alone == nil {
				t.Fatal("a change carries inputs that may not be stored")
			}
			wanted := w.f.policy(key.Account).wantedSignals
			got, err := derive.Unpack(key, c.Inputs, &wanted, nil)
			if err != nil {
				t.Fatal(err)
			}
			found, err := w.f.pull(ctx, []window{{key: key, after: c.From - 1, until: c.To}})
			if err != nil {
				t.Fatal(err)
			}
			got, want := arrange(got), found[key]
			text := func(all []derive.Input) string {
				var s strings.Builder
				for _, in := range all {
					if in.Position != nil {
						fmt.Fprintf(&s, "%d %+v\n", in.At, *in.Position)
					} else {
						fmt.Fprintf(&s, "%d %+v\n", in.At, in.Signal)
					}
				}
				return s.String()
			}
			if text(got) != text(want) {
				t.Fatalf("round %d: packed:\n%sstored:\n%s", round, text(got), text(want))
			}
			compared += len(want)
		}
	}
	if compared < 300 {
		t.Errorf("only %d inputs were compared", compared)
	}
}

// messy returns a report of anything.
func messy(rng *rand.Rand, at fleet.Millis) fleet.Report {
	r := fleet.NewReport()
	r.FixTime = at
	maybe := func(v *float64, most float64) {
		if rng.IntN(4) > 0 {
			*v = rng.Float64() * most
		}
	}
	r.Positioned = rng.IntN(8) > 0
	r.Lat, r.Lng = 48+rng.Float64()*0.01, 11.5-rng.Float64()*0.01
	maybe(&r.Altitude, 5000)
	maybe(&r.Speed, 120)
	maybe(&r.Course, 370)
	maybe(&r.Accuracy, 300)
	maybe(&r.Odometer, 3e9)
	r.Satellites = rng.IntN(30) - 1
	r.Ignition, r.Motion = fleet.Tri(rng.IntN(3)), fleet.Tri(rng.IntN(3))
	r.Invalid, r.Mock = rng.IntN(9) == 0, rng.IntN(9) == 0
	switch rng.IntN(12) {
	case 0:
		r.Lat, r.Lng = 0, 0
	case 1:
		r.FixTime += 3_600_000 // a clock ahead of ours
	case 2:
		r.Alarm = append(fleet.Alarms, "lowBattery,sos", "made up")[rng.IntN(len(fleet.Alarms)+2)]
	case 3:
		r.Alarm = "none that is known"
	case 4:
		r.FixTime -= fleet.Millis(rng.IntN(600_000))
	}
	for range rng.IntN(4) {
		s := fleet.Signal(rng.IntN(len(fleet.Signals)))
		spec := fleet.Signals[s]
		r.Signals = append(r.Signals, fleet.SignalValue{Signal: s, Value: spec.Min + rng.Float64()*(spec.Max-spec.Min)})
	}
	return r
}
