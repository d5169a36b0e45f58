// Package pdf prints papers: a page layout for each kind, in the language of the paper, on A4 or US Letter, with the
// letters of Go's own fonts (Latin, Greek and Cyrillic; BSD licence), which are part of the program. Print is a
// function of the paper and of whom it names: the same paper gives the same bytes.
package pdf

import (
	"bytes"
	"cmp"
	"fmt"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/paperwork"
)

// Measures of a page, in millimetres, and of letters, in points.
const (
	margin     = 18.0
	foot       = 22.0 // below what is printed on a page
	lineHeight = 4.6
	small      = 8.0
	normal     = 9.5
	large      = 17.0
	family     = "go"
)

// page is a paper that is being printed.
type page struct {
	*fpdf.Fpdf
	*paperwork.Writer
	paper   *record.Paper
	persons *record.PaperPersons
	pages   int // of the whole, as counted by a first printing
	width   float64
	bottom  float64
	columns []column // of the table whose head is repeated on a new page; nil outside
}

// Print returns a paper as PDF. made is when a paper was made that is not issued yet.
func Print(p *record.Paper, persons *record.PaperPersons, made time.Time) ([]byte, error) {
	pages := 1
	for {
		out := begin(p, persons, pages, made)
		out.print()
		if err := out.Error(); err != nil {
			return nil, fmt.Errorf("print %s %s: %w", p.Kind, p.Number, err)
		}
		if n := out.PageNo(); n != pages {
			pages = n // now it is known of how many pages each is one
			continue
		}
		var file bytes.Buffer
		if err := out.Output(&file); err != nil {
			return nil, fmt.Errorf("print %s %s: %w", p.Kind, p.Number, err)
		}
		return file.Bytes(), nil
	}
}

// begin makes an empty document for a paper.
func begin(p *record.Paper, persons *record.PaperPersons, pages int, made time.Time) *page {
	size := "A4"
	if p.Letter {
		size = "Letter"
	}
	out := &page{Fpdf: fpdf.New("P", "mm", size, ""), paper: p, persons: persons, pages: pages,
		Writer: paperwork.NewWriter(p.Language, cmp.Or(p.Timezone, "UTC"))}
	at := p.IssuedAt.Time
	if at.IsZero() {
		at = made
	}
	out.SetCatalogSort(true) // so that the same paper gives the same bytes
	out.SetCreationDate(at.UTC())
	out.SetModificationDate(at.UTC())
	out.SetProducer("Motorpool", true)
	out.SetTitle(fit(out.Word(p.Kind)+" "+p.Number), true)
	out.SetLang(cmp.Or(p.Language, "en"))
	if p.Seller != nil {
		out.SetAuthor(fit(p.Seller.LegalName), true)
	}
	out.AddUTF8FontFromBytes(family, "", goregular.TTF)
	out.AddUTF8FontFromBytes(family, "B", gobold.TTF)
	out.SetMargins(margin, margin, margin)
	out.SetAutoPageBreak(false, 0)
	out.SetCellMargin(0)
	w, h := out.GetPageSize()
	out.width, out.bottom = w-2*margin, h-foot
	out.SetHeaderFunc(out.head)
	out.SetFooterFunc(out.footer)
	out.SetLineWidth(0.2)
	out.SetDrawColor(150, 150, 150)
	return out
}

// print prints all of the paper.
func (p *page) print() {
	p.AddPage()
	p.letterhead()
	switch p.paper.Kind {
	case record.Agreements.Name:
		p.agreement()
	case record.OwnerStatements.Name:
		p.ownerLines()
		p.sums()
	default:
		p.lines()
		p.sums()
	}
	p.notes()
	if p.paper.Kind == record.Agreements.Name {
		p.signatures()
	}
}

// letters chooses a font: bold or not, of a size.
func (p *page) letters(bold bool, size float64) {
	style := ""
	if bold {
		style = "B"
	}
	p.SetFont(family, style, size)
}

// gray is how dark letters are: 0 is black.
func (p *page) gray(level int) { p.SetTextColor(level, level, level) }

// room begins a new page if so much does not fit on this one.
func (p *page) room(height float64) {
	if p.GetY()+height > p.bottom {
		p.AddPage()
	}
}

// text prints a text in as many lines as it takes, from a place, within a width, and returns where it ends. It goes on
// on the next page where one is full.
func (p *page) text(x, width float64, words, align string, height float64) {
	for _, line := range p.split(words, width) {
		p.room(height)
		p.SetX(x)
		p.CellFormat(width, height, line, "", 2, align, false, 0, "")
	}
}

// split divides a text into lines of a width.
func (p *page) split(words string, width float64) []string {
	if words = fit(words); words == "" {
		return []string{""}
	}
	return p.SplitText(words, width)
}

// head begins a page: the first with nothing but the mark of a draft, others with what it goes on with.
func (p *page) head() {
	if p.paper.Number == "" {
		w, h := p.GetPageSize()
		p.TransformBegin()
		p.TransformRotate(50, w/2, h/2)
		p.letters(true, 90)
		p.gray(232)
		word := fit(p.Word("draft"))
		p.Text(w/2-p.GetStringWidth(word)/2, h/2+10, word)
		p.TransformEnd()
	}
	p.SetXY(margin, margin)
	if p.PageNo() == 1 {
		return
	}
	p.letters(false, small)
	p.gray(110)
	p.CellFormat(p.width, lineHeight, fit(p.Word(p.paper.Kind)+" "+p.paper.Number+" · "+p.Word("carried")), "B", 1, "L",
		false, 0, "")
	p.SetY(p.GetY() + 3)
	p.gray(0)
	p.letters(false, normal)
	p.tableHead()
}

// footer ends a page.
func (p *page) footer() {
	_, h := p.GetPageSize()
	p.letters(false, small)
	p.gray(110)
	x := p.width - 40
	for i, line := range p.split(p.paper.Footer, x) {
		if i == 3 {
			break
		}
		p.SetXY(margin, h-foot+6+float64(i)*3.6)
		p.CellFormat(x, 3.6, line, "", 0, "L", false, 0, "")
	}
	p.SetXY(margin+x, h-foot+6)
	p.CellFormat(40, 3.6, fit(fmt.Sprintf("%s %d %s %d", p.Word("page"), p.PageNo(), p.Word("of"), p.pages)), "", 0, "R",
		false, 0, "")
	p.gray(0)
}
