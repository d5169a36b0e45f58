package demo_test

import (
	"compress/gzip"
	"encoding/csv"
	"io"
	"io/fs"
	"os"
	"testing"

	"github.com/motorpool/fleet/deploy/demo"
)

// TestEveryVehicleHasRowsAndEveryRowAVehicle also bounds the size that the demo adds to the binary. Rows of the ways
// need no vehicle.
func TestEveryVehicleHasRowsAndEveryRowAVehicle(t *testing.T) {
	vehicles, err := demo.Vehicles()
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[[2]string]int)
	vins, plates, ids := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, v := range vehicles {
		rows[[2]string{v.Recording, v.ID}] = 0
		if vins[v.VIN] || plates[v.LicensePlate] || ids[v.ID] || len(v.VIN) != 17 {
			t.Errorf("%s: VIN, plate or id is not its own: %+v", v.ID, v)
		}
		vins[v.VIN], plates[v.LicensePlate], ids[v.ID] = true, true, true
		if v.Make == "" || v.Model == "" || v.Year < 1980 || v.Nickname == "" || v.FuelType == "" {
			t.Errorf("incomplete: %+v", v)
		}
	}
	branches, err := demo.Branches()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, b := range branches {
		known[b.Code] = true
		for _, w := range b.Ways {
			for _, d := range w.Drives {
				rows[[2]string{demo.WaysRecording, d.ID}] = 0
			}
		}
	}
	rentals, err := demo.Rentals()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range rentals {
		if vins[v.VIN] || plates[v.LicensePlate] || ids[v.ID] || len(v.VIN) != 17 || !known[v.Branch] {
			t.Errorf("%s: VIN, plate or id is not its own, or there is no branch: %+v", v.ID, v)
		}
		vins[v.VIN], plates[v.LicensePlate], ids[v.ID] = true, true, true
		if v.Make == "" || v.Model == "" || v.Year < 2015 || v.Nickname == "" || v.FuelType == "" || v.Seats == 0 {
			t.Errorf("incomplete: %+v", v)
		}
	}
	entries, err := fs.ReadDir(os.DirFS("."), "recordings")
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
		count(t, entry.Name(), rows)
	}
	if size > 1_800_000 {
		t.Errorf("recordings take %d bytes", size)
	}
	for key, n := range rows {
		if n < 60 && key[0] != demo.WaysRecording || n == 0 {
			t.Errorf("%v has %d rows", key, n)
		}
	}
}

func count(t *testing.T, name string, rows map[[2]string]int) {
	file, err := demo.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := csv.NewReader(unzipped)
	if _, err := lines.Read(); err != nil {
		t.Fatal(err)
	}
	for {
		cells, err := lines.Read()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		key := [2]string{name, cells[0]}
		if name == demo.WaysRecording {
			rows[key]++ // not every drive is part of a way
			continue
		}
		if _, ok := rows[key]; !ok {
			t.Fatalf("%v has no record in vehicles.json", key)
		}
		rows[key]++
	}
}
