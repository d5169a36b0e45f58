package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math/big"

	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/api/sheet"
	"github.com/motorpool/fleet/query/report"
)

// Write writes all rows in a format of export.Reports but JSON.
func (v *View) Write(w io.Writer, format export.Format) error {
	switch format {
	case export.CSV:
		return v.writeCSV(w)
	case export.Arrow, export.Parquet:
		return v.writeTable(w, format)
	case export.XLSX:
		return v.writeXLSX(w)
	}
	return fmt.Errorf("%s is not a format of reports", format)
}

// writeCSV writes rows for people: amounts as decimals, times in hours, what they are compared with in columns beside,
// and the ids of records in the last column. A text that a spreadsheet would take for a formula has an apostrophe in
// front, as in every CSV.
func (v *View) writeCSV(w io.Writer) error {
	table := csv.NewWriter(w)
	head := append([]string{cmp.Or(v.groupWords(), "Of"), "From", "Until", "Currency"}, v.headings()...)
	ids := report.GroupNamed(v.GroupBy).Prefix != ""
	if ids {
		head = append(head, "ID")
	}
	if err := table.Write(head); err != nil {
		return err
	}
	for i := range v.rows {
		r := &v.rows[i]
		line := []string{sheet.InertCell(r.Label), r.From, r.Until, v.Currency}
		line = v.cells(line, r.values)
		if v.beside {
			line = v.cells(line, r.previous)
		}
		if ids {
			line = append(line, r.Key)
		}
		if err := table.Write(line); err != nil {
			return err
		}
	}
	table.Flush()
	return table.Error()
}

// hourDecimals are those of hours in CSV: less than a second.
const hourDecimals = 4

// cells appends the values of a row as people read them; nil is a row without any.
func (v *View) cells(line []string, values []report.Value) []string {
	for i := range v.report.Figures {
		f := &v.report.Figures[i]
		switch {
		case values == nil || !values[i].Known():
			line = append(line, "")
		case f.Text():
			line = append(line, sheet.InertCell(values[i].String()))
		case f.Money():
			n, decimals := values[i].Unscaled()
			line = append(line, report.Decimal(n, decimals+price.Decimals(v.Currency)))
		case f.Unit == "seconds":
			line = append(line, report.Rounded(new(big.Rat).Mul(values[i].Rat(), big.NewRat(1, 3600)), hourDecimals).String())
		default:
			line = append(line, values[i].String())
		}
	}
	return line
}

// writeTable writes rows for programs: amounts in minor units.
func (v *View) writeTable(w io.Writer, format export.Format) error {
	columns := []export.Column{{Name: "key"}, {Name: "label"}, {Name: "from"}, {Name: "until"}, {Name: "currency"}}
	for _, prefix := range []string{"", "previous_"} {
		for i := range v.report.Figures {
			f := &v.report.Figures[i]
			c := export.Column{Name: prefix + f.Name, Kind: export.Number}
			switch {
			case f.Text():
				c.Kind = export.Text
			case f.Whole():
				c.Kind = export.Whole
			}
			if prefix == "" || v.beside {
				columns = append(columns, c)
			}
		}
	}
	table, err := export.NewTable(format, w, columns)
	if err != nil {
		return err
	}
	for i := range v.rows {
		r := &v.rows[i]
		row := []export.Value{export.TextOf(r.Key), export.TextOf(r.Label), export.TextOf(r.From), export.TextOf(r.Until),
			export.TextOf(v.Currency)}
		row = v.typed(row, r.values)
		if v.beside {
			row = v.typed(row, r.previous)
		}
		if err := table.Write(row); err != nil {
			return err
		}
	}
	return table.Close()
}

func (v *View) typed(row []export.Value, values []report.Value) []export.Value {
	for i := range v.report.Figures {
		f := &v.report.Figures[i]
		switch {
		case values == nil || !values[i].Known():
			row = append(row, export.Value{})
		case f.Text():
			row = append(row, export.TextOf(values[i].String()))
		case f.Whole():
			n, _ := values[i].Unscaled()
			row = append(row, export.WholeOf(n))
		default:
			row = append(row, export.ExactOf(values[i].Float()))
		}
	}
	return row
}
