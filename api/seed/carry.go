package seed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/desk/bulk"
	"github.com/motorpool/fleet/api/desk/fact"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
)

// Clock is a clock that stands where it is put.
type Clock struct{ at atomic.Int64 }

// Now returns the time at which the clock stands.
func (c *Clock) Now() time.Time { return time.UnixMilli(c.at.Load()).UTC() }

// Set puts the clock.
func (c *Clock) Set(t time.Time) { c.at.Store(t.UnixMilli()) }

// Branch is a place where cars stand when nobody has them.
type Branch struct {
	Code     string
	Location record.Location
}

// Business carries a plan out: Make all of it up to a moment, Keep what comes due after that.
type Business struct {
	Account  fleet.AccountID
	Plan     *Plan
	Cars     []Car
	Branches []Branch
	Since    time.Time // when the business was begun to be made up; what was over by then leaves the cars' states alone
	// Open opens a desk whose clock is now and whose identities bear a node number; no two desks of a process
	// may share one.
	Open     func(node uint64, now func() time.Time) (*desk.Desk, error)
	AtOnce   int                 // desks that work at once
	Progress func(done, all int) // may be nil; called from several goroutines

	known basics
	kept  time.Time // until when the plan was kept up with; zero before Make
}

// basics are the records that all bookings refer to.
type basics struct {
	locations map[string]string // ids by code
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
	nodeKeep   = 580 // of those that keep up with the plan
)

// worker is one desk with its clock.
type worker struct {
	*Business
	*desk.Desk
	clock *Clock
	node  uint64
	aside bool // it decides in memory: nothing can have been cut short
}

// worker opens a desk under a node number. Identities that are the same whenever they are asked for are of another.
func (b *Business) worker(node, desk uint64) (*worker, error) {
	clock := &Clock{}
	clock.Set(b.Plan.Begin)
	d, err := b.Open(desk, clock.Now)
	if err != nil {
		return nil, err
	}
	return &worker{Business: b, Desk: d, clock: clock, node: node}, nil
}

// id returns the identity of the nth thing of a sort that this worker makes: the same whenever it is asked, so that
// what was cut short is found again.
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
	sortRecurring
)

// Make makes what everything refers to, and does what the plan says up to a moment, and what of it is not done yet. All
// of it is decided in memory, some cars at a time, and written while the next are decided. Somebody may have changed
// meanwhile what was decided upon: what is of that car is done by one command after the other, when the others stand.
// It may be called again, also by another process after this one has died, but not by two at once.
func (b *Business) Make(ctx context.Context, until time.Time) error {
	if err := b.begin(ctx, until); err != nil {
		return err
	}
	if b.kept.IsZero() {
		b.kept = until
	}
	w, err := b.worker(nodeBasics, nodeBasics)
	if err != nil {
		return err
	}
	w.Log.DebugContext(ctx, "the vehicles of the business are outfitted")
	if err := b.all(ctx, nodeCars, everyCar, func(ctx context.Context, w *worker, i int) error {
		return w.outfit(ctx, b.Cars[i], until)
	}); err != nil {
		return err
	}
	w.clock.Set(until)
	if err := b.live(ctx, w.Desk, until); err != nil {
		return err
	}
	w.Log.DebugContext(ctx, "the facts of the business are made")
	if err := w.facts(ctx, until); err != nil {
		return err
	}
	return w.Store.Close(ctx)
}

// carsTogether is how many cars are decided before they are written, while the next are decided: deciding takes this
// process, and writing the store, for which fewer and larger inserts are less work.
const carsTogether = 12

