package user

import (
	"context"
	"fmt"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/seal"
)

// SealAgain seals with the first of the keys what of a person is sealed with another, and says whether anything was. A
// secret that waits for its first code and cannot be opened any more is dropped: its person begins anew.
func SealAgain(ctx context.Context, users *record.Log[record.User], keys *seal.Ring, by record.Author,
	account fleet.AccountID, id uint64) (again bool, err error) {
	_, err = users.Update(ctx, by, account, id, 0, func(rec *record.Record[record.User]) error {
		again = false
		if rec.Archived() {
			return nil
		}
		b, purpose := &rec.Body, totpPurpose(rec.ID)
		if keys.Stale(b.TOTPPending) {
			secret, err := keys.Open(purpose, b.TOTPPending)
			if again, b.TOTPPending = true, ""; err == nil {
				if b.TOTPPending, err = keys.Seal(purpose, secret); err != nil {
					return err
				}
			}
		}
		if !keys.Stale(b.TOTPSealed) {
			return nil
		}
		secret, err := keys.Open(purpose, b.TOTPSealed)
		if err != nil {
			return err
		}
		again = true
		b.TOTPSealed, err = keys.Seal(purpose, secret)
		return err
	})
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return false, nil
	}
	if err != nil {
		err = fmt.Errorf("seal the second factor of %s again: %w", fleet.FormatID(fleet.UserPrefix, id), err)
	}
	return again, err
}
