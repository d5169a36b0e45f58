package rent

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// Customer is a customer as it is answered.
type Customer struct {
	ID string `json:"id" doc:"Identity." example:"cus_1234"`

	record.CustomerFields

	Number         string               `json:"number" doc:"What people call it by; given once in the account, and rising, with some left out." example:"C-1042"`
	Object         string               `json:"object" doc:"Always customer." example:"customer"`
	Verification   CustomerVerification `json:"licence_verification" doc:"Whether somebody has looked at the licence. expired from the day after its expiry."`
	DoNotRent      *record.DoNotRent    `json:"do_not_rent,omitempty" doc:"Absent if it was never set."`
	IsRentable     bool                 `json:"is_rentable" doc:"Whether something may be rented to the customer today."`
	NotRentable    string               `json:"not_rentable_reason,omitempty" doc:"Why not: do_not_rent, risk_blocked, licence_expired, licence_rejected, customer_merged, customer_archived, customer_erased. More may be added."`
	IncidentsCount int                  `json:"incidents_count"`
	MergedInto     string               `json:"merged_into,omitempty" doc:"The customer that counts since this one was merged into it." example:"cus_1234"`
	DuplicateOf    string               `json:"possible_duplicate_of,omitempty" doc:"A customer with the same licence, else the same email address, else the same phone number, however they are written; distinct_from says who it is not." example:"cus_1234"`
	ErasingSince   record.Instant       `json:"erasing_since" doc:"Since when its personal data is being erased; null if nobody asked for it."`
	Stats          *CustomerStats       `json:"stats,omitempty" doc:"What the customer has booked, with expand=stats; with customers merged into it."`
	ErasedAt       record.Instant       `json:"erased_at" doc:"When its personal data was erased; null if it was not."`

	rest.Stamps
}

// CustomerStats is what a customer has booked.
type CustomerStats struct {
	BookingsCount   uint64         `json:"bookings_count"`
	CompletedCount  uint64         `json:"completed_count"`
	CancelledCount  uint64         `json:"cancelled_count"`
	NoShowCount     uint64         `json:"no_show_count"`
	DamagedCount    uint64         `json:"damaged_count" doc:"Bookings with damage."`
	FirstBookingAt  record.Instant `json:"first_booking_at" doc:"The first planned pickup; null if there is none."`
	LastBookingAt   record.Instant `json:"last_booking_at"`
	LifetimeRevenue []record.Money `json:"lifetime_revenue" nullable:"false" doc:"What was earned through today, by the ledger's accounts of revenue, less discounts and adjustments: no taxes, no tolls passed on, no days to come. One amount a currency."`
	BookedRevenue   []record.Money `json:"booked_revenue" nullable:"false" doc:"What all bookings come to without taxes, also those to come; not those that are held or lapsed. One amount a currency."`
	BalanceDue      []record.Money `json:"balance_due" nullable:"false" doc:"What bookings come to with taxes and is not paid, also those to come; without what channels keep that collect the price. One amount a currency."`
	IsRepeat        bool           `json:"is_repeat" doc:"Two bookings or more were completed."`
}

// CustomerVerification is whether somebody has looked at the licence.
type CustomerVerification struct {
	Status     string         `json:"status" doc:"unverified, pending, verified, rejected or expired." example:"verified"`
	Method     string         `json:"method,omitempty" doc:"visual, scan or third_party."`
	VerifiedAt record.Instant `json:"verified_at"`
	VerifiedBy string         `json:"verified_by,omitempty" doc:"Who looked at it."`
}

// LicenceVerification is the body of the action that notes a look at a licence.
type LicenceVerification struct {
	Method string `json:"method" enum:"visual,scan,third_party" doc:"How it was looked at."`
	Result string `json:"result" enum:"verified,rejected,pending" doc:"What came of it."`
}

// DoNotRentChange is the body of the action that puts a customer on the do-not-rent list, or takes it off.
type DoNotRentChange struct {
	Active     bool            `json:"active" doc:"false takes it off."`
	ReasonCode string          `json:"reason_code,omitempty" maxLength:"50" doc:"Needed to set it." example:"unpaid_damage"`
	Note       string          `json:"note,omitempty" maxLength:"1000"`
	ExpiresAt  *record.Instant `json:"expires_at,omitempty" doc:"Until when; for ever unless given."`
}

