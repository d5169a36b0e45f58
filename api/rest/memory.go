package rest

import (
	"context"
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
