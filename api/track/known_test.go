package track

import (
	"testing"
	"time"

	"github.com/motorpool/fleet/query"
)

// What is said of a vehicle by the name of something else, as a warning of an issue is, is never kept ready, as nothing
// that is known of the vehicle tells when that name changes; nor is what every instant changes.
func TestWhatSpeaksOfSomethingElseByItsNameIsNotKeptReady(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	past := query.Hold{Ref: "bkg_1", From: now.Add(-2 * time.Hour), Until: now.Add(-time.Hour)}
	late := past
	late.Open = true
	for _, c := range []struct {
		why   string
		known known
		ready bool
	}{
		{"nothing is known", known{rare: &nothingRare}, true},
		{"a hold that is over", known{rare: &rare{holds: []query.Hold{past}}}, true},
		{"a hold that lasts until now", known{rare: &rare{holds: []query.Hold{late}}}, false},
		{"an open issue, which a warning names", known{rare: &rare{unsafe: []uint64{7}}}, false},
	} {
		if until := c.known.shownUntil(now, time.Time{}); until.After(now) != c.ready {
			t.Errorf("%s: it is shown so until %v", c.why, until)
		}
	}
}
