package stream

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
)

// Filter says what a reader wants to hear of; empty lists want everything.
type Filter struct {
	Types    []string // of events
	Vehicles []fleet.VehicleID
	Fences   []fleet.FenceID // events that are about one of them; positions are not asked

	Positions bool
	Box       *query.Box    // positions within, and one more when a vehicle leaves
	Every     time.Duration // least time between two positions of a vehicle
}

// Wants says whether the filter takes an event.
func (f *Filter) Wants(i *Item) bool {
	return (len(f.Types) == 0 || slices.Contains(f.Types, i.Event.Type)) &&
		(len(f.Vehicles) == 0 || slices.Contains(f.Vehicles, i.Event.Vehicle)) &&
		(len(f.Fences) == 0 || slices.Contains(f.Fences, i.Fence))
}

// Subscription is one reader's. All but poke belongs to the reader's goroutine.
type Subscription struct {
	hub     *Hub
	account fleet.AccountID
	key     string
	filter  Filter
	woken   chan struct{}
	holds   atomic.Bool // places that are not due yet

	vehicles map[fleet.VehicleID]bool         // of the filter, if it names any
	seen     uint64                           // version of the feed up to which places were looked at
	inside   map[fleet.VehicleID]bool         // of the box, as last told; nil without a box
	before   map[fleet.VehicleID]fleet.Millis // fix times of what Told was given, until the next Places
	told     map[fleet.VehicleID]time.Time
	held     map[fleet.VehicleID]*Place // the newest that is not due yet
}

// Subscribe begins a subscription. It sees positions from now on; events are read from any sequence. The error is
// ErrTooMany or ErrEnded.
func (h *Hub) Subscribe(account fleet.AccountID, key string, filter Filter) (*Subscription, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return nil, ErrEnded
	}
	f := h.feeds[account]
	if h.keys[key] >= h.cfg.PerKey || f != nil && len(f.subs) >= h.cfg.PerAccount {
		h.metrics.refused.Inc()
		return nil, ErrTooMany
	}
	f = h.feed(account)
	s := &Subscription{hub: h, account: account, key: key, filter: filter, woken: make(chan struct{}, 1), seen: f.version}
	if len(filter.Vehicles) > 0 {
		s.vehicles = make(map[fleet.VehicleID]bool, len(filter.Vehicles))
		for _, v := range filter.Vehicles {
			s.vehicles[v] = true
		}
	}
	if filter.Box != nil {
		s.inside = map[fleet.VehicleID]bool{}
	}
	if filter.Every > 0 {
		s.told, s.held = map[fleet.VehicleID]time.Time{}, map[fleet.VehicleID]*Place{}
	}
	f.subs[s] = struct{}{}
	h.keys[key]++
	h.metrics.connections.Inc()
	return s, nil
}

// Close ends the subscription; it is called once.
func (s *Subscription) Close() {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feeds[s.account]
	delete(f.subs, s)
	if len(f.subs) == 0 {
		f.newest, f.log = nil, nil // nobody listens
		delete(h.dirty, f)
	}
	h.forget(s.account, f)
	if h.keys[s.key]--; h.keys[s.key] == 0 {
		delete(h.keys, s.key)
	}
	h.metrics.connections.Dec()
}

// Woken gives something when there may be something to read, and at each beat.
func (s *Subscription) Woken() <-chan struct{} { return s.woken }

// Ended is closed when the hub ends, and all subscriptions with it.
func (s *Subscription) Ended() <-chan struct{} { return s.hub.done }

// Beat counts the heartbeats of the hub.
func (s *Subscription) Beat() uint64 { return s.hub.beats.Load() }

// poke wakes the reader; it never blocks.
func (s *Subscription) poke() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// Told notes that a position of a vehicle was told otherwise, so that the next Places fits on to it.
func (s *Subscription) Told(vehicle fleet.VehicleID, at fleet.Millis, now time.Time) {
	if s.before == nil {
		s.before = map[fleet.VehicleID]fleet.Millis{}
	}
	s.before[vehicle] = at
	if s.told != nil {
		s.told[vehicle] = now
	}
	if s.inside != nil {
		s.inside[vehicle] = true
	}
}

// Places appends the places that are new to the reader and due, at most one for a vehicle, oldest news first.
func (s *Subscription) Places(to []*Place, now time.Time) []*Place {
	if !s.filter.Positions {
		return to
	}
	from := len(to)
	to = s.news(to)
	kept := to[:from]
	for _, p := range to[from:] {
		if p.Live.FixTime > s.before[p.Vehicle] && s.due(p, now) {
			kept = append(kept, p)
		}
	}
	s.before = nil
	for _, p := range s.held {
		if now.Sub(s.told[p.Vehicle]) >= s.filter.Every && s.due(p, now) {
			kept = append(kept, p)
		}
	}
	s.holds.Store(len(s.held) > 0)
	return kept
}

// news appends what came since the last call.
func (s *Subscription) news(to []*Place) []*Place {
	h := s.hub
	h.mu.RLock()
	defer h.mu.RUnlock()
	f := h.feeds[s.account]
	if f == nil {
		return to
	}
	i := len(f.log)
	for i > 0 && f.log[i-1].version > s.seen {
		i--
	}
	for _, p := range f.log[i:] {
		if f.newest[p.Vehicle] == p {
			to = append(to, p)
		}
	}
	s.seen = f.version
	return to
}

// due says whether a place is to be told now. One that will be later is held, in the place of an older one.
func (s *Subscription) due(p *Place, now time.Time) bool {
	if s.vehicles != nil && !s.vehicles[p.Vehicle] {
		return false
	}
	within := s.filter.Box == nil || contains(s.filter.Box, p.Live.Lat, p.Live.Lng)
	if !within && !s.inside[p.Vehicle] {
		delete(s.held, p.Vehicle)
		return false
	}
	if s.told != nil {
		if at, ok := s.told[p.Vehicle]; ok && now.Sub(at) < s.filter.Every {
			s.held[p.Vehicle] = p
			return false
		}
		s.told[p.Vehicle] = now
		delete(s.held, p.Vehicle)
	}
	if s.inside != nil && within {
		s.inside[p.Vehicle] = true
	} else {
		delete(s.inside, p.Vehicle)
	}
	return true
}

// contains says whether a place is in a box; a box whose west is greater than its east crosses the antimeridian.
func contains(b *query.Box, lat, lng float64) bool {
	if lat < b.South || lat > b.North {
		return false
	}
	if b.West <= b.East {
		return lng >= b.West && lng <= b.East
	}
	return lng >= b.West || lng <= b.East
}
