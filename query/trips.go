package query

import "github.com/motorpool/fleet"

// Trips is how trips are read.
var Trips = Derivable[*fleet.Trip]{Kind: fleet.KindTrip, table: "trips",
	fresh: func() *fleet.Trip { return new(fleet.Trip) }}
