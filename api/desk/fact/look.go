package fact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/schemas"
)

const (
	// lookEvery is how often somebody looks for what was written.
	lookEvery = 30 * time.Second
	// again is how far a look goes back beyond the last: a write bears a time that is older than it by its deadline at
	// most, and by what two clocks differ.
	again = 2 * time.Minute
	// presentEvery is how often the day that is not over is made again although nothing was written.
	presentEvery = 10 * time.Minute
	// A look is followed by none for so many times as long as it took, and no longer than this: while thousands of
	// bookings are imported, each look makes those of the last minutes again.
	restTimes = 4
	restMost  = 2 * time.Minute
)

// looked is how far everything was made again that had been written.
type looked struct {
	records time.Time // by the clock of records
	entries time.Time // by that of who writes entries, trips, visits and charges
}

// later is the later of two, each by its clock.
func (l looked) later(o looked) looked {
	if o.records.After(l.records) {
		l.records = o.records
	}
	if o.entries.After(l.entries) {
		l.entries = o.entries
	}
	return l
}

// earlier is the earlier of two, each by its clock.
func (l looked) earlier(o looked) looked {
	if o.records.Before(l.records) {
		l.records = o.records
	}
	if o.entries.Before(l.entries) {
		l.entries = o.entries
	}
	return l
}

// lookUnlessSeen looks, unless somebody has just done so.
func (f *Facts) lookUnlessSeen(ctx context.Context) error {
	_, at, took, err := f.looked(ctx)
	if err != nil || time.Since(at) < rest(took) && time.Since(at) >= 0 {
		return err
	}
	return f.Look(ctx)
}

// rest is for how long nobody looks again after a look that took so long.
func rest(took time.Duration) time.Duration {
	return max(lookEvery*2/3, min(restTimes*took, restMost))
}

// Look makes the facts again that hang on what was written since the last look, of all accounts, and those of the
// present day from time to time. The first look makes all facts there are. An account whose facts cannot be made keeps
// those of others from nothing: it is tried again at each look, from where it failed. How far was looked is only noted
// when all accounts are made, so whoever begins after a death goes back to before the failure.
func (f *Facts) Look(ctx context.Context) error {
	f.looking.Lock()
	defer f.looking.Unlock()
	last, _, _, err := f.looked(ctx)
	if err != nil {
		return err
	}
	late := map[uint64]lateness{}
	for id, l := range f.late { // what is noted is made of all accounts, by whomever
		if l.unbegun = l.unbegun && last.records.Unix() <= 0; !l.unbegun {
			l.since = l.since.later(last)
		}
		late[id] = l
	}
	last = last.later(f.ahead)
	all, order, err := f.accounts(ctx, 0)
	if err != nil {
		return err
	}
	last, failed, err := f.begin(ctx, all, order, last, late)
	if err != nil {
		return err
	}
	begun, next := time.Now(), looked{f.Now(), time.Now()}
	since := last
	for _, l := range late {
		since = since.earlier(l.since)
	}
	var behind time.Time
	if err := f.DB.QueryRow(ctx, schemas.Query("facts_behind"),
		clickhouse.Named("since", since.records.Add(-again).UnixMilli())).Scan(&behind); err != nil {
		return fmt.Errorf("look what has not come to the tables of current records: %w", err)
	}
	if behind.Unix() > 0 && behind.Before(next.records) {
		next.records = behind
	}
	if all, order, err = f.accounts(ctx, 0); err != nil {
		return err
	}
	if err := f.statuses(ctx, 0, since.records.Add(-again)); err != nil {
		return err
	}
	timely, err := f.lookSince(ctx, all, order, last, next, func(id uint64) bool { return !has(late, id) })
	if err != nil {
		return errors.Join(failed, err)
	}
	tardy := &outcome{}
	if len(late) > 0 {
		tardy, err = f.lookSince(ctx, all, order, since, next,
			func(id uint64) bool { return has(late, id) && !late[id].unbegun })
		if err != nil {
			return errors.Join(failed, err)
		}
	}
	for id, l := range late {
		if tardy.failed[id] == nil && !l.unbegun {
			delete(late, id)
		}
	}
	for id := range timely.failed {
		late[id] = lateness{since: last}
	}
	f.ahead, f.late = last.later(next), late
	if len(late) > 0 {
		return errors.Join(failed, timely.err(), tardy.err())
	}
	return f.note(ctx, 0, 0, next, timely.vehicles+tardy.vehicles, time.Since(begun))
}

