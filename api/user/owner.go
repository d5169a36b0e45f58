package user

import (
	"context"
	"errors"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// An account is never left without an owner who can sign in. A change after which an owner cannot is made while no
// other of its kind is made in the account, at any process, and only if another owner is left.

// owns says whether a person is an owner who can sign in.
func owns(rec *record.Record[record.User]) bool {
	return rec.Body.Role == string(auth.Owner) && state(&rec.Body) == stateActive && !rec.Archived()
}

// allow may refuse a change of a person, of whom it is given what they were and will be.
type allow func(before, after *record.Record[record.User]) error

// of is a change that may be refused.
func (a allow) of(change func(*record.Record[record.User]) error) func(*record.Record[record.User]) error {
	return func(rec *record.Record[record.User]) error {
		before := *rec
		if err := change(rec); err != nil {
			return err
		}
		return a(&before, rec)
	}
}

// errLoses says that after a change an owner cannot sign in any more.
var errLoses = errors.New("an owner cannot sign in any more")

// errLastOwner refuses that of the last one.
var errLastOwner = fleet.NewError(fleet.CodeConflict, "This is the last owner who can sign in. Have somebody else be an "+
	"owner before, who has chosen a password; or the operator helps with 'motorpool user'.")

// keepingOwner makes a change of a person of an account, which must ask what it is given whether it is allowed. The
// person is looked up anew then.
func (a *API) keepingOwner(ctx context.Context, account fleet.AccountID, id uint64, change func(allow) error) error {
	defer a.people.Remove(personKey{account, fleet.UserID(id)})
	err := change(func(before, after *record.Record[record.User]) error {
		if owns(before) && !owns(after) {
			return errLoses
		}
		return nil
	})
	if !errors.Is(err, errLoses) {
		return err
	}
	return a.Store.Alone(ctx, "user.owners", account.String(), func() error {
		another, err := a.anotherOwner(ctx, account, id)
		if err != nil {
			return err
		}
		return change(func(before, after *record.Record[record.User]) error {
			if owns(before) && !owns(after) && !another {
				return errLastOwner
			}
			return nil
		})
	})
}

// anotherOwner says whether an account has an owner who can sign in, but for one. The table of current people only says
// where to look.
func (a *API) anotherOwner(ctx context.Context, account fleet.AccountID, but uint64) (bool, error) {
	ids, err := query.OtherOwners(ctx, a.DB, account, but)
	if err != nil {
		return false, err
	}
	for _, id := range ids {
		rec, err := a.users.Get(ctx, account, id)
		if err != nil || owns(&rec) {
			return err == nil, err
		}
	}
	return false, nil
}
