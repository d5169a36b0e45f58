package codec

import (
	"fmt"
	"math"

	"github.com/motorpool/fleet"
)

// decodeText reads a record of either JSON format: one object, or an array of them.
func (d *Decoder) decodeText(value []byte, dst []fleet.Report,
	object func(*Decoder, *fleet.Report)) ([]fleet.Report, error) {
	s := &d.scan
	s.start(value)
	out, tooMany := dst, false
	switch s.peek() {
	case '{':
		out = d.decodeObject(out, object)
	case '[':
		s.open()
		for first := true; s.more(first, ']'); first = false {
			if s.peek() != '{' {
				s.fail("an element of the array is not an object")
				break
			}
			if len(out)-len(dst) == MaxReports {
				tooMany = true
				s.fail("too many reports")
				break
			}
			out = d.decodeObject(out, object)
		}
	case 0:
		s.fail("nothing is there")
	default:
		s.fail("neither an object nor an array")
	}
	s.end()
	s.data = nil // the value belongs to the caller
	if tooMany {
		return dst, fmt.Errorf("%w: more than %d reports", ErrTooLarge, MaxReports)
	}
	if s.fault != "" {
		return dst, fmt.Errorf("%w: %s (byte %d)", ErrUndecodable, s.fault, s.where)
	}
	return out, nil
}

func (d *Decoder) decodeObject(dst []fleet.Report, object func(*Decoder, *fleet.Report)) []fleet.Report {
	dst = append(dst, fleet.NewReport())
	r := &dst[len(dst)-1]
	d.signals.open()
	object(d, r)
	r.Signals = d.signals.close()
	return dst
}

// nativeObject reads one report. A member without a usable value changes nothing; of several that have one, the last
// counts, but not of several devices.
func (d *Decoder) nativeObject(r *fleet.Report) {
	s := &d.scan
	s.open()
	for first := true; s.more(first, '}'); first = false {
		switch string(s.key()) {
		case "device":
			d.setID(r)
		case "fix_at", "at":
			setTime(&r.FixTime, s.clock())
		case "device_at":
			setTime(&r.DeviceTime, s.clock())
		case "lat":
			r.Positioned = true
			set(&r.Lat, s.float())
		case "lng":
			r.Positioned = true
			set(&r.Lng, s.float())
		case "altitude_m":
			set(&r.Altitude, s.float())
		case "speed_mps":
			set(&r.Speed, s.float())
		case "course_deg":
			set(&r.Course, s.float())
		case "accuracy_m":
			set(&r.Accuracy, s.float())
		case "odometer_m":
			set(&r.Odometer, s.float())
		case "satellites":
			setCount(&r.Satellites, s.float())
		case "ignition":
			setTri(&r.Ignition, s.readTri())
		case "motion":
			setTri(&r.Motion, s.readTri())
		case "valid":
			if t := s.readTri(); t != fleet.Unknown {
				r.Invalid = t == fleet.No
			}
		case "approximate":
			setBool(&r.Approximate, s.readTri())
		case "mock":
			setBool(&r.Mock, s.readTri())
		case "alarm":
			d.setAlarm(r)
		case "driver_tag":
			d.setDriver(r)
		case "signals":
			d.nativeSignals(r)
		default:
			s.skip()
		}
	}
}

func (d *Decoder) nativeSignals(r *fleet.Report) {
	s := &d.scan
	if s.peek() != '{' {
		s.skip()
		return
	}
	s.open()
	for first := true; s.more(first, '}'); first = false {
		signal, known := fleet.SignalNamedBytes(s.key())
		switch {
		case !known:
			d.UnknownSignals++
			s.skip()
		case s.peek() == 'n': // null: not measured
			s.skip()
		default:
			d.addSignal(r, signal, s.measure())
		}
	}
}

// setID notes whose report it is. One that names two devices is nobody's: whoever let it through may have looked at the
// other of them.
func (d *Decoder) setID(r *fleet.Report) {
	text, ok := d.scan.text()
	if !ok {
		return
	}
	id := d.names.bytes(text)
	if r.UniqueID != "" && r.UniqueID != id {
		d.scan.fail("a report names two devices")
		return
	}
	r.UniqueID = id
}

func (d *Decoder) setAlarm(r *fleet.Report) {
	if text, ok := d.scan.text(); ok {
		r.Alarm = fleet.AlarmOf(string(text))
	}
}

// setDriver notes who is logged in.
func (d *Decoder) setDriver(r *fleet.Report) {
	if text, ok := d.scan.text(); ok {
		setTag(r, string(text))
	}
}

func setTag(r *fleet.Report, written string) {
	if tag := fleet.DriverTag(written); tag != "" {
		r.Driver = tag
	}
}

func set(to *float64, v float64) {
	if !math.IsNaN(v) {
		*to = v
	}
}

func setTime(to *fleet.Millis, at fleet.Millis) {
	if at != 0 {
		*to = at
	}
}

func setTri(to *fleet.Tri, t fleet.Tri) {
	if t != fleet.Unknown {
		*to = t
	}
}

func setBool(to *bool, t fleet.Tri) {
	if t != fleet.Unknown {
		*to = t == fleet.Yes
	}
}

// setCount takes a number of satellites. No receiver tracks more than a byte can count, so a larger one is a mistake.
func setCount(to *int, v float64) {
	if v >= 0 && v <= 255 {
		*to = int(v)
	}
}
