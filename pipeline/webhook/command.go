package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/topic"
)

// Commands asks the owners of endpoints for deliveries once more. What returned without an error will be done, whoever
// is killed: it is a record of the topic of deliveries, behind which the endpoint's owner comes only when it is done.
type Commands struct {
	DB        driver.Conn
	Publisher Publisher
	Topic     string // of deliveries
}

// UnderWayError says that an endpoint has one recover, or replay, at a time, and when the present one was asked for.
type UnderWayError struct {
	Asked time.Time
	Waits bool // it is a replay that made all of its deliveries, of which some are not settled
}

func (e *UnderWayError) Error() string {
	if e.Waits {
		return "deliveries of the one that was asked for at " + e.Asked.UTC().Format(time.RFC3339) + " are not settled"
	}
	return "one was asked for at " + e.Asked.UTC().Format(time.RFC3339) + " and is not done"
}

// Selection says which deliveries, or events, are meant: those whose events were noted in [Since, Until), and are of
// one of some types. A zero Until is now; types are exact, prefix.* or categories, and all if none is named.
type Selection struct {
	Since, Until time.Time
	Types        []string
}

// States of deliveries that Recover takes.
const (
	Failed   = failed   // no attempt was left
	Skipped  = skipped  // the endpoint was paused or off
	Retrying = retrying // the next attempt is not soon
)

// Recover has deliveries of an endpoint tried again that failed, were skipped, or would rest for more than a minute:
// those of some states, of all three if none is named. They begin the schedule anew, under the same ids. It is an
// UnderWayError while another one is under way.
func (c Commands) Recover(ctx context.Context, account fleet.AccountID, endpoint uint64, s Selection,
	statuses ...string) error {
	if len(statuses) == 0 {
		statuses = []string{failed, skipped, retrying}
	}
	for _, status := range statuses {
		if !slices.Contains([]string{failed, skipped, retrying}, status) {
			return fmt.Errorf("recover webhook deliveries: %q is none of %s, %s and %s", status, failed, skipped, retrying)
		}
	}
	return c.send(ctx, account, endpoint, s, command{Again: true, Statuses: statuses, ID: max(rand.Uint64(), 1)})
}

// Replay has all events that an endpoint wants now delivered to it again, also those that it had, or that nobody told
// it of, as deliveries of their own with the same webhook-id. The replay's number is the caller's: one that is asked
// for again with the same number and selection is the same. It is an UnderWayError while another one is under way, or
// has deliveries that are not settled.
func (c Commands) Replay(ctx context.Context, account fleet.AccountID, endpoint, replay uint64, s Selection) error {
	return c.send(ctx, account, endpoint, s, command{Replay: max(replay, 1), ID: max(replay, 1)})
}

// Retry has one delivery of an endpoint tried again, whatever became of it. One that is due within a minute is left to
// its time.
func (c Commands) Retry(ctx context.Context, account fleet.AccountID, endpoint, delivery uint64) error {
	return c.send(ctx, account, endpoint, Selection{}, command{Again: true, Delivery: delivery})
}

func (c Commands) send(ctx context.Context, account fleet.AccountID, endpoint uint64, s Selection,
	what command) error {
	now := time.Now()
	if s.Until.IsZero() {
		s.Until = now
	}
	what.Asked, what.Until = fleet.MillisOf(now), fleet.MillisOf(s.Until)
	if !s.Since.IsZero() {
		what.Since = max(fleet.MillisOf(s.Since), 0)
	}
	if len(s.Types) > 0 {
		what.Types = slices.DeleteFunc(slices.Clone(fleet.EventTypes),
			func(t string) bool { return !fleet.WantsType(s.Types, t) })
		if !slices.Contains(what.Types, placeType) && fleet.WantsType(s.Types, placeType) {
			what.Types = append(what.Types, placeType)
		}
		if len(what.Types) == 0 {
			return nil // nothing is of a type that is not there
		}
	}
	k := key{account, endpoint}
	if what.ID != 0 {
		if err := (store{c.DB}).underWay(ctx, k, &what); err != nil {
			return err
		}
	}
	if err := (store{c.DB}).asked(ctx, k, &what, askedFor); err != nil {
		return err
	}
	err := publishCommand(ctx, c.Publisher, c.Topic, message{Account: account, Endpoint: endpoint, Command: &what})
	if err != nil {
		_ = store{c.DB}.asked(ctx, k, &what, allDone) // nobody will do it, so that it may be asked for again
	}
	return err
}

