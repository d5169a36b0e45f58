package paper

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/query"
)

// shareIn is what stands in the books because of an owner in a month.
type shareIn struct{ owner, vehicle, month, currency string }

// booked adds up what the expenses of a category stand for in the books, by the ledger's own word, on an account.
func (d *Papers) booked(t *testing.T, on ledger.Account) map[shareIn]int64 {
	t.Helper()
	found := map[shareIn]int64{}
	rows, err := d.DB.Query(t.Context(), `SELECT body FROM expenses FINAL WHERE account = 7 AND category LIKE 'owner%'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var body string
		var e record.Expense
		if err := rows.Scan(&body); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(body), &e); err != nil {
			t.Fatal(err)
		}
		sums := map[ledger.Day]int64{}
		for _, p := range ledger.OfExpense(&e) {
			sums[p.Day] += p.Amount
			if p.Account == ledger.OwnersPayable && p.Customer != e.OwnerCustomerID {
				t.Errorf("%+v is not of %s", p, e.OwnerCustomerID)
			}
			if p.Account == on {
				of := shareIn{e.OwnerCustomerID, p.Vehicle, p.Day.String()[:7], p.Currency}
				if found[of] += p.Amount; found[of] == 0 {
					delete(found, of)
				}
			}
		}
		for day, sum := range sums {
			if sum != 0 {
				t.Errorf("%s does not balance: %d", day, sum)
			}
		}
	}
	return found
}

// told adds up the share lines of statements, and costs, for the month of each: the statement's.
func told(of map[shareIn]int64, r rec, month string, kind string) {
	for _, l := range r.Body.Lines {
		if l.Type == kind {
			key := shareIn{r.Body.CustomerID, l.VehicleID, month, r.Body.Currency}
			if of[key] += l.Amount.Amount; of[key] == 0 {
				delete(of, key)
			}
		}
	}
}

// share has what owners get be posted, and fails if a second look finds anything.
func (d *Papers) share(t *testing.T) {
	t.Helper()
	if err := d.PostShares(t.Context()); err != nil {
		t.Fatal(err)
	}
	revisions := func() (n uint64) {
		if err := d.DB.QueryRow(t.Context(), `SELECT sum(revision) FROM expenses FINAL`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	was := revisions()
	if err := d.PostShares(t.Context()); err != nil || revisions() != was {
		t.Fatalf("looked again: %d revisions after %d, %v", revisions(), was, err)
	}
}

// Random histories of two owners in two currencies, with refunds, reversals, costs, corrections of months that were
// told, and shares and owners that change in mid-month: what stands in the books by vehicle and month is what the
// statements tell, as long as nothing is corrected after its month was told; and all in all it is that in any case.
func TestWhatOwnersGetStandsInTheBooksAsStatementsTellIt(t *testing.T) {
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 18))
		on(t, "2026-01-01")
		d := withAccount(t)
		owners := []string{d.person(t, "Olga"), d.person(t, "Hugo")}
		cars := []string{d.car(t, "A", owners[0]), d.car(t, "B", owners[1]), d.car(t, "C", ""), d.car(t, "D", owners[0])}
		accounts := []string{"revenue.time", "revenue.time", "revenue.fees", "contra.refund", "cost.platform_fee",
			"revenue.toll_recharge", "cost.repair", "cost.insurance", "cost.fuel", "cash"}
		statements, costs := map[shareIn]int64{}, map[shareIn]int64{}
		corrected := seed > 0
		for month := range 3 {
			first := time.Date(2026, time.Month(1+month), 1, 0, 0, 0, 0, time.UTC)
			if month > 0 {
				on(t, first.AddDate(0, 0, 9+rng.IntN(10)).Format(time.DateOnly))
				d.give(t, cars[rng.IntN(len(cars))], owners[rng.IntN(2)], int64(rng.IntN(10001)))
				d.give(t, cars[0], owners[rng.IntN(2)], int64(rng.IntN(10001)))
			}
			var entries []entry
			for range 60 {
				from, days := first, 28
				if corrected && rng.IntN(4) == 0 {
					from, days = first.AddDate(0, -month, 0), 28*(month+1) // the books of past months are open still
				}
				account := accounts[rng.IntN(len(accounts))]
				amount := rng.Int64N(100_000) - 50_000*rng.Int64N(2)
				if ledger.Account(account).Type() == ledger.Revenue {
					amount = -amount
				}
				e := entry{day: from.AddDate(0, 0, rng.IntN(days)).Format(time.DateOnly), account: account,
					vehicle: cars[rng.IntN(len(cars))], amount: amount, kind: "booking", booking: 1 + rng.Uint64N(9),
					currency: []string{"USD", "USD", "EUR"}[rng.IntN(3)]}
				if ledger.Account(account).Type() == ledger.Cost && account != "cost.platform_fee" {
					e.kind, e.booking, e.source = "expense", 0, 1+rng.Uint64N(9)
				}
				if entries = append(entries, e); rng.IntN(6) == 0 { // taken back
					e.amount = -e.amount
					entries = append(entries, e)
				}
			}
			d.post(t, entries...)
			d.share(t) // in the month, too
			on(t, first.AddDate(0, 1, 1).Format(time.DateOnly))
			for _, owner := range owners {
				for _, currency := range []string{"USD", "EUR"} {
					r, err := d.Owner(t.Context(), by, account, d.Store.NextID(),
						Order{CustomerID: owner, Month: first.Format("2006-01"), Currency: currency})
					if err != nil {
						t.Fatal(err)
					}
					told(statements, r, first.Format("2006-01"), "share")
					told(costs, r, first.Format("2006-01"), "cost")
				}
			}
		}
		d.share(t)
		shares, borne := d.booked(t, ledger.OwnersShare), d.booked(t, ledger.BorneVariable)
		for of, amount := range d.booked(t, ledger.BorneFixed) {
			borne[of] += amount
		}
		if corrected { // corrections are of their month in the books, and on the next statement
			shares, statements = inAll(shares), inAll(statements)
			borne, costs = inAll(borne), inAll(costs)
		}
		if len(shares) < 4 || len(borne) < 4 {
			t.Fatalf("too little to compare: %v, %v", shares, borne)
		}
		if !maps.Equal(shares, statements) || !maps.Equal(borne, costs) {
			t.Errorf("seed %d: shares\n%v, statements\n%v; costs\n%v, statements\n%v", seed, shares, statements, borne, costs)
		}
	}
}

// inAll leaves months out.
func inAll(of map[shareIn]int64) map[shareIn]int64 {
	sums := map[shareIn]int64{}
	for key, amount := range of {
		key.month = ""
		if sums[key] += amount; sums[key] == 0 {
			delete(sums, key)
		}
	}
	return sums
}

// A vehicle that is nobody's again keeps what was its owner's, also if nothing was earned before; a cost that owners
// bear no more is not given back if it was told, and is if it was not.
func TestSharesFollowOwnersAndTheCostsThatTheyBear(t *testing.T) {
	on(t, "2026-01-01")
	d := withAccount(t)
	owner := d.person(t, "Olga")
	car := d.car(t, "CAR", owner)
	d.share(t)
	on(t, "2026-02-10")
	d.give(t, car, "", 10000)
	d.earns(t, car, "2026-02-09", 100)
	d.earns(t, car, "2026-02-10", 1000)
	d.post(t, entry{day: "2026-01-05", account: "cost.repair", vehicle: car, amount: 30, kind: "expense", source: 9},
		entry{day: "2026-02-05", account: "cost.repair", vehicle: car, amount: 4, kind: "expense", source: 10})
	d.share(t)
	books := func(want string) {
		t.Helper()
		got := fmt.Sprint(inAll(d.booked(t, ledger.OwnersPayable)), inAll(d.booked(t, ledger.BorneVariable)))
		key := fmt.Sprintf("{%s %s  USD}:", owner, car)
		if want = fmt.Sprintf(want, key, key); got != want {
			t.Errorf("the books say %s, want %s", got, want)
		}
	}
	books("map[%s-66] map[%s-34]")
	d.tell(t, owner, "2026-01", 0, -30)
	if _, err := d.Accounts.Update(t.Context(), by, account, uint64(account), 0,
		func(r *record.Record[record.Account]) error {
			r.Body.Papers = &record.PaperSettings{Costs: []string{"insurance"}}
			return nil
		}); err != nil {
		t.Fatal(err)
	}
	d.share(t)
	books("map[%s-70] map[%s-30]")
}

// Two processes look at once, and one had read the ledger before something was posted: its older sums do not stand.
func TestOldSumsOfSharesDoNotStand(t *testing.T) {
	on(t, "2026-01-01")
	d := withAccount(t)
	owner := d.person(t, "Olga")
	car := d.car(t, "CAR", owner)
	d.earns(t, car, "2026-01-10", 100)
	d.share(t)
	id, _ := fleet.ParseID(fleet.VehiclePrefix, car)
	of := shareOf{car, owner, "USD"}
	month := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	number := 2026 * 12
	expense := shareID(account, of, number)
	late := &sharing{Papers: d, account: account, vehicles: map[uint64]*record.Vehicle{id: {}}}
	d.earns(t, car, "2026-01-11", 11)
	d.share(t)
	err := late.write(t.Context(), expense, 1, of, func(e *record.Expense) { shareExpense(e, of, nil, month, number) })
	if fleet.CodeOf(err) != fleet.CodeStale {
		t.Errorf("older sums were written: %v", err)
	}
	err = late.write(t.Context(), expense, 0, of, func(e *record.Expense) { shareExpense(e, of, nil, month, number) })
	if err == nil {
		t.Error("older sums were made beside")
	}
	if got := inAll(d.booked(t, ledger.OwnersPayable)); got[shareIn{owner, car, "", "USD"}] != -111 {
		t.Errorf("the books owe %v", got)
	}
}

// A vehicle that was somebody's, and is nobody's before anybody looks, is looked at for what it earned until then.
func TestWhoOwnedAVehicleBeforeAnybodyLookedGetsTheShare(t *testing.T) {
	on(t, "2026-01-01")
	d := withAccount(t)
	owner := d.person(t, "Olga")
	car := d.car(t, "CAR", owner)
	d.share(t) // of the second one nothing is known by then
	other := d.car(t, "BUS", owner)
	on(t, "2026-01-20")
	d.give(t, car, "", 10000)
	d.give(t, other, "", 10000)
	d.earns(t, other, "2026-01-19", 100)
	d.earns(t, other, "2026-01-20", 7)
	for _, process := range []*Papers{open(t, d.DB, 2), d} {
		process.share(t)
		if got := inAll(d.booked(t, ledger.OwnersPayable)); got[shareIn{owner, other, "", "USD"}] != -100 {
			t.Errorf("the books owe %v", got)
		}
	}
}

// There is more to look at than a round does, and what was looked at changes again at once: whatever waited longest
// comes next, so that in as many rounds as there are things each was looked at.
func TestNoOwnerWaitsForeverForTheirShare(t *testing.T) {
	on(t, "2026-02-10")
	d := withAccount(t)
	owner := d.person(t, "Olga")
	busy, waiting := d.car(t, "BUSY", owner), d.car(t, "WAITS", owner)
	d.earns(t, busy, "2026-01-05", 100)
	d.earns(t, waiting, "2026-02-05", 100)
	looked := map[string]int{}
	const things = 4 // of each car whose it is, and a month
	for round := range 2 * things {
		pending, err := query.OwnerSharesPending(t.Context(), d.DB, 0, query.SharesSince{}, shareAccounts, 1)
		if err != nil || len(pending) != 1 {
			t.Fatalf("round %d: %v, %v", round, pending, err)
		}
		if err := query.NoteSharesLooked(t.Context(), d.DB, pending, now.Add(time.Duration(round)*time.Minute)); err != nil {
			t.Fatal(err)
		}
		looked[fmt.Sprint(pending[0].Vehicle, pending[0].Month)]++
		if round < things && len(looked) != round+1 {
			t.Errorf("in round %d something was looked at again while others wait: %v", round, looked)
		}
		d.earns(t, busy, "2026-01-05", 1)
		d.give(t, busy, owner, int64(1000+round))
	}
	if len(looked) != things {
		t.Errorf("of %d things these were looked at: %v", things, looked)
	}
}

// Two processes look at the same months at once: each expense is made once, and neither stops the other.
func TestTwoWhoPostSharesAtOnceDoNotStopEachOther(t *testing.T) {
	on(t, "2026-01-10")
	d := withAccount(t)
	if _, _, err := d.Accounts.Create(t.Context(), by, 8, 8,
		record.Account{Name: "Other", Timezone: "America/Chicago", Currency: "USD"}); err != nil {
		t.Fatal(err)
	}
	const cars = 25
	want := int64(0)
	for _, account := range []fleet.AccountID{account, 8} {
		var entries []entry
		want = 0
		for i := range cars {
			made, err := d.Vehicles.New(t.Context(), by, account, record.Vehicle{Status: record.VehicleAvailable,
				VehicleFields: record.VehicleFields{Make: "Kia", LicensePlate: fmt.Sprint("CAR", i), OwnerCustomerID: "cus_5"}})
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, entry{day: "2026-01-05", account: "revenue.time", kind: "booking", booking: 77,
				vehicle: fleet.FormatID(fleet.VehiclePrefix, made.ID), amount: -int64(100 + i)})
			want += int64(100 + i)
		}
		d.postOf(t, account, entries...)
	}
	var both sync.WaitGroup
	for _, process := range []*Papers{d, open(t, d.DB, 2)} {
		both.Go(func() {
			if err := process.PostShares(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	for _, account := range []fleet.AccountID{account, 8} {
		var made uint64
		var sum int64
		if err := d.DB.QueryRow(t.Context(), `SELECT count(), sum(JSONExtractInt(body, 'amount', 'amount'))
			FROM expenses FINAL WHERE category = 'owner_share' AND account = ?`, uint64(account)).Scan(&made, &sum); err != nil {
			t.Fatal(err)
		}
		if made != cars || sum != want {
			t.Errorf("account %d: %d expenses of %d, want %d of %d", account, made, sum, cars, want)
		}
	}
}

// A statement is paid once, however often that is asked for, and again after its payout was voided.
func TestAStatementIsPaidOnce(t *testing.T) {
	on(t, "2026-01-01")
	d := withAccount(t)
	owner := d.person(t, "Olga")
	car := d.car(t, "CAR", owner)
	d.earns(t, car, "2026-01-10", 100)
	r := d.tell(t, owner, "2026-01", 100, 100)
	pay := func() (rec, error) {
		return d.PayOwner(t.Context(), by, account, r.ID, Payout{PaidOn: "2026-02-05"}, func(*rec) error { return nil })
	}
	payable := ledger.OwnersPayable
	for range 2 {
		paid, err := pay()
		if err != nil || paid.Body.Status != record.PaperPaid {
			t.Fatalf("paid: %s, %v", paid.Body.Status, err)
		}
		if _, err := pay(); fleet.CodeOf(err) != fleet.CodeTransition {
			t.Errorf("paid again: %v", err)
		}
		if got := d.booked(t, payable)[shareIn{owner, "", "2026-02", "USD"}]; got != 100 {
			t.Errorf("%d left what is owed", got)
		}
		d.voidPayouts(t)
		if got := d.booked(t, payable)[shareIn{owner, "", "2026-02", "USD"}]; got != 0 {
			t.Errorf("%d left what is owed and came back", got)
		}
	}
	d.earns(t, car, "2026-02-10", -100)
	owes := d.tell(t, owner, "2026-02", -100, -100)
	if _, err := d.PayOwner(t.Context(), by, account, owes.ID, Payout{},
		func(*rec) error { return nil }); fleet.CodeOf(err) != fleet.CodeConflict {
		t.Errorf("who owes was paid: %v", err)
	}
}

// What is voided is looked at twice, as after a crash, and the second time when the statement was paid again: it stays.
func TestAVoidedPayoutThatIsLookedAtAgainLeavesTheNextOneAlone(t *testing.T) {
	on(t, "2026-01-01")
	d := withAccount(t)
	owner := d.person(t, "Olga")
	d.earns(t, d.car(t, "CAR", owner), "2026-01-10", 100)
	r := d.tell(t, owner, "2026-01", 100, 100)
	paid := func(want string) string {
		t.Helper()
		p, err := d.PayOwner(t.Context(), by, account, r.ID, Payout{}, anyRevision)
		if err != nil || p.Body.Status != want {
			t.Fatalf("%s, %v", p.Body.Status, err)
		}
		return p.Body.PayoutID
	}
	first := paid(record.PaperPaid)
	d.voidPayouts(t)
	second := paid(record.PaperPaid)
	if first == second {
		t.Fatal("a voided payout pays")
	}
	id, _ := fleet.ParseID(fleet.ExpensePrefix, first)
	posted := record.Expense{ExpenseFields: record.ExpenseFields{OwnerCustomerID: owner, Amount: usd(100)},
		Status: record.ExpensePosted, StatementID: fleet.FormatID(fleet.OwnerPaperPrefix, r.ID)}
	voided := posted
	voided.Status = record.ExpenseVoided
	before, _ := json.Marshal(posted)
	after, _ := json.Marshal(voided)
	for range 2 {
		if err := d.afterPayout(t.Context(), record.Written{Account: account, Kind: d.Expenses.Kind().Name, ID: id,
			Revision: 2, Action: "update", Before: before, After: after}); err != nil {
			t.Fatal(err)
		}
		p, err := d.Log(record.OwnerStatements).Get(t.Context(), account, r.ID)
		if err != nil || p.Body.Status != record.PaperPaid || p.Body.PayoutID != second {
			t.Fatalf("%s by %s, %v", p.Body.Status, p.Body.PayoutID, err)
		}
	}
}

// What an owner owes by a statement is taken off the next one that is paid, once, and owed again if that is voided.
func TestWhatAnOwnerOwesIsTakenOffTheNextPayout(t *testing.T) {
	on(t, "2026-01-01")
	d := withAccount(t)
	owner := d.person(t, "Olga")
	car := d.car(t, "CAR", owner)
	var all []rec
	for i, amount := range []int64{100, -100, 80, 300} {
		month := time.Date(2026, time.Month(1+i), 1, 0, 0, 0, 0, time.UTC).Format("2006-01")
		d.earns(t, car, month+"-10", amount)
		all = append(all, d.tell(t, owner, month, amount, amount))
		if i == 0 {
			if _, err := d.PayOwner(t.Context(), by, account, all[0].ID, Payout{}, anyRevision); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.share(t)
	owed := func() int64 { return inAll(d.booked(t, ledger.OwnersPayable))[shareIn{owner, "", "", "USD"}] }
	pay := func(i int, code fleet.Code) {
		t.Helper()
		if _, err := d.PayOwner(t.Context(), by, account, all[i].ID, Payout{}, anyRevision); fleet.CodeOf(err) != code {
			t.Fatalf("%s: %v", all[i].Body.Number, err)
		}
	}
	pay(1, fleet.CodeConflict)
	pay(2, fleet.CodeConflict)
	pay(3, "")
	if got := owed(); got != 100+200 {
		t.Errorf("%d was paid", got)
	}
	pay(1, fleet.CodeTransition)
	d.voidPayouts(t) // that of January, too
	for i := range all {
		p, err := d.Log(record.OwnerStatements).Get(t.Context(), account, all[i].ID)
		if err != nil || p.Body.Status != record.PaperIssued || p.Body.PayoutID != "" {
			t.Errorf("%s: %s by %s, %v", p.Body.Number, p.Body.Status, p.Body.PayoutID, err)
		}
	}
	pay(3, "")
	pay(2, "")
	pay(0, "")
	if got := owed(); got != 380 { // 100 less 100, 80 and 300
		t.Errorf("%d was paid in all", got)
	}
}

// voidPayouts takes what was paid to owners out of the books.
func (d *Papers) voidPayouts(t *testing.T) {
	t.Helper()
	var ids []uint64
	if err := d.DB.QueryRow(t.Context(), `SELECT groupArray(id) FROM expenses FINAL
		WHERE category = 'owner_payout' AND status = 'posted'`).Scan(&ids); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if _, err := d.Expenses.Update(t.Context(), by, account, id, 0, func(r *record.Record[record.Expense]) error {
			return record.Void(r, record.InstantOf(now), "")
		}); err != nil {
			t.Fatal(err)
		}
	}
}
