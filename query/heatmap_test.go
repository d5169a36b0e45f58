package query_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uber/h3-go/v4"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestHeatOfCells(t *testing.T) {
	db := schematest.Open(t)
	insertSeen(t, db, mine,
		// 20 s here, then 300 of 1000 there
		seen{vehicle: 1, at: 0}, seen{vehicle: 1, at: 10}, seen{vehicle: 1, at: 20, east: outside},
		seen{vehicle: 1, at: 1020}, // its last: nobody knows how long
		seen{vehicle: 2, at: 5}, seen{vehicle: 2, at: 5}, seen{vehicle: 2, at: 6, flags: fleet.FlagJump},
		seen{vehicle: 2, at: 35, flags: fleet.FlagLate},
	)
	insertSeen(t, db, theirs, seen{vehicle: 1, at: 0})
	here, there := cellOf(t, midLat, midLng), cellOf(t, midLat, midLng+outside)
	f := query.HeatFilter{Account: mine, From: noon, To: noon + 3600_000, Box: query.World,
		Resolution: fleet.CellResolution, Limit: 100}
	heat := func(f query.HeatFilter) map[fleet.Cell]query.HeatCell {
		cells, err := query.Heatmap(t.Context(), db, f)
		if err != nil {
			t.Fatal(err)
		}
		byCell := map[fleet.Cell]query.HeatCell{}
		for _, c := range cells {
			byCell[c.Cell] = c
		}
		return byCell
	}
	cell := func(c fleet.Cell, fixes, vehicles int, seconds time.Duration) query.HeatCell {
		return query.HeatCell{Cell: c, Fixes: fixes, Vehicles: vehicles, Time: seconds * time.Second}
	}
	whole := map[fleet.Cell]query.HeatCell{here: cell(here, 5, 2, 50), there: cell(there, 1, 1, 300)}
	if diff := cmp.Diff(whole, heat(f)); diff != "" {
		t.Error(diff)
	}
	// The time of a fix inside the box goes up to the vehicle's next one, which may be outside.
	f.Box = query.Box{West: midLng - 0.01, South: midLat - 0.01, East: midLng + 0.01, North: midLat + 0.01}
	if diff := cmp.Diff(map[fleet.Cell]query.HeatCell{here: whole[here]}, heat(f)); diff != "" {
		t.Error(diff)
	}
	f.Box, f.Vehicle = query.World, 2
	if diff := cmp.Diff(map[fleet.Cell]query.HeatCell{here: cell(here, 2, 1, 30)}, heat(f)); diff != "" {
		t.Error(diff)
	}
	f.Vehicle, f.To = 0, noon+20_000
	if diff := cmp.Diff(map[fleet.Cell]query.HeatCell{here: cell(here, 3, 2, 10)}, heat(f)); diff != "" {
		t.Error(diff)
	}
	f.To, f.Resolution = noon+3600_000, 5
	parent, err := h3.Cell(here).Parent(5)
	if err != nil {
		t.Fatal(err)
	}
	got := heat(f)
	sum := query.HeatCell{}
	for _, c := range got {
		sum.Fixes, sum.Time = sum.Fixes+c.Fixes, sum.Time+c.Time
	}
	if c := got[fleet.Cell(parent)]; c.Vehicles != 2 || sum.Fixes != 6 || sum.Time != 350*time.Second {
		t.Errorf("at resolution 5: %v", got)
	}
	f.Limit, f.Resolution = 1, fleet.CellResolution
	if got := heat(f); len(got) != 1 {
		t.Errorf("%d cells of a limit of 1", len(got))
	}
}
