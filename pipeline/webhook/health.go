package webhook

import (
	"context"
	"time"
)

// Off after this long, and this many attempts, without one that succeeded.
const (
	failingFor   = 5 * 24 * time.Hour
	failingTimes = 10
)

// warnings are the shares of failingFor, in percent, at which an account is told.
var warnings = []int{50, 75, 90}

// health is how an endpoint fares.
type health struct {
	version      uint64
	failingSince time.Time // zero: the last attempt succeeded, or there was none
	failures     int       // since then
	warned       int       // percent
	lastSuccess  time.Time
	lastFailure  time.Time
	lastStatus   int
	lastError    string
	changed      bool // since it was written
}

func (h *health) succeed(now time.Time, status int) {
	h.failingSince, h.failures, h.warned, h.lastSuccess, h.lastStatus, h.lastError = time.Time{}, 0, 0, now, status, ""
	h.changed = true
}

// fail notes a failure of an endpoint that is enabled since a time, and returns what its account must be told of, if
// that is more than it was. Who is enabled again begins anew.
func (h *health) fail(now, enabled time.Time, status int, err string) (Notice, bool) {
	if h.failingSince.IsZero() || h.failingSince.Before(enabled) {
		h.failingSince, h.failures, h.warned = now, 0, 0
	}
	h.failures++
	h.lastFailure, h.lastStatus, h.lastError, h.changed = now, status, err, true
	notice := Notice{Since: h.failingSince, Failures: h.failures, LastError: err}
	share := int(100 * now.Sub(h.failingSince) / failingFor)
	if share >= 100 && h.failures >= failingTimes {
		notice.Kind = OffFailing
		return notice, true
	}
	for _, w := range warnings {
		if share >= w && w > h.warned {
			notice.Kind, notice.Share = Failing, w
		}
	}
	return notice, notice.Kind != ""
}

// Notice is what the account of an endpoint must be told of.
type Notice struct {
	Kind      NoticeKind
	URL       string    // that failed; an endpoint that has another one by now is not meant
	Share     int       // of Failing: how much of the time until it is switched off has passed, in percent
	Since     time.Time // when it began to fail
	Failures  int       // since then
	LastError string    // in words
}

// NoticeKind is what a Notice asks for.
type NoticeKind string

// Kinds of notices.
const (
	Failing    NoticeKind = "failing" // it is to be told of
	OffFailing NoticeKind = "auto"    // the endpoint is to be switched off: it has only failed
	OffGone    NoticeKind = "gone"    // the endpoint is to be switched off: it answered 410
)

// keepHealth writes how endpoints fare where that has changed, until ctx ends.
func (d *Deliverer) keepHealth(ctx context.Context) {
	tick := time.NewTicker(healthEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if err := d.writeHealth(ctx, now, nil); err != nil && ctx.Err() == nil {
				d.deps.Log.Warn("how webhook endpoints fare cannot be written, trying again", "error", err)
			}
		}
	}
}

// writeHealth writes how the endpoints of an owner fare, of all if it is nil, where that has changed.
func (d *Deliverer) writeHealth(ctx context.Context, now time.Time, owner *Handler) error {
	var rows []healthRow
	d.mu.Lock()
	for _, q := range d.queues {
		if q.health.changed && (owner == nil || q.owner == owner) {
			q.health.changed = false
			q.health.version = max(q.health.version+1, uint64(now.UnixMilli()))
			rows = append(rows, healthRow{q.key, q.health, q.circuit.state(now), q.circuit.until})
		}
	}
	d.deps.Metrics.endpoints.Set(float64(len(d.queues)))
	held := 0
	for _, q := range d.queues {
		held += len(q.held)
	}
	d.deps.Metrics.inHand.Set(float64(held))
	d.mu.Unlock()
	if len(rows) == 0 {
		return nil
	}
	err := d.store.writeHealth(ctx, rows)
	if err != nil {
		d.mu.Lock()
		for i := range rows {
			if q := d.queues[rows[i].key]; q != nil {
				q.health.changed = true
			}
		}
		d.mu.Unlock()
	}
	return err
}
