package rent

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/roster"
	"github.com/motorpool/fleet/query"
)

// Booking is a booking as it is answered.
type Booking struct {
	ID string `json:"id" doc:"Identity." example:"bkg_1234"`

	record.BookingFields

	Number        string               `json:"number" doc:"What people call it by; given once in the account, and rising, with some left out." example:"B-1042"`
	Object        string               `json:"object" doc:"Always booking." example:"booking"`
	Status        string               `json:"status" doc:"pending, confirmed, active, completed, cancelled, no_show or expired. More may be added." example:"confirmed"`
	StatusSince   record.Instant       `json:"status_since"`
	HoldExpiresAt record.Instant       `json:"hold_expires_at" doc:"Until when a pending booking holds its vehicle; null for others."`
	Timezone      string               `json:"timezone" doc:"Whose days are billed: of the pickup location, the vehicle or the account." example:"America/Chicago"`
	Conflict      bool                 `json:"conflict" doc:"It overlaps something else that holds its vehicle."`
	BlockedFrom   record.Instant       `json:"blocked_from" doc:"From when it holds its vehicle, with the buffer."`
	BlockedUntil  record.Instant       `json:"blocked_until"`
	VehicleSwaps  []record.VehicleSwap `json:"vehicle_history" nullable:"false" doc:"The vehicles that it had before."`
	UpgradedFrom  string               `json:"upgrade_from_class_id,omitempty" doc:"The class that was booked, if it got a vehicle of another." example:"vcl_1234"`

	ActualPickupAt  record.Instant `json:"actual_pickup_at"`
	ActualReturnAt  record.Instant `json:"actual_return_at"`
	PickupMileageMi *int           `json:"pickup_mileage_mi"`
	ReturnMileageMi *int           `json:"return_mileage_mi"`
	MilesDriven     *int           `json:"miles_driven" doc:"With all of its vehicles; null if a reading is missing."`
	IncludedMiles   *int           `json:"included_miles" doc:"Null for unlimited."`
	ExtraMiles      *int           `json:"extra_miles" doc:"Driven beyond those included."`
	PickupFuelPct   *float64       `json:"pickup_fuel_pct"`
	ReturnFuelPct   *float64       `json:"return_fuel_pct"`
	PickupBattery   *int           `json:"pickup_battery_level"`
	ReturnBattery   *int           `json:"return_battery_level"`

	Currency      string               `json:"currency" example:"USD"`
	RateSnapshot  *record.RateSnapshot `json:"rate_snapshot,omitempty" doc:"The price that was agreed: a frozen copy, with how every line came to be."`
	BilledDays    int                  `json:"billed_days"`
	Charges       []record.Charge      `json:"charges" nullable:"false" doc:"The posted lines. They are never edited, only reversed."`
	Subtotal      record.Money         `json:"subtotal" doc:"Before discounts and taxes."`
	Discounts     record.Money         `json:"discounts_total"`
	Taxes         record.Money         `json:"taxes_total"`
	Fees          record.Money         `json:"fees_total"`
	Total         record.Money         `json:"total" doc:"What the rental comes to. The customer owes it, or the channel that collects it, less platform_fee."`
	PlatformFee   record.Money         `json:"platform_fee" doc:"What the channel keeps."`
	NetToHost     record.Money         `json:"net_to_host"`
	AmountPaid    record.Money         `json:"amount_paid" doc:"By payments and deposits that were applied, less refunds."`
	WrittenOff    record.Money         `json:"written_off" doc:"What was given up of balance_due, by bad debts that are in the books. balance_due counts it still: what is hoped for is the difference."`
	BalanceDue    record.Money         `json:"balance_due" doc:"Negative if too much was paid. Of a booking for which the channel collects the price it is what the channel has to pass on: without platform_fee."`
	PaymentStatus string               `json:"payment_status" doc:"nothing_due (nothing is owed and nothing was paid, as of a hold that ran out), unpaid, partially_paid, paid, overpaid or refunded. More may be added."`
	Deposit       record.Deposit       `json:"deposit"`

	Inspections []record.Inspection `json:"inspections" nullable:"false"`
	Damages     []record.Damage     `json:"damages" nullable:"false"`
	HasDamage   bool                `json:"has_damage"`
	HasOpenToll bool                `json:"has_open_toll" doc:"A toll or fine was matched and is not billed yet."`

	DoNotRentCheck string               `json:"do_not_rent_check" doc:"Whether who rents or drives is on the do-not-rent list: clear (has nothing in common with anybody on it, by what is known of the customer, which may be too little to tell: POST /v1/customers/check says what is missing), unsure (may be), or do_not_rent (is, as far as licence, email and phone tell). It follows the list while the booking is not over, however it was made. More may be added." example:"clear"`
	Listed         []record.ListedMatch `json:"do_not_rent_matches" nullable:"false" doc:"Who of it is or may be whom on the list."`

	ConfirmedAt      record.Instant       `json:"confirmed_at"`
	LicenceCheckedAt record.Instant       `json:"licence_checked_at"`
	DueFor           *string              `json:"due_for" enum:"pickup,return" doc:"What the desk has to do next: pickup of a pending or confirmed one, return of an active one; null for others."`
	DueAt            record.Instant       `json:"due_at" doc:"When that is planned."`
	IsOverdue        bool                 `json:"is_overdue" doc:"Out after the planned return."`
	OverdueSince     record.Instant       `json:"overdue_since"`
	Cancellation     *record.Cancellation `json:"cancellation,omitempty" doc:"How it came to nothing."`
	DuplicateOf      string               `json:"duplicate_of,omitempty" example:"bkg_1234"`
	Warnings         []string             `json:"warnings" nullable:"false" doc:"What is unusual or missing and was accepted all the same: a pickup well before the agreed time, with whether that is charged; a handover without an odometer reading; a level of fuel or battery that was taken at one end only; a one-way fee that stays though the vehicle was brought back where less is asked; a deposit that is kept although the booking came to nothing; a customer or driver who is or may be on the do-not-rent list."`
	QuoteID          string               `json:"quote_id,omitempty" example:"quo_1234"`
	Corrections      []record.Correction  `json:"corrections" nullable:"false" doc:"What was corrected of its handovers after it was noted, with what stood there before."`

	Customer     any `json:"customer,omitempty" doc:"With expand=customer."`
	Vehicle      any `json:"vehicle,omitempty" doc:"With expand=vehicle."`
	VehicleClass any `json:"vehicle_class,omitempty" doc:"With expand=vehicle_class."`

	rest.Stamps
}

