package main

import (
	"context"
	"fmt"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/seed"
	"github.com/motorpool/fleet/deploy/demo"
	"github.com/motorpool/fleet/query"
)

// rentalFleet is the fleet of the demo's rental business, with the ways that each of its vehicles is driven.
type rentalFleet struct {
	branches      []demo.Branch
	vehicles      []demo.Rental
	registrations []registration // of the same vehicle
	ways          [][]*way       // likewise
	spots         []int          // likewise: where at its branch it stands
}

// scooter is the class of what is driven in town only.
const scooter = "SCOOTER"

// demoWorkshop is the vehicle of the rental business that is in the workshop when the demo begins.
const demoWorkshop = "R-17"

// loadRentals reads the bundled business.
func loadRentals() (*rentalFleet, error) {
	f := &rentalFleet{}
	var err error
	if f.branches, err = demo.Branches(); err != nil {
		return nil, err
	}
	if f.vehicles, err = demo.Rentals(); err != nil {
		return nil, err
	}
	drives, err := readDemo(demo.WaysRecording)
	if err != nil {
		return nil, err
	}
	ways, stand := map[string][]*way{}, map[string]int{}
	for i := range f.branches {
		b := &f.branches[i]
		for j := range b.Ways {
			w, err := newWay(b, &b.Ways[j], drives)
			if err != nil {
				return nil, err
			}
			ways[b.Code] = append(ways[b.Code], w)
		}
	}
	for _, v := range f.vehicles {
		var fits []*way
		for _, w := range ways[v.Branch] {
			if w.town || v.Class != scooter {
				fits = append(fits, w)
			}
		}
		if fits == nil {
			return nil, fmt.Errorf("the demo's branch %q has no way for %s", v.Branch, v.ID)
		}
		f.ways, f.spots = append(f.ways, fits), append(f.spots, stand[v.Branch])
		stand[v.Branch]++
		f.registrations = append(f.registrations, registration{
			identifier: v.ID, uniqueID: "rental:" + v.ID,
			vehicle: record.VehicleFields{
				Make: v.Make, Model: v.Model, Year: v.Year, VIN: v.VIN,
				LicensePlate: v.LicensePlate, PlateRegion: v.PlateRegion, PlateCountry: "US",
				FuelType: v.FuelType, BodyType: v.BodyType, Color: v.Color, Seats: v.Seats,
				Nickname: v.Nickname, FleetNumber: v.ID, Tags: []string{"demo"},
			},
		})
	}
	return f, nil
}

// branch is that of a vehicle.
func (f *rentalFleet) branch(vehicle int) *demo.Branch {
	for i := range f.branches {
		if f.branches[i].Code == f.vehicles[vehicle].Branch {
			return &f.branches[i]
		}
	}
	return nil // loadRentals found one
}

// cars are the vehicles as the plan of the business knows them.
func (f *rentalFleet) cars(known map[string]fleet.VehicleID) ([]seed.Car, error) {
	var cars []seed.Car
	for i, v := range f.vehicles {
		id, ok := known[v.ID]
		if !ok {
			return nil, fmt.Errorf("the demo's vehicle %s is not registered", v.ID)
		}
		cars = append(cars, seed.Car{
			ID: id.String(), Class: v.Class, Branch: v.Branch, Electric: v.FuelType == "electric",
			MileageMi: v.MileageMi, Ways: seedWays(f.ways[i]), InWorkshop: v.ID == demoWorkshop,
		})
	}
	return cars, nil
}

// places are the branches as the business writes them.
func (f *rentalFleet) places(zone string) []seed.Branch {
	var all []seed.Branch
	for i := range f.branches {
		b := &f.branches[i]
		all = append(all, seed.Branch{Code: b.Code, Location: record.Location{
			Name: b.Name, Code: b.Code, Timezone: zone, Lat: &b.Lat, Lng: &b.Lng,
			Address: &record.Address{Line1: b.Line1, City: b.City, Region: b.Region, PostalCode: b.PostalCode, Country: "US"},
			Taxes:   []record.TaxRate{{Name: b.Tax, RateBP: b.TaxBP}},
		}})
	}
	return all
}

// rounds are what the vehicles do by a plan.
func (f *rentalFleet) rounds(plan *seed.Plan, cars []seed.Car) []*round {
	var all []*round
	for i, reg := range f.registrations {
		all = append(all, newRound(reg.uniqueID, f.branch(i), f.spots[i], f.ways[i], plan.Drives(cars[i].ID)))
	}
	return all
}

// catchUp is how much of the past is sent at once.
const catchUp = fleet.Millis(24 * 60 * 60 * 1000)

// drive sends what the trackers of the business report: first what is missing of the past, then what is due, until ctx
// ends.
func (b *demoBusiness) drive(ctx context.Context, publish func(context.Context, []fleet.Report) error) error {
	rounds := b.fleet.rounds(b.business.Plan, b.business.Cars)
	since, err := b.heardUntil(ctx)
	if err != nil {
		return ignoreStop(ctx, err)
	}
	ticker := time.NewTicker(demoTick)
	defer ticker.Stop()
	var due []fleet.Report
	failing := false
	for {
		to := fleet.MillisOf(time.Now())
		for i := range rounds {
			to = min(to, since[i]+catchUp)
		}
		due = due[:0]
		for i := range rounds {
			due = rounds[i].due(since[i], max(since[i], to), due)
		}
		switch err := publishSome(ctx, due, publish); {
		case err == nil:
			failing = false
			for i := range since {
				since[i] = max(since[i], to)
			}
		case ctx.Err() != nil:
			return nil
		case !failing:
			failing = true
			b.log.Warn("the demo's rental fleet cannot send its fixes and goes on trying", "error", err)
		}
		if behind := fleet.MillisOf(time.Now()) - to; behind > catchUp/2 && !failing {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// publishSome publishes reports, if there are any.
func publishSome(ctx context.Context, due []fleet.Report, publish func(context.Context, []fleet.Report) error) error {
	if len(due) == 0 {
		return nil
	}
	return publish(ctx, due)
}

// heardUntil says of each vehicle until when what its tracker reported is stored: nothing before it was tracked.
func (b *demoBusiness) heardUntil(ctx context.Context) ([]fleet.Millis, error) {
	latest, err := query.LatestPositions(ctx, b.db, query.LatestFilter{
		Account: b.business.Account, Box: query.World, Limit: len(b.business.Cars) + 1000,
	})
	if err != nil {
		return nil, err
	}
	all := make([]fleet.Millis, len(b.business.Cars))
	for i, car := range b.business.Cars {
		all[i] = fleet.MillisOf(b.business.Plan.TrackedFrom(car.ID))
		for _, l := range latest {
			if l.Vehicle.String() == car.ID {
				all[i] = max(all[i], l.FixTime)
			}
		}
	}
	return all, nil
}