// live does what the plan has for the cars.
func (b *Business) live(ctx context.Context, by *desk.Desk, until time.Time) error {
	all, done := 0, atomic.Int64{}
	for _, rentals := range b.Plan.Rentals {
		all += len(rentals)
	}
	told := func() {
		if n := int(done.Add(1)); b.Progress != nil {
			b.Progress(n, all)
		}
	}
	much, err := bulk.Begin(ctx, by, b.Account)
	if err != nil {
		return err
	}
	var left []int // which others have changed meanwhile, or nobody could decide
	writing, inner := errgroup.WithContext(ctx)
	writing.SetLimit(1)
	for from := 0; from < len(b.Cars); from += carsTogether {
		to := min(from+carsTogether, len(b.Cars))
		by.Log.DebugContext(ctx, "the business is decided", "from", from, "to", to)
		drafts, err := b.decide(inner, much, from, to, until, told)
		if err != nil {
			return cmp.Or(writing.Wait(), err)
		}
		writing.Go(func() error {
			some, err := b.write(inner, much, from, drafts, until)
			left = append(left, some...)
			return err
		})
	}
	if err := writing.Wait(); err != nil {
		return err
	}
	by.Log.DebugContext(ctx, "what is left of the business is done by one command after the other", "cars", len(left))
	some := func(car int) bool { return slices.Contains(left, car) }
	return b.all(ctx, nodeCars, some, func(ctx context.Context, w *worker, i int) error {
		if err := w.carry(ctx, b.Cars[i], until, func() {}); err != nil {
			return err
		}
		return w.own(ctx, b.Cars[i], until)
	})
}

// decide decides in memory what the plan has for some cars. The draft of a car is nil if that is not possible.
func (b *Business) decide(ctx context.Context, much *bulk.Bulk, from, to int, until time.Time,
	told func()) ([]*bulk.Draft, error) {
	drafts := make([]*bulk.Draft, to-from)
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(max(1, b.AtOnce))
	for i, car := range b.Cars[from:to] {
		work.Go(func() error {
			d, err := b.draft(ctx, much, nodeCars+uint64(from+i), car.ID, func(w *worker) error {
				return w.carry(ctx, car, until, told)
			})
			if drafts[i] = d; err != nil {
				return fmt.Errorf("demo business, %s: %w", car.ID, err)
			}
			return nil
		})
	}
	return drafts, work.Wait()
}

// write writes what was decided of some cars, and returns those that are left: nothing could be decided of them, or
// others have changed what that rests on.
func (b *Business) write(ctx context.Context, much *bulk.Bulk, from int, drafts []*bulk.Draft,
	until time.Time) (left []int, err error) {
	moved, err := much.Write(ctx, slices.DeleteFunc(slices.Clone(drafts), func(d *bulk.Draft) bool { return d == nil })...)
	if err != nil {
		return nil, err
	}
	for i, d := range drafts {
		if d == nil || slices.Contains(moved, d) {
			left = append(left, from+i)
		}
	}
	stand := func(car int) bool { return car >= from && car < from+len(drafts) && !slices.Contains(left, car) }
	return left, b.all(ctx, nodeCars, stand, func(ctx context.Context, w *worker, i int) error {
		return w.own(ctx, b.Cars[i], until)
	})
}

// draft decides something in memory that changes one vehicle's calendar. The draft is nil if that is not possible.
func (b *Business) draft(ctx context.Context, much *bulk.Bulk, node uint64, car string,
	do func(*worker) error) (*bulk.Draft, error) {
	id, err := fleet.ParseID(fleet.VehiclePrefix, car)
	if err != nil {
		return nil, err
	}
	w := &worker{Business: b, clock: &Clock{}, node: node, aside: true}
	w.clock.Set(b.Plan.Begin)
	d, err := much.Draft(record.Ref{Kind: calendar.Kind.Name, ID: id}, fleet.NewIDSource(node, w.clock.Now), w.clock.Now)
	if err != nil {
		return nil, err
	}
	w.Desk = d.Desk
	if err = do(w); errors.Is(err, record.ErrNotYet) {
		w.Log.DebugContext(ctx, "what is made up of a vehicle is not decided in memory", "vehicle", car, "error", err)
		return nil, nil
	}
	return d, err
}

