// Package place tells where vehicles are as events, now and then, to accounts that want it: for a webhook that asks for
// vehicle.location.updated. Where nobody asks nothing is told, so that the events of other accounts stay few.
//
// A Teller makes the consume.Handlers of the topic of changes. What it tells goes on the topic of events and has an id
// made of the vehicle and the time of the fix. A batch that comes again is told again under the same ids. What is
// withheld is in memory: it is told at once when another owner is to come, and after a crash the next fix is instead.
package place

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/pipeline/consume"
)

// Publisher puts events on their topic and returns when all of them are acknowledged.
type Publisher interface {
	PublishEvents(ctx context.Context, events []fleet.Event) error
}

// Teller tells where vehicles are. It is safe for concurrent use.
type Teller struct {
	// Wanted says how often at most an account wants to be told where a vehicle is, false if it does not.
	Wanted func(account fleet.AccountID, vehicle fleet.VehicleID) (Rule, bool)
	To     Publisher
	Log    *slog.Logger

	mu       sync.Mutex
	handlers map[*handler]struct{}
}

// Handler makes the handler of one partition of the topic of changes during one ownership of it.
func (t *Teller) Handler() consume.Handler {
	h := &handler{teller: t, places: newThinned()}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.handlers == nil {
		t.handlers = map[*handler]struct{}{}
	}
	t.handlers[h] = struct{}{}
	return h
}

// Run tells what is withheld once it is due, until ctx ends.
func (t *Teller) Run(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			t.mu.Lock()
			all := make([]*handler, 0, len(t.handlers))
			for h := range t.handlers {
				all = append(all, h)
			}
			t.mu.Unlock()
			for _, h := range all {
				if err := h.tell(ctx, nil, now); err != nil && ctx.Err() == nil {
					t.Log.Warn("places cannot be told, trying again", "error", err)
				}
			}
		}
	}
}

// handler knows the vehicles of one partition.
type handler struct {
	teller *Teller

	mu     sync.Mutex // of places, and so that a vehicle's places are told in order
	places *thinned
	closed bool
}

// Handle tells of a batch of changes what is to be told at once.
func (h *handler) Handle(ctx context.Context, b *consume.Batch) error {
	var changes []fleet.Change
	for i := range b.Records {
		if b.Records[i].Poison != nil { // the consumer has told of it
			continue
		}
		c, err := codec.ParseChange(b.Records[i].Value)
		if err == nil && c.Live != nil { // whoever derives from the topic tells of what is no change
			changes = append(changes, c)
		}
	}
	if err := h.tell(ctx, changes, time.Now()); err != nil {
		return fmt.Errorf("tell places of %s: %w", b.Token(), err)
	}
	return nil
}

// closing is how long an owner tries to tell what it withheld.
const closing = time.Second

// Close ends the ownership, and tells what is withheld: of a vehicle that has fallen silent nobody else would.
func (h *handler) Close() error {
	h.teller.mu.Lock()
	delete(h.teller.handlers, h)
	h.teller.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	if err := h.publish(ctx, h.places.withheld()); err != nil {
		return fmt.Errorf("tell the last places: %w", err)
	}
	return nil
}

// tell tells what of the changes is to be told now, and what was withheld and is due. What cannot be told is due again.
func (h *handler) tell(ctx context.Context, changes []fleet.Change, now time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	told := h.places.due(now)
	for i := range changes {
		c := &changes[i]
		key := fleet.VehicleKey{Account: c.Account, Vehicle: c.Vehicle}
		rule, wanted := h.teller.Wanted(c.Account, c.Vehicle)
		if now.Sub(c.Live.ReceivedTime.Time()) > stale {
			rule.Moved = 0
		}
		if wanted && h.places.take(key, c.Live, rule, now) {
			told = append(told, moved{key, *c.Live})
		}
	}
	return h.publish(ctx, told)
}

// stale is how late a place comes to be told that is no news any more: of those a vehicle has gone through since, only
// one is told in a time.
const stale = 5 * time.Minute

// publish tells places. The caller holds h.mu.
func (h *handler) publish(ctx context.Context, told []moved) error {
	if len(told) == 0 {
		return nil
	}
	events := make([]fleet.Event, len(told))
	for i := range told {
		var err error
		key := told[i].vehicle
		if events[i], err = fleet.LocationEvent(key.Account, key.Vehicle, &told[i].live); err != nil {
			return err
		}
	}
	if err := h.teller.To.PublishEvents(ctx, events); err != nil {
		for _, m := range told {
			h.places.again(m)
		}
		return err
	}
	return nil
}
