package oauth

import (
	"context"
	"time"

	"github.com/motorpool/fleet"
)

// overSince says whether a person ended all that they were signed in with, as a new password does, at or after the
// session began in which they granted something. What they granted ends with it, also if that process had not yet heard
// that the session was over.
func (a *API) overSince(
	ctx context.Context, account fleet.AccountID, user fleet.UserID, since time.Time,
) (bool, error) {
	if a.Settings.EndedAt == nil {
		return false, nil
	}
	ended, err := a.Settings.EndedAt(ctx, account, user)
	return err == nil && !ended.IsZero() && !since.After(ended), err
}
