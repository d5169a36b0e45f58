package stream

import (
	"context"
	"sort"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
)

// Page is a stretch of an account's events.
type Page struct {
	Items  []*Item // that the filter takes, by sequence
	Upto   uint64  // everything up to this sequence was looked at: the next page goes on behind it
	More   bool    // there is more to be read right away
	Behind bool    // the table does not have yet what left the ring: ask again in a moment
}

// ahead is how far a cursor may be ahead of what this process has heard: another process may have heard it.
const ahead = 10_000

// Read returns the events of an account behind a sequence that the filter takes, at most limit of them: from the ring
// if it reaches back that far, else from the table. ErrExpired says that some of them may be gone.
func (h *Hub) Read(ctx context.Context, account fleet.AccountID, after uint64, filter *Filter,
	limit int) (Page, error) {
	page, first, ok := h.fromRing(account, after, filter, limit)
	if ok {
		if after > page.Upto+ahead {
			return Page{}, ErrExpired
		}
		page.Upto = max(page.Upto, after)
		return page, nil
	}
	stored, oldest, err := h.bounds(ctx, first-1)
	if err != nil {
		return Page{}, err
	}
	if after+1 < oldest {
		return Page{}, ErrExpired
	}
	before := min(first, stored+1)
	if after+1 >= before {
		return Page{Upto: after, Behind: true}, nil
	}
	h.metrics.fromTable.Inc()
	events, err := query.Events(ctx, h.db, query.EventFilter{
		Account: account, After: after, Before: before, Types: filter.Types, Vehicles: filter.Vehicles,
		Fences: filter.Fences, Limit: limit,
	})
	if err != nil {
		return Page{}, err
	}
	page = Page{Upto: before - 1, More: true, Items: make([]*Item, len(events))}
	for i := range events {
		page.Items[i] = newItem(events[i].Sequence, events[i].Event)
	}
	if len(events) == limit {
		page.Upto = events[limit-1].Sequence
	}
	return page, nil
}

// fromRing reads a page from the ring, and returns false and where the ring begins if it does not reach back that far.
func (h *Hub) fromRing(account fleet.AccountID, after uint64, filter *Filter, limit int) (Page, uint64, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	f, first := h.feeds[account], h.first
	if f != nil {
		first = max(first, f.first)
	}
	if after+1 < first {
		return Page{}, first, false
	}
	page := Page{Upto: h.last}
	if f == nil {
		return page, first, true
	}
	i := sort.Search(len(f.items), func(i int) bool { return f.items[i].Sequence > after })
	for _, item := range f.items[i:] {
		if !filter.Wants(item) {
			continue
		}
		if len(page.Items) == limit {
			page.Upto, page.More = page.Items[limit-1].Sequence, true
			break
		}
		page.Items = append(page.Items, item)
	}
	return page, first, true
}

// Settings of bounds.
const (
	boundsFor  = time.Minute            // how long the oldest sequence is believed
	boundsRest = 250 * time.Millisecond // between two questions about the newest
)

// bounds returns up to where the table is complete and from where on it has forgotten nothing. It asks the server when
// the table is not known to reach as far as is wanted, and not more often than boundsRest for all readers together.
func (h *Hub) bounds(ctx context.Context, wanted uint64) (stored, oldest uint64, err error) {
	h.tableMu.Lock()
	defer h.tableMu.Unlock()
	age := time.Since(h.asked)
	if age > boundsFor || h.stored < wanted && age > boundsRest {
		stored, oldest, err := query.EventBounds(ctx, h.db, time.Now())
		if err != nil {
			return 0, 0, err
		}
		h.stored, h.oldest, h.asked = max(h.stored, stored), oldest, time.Now()
	}
	return h.stored, h.oldest, nil
}
