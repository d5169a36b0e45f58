package recording

import (
	"bytes"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/motorpool/fleet"
)

// nmeaRows reads NMEA 0183 (version 4): the sentences of one UTC second, or fraction of it, make one report. RMC gives
// place, date, speed and course; GGA place, altitude, satellites and quality; VTG course and speed; GSA the dilutions.
// The date is RMC's or ZDA's and holds for the sentences after it. The file's name is the identifier.
//
// A sentence that fails its checksum is damaged, and nothing in it can be trusted: a damaged RMC is a report without
// time or place, so that it is counted among the refused, and any other damaged sentence is passed over.
type nmeaRows struct {
	lines   *lineReader
	vehicle string

	date    time.Time // midnight of the newest date seen; zero until one was
	clock   string    // time of day of the epoch in hand, as written; empty for none
	epoch   fleet.Report
	open    bool // the epoch in hand holds a place
	hasRMC  bool
	damaged int // damaged RMC sentences not yet reported
	ended   bool
}

func newNMEA(lines *lineReader, vehicle string) *nmeaRows {
	return &nmeaRows{lines: lines, vehicle: vehicle, epoch: fleet.NewReport()}
}

func (m *nmeaRows) next(r *fleet.Report) error {
	for {
		if m.damaged > 0 {
			m.damaged--
			r.UniqueID, r.Positioned = m.vehicle, true
			return nil
		}
		if m.ended {
			return io.EOF
		}
		line, err := m.lines.next()
		if err == io.EOF {
			m.ended = true
			if m.finish(r) {
				return nil
			}
			continue
		}
		if err != nil {
			return err
		}
		kind, fields, ok := sentence(line)
		if !ok {
			if bytes.Contains(line, []byte("RMC,")) {
				m.damaged++
				if m.hasRMC && m.finish(r) {
					return nil
				}
			}
			continue
		}
		if m.read(kind, fields, r) {
			return nil
		}
	}
}

// read takes a sentence into the epoch in hand, and says whether that ended the epoch before, now in r.
func (m *nmeaRows) read(kind string, f [][]byte, r *fleet.Report) bool {
	switch kind {
	case "RMC", "GGA":
		if len(f) < 9 {
			return false
		}
		ended := false
		if clock := string(f[0]); !m.open || clock != m.clock || kind == "RMC" && m.hasRMC {
			ended = m.finish(r)
			m.clock, m.open = clock, true
		}
		if kind == "RMC" {
			m.rmc(f)
		} else {
			m.gga(f)
		}
		return ended
	case "ZDA":
		if len(f) >= 4 {
			m.setDate(string(f[1])+string(f[2]), string(f[3]))
		}
	case "VTG":
		if len(f) >= 7 && m.open {
			if course := number(f[0]); math.IsNaN(m.epoch.Course) {
				m.epoch.Course = course
			}
			if kmh := number(f[6]); math.IsNaN(m.epoch.Speed) {
				m.epoch.Speed = kmh * fleet.MetresPerKmh
			}
		}
	case "GSA":
		if len(f) >= 17 && m.open {
			for i, signal := range []string{"pdop", "hdop", "vdop"} {
				if v := number(f[14+i]); !math.IsNaN(v) {
					addSignal(&m.epoch, fleet.MustSignal(signal), v)
				}
			}
		}
	}
	return false
}

// finish hands out the epoch in hand, if there is one.
func (m *nmeaRows) finish(r *fleet.Report) bool {
	if !m.open {
		return false
	}
	m.epoch.UniqueID, m.epoch.Positioned = m.vehicle, true
	m.epoch.FixTime = m.at(m.clock)
	signals := append(r.Signals[:0], m.epoch.Signals...)
	*r = m.epoch
	r.Signals = signals
	m.epoch.Reset()
	m.open, m.hasRMC = false, false
	return true
}

// rmc: time, status, lat, N/S, lng, E/W, knots, course, ddmmyy, variation, E/W, mode.
func (m *nmeaRows) rmc(f [][]byte) {
	e := &m.epoch
	m.hasRMC = true
	if string(f[1]) != "A" {
		e.Invalid = true
	}
	m.place(f[2], f[3], f[4], f[5])
	if knots := number(f[6]); !math.IsNaN(knots) {
		e.Speed = knots * fleet.MetresPerKnot
	}
	if course := number(f[7]); !math.IsNaN(course) {
		e.Course = course
	}
	if date := f[8]; len(date) == 6 {
		century := "20"
		if date[4] >= '8' { // the satellites' own clock began in 1980
			century = "19"
		}
		m.setDate(string(date[:4]), century+string(date[4:]))
	}
	if len(f) > 11 && len(f[11]) == 1 {
		m.mode(f[11][0])
	}
}

