package desk

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/holding"
	"github.com/motorpool/fleet/api/desk/person"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rental/turo"
	"github.com/motorpool/fleet/query"
)

// Outcomes of an imported trip.
const (
	ImportCreated   = "created"
	ImportUpdated   = "updated"
	ImportUnchanged = "unchanged"
)

// Importer brings the trips of one file. It looks vehicles up once.
type Importer struct {
	d        *Desk
	by       record.Author
	account  fleet.AccountID
	currency string
	zone     *time.Location
	vehicles []record.Record[record.Vehicle]
}

// Importer prepares to import trips into an account.
func (d *Desk) Importer(ctx context.Context, by record.Author, account fleet.AccountID,
	vehicles []record.Record[record.Vehicle]) (*Importer, error) {
	rec, err := d.Accounts.Get(ctx, account, uint64(account))
	if err != nil {
		return nil, err
	}
	im := &Importer{d: d, by: by, account: account, currency: cmp.Or(rec.Body.Currency, "USD"), vehicles: vehicles}
	if im.zone, err = time.LoadLocation(rec.Body.Timezone); err != nil {
		im.zone = time.UTC
	}
	return im, nil
}

// Parse reads a file of trips, in the currency and by the clocks of the account.
func (im *Importer) Parse(file io.Reader) ([]turo.Trip, error) {
	return turo.Parse(file, im.zone, im.currency)
}

// Trip makes a booking of a trip, or brings the one up to date that an earlier import made of it. The channel has sold
// the vehicle already, so that nothing is refused: what overlaps is flagged as a conflict.
func (im *Importer) Trip(ctx context.Context, t *turo.Trip) (record.Record[record.Booking], string, error) {
	var none record.Record[record.Booking]
	v, err := im.vehicle(t)
	if err != nil {
		return none, "", err
	}
	found, err := query.List(ctx, im.d.DB, &query.Bookings,
		query.ListRequest{Account: im.account, Limit: 1, Filters: []query.Filter{
			{Field: "external_reservation_id", Op: "eq", Values: []string{t.Reservation}},
			{Field: "channel", Op: "eq", Values: []string{"turo"}}}})
	if err != nil {
		return none, "", err
	}
	if len(found.Records) > 0 {
		return im.update(ctx, found.Records[0].ID, t, v)
	}
	customer, err := im.guest(ctx, t.Guest)
	if err != nil {
		return none, "", err
	}
	b := &record.Booking{BookingFields: record.BookingFields{CustomerID: customer, Channel: "turo",
		ExternalReservationID: t.Reservation, VehicleClassID: v.Body.ClassID,
		VehicleID: fleet.FormatID(fleet.VehiclePrefix, v.ID), PickupLocationID: v.Body.HomeLocationID,
		ReturnLocationID: v.Body.HomeLocationID},
		Timezone: cmp.Or(v.Body.Timezone, im.zone.String()), Currency: im.currency}
	zero := record.Money{Currency: im.currency}
	b.Deposit = record.Deposit{Method: "none", Status: record.DepositNone, Amount: zero, Captured: zero,
		Released: zero, Applied: zero}
	im.apply(b, t, v)
	if err := im.d.Persons.LookUp(ctx, im.account, b); err != nil {
		return none, "", err
	}
	for {
		if rec, err := im.d.open(ctx, im.by, im.account, im.d.Store.NextID(), b, holding.Seize,
			holding.AlreadyRead{}); !errors.Is(err, record.ErrTaken) {
			return rec, ImportCreated, err
		}
	}
}

// update brings a booking up to date with its trip.
func (im *Importer) update(ctx context.Context, id uint64, t *turo.Trip,
	v *record.Record[record.Vehicle]) (record.Record[record.Booking], string, error) {
	for {
		rec, err := im.d.Bookings.Get(ctx, im.account, id)
		if err != nil {
			return rec, "", err
		}
		next := copyOf(rec)
		im.apply(&next.Body, t, v)
		if err := im.d.Persons.LookUp(ctx, im.account, &next.Body); err != nil {
			return rec, "", err
		}
		written, err := im.d.write(ctx, Order{By: im.by, Account: im.account, Booking: id}, &rec, &next, holding.Seize,
			holding.AlreadyRead{})
		if fleet.CodeOf(err) == fleet.CodeStale && ctx.Err() == nil {
			continue
		}
		if err == nil && written.Revision == rec.Revision {
			return written, ImportUnchanged, nil
		}
		return written, ImportUpdated, err
	}
}

// order is how far a state is on its way; an import never takes a booking back.
var order = map[string]int{record.BookingPending: 0, record.BookingConfirmed: 1, record.BookingActive: 2,
	record.BookingCompleted: 3, record.BookingCancelled: 3,
	record.BookingNoShow: 3, record.BookingExpired: 3}

