// Package bulk decides much at once: the commands of the desk run on what stands of an account and what they have
// written themselves, in memory, and then all of it is written in large inserts.
//
//	Begin ── reads what stands ──> Draft ── commands ──> Write: claims, log │ tables, postings, marks
//	                                                     stands or does not │ follows, and is made up for after a crash
//
// The commands do not know of it. A draft's desk has a record.Draft for its store, which serves single records,
// numbers, calendars and claims; tables answer what else they read (base.Reads), and books.Aside takes what they post.
// What none of these has is refused with record.ErrNotYet: a command fails, which is then for the ordinary desk, and a
// consequence is carried out by that once the draft stands.
//
// Begin reads all that stands, for a past that is made up; Among what some new records name, for those of an import.
//
// Two drafts of one account may be decided at once if their gates differ (see record.Draft) and neither needs what the
// other makes. A draft is thrown away and decided again when what it rests on has moved.
package bulk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/desk/books"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// Bulk is what stands of an account, and a desk by which is written upon that.
type Bulk struct {
	desk    *desk.Desk
	account fleet.AccountID
	stands  *record.Standing
	tables  *tables
}

// Begin reads what stands of an account. desk writes, and carries out what cannot be decided in memory.
func Begin(ctx context.Context, desk *desk.Desk, account fleet.AccountID) (*Bulk, error) {
	// What devices say is read first: what they say later is later than what was decided upon.
	told, err := query.MetersTold(ctx, desk.DB, account)
	if err != nil {
		return nil, err
	}
	plans, err := query.PlansInUse(ctx, desk.DB, account)
	if err != nil {
		return nil, err
	}
	stands, err := desk.Store.Standing(ctx, account)
	if err != nil {
		return nil, err
	}
	b := &Bulk{desk: desk, account: account, stands: stands, tables: newTables(account, nil)}
	b.tables.told, b.tables.plans = told, plans
	stands.Each(func(c record.Current) { err = b.tables.add(c, err) })
	return b, err
}

// Among reads some records of an account, for drafts of new records that name them, and which of the values that these
// want for themselves are free: other records are read when a command first asks for them, and who wants another value
// is for the ordinary desk. Of what commands ask for beside single records it knows the customers and the rate plans.
func Among(ctx context.Context, desk *desk.Desk, account fleet.AccountID, refs []record.Ref,
	values []record.Claim) (*Bulk, error) {
	b := &Bulk{desk: desk, account: account, tables: newTables(account, nil)}
	b.tables.some = true
	var err error
	if b.tables.plans, err = query.PlansInUse(ctx, desk.DB, account); err != nil {
		return nil, err
	}
	if b.tables.customers, err = query.CustomersCompared(ctx, desk.DB, account); err != nil {
		return nil, err
	}
	b.stands, err = desk.Store.StandingOf(ctx, account, refs, values)
	return b, err
}

// Draft is a desk whose commands decide and do not write.
type Draft struct {
	*desk.Desk
	Decided *record.Draft

	tables *tables
	posted books.Aside
}

// Draft begins a draft that changes one record that stands, gate, and makes any number of others. Its identities and
// its clock are those of what is decided, of the desk unless given. It rests on the calendars of classes, which are
// looked at when a vehicle is booked.
func (b *Bulk) Draft(gate record.Ref, ids *fleet.IDSource, now func() time.Time) (*Draft, error) {
	d := &Draft{tables: newTables(b.account, b.tables)}
	var unread unread
	var err error
	d.Decided, err = record.NewDraft(b.desk.Store, b.stands, gate, calendar.ClassKind.Name, ids, now, unread, d.tables.put)
	if err != nil {
		return nil, err
	}
	if now == nil {
		now = b.desk.Now
	}
	d.Desk = desk.New(d.Decided.Store, unread, now, b.desk.Log)
	d.Desk.Reads, d.Desk.Books.Aside = d.tables, &d.posted
	return d, nil
}

// Write writes drafts, whose commands are done. Each stands or does not: those that do not, because what they rest on
// has moved, are returned, and can be decided again upon a new Bulk. After an error some may stand, and what is left
// undone of them is made up for as after a crash.
func (b *Bulk) Write(ctx context.Context, drafts ...*Draft) (moved []*Draft, err error) {
	decided := make([]*record.Draft, len(drafts))
	for i, d := range drafts {
		if err := d.tables.err(); err != nil {
			return nil, err
		}
		decided[i] = d.Decided
	}
	outrun, err := b.desk.Store.Hold(ctx, decided...)
	if err != nil {
		return nil, err
	}
	failed := b.desk.Store.WriteDrafts(ctx, decided, outrun)
	var stand []*record.Draft
	var posted []*books.Aside
	for i, d := range drafts {
		switch { // of one that met another error it is open whether it stands, and what it holds must stay
		case outrun[i] == nil:
			stand, posted = append(stand, d.Decided), append(posted, &d.posted)
		case errors.Is(outrun[i], record.ErrMoved):
			moved = append(moved, d)
			failed = errors.Join(failed, b.withdraw(ctx, d))
		}
	}
	// What stands is carried through, whatever became of the others.
	err = b.desk.Store.ListDrafts(ctx, stand...)
	if err == nil {
		err = b.desk.Books.PostAside(ctx, posted...)
	}
	if err == nil {
		err = b.desk.Store.SettleDrafts(ctx, stand...)
	}
	if err := errors.Join(failed, err); err != nil {
		return moved, err
	}
	if n, err := b.desk.Store.Doubled(ctx, stand...); err != nil || n > 0 {
		if err == nil {
			err = fmt.Errorf("%d revisions of account %s were written twice: two processes made the same", n, b.account)
		}
		return moved, err
	}
	return moved, nil
}

// withdraw takes the bids of a draft that does not stand out of the calendar that it held: they would keep others, and
// what is decided next, from the vehicle until they lapse. What the calendar had before is another's, be it for the
// same bookings.
func (b *Bulk) withdraw(ctx context.Context, d *Draft) error {
	held, ok := d.Decided.Held().(*calendar.Calendar)
	if !ok {
		return nil
	}
	stood, err := record.Stood[calendar.Calendar](d.Decided)
	if err != nil {
		return err
	}
	had := map[uint64]bool{}
	if stood != nil {
		for _, h := range stood.Holds {
			had[h.Bid] = true
		}
	}
	made := map[string]bool{}
	for _, id := range d.Decided.Made(record.Bookings.Name) {
		made[fleet.FormatID(fleet.BookingPrefix, id)] = true
	}
	bids := slices.DeleteFunc(slices.Clone(held.Holds),
		func(h calendar.Hold) bool { return !made[h.Ref] || had[h.Bid] })
	return b.desk.Calendars.Withdraw(ctx, record.System, b.account, d.Decided.Gate().ID, bids...)
}
