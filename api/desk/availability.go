package desk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/desk/holding"
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

// ClassOffer is what is left of a class at a location.
type ClassOffer struct {
	Class record.Record[record.VehicleClass]
	// nil for vehicles that nobody knows the place of, and for a class without any
	Pickup   *record.Record[record.Location]
	Vehicles int    // that can be rented at all and will be there
	Free     int    // of them, in the period, and not needed elsewhere after it
	Booked   int    // bookings of the class there in the period that have no vehicle yet
	Left     int    // how many more bookings of the class there may be
	Offer    *Offer // nil if the class itself cannot be booked so, for the reason in Why
	Why      []fleet.FieldError
}

// Availability is what is free in a period.
type Availability struct {
	Vehicles []Offer        // cheapest first
	Classes  []ClassOffer   // by rank and location
	Not      map[string]int // how many vehicles are not offered, by reason
}

// Available finds what is free from pickup until return, each vehicle with its buffers, and what it costs at the
// location where it will be, or at the one that is asked for. Nothing of it is held: whoever books may find that
// somebody else was faster.
func (d *Desk) Available(ctx context.Context, account fleet.AccountID, search Search) (Availability, error) {
	f := search.Fields
	f.VehicleID, f.VehicleClassID, f.Channel = "", "", cmp.Or(f.Channel, "direct")
	if err := checkPeriod(&f); err != nil {
		return Availability{}, err
	}
	var s *searching
	err := d.Recalling(func(lookup bool) error {
		s = &searching{d: d, account: account, now: d.Now(), fields: f, prices: map[priceKey]priced{},
			holds: map[holdKey]calendar.Hold{}, rooms: map[uint64]*calendar.Room{}, spare: map[*calendar.Hold]int{},
			Availability: Availability{Not: map[string]int{}}}
		m := base.NewMemory()
		m.Lookup = lookup
		return s.read(m.In(ctx), search.Classes)
	})
	if err != nil {
		return Availability{}, err
	}
	over, err := d.searchTurn(ctx)
	if err != nil {
		return Availability{}, err
	}
	defer over()
	s.judgeVehicles()
	s.judgeClasses()
	return s.Availability, nil
}

