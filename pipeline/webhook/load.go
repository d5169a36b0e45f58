package webhook

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/motorpool/fleet"
)

// load reads some of what waits of an endpoint in the store alone, from a bound on.
func (d *Deliverer) load(q *queue, from bound) {
	ctx := q.owner.sending
	most := refillWith
	d.mu.Lock()
	if !q.circuit.until.IsZero() {
		most = mostSick
	}
	d.mu.Unlock()
	var rows []delivery
	var events map[[2]uint64]*fleet.Event
	err := retry(ctx, func() (err error) {
		rows, from, events, err = d.read(ctx, q, from, most)
		return err
	}, func(err error) {
		d.deps.Log.Warn("deliveries that wait cannot be read, trying again", "endpoint", Name(q.endpoint), "error", err)
	})
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	gone := q.gone
	q.loading, q.gone = false, nil
	if err != nil || q.owner.closed {
		return
	}
	e, _ := d.deps.Endpoints.Get(q.account, q.endpoint)
	for i := range rows {
		r := &rows[i]
		event := events[[2]uint64{r.sequence, r.event}]
		switch {
		case gone[r.id] || q.held[r.id] != nil:
		case i >= most || time.Until(r.next.Time()) >= soon || !q.room():
			q.stow(r.next.Time(), from)
		case event == nil && now.Sub(r.created.Time()) < eventWait:
			q.stow(now.Add(time.Second), from) // the log of events is behind
		default:
			it := &item{delivery: *r, event: event, dueAt: r.next.Time(), at: -1}
			if event == nil {
				it.event = &fleet.Event{}
			}
			q.hold(it)
			if event == nil {
				d.settle(q, it, failed, "the event is not kept any more")
			} else if old := q.push(it, e); old != nil {
				d.settle(q, old, superseded, supersededBy)
			}
		}
	}
	d.put(q, now)
}

// eventWait is how far the log of events may be behind.
const eventWait = 10 * time.Minute

// read reads what waits of an endpoint from a bound on, so many and one more, the bound of all of it, and its events.
// An endpoint that gets nothing has what is due skipped first.
func (d *Deliverer) read(ctx context.Context, q *queue, from bound, most int) (rows []delivery, all bound,
	events map[[2]uint64]*fleet.Event, err error) {
	d.mu.Lock()
	held := slices.AppendSeq(make([]uint64, 0, len(q.held)), maps.Keys(q.held))
	d.mu.Unlock()
	e, ok := d.deps.Endpoints.Get(q.account, q.endpoint)
	if !ok || !e.Enabled { // as it was known a moment ago
		if err := d.deps.Endpoints.RefreshNow(ctx); err != nil {
			return nil, from, nil, err
		}
		e, ok = d.deps.Endpoints.Get(q.account, q.endpoint)
	}
	if !ok || !e.Enabled {
		if err := d.store.skip(ctx, q.key, from, held, why(e), time.Now()); err != nil {
			return nil, from, nil, err
		}
	}
	if rows, all, err = d.store.due(ctx, q.key, from, held, most+1); err != nil {
		return nil, from, nil, err
	}
	near := make([]delivery, 0, len(rows))
	for i := range rows {
		if time.Until(rows[i].next.Time()) < soon {
			near = append(near, rows[i])
		}
	}
	if events, err = d.store.eventsOf(ctx, q.account, near); err != nil {
		return nil, from, nil, err
	}
	return rows, all, events, nil
}
