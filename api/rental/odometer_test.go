package rental_test

import (
	"testing"
	"time"

	"github.com/motorpool/fleet/api/rental"
)

// What a clerk types is believed if a car may have been driven so far, and doubted if a digit is too many, too few or
// in the wrong place.
func TestAnOdometerIsDoubtedIfNobodyDrivesSo(t *testing.T) {
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	read := func(days float64, mi float64) *rental.Reading {
		return &rental.Reading{At: noon.Add(time.Duration(days * 24 * float64(time.Hour))), Mi: mi}
	}
	for _, c := range []struct {
		mi            float64
		before, after *rental.Reading
		want          string
	}{
		{200_000, nil, nil, ""}, // nobody knows better
		{20_350, read(-2, 20_000), nil, ""},
		{19_990, read(-2, 20_000), nil, ""}, // the tracker is a little ahead
		{21_900, read(-2, 20_000), nil, ""},
		{22_100, read(-2, 20_000), nil, "22100 mi, 2100 mi more than the 20000 mi that it showed 2 days before"},
		{35_000, read(-30, 20_000), nil, ""},
		{200_000, read(-2, 20_000), nil, "200000 mi, 180000 mi more than the 20000 mi that it showed 2 days before"},
		{200_000, read(-900, 20_000), nil, "200000 mi, 180000 mi more than the 20000 mi that it showed 900 days before"},
		{2_000, read(-2, 20_000), nil, "2000 mi, 18000 mi less than the 20000 mi that it showed 2 days before"},
		{12_000, read(0, 21_000), nil, "12000 mi, 9000 mi less than the 21000 mi that it showed just before"},
		{200_000, &rental.Reading{At: noon.AddDate(0, 0, -2), Mi: 20_000, Acquired: true}, nil,
			"200000 mi, 180000 mi more than the 20000 mi that it showed when it was acquired"},
		{20_100, read(-2, 20_000), read(1, 20_300), ""},
		{25_000, read(-20, 20_000), read(1, 20_300),
			"25000 mi, which does not go with the 20300 mi that it showed 1 day after"},
		{2_000, nil, read(1, 20_300), "2000 mi, which does not go with the 20300 mi that it showed 1 day after"},
	} {
		if got := rental.Doubtful(rental.Reading{At: noon, Mi: c.mi}, c.before, c.after); got != c.want {
			t.Errorf("%v after %v before %v: %q, want %q", c.mi, c.before, c.after, got, c.want)
		}
	}
}
