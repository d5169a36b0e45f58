package recording

import (
	"bytes"
	"fmt"

	"math"
	"strconv"
	"strings"

	"github.com/motorpool/fleet"
)

// csvRows reads comma-separated rows under a header that names at least vehicle, timestamp, lat and lng, in any order.
// A row is one line: an unclosed quote harms that line alone. A short row has its last columns empty.
type csvRows struct {
	lines  *lineReader
	cells  [][]byte
	setAt  []setter // by column; nil for a column that means nothing to us
	column columns
}

// columns are the places of the cells that every row needs, and of those that stand in for others.
type columns struct {
	vehicle, timestamp, lat, lng int
	vehicleSpeed                 bool // speed_kmh comes from the vehicle, as the satellites' speed has its own column
}

// setter puts the text of a cell into a report. Text that is no value leaves the quantity absent.
type setter func(cell []byte, r *fleet.Report)

func newCSV(lines *lineReader) (*csvRows, error) {
	header, err := lines.next()
	for err == nil && len(bytes.TrimSpace(header)) == 0 {
		header, err = lines.next()
	}
	if err != nil {
		return nil, err
	}
	c := &csvRows{lines: lines}
	place := make(map[string]int)
	var names []string
	for i, cell := range splitCells(nil, header) {
		name := strings.ToLower(strings.TrimSpace(string(cell)))
		names = append(names, name)
		if _, twice := place[name]; !twice {
			place[name] = i
		}
	}
	var missing []string
	at := func(name string) int {
		i, ok := place[name]
		if !ok {
			missing = append(missing, name)
		}
		return i
	}
	c.column.vehicle, c.column.timestamp = at("vehicle"), at("timestamp")
	c.column.lat, c.column.lng = at("lat"), at("lng")
	if len(missing) > 0 {
		return nil, fmt.Errorf("%w: the header has no column %s (it has: %s)", ErrNotRecording,
			strings.Join(missing, ", "), shorten(strings.Join(names, ", "), 120))
	}
	_, c.column.vehicleSpeed = place["gps_speed_kmh"]
	c.setAt = make([]setter, len(names))
	for name, i := range place {
		c.setAt[i] = setterFor(name, c.column.vehicleSpeed)
	}
	return c, nil
}

func (c *csvRows) next(r *fleet.Report) error {
	line, err := c.lines.next()
	for err == nil && len(bytes.TrimSpace(line)) == 0 {
		line, err = c.lines.next()
	}
	if err != nil {
		return err
	}
	c.cells = splitCells(c.cells[:0], line)
	r.Positioned = true
	r.UniqueID = strings.ToValidUTF8(string(bytes.TrimSpace(c.cell(c.column.vehicle))), "�")
	r.FixTime = parseTime(c.cell(c.column.timestamp))
	r.Lat, r.Lng = number(c.cell(c.column.lat)), number(c.cell(c.column.lng))
	for i, set := range c.setAt {
		if set == nil {
			continue
		}
		if cell := c.cell(i); len(cell) > 0 {
			set(cell, r)
		}
	}
	return nil
}

func (c *csvRows) cell(i int) []byte {
	if i >= len(c.cells) {
		return nil
	}
	return c.cells[i]
}

// setterFor returns what a column means, or nil. A column named like a signal of the catalogue is that signal; the
// other names are those of the recordings at hand, with their units converted.
func setterFor(name string, vehicleSpeed bool) setter {
	switch name {
	case "speed_kmh":
		if !vehicleSpeed {
			return quantity(func(r *fleet.Report, v float64) { r.Speed = v * fleet.MetresPerKmh })
		}
		ecu := fleet.MustSignal("ecu_speed_mps")
		return quantity(func(r *fleet.Report, v float64) {
			r.Speed = v * fleet.MetresPerKmh
			addSignal(r, ecu, r.Speed)
		})
	case "gps_speed_kmh":
		// Where a recording has both, the satellites' speed lags seconds behind the vehicle's, which therefore wins.
		return quantity(func(r *fleet.Report, v float64) {
			if math.IsNaN(r.Speed) {
				r.Speed = v * fleet.MetresPerKmh
			}
		})
	case "speed_mps":
		return quantity(func(r *fleet.Report, v float64) { r.Speed = v })
	case "heading_deg", "course_deg":
		return quantity(func(r *fleet.Report, v float64) { r.Course = v })
	case "altitude_m":
		return quantity(func(r *fleet.Report, v float64) { r.Altitude = v })
	case "gps_accuracy_m", "gps_accuracy", "accuracy_m":
		return quantity(func(r *fleet.Report, v float64) { r.Accuracy = v })
	case "gps_sats", "satellites":
		return quantity(func(r *fleet.Report, v float64) {
			if v >= 0 && v <= 255 {
				r.Satellites = int(v)
			}
		})
	case "gps_fix": // 0 and 1: no fix; 2: two dimensions; 3: three
		return quantity(func(r *fleet.Report, v float64) { r.Invalid = v < 2 })
	case "odometer_m":
		return quantity(func(r *fleet.Report, v float64) { r.Odometer = v })
	case "odometer_km":
		return quantity(func(r *fleet.Report, v float64) { r.Odometer = v * 1000 })
	case "odometer_mi":
		return quantity(func(r *fleet.Report, v float64) { r.Odometer = v * fleet.MetresPerMile })
	case "ignition":
		return yesOrNo(func(r *fleet.Report, v fleet.Tri) { r.Ignition = v })
	case "motion":
		return yesOrNo(func(r *fleet.Report, v fleet.Tri) { r.Motion = v })
	case "cadence":
		// 255 is what the source writes for a sensor that is not there.
		cadence := fleet.MustSignal("cadence_rpm")
		return quantity(func(r *fleet.Report, v float64) {
			if v != 255 {
				addSignal(r, cadence, v)
			}
		})
	}
	if column, ok := signalColumns[name]; ok {
		return quantity(func(r *fleet.Report, v float64) { addSignal(r, column.signal, v*column.factor) })
	}
	if signal, ok := fleet.SignalNamed(name); ok {
		return quantity(func(r *fleet.Report, v float64) { addSignal(r, signal, v) })
	}
	return nil
}

