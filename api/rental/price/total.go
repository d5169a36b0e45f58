package price

import (
	"fmt"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// Totals adds up charges, which must be of one currency. Lines of type platform_fee are no part of the total;
// see record.Totals.
func Totals(currency string, charges []record.Charge) (record.Totals, error) {
	var c calc
	money := func() record.Money { return record.Money{Currency: currency} }
	t := record.Totals{Subtotal: money(), Discounts: money(), Fees: money(), Taxes: money(), Total: money(),
		PlatformFee: money(), NetToHost: money()}
	for i := range charges {
		l := &charges[i]
		if l.Amount.Currency != currency {
			return t, fleet.NewError(fleet.CodeValidation,
				fmt.Sprintf("A charge in %s cannot be added to others in %s.", l.Amount.Currency, currency),
				fleet.FieldError{Pointer: "/amount/currency", Code: "mismatch", Detail: "must be " + currency})
		}
		add := func(to *record.Money, amount int64) { to.Amount = c.add(to.Amount, amount) }
		switch l.Type {
		case linePlatform:
			add(&t.PlatformFee, -l.Amount.Amount)
			continue
		case lineTax:
			add(&t.Taxes, l.Amount.Amount)
		case lineDiscount, linePromo:
			add(&t.Discounts, l.Amount.Amount)
		case "time", "mileage", "extra", "protection":
			add(&t.Subtotal, l.Amount.Amount)
		default:
			add(&t.Subtotal, l.Amount.Amount)
			add(&t.Fees, l.Amount.Amount)
		}
		add(&t.Total, l.Amount.Amount)
	}
	t.NetToHost.Amount = c.add(c.add(t.Total.Amount, -t.Taxes.Amount), -t.PlatformFee.Amount)
	return t, c.err()
}

// Retax returns the tax lines that are missing from charges, or that take back what there is too much of: their taxes
// are then those of their sum, less what somebody waived by reversing a tax line by hand. forgotten says of which tax
// lines that does not count any more; nil for none.
func Retax(rates []record.TaxRate, currency string, charges []record.Charge,
	forgotten func(id string) bool) ([]record.Charge, error) {
	var c calc
	sum := max(0, c.taxable(charges))
	has, waived := map[lineKey]int64{}, map[lineKey]int64{}
	for i := range charges {
		l := &charges[i]
		if l.Type != lineTax {
			continue
		}
		k := taxKey(l.Description, l.TaxRateBP)
		has[k] = c.add(has[k], l.Amount.Amount)
		if l.ReversalOf != "" && l.Source == "manual" && (forgotten == nil || !forgotten(l.ReversalOf)) {
			waived[k] = c.add(waived[k], -l.Amount.Amount)
		}
	}
	due := map[lineKey]int64{}
	for _, r := range rates {
		k := taxKey(r.Name, r.RateBP)
		due[k] = c.add(due[k], c.scale(sum, r.RateBP, unity))
	}
	var lines []record.Charge
	for _, r := range rates {
		k := taxKey(r.Name, r.RateBP)
		missing := c.add(remains(due[k], waived[k]), -has[k])
		if missing == 0 {
			continue
		}
		why := fmt.Sprintf("%s of %s, the sum of the taxable lines.", basisPoints(r.RateBP),
			Format(record.Money{Amount: sum, Currency: currency}))
		if has[k] != 0 {
			why += fmt.Sprintf(" %s were charged.", Format(record.Money{Amount: has[k], Currency: currency}))
		}
		lines = append(lines, record.Charge{Type: lineTax, Description: r.Name, Quantity: 1,
			UnitPrice: record.Money{Amount: missing}, TaxRateBP: r.RateBP, Explanation: why})
		has[k] = c.add(has[k], missing)
	}
	return c.finish(currency, lines), c.err()
}

// taxKey tells taxes apart.
func taxKey(name string, bp int64) lineKey { return lineKey{fmt.Sprint(lineTax, bp), name} }

// taxLines are the tax lines that are due for charges added to others: the tax on all of them less that on the ones
// before, so that the taxes of a booking are always those of its sum. A tax of which nothing is due has no line. The
// sum of what is taxable, where it is negative, is taxed as zero.
func (c *calc) taxLines(rates []record.TaxRate, currency string, before, added []record.Charge) []record.Charge {
	old := c.taxable(before)
	whole := c.add(old, c.taxable(added))
	var lines []record.Charge
	for _, r := range rates {
		due := c.scale(max(0, whole), r.RateBP, unity) - c.scale(max(0, old), r.RateBP, unity)
		if due == 0 {
			continue
		}
		why := fmt.Sprintf("%s of %s, the sum of the taxable lines.", basisPoints(r.RateBP),
			Format(record.Money{Amount: whole, Currency: currency}))
		if before != nil {
			why = fmt.Sprintf("%s of %s instead of %s.", basisPoints(r.RateBP),
				Format(record.Money{Amount: max(0, whole), Currency: currency}),
				Format(record.Money{Amount: max(0, old), Currency: currency}))
		}
		lines = append(lines, record.Charge{Type: lineTax, Description: r.Name, Quantity: 1,
			UnitPrice: record.Money{Amount: due}, TaxRateBP: r.RateBP, Explanation: why})
	}
	return c.finish(currency, lines)
}

// taxable adds up what is taxed.
func (c *calc) taxable(charges []record.Charge) int64 {
	var sum int64
	for i := range charges {
		if l := &charges[i]; l.Taxable && l.Type != lineTax && l.Type != linePlatform {
			sum = c.add(sum, l.Amount.Amount)
		}
	}
	return sum
}

// platformLine is what the channel keeps of charges added to others: of their sum without taxes, and as with taxes the
// share of all of them less that of the ones before. It is negative: the host's loss.
func (c *calc) platformLine(bp int64, currency string, before, added []record.Charge) []record.Charge {
	if bp == 0 {
		return nil
	}
	old := c.earned(before)
	whole := c.add(old, c.earned(added))
	due := c.scale(max(0, whole), bp, unity) - c.scale(max(0, old), bp, unity)
	if due == 0 {
		return nil
	}
	return c.finish(currency, []record.Charge{{
		Type: linePlatform, Description: "What the channel keeps", Quantity: 1, UnitPrice: record.Money{Amount: -due},
		Explanation: fmt.Sprintf("%s of %s, the price without taxes. No part of what the customer owes.", basisPoints(bp),
			Format(record.Money{Amount: whole, Currency: currency})),
	}})
}

// Earned adds up charges without taxes and what a channel keeps; 0 if that is too large.
func Earned(charges []record.Charge) int64 {
	var c calc
	return c.earned(charges)
}

// earned adds up what the host has of charges before the channel's share.
func (c *calc) earned(charges []record.Charge) int64 {
	var sum int64
	for i := range charges {
		if l := &charges[i]; l.Type != lineTax && l.Type != linePlatform {
			sum = c.add(sum, l.Amount.Amount)
		}
	}
	return sum
}

// owed adds up charges with taxes, without what a channel keeps.
func (c *calc) owed(charges []record.Charge) int64 {
	sum := c.earned(charges)
	for i := range charges {
		if l := &charges[i]; l.Type == lineTax {
			sum = c.add(sum, l.Amount.Amount)
		}
	}
	return sum
}
