package trip_test

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/fix"
	"github.com/motorpool/fleet/pipeline/trip"
)

// TestADriveWithAFrozenPlaceIsAsLongAsItsWheelsSay takes recordings of a car whose receiver renews its place each ten
// seconds or so while its wheels are told each second: the trips are as long as the sum of the speeds, within two per
// cent, and next to no fix is called a jump.
func TestADriveWithAFrozenPlaceIsAsLongAsItsWheelsSay(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(sharedData, "rabat-twizy-ev", "*.csv.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	var driven, wheels float64
	fixes, jumps := 0, 0
	for _, file := range files {
		reports := byVehicle(t, filepath.Join("rabat-twizy-ev", filepath.Base(file)))["twizy"]
		trips, j := follow(reports)
		d, w := 0.0, 0.0
		for _, trip := range trips {
			d += trip.Distance
		}
		for i := 1; i < len(reports); i++ {
			if span := reports[i].FixTime - reports[i-1].FixTime; span <= 60_000 {
				w += (reports[i].Speed + reports[i-1].Speed) / 2 * float64(span) / 1000
			}
		}
		t.Logf("%s: %.0f m, wheels %.0f m (%+.2f %%), jumps %d", filepath.Base(file), d, w, 100*(d/w-1), j)
		if math.Abs(d/w-1) > 0.02 {
			t.Errorf("%s: trips are %.0f m long, and the wheels say %.0f m", filepath.Base(file), d, w)
		}
		driven, wheels, jumps, fixes = driven+d, wheels+w, jumps+j, fixes+len(reports)
	}
	t.Logf("all: %.0f m, wheels %.0f m (%+.2f %%), jumps %d of %d", driven, wheels, 100*(driven/wheels-1), jumps, fixes)
	if jumps > 10 { // one recording leaps by 1.8 km in a second, as it was cut there
		t.Errorf("%d of %d fixes are called jumps", jumps, fixes)
	}
}

// follow returns the trips of a vehicle's reports, and how many of these are jumps.
func follow(reports []fleet.Report) (trips []*fleet.Trip, jumps int) {
	judge, config := fix.DefaultConfig(), trip.DefaultConfig()
	judge.RolloverAge = 0
	var judged fix.State
	var s trip.State
	var out fleet.Entities
	for i := range reports {
		p, refusal := judge.Normalise(&reports[i], 0)
		if refusal != "" || judge.Classify(&judged, &p, p.FixTime <= judged.Newest) != "" {
			continue
		}
		if p.Flags&fleet.FlagJump != 0 {
			jumps++
		}
		if p.Flags&fleet.DoubtfulFlags == 0 {
			p.Device = 1
			config.Fix(&s, vehicle, &p, math.NaN(), &out)
		}
	}
	config.Advance(&s, vehicle, s.Heard+config.Split, &out)
	for _, e := range out {
		if trip, ok := e.(*fleet.Trip); ok && !trip.Open {
			trips = append(trips, trip)
		}
	}
	return trips, jumps
}
