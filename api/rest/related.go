package rest

import (
	"context"
	"slices"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// relatedFunc shows records that others name, by their written ids. A resource gives it when it registers, so that
// nobody has to know the resource whose records expand= asks for.
type relatedFunc func(ctx context.Context, account fleet.AccountID, ids []uint64) (map[string]any, error)

// showByID is the relatedFunc of a resource.
func (s *Resource[T]) showByID(ctx context.Context, account fleet.AccountID, ids []uint64) (map[string]any, error) {
	found, err := s.Server.RecordsByID(ctx, s.Listing, account, ids)
	if err != nil {
		return nil, err
	}
	records := make([]record.Record[T], 0, len(found))
	for _, stored := range found {
		rec, err := FromStored[T](account, stored)
		if err != nil {
			return nil, err
		}
		records = append(records, rec)
	}
	views, err := s.Show(ctx, records, nil)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]any, len(views))
	for i, v := range views {
		byID[fleet.FormatID(s.Log.Kind().Prefix, records[i].ID)] = v.View
	}
	return byID, nil
}

// RelatedTo shows the records of another kind that some records name, by their written ids.
func RelatedTo[T any](
	ctx context.Context, a *Server, l *query.Listing, prefix string, records []record.Record[T], of func(*T) string,
) (map[string]any, error) {
	var ids []uint64
	for i := range records {
		if id, err := fleet.ParseID(prefix, of(&records[i].Body)); err == nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return a.Related[l](ctx, records[0].Account, ids)
}
