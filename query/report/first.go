package report

import (
	"fmt"
	"strings"

	"github.com/motorpool/fleet/schemas"
)

// First says which of a report's rows are wanted.
type First struct {
	Rows    int    // how many, 0 for all
	By      string // the figure in whose order they are the first, "" for that of their keys
	Falling bool   // the largest come first
}

// cuts says whether the server is to tell the first rows, so that those behind them are neither sent nor worked out. It
// can where keys are numbers of records, which are in order by their length first, and by figures that it has as they
// are answered: whole ones. What is compared needs the rows of both spans.
func (d *Definition) cuts(q *Question) bool {
	if q.First.Rows == 0 || q.Compare != "" || groups[q.Group].Of != "record" {
		return false
	}
	if q.First.By == "" {
		return true
	}
	f := d.Figure(q.First.By)
	return f != nil && !f.Ratio() && f.Whole() && units[f.Unit].factor == nil
}

// The columns that a statement gets for those who want the first rows alone.
const (
	rowCount = "row_count" // rows that there are
	sumOf    = "sum_of_"   // a figure over all of them
)

// first is the text of a question for its first rows. Each says how many there are in all and, where the totals are the
// sum of all rows, that too. A row of everything comes before all others and beside their number.
func (d *Definition) first(q *Question, text string) string {
	columns := []string{"*", "count() OVER () AS " + rowCount}
	if d.addsUp(q.Group) {
		for _, f := range d.Figures {
			if !f.Ratio() {
				columns = append(columns, fmt.Sprintf("sum(%s) OVER () AS %s%[1]s", f.Name, sumOf))
			}
		}
	}
	var order []string
	rows, falling := q.First.Rows, ""
	if q.totals {
		order, rows = append(order, "everything DESC"), rows+1
	}
	if q.First.Falling {
		falling = " DESC"
	}
	if by := q.First.By; by != "" { // those of one value are in the order of their keys
		order, falling = append(order, fmt.Sprintf("isNull(%s)", by), by+falling), ""
	}
	order = append(order, "length(key)"+falling, "key"+falling)
	return fmt.Sprintf("SELECT %s\nFROM (\n%s\n)\nORDER BY %s LIMIT %d", strings.Join(columns, ", "), text,
		strings.Join(order, ", "), rows)
}

// sums is the row of everything that the sums beside a row are; ok says whether there are any.
func (s *scanner) sums() (everything []Value, ok bool, err error) {
	everything = make([]Value, len(s.figure))
	for i, at := range s.summed {
		if at < 0 {
			continue
		}
		if everything[i], err = valueOf(s.columns[at], s.reckoned[i].unit.decimals); err != nil {
			return nil, false, fmt.Errorf("%s: %w", s.figure[i].Name, err)
		}
		ok = true
	}
	return everything, ok, nil
}

// asked is the text of a question.
func (d *Definition) asked(q *Question) string {
	if d.cuts(q) {
		return d.first(q, d.text(q))
	}
	return d.text(q)
}

// found are the rows that a question has come to, and how many there are in all.
type found struct {
	rows []Row
	all  int
}

// add takes a row, and whatever it says of all.
func (f *found) add(s *scanner, row schemas.Row, span Span) error {
	key, raw, err := s.read(row)
	if err != nil {
		return err
	}
	switch {
	case s.count == nil && !s.everything():
		f.all++
	case s.count != nil && len(f.rows) == 0:
		if f.all = int(*s.count); s.everything() {
			f.all--
		}
		sums, ok, err := s.sums()
		if err != nil {
			return err
		}
		if ok {
			f.rows = append(f.rows, Row{Span: span, Values: sums, everything: true})
		}
	}
	f.rows = append(f.rows, Row{Key: key, Span: span, Values: raw, everything: s.everything()})
	return nil
}

// everything takes the row of everything out of the others, nil if there is none.
func (f *found) everything() []Row {
	for i, row := range f.rows {
		if row.everything {
			f.rows = append(f.rows[:i:i], f.rows[i+1:]...)
			return []Row{row}
		}
	}
	return nil
}
