package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/query/report"
)

// The sheets of a workbook, and what stands in the first one before the figures.
const (
	figureSheet, wordSheet = "Report", "Definitions"
	headRow                = 4 // a title, what was asked, an empty row, and the heads
	secondsOfDay           = 86400
	mostSheetRows          = 1_000_000
)

// workbook writes a report as a workbook: its title, its rows with their totals below, and what its figures mean.
// Numbers are numbers, days are days, and times are parts of a day, shown in hours and minutes. Texts are texts,
// whatever they begin with: only the totals are formulas, sums of what adds up, and ratios of these sums.
type workbook struct {
	v      *View
	file   *excelize.File
	styles map[string]int
	days   int // style
	bold   int
	title  int
	head   int
}

func (v *View) writeXLSX(w io.Writer) error {
	if len(v.rows) > mostSheetRows {
		return fleet.NewError(fleet.CodeInvalid, fmt.Sprintf(
			"A sheet has at most %d rows, and the report has %d. Take CSV, a shorter span or another group_by.",
			mostSheetRows, len(v.rows)))
	}
	b := &workbook{v: v, file: excelize.NewFile(), styles: map[string]int{}}
	defer b.file.Close()
	err := b.file.SetSheetName("Sheet1", figureSheet)
	if err == nil {
		_, err = b.file.NewSheet(wordSheet)
	}
	if err == nil {
		b.bold, err = b.file.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}})
	}
	if err == nil {
		b.title, err = b.file.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true, Size: 14}})
	}
	if err == nil {
		b.head, err = b.file.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true},
			Alignment: &excelize.Alignment{WrapText: true, Vertical: "bottom", Horizontal: "right"}})
	}
	if err == nil {
		b.days, err = b.style("yyyy-mm-dd")
	}
	if err == nil {
		err = b.page()
	}
	if err == nil {
		err = b.figures()
	}
	if err == nil {
		err = b.words()
	}
	if err == nil {
		_, err = b.file.WriteTo(w)
	}
	if err != nil {
		return fmt.Errorf("write a workbook: %w", err)
	}
	return nil
}

// style is that of numbers in a format.
func (b *workbook) style(format string) (int, error) {
	if id, ok := b.styles[format]; ok {
		return id, nil
	}
	id, err := b.file.NewStyle(&excelize.Style{CustomNumFmt: &format})
	b.styles[format] = id
	return id, err
}

// decimals are how many digits a figure has behind the point in the sheet: amounts are not in minor units there.
func (b *workbook) decimals(f *report.Figure) int {
	if f.Money() {
		return f.Decimals() + price.Decimals(b.v.Currency)
	}
	return f.Decimals()
}

// styleOf is that of the values of a figure.
func (b *workbook) styleOf(f *report.Figure) (int, error) {
	format := "#,##0"
	if f.Unit == "seconds" {
		if f.Ratio() {
			return b.style("[h]:mm:ss")
		}
		return b.style("[h]:mm")
	}
	if n := b.decimals(f); n > 0 {
		format += "." + strings.Repeat("0", n)
	}
	return b.style(format)
}

// page has the first sheet printed across, with so many columns on a page as can be read, and labels and heads on each.
func (b *workbook) page() error {
	const readable = 13
	columns := b.leading() + len(b.v.headings())
	err := b.file.SetPageLayout(figureSheet, &excelize.PageLayoutOptions{Orientation: new("landscape"),
		FitToWidth: new((columns + readable - 1) / readable), FitToHeight: new(0)})
	if err == nil {
		err = b.file.SetSheetProps(figureSheet, &excelize.SheetPropsOptions{FitToPage: new(true)})
	}
	if err == nil {
		err = b.file.SetDefinedName(&excelize.DefinedName{Name: "_xlnm.Print_Titles", Scope: figureSheet,
			RefersTo: fmt.Sprintf("%[1]s!$A:$A,%[1]s!$%[2]d:$%[2]d", figureSheet, headRow)})
	}
	return err
}

