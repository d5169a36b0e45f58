// Package sim makes a fleet that drives: the same seed makes the same fleet, fix by fix. Vehicles wander through a city
// with stops, turns and changing speed, and report what real trackers report, so that sizes on disk and the cost of
// decoding are those of real fixes and not of random numbers. It has no clock: the caller gives the times.
package sim

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/motorpool/fleet"
)

// Config says what fleet to make.
type Config struct {
	Seed     uint64
	Vehicles int
	Start    fleet.Millis // time of the first round of fixes
	Interval fleet.Millis // between two fixes of one vehicle
	Lat, Lng float64      // middle of the city
	Radius   float64      // m, how far from it vehicles start
	Reach    float64      // m from the middle beyond which a vehicle turns back; 0 lets them go
	Shift    fleet.Millis // of each day, from the time of day of Start, that vehicles are out; 0 is round the clock
}

// DefaultConfig is a thousand vehicles around Austin, one fix each ten seconds.
func DefaultConfig() Config {
	return Config{Seed: 1, Vehicles: 1000, Start: 1_767_225_600_000, Interval: 10_000, Lat: 30.2672, Lng: -97.7431,
		Radius: 12_000}
}

// Fleet is the vehicles and where they are. It is owned by one goroutine.
type Fleet struct {
	cfg      Config
	rng      *rand.Rand
	vehicles []vehicle
	next     int // vehicle that reports next
	round    int
}

type vehicle struct {
	id            string
	lat, lng      float64
	course, speed float64
	odometer, soc float64
	stoppedRounds int
	electric      bool
	offset        fleet.Millis // so that not all report in the same millisecond
	signals       [3]fleet.SignalValue
}

// New places the fleet at its start.
func New(cfg Config) *Fleet {
	f := &Fleet{cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 0x6d6f746f72706f6f)),
		vehicles: make([]vehicle, cfg.Vehicles)}
	for i := range f.vehicles {
		away, bearing := f.rng.Float64()*cfg.Radius, f.rng.Float64()*360
		v := &f.vehicles[i]
		*v = vehicle{
			id: UniqueID(i), lat: cfg.Lat, lng: cfg.Lng, course: f.rng.Float64() * 360, speed: f.rng.Float64() * 20,
			odometer: float64(f.rng.IntN(150_000_000)), soc: 20 + f.rng.Float64()*75, electric: i%4 == 0,
			offset: fleet.Millis(f.rng.Int64N(int64(max(cfg.Interval, 1)))),
		}
		v.move(bearing, away)
	}
	return f
}

// UniqueID is the identifier of the i-th vehicle's device, in the form of an IMEI.
func UniqueID(i int) string { return fmt.Sprintf("8612340%08d", i) }

// Next fills r with the next fix of the fleet: one of every vehicle in turn, in the order of time. The report's signals
// belong to the fleet and hold until the vehicle's next turn.
func (f *Fleet) Next(r *fleet.Report) {
	v := &f.vehicles[f.next]
	f.drive(v)
	*r = fleet.NewReport()
	r.UniqueID = v.id
	r.Positioned = true
	r.FixTime = f.cfg.Start + f.elapsed(v)
	r.Lat, r.Lng = round(v.lat+f.noise(), 1e6), round(v.lng+f.noise(), 1e6)
	r.Altitude = round(150+40*math.Sin(v.lat*300), 10)
	r.Speed = round(v.speed, 100)
	r.Course = round(v.course, 10)
	r.Accuracy = round(3+f.rng.Float64()*4, 10)
	r.Odometer = math.Round(v.odometer)
	r.Satellites = 8 + f.rng.IntN(6)
	r.Ignition = fleet.TriOf(v.stoppedRounds < 20)
	if v.electric {
		v.signals[0] = fleet.SignalValue{Signal: socPct, Value: round(v.soc, 10)}
		r.Signals = v.signals[:1]
	}
	if f.next++; f.next == len(f.vehicles) {
		f.next = 0
		f.round++
	}
}

const day fleet.Millis = 24 * 3600 * 1000

// elapsed is the time from Start to a vehicle's fix of this round.
func (f *Fleet) elapsed(v *vehicle) fleet.Millis {
	out := fleet.Millis(f.round)*f.cfg.Interval + v.offset
	if f.cfg.Shift <= 0 {
		return out
	}
	return out/f.cfg.Shift*day + out%f.cfg.Shift
}

var socPct = fleet.MustSignal("soc_pct")

// drive moves a vehicle on by one interval.
func (f *Fleet) drive(v *vehicle) {
	seconds := float64(f.cfg.Interval) / 1000
	switch {
	case v.stoppedRounds > 0:
		if v.stoppedRounds--; v.stoppedRounds == 0 {
			v.speed = 4
		}
	case f.rng.Float64() < 0.02:
		v.speed, v.stoppedRounds = 0, 1+f.rng.IntN(40)
	default:
		v.speed = min(33, max(2, v.speed+f.rng.NormFloat64()*2))
		if f.rng.Float64() < 0.15 {
			v.course += []float64{-90, 90, -45, 45}[f.rng.IntN(4)]
		}
		v.course = math.Mod(v.course+f.rng.NormFloat64()*3+360, 360)
		if f.cfg.Reach > 0 {
			f.turnBack(v)
		}
	}
	way := v.speed * seconds
	v.move(v.course, way)
	v.odometer += way
	if v.soc -= way / 4000; v.soc < 10 {
		v.soc = 95
	}
}

// turnBack heads a vehicle that has gone too far for the middle.
func (f *Fleet) turnBack(v *vehicle) {
	const perDegree = fleet.EarthRadius * math.Pi / 180
	north := (f.cfg.Lat - v.lat) * perDegree
	east := (f.cfg.Lng - v.lng) * perDegree * math.Cos(v.lat*math.Pi/180)
	if math.Hypot(north, east) > f.cfg.Reach {
		v.course = math.Mod(math.Atan2(east, north)*180/math.Pi+360, 360)
	}
}

func (v *vehicle) move(bearing, metres float64) {
	const perDegree = fleet.EarthRadius * math.Pi / 180
	sin, cos := math.Sincos(bearing * math.Pi / 180)
	v.lat += metres * cos / perDegree
	v.lng += metres * sin / (perDegree * math.Cos(v.lat*math.Pi/180))
}

// noise is what a receiver adds to a coordinate, in degrees: about two metres.
func (f *Fleet) noise() float64 { return f.rng.NormFloat64() * 2e-5 }

func round(x, steps float64) float64 { return math.Round(x*steps) / steps }
