package fix_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/fix"
)

var start = fleet.MillisOf(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC))

func TestDefaultConfigIsValidAndSillyOnesAreNot(t *testing.T) {
	good := fix.DefaultConfig()
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*fix.Config){
		"negative tolerance": func(c *fix.Config) { c.FutureTolerance = -1 },
		"rollover of a week": func(c *fix.Config) { c.RolloverAge = 7 * 24 * time.Hour },
		"no speed":           func(c *fix.Config) { c.MaxSpeed = 0 },
		"NaN jump":           func(c *fix.Config) { c.JumpSpeed = math.NaN() },
		"negative wait":      func(c *fix.Config) { c.JumpConfirm = -1 },
	} {
		c := fix.DefaultConfig()
		spoil(&c)
		if c.Validate() == nil {
			t.Errorf("%s passes", name)
		}
	}
}

// A recording older than a GPS cycle keeps its time where the correction is switched off.
func TestRolloverCorrectionCanBeSwitchedOff(t *testing.T) {
	c := fix.DefaultConfig()
	c.RolloverAge = 0
	r := fleet.NewReport()
	r.FixTime, r.Lat, r.Lng = fleet.MillisOf(time.Date(2004, 5, 6, 7, 8, 9, 0, time.UTC)), 30, -97
	p, refusal := c.Normalise(&r, start)
	if refusal != "" || p.FixTime != r.FixTime || p.Flags != 0 {
		t.Errorf("%v at %v with %v", refusal, p.FixTime.Time(), p.Flags.Names())
	}
}

func TestASignalReportWithoutAPlaceHasItsTime(t *testing.T) {
	c := fix.DefaultConfig()
	r := fleet.NewReport()
	r.FixTime, r.Odometer = start, 1234
	p, refusal := c.Normalise(&r, start)
	if refusal != fleet.RefusedMissingCoordinates || p.FixTime != start || p.Odometer != 1234 {
		t.Errorf("%v, %v, odometer %v", refusal, p.FixTime, p.Odometer)
	}
}

// A record whose time stamp is garbage does not drag its reports' times along.
func TestReceivedTimeOfAGarbageStampIsUnknown(t *testing.T) {
	for stamp, want := range map[fleet.Millis]fleet.Millis{
		-1: 0, 0: 0, 1: 0, start: start, math.MaxInt64: 0, math.MinInt64: 0,
	} {
		if got := fix.Received(stamp); got != want {
			t.Errorf("Received(%d) = %d, want %d", stamp, got, want)
		}
	}
}

func anyFloat(t *rapid.T, name string, low, high float64) float64 {
	return rapid.OneOf(
		rapid.Float64Range(low, high), rapid.Float64Range(low, high),
		rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, math.MaxFloat64, low, high}),
	).Draw(t, name)
}

func anyReport(t *rapid.T, i int) fleet.Report {
	r := fleet.NewReport()
	r.Positioned = true
	r.FixTime = start + fleet.Millis(rapid.OneOf(
		rapid.Int64Range(0, 120_000), rapid.Int64Range(-3_600_000, 3_600_000),
		rapid.SampledFrom([]int64{math.MinInt64 / 2, math.MaxInt64 / 2, -int64(start), -700_000_000_000}),
	).Draw(t, "fix"))
	r.DeviceTime = fleet.Millis(rapid.SampledFrom([]int64{0, int64(start), -5, math.MaxInt64}).Draw(t, "device"))
	r.Lat = anyFloat(t, "lat", 30.26, 30.28)
	r.Lng = anyFloat(t, "lng", -97.75, -97.73)
	r.Speed = anyFloat(t, "speed", 0, 200)
	r.Course = anyFloat(t, "course", 0, 400)
	r.Accuracy = anyFloat(t, "accuracy", 0, 400)
	r.Altitude = anyFloat(t, "altitude", -100, 4000)
	r.Odometer = anyFloat(t, "odometer", 0, 100_000)
	r.Satellites = rapid.IntRange(-2, 300).Draw(t, "satellites")
	r.Ignition = fleet.Tri(rapid.IntRange(0, 2).Draw(t, "ignition"))
	r.Invalid = rapid.IntRange(0, 9).Draw(t, "invalid") == 0
	r.Approximate = rapid.IntRange(0, 9).Draw(t, "approximate") == 0
	r.Alarm = rapid.SampledFrom([]string{"", "sos", "no such alarm"}).Draw(t, "alarm")
	return r
}

