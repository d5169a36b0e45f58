package track

import (
	"fmt"
	"testing"
	"time"
)

// Days of a span end, also in a zone in which a midnight is missing: each of them has its date once.
func TestQualityDaysEndWhereMidnightIsMissing(t *testing.T) {
	zone, err := time.LoadLocation("America/Santiago")
	if err != nil {
		t.Fatal(err)
	}
	var days []string
	for _, d := range (&figures{}).days(1, nil, nil, time.Date(2026, 9, 5, 0, 0, 0, 0, zone),
		time.Date(2026, 9, 8, 0, 0, 0, 0, zone)) {
		days = append(days, d.DayOn)
	}
	if got, want := fmt.Sprint(days), "[2026-09-05 2026-09-06 2026-09-07]"; got != want {
		t.Errorf("the days are %s, want %s", got, want)
	}
}
