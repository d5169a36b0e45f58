package api

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// existsOne is exist for a member that names one record, or none.
func (a *API) existsOne(r *http.Request, listing *query.Listing, prefix, text, pointer, noun string) error {
	if text == "" {
		return nil
	}
	id, _ := fleet.ParseID(prefix, text)
	found, err := query.RecordsByID(r.Context(), a.DB, listing, auth.From(r.Context()).Account, []uint64{id})
	if err == nil && len(found) == 0 {
		err = validation(fleet.NoSuch(pointer, noun, prefix, text))
	}
	return err
}

// exist refuses ids of which the account has no record, archived or not; the pointer of each is pointer and its place.
func (a *API) exist(r *http.Request, listing *query.Listing, prefix string, texts []string, pointer, noun string) error {
	ids := make([]uint64, len(texts))
	for i, text := range texts {
		ids[i], _ = fleet.ParseID(prefix, text) // zero, which is nobody's, if it is no id
	}
	found, err := query.RecordsByID(r.Context(), a.DB, listing, auth.From(r.Context()).Account, ids)
	if err != nil {
		return err
	}
	var faults []fleet.FieldError
	for i, id := range ids {
		if _, ok := found[id]; !ok {
			faults = append(faults, fleet.NoSuch(pointer+strconv.Itoa(i), noun, prefix, texts[i]))
		}
	}
	if faults != nil {
		return validation(faults...)
	}
	return nil
}

// related shows the records of another kind that some records name.
func related[T, R any](ctx context.Context, a *API, l *query.Listing, prefix string, records []record.Record[T], of func(*T) string,
	show func(context.Context, []record.Record[R], []string) ([]shown, error)) ([]shown, error) {
	var ids []uint64
	for i := range records {
		if id, err := fleet.ParseID(prefix, of(&records[i].Body)); err == nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	found, err := query.RecordsByID(ctx, a.DB, l, records[0].Account, ids)
	if err != nil {
		return nil, err
	}
	var others []record.Record[R]
	for _, stored := range found {
		rec, err := fromStored[R](records[0].Account, stored)
		if err != nil {
			return nil, err
		}
		others = append(others, rec)
	}
	return show(ctx, others, nil)
}