// carry does all that the plan has for a car up to a moment: first what is so at present, and who had the car last,
// for the odometer; then the last days and the next months, then what was before.
func (w *worker) carry(ctx context.Context, car Car, until time.Time, done func()) error {
	back, _ := w.Plan.freeSince(car.ID, until)
	if slices.ContainsFunc(w.Plan.Rentals[car.ID], func(r Rental) bool { return r.out(until) }) {
		back = time.Time{} // who has the car now tells the odometer
	}
	tracked := w.Plan.TrackedFrom(car.ID)
	turn := func(s *step) int {
		switch {
		case !s.begin.After(until) && (s.over.After(until) || s.over.Equal(back)):
			return 0
		case s.over.After(tracked):
			return 1
		}
		return 2
	}
	for now := range 3 {
		if err := w.car(ctx, car, until, func(s *step) bool { return turn(s) == now }, done); err != nil {
			return err
		}
	}
	if err := w.expenses(ctx, car.ID, time.Time{}, until); err != nil {
		return err
	}
	if car.ID == w.Cars[0].ID { // there is one, and what is of no car goes with it
		ofNone := *w
		ofNone.node = nodeBasics
		if err := ofNone.expenses(ctx, "", time.Time{}, until); err != nil {
			return err
		}
	}
	if !w.aside {
		return nil
	}
	return w.scheduled(ctx, car, until)
}

// scheduled enters what a car costs by schedule by the terms that it is to have. The duty knows of none before the car
// has them, which is when its business stands: nobody else makes these expenses meanwhile.
func (w *worker) scheduled(ctx context.Context, car Car, until time.Time) error {
	id, err := fleet.ParseID(fleet.VehiclePrefix, car.ID)
	if err != nil {
		return err
	}
	w.clock.Set(until)
	rec, err := w.Vehicles.Get(ctx, w.Account, id)
	if err != nil {
		return err
	}
	if !w.terms(car, &rec.Body) {
		return nil // the duty knows of them
	}
	return w.Costs.PostNew(ctx, w.Account, id, &rec.Body)
}

// begin makes up for what was cut short, and makes what all bookings refer to, unless it was made.
func (b *Business) begin(ctx context.Context, until time.Time) error {
	w, err := b.worker(nodeBasics, nodeBasics)
	if err != nil {
		return err
	}
	if err := w.resume(ctx, until); err != nil {
		return fmt.Errorf("demo business: %w", err)
	}
	if b.known.customers != nil {
		return w.Store.Close(ctx)
	}
	w.clock.Set(b.Plan.Begin)
	if err := w.basics(ctx); err != nil {
		return fmt.Errorf("demo business: %w", err)
	}
	return w.Store.Close(ctx)
}

// everyCar wants them all.
func everyCar(int) bool { return true }

// facts makes the facts of all that was made up: it bears times at which nobody looks for what is new.
func (w *worker) facts(ctx context.Context, until time.Time) error {
	w.clock.Set(until)
	from, to, err := w.Facts.Extent(ctx, w.Account)
	if err != nil {
		return err
	}
	return w.Facts.Make(ctx, w.Account, from, to, func(fact.Made) error { return nil })
}

// Keep does what has come due of the plan since Make, or since it was called last.
func (b *Business) Keep(ctx context.Context, until time.Time) error {
	since := b.kept
	due := func(s *step) bool { return s.due(since, until) }
	want := func(car int) bool {
		id := b.Cars[car].ID
		return slices.ContainsFunc(b.Plan.steps(id), func(s step) bool { return due(&s) }) ||
			slices.ContainsFunc(b.Plan.Costs[id], func(c Cost) bool { return !c.On.Before(since) && c.On.Before(until) })
	}
	err := b.all(ctx, nodeKeep, want, func(ctx context.Context, w *worker, i int) error {
		if err := w.car(ctx, b.Cars[i], until, due, func() {}); err != nil {
			return err
		}
		return w.expenses(ctx, b.Cars[i].ID, since, until)
	})
	if err == nil {
		b.kept = until
	}
	return err
}

// all does something with each car that is wanted, some of them at once.
func (b *Business) all(ctx context.Context, desks uint64, want func(car int) bool,
	do func(ctx context.Context, w *worker, car int) error) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(max(1, b.AtOnce))
	for i, car := range b.Cars {
		if !want(i) {
			continue
		}
		work.Go(func() error {
			w, err := b.worker(nodeCars+uint64(i), desks+uint64(i))
			if err != nil {
				return err
			}
			if err := do(ctx, w, i); err != nil {
				return fmt.Errorf("demo business, %s: %w", car.ID, err)
			}
			return w.Store.Close(ctx)
		})
	}
	return work.Wait()
}

