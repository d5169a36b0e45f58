package person

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
)

// Erasure takes a person out of the store while the books stay whole: bookings, payments and the ledger carry the
// customer's id, which stays, and none of their numbers change. It is decided by one revision of the customer, and then
// done step by step, each of which can be repeated; whoever was killed in between is followed by the duty.
//
//	erasing_since ──► last revisions without the person ──► answers kept for idempotency keys, texts elsewhere
//	──► earlier revisions, files ──► erased_at
//
// The last revisions go first, so that nothing is made of the person any more while what was made is looked for. The
// earlier ones go last but one, because they tell what that is, also to whoever goes on.

// eraseCustomers registers the duty that ends erasures which somebody else began.
func (d *Persons) eraseCustomers() {
	d.AddDuty("erase customers", 30*time.Second, func(ctx context.Context) error {
		pending, err := query.CustomersErasing(ctx, d.DB)
		if err != nil {
			return err
		}
		return base.Each(ctx, pending, func(p query.CustomerRef) error {
			rec, err := d.Customers.Get(ctx, p.Account, p.ID)
			if err == nil && !rec.Body.ErasingSince.IsZero() && d.Now().Sub(rec.Body.ErasingSince.Time) >= erasingAlone {
				err = d.FinishErasure(ctx, record.System, p.Account, p.ID)
			}
			if err != nil {
				return fmt.Errorf("erase customer %d: %w", p.ID, err)
			}
			return nil
		})
	})
}

// erasingAlone is how long whoever decided an erasure is left to do it.
const erasingAlone = 15 * time.Second

// DecideErasure decides that a customer's personal data is to be erased, with those merged into it; FinishErasure does
// it. With a booking or a balance outstanding it is a *fleet.Error of the code fleet.CodeConflict that names them,
// unless force is set. A customer that was erased already is returned as it is.
func (d *Persons) DecideErasure(ctx context.Context, by record.Author, account fleet.AccountID, id uint64,
	reason string, force bool) (record.Record[record.Customer], error) {
	rec, err := d.Customers.Get(ctx, account, id)
	if err != nil || rec.Body.Gone() {
		return rec, err
	}
	if rec.Body.MergedInto != "" {
		return rec, fleet.NewError(fleet.CodeConflict, "The customer was merged into "+rec.Body.MergedInto+
			", who is the same person. Erase that one; this one goes with it.")
	}
	if !force {
		if err := d.nothingOutstanding(ctx, account, id); err != nil {
			return rec, err
		}
	}
	rec, err = d.Customers.Wipe(ctx, by, account, id, func(c *record.Customer) {
		if !c.Gone() && c.MergedInto == "" {
			c.ErasingSince, c.ErasureReason, c.Merging = record.InstantOf(d.Now()), reason, nil
		}
	})
	if err == nil && !rec.Body.Gone() {
		err = fleet.NewError(fleet.CodeConflict,
			"The customer was merged into "+rec.Body.MergedInto+" meanwhile. Erase that one.")
	}
	return rec, err
}

// nothingOutstanding refuses while the customer, or one that was merged into it, has a booking that is not over
// or not settled.
func (d *Persons) nothingOutstanding(ctx context.Context, account fleet.AccountID, id uint64) error {
	fields, err := d.outstanding(ctx, account, id)
	if err != nil || fields == nil {
		return err
	}
	return fleet.NewError(fleet.CodeConflict,
		"The customer has bookings that are not over or not settled; errors names them. End and settle them first, or set force.", fields...)
}

// bookingOpen is the code of a booking that is not over.
const bookingOpen = "booking_open"

// NothingBooked refuses while the customer, or one that was merged into it, has a booking that is not over: it could
// not be picked up any more.
func (d *Persons) NothingBooked(ctx context.Context, account fleet.AccountID, id uint64) error {
	fields, err := d.outstanding(ctx, account, id)
	if err != nil {
		return err
	}
	fields = slices.DeleteFunc(fields, func(f fleet.FieldError) bool { return f.Code != bookingOpen })
	if len(fields) == 0 {
		return nil
	}
	return fleet.NewError(fleet.CodeConflict,
		"The customer has bookings that are not over; errors names them. End them first.", fields...)
}

// outstanding returns a fault for each booking of a customer, or of one that was merged into it, that is not over
// or not settled.
func (d *Persons) outstanding(ctx context.Context, account fleet.AccountID, id uint64) ([]fleet.FieldError, error) {
	if err := d.Store.MendNow(ctx, d.Customers.Kind().Name, d.Bookings.Kind().Name, d.Payments.Kind().Name); err != nil {
		return nil, err
	}
	family, err := query.CustomerFamily(ctx, d.DB, account, id)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(family))
	for i, one := range family {
		names[i] = fleet.FormatID(fleet.CustomerPrefix, one)
	}
	open, err := query.OutstandingOf(ctx, d.DB, account, names)
	if err != nil {
		return nil, err
	}
	var fields []fleet.FieldError
	for _, o := range open {
		booking := fleet.FormatID(fleet.BookingPrefix, o.Booking)
		f := fleet.FieldError{Pointer: booking, Code: "balance_open",
			Detail: fmt.Sprintf("the booking %s is not settled: its balance is %d minor units", booking, o.Due)}
		if slices.Contains([]string{record.BookingPending, record.BookingConfirmed, record.BookingActive}, o.Status) {
			f.Code, f.Detail = bookingOpen, "the booking "+booking+" is "+o.Status+", and must be over first"
		}
		fields = append(fields, f)
	}
	return fields, nil
}

