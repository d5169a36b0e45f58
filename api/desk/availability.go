package desk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/query"
)

// Search is what is looked for: a period, and what of a booking is known.
type Search struct {
	Fields  record.BookingFields // vehicle_id and vehicle_class_id do not matter
	Classes []string             // ids of classes; nil for any vehicle, also without a class
}

// Offer is a vehicle or class that is free, with what it would cost.
type Offer struct {
	Resolved *Resolved
	Price    *record.RateSnapshot // shared between offers that cost the same
}

// ClassOffer is what is left of a class.
type ClassOffer struct {
	Class    record.Record[record.VehicleClass]
	Vehicles int    // that can be rented at all
	Free     int    // of them, in the period
	Booked   int    // bookings of the class in the period that have no vehicle yet
	Left     int    // how many more bookings of the class, or of its vehicles, there may be
	Offer    *Offer // nil if the class itself cannot be booked so, for the reason in Why
	Why      []fleet.FieldError
}

// Availability is what is free in a period.
type Availability struct {
	Vehicles []Offer // cheapest first
	Classes  []ClassOffer
	Not      map[string]int // how many vehicles are not offered, by reason
}

// Available finds what is free from pickup until return, each vehicle with its buffers, and what it costs. Nothing of it is held: whoever books
// may find that somebody else was faster.
func (d *Desk) Available(ctx context.Context, account fleet.AccountID, search Search) (Availability, error) {
	f := search.Fields
	f.VehicleID, f.VehicleClassID, f.Channel = "", "", cmp.Or(f.Channel, "direct")
	s := &searching{d: d, account: account, now: d.Now(), fields: f, zones: map[string]*time.Location{}, prices: map[priceKey]priced{}, Availability: Availability{Not: map[string]int{}}}
	if err := checkPeriod(&f); err != nil {
		return s.Availability, err
	}
	if err := s.read(ctx, search.Classes); err != nil {
		return s.Availability, err
	}
	s.judgeVehicles()
	s.judgeClasses()
	return s.Availability, nil
}

// searching is a search under way.
type searching struct {
	Availability
	d       *Desk
	account fleet.AccountID
	now     time.Time
	fields  record.BookingFields

	base     Resolved // what is the same for all: customer, drivers, named locations, named rate plan
	home     string   // time zone of the account
	vehicles []record.Record[record.Vehicle]
	classes  map[uint64]*record.Record[record.VehicleClass]
	places   map[uint64]*record.Record[record.Location]
	plans    map[uint64]*record.Record[record.RatePlan]
	fitting  map[string][]query.PlanInUse // by local day of pickup
	busy     map[uint64][]query.Hold
	booked   map[uint64][]query.Hold

	zones  map[string]*time.Location
	prices map[priceKey]priced
}

// mostBuffer is the longest buffer that vehicles and classes may have.
const mostBuffer = 43200 * time.Minute

