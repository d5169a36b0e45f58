//go:build long

package follow

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/pipeline/consume"
)

// group is the owners of all partitions of the topic of changes, and what waits on those.
type group struct {
	w      *world
	owners []*Handler // of one generation: partitions that were added since belong to nobody
	logs   [][]fleet.Change
}

// join makes owners of all partitions that there are, as a rebalance does.
func (g *group) join() {
	for _, h := range g.owners {
		if err := h.Close(); err != nil {
			g.w.t.Fatal(err)
		}
	}
	g.owners = nil
	for partition := range g.w.parts {
		g.owners = append(g.owners, g.w.f.handler(partition))
	}
}

// publish puts changes on the partitions that a producer chooses who knows of so many.
func (g *group) publish(changes []fleet.Change, partitions int) {
	for len(g.logs) < g.w.parts {
		g.logs = append(g.logs, nil)
	}
	for _, c := range changes {
		at := g.w.Partition(c.Vehicle, partitions)
		g.logs[at] = append(g.logs[at], c)
	}
}

// work has owners take up to n changes of their partitions, and checks that no two have the same vehicle.
func (g *group) work(n int) {
	g.w.t.Helper()
	for partition, h := range g.owners {
		log := g.logs[partition]
		take := min(n, len(log))
		g.logs[partition] = log[take:]
		if take == 0 {
			continue
		}
		b := &consume.Batch{Topic: "changes", Partition: partition}
		for _, c := range log[:take] {
			b.Records = append(b.Records, g.w.record(c))
		}
		g.w.h = h
		g.w.handle(b)
		g.w.repair()
		g.w.tick()
	}
	moved := g.w.moved
	g.w.moved = nil
	g.publish(moved, g.w.parts)
	owner := map[fleet.VehicleKey]int{}
	for partition, h := range g.owners {
		for key := range h.vehicles {
			if other, ok := owner[key]; ok {
				g.w.t.Errorf("vehicle %d is in memory of partitions %d and %d", key.Vehicle, other, partition)
			}
			owner[key] = partition
		}
	}
}

func (g *group) waiting() (n int) {
	for _, log := range g.logs {
		n += len(log)
	}
	return n
}

// TestPartitionsAddedToChangesEndAlike adds partitions in the middle of everything. Producers notice before the owners
// do, or after them; records of a vehicle lie on its old partition still when it has a new owner.
func TestPartitionsAddedToChangesEndAlike(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 8))
	all := recording(rng, 4, 1)
	slices.SortStableFunc(all, func(a, b input) int { return cmp.Compare(a.At, b.At) })
	end := all[len(all)-1].At
	inOrder := newWorld(t)
	inOrder.handle(inOrder.store(rng, all))
	inOrder.finish(end)

	w := newWorld(t)
	w.cfg.SaveEvery, w.cfg.IdleAfter = 24*time.Hour, 24*time.Hour
	w.restart()
	w.h.stop()
	g := &group{w: w}
	g.join()
	known := 1 // to producers
	parts := slices.Collect(slices.Chunk(all, 20))
	for i, part := range parts {
		w.now = part[len(part)-1].At + 1000
		b := w.store(rng, part)
		var changes []fleet.Change
		for _, r := range b.Records {
			c, err := codec.ParseChange(r.Value)
			if err != nil {
				t.Fatal(err)
			}
			changes = append(changes, c)
		}
		switch i {
		case len(parts) / 4, len(parts) / 2:
			w.parts += 2
		case len(parts)/4 + 3:
			known = w.parts // after the owners have joined again
			g.join()
		case len(parts)/4 + 2:
			g.join()
		case len(parts)/2 + 2:
			known = w.parts // before they have
		case len(parts)/2 + 4:
			g.join()
		}
		g.publish(changes, known)
		g.work(1 + rng.IntN(4))
	}
	for g.waiting() > 0 {
		g.work(4)
	}
	if n := metric(t, w, "motorpool_follow_forwarded_total"); n == 0 {
		t.Error("no change was on a partition that was not its vehicle's")
	}
	for _, h := range g.owners {
		w.h = h
		w.finish(end)
	}
	if lines := differ(inOrder.derived(), w.derived()); len(lines) > 0 {
		t.Errorf("%d differ:\n%s", len(lines), strings.Join(lines[:min(3, len(lines))], "\n"))
	}
}

// metric is the value of a counter of the present follower.
func metric(t *testing.T, w *world, name string) float64 {
	families, err := w.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	return 0
}