// orderOf is how far a booking is on its way. That nobody came, or that a hold ran out, the channel knows better than
// our timers: from what they made of a booking it goes on as the channel says.
func orderOf(b *record.Booking) int {
	if timed := b.Cancellation != nil && b.Cancellation.By == "system"; timed &&
		(b.Status == record.BookingNoShow || b.Status == record.BookingExpired) {
		return order[record.BookingConfirmed]
	}
	return order[b.Status]
}

// apply writes a trip into a booking. What was noted here of handing the vehicle over it leaves as it is.
func (im *Importer) apply(b *record.Booking, t *turo.Trip, v *record.Record[record.Vehicle]) {
	now := record.InstantOf(im.d.Now())
	if b.Status == "" || order[t.Status] > orderOf(b) {
		im.revive(b)
		b.Status, b.StatusSince = t.Status, now
	}
	im.plan(b, t, v)
	if b.ConfirmedAt.IsZero() {
		b.ConfirmedAt = now
	}
	handOver(b, t)
	if b.Status == record.BookingCancelled && b.Cancellation == nil {
		b.Cancellation = &record.Cancellation{At: now, By: cmp.Or(t.CancelledBy, "customer"), ReasonCode: "imported"}
	}
	if t.Status == record.BookingConfirmed && !b.Holding() {
		return // it came to nothing here, and the channel has not said otherwise yet
	}
	im.charge(b, t.Lines)
}

// revive takes back what a timer made of a booking that goes on.
func (im *Importer) revive(b *record.Booking) {
	if b.Status != record.BookingNoShow && b.Status != record.BookingExpired {
		return
	}
	im.d.reverseAll(b, func(c *record.Charge) bool { return c.Type == "no_show_fee" && c.Source == "auto" })
	b.Cancellation = nil
}

// plan sets the times of a booking, and those for which it holds its vehicle: from a pickup and until a return that
// were noted here these stay as they are.
func (im *Importer) plan(b *record.Booking, t *turo.Trip, v *record.Record[record.Vehicle]) {
	from, until := b.BlockedFrom, b.BlockedUntil
	// as it was when it was imported first
	b.Backdated = (b.PickupAt.IsZero() || b.Backdated) && t.Start.Before(im.d.Now())
	b.PickupAt, b.ReturnAt, b.BilledDays = record.InstantOf(t.Start), record.InstantOf(t.End), t.Days
	before, after := time.Duration(0), time.Duration(0)
	if b.Status == record.BookingConfirmed || b.Status == record.BookingActive {
		before, after = time.Duration(v.Body.BufferBeforeMinutes)*time.Minute,
			time.Duration(v.Body.BufferAfterMinutes)*time.Minute
	}
	block(b, before, after)
	if pickedUpHere(b) && !from.IsZero() {
		b.BlockedFrom = from
	}
	if returnedHere(b) && !until.IsZero() {
		b.BlockedUntil = until
	}
	if least := b.BlockedFrom.Add(time.Millisecond); b.BlockedUntil.Before(least) {
		b.BlockedUntil = record.InstantOf(least)
	}
}

// pickedUpHere and returnedHere say whether a handover was noted here, and not by an import.
func pickedUpHere(b *record.Booking) bool { return !b.ActualPickupAt.IsZero() && !b.ImportedPickup }
func returnedHere(b *record.Booking) bool { return !b.ActualReturnAt.IsZero() && !b.ImportedReturn }

// handOver notes the handovers of a trip that were not noted here.
func handOver(b *record.Booking, t *turo.Trip) {
	if b.Status != record.BookingActive && b.Status != record.BookingCompleted {
		return
	}
	if !pickedUpHere(b) {
		b.ActualPickupAt, b.PickupMileageMi, b.ImportedPickup = b.PickupAt, t.StartMi, true
	}
	if b.Status == record.BookingCompleted && !returnedHere(b) {
		b.ActualReturnAt, b.ReturnMileageMi, b.ImportedReturn = b.ReturnAt, t.EndMi, true
		if b.ActualReturnAt.Before(b.ActualPickupAt.Time) {
			b.ActualReturnAt = b.ActualPickupAt
		}
	}
}

// charge makes the imported charges of a booking those of its trip: lines that are gone are reversed, new ones posted.
func (im *Importer) charge(b *record.Booking, lines []record.Charge) {
	same := func(a, b *record.Charge) bool {
		return a.Type == b.Type && a.Description == b.Description && a.Amount == b.Amount
	}
	fresh := slices.Clone(lines)
	for _, c := range rental.Standing(b.Charges) {
		if c.Source != "import" || c.TollID != "" { // a toll that was imported is no line of the trip
			continue
		}
		if at := slices.IndexFunc(fresh, func(l record.Charge) bool { return same(&l, &c) }); at >= 0 {
			fresh = slices.Delete(fresh, at, at+1)
			continue
		}
		im.d.lines(b, []record.Charge{rental.Reversal(&c)})
	}
	im.d.lines(b, fresh)
}