func (a *API) customerRoutes() {
	s := a.customerResource()
	s.Register()
	type rec = record.Record[record.Customer]
	type asked = rest.Call[record.Customer]
	rest.Act(s, rest.Action[record.Customer, LicenceVerification]{
		Verb: "verify_licence", ID: "verifyCustomerLicence", Summary: "Note a look at a customer's licence",
		About: "A customer without a licence on record, or with one that has expired, cannot be verified: 409. Any " +
			"later change of the licence makes it unverified again.",
		Do: func(c *asked, sent LicenceVerification) (rec, error) {
			return c.Update(func(rec *rec) error { return verifyLicence(rec, sent, c.By.Actor, a.Now()) })
		},
	})
	rest.Act(s, rest.Action[record.Customer, DoNotRentChange]{
		Verb: "do_not_rent", ID: "setCustomerDoNotRent", Summary: "Put a customer on the do-not-rent list, or take " +
			"it off",
		About: "Bookings of a customer on the list are refused until it is taken off or `expires_at` has passed, and " +
			"so are those of records that are the same person by licence, email or phone; " +
			"`booking_settings.do_not_rent` of the account has a word in that. Coming bookings of theirs stay, and " +
			"say so in `do_not_rent_check`.",
		Do: func(c *asked, sent DoNotRentChange) (rec, error) {
			return c.Update(func(rec *rec) error { return setDoNotRent(rec, sent, c.By.Actor, a.Now()) })
		},
	})
	a.customerCheckRoutes()
	a.customerMergeRoutes(s)
	a.customerEraseRoutes(s)
	a.customerNoteRoutes()
	a.customerDocumentRoutes()
}

func (a *API) customerResource() *rest.Resource[record.Customer] {
	return &rest.Resource[record.Customer]{
		Server: a.Server, Log: a.desk.Customers, Listing: &query.Customers,
		Titles: rest.Titles{Path: "/v1/customers", Tag: "Customers", Noun: "customer", Nouns: "customers"},
		Scope:  rest.Scopes{Read: auth.CustomersRead, Write: auth.CustomersWrite},
		Views: rest.Views{
			View: Customer{}, Fields: record.CustomerFields{}, Expand: []string{"stats"},
			Moving: []string{"is_rentable", "not_rentable_reason", "licence_verification", "stats"},
		},
		Writable: func(c *record.Customer) any { return &c.CustomerFields },
		Make: func(_ *http.Request, object map[string]any) (record.Customer, error) {
			c := record.Customer{Verification: record.Verification{Status: record.LicenceUnverified}}
			return c, a.DecodeObject(object, &c.CustomerFields)
		},
		Show:    a.showCustomers,
		Prepare: a.prepareCustomer, ReadyAtOnce: 16, // DuplicateOf asks together
		Choose: func(r *http.Request, req *query.ListRequest) error { return a.withNumbers(r, req.Filters) },
		MayArchive: rest.ArchiveIf(func(r *http.Request, rec *record.Record[record.Customer]) error {
			if err := a.desk.Persons.NothingBooked(r.Context(), rec.Account, rec.ID); err != nil {
				return err
			}
			if a.desk.Persons.ExpectsOther(rec) {
				return fleet.NewError(fleet.CodeConflict, "Another customer is being merged into this one. Try again in a moment.")
			}
			return nil
		}),
	}
}

// withNumbers lets a filter for a telephone number find it however it is written there.
func (a *API) withNumbers(r *http.Request, filters []query.Filter) error {
	for _, f := range filters {
		if f.Field != "phone" {
			continue
		}
		for i, text := range f.Values {
			number, err := a.desk.Persons.Telephone(r.Context(), auth.From(r.Context()).Account, text, nil)
			if err != nil {
				return err
			}
			f.Values[i] = number
		}
	}
	return nil
}

// prepareCustomer completes what was written of a customer, refuses what cannot be, and looks for others that are
// the same person.
func (a *API) prepareCustomer(r *http.Request, id uint64, before, after *record.Customer) error {
	now := a.Now()
	var fields *record.CustomerFields
	if before != nil {
		if err := notGone(before); err != nil {
			return err
		}
		fields = &before.CustomerFields
		after.Licence.KeepMasked(before.Licence)
		if !record.SameLicence(before.Licence, after.Licence) {
			after.Verification = record.Verification{Status: record.LicenceUnverified}
		}
	}
	account := auth.From(r.Context()).Account
	var err error
	if after.Phone, err = a.desk.Persons.Telephone(r.Context(), account, after.Phone, after.Address); err != nil {
		return err
	}
	after.Complete(fields, now)
	if faults := after.Faults(now); faults != nil {
		return fleet.Invalid(faults...)
	}
	after.DuplicateOf, err = a.desk.Persons.DuplicateOf(r.Context(), account, id, &after.CustomerFields)
	return err
}

// notGone refuses to change a customer whose personal data was erased.
func notGone(c *record.Customer) error {
	if c.Gone() {
		return fleet.NewError(fleet.CodeConflict, "The customer's personal data was erased; the customer cannot be changed.")
	}
	return nil
}

// verifyLicence notes a look at a licence.
func verifyLicence(rec *record.Record[record.Customer], sent LicenceVerification, by string, now time.Time) error {
	c := &rec.Body
	if err := notGone(c); err != nil {
		return err
	}
	if c.Licence == nil || c.Licence.Number == "" {
		return fleet.NewError(fleet.CodeConflict, "The customer has no licence on record. Write its number first.")
	}
	if sent.Result == record.LicenceVerified && c.LicenceLapsed(now.UTC().Format(time.DateOnly)) {
		return fleet.NewError(fleet.CodeConflict, "The licence expired on "+c.Licence.ExpiresOn+". Write the new one first.")
	}
	c.Verification = record.Verification{Status: sent.Result, Method: sent.Method, VerifiedAt: record.InstantOf(now),
		VerifiedBy: by}
	return nil
}

