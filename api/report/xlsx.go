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
	leading                = 4 // key, label, from, until
	mostSheetRows          = 1_000_000
)

// workbook writes a report as a workbook: its rows with their totals below, and what its figures mean. Numbers are
// numbers and days are days. Texts are texts, whatever they begin with: only the totals are formulas, sums of what adds
// up, and ratios of these sums.
type workbook struct {
	v      *View
	file   *excelize.File
	styles map[string]int
	days   int // style
	bold   int
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
		b.days, err = b.style("yyyy-mm-dd")
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
	if n := b.decimals(f); n > 0 {
		format += "." + strings.Repeat("0", n)
	}
	return b.style(format)
}

// figures writes the first sheet.
func (b *workbook) figures() error {
	sheet, err := b.file.NewStreamWriter(figureSheet)
	if err != nil {
		return err
	}
	names := []string{"key", "label", "from", "until"}
	figures := b.v.report.Figures
	for _, prefix := range []string{"", "previous_"} {
		for i := range figures {
			if prefix == "" || b.v.beside {
				names = append(names, prefix+figures[i].Name)
			}
		}
	}
	if err := sheet.SetPanes(&excelize.Panes{Freeze: true, XSplit: 2, YSplit: 1, TopLeftCell: "C2",
		ActivePane: "bottomRight"}); err != nil {
		return err
	}
	for i := range names {
		if err := sheet.SetColWidth(i+1, i+1, []float64{24, 32, 12, 12, 16}[min(i, leading)]); err != nil {
			return err
		}
	}
	head := make([]any, len(names))
	for i, name := range names {
		head[i] = excelize.Cell{StyleID: b.bold, Value: name}
	}
	if err := sheet.SetRow("A1", head); err != nil {
		return err
	}
	for i := range b.v.rows {
		cells, err := b.row(&b.v.rows[i])
		if err == nil {
			err = sheet.SetRow(fmt.Sprintf("A%d", i+2), cells)
		}
		if err != nil {
			return err
		}
	}
	cells, err := b.totals()
	if err == nil {
		err = sheet.SetRow(fmt.Sprintf("A%d", len(b.v.rows)+2), cells)
	}
	if err != nil {
		return err
	}
	return sheet.Flush()
}

// row are the cells of a row.
func (b *workbook) row(r *Row) ([]any, error) {
	cells := []any{r.Key, r.Label}
	for _, text := range []string{r.From, r.Until} {
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

// number is a value in whole units of the currency.
func (b *workbook) number(f *report.Figure, value report.Value) float64 {
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
	last := len(b.v.rows) + 1
	cells[0], cells[1] = "", excelize.Cell{StyleID: b.bold, Value: b.v.Totals.Label}
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
		case f.Additive() && b.v.GroupBy != "tag" && last > 1: // a vehicle may have several tags
			cell.Formula = fmt.Sprintf("SUM(%s2:%s%d)", column, column, last)
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
					parts = append(parts, fmt.Sprintf("%s%d", column, row))
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
	return fmt.Sprintf(`IF((%s)=0,"",ROUND((%s)/(%s),%d))`, under, over, under, b.decimals(f))
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
	lines := [][]any{{"report", v.Title}, {"about", v.report.About}, {"from", v.From}, {"until", v.Until},
		{"timezone", v.Timezone}, {"basis", v.Basis}, {"currency", v.Currency}, {"group_by", v.GroupBy}, {"compare", compare},
		{"data_as_of", asOf}, {"definitions_version", v.Version}, {}, {"figure", "unit", "formula", "about"}}
	for _, c := range v.Columns {
		formula := ""
		if c.Formula != nil {
			formula = *c.Formula
		}
		lines = append(lines, []any{c.Name, c.Unit, formula, c.About})
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
	return b.file.SetColWidth(wordSheet, "A", "D", 30)
}