// TestStateMovesForwardOnly sends any reports in any order and holds what every reader of a State relies on.
func TestStateMovesForwardOnly(t *testing.T) {
	config := fix.DefaultConfig()
	rapid.Check(t, func(t *rapid.T) {
		var s fix.State
		stored := map[fleet.Millis]bool{}
		received := start
		for i := range rapid.IntRange(1, 60).Draw(t, "reports") {
			received += fleet.Millis(rapid.IntRange(0, 30_000).Draw(t, "later"))
			r := anyReport(t, i)
			before := s
			p, refusal := config.Normalise(&r, received)
			if refusal == "" {
				free(&s, &p, stored)
				refusal = config.Classify(&s, &p, stored[p.FixTime])
			}
			if refusal != "" {
				if fmt.Sprint(s) != fmt.Sprint(before) { // as text, because NaN differs from itself
					t.Fatalf("a refused report (%s) changed the state", refusal)
				}
				continue
			}
			check(t, &p, received)
			if stored[p.FixTime] {
				t.Fatalf("two positions at %d", p.FixTime)
			}
			stored[p.FixTime] = true
			if s.Last.FixTime < before.Last.FixTime || s.Newest < before.Newest || s.Mileage.Time < before.Mileage.Time {
				t.Fatal("the state went back in time")
			}
			if s.Newest < s.Last.FixTime || s.Newest < p.FixTime {
				t.Fatalf("newest %d is below a stored fix time", s.Newest)
			}
			trusted := p.Flags&fleet.DoubtfulFlags == 0
			moved := s.Last.FixTime > before.Last.FixTime
			now := min(p.FixTime, max(received, before.Last.FixTime+1)) // nobody's clock moves the live state ahead of ours
			if p.Flags&fleet.FlagFutureClock != 0 {
				now = p.FixTime
			}
			if trusted && !(moved && s.Last.FixTime == now && s.Last.Lat == p.Lat && s.Last.Lng == p.Lng) {
				t.Fatal("a trusted fix did not become the live position")
			}
			if p.Flags&fleet.FlagDrift != 0 && (s.Last.Lat != before.Last.Lat || s.Last.Lng != before.Last.Lng || !moved) {
				t.Fatal("a drifting fix moved the live place, or did not move its time")
			}
			if !trusted && p.Flags&fleet.FlagDrift == 0 && s.Last.FixTime != before.Last.FixTime {
				t.Fatalf("a fix with %v moved live state", p.Flags.Names())
			}
			if s.Mileage.Total() < 0 || s.Mileage.Total() > fix.MaxOdometer {
				t.Fatalf("mileage %v", s.Mileage)
			}
		}
	})
}

type failer interface {
	Fatalf(format string, args ...any)
}

// check holds what the columns of positions rely on.
func check(t failer, p *fleet.Position, received fleet.Millis) {
	inRange := func(name string, v, low, high float64) {
		if !math.IsNaN(v) && !(v >= low && v <= high) {
			t.Fatalf("%s is %v", name, v)
		}
	}
	inRange("speed", p.Speed, 0, 120)
	inRange("course", p.Course, 0, math.Nextafter(360, 0))
	inRange("accuracy", p.Accuracy, 0, math.MaxFloat64)
	inRange("altitude", p.Altitude, -12_000, 100_000)
	inRange("odometer", p.Odometer, 0, 4e9)
	if !(math.Abs(p.Lat) <= 90 && math.Abs(p.Lng) <= 180) || p.Lat == 0 && p.Lng == 0 {
		t.Fatalf("place %v %v", p.Lat, p.Lng)
	}
	if p.Satellites < -1 || p.Satellites > 255 {
		t.Fatalf("%d satellites", p.Satellites)
	}
	// Two weeks: more future clocks than milliseconds in between would be needed to leave it.
	if p.FixTime <= 0 || received != 0 && p.FixTime > received+14*24*3_600_000 || p.DeviceTime <= 0 ||
		p.DeviceTime > 4_102_444_800_000 {
		t.Fatalf("fix time %d, device time %d", p.FixTime, p.DeviceTime)
	}
	if p.Alarm != fleet.AlarmOf(p.Alarm) {
		t.Fatalf("alarm %q", p.Alarm)
	}
}

// FuzzVerdict tries single reports of any content against a vehicle that stands somewhere.
func FuzzVerdict(f *testing.F) {
	f.Add(int64(start), int64(0), 30.2672, -97.7431, 10.0, 90.0, 5.0, 1000.0, uint8(0), int64(start))
	f.Add(int64(0), int64(-1), math.NaN(), math.Inf(1), -1.0, 360.0, 1e300, 1e18, uint8(7), int64(0))
	config := fix.DefaultConfig()
	f.Fuzz(func(t *testing.T, at, device int64, lat, lng, speed, course, accuracy, odometer float64,
		bits uint8, stamp int64) {
		r := fleet.NewReport()
		r.FixTime, r.DeviceTime = fleet.Millis(at), fleet.Millis(device)
		r.Lat, r.Lng, r.Speed, r.Course, r.Accuracy, r.Odometer, r.Altitude =
			lat, lng, speed, course, accuracy, odometer, speed
		r.Invalid, r.Approximate, r.Mock, r.Ignition = bits&1 != 0, bits&2 != 0, bits&4 != 0, fleet.Tri(bits>>3%3)
		received := fix.Received(fleet.Millis(stamp))
		p, refusal := config.Normalise(&r, received)
		if refusal != "" {
			return
		}
		check(t, &p, received)
		for _, s := range []fix.State{{}, {
			Last:   fleet.Position{FixTime: start, Lat: 30, Lng: -97, Ignition: fleet.No},
			Newest: start + 5, Mileage: fix.Mileage{Time: start, Raw: 100_000},
		}} {
			before := s
			q := p
			if refusal := config.Classify(&s, &q, false); refusal == "" {
				check(t, &q, 0)
			} else if fmt.Sprint(s) != fmt.Sprint(before) {
				t.Fatal("a duplicate changed the state")
			}
		}
	})
}

func BenchmarkClassify(b *testing.B) {
	config := fix.DefaultConfig()
	states := make([]fix.State, 1000)
	r := fleet.NewReport()
	r.Lat, r.Lng, r.Speed, r.Course, r.Accuracy, r.Odometer = 30.2672, -97.7431, 12, 90, 5, 1000
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		at := start + fleet.Millis(i/len(states))*1000
		r.FixTime, r.Lat = at, 30+float64(i/len(states)%1000)*1e-4
		p, _ := config.Normalise(&r, at)
		config.Classify(&states[i%len(states)], &p, false)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
