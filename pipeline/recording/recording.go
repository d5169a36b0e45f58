// Package recording reads files of vehicle recordings as reports: CSV, GPX, Traccar JSON and NMEA 0183, each also
// gzipped. Nothing is judged, sorted or left out: a row whose time or place is empty or broken is still a report, so
// that the pipeline refuses it with its reason. Files are streamed: a reader holds one row, however long the file is.
//
// A report's UniqueID is what the file itself calls the vehicle. Quantities are SI, times UTC. The package knows no
// clock, no store and no broker, and imports only fleet and the standard library.
package recording

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/motorpool/fleet"
)

// Format is the form of a recording.
type Format string

// The formats.
const (
	CSV     Format = "csv"
	GPX     Format = "gpx"
	Traccar Format = "traccar"
	NMEA    Format = "nmea"
)

// maxRow bounds the bytes of one row, track point, object or sentence, so that a hostile file cannot fill the memory.
const maxRow = 1 << 20

// ErrNotRecording says that a file is none of the known formats, or lacks what makes it a recording.
var ErrNotRecording = errors.New("not a recording")

// errRowTooLong says that a row is longer than maxRow.
var errRowTooLong = fmt.Errorf("row longer than %d bytes", maxRow)

// rows is one format's reader: next fills a report that says nothing yet, and returns io.EOF after the last one.
type rows interface {
	next(r *fleet.Report) error
}

// Reader streams the reports of one recording in file order. It is used by one goroutine.
type Reader struct {
	name   string
	format Format
	rows   rows
	line   func() int
	source *counter
	closer io.Closer
}

// Open opens a file. Errors name the file; the caller closes the reader.
func Open(path string) (*Reader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err // names the file already
	}
	r, err := New(filepath.Base(path), file)
	if err != nil {
		file.Close()
		return nil, err
	}
	r.closer = file
	return r, nil
}

// New reads a recording from a stream. The name stands in errors and is, without its extensions, the vehicle of a
// format that names none. The content decides the format, and gzip is recognised by its first bytes.
func New(name string, stream io.Reader) (*Reader, error) {
	source := &counter{r: stream}
	buffered := bufio.NewReaderSize(source, 64<<10)
	if magic, _ := buffered.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		buffered = bufio.NewReaderSize(unzipped, 64<<10)
	}
	if mark, _ := buffered.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		buffered.Discard(3)
	}
	r := &Reader{name: name, source: source, line: func() int { return 0 }}
	if err := r.start(buffered); err != nil {
		return nil, r.wrap(err)
	}
	return r, nil
}

// start sniffs the format and makes its reader.
func (r *Reader) start(buffered *bufio.Reader) error {
	head, err := firstByte(buffered)
	if err != nil {
		return err
	}
	vehicle := stem(r.name)
	lines := &lineReader{r: buffered}
	budget := &budget{r: buffered}
	switch head {
	case '<':
		points := newGPX(budget, vehicle)
		r.format, r.rows, r.line = GPX, points, points.line
	case '{', '[':
		objects := newTraccar(budget)
		r.format, r.rows, r.line = Traccar, objects, objects.line
	case '$', '!', '\\':
		r.format, r.rows, r.line = NMEA, newNMEA(lines, vehicle), lines.line
	default:
		r.format, r.line = CSV, lines.line
		r.rows, err = newCSV(lines)
	}
	return err
}

// Next fills the report with the next row; the report keeps nothing of what it held before. It returns io.EOF after
// the last row. Any other error names the file and the line, and ends the recording.
func (r *Reader) Next(report *fleet.Report) error {
	report.Reset()
	err := r.rows.next(report)
	if err == nil || err == io.EOF {
		return err
	}
	return r.wrap(err)
}

// Format returns the form of the recording.
func (r *Reader) Format() Format { return r.format }

// Offset returns how many bytes of the file, as it lies on disk, have been read.
func (r *Reader) Offset() int64 { return r.source.n }

// Close closes the file that Open opened.
func (r *Reader) Close() error {
	if r.closer == nil {
		return nil
	}
	return r.closer.Close()
}

func (r *Reader) wrap(err error) error {
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("the file is cut short or damaged: %w", err)
	}
	if line := r.line(); line > 0 {
		return fmt.Errorf("%s:%d: %w", r.name, line, err)
	}
	return fmt.Errorf("%s: %w", r.name, err)
}

// firstByte returns the first byte that is not white space, without consuming it.
func firstByte(b *bufio.Reader) (byte, error) {
	const sniffed = 4 << 10
	head, err := b.Peek(sniffed)
	if text := bytes.TrimLeft(head, " \t\r\n"); len(text) > 0 {
		return text[0], nil
	}
	if err != nil && err != io.EOF {
		return 0, err
	}
	return 0, fmt.Errorf("%w: the file is empty", ErrNotRecording)
}

// stem returns the file's name without its extensions.
func stem(name string) string {
	base := filepath.Base(name)
	base = strings.TrimSuffix(base, ".gz")
	if i := strings.LastIndexByte(base, '.'); i > 0 {
		base = base[:i]
	}
	return base
}

// counter counts the bytes that pass.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// budget refuses to hand out more than maxRow bytes between two calls of renew: the decoders of XML and JSON would
// otherwise buffer a token of any length. It also counts lines.
type budget struct {
	r     io.Reader
	spent int
	lines int
}

func (b *budget) Read(p []byte) (int, error) {
	if b.spent >= maxRow {
		return 0, errRowTooLong
	}
	n, err := b.r.Read(p[:min(len(p), maxRow-b.spent)])
	b.spent += n
	b.lines += bytes.Count(p[:n], []byte{'\n'})
	return n, err
}

func (b *budget) renew() { b.spent = 0 }

// lineReader hands out lines without their ends. A line is valid until the next call.
type lineReader struct {
	r    *bufio.Reader
	long []byte
	n    int
}

func (l *lineReader) line() int { return l.n }

func (l *lineReader) next() ([]byte, error) {
	l.long = l.long[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			if len(l.long)+len(part) > maxRow {
				l.n++
				return nil, errRowTooLong
			}
			l.long = append(l.long, part...)
			continue
		}
		if len(l.long) > 0 {
			l.long = append(l.long, part...)
			part = l.long
		}
		if err != nil && (err != io.EOF || len(part) == 0) {
			return nil, err
		}
		l.n++
		return bytes.TrimRight(part, "\r\n"), nil
	}
}
