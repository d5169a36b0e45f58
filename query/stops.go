package query

import "github.com/motorpool/fleet"

// Stops is how stops are read.
var Stops = Derivable[*fleet.Stop]{Kind: fleet.KindStop, table: "stops",
	fresh: func() *fleet.Stop { return new(fleet.Stop) }}

// ChargingSessions is how charging sessions are read.
var ChargingSessions = Derivable[*fleet.ChargingSession]{Kind: fleet.KindCharging, table: "charges",
	fresh: func() *fleet.ChargingSession { return new(fleet.ChargingSession) }}
