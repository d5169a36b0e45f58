package paperwork

import (
	"cmp"
	"maps"
	"slices"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// OwnerAmount is what a vehicle brought or cost its owner on a day of the books: the sum of entries of the ledger of
// one account and booking, or of one account and cost. Amount is what it is for the owner: revenue and what is got is
// positive, a cost negative.
type OwnerAmount struct {
	VehicleID, BookingID string
	ShareBP              int64
	Account              string
	CostID               string
	Amount               int64
	On                   string
}

// ownersCosts are the categories of expenses that owners bear where the account says nothing.
var ownersCosts = []string{"maintenance", "repair", "tires", "insurance", "registration", "tax"}

// OwnersCosts are the categories of expenses that owners bear.
func OwnersCosts(s *record.PaperSettings) []string {
	if s != nil && s.Costs != nil {
		return s.Costs
	}
	return ownersCosts
}

// KnowsCost says whether there is a category of expenses of a name that an owner may bear: what owners get is none, nor
// is what is no cost, as the price of a vehicle.
func KnowsCost(category string) bool {
	return slices.Contains(ledger.Categories, category) && category != ledger.OwnerShare &&
		ledger.CostOf(category).Type() == ledger.Cost
}

// notShared are accounts of revenue that are no owner's: tolls and fines are charged for whoever paid them.
var notShared = []ledger.Account{ledger.RevenueToll}

// OwnerAccounts are the accounts of the ledger that an owner's statement is made of: revenue, what platforms keep, and
// the costs of some categories.
func OwnerAccounts(costs []string) []string {
	all := []string{string(ledger.CostOf(linePlatform))}
	for _, l := range ledger.Chart {
		if l.Account.Type() == ledger.Revenue && !slices.Contains(notShared, l.Account) {
			all = append(all, string(l.Account))
		}
	}
	for _, category := range costs {
		if account := string(ledger.CostOf(category)); account != all[0] && !slices.Contains(all, account) {
			all = append(all, account)
		}
	}
	return all
}

// accrual adds up what is shared of vehicles, and says what comes to the owner of that, rounded half away from zero
// once for each vehicle, month of the books and share: so statements and books come to the same, whatever is told
// or posted first, and by however many of them.
type accrual map[sharedBasis]int64

type sharedBasis struct {
	vehicle, month string
	shareBP        int64
}

// add adds an amount of a day, and returns by how much what comes to the owner has changed.
func (a accrual) add(vehicle, on string, shareBP, amount int64) int64 {
	of := sharedBasis{vehicle, monthOf(on), shareBP}
	was := portion(a[of], shareBP)
	a[of] += amount
	return portion(a[of], shareBP) - was
}

// monthOf is the month of a day, as 2026-10.
func monthOf(day string) string { return day[:min(len(day), len("2026-10"))] }

// OwnerDays are what an owner gets and bears of a vehicle by day of the books, as statements tell it by month: the
// shares of the days of a month add up to what they tell. Days of which nothing is left are left out.
func OwnerDays(amounts []OwnerAmount) []record.OwnerDay {
	amounts = slices.Clone(amounts)
	slices.SortFunc(amounts, func(a, b OwnerAmount) int {
		return cmp.Or(cmp.Compare(a.On, b.On), cmp.Compare(a.ShareBP, b.ShareBP))
	})
	var days []record.OwnerDay
	shared := accrual{}
	for _, a := range amounts {
		if n := len(days); n == 0 || days[n-1].On != a.On {
			days = append(days, record.OwnerDay{On: a.On})
		}
		day := &days[len(days)-1]
		switch {
		case ownerLine(a.Account) != lineCost:
			day.Share += shared.add(a.VehicleID, a.On, a.ShareBP, a.Amount)
		case ledger.Borne(ledger.Account(a.Account)) == ledger.BorneVariable:
			day.Variable -= a.Amount
		default:
			day.Fixed -= a.Amount
		}
	}
	return slices.DeleteFunc(days, func(d record.OwnerDay) bool { return d == record.OwnerDay{On: d.On} })
}

// Owner is what stands on an owner's statement: for each vehicle and month what it brought by booking, what
// platforms kept of that, the costs that the owner bears, and the owner's share of the rest (see accrual), one for
// each share that it had; the payout is the shares less the costs. told is what earlier statements told of the
// same, which is left out, for the share for which it was told. vehicles are how people call them, by id.
func Owner(currency string, amounts []OwnerAmount, told []record.PaperLine,
	vehicles map[string]string) record.PaperContent {
	money := func(amount int64) record.Money { return record.Money{Amount: amount, Currency: currency} }
	left := map[record.PaperLine]int64{}
	name := func(vehicle, booking, account, cost, on string, share int64) record.PaperLine {
		key := record.PaperLine{VehicleID: vehicle, BookingID: booking, Account: account, ChargeID: cost,
			Type: ownerLine(account), On: monthOf(on)}
		if key.Type != lineCost {
			key.ShareBP = share
		}
		return key
	}
	on := map[record.PaperLine]string{}
	for _, a := range amounts {
		key := name(a.VehicleID, a.BookingID, a.Account, a.CostID, a.On, a.ShareBP)
		if was := on[key]; was == "" || a.On < was {
			on[key] = a.On
		}
		left[key] += a.Amount
	}
	shared := accrual{}
	for _, l := range told {
		if l.Account == "" {
			continue
		}
		key := name(l.VehicleID, l.BookingID, l.Account, l.ChargeID, l.On, l.ShareBP)
		if on[key] == "" {
			on[key] = l.On
		}
		if left[key] -= l.Amount.Amount; l.Type != lineCost {
			shared.add(l.VehicleID, l.On, l.ShareBP, l.Amount.Amount)
		}
	}
	var lines []record.PaperLine
	for key, amount := range left {
		if amount == 0 {
			continue
		}
		key.On, key.Quantity, key.UnitPrice, key.Amount = on[key], 1, money(amount), money(amount)
		key.Vehicle = vehicles[key.VehicleID]
		lines = append(lines, key)
	}
	slices.SortFunc(lines, func(a, b record.PaperLine) int {
		return cmp.Or(cmp.Compare(a.Vehicle, b.Vehicle), cmp.Compare(a.VehicleID, b.VehicleID),
			cmp.Compare(slices.Index(ownerOrder, a.Type), slices.Index(ownerOrder, b.Type)), cmp.Compare(a.On, b.On),
			cmp.Compare(a.BookingID, b.BookingID), cmp.Compare(a.Account, b.Account), cmp.Compare(a.ChargeID, b.ChargeID),
			cmp.Compare(a.ShareBP, b.ShareBP))
	})
	var c record.PaperContent
	var gross, fees, costs, share int64
	for len(lines) > 0 {
		vehicle := lines[0].VehicleID
		n := slices.IndexFunc(lines, func(l record.PaperLine) bool { return l.VehicleID != vehicle })
		if n < 0 {
			n = len(lines)
		}
		parts := map[int64]int64{}
		for _, l := range lines[:n] {
			switch l.Type {
			case "gross":
				gross += l.Amount.Amount
			case linePlatform:
				fees += l.Amount.Amount
			default:
				costs += l.Amount.Amount
				continue
			}
			parts[l.ShareBP] += shared.add(vehicle, l.On, l.ShareBP, l.Amount.Amount)
		}
		c.Lines = append(c.Lines, lines[:n]...)
		for _, bp := range slices.Sorted(maps.Keys(parts)) {
			part := parts[bp]
			share += part
			c.Lines = append(c.Lines, record.PaperLine{Type: lineShare, VehicleID: vehicle, Vehicle: lines[0].Vehicle,
				Quantity: 1, UnitPrice: money(part), Amount: money(part), ShareBP: bp})
		}
		lines = lines[n:]
	}
	c.Total = money(share + costs)
	c.Sums = []record.PaperSum{{Name: SumGross, Amount: money(gross)}, {Name: SumFees, Amount: money(fees)},
		{Name: SumShare, Amount: money(share)}, {Name: SumCosts, Amount: money(costs)},
		{Name: SumPayout, Amount: c.Total}}
	return c
}

// lineCost is the type of the line of a cost.
const lineCost = "cost"

// ownerOrder is the order of the lines of a vehicle.
var ownerOrder = []string{"gross", linePlatform, lineCost}

// ownerLine is the type of the line of an account.
func ownerLine(account string) string {
	switch {
	case ledger.Account(account).Type() == ledger.Revenue:
		return "gross"
	case account == string(ledger.CostOf(linePlatform)):
		return linePlatform
	}
	return lineCost
}

// portion is a share of an amount in basis points, rounded half away from zero.
func portion(amount, bp int64) int64 {
	whole, rest := amount/10000*bp, amount%10000*bp
	if rest < 0 {
		return whole + (rest-5000)/10000
	}
	return whole + (rest+5000)/10000
}
