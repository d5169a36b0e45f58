// Package demo holds the recordings that the demo's vehicles drive and the records of these: of the fleet that is only
// tracked, and of the rental business with its branches and the ways that lead out from them. SOURCE.md says where the
// recordings come from and under which licences. It holds data only; cmd/motorpool plays it.
package demo

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
)

//go:embed recordings/*.csv.gz vehicles.json rentals.json branches.json
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

// Rental is the record of one vehicle of the rental business.
type Rental struct {
	ID           string `json:"id"` // its number in the fleet
	Branch       string `json:"branch"`
	Class        string `json:"class"`
	Nickname     string `json:"nickname"`
	Make         string `json:"make"`
	Model        string `json:"model"`
	Year         int    `json:"year"`
	FuelType     string `json:"fuel_type"`
	BodyType     string `json:"body_type"`
	Color        string `json:"color"`
	Seats        int    `json:"seats"`
	VIN          string `json:"vin"`
	LicensePlate string `json:"license_plate"`
	PlateRegion  string `json:"plate_region"`
	MileageMi    int    `json:"mileage_mi"` // when the business got it
}

// Branch is a place where vehicles of the rental business stand when nobody has them.
type Branch struct {
	Code       string  `json:"code"`
	Name       string  `json:"name"`
	Line1      string  `json:"line1"`
	City       string  `json:"city"`
	Region     string  `json:"region"`
	PostalCode string  `json:"postal_code"`
	Lat        float64 `json:"lat"`
	Lng        float64 `json:"lng"`
	Tax        string  `json:"tax"`
	TaxBP      int64   `json:"tax_bp"`
	Ways       []Way   `json:"ways"`
}

// WaysRecording is the recording of which the ways consist.
const WaysRecording = "omaha.csv.gz"

// Way leads out from a branch, along drives of a recording one after the other. Nothing recorded leads back: vehicles
// come back the same way.
type Way struct {
	Name   string  `json:"name"`
	Town   bool    `json:"town"` // slow enough for a scooter
	Drives []Drive `json:"drives"`
}

// Drive is a part of a recorded drive, from its row to another, 0 being the first. It is driven backwards if it ends
// before it begins.
type Drive struct {
	ID    string `json:"drive"`
	From  int    `json:"from"`
	Until *int   `json:"until"` // the last row of the drive if absent
}

// Vehicles returns the vehicles that are only tracked, in the order of their recordings.
func Vehicles() ([]Vehicle, error) { return read[Vehicle]("vehicles.json") }

// Rentals returns the vehicles of the rental business.
func Rentals() ([]Rental, error) { return read[Rental]("rentals.json") }

// Branches returns the branches of the rental business.
func Branches() ([]Branch, error) { return read[Branch]("branches.json") }

func read[T any](name string) ([]T, error) {
	text, err := files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var all []T
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("read the demo's %s: %w", name, err)
	}
	return all, nil
}

// Open opens a recording by its file name. The caller closes it.
func Open(recording string) (fs.File, error) { return files.Open("recordings/" + recording) }
