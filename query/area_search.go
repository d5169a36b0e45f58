package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/ext"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// AreaFilter says which stays of vehicles inside a shape are wanted. The shape is a cover of cells and, for those that
// its border runs through, the exact test.
type AreaFilter struct {
	Account  fleet.AccountID
	Vehicles []fleet.VehicleID // only these; none means all
	From, To fleet.Millis      // [From, To) of the fix times

	Inner    []fleet.Cell                // of CellResolution, inside as a whole
	Edge     []fleet.Cell                // partly inside
	Contains func(lat, lng float64) bool // asked for the fixes in Edge; degrees

	MinDuration time.Duration // leave out spans that are shorter
	MaxFixes    int           // in the cells, above which the search is given up
	MaxSpans    int           // likewise
}

// AreaSpan is a time during which a vehicle was inside a shape: a run of fixes inside, with no more than AreaGap
// between two of them, and none outside in an absence of more than AreaBlink. What happened between two fixes is not
// guessed: a vehicle that passed through between them has no span.
type AreaSpan struct {
	Vehicle       fleet.VehicleID
	Entered, Left fleet.Millis // of the first and last fix inside, which may be the same one
	First, Last   fleet.Place  // of those fixes
	Fixes         int
}

// Bounds of what counts as one stay.
const (
	AreaGap   = 10 * time.Minute // without any fix inside for longer, a vehicle has left
	AreaBlink = time.Minute      // out for less is not out: noise at the border
)

// areaDoubts are the flags of fixes whose place is not to be trusted, beside that of a jump. Lateness and parked drift
// say nothing against it: a tracker that sends its night in the morning was there all the same.
const areaDoubts = fleet.FlagInvalid | fleet.FlagApproximate | fleet.FlagLowAccuracy

// ErrTooManyFixes and ErrTooManySpans say that a search has found more than its filter allows.
var (
	ErrTooManyFixes = errors.New("too many fixes")
	ErrTooManySpans = errors.New("too many spans")
)

// SearchArea returns the spans of vehicles inside a shape, by vehicle and time. It holds no more than the
// spans in memory.
func SearchArea(ctx context.Context, db driver.Conn, f AreaFilter) ([]AreaSpan, error) {
	spans, err := searchArea(ctx, db, f)
	if err != nil {
		return nil, fmt.Errorf("search area: %w", err)
	}
	return spans, nil
}

func searchArea(ctx context.Context, db driver.Conn, f AreaFilter) ([]AreaSpan, error) {
	if len(f.Inner)+len(f.Edge) == 0 {
		return nil, nil
	}
	stays, err := f.stays(ctx, db)
	if err != nil {
		return nil, err
	}
	out, err := f.absent(ctx, db, stays)
	if err != nil {
		return nil, err
	}
	var spans []AreaSpan
	for _, s := range stays {
		last := len(spans) - 1
		if s.blinked && !out[absence{s.Vehicle, spans[last].Left}] {
			spans[last].Left, spans[last].Last = s.Left, s.Last
			spans[last].Fixes += s.Fixes
			continue
		}
		spans = append(spans, s.AreaSpan)
	}
	kept := spans[:0]
	for _, s := range spans {
		if time.Duration(s.Left-s.Entered)*time.Millisecond >= f.MinDuration {
			kept = append(kept, s)
		}
	}
	return kept, nil
}

// stay is a run of fixes inside without an absence of more than AreaBlink.
type stay struct {
	AreaSpan
	blinked bool // the vehicle's stay before ended no more than AreaGap ago
}

// absence is the time after a stay: its vehicle and the stay's last fix.
type absence struct {
	vehicle fleet.VehicleID
	since   fleet.Millis
}