// leading is how many columns stand before the figures: the label, and of times their days.
func (b *workbook) leading() int {
	if b.v.timed() {
		return 3
	}
	return 1
}

// figures writes the first sheet.
func (b *workbook) figures() error {
	sheet, err := b.file.NewStreamWriter(figureSheet)
	if err != nil {
		return err
	}
	names := append([]string{b.v.groupWords(), "From", "Until"}[:b.leading()], b.v.headings()...)
	if err := sheet.SetPanes(&excelize.Panes{Freeze: true, XSplit: 1, YSplit: headRow,
		TopLeftCell: fmt.Sprintf("B%d", headRow+1), ActivePane: "bottomRight"}); err != nil {
		return err
	}
	for i := range names {
		width := 14.0
		if i == 0 {
			width = 36
		}
		if err := sheet.SetColWidth(i+1, i+1, width); err != nil {
			return err
		}
	}
	for i, line := range []excelize.Cell{{StyleID: b.title, Value: b.v.Title}, {Value: b.v.about()}} {
		if err := sheet.SetRow(fmt.Sprintf("A%d", i+1), []any{line}); err != nil {
			return err
		}
	}
	head := make([]any, len(names))
	for i, name := range names {
		head[i] = excelize.Cell{StyleID: b.head, Value: name}
	}
	head[0] = excelize.Cell{StyleID: b.bold, Value: names[0]}
	if err := sheet.SetRow(fmt.Sprintf("A%d", headRow), head, excelize.RowOpts{Height: 45}); err != nil {
		return err
	}
	for i := range b.v.rows {
		cells, err := b.row(&b.v.rows[i])
		if err == nil {
			err = sheet.SetRow(fmt.Sprintf("A%d", headRow+1+i), cells)
		}
		if err != nil {
			return err
		}
	}
	cells, err := b.totals()
	if err == nil {
		err = sheet.SetRow(fmt.Sprintf("A%d", headRow+1+len(b.v.rows)), cells)
	}
	if err != nil {
		return err
	}
	return sheet.Flush()
}

// row are the cells of a row.
func (b *workbook) row(r *Row) ([]any, error) {
	cells := []any{r.Label}
	for _, text := range []string{r.From, r.Until}[:b.leading()-1] {
		at, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return nil, err
		}
		cells = append(cells, excelize.Cell{StyleID: b.days, Value: at})
	}
	for _, values := range [][]report.Value{r.values, r.previous} {
		for i := range values {
			cell, err := b.cell(&b.v.report.Figures[i], values[i])
			if err != nil {
				return nil, err
			}
			cells = append(cells, cell)
		}
	}
	return cells, nil
}

// cell is a value as a number, a text, or nothing.
func (b *workbook) cell(f *report.Figure, value report.Value) (any, error) {
	switch {
	case !value.Known():
		return nil, nil
	case f.Text():
		return value.String(), nil
	}
	style, err := b.styleOf(f)
	return excelize.Cell{StyleID: style, Value: b.number(f, value)}, err
}

// number is a value in whole units of the currency, of seconds in days.
func (b *workbook) number(f *report.Figure, value report.Value) float64 {
	if f.Unit == "seconds" {
		return value.Float() / secondsOfDay
	}
	if !f.Money() {
		return value.Float()
	}
	n, decimals := value.Unscaled()
	return report.Number(n, decimals+price.Decimals(b.v.Currency)).Float()
}

