package record

import (
	"testing"
	"time"
)

// What calendars keep for drafts they keep for a while: who comes to write when half of it is over does not write them
// together, but each upon its own calendar, which tells whether it has been given to somebody else.
func TestDraftsAreNotWrittenTogetherLongAfterTheirGates(t *testing.T) {
	s := &Store{cfg: DefaultConfig()} // and no server: whoever inserts falls
	var drafts []*Draft
	for _, ago := range []time.Duration{0, 6 * time.Second} {
		drafts = append(drafts, &Draft{under: s, stands: &Standing{}, held: &revision{number: 1},
			heldAt: time.Now().Add(-ago)})
	}
	if decided, err := s.writeHeld(t.Context(), drafts); decided || err != nil {
		t.Errorf("decided %t, %v", decided, err)
	}
}
