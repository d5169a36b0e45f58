// Package rent serves the rental half of the interface: bookings, quotes and availability, customers, rates and
// locations, payments, expenses, tolls and the ledger, and the workshop.
//
// Every resource has a file that is named after it, with a method that registers its routes and stands in Routes. What
// the records do is decided in api/desk and in the packages below api/rental; here it is asked for and shown.
package rent

import (
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/roster"
)

// API holds the resources of the rental half.
type API struct {
	*rest.Server

	desk     *desk.Desk
	accounts *record.Log[record.Account]
	vehicles *record.Log[record.Vehicle]
	beside   *roster.Facts[base.Beside] // of bookings
	families *base.Families
}

// New makes the rental half on a server. It registers nothing.
func New(s *rest.Server, d *desk.Desk) *API {
	return &API{Server: s, desk: d, accounts: d.Accounts, vehicles: d.Vehicles, beside: besideBookings(s),
		families: base.NewFamilies(s.DB)}
}
