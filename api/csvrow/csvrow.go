// Package csvrow reads the CSV files that people bring from their spreadsheets, and says of each record which row it is
// there: so that who is told of a row finds it. The first row is 1, the one that names the columns; an empty line is a
// row too, and a cell of several lines is in one.
package csvrow

import (
	"encoding/csv"
	"errors"
	"strings"
)

// Reader reads records and counts their rows.
type Reader struct {
	*csv.Reader
	row  int
	line int // the last one of the record that was read last
}

// New returns a reader of the records of another.
func New(r *csv.Reader) *Reader { return &Reader{Reader: r} }

// Read reads the next record, as csv.Reader does.
func (r *Reader) Read() ([]string, error) {
	cells, err := r.Reader.Read()
	first, last := r.line, r.line
	if broken, ok := errors.AsType[*csv.ParseError](err); ok {
		first, last = broken.StartLine, broken.Line
	} else if err == nil {
		first, _ = r.FieldPos(0)
		last = first
		for _, cell := range cells {
			last += strings.Count(cell, "\n")
		}
	}
	r.row, r.line = r.row+first-r.line, last
	return cells, err
}

// Row is the row of the record that was read last.
func (r *Reader) Row() int { return r.row }
