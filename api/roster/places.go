package roster

import (
	"context"
	"math"
	"sort"
	"unsafe"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
)

// newPlaces makes the memory of the last known positions of vehicles.
func newPlaces(r *Roster) *whole[query.Latest] {
	read := func(ctx context.Context, account fleet.AccountID, ids []uint64) (rows []*keptRow[query.Latest],
		err error) {
		f := query.LatestFilter{Account: account, Box: query.World, Limit: math.MaxInt32}
		for _, id := range ids {
			f.Vehicles = append(f.Vehicles, fleet.VehicleID(id))
		}
		const size = uint64(unsafe.Sizeof(keptRow[query.Latest]{}))
		err = query.EachLatest(ctx, r.db, f, func(l query.Latest) {
			rows = append(rows, &keptRow[query.Latest]{uint64(l.Vehicle), size, l})
		})
		return rows, err
	}
	return newWhole(r, "positions", read, ofPlace)
}

// Latest is query.LatestPositions from memory, with what query.CountLatest tells; false if only the store can tell, as
// it alone does of distances. They are shared, and must not be changed.
func (r *Roster) Latest(ctx context.Context, f query.LatestFilter) (found []*query.Latest, total int, ok bool) {
	if r == nil || r.off.Load() || f.Near != nil || f.Offset < 0 || f.Limit < 1 {
		return nil, 0, false
	}
	all, ok := r.places.all(ctx, f.Account, r.cfg.Lag)
	if r.metrics.answered(ok); !ok {
		return nil, 0, false
	}
	from := 0
	after := func(i int) bool { return f.AfterDistance == 0 && fleet.VehicleID(all[i].id) > f.AfterVehicle }
	west, east := fleet.StoredCoordinate(f.Box.West), fleet.StoredCoordinate(f.Box.East)
	south, north := fleet.StoredCoordinate(f.Box.South), fleet.StoredCoordinate(f.Box.North)
	if len(f.Vehicles) > 0 || f.Box != query.World {
		wanted := make(map[fleet.VehicleID]bool, len(f.Vehicles))
		for _, id := range f.Vehicles {
			wanted[id] = true
		}
		var some []*keptRow[query.Latest]
		for _, one := range all {
			l := &one.value
			lat, lng := fleet.StoredCoordinate(l.Lat), fleet.StoredCoordinate(l.Lng)
			if len(wanted) > 0 && !wanted[l.Vehicle] || lat < south || lat > north ||
				west <= east && (lng < west || lng > east) || west > east && lng < west && lng > east {
				continue
			}
			some = append(some, one)
		}
		all = some
	}
	from = min(sort.Search(len(all), after)+f.Offset, len(all))
	page := all[from:min(from+f.Limit, len(all))]
	found = make([]*query.Latest, len(page))
	for i, one := range page {
		found[i] = &one.value
	}
	return found, len(all), true
}

// ShowedPlaces notes that a position of an account was read in the store, after which no older places are shown.
func (r *Roster) ShowedPlaces(account fleet.AccountID) {
	if r != nil {
		r.places.wrote(account, ofPlace, r.clock())
	}
}
