package export

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"
)

type csvTable struct {
	w       *csv.Writer
	columns []Column
	record  []string
}

func newCSV(w io.Writer, columns []Column) (*csvTable, error) {
	t := &csvTable{w: csv.NewWriter(w), columns: columns, record: make([]string, len(columns))}
	for i, c := range columns {
		t.record[i] = c.Name
	}
	return t, t.w.Write(t.record)
}

func (t *csvTable) Write(row []Value) error {
	for i := range row {
		t.record[i] = cell(t.columns[i].Kind, &row[i])
	}
	return t.w.Write(t.record)
}

func (t *csvTable) Close() error {
	t.w.Flush()
	return t.w.Error()
}

// cell writes a value as CSV has it; null is an empty cell.
func cell(kind Kind, v *Value) string {
	if !v.set {
		return ""
	}
	switch kind {
	case Number:
		return strconv.FormatFloat(v.number, 'f', -1, 64)
	case Whole:
		return strconv.FormatInt(v.whole, 10)
	case Truth:
		return strconv.FormatBool(v.whole != 0)
	case Instant:
		return time.UnixMilli(v.whole).UTC().Format(instantLayout)
	case Words:
		return inert(strings.Join(v.words, ";"))
	}
	return inert(v.text)
}

// inert keeps a spreadsheet from taking text for a formula: whoever names a device must not get to run something on the
// machine of whoever opens the file.
func inert(s string) string {
	if s != "" && strings.IndexByte("=+-@\t\r", s[0]) >= 0 {
		return "'" + s
	}
	return s
}