// BookingNew is what callers write to make a booking.
type BookingNew struct {
	record.BookingFields
	Confirm     bool `json:"confirm,omitempty" doc:"Confirms it at once. Otherwise it is pending, and holds its vehicle until hold_expires_at."`
	HoldMinutes int  `json:"hold_minutes,omitempty" minimum:"1" maximum:"43200" doc:"How long a pending booking holds its vehicle; as the account says unless given."`
}

// TransformSchema implements huma.SchemaTransformer: it names the views of other resources.
func (Booking) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	for member, view := range map[string]string{"customer": "Customer", "vehicle": "Vehicle",
		"vehicle_class": "VehicleClass"} {
		shown := *s.Properties[member]
		s.Properties[member] = &huma.Schema{Description: shown.Description, Ref: "#/components/schemas/" + view}
	}
	return s
}

// bookingMoving are the members of a booking that change without it.
var bookingMoving = []string{"amount_paid", "balance_due", "written_off", "payment_status", "has_open_toll",
	"is_overdue", "overdue_since", "customer", "vehicle", "vehicle_class"}

func (a *API) bookingRoutes() {
	s := a.bookingResource()
	s.Register()
	a.bookingActionRoutes(s)
	a.bookingBillRoutes(s)
	a.bookingTimelineRoutes(s)
	a.bookingImportRoutes()
}

