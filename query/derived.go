package query

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Derived is one derived thing as it is stored: what it is (a *fleet.Trip, ...), and what is known of the row.
type Derived[E fleet.Entity] struct {
	Entity    E // its Head is filled
	Vehicle   fleet.VehicleID
	Revision  uint32
	LocalDate time.Time // of its start, by the zone that the vehicle or else the account has now
	Deleted   bool      // a repair showed that it does not hold
	Late      bool      // recorded long after it happened
	UpdatedAt fleet.Millis
}

// ID returns the identity.
func (d *Derived[E]) ID() uint64 { return d.Entity.Header().ID }

// Key returns the time by which a filter orders the thing; with its id it is the place behind which a page begins.
func (d *Derived[E]) Key(f *DerivedFilter) fleet.Millis {
	if f.ByUpdate {
		return d.UpdatedAt
	}
	return d.Entity.Header().Start
}

// DerivedFilter says which derived things of an account are wanted. Its zero value but for Account wants all that hold.
type DerivedFilter struct {
	Account  fleet.AccountID
	Vehicles []fleet.VehicleID // none means all
	From, To fleet.Millis      // what overlaps [From, To), whole; To 0 means no end; what is open has no end yet
	Since    fleet.Millis      // only what was written at or after this
	Deleted  bool              // also what no longer holds
	Open     fleet.Tri
	Late     fleet.Tri

	Fences       []fleet.FenceID // of visits and alerts
	Kinds        []string        // of driving events and alerts
	Rules        []fleet.RuleID  // of alerts
	Severities   []string        // of alerts
	Statuses     []string        // of alerts: raised, resolved, withdrawn
	Acknowledged fleet.Tri       // of alerts
	Plan         fleet.PlanID    // of route runs
	Only         *[]uint64       // of trips: their ids; nil for any

	Ascending     bool         // the oldest first; otherwise the newest
	ByUpdate      bool         // by the time of writing instead of the start
	AfterTime     fleet.Millis // of a page before: the time of its last row by the order asked for
	AfterID       uint64       // and its id; 0 begins at the beginning
	Offset, Limit int
}

// ids gives identities as the driver takes them.
func ids[T ~uint64](list []T) []uint64 {
	all := make([]uint64, len(list))
	for i, id := range list {
		all[i] = uint64(id)
	}
	return all
}

// truth is -1 for unknown, else 0 or 1.
func truth(v fleet.Tri) int8 { return int8(v) - 1 }

func bit(v bool) uint8 {
	if v {
		return 1
	}
	return 0
}

func texts(list []string) []string { return append([]string{}, list...) }

// until is the end of a span that may have none.
func until(to fleet.Millis) int64 {
	if to == 0 || to > endOfTime {
		to = endOfTime
	}
	return int64(to)
}

// only are the ids that are wanted, if that is said.
func (f *DerivedFilter) only() []uint64 {
	if f.Only == nil {
		return []uint64{}
	}
	return *f.Only
}

func (f *DerivedFilter) named(more ...any) []any {
	return append(more, clickhouse.Named("account", uint64(f.Account)), clickhouse.Named("vehicles", ids(f.Vehicles)),
		clickhouse.Named("from", int64(max(f.From, 0))), clickhouse.Named("to", until(f.To)),
		clickhouse.Named("since", int64(max(f.Since, 0))), clickhouse.Named("deleted", bit(f.Deleted)),
		clickhouse.Named("open", truth(f.Open)), clickhouse.Named("late", truth(f.Late)),
		clickhouse.Named("geofences", ids(f.Fences)), clickhouse.Named("rules", ids(f.Rules)),
		clickhouse.Named("kinds", texts(f.Kinds)), clickhouse.Named("severities", texts(f.Severities)),
		clickhouse.Named("statuses", texts(f.Statuses)), clickhouse.Named("acknowledged", truth(f.Acknowledged)),
		clickhouse.Named("plan", uint64(f.Plan)),
		clickhouse.Named("any", bit(f.Only == nil)),
		clickhouse.Named("ids", f.only()))
}

// derivedPage is how many rows are read at once when all are wanted.
const derivedPage = 5000