// setDoNotRent puts a customer on the do-not-rent list, or takes it off.
func setDoNotRent(rec *record.Record[record.Customer], sent DoNotRentChange, by string, now time.Time) error {
	c := &rec.Body
	if err := notGone(c); err != nil {
		return err
	}
	if !sent.Active {
		if c.DoNotRent != nil && c.DoNotRent.Active {
			lifted := *c.DoNotRent
			lifted.Active, lifted.SetBy, lifted.SetAt, lifted.ExpiresAt = false, by, record.InstantOf(now), record.Instant{}
			if sent.Note != "" {
				lifted.Note = sent.Note
			}
			c.DoNotRent = &lifted
		}
		return nil
	}
	if sent.ReasonCode == "" {
		return fleet.Invalid(fleet.FieldError{Pointer: "/reason_code", Code: "required", Detail: "setting it needs a reason"})
	}
	set := &record.DoNotRent{Active: true, ReasonCode: sent.ReasonCode, Note: sent.Note, SetBy: by,
		SetAt: record.InstantOf(now)}
	if sent.ExpiresAt != nil {
		if !sent.ExpiresAt.After(now) {
			return fleet.Invalid(fleet.FieldError{Pointer: "/expires_at", Code: "invalid", Detail: "must be in the future"})
		}
		set.ExpiresAt = *sent.ExpiresAt
	}
	c.DoNotRent = set
	return nil
}

// showCustomers makes the answers for customers. Licence numbers are masked unless the key may read them.
func (a *API) showCustomers(ctx context.Context, records []record.Record[record.Customer],
	expand []string) ([]rest.Shown, error) {
	plain := auth.From(ctx).Has(auth.CustomersPII)
	today := a.Now().UTC().Format(time.DateOnly)
	var stats map[uint64][]query.CustomerStats
	if slices.Contains(expand, "stats") && len(records) > 0 {
		ids := make([]uint64, len(records))
		for i := range records {
			ids[i] = records[i].ID
		}
		today, err := a.desk.Books.Today(ctx, records[0].Account)
		if err != nil {
			return nil, err
		}
		if stats, err = query.StatsOfCustomers(ctx, a.DB, records[0].Account, ids, today, ledger.Earned()); err != nil {
			return nil, err
		}
	}
	views := make([]rest.Shown, len(records))
	for i := range records {
		rec := &records[i]
		b := rec.Body
		view := Customer{ID: fleet.FormatID(fleet.CustomerPrefix, rec.ID), CustomerFields: b.CustomerFields,
			Object: "customer", Number: b.Number,
			Verification: CustomerVerification(b.VerificationAt(today)), DoNotRent: b.DoNotRent,
			IncidentsCount: b.IncidentsCount,
			MergedInto:     b.MergedInto, DuplicateOf: b.DuplicateOf, ErasingSince: b.ErasingSince, ErasedAt: b.ErasedAt,
			Stamps: rest.StampsOf(*rec)}
		view.IsRentable, view.NotRentable = a.desk.Persons.Rentable(rec)
		if b.Licence != nil && !plain {
			masked := *b.Licence
			masked.Number = record.Masked(masked.Number)
			view.Licence = &masked
		}
		if stats != nil {
			view.Stats = statsOf(stats[rec.ID])
		}
		// What time changes without a revision, and who may read what, must show in the tag.
		mark, err := json.Marshal([]any{view.IsRentable, view.NotRentable, view.Verification.Status, plain, view.Stats})
		if err != nil {
			return nil, err
		}
		views[i] = rest.Shown{View: view, Live: mark}
	}
	return views, nil
}

// statsOf shows what a customer has booked, by currency.
func statsOf(found []query.CustomerStats) *CustomerStats {
	all := &CustomerStats{LifetimeRevenue: []record.Money{}, BookedRevenue: []record.Money{}, BalanceDue: []record.Money{}}
	for _, s := range found {
		all.BookingsCount += s.Bookings
		all.CompletedCount += s.Completed
		all.CancelledCount += s.Cancelled
		all.NoShowCount += s.NoShow
		all.DamagedCount += s.Damaged
		if s.Bookings > 0 && (all.FirstBookingAt.IsZero() || s.First.Before(all.FirstBookingAt.Time)) {
			all.FirstBookingAt = record.InstantOf(s.First)
		}
		if s.Last.After(all.LastBookingAt.Time) {
			all.LastBookingAt = record.InstantOf(s.Last)
		}
		if s.Currency != "" {
			all.LifetimeRevenue = append(all.LifetimeRevenue, record.Money{Amount: s.Revenue, Currency: s.Currency})
			all.BookedRevenue = append(all.BookedRevenue, record.Money{Amount: s.Booked, Currency: s.Currency})
			all.BalanceDue = append(all.BalanceDue, record.Money{Amount: s.Due, Currency: s.Currency})
		}
	}
	all.IsRepeat = all.CompletedCount >= 2
	return all
}
