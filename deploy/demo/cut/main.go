// Command cut makes the demo's recordings from the full ones: fewer vehicles, a window of time, and only the columns
// that mean something to Motorpool. Values are copied as text, nothing is cleaned. It is run by hand:
//
//	go run ./deploy/demo/cut -data FOLDER -out deploy/demo/recordings
package main

import (
	"compress/gzip"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// row is one line of a recording, by column name.
type row map[string]string

// cut says which rows of which files become one file of the demo.
type cut struct {
	out     string
	in      []string
	columns []string
	from    string // RFC 3339 in UTC, compared as text; empty for no bound
	to      string
	most    int              // vehicles to keep, those with the most rows; 0 keeps all
	atLeast int              // rows a vehicle must have
	rename  func(row) string // the vehicle's name in the demo
	keep    func(row) bool   // nil keeps all
}

var cuts = []cut{
	{
		out: "austin.csv.gz", in: []string{"austin-buses/2017-03-21.csv.gz"},
		columns: []string{"speed_kmh"},
		from:    "2017-03-21T11:00:00Z", to: "2017-03-21T15:20:00Z", most: 80, atLeast: 60,
	},
	{
		out: "austin-repeats.csv.gz", in: []string{"austin-buses/2016-05-30.csv.gz"},
		columns: []string{"speed_kmh"},
		from:    "2016-05-30T15:00:00Z", to: "2016-05-30T18:00:00Z", most: 4, atLeast: 40,
		rename: func(r row) string { return "holiday-" + r["vehicle"] },
	},
	{
		out: "twizy.csv.gz", in: []string{"rabat-twizy-ev/T2_03_29_2021.csv.gz", "rabat-twizy-ev/T1_06_30_2021_1.csv.gz"},
		columns: []string{"speed_kmh", "altitude_m", "battery_pct", "gps_speed_kmh", "ambient_temp_c", "humidity_pct",
			"speed_limit_kmh"},
		rename: func(r row) string {
			return map[string]string{"T2_03_29_2021": "twizy-1", "T1_06_30_2021_1": "twizy-2"}[r["run"]]
		},
	},
	{
		out: "omaha.csv.gz", in: []string{"omaha-naturalistic-driving/drives.csv.gz"},
		columns: []string{"speed_kmh", "heading_deg", "altitude_m"},
	},
	{
		out: "muenster.csv.gz", in: []string{"muenster-envirocar-obd/tracks.csv.gz"},
		columns: []string{"speed_kmh", "heading_deg", "altitude_m", "rpm", "fuel_rate_lph", "engine_load_pct", "throttle_pct",
			"intake_temp_c", "intake_pressure_kpa", "calculated_maf_gs", "co2_kgph", "gps_speed_kmh", "gps_accuracy", "hdop"},
		// A car's drives lie weeks apart; a demo that loops needs one that is whole: each car's longest.
		rename: func(r row) string { return "car-" + r["vehicle"][len(r["vehicle"])-4:] + "/" + r["track_id"] },
		most:   3, atLeast: 200,
	},
	{
		out: "dublin.csv.gz", in: []string{"dublin-ebike-escooter/e-scooter.csv.gz", "dublin-ebike-escooter/e-bike.csv.gz"},
		columns: []string{"speed_kmh", "altitude_m", "battery_pct", "trip_distance_m", "ambient_temp_c"},
		rename:  func(r row) string { return r["vehicle"] + "/" + r["trip"] },
		most:    2, atLeast: 100,
	},
	{
		out: "nyc.csv.gz", in: []string{"nyc-bus-traces/traces.csv.gz"},
		columns: []string{"speed_kmh", "heading_deg"},
		keep:    func(r row) bool { return r["trace"] == "6603-2014-04-15" },
		rename:  func(r row) string { return "nyc-" + r["vehicle"] },
	},
}

func main() {
	data := flag.String("data", "../shared/data", "folder of the full recordings")
	out := flag.String("out", "deploy/demo/recordings", "folder to write to")
	flag.Parse()
	for _, c := range cuts {
		if err := c.run(*data, *out); err != nil {
			fmt.Fprintln(os.Stderr, "cut:", err)
			os.Exit(1)
		}
	}
}

func (c cut) run(data, out string) error {
	byVehicle := make(map[string][]row)
	for _, name := range c.in {
		rows, err := read(filepath.Join(data, name))
		if err != nil {
			return err
		}
		for _, r := range rows {
			at := r["timestamp"]
			if c.from != "" && at < c.from || c.to != "" && at >= c.to || c.keep != nil && !c.keep(r) {
				continue
			}
			vehicle := r["vehicle"]
			if c.rename != nil {
				vehicle = c.rename(r)
			}
			byVehicle[vehicle] = append(byVehicle[vehicle], r)
		}
	}
	var vehicles []string
	for vehicle, rows := range byVehicle {
		if len(rows) >= c.atLeast {
			vehicles = append(vehicles, vehicle)
		}
	}
	slices.SortFunc(vehicles, func(a, b string) int {
		if d := len(byVehicle[b]) - len(byVehicle[a]); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	vehicles = onePerCar(vehicles)
	if c.most > 0 {
		vehicles = vehicles[:min(c.most, len(vehicles))]
	}
	slices.Sort(vehicles)
	return c.write(filepath.Join(out, c.out), vehicles, byVehicle)
}

// onePerCar keeps the first of several drives ("car/drive") of one car.
func onePerCar(vehicles []string) []string {
	seen := make(map[string]bool)
	return slices.DeleteFunc(vehicles, func(v string) bool {
		car, _, _ := strings.Cut(v, "/")
		twice := seen[car]
		seen[car] = true
		return twice
	})
}

func (c cut) write(path string, vehicles []string, byVehicle map[string][]row) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	zipped, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		return err
	}
	lines := csv.NewWriter(zipped)
	if err := lines.Write(append([]string{"vehicle", "timestamp", "lat", "lng"}, c.columns...)); err != nil {
		return err
	}
	count := 0
	for _, vehicle := range vehicles {
		rows := byVehicle[vehicle]
		// Rows of the full recordings are grouped by trip; a loop needs each vehicle's rows in the order of time. Rows
		// without a time stay where they are, after the one before them.
		last := ""
		for _, r := range rows {
			if r["timestamp"] != "" {
				last = r["timestamp"]
			}
			r["order"] = last
		}
		slices.SortStableFunc(rows, func(a, b row) int { return strings.Compare(a["order"], b["order"]) })
		label, _, _ := strings.Cut(vehicle, "/")
		for _, r := range rows {
			cells := []string{label, r["timestamp"], r["lat"], r["lng"]}
			for _, column := range c.columns {
				cells = append(cells, r[column])
			}
			if err := lines.Write(cells); err != nil {
				return err
			}
			count++
		}
	}
	lines.Flush()
	if err := lines.Error(); err != nil {
		return err
	}
	if err := zipped.Close(); err != nil {
		return err
	}
	fmt.Printf("%-24s %6d rows, %2d vehicles\n", c.out, count, len(vehicles))
	return file.Close()
}

func read(path string) ([]row, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	lines := csv.NewReader(unzipped)
	header, err := lines.Read()
	if err != nil {
		return nil, err
	}
	var rows []row
	for {
		cells, err := lines.Read()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		r := make(row, len(header))
		for i, name := range header {
			r[name] = cells[i]
		}
		rows = append(rows, r)
	}
}
