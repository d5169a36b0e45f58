// Package paper is the room of papers: invoices and credit notes, receipts, statements and agreements. It makes them of
// what the records say, seals them, and gives them their numbers.
//
//	draft ──seal──► issuing ──number──► open or issued
//	                   │           ▲
//	                   └── duty ───┘  whoever died in between is followed
//
// A paper is sealed by one revision of it, from which on nothing that is printed changes. Its number is given after
// that, by one revision of the register of its series (see number.go). Papers post nothing: charges, payments and
// deposits stand in the ledger because of their bookings and payments already. What owners get is posted by its month,
// whether or not there is a statement of it (see share.go), and what is paid to them with its statement (see
// payout.go).
package paper

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/paperwork"
	"github.com/motorpool/fleet/query"
)

// Papers makes and issues papers. It is safe for concurrent use.
type Papers struct {
	*base.Base
	logs   map[string]*record.Log[record.Paper]
	series *record.Log[record.PaperSeries]
	shares sharesLook
	turns  [64]sync.Mutex // of those who number papers of a series in this process, so that they do not collide in vain
}

// rec is a paper with its place in the log.
type rec = record.Record[record.Paper]

// New opens the room.
func New(b *base.Base) *Papers {
	d := &Papers{Base: b, logs: map[string]*record.Log[record.Paper]{},
		series: record.NewLog(b.Store, record.PaperRegisters)}
	for _, p := range record.Papers {
		d.logs[p.Kind.Name] = record.NewLog(b.Store, p.Kind)
	}
	return d
}

// Log is the log of a kind of paper.
func (d *Papers) Log(kind record.Kind[record.Paper]) *record.Log[record.Paper] {
	return d.logs[kind.Name]
}

// Times of the duties.
const (
	issuingAlone = 15 * time.Second // how long whoever seals a paper is left to number it
	forgetEvery  = 6 * time.Hour
)

// Register has papers that were sealed numbered, invoices follow what is paid, and persons forgotten.
func (d *Papers) Register() {
	d.AddDuty("papers: number what was sealed", 10*time.Second, func(ctx context.Context) error {
		return d.NumberSealed(ctx, d.Now().Add(-issuingAlone))
	})
	d.AddDuty("papers: forget who was erased", forgetEvery, d.forgetErased)
	d.AddDuty("papers: shares of owners into the books", sharesEvery, d.PostShares)
	for _, kind := range []string{record.Invoices.Name, record.CreditNotes.Name} {
		d.Store.Then(kind, "paid invoices", d.afterPaper)
	}
	d.Store.Then(d.Expenses.Kind().Name, "paid statements", d.afterPayout)
	d.Store.Then(record.OwnerStatements.Name, "paid statements", d.afterPaid)
	d.Store.Then(d.Payments.Kind().Name, "paid invoices", d.afterPayment)
	d.Store.Then(d.Bookings.Kind().Name, "paid invoices", d.afterBooking)
}

// NumberSealed gives their numbers to the papers that were sealed until an instant and have none.
func (d *Papers) NumberSealed(ctx context.Context, until time.Time) error {
	found, err := query.PapersIssuing(ctx, d.DB, until, d.DuePage)
	if err != nil {
		return err
	}
	return base.Each(ctx, found, func(p query.PaperRef) error {
		_, err := d.number(ctx, record.System, p.Account, p.Kind, p.ID)
		if err != nil {
			return fmt.Errorf("number %s %d: %w", p.Kind, p.ID, err)
		}
		return nil
	})
}

// Issue seals a draft and gives it its number; one that is sealed already gets the number that it has not yet. check
// may refuse the revision that is sealed.
func (d *Papers) Issue(ctx context.Context, by record.Author, account fleet.AccountID, kind record.Kind[record.Paper],
	id uint64, check func(*rec) error) (rec, error) {
	log := d.Log(kind)
	for {
		before, err := log.Get(ctx, account, id)
		if err != nil {
			return before, err
		}
		next := before.Body
		if next.Status == record.PaperDraft {
			if err := d.seal(ctx, account, id, &next); err != nil {
				return before, err
			}
		}
		moved := false
		_, err = log.Update(ctx, by, account, id, 0, func(r *rec) error {
			moved = false // it may run again
			if err := check(r); err != nil {
				return err
			}
			if r.Body.Status == record.PaperIssuing {
				return nil
			}
			if moved = r.Revision != before.Revision; moved {
				return nil
			}
			if err := record.MovePaper(r, record.PaperIssuing); err != nil {
				return err
			}
			r.Body = next
			r.Body.Status = record.PaperIssuing
			return nil
		})
		if err != nil {
			return before, err
		}
		if !moved {
			return d.number(ctx, by, account, kind.Name, id)
		}
	}
}

