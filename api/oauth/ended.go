package oauth

import (
	"context"
	"time"

	"github.com/motorpool/fleet"
)

// overSince says whether a person ended all that they were signed in with, as a new password does, at or after they
// granted something. What they granted ends with it.
func (a *API) overSince(
	ctx context.Context, account fleet.AccountID, user fleet.UserID, granted time.Time,
) (bool, error) {
	if a.Settings.EndedAt == nil {
		return false, nil
	}
	ended, err := a.Settings.EndedAt(ctx, account, user)
	return err == nil && !ended.IsZero() && !granted.After(ended), err
}
