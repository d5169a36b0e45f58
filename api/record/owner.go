package record

import (
	"context"
	"fmt"

	"github.com/motorpool/fleet"
)

// Own writes down that an operator gives unique ids of trackers to an account, whoever had them: from now on no other
// account can register them, and what a device of another account has of them counts for nothing. kept says whether the
// account gets what was kept apart of them before it registers them; otherwise it gets what comes from its registration
// on. Of several words on a unique id the last holds.
func (s *Store) Own(ctx context.Context, account fleet.AccountID, kept bool, uniqueIDs ...string) error {
	// The same may be said again after something else was said: by its content the server would take that
	// for a repetition.
	ctx = WithToken(ctx, fmt.Sprintf("owner:%d", RandomID()))
	batch, err := s.db.PrepareBatch(ctx, "INSERT INTO device_owners (unique_id, account, kept)")
	if err != nil {
		return fmt.Errorf("give devices to %s: %w", account, err)
	}
	for _, uniqueID := range uniqueIDs {
		if err := batch.Append(uniqueID, uint64(account), kept); err != nil {
			batch.Abort()
			return fmt.Errorf("give devices to %s: %w", account, err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("give devices to %s: %w", account, err)
	}
	return nil
}