// make writes a new paper: a draft, or one that is issued at once. What an earlier attempt made is returned as it is.
func (d *Papers) make(ctx context.Context, by record.Author, account fleet.AccountID, id uint64,
	kind record.Kind[record.Paper], draft bool, of func() (record.Paper, error)) (rec, error) {
	log := d.Log(kind)
	made, err := log.Get(ctx, account, id)
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		var p record.Paper
		if p, err = of(); err != nil {
			return rec{}, err
		}
		p.Kind, p.Status = kind.Name, record.PaperDraft
		if !draft {
			if err := d.seal(ctx, account, id, &p); err != nil {
				return rec{}, err
			}
			p.Status = record.PaperIssuing
		}
		made.Body = p
	} else if err != nil {
		return rec{}, err
	}
	made, _, err = log.Create(ctx, by, account, id, made.Body)
	if err != nil || made.Body.Status != record.PaperIssuing {
		return made, err
	}
	return d.number(ctx, by, account, kind.Name, id)
}

// Discardable refuses to archive a paper that is sealed: its number must not be missing.
func (d *Papers) Discardable(r *rec) error {
	if !r.Body.Sealed() {
		return nil
	}
	because := "and stays: its number would be missing"
	if r.Body.Kind == record.Invoices.Name {
		because += ". A credit note takes it back: POST /v1/credit_notes with its invoice_id"
	}
	kind := record.KindOfPaper(r.Body.Kind)
	return &record.TransitionError{What: kind.Name + " " + fleet.FormatID(kind.Prefix, r.ID), Current: r.Body.Status,
		Wanted: "archived", Allowed: []string{}, Because: because}
}

// papersOf returns the papers of a booking of some kinds that are not archived, in the order of their places, with the
// place that comes next; those that are archived keep theirs.
func (d *Papers) papersOf(ctx context.Context, account fleet.AccountID, booking string) ([]rec, int, error) {
	stored, err := d.Reads.PapersOfBooking(ctx, account, booking, record.Invoices.Name, record.CreditNotes.Name)
	if err != nil {
		return nil, 0, err
	}
	return decoded(account, stored)
}

func decoded(account fleet.AccountID, stored []query.StoredPaper) ([]rec, int, error) {
	next := 1
	var all []rec
	for _, s := range stored {
		r := rec{Account: account, ID: s.ID, Revision: s.Revision}
		if err := json.Unmarshal([]byte(s.Body), &r.Body); err != nil {
			return nil, 0, fmt.Errorf("decode paper %d: %w", s.ID, err)
		}
		next = max(next, r.Body.Place+1)
		if s.ArchivedAt == nil {
			all = append(all, r)
		}
	}
	return all, next, nil
}

// bodies are the papers themselves.
func bodies(all []rec) []record.Paper {
	papers := make([]record.Paper, len(all))
	for i := range all {
		papers[i] = all[i].Body
	}
	return papers
}

// Difference is what a booking's charges come to less what its papers do and what is on none yet, which must be
// nothing.
type Difference struct {
	Charged  int64 // all charges but what a channel keeps
	Invoiced int64 // invoices less credit notes
	Open     int64 // on no paper
	Currency string
}

// Check compares the papers of a booking with its charges.
func (d *Papers) Check(ctx context.Context, account fleet.AccountID, booking uint64) (Difference, error) {
	b, err := d.Bookings.Get(ctx, account, booking)
	if err != nil {
		return Difference{}, err
	}
	papers, _, err := d.papersOf(ctx, account, fleet.FormatID(fleet.BookingPrefix, booking))
	if err != nil {
		return Difference{}, err
	}
	diff := Difference{Currency: b.Body.Currency}
	sealed := bodies(slices.DeleteFunc(papers, func(r rec) bool { return !r.Body.Sealed() }))
	on := paperwork.On(sealed)
	for _, c := range b.Body.Charges {
		if c.Type == "platform_fee" {
			continue
		}
		diff.Charged += c.Amount.Amount
		if !on[c.ID] {
			diff.Open += c.Amount.Amount
		}
	}
	diff.Invoiced = paperwork.BilledBy(sealed)
	return diff, nil
}
