package desk

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/desk/holding"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
)

// BookRequest is what a booking is to be made of.
type BookRequest struct {
	ID       uint64 // from Store.NextID; a booking that the same command or quote has made under it is returned as it is
	Fields   record.BookingFields
	Confirm  bool                 // at once; else it is pending until its hold lapses
	HoldFor  time.Duration        // of a pending one; as the account says unless given
	Snapshot *record.RateSnapshot // the price that was agreed; worked out unless given
	QuoteID  string               // that the price is of
	Of       string               // the booking that it duplicates
}

// errListed says that there may be a do-not-rent list where none was taken to be.
var errListed = errors.New("there may be a do-not-rent list")

// Book makes a booking: it takes the vehicle's calendar, or a place in its class, and stands when it is written.
func (d *Desk) Book(ctx context.Context, by record.Author, account fleet.AccountID,
	req BookRequest) (record.Record[record.Booking], error) {
	defer d.Store.InStep()()
	rec, err := d.book(ctx, by, account, req, d.Store.FewInStep())
	if errors.Is(err, errListed) { // once for an account: the process knows of the list from then on
		rec, err = d.book(ctx, by, account, req, false)
	}
	return rec, err
}

// book is Book. Who is alone waits, before it takes a hold, for nothing that memory has; errListed says that this was
// too soon, and that nothing was made.
func (d *Desk) book(ctx context.Context, by record.Author, account fleet.AccountID, req BookRequest,
	alone bool) (record.Record[record.Booking], error) {
	var b *record.Booking
	var already holding.AlreadyRead
	var there *record.Record[record.Booking]
	refs := d.Refs(account, &req.Fields)
	if by.Again || req.QuoteID != "" || !d.Store.Young(req.ID) { // an earlier attempt may have made it
		refs = append(refs, record.Ref{Kind: d.Bookings.Kind().Name, ID: req.ID})
	}
	err := d.Recalling(func(lookup bool) error {
		for alone := alone && lookup; ; alone = false {
			m, s, err := d.look(ctx, account, &req, refs, lookup, alone)
			if err != nil {
				return err
			}
			rec, seen, err := d.Bookings.In(m.Seen, account, req.ID)
			if seen && err == nil {
				there = &rec
			}
			if seen && fleet.CodeOf(err) != fleet.CodeNotFound {
				return err
			}
			remembering := m.In(ctx)
			if b, err = d.draft(remembering, account, req); err != nil {
				return err
			}
			if alone && req.Fields.PickupLocationID == "" && b.PickupLocationID != "" {
				continue // where the vehicle will be is not told by what its calendar was a moment ago
			}
			already = s
			already.Vehicle, err = d.VehicleOf(remembering, account, b.VehicleID)
			return err
		}
	})
	if err != nil {
		return record.Record[record.Booking]{}, err
	}
	if there != nil {
		return *there, d.made(ctx, by, there, req.QuoteID)
	}
	return d.open(ctx, by, account, req.ID, b, holding.Ask, already)
}

// look reads at once all that a booking needs, as far as its fields tell: the records that they name, the rate plans,
// whether there is a do-not-rent list, and the calendar. With lookup what is in memory comes from there; alone, the
// calendar too, and that there is no list is known for certain once the hold was taken.
func (d *Desk) look(ctx context.Context, account fleet.AccountID, req *BookRequest, refs []record.Ref,
	lookup, alone bool) (*base.Memory, holding.AlreadyRead, error) {
	m := base.NewMemory()
	m.Lookup = lookup
	var s holding.AlreadyRead
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		see := d.Store.See
		if lookup {
			see = d.Store.Recall
		}
		m.Seen, err = see(inner, account, refs...)
		return err
	})
	if at, want := holding.BookingHold(req.ID, &record.Booking{BookingFields: req.Fields, Status: record.BookingConfirmed,
		BlockedFrom: req.Fields.PickupAt}); want != nil {
		group.Go(func() (err error) {
			cals, key := d.Holds.CalendarOf(at)
			s.Calendar, err = cals.Look(inner, account, key, alone)
			return err
		})
	}
	if req.Fields.RatePlanID == "" && req.Snapshot == nil {
		group.Go(func() (err error) {
			m.Plans, err = d.Reads.PlansInUse(inner, account)
			return err
		})
	}
	if req.Fields.CustomerID != "" {
		m.Listed = new(bool)
		switch {
		case d.Persons.HadList(account):
			*m.Listed = true
		case alone:
			s.Listed = beside(func() (bool, error) { return d.Persons.HasList(ctx, account) })
		default:
			group.Go(func() (err error) {
				*m.Listed, err = d.Persons.HasList(inner, account)
				return err
			})
		}
	}
	err := group.Wait()
	m.Calendar = s.Calendar
	return m, s, err
}

