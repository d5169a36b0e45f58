// Package workshop is the room of maintenance: reminders that follow from schedules, meters and time, work orders and
// what hangs on them, and the issues that alerts open.
package workshop

import (
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/desk/books"
	"github.com/motorpool/fleet/api/desk/holding"
	"github.com/motorpool/fleet/api/desk/yard"
)

// Workshop does what is done about maintenance. It is safe for concurrent use.
type Workshop struct {
	*base.Base
	Books *books.Books
	Holds *holding.Holds
	Yard  *yard.Yard
}

// New opens the room over those that it needs.
func New(b *base.Base, money *books.Books, holds *holding.Holds, vehicles *yard.Yard) *Workshop {
	return &Workshop{b, money, holds, vehicles}
}

// Register has reminders, work orders and issues follow from what is written, and registers the duties that
// are about them.
func (d *Workshop) Register() {
	d.maintenance()
	d.alerts()
}