func (a *API) bookingResource() *rest.Resource[record.Booking] {
	return &rest.Resource[record.Booking]{
		Server: a.Server, Log: a.desk.Bookings, Listing: &query.Bookings,
		Titles: rest.Titles{Path: "/v1/bookings", Tag: "Bookings", Noun: "booking", Nouns: "bookings"},
		Scope: rest.Scopes{
			Read: auth.BookingsRead, Write: auth.BookingsWrite,
			Needs: map[string]auth.Scope{"customer": auth.CustomersRead, "vehicle": auth.VehiclesRead,
				"vehicle_class": auth.VehiclesRead},
		},
		Views: rest.Views{
			View: Booking{}, Fields: record.BookingFields{}, Create: BookingNew{},
			Expand: []string{"customer", "vehicle", "vehicle_class"}, Moving: bookingMoving, States: rental.States,
			Imported: map[string]any{"backdated": true}, // of those whose pickup lies in the past
		},
		Writable: func(b *record.Booking) any { return &b.BookingFields },
		Make: func(_ *http.Request, object map[string]any) (record.Booking, error) {
			var sent BookingNew
			if err := a.DecodeObject(object, &sent); err != nil {
				return record.Booking{}, err
			}
			b := record.Booking{BookingFields: sent.BookingFields, Status: record.BookingPending}
			if sent.Confirm {
				b.Status = record.BookingConfirmed
			} else if sent.HoldMinutes > 0 {
				b.HoldExpiresAt = record.InstantOf(a.Now().Add(time.Duration(sent.HoldMinutes) * time.Minute))
			}
			return b, nil
		},
		Params: rest.Params{
			List: []rest.Param{{Name: "due_on", Format: "date",
				About: "Only bookings whose pickup or return is still to be done and planned for this day, by the clock of the place where that is. " +
					"For today those that are overdue are among them: with `sort=due_at` it is the desk's list for the morning, with `due_location_id` that of one place."}},
			Change: []rest.Param{{Name: "reprice", Type: "boolean",
				About: "Where the change is one that the price depends on, it is worked out anew by the rates of today, unless this is `false`: then what was agreed holds, and later only days beyond the new times are charged."}},
		},
		Table: &rest.PeopleTable[record.Booking]{Columns: bookingColumns(), Open: a.tableOfBookings},
		Show:  a.showBookings,
		Write: a.writeBooking, Early: true,
		// A vehicle's bookings are one draft, which costs as much for one as for many.
		Together: &rest.Together[record.Booking]{By: "vehicle_id", Most: togetherMost, Write: a.writeTogether},
		Choose: func(r *http.Request, req *query.ListRequest) (err error) {
			if err = a.withMerged(r, req.Filters); err == nil {
				req.Only, err = a.bookingsDueOn(r)
			}
			return err
		},
		MayArchive: rest.ArchiveIf(func(_ *http.Request, rec *record.Record[record.Booking]) error {
			if rec.Body.Status != record.BookingCompleted && rec.Body.Holding() {
				return &record.TransitionError{What: "booking " + fleet.FormatID(fleet.BookingPrefix, rec.ID),
					Current: rec.Body.Status, Wanted: "archive",
					Allowed: rental.Moves(rec.Body.Status)}
			}
			return nil
		}),
	}
}

// writeBooking makes a booking of a new body, or changes one.
func (a *API) writeBooking(r *http.Request, w rest.Writing[record.Booking]) (record.Record[record.Booking], error) {
	account := auth.From(r.Context()).Account
	if w.Body == nil {
		o := desk.Order{By: rest.Author(r), Account: account, Booking: w.ID}
		return a.desk.Change(r.Context(), o, rest.TextParam(r, "reprice", "true") == "false", w.Change)
	}
	return a.desk.Book(r.Context(), rest.Author(r), account, a.bookRequest(w.ID, w.Body))
}

// bookRequest is what the desk is asked for by a new body.
func (a *API) bookRequest(id uint64, b *record.Booking) desk.BookRequest {
	req := desk.BookRequest{ID: id, Fields: b.BookingFields, Confirm: b.Status == record.BookingConfirmed}
	if !b.HoldExpiresAt.IsZero() {
		req.HoldFor = max(b.HoldExpiresAt.Sub(a.Now()), time.Second)
	}
	return req
}

// bookingsDueOn reads due_on= and returns the bookings that are due on that day.
func (a *API) bookingsDueOn(r *http.Request) (*[]uint64, error) {
	text := rest.TextParam(r, "due_on", "")
	if text == "" {
		return nil, nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return nil, rest.InvalidParam("due_on", "must be a date like 2026-01-31")
	}
	ids, err := query.BookingsDueOn(r.Context(), a.DB, auth.From(r.Context()).Account, day, a.Now())
	return &ids, err
}

// withMerged lets a filter for bookings of a customer find those of customers that were merged into it, too.
func (a *API) withMerged(r *http.Request, filters []query.Filter) error {
	for i, f := range filters {
		if f.Field != "customer_id" || f.Op != "eq" {
			continue
		}
		var ids []uint64
		for _, text := range f.Values {
			if id, err := fleet.ParseID(fleet.CustomerPrefix, text); err == nil {
				ids = append(ids, id)
			}
		}
		family, err := a.families.Of(r.Context(), auth.From(r.Context()).Account, ids...)
		if err != nil {
			return err
		}
		for _, id := range family {
			filters[i].Values = append(filters[i].Values, fleet.FormatID(fleet.CustomerPrefix, id))
		}
	}
	return nil
}

