package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"time"
	"unicode/utf8"
)

// bufferSize is how much a text writer collects before it writes.
const bufferSize = 32 << 10

// jsonWriter is what is written to: what collects the bytes of a row before they go on.
type jsonWriter interface {
	io.Writer
	io.ByteWriter
}

type jsonTable struct {
	w       jsonWriter
	columns []Column
	names   []string // "name":, quoted
	lines   bool
	rows    int
	line    []byte
}

func newJSON(w io.Writer, columns []Column) *jsonTable {
	t := &jsonTable{columns: columns, names: make([]string, 0, len(columns))}
	if whole, ok := w.(*bytes.Buffer); ok { // it collects everything
		t.w = whole
	} else {
		t.w = bufio.NewWriterSize(w, bufferSize)
	}
	for _, c := range columns {
		t.names = append(t.names, string(appendText(nil, c.Name))+":")
	}
	return t
}

func newNDJSON(w io.Writer, columns []Column) *jsonTable {
	t := newJSON(w, columns)
	t.lines = true
	return t
}

func (t *jsonTable) Write(row []Value) error {
	line := t.line[:0]
	if !t.lines {
		if t.rows == 0 {
			line = append(line, '[')
		} else {
			line = append(line, ',')
		}
	}
	line = appendObject(line, t.names, t.columns, row)
	if t.lines {
		line = append(line, '\n')
	}
	t.rows++
	t.line = line
	_, err := t.w.Write(line)
	return err
}

func (t *jsonTable) Close() error {
	if !t.lines {
		if t.rows == 0 {
			t.w.WriteByte('[')
		}
		t.w.WriteByte(']')
	}
	if w, ok := t.w.(*bufio.Writer); ok {
		return w.Flush()
	}
	return nil
}

func appendObject(dst []byte, names []string, columns []Column, row []Value) []byte {
	dst = append(dst, '{')
	for i := range row {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, names[i]...)
		dst = appendValue(dst, columns[i].Kind, &row[i])
	}
	return append(dst, '}')
}

func appendValue(dst []byte, kind Kind, v *Value) []byte {
	if !v.set {
		return append(dst, "null"...)
	}
	switch kind {
	case Number:
		return strconv.AppendFloat(dst, v.number, 'f', -1, 64)
	case Whole:
		return strconv.AppendInt(dst, v.whole, 10)
	case Truth:
		return strconv.AppendBool(dst, v.whole != 0)
	case Instant:
		dst = append(dst, '"')
		dst = time.UnixMilli(v.whole).UTC().AppendFormat(dst, instantLayout)
		return append(dst, '"')
	case Words:
		dst = append(dst, '[')
		for i, word := range v.words {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendText(dst, word)
		}
		return append(dst, ']')
	}
	return appendText(dst, v.text)
}

func appendText(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			quoted, err := json.Marshal(s)
			if err != nil {
				panic(err) // a string always encodes
			}
			return append(dst, quoted...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}
