package cost

import (
	"math/big"
	"slices"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// maxPayments bounds a loan that does not say how many payments it takes.
const maxPayments = 1200

// twelfths of a year's interest in basis points have this denominator.
const monthsTimesBP = 12 * 10_000

// payment is one of a loan.
type payment struct {
	interest, principal int64
}

// annuity is the even payment that pays a loan back: principal × r ÷ (1 − (1 + r)^−n), with r a twelfth of the yearly
// rate, rounded half up.
func annuity(principal, aprBP int64, n int) int64 {
	if aprBP == 0 {
		return share(principal, 1, int64(n))
	}
	// With r = a/b: principal × a × (a+b)^n ÷ (b × ((a+b)^n − b^n)).
	a, b := big.NewInt(aprBP), big.NewInt(monthsTimesBP)
	grown := new(big.Int).Exp(new(big.Int).Add(a, b), big.NewInt(int64(n)), nil)
	num := new(big.Int).Mul(big.NewInt(principal), new(big.Int).Mul(a, grown))
	den := new(big.Int).Mul(b, new(big.Int).Sub(grown, new(big.Int).Exp(b, big.NewInt(int64(n)), nil)))
	num.Add(num.Lsh(num, 1), den) // (2 × num + den) ÷ (2 × den) is rounded half up
	return num.Quo(num, den.Lsh(den, 1)).Int64()
}

// amortise are the payments of a loan: the interest of each is the balance × rate ÷ 12, rounded half up, and what the
// payment has left pays back. The last pays back what is left, whatever that is. Without a number of payments there are
// as many as it takes. There are none if the payments do not cover the interest.
func amortise(principal, aprBP, each int64, n int) []payment {
	var all []payment
	for balance := principal; balance > 0; {
		p := payment{interest: share(balance, aprBP, monthsTimesBP)}
		if p.principal = each - p.interest; p.principal <= 0 && len(all)+1 != n || len(all) == maxPayments {
			return nil
		}
		if p.principal >= balance || len(all)+1 == n {
			p.principal = balance
		}
		balance -= p.principal
		all = append(all, p)
	}
	return all
}

// loan are the payments of a vehicle's loan, each in two parts: its interest belongs to the days since the payment
// before, and what it pays back is no cost. On the day on which the vehicle goes, 0 for none, all that is left is paid
// back, with the interest of the days until then.
func loan(v *record.VehicleFields, gone ledger.Day, lacks map[What]string) (interest, principal []Item) {
	f := v.Financing
	if f == nil || f.Principal == nil || f.Principal.Amount <= 0 || v.Ownership == "leased" {
		return nil, nil
	}
	apr, each, first := int64(0), int64(0), day(f.FirstPaymentOn)
	if f.APR != nil {
		apr = *f.APR
	}
	switch {
	case first == 0:
		lacks[Principal] = "financing.first_payment_on says when the payments begin"
		return nil, nil
	case f.MonthlyPayment != nil && f.MonthlyPayment.Currency != f.Principal.Currency:
		lacks[Principal] = "financing.monthly_payment must be in the currency of financing.principal"
		return nil, nil
	case f.MonthlyPayment != nil:
		each = f.MonthlyPayment.Amount
	case f.TermMonths > 0:
		each = annuity(f.Principal.Amount, apr, f.TermMonths)
	default:
		lacks[Principal] = "financing.monthly_payment or financing.term_months says how it is paid back"
		return nil, nil
	}
	payments := amortise(f.Principal.Amount, apr, each, f.TermMonths)
	if payments == nil {
		lacks[Principal] = "financing.monthly_payment does not cover the interest"
	}
	money := func(amount int64) record.Money { return record.Money{Amount: amount, Currency: f.Principal.Currency} }
	last, left := first.AddMonths(-1), f.Principal.Amount
	for i, p := range payments {
		on := first.AddMonths(i)
		if !on.Known() {
			break
		}
		ends := gone != 0 && gone <= on
		if ends {
			p.interest = share(p.interest, int64(max(gone-last, 0)), int64(on-last))
			p.principal, on = left, gone
		}
		if p.interest > 0 {
			interest = append(interest, Item{What: Interest, Number: i + 1, Category: categories[Interest], Due: last + 1,
				On: on, From: last + 1, To: on, Amount: money(p.interest)})
		}
		principal = append(principal, Item{What: Principal, Number: i + 1, Category: categories[Principal], Due: on,
			On: on, From: on, To: on, Amount: money(p.principal)})
		if last, left = on, left-p.principal; ends {
			break
		}
	}
	return interest, principal
}

// payoff brings what is paid back on the day on which a vehicle goes, 0 for none, to what is left of its loan by what
// people have posted: the principal less all that was paid back before, whoever posted that, and nothing if that is as
// much. What people posted on that day or later stands in the place of what is paid then.
func payoff(v *record.VehicleFields, items []Item, posted []Posted, gone ledger.Day) []Item {
	at := slices.IndexFunc(items, func(i Item) bool { return i.What == Principal && i.On == gone })
	if gone == 0 || at < 0 {
		return items
	}
	for n := range items {
		i := &items[n]
		if (i.What != Principal && i.What != Interest) || i.On != gone || i.ByHand != "" {
			continue
		}
		paid := func(p Posted) bool { return p.Category == i.Category && p.From >= gone }
		if by := slices.IndexFunc(posted, paid); by >= 0 {
			i.ByHand = posted[by].ID
		}
	}
	left := v.Financing.Principal.Amount
	for _, i := range items[:at] {
		if i.What == Principal && i.ByHand == "" {
			left -= i.Amount.Amount
		}
	}
	for _, p := range posted {
		if p.Category == categories[Principal] && p.From < gone && p.Amount.Currency == v.Financing.Principal.Currency {
			left -= p.Amount.Amount
		}
	}
	if items[at].Amount.Amount = left; left <= 0 {
		return slices.Delete(items, at, at+1)
	}
	return items
}
