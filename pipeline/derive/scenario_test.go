package derive_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/alert"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/pipeline/geofence"
	"github.com/motorpool/fleet/pipeline/scenario"
)

// TestScenarios plays the stories in testdata: what is laid down, then what the devices say in order of time, each line
// followed by a bar and what comes of it. All is one vehicle's.
//
//	vehicle tags=van zone=America/Chicago [archived=18:00]      its traits
//	vehicle no_data=900                        its silence (s)
//	tracker 5 no_data=900                      that of a tracker of its own
//	booking b1 from=10:00 to=12:00 [done]      obligations: booking, document, maintenance, conflict
//	fence home circle=30.2672,-97.7431,100 [dwell=5m speed_limit=50 from=… to=… tags=… margin=… confirm=…]
//	fence yard polygon=lat,lng;lat,lng;…       the last point closes it
//	rule r1 speeding [threshold=… for=60s cooldown=10m fence=home severity=critical hours=22:00-06:00 from=… to=…]
//	route r1 start=08:00 end=18:00 [from=…] [corridor=lat,lng;lat,lng;width]   a route plan
//	stop a 30.2672,-97.7431,100 [fence=home until=… from=… stay=10m]           of the route above it
//	rule r2 signal signal=temp1_c above=8      and alarms=sos,idle of device_alarm
//	10:00:00 30.2672,-97.7431 [speed=50 course=90 accuracy=5 ignition=on odometer=12.5km alarm=sos invalid approximate mock late …]
//	10:00:05 soc_pct=55                        a measurement
//	10:30:00 silence                           time has come here without anything
//	10:31:00 drive to=30.2900,-97.7431 speed=50 [every=10s …]   fixes along a line, from the last place
//	10:40:00 park for=20m [every=60s drift=15 …]                fixes around the last place, so many metres off
//
// Times are of 20 November 2026, UTC, or carry their date; speeds are km/h. A fix may name any flag: those that it owes to
// its arrival change nothing.
func TestScenarios(t *testing.T) { scenario.Run(t, play) }

var key = fleet.VehicleKey{Account: 7, Vehicle: 1}

// story is a scenario as it is played.
type story struct {
	*scenario.Story
	cfg      derive.Config
	traits   fleet.Traits
	devices  map[fleet.DeviceID]fleet.TripSettings
	fences   []fleet.FenceVersion
	rules    []fleet.Rule
	fenceID  map[string]fleet.FenceID
	names    map[uint64]string // of fences and rules
	vehicle  *derive.Vehicle
	state    derive.State
	lat, lng float64
	random   *rand.Rand
	known    map[uint64]string // what is said of each thing so far
	last     map[uint64]fleet.Entity
	out      fleet.Entities
}

func play(p *scenario.Story) string {
	s := &story{Story: p, cfg: derive.DefaultConfig(), traits: fleet.Traits{Zone: time.UTC}, fenceID: map[string]fleet.FenceID{},
		random: rand.New(rand.NewPCG(1, 2)), names: map[uint64]string{}, known: map[uint64]string{}, last: map[uint64]fleet.Entity{}}
	commands := scenario.Commands{"vehicle": s.lay, "tracker": s.lay, "booking": s.lay, "document": s.lay, "maintenance": s.lay, "conflict": s.lay,
		"fence": s.lay, "rule": s.lay, "route": s.lay, "stop": s.lay, "": s.input}
	return s.Beside(58, commands, func(step func()) (told []string) {
		s.out = nil
		step()
		for _, e := range s.out {
			if what := s.tell(e); what != "" {
				told = append(told, what)
			}
		}
		return told
	})
}

// seconds reads a length of time in seconds.
func (s *story) seconds(value string) *fleet.Millis {
	span := fleet.Millis(s.Number(value) * 1000)
	return &span
}

func (s *story) hours(text string) *fleet.Schedule {
	from, to, _ := strings.Cut(text, "-")
	minutes := func(text string) int {
		at := s.Moment(text).Time()
		return at.Hour()*60 + at.Minute()
	}
	return &fleet.Schedule{Zone: s.traits.Zone, Windows: []fleet.Window{{Days: 0x7f, From: minutes(from), To: minutes(to)}}}
}

