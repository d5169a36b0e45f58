package codec

import (
	"bytes"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/motorpool/fleet"
)

// EncodeArrow writes reports as one Arrow IPC stream with one record batch. It has a column for the unique id and for
// every member and signal that at least one report gives. A report that is no position has null coordinates, one whose
// coordinate is missing has NaN. More than MaxReports reports are ErrTooLarge.
//
// Decode gives the reports back, with their signals in the order of the catalogue.
func EncodeArrow(reports []fleet.Report) ([]byte, error) {
	if len(reports) > MaxReports {
		return nil, fmt.Errorf("%w: %d reports, at most %d go into one record", ErrTooLarge, len(reports), MaxReports)
	}
	var fields []arrow.Field
	var writers []func(*fleet.Report)
	var builders []array.Builder
	defer func() {
		for _, b := range builders {
			b.Release()
		}
	}()
	build := func(name string, kind arrow.DataType) array.Builder {
		b := array.NewBuilder(memory.DefaultAllocator, kind)
		b.Reserve(len(reports))
		fields = append(fields, arrow.Field{Name: name, Type: kind, Nullable: true})
		builders = append(builders, b)
		return b
	}

	names := build("device", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32,
		ValueType: arrow.BinaryTypes.String}).(*array.BinaryDictionaryBuilder)
	var fault error
	writers = append(writers, func(r *fleet.Report) {
		if r.UniqueID == "" {
			names.AppendNull()
		} else if err := names.AppendString(r.UniqueID); err != nil {
			fault = err
		}
	})
	for _, m := range arrowTimes {
		if !gives(reports, func(r *fleet.Report) bool { return m.of(r) != 0 }) {
			continue
		}
		b := build(m.name, arrow.FixedWidthTypes.Timestamp_ms).(*array.TimestampBuilder)
		writers = append(writers, func(r *fleet.Report) {
			if at := m.of(r); at != 0 {
				b.Append(arrow.Timestamp(at))
			} else {
				b.AppendNull()
			}
		})
	}
	numbers := func(name string, has func(*fleet.Report) bool, of func(*fleet.Report) float64) {
		if !gives(reports, has) {
			return
		}
		b := build(name, arrow.PrimitiveTypes.Float64).(*array.Float64Builder)
		writers = append(writers, func(r *fleet.Report) {
			if has(r) {
				b.Append(of(r))
			} else {
				b.AppendNull()
			}
		})
	}
	positioned := func(r *fleet.Report) bool { return r.Positioned }
	numbers("lat", positioned, func(r *fleet.Report) float64 { return r.Lat })
	numbers("lng", positioned, func(r *fleet.Report) float64 { return r.Lng })
	for _, m := range arrowQuantities {
		numbers(m.name, func(r *fleet.Report) bool { return !math.IsNaN(m.of(r)) }, m.of)
	}
	for _, m := range arrowTruths {
		if !gives(reports, func(r *fleet.Report) bool { return m.of(r) != fleet.Unknown }) {
			continue
		}
		b := build(m.name, arrow.FixedWidthTypes.Boolean).(*array.BooleanBuilder)
		writers = append(writers, func(r *fleet.Report) {
			if t := m.of(r); t != fleet.Unknown {
				b.Append(t == fleet.Yes)
			} else {
				b.AppendNull()
			}
		})
	}
	for _, m := range arrowTexts {
		if !gives(reports, func(r *fleet.Report) bool { return m.of(r) != "" }) {
			continue
		}
		b := build(m.name, arrow.BinaryTypes.String).(*array.StringBuilder)
		writers = append(writers, func(r *fleet.Report) {
			if text := m.of(r); text != "" {
				b.Append(text)
			} else {
				b.AppendNull()
			}
		})
	}
	var given [len(fleet.Signals)]bool
	for i := range reports {
		for _, m := range reports[i].Signals {
			given[m.Signal] = true
		}
	}
	for i := range given {
		if !given[i] {
			continue
		}
		b := build(fleet.Signals[i].Name, arrow.PrimitiveTypes.Float64).(*array.Float64Builder)
		writers = append(writers, func(r *fleet.Report) {
			for _, m := range r.Signals {
				if m.Signal == fleet.Signal(i) {
					b.Append(m.Value)
					return
				}
			}
			b.AppendNull()
		})
	}

	for i := range reports {
		for _, write := range writers {
			write(&reports[i])
		}
	}
	if fault != nil {
		return nil, fmt.Errorf("encode unique ids: %w", fault)
	}
	return writeStream(fields, builders, len(reports))
}

// writeStream writes the contents of the builders as a stream of one batch.
func writeStream(fields []arrow.Field, builders []array.Builder, rows int) ([]byte, error) {
	columns := make([]arrow.Array, len(builders))
	for i, b := range builders {
		columns[i] = b.NewArray()
		defer columns[i].Release()
	}
	schema := arrow.NewSchema(fields, nil)
	batch := array.NewRecord(schema, columns, int64(rows))
	defer batch.Release()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	if err := w.Write(batch); err != nil {
		return nil, fmt.Errorf("encode arrow batch: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("encode arrow stream: %w", err)
	}
	return out.Bytes(), nil
}

func gives(reports []fleet.Report, has func(*fleet.Report) bool) bool {
	for i := range reports {
		if has(&reports[i]) {
			return true
		}
	}
	return false
}

var arrowTimes = []struct {
	name string
	of   func(*fleet.Report) fleet.Millis
}{
	{"fix_at", func(r *fleet.Report) fleet.Millis { return r.FixTime }},
	{"device_at", func(r *fleet.Report) fleet.Millis { return r.DeviceTime }},
}

var arrowQuantities = []struct {
	name string
	of   func(*fleet.Report) float64
}{
	{"altitude_m", func(r *fleet.Report) float64 { return r.Altitude }},
	{"speed_mps", func(r *fleet.Report) float64 { return r.Speed }},
	{"course_deg", func(r *fleet.Report) float64 { return r.Course }},
	{"accuracy_m", func(r *fleet.Report) float64 { return r.Accuracy }},
	{"odometer_m", func(r *fleet.Report) float64 { return r.Odometer }},
	{"satellites", func(r *fleet.Report) float64 {
		if r.Satellites < 0 {
			return math.NaN()
		}
		return float64(r.Satellites)
	}},
}

var arrowTexts = []struct {
	name string
	of   func(*fleet.Report) string
}{
	{"alarm", func(r *fleet.Report) string { return r.Alarm }},
	{"driver_tag", func(r *fleet.Report) string { return r.Driver }},
}

var arrowTruths = []struct {
	name string
	of   func(*fleet.Report) fleet.Tri
}{
	{"ignition", func(r *fleet.Report) fleet.Tri { return r.Ignition }},
	{"motion", func(r *fleet.Report) fleet.Tri { return r.Motion }},
	{"valid", func(r *fleet.Report) fleet.Tri {
		if r.Invalid {
			return fleet.No
		}
		return fleet.Unknown
	}},
	{"approximate", func(r *fleet.Report) fleet.Tri { return yesOrUnknown(r.Approximate) }},
	{"mock", func(r *fleet.Report) fleet.Tri { return yesOrUnknown(r.Mock) }},
}

func yesOrUnknown(b bool) fleet.Tri {
	if b {
		return fleet.Yes
	}
	return fleet.Unknown
}
