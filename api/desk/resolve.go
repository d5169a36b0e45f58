package desk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/query"
)

// Resolved is what the fields of a booking lead to.
type Resolved struct {
	Fields   record.BookingFields // completed: channel, class of the vehicle, locations, rate plan
	Vehicle  *record.Record[record.Vehicle]
	Class    *record.Record[record.VehicleClass] // that was booked: the vehicle's, unless another is named
	Pickup   *record.Record[record.Location]
	Return   *record.Record[record.Location]
	Customer *record.Record[record.Customer]  // that the named one was merged into, if it was
	Drivers  []record.Record[record.Customer] // those named, or the customer
	Plan     *record.Record[record.RatePlan]  // nil where vehicle or class alone have a rate
	// of the pickup location, the vehicle or the account; its name is the booking's timezone
	Zone *time.Location

	BufferBefore, BufferAfter time.Duration // of the vehicle, or its class

	OneWayFees []record.OneWayFee // of the account, where the rate plan has none

	unplaced bool // the account has several locations, and nothing says at which a vehicle of the class is picked up
}

// Resolve looks up what the fields of a booking name, and completes them. What does not exist is a *fleet.Error of
// the code fleet.CodeValidation, with pointers into the fields; whether it fits together is for Misfits and
// price.Quote to say.
func (d *Desk) Resolve(ctx context.Context, account fleet.AccountID, fields record.BookingFields) (Resolved, error) {
	return d.resolve(ctx, account, fields, false)
}

// resolve is Resolve; where the price is agreed, no rate plan is looked up: it need not be there any more.
func (d *Desk) resolve(ctx context.Context, account fleet.AccountID, fields record.BookingFields,
	agreed bool) (Resolved, error) {
	fields.Channel = cmp.Or(fields.Channel, "direct")
	r := Resolved{Fields: fields}
	l := &lookup{}
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() error {
		return find(inner, l, account, d.Vehicles, fields.VehicleID, "/vehicle_id", "vehicle", &r.Vehicle)
	})
	group.Go(func() error {
		return find(inner, l, account, d.Classes, fields.VehicleClassID, "/vehicle_class_id", "vehicle class", &r.Class)
	})
	group.Go(func() error {
		return find(inner, l, account, d.Locations, fields.PickupLocationID, "/pickup_location_id", "location", &r.Pickup)
	})
	group.Go(func() error {
		return find(inner, l, account, d.Locations, fields.ReturnLocationID, "/return_location_id", "location", &r.Return)
	})
	group.Go(func() error {
		if agreed {
			return nil
		}
		return find(inner, l, account, d.RatePlans, fields.RatePlanID, "/rate_plan_id", "rate plan", &r.Plan)
	})
	group.Go(func() error { return d.people(inner, l, account, &r) })
	var home *record.Record[record.Account]
	group.Go(func() error { return follow(inner, account, d.Accounts, account.String(), &home) })
	if err := group.Wait(); err != nil {
		return r, err
	}
	if l.faults != nil {
		return r, l.err()
	}
	if r.Vehicle == nil && r.Pickup == nil && !agreed {
		if err := d.onlyPlace(ctx, account, &r); err != nil {
			return r, err
		}
	}
	if err := d.complete(ctx, account, &r); err != nil {
		return r, err
	}
	if r.Vehicle == nil && r.Class == nil {
		l.add(fleet.FieldError{Pointer: "/vehicle_class_id", Code: "required",
			Detail: "or vehicle_id must say what is rented"})
	}
	zone := ""
	if home != nil {
		zone, r.OneWayFees = home.Body.Timezone, oneWayFees(&home.Body)
	}
	r.zoneOf(zone)
	if l.faults == nil && !agreed {
		if err := d.planFor(ctx, account, &r, l); err != nil {
			return r, err
		}
	}
	return r, l.err()
}

// onlyPlace finds where a vehicle of a class is picked up that nobody has named a location for: at the only one that
// the account has. Its taxes and its opening hours hang on that, so that of several one must be named.
func (d *Desk) onlyPlace(ctx context.Context, account fleet.AccountID, r *Resolved) error {
	page, err := query.List(ctx, d.DB, &query.Locations, query.ListRequest{Account: account, Limit: 2})
	if err != nil || len(page.Records) == 0 {
		return err
	}
	if r.unplaced = len(page.Records) > 1; r.unplaced {
		return nil
	}
	return follow(ctx, account, d.Locations, fleet.FormatID(fleet.LocationPrefix, page.Records[0].ID), &r.Pickup)
}

