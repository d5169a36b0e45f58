package export

import (
	"fmt"
	"io"
	"strings"

	"github.com/xuri/excelize/v2"
)

// SheetColumn is a column of a workbook for people: what stands above it, its width in characters, and whether its
// amounts are summed below.
type SheetColumn struct {
	Head   string
	Width  float64
	Summed bool
}

// Amount is a number in a sheet, shown with so many decimals.
type Amount struct {
	Number   float64
	Decimals int
}

// sheetHead is the row of the heads: above it stand a title, what it is of, and nothing.
const sheetHead = 4

// WriteSheet writes a workbook of one sheet: its title, what it is of, heads that stay in sight, rows of texts, amounts
// and nil, and below them the sums of the columns that are summed, as formulas. A text is a text, whatever it begins
// with.
func WriteSheet(w io.Writer, title, about string, columns []SheetColumn, rows [][]any) error {
	file := excelize.NewFile()
	defer file.Close()
	if err := fillSheet(file, title, about, columns, rows); err != nil {
		return fmt.Errorf("write a workbook: %w", err)
	}
	if _, err := file.WriteTo(w); err != nil {
		return fmt.Errorf("write a workbook: %w", err)
	}
	return nil
}

func fillSheet(file *excelize.File, title, about string, columns []SheetColumn, rows [][]any) error {
	const name = "Sheet1"
	bold, err := file.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}})
	if err != nil {
		return err
	}
	large, err := file.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true, Size: 14}})
	if err != nil {
		return err
	}
	styles := map[int]int{} // of amounts, by their decimals
	styled := func(decimals int) (int, error) {
		if id, ok := styles[decimals]; ok {
			return id, nil
		}
		format := strings.TrimSuffix("#,##0."+strings.Repeat("0", decimals), ".")
		id, err := file.NewStyle(&excelize.Style{CustomNumFmt: &format})
		styles[decimals] = id
		return id, err
	}
	sheet, err := file.NewStreamWriter(name)
	if err != nil {
		return err
	}
	if err := sheet.SetPanes(&excelize.Panes{Freeze: true, YSplit: sheetHead, TopLeftCell: fmt.Sprintf("A%d", sheetHead+1),
		ActivePane: "bottomLeft"}); err != nil {
		return err
	}
	heads := make([]any, len(columns))
	for i, c := range columns {
		heads[i] = excelize.Cell{StyleID: bold, Value: c.Head}
		if err := sheet.SetColWidth(i+1, i+1, c.Width); err != nil {
			return err
		}
	}
	lines := [][]any{{excelize.Cell{StyleID: large, Value: title}}, {about}, {}, heads}
	decimals := 0
	for _, row := range rows {
		cells := make([]any, len(row))
		for i, value := range row {
			cells[i] = value
			if amount, ok := value.(Amount); ok {
				decimals = max(decimals, amount.Decimals)
				style, err := styled(amount.Decimals)
				if err != nil {
					return err
				}
				cells[i] = excelize.Cell{StyleID: style, Value: amount.Number}
			}
		}
		lines = append(lines, cells)
	}
	sums := make([]any, len(columns))
	for i, c := range columns {
		column, err := excelize.ColumnNumberToName(i + 1)
		if err != nil {
			return err
		}
		if c.Summed && len(rows) > 0 {
			style, err := styled(decimals)
			if err != nil {
				return err
			}
			formula := fmt.Sprintf("SUM(%s%d:%s%d)", column, sheetHead+1, column, len(lines))
			sums[i] = excelize.Cell{StyleID: style, Formula: formula}
		}
	}
	for i, line := range append(lines, sums) {
		if err := sheet.SetRow(fmt.Sprintf("A%d", i+1), line); err != nil {
			return err
		}
	}
	return sheet.Flush()
}
