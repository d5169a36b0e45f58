package seed

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
)

// Clock is a clock that stands where it is put.
type Clock struct{ at atomic.Int64 }

// Now returns the time at which the clock stands.
func (c *Clock) Now() time.Time { return time.UnixMilli(c.at.Load()).UTC() }

// Set puts the clock.
func (c *Clock) Set(t time.Time) { c.at.Store(t.UnixMilli()) }

// Business carries a plan out.
type Business struct {
	Account fleet.AccountID
	Plan    *Plan
	Cars    []Car
	// Open opens a desk whose clock is now and whose identities bear a node number; no two desks of a process may share one.
	Open     func(node uint64, now func() time.Time) (*desk.Desk, error)
	AtOnce   int                 // desks that work at once
	Progress func(done, all int) // may be nil; called from several goroutines

	known basics
}

// basics are the records that all bookings refer to.
type basics struct {
	location  string
	plan      string
	classes   map[string]string // ids by code
	customers []string
}

// by is who has written all of it.
var by = record.Author{Actor: "demo"}

// Node numbers of the desks.
const (
	nodeBasics = 512
	nodeCars   = 520
)

// worker is one desk with its clock.
type worker struct {
	*Business
	*desk.Desk
	clock *Clock
	node  uint64
}

func (b *Business) worker(node uint64) (*worker, error) {
	clock := &Clock{}
	clock.Set(b.Plan.Begin)
	d, err := b.Open(node, clock.Now)
	if err != nil {
		return nil, err
	}
	return &worker{Business: b, Desk: d, clock: clock, node: node}, nil
}

// id returns the identity of the nth thing of a sort that this worker makes: the same whenever it is asked, so that what was cut
// short is found again.
func (w *worker) id(at time.Time, sort, n int) uint64 {
	at = at.Add(time.Duration(sort*100_000+n) * time.Millisecond)
	return fleet.NewIDSource(w.node, func() time.Time { return at }).Next()
}

// Sorts of things that have an identity of their own.
const (
	sortLocation = iota
	sortClass
	sortPlan
	sortCustomer
	sortBooking
	sortPayment
	sortExpense
	sortWork
	sortToll
)

