package pdf

import (
	"slices"
	"strings"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/paperwork"
)

// column is one of a table.
type column struct {
	word  string
	width float64
	align string
}

// table prints the head of a table, again on each page on which it goes on.
func (p *page) table(columns ...column) {
	p.columns = nil
	p.room(4 * lineHeight)
	p.columns = columns
	p.tableHead()
}

// tableHead prints the head of the table that is being printed, if there is one.
func (p *page) tableHead() {
	if p.columns == nil {
		return
	}
	p.letters(true, small)
	p.SetFillColor(240, 240, 240)
	p.SetX(margin)
	for _, c := range p.columns {
		p.CellFormat(c.width, lineHeight+1.4, fit(p.Word(c.word)), "B", 0, c.align, true, 0, "")
	}
	p.Ln(lineHeight + 2.2)
	p.letters(false, normal)
}

// row prints a row of the table, whose cells have as many lines as they take. A row is not divided between pages.
func (p *page) row(cells ...string) {
	p.letters(false, small+0.5)
	parts, most := make([][]string, len(cells)), 1
	for i, cell := range cells {
		parts[i] = p.split(cell, p.columns[i].width-2)
		most = max(most, len(parts[i]))
	}
	height := float64(most)*(lineHeight-0.5) + 1.6
	p.room(height)
	p.letters(false, small+0.5)
	top, x := p.GetY(), margin
	for i, c := range p.columns {
		left := x
		if c.align == "R" {
			left += 2
		}
		for n, line := range parts[i] {
			p.SetXY(left, top+0.8+float64(n)*(lineHeight-0.5))
			p.CellFormat(c.width-2, lineHeight-0.5, line, "", 0, c.align, false, 0, "")
		}
		x += c.width
	}
	p.SetDrawColor(215, 215, 215)
	p.Line(margin, top+height, margin+p.width, top+height)
	p.SetDrawColor(150, 150, 150)
	p.SetXY(margin, top+height)
}

// lines prints the lines of a paper about charges, payments or a deposit.
func (p *page) lines() {
	counted := slices.ContainsFunc(p.paper.Lines, func(l record.PaperLine) bool { return l.Quantity != 1 })
	dated := slices.ContainsFunc(p.paper.Lines, func(l record.PaperLine) bool { return l.On != "" })
	columns := []column{{"description", p.width - 34, "L"}}
	if dated {
		columns[0].width -= 28
		columns = append(columns, column{"day", 28, "L"})
	}
	if counted {
		columns[0].width -= 48
		columns = append(columns, column{"quantity", 16, "R"}, column{"unit_price", 32, "R"})
	}
	p.table(append(columns, column{"amount", 34, "R"})...)
	for _, l := range p.paper.Lines {
		words := p.Word(l.Type)
		if strings.HasPrefix(l.Description, words) { // "Rental time, Saturday 120 %" needs no "Rental: " before it
			words = l.Description
		} else if l.Description != "" {
			words += ": " + l.Description
		}
		cells := []string{words}
		if dated {
			cells = append(cells, p.Day(l.On))
		}
		if counted {
			cells = append(cells, p.Count(l.Quantity), p.Money(l.UnitPrice))
		}
		p.row(append(cells, p.Money(l.Amount))...)
	}
	p.columns = nil
}

// ownerLines prints the lines of an owner's statement, a table for each vehicle.
func (p *page) ownerLines() {
	for i, l := range p.paper.Lines {
		if i == 0 || l.VehicleID != p.paper.Lines[i-1].VehicleID {
			p.columns = nil
			p.heading(l.Vehicle)
			p.table(column{"day", 28, "L"}, column{"booking", 24, "L"}, column{"description", p.width - 28 - 24 - 34, "L"},
				column{"amount", 34, "R"})
		}
		words := p.Word(l.Type)
		switch {
		case l.Type == paperwork.SumShare:
			words += " (" + p.Rate(l.ShareBP) + ")"
		case l.Description != "":
			words += ": " + l.Description
		}
		p.row(p.Day(l.On), l.Booking, words, p.Money(l.Amount))
	}
	p.columns = nil
}

// sums prints what the paper comes to: the taxes by name and rate, and the total.
func (p *page) sums() {
	p.SetY(p.GetY() + 3)
	p.room(float64(len(p.paper.Sums)+len(p.paper.Taxes)) * lineHeight * 1.3)
	sums := p.paper.Sums
	if paperwork.PaidOf(p.paper) == 0 {
		sums = paperwork.Unsettled(sums) // the total is due
	}
	for i, s := range sums {
		last := i == len(sums)-1
		switch {
		case s.Name == paperwork.SumDue && s.Amount.Amount == 0:
			p.sum(p.Word("paid_in_full"), p.Money(s.Amount), last)
		case s.Name == paperwork.SumTax:
			for _, t := range p.paper.Taxes {
				p.sum(t.Name+" "+p.Rate(t.RateBP)+" "+p.Word("tax_of")+" "+p.Money(t.Base), p.Money(t.Tax), false)
			}
		case s.Name == paperwork.SumNet && len(p.paper.Taxes) == 0:
		case s.Name == paperwork.SumTotal && p.paper.Kind == record.CreditNotes.Name:
			p.sum(p.Word("credited"), p.Money(s.Amount), last)
		default:
			p.sum(p.Word(s.Name), p.Money(s.Amount), last)
		}
	}
}

// sum prints one sum.
func (p *page) sum(words, amount string, last bool) {
	p.letters(last, normal)
	x, width := margin+p.width*0.4, p.width*0.6-40
	if last {
		p.Line(x, p.GetY()+0.4, margin+p.width, p.GetY()+0.4)
		p.SetY(p.GetY() + 1)
	}
	top := p.GetY()
	p.text(x, width, words, "L", lineHeight+0.6)
	below := p.GetY()
	p.SetXY(margin+p.width-40, top)
	p.CellFormat(40, lineHeight+0.6, fit(amount), "", 0, "R", false, 0, "")
	p.SetXY(margin, max(below, top+lineHeight+0.6))
}
