package record

import "github.com/motorpool/fleet"

// TripDriver says who drove a vehicle during [From, To). A trip's driver is that of the newest one that holds the
// middle of the trip or begins with it: a span and not the trip's id, because deriving the trip again may give it
// another, and because a trip that is still open grows.
type TripDriver struct {
	VehicleID string       `json:"vehicle_id"`
	TripID    string       `json:"trip_id,omitempty"` // of the trip that was meant, as it was then
	From      fleet.Millis `json:"from_ms"`
	To        fleet.Millis `json:"to_ms"`
	// a name or the id of a customer; empty: nobody is known, whatever was said before
	Driver string `json:"driver"`
}

// TripDrivers describes the kind.
var TripDrivers = Kind[TripDriver]{Name: "trip_driver", Prefix: "tdr_"}
