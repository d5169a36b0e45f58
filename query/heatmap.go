package query

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// HeatFilter says what a heat map is of.
type HeatFilter struct {
	Account    fleet.AccountID
	Vehicle    fleet.VehicleID // 0 means all
	From, To   fleet.Millis    // [From, To) of the fix times
	Box        Box             // only fixes inside; World for all
	Resolution int             // of the cells: CellResolution or coarser
	Limit      int             // at most as many cells
}

// HeatCell is a cell of a heat map.
type HeatCell struct {
	Cell     fleet.Cell // of the filter's resolution
	Fixes    int
	Vehicles int           // distinct
	Time     time.Duration // all vehicles' together
}

// HeatCap is the most time that one fix counts for: after that nobody knows where the vehicle was.
const HeatCap = 5 * time.Minute

// Heatmap returns the cells with fixes in the order of their numbers. Fixes whose place is not to be
// trusted are left out.
func Heatmap(ctx context.Context, db driver.Conn, f HeatFilter) ([]HeatCell, error) {
	var cells []HeatCell
	err := schemas.EachRow(ctx, db, "read heat map", schemas.Query("heatmap_cells"), []any{
		clickhouse.Named("account", uint64(f.Account)), clickhouse.Named("vehicle", uint64(f.Vehicle)),
		clickhouse.Named("from", int64(f.From)), clickhouse.Named("to", int64(f.To)),
		clickhouse.Named("west", fleet.StoredCoordinate(f.Box.West)),
		clickhouse.Named("south", fleet.StoredCoordinate(f.Box.South)),
		clickhouse.Named("east", fleet.StoredCoordinate(f.Box.East)),
		clickhouse.Named("north", fleet.StoredCoordinate(f.Box.North)),
		clickhouse.Named("resolution", uint8(f.Resolution)),
		clickhouse.Named("without", uint32(areaDoubts|fleet.FlagJump)), clickhouse.Named("cap", HeatCap.Milliseconds()),
		clickhouse.Named("limit", uint64(f.Limit)),
	}, func(row schemas.Row) error {
		var cell, fixes, vehicles uint64
		var spent int64
		if err := row.Scan(&cell, &fixes, &vehicles, &spent); err != nil {
			return err
		}
		cells = append(cells, HeatCell{
			Cell: fleet.Cell(cell), Fixes: int(fixes), Vehicles: int(vehicles), Time: time.Duration(spent) * time.Millisecond,
		})
		return nil
	})
	return cells, err
}
