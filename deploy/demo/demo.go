// Package demo holds the recordings that the demo fleet drives and the records of its vehicles. SOURCE.md says where
// they come from and under which licences. It holds data only; cmd/motorpool plays it.
package demo

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
)

//go:embed recordings/*.csv.gz vehicles.json
var files embed.FS

// Vehicle is the record of one vehicle of the recordings. Recording and ID name its rows; the pair is unique, and so
// is ID alone.
type Vehicle struct {
	Recording    string `json:"recording"` // file name
	ID           string `json:"id"`        // what the recording calls the vehicle
	Nickname     string `json:"nickname"`
	Make         string `json:"make"`
	Model        string `json:"model"`
	Year         int    `json:"year"`
	FuelType     string `json:"fuel_type"`
	BodyType     string `json:"body_type"`
	VIN          string `json:"vin"`
	LicensePlate string `json:"license_plate"`
}

// Vehicles returns all vehicles in the order of their recordings.
func Vehicles() ([]Vehicle, error) {
	text, err := files.ReadFile("vehicles.json")
	if err != nil {
		return nil, err
	}
	var vehicles []Vehicle
	if err := json.Unmarshal(text, &vehicles); err != nil {
		return nil, fmt.Errorf("read the demo's vehicles: %w", err)
	}
	return vehicles, nil
}

// Open opens a recording by its file name. The caller closes it.
func Open(recording string) (fs.File, error) { return files.Open("recordings/" + recording) }
