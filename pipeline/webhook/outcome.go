package webhook

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/motorpool/fleet"
)

// why says why an endpoint gets nothing, in words.
func why(e *Endpoint) string {
	if e == nil {
		return "the endpoint was archived"
	}
	return "the endpoint was paused or switched off"
}

// attempt sends a delivery once, and notes what came of it.
func (d *Deliverer) attempt(ctx context.Context, q *queue, it *item, e *Endpoint, sick bool) {
	var a Attempt
	if body, err := d.deps.Render(ctx, e, it.event, it.delivery.sequence); err != nil {
		a = Attempt{At: time.Now(), URL: e.URL, Error: "the event could not be written: " + err.Error(), unwritable: true}
	} else {
		a = d.deps.Courier.Try(ctx, e, fleet.FormatID(fleet.EventPrefix, it.delivery.event), body)
	}
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.shareOf(q.account)
	q.inFlight--
	d.inFlight--
	s.inFlight--
	d.release(s, now)
	if sick {
		d.sick--
		s.sick--
		for _, other := range d.under { // whose sick ones may have found no room at all
			d.release(other, now)
		}
	}
	defer d.nudge()
	if ctx.Err() != nil && !a.Succeeded() {
		q.drop(it) // cut short: whoever owns the endpoint next tries again
		return
	}
	d.deps.Metrics.attempts.WithLabelValues(answered(&a)).Inc()
	q.slow += (a.Duration - q.slow) / 4
	d.note(q, it, e, &a, now)
	d.put(q, now)
}

// note decides what becomes of a delivery after an attempt.
func (d *Deliverer) note(q *queue, it *item, e *Endpoint, a *Attempt, now time.Time) {
	r := &it.delivery
	r.attempts++
	r.version++
	r.response, r.duration, r.err = a.Status, a.Duration, a.Error
	isPlace := r.eventType == placeType
	if !a.ours || isPlace { // which is of no use later
		r.tries++
	}
	if a.Succeeded() {
		if r.attempts == 1 && r.replay == 0 {
			d.deps.Metrics.delay.Observe(now.Sub(r.created.Time()).Seconds())
		}
		q.circuit.succeed(e.MaxInFlight, now)
		q.health.succeed(now, a.Status)
		if isPlace {
			q.placed(it, now)
		}
		d.write(q, it, succeeded, 0, a)
		return
	}
	// What an address did that the endpoint has no more says nothing about the one that it has.
	stands, known := d.deps.Endpoints.Get(q.account, q.endpoint)
	moved := known && stands.URL != e.URL
	switch {
	case a.ours:
		d.deps.Log.Warn("webhooks cannot be sent to an endpoint by a fault of this process, trying again in a minute",
			"endpoint", Name(q.endpoint), "error", a.Error)
		q.circuit.fail(a.At, now, true, oursPause, rand.Float64())
		q.shed()
	case a.unwritable:
		d.deps.Log.Warn("an event cannot be written for a webhook", "endpoint", Name(q.endpoint), "event", r.event,
			"error", a.Error)
	case !moved:
		q.circuit.fail(a.At, now, busy(a.Status), a.RetryAfter, rand.Float64())
		if !q.circuit.until.IsZero() {
			q.shed()
		}
		notice, some := q.health.fail(now, e.Since, a.Status, a.Error)
		if a.Status == 410 {
			notice.Kind, some = OffGone, true
		}
		if notice.URL = e.URL; some {
			d.notify(q, e, notice)
		}
	}
	steps := d.steps
	if isPlace {
		steps = d.places
	}
	rest, more := pause(steps, int(r.tries), a.RetryAfter, rand.Float64())
	if a.ours && !isPlace {
		rest, more = oursPause, true
	}
	if !more || a.Status == 410 && !moved {
		d.write(q, it, failed, 0, a)
		return
	}
	d.write(q, it, retrying, fleet.MillisOf(now.Add(rest)), a)
}

// oursPause is how long an endpoint rests to which this process cannot send; that costs none of the tries.
const oursPause = time.Minute

// settle ends a delivery without an attempt.
func (d *Deliverer) settle(q *queue, it *item, status, why string) {
	it.delivery.version++
	it.delivery.err = why
	d.write(q, it, status, 0, nil)
}

// write has what became of a delivery written. One that is to be tried again soon stays in memory.
func (d *Deliverer) write(q *queue, it *item, status string, next fleet.Millis, a *Attempt) {
	it.delivery.status, it.delivery.next = status, next
	if next == 0 {
		d.deps.Metrics.settled.WithLabelValues(status).Inc()
	}
	at := next.Time()
	stays := next != 0 && time.Until(at) < soon && q.room()
	it.writing = true
	if stays {
		it.dueAt = at
		e, _ := d.deps.Endpoints.Get(q.account, q.endpoint)
		if old := q.push(it, e); old == it {
			stays = false
			it.delivery.status, it.delivery.next, next = superseded, 0, 0
		} else if old != nil {
			d.settle(q, old, superseded, supersededBy)
		}
	}
	o := outcome{it.delivery, a, q.owner}
	d.memory.unwritten += o.size()
	d.memory.held += o.size()
	d.outcomes.add(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		it.writing = false
		d.written(o.size())
		if stays {
			return
		}
		q.drop(it)
		if q.gone != nil {
			q.gone[it.delivery.id] = true
		}
		if next != 0 {
			q.stow(at, it.delivery.bound())
		}
		d.put(q, time.Now())
	}, o)
}

// written notes that an outcome of so many bytes is. Who waits because there was too much that is not may go on.
func (d *Deliverer) written(bytes int) {
	wasFull := d.memory.unwritten >= d.memory.most
	d.memory.unwritten -= bytes
	d.memory.held -= bytes
	if wasFull && d.memory.unwritten < d.memory.most {
		for _, s := range d.under {
			d.release(s, time.Now())
		}
	}
}

// writeOutcomes writes what became of deliveries, but for those whose owner could not write it in time: whoever owns
// the endpoint by now may have written something else.
func (d *Deliverer) writeOutcomes(ctx context.Context, all []outcome) error {
	all = slices.DeleteFunc(slices.Clone(all), func(o outcome) bool { return o.owner.abandoned.Load() })
	if len(all) == 0 {
		return nil
	}
	return d.store.writeOutcomes(ctx, all)
}

const supersededBy = "there is a newer place of the vehicle"

// notify has the account told of a notice, until it succeeds or the endpoint is somebody else's.
func (d *Deliverer) notify(q *queue, e *Endpoint, n Notice) {
	if q.telling {
		return // the next failure says it again
	}
	q.telling = true
	if n.Kind != Failing {
		q.off = e.Revision
	}
	ctx := q.owner.sending
	d.begun.Go(func() {
		err := retry(ctx, func() error { return d.deps.Switch(ctx, q.account, q.endpoint, n) },
			func(err error) {
				d.deps.Log.Warn("an account cannot be told of its webhook endpoint, trying again", "endpoint", Name(q.endpoint),
					"error", err)
			})
		d.mu.Lock()
		defer d.mu.Unlock()
		q.telling = false
		if err == nil && n.Kind == Failing && !q.health.failingSince.IsZero() {
			q.health.warned, q.health.changed = max(q.health.warned, n.Share), true
		}
	})
}
