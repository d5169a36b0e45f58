package paper

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rental/paperwork"
	"github.com/motorpool/fleet/query"
)

// What owners get stands in the books as an expense for each vehicle, month of the books, owner and currency, of the
// category owner_share, which is made and changed by schedule: its days are what a statement tells (see
// paperwork.OwnerDays), and the ledger posts the difference to what stood. The id of an expense is made of what it is
// of, and it is changed only upon the revision that was read before the ledger was: so any number of processes make the
// same one, and none puts older sums over newer ones. Whoever is refused does not note that vehicle, and looks at it
// again; all others are noted.

// Bounds of the duty. Whether anything has changed is read from sums by month: 0.4 s of 5 million.
const (
	sharesEvery  = time.Minute
	sharesMost   = 5000            // months of vehicles that a round looks at
	sharesAtOnce = 8               // expenses that are being written
	sharesWhole  = time.Hour       // after which all is looked at, and not only what was written since the last look
	sharesAgain  = 2 * time.Minute // that a look goes back beyond the last: a write bears a time from before it
	sharesRounds = 100             // after which who waits for an account's shares gives up
)

// sharesLook is how far a process has looked for what owners get.
type sharesLook struct {
	mu    sync.Mutex
	since query.SharesSince // what was written before was looked at
	whole time.Time         // when all was looked at last, by the clock of entries
}

// PostShares brings what owners of vehicles get into the books, wherever something has changed since that was looked
// at.
func (d *Papers) PostShares(ctx context.Context) error {
	d.shares.mu.Lock()
	defer d.shares.mu.Unlock()
	begun := query.SharesSince{Records: d.Now().Add(-sharesAgain), Entries: time.Now().Add(-sharesAgain)}
	since := d.shares.since
	whole := time.Since(d.shares.whole) > sharesWhole
	if whole {
		since = query.SharesSince{}
	}
	if _, left, err := d.lookAtShares(ctx, 0, since); err != nil || left {
		return err
	}
	if d.shares.since = begun; whole {
		d.shares.whole = time.Now()
	}
	return nil
}

// PostSharesOf brings what owners of an account's vehicles get into the books as they stand, so that nothing is left
// that a later look would post.
func (d *Papers) PostSharesOf(ctx context.Context, account fleet.AccountID) error {
	for range sharesRounds {
		if found, _, err := d.lookAtShares(ctx, account, query.SharesSince{}); err != nil || !found {
			return err
		}
	}
	return fleet.NewError(fleet.CodeConflict,
		"What owners of vehicles get is still being brought into the books. Try again in some minutes.")
}

// lookAtShares looks at what was written of an account, 0 for all, since an instant. It says whether there was
// anything, and whether something is left to be looked at.
func (d *Papers) lookAtShares(ctx context.Context, account fleet.AccountID, since query.SharesSince) (found, left bool,
	err error) {
	pending, err := query.OwnerSharesPending(ctx, d.DB, account, since, shareAccounts, sharesMost)
	if err != nil {
		return false, true, err
	}
	left = len(pending) == sharesMost
	of := map[fleet.AccountID][]query.PendingShare{}
	var accounts []fleet.AccountID
	for _, p := range pending {
		if of[p.Account] == nil {
			accounts = append(accounts, p.Account)
		}
		of[p.Account] = append(of[p.Account], p)
	}
	err = base.Each(ctx, accounts, func(account fleet.AccountID) error {
		outrun, err := d.postShares(ctx, account, of[account])
		left = left || outrun
		if err != nil {
			return fmt.Errorf("shares of owners of %s: %w", account, err)
		}
		return nil
	})
	return len(pending) > 0, left, err
}

// shareAccounts are the accounts of the ledger that what owners get may be made of.
var shareAccounts = func() []string {
	var all []string
	for _, l := range ledger.Chart {
		if l.Measure != "" && l.Account != ledger.OwnersShare && l.Account != ledger.BorneVariable &&
			l.Account != ledger.BorneFixed {
			all = append(all, string(l.Account))
		}
	}
	return all
}()

// sharing is a look at some months of vehicles of an account.
type sharing struct {
	*Papers
	account  fleet.AccountID
	accounts []string // that owners get and bear by what the account says now
	days     map[uint64][]query.OwnerDay
	vehicles map[uint64]*record.Vehicle
	told     map[shareOf][]record.PaperLine
	outrun   bool // another process was quicker somewhere, and that is not noted
}

// shareOf is what an expense is of, beside its month; the vehicle is "" where it is of all.
type shareOf struct{ vehicle, owner, currency string }

