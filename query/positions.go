package query

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// TrackFilter says which positions of a vehicle are wanted. The zero values of all but Account and Vehicle want
// everything there is.
type TrackFilter struct {
	Account fleet.AccountID
	Vehicle fleet.VehicleID

	From, To   fleet.Millis  // [From, To) of the fix time; To 0 means no end
	Without    fleet.Flags   // a position with any of these is left out
	With       fleet.Flags   // unless 0, a position without any of these is left out
	Every      time.Duration // keep the first position (in the order asked for) of each interval since the epoch
	Descending bool          // newest first
	Offset     int           // leave out as many of what remains
	Limit      int           // at most as many of what remains; 0 means all
}

// endOfTime is later than any fix that can be stored, and earlier than what DateTime64 cannot hold.
const endOfTime fleet.Millis = 9_000_000_000_000 // the year 2255

// ask fills the marks of a query of positions, beside others of its own, and names its parameters.
func (f *TrackFilter) ask(name string, marks []string, more ...any) (text string, args []any) {
	args = append(more, clickhouse.Named("account", uint64(f.Account)), clickhouse.Named("vehicle", uint64(f.Vehicle)),
		clickhouse.Named("from", int64(max(f.From, 0))), clickhouse.Named("to", until(f.To)))
	flags := ""
	if f.Without != 0 {
		flags += " AND bitAnd(flags, {without:UInt32}) = 0"
		args = append(args, clickhouse.Named("without", uint32(f.Without)))
	}
	if f.With != 0 {
		flags += " AND bitAnd(flags, {with:UInt32}) != 0"
		args = append(args, clickhouse.Named("with", uint32(f.With)))
	}
	marks = append(marks, "/*flags*/", flags)
	return strings.NewReplacer(marks...).Replace(schemas.Query(name)), args
}

// Track returns the positions of a vehicle by fix time, as they come from the server: memory does not grow with their
// number, and leaving the loop early ends the query. An error is the last thing that is yielded.
func Track(ctx context.Context, db driver.Conn, f TrackFilter) iter.Seq2[fleet.Position, error] {
	return func(yield func(fleet.Position, error) bool) {
		if err := track(ctx, db, f, yield); err != nil {
			yield(fleet.Position{}, err)
		}
	}
}

func track(ctx context.Context, db driver.Conn, f TrackFilter, yield func(fleet.Position, error) bool) error {
	// Intervals are thinned out here, because the server would keep all of them in memory.
	limit, skip, left := uint64(math.MaxInt64), f.Offset, f.Limit
	if f.Limit > 0 && f.Every == 0 {
		limit = uint64(f.Offset + f.Limit)
	}
	name := "positions_track"
	if f.Descending {
		name = "positions_track_desc"
	}
	// Ending this context makes the driver give up what the server still wants to send.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	every, bucket := f.Every.Milliseconds(), int64(math.MinInt64)
	p := fleet.Position{Account: f.Account, Vehicle: f.Vehicle}
	var s positionScan
	text, args := f.ask(name, nil, clickhouse.Named("limit", limit))
	doing := fmt.Sprintf("read track of %s", f.Vehicle)
	return schemas.EachRow(ctx, db, doing, text, args, func(row schemas.Row) error {
		if err := row.Scan(s.into()...); err != nil {
			return err
		}
		s.stored.Restore(&p)
		if every > 0 {
			before := bucket
			if bucket = int64(p.FixTime) / every; bucket == before {
				return nil
			}
		}
		if skip > 0 {
			skip--
			return nil
		}
		if left--; !yield(p, nil) || left == 0 {
			cancel()
			return schemas.ErrEnough
		}
		return nil
	})
}

// CountTrack returns how many positions Track gives without offset and limit.
func CountTrack(ctx context.Context, db driver.Conn, f TrackFilter) (int, error) {
	var marks []string
	if f.Every != 0 {
		marks = []string{"/*counted*/ count()",
			fmt.Sprintf("uniqExact(intDiv(toUnixTimestamp64Milli(fix_time), %d))", f.Every.Milliseconds())}
	}
	text, args := f.ask("positions_count", marks)
	var n uint64
	if err := db.QueryRow(ctx, text, args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count track of %s: %w", f.Vehicle, err)
	}
	return int(n), nil
}

// IsAll says whether a filter lets all positions of its vehicle through.
func (f *TrackFilter) IsAll() bool {
	return f.From <= 0 && f.To == 0 && f.Without == 0 && f.With == 0 && f.Every == 0
}

