package codec

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/motorpool/fleet"
)

// decodeArrow reads an Arrow IPC stream. Its columns are named as the native members, its signals stand in columns of
// their own, and other columns do not matter; schemas/topics/arrow.md has the list.
func (d *Decoder) decodeArrow(value []byte, dst []fleet.Report) (out []fleet.Report, err error) {
	defer func() {
		// frames has checked what the reader relies on. If the reader still trips, one record is lost and not the worker.
		if fault := recover(); fault != nil {
			out, err = dst, fmt.Errorf("%w: arrow: %v", ErrUndecodable, fault)
		}
	}()
	d.slab.reset()
	stream := &frames{rest: value}
	reader, err := ipc.NewReaderFromMessageReader(stream, ipc.WithAllocator(&d.slab))
	if err != nil {
		return dst, fmt.Errorf("%w: %w", ErrUndecodable, err)
	}
	defer reader.Release()
	d.columns.bind(reader.Schema())
	out = dst
	for reader.Next() {
		batch := reader.Record()
		if len(out)-len(dst)+int(batch.NumRows()) > MaxReports {
			return dst, fmt.Errorf("%w: more than %d reports", ErrTooLarge, MaxReports)
		}
		out = d.appendRows(out, batch)
	}
	if err := reader.Err(); err != nil {
		return dst, fmt.Errorf("%w: %w", ErrUndecodable, err)
	}
	return out, nil
}

// arrowBlock is how many rows are filled column by column at a time: few enough that their reports stay in the cache.
const arrowBlock = 256

// appendRows appends the rows of a record batch.
func (d *Decoder) appendRows(dst []fleet.Report, batch arrow.Record) []fleet.Report {
	rows, begin := int(batch.NumRows()), len(dst)
	dst = slices.Grow(dst, rows)[:begin+rows]
	c := &d.columns
	c.attach(batch)
	blank := fleet.NewReport()
	for from := 0; from < rows; from += arrowBlock {
		out := dst[begin+from : begin+min(from+arrowBlock, rows)]
		for i := range out {
			out[i] = blank
		}
		for i := range c.members {
			d.fillMember(out, &c.members[i], from)
		}
		if len(c.signals) > 0 {
			d.fillSignals(out, from)
		}
	}
	return dst
}

// columnReader knows which columns of a stream are which members of a report.
type columnReader struct {
	members []column
	signals []column
	numbers [arrowBlock]float64
	values  [][arrowBlock]float64 // numbers, one for each of signals
}

// column is one column of a stream that matters.
type column struct {
	index  int
	member string
	signal fleet.Signal
	values arrow.Array // of the batch being read

	names     []string        // unique ids of a dictionary, read when first needed
	namesRead []bool          // which of names have been read
	dict      arrow.ArrayData // the dictionary that names is of
}

// arrowMembers are the columns that are fields of a report; other names are looked for in the catalogue of signals.
var arrowMembers = map[string]bool{
	"device": true, "fix_at": true, "at": true, "device_at": true, "lat": true, "lng": true, "altitude_m": true,
	"speed_mps": true, "course_deg": true, "accuracy_m": true, "odometer_m": true, "satellites": true,
	"ignition": true, "motion": true, "valid": true, "approximate": true, "mock": true, "alarm": true,
	"driver_tag": true,
}

// bind finds the columns of a schema that matter. Of two with one name the last counts.
func (c *columnReader) bind(schema *arrow.Schema) {
	c.members, c.signals = c.members[:0], c.signals[:0]
	for i, field := range schema.Fields() {
		if indices := schema.FieldIndices(field.Name); indices[len(indices)-1] != i || field.Type.ID() == arrow.NULL {
			continue
		}
		if arrowMembers[field.Name] {
			c.members = append(c.members, column{index: i, member: field.Name})
		} else if signal, ok := fleet.SignalNamed(field.Name); ok {
			c.signals = append(c.signals, column{index: i, signal: signal})
		}
	}
	c.values = slices.Grow(c.values[:0], len(c.signals))[:len(c.signals)]
}

