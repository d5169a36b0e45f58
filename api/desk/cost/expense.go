package cost

import (
	"context"
	"reflect"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/cost"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// ExpenseID names the expense of a period of a schedule, so that whoever makes it gives it the same name.
func ExpenseID(account fleet.AccountID, subject string, what cost.What, number int) uint64 {
	return fleet.NamedID("expense by schedule %d %s %s %d", account, subject, what, number)
}

// withdrawn is why an expense is voided that its schedule does not ask for any more.
const withdrawn = "The schedule does not ask for it any more."

// began is the first day to which an expense belongs; 0, before all others, if it says none.
func began(e *record.Expense) ledger.Day {
	from, _ := ledger.ParseDay(e.IncurredOn)
	if e.ServicePeriod != nil {
		begins, _ := ledger.ParseDay(e.ServicePeriod.From)
		from = min(from, begins)
	}
	return from
}

// changes are the writes that lead from what a subject has made to what it asks for, earliest first, and whether there
// are others, which belong to days that do not concern the round.
func (r *round) changes(ctx context.Context, subject string, a *asked,
	due []cost.Item) (changes []func(context.Context) error, others bool, err error) {
	concerns := func(from ledger.Day) bool {
		does := r.through == 0 || from <= r.through
		others = others || !does
		return does
	}
	had := make(map[uint64]*record.Expense, len(r.made[subject]))
	for i := range r.made[subject] {
		m := &r.made[subject][i]
		had[m.id] = &m.body
	}
	wanted, missing := make(map[uint64]bool, len(due)), []record.Ref(nil)
	for i := range due {
		id := ExpenseID(r.account, subject, due[i].What, due[i].Number)
		if wanted[id] = true; had[id] == nil && concerns(min(due[i].From, due[i].On)) {
			missing = append(missing, record.Ref{Kind: record.Expenses.Name, ID: id})
		}
	}
	// The current records may be behind the log, after a crash: what they miss may be there.
	var seen *record.Seen
	if len(missing) > 0 {
		if seen, err = r.Store.See(ctx, r.account, missing...); err != nil {
			return nil, others, err
		}
		if a.expense.BookedFor, err = r.bookedFor(ctx, a); err != nil {
			return nil, others, err
		}
	}
	for _, item := range due {
		id := ExpenseID(r.account, subject, item.What, item.Number)
		become := func(e *record.Expense) { describe(e, subject, &item) }
		from := min(item.From, item.On)
		if e := had[id]; e != nil {
			is := *e
			if settles(&is, become); !reflect.DeepEqual(is, *e) && concerns(min(from, began(e))) {
				changes = append(changes, r.update(id, become))
			}
			continue
		}
		if !concerns(from) {
			continue
		}
		if _, there := seen.Body(record.Ref{Kind: record.Expenses.Name, ID: id}); there {
			changes = append(changes, r.update(id, become))
			continue
		}
		changes = append(changes, r.create(id, a, become))
	}
	for _, m := range r.made[subject] {
		if !wanted[m.id] && m.status == record.ExpensePosted && concerns(began(&m.body)) {
			changes = append(changes, r.withdraw(m.id))
		}
	}
	return changes, others, nil
}

// create makes an expense that was not there a moment ago.
func (r *round) create(id uint64, a *asked, become func(*record.Expense)) func(context.Context) error {
	return func(ctx context.Context) error {
		e := a.expense
		e.VehicleID, e.PostedAt = a.vehicleID, record.InstantOf(r.now)
		become(&e)
		_, _, err := r.Expenses.EnsureSeen(ctx, record.System, r.account, id, e)
		return err
	}
}

// describe makes an expense what an item asks for. When it was paid is left to people.
func describe(e *record.Expense, subject string, i *cost.Item) {
	e.Category, e.Amount, e.IncurredOn = i.Category, i.Amount, i.On.String()
	e.ServicePeriod, e.Financed, e.Sold, e.Refunded = nil, nil, i.Sold, i.Refunded
	if i.From != i.To || i.From != i.On {
		e.ServicePeriod = &record.DateRange{From: i.From.String(), To: i.To.String()}
	}
	if i.Financed != 0 {
		e.Financed = &record.Money{Amount: i.Financed, Currency: i.Amount.Currency}
	}
	e.Status, e.VoidedAt, e.VoidReason = record.ExpensePosted, record.Instant{}, ""
	e.Scheduled = &record.Scheduled{By: subject, What: string(i.What), Number: i.Number}
}

// settles has an expense become something, unless somebody has voided it: that stands.
func settles(e *record.Expense, become func(*record.Expense)) {
	if e.Status == record.ExpensePosted || e.Scheduled != nil && e.Scheduled.Withdrawn {
		become(e)
	}
}

// update changes an expense that is there.
func (r *round) update(id uint64, become func(*record.Expense)) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := r.Expenses.Update(ctx, record.System, r.account, id, 0, func(rec *record.Record[record.Expense]) error {
			settles(&rec.Body, become)
			return nil
		})
		return err
	}
}

// withdraw takes an expense out of the books that its schedule does not ask for.
func (r *round) withdraw(id uint64) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := r.Expenses.Update(ctx, record.System, r.account, id, 0, func(rec *record.Record[record.Expense]) error {
			if rec.Body.Status != record.ExpensePosted {
				return nil
			}
			of := *rec.Body.Scheduled
			of.Withdrawn, rec.Body.Scheduled = true, &of
			return record.Void(rec, record.InstantOf(r.now), withdrawn)
		})
		return err
	}
}

// bookedFor is under what the new expenses of a subject stand in the ledger.
func (r *round) bookedFor(ctx context.Context, a *asked) (record.BookedFor, error) {
	f, _, err := r.Books.BookedFor(ctx, r.account, a.vehicleID, "", "")
	if a.expense.BookedFor.LocationID != "" {
		f.LocationID = a.expense.BookedFor.LocationID
	}
	return f, err
}
