// Package yard is the room of vehicles: the states that they are in, the blocks of their calendars, what their meters
// and tanks show, and what inspections find.
package yard

import (
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/desk/holding"
)

// Yard does what is done with vehicles. It is safe for concurrent use.
type Yard struct {
	*base.Base
	Holds *holding.Holds
}

// New opens the room over the one of calendars.
func New(b *base.Base, holds *holding.Holds) *Yard { return &Yard{b, holds} }

// Register has vehicles, meters and issues follow from what is written, and registers the duties that are about them.
func (d *Yard) Register() {
	d.inspections()
	d.vehicles()
	d.readings()
}