// postShares looks at some months of vehicles of an account, and says whether another process was quicker somewhere.
func (d *Papers) postShares(ctx context.Context, account fleet.AccountID,
	pending []query.PendingShare) (outrun bool, err error) {
	s, err := d.settingOf(ctx, account)
	if err != nil {
		return false, err
	}
	var ids []uint64
	var refs []record.Ref
	months := map[time.Time][]query.PendingShare{}
	var order []time.Time
	for _, p := range pending {
		if !slices.Contains(ids, p.Vehicle) {
			ids, refs = append(ids, p.Vehicle), append(refs, record.Ref{Kind: d.Vehicles.Kind().Name, ID: p.Vehicle})
		}
		if months[p.Month] == nil {
			order = append(order, p.Month)
		}
		months[p.Month] = append(months[p.Month], p)
	}
	look := &sharing{Papers: d, account: account, days: map[uint64][]query.OwnerDay{},
		accounts: paperwork.OwnerAccounts(paperwork.OwnersCosts(s.settings)), vehicles: map[uint64]*record.Vehicle{},
		told: map[shareOf][]record.PaperLine{}}
	days, err := query.OwnersOfVehicles(ctx, d.DB, account, ids, s.zone.String())
	if err != nil {
		return false, err
	}
	for _, day := range days {
		look.days[day.Vehicle] = append(look.days[day.Vehicle], day)
	}
	seen, err := d.Store.See(ctx, account, refs...)
	if err != nil {
		return false, err
	}
	for _, id := range ids {
		v, _, err := d.Vehicles.In(seen, account, id)
		if err != nil {
			return false, err
		}
		look.vehicles[id] = &v.Body
	}
	err = base.Each(ctx, order, func(month time.Time) error { return look.month(ctx, month, months[month]) })
	return look.outrun, err
}

