package recording_test

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/recording"
)

// sharedData is where the real recordings lie, beside the project.
const sharedData = "../../../shared/data"

// TestRealRecordings holds what is read against the counts that each recording's SOURCE.md gives. For the Twizy it
// gives the rows without a time of all runs together: 114.
func TestRealRecordings(t *testing.T) {
	if _, err := os.Stat(sharedData); errors.Is(err, os.ErrNotExist) {
		if os.Getenv("CI") == "true" {
			t.Fatal("there are no recordings at " + sharedData)
		}
		t.Skip("the recordings are not beside the project at " + sharedData)
	}
	for _, want := range []struct {
		file                            string
		rows, vehicles                  int
		noTime, zero, noPlace, repeated int // repeated: a time that the vehicle already has
		signals                         []string
	}{
		{"austin-buses/2015-03-08.csv.gz", 12354, 140, 0, 0, 0, 6, nil},
		{"austin-buses/2015-03-18.csv.gz", 19690, 281, 0, 53, 0, 0, nil},
		{"austin-buses/2015-09-06.csv.gz", 53569, 146, 0, 0, 0, 0, nil},
		{"austin-buses/2016-02-07.csv.gz", 49081, 163, 0, 0, 0, 4, nil},
		{"austin-buses/2016-05-30.csv.gz", 11071, 16, 0, 0, 0, 3757, nil},
		{"austin-buses/2016-09-01.csv.gz", 548, 307, 0, 0, 0, 241, nil},
		{"austin-buses/2016-11-25.csv.gz", 32038, 181, 0, 0, 0, 0, nil},
		{"austin-buses/2017-03-21.csv.gz", 45386, 329, 0, 3, 0, 1, nil},
		{"dublin-ebike-escooter/e-bike.csv.gz", 12217, 1, 0, 0, 0, 0,
			[]string{"trip_odometer_m", "heart_rate_bpm", "cadence_rpm", "ambient_temp_c"}},
		{"dublin-ebike-escooter/e-scooter.csv.gz", 1765, 1, 0, 0, 0, 0, []string{"soc_pct"}},
		{"muenster-envirocar-obd/tracks.csv.gz", 11791, 4, 0, 0, 0, 804,
			[]string{"engine_rpm", "fuel_rate_lph", "engine_load_pct", "throttle_pct", "intake_temp_c", "intake_pressure_kpa",
				"maf_gps", "co2_kgph", "ecu_speed_mps", "hdop", "vdop", "pdop"}},
		{"nsw-buses-snapshot/2020-09-01_0800_sydney.csv.gz", 14507, 3116, 0, 0, 7, 364, nil},
		{"nyc-bus-traces/traces.csv.gz", 3855, 4, 0, 191, 0, 0, nil},
		{"omaha-naturalistic-driving/drives.csv.gz", 9200, 14, 0, 0, 0, 0,
			[]string{"engine_rpm", "throttle_pct", "trip_odometer_m", "hdop", "vdop", "pdop", "accel_x_mps2", "accel_y_mps2",
				"accel_z_mps2", "roll_deg", "pitch_deg"}},
		{"rabat-twizy-ev/T1_03_29_2021.csv.gz", 6189, 1, 10, 0, 0, 0,
			[]string{"soc_pct", "ambient_temp_c", "humidity_pct", "speed_limit_mps", "ecu_speed_mps"}},
		{"rabat-twizy-ev/T1_06_30_2021_1.csv.gz", 5200, 1, 34, 0, 0, 0, []string{"soc_pct"}},
		{"rabat-twizy-ev/T2_03_29_2021.csv.gz", 8521, 1, 57, 0, 0, 0, []string{"soc_pct"}},
		{"rabat-twizy-ev/T2_04_26_2021.csv.gz", 5840, 1, 13, 0, 0, 0, []string{"soc_pct"}},
		{"rabat-twizy-ev/T3_04_22_2021_1.csv.gz", 1049, 1, 0, 0, 0, 0, []string{"soc_pct"}},
		{"rabat-twizy-ev/T3_04_26_2021_1.csv.gz", 1032, 1, 0, 0, 0, 0, []string{"soc_pct"}},
		{"rabat-twizy-ev/T3_05_25_2021_1.csv.gz", 961, 1, 0, 0, 0, 0, []string{"soc_pct"}},
		{"rabat-twizy-ev/T3_05_25_2021_2.csv.gz", 1121, 1, 0, 0, 0, 0, []string{"soc_pct"}},
		{"rabat-twizy-ev/T3_05_31_2021.csv.gz", 1122, 1, 0, 0, 0, 0, []string{"soc_pct"}},
	} {
		t.Run(want.file, func(t *testing.T) {
			reader, err := recording.Open(filepath.Join(sharedData, want.file))
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			type fix struct {
				vehicle string
				at      fleet.Millis
			}
			rows, noTime, zero, noPlace, repeated := 0, 0, 0, 0, 0
			vehicles, fixes, signals := map[string]bool{}, map[fix]bool{}, map[string]bool{}
			report := fleet.NewReport()
			for {
				err := reader.Next(&report)
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				rows++
				vehicles[report.UniqueID] = true
				at := fix{report.UniqueID, report.FixTime}
				switch {
				case report.FixTime == 0:
					noTime++
				case fixes[at]:
					repeated++
				}
				fixes[at] = true
				if report.Lat == 0 && report.Lng == 0 {
					zero++
				}
				if math.IsNaN(report.Lat) || math.IsNaN(report.Lng) {
					noPlace++
				}
				for _, s := range report.Signals {
					signals[s.Signal.String()] = true
				}
			}
			if rows != want.rows || len(vehicles) != want.vehicles || noTime != want.noTime || zero != want.zero ||
				noPlace != want.noPlace || repeated != want.repeated {
				t.Errorf("rows %d, vehicles %d, no time %d, zero %d, no place %d, repeated %d; want %+v",
					rows, len(vehicles), noTime, zero, noPlace, repeated, want)
			}
			for _, name := range want.signals {
				if !signals[name] {
					t.Errorf("no signal %s; got %v", name, signals)
				}
			}
		})
	}
	for _, stops := range []string{"stops_20150823_20160116.csv.gz", "stops_20160821_20170121.csv.gz"} {
		if _, err := recording.Open(filepath.Join(sharedData, "austin-buses", stops)); !errors.Is(err,
			recording.ErrNotRecording) {
			t.Errorf("%s: err = %v, want ErrNotRecording", stops, err)
		}
	}
}

func BenchmarkCSV(b *testing.B) {
	rows := 0
	for b.Loop() {
		reader, err := recording.Open(filepath.Join(sharedData, "omaha-naturalistic-driving/drives.csv.gz"))
		if err != nil {
			b.Skip(err)
		}
		report := fleet.NewReport()
		for reader.Next(&report) == nil {
			rows++
		}
		reader.Close()
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}
