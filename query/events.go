package query

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// EventRetention is how long events are kept, from when they were noted. The table's TTL says the same.
const EventRetention = 30 * 24 * time.Hour

// SequencedEvent is an event with its place among all events, of whichever account. Sequences begin at 1.
type SequencedEvent struct {
	Sequence uint64
	fleet.Event
}

// EventFilter says which events of an account are wanted; empty lists want all.
type EventFilter struct {
	Account  fleet.AccountID
	After    uint64 // sequences above this one
	Before   uint64 // sequences below this one; 0 means no end
	Types    []string
	Vehicles []fleet.VehicleID
	Fences   []fleet.FenceID
	Limit    int
}

func (f *EventFilter) named(more ...any) []any {
	before := f.Before
	if before == 0 {
		before = math.MaxUint64
	}
	types := f.Types
	if types == nil {
		types = []string{}
	}
	vehicles, fences := make([]uint64, len(f.Vehicles)), make([]uint64, len(f.Fences))
	for i, v := range f.Vehicles {
		vehicles[i] = uint64(v)
	}
	for i, v := range f.Fences {
		fences[i] = uint64(v)
	}
	return append(more, clickhouse.Named("account", uint64(f.Account)), clickhouse.Named("after", f.After),
		clickhouse.Named("before", before), clickhouse.Named("types", types), clickhouse.Named("vehicles", vehicles),
		clickhouse.Named("fences", fences))
}

// Events returns the stored events that match, by sequence.
func Events(ctx context.Context, db driver.Conn, f EventFilter) ([]SequencedEvent, error) {
	args := f.named(clickhouse.Named("limit", uint64(f.Limit)))
	return schemas.AllRows(ctx, db, "read events", schemas.Query("events_list"), args,
		func(v *SequencedEvent, row schemas.Row) error {
			e := SequencedEvent{Event: fleet.Event{Account: f.Account}}
			var vehicle uint64
			var at int64
			var kind, body string
			if err := row.Scan(&e.Sequence, &e.ID, &e.Type, &vehicle, &at, &e.Late, &kind, &e.Object, &e.Revision,
				&body); err != nil {
				return err
			}
			e.Vehicle, e.At, e.Kind, e.Body = fleet.VehicleID(vehicle), fleet.Millis(at), fleet.Kind(kind), json.RawMessage(body)
			*v = e
			return nil
		})
}

// CountEvents returns how many events Events gives without a limit.
func CountEvents(ctx context.Context, db driver.Conn, f EventFilter) (int, error) {
	var n uint64
	if err := db.QueryRow(ctx, schemas.Query("events_count"), f.named()...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count events: %w", err)
	}
	return int(n), nil
}

// EventBounds returns the highest stored sequence, 0 if there is none, and the lowest from which on every event is
// still there.
func EventBounds(ctx context.Context, db driver.Conn, now time.Time) (newest, oldest uint64, err error) {
	since := clickhouse.Named("since", now.Add(-EventRetention).UnixMilli())
	if err := db.QueryRow(ctx, schemas.Query("events_bounds"), since).Scan(&newest, &oldest); err != nil {
		return 0, 0, fmt.Errorf("read bounds of events: %w", err)
	}
	if oldest == 0 {
		oldest = newest + 1 // all of them are old
	}
	return newest, oldest, nil
}

// EventsSince returns the sequence behind which the stored events of an account are those noted at since or later. If
// there are none it returns false and the account's newest sequence.
func EventsSince(ctx context.Context, db driver.Conn, account fleet.AccountID,
	since fleet.Millis) (after uint64, ok bool, err error) {
	var first, newest uint64
	err = db.QueryRow(ctx, schemas.Query("events_since"), clickhouse.Named("account", uint64(account)),
		clickhouse.Named("since", int64(max(min(since, endOfTime), 0)))).Scan(&first, &newest)
	if err != nil {
		return 0, false, fmt.Errorf("find events since: %w", err)
	}
	if first == 0 {
		return newest, false, nil
	}
	return first - 1, true, nil
}
