package record

import (
	"testing"
	"time"
)

// Whatever clock a process has that ends somebody's sessions, it ends those that began before it did.
func TestSessionsEndWhateverClockSaysSo(t *testing.T) {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	for what, u := range map[string]*User{
		"somebody who signed in at a process that is ahead": {SignedInAt: InstantOf(now.Add(time.Minute))},
		"somebody whose sessions one that is ahead ended":   {EndedAt: InstantOf(now.Add(time.Minute))},
		"somebody whose sessions were ended a moment ago":   {EndedAt: InstantOf(now)},
		"somebody who signed in a moment ago":               {SignedInAt: InstantOf(now)},
		"somebody who signed in long ago":                   {SignedInAt: InstantOf(now.Add(-time.Hour))},
	} {
		// A session begins when its person signs in, or just after all of theirs were ended.
		began := u.SignedInAt.Time
		if after := u.EndedAt.Add(time.Millisecond); !u.EndedAt.IsZero() && after.After(began) {
			began = after
		}
		if u.EndSessions(now); began.After(u.EndedAt.Time) || now.After(u.EndedAt.Time) {
			t.Errorf("%s: a session of %v goes on after %v", what, began, u.EndedAt)
		}
	}
}