// searchTurn waits until a processor is free for a search, in the order in which they come, and returns what gives it
// back: all at once would take as long, and some of them much longer.
func (d *Desk) searchTurn(ctx context.Context) (over func(), err error) {
	select {
	case d.searches <- struct{}{}:
		return func() { <-d.searches }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
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
	vehicles []*record.Record[record.Vehicle]
	looked   []lookedAt // the same
	classes  map[uint64]*record.Record[record.VehicleClass]
	places   map[string]*record.Record[record.Location] // by their ids as text
	plans    map[uint64]*record.Record[record.RatePlan]
	fitting  map[string][]query.PlanInUse // by time zone of the pickup
	busy     base.Busy
	rooms    map[uint64]*calendar.Room // by class
	spare    map[*calendar.Hold]int    // of what is booked of classes

	prices map[priceKey]priced
	holds  map[holdKey]calendar.Hold
}

// lookedAt is a vehicle that is looked at.
type lookedAt struct {
	*record.Record[record.Vehicle]
	class *record.Record[record.VehicleClass]
	there calendar.Vehicle
	at    *record.Record[record.Location] // where it is picked up: where it will be, or where it is asked for
}

// mostBuffer is the longest buffer that vehicles and classes may have.
const mostBuffer = 43200 * time.Minute

// read reads everything that the search needs, in a few queries, however many vehicles there are.
func (s *searching) read(ctx context.Context, classes []string) error {
	d, l := s.d, &lookup{}
	s.base.Fields = s.fields
	from := s.fields.PickupAt.Add(-mostBuffer)
	if earliest := s.now.Add(-holding.FollowedAfter); earliest.Before(from) {
		from = earliest // where a vehicle will be follows from all that it does until then
	}
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() error {
		return find(inner, l, s.account, d.Locations, s.fields.PickupLocationID, "/pickup_location_id", "location",
			&s.base.Pickup)
	})
	group.Go(func() error {
		return find(inner, l, s.account, d.Locations, s.fields.ReturnLocationID, "/return_location_id", "location",
			&s.base.Return)
	})
	group.Go(func() error {
		return find(inner, l, s.account, d.RatePlans, s.fields.RatePlanID, "/rate_plan_id", "rate plan", &s.base.Plan)
	})
	group.Go(func() error { return d.people(inner, l, s.account, &s.base) })
	group.Go(func() error {
		var home *record.Record[record.Account]
		err := follow(inner, s.account, d.Accounts, s.account.String(), &home)
		if home != nil {
			s.home, s.base.OneWayFees = home.Body.Timezone, oneWayFees(&home.Body)
		}
		return err
	})
	group.Go(func() (err error) {
		s.vehicles, err = d.Fleet.Rentable(inner, s.account, classes)
		return err
	})
	group.Go(func() (err error) {
		s.busy, err = d.Fleet.Busy(inner, s.account, from, s.now)
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
	classes, places := idsOf{prefix: fleet.ClassPrefix}, idsOf{prefix: fleet.LocationPrefix}
	for _, text := range wanted {
		classes.add(text)
	}
	if err := s.look(ctx, &classes, &places); err != nil {
		return err
	}
	var err error
	if s.classes, err = byID[record.VehicleClass](ctx, s.d, s.account, &query.VehicleClasses, classes.all); err != nil {
		return err
	}
	if wanted != nil && len(s.classes) < len(wanted) {
		return unfit([]fleet.FieldError{{Pointer: "/vehicle_class_id", Code: "not_found",
			Detail: "there is no such vehicle class"}})
	}
	found, err := byID[record.Location](ctx, s.d, s.account, &query.Locations, places.all)
	if err != nil {
		return err
	}
	s.places = make(map[string]*record.Record[record.Location], len(found))
	for id, place := range found {
		s.places[fleet.FormatID(fleet.LocationPrefix, id)] = place
	}
	for i := range s.looked {
		l := &s.looked[i]
		if id := classes.of[l.Body.ClassID]; id != 0 {
			l.class = s.classes[id]
		}
		if l.at = s.base.Pickup; l.at == nil {
			l.at = s.places[l.there.At(s.fields.PickupAt.Time, "")]
		}
	}
	s.fill()
	return s.readPlans(ctx)
}

// look looks at each vehicle, and notes what they name.
func (s *searching) look(ctx context.Context, classes, places *idsOf) error {
	over, err := s.d.searchTurn(ctx)
	if err != nil {
		return err
	}
	defer over()
	s.looked = make([]lookedAt, len(s.vehicles))
	for i, vehicle := range s.vehicles {
		v, held := &vehicle.Body, s.busy.Vehicle(vehicle.ID)
		l := &s.looked[i]
		if away := holding.Away(vehicle.ID, &v.VehicleFields, s.now, v.Timezone, s.home); away != nil {
			held = calendar.NewSeries(append(slices.Clone(held.Holds), away...))
		}
		l.Record, l.there = vehicle, holding.VehicleWith(vehicle, nil)
		l.there.Give(held)
		classes.add(v.ClassID)
		places.add(l.there.Place)
		for _, place := range held.Places {
			places.add(place)
		}
	}
	return nil
}

// idsOf gathers ids that are written as text.
type idsOf struct {
	prefix string
	of     map[string]uint64 // 0 of what is none
	all    []uint64
}

func (i *idsOf) add(text string) {
	if _, ok := i.of[text]; ok {
		return
	}
	if i.of == nil {
		i.of = map[string]uint64{}
	}
	id, err := fleet.ParseID(i.prefix, text)
	if err == nil {
		i.all = append(i.all, id)
	}
	i.of[text] = id
}

// readPlans reads the rate plans that may hold: those that fit the local day of pickup where any vehicle may be.
func (s *searching) readPlans(ctx context.Context) error {
	inUse, err := s.d.Reads.PlansInUse(ctx, s.account)
	if err != nil {
		return err
	}
	zones := map[string]bool{"": true, s.home: true}
	for _, place := range s.places {
		zones[place.Body.Timezone] = true
	}
	if s.base.Pickup != nil {
		zones[s.base.Pickup.Body.Timezone] = true
	}
	for _, v := range s.vehicles {
		zones[v.Body.Timezone] = true
	}
	s.fitting = make(map[string][]query.PlanInUse, len(zones))
	var plans []uint64
	for name := range zones {
		zone := fleet.ZoneOf(name)
		day := s.fields.PickupAt.In(zone).Format(time.DateOnly)
		s.fitting[zone.String()] = query.PlansFitting(inUse, s.fields.Channel, day)
		for _, p := range s.fitting[zone.String()] {
			if !slices.Contains(plans, p.ID) {
				plans = append(plans, p.ID)
			}
		}
	}
	if s.plans, err = byID[record.RatePlan](ctx, s.d, s.account, &query.RatePlans, plans); err != nil {
		return err
	}
	for zone, fitting := range s.fitting { // without those that were archived a moment ago
		s.fitting[zone] = slices.DeleteFunc(fitting, func(p query.PlanInUse) bool { return s.plans[p.ID] == nil })
	}
	return nil
}

// byID reads records of a kind that are not archived.
func byID[T any](ctx context.Context, d *Desk, account fleet.AccountID, listing *query.Listing,
	ids []uint64) (map[uint64]*record.Record[T], error) {
	stored, err := d.Fleet.RecordsByID(ctx, listing, account, ids)
	if err != nil {
		return nil, err
	}
	found := make(map[uint64]*record.Record[T], len(stored))
	for id, one := range stored {
		if one.ArchivedAt != nil {
			continue
		}
		if found[id], err = base.Decoded[T](account, one); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// resolve is what a booking of a vehicle leads to; without its zone and rate plan.
func (s *searching) resolve(l *lookedAt) *Resolved {
	r := s.base
	r.Vehicle, r.Class, r.Pickup = l.Record, l.class, l.at
	r.Fields.VehicleID = fleet.FormatID(fleet.VehiclePrefix, l.ID)
	r.completeFields()
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
	if v.DailyRate != nil || v.IncludedMilesPerDay != nil || v.ExtraMileFee != nil || v.DepositAmount != nil ||
		v.MinRentalDays != 0 || v.MaxRentalDays != 0 || v.LeadTimeMinHours != 0 || r.channels() != nil {
		own, _ := json.Marshal([]any{v.DailyRate, v.IncludedMilesPerDay, v.ExtraMileFee, v.DepositAmount, v.MinRentalDays,
			v.MaxRentalDays, v.LeadTimeMinHours, r.channels()})
		key.own = string(own) // of numbers and texts: it cannot fail
	}
	return key
}

// priced is what something costs, or why it cannot be rented so.
type priced struct {
	snapshot *record.RateSnapshot
	why      []fleet.FieldError
}

// offer prices a booking.
func (s *searching) offer(r *Resolved) priced {
	r.zoneOf(s.home)
	if r.Plan == nil {
		if id := r.choose(s.fitting[r.Zone.String()]); id != 0 {
			r.Plan = s.plans[id]
		}
	}
	if r.Plan != nil {
		r.Fields.RatePlanID = fleet.FormatID(fleet.RatePlanPrefix, r.Plan.ID)
	} else if r.ownRate() == nil {
		return priced{why: []fleet.FieldError{{Pointer: "/rate_plan_id", Code: "no_rate",
			Detail: "no rate plan fits, and there is no daily rate"}}}
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

// reason is the code of a fault; of one that says nothing without its member, with that before it:
// promo_code_not_found.
func reason(f *fleet.FieldError) string {
	member, _, _ := strings.Cut(strings.TrimPrefix(f.Pointer, "/"), "/")
	if member != "" && slices.Contains([]string{"not_found", "not_valid", "not_enabled", "invalid", "required"}, f.Code) {
		return member + "_" + f.Code
	}
	return f.Code
}

// judgeVehicles finds the vehicles that are free and can be rented so, cheapest first.
func (s *searching) judgeVehicles() {
	for i := range s.looked {
		l := &s.looked[i]
		before, after := buffers(l.Record, l.class)
		h := s.hold(before, after, l.at)
		fault := record.NotInFleet(&l.Body.VehicleFields, s.fields.PickupAt.Time, s.fields.ReturnAt.Time, s.now,
			l.Body.Timezone, s.home)
		switch {
		case fault != nil:
			s.Not["not_in_fleet"]++
		case !l.there.Free(&h):
			s.Not["busy"]++
		case l.there.Misplaced(&h) != nil:
			s.Not["elsewhere"]++
		case l.class != nil && !s.spares(l.class.ID, &l.there, h):
			s.Not["class_full"]++
		default:
			r := s.resolve(l)
			if p := s.offer(r); p.why != nil {
				s.Not[reason(&p.why[0])]++
			} else {
				s.Vehicles = append(s.Vehicles, Offer{Resolved: r, Price: p.snapshot})
			}
		}
	}
	slices.SortStableFunc(s.Vehicles, func(a, b Offer) int {
		return cmp.Or(cmp.Compare(a.Price.Totals.Total.Amount, b.Price.Totals.Total.Amount),
			cmp.Compare(a.Resolved.Vehicle.ID, b.Resolved.Vehicle.ID))
	})
}

// holdKey tells apart bookings that hold different things.
type holdKey struct {
	before, after time.Duration
	at            uint64
}

// hold is what a booking would hold with buffers and from a location, nil for none that is known.
func (s *searching) hold(before, after time.Duration, at *record.Record[record.Location]) calendar.Hold {
	key := holdKey{before: before, after: after}
	if at != nil {
		key.at = at.ID
	}
	h, ok := s.holds[key]
	if !ok {
		r := s.base
		r.Pickup = at
		r.completeFields()
		b := record.Booking{BookingFields: r.Fields, Status: record.BookingConfirmed}
		block(&b, before, after)
		h = *holding.PeriodOf(0, &b)
		s.holds[key] = h
	}
	return h
}

// fill puts what was read into the rooms of the classes.
func (s *searching) fill() {
	for id, class := range s.classes {
		s.rooms[id] = &calendar.Room{Booked: s.busy.Class(id).Holds, OverbookingBP: class.Body.OverbookingBP}
	}
	for i := range s.looked {
		if l := &s.looked[i]; l.class != nil {
			room := s.rooms[l.class.ID]
			room.Vehicles = append(room.Vehicles, l.there)
		}
	}
}

// spares says whether a class can do without a vehicle for a booking of it: what is booked of the class keeps enough.
func (s *searching) spares(class uint64, v *calendar.Vehicle, h calendar.Hold) bool {
	room := s.rooms[class]
	if room == nil {
		return true
	}
	with := v.With(h)
	for i := range room.Booked {
		o := &room.Booked[i]
		if !v.Serves(o) || with.Serves(o) {
			continue
		}
		spare, known := s.spare[o]
		if !known {
			spare = room.Spare(o)
			s.spare[o] = spare
		}
		if spare <= 0 {
			return false
		}
	}
	return true
}

// judgeClasses counts and prices what there is of each class, where its vehicles will be or at the location
// that is asked for.
func (s *searching) judgeClasses() {
	for id, class := range s.classes {
		for _, at := range s.placesOf(id) {
			s.Classes = append(s.Classes, s.classAt(class, at))
		}
	}
	name := func(c *ClassOffer) string {
		if c.Pickup == nil {
			return ""
		}
		return c.Pickup.Body.Name
	}
	slices.SortFunc(s.Classes, func(a, b ClassOffer) int {
		return cmp.Or(cmp.Compare(a.Class.Body.Rank, b.Class.Body.Rank), cmp.Compare(a.Class.ID, b.Class.ID),
			cmp.Compare(name(&a), name(&b)))
	})
}

// placesOf are the locations at which the vehicles of a class will be, or the one that is asked for; nil for none.
func (s *searching) placesOf(class uint64) []*record.Record[record.Location] {
	if s.base.Pickup != nil {
		return []*record.Record[record.Location]{s.base.Pickup}
	}
	var all []*record.Record[record.Location]
	for i := range s.rooms[class].Vehicles {
		if at := s.places[s.rooms[class].Vehicles[i].At(s.fields.PickupAt.Time, "")]; !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	if all == nil {
		all = append(all, nil)
	}
	return all
}

// classAt is what is left of a class at a location, nil for vehicles that are at none.
func (s *searching) classAt(class *record.Record[record.VehicleClass], at *record.Record[record.Location]) ClassOffer {
	r := s.base
	r.Pickup, r.Class = at, class
	r.completeFields()
	h, room := s.hold(r.BufferBefore, r.BufferAfter, at), s.rooms[class.ID]
	c := ClassOffer{Class: *class, Pickup: at, Left: room.Left(&h)}
	for i := range room.Vehicles {
		v := &room.Vehicles[i]
		if place := v.At(h.From.Time, ""); place == h.Begins || place == "" {
			c.Vehicles++
			if v.Serves(&h) {
				c.Free++
			}
		}
	}
	refs := map[string]bool{}
	for i := range room.Booked {
		if o := &room.Booked[i]; o.Overlaps(h.From.Time, h.Until.Time) &&
			(o.Begins == h.Begins || o.Begins == "") && !refs[o.Ref] {
			refs[o.Ref] = true
			c.Booked++
		}
	}
	if p := s.offer(&r); p.why != nil {
		c.Why = p.why
	} else {
		c.Offer = &Offer{Resolved: &r, Price: p.snapshot}
	}
	return c
}
