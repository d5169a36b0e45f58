package cost

import (
	"context"

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
	On    ledger.Day // today, where the vehicle is
	Books map[ledger.Account][]record.Money
	Lines []Line
	Lacks map[cost.What]string
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
	v := &Value{On: a.today, Books: map[ledger.Account][]record.Money{}, Lacks: a.Lacks}
	balances, err := query.LedgerBalances(ctx, d.DB,
		query.LedgerFilter{Account: account, To: a.today.String(), Vehicles: []uint64{vehicle}})
	if err != nil {
		return nil, err
	}
	for _, b := range balances {
		name := ledger.Account(b.Account)
		v.Books[name] = append(v.Books[name], record.Money{Amount: b.Amount, Currency: b.Currency})
	}
	state := make(map[uint64]string, len(r.made[subject]))
	for _, m := range r.made[subject] {
		if state[m.id] = m.status; m.status == record.ExpenseVoided && m.body.Scheduled.Withdrawn {
			state[m.id] = ""
		}
	}
	left := cost.Left(&r.vehicles[vehicle].VehicleFields, a.Items)
	for i, item := range a.Items {
		id := ExpenseID(account, subject, item.What, item.Number)
		line := Line{Item: item, State: Planned, Left: left[i]}
		switch {
		case item.ByHand != "":
			line.State, line.Expense = ByHand, item.ByHand
		case state[id] != "":
			line.State, line.Expense = state[id], fleet.FormatID(fleet.ExpensePrefix, id)
		case item.Due <= a.today:
			line.State = Due
		}
		v.Lines = append(v.Lines, line)
	}
	return v, nil
}