// lookSince makes the facts again that hang on what was written between two instants, of the accounts that are wanted.
func (f *Facts) lookSince(
	ctx context.Context, all map[uint64]account, order []uint64, last, next looked, wanted func(account uint64) bool,
) (*outcome, error) {
	since, entered := last.records.Add(-again), last.entries.Add(-again)
	present := !last.records.Truncate(presentEvery).Equal(next.records.Truncate(presentEvery))
	o := &outcome{failed: map[uint64]error{}}
	some := map[uint64]account{}
	for id, a := range all {
		if wanted(id) {
			some[id] = a
		}
	}
	if err := f.recordsChanged(ctx, some, since, entered, present, o); err != nil {
		return nil, err
	}
	pieces, whole, err := f.changed(ctx, some, "facts_changed", since, entered, o)
	if err != nil {
		return nil, err
	}
	for _, a := range whole { // their bookings may count by another zone
		bookings, err := f.bookingsBetween(ctx, a, 0, everAfter)
		if err == nil {
			err = f.rentals(ctx, a, bookings)
		}
		o.add(a.id, err)
	}
	visited, _, err := f.changed(ctx, some, "facts_visits_changed", since, entered, o)
	if err != nil {
		return nil, err
	}
	for _, id := range order {
		if a, ok := some[id]; ok && present && a.vehicles {
			pieces.add(a, 0, true, ledger.DayOf(last.records, a.zone)-1, ledger.DayOf(next.records, a.zone)+1)
		}
	}
	f.makePieces(ctx, some, pieces, o, f.days)
	f.makePieces(ctx, some, visited.byYear(), o, f.geofenceDays)
	return o, ctx.Err()
}

// looked returns how far everything was made again, zero if nobody has looked yet, and when somebody did last, and for
// how long.
func (f *Facts) looked(ctx context.Context) (last looked, at time.Time, took time.Duration, err error) {
	var ms uint32
	if err = f.DB.QueryRow(ctx, schemas.Query("facts_looked"), clickhouse.Named("version", schemas.FactsVersion)).
		Scan(&last.records, &last.entries, &at, &ms); err != nil {
		err = fmt.Errorf("read how far facts are made: %w", err)
	}
	return last, at, time.Duration(ms) * time.Millisecond, err
}

// note notes what was done: a look of everything for account 0, or a month of an account.
func (f *Facts) note(
	ctx context.Context, account uint64, month ledger.Day, until looked, vehicles int, took time.Duration,
) error {
	batch, err := f.DB.PrepareBatch(clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"insert_deduplicate": 0,
	})), `INSERT INTO fact_runs (version, account, local_date, made_at, records_until, entries_until, vehicles, took_ms)`)
	if err != nil {
		return fmt.Errorf("note how far facts are made: %w", err)
	}
	if err := batch.Append(schemas.FactsVersion, account, month.Time(), time.Now(), until.records, until.entries,
		uint32(vehicles), uint32(took.Milliseconds())); err != nil {
		batch.Abort()
		return fmt.Errorf("note how far facts are made: %w", err)
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("note how far facts are made: %w", err)
	}
	return nil
}