// gga: time, lat, N/S, lng, E/W, quality, satellites, hdop, altitude, M, separation, M, …
func (m *nmeaRows) gga(f [][]byte) {
	e := &m.epoch
	m.place(f[1], f[2], f[3], f[4])
	switch string(f[5]) {
	case "0", "":
		e.Invalid = true
	case "6":
		m.mode('E')
	case "8":
		m.mode('S')
	}
	if n := number(f[6]); n >= 0 && n <= 255 {
		e.Satellites = int(n)
	}
	if hdop := number(f[7]); !math.IsNaN(hdop) {
		addSignal(e, fleet.MustSignal("hdop"), hdop)
	}
	e.Altitude = number(f[8])
}

// mode is the indicator of NMEA 2.3: A autonomous, D differential, E estimated, N not valid, S simulated, …
func (m *nmeaRows) mode(indicator byte) {
	switch indicator {
	case 'E':
		m.epoch.Approximate = true
	case 'N':
		m.epoch.Invalid = true
	case 'S', 'M':
		m.epoch.Mock = true
	}
}

func (m *nmeaRows) place(lat, ns, lng, ew []byte) {
	if v := degrees(lat, ns, 'N', 'S'); !math.IsNaN(v) {
		m.epoch.Lat = v
	}
	if v := degrees(lng, ew, 'E', 'W'); !math.IsNaN(v) {
		m.epoch.Lng = v
	}
}

func (m *nmeaRows) setDate(ddmm, yyyy string) {
	if date, err := time.Parse("02012006", ddmm+yyyy); err == nil {
		m.date = date
	}
}

// at puts the time of day onto the date, or returns zero where either is not known.
func (m *nmeaRows) at(clock string) fleet.Millis {
	if m.date.IsZero() || len(clock) < 6 {
		return 0
	}
	hour, errH := strconv.ParseUint(clock[:2], 10, 8)
	minute, errM := strconv.ParseUint(clock[2:4], 10, 8)
	second := number([]byte(clock[4:]))
	if errH != nil || errM != nil || hour > 23 || minute > 59 || !(second >= 0 && second < 61) {
		return 0
	}
	day := fleet.MillisOf(m.date)
	return day + fleet.Millis(hour*3600000+minute*60000) + fleet.Millis(math.Round(second*1000))
}

// degrees reads [d]ddmm.mmmm and its hemisphere.
func degrees(text, hemisphere []byte, positive, negative byte) float64 {
	v := number(text)
	if math.IsNaN(v) || v < 0 || len(hemisphere) != 1 {
		return math.NaN()
	}
	whole := math.Floor(v / 100)
	v = whole + (v-whole*100)/60
	switch hemisphere[0] {
	case positive:
		return v
	case negative:
		return -v
	}
	return math.NaN()
}

// sentence takes a line apart: $ttKKK,field,…*hh, where tt is the talker, KKK the kind and hh the exclusive or of what
// stands between $ and *. What stands before the $, a tag block or a logger's time stamp, is passed over.
func sentence(line []byte) (kind string, fields [][]byte, ok bool) {
	start := bytes.IndexByte(line, '$')
	if start < 0 {
		return "", nil, false
	}
	body, check, found := bytes.Cut(line[start+1:], []byte{'*'})
	if !found || len(check) < 2 {
		return "", nil, false
	}
	want, err := strconv.ParseUint(string(check[:2]), 16, 8)
	if err != nil {
		return "", nil, false
	}
	var sum byte
	for _, b := range body {
		sum ^= b
	}
	if sum != byte(want) {
		return "", nil, false
	}
	address, rest, _ := bytes.Cut(body, []byte{','})
	if len(address) < 5 || address[0] == 'P' { // P: a maker's own sentence
		return "", nil, false
	}
	return string(address[len(address)-3:]), bytes.Split(rest, []byte{','}), true
}