type signalColumn struct {
	signal fleet.Signal
	factor float64 // from the column's unit to the signal's
}

// signalColumns are the columns that are a signal under another name or in another unit.
var signalColumns = map[string]signalColumn{
	"battery_pct":       {fleet.MustSignal("soc_pct"), 1},
	"rpm":               {fleet.MustSignal("engine_rpm"), 1},
	"heart_rate":        {fleet.MustSignal("heart_rate_bpm"), 1},
	"trip_distance_m":   {fleet.MustSignal("trip_odometer_m"), 1},
	"trip_distance_km":  {fleet.MustSignal("trip_odometer_m"), 1000},
	"speed_limit_kmh":   {fleet.MustSignal("speed_limit_mps"), fleet.MetresPerKmh},
	"accel_x_g":         {fleet.MustSignal("accel_x_mps2"), fleet.StandardG},
	"accel_y_g":         {fleet.MustSignal("accel_y_mps2"), fleet.StandardG},
	"accel_z_g":         {fleet.MustSignal("accel_z_mps2"), fleet.StandardG},
	"calculated_maf_gs": {fleet.MustSignal("maf_gps"), 1},
	// The source labels it l/s, but it is OBD parameter 0x10, which SAE J1979 defines in g/s.
	"maf": {fleet.MustSignal("maf_gps"), 1},
}

// addSignal notes a measurement; of two columns that are the same signal the first one counts.
func addSignal(r *fleet.Report, s fleet.Signal, v float64) {
	for i := range r.Signals {
		if r.Signals[i].Signal == s {
			return
		}
	}
	r.Signals = append(r.Signals, fleet.SignalValue{Signal: s, Value: v})
}

func quantity(set func(*fleet.Report, float64)) setter {
	return func(cell []byte, r *fleet.Report) {
		if v := number(cell); !math.IsNaN(v) {
			set(r, v)
		}
	}
}

func yesOrNo(set func(*fleet.Report, fleet.Tri)) setter {
	return func(cell []byte, r *fleet.Report) {
		switch strings.ToLower(string(bytes.TrimSpace(cell))) {
		case "1", "true", "on", "yes":
			set(r, fleet.Yes)
		case "0", "false", "off", "no":
			set(r, fleet.No)
		}
	}
}

// number returns the finite number that a cell says, or NaN.
func number(cell []byte) float64 {
	v, err := strconv.ParseFloat(string(bytes.TrimSpace(cell)), 64)
	if err != nil || math.IsInf(v, 0) {
		return math.NaN()
	}
	return v
}

// parseTime returns the instant that a cell says, as RFC 3339 or as seconds or milliseconds since 1970, or zero.
func parseTime(cell []byte) fleet.Millis {
	text := string(bytes.TrimSpace(cell))
	if t, err := fleet.ParseTime(text); err == nil {
		return fleet.MillisOf(t)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil || n <= 0 || n > 1<<53:
		return 0
	case n < 1e11: // as milliseconds this would be before 1974, as seconds it reaches the year 5138
		return fleet.Millis(n * 1000)
	}
	return fleet.Millis(n)
}

// splitCells splits a line at commas, with RFC 4180 quotes. Cells point into the line, which is changed in place where
// a doubled quote has to shrink.
func splitCells(dst [][]byte, line []byte) [][]byte {
	for {
		if len(line) > 0 && line[0] == '"' {
			cell, rest, more := quotedCell(line)
			dst = append(dst, cell)
			if !more {
				return dst
			}
			line = rest
			continue
		}
		cell, rest, more := bytes.Cut(line, []byte{','})
		dst = append(dst, cell)
		if !more {
			return dst
		}
		line = rest
	}
}

// quotedCell takes a cell that opens with a quote. What stands between the closing quote and the comma is kept.
func quotedCell(line []byte) (cell, rest []byte, more bool) {
	out := line[:0]
	inside := true
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == '"' && inside && i+1 < len(line) && line[i+1] == '"':
			out = append(out, '"')
			i++
		case line[i] == '"' && inside:
			inside = false
		case line[i] == ',' && !inside:
			return out, line[i+1:], true
		default:
			out = append(out, line[i])
		}
	}
	return out, nil, false
}

func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
