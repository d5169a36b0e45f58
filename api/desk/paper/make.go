package paper

import (
	"context"
	"fmt"
	"slices"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/paperwork"
)

// Order asks for a paper.
type Order struct {
	record.PaperFields
	BookingID  string
	CustomerID string // who it is made out to; that of the booking, unless given
	PaymentID  string
	InvoiceID  string
	Month      string
	Currency   string
	Issue      bool // an invoice at once, and not as a draft; all other papers always are
}

// Bill makes an invoice of what a booking's charges come to that are on none of its papers yet. A booking of which
// nothing is left to bill, or less than nothing, is a *fleet.Error of the code fleet.CodeConflict.
func (d *Papers) Bill(ctx context.Context, by record.Author, account fleet.AccountID, id uint64, o Order) (rec, error) {
	return d.make(ctx, by, account, id, record.Invoices, !o.Issue, func() (record.Paper, error) {
		return d.difference(ctx, account, o, false)
	})
}

// Credit makes a credit note: of a whole invoice, or of what a booking's charges that are on none of its papers come to
// less than nothing.
func (d *Papers) Credit(ctx context.Context, by record.Author, account fleet.AccountID, id uint64,
	o Order) (rec, error) {
	return d.make(ctx, by, account, id, record.CreditNotes, false, func() (record.Paper, error) {
		if o.InvoiceID == "" {
			return d.difference(ctx, account, o, true)
		}
		invoice, err := d.named(ctx, account, record.Invoices, "/invoice_id", o.InvoiceID)
		if err != nil {
			return record.Paper{}, err
		}
		of := &invoice.Body
		if err := record.MovePaper(&rec{ID: invoice.ID, Body: *of}, record.PaperCredited); err != nil {
			return record.Paper{}, err
		}
		p := record.Paper{PaperFields: o.PaperFields, BookingID: of.BookingID, CustomerID: of.CustomerID,
			InvoiceID: o.InvoiceID, Currency: of.Currency}
		p.Lines, p.Taxes, p.Sums, p.Total = of.Lines, of.Taxes, paperwork.Unsettled(of.Sums), of.Total
		p.About = &record.PaperSubject{InvoiceNumber: of.Number}
		return p, nil
	})
}

// named reads the paper that an order names.
func (d *Papers) named(ctx context.Context, account fleet.AccountID, kind record.Kind[record.Paper], pointer,
	text string) (rec, error) {
	id, err := fleet.ParseID(kind.Prefix, text)
	if err == nil {
		var r rec
		if r, err = d.Log(kind).Get(ctx, account, id); err == nil || fleet.CodeOf(err) != fleet.CodeNotFound {
			return r, err
		}
	}
	return rec{}, fleet.Invalid(fleet.NoSuch(pointer, kind.Name, kind.Prefix, text))
}

// booking reads the booking that an order names.
func (d *Papers) booking(ctx context.Context, account fleet.AccountID,
	text string) (record.Record[record.Booking], error) {
	id, err := fleet.ParseID(fleet.BookingPrefix, text)
	if err == nil {
		b, err := d.Bookings.Get(ctx, account, id)
		if err == nil || fleet.CodeOf(err) != fleet.CodeNotFound {
			return b, err
		}
	}
	return record.Record[record.Booking]{},
		fleet.Invalid(fleet.NoSuch("/booking_id", "booking", fleet.BookingPrefix, text))
}

// difference is the paper of what is on no paper of a booking yet: an invoice, or if back is set a credit note.
func (d *Papers) difference(ctx context.Context, account fleet.AccountID, o Order, back bool) (record.Paper, error) {
	if err := d.Store.MendNow(ctx, record.Invoices.Name, record.CreditNotes.Name); err != nil {
		return record.Paper{}, err
	}
	b, err := d.booking(ctx, account, o.BookingID)
	if err != nil {
		return record.Paper{}, err
	}
	conflict := func(why string) (record.Paper, error) {
		return record.Paper{}, fleet.NewError(fleet.CodeConflict, "The booking "+o.BookingID+" cannot be billed: "+why+".")
	}
	if ok, why := paperwork.Billed(&b.Body); !ok {
		return conflict(why)
	}
	papers, place, err := d.papersOf(ctx, account, o.BookingID)
	if err != nil {
		return record.Paper{}, err
	}
	for _, r := range papers {
		if !r.Body.Sealed() {
			return conflict("it has a draft, " + fleet.FormatID(fleet.InvoicePrefix, r.ID) +
				", which is to be issued or deleted first")
		}
	}
	charges := paperwork.Open(&b.Body, paperwork.On(bodies(papers)))
	content, negative := paperwork.Bill(b.Body.Currency, charges)
	switch {
	case !paperwork.Standing(&content):
		return conflict("all of its charges are on its papers already")
	case negative && !back:
		return conflict("what is on no paper yet is in favor of the customer; POST /v1/credit_notes with its booking_id")
	case !negative && back:
		return conflict("what is on no paper yet is owed by the customer; POST /v1/invoices with its booking_id")
	}
	p := record.Paper{PaperFields: o.PaperFields, BookingID: o.BookingID, CustomerID: b.Body.CustomerID, Place: place,
		Currency: b.Body.Currency, PaperContent: content}
	if o.CustomerID != "" {
		p.CustomerID = o.CustomerID
	}
	return p, d.customerThere(ctx, account, "/customer_id", p.CustomerID)
}