func publishCommand(ctx context.Context, p Publisher, name string, m message) error {
	value, err := json.Marshal(&m)
	if err == nil {
		err = p.PublishRaw(ctx, name, []topic.Message{{Key: messageKey(m.Endpoint), Value: value}})
	}
	if err != nil {
		return fmt.Errorf("ask for webhook deliveries again: %w", err)
	}
	return nil
}

// replayAtOnce is how many events of a replay are looked at before other endpoints have their turn.
const replayAtOnce = 2000

// obey does what a command asks. What an attempt made of a delivery before is written first.
func (h *Handler) obey(ctx context.Context, k key, c *command) error {
	d := h.d
	if err := d.deps.Endpoints.RefreshNow(ctx); err != nil { // it may have been enabled a moment ago
		return err
	}
	if err := d.outcomes.put(ctx); err != nil {
		return err
	}
	do := h.replay
	if c.Again {
		do = h.again
	}
	next, err := do(ctx, k, c)
	if err != nil {
		return err
	}
	step := uint8(allDone)
	if next != nil {
		step = someDone
	}
	if err := d.store.asked(ctx, k, c, step); err != nil {
		return err
	}
	if next != nil { // other endpoints have their turn first
		err := publishCommand(ctx, d.deps.Publisher, d.deps.Topic,
			message{Account: k.account, Endpoint: k.endpoint, Command: next})
		if err != nil {
			return err
		}
	}
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	q := h.queue(k)
	q.stow(now, bound{})
	d.put(q, now)
	return nil
}

// keptFor is how long deliveries are kept.
const keptFor = 30 * 24 * time.Hour

// again makes the deliveries of a day pending that a command asks for, and returns what is left to do; nil: nothing.
func (h *Handler) again(ctx context.Context, k key, c *command) (next *command, err error) {
	now := time.Now()
	part := *c
	part.Since = max(c.Since, fleet.MillisOf(now.Add(-keptFor)))
	day := fleet.MillisOf(part.Since.Time().Truncate(24 * time.Hour).Add(24 * time.Hour))
	if c.Delivery == 0 && day < c.Until {
		part.Until = day
		rest := *c
		rest.Since = day
		next = &rest
	}
	held, done, err := h.reserve(ctx, k)
	if err != nil {
		return nil, err
	}
	defer done()
	return next, h.d.store.again(ctx, k, &part, held, now)
}

// reserve returns what of an endpoint is in memory when nobody reads what is in the store, nor will until done is
// called.
func (h *Handler) reserve(ctx context.Context, k key) (held []uint64, done func(), err error) {
	d := h.d
	for {
		d.mu.Lock()
		if q := h.queue(k); !q.loading {
			q.loading = true
			held = slices.AppendSeq(make([]uint64, 0, len(q.held)), maps.Keys(q.held))
			d.mu.Unlock()
			return held, func() {
				d.mu.Lock()
				defer d.mu.Unlock()
				q.loading = false
			}, nil
		}
		d.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// replay writes the deliveries of some events, and returns what is left to do; nil: nothing. Whoever does it again
// writes the same rows.
func (h *Handler) replay(ctx context.Context, k key, c *command) (next *command, err error) {
	d := h.d
	e, ok := d.deps.Endpoints.Get(k.account, k.endpoint)
	if !ok {
		return nil, nil
	}
	events, err := d.store.replayed(ctx, k.account, c, replayAtOnce)
	if err != nil {
		return nil, err
	}
	var rows []delivery
	for i := range events {
		event := &events[i]
		if len(c.Types) > 0 && !slices.Contains(c.Types, event.Type) || !d.deps.Matcher.Match(e, &event.Event) {
			continue
		}
		r := newDelivery(k, event.sequence, c.Asked, &event.Event)
		r.id, r.replay = deliveryID(k, event.sequence, event.ID, c.Replay), c.Replay
		rows = append(rows, r)
	}
	if err := d.created.put(ctx, rows...); err != nil || len(events) < replayAtOnce {
		return nil, err
	}
	rest := *c
	rest.After = events[len(events)-1].sequence
	return &rest, nil
}