// beside asks something at once, and returns what waits for the answer.
func beside[T any](ask func() (T, error)) func() (T, error) {
	var answer T
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		answer, err = ask()
	}()
	return func() (T, error) {
		<-done
		return answer, err
	}
}

// open writes a new booking, which is known not to be there, with the hold that it needs.
func (d *Desk) open(ctx context.Context, by record.Author, account fleet.AccountID, id uint64, b *record.Booking,
	g holding.Force, s holding.AlreadyRead) (record.Record[record.Booking], error) {
	early := record.Early(ctx) // the booking is written while the tables learn of its hold
	defer func() {
		if err := d.Store.Await(ctx, account); err != nil {
			d.Log.WarnContext(ctx, "a hold may not show in searches yet", "booking", name(id), "error", err)
		}
	}()
	taken, overlaps, err := d.Holds.TakeFor(early, by, account, id, 1, nil, b, g, s)
	if err != nil {
		return record.Record[record.Booking]{}, err
	}
	if s.Listed != nil {
		if listed, err := s.Listed(); listed || err != nil {
			d.Holds.Withdraw(early, by, account, taken)
			return record.Record[record.Booking]{}, errors.Join(errListed, err)
		}
	}
	b.Conflict = overlaps
	inner, cancel := context.WithDeadline(ctx, d.Holds.Deadline(taken))
	defer cancel()
	rec, created, err := d.Bookings.CreateSeen(inner, by, account, id, *b)
	if err == nil && !created || err != nil && !holding.Undecided(err) {
		d.Holds.Withdraw(early, by, account, taken)
	}
	if err == nil && !created {
		err = d.made(ctx, by, &rec, b.QuoteID)
	}
	return rec, err
}

// made returns record.ErrTaken for a booking that was found under the id of one to be, unless it was made by the same
// command or of the same quote.
func (d *Desk) made(ctx context.Context, by record.Author, rec *record.Record[record.Booking], quote string) error {
	if quote != "" && rec.Body.QuoteID == quote {
		return nil
	}
	return d.Bookings.Own(ctx, by, rec.Account, rec.ID)
}