// lay lays down what does not come from devices.
func (s *story) lay(words []string) {
	members := scenario.Members(words[1:])
	with := func(name string, use func(string)) {
		if value, ok := members[name]; ok {
			use(value)
		}
	}
	switch words[0] {
	case "vehicle":
		with("tags", func(v string) { s.traits.Tags = strings.Split(v, ",") })
		with("zone", func(v string) {
			zone, err := time.LoadLocation(v)
			if err != nil {
				s.Fail("%v", err)
			}
			s.traits.Zone = zone
		})
		with("archived", func(v string) { s.traits.Archived = s.Moment(v) })
		with("no_data", func(v string) { s.traits.Trip.NoData = s.seconds(v) })
	case "tracker":
		s.devices = map[fleet.DeviceID]fleet.TripSettings{}
		with("no_data", func(v string) {
			s.devices[fleet.DeviceID(s.Number(words[1]))] = fleet.TripSettings{NoData: s.seconds(v)}
		})
	case "booking", "document", "maintenance", "conflict":
		o := fleet.Obligation{Kind: words[0], Ref: words[1]}
		with("from", func(v string) { o.From = s.Moment(v) })
		with("to", func(v string) { o.To = s.Moment(v) })
		_, o.Done = members["done"]
		s.traits.Obligations = append(s.traits.Obligations, o)
	case "fence":
		f := fleet.FenceVersion{ID: s.fenceID[words[1]], Revision: 1, Name: words[1]}
		if f.ID == 0 {
			f.ID = fleet.FenceID(100 + len(s.fenceID))
		} else {
			f.Revision = 2
		}
		s.fenceID[words[1]], s.names[uint64(f.ID)] = f.ID, words[1]
		with("circle", func(v string) {
			parts := strings.Split(v, ",")
			f.Geometry = fmt.Appendf(nil, `{"type":"Circle","center":[%s,%s],"radius_m":%s}`, parts[1], parts[0], parts[2])
		})
		with("polygon", func(v string) {
			var ring []string
			for _, point := range strings.Split(v, ";") {
				lat, lng := s.Place(point)
				ring = append(ring, fmt.Sprintf("[%v,%v]", lng, lat))
			}
			f.Geometry = fmt.Appendf(nil, `{"type":"Polygon","coordinates":[[%s,%s]]}`, strings.Join(ring, ","), ring[0])
		})
		with("dwell", func(v string) { f.Dwell = s.Span(v) })
		with("speed_limit", func(v string) { f.SpeedLimit = s.Number(v) * fleet.MetresPerKmh })
		with("margin", func(v string) { f.Margin = s.Number(v) })
		with("confirm", func(v string) { f.Confirm = int(s.Number(v)) })
		with("tags", func(v string) { f.Scope.Tags = strings.Split(v, ",") })
		with("hours", func(v string) { f.Schedule = s.hours(v) })
		with("from", func(v string) { f.From = s.Moment(v) })
		with("to", func(v string) { f.To = s.Moment(v) })
		s.fences = append(s.fences, f)
	case "rule":
		r := fleet.Rule{ID: fleet.RuleID(200 + len(s.rules)), Revision: 1, Kind: fleet.AlertKind(words[2]), Severity: "warning"}
		if !slices.Contains(fleet.AlertKinds, r.Kind) {
			s.Fail("no kind %s", words[2])
		}
		s.names[uint64(r.ID)] = words[1]
		with("threshold", func(v string) { r.Threshold = s.Number(v) })
		with("for", func(v string) { r.MinDuration = s.Span(v) })
		with("cooldown", func(v string) { r.CoolDown = s.Span(v) })
		with("severity", func(v string) { r.Severity = v })
		with("tags", func(v string) { r.Scope.Tags = strings.Split(v, ",") })
		with("hours", func(v string) { r.Schedule = s.hours(v) })
		with("alarms", func(v string) { r.Alarms = strings.Split(v, ",") })
		with("signal", func(v string) {
			bound := s.Number(members["above"])
			r.Signal = &fleet.SignalTest{Signal: fleet.MustSignal(v), Is: fleet.SignalAbove, Low: bound, High: bound, Hysteresis: 1}
		})
		with("from", func(v string) { r.From = s.Moment(v) })
		with("to", func(v string) { r.To = s.Moment(v) })
		with("fence", func(v string) {
			for _, name := range strings.Split(v, ",") {
				r.Fences = append(r.Fences, s.fenceID[name])
			}
		})
		s.rules = append(s.rules, r)
	case "route":
		p := fleet.RoutePlan{ID: fleet.PlanID(300 + len(s.traits.Routes)), Revision: 1, Vehicle: key.Vehicle}
		s.names[uint64(p.ID)] = words[1]
		with("start", func(v string) { p.Start = s.Moment(v) })
		with("end", func(v string) { p.End = s.Moment(v) })
		with("from", func(v string) { p.From = s.Moment(v) })
		with("corridor", func(v string) {
			parts := strings.Split(v, ";")
			lat, lng := s.Place(parts[0])
			toLat, toLng := s.Place(parts[1])
			p.Corridor = fmt.Appendf(nil, `{"type":"Corridor","coordinates":[[%v,%v],[%v,%v]],"width_m":%s}`, lng, lat, toLng, toLat, parts[2])
		})
		s.traits.Routes = append(s.traits.Routes, p)
	case "stop":
		p := &s.traits.Routes[len(s.traits.Routes)-1]
		x := fleet.PlanStop{ID: words[1]}
		with("fence", func(v string) { x.Fence = s.fenceID[v] })
		with("from", func(v string) { x.ArriveFrom = s.Moment(v) })
		with("until", func(v string) { x.ArriveUntil = s.Moment(v) })
		with("stay", func(v string) { x.Stay = s.Span(v) })
		if x.Fence == 0 {
			parts := strings.Split(words[2], ",")
			x.Place, x.Radius = fleet.Place{Lat: s.Number(parts[0]), Lng: s.Number(parts[1])}, s.Number(parts[2])
		}
		p.Stops = append(p.Stops, x)
	}
}