// car carries out what the plan has for one car, of what is wanted of it. A car's bookings are made, begun and ended
// one after the other, so that none of them stands for long in the past as if somebody had forgotten it.
func (w *worker) car(ctx context.Context, car Car, until time.Time, want func(*step) bool, done func()) error {
	for _, s := range w.Plan.steps(car.ID) {
		if !want(&s) {
			continue
		}
		w.Past = !s.over.After(w.Since)
		switch r := s.rental; {
		case r == nil && s.begin.Before(until):
			if err := w.unlessTaken(ctx, until, func() error { return w.service(ctx, *s.service, until) }); err != nil {
				return err
			}
		case r != nil && r.BookedAt.Before(until):
			if err := w.unlessTaken(ctx, until, func() error { return w.rental(ctx, car, r, until) }); err != nil {
				return fmt.Errorf("rental %d: %w", r.Number, err)
			}
		}
		if s.rental != nil {
			done()
		}
	}
	return nil
}

// unlessTaken does something, and passes over it if the vehicle is taken. That may be so only because what follows from
// an earlier write has failed, on a machine that was too busy: so it is made up for first.
func (w *worker) unlessTaken(ctx context.Context, until time.Time, do func() error) error {
	err := do()
	if err == nil || !taken(err) {
		return err
	}
	if w.aside {
		return nil
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
func (w *worker) outfit(ctx context.Context, car Car, now time.Time) error {
	return w.vehicle(ctx, car, now, func(id uint64, v *record.Vehicle) {
		if v.ClassID != "" {
			return
		}
		location := w.known.locations[car.Branch]
		v.ClassID, v.HomeLocationID, v.CurrentLocationID = w.known.classes[car.Class], location, location
		// The state is said by hand and later than all of the past, so that nothing of the past changes it.
		since, returned := w.Plan.freeSince(car.ID, w.Since)
		v.StatusSince = record.InstantOf(since)
		if ready := since.Add(buffer); returned && ready.After(now) {
			v.Status, v.StatusReason, v.StatusUntil = record.VehicleTurnaround, "returned", record.InstantOf(ready)
		}
		miles, life := car.MileageMi, 150_000
		v.AcquisitionMileageMi, v.ExpectedLifeMi = &miles, &life
		v.AcquiredOn = w.Plan.Begin.Format(time.DateOnly) // from when on its odometer is reckoned with
		v.InServiceOn = v.AcquiredOn
		v.RegistrationExpiresOn = w.Plan.Anchor.AddDate(0, 3, int(id%200)).Format(time.DateOnly)
		v.InspectionExpiresOn = w.Plan.Anchor.AddDate(0, 1, int(id%150)).Format(time.DateOnly)
	})
}

// own gives the vehicle's record what it costs to own it.
func (w *worker) own(ctx context.Context, car Car, now time.Time) error {
	return w.vehicle(ctx, car, now, func(_ uint64, v *record.Vehicle) { w.terms(car, v) })
}

// vehicle changes a vehicle's record.
func (w *worker) vehicle(ctx context.Context, car Car, now time.Time, change func(id uint64, v *record.Vehicle)) error {
	id, err := fleet.ParseID(fleet.VehiclePrefix, car.ID)
	if err != nil {
		return err
	}
	w.clock.Set(now)
	_, err = w.Vehicles.Update(ctx, by, w.Account, id, 0, func(rec *record.Record[record.Vehicle]) error {
		change(id, &rec.Body)
		return nil
	})
	return err
}

// terms gives a vehicle what it was bought for and what it costs by schedule, and returns false if it has anything of
// that. Of three one is financed, and paid off in four years.
func (w *worker) terms(car Car, v *record.Vehicle) bool {
	if v.AcquisitionCost != nil || v.DepreciationMethod != "" || v.Insurance != nil || v.Ownership != "" ||
		v.Financing != nil {
		return false
	}
	class := Classes[max(0, slices.IndexFunc(Classes, func(c Class) bool { return c.Code == car.Class }))]
	share := func(part, of int64) *record.Money {
		return &record.Money{Amount: class.Value / of * part, Currency: "USD"}
	}
	v.Ownership, v.AcquisitionCost, v.ResidualValue = "owned", share(1, 1), share(1, 4)
	v.DepreciationMethod, v.UsefulLifeMonths = "straight_line", 72
	v.Insurance = &record.Insurance{Provider: "Goldenrod Mutual", PolicyNumber: "GM-" +
		strings.TrimPrefix(car.ID, fleet.VehiclePrefix)[8:], EndsOn: w.Plan.Anchor.AddDate(0, 8, 0).Format(time.DateOnly),
		Premium: share(1, 400), Period: "month", StartsOn: w.Plan.Whole().Format(time.DateOnly)}
	if slices.IndexFunc(w.Cars, func(c Car) bool { return c.ID == car.ID })%3 == 0 {
		apr := int64(790)
		v.Ownership, v.Financing = "financed", &record.Financing{Lender: "First Prairie Bank",
			Principal: share(3, 5), APR: &apr, TermMonths: 48,
			FirstPaymentOn: w.Plan.Begin.AddDate(0, 1, 0).Format(time.DateOnly)}
	}
	return true
}

// rental carries out one booking as far as it has come.
func (w *worker) rental(ctx context.Context, car Car, r *Rental, until time.Time) error {
	o := desk.Order{By: by, Account: w.Account, Booking: w.id(r.BookedAt, sortBooking, 0)}
	w.clock.Set(r.BookedAt)
	fields := record.BookingFields{
		CustomerID: w.known.customers[r.Customer], Channel: r.Channel, ExternalReservationID: r.ExternalReference,
		VehicleID: r.Car, VehicleClassID: w.known.classes[r.Class],
		PickupAt: record.InstantOf(r.PickupAt), ReturnAt: record.InstantOf(r.ReturnAt),
		PickupLocationID: w.known.locations[car.Branch], ReturnLocationID: w.known.locations[car.Branch],
		RatePlanID: w.known.plan,
	}
	if r.Extra != "" {
		fields.Extras = []record.BookedExtra{{Code: r.Extra, Quantity: 1}}
	}
	// What was picked up by now waits for nobody: no duty may take it for a no-show before the pickup is written, too.
	fields.Backdated = r.PickupAt.Before(until)
	past := w.Past
	w.Past = past || fields.Backdated
	rec, err := w.Book(ctx, by, w.Account, desk.BookRequest{ID: o.Booking, Fields: fields, Confirm: true})
	w.Past = past
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
			rec, err = w.pickup(ctx, o, car, r)
		}
	}
	if err == nil && rec.Body.Status == record.BookingActive && r.ActualReturn.Before(until) {
		rec, err = w.back(ctx, o, car, r)
	}
	if err != nil {
		return err
	}
	return w.settleMoney(ctx, r, rec, until)
}