// read reads everything that the search needs, in a few queries, however many vehicles there are.
func (s *searching) read(ctx context.Context, classes []string) error {
	d, l := s.d, &lookup{}
	s.base.Fields = s.fields
	from, until := s.fields.PickupAt.Add(-mostBuffer), s.fields.ReturnAt.Add(mostBuffer)
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() error {
		return find(inner, l, s.account, d.Locations, s.fields.PickupLocationID, "/pickup_location_id", "location", &s.base.Pickup)
	})
	group.Go(func() error {
		return find(inner, l, s.account, d.Locations, s.fields.ReturnLocationID, "/return_location_id", "location", &s.base.Return)
	})
	group.Go(func() error {
		return find(inner, l, s.account, d.RatePlans, s.fields.RatePlanID, "/rate_plan_id", "rate plan", &s.base.Plan)
	})
	group.Go(func() error { return d.people(inner, l, s.account, &s.base) })
	group.Go(func() error {
		var home *record.Record[record.Account]
		err := follow(inner, s.account, d.Accounts, s.account.String(), &home)
		if home != nil {
			s.home = home.Body.Timezone
		}
		return err
	})
	group.Go(func() (err error) {
		s.vehicles, err = decoded[record.Vehicle](s.account)(query.RentableVehicles(inner, d.DB, s.account, classes))
		return err
	})
	group.Go(func() (err error) {
		s.busy, err = query.BusyVehicles(inner, d.DB, s.account, 0, nil, from, until, s.now)
		return err
	})
	group.Go(func() (err error) {
		s.booked, err = query.BookedClasses(inner, d.DB, s.account, nil, from, until, s.now)
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	if l.faults != nil {
		return l.err()
	}
	return s.readMore(ctx, classes)
}

// readMore reads what the vehicles name, and the rate plans.
func (s *searching) readMore(ctx context.Context, wanted []string) error {
	var classes, places []uint64
	for _, text := range wanted {
		id, _ := fleet.ParseID(fleet.ClassPrefix, text)
		classes = append(classes, id)
	}
	for i := range s.vehicles {
		v := &s.vehicles[i].Body
		if id, err := fleet.ParseID(fleet.ClassPrefix, v.ClassID); err == nil && !slices.Contains(classes, id) {
			classes = append(classes, id)
		}
		for _, text := range []string{v.HomeLocationID, v.CurrentLocationID} {
			if id, err := fleet.ParseID(fleet.LocationPrefix, text); err == nil && !slices.Contains(places, id) {
				places = append(places, id)
			}
		}
	}
	var err error
	if s.classes, err = byID[record.VehicleClass](ctx, s.d, s.account, &query.VehicleClasses, classes); err != nil {
		return err
	}
	if wanted != nil && len(s.classes) < len(wanted) {
		return unfit([]fleet.FieldError{{Pointer: "/vehicle_class_id", Code: "not_found", Detail: "there is no such vehicle class"}})
	}
	if s.places, err = byID[record.Location](ctx, s.d, s.account, &query.Locations, places); err != nil {
		return err
	}
	inUse, err := query.PlansInUse(ctx, s.d.DB, s.account)
	if err != nil {
		return err
	}
	// The local days of pickup are two or three at most, wherever the vehicles are.
	s.fitting = map[string][]query.PlanInUse{}
	var plans []uint64
	for _, zone := range s.allZones() {
		day := s.fields.PickupAt.In(zone).Format(time.DateOnly)
		if _, ok := s.fitting[day]; ok {
			continue
		}
		s.fitting[day] = query.PlansFitting(inUse, s.fields.Channel, day)
		for _, p := range s.fitting[day] {
			plans = append(plans, p.ID)
		}
	}
	s.plans, err = byID[record.RatePlan](ctx, s.d, s.account, &query.RatePlans, plans)
	return err
}

// byID reads records of a kind that are not archived.
func byID[T any](ctx context.Context, d *Desk, account fleet.AccountID, listing *query.Listing, ids []uint64) (map[uint64]*record.Record[T], error) {
	stored, err := query.RecordsByID(ctx, d.DB, listing, account, ids)
	if err != nil {
		return nil, err
	}
	found := make(map[uint64]*record.Record[T], len(stored))
	for id, one := range stored {
		if one.ArchivedAt != nil {
			continue
		}
		all, err := decoded[T](account)([]query.Stored{one}, nil)
		if err != nil {
			return nil, err
		}
		found[id] = &all[0]
	}
	return found, nil
}

// decoded makes records of rows of a current table.
func decoded[T any](account fleet.AccountID) func([]query.Stored, error) ([]record.Record[T], error) {
	return func(stored []query.Stored, err error) ([]record.Record[T], error) {
		if err != nil {
			return nil, err
		}
		all := make([]record.Record[T], len(stored))
		for i, one := range stored {
			all[i] = record.Record[T]{Account: account, ID: one.ID, Revision: one.Revision, CreatedAt: one.CreatedAt.UTC(), UpdatedAt: one.UpdatedAt.UTC()}
			if err := json.Unmarshal([]byte(one.Body), &all[i].Body); err != nil {
				return nil, fmt.Errorf("decode record %d: %w", one.ID, err)
			}
		}
		return all, nil
	}
}

// zone loads a time zone once.
func (s *searching) zone(name string) (*time.Location, error) {
	if zone, ok := s.zones[name]; ok {
		return zone, nil
	}
	zone, err := time.LoadLocation(name)
	if err == nil {
		s.zones[name] = zone
	}
	return zone, err
}

// allZones are those that the pickup of a vehicle or class may be in.
func (s *searching) allZones() []*time.Location {
	var all []*time.Location
	add := func(r *Resolved) {
		r.zoneOf(s.zone, s.home)
		if !slices.Contains(all, r.Zone) {
			all = append(all, r.Zone)
		}
	}
	for i := range s.vehicles {
		add(s.resolve(&s.vehicles[i], nil))
	}
	add(s.resolve(nil, nil))
	return all
}

// resolve is what a booking of a vehicle, or of a class, leads to; without its zone and rate plan.
func (s *searching) resolve(v *record.Record[record.Vehicle], class *record.Record[record.VehicleClass]) *Resolved {
	r := s.base
	r.Vehicle, r.Class = v, class
	if v != nil {
		r.Fields.VehicleID = fleet.FormatID(fleet.VehiclePrefix, v.ID)
		if id, err := fleet.ParseID(fleet.ClassPrefix, v.Body.ClassID); err == nil {
			r.Class = s.classes[id]
		}
		if id, err := fleet.ParseID(fleet.LocationPrefix, v.Body.HomeLocationID); err == nil && r.Pickup == nil {
			r.Pickup = s.places[id]
		}
	}
	r.settle()
	return &r
}

// priceKey tells apart what may cost differently.
type priceKey struct {
	class, plan, pickup, back uint64
	zone, own                 string
}

// priceKeyOf is the key of a booking whose plan was found.
func priceKeyOf(r *Resolved) priceKey {
	key := priceKey{zone: r.Zone.String()}
	if r.Class != nil {
		key.class = r.Class.ID
	}
	if r.Plan != nil {
		key.plan = r.Plan.ID
	}
	if r.Pickup != nil {
		key.pickup, key.back = r.Pickup.ID, r.Return.ID
	}
	v := r.fromVehicle()
	own, _ := json.Marshal([]any{v.DailyRate, v.IncludedMilesPerDay, v.ExtraMileFee, v.DepositAmount, v.MinRentalDays, v.MaxRentalDays, v.LeadTimeMinHours, r.channels()})
	key.own = string(own) // of numbers and texts: it cannot fail
	return key
}

// priced is what something costs, or why it cannot be rented so.
type priced struct {
	snapshot *record.RateSnapshot
	why      []fleet.FieldError
}

// offer prices a booking.
func (s *searching) offer(r *Resolved) priced {
	r.zoneOf(s.zone, s.home)
	if r.Plan == nil {
		if id := r.choose(s.fitting[r.Fields.PickupAt.In(r.Zone).Format(time.DateOnly)]); id != 0 {
			r.Plan = s.plans[id]
		}
	}
	if r.Plan != nil {
		r.Fields.RatePlanID = fleet.FormatID(fleet.RatePlanPrefix, r.Plan.ID)
	} else if r.ownRate() == nil {
		return priced{why: []fleet.FieldError{{Pointer: "/rate_plan_id", Code: "no_rate", Detail: "no rate plan fits, and there is no daily rate"}}}
	}
	key := priceKeyOf(r)
	found, ok := s.prices[key]
	if !ok {
		if found.why = r.Misfits(s.now); found.why == nil {
			snapshot, err := price.Quote(r.Request(s.now))
			found.snapshot = &snapshot
			if e, refused := errors.AsType[*fleet.Error](err); refused {
				found = priced{why: e.Fields}
			}
		}
		s.prices[key] = found
	}
	return found
}

// judgeVehicles finds the vehicles that are free and can be rented so, cheapest first.
func (s *searching) judgeVehicles() {
	s.count()
	for i := range s.vehicles {
		v := &s.vehicles[i]
		r := s.resolve(v, nil)
		switch p := s.offer(r); {
		case !s.isFree(v.ID, r):
			s.Not["busy"]++
		case s.base.Pickup != nil && !s.isAt(&v.Body, s.base.Pickup.ID):
			s.Not["elsewhere"]++
		case r.Class != nil && s.left(r.Class.ID) <= 0:
			s.Not["class_full"]++
		case p.why != nil:
			s.Not[p.why[0].Code]++
		default:
			s.Vehicles = append(s.Vehicles, Offer{Resolved: r, Price: p.snapshot})
		}
	}
	slices.SortStableFunc(s.Vehicles, func(a, b Offer) int {
		return cmp.Or(cmp.Compare(a.Price.Totals.Total.Amount, b.Price.Totals.Total.Amount), cmp.Compare(a.Resolved.Vehicle.ID, b.Resolved.Vehicle.ID))
	})
}

// isFree says whether nobody has a vehicle from pickup until return, with its buffers.
func (s *searching) isFree(vehicle uint64, r *Resolved) bool {
	return !overlaps(s.busy[vehicle], s.fields.PickupAt.Add(-r.BufferBefore), s.fields.ReturnAt.Add(r.BufferAfter))
}

func overlaps(holds []query.Hold, from, until time.Time) bool {
	return slices.ContainsFunc(holds, func(h query.Hold) bool { return h.From.Before(until) && from.Before(h.Until) })
}

// isAt says whether a vehicle is to be picked up at a location: where it is, or where it belongs if nobody knows.
func (s *searching) isAt(v *record.Vehicle, location uint64) bool {
	return cmp.Or(v.CurrentLocationID, v.HomeLocationID) == fleet.FormatID(fleet.LocationPrefix, location)
}

// count counts what there is of each class.
func (s *searching) count() {
	for _, class := range s.classes {
		r := s.resolve(nil, class)
		from, until := s.fields.PickupAt.Add(-r.BufferBefore), s.fields.ReturnAt.Add(r.BufferAfter)
		c := ClassOffer{Class: *class}
		refs := map[string]bool{}
		for _, h := range s.booked[class.ID] {
			if h.From.Before(until) && from.Before(h.Until) && !refs[h.Ref] {
				refs[h.Ref] = true
				c.Booked++
			}
		}
		for i := range s.vehicles {
			if v := &s.vehicles[i]; v.Body.ClassID == fleet.FormatID(fleet.ClassPrefix, class.ID) {
				c.Vehicles++
				if s.isFree(v.ID, s.resolve(v, nil)) {
					c.Free++
				}
			}
		}
		c.Left = max(0, c.Free+c.Vehicles*class.Body.OverbookingBP/10000-c.Booked)
		s.Classes = append(s.Classes, c)
	}
	slices.SortFunc(s.Classes, func(a, b ClassOffer) int {
		return cmp.Or(cmp.Compare(a.Class.Body.Rank, b.Class.Body.Rank), cmp.Compare(a.Class.ID, b.Class.ID))
	})
}

// left is how many more bookings of a class there may be.
func (s *searching) left(class uint64) int {
	for i := range s.Classes {
		if s.Classes[i].Class.ID == class {
			return s.Classes[i].Left
		}
	}
	return 0
}

// judgeClasses prices the classes.
func (s *searching) judgeClasses() {
	for i := range s.Classes {
		c := &s.Classes[i]
		r := s.resolve(nil, &c.Class)
		if p := s.offer(r); p.why != nil {
			c.Why = p.why
		} else {
			c.Offer = &Offer{Resolved: r, Price: p.snapshot}
		}
	}
}
