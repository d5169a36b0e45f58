package query

import "github.com/motorpool/fleet"

// Stops is how stops are read.
var Stops = Derivable[*fleet.Stop]{Kind: fleet.KindStop, table: "stops", fresh: func() *fleet.Stop { return new(fleet.Stop) }}

// Charges is how charging sessions are read.
var Charges = Derivable[*fleet.Charge]{Kind: fleet.KindCharge, table: "charges", fresh: func() *fleet.Charge { return new(fleet.Charge) }}
