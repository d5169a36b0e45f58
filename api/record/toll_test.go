package record

import (
	"errors"
	"slices"
	"testing"
)

// Each move of a toll, legal or not.
func TestTheStatesOfATollArePassedAsDrawn(t *testing.T) {
	states := []string{TollImported, TollMatched, TollUnmatched, TollBilled, TollPaid, TollDisputed, TollWaived}
	for _, c := range []struct {
		from    string
		charged bool
		to      []string
	}{
		{TollImported, false, []string{"matched", "unmatched"}},
		{TollUnmatched, false, []string{"disputed", "matched", "waived"}},
		{TollMatched, false, []string{"billed", "disputed", "unmatched", "waived"}},
		{TollBilled, true, []string{"disputed", "paid", "waived"}},
		{TollDisputed, false, []string{"matched", "waived"}},
		{TollDisputed, true, []string{"billed", "waived"}},
		{TollPaid, true, nil},
		{TollWaived, true, nil},
	} {
		for _, to := range states {
			toll := Toll{Status: c.from}
			if c.charged {
				toll.ChargeID = "chg_1"
			}
			err := toll.Move("tol_1", to)
			if legal := slices.Contains(c.to, to); legal != (err == nil) || legal != (toll.Status == to && c.from != to) {
				t.Errorf("%s (charged %v) to %s: %v, now %s", c.from, c.charged, to, err, toll.Status)
			}
			if refused, ok := errors.AsType[*TransitionError](err); ok {
				slices.Sort(refused.Allowed)
				if refused.Current != c.from || !slices.Equal(refused.Allowed, c.to) {
					t.Errorf("%s to %s names %s and %v", c.from, to, refused.Current, refused.Allowed)
				}
			}
		}
	}
}
