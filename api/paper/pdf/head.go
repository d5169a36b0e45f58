package pdf

import (
	"fmt"
	"strings"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/paperwork"
)

// letterhead prints who issues the paper, who it is made out to, and what it is about.
func (p *page) letterhead() {
	s, half := p.paper.Seller, p.width/2
	if s == nil {
		s = &record.PaperSeller{}
	}
	home := ""
	if s.Address != nil {
		home = s.Address.Country
	}
	top := p.GetY()
	p.letters(true, normal+2)
	p.text(margin, half-6, s.LegalName, "L", lineHeight+0.6)
	p.letters(false, small)
	p.gray(80)
	for _, line := range append(paperwork.Address(s.Address, home), p.known("tax_id", s.TaxID), s.Phone, s.Email) {
		if line != "" {
			p.text(margin, half-6, line, "L", lineHeight-0.8)
		}
	}
	under := p.GetY()

	p.gray(0)
	p.letters(true, large)
	p.SetY(top)
	p.text(margin+half, half, p.Word(p.paper.Kind), "R", 7.5)
	p.letters(true, normal)
	number := p.paper.Number
	if number == "" {
		number = p.Word("draft") + ", " + p.Word("no_number")
	}
	p.text(margin+half, half, number, "R", lineHeight)

	top = max(under, p.GetY()) + 9
	p.SetY(top)
	p.recipient(home, half-6)
	under = p.GetY()
	p.SetY(top)
	p.facts(margin+half, half)
	p.SetXY(margin, max(under, p.GetY())+8)
}

// known is a text behind what it is; "" for none.
func (p *page) known(word, text string) string {
	if text == "" {
		return ""
	}
	return p.Word(word) + ": " + text
}

// recipient prints who the paper is made out to.
func (p *page) recipient(home string, width float64) {
	p.letters(false, normal)
	if p.persons == nil || p.persons.To == nil {
		if p.paper.CustomerID != "" {
			p.text(margin, width, p.Word("erased"), "L", lineHeight)
		}
		return
	}
	to := p.persons.To
	first := true
	for _, line := range append([]string{to.Company, to.Name}, append(paperwork.Address(to.Address, home),
		p.known("tax_id", to.TaxID))...) {
		if line == "" {
			continue
		}
		p.letters(first, normal)
		p.text(margin, width, line, "L", lineHeight)
		first = false
	}
}

// facts prints what the paper is about, a line each.
func (p *page) facts(x, width float64) {
	a := p.paper.About
	if a == nil {
		a = &record.PaperSubject{}
	}
	place := func(at record.Instant, where string) string {
		return strings.TrimSuffix(p.Moment(at)+", "+where, ", ")
	}
	customer := ""
	if p.persons != nil && p.persons.To != nil {
		customer = p.persons.To.CustomerNumber
	}
	method := ""
	if a.PaymentMethod != "" {
		method = p.Word(a.PaymentMethod)
	}
	period := ""
	if a.From != "" {
		period = p.Day(a.From) + " – " + p.Day(a.Until)
	}
	rental := func(text string) string { // of papers that are about a rental
		if a.BookingNumber == "" {
			return ""
		}
		return text
	}
	due := p.Day(p.paper.DueOn)
	if p.paper.Total.Amount > 0 && p.paper.Total.Amount == paperwork.PaidOf(p.paper) {
		due = ""
	}
	for _, f := range [][2]string{
		{"date", p.Day(p.paper.IssuedOn)}, {"due", due}, {"customer", customer},
		{"for_invoice", a.InvoiceNumber}, {"period", period}, {"payment", a.PaymentNumber}, {"method", method},
		{"paid_on", p.Day(a.PaidOn)}, {"booking", a.BookingNumber}, {"vehicle", rental(a.Vehicle)}, {"vin", rental(a.VIN)},
		{"pickup", rental(place(a.PickupAt, a.PickupPlace))}, {"return", rental(place(a.ReturnAt, a.ReturnPlace))},
	} {
		if f[1] == "" {
			continue
		}
		y := p.GetY()
		p.letters(false, small)
		p.gray(110)
		p.text(x, 26, p.Word(f[0]), "L", lineHeight)
		below := p.GetY()
		p.SetY(y)
		p.gray(0)
		p.text(x+27, width-27, f[1], "L", lineHeight)
		p.SetY(max(below, p.GetY()))
	}
}

// notes prints what the account wrote on the paper, and where to pay what is due.
func (p *page) notes() {
	pays := p.paper.Kind == record.Invoices.Name && p.paper.Total.Amount > paperwork.PaidOf(p.paper)
	if s := p.paper.Seller; pays && s != nil && len(s.Bank) > 0 {
		p.heading(p.Word("bank"))
		for _, b := range s.Bank {
			p.text(margin, p.width, b.Name+": "+b.Value, "L", lineHeight)
		}
	}
	if p.paper.Notes != "" {
		p.heading(p.Word("notes"))
		p.text(margin, p.width, p.paper.Notes, "L", lineHeight)
	}
}

// heading prints what a part is called, with some of the part on the same page.
func (p *page) heading(words string) {
	p.room(4 * lineHeight)
	p.SetY(p.GetY() + 4)
	p.letters(true, normal)
	p.text(margin, p.width, words, "L", lineHeight+0.6)
	p.letters(false, normal)
}

// agreement prints the text of an agreement, whose lines that begin with # are headings.
func (p *page) agreement() {
	p.letters(false, normal)
	if p.persons == nil {
		p.text(margin, p.width, p.Word("erased"), "L", lineHeight)
		return
	}
	for line := range strings.SplitSeq(p.persons.Text, "\n") {
		if words, ok := strings.CutPrefix(line, "#"); ok {
			p.heading(strings.TrimSpace(strings.TrimLeft(words, "#")))
			continue
		}
		if strings.TrimSpace(line) == "" {
			p.SetY(p.GetY() + lineHeight/2)
			continue
		}
		p.text(margin, p.width, line, "L", lineHeight)
	}
}

// signatures prints where an agreement is signed, and that it was.
func (p *page) signatures() {
	p.room(38)
	p.SetY(p.GetY() + 6)
	if !p.paper.SignedAt.IsZero() {
		p.letters(false, normal)
		p.text(margin, p.width, fmt.Sprintf("%s: %s, %s", p.Word("signed"), p.paper.SignedBy, p.Moment(p.paper.SignedAt)),
			"L", lineHeight)
	}
	y, half := p.GetY()+16, p.width/2
	p.letters(false, small)
	for i, who := range []string{"renter", "lessor"} {
		x := margin + float64(i)*half
		p.Line(x, y, x+half-10, y)
		p.SetXY(x, y+1)
		p.CellFormat(half-10, lineHeight, fit(p.Word(who)+" · "+p.Word("place_date")+", "+p.Word("signature")), "", 0, "L",
			false, 0, "")
	}
	p.SetY(y + 2*lineHeight)
}
