package record

import (
	"testing"
	"time"
)

// What calendars keep for drafts they keep for a while: who comes to write later than that does not write them
// together, but each upon its own calendar, which tells whether it has been given to somebody else.
func TestDraftsAreNotWrittenTogetherLongAfterTheirGates(t *testing.T) {
	s := &Store{cfg: DefaultConfig()} // and no server: whoever inserts falls
	gate := Ref{"calendar", 1}
	draft := func(held, claimed time.Duration) *Draft {
		d := &Draft{under: s, gate: gate, stands: &Standing{}, held: &revision{number: 1},
			heads:  map[Ref]*revision{gate: {kept: &kept{made: struct{}{}}}},
			heldAt: time.Now().Add(-held), claimedAt: time.Now().Add(-claimed)}
		if claimed > 0 {
			d.claimed = []*neededClaim{{}}
		}
		return d
	}
	for _, late := range []*Draft{draft(11*time.Second, 0), draft(0, 11*time.Second)} {
		decided, err := s.writeHeld(t.Context(), []*Draft{draft(0, 0), late})
		if decided || err != nil {
			t.Errorf("held %s ago and claimed %s ago: decided %t, %v", time.Since(late.heldAt), time.Since(late.claimedAt),
				decided, err)
		}
	}
}
