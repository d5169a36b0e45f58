// Package track serves the tracking half of the interface: vehicles and devices, positions and telemetry, trips and
// what else is derived, geofences, alerts and their rules, drivers, routes, search and quality.
//
// Every resource has a file that is named after it, with a method that registers its routes and stands in Routes. What
// is derived comes from query; here it is asked for and shown.
package track

import (
	"sync/atomic"

	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/roster"
	"github.com/motorpool/fleet/query"
)

// API holds the resources of the tracking half.
type API struct {
	*rest.Server
	Changes ChangePublisher // without it nothing can be derived again on request
	Trials  RuleTrials      // without it no rule can be tried

	desk        *desk.Desk
	accounts    *record.Log[record.Account]
	vehicles    *record.Log[record.Vehicle]
	devices     *record.Log[record.Device]
	geofences   *record.Log[record.Geofence]
	alertRules  *record.Log[record.AlertRule]
	alertAcks   *record.Log[record.AlertAck]
	tripDrivers *record.Log[record.TripDriver]
	jobs        *record.Log[record.Job]

	known       *roster.Facts[known] // of vehicles
	knownBefore atomic.Uint64        // the last of their numbers
	drivers     *roster.Facts[query.DriversKnown]
	pastFixes   *roster.Facts[query.Past] // how many positions vehicles have from before query.PastBefore
	newFixes    *roster.Facts[query.Past] // and from then on
}

// New makes the tracking half on a server. It registers nothing.
func New(s *rest.Server, d *desk.Desk, changes ChangePublisher) *API {
	a := &API{
		Server: s, Changes: changes, desk: d, accounts: d.Accounts, vehicles: d.Vehicles,
		devices: record.NewLog(s.Store, record.Devices), geofences: record.NewLog(s.Store, record.Geofences),
		alertRules: record.NewLog(s.Store, record.AlertRules), alertAcks: record.NewLog(s.Store, record.AlertAcks),
		tripDrivers: record.NewLog(s.Store, record.TripDrivers), jobs: record.NewLog(s.Store, record.Jobs),
	}
	a.known = roster.NewFacts(s.Roster, roster.OfVehicles, s.Now, a.readKnown)
	a.drivers = roster.NewFacts(s.Roster, roster.OfDrivers, s.Now, a.readDriversKnown)
	a.pastFixes = a.pastOf(roster.OfPastFixes, query.CountPastFixes)
	a.newFixes = a.pastOf(roster.OfNewFixes, query.CountNewFixes)
	return a
}