// begin makes the facts that no process of this version has made yet, if nobody has looked so far: of all accounts, or
// of those of them that this process has failed to begin. It returns since when what is written has to be looked for,
// and puts those that fail among the late ones.
func (f *Facts) begin(
	ctx context.Context, all map[uint64]account, order []uint64, last looked, late map[uint64]lateness,
) (oldest looked, failed, err error) {
	first := last.records.Unix() <= 0
	wanted := order
	if !first {
		wanted = slices.DeleteFunc(slices.Clone(order), func(id uint64) bool { return !late[id].unbegun })
	}
	if len(wanted) == 0 && !first {
		return last, nil, nil
	}
	oldest = looked{f.Now(), time.Now()}
	made := map[uint64][]time.Time{}
	err = f.each(ctx, "facts_made", []any{clickhouse.Named("version", schemas.FactsVersion)}, func(row schemas.Row) error {
		var account uint64
		var months []time.Time
		var since looked
		if err := row.Scan(&account, &months, &since.records, &since.entries); err != nil {
			return err
		}
		made[account], oldest = months, oldest.earlier(since)
		return nil
	})
	if err != nil {
		return last, nil, err
	}
	if first && len(made) == 0 {
		// What another version has made of vehicles stands until it is made anew, and so ought what is read in its place.
		if err := f.fleetDays(ctx, 0, 0, everAfter); err != nil {
			return last, nil, err
		}
	}
	o := &outcome{failed: map[uint64]error{}}
	for _, id := range wanted {
		o.add(id, f.beginAccount(ctx, all[id], made[id]))
		if ctx.Err() != nil {
			return last, nil, ctx.Err()
		}
		switch since := late[id].since; {
		case o.failed[id] == nil && !first:
			late[id] = lateness{since: since}
		case o.failed[id] != nil && first:
			late[id] = lateness{oldest, true}
		}
	}
	if first {
		last = oldest
	}
	return last, o.err(), nil
}

