package api

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/driver"
	"github.com/motorpool/fleet/query"
)

// vehiclesAtOnce is of how many vehicles what was said of their drivers is held in memory at once.
const vehiclesAtOnce = 50

// evidence reads what was said of who drove some vehicles at any time of [from, to]. A tag that was shown before counts too.
func (a *API) evidence(
	ctx context.Context, account fleet.AccountID, vehicles []fleet.VehicleID, from, to fleet.Millis,
) (*driver.Evidence, error) {
	e := &driver.Evidence{}
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		e.Manual, err = query.DriversSaid(inner, a.DB, account, vehicles, from, to)
		return err
	})
	group.Go(func() (err error) {
		e.Bookings, err = query.DriversBooked(inner, a.DB, account, vehicles, from, to)
		return err
	})
	group.Go(func() (err error) {
		if e.Reports, err = query.TagReports(inner, a.DB, account, vehicles, from-driver.Hold, to); err != nil || len(e.Reports) == 0 {
			return err
		}
		seen := map[string]bool{}
		for i := range e.Reports {
			seen[e.Reports[i].Tag] = true
		}
		e.Holders, err = query.TagHolders(inner, a.DB, account, slices.Collect(maps.Keys(seen)))
		return err
	})
	return e, group.Wait()
}

// drove is a trip and who drove it.
type drove struct {
	query.TripSpan
	driver.Drive
}

// eachDrive finds out who drove the trips of some vehicles, or of all if none is named, that overlap [from, to), some vehicles
// at a time. logins, if not nil, gets what was said of them in the whole of [from, to) too.
func (a *API) eachDrive(
	ctx context.Context, account fleet.AccountID, vehicles []fleet.VehicleID, from, to fleet.Millis, deleted bool,
	each func(*drove), logins func(*driver.Evidence),
) error {
	trips, err := query.TripSpans(ctx, a.DB, account, vehicles, from, to, deleted)
	if err != nil {
		return err
	}
	of := map[fleet.VehicleID][]query.TripSpan{}
	for _, t := range trips {
		of[t.Vehicle] = append(of[t.Vehicle], t)
	}
	if logins == nil {
		vehicles = slices.Sorted(maps.Keys(of))
	}
	for some := range slices.Chunk(vehicles, vehiclesAtOnce) {
		var first, last fleet.Millis
		if logins != nil {
			first, last = from, to
		}
		for _, v := range some {
			for _, t := range of[v] {
				first, last = min(cmp.Or(first, t.From), t.From), max(last, t.To)
			}
		}
		e, err := a.evidence(ctx, account, some, first, last)
		if err != nil {
			return err
		}
		for _, v := range some {
			for _, t := range of[v] {
				each(&drove{t, e.Who(v, t.From, t.To)})
			}
		}
		if logins != nil {
			logins(e)
		}
	}
	return nil
}

// mayHaveDriven returns the vehicles that a driver may have driven in [from, to).
func (a *API) mayHaveDriven(
	ctx context.Context, account fleet.AccountID, who string, from, to fleet.Millis,
) ([]fleet.VehicleID, error) {
	tags := []string{}
	if strings.HasPrefix(who, fleet.CustomerPrefix) {
		var err error
		if tags, err = query.TagsOf(ctx, a.DB, account, who); err != nil {
			return nil, err
		}
	}
	return query.DriverVehicles(ctx, a.DB, account, who, tags, from, to)
}

// maxDriverTrips bounds how many trips of a driver a list is narrowed to.
const maxDriverTrips = 100_000

// narrowToDriver narrows a filter of trips to those of a driver.
func (a *API) narrowToDriver(ctx context.Context, f *query.DerivedFilter, who string) error {
	vehicles, err := a.mayHaveDriven(ctx, f.Account, who, f.From, f.To)
	if err != nil {
		return err
	}
	if len(f.Vehicles) > 0 {
		vehicles = slices.DeleteFunc(vehicles, func(v fleet.VehicleID) bool { return !slices.Contains(f.Vehicles, v) })
	}
	f.Only = &[]uint64{}
	if len(vehicles) == 0 {
		return nil
	}
	var chosen []fleet.VehicleID
	err = a.eachDrive(ctx, f.Account, vehicles, f.From, f.To, f.Deleted, func(d *drove) {
		if d.Driver == who {
			*f.Only = append(*f.Only, d.ID)
			if len(chosen) == 0 || chosen[len(chosen)-1] != d.Vehicle {
				chosen = append(chosen, d.Vehicle)
			}
		}
	}, nil)
	if f.Vehicles = chosen; len(*f.Only) > maxDriverTrips {
		return invalidParam("driver", "has too many trips: choose a shorter span with from and to")
	}
	return err
}

// driverSums returns what the drivers of an account drove in trips that began in [from, to), and how, by driver. A driving
// event counts for who was at the wheel then.
func (a *API) driverSums(
	ctx context.Context, account fleet.AccountID, from, to fleet.Millis,
) ([]query.DrivingSums, error) {
	notes, err := query.Notes(ctx, a.DB, account, from, to)
	if err != nil {
		return nil, err
	}
	of := map[fleet.VehicleID][]query.Note{}
	for _, n := range notes {
		of[n.Vehicle] = append(of[n.Vehicle], n)
	}
	sums := map[string]*query.DrivingSums{}
	at := func(who string) *query.DrivingSums {
		if sums[who] == nil {
			sums[who] = &query.DrivingSums{Driver: who}
		}
		return sums[who]
	}
	err = a.eachDrive(ctx, account, nil, from, to, false, func(d *drove) {
		if d.TripSpan.From < from || d.Driver == "" || d.Unrecorded {
			return
		}
		s := at(d.Driver)
		s.Trips, s.Distance, s.Moving = s.Trips+1, s.Distance+d.Distance, s.Moving+d.Moving
		for i := range of[d.Vehicle] {
			n := &of[d.Vehicle][i]
			if who := d.at(n.At); who != "" {
				at(who).Add(n)
			}
		}
	}, nil)
	return slices.SortedFunc(func(yield func(query.DrivingSums) bool) {
		for _, s := range sums {
			if !yield(*s) {
				return
			}
		}
	}, func(x, y query.DrivingSums) int { return cmp.Compare(x.Driver, y.Driver) }), err
}

// at returns who was at the wheel at an instant of a trip; nobody is who is not known, and who drove another trip.
func (d *drove) at(at fleet.Millis) string {
	for i := range d.Parts {
		p := &d.Parts[i]
		if p.From <= at && (at < p.To || i == len(d.Parts)-1 && at <= p.To) {
			return p.Driver
		}
	}
	return ""
}
