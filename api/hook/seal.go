package hook

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/seal"
)

// SealAgain seals with the first of the keys what of an endpoint is sealed with another, and says whether anything was.
// Secrets that have ended are left out: nobody needs them. One that was archived meanwhile, or is not there, stays as
// it is.
func SealAgain(ctx context.Context, endpoints *record.Log[record.WebhookEndpoint], keys *seal.Ring, by record.Author,
	account fleet.AccountID, id uint64) (again bool, err error) {
	_, err = endpoints.Update(ctx, by, account, id, 0, func(rec *record.Record[record.WebhookEndpoint]) error {
		b := &rec.Body
		b.Secrets, b.Headers, again = live(b.Secrets, time.Now()), maps.Clone(b.Headers), false
		if rec.Archived() {
			return nil
		}
		renew := func(purpose, sealed string) (string, error) {
			if !keys.Stale(sealed) {
				return sealed, nil
			}
			secret, err := keys.Open(purpose, sealed)
			if err != nil {
				return "", err
			}
			again = true
			return keys.Seal(purpose, secret)
		}
		var err error
		for i := range b.Secrets {
			s := &b.Secrets[i]
			if s.Sealed, err = renew(SecretPurpose(rec.ID, s.ID), s.Sealed); err != nil {
				return err
			}
		}
		for name, sealed := range b.Headers {
			if b.Headers[name], err = renew(HeaderPurpose(rec.ID, name), sealed); err != nil {
				return err
			}
		}
		return nil
	})
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return false, nil
	}
	if err != nil {
		err = fmt.Errorf("seal the secrets of %s again: %w", fleet.FormatID(fleet.WebhookEndpointPrefix, id), err)
	}
	return again, err
}
