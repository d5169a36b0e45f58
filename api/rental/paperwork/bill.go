// Package paperwork says what stands on papers: the lines, taxes and sums of invoices and credit notes, of receipts and
// statements, the text of agreements, and how amounts, dates and headings are written in the language of an account. It
// is pure: what it makes follows from the records that it is given.
package paperwork

import (
	"slices"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// The names of sums.
const (
	SumNet, SumTax, SumTotal                  = "net", "tax", "total"
	SumPaid, SumDue                           = "paid", "amount_due"
	SumReceived, SumRefunded                  = "received", "refunded"
	SumRequired, SumCaptured                  = "required", "captured"
	SumApplied, SumReleased, SumHeld          = "applied", "released", "held"
	SumGross, SumFees, SumCosts               = "gross", "platform_fees", "costs"
	SumShare, SumPayout                       = "share", "payout"
	lineTax, linePlatform, lineShare, lineOut = "tax", "platform_fee", "share", "refund"
)

// Billed says whether invoices are written of a booking: one that is sure, and whose channel does not collect the price
// itself. The words say why not.
func Billed(b *record.Booking) (bool, string) {
	switch {
	case b.Status == record.BookingPending || b.Status == record.BookingExpired:
		return false, "it is not confirmed"
	case ledger.Collects(b.Channel):
		return false, "the channel " + b.Channel + " collects the price, and bills whoever rents"
	}
	return true, ""
}

// Open returns the charges of a booking that are on none of its papers, of which on tells those that are. A charge that
// was taken back before it ever stood on one is left out with what took it back, and so is what a channel keeps.
func Open(b *record.Booking, on map[string]bool) []record.Charge {
	var open []record.Charge
	for _, c := range b.Charges {
		if c.Type != linePlatform && !on[c.ID] {
			open = append(open, c)
		}
	}
	gone := map[string]bool{}
	for _, c := range open {
		if c.ReversalOf == "" || c.Type == lineTax {
			continue
		}
		if i := slices.IndexFunc(open, func(o record.Charge) bool { return o.ID == c.ReversalOf }); i >= 0 &&
			open[i].Amount.Amount == -c.Amount.Amount {
			gone[c.ID], gone[c.ReversalOf] = true, true
		}
	}
	return slices.DeleteFunc(open, func(c record.Charge) bool { return gone[c.ID] })
}

// Bill is what charges come to on a paper: a line for each that is no tax, and the taxes by name and rate. Where they
// come to less than nothing, back is true, and all amounts are those that are given back.
func Bill(currency string, charges []record.Charge) (c record.PaperContent, back bool) {
	var sum int64
	for _, ch := range charges {
		sum += ch.Amount.Amount
	}
	sign := int64(1)
	if back = sum < 0; back {
		sign = -1
	}
	money := func(amount int64) record.Money { return record.Money{Amount: sign * amount, Currency: currency} }
	var net, tax, base int64
	for _, ch := range charges {
		if ch.Type == lineTax {
			continue
		}
		line := record.PaperLine{Type: ch.Type, Description: ch.Description, Quantity: ch.Quantity,
			UnitPrice: money(ch.UnitPrice.Amount), Amount: money(ch.Amount.Amount), Taxable: ch.Taxable, ChargeID: ch.ID}
		if line.Quantity < 0 { // of what was taken back
			line.Quantity, line.UnitPrice = -line.Quantity, money(-ch.UnitPrice.Amount)
		}
		c.Lines = append(c.Lines, line)
		net += ch.Amount.Amount
		if ch.Taxable {
			base += ch.Amount.Amount
		}
	}
	for _, ch := range charges {
		if ch.Type != lineTax {
			continue
		}
		c.TaxCharges = append(c.TaxCharges, ch.ID)
		tax += ch.Amount.Amount
		i := slices.IndexFunc(c.Taxes, func(t record.PaperTax) bool {
			return t.Name == ch.Description && t.RateBP == ch.TaxRateBP
		})
		if i < 0 {
			i = len(c.Taxes)
			c.Taxes = append(c.Taxes, record.PaperTax{Name: ch.Description, RateBP: ch.TaxRateBP, Base: money(base),
				Tax: money(0)})
		}
		c.Taxes[i].Tax.Amount += sign * ch.Amount.Amount
	}
	c.Taxes = slices.DeleteFunc(c.Taxes, func(t record.PaperTax) bool { return t.Tax.Amount == 0 })
	c.Total = money(net + tax)
	c.Sums = []record.PaperSum{{Name: SumNet, Amount: money(net)}, {Name: SumTax, Amount: money(tax)},
		{Name: SumTotal, Amount: c.Total}}
	return c, back
}

// Standing says whether anything is to be billed: a line, or a tax.
func Standing(c *record.PaperContent) bool { return len(c.Lines)+len(c.Taxes) > 0 }

// On returns the charges that stand on papers of a booking: those on invoices that no credit note took back, and on
// credit notes that are of a difference.
func On(papers []record.Paper) map[string]bool {
	on := map[string]bool{}
	for i := range papers {
		p := &papers[i]
		if p.Status == record.PaperCredited || p.InvoiceID != "" {
			continue
		}
		for _, l := range p.Lines {
			on[l.ChargeID] = true
		}
		for _, id := range p.TaxCharges {
			on[id] = true
		}
	}
	return on
}

// Counts says whether a paper counts in what a booking was billed: an invoice or the credit note of a difference, that
// is sealed and not taken back.
func Counts(p *record.Paper) bool {
	return p.Sealed() && p.Status != record.PaperCredited && p.InvoiceID == ""
}

// BilledBy is what papers of a booking come to: its invoices less its credit notes.
func BilledBy(papers []record.Paper) int64 {
	var sum int64
	for i := range papers {
		switch p := &papers[i]; {
		case !Counts(p):
		case p.Kind == record.Invoices.Name:
			sum += p.Total.Amount
		default:
			sum -= p.Total.Amount
		}
	}
	return sum
}

// PaidUp says of each invoice of a booking, by its index among the papers in the order of their places, whether what
// was paid covers it: what was paid, and what credit notes gave back, goes to the oldest first.
func PaidUp(papers []record.Paper, paid int64) map[int]bool {
	for i := range papers {
		if p := &papers[i]; Counts(p) && p.Kind == record.CreditNotes.Name {
			paid += p.Total.Amount
		}
	}
	covered := map[int]bool{}
	for i := range papers {
		if p := &papers[i]; Counts(p) && p.Kind == record.Invoices.Name {
			paid -= p.Total.Amount
			covered[i] = paid >= 0
		}
	}
	return covered
}

// Settle has an invoice that is being issued say what was paid of it by then, and what is due: what was paid for its
// booking goes to what the papers before it came to first, as PaidUp has it.
func Settle(p *record.Paper, papers []record.Paper, paid int64) {
	for i := range papers {
		if before := &papers[i]; Counts(before) && before.Place < p.Place {
			paid -= BilledBy(papers[i : i+1])
		}
	}
	paid = min(max(paid, 0), p.Total.Amount)
	money := func(amount int64) record.Money { return record.Money{Amount: amount, Currency: p.Total.Currency} }
	p.Sums = append(Unsettled(p.Sums), record.PaperSum{Name: SumPaid, Amount: money(paid)},
		record.PaperSum{Name: SumDue, Amount: money(p.Total.Amount - paid)})
}

// Unsettled are sums without those of what was paid.
func Unsettled(sums []record.PaperSum) []record.PaperSum {
	return slices.DeleteFunc(slices.Clone(sums), func(s record.PaperSum) bool {
		return s.Name == SumPaid || s.Name == SumDue
	})
}

// PaidOf returns what was paid of an invoice by the day of its issue; zero of what does not say.
func PaidOf(p *record.Paper) int64 {
	for _, s := range p.Sums {
		if s.Name == SumPaid {
			return s.Amount.Amount
		}
	}
	return 0
}

// TakeBack is what stands on the credit note that takes back a whole invoice.
func TakeBack(invoice *record.Paper) record.PaperContent {
	c := invoice.PaperContent
	c.Lines = slices.Clone(c.Lines)
	return c
}

// Receipt is what stands on the receipt of a payment.
func Receipt(p *record.Payment, day func(record.Instant) string) record.PaperContent {
	money := func(amount int64) record.Money { return record.Money{Amount: amount, Currency: p.Amount.Currency} }
	received := p.Amount.Amount
	first, second := "payment", lineOut
	if p.Direction == "out" {
		first, second, received = lineOut, "payment", -received
	}
	line := func(kind string, on string, amount int64, about string) record.PaperLine {
		return record.PaperLine{Type: kind, Description: about, On: on, Quantity: 1, UnitPrice: money(amount),
			Amount: money(amount)}
	}
	c := record.PaperContent{Lines: []record.PaperLine{line(first, day(p.ReceivedAt), received, "")}}
	var back int64
	for _, r := range p.Refunds {
		amount := -r.Amount.Amount
		if p.Direction == "out" {
			amount = -amount
		}
		back += amount
		c.Lines = append(c.Lines, line(second, day(r.At), amount, ""))
	}
	c.Total = money(received + back)
	c.Sums = []record.PaperSum{{Name: SumReceived, Amount: money(received)}, {Name: SumRefunded, Amount: money(back)},
		{Name: SumTotal, Amount: c.Total}}
	return c
}

// Deposit is what stands on the statement of a booking's deposit: what was taken, used and given back, and what is
// held.
func Deposit(b *record.Booking) record.PaperContent {
	d := &b.Deposit
	money := func(amount int64) record.Money { return record.Money{Amount: amount, Currency: b.Currency} }
	// Of a mere authorization nothing comes back.
	released := min(d.Released.Amount, max(d.Captured.Amount-d.Applied.Amount, 0))
	held := d.Captured.Amount - d.Applied.Amount - released
	var c record.PaperContent
	for _, l := range []struct {
		kind   string
		amount int64
	}{{SumCaptured, d.Captured.Amount}, {SumApplied, -d.Applied.Amount}, {SumReleased, -released}} {
		if l.amount != 0 {
			c.Lines = append(c.Lines, record.PaperLine{Type: l.kind, Quantity: 1, UnitPrice: money(l.amount),
				Amount: money(l.amount)})
		}
	}
	c.Total = money(held)
	c.Sums = []record.PaperSum{{Name: SumRequired, Amount: money(d.Amount.Amount)}, {Name: SumHeld, Amount: c.Total}}
	return c
}
