package query

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

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

func (f *TrackFilter) named(more ...any) []any {
	to := f.To
	if to == 0 || to > endOfTime {
		to = endOfTime
	}
	return append(more, clickhouse.Named("account", uint64(f.Account)), clickhouse.Named("vehicle", uint64(f.Vehicle)),
		clickhouse.Named("from", int64(max(f.From, 0))), clickhouse.Named("to", int64(to)),
		clickhouse.Named("without", uint32(f.Without)), clickhouse.Named("with", uint32(f.With)))
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
	args := f.named(clickhouse.Named("limit", limit))
	doing := fmt.Sprintf("read track of %s", f.Vehicle)
	return schemas.EachRow(ctx, db, doing, schemas.Query(name), args, func(row schemas.Row) error {
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
	var n uint64
	err := db.QueryRow(ctx, schemas.Query("positions_count"),
		f.named(clickhouse.Named("every", f.Every.Milliseconds()))...).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count track of %s: %w", f.Vehicle, err)
	}
	return int(n), nil
}

// longTrack is the span from which on it is worth finding out first where in it a page is: less lies in a granule or
// two, which is all that is read in any case.
const longTrack = 31 * 24 * time.Hour

// TrackPage returns how many positions a filter lets through, and the filter by which Track reads one page of them and
// little else. What is asked for as the page has an offset and a limit, and begins where the whole does or behind a
// cursor.
func TrackPage(ctx context.Context, db driver.Conn, whole, page TrackFilter) (total int, part TrackFilter, err error) {
	if whole.Every != 0 || page.Limit == 0 || until(whole.To)-int64(whole.From) < longTrack.Milliseconds() {
		total, err = CountTrack(ctx, db, whole)
		return total, page, err
	}
	distinct, final, flags, direction := "DISTINCT", "", "", int8(1)
	if whole.With != 0 || whole.Without != 0 {
		distinct, final = "", "FINAL"
		flags = "AND bitAnd(flags, {without:UInt32}) = 0 AND ({with:UInt32} = 0 OR bitAnd(flags, {with:UInt32}) != 0)"
	}
	if page.Descending {
		direction = -1
	}
	text := strings.NewReplacer("/*most*/", strconv.Itoa(page.Offset+page.Limit), "/*distinct*/", distinct,
		"/*final*/", final, "/*flags*/", flags).Replace(schemas.Query("positions_page"))
	var n, length uint64
	var first, last int64
	err = db.QueryRow(ctx, text, whole.named(clickhouse.Named("page_from", int64(max(page.From, 0))),
		clickhouse.Named("page_to", until(page.To)), clickhouse.Named("direction", direction),
		clickhouse.Named("offset", uint64(page.Offset)),
		clickhouse.Named("limit", uint64(page.Limit)))...).Scan(&n, &first, &last, &length)
	if err != nil {
		return 0, page, fmt.Errorf("find a page of the track of %s: %w", whole.Vehicle, err)
	}
	page.Offset = 0
	page.From, page.To = fleet.Millis(min(first, last)), fleet.Millis(max(first, last)+1)
	if length == 0 {
		page.From, page.To = 1, 1 // nothing, and 0 would mean no end
	}
	return int(n), page, nil
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
