package cost

import (
	"context"
	"reflect"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/cost"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/query"
)

// ahead is how many days of what has no end are shown.
const ahead = 366

// States of a line.
const (
	Planned = "planned" // it is still to come
	Due     = "due"     // it goes into the books in a moment
	InBooks = "posted"
	ByHand  = "posted_by_hand" // somebody posted it, and that stands in its place
	Voided  = "voided"         // somebody took it out of the books
)

// Line is an item of a vehicle's schedules, and what has become of it.
type Line struct {
	cost.Item
	State   string
	Expense string // its expense, or the one in its place; empty for none
	Left    *record.Money
}

// Value is what a vehicle is worth in the books, and what it costs by schedule.
type Value struct {
	On ledger.Day // today, where the vehicle is
	// Through is the last day through which the books have all that the lines say: On, unless the next round has something
	// to post.
	Through ledger.Day
	Books   map[ledger.Account][]record.Money
	Lines   []Line
	Lacks   map[cost.What]string
}

// ValueOf returns what a vehicle is worth, and what its terms ask for.
func (d *Costs) ValueOf(ctx context.Context, account fleet.AccountID, vehicle uint64) (*Value, error) {
	subject := fleet.FormatID(fleet.VehiclePrefix, vehicle)
	r := &round{Costs: d, account: account, now: d.Now()}
	if err := r.read(ctx, []string{subject}); err != nil {
		return nil, err
	}
	a, err := r.ask(ctx, subject, ahead)
	if err != nil {
		return nil, err
	}
	v := &Value{On: a.today, Through: a.today, Books: map[ledger.Account][]record.Money{}, Lacks: a.Lacks}
	balances, err := query.LedgerBalances(ctx, d.DB,
		query.LedgerFilter{Account: account, To: a.today.String(), Vehicles: []uint64{vehicle}})
	if err != nil {
		return nil, err
	}
	for _, b := range balances {
		name := ledger.Account(b.Account)
		v.Books[name] = append(v.Books[name], record.Money{Amount: b.Amount, Currency: b.Currency})
	}
	state, had := map[uint64]string{}, map[uint64]*made{}
	for i := range r.made[subject] {
		m := &r.made[subject][i]
		if state[m.id], had[m.id] = m.status, m; m.status == record.ExpenseVoided && m.body.Scheduled.Withdrawn {
			state[m.id] = ""
		}
	}
	pending := func(day ledger.Day) { v.Through = min(v.Through, day-1) }
	left := cost.Left(&r.vehicles[vehicle].VehicleFields, a.Items)
	for i, item := range a.Items {
		id := ExpenseID(account, subject, item.What, item.Number)
		line := Line{Item: item, State: Planned, Left: left[i]}
		switch {
		case item.ByHand != "":
			line.State, line.Expense = ByHand, item.ByHand
			v.Lines = append(v.Lines, line)
			continue // what the schedule has made of it is withdrawn
		case state[id] != "":
			line.State, line.Expense = state[id], fleet.FormatID(fleet.ExpensePrefix, id)
			if is := had[id].body; item.Due <= a.today {
				settles(&is, func(e *record.Expense) { describe(e, subject, &item) })
				if !reflect.DeepEqual(is, had[id].body) {
					line.State = Due
				}
			}
		case item.Due <= a.today:
			line.State = Due
		}
		if line.State == Due {
			pending(item.From)
		}
		if item.Due <= a.today {
			delete(had, id)
		}
		v.Lines = append(v.Lines, line)
	}
	for id, m := range had {
		if on := day(m.body.IncurredOn); state[id] == record.ExpensePosted && on != 0 {
			pending(on)
		}
	}
	return v, nil
}

// day reads a date; 0 if there is none.
func day(text string) ledger.Day {
	d, err := ledger.ParseDay(text)
	if err != nil {
		return 0
	}
	return d
}