// draft works out what a new booking is, before it takes anything.
func (d *Desk) draft(ctx context.Context, account fleet.AccountID, req BookRequest) (*record.Booking, error) {
	if err := checkPeriod(&req.Fields); err != nil {
		return nil, err
	}
	if err := d.notPast(&req.Fields); err != nil {
		return nil, err
	}
	now := d.Now()
	snapshot, found, err := d.agreed(ctx, account, &req, now)
	if err != nil {
		return nil, err
	}
	settings, _, err := d.settings(ctx, account)
	if err != nil {
		return nil, err
	}
	b := &record.Booking{BookingFields: found.Fields, Status: record.BookingPending, StatusSince: record.InstantOf(now),
		Timezone:    found.Zone.String(),
		DuplicateOf: req.Of, QuoteID: req.QuoteID}
	if b.VehicleID == "" && b.VehicleClassID == "" {
		return nil, fleet.NewError(fleet.CodeValidation, "A booking is of a vehicle or of a vehicle class.",
			fleet.FieldError{Pointer: "/vehicle_class_id", Code: "required", Detail: "give vehicle_id or vehicle_class_id"})
	}
	if err := d.rentable(ctx, account, found.Vehicle, &found.Fields); err != nil {
		return nil, err
	}
	if !req.Confirm { // or it is looked at when that is
		if err := d.Persons.MayDrive(ctx, account, b, settings); err != nil {
			return nil, err
		}
	}
	if found.Vehicle != nil && found.Vehicle.Body.ClassID != "" && found.Vehicle.Body.ClassID != b.VehicleClassID {
		b.UpgradedFrom = b.VehicleClassID
		b.VehicleClassID = found.Vehicle.Body.ClassID
	}
	block(b, found.BufferBefore, found.BufferAfter)
	d.priced(b, &snapshot)
	if req.Confirm {
		b.Status = record.BookingConfirmed
		return b, d.confirmable(ctx, account, b, settings)
	}
	hold := req.HoldFor
	if hold <= 0 {
		hold = time.Duration(settings.HoldMinutes) * time.Minute
	}
	b.HoldExpiresAt = record.InstantOf(now.Add(hold))
	return b, nil
}

// agreed is the price of a new booking: that which was agreed, whatever rates there are by now, or worked out.
func (d *Desk) agreed(ctx context.Context, account fleet.AccountID, req *BookRequest,
	now time.Time) (record.RateSnapshot, Resolved, error) {
	if req.Snapshot == nil {
		return d.Price(ctx, account, req.Fields, now)
	}
	found, err := d.resolve(ctx, account, req.Fields, true)
	return *req.Snapshot, found, err
}

// The years that bookings may lie in: what every table can hold.
const firstYear, lastYear = 1990, 2199

// checkPeriod refuses periods that are none.
func checkPeriod(b *record.BookingFields) error {
	var faults []fleet.FieldError
	for _, end := range []struct {
		pointer string
		at      record.Instant
	}{{"/pickup_at", b.PickupAt}, {"/return_at", b.ReturnAt}} {
		if end.at.IsZero() {
			faults = append(faults, fleet.FieldError{Pointer: end.pointer, Code: "required", Detail: "must be given"})
		} else if year := end.at.UTC().Year(); year < firstYear || year > lastYear {
			faults = append(faults,
				fleet.FieldError{Pointer: end.pointer, Code: "invalid", Detail: "is not in the years 1990 to 2199"})
		}
	}
	if faults == nil && !b.PickupAt.Before(b.ReturnAt.Time) {
		faults = append(faults, fleet.FieldError{Pointer: "/return_at", Code: "invalid", Detail: "must be after pickup_at"})
	}
	if faults == nil && b.ReturnAt.Sub(b.PickupAt.Time) > 10*366*24*time.Hour {
		faults = append(faults,
			fleet.FieldError{Pointer: "/return_at", Code: "invalid", Detail: "is more than ten years after pickup_at"})
	}
	if faults != nil {
		return fleet.Invalid(faults...)
	}
	return nil
}

// past is how long ago the pickup of a new booking may be: of somebody who stands at the counter.
const past = time.Hour

// notPast refuses a booking whose pickup lies in the past, unless it says that it is written down afterwards:
// three weeks ago is a wrong month as often as a rental that took place. What lies in the future is not written
// down afterwards.
func (d *Desk) notPast(b *record.BookingFields) error {
	ago := d.Now().Sub(b.PickupAt.Time)
	if ago <= 0 && !d.Past {
		b.Backdated = false
	}
	if ago <= past || b.Backdated {
		return nil
	}
	return fleet.Invalid(fleet.FieldError{Pointer: "/pickup_at", Code: "in_the_past",
		Detail: "lies " + ageOf(ago) + " ago; give backdated true if the rental is written down afterwards, or another time"})
}