// totals are the cells of the last row: sums, ratios of sums, and what is neither as it is.
func (b *workbook) totals() ([]any, error) {
	cells, err := b.row(&b.v.Totals)
	if err != nil {
		return nil, err
	}
	leading, last := b.leading(), headRow+len(b.v.rows)
	cells[0] = excelize.Cell{StyleID: b.bold, Value: b.v.Totals.Label}
	n := len(b.v.report.Figures)
	for i := leading; i < len(cells); i++ {
		f := &b.v.report.Figures[(i-leading)%n]
		cell, ok := cells[i].(excelize.Cell)
		if !ok {
			continue
		}
		column, err := excelize.ColumnNumberToName(i + 1)
		if err != nil {
			return nil, err
		}
		switch {
		case f.Ratio():
			cell.Formula = b.ratio(f, i-(i-leading)%n, last+1)
		case f.Additive() && b.v.report.Adds(b.v.GroupBy) && last > headRow:
			cell.Formula = fmt.Sprintf("SUM(%s%d:%s%d)", column, headRow+1, column, last)
		}
		cells[i] = cell
	}
	return cells, nil
}

// ratio is the formula of a ratio in a row, of the figures from a column on; "" if amounts would not cancel out as the
// unit of the ratio wants it.
func (b *workbook) ratio(f *report.Figure, begin, row int) string {
	amounts := 0
	side := func(factors []report.Factor, sign int) string {
		var parts []string
		for _, factor := range factors {
			if factor.Figure == "" || factor.Figure == report.SpanDays {
				n := factor.Number
				if factor.Figure != "" {
					from, _ := time.Parse(time.DateOnly, b.v.From)
					until, _ := time.Parse(time.DateOnly, b.v.Until)
					n = int64(report.Span{From: from, Until: until}.Days())
				}
				parts = append(parts, fmt.Sprint(n))
				continue
			}
			for i := range b.v.report.Figures {
				if of := &b.v.report.Figures[i]; of.Name == factor.Figure {
					if of.Money() {
						amounts += sign
					}
					column, _ := excelize.ColumnNumberToName(begin + i + 1) // columns are from 1 on
					part := fmt.Sprintf("%s%d", column, row)
					if of.Unit == "seconds" {
						part += fmt.Sprintf("*%d", secondsOfDay)
					}
					parts = append(parts, part)
				}
			}
		}
		return strings.Join(parts, "*")
	}
	over, under := side(f.Over, 1), side(f.Under, -1)
	wanted := 0
	if f.Money() {
		wanted = 1
	}
	if amounts != wanted {
		return ""
	}
	if f.Unit == "percent" {
		over = "100*" + over
	}
	formula := fmt.Sprintf("ROUND((%s)/(%s),%d)", over, under, b.decimals(f))
	if f.Unit == "seconds" {
		formula += fmt.Sprintf("/%d", secondsOfDay)
	}
	return fmt.Sprintf(`IF((%s)=0,"",%s)`, under, formula)
}

// words writes the second sheet: what was asked, and what the figures mean.
func (b *workbook) words() error {
	v := b.v
	compare, asOf := "", ""
	if v.Compare != nil {
		compare = fmt.Sprintf("%s, %s to %s", *v.Compare, *v.PreviousFrom, *v.PreviousUntil)
	}
	if !v.AsOf.IsZero() {
		asOf = v.AsOf.UTC().Format(time.RFC3339)
	}
	lines := [][]any{{"Report", v.Title}, {"About", v.report.About}, {"From", v.From}, {"Until", v.Until},
		{"Time zone", v.Timezone}, {"Basis", v.Basis}, {"Currency", v.Currency}, {"Grouped by", v.GroupBy},
		{"Narrowed to", v.only}, {"Compared with", compare}, {"Data as of", asOf}, {"Version of definitions", v.Version}, {},
		{"Figure", "Name", "Unit", "Formula", "About"}}
	for i, c := range v.Columns {
		formula := ""
		if c.Formula != nil {
			formula = *c.Formula
		}
		lines = append(lines, []any{heading(&v.report.Figures[i]), c.Name, c.Unit, formula, c.About})
	}
	for i := range lines {
		for j, text := range lines[i] {
			at, err := excelize.CoordinatesToCellName(j+1, i+1)
			if err == nil {
				err = b.file.SetCellStr(wordSheet, at, text.(string))
			}
			if err != nil {
				return err
			}
		}
	}
	return b.file.SetColWidth(wordSheet, "A", "E", 30)
}
