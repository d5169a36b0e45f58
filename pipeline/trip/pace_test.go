package trip_test

import (
	"io"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/recording"
)

// TestATrackerWithoutSpeedIsJudgedByItsLegs takes the speeds out of recordings and holds what is then found against
// what is found with them: time moving, and of trips that are alike the highest speed.
func TestATrackerWithoutSpeedIsJudgedByItsLegs(t *testing.T) {
	for _, want := range []struct {
		file   string
		moving float64 // by how much time moving may differ
		middle float64 // half of the trips have at least so much of their highest speed
	}{
		{"omaha-naturalistic-driving/drives.csv.gz", 0.03, 0.9},
		{"muenster-envirocar-obd/tracks.csv.gz", 0.05, 0.9},
		{"dublin-ebike-escooter/e-bike.csv.gz", 0.05, 0.75},
		{"dublin-ebike-escooter/e-scooter.csv.gz", 0.09, 0.7},
		{"austin-buses/2016-05-30.csv.gz", 0.02, 0.75},
	} {
		t.Run(want.file, func(t *testing.T) {
			moving, mute := 0.0, 0.0
			var shares []float64
			for _, reports := range byVehicle(t, want.file) {
				told, _ := follow(reports)
				for i := range reports {
					reports[i].Speed = math.NaN()
				}
				found, _ := follow(reports)
				for _, a := range told {
					moving += float64(a.Moving)
					for _, b := range found {
						if a.MaxSpeed > 0 && overlap(stretch{Start: a.Start, End: a.End}, stretch{Start: b.Start, End: b.End}) > 0.8 {
							shares = append(shares, max(b.MaxSpeed, b.MeanSpeed)/a.MaxSpeed)
						}
					}
				}
				for _, b := range found {
					mute += float64(b.Moving)
				}
			}
			slices.Sort(shares)
			middle, high := shares[len(shares)/2], shares[len(shares)*9/10]
			t.Logf("moving %+.1f %%, highest speed: half of %d trips have %.2f of it and more, a tenth %.2f",
				100*(mute/moving-1), len(shares), middle, high)
			if math.Abs(mute/moving-1) > want.moving {
				t.Errorf("moving %.2f h, with speeds %.2f h", mute/3_600_000, moving/3_600_000)
			}
			if middle < want.middle || high > 1.05 {
				t.Errorf("the highest speed is %.2f of the true one in the middle, and %.2f high up", middle, high)
			}
		})
	}
}

// byVehicle returns a recording's reports that have a time, without signals, each vehicle's in order of time.
func byVehicle(t *testing.T, file string) map[string][]fleet.Report {
	golden(t) // the recordings are there
	reader, err := recording.Open(filepath.Join(sharedData, file))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	all, report := map[string][]fleet.Report{}, fleet.NewReport()
	for {
		switch err := reader.Next(&report); {
		case err == io.EOF:
			for _, reports := range all {
				slices.SortStableFunc(reports, func(a, b fleet.Report) int { return int(a.FixTime - b.FixTime) })
			}
			return all
		case err != nil:
			t.Fatal(err)
		case report.FixTime != 0:
			own := report
			own.Signals = nil
			all[own.UniqueID] = append(all[own.UniqueID], own)
		}
	}
}