// month brings the expenses of a month of some vehicles to what their owners get, and notes which it has looked at.
func (d *sharing) month(ctx context.Context, month time.Time, pending []query.PendingShare) error {
	var names []string
	for _, p := range pending {
		names = append(names, fleet.FormatID(fleet.VehiclePrefix, p.Vehicle))
	}
	number := month.Year()*12 + int(month.Month()) - 1
	stored, err := query.OwnerSharesMade(ctx, d.DB, d.account, names, number)
	if err != nil {
		return err
	}
	wanted := map[shareOf][]record.OwnerDay{}
	had := map[uint64]uint64{} // revisions of what was there
	was := map[uint64]record.Expense{}
	for _, s := range stored {
		var e record.Expense
		if err := json.Unmarshal([]byte(s.Body), &e); err != nil {
			return fmt.Errorf("decode expense %d: %w", s.ID, err)
		}
		had[s.ID], was[s.ID] = s.Revision, e
		wanted[shareOf{e.VehicleID, e.OwnerCustomerID, e.Amount.Currency}] = nil
	}
	if err := d.want(ctx, month, pending, wanted); err != nil {
		return err
	}
	work, inner := errgroup.WithContext(ctx)
	work.SetLimit(sharesAtOnce)
	var mu sync.Mutex
	outrun := map[string]bool{} // vehicles of which another process wrote an expense meanwhile
	for of, days := range wanted {
		id := shareID(d.account, of, number)
		become := func(e *record.Expense) { shareExpense(e, of, days, month, number) }
		before, there := was[id]
		after := before
		if become(&after); there && reflect.DeepEqual(before, after) || !there && days == nil {
			continue
		}
		work.Go(func() error {
			err := d.write(inner, id, had[id], of, become)
			if fleet.CodeOf(err) == fleet.CodeStale {
				mu.Lock()
				defer mu.Unlock()
				outrun[of.vehicle] = true
				return nil
			}
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return err
	}
	d.outrun = d.outrun || len(outrun) > 0
	pending = slices.DeleteFunc(pending, func(p query.PendingShare) bool {
		return outrun[fleet.FormatID(fleet.VehiclePrefix, p.Vehicle)]
	})
	token := fmt.Sprintf("shares:%d:%d", d.account, record.RandomID())
	return query.NoteSharesLooked(record.WithToken(ctx, token), d.DB, pending, d.Now())
}

// want works out what owners get of vehicles in a month, by day, of what is wanted already and what the ledger has.
func (d *sharing) want(ctx context.Context, month time.Time, pending []query.PendingShare,
	wanted map[shareOf][]record.OwnerDay) error {
	from, until := month.Format(time.DateOnly), month.AddDate(0, 1, -1).Format(time.DateOnly)
	var spans []query.OwnerSpan
	of := map[uint64][]query.OwnerSpan{}
	for _, p := range pending {
		of[p.Vehicle] = ownerSpans(d.days[p.Vehicle], "", from, until)
		spans = append(spans, of[p.Vehicle]...)
	}
	entries, err := query.OwnerLedger(ctx, d.DB, d.account, spans, "", d.accounts)
	if err != nil {
		return err
	}
	amounts := map[shareOf][]paperwork.OwnerAmount{}
	for of := range wanted {
		amounts[of] = nil
	}
	for _, e := range entries {
		on, vehicle := e.On.Format(time.DateOnly), fleet.FormatID(fleet.VehiclePrefix, e.Vehicle)
		at := slices.IndexFunc(of[e.Vehicle], func(s query.OwnerSpan) bool { return s.From <= on && on <= s.Until })
		owned := shareOf{vehicle, of[e.Vehicle][at].Owner, e.Currency}
		amounts[owned] = append(amounts[owned], paperwork.OwnerAmount{VehicleID: vehicle, ShareBP: e.ShareBP,
			Account: e.Account, Amount: -e.Amount, On: on})
	}
	for of, all := range amounts {
		told, err := d.toldOnce(ctx, of, from, until)
		if err != nil {
			return err
		}
		if wanted[of] = paperwork.OwnerDays(append(all, told...)); len(wanted[of]) == 0 {
			wanted[of] = nil
		}
	}
	return nil
}

// toldOnce are costs that statements of an owner have told and that the owner bears no more: they are not given back.
func (d *sharing) toldOnce(ctx context.Context, of shareOf, from, until string) ([]paperwork.OwnerAmount, error) {
	all := shareOf{owner: of.owner, currency: of.currency}
	if _, read := d.told[all]; !read {
		stored, err := query.PapersOfOwner(ctx, d.DB, d.account, record.OwnerStatements.Name, of.owner, of.currency)
		if err != nil {
			return nil, err
		}
		earlier, _, err := decoded(d.account, stored)
		if err != nil {
			return nil, err
		}
		d.told[all] = nil
		for _, e := range earlier {
			d.told[all] = append(d.told[all], e.Body.Lines...)
		}
	}
	var told []paperwork.OwnerAmount
	for _, l := range d.told[all] {
		if l.Account != "" && l.VehicleID == of.vehicle && from <= l.On && l.On <= until &&
			!slices.Contains(d.accounts, l.Account) {
			told = append(told, paperwork.OwnerAmount{VehicleID: l.VehicleID, Account: l.Account, Amount: l.Amount.Amount,
				On: l.On})
		}
	}
	return told, nil
}

// write makes an expense, or changes it upon the revision that was read, 0 for none. An error of the code
// fleet.CodeStale says that another process was quicker.
func (d *sharing) write(ctx context.Context, id, revision uint64, of shareOf, become func(*record.Expense)) error {
	if revision != 0 {
		_, err := d.Expenses.Update(ctx, record.System, d.account, id, revision,
			func(r *record.Record[record.Expense]) error {
				become(&r.Body)
				return nil
			})
		return err
	}
	var e record.Expense
	if number, err := fleet.ParseID(fleet.VehiclePrefix, of.vehicle); err == nil {
		v := d.vehicles[number]
		e.BookedFor = record.BookedFor{ClassID: v.ClassID, LocationID: v.HomeLocationID, Timezone: v.Timezone}
	}
	e.PostedAt = record.InstantOf(d.Now())
	become(&e)
	_, fresh, err := d.Expenses.Ensure(ctx, record.System, d.account, id, e)
	if err == nil && !fresh {
		err = fleet.NewError(fleet.CodeStale, "The expense "+fleet.FormatID(fleet.ExpensePrefix, id)+
			" was made by another process meanwhile.")
	}
	return err
}

// shareExpense makes an expense what an owner gets of a vehicle in a month. One of which nothing is left stays, and
// comes to nothing.
func shareExpense(e *record.Expense, of shareOf, days []record.OwnerDay, month time.Time, number int) {
	last := month.AddDate(0, 1, -1).Format(time.DateOnly)
	e.VehicleID, e.OwnerCustomerID, e.Category = of.vehicle, of.owner, ledger.OwnerShare
	e.Amount = record.Money{Currency: of.currency}
	for _, day := range days {
		e.Amount.Amount += day.Share - day.Variable - day.Fixed
	}
	e.IncurredOn, e.Unpaid = last, true
	e.ServicePeriod = &record.DateRange{From: month.Format(time.DateOnly), To: last}
	e.Status, e.OwnerDays = record.ExpensePosted, days
	e.Scheduled = &record.Scheduled{By: of.owner, What: ledger.OwnerShare, Number: number}
}

// shareID names the expense of an owner's share in a month of a vehicle, so that whoever makes it gives it the same
// name.
func shareID(account fleet.AccountID, of shareOf, month int) uint64 {
	return fleet.NamedID("share of an owner %d %s %s %s %d", account, of.vehicle, of.owner, of.currency, month)
}