// input plays a line of what devices said.
func (s *story) input(words []string) {
	if s.vehicle == nil {
		index, err := geofence.NewIndex(s.fences)
		if err != nil {
			s.Fail("%v", err)
		}
		s.vehicle = derive.NewVehicle(&s.cfg, key, &fleet.Policy{Default: s.traits, Devices: s.devices}, index, alert.NewEngine(s.rules))
	}
	at := s.Moment(words[0])
	switch name, value, signal := strings.Cut(words[1], "="); {
	case words[1] == "silence":
		s.vehicle.Advance(&s.state, at, &s.out)
	case words[1] == "drive":
		s.drive(at, words[2:])
	case words[1] == "park":
		s.park(at, words[2:])
	case signal:
		found, ok := fleet.SignalNamed(name)
		if !ok {
			s.Fail("no signal %s", name)
		}
		s.vehicle.Step(&s.state, []derive.Input{{At: at, Signal: fleet.SignalValue{Signal: found, Value: s.Number(value)}}}, &s.out)
	default:
		s.vehicle.Step(&s.state, []derive.Input{{At: at, Position: s.fix(at, words[1:])}}, &s.out)
	}
}

// take removes a member from words.
func take(words []string, name, otherwise string) (string, []string) {
	for i, word := range words {
		if value, ok := strings.CutPrefix(word, name+"="); ok {
			return value, slices.Delete(slices.Clone(words), i, i+1)
		}
	}
	return otherwise, words
}

func (s *story) drive(at fleet.Millis, words []string) {
	to, words := take(words, "to", "")
	every, words := take(words, "every", "10s")
	speed, _ := take(words, "speed", "")
	lat, lng := s.Place(to)
	fromLat, fromLng, step := s.lat, s.lng, s.Span(every)
	length := fleet.Distance(fromLat, fromLng, lat, lng)
	course := math.Mod(math.Atan2((lng-fromLng)*math.Cos(lat*math.Pi/180), lat-fromLat)*180/math.Pi+360, 360)
	words = append(slices.Clone(words), fmt.Sprintf("course=%.1f", course))
	n := int(math.Ceil(length / (s.Number(speed) * fleet.MetresPerKmh * float64(step) / 1000)))
	for i := range n + 1 {
		part := float64(i) / float64(max(n, 1))
		place := fmt.Sprintf("%.6f,%.6f", fromLat+(lat-fromLat)*part, fromLng+(lng-fromLng)*part)
		when := at + fleet.Millis(i)*step
		s.vehicle.Step(&s.state, []derive.Input{{At: when, Position: s.fix(when, append([]string{place}, words...))}}, &s.out)
	}
}

func (s *story) park(at fleet.Millis, words []string) {
	length, words := take(words, "for", "")
	every, words := take(words, "every", "60s")
	drift, words := take(words, "drift", "0")
	lat, lng, metres := s.lat, s.lng, s.Number(drift)
	words = append([]string{""}, words...)
	for when := at; when <= at+s.Span(length); when += s.Span(every) {
		words[0] = fmt.Sprintf("%.6f,%.6f", lat+(s.random.Float64()*2-1)*metres/111_195, lng+(s.random.Float64()*2-1)*metres/111_195)
		s.vehicle.Step(&s.state, []derive.Input{{At: when, Position: s.fix(when, words)}}, &s.out)
	}
	s.lat, s.lng = lat, lng
}

