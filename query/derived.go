package query

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

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

// condition is one of a filter: its text, and the parameter that it names.
type condition struct {
	text  string
	name  string
	value any
}

// conditions are those that a filter makes, in the tables of all kinds but for the column of Kinds. Each reads its
// columns, so that there are only those of what is asked for.
func (k *Derivable[E]) conditions(f *DerivedFilter) []condition {
	var all []condition
	add := func(wanted bool, text, name string, value any) {
		if wanted {
			all = append(all, condition{text, name, value})
		}
	}
	const from = "fromUnixTimestamp64Milli({from:Int64}, 'UTC')"
	add(len(f.Vehicles) > 0, "vehicle IN {vehicles:Array(UInt64)}", "vehicles", ids(f.Vehicles))
	add(f.To != 0, "start_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')", "to", until(f.To))
	add(f.From > 0, "(end_at > "+from+" OR start_at >= "+from+" OR open)", "from", int64(f.From))
	add(f.Since > 0, "updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')", "since", int64(f.Since))
	add(!f.Deleted, "NOT deleted", "", nil)
	add(f.Open != fleet.Unknown, "open = {open:Int8}", "open", truth(f.Open))
	add(f.Late != fleet.Unknown, "late = {late:Int8}", "late", truth(f.Late))
	add(len(f.Fences) > 0, "geofence IN {geofences:Array(UInt64)}", "geofences", ids(f.Fences))
	add(len(f.Kinds) > 0, k.kinds+" IN {kinds:Array(String)}", "kinds", texts(f.Kinds))
	add(len(f.Rules) > 0, "rule IN {rules:Array(UInt64)}", "rules", ids(f.Rules))
	add(len(f.Severities) > 0, "severity IN {severities:Array(String)}", "severities", texts(f.Severities))
	add(len(f.Statuses) > 0, "multiIf(deleted, 'withdrawn', open, 'raised', 'resolved') IN {statuses:Array(String)}",
		"statuses", texts(f.Statuses))
	add(f.Acknowledged != fleet.Unknown, "(id IN (SELECT id FROM alert_acks WHERE account = {account:UInt64})) = "+
		"{acknowledged:Int8}", "acknowledged", truth(f.Acknowledged))
	add(f.Plan != 0, "plan = {plan:UInt64}", "plan", uint64(f.Plan))
	if f.Only != nil {
		add(true, "id IN {ids:Array(UInt64)}", "ids", append([]uint64{}, *f.Only...))
	}
	return all
}

// ask fills the marks of a query of derived things and names its parameters.
func (k *Derivable[E]) ask(name string, f *DerivedFilter, more ...any) (text string, args []any) {
	filters := ""
	args = append(more, clickhouse.Named("account", uint64(f.Account)))
	for _, c := range k.conditions(f) {
		filters += " AND " + c.text
		if c.name != "" {
			args = append(args, clickhouse.Named(c.name, c.value))
		}
	}
	by, direction, beyond, after := "start_at", "DESC", "<", "true"
	if f.ByUpdate {
		by = "updated_at"
	}
	if f.Ascending {
		direction, beyond = "ASC", ">"
	}
	if f.AfterID != 0 {
		after = "(toUnixTimestamp64Milli(at), id) " + beyond + " ({after_time:Int64}, {after_id:UInt64})"
		args = append(args, clickhouse.Named("after_time", int64(f.AfterTime)), clickhouse.Named("after_id", f.AfterID))
	}
	return strings.NewReplacer("/*table*/", k.table, "/*filters*/", filters, "/*by*/", by, "/*direction*/", direction,
		"/*after*/", after).Replace(schemas.Query(name)), args
}

// derivedPage is how many rows are read at once when all are wanted.
const derivedPage = 5000

// Derivable is how one kind of derived things is read.
type Derivable[E fleet.Entity] struct {
	Kind  fleet.Kind
	table string
	kinds string // column of DerivedFilter.Kinds
	fresh func() E
}

// spot is where a row stands: its sorting key, but for the account.
type spot struct {
	vehicle uint64
	start   int64 // ms
	id      uint64
}

// DerivedPage is one page of a list, in its order.
type DerivedPage[E fleet.Entity] struct {
	Rows      []Derived[E]
	Total     int          // on all pages
	AfterTime fleet.Millis // the place behind which the next page begins, as DerivedFilter takes it
	AfterID   uint64       // 0 if there is none
}