// vehicle finds the vehicle of a trip: by VIN, else by plate, else by nickname or name. What a trip says decides: a
// vehicle of another VIN or plate is not meant, whatever its name is, and of several none is.
func (im *Importer) vehicle(t *turo.Trip) (*record.Record[record.Vehicle], error) {
	name := person.Folded(t.Vehicle)
	other := func(told, has string) bool {
		return told != "" && has != "" && person.Folded(told) != person.Folded(has)
	}
	sought := []string{}
	for _, by := range []struct {
		what, told string
		fits       func(*record.Vehicle) bool
	}{
		{"VIN", t.VIN, func(v *record.Vehicle) bool { return person.Folded(v.VIN) == person.Folded(t.VIN) }},
		{"plate", t.Plate, func(v *record.Vehicle) bool {
			return person.Folded(v.LicensePlate) == person.Folded(t.Plate) && !other(t.VIN, v.VIN)
		}},
		{"nickname", t.Vehicle, func(v *record.Vehicle) bool {
			return person.Folded(v.Nickname) == name && !other(t.VIN, v.VIN) && !other(t.Plate, v.LicensePlate)
		}},
		{"make and model", t.Vehicle, func(v *record.Vehicle) bool {
			return called(v, name) && !other(t.VIN, v.VIN) && !other(t.Plate, v.LicensePlate)
		}},
	} {
		if person.Folded(by.told) == "" {
			continue
		}
		var found []*record.Record[record.Vehicle]
		for i := range im.vehicles {
			if by.fits(&im.vehicles[i].Body) {
				found = append(found, &im.vehicles[i])
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return nil, unclear(fmt.Sprintf("%d vehicles have the %s %q: tell them apart by VIN or plate", len(found), by.what,
				cut(by.told, 100)))
		}
		sought = append(sought, fmt.Sprintf("%s %q", by.what, cut(by.told, 100)))
	}
	if len(sought) == 0 {
		return nil, unclear("the row names no vehicle: it needs a VIN, a plate as in \"Name (TX #ABC1234)\", or a name")
	}
	return nil, unclear("no vehicle has the " + strings.Join(sought, ", nor the ") +
		", or it has another VIN or plate than the row says")
}

func unclear(detail string) error {
	return fleet.NewError(fleet.CodeValidation, "The vehicle of the trip is not clear: "+detail+".",
		fleet.FieldError{Pointer: "/vehicle", Code: "not_found", Detail: detail})
}

// called says whether a plain name is that of a vehicle's make and model, with its year before or behind it or without.
func called(v *record.Vehicle, name string) bool {
	words, year := person.Folded(v.Make+v.Model), ""
	if v.Year != 0 {
		year = strconv.Itoa(v.Year)
	}
	return words != "" && (name == words || name == words+year || name == year+words)
}

// guest finds the customer of a guest's name, or makes one. What is unique is a digest of the name: the name itself
// stands in the customer's record alone.
func (im *Importer) guest(ctx context.Context, name string) (string, error) {
	if name = strings.Join(strings.Fields(name), " "); name == "" {
		return "", nil
	}
	sum := sha256.Sum256([]byte(strings.ToLower(name)))
	ref := record.ExternalRef{System: "turo", ID: "guest-" + hex.EncodeToString(sum[:8])}
	find := func() (string, error) {
		found, err := query.List(ctx, im.d.DB, &query.Customers,
			query.ListRequest{Account: im.account, Archived: "all", Ref: ref.ID, Limit: 1})
		if err != nil || len(found.Records) == 0 {
			return "", err
		}
		rec, err := im.d.Persons.Customer(ctx, im.account, found.Records[0].ID)
		return fleet.FormatID(fleet.CustomerPrefix, rec.ID), err
	}
	if id, err := find(); err != nil || id != "" {
		return id, err
	}
	first, last, _ := strings.Cut(name, " ")
	c := record.Customer{CustomerFields: record.CustomerFields{FirstName: cut(first, 100), LastName: cut(last, 100),
		ExternalRefs: []record.ExternalRef{ref}},
		Verification: record.Verification{Status: record.LicenceUnverified}, CreatedByImport: true}
	c.Complete(nil, im.d.Now())
	rec, err := im.d.Customers.New(ctx, im.by, im.account, c)
	if fleet.CodeOf(err) == fleet.CodeConflict {
		id, again := find() // somebody else has just made it
		if id != "" {
			return id, nil
		}
		return "", errors.Join(err, again)
	}
	return fleet.FormatID(fleet.CustomerPrefix, rec.ID), err
}

// cut shortens a text to so many characters.
func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}
