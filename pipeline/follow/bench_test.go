package follow

import (
	"math/rand/v2"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/derive"
)

// BenchmarkPullAndStep measures fixes and measurements a second, from the store through all detectors, for a batch of
// many vehicles as the live lane has it and for a vehicle's days as the repair lane has them.
func BenchmarkPullAndStep(b *testing.B) {
	w := newWorld(b)
	rng := rand.New(rand.NewPCG(1, 1))
	const vehicles = 100
	all := recording(rng, vehicles, 20)
	w.store(rng, all)
	if err := w.db.Conn.Exec(b.Context(), "OPTIMIZE TABLE positions FINAL"); err != nil {
		b.Fatal(err)
	}
	var windows []window
	end := fleet.Millis(0)
	for _, in := range all {
		end = max(end, in.At)
	}
	for v := 1; v <= vehicles; v++ {
		windows = append(windows, window{key: fleet.VehicleKey{Account: account, Vehicle: fleet.VehicleID(v)}, until: end})
	}
	rate := func(b *testing.B, inputs int) { b.ReportMetric(float64(inputs)/b.Elapsed().Seconds(), "inputs/s") }

	b.Run("pull", func(b *testing.B) {
		n := 0
		for b.Loop() {
			found, err := w.f.pull(b.Context(), windows)
			if err != nil {
				b.Fatal(err)
			}
			for _, inputs := range found {
				n += len(inputs)
			}
		}
		rate(b, n)
	})
	b.Run("live", func(b *testing.B) {
		n := 0
		for b.Loop() {
			runs := make([]*run, 0, vehicles)
			for _, win := range windows {
				v := &vehicle{key: win.key}
				v.compile(w.f)
				runs = append(runs,
					&run{key: v.key, vehicle: v, machine: v.machine, state: &v.state, storedRows: &v.storedRows, until: end})
			}
			if err := w.h.feed(b.Context(), runs); err != nil {
				b.Fatal(err)
			}
			for _, r := range runs {
				n += r.inputCount
			}
		}
		rate(b, n)
	})
	b.Run("given", func(b *testing.B) { // as the live lane has it when changes carry their inputs
		packed := map[fleet.VehicleKey]*derive.Packer{}
		for _, in := range all {
			key := fleet.VehicleKey{Account: account, Vehicle: in.vehicle}
			if packed[key] == nil {
				packed[key] = new(derive.Packer)
			}
			if in.Position != nil {
				packed[key].Fix(in.Position)
			} else {
				packed[key].Signal(in.At, in.Signal)
			}
		}
		n := 0
		for b.Loop() {
			for _, win := range windows {
				v := &vehicle{key: win.key}
				v.compile(w.f)
				r := &run{key: v.key, vehicle: v, machine: v.machine, state: &v.state, storedRows: &v.storedRows, until: end,
					givenInputs: [][]byte{packed[v.key].Bytes()}}
				if ok, err := w.f.feedGiven(r); err != nil || !ok {
					b.Fatal(ok, err)
				}
				n += r.inputCount
			}
		}
		rate(b, n)
	})
	b.Run("repair", func(b *testing.B) {
		n := 0
		for i := 0; b.Loop(); i++ {
			win := windows[i%vehicles]
			v := &vehicle{key: win.key}
			v.compile(w.f)
			r := &run{key: v.key, vehicle: v, machine: v.machine, state: &v.state, storedRows: &v.storedRows}
			if err := w.f.feedChunks(b.Context(), r, win); err != nil {
				b.Fatal(err)
			}
			n += r.inputCount
		}
		rate(b, n)
	})
}

// BenchmarkTick measures what the timers cost an owner of very many vehicles of which none is due.
func BenchmarkTick(b *testing.B) {
	w := newWorld(b)
	const vehicles = 100_000
	for v := range vehicles {
		w.h.wakes.set(fleet.VehicleKey{Account: account, Vehicle: fleet.VehicleID(v + 1)}, w.now+3_600_000+fleet.Millis(v))
	}
	for b.Loop() {
		if err := w.h.tick(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
