// Package holding is the room of calendars: it takes places in those of vehicles and of classes for what is to be
// written, gives back what came to nothing, and says what is in the way.
package holding

import (
	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
)

// Holds takes and gives back what is held in calendars. It is safe for concurrent use once everybody
// answers (AnswerFor).
type Holds struct {
	*base.Base
	asked map[string]wants // by the prefix of whose ids answer
}

// New opens the calendars.
func New(b *base.Base) *Holds {
	d := &Holds{b, map[string]wants{}}
	d.OpenCalendars(calendar.DefaultConfig())
	return d
}

// Register has the calendars follow bookings.
func (d *Holds) Register() {
	d.AnswerFor(fleet.BookingPrefix, d.bookingWants)
	d.Store.Beside(record.Bookings.Name, "booking.calendars", d.settleCalendars)
}