// showBookings makes the answers for bookings, joined with what was paid for them.
func (a *API) showBookings(ctx context.Context, records []record.Record[record.Booking],
	expand []string) ([]rest.Shown, error) {
	if len(records) == 0 {
		return nil, nil
	}
	account := records[0].Account
	var ids []uint64
	for _, rec := range records {
		if !rest.MadeInRequest(ctx, rec.ID) { // of which nothing was paid yet
			ids = append(ids, rec.ID)
		}
	}
	var beside []*base.Beside // in the order of ids
	var also expanded
	group, inner := errgroup.WithContext(ctx)
	if len(ids) > 0 {
		group.Go(func() (err error) {
			beside, _, err = a.beside.Of(inner, account, ids)
			return err
		})
	}
	group.Go(func() (err error) {
		also, err = a.expandBookings(inner, records, expand)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	bookings := make([]Booking, len(records))
	var texts []*string
	besideOf := make(map[uint64]*base.Beside, len(records))
	for _, rec := range records {
		besideOf[rec.ID] = &base.Beside{}
	}
	for i, id := range ids {
		besideOf[id] = beside[i]
	}
	for i, rec := range records {
		var err error
		if bookings[i], err = showBooking(rec, besideOf[rec.ID].Paid, a.Now()); err != nil {
			return nil, err
		}
		for n := range bookings[i].Warnings {
			texts = append(texts, &bookings[i].Warnings[n])
		}
	}
	a.NameIDs(ctx, account, rest.MayHear(ctx), texts...)
	views := make([]rest.Shown, len(records))
	for i, rec := range records {
		v := bookings[i]
		v.Customer, v.Vehicle = also["customer"][v.CustomerID], also["vehicle"][v.VehicleID]
		v.VehicleClass = also["vehicle_class"][v.VehicleClassID]
		b := besideOf[rec.ID]
		v.HasOpenToll = len(b.OpenTolls) > 0
		v.WrittenOff = record.Money{Amount: b.WrittenOff.Sum, Currency: v.Currency}
		mark, err := json.Marshal([]any{v.AmountPaid, v.BalanceDue, v.WrittenOff, v.PaymentStatus, v.HasOpenToll, v.IsOverdue,
			v.Warnings, v.Customer, v.Vehicle, v.VehicleClass})
		if err != nil {
			return nil, err
		}
		views[i] = rest.Shown{View: v, Live: mark}
	}
	return views, nil
}

// besideBookings keeps what is read beside bookings.
func besideBookings(s *rest.Server) *roster.Facts[base.Beside] {
	store := base.NewBesideBookings(s.DB)
	return roster.NewFacts(s.Roster, roster.OfBookings, s.Now, func(ctx context.Context, account fleet.AccountID,
		ids []uint64, now time.Time) (map[uint64]*roster.Fact[base.Beside], error) {
		read, err := store.Of(ctx, account, ids)
		all := make(map[uint64]*roster.Fact[base.Beside], len(ids))
		for _, id := range ids {
			b := read[id]
			by := slices.Concat(b.WrittenOff.Expenses, b.OpenTolls)
			all[id] = &roster.Fact[base.Beside]{Value: b, Until: fleet.MillisOf(now.AddDate(100, 0, 0)), By: by,
				Size: 8 * len(by)}
		}
		return all, err
	})
}

// expanded are the records that bookings name, by the names in expand= and their ids.
type expanded map[string]map[string]any

// expandBookings reads the records that expand= names.
func (a *API) expandBookings(ctx context.Context, records []record.Record[record.Booking],
	expand []string) (expanded, error) {
	all := expanded{}
	for _, name := range expand {
		var err error
		switch name {
		case "customer":
			all[name], err = rest.RelatedTo(ctx, a.Server, &query.Customers, fleet.CustomerPrefix, records,
				func(b *record.Booking) string { return b.CustomerID })
		case "vehicle":
			all[name], err = rest.RelatedTo(ctx, a.Server, &query.Vehicles, fleet.VehiclePrefix, records,
				func(b *record.Booking) string { return b.VehicleID })
		case "vehicle_class":
			all[name], err = rest.RelatedTo(ctx, a.Server, &query.VehicleClasses, fleet.ClassPrefix, records,
				func(b *record.Booking) string { return b.VehicleClassID })
		}
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// showBooking makes the answer for a booking for which something was paid.
func showBooking(rec record.Record[record.Booking], paid query.Paid, now time.Time) (Booking, error) {
	b := rec.Body
	v := Booking{
		ID: fleet.FormatID(fleet.BookingPrefix, rec.ID), BookingFields: b.BookingFields, Object: "booking", Number: b.Number,
		Status: b.Status, StatusSince: b.StatusSince,
		HoldExpiresAt: b.HoldExpiresAt, Timezone: b.Timezone, Conflict: b.Conflict, BlockedFrom: b.BlockedFrom,
		BlockedUntil: b.BlockedUntil,
		VehicleSwaps: rest.NonNil(b.VehicleSwaps), UpgradedFrom: b.UpgradedFrom, ActualPickupAt: b.ActualPickupAt,
		ActualReturnAt:  b.ActualReturnAt,
		PickupMileageMi: b.PickupMileageMi, ReturnMileageMi: b.ReturnMileageMi, MilesDriven: rental.MilesDriven(&b),
		PickupFuelPct: b.PickupFuelPct, ReturnFuelPct: b.ReturnFuelPct, PickupBattery: b.PickupBattery,
		ReturnBattery: b.ReturnBattery,
		Currency:      b.Currency, RateSnapshot: b.RateSnapshot, BilledDays: b.BilledDays, Charges: rest.NonNil(b.Charges),
		Deposit: b.Deposit, DoNotRentCheck: b.ListCheck(), Listed: rest.NonNil(b.Listed),
		Inspections: rest.NonNil(b.Inspections), Damages: rest.NonNil(b.Damages), HasDamage: len(b.Damages) > 0,
		ConfirmedAt:      b.ConfirmedAt,
		LicenceCheckedAt: b.LicenceCheckedAt, Cancellation: b.Cancellation, DuplicateOf: b.DuplicateOf, QuoteID: b.QuoteID,
		Warnings: bookingWarnings(&b), Corrections: rest.NonNil(b.Corrections), Stamps: rest.StampsOf(rec),
	}
	totals, err := price.Totals(b.Currency, b.Charges)
	if err != nil {
		return v, err
	}
	v.Subtotal, v.Discounts, v.Taxes, v.Fees, v.Total =
		totals.Subtotal, totals.Discounts, totals.Taxes, totals.Fees, totals.Total
	v.PlatformFee, v.NetToHost = totals.PlatformFee, totals.NetToHost
	v.AmountPaid = record.Money{Amount: paid.Received - paid.Refunded + b.Deposit.Applied.Amount, Currency: b.Currency}
	owed := v.Total.Amount
	if ledger.Collects(b.Channel) {
		owed -= v.PlatformFee.Amount // which passes on the rest
	}
	v.BalanceDue = record.Money{Amount: owed - v.AmountPaid.Amount, Currency: b.Currency}
	v.PaymentStatus = paymentStatus(owed, v.AmountPaid.Amount, paid.Refunded)
	if b.RateSnapshot != nil {
		v.IncludedMiles = b.RateSnapshot.IncludedMi
	}
	if v.IncludedMiles != nil && v.MilesDriven != nil {
		extra := max(0, *v.MilesDriven-*v.IncludedMiles)
		v.ExtraMiles = &extra
	}
	v.DueFor, v.DueAt = handover(&b)
	if v.IsOverdue = b.Status == record.BookingActive && b.ReturnAt.Before(now); v.IsOverdue {
		v.OverdueSince = b.ReturnAt
	}
	return v, nil
}

// handover is what the desk has to do next for a booking, and when; as the columns of bookings have it.
func handover(b *record.Booking) (*string, record.Instant) {
	pickup, back := "pickup", "return"
	switch b.Status {
	case record.BookingPending, record.BookingConfirmed:
		return &pickup, b.PickupAt
	case record.BookingActive:
		return &back, b.ReturnAt
	}
	return nil, record.Instant{}
}

// bookingWarnings says what of a booking's handovers somebody ought to look at.
func bookingWarnings(b *record.Booking) []string {
	warnings := append(append(rest.NonNil(rental.Unread(b)), rental.Unlevelled(b)...), rental.RanBack(b)...)
	for _, text := range []string{rental.PickedUpEarly(b), rental.KeptOneWay(b)} {
		if text != "" {
			warnings = append(warnings, text)
		}
	}
	if text := rental.DepositHeld(b); text != "" {
		warnings = append(warnings, text)
	}
	for i := range b.Listed {
		warnings = append(warnings, "The customer "+b.Listed[i].CustomerID+" "+rental.ListedText(&b.Listed[i])+".")
	}
	return warnings
}

// paymentStatus puts what was paid beside what is owed.
func paymentStatus(total, paid, refunded int64) string {
	switch {
	case paid > total:
		return "overpaid"
	case paid == 0 && refunded > 0:
		return "refunded"
	case paid == 0 && total == 0:
		return "nothing_due"
	case paid == total:
		return "paid"
	case paid <= 0:
		return "unpaid"
	}
	return "partially_paid"
}
