package derive_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/alert"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/pipeline/geofence"
)

// BenchmarkDay takes a day of a vehicle, a fix each ten seconds, through all detectors: twelve turns of three quarters
// of an hour on the road and 75 minutes parked, with a geofence and a rule of each of some kinds, and without any. The
// fixes come one by one, or all at once.
func BenchmarkDay(b *testing.B) {
	for _, kind := range []struct {
		name         string
		told, bound  bool
		driven, rest int
	}{
		{"all", true, true, 270, 450}, {"no rules", true, false, 270, 450}, {"without speed", false, false, 270, 450},
		{"driving", true, false, 720, 0}, {"parked", true, false, 0, 720},
	} {
		in := dayOf(kind.told, kind.driven, kind.rest)
		for name, portions := range map[string]int{"live": 1, "at once": len(in)} {
			b.Run(kind.name+"/"+name, func(b *testing.B) { benchmarkDay(b, in, portions, kind.bound) })
		}
	}
}

func benchmarkDay(b *testing.B, in []derive.Input, portions int, bound bool) {
	var fences []fleet.FenceVersion
	var rules []fleet.Rule
	if bound {
		fences = append(fences, fleet.FenceVersion{ID: 1, Revision: 1, Name: "yard",
			Geometry: []byte(`{"type":"Circle","center":[-97.7431,30.2672],"radius_m":150}`)})
		for i, kind := range []fleet.AlertKind{fleet.AlertSpeeding, fleet.AlertFenceEnter, fleet.AlertFenceExit,
			fleet.AlertIdling, fleet.AlertOffline, fleet.AlertTow, fleet.AlertFaultCode, fleet.AlertHarshBraking} {
			r := fleet.Rule{ID: fleet.RuleID(i + 1), Revision: 1, Kind: kind, Severity: "warning"}
			rules = append(rules, r)
		}
	}
	index, err := geofence.NewIndex(fences)
	if err != nil {
		b.Fatal(err)
	}
	cfg := derive.DefaultConfig()
	policy := &fleet.Policy{Default: fleet.Traits{Zone: time.UTC}}
	v := derive.NewVehicle(&cfg, key, policy, index, alert.NewEngine(rules))
	var out fleet.Entities
	b.ReportAllocs()
	for b.Loop() {
		var s derive.State
		for portion := range slices.Chunk(in, portions) {
			v.Step(&s, portion, &out)
		}
		out = out[:0]
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(len(in)), "ns/fix")
}

// dayOf makes the fixes of a day in turns of as many on the road, there and back, and as many parked.
func dayOf(told bool, driven, rest int) []derive.Input {
	positions := make([]fleet.Position, 8640)
	in := make([]derive.Input, len(positions))
	lat, odometer := 30.2672, 1e6
	for i := range positions {
		p := &positions[i]
		turn, part := i/(driven+rest), i%(driven+rest)
		*p = fleet.Position{Account: key.Account, Vehicle: key.Vehicle, Device: 5,
			FixTime: midnight + fleet.Millis(i)*10_000, Lng: -97.7431,
			Altitude: math.NaN(), Speed: math.NaN(), Course: math.NaN(), Accuracy: 5, Odometer: math.NaN(), Satellites: 9}
		p.DeviceTime, p.ReceivedTime = p.FixTime, p.FixTime+400
		speed, ignition := 0.0, fleet.No
		if part < driven {
			speed, ignition = 15, fleet.Yes
			lat += math.Pow(-1, float64(turn)) * speed * 10 / 111_195
			odometer += speed * 10
		}
		p.Lat = fleet.Quantise(lat)
		if told {
			p.Speed, p.Ignition, p.Odometer = speed, ignition, odometer
		}
		in[i] = derive.Input{At: p.FixTime, Position: p}
	}
	return in
}
