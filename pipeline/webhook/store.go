package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// States of deliveries.
const (
	pending    = "pending"
	retrying   = "retrying"
	succeeded  = "succeeded"
	failed     = "failed"
	skipped    = "skipped"
	superseded = "superseded"
)

// key names an endpoint of an account.
type key struct {
	account  fleet.AccountID
	endpoint uint64
}

// delivery is a row of webhook_deliveries.
type delivery struct {
	key
	sequence, id uint64
	version      uint32
	event        uint64
	eventType    string
	vehicle      fleet.VehicleID
	replay       uint64
	created      fleet.Millis
	status       string
	attempts     uint16
	tries        uint16
	next         fleet.Millis // 0: it is settled
	response     int
	duration     time.Duration
	err          string
}

// bound is that of this delivery alone.
func (d *delivery) bound() bound { return bound{d.sequence, d.created} }

// outcome is what an attempt, or the lack of one, made of a delivery.
type outcome struct {
	delivery delivery
	attempt  *Attempt // nil: none was made
	owner    *Handler // of the endpoint
}

// size is about what an outcome takes in memory, in bytes.
func (o *outcome) size() int {
	n := 512 + len(o.delivery.err)
	if a := o.attempt; a != nil {
		n += len(a.URL) + len(a.RequestHead) + len(a.ResponseHead) + len(a.ResponseBody)
	}
	return n
}

// store reads and writes the tables of webhooks.
type store struct{ db driver.Conn }

// repeated has an insert that is tried again write its rows again: of equal rows one stays, and a server that noted
// the first try and lost its rows would leave out the second.
func repeated(ctx context.Context) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"insert_deduplicate": 0}))
}

const insertDeliveries = "INSERT INTO webhook_deliveries (account, endpoint, sequence, id, version, event, type, " +
	"vehicle, replay, created_at, updated_at, status, attempts, tries, next_at, response_status, duration_ms, error)"

func (s store) writeDeliveries(ctx context.Context, all []delivery) error {
	rows, err := s.db.PrepareBatch(repeated(ctx), insertDeliveries)
	if err != nil {
		return fmt.Errorf("insert deliveries: %w", err)
	}
	defer rows.Close()
	now := time.Now()
	for i := range all {
		d := &all[i]
		if err := rows.Append(uint64(d.account), d.endpoint, d.sequence, d.id, d.version, d.event, d.eventType,
			uint64(d.vehicle), d.replay, d.created.Time(), now, d.status, d.attempts, d.tries, instant(d.next),
			uint16(d.response), uint32(d.duration.Milliseconds()), d.err); err != nil {
			return fmt.Errorf("insert deliveries: %w", err)
		}
	}
	if err := rows.Send(); err != nil {
		return fmt.Errorf("insert %d deliveries: %w", len(all), err)
	}
	return nil
}

// instant is the time of a column, of which 0 is 1970.
func instant(at fleet.Millis) time.Time { return time.UnixMilli(int64(at)).UTC() }

const insertAttempts = "INSERT INTO webhook_attempts (account, endpoint, at, delivery, number, event, type, url, " +
	"request_head, request_bytes, succeeded, response_status, response_head, response_body, duration_ms, error)"

// writeOutcomes writes attempts and what they made of their deliveries.
func (s store) writeOutcomes(ctx context.Context, all []outcome) error {
	rows, err := s.db.PrepareBatch(repeated(ctx), insertAttempts)
	if err != nil {
		return fmt.Errorf("insert attempts: %w", err)
	}
	defer rows.Close()
	deliveries := make([]delivery, len(all))
	for i := range all {
		d, a := &all[i].delivery, all[i].attempt
		deliveries[i] = *d
		if a == nil {
			continue
		}
		if err := rows.Append(uint64(d.account), d.endpoint, a.At, d.id, d.attempts, d.event, d.eventType, a.URL,
			a.RequestHead, uint32(a.RequestBytes), a.Succeeded(), uint16(a.Status), a.ResponseHead, a.ResponseBody,
			uint32(a.Duration.Milliseconds()), a.Error); err != nil {
			return fmt.Errorf("insert attempts: %w", err)
		}
	}
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return s.writeDeliveries(ctx, deliveries) })
	if n := rows.Rows(); n > 0 {
		both.Go(func() error {
			if err := rows.Send(); err != nil {
				return fmt.Errorf("insert %d attempts: %w", n, err)
			}
			return nil
		})
	}
	return both.Wait()
}

