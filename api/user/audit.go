package user

import (
	"net/http"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// What becomes of a person's password and factors follows from their record (api/account). Here is noted what no record
// has: by what sessions were begun, who ended them, and what was given in vain.

// By what a session was begun.
const (
	byPassword = "password"
	byLink     = "link"          // of the operator, in the place of the password
	byCode     = "code"          // of an app, after the password or the link
	byRecovery = "recovery_code" // alike
	byPasskey  = "passkey"
	byRenewal  = "renewed" // its person changed what they sign in with, at the browser at which they were
)

// Why a session ended, but for the instant at which all of a person do.
const (
	wasSignedOut = "signed_out"
	wasEnded     = "ended"    // by its person at another browser, or by somebody who may
	wasReplaced  = "replaced" // by another one at the same browser
)

// provedBy says by what somebody signed in: from what that changed of their record, or else as they began.
func provedBy(begun string, before, after *record.User) string {
	used := map[string]record.Instant{}
	for _, key := range before.Passkeys {
		used[key.ID] = key.LastUsedAt
	}
	for _, key := range after.Passkeys {
		if was, known := used[key.ID]; known && !key.LastUsedAt.Equal(was.Time) {
			return byPasskey
		}
	}
	switch {
	case len(after.Recovery) < len(before.Recovery):
		return byRecovery
	case after.TOTPStep != before.TOTPStep:
		return byCode
	}
	return begun
}

func (a *API) noteSession(r *http.Request, s *query.Session, act auth.Act, actor, reason string) {
	a.Noted(r.Context(), auth.Use{Account: s.Account, Actor: actor, Credential: s.ID.String(), Kind: "session", Act: act,
		Reason: reason, Client: a.ClientAddr(r), At: a.Now()})
}

// noteRefused notes that what a person proves who they are with was given wrong, or does not let them in; what it was
// is the kind. Of an address that nobody has there is nobody to be told.
func (a *API) noteRefused(r *http.Request, rec *record.Record[record.User], kind string) {
	if rec.ID == 0 {
		return
	}
	// The word tells the kinds apart: what is counted is counted by it.
	reason, id := "wrong_"+kind, fleet.FormatID(fleet.UserPrefix, rec.ID)
	switch {
	case rec.Archived():
		reason = "removed"
	case rec.Body.Disabled:
		reason = "disabled"
	}
	a.Noted(r.Context(), auth.Use{Account: rec.Account, Actor: id, Credential: id, Kind: kind, Act: auth.Refused,
		Reason: reason, Client: a.ClientAddr(r), At: a.Now()})
}