// pct is a share of a tank or a battery.
func (car *Car) pct(pct int, h *desk.Handover) {
	if car.Electric {
		h.Battery = &pct
		return
	}
	share := float64(pct)
	h.FuelPct = &share
}

func (w *worker) pickup(ctx context.Context, o desk.Order, car Car, r *Rental) (record.Record[record.Booking], error) {
	w.clock.Set(r.ActualPickup)
	if _, err := w.SetDeposit(ctx, o, rental.DepositOrder{Action: rental.Authorize}); err != nil {
		return record.Record[record.Booking]{}, fmt.Errorf("deposit: %w", err)
	}
	h := desk.Handover{MileageMi: &r.FromMi}
	car.pct(r.PickupPct, &h)
	rec, err := w.Pickup(ctx, o, h)
	if err != nil {
		return rec, fmt.Errorf("pickup: %w", err)
	}
	return rec, nil
}

func (w *worker) back(ctx context.Context, o desk.Order, car Car, r *Rental) (record.Record[record.Booking], error) {
	w.clock.Set(r.ActualReturn)
	h := desk.Handover{MileageMi: &r.ToMi}
	car.pct(r.ReturnPct, &h)
	rec, err := w.Return(ctx, o, h)
	if err != nil {
		return rec, fmt.Errorf("return: %w", err)
	}
	return rec, nil
}