// stays reads the fixes in the cells and puts those inside together.
func (f *AreaFilter) stays(ctx context.Context, db driver.Conn) ([]stay, error) {
	cells, edge := f.cover()
	// Ending this context makes the driver give up what the server still wants to send.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	vehicles := make([]uint64, len(f.Vehicles))
	for i, v := range f.Vehicles {
		vehicles[i] = uint64(v)
	}
	var stays []stay
	var vehicle, cell uint64
	var at int64
	var lat7, lng7 int32
	var jumped bool
	var jumper, jumperCell uint64 // of the last jump
	var jumperAt int64
	n := 0
	args := []any{
		clickhouse.Named("account", uint64(f.Account)), clickhouse.Named("from", int64(f.From)),
		clickhouse.Named("to", int64(f.To)), clickhouse.Named("without", uint32(areaDoubts)),
		clickhouse.Named("jump", uint32(fleet.FlagJump)), clickhouse.Named("cells", cells),
		clickhouse.Named("vehicles", vehicles),
	}
	err := schemas.EachRow(ctx, db, "read fixes", schemas.Query("area_fixes"), args, func(row schemas.Row) error {
		if n++; n > f.MaxFixes {
			return ErrTooManyFixes
		}
		if err := row.Scan(&vehicle, &at, &lat7, &lng7, &cell, &jumped); err != nil {
			return err
		}
		if jumped {
			jumper, jumperAt, jumperCell = vehicle, at, cell
		}
		if jumper == vehicle && jumperAt == at && jumperCell == cell {
			return nil
		}
		place := fleet.Place{Lat: fleet.CoordinateOf(lat7), Lng: fleet.CoordinateOf(lng7)}
		if edge[cell] && !f.Contains(place.Lat, place.Lng) {
			return nil
		}
		now := stay{AreaSpan: AreaSpan{
			Vehicle: fleet.VehicleID(vehicle), Entered: fleet.Millis(at), Left: fleet.Millis(at), First: place,
			Last: place, Fixes: 1,
		}}
		if len(stays) > 0 {
			if last := &stays[len(stays)-1]; last.Vehicle == now.Vehicle {
				away := time.Duration(now.Entered-last.Left) * time.Millisecond
				switch {
				case away == 0:
					return nil // a duplicate that is not merged yet
				case away <= AreaBlink:
					last.Left, last.Last = now.Left, place
					last.Fixes++
					return nil
				}
				now.blinked = away <= AreaGap
			}
		}
		if len(stays) == f.MaxSpans {
			return ErrTooManySpans
		}
		stays = append(stays, now)
		return nil
	})
	return stays, err
}

// cover returns the cells, and which of them need the exact test.
func (f *AreaFilter) cover() (cells []uint64, edge map[uint64]bool) {
	edge = make(map[uint64]bool, len(f.Edge))
	for _, cell := range f.Edge {
		edge[uint64(cell)] = true
	}
	for _, cell := range slices.Concat(f.Inner, f.Edge) {
		cells = append(cells, uint64(cell))
	}
	return cells, edge
}

// absent says in which of the absences between two stays the vehicle was seen elsewhere.
func (f *AreaFilter) absent(ctx context.Context, db driver.Conn, stays []stay) (map[absence]bool, error) {
	absences, err := ext.NewTable("absences", ext.Column("vehicle", "UInt64"), ext.Column("since", "Int64"),
		ext.Column("until", "Int64"))
	if err != nil {
		return nil, err
	}
	hours, err := ext.NewTable("hours", ext.Column("vehicle", "UInt64"), ext.Column("hour", "UInt32"))
	if err != nil {
		return nil, err
	}
	asked := false
	for i, s := range stays {
		if !s.blinked {
			continue
		}
		asked = true
		since, until := int64(stays[i-1].Left), int64(s.Entered)
		if err := absences.Append(uint64(s.Vehicle), since, until); err != nil {
			return nil, err
		}
		const hour = 3600 * 1000
		for h := since / hour; h <= until/hour; h++ {
			if err := hours.Append(uint64(s.Vehicle), uint32(h*hour/1000)); err != nil {
				return nil, err
			}
		}
	}
	if !asked {
		return nil, nil
	}
	out := make(map[absence]bool)
	args := []any{
		clickhouse.Named("account", uint64(f.Account)), clickhouse.Named("without", uint32(areaDoubts)),
		clickhouse.Named("jump", uint32(fleet.FlagJump)),
	}
	ctx = clickhouse.Context(ctx, clickhouse.WithExternalTable(absences, hours))
	err = schemas.EachRow(ctx, db, "read absences", schemas.Query("area_absences"), args, func(row schemas.Row) error {
		var vehicle uint64
		var since int64
		if err := row.Scan(&vehicle, &since); err != nil {
			return err
		}
		out[absence{fleet.VehicleID(vehicle), fleet.Millis(since)}] = true
		return nil
	})
	return out, err
}

// VehiclesTagged returns the vehicles of an account that have one of the tags, archived ones too.
func VehiclesTagged(ctx context.Context, db driver.Conn, account fleet.AccountID,
	tags []string) ([]fleet.VehicleID, error) {
	return schemas.AllRows(ctx, db, "find tagged vehicles", schemas.Query("area_vehicles"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("tags", tags),
	}, func(v *fleet.VehicleID, row schemas.Row) error {
		return row.Scan((*uint64)(v))
	})
}