// places are where the rows of a page stand, in its order, and what is known with them.
type places struct {
	spots []spot
	last  fleet.Millis // the time of the last one, by the order asked for
	more  bool         // there are rows behind them
	total int          // on all pages, if it was counted; 0 without a spot
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
			at, err := k.places(ctx, db, &f, false)
			var page []Derived[E]
			if err == nil {
				if page, err = k.rows(ctx, db, &f, at.spots); err == nil {
					err = localise(page, StoredZoneNames(ctx, db, f.Account))
				}
			}
			if err != nil {
				yield(Derived[E]{}, fmt.Errorf("read %s: %w", k.table, err))
				return
			}
			for i := range page {
				if !yield(page[i], nil) {
					return
				}
			}
			if limit != 0 || !at.more {
				return
			}
			f.AfterTime, f.AfterID, f.Offset = at.last, at.spots[len(at.spots)-1].id, 0
			if !f.ByUpdate && !f.Ascending { // what begins later was on the pages before
				f.To = f.AfterTime + 1
			}
		}
	}
}

// Page returns one page of what List yields, whose days are told by the zones that names tells. Of some vehicles it is
// found and counted by one reading of what is theirs; of all they are counted beside.
func (k *Derivable[E]) Page(ctx context.Context, db driver.Conn, f DerivedFilter,
	names ZoneNamesOf) (DerivedPage[E], error) {
	var page DerivedPage[E]
	var at places
	together := len(f.Vehicles) > 0
	group, inner := errgroup.WithContext(ctx)
	if !together {
		group.Go(func() (err error) {
			page.Total, err = k.Count(inner, db, f)
			return err
		})
	}
	group.Go(func() (err error) {
		if at, err = k.places(inner, db, &f, together); err == nil {
			page.Rows, err = k.rows(inner, db, &f, at.spots)
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return page, err
	}
	if at.more {
		page.AfterTime, page.AfterID = at.last, at.spots[len(at.spots)-1].id
	}
	if err := localise(page.Rows, names); err != nil || !together {
		return page, err
	}
	page.Total = at.total
	if beyond := f.Offset > 0 || f.AfterID != 0; len(at.spots) == 0 && beyond {
		var err error
		page.Total, err = k.Count(ctx, db, f)
		return page, err
	}
	return page, nil
}

// PastBefore returns the instant before which what a vehicle had is counted once and for all, as long as nothing late
// comes, and until when: the first of the month that it was a week ago, so that tables by months have it apart.
func PastBefore(now time.Time) (before, until time.Time) {
	y, m, _ := now.UTC().AddDate(0, 0, -7).Date()
	before = time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
	return before, before.AddDate(0, 1, 7).Add(-time.Millisecond)
}

// Past is how many there were before an instant.
type Past struct {
	Before time.Time
	Count  int
}

// CountPast counts what some vehicles of an account had that began before an instant and holds. Vehicles without any
// are left out.
func (k *Derivable[E]) CountPast(ctx context.Context, db driver.Conn, account fleet.AccountID, vehicles []uint64,
	before time.Time) (map[uint64]int, error) {
	text := strings.ReplaceAll(schemas.Query("derived_past"), "/*table*/", k.table)
	return countPast(ctx, db, "count past "+k.table, text, account, vehicles, before)
}

func countPast(ctx context.Context, db driver.Conn, doing, text string, account fleet.AccountID, vehicles []uint64,
	before time.Time) (map[uint64]int, error) {
	all := map[uint64]int{}
	return all, schemas.EachRow(ctx, db, doing, text, []any{clickhouse.Named("account", uint64(account)),
		clickhouse.Named("vehicles", vehicles), clickhouse.Named("before", before.UnixMilli())},
		func(row schemas.Row) error {
			var vehicle, n uint64
			if err := row.Scan(&vehicle, &n); err != nil {
				return err
			}
			all[vehicle] = int(n)
			return nil
		})
}

// Newest says whether a filter wants the newest of all that one vehicle had.
func (k *Derivable[E]) Newest(f *DerivedFilter) bool {
	return len(f.Vehicles) == 1 && !f.Ascending && !f.ByUpdate && f.AfterID == 0 && f.Offset == 0 && f.Limit > 0 &&
		!f.Deleted && len(k.conditions(f)) == 2 // the vehicle, and that it holds
}

// NewestPage is Page for a filter that is Newest, by one reading of what is not past. It is false where some of the
// page is.
func (k *Derivable[E]) NewestPage(ctx context.Context, db driver.Conn, f DerivedFilter, past Past,
	names ZoneNamesOf) (page DerivedPage[E], ok bool, err error) {
	text := strings.ReplaceAll(schemas.Query("derived_newest"), "/*table*/", k.table)
	var count uint64
	page.Rows, err = schemas.AllRows(ctx, db, "read newest "+k.table, text, []any{
		clickhouse.Named("account", uint64(f.Account)), clickhouse.Named("vehicle", uint64(f.Vehicles[0])),
		clickhouse.Named("since", past.Before.UnixMilli()), clickhouse.Named("limit", uint64(f.Limit)+1)},
		func(d *Derived[E], row schemas.Row) error {
			d.Entity = k.fresh()
			return d.scan(row, &count)
		})
	if more := len(page.Rows) > f.Limit; more {
		page.Rows = page.Rows[:f.Limit]
		last := &page.Rows[f.Limit-1]
		page.AfterTime, page.AfterID = last.Entity.Header().Start, last.ID()
	} else if err != nil || past.Count > 0 {
		return page, false, err
	}
	page.Total = past.Count + int(count)
	return page, true, localise(page.Rows, names)
}

// places finds where the rows of a page stand, and counts those of all pages on the way if that is asked for.
func (k *Derivable[E]) places(ctx context.Context, db driver.Conn, f *DerivedFilter, count bool) (places, error) {
	total, threads := "toUInt64(0)", ""
	if count {
		total = "count() OVER ()"
	}
	if len(f.Vehicles) == 1 {
		threads = ", max_threads = 1"
	}
	text, args := k.ask("derived_page", f, clickhouse.Named("limit", uint64(f.Limit)+1), // one more tells of a next page
		clickhouse.Named("offset", uint64(f.Offset)))
	var at places
	text = strings.NewReplacer("/*total*/", total, "/*threads*/", threads).Replace(text)
	err := schemas.EachRow(ctx, db, "find "+k.table, text, args, func(row schemas.Row) error {
		var s spot
		var time int64
		var total uint64
		if err := row.Scan(&s.vehicle, &s.start, &s.id, &time, &total); err != nil {
			return err
		}
		if len(at.spots) == f.Limit {
			at.more = true
			return schemas.ErrEnough
		}
		at.spots, at.last, at.total = append(at.spots, s), fleet.Millis(time), int(total)
		return nil
	})
	return at, err
}

// rows reads the rows that stand somewhere, in that order, without their local dates. One that was taken back since it
// was found is left out.
func (k *Derivable[E]) rows(ctx context.Context, db driver.Conn, f *DerivedFilter, at []spot) ([]Derived[E], error) {
	if len(at) == 0 {
		return nil, nil
	}
	vehicles, ids := make([]uint64, len(at)), make([]uint64, len(at))
	first, last := at[0].start, at[0].start
	for i, s := range at {
		vehicles[i], ids[i], first, last = s.vehicle, s.id, min(first, s.start), max(last, s.start)
	}
	slices.Sort(vehicles)
	args := []any{clickhouse.Named("account", uint64(f.Account)), clickhouse.Named("ids", ids),
		clickhouse.Named("vehicles", slices.Compact(vehicles)), clickhouse.Named("first", first),
		clickhouse.Named("last", last)}
	text := strings.ReplaceAll(schemas.Query("derived_rows"), "/*table*/", k.table)
	read, err := schemas.AllRows(ctx, db, "read "+k.table, text, args, func(d *Derived[E], row schemas.Row) error {
		d.Entity = k.fresh()
		return d.scan(row)
	})
	if err != nil {
		return nil, err
	}
	of := make(map[spot]*Derived[E], len(read))
	for i := range read {
		d := &read[i]
		place := spot{uint64(d.Vehicle), int64(d.Entity.Header().Start), d.ID()}
		if known := of[place]; known == nil || known.Revision < d.Revision {
			of[place] = d
		}
	}
	all := make([]Derived[E], 0, len(at))
	for _, s := range at {
		if d := of[s]; d != nil && (f.Deleted || !d.Deleted) {
			all = append(all, *d)
		}
	}
	return all, nil
}

// scan takes the columns of derived_rows.sql, and more that are behind them.
func (d *Derived[E]) scan(row schemas.Row, more ...any) error {
	var vehicle, id uint64
	var start, end, updated int64
	var open bool
	var body string
	if err := row.Scan(append([]any{&vehicle, &id, &d.Revision, &start, &end, &open, &d.Deleted, &d.Late, &updated, &body},
		more...)...); err != nil {
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
	text, args := k.ask("derived_count", &f)
	var n uint64
	if err := db.QueryRow(ctx, text, args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count %s: %w", k.table, err)
	}
	return int(n), nil
}

// Find returns one thing of an account, also one that no longer holds, and false if there never was one of that id.
func (k *Derivable[E]) Find(ctx context.Context, db driver.Conn, account fleet.AccountID,
	id uint64) (Derived[E], bool, error) {
	text := strings.ReplaceAll(schemas.Query("derived_by_id"), "/*table*/", k.table)
	doing := fmt.Sprintf("read %s %d", k.table, id)
	args := []any{clickhouse.Named("account", uint64(account)), clickhouse.Named("id", id)}
	d, ok, err := schemas.OneRow(ctx, db, doing, text, args, func(d *Derived[E], row schemas.Row) error {
		d.Entity = k.fresh()
		return d.scan(row)
	})
	if !ok {
		return d, false, err
	}
	found := []Derived[E]{d}
	if err := localise(found, StoredZoneNames(ctx, db, account)); err != nil {
		return d, false, err
	}
	return found[0], true, nil
}