// customerThere refuses who is no customer, or is erased, as who a paper is made out to.
func (d *Papers) customerThere(ctx context.Context, account fleet.AccountID, pointer, text string) error {
	if text == "" {
		return nil
	}
	id, err := fleet.ParseID(fleet.CustomerPrefix, text)
	if err == nil {
		_, err = d.Customers.Get(ctx, account, id)
	}
	if err != nil && (id == 0 || fleet.CodeOf(err) == fleet.CodeNotFound) {
		return fleet.Invalid(fleet.NoSuch(pointer, "customer", fleet.CustomerPrefix, text))
	}
	return err
}

// Receipt makes the receipt of a payment that has moved.
func (d *Papers) Receipt(ctx context.Context, by record.Author, account fleet.AccountID, id uint64,
	o Order) (rec, error) {
	return d.make(ctx, by, account, id, record.Receipts, false, func() (record.Paper, error) {
		number, err := fleet.ParseID(fleet.PaymentPrefix, o.PaymentID)
		var pay record.Record[record.Payment]
		if err == nil {
			pay, err = d.Payments.Get(ctx, account, number)
		}
		if err != nil && (number == 0 || fleet.CodeOf(err) == fleet.CodeNotFound) {
			return record.Paper{},
				fleet.Invalid(fleet.NoSuch("/payment_id", "payment", fleet.PaymentPrefix, o.PaymentID))
		}
		if err != nil {
			return record.Paper{}, err
		}
		of := &pay.Body
		if of.Status == record.PaymentPending || of.Status == record.PaymentFailed {
			return record.Paper{}, fleet.NewError(fleet.CodeConflict,
				fmt.Sprintf("The payment %s is %s: there is nothing to give a receipt of.", o.PaymentID, of.Status))
		}
		s, err := d.settingOf(ctx, account)
		if err != nil {
			return record.Paper{}, err
		}
		day := func(at record.Instant) string { return dayOf(at, s.zone) }
		return record.Paper{PaperFields: o.PaperFields, PaymentID: o.PaymentID, BookingID: of.BookingID,
			CustomerID: of.CustomerID, Currency: of.Amount.Currency,
			PaperContent: withAbout(paperwork.Receipt(of, day), record.PaperSubject{PaymentNumber: of.Number,
				PaymentMethod: of.Method, PaidOn: day(of.ReceivedAt)})}, nil
	})
}

func withAbout(c record.PaperContent, about record.PaperSubject) record.PaperContent {
	c.About = &about
	return c
}

// Deposit makes the statement of a booking's deposit.
func (d *Papers) Deposit(ctx context.Context, by record.Author, account fleet.AccountID, id uint64,
	o Order) (rec, error) {
	return d.make(ctx, by, account, id, record.DepositStatements, false, func() (record.Paper, error) {
		b, err := d.booking(ctx, account, o.BookingID)
		if err != nil {
			return record.Paper{}, err
		}
		of := &b.Body.Deposit
		if of.Status == "" || of.Status == record.DepositNone {
			return record.Paper{},
				fleet.NewError(fleet.CodeConflict, "The booking "+o.BookingID+" has no deposit to make a statement of.")
		}
		return record.Paper{PaperFields: o.PaperFields, BookingID: o.BookingID, CustomerID: b.Body.CustomerID,
			Currency: b.Body.Currency, PaperContent: withAbout(paperwork.Deposit(&b.Body),
				record.PaperSubject{DepositMethod: of.Method, DepositStatus: of.Status})}, nil
	})
}

// Agreement makes the rental agreement of a booking.
func (d *Papers) Agreement(ctx context.Context, by record.Author, account fleet.AccountID, id uint64,
	o Order) (rec, error) {
	return d.make(ctx, by, account, id, record.Agreements, false, func() (record.Paper, error) {
		b, err := d.booking(ctx, account, o.BookingID)
		if err != nil {
			return record.Paper{}, err
		}
		if ended := []string{record.BookingCancelled, record.BookingNoShow, record.BookingExpired}; b.Body.CustomerID == "" ||
			b.Body.VehicleID == "" || slices.Contains(ended, b.Body.Status) {
			return record.Paper{}, fleet.NewError(fleet.CodeConflict, "The booking "+o.BookingID+
				" cannot have an agreement: it needs a customer and a vehicle, and must not have come to nothing.")
		}
		return record.Paper{PaperFields: o.PaperFields, BookingID: o.BookingID, CustomerID: b.Body.CustomerID,
			Currency: b.Body.Currency}, nil
	})
}

// Sign notes that an agreement was signed, when and by whom.
func (d *Papers) Sign(r *rec, by string, at record.Instant) error {
	switch {
	case r.Body.Number == "":
		return record.MovePaper(r, record.PaperIssued)
	case !r.Body.SignedAt.IsZero():
		return &record.TransitionError{What: "agreement " + fleet.FormatID(fleet.AgreementPrefix, r.ID), Current: "signed",
			Wanted: "signed again", Allowed: []string{}}
	}
	r.Body.SignedBy, r.Body.SignedAt = by, at
	return nil
}