// Derivable is how one kind of derived things is read.
type Derivable[E fleet.Entity] struct {
	Kind  fleet.Kind
	table string
	fresh func() E
}

// List yields what the filter wants, in its order. Without a limit it reads page after page, so that memory does not
// grow with their number; an error is the last thing that is yielded.
func (k *Derivable[E]) List(ctx context.Context, db driver.Conn, f DerivedFilter) iter.Seq2[Derived[E], error] {
	return func(yield func(Derived[E], error) bool) {
		limit := f.Limit
		for {
			if limit == 0 {
				f.Limit = derivedPage
			}
			page, err := k.rows(ctx, db, f)
			if err != nil {
				yield(Derived[E]{}, fmt.Errorf("read %s: %w", k.table, err))
				return
			}
			for i := range page {
				if !yield(page[i], nil) {
					return
				}
			}
			if limit != 0 || len(page) < f.Limit {
				return
			}
			last := &page[len(page)-1]
			f.AfterTime, f.AfterID, f.Offset = last.Key(&f), last.ID(), 0
		}
	}
}

func (k *Derivable[E]) rows(ctx context.Context, db driver.Conn, f DerivedFilter) ([]Derived[E], error) {
	direction, afterTime, afterID := int8(-1), int64(math.MinInt64), int64(math.MinInt64)
	if f.Ascending {
		direction = 1
	}
	if f.AfterID != 0 {
		afterTime, afterID = int64(direction)*int64(f.AfterTime), int64(direction)*int64(f.AfterID)
	}
	args := f.named(clickhouse.Named("direction", direction), clickhouse.Named("by_update", bit(f.ByUpdate)),
		clickhouse.Named("after_time", afterTime), clickhouse.Named("after_id", afterID),
		clickhouse.Named("limit", uint64(f.Limit)), clickhouse.Named("offset", uint64(f.Offset)))
	text := schemas.Query(k.table + "_list")
	all, err := schemas.AllRows(ctx, db, "read "+k.table, text, args, func(d *Derived[E], row schemas.Row) error {
		d.Entity = k.fresh()
		return d.scan(row)
	})
	if err != nil {
		return nil, err
	}
	return all, localise(ctx, db, f.Account, all)
}

func (d *Derived[E]) scan(row schemas.Row) error {
	var vehicle, id uint64
	var start, end, updated int64
	var open bool
	var body string
	if err := row.Scan(&vehicle, &id, &d.Revision, &start, &end, &open, &d.Deleted, &d.Late, &updated, &body); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(body), d.Entity); err != nil {
		return fmt.Errorf("decode %s %d: %w", d.Entity.Kind(), id, err)
	}
	h := d.Entity.Header()
	h.ID, h.Start, h.End, h.Open = id, fleet.Millis(start), fleet.Millis(end), open
	d.Vehicle, d.UpdatedAt = fleet.VehicleID(vehicle), fleet.Millis(updated)
	return nil
}

// Count returns how many things List gives without cursor, offset and limit.
func (k *Derivable[E]) Count(ctx context.Context, db driver.Conn, f DerivedFilter) (int, error) {
	var n uint64
	if err := db.QueryRow(ctx, schemas.Query(k.table+"_count"), f.named()...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count %s: %w", k.table, err)
	}
	return int(n), nil
}

// Find returns one thing of an account, also one that no longer holds, and false if there never was one of that id.
func (k *Derivable[E]) Find(ctx context.Context, db driver.Conn, account fleet.AccountID,
	id uint64) (Derived[E], bool, error) {
	text, doing := schemas.Query(k.table+"_by_id"), fmt.Sprintf("read %s %d", k.table, id)
	args := []any{clickhouse.Named("account", uint64(account)), clickhouse.Named("id", id)}
	d, ok, err := schemas.OneRow(ctx, db, doing, text, args, func(d *Derived[E], row schemas.Row) error {
		d.Entity = k.fresh()
		return d.scan(row)
	})
	if !ok {
		return d, false, err
	}
	found := []Derived[E]{d}
	if err := localise(ctx, db, account, found); err != nil {
		return d, false, err
	}
	return found[0], true, nil
}
