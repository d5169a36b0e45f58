package due

import (
	"errors"
	"testing"

	"github.com/motorpool/fleet/api/record"
)

// Every move of a reminder: legal, or refused with where it may go.
func TestMovesOfAReminder(t *testing.T) {
	all := append(append([]string{}, Stages...), Resolved, Dismissed)
	for _, from := range all {
		for _, to := range all {
			r := record.Reminder{Stage: from}
			err := Move(&r, "rem_1", to, record.Instant{})
			legal := from == to || Open(from)
			refused, isRefusal := errors.AsType[*record.TransitionError](err)
			switch {
			case legal && (err != nil || r.Stage != to):
				t.Errorf("%s to %s: %v", from, to, err)
			case !legal && (!isRefusal || r.Stage != from || refused.Current != from || refused.Wanted != to ||
				refused.Allowed == nil || len(refused.Allowed) != 0):
				t.Errorf("%s to %s: %v", from, to, err)
			}
		}
	}
	if err := Move(&record.Reminder{Stage: Due}, "rem_1", "gone", record.Instant{}); err == nil {
		t.Error("moved to a stage that is none")
	}
}
