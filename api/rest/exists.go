package rest

import (
	"context"
	"net/http"
	"strconv"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// Has is the error of a record's log if an account has no record of an id, archived or not; what memory has there is.
func Has[T any](ctx context.Context, a *Server, l *query.Listing, log *record.Log[T], account fleet.AccountID,
	id uint64) error {
	if _, ok := a.Roster.Get(ctx, l, account, id); ok {
		return nil
	}
	_, err := log.Get(ctx, account, id)
	return err
}

// CheckExists is CheckAllExist for a member that names one record, or none.
func (a *Server) CheckExists(r *http.Request, listing *query.Listing, prefix, text, pointer, noun string) error {
	if text == "" {
		return nil
	}
	id, _ := fleet.ParseID(prefix, text)
	found, err := a.RecordsByID(r.Context(), listing, auth.From(r.Context()).Account, []uint64{id})
	if err == nil && len(found) == 0 {
		err = fleet.Invalid(fleet.NoSuch(pointer, noun, prefix, text))
	}
	return err
}

// CheckBooking is CheckExists for a booking. One that another process has just said to be made stands in the log before
// tables know it.
func (a *Server) CheckBooking(r *http.Request, text, pointer string) error {
	unlisted := a.CheckExists(r, &query.Bookings, fleet.BookingPrefix, text, pointer, "booking")
	if fleet.CodeOf(unlisted) != fleet.CodeValidation {
		return unlisted
	}
	ref := record.Ref{Kind: record.Bookings.Name}
	ref.ID, _ = fleet.ParseID(fleet.BookingPrefix, text)
	seen, err := a.Store.See(r.Context(), auth.From(r.Context()).Account, ref)
	if err != nil {
		return err
	}
	if _, stands := seen.Body(ref); stands {
		return nil
	}
	return unlisted
}

// CheckAllExist refuses ids of which the account has no record, archived or not; the pointer of each is pointer
// and its place.
func (a *Server) CheckAllExist(r *http.Request, listing *query.Listing, prefix string, texts []string,
	pointer, noun string) error {
	ids := make([]uint64, len(texts))
	for i, text := range texts {
		ids[i], _ = fleet.ParseID(prefix, text) // zero, which is nobody's, if it is no id
	}
	found, err := a.RecordsByID(r.Context(), listing, auth.From(r.Context()).Account, ids)
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
		return fleet.Invalid(faults...)
	}
	return nil
}