// attach points the columns to the arrays of a batch.
func (c *columnReader) attach(batch arrow.Record) {
	for i := range c.members {
		c.members[i].values = batch.Column(c.members[i].index)
	}
	for i := range c.signals {
		c.signals[i].values = batch.Column(c.signals[i].index)
	}
}

// fillMember sets one field of a block of reports.
func (d *Decoder) fillMember(out []fleet.Report, c *column, from int) {
	switch c.member {
	case "device":
		d.fillDevices(out, c, from)
		return
	case "alarm":
		for i := range out {
			if text, ok := textAt(c.values, from+i); ok {
				out[i].Alarm = fleet.AlarmOf(text)
			}
		}
		return
	case "driver_tag":
		for i := range out {
			if text, ok := textAt(c.values, from+i); ok {
				setTag(&out[i], strings.Clone(text))
			}
		}
		return
	case "fix_at", "at":
		for i := range out {
			setTime(&out[i].FixTime, timeAt(c.values, from+i))
		}
		return
	case "device_at":
		for i := range out {
			out[i].DeviceTime = timeAt(c.values, from+i)
		}
		return
	}
	numbers := d.columns.numbers[:len(out)]
	readNumbers(numbers, c.values, from)
	switch c.member {
	case "lat":
		for i, v := range numbers {
			out[i].Lat = v
			out[i].Positioned = out[i].Positioned || !c.values.IsNull(from+i)
		}
	case "lng":
		for i, v := range numbers {
			out[i].Lng = v
			out[i].Positioned = out[i].Positioned || !c.values.IsNull(from+i)
		}
	case "altitude_m":
		for i, v := range numbers {
			out[i].Altitude = v
		}
	case "speed_mps":
		for i, v := range numbers {
			out[i].Speed = v
		}
	case "course_deg":
		for i, v := range numbers {
			out[i].Course = v
		}
	case "accuracy_m":
		for i, v := range numbers {
			out[i].Accuracy = v
		}
	case "odometer_m":
		for i, v := range numbers {
			out[i].Odometer = v
		}
	case "satellites":
		for i, v := range numbers {
			setCount(&out[i].Satellites, v)
		}
	case "ignition":
		for i, v := range numbers {
			out[i].Ignition = triOf(v)
		}
	case "motion":
		for i, v := range numbers {
			out[i].Motion = triOf(v)
		}
	case "valid":
		for i, v := range numbers {
			out[i].Invalid = v == 0
		}
	case "approximate":
		for i, v := range numbers {
			out[i].Approximate = triOf(v) == fleet.Yes
		}
	case "mock":
		for i, v := range numbers {
			out[i].Mock = triOf(v) == fleet.Yes
		}
	}
}

func triOf(v float64) fleet.Tri {
	if math.IsNaN(v) {
		return fleet.Unknown
	}
	return fleet.TriOf(v != 0)
}

// fillSignals sets the signals of a block of reports, row by row because a report's signals lie side by side.
func (d *Decoder) fillSignals(out []fleet.Report, from int) {
	c := &d.columns
	for j := range c.signals {
		readNumbers(c.values[j][:len(out)], c.signals[j].values, from)
	}
	for i := range out {
		d.signals.open()
		for j := range c.signals {
			if v := c.values[j][i]; !math.IsNaN(v) {
				d.addSignal(&out[i], c.signals[j].signal, v)
			}
		}
		out[i].Signals = d.signals.close()
	}
}

