package user

import (
	"context"
	"net/http"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// visitor is who is at a browser: their session, and who they were when their request was let in.
type visitor struct {
	*record.Record[record.User]
	session *query.Session
}

// visitor is who is at a browser with a session that proved so much; nil if nobody is. What is believed of a session
// for a moment is enough to look at something. Here it is to change how somebody signs in, so that the person is read
// anew: what ended the session at another process ends it here, too.
func (a *API) visitor(r *http.Request, factors uint8) (*visitor, error) {
	s, err := a.session(r)
	if err != nil || s == nil || s.Factors != factors {
		return nil, err
	}
	rec, err := a.users.Get(r.Context(), s.Account, uint64(s.User))
	if err != nil {
		return nil, err
	}
	if rec.Archived() || rec.Body.Disabled || !s.BeganAt.After(rec.Body.EndedAt.Time) {
		a.people.Remove(personKey{s.Account, s.User})
		return nil, nil
	}
	return &visitor{&rec, s}, nil
}

// stands says whether somebody is still who a request knew: they may sign in, and neither their password nor the end of
// their sessions is another one. What was proved, or granted by a session, before that says nothing after it.
func stands(knew, is *record.Record[record.User]) bool {
	return !is.Archived() && !is.Body.Disabled && is.Body.PasswordHash == knew.Body.PasswordHash &&
		is.Body.EndedAt.Equal(knew.Body.EndedAt.Time)
}

// errChanged refuses who does not stand any more.
var errChanged = fleet.NewError(fleet.CodeUnauthorized, "What you sign in with was changed a moment ago. Sign in again.")

// change changes a visitor who still stands when it is written, so that no request outruns a new password, or an end of
// all sessions, which came after it.
func (a *API) change(ctx context.Context, v *visitor, change func(*record.User) error) (
	after record.Record[record.User], err error) {
	err = a.keepingOwner(ctx, v.Account, v.ID, func(allowed allow) error {
		after, err = a.users.Update(ctx, by(v.Record), v.Account, v.ID, 0,
			allowed.of(func(rec *record.Record[record.User]) error {
				if !stands(v.Record, rec) {
					return errChanged
				}
				return change(&rec.Body)
			}))
		return err
	})
	return after, err
}
