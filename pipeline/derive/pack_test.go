package derive_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/alert"
	"github.com/motorpool/fleet/pipeline/derive"
)

// rough returns a position whose quantities are absent, extreme or anything between, and the one that the
// store gives back.
func rough(rng *rand.Rand, key fleet.VehicleKey) (p, stored fleet.Position) {
	number := func(scale float64, most float64) (float64, float64) {
		switch rng.IntN(4) {
		case 0:
			return math.NaN(), math.NaN()
		case 1:
			return most / scale * 3, most / scale
		}
		v := rng.Float64() * min(most/scale, 1e6)
		return v, math.Round(v*scale) / scale
	}
	p = fleet.Position{
		Account: key.Account, Vehicle: key.Vehicle, Device: fleet.DeviceID(rng.Uint64()),
		FixTime: fleet.Millis(rng.Int64N(1 << 42)), DeviceTime: fleet.Millis(rng.Int64N(1 << 42)),
		ReceivedTime: fleet.Millis(rng.Int64N(1 << 42)), Satellites: rng.IntN(257) - 1, Ignition: fleet.Tri(rng.IntN(3)),
		Motion: fleet.Tri(rng.IntN(3)),
		Cell:   fleet.Cell(rng.Uint64()), Flags: fleet.Flags(rng.Uint32()),
	}
	if rng.IntN(2) == 0 {
		p.Alarm = append(fleet.Alarms, "sos,lowBattery", "made up")[rng.IntN(len(fleet.Alarms)+2)]
	}
	stored = p
	lat, lng := rng.Float64()*180-90, rng.Float64()*360-180
	p.Lat, p.Lng, stored.Lat, stored.Lng = lat, lng, fleet.Quantise(lat), fleet.Quantise(lng)
	p.Altitude, stored.Altitude = number(10, math.MaxInt32)
	p.Speed, stored.Speed = number(100, math.MaxUint16)
	p.Course, stored.Course = number(100, math.MaxUint16)
	p.Accuracy, stored.Accuracy = number(10, math.MaxUint32)
	p.Odometer, stored.Odometer = number(1, math.MaxUint32)
	return p, stored
}

// alike compares bit by bit, but any NaN is one.
func alike(a, b fleet.Position) bool {
	for _, v := range []*fleet.Position{&a, &b} {
		for _, f := range []*float64{&v.Altitude, &v.Speed, &v.Course, &v.Accuracy, &v.Odometer} {
			if math.IsNaN(*f) {
				*f = -1e300
			}
		}
	}
	return a == b
}

// wanted is what is derived from if nobody has a rule over signals.
var wanted = derive.Wanted(alert.NewEngine(nil))

func TestWhatIsPackedComesBackAsFromTheStore(t *testing.T) {
	key := fleet.VehicleKey{Account: 3, Vehicle: 9}
	rng := rand.New(rand.NewPCG(1, 2))
	var packer derive.Packer
	for range 200 {
		packer.Reset()
		var want []derive.Input
		for range rng.IntN(40) {
			if rng.IntN(2) == 0 {
				p, stored := rough(rng, key)
				packer.Fix(&p)
				want = append(want, derive.Input{At: stored.FixTime, Position: &stored})
				continue
			}
			s := fleet.SignalValue{Signal: derive.Signals[rng.IntN(len(derive.Signals))], Value: rng.NormFloat64() * 100}
			at := fleet.Millis(rng.Int64N(1 << 42))
			packer.Signal(at, s)
			packer.Signal(at, fleet.SignalValue{Signal: fleet.MustSignal("steps"), Value: 1}) // nobody derives from it
			want = append(want, derive.Input{At: at, Signal: s})
		}
		packed := packer.Bytes()
		got, err := derive.Unpack(key, packed, &wanted, nil)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%d of %d inputs: %v", len(got), len(want), err)
		}
		for i := range want {
			if got[i].At != want[i].At || got[i].Signal != want[i].Signal ||
				(got[i].Position == nil) != (want[i].Position == nil) ||
				got[i].Position != nil && !alike(*got[i].Position, *want[i].Position) {
				t.Fatalf("%+v %+v, want %+v %+v", got[i], got[i].Position, want[i], want[i].Position)
			}
		}
		if len(want) > 0 {
			if _, err := derive.Unpack(key, packed[:len(packed)-1], &wanted, nil); err == nil {
				t.Fatal("what was cut off is read")
			}
		}
		packed[0]++
		if _, err := derive.Unpack(key, packed, &wanted, nil); err == nil {
			t.Fatal("another version is read")
		}
	}
}

func FuzzUnpack(f *testing.F) {
	var packer derive.Packer
	p, _ := rough(rand.New(rand.NewPCG(1, 2)), fleet.VehicleKey{})
	packer.Fix(&p)
	packer.Signal(5, fleet.SignalValue{Signal: derive.Signals[2], Value: 4})
	f.Add(packer.Bytes())
	f.Fuzz(func(t *testing.T, packed []byte) {
		all, err := derive.Unpack(fleet.VehicleKey{}, packed, &wanted, nil)
		if err == nil && len(all) > len(packed) {
			t.Errorf("%d inputs in %d bytes", len(all), len(packed))
		}
	})
}

// BenchmarkPack packs and unpacks fixes ten seconds apart.
func BenchmarkPack(b *testing.B) {
	var packer derive.Packer
	p := fleet.Position{Device: 911918608152190976, Lat: 48, Lng: 11, Altitude: 500, Accuracy: 5, Satellites: 9,
		Cell: 617550903642685439, Odometer: 1e6, Ignition: fleet.Yes}
	const fixes = 1000
	var into []derive.Input
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		packer.Reset()
		for n := range fixes {
			p.FixTime = fleet.Millis(1_790_000_000_000 + n*10_000)
			p.DeviceTime, p.ReceivedTime = p.FixTime, p.FixTime+fleet.Millis(300+n%100)
			p.Lat, p.Lng, p.Speed, p.Course, p.Odometer =
				48+float64(n)*1.1e-3, 11+float64(n%7)*1e-3, float64(n%33)+0.25, float64(n*7%360), 1e6+float64(n)*120
			packer.Fix(&p)
		}
		packed := packer.Bytes()
		var err error
		if into, err = derive.Unpack(fleet.VehicleKey{}, packed, &wanted, into[:0]); err != nil {
			b.Fatal(err)
		}
		if i == 0 {
			b.ReportMetric(float64(len(packed))/fixes, "bytes/fix")
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/fixes, "ns/fix")
}
