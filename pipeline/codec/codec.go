// Package codec turns the records of the ingest topics into fleet.Report values and back, and those of the topics of
// events and changes and of dead letters likewise (event.go, deadletter.go).
//
// Three formats of reports are read: the native JSON, the JSON that Traccar forwards, and Arrow IPC streams.
// schemas/topics documents them for producers. A record is either understood as a whole, or refused as a whole with
// ErrUndecodable or ErrTooLarge; inside a record that is understood, a member that is missing, null or of the
// wrong type is simply absent. Nothing is judged here: impossible coordinates and clocks pass through, and package
// fix refuses them with a reason.
//
// Odometer, ignition and motion are fields of a Report as well as signals of the catalogue. The codec always fills the
// fields, also when they come under "signals", and never lists the three among Report.Signals; the pipeline makes
// signals of the fields. So each is stored once, whatever way a producer sent it.
//
// Input is hostile until proven otherwise: memory is bounded by MaxReports and by the size of the record, nesting by
// maxDepth, and no input makes a Decoder panic.
package codec

import (
	"errors"
	"fmt"
	"math"
	"mime"

	"github.com/motorpool/fleet"
)

// Format names a way in which reports are written into a record.
type Format string

// The formats.
const (
	JSON    Format = "json"    // native JSON, one object or an array of them
	Traccar Format = "traccar" // JSON as Traccar forwards it
	Arrow   Format = "arrow"   // Arrow IPC stream, columns named as the native members
)

// Content types of the formats, as they stand in the record header ContentTypeHeader.
const (
	ContentTypeHeader  = "content-type"
	ContentTypeJSON    = "application/json"
	ContentTypeTraccar = "application/vnd.traccar+json"
	ContentTypeArrow   = "application/vnd.apache.arrow.stream"
)

// Limits of one record.
const (
	DefaultMaxBytes = 5 << 20 // of a record's value
	MaxReports      = 65536   // in one record
)

// ErrUndecodable says that a record is not of the stated format; the text says what is wrong and where.
var ErrUndecodable = errors.New("undecodable record")

// ErrTooLarge says that a record is longer than Decoder.MaxBytes or holds more than MaxReports reports.
var ErrTooLarge = errors.New("record too large")

// FormatOf returns the format that a content type names, and byTopic if there is no content type. Case and parameters
// such as charset do not matter. A content type that is none of ours is ErrUndecodable.
func FormatOf(contentType string, byTopic Format) (Format, error) {
	switch contentType { // the exact forms first, because this runs for every record
	case "":
		return byTopic, nil
	case ContentTypeJSON:
		return JSON, nil
	case ContentTypeTraccar:
		return Traccar, nil
	case ContentTypeArrow:
		return Arrow, nil
	}
	base, _, err := mime.ParseMediaType(contentType)
	if err == nil && base != contentType {
		return FormatOf(base, byTopic)
	}
	return "", fmt.Errorf("%w: content type %.100q is not known", ErrUndecodable, contentType)
}

// ContentType returns the content type of the format, empty for a format that is none of ours.
func (f Format) ContentType() string {
	switch f {
	case JSON:
		return ContentTypeJSON
	case Traccar:
		return ContentTypeTraccar
	case Arrow:
		return ContentTypeArrow
	}
	return ""
}

// Decoder reads records. It belongs to one goroutine and keeps its memory between records, so that a steady stream of
// fixes costs no allocation.
type Decoder struct {
	// MaxBytes is the largest value of a record that is read; NewDecoder sets DefaultMaxBytes.
	MaxBytes int

	// DroppedSignals counts values of known signals that were out of range or no number.
	DroppedSignals uint64
	// UnknownSignals counts members of "signals" that are not in the catalogue. Traccar's attributes and Arrow's columns
	// are open sets, of which what we do not know is ignored and not counted.
	UnknownSignals uint64

	names   interner
	signals arena
	scan    scanner
	columns columnReader
	slab    slab
}

// NewDecoder returns a decoder with the default limits.
func NewDecoder() *Decoder { return &Decoder{MaxBytes: DefaultMaxBytes} }

// Decode appends the reports of one record to dst. On an error dst comes back as it was. The reports refer to memory of
// the decoder and stay good until Reset, not merely until the next Decode; value may be reused at once.
//
// Errors are ErrUndecodable and ErrTooLarge, wrapped with the detail. An empty array holds no reports and is no error.
func (d *Decoder) Decode(f Format, value []byte, dst []fleet.Report) ([]fleet.Report, error) {
	if len(value) > d.MaxBytes {
		return dst, fmt.Errorf("%w: %d bytes, at most %d are read", ErrTooLarge, len(value), d.MaxBytes)
	}
	switch f {
	case JSON:
		return d.decodeText(value, dst, (*Decoder).nativeObject)
	case Traccar:
		return d.decodeText(value, dst, (*Decoder).traccarObject)
	case Arrow:
		return d.decodeArrow(value, dst)
	}
	return dst, fmt.Errorf("%w: format %.100q is not known", ErrUndecodable, string(f))
}

// Reset takes back the memory of all reports that were handed out since the last Reset. Unique ids and
// alarms stay good.
func (d *Decoder) Reset() { d.signals.reset() }

// addSignal notes one measurement for the report that the arena is open for. The three quantities that are fields of a
// report go there, unless a member of their own has filled the field already.
func (d *Decoder) addSignal(r *fleet.Report, s fleet.Signal, v float64) {
	if !s.Accepts(v) {
		d.DroppedSignals++
		return
	}
	switch s {
	case signalOdometer:
		if math.IsNaN(r.Odometer) {
			r.Odometer = v
		}
	case signalIgnition:
		if r.Ignition == fleet.Unknown {
			r.Ignition = fleet.TriOf(v != 0)
		}
	case signalMotion:
		if r.Motion == fleet.Unknown {
			r.Motion = fleet.TriOf(v != 0)
		}
	default:
		d.signals.add(s, v)
	}
}

var (
	signalOdometer = fleet.MustSignal("odometer_m")
	signalIgnition = fleet.MustSignal("ignition")
	signalMotion   = fleet.MustSignal("motion")
)