// healthRow is a row of webhook_health.
type healthRow struct {
	key
	health
	circuit string
	until   time.Time
}

func (s store) writeHealth(ctx context.Context, all []healthRow) error {
	rows, err := s.db.PrepareBatch(repeated(ctx), "INSERT INTO webhook_health (account, endpoint, version, updated_at, "+
		"failing_since, failures, warned, last_success_at, last_failure_at, last_status, last_error, circuit, open_until)")
	if err != nil {
		return fmt.Errorf("insert health: %w", err)
	}
	defer rows.Close()
	now := time.Now()
	for i := range all {
		h := &all[i]
		if err := rows.Append(uint64(h.account), h.endpoint, h.version, now, column(h.failingSince), uint32(h.failures),
			uint8(h.warned), column(h.lastSuccess), column(h.lastFailure), uint16(h.lastStatus), h.lastError, h.circuit,
			column(h.until)); err != nil {
			return fmt.Errorf("insert health: %w", err)
		}
	}
	if err := rows.Send(); err != nil {
		return fmt.Errorf("insert health of %d endpoints: %w", len(all), err)
	}
	return nil
}

// column is a time as it is stored, of which none is 1970.
func column(t time.Time) time.Time {
	if t.IsZero() {
		return time.Unix(0, 0)
	}
	return t
}