// CountPastFixes counts the positions of some vehicles of an account from before an instant. Vehicles without any are
// left out.
func CountPastFixes(ctx context.Context, db driver.Conn, account fleet.AccountID, vehicles []uint64,
	before time.Time) (map[uint64]int, error) {
	text := schemas.Query("positions_counts")
	return countPast(ctx, db, "count past positions", text, account, vehicles, before)
}

// CountNewFixes counts those from then on.
func CountNewFixes(ctx context.Context, db driver.Conn, account fleet.AccountID, vehicles []uint64,
	from time.Time) (map[uint64]int, error) {
	text := strings.Replace(schemas.Query("positions_counts"), "/*side*/ <", ">=", 1)
	return countPast(ctx, db, "count new positions", text, account, vehicles, from)
}

// longTrack is the span from which on it is worth finding out first where in it a page is: less lies in a granule or
// two, which is all that is read in any case.
const longTrack = 31 * oneDay

const oneDay = fleet.Millis(24 * 3600 * 1000)

// isShort says that it is not worth it.
func isShort(f *TrackFilter) bool { return until(f.To)-int64(max(f.From, 0)) < int64(longTrack) }

// TrackPage returns how many positions a filter lets through, as count tells beside, and those of one page of them.
// What is asked for as the page has an offset and a limit, and begins where the whole does or behind a cursor.
func TrackPage(ctx context.Context, db driver.Conn, whole, page TrackFilter, now time.Time,
	count func(context.Context, TrackFilter) (int, error)) (total int, positions []fleet.Position, err error) {
	if isShort(&whole) && page.Offset == 0 && page.From == whole.From && page.To == whole.To {
		positions, err = allOf(Track(ctx, db, page))
		if total = len(positions); err == nil && total == page.Limit { // there may be more
			total, err = count(ctx, whole)
		}
		return total, positions, err
	}
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		total, err = count(inner, whole)
		return err
	})
	group.Go(func() (err error) {
		positions, err = trackPage(inner, db, page, now)
		return err
	})
	err = group.Wait()
	return max(total, len(positions)), positions, err // what count tells may be a moment older
}

// trackPage reads a page. Of a long span it is looked for first where it is most likely: behind the cursor, or among
// the newest; and where it is not full, it is asked where it lies.
func trackPage(ctx context.Context, db driver.Conn, page TrackFilter, now time.Time) ([]fleet.Position, error) {
	if page.Every != 0 || page.Limit == 0 || isShort(&page) {
		return allOf(Track(ctx, db, page))
	}
	near := page
	span := min(longTrack, oneDay*fleet.Millis(1+page.Limit/100)) // who drives reports more than 100 times a day
	switch {
	case !page.Descending:
		near.To = page.From + span
	case page.To == 0:
		near.From = max(page.From, fleet.MillisOf(now)-span)
	default:
		near.From = max(page.From, page.To-span)
	}
	if begins := page.Descending || page.From > 0; begins && page.Offset == 0 {
		if found, err := allOf(Track(ctx, db, near)); err != nil || len(found) == page.Limit {
			return found, err
		}
	}
	part, err := trackPart(ctx, db, page)
	if err != nil || part.Limit == 0 {
		return nil, err
	}
	return allOf(Track(ctx, db, part))
}

// trackPart returns the filter by which Track reads a page and little else; its limit is 0 if there is nothing on it.
func trackPart(ctx context.Context, db driver.Conn, page TrackFilter) (TrackFilter, error) {
	direction := ""
	if page.Descending {
		direction = "DESC"
	}
	text, args := page.ask("positions_page", []string{"/*direction*/", direction},
		clickhouse.Named("offset", uint64(page.Offset)), clickhouse.Named("limit", uint64(page.Limit)))
	var first, last int64
	var length uint64
	if err := db.QueryRow(ctx, text, args...).Scan(&first, &last, &length); err != nil {
		return page, fmt.Errorf("find a page of the track of %s: %w", page.Vehicle, err)
	}
	page.Offset, page.Limit = 0, int(length)
	page.From, page.To = fleet.Millis(first), fleet.Millis(last+1)
	return page, nil
}

// allOf collects positions.
func allOf(positions iter.Seq2[fleet.Position, error]) (all []fleet.Position, err error) {
	for p, err := range positions {
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// positionScan is where the columns of a position are scanned, reused from row to row.
type positionScan struct {
	stored fleet.StoredPosition
	dest   []any
}

// into returns where the columns go, in the order of fleet.StoredColumns.
func (s *positionScan) into() []any {
	if s.dest == nil {
		s.dest = s.stored.Columns()
	}
	return s.dest
}
