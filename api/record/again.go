package record

import (
	"context"
	"encoding/json"
	"math"

	"github.com/motorpool/fleet"
)

// writtenPage is how many revisions EachWritten reads at a time.
const writtenPage = 200

// EachWritten hands over every revision of a record, the oldest first, as it was handed to its consequences. Revisions
// that were erased are not there.
func (s *Store) EachWritten(ctx context.Context, account fleet.AccountID, kind string, id uint64,
	do func(Written) error) error {
	var all []revision
	for below := uint64(math.MaxInt64); ; {
		page, err := s.revisions(ctx, uint64(account), kind, id, below, writtenPage)
		if err != nil {
			return err
		}
		all = append(all, page...)
		if len(page) < writtenPage {
			break
		}
		below = page[len(page)-1].number
	}
	for i := len(all) - 1; i >= 0; i-- {
		w := s.writtenOf(&all[i])
		if i+1 < len(all) {
			w.Before = json.RawMessage(all[i+1].body)
		}
		if err := do(w); err != nil {
			return err
		}
	}
	return nil
}
