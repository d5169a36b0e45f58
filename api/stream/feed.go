package stream

import (
	"encoding/json"
	"slices"
	"sync/atomic"

	"github.com/motorpool/fleet"
)

// Item is an event on its way to readers, who share it and do not change it.
type Item struct {
	Sequence uint64
	Event    fleet.Event
	Fence    fleet.FenceID // that it is about, if any

	texts [2]atomic.Pointer[[]byte]
}

func newItem(sequence uint64, e fleet.Event) *Item {
	item := &Item{Sequence: sequence, Event: e}
	var about struct {
		Fence fleet.FenceID `json:"geofence,string"`
	}
	if (e.Kind == fleet.KindVisit || e.Kind == fleet.KindAlert) && json.Unmarshal(e.Body, &about) == nil {
		item.Fence = about.Fence
	}
	return item
}

// Text returns what render makes of the item, which is the same for all readers with the same units, and
// so is made once.
func (i *Item) Text(metric bool, render func() ([]byte, error)) ([]byte, error) {
	return once(&i.texts, metric, render)
}

// Place is a vehicle's newest trusted position, shared by readers.
type Place struct {
	Vehicle fleet.VehicleID
	Live    fleet.Live

	version uint64 // of its account's feed
	texts   [2]atomic.Pointer[[]byte]
}

// Text is as that of Item.
func (p *Place) Text(metric bool, render func() ([]byte, error)) ([]byte, error) {
	return once(&p.texts, metric, render)
}

func once(texts *[2]atomic.Pointer[[]byte], metric bool, render func() ([]byte, error)) ([]byte, error) {
	slot := &texts[0]
	if metric {
		slot = &texts[1]
	}
	if text := slot.Load(); text != nil {
		return *text, nil
	}
	text, err := render()
	if err != nil {
		return nil, err
	}
	slot.Store(&text) // two readers may both have made it: it is the same
	return text, nil
}

// feed is what the hub knows of one account; all of it is guarded by the hub's lock.
type feed struct {
	items []*Item // of the rings, by sequence
	first uint64  // items has all of the account from here on, or from Hub.first on if that is later
	subs  map[*Subscription]struct{}

	// Places are kept while somebody listens. log has them in the order in which they came; one that is not in newest
	// any more is stale, and left out when the log is cleaned.
	newest  map[fleet.VehicleID]*Place
	log     []*Place
	version uint64
}

// EventRecords returns what tells the hub of the records of the topic of events, which parse reads. It is called for
// all of them in order.
func (h *Hub) EventRecords(parse func([]byte) (fleet.Event, error)) func(partition int, offset int64, value []byte) {
	return func(_ int, offset int64, value []byte) {
		e, err := parse(value)
		if err != nil || e.Account == 0 {
			h.metrics.undecodable.Inc()
			h.mu.Lock()
			defer h.mu.Unlock()
			h.advance(uint64(offset) + 1)
			return
		}
		h.Event(uint64(offset)+1, e)
	}
}

// ChangeRecords returns what tells the hub of the records of the topic of changes, which parse reads.
func (h *Hub) ChangeRecords(parse func([]byte) (fleet.Change, error)) func(partition int, offset int64, value []byte) {
	return func(_ int, _ int64, value []byte) {
		c, err := parse(value)
		if err != nil {
			h.metrics.undecodable.Inc()
			return
		}
		h.Change(&c)
	}
}

// Event tells the hub of an event. It does not block on readers. One that it knows already is ignored.
func (h *Hub) Event(sequence uint64, e fleet.Event) {
	h.metrics.events.Inc()
	item := newItem(sequence, e)
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.advance(sequence) {
		return
	}
	f := h.feed(e.Account)
	f.items = append(f.items, item)
	if e.Type == fleet.EventLocationUpdated {
		if h.places = append(h.places, item); len(h.places) > h.cfg.Ring {
			h.evictPlace()
		}
	} else if h.ring = append(h.ring, item); len(h.ring) > h.cfg.Ring {
		h.evict()
	}
	for s := range f.subs {
		s.poke()
	}
}

// advance notes that the topic has come to a sequence, and returns false if it was there before. When sequences are
// missing the ring begins anew: it must have no gaps.
func (h *Hub) advance(sequence uint64) bool {
	if sequence <= h.last {
		return false
	}
	if sequence != h.last+1 {
		h.log.Warn("the topic of events has a gap", "from", h.last+1, "to", sequence)
		for account, f := range h.feeds {
			f.items, f.first = nil, 0
			h.forget(account, f)
		}
		h.ring, h.places, h.first = nil, nil, sequence
	}
	h.last = sequence
	return true
}

// evict drops the oldest event of the ring.
func (h *Hub) evict() {
	oldest := h.ring[0]
	h.ring[0] = nil
	h.ring, h.first = h.ring[1:], oldest.Sequence+1
	h.drop(oldest)
}

// evictPlace drops the oldest place of those that are told as events. Only its account's events reach back less far
// then: an account that has many of them told does not take the room of others.
func (h *Hub) evictPlace() {
	oldest := h.places[0]
	h.places[0] = nil
	h.places = h.places[1:]
	if f := h.feeds[oldest.Event.Account]; f != nil {
		f.first = max(f.first, oldest.Sequence+1)
	}
	h.drop(oldest)
}

// drop takes an item, and what is older, out of the feed of its account.
func (h *Hub) drop(item *Item) {
	f := h.feeds[item.Event.Account]
	if f == nil {
		return
	}
	for len(f.items) > 0 && f.items[0].Sequence <= item.Sequence {
		f.items[0] = nil
		f.items = f.items[1:]
	}
	h.forget(item.Event.Account, f)
}

func (h *Hub) feed(account fleet.AccountID) *feed {
	f := h.feeds[account]
	if f == nil {
		f = &feed{subs: map[*Subscription]struct{}{}}
		h.feeds[account] = f
	}
	return f
}

// forget drops a feed that has nothing left to say.
func (h *Hub) forget(account fleet.AccountID, f *feed) {
	if len(f.items) == 0 && len(f.subs) == 0 && f.first <= h.first {
		delete(h.feeds, account)
	}
}

// Change tells the hub where a vehicle is. It does not block on readers. A position that is older than the known one is
// ignored.
func (h *Hub) Change(c *fleet.Change) {
	if c.Live == nil {
		return
	}
	h.metrics.changes.Inc()
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feeds[c.Account]
	if f == nil || len(f.subs) == 0 {
		return
	}
	if f.newest == nil {
		f.newest = map[fleet.VehicleID]*Place{}
	}
	if known := f.newest[c.Vehicle]; known != nil && known.Live.FixTime > c.Live.FixTime {
		return
	}
	f.version++
	p := &Place{Vehicle: c.Vehicle, Live: *c.Live, version: f.version}
	f.newest[c.Vehicle] = p
	f.log = append(f.log, p)
	if len(f.log) > 2*len(f.newest)+1024 {
		f.log = slices.DeleteFunc(f.log, func(p *Place) bool { return f.newest[p.Vehicle] != p })
	}
	h.dirty[f] = struct{}{}
}