// beginAccount makes all facts of an account but those of the months that are made, the newest first, as people look at
// these.
func (f *Facts) beginAccount(ctx context.Context, a account, made []time.Time) error {
	from, to, err := f.extent(ctx, a)
	if err != nil {
		return err
	}
	stands := func(day ledger.Day) bool { return slices.ContainsFunc(made, day.Month(0).Time().Equal) }
	name := fleet.AccountID(a.id)
	for from <= to {
		if stands(to) {
			to = to.Month(0) - 1
			continue
		}
		first := max(from, to.Month(0))
		for first > from && !stands(first-1) {
			first = max(from, (first - 1).Month(0))
		}
		since := looked{f.Now(), time.Now()}
		f.Log.InfoContext(ctx, "facts are made for the first time", "account", name, "from", first, "to", to)
		err := f.Make(ctx, name, first, to, func(m Made) error {
			f.Log.InfoContext(ctx, "facts of some months are made", "account", name, "from", m.From, "to", m.To,
				"back to", first, "took", m.Took)
			for month := m.From.Month(0); month <= m.To; month = month.Month(1) {
				if err := f.note(ctx, a.id, month, since, 0, m.Took); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		to = first - 1
	}
	return nil
}

// recordsChanged makes the days of the bookings again of which something was written, and of those that are out, and
// then what the books have of the customers of whom something was posted.
func (f *Facts) recordsChanged(
	ctx context.Context, all map[uint64]account, since, entered time.Time, out bool, o *outcome,
) error {
	bookings, customers := map[uint64][]uint64{}, map[uint64][]uint64{}
	months := map[uint64]ledger.Day{}
	err := f.each(ctx, "facts_bookings_changed", []any{clickhouse.Named("since", since.UnixMilli()),
		clickhouse.Named("entered", entered.UnixMilli()), clickhouse.Named("out", out)}, func(row schemas.Row) error {
		var account uint64
		var ids []uint64
		if err := row.Scan(&account, &ids); err != nil {
			return err
		}
		bookings[account] = ids
		return nil
	})
	if err != nil {
		return err
	}
	err = f.each(ctx, "facts_customers_changed", []any{clickhouse.Named("entered", entered.UnixMilli())},
		func(row schemas.Row) error {
			var account uint64
			var ids []uint64
			var since time.Time
			if err := row.Scan(&account, &ids, &since); err != nil {
				return err
			}
			customers[account], months[account] = ids, ledger.DayOf(since, time.UTC)
			return nil
		})
	if err != nil {
		return err
	}
	// An account whose record has not come yet is none: the next look goes back to before it.
	for _, id := range slices.Sorted(maps.Keys(bookings)) {
		if a, ok := all[id]; ok && ctx.Err() == nil {
			o.add(id, f.rentals(ctx, a, bookings[id]))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(customers)) {
		if a, ok := all[id]; ok && ctx.Err() == nil {
			o.add(id, f.customers(ctx, a, customers[id], months[id]))
		}
	}
	return ctx.Err()
}

// changed finds by a query the days of vehicles that something is about which was written, and the accounts of which
// these are the days of all vehicles.
func (f *Facts) changed(
	ctx context.Context, all map[uint64]account, query string, since, entered time.Time, o *outcome,
) (found pieces, whole []account, err error) {
	type span struct {
		account, vehicle uint64
		every            bool
		from, to         time.Time
	}
	spans, err := schemas.AllRows(ctx, f.DB, "find what facts have to be made again", schemas.Query(query),
		[]any{clickhouse.Named("since", since.UnixMilli()), clickhouse.Named("entered", entered.UnixMilli())},
		func(s *span, row schemas.Row) error {
			return row.Scan(&s.account, &s.every, &s.vehicle, &s.from, &s.to)
		})
	if err != nil {
		return nil, nil, err
	}
	found = pieces{}
	extents := map[uint64][2]ledger.Day{}
	for _, s := range spans {
		a, ok := all[s.account]
		if !ok {
			continue
		}
		extent, ok := extents[a.id]
		if !ok {
			if extent[0], extent[1], err = f.extent(ctx, a); err != nil {
				extent = [2]ledger.Day{1, 0}
				o.add(a.id, err)
			}
			extents[a.id] = extent
		}
		from, to := ledger.DayOf(s.from, time.UTC), ledger.DayOf(s.to, time.UTC)
		found.add(a, s.vehicle, s.every, max(from, extent[0]), min(to, extent[1]))
		if s.every {
			whole = append(whole, a)
		}
	}
	return found, whole, ctx.Err()
}

// pieces are the days of vehicles that are made together, by account and month.
type pieces map[piece]*span

type piece struct {
	account uint64
	month   ledger.Day
}

type span struct {
	from, to ledger.Day
	every    bool
	vehicles map[uint64]bool
}

// add adds days of a vehicle, or of every one.
func (p pieces) add(a account, vehicle uint64, every bool, from, to ledger.Day) {
	for ; from <= to; from = from.Month(1) {
		key, until := piece{a.id, from.Month(0)}, min(to, from.Month(1)-1)
		s := p[key]
		if s == nil {
			s = &span{from: from, to: until, vehicles: map[uint64]bool{}}
			p[key] = s
		}
		s.from, s.to, s.every = min(s.from, from), max(s.to, until), s.every || every
		s.vehicles[vehicle] = true
	}
}

// byYear joins the days of some vehicles of an account, but not of all, into one piece a year: a visit may go on for
// months, and a statement costs about the same for a few days as for many.
func (p pieces) byYear() pieces {
	all := pieces{}
	for key, s := range p {
		if s.every {
			all[key] = s
			continue
		}
		key.month = ledger.DayOf(time.Date(s.from.Time().Year(), 1, 1, 0, 0, 0, 0, time.UTC), time.UTC) - 1 // of no month
		year := all[key]
		if year == nil {
			year = &span{from: s.from, to: s.to, vehicles: map[uint64]bool{}}
			all[key] = year
		}
		year.from, year.to = min(year.from, s.from), max(year.to, s.to)
		maps.Copy(year.vehicles, s.vehicles)
	}
	return all
}

// makePieces makes days again.
func (f *Facts) makePieces(
	ctx context.Context, all map[uint64]account, p pieces, o *outcome,
	days func(ctx context.Context, a account, from, to ledger.Day, vehicles []uint64) error,
) {
	keys := slices.SortedFunc(maps.Keys(p), func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.account, b.account), cmp.Compare(a.month, b.month))
	})
	for _, key := range keys {
		if ctx.Err() != nil {
			return
		}
		s := p[key]
		vehicles := []uint64{}
		if !s.every {
			vehicles = slices.Sorted(maps.Keys(s.vehicles))
		}
		o.vehicles += len(s.vehicles)
		o.add(key.account, days(ctx, all[key.account], s.from, s.to, vehicles))
	}
}
