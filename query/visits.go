package query

import "github.com/motorpool/fleet"

// Visits is how stays in geofences are read.
var Visits = Derivable[*fleet.Visit]{Kind: fleet.KindVisit, table: "visits",
	fresh: func() *fleet.Visit { return new(fleet.Visit) }}