// complete looks up what follows from the vehicle, and from what was not said.
func (d *Desk) complete(ctx context.Context, account fleet.AccountID, r *Resolved) error {
	if r.Vehicle != nil {
		v := &r.Vehicle.Body
		// What the vehicle names was there when it was written, and need not be any more: then it names nothing.
		group, inner := errgroup.WithContext(ctx)
		if r.Class == nil {
			group.Go(func() error { return follow(inner, account, d.Classes, v.ClassID, &r.Class) })
		}
		if r.Pickup == nil {
			group.Go(func() error {
				at, err := d.Holds.PlaceAt(inner, account, r.Vehicle, r.Fields.PickupAt.Time, "")
				if err != nil {
					return err
				}
				return follow(inner, account, d.Locations, at, &r.Pickup)
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	r.completeFields()
	return nil
}

// completeFields completes the fields from the records, and what follows from those.
func (r *Resolved) completeFields() {
	if r.Return == nil {
		r.Return = r.Pickup
	}
	if r.Class != nil {
		r.Fields.VehicleClassID = fleet.FormatID(fleet.ClassPrefix, r.Class.ID)
	}
	if r.Pickup != nil {
		r.Fields.PickupLocationID = fleet.FormatID(fleet.LocationPrefix, r.Pickup.ID)
	}
	if r.Return != nil {
		r.Fields.ReturnLocationID = fleet.FormatID(fleet.LocationPrefix, r.Return.ID)
	}
	r.BufferBefore, r.BufferAfter = buffers(r.Vehicle, r.Class)
}

// buffers are those of a vehicle, or of its class; either may be nil.
func buffers(v *record.Record[record.Vehicle],
	class *record.Record[record.VehicleClass]) (before, after time.Duration) {
	var first, last int
	if v != nil {
		first, last = v.Body.BufferBeforeMinutes, v.Body.BufferAfterMinutes
	}
	if class != nil {
		first, last = cmp.Or(first, class.Body.BufferBeforeMinutes), cmp.Or(last, class.Body.BufferAfterMinutes)
	}
	return time.Duration(first) * time.Minute, time.Duration(last) * time.Minute
}

// zoneOf finds whose days are billed.
func (r *Resolved) zoneOf(account string) {
	var names []string
	if r.Pickup != nil {
		names = append(names, r.Pickup.Body.Timezone)
	}
	if r.Vehicle != nil {
		names = append(names, r.Vehicle.Body.Timezone)
	}
	r.Zone = time.UTC
	for _, name := range append(names, account) {
		if name == "" {
			continue
		}
		if zone, err := fleet.Zone(name); err == nil {
			r.Zone = zone
			return
		}
	}
}

// planFor finds the rate plan: the one that is named, that of the vehicle, that of its class, or of those that
// fit the first. A plan that is not named must fit channel and day. None is as good, where the vehicle or its
// class have a rate.
func (d *Desk) planFor(ctx context.Context, account fleet.AccountID, r *Resolved, l *lookup) error {
	if r.Plan != nil {
		if enabled := r.Plan.Body.Enabled; enabled != nil && !*enabled {
			l.add(fleet.FieldError{Pointer: "/rate_plan_id", Code: "not_enabled", Detail: "is not enabled"})
		}
		return nil
	}
	day := r.Fields.PickupAt.In(r.Zone).Format(time.DateOnly)
	plans, err := d.PlansInUse(ctx, account)
	if err != nil {
		return err
	}
	id := r.choose(query.PlansFitting(plans, r.Fields.Channel, day))
	if id == 0 {
		if r.ownRate() == nil {
			l.add(fleet.FieldError{Pointer: "/rate_plan_id", Code: "not_found",
				Detail: "no rate plan fits, and neither the vehicle nor its class has a daily rate"})
		}
		return nil
	}
	plan, err := base.Recall(ctx, d.RatePlans, account, id)
	if err != nil {
		return err
	}
	r.Plan, r.Fields.RatePlanID = &plan, fleet.FormatID(fleet.RatePlanPrefix, id)
	return nil
}

// choose returns the rate plan that holds of those that fit, zero if none does.
func (r *Resolved) choose(fitting []query.PlanInUse) uint64 {
	for _, named := range []string{r.fromVehicle().RatePlanID, r.class().RatePlanID} {
		if named == "" {
			continue
		}
		if id, err := fleet.ParseID(fleet.RatePlanPrefix, named); err == nil &&
			slices.ContainsFunc(fitting, func(p query.PlanInUse) bool { return p.ID == id }) {
			return id
		}
	}
	for _, p := range fitting {
		if p.For(r.Fields.VehicleClassID) {
			return p.ID
		}
	}
	return 0
}

// people looks up the customer and who drives.
func (d *Desk) people(ctx context.Context, l *lookup, account fleet.AccountID, r *Resolved) error {
	person := func(text, pointer string) (*record.Record[record.Customer], error) {
		id, err := fleet.ParseID(fleet.CustomerPrefix, text)
		if err == nil {
			var rec record.Record[record.Customer]
			if rec, err = d.Persons.Customer(ctx, account, id); err == nil {
				return &rec, nil
			}
			if fleet.CodeOf(err) != fleet.CodeNotFound {
				return nil, err
			}
		}
		l.add(fleet.FieldError{Pointer: pointer, Code: "not_found", Detail: "there is no such customer"})
		return nil, nil
	}
	if r.Fields.CustomerID != "" {
		var err error
		if r.Customer, err = person(r.Fields.CustomerID, "/customer_id"); err != nil {
			return err
		}
	}
	for i, driver := range r.Fields.Drivers {
		rec, err := person(driver.CustomerID, "/drivers/"+strconv.Itoa(i)+"/customer_id")
		if err != nil {
			return err
		}
		if rec != nil {
			r.Drivers = append(r.Drivers, *rec)
		}
	}
	if len(r.Fields.Drivers) == 0 && r.Customer != nil {
		r.Drivers = []record.Record[record.Customer]{*r.Customer}
	}
	return nil
}

// driverPointer points to a driver, who is the customer where none is named.
func (r *Resolved) driverPointer(i int) string {
	if len(r.Fields.Drivers) == 0 {
		return "/customer_id"
	}
	return fmt.Sprintf("/drivers/%d/customer_id", i)
}

// fromVehicle is what the vehicle says of the rental: nothing if there is none, or if it was not what was booked (an
// upgrade costs what the class costs).
func (r *Resolved) fromVehicle() *record.Vehicle {
	if r.Vehicle == nil || r.Class != nil && r.Vehicle.Body.ClassID != fleet.FormatID(fleet.ClassPrefix, r.Class.ID) {
		return &record.Vehicle{}
	}
	return &r.Vehicle.Body
}

// class is what the class says.
func (r *Resolved) class() *record.VehicleClass {
	if r.Class == nil {
		return &record.VehicleClass{}
	}
	return &r.Class.Body
}

// channels are those over which the vehicle is rented, any if none.
func (r *Resolved) channels() []string {
	if r.Vehicle == nil {
		return nil
	}
	return r.Vehicle.Body.Channels
}

// ownRate is the daily rate that vehicle or class have themselves, and nil if neither.
func (r *Resolved) ownRate() *record.Money {
	if rate := r.fromVehicle().DailyRate; rate != nil {
		return rate
	}
	return r.class().DailyRate
}

// terms are those of the rate plan; without one, the rate of the vehicle or class and nothing else.
func (r *Resolved) terms() record.RatePlanTerms {
	if r.Plan != nil {
		return r.Plan.Body.RatePlanTerms
	}
	rate := r.ownRate()
	if rate == nil {
		return record.RatePlanTerms{}
	}
	return record.RatePlanTerms{Currency: rate.Currency, DailyRate: *rate}
}

// Request is what the price is asked for. What the vehicle says stands instead of what the rate plan says; what its
// class says does so unless the plan is for certain classes, and so speaks for them; its deposit holds even then where
// the plan says none.
func (r *Resolved) Request(bookedAt time.Time) price.Request {
	v, c := r.fromVehicle(), r.class()
	if r.Plan != nil && len(r.Plan.Body.ClassIDs) > 0 {
		own := record.VehicleClass{}
		if r.Plan.Body.DepositAmount == nil { // it says nothing of a deposit
			own.DepositAmount = c.DepositAmount
		}
		c = &own
	}
	req := price.Request{Terms: r.terms(), Zone: r.Zone, PriceBasis: record.PriceBasis{
		PickupAt: r.Fields.PickupAt, ReturnAt: r.Fields.ReturnAt, BookedAt: record.InstantOf(bookedAt),
		Channel: r.Fields.Channel,
		Extras:  r.Fields.Extras, ProtectionPlan: r.Fields.ProtectionPlan, PromoCode: strings.TrimSpace(r.Fields.PromoCode),
		AdditionalDrivers: max(0, len(r.Fields.Drivers)-1), ExpectedMi: r.Fields.ExpectedMi,
		IncludedMilesPerDay: cmp.Or(v.IncludedMilesPerDay, c.IncludedMilesPerDay),
		ExtraMileFee:        cmp.Or(v.ExtraMileFee, c.ExtraMileFee),
		DepositAmount:       cmp.Or(v.DepositAmount, c.DepositAmount),
	}}
	if req.DailyRate, req.DailyRateOf = v.DailyRate, "vehicle"; v.DailyRate == nil {
		if req.DailyRate, req.DailyRateOf = c.DailyRate, "vehicle class"; c.DailyRate == nil {
			req.DailyRateOf = ""
		}
	}
	if r.Plan != nil {
		req.PlanID, req.PlanName, req.PlanRevision =
			fleet.FormatID(fleet.RatePlanPrefix, r.Plan.ID), r.Plan.Body.Name, r.Plan.Revision
	} else {
		req.DailyRate = nil // it is in the terms
	}
	if r.Pickup != nil {
		req.Taxes = r.Pickup.Body.Taxes
		if r.Fields.DeliveryAddress != "" {
			req.DeliveryFee = r.Pickup.Body.DeliveryFee
		}
		req.OneWayFee = oneWayFee(&req.Terms, r.OneWayFees, r.Fields.PickupLocationID, r.Return)
	}
	if r.Customer != nil {
		req.CustomerDiscountBP = r.Customer.Body.DiscountBP
		if own := r.Customer.Body.DepositAmount; own != nil && own.Currency == req.Terms.Currency {
			req.DepositAmount = own
		}
	}
	for _, driver := range r.Drivers {
		if age, known := ageAt(driver.Body.DateOfBirth, r.Fields.PickupAt.In(r.Zone)); known &&
			age < req.Terms.YoungDriverAge {
			req.YoungDriver = true
		}
	}
	return req
}

// oneWayFees are those of an account.
func oneWayFees(a *record.Account) []record.OneWayFee {
	if a.Bookings == nil {
		return nil
	}
	return a.Bookings.OneWayFees
}

// oneWayFee is what a return at a location costs if the pickup is at another: by the rate plan, the account or the
// location; nil for nothing.
func oneWayFee(terms *record.RatePlanTerms, account []record.OneWayFee, pickup string,
	back *record.Record[record.Location]) *record.Money {
	if back == nil || pickup == "" || pickup == fleet.FormatID(fleet.LocationPrefix, back.ID) {
		return nil
	}
	for _, f := range slices.Concat(terms.OneWayFees, account) {
		if f.For(pickup, fleet.FormatID(fleet.LocationPrefix, back.ID)) {
			return &f.Fee
		}
	}
	return back.Body.OneWayFee
}

// ageAt is how old somebody is on a local day, if the day of birth is known.
func ageAt(born string, day time.Time) (years int, known bool) {
	b, err := time.Parse(time.DateOnly, born)
	if err != nil {
		return 0, false
	}
	years = day.Year() - b.Year()
	if day.Month() < b.Month() || day.Month() == b.Month() && day.Day() < b.Day() {
		years--
	}
	return years, true
}

// lookup collects what was not found, from several goroutines.
type lookup struct {
	mu     sync.Mutex
	faults []fleet.FieldError
}

func (l *lookup) add(f fleet.FieldError) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, f)
}

// err is the error of what was not found, in the order of the pointers.
func (l *lookup) err() error {
	if l.faults == nil {
		return nil
	}
	slices.SortFunc(l.faults, func(a, b fleet.FieldError) int { return strings.Compare(a.Pointer, b.Pointer) })
	return unfit(l.faults)
}

// find looks up the record that a member names, if it names one; one that does not exist, or is archived, is a fault.
func find[T any](ctx context.Context, l *lookup, account fleet.AccountID, log *record.Log[T],
	text, pointer, noun string, into **record.Record[T]) error {
	if text == "" {
		return nil
	}
	err := follow(ctx, account, log, text, into)
	if err == nil && *into == nil {
		l.add(fleet.FieldError{Pointer: pointer, Code: "not_found", Detail: "there is no such " + noun})
	}
	return err
}

// follow looks up a record; what does not exist, or is archived, leaves nil.
func follow[T any](ctx context.Context, account fleet.AccountID, log *record.Log[T], text string,
	into **record.Record[T]) error {
	id, err := fleet.ParseID(log.Kind().Prefix, text)
	if err != nil {
		return nil
	}
	rec, err := base.Recall(ctx, log, account, id)
	switch {
	case fleet.CodeOf(err) == fleet.CodeNotFound:
		return nil
	case err != nil:
		return err
	}
	if !rec.Archived() {
		*into = &rec
	}
	return nil
}