func (s *story) fix(at fleet.Millis, words []string) *fleet.Position {
	nan := math.NaN()
	p := &fleet.Position{Account: key.Account, Vehicle: key.Vehicle, Device: 5, FixTime: at, DeviceTime: at, ReceivedTime: at + 500,
		Altitude: nan, Speed: nan, Course: nan, Accuracy: nan, Odometer: nan, Satellites: -1}
	p.Lat, p.Lng = s.Place(words[0])
	s.lat, s.lng = p.Lat, p.Lng
	p.Cell = cellOf(s.T, p.Lat, p.Lng)
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "speed":
			p.Speed = s.Number(value) * fleet.MetresPerKmh
		case "course":
			p.Course = s.Number(value)
		case "accuracy":
			if p.Accuracy = s.Number(value); p.Accuracy > s.cfg.Fix.MaxAccuracy {
				p.Flags |= fleet.FlagLowAccuracy
			}
		case "odometer":
			p.Odometer = s.Number(strings.TrimSuffix(value, "km")) * 1000
		case "ignition":
			p.Ignition = fleet.TriOf(value == "on")
		case "motion":
			p.Motion = fleet.TriOf(value == "on")
		case "alarm":
			p.Alarm = value
		case "device":
			p.Device = fleet.DeviceID(s.Number(value))
		default:
			bit := slices.Index(fleet.FlagNames[:], name)
			if bit < 0 {
				s.Fail("what is %q of a fix?", word)
			}
			p.Flags |= 1 << bit
		}
	}
	return p
}

// tell says what is new about a thing.
func (s *story) tell(e fleet.Entity) string {
	id := e.Header().ID
	before, was := s.last[id]
	s.last[id] = e
	said := s.describe(e)
	if said == s.known[id] {
		return ""
	}
	s.known[id] = said
	switch h := e.Header(); {
	case h.Open && !was:
		return said + " begins at " + clock(h.Start)
	case h.Open:
		return said
	case !was && h.Start == h.End:
		return said + " at " + clock(h.Start)
	case !was || before.Header().Open:
		return said + " " + clock(h.Start) + "-" + clock(h.End)
	}
	return said + " changed afterwards"
}

func clock(at fleet.Millis) string {
	if t := at.Time(); t.Day() != 20 {
		return t.Format("02T15:04:05")
	}
	return at.Time().Format("15:04:05")
}

// describe says what a thing is.
func (s *story) describe(e fleet.Entity) string {
	if e.Header().Open {
		switch e := e.(type) {
		case *fleet.RouteRun:
			return s.run(e)
		case *fleet.Alert:
			return "ALERT " + s.names[uint64(e.Rule)] + " " + string(e.What) + value(e.Peak)
		case *fleet.Visit:
			what := "visit of " + s.names[uint64(e.Fence)]
			if e.Initial {
				what += " (inside already)"
			}
			if e.DwelledAt != 0 {
				what += " dwelled at " + clock(e.DwelledAt)
			}
			return what
		}
		return string(e.Kind())
	}
	switch e := e.(type) {
	case *fleet.Trip:
		what := fmt.Sprintf("trip of %.1f km, %s moving", e.Distance/1000, span(e.Moving))
		if e.Idle > 0 {
			what += ", " + span(e.Idle) + " idle"
		}
		if e.Estimated > 0 {
			what += fmt.Sprintf(", %.1f km unrecorded", e.Estimated/1000)
		}
		return what + ", " + e.ClosedReason
	case *fleet.Stop:
		what := "stop"
		if e.Idle > 0 {
			what += ", " + span(e.Idle) + " idle"
		}
		return what + ", " + e.ClosedReason
	case *fleet.ChargingSession:
		return "charge" + value(e.SocStart) + value(e.SocEnd)
	case *fleet.Visit:
		if e.Crossed {
			return "crossed " + s.names[uint64(e.Fence)]
		}
		return "visit of " + s.names[uint64(e.Fence)] + ", " + e.ExitReason
	case *fleet.RouteRun:
		return s.run(e) + " " + e.ClosedReason
	case *fleet.DrivingEvent:
		return fmt.Sprintf("%s (%s, %.1f)", e.What, e.Source, e.Value)
	case *fleet.Alert:
		return "alert " + s.names[uint64(e.Rule)] + " " + string(e.What) + value(e.Peak) + " " + e.ResolvedReason
	}
	return "?"
}

// run says how far a route run has come.
func (s *story) run(e *fleet.RouteRun) string {
	text := "route " + s.names[uint64(e.Plan)]
	for _, x := range e.Stops {
		text += " " + x.ID
		if x.Arrived != 0 {
			text += "@" + clock(x.Arrived)
		}
		if x.Missed != 0 {
			text += " missed"
		}
	}
	if e.OffSince != 0 {
		text += " off"
	}
	return text
}

func value(v *float64) string {
	if v == nil {
		return ""
	}
	return " " + strconv.FormatFloat(math.Round(*v*10)/10, 'f', -1, 64)
}

func span(d fleet.Millis) string { return (time.Duration(d) * time.Millisecond).String() }