// stored reads what column wrote.
func stored(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// pairs are the parameters that name endpoints.
func pairs(keys []key) []any {
	accounts, endpoints := make([]uint64, len(keys)), make([]uint64, len(keys))
	for i, k := range keys {
		accounts[i], endpoints[i] = uint64(k.account), k.endpoint
	}
	return []any{clickhouse.Named("accounts", accounts), clickhouse.Named("endpoints", endpoints)}
}

// waiting says of an endpoint when the first of what waits is due, and from where on it is found.
type waiting struct {
	at   time.Time
	from bound
}

// unsettled returns of which of some endpoints anything waits.
func (s store) unsettled(ctx context.Context, keys []key) (map[key]waiting, error) {
	all := make(map[key]waiting)
	err := schemas.EachRow(ctx, s.db, "look for deliveries that wait", schemas.Query("webhook_unsettled"), pairs(keys),
		func(row schemas.Row) error {
			var account, endpoint uint64
			var next int64
			var from bound
			if err := row.Scan(&account, &endpoint, &next, &from.sequence, (*int64)(&from.created)); err != nil {
				return err
			}
			all[key{fleet.AccountID(account), endpoint}] = waiting{time.UnixMilli(next), from}
			return nil
		})
	return all, err
}

// newest returns the newest event of which each of some endpoints has a delivery.
func (s store) newest(ctx context.Context, keys []key) (map[key]uint64, error) {
	all := make(map[key]uint64)
	err := schemas.EachRow(ctx, s.db, "look for the newest deliveries", schemas.Query("webhook_newest"), pairs(keys),
		func(row schemas.Row) error {
			var account, endpoint, sequence uint64
			err := row.Scan(&account, &endpoint, &sequence)
			all[key{fleet.AccountID(account), endpoint}] = sequence
			return err
		})
	return all, err
}

// healths returns how some endpoints fare; those of which nothing is stored are left out.
func (s store) healths(ctx context.Context, keys []key) (map[key]health, error) {
	all := make(map[key]health)
	err := schemas.EachRow(ctx, s.db, "read health of endpoints", schemas.Query("webhook_health_of"), pairs(keys),
		func(row schemas.Row) error {
			var account, endpoint uint64
			var h health
			var since, success, failure int64
			var failures uint32
			var warned uint8
			var status uint16
			if err := row.Scan(&account, &endpoint, &h.version, &since, &failures, &warned, &success, &failure, &status,
				&h.lastError); err != nil {
				return err
			}
			h.failingSince, h.lastSuccess, h.lastFailure = stored(since), stored(success), stored(failure)
			h.failures, h.warned, h.lastStatus = int(failures), int(warned), int(status)
			all[key{fleet.AccountID(account), endpoint}] = h
			return nil
		})
	return all, err
}

// due returns some of what waits of an endpoint from a bound on, but for what is held, what is due first at first; and
// the bound of all of it.
func (s store) due(ctx context.Context, k key, from bound, held []uint64, limit int) ([]delivery, bound, error) {
	var all bound
	rows, err := schemas.AllRows(ctx, s.db, "read deliveries that wait", schemas.Query("webhook_due"), []any{
		clickhouse.Named("account", uint64(k.account)), clickhouse.Named("endpoint", k.endpoint),
		clickhouse.Named("held", held), clickhouse.Named("limit", uint64(limit)),
		clickhouse.Named("sequence", from.sequence), clickhouse.Named("created", int64(from.created)),
	}, func(d *delivery, row schemas.Row) error {
		var vehicle uint64
		var created, next int64
		err := row.Scan(&d.sequence, &d.id, &d.version, &d.event, &d.eventType, &vehicle, &d.replay, &created, &d.attempts,
			&d.tries, &next, &all.sequence, (*int64)(&all.created))
		d.key, d.vehicle, d.created, d.next = k, fleet.VehicleID(vehicle), fleet.Millis(created), fleet.Millis(next)
		return err
	})
	return rows, all, err
}

// known returns which of some deliveries are written.
func (s store) known(ctx context.Context, all []delivery) (map[uint64]bool, error) {
	found := make(map[uint64]bool)
	for some := range slices.Chunk(all, refillWith) {
		if err := s.knownOf(ctx, some, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (s store) knownOf(ctx context.Context, all []delivery, found map[uint64]bool) error {
	var accounts, endpoints, sequences, ids []uint64
	for i := range all {
		accounts, endpoints = append(accounts, uint64(all[i].account)), append(endpoints, all[i].endpoint)
		sequences, ids = append(sequences, all[i].sequence), append(ids, all[i].id)
	}
	return schemas.EachRow(ctx, s.db, "look for deliveries", schemas.Query("webhook_known"), []any{
		clickhouse.Named("accounts", accounts), clickhouse.Named("endpoints", endpoints),
		clickhouse.Named("sequences", sequences), clickhouse.Named("ids", ids),
	}, func(row schemas.Row) error {
		var id uint64
		err := row.Scan(&id)
		found[id] = true
		return err
	})
}

// sequenced is an event with its place among all events.
type sequenced struct {
	sequence uint64
	fleet.Event
}

// events returns events of an account by a query that names them.
func (s store) events(ctx context.Context, account fleet.AccountID, name string, args ...any) ([]sequenced, error) {
	args = append(args, clickhouse.Named("account", uint64(account)))
	return schemas.AllRows(ctx, s.db, "read events to deliver", schemas.Query(name), args,
		func(e *sequenced, row schemas.Row) error {
			var vehicle uint64
			var at int64
			var kind, body string
			err := row.Scan(&e.sequence, &e.ID, &e.Type, &vehicle, &at, &e.Late, &kind, &e.Object, &e.Revision, &body)
			e.Account, e.Vehicle, e.At = account, fleet.VehicleID(vehicle), fleet.Millis(at)
			e.Kind, e.Body = fleet.Kind(kind), json.RawMessage(body)
			return err
		})
}

// eventsOf returns the events of deliveries of an account, as far as they are kept, by their places and ids.
func (s store) eventsOf(
	ctx context.Context, account fleet.AccountID, of []delivery,
) (map[[2]uint64]*fleet.Event, error) {
	all := make(map[[2]uint64]*fleet.Event, len(of))
	if len(of) == 0 {
		return all, nil
	}
	sequences, ids := make([]uint64, len(of)), make([]uint64, len(of))
	for i := range of {
		sequences[i], ids[i] = of[i].sequence, of[i].event
	}
	found, err := s.events(ctx, account, "webhook_events", clickhouse.Named("sequences", sequences),
		clickhouse.Named("ids", ids))
	for i := range found {
		all[[2]uint64{found[i].sequence, found[i].ID}] = &found[i].Event
	}
	return all, err
}

// replayed returns events of an account that a replay is about, behind the sequence that it has come to.
func (s store) replayed(ctx context.Context, account fleet.AccountID, c *command, limit int) ([]sequenced, error) {
	return s.events(ctx, account, "webhook_replayed", clickhouse.Named("after", c.After),
		clickhouse.Named("since", int64(c.Since)), clickhouse.Named("until", int64(c.Until)),
		clickhouse.Named("limit", uint64(limit)))
}

// again makes deliveries of an endpoint pending that a command asks for, but for what is held.
func (s store) again(ctx context.Context, k key, c *command, held []uint64, now time.Time) error {
	err := s.db.Exec(repeated(ctx), schemas.Query("webhook_again"),
		clickhouse.Named("account", uint64(k.account)), clickhouse.Named("endpoint", k.endpoint),
		clickhouse.Named("id", c.Delivery), clickhouse.Named("statuses", list(c.Statuses)),
		clickhouse.Named("types", list(c.Types)), clickhouse.Named("since", int64(c.Since)),
		clickhouse.Named("until", int64(c.Until)), clickhouse.Named("now", now.UnixMilli()), clickhouse.Named("held", held))
	if err != nil {
		return fmt.Errorf("have deliveries tried again: %w", err)
	}
	return nil
}

// How far a command is; the last is that it is done.
const (
	askedFor = iota
	someDone
	allDone
)

// asked writes how far a command is, and asks for nothing if it has no id.
func (s store) asked(ctx context.Context, k key, c *command, step uint8) error {
	if c.ID == 0 {
		return nil
	}
	kind := "replay"
	if c.Again {
		kind = "recover"
	}
	err := s.db.Exec(repeated(ctx), "INSERT INTO webhook_asked (account, endpoint, id, kind, asked_at, updated_at, step, "+
		"done) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", uint64(k.account), k.endpoint, c.ID, kind, c.Asked.Time(), time.Now(), step,
		step == allDone)
	if err != nil {
		return fmt.Errorf("note how far a %s is: %w", kind, err)
	}
	return nil
}

// underWay returns an UnderWayError if another recover or replay of an endpoint was asked for that is not done, or of
// whose deliveries some wait.
func (s store) underWay(ctx context.Context, k key, c *command) error {
	kind := "replay"
	if c.Again {
		kind = "recover"
	}
	var at fleet.Millis
	var waits bool
	err := s.db.QueryRow(ctx, schemas.Query("webhook_asked"), clickhouse.Named("account", uint64(k.account)),
		clickhouse.Named("endpoint", k.endpoint), clickhouse.Named("kind", kind), clickhouse.Named("id", c.ID),
		clickhouse.Named("since", time.Now().Add(-abandonedAfter).UnixMilli())).Scan((*int64)(&at), &waits)
	if err != nil {
		return fmt.Errorf("look whether a %s is under way: %w", kind, err)
	}
	if at > 0 {
		return &UnderWayError{Asked: at.Time(), Waits: waits}
	}
	return nil
}

// abandonedAfter is how long nobody works at what was asked for until it may be asked for once more.
const abandonedAfter = 15 * time.Minute

// list is a list that is not nil, which the server would not read.
func list(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}

// skip settles what is due of an endpoint from a bound on, but for what is held.
func (s store) skip(ctx context.Context, k key, from bound, held []uint64, why string, now time.Time) error {
	err := s.db.Exec(repeated(ctx), schemas.Query("webhook_skip"),
		clickhouse.Named("account", uint64(k.account)), clickhouse.Named("endpoint", k.endpoint),
		clickhouse.Named("held", held), clickhouse.Named("error", why), clickhouse.Named("now", now.UnixMilli()),
		clickhouse.Named("sequence", from.sequence), clickhouse.Named("created", int64(from.created)))
	if err != nil {
		return fmt.Errorf("skip deliveries: %w", err)
	}
	return nil
}
