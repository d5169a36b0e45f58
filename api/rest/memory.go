package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
)

// ListOf is query.List, from memory where that can tell. Whoever is answered is not shown anything older by the next
// answer of this process.
func (a *Server) ListOf(ctx context.Context, l *query.Listing, req query.ListRequest) (query.ListPage, error) {
	if page, ok, err := a.Roster.List(ctx, l, req); ok || err != nil {
		return page, err
	}
	defer a.Roster.Showed(req.Account, l)
	return query.List(ctx, a.DB, l, req)
}

// LatestPositions is query.LatestPositions with what query.CountLatest tells, from memory where that can tell. They are
// shared, and must not be changed.
func (a *Server) LatestPositions(ctx context.Context, f query.LatestFilter) (found []*query.Latest, total int,
	err error) {
	if found, total, ok := a.Roster.Latest(ctx, f); ok {
		return found, total, nil
	}
	defer a.Roster.ShowedPlaces(f.Account)
	if found, err = query.LatestPositions(ctx, a.DB, f); err != nil {
		return nil, 0, err
	}
	if first := f.AfterDistance == 0 && f.AfterVehicle == 0 && f.Offset == 0; first && len(found) < f.Limit {
		return found, len(found), nil // all of them are here
	}
	total, err = query.CountLatest(ctx, a.DB, f)
	return found, total, err
}

// RecordsByID is query.RecordsByID, from memory where that can tell.
func (a *Server) RecordsByID(ctx context.Context, l *query.Listing, account fleet.AccountID,
	ids []uint64) (map[uint64]query.Stored, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, rest := a.Roster.ByID(ctx, l, account, ids)
	if len(rest) == 0 {
		return found, nil
	}
	defer a.Roster.Showed(account, l)
	stored, err := query.RecordsByID(ctx, a.DB, l, account, rest)
	if err != nil {
		return nil, err
	}
	maps.Copy(stored, found)
	return stored, nil
}

// ZoneNames is query.ReadZoneNames, from memory where that can tell.
func (a *Server) ZoneNames(ctx context.Context, account fleet.AccountID,
	vehicles []fleet.VehicleID) (query.ZoneNames, error) {
	wanted := make([]uint64, len(vehicles))
	for i, v := range vehicles {
		wanted[i] = uint64(v)
	}
	home, rest := a.Roster.ByID(ctx, &query.AccountRecords, account, []uint64{uint64(account)})
	var found map[uint64]query.Stored
	if len(rest) == 0 {
		found, rest = a.Roster.ByID(ctx, &query.Vehicles, account, wanted)
	}
	if len(rest) > 0 {
		defer a.Roster.Showed(account, &query.Vehicles)
		return query.ReadZoneNames(ctx, a.DB, account, vehicles)
	}
	named := make(query.ZoneNames, len(found)+1)
	for id, stored := range found {
		name, err := zoneNameIn(stored)
		if err != nil {
			return nil, err
		}
		named[fleet.VehicleID(id)] = name
	}
	name, err := zoneNameIn(home[uint64(account)])
	named[0] = name
	return named, err
}

// zoneNameIn returns the name of the time zone that a vehicle or an account says.
func zoneNameIn(stored query.Stored) (string, error) {
	var of struct {
		Timezone string `json:"timezone"`
	}
	if err := json.Unmarshal([]byte(stored.Body), &of); err != nil {
		return "", fmt.Errorf("decode record %d: %w", stored.ID, err)
	}
	return of.Timezone, nil
}