// FinishErasure does what is left of an erasure that was decided.
func (d *Persons) FinishErasure(ctx context.Context, by record.Author, account fleet.AccountID, id uint64) error {
	family, err := query.WholeCustomerFamily(ctx, d.DB, account, id)
	if err != nil {
		return err
	}
	names := make([]string, len(family))
	for i, one := range family {
		names[i] = fleet.FormatID(fleet.CustomerPrefix, one)
	}
	notes, documents, err := query.CustomerParts(ctx, d.DB, account, names)
	if err != nil {
		return err
	}
	tags, err := d.tagsOf(ctx, account, names)
	if err != nil {
		return err
	}
	traces, err := d.tracesOf(ctx, account, family, names, notes, documents)
	if err != nil {
		return err
	}
	for i := range tags {
		if !tags[i].shared {
			traces.find(5, tags[i].values...)
		}
	}
	if err := d.wipeParts(ctx, by, account, notes, documents); err != nil {
		return err
	}
	if err := d.wipeTags(ctx, by, account, names, tags); err != nil {
		return err
	}
	now := record.InstantOf(d.Now())
	bare := func(done bool) func(c *record.Customer) {
		return func(c *record.Customer) {
			if !c.ErasedAt.IsZero() {
				return
			}
			left := record.Customer{Numbered: c.Numbered, ErasingSince: c.ErasingSince, ErasureReason: c.ErasureReason,
				MergedInto: c.MergedInto}
			left.Verification.Status = record.LicenceUnverified
			if done {
				left.ErasingSince, left.ErasedAt = record.Instant{}, now
			}
			*c = left
		}
	}
	for _, one := range family {
		if _, err := d.Customers.Wipe(ctx, by, account, one, bare(false)); err != nil {
			return err
		}
	}
	// No table of current records shows the person any more; what was made of it before is swept up.
	answers := append(append(traces.strongest(), names...), traces.numbers...)
	if err := d.Store.ForgetAnswers(ctx, account, answers); err != nil {
		return err
	}
	if err := d.Store.Sweep(ctx, account, traces.words(), map[string]string{
		d.Customers.Kind().Name: query.Customers.Table, d.Notes.Kind().Name: query.CustomerNotes.Table,
		d.Documents.Kind().Name: query.Documents.Table,
		d.Tags.Kind().Name:      query.DriverTags.Table,
	}, traces.rewrite); err != nil {
		return err
	}
	// The answers of requests that were under way when the person could still be read: the sweep took more than a second.
	if err := d.Store.ForgetAnswers(ctx, account, answers); err != nil {
		return err
	}
	if err := d.forgetParts(ctx, account, family, notes, documents); err != nil {
		return err
	}
	if err := d.forgetTags(ctx, account, tags); err != nil {
		return err
	}
	if err := d.DB.Exec(ctx, schemas.Query("paper_persons_forget"), clickhouse.Named("account", uint64(account)),
		clickhouse.Named("customers", family), clickhouse.Named("today", d.Now().UTC().Format(time.DateOnly))); err != nil {
		return fmt.Errorf("erase the customer on papers: %w", err)
	}
	if err := d.Customers.Forget(ctx, account, query.Customers.Table, family...); err != nil {
		return err
	}
	for i := len(family) - 1; i >= 0; i-- { // the one that was asked for is the first, and says last that all is done
		if _, err := d.Customers.Wipe(ctx, by, account, family[i], bare(true)); err != nil {
			return err
		}
	}
	// Somebody may have read the log before it was emptied, and brought that to the table after.
	return d.Customers.Forget(ctx, account, query.Customers.Table, family...)
}

// tracesOf collects what the person may be recognised by.
func (d *Persons) tracesOf(ctx context.Context, account fleet.AccountID, family []uint64, names []string,
	notes, documents []uint64) (*traces, error) {
	customers, err := d.Customers.Everything(ctx, account, family...)
	if err != nil {
		return nil, err
	}
	words, err := d.Notes.Everything(ctx, account, notes...)
	if err != nil {
		return nil, err
	}
	papers, err := d.Documents.Everything(ctx, account, documents...)
	if err != nil {
		return nil, err
	}
	t := tracesOf(names, customers, words, papers)
	shared, err := query.CustomersSharing(ctx, d.DB, account, family, t.strong)
	t.forgive(shared)
	return t, err
}

// strongest are the strong traces as they stand in an answer that is kept within a text that is kept: quoted twice.
func (t *traces) strongest() []string {
	var all []string
	for _, text := range t.strong {
		all = append(all, text, quotedInside(quotedInside(text)))
	}
	return all
}

// wipeParts leaves nothing in the last revisions of notes and documents.
func (d *Persons) wipeParts(ctx context.Context, by record.Author, account fleet.AccountID,
	notes, documents []uint64) error {
	for _, id := range notes {
		if _, err := d.Notes.Wipe(ctx, by, account, id, func(n *record.Note) {
			*n = record.Note{CustomerID: n.CustomerID}
		}); err != nil {
			return err
		}
	}
	for _, id := range documents {
		if _, err := d.Documents.Wipe(ctx, by, account, id, func(p *record.Document) {
			*p = record.Document{CustomerID: p.CustomerID}
		}); err != nil {
			return err
		}
	}
	return nil
}

// forgetParts takes away the earlier revisions of notes and documents, and the files.
func (d *Persons) forgetParts(ctx context.Context, account fleet.AccountID, family, notes, documents []uint64) error {
	if err := d.Notes.Forget(ctx, account, query.CustomerNotes.Table, notes...); err != nil {
		return err
	}
	if err := d.Documents.Forget(ctx, account, query.Documents.Table, documents...); err != nil {
		return err
	}
	if err := d.DB.Exec(ctx, schemas.Query("document_files_forget"), clickhouse.Named("account", uint64(account)),
		clickhouse.Named("customers", family)); err != nil {
		return fmt.Errorf("erase files: %w", err)
	}
	return nil
}
