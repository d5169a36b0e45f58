package user

import (
	"context"
	"time"

	"github.com/motorpool/fleet"
)

// EndedAt is when the sessions of a person were ended all at once, by a new password or on request, to within Remember;
// zero if they never were. What the person granted to programs until then ends with them.
func (a *API) EndedAt(ctx context.Context, account fleet.AccountID, user fleet.UserID) (time.Time, error) {
	is, err := a.who(ctx, account, user)
	return is.endedAt, err
}