// Carry does what the plan says up to a moment, and what of it is not done yet. It may be called again, also by another process
// after this one has died, but not by two at once.
func (b *Business) Carry(ctx context.Context, until time.Time) error {
	w, err := b.worker(nodeBasics)
	if err != nil {
		return err
	}
	if err := w.resume(ctx, until); err != nil {
		return fmt.Errorf("demo business: %w", err)
	}
	w.clock.Set(b.Plan.Begin)
	if err := w.basics(ctx); err != nil {
		return fmt.Errorf("demo business: %w", err)
	}
	all, done := 0, atomic.Int64{}
	for _, rentals := range b.Plan.Rentals {
		all += len(rentals)
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(max(1, b.AtOnce))
	for i, car := range b.Cars {
		work.Go(func() error {
			w, err := b.worker(nodeCars + uint64(i))
			if err != nil {
				return err
			}
			if err := w.car(ctx, car, until, func() {
				if n := int(done.Add(1)); b.Progress != nil {
					b.Progress(n, all)
				}
			}); err != nil {
				return fmt.Errorf("demo business, %s: %w", car.ID, err)
			}
			return w.Store.Close(ctx)
		})
	}
	work.Go(func() error {
		if err := w.expenses(ctx, "", until); err != nil {
			return err
		}
		return w.Store.Close(ctx)
	})
	return work.Wait()
}

// basics makes what all bookings refer to.
func (w *worker) basics(ctx context.Context) error {
	begin := w.Plan.Begin
	dollars := func(cents int64) record.Money { return record.Money{Amount: cents, Currency: "USD"} }
	location := w.id(begin, sortLocation, 0)
	if _, _, err := w.Locations.Create(ctx, by, w.Account, location, record.Location{
		Name: "Austin East", Code: "AUS-E", Timezone: w.Plan.Zone.String(), Address: &record.Address{Line1: "1 Demo Street", City: "Austin", Region: "TX", Country: "US"},
		Taxes: []record.TaxRate{{Name: "Motor vehicle gross rental receipts tax", RateBP: 1000}},
	}); err != nil {
		return err
	}
	w.known.location = fleet.FormatID(fleet.LocationPrefix, location)
	w.known.classes = map[string]string{}
	for i, c := range Classes {
		id, rate, deposit := w.id(begin, sortClass, i), dollars(c.DailyCents), dollars(c.Deposit)
		if _, _, err := w.Classes.Create(ctx, by, w.Account, id, record.VehicleClass{Name: c.Name, Code: c.Code, Rank: c.Rank, DailyRate: &rate, DepositAmount: &deposit, BufferAfterMinutes: 120}); err != nil {
			return err
		}
		w.known.classes[c.Code] = fleet.FormatID(fleet.ClassPrefix, id)
	}
	plan := w.id(begin, sortPlan, 0)
	if _, _, err := w.RatePlans.Create(ctx, by, w.Account, plan, w.rates(dollars)); err != nil {
		return err
	}
	w.known.plan = fleet.FormatID(fleet.RatePlanPrefix, plan)
	return w.customers(ctx, begin)
}

// customers makes the customers, all of them together.
func (w *worker) customers(ctx context.Context, begin time.Time) error {
	var ids []uint64
	var bodies []record.Customer
	for i, p := range w.Plan.Customers {
		ids, bodies = append(ids, w.id(begin, sortCustomer, i)), append(bodies, customer(p, begin))
		w.known.customers = append(w.known.customers, fleet.FormatID(fleet.CustomerPrefix, ids[i]))
	}
	if _, err := w.Customers.Get(ctx, w.Account, ids[len(ids)-1]); fleet.CodeOf(err) != fleet.CodeNotFound {
		return err // they are made in order, so all are there
	}
	for i, err := range w.Customers.CreateMany(ctx, by, w.Account, ids, bodies) {
		if err != nil {
			return fmt.Errorf("customer %d: %w", i, err)
		}
	}
	return nil
}

// rates is the rate plan of the business. The daily rate is the class's.
func (w *worker) rates(dollars func(int64) record.Money) record.RatePlan {
	miles := 200
	fee, refuel, grace := dollars(35), dollars(90), 59
	noShow := int64(10000)
	return record.RatePlan{Name: "Standard", RatePlanTerms: record.RatePlanTerms{
		Currency: "USD", DailyRate: dollars(4500), DayRounding: "24h_with_grace", GraceMinutes: &grace,
		WeekdayFactors:  []record.DayFactor{{Day: "fri", FactorBP: 11000}, {Day: "sat", FactorBP: 12000}, {Day: "sun", FactorBP: 11000}},
		Holidays:        []record.DateFactor{{Date: "2025-07-04", FactorBP: 15000}, {Date: "2025-12-31", FactorBP: 15000}, {Date: "2026-07-04", FactorBP: 15000}, {Date: "2026-12-31", FactorBP: 15000}},
		LengthDiscounts: []record.LengthOff{{MinDays: 7, DiscountBP: 1000}, {MinDays: 14, DiscountBP: 1800}}, EarlyBirdDiscounts: []record.EarlyOff{{MinDaysAhead: 30, DiscountBP: 500}},
		IncludedMilesPerDay: &miles, ExtraMileFee: &fee, RefuelFee: &refuel,
		Extras: []record.Extra{
			{Code: "child_seat", Name: "Child seat", Per: "day", Price: dollars(700)}, {Code: "gps", Name: "Navigation", Per: "rental", Price: dollars(1900)},
			{Code: "cover", Name: "Full cover", Kind: "protection", Per: "day", Price: dollars(1500)},
		},
		CancelSteps: []record.CancelStep{{HoursBefore: 24, FeeBP: 5000}, {HoursBefore: 72, FeeBP: 2000}}, NoShowFeeBP: &noShow, PlatformFeeBP: 0,
	}}
}

// customer is the record of a person.
func customer(p Person, since time.Time) record.Customer {
	c := record.Customer{CustomerFields: record.CustomerFields{
		Type: "person", FirstName: p.First, LastName: p.Last, DisplayName: p.First + " " + p.Last, Email: p.Email, Phone: p.Phone, DateOfBirth: p.Born.Format(time.DateOnly),
		Address: &record.Address{City: p.City, Country: "US"}, Lifecycle: "active", RiskLevel: "normal",
		Licence: &record.Licence{Number: p.LicenceNumber, Country: "US", Region: "TX", ExpiresOn: p.LicenceExpires.Format(time.DateOnly)},
	}, Verification: record.Verification{Status: "verified", Method: "visual", VerifiedAt: record.InstantOf(since), VerifiedBy: "demo"}}
	if p.Company != "" {
		c.Type, c.CompanyName, c.DisplayName = "company", p.Company, p.Company
	}
	return c
}

// car carries out what the plan has for one car. A car's bookings are made, begun and ended one after the other, so that none of
// them stands for long in the past as if somebody had forgotten it.
func (w *worker) car(ctx context.Context, car Car, until time.Time, done func()) error {
	if err := w.outfit(ctx, car); err != nil {
		return err
	}
	services := w.Plan.Services[car.ID]
	mileage := max(2000, car.MileageMi-w.Plan.mileage(car))
	for i := range w.Plan.Rentals[car.ID] {
		r := &w.Plan.Rentals[car.ID][i]
		for len(services) > 0 && services[0].From.Before(r.PickupAt) && services[0].From.Before(until) {
			if err := w.unlessTaken(ctx, until, func() error { return w.service(ctx, services[0], until) }); err != nil {
				return err
			}
			services = services[1:]
		}
		if r.BookedAt.Before(until) {
			if err := w.unlessTaken(ctx, until, func() error { return w.rental(ctx, r, mileage, until) }); err != nil {
				return fmt.Errorf("rental %d: %w", r.Number, err)
			}
		}
		mileage += r.Miles
		done()
	}
	return w.expenses(ctx, car.ID, until)
}

// unlessTaken does something, and passes over it if the vehicle is taken. That may be so only because what follows from an earlier write
// has failed, on a machine that was too busy: so it is made up for first.
func (w *worker) unlessTaken(ctx context.Context, until time.Time, do func() error) error {
	err := do()
	if err == nil || !taken(err) {
		return err
	}
	if err := w.resume(ctx, until); err != nil {
		return err
	}
	if err := do(); err != nil && !taken(err) {
		return err
	}
	return nil
}

// resume makes up for what was cut short, or failed, of all that was written so far.
func (w *worker) resume(ctx context.Context, until time.Time) error {
	w.clock.Set(until.Add(time.Minute))
	if err := w.Store.Resume(ctx, w.Plan.Begin); err != nil {
		return fmt.Errorf("what was cut short: %w", err)
	}
	return nil
}

// outfit gives the vehicle's record what the business needs of it.
func (w *worker) outfit(ctx context.Context, car Car) error {
	id, err := fleet.ParseID(fleet.VehiclePrefix, car.ID)
	if err != nil {
		return err
	}
	class := Classes[max(0, slices.IndexFunc(Classes, func(c Class) bool { return c.Code == car.Class }))]
	w.clock.Set(time.Now()) // the vehicle was made a moment ago
	_, err = w.Vehicles.Update(ctx, by, w.Account, id, 0, func(rec *record.Record[record.Vehicle]) error {
		v := &rec.Body
		if v.ClassID != "" {
			return nil
		}
		v.ClassID, v.HomeLocationID, v.CurrentLocationID = w.known.classes[car.Class], w.known.location, w.known.location
		miles, life, residual := max(2000, car.MileageMi-w.Plan.mileage(car)), 150_000, record.Money{Amount: class.Value / 4, Currency: "USD"}
		v.AcquisitionMileageMi, v.ExpectedLifeMi, v.ResidualValue = &miles, &life, &residual
		v.Ownership, v.AcquiredOn, v.InServiceOn = "owned", w.Plan.Begin.Format(time.DateOnly), w.Plan.Begin.Format(time.DateOnly)
		v.AcquisitionCost = &record.Money{Amount: class.Value, Currency: "USD"}
		v.DepreciationMethod, v.UsefulLifeMonths = "straight_line", 72
		v.RegistrationExpiresOn = w.Plan.Anchor.AddDate(0, 3, int(id%200)).Format(time.DateOnly)
		v.InspectionExpiresOn = w.Plan.Anchor.AddDate(0, 1, int(id%150)).Format(time.DateOnly)
		v.Insurance = &record.Insurance{Provider: "Bluebonnet Mutual", PolicyNumber: "BM-" + strings.TrimPrefix(car.ID, fleet.VehiclePrefix)[8:], EndsOn: w.Plan.Anchor.AddDate(0, 8, 0).Format(time.DateOnly)}
		return nil
	})
	return err
}

// rental carries out one booking as far as it has come.
func (w *worker) rental(ctx context.Context, r *Rental, mileage int, until time.Time) error {
	o := desk.Order{By: by, Account: w.Account, Booking: w.id(r.BookedAt, sortBooking, 0)}
	w.clock.Set(r.BookedAt)
	fields := record.BookingFields{
		CustomerID: w.known.customers[r.Customer], Channel: r.Channel, ExternalReservationID: r.ExternalReference, VehicleID: r.Car, VehicleClassID: w.known.classes[r.Class],
		PickupAt: record.InstantOf(r.PickupAt), ReturnAt: record.InstantOf(r.ReturnAt), PickupLocationID: w.known.location, ReturnLocationID: w.known.location, RatePlanID: w.known.plan,
	}
	if r.Extra != "" {
		fields.Extras = []record.BookedExtra{{Code: r.Extra, Quantity: 1}}
	}
	rec, err := w.Book(ctx, by, w.Account, desk.BookRequest{ID: o.Booking, Fields: fields, Confirm: true})
	if err != nil {
		return fmt.Errorf("book: %w", err)
	}
	if rec.Body.Status == record.BookingConfirmed {
		switch {
		case r.Outcome == "cancelled" && r.CancelledAt.Before(until):
			w.clock.Set(r.CancelledAt)
			rec, err = w.Cancel(ctx, o, desk.CancelRequest{By: "customer", ReasonCode: "plans_changed"})
		case r.Outcome == "no_show" && r.PickupAt.Add(25*time.Hour).Before(until):
			w.clock.Set(r.PickupAt.Add(25 * time.Hour))
			rec, err = w.NoShow(ctx, o, false)
		case r.Outcome == "returned" && r.ActualPickup.Before(until):
			rec, err = w.pickup(ctx, o, r, mileage)
		}
	}
	if err == nil && rec.Body.Status == record.BookingActive && r.ActualReturn.Before(until) {
		rec, err = w.back(ctx, o, r, mileage)
	}
	if err != nil {
		return err
	}
	return w.settle(ctx, r, rec, until)
}

// pct is a share of a tank or a battery.
func (w *worker) pct(r *Rental, pct int, h *desk.Handover) {
	electric := slices.ContainsFunc(w.Cars, func(c Car) bool { return c.ID == r.Car && c.Electric })
	if electric {
		h.Battery = &pct
		return
	}
	share := float64(pct)
	h.FuelPct = &share
}

func (w *worker) pickup(ctx context.Context, o desk.Order, r *Rental, mileage int) (record.Record[record.Booking], error) {
	w.clock.Set(r.ActualPickup)
	if _, err := w.SetDeposit(ctx, o, rental.DepositOrder{Action: rental.Authorize}); err != nil {
		return record.Record[record.Booking]{}, fmt.Errorf("deposit: %w", err)
	}
	h := desk.Handover{MileageMi: &mileage}
	w.pct(r, r.PickupPct, &h)
	rec, err := w.Pickup(ctx, o, h)
	if err != nil {
		return rec, fmt.Errorf("pickup: %w", err)
	}
	return rec, nil
}

func (w *worker) back(ctx context.Context, o desk.Order, r *Rental, mileage int) (record.Record[record.Booking], error) {
	w.clock.Set(r.ActualReturn)
	mileage += r.Miles
	h := desk.Handover{MileageMi: &mileage}
	w.pct(r, r.ReturnPct, &h)
	rec, err := w.Return(ctx, o, h)
	if err != nil {
		return rec, fmt.Errorf("return: %w", err)
	}
	return rec, nil
}