// ageOf says how long something is ago, in whole hours or days.
func ageOf(d time.Duration) string {
	n, unit := int(d/time.Hour), "hour"
	if n >= 48 {
		n, unit = n/24, "day"
	}
	if n != 1 {
		unit += "s"
	}
	return strconv.Itoa(n) + " " + unit
}

// block sets the period for which a booking holds its vehicle.
func block(b *record.Booking, before, after time.Duration) {
	b.BlockedFrom = record.InstantOf(b.PickupAt.Add(-before))
	b.BlockedUntil = record.InstantOf(b.ReturnAt.Add(after))
}

// rentable refuses vehicles that are not for rent, now or later, or are not in the fleet for the whole of a rental. One
// in maintenance will be.
func (d *Desk) rentable(ctx context.Context, account fleet.AccountID, v *record.Record[record.Vehicle],
	f *record.BookingFields) error {
	if v == nil {
		return nil
	}
	if !base.CanBeRented(&v.Body) {
		return fleet.NewError(fleet.CodeConflict,
			"The vehicle "+fleet.FormatID(fleet.VehiclePrefix, v.ID)+" is "+v.Body.Status+" and cannot be booked.")
	}
	if v.Archived() {
		return fleet.NewError(fleet.CodeConflict,
			"The vehicle "+fleet.FormatID(fleet.VehiclePrefix, v.ID)+" is archived and cannot be booked.")
	}
	fault, err := d.notInFleet(ctx, account, v, f)
	if err != nil || fault == nil {
		return err
	}
	return fleet.NewError(fleet.CodeConflict, "The vehicle "+holding.Called(&v.Body)+" cannot be booked so: "+
		strings.TrimPrefix(fault.Pointer, "/")+" "+fault.Detail+
		". Take another vehicle or other times, or correct the vehicle.",
		*fault)
}

// notInFleet says that a vehicle, which may be nil, is not in the fleet for the whole of a rental, nil if it is.
func (d *Desk) notInFleet(ctx context.Context, account fleet.AccountID, v *record.Record[record.Vehicle],
	f *record.BookingFields) (*fleet.FieldError, error) {
	if v == nil || v.Body.InServiceOn == "" && v.Body.DisposalOn == "" {
		return nil, nil
	}
	home, err := base.Recall(ctx, d.Accounts, account, uint64(account))
	if err != nil {
		return nil, err
	}
	return record.NotInFleet(&v.Body.VehicleFields, f.PickupAt.Time, f.ReturnAt.Time, d.Now(), v.Body.Timezone,
		home.Body.Timezone), nil
}

// confirmable refuses to confirm a booking for what has nothing to do with its vehicle being free, and notes what
// was looked at.
func (d *Desk) confirmable(ctx context.Context, account fleet.AccountID, b *record.Booking,
	s record.BookingSettings) error {
	if b.CustomerID == "" {
		return fleet.NewError(fleet.CodeConflict, "The booking has no customer. Give it one before it is confirmed.",
			fleet.FieldError{Pointer: "/customer_id", Code: "required", Detail: "nobody rents"})
	}
	if err := d.Persons.MayDrive(ctx, account, b, s); err != nil {
		return err
	}
	if s.DepositDue == "confirm" {
		if err := depositGiven(b, d.Now()); err != nil {
			return err
		}
	}
	now := record.InstantOf(d.Now())
	b.ConfirmedAt, b.LicenceCheckedAt, b.HoldExpiresAt = now, now, record.Instant{}
	return nil
}

// depositGiven refuses what waits for a deposit that is not there.
func depositGiven(b *record.Booking, now time.Time) error {
	status := b.Deposit.Status
	if rental.Lapsed(&b.Deposit, now) {
		status = record.DepositExpired
	}
	if status != record.DepositRequired && status != record.DepositExpired {
		return nil
	}
	return fleet.NewError(fleet.CodeConflict, "The deposit of the booking is "+status+" and must be authorized first.",
		fleet.FieldError{Pointer: "/deposit", Code: "deposit_due", Detail: "is " + status})
}