// fillDevices sets the unique ids. In a dictionary each is looked up once, in a plain column once per run of equals.
func (d *Decoder) fillDevices(out []fleet.Report, c *column, from int) {
	dictionary, ok := c.values.(*array.Dictionary)
	if !ok {
		before, name := "", ""
		for i := range out {
			text, ok := textAt(c.values, from+i)
			if !ok {
				continue
			}
			if text != before {
				before, name = text, d.names.text(text)
			}
			out[i].UniqueID = name
		}
		return
	}
	values := dictionary.Dictionary()
	if data := dictionary.Data().Dictionary(); c.dict != data {
		c.dict, c.names, c.namesRead = data, make([]string, values.Len()), make([]bool, values.Len())
	}
	for i := range out {
		if dictionary.IsNull(from + i) {
			continue
		}
		at := dictionary.GetValueIndex(from + i) // out of range panics below, as a corrupt stream should
		if !c.namesRead[at] {
			c.namesRead[at] = true
			if text, ok := textAt(values, at); ok {
				c.names[at] = d.names.text(text)
			}
		}
		out[i].UniqueID = c.names[at]
	}
}

// textAt returns a string of a column, none for a null or a column of another type. Its memory is the slab's.
func textAt(values arrow.Array, i int) (string, bool) {
	if values.IsNull(i) {
		return "", false
	}
	switch values := values.(type) {
	case *array.String:
		return values.Value(i), true
	case *array.LargeString:
		return values.Value(i), true
	case *array.Dictionary:
		return textAt(values.Dictionary(), values.GetValueIndex(i))
	}
	return "", false
}

// timeAt returns a time of a column, 0 for a null or what is no time. A timestamp without a zone is taken as UTC.
func timeAt(values arrow.Array, i int) fleet.Millis {
	if values.IsNull(i) {
		return 0
	}
	var at int64
	switch values := values.(type) {
	case *array.Timestamp:
		at = int64(values.Value(i))
		switch values.DataType().(*arrow.TimestampType).Unit {
		case arrow.Second:
			if at > maxMillis/1000 || at < -maxMillis/1000 {
				return 0
			}
			at *= 1000
		case arrow.Microsecond:
			at = floorDiv(at, 1e3)
		case arrow.Nanosecond:
			at = floorDiv(at, 1e6)
		}
	case *array.Int64:
		at = values.Value(i)
	default:
		var one [1]float64
		readNumbers(one[:], values, i)
		return millisOf(one[0])
	}
	if at > maxMillis || at < -maxMillis {
		return 0
	}
	return fleet.Millis(at)
}

// readNumbers copies a part of a column, beginning at a row, as numbers: NaN for a null, and for every row of a column
// that is neither numbers nor booleans.
func readNumbers(dst []float64, values arrow.Array, from int) {
	to := from + len(dst)
	switch values := values.(type) {
	case *array.Float64:
		copy(dst, values.Float64Values()[from:to])
	case *array.Float32:
		widen(dst, values.Float32Values()[from:to])
	case *array.Int8:
		widen(dst, values.Int8Values()[from:to])
	case *array.Int16:
		widen(dst, values.Int16Values()[from:to])
	case *array.Int32:
		widen(dst, values.Int32Values()[from:to])
	case *array.Int64:
		widen(dst, values.Int64Values()[from:to])
	case *array.Uint8:
		widen(dst, values.Uint8Values()[from:to])
	case *array.Uint16:
		widen(dst, values.Uint16Values()[from:to])
	case *array.Uint32:
		widen(dst, values.Uint32Values()[from:to])
	case *array.Uint64:
		widen(dst, values.Uint64Values()[from:to])
	case *array.Boolean:
		for i := range dst {
			dst[i] = 0
			if values.Value(from + i) {
				dst[i] = 1
			}
		}
	default:
		for i := range dst {
			dst[i] = math.NaN()
		}
		return
	}
	if values.NullN() != 0 {
		for i := range dst {
			if values.IsNull(from + i) {
				dst[i] = math.NaN()
			}
		}
	}
	for i, v := range dst {
		if math.IsInf(v, 0) {
			dst[i] = math.NaN()
		}
	}
}

func widen[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32](dst []float64, values []T) {
	for i, v := range values {
		dst[i] = float64(v)
	}
}
