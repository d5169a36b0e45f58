package trip_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/scenario"
	"github.com/motorpool/fleet/pipeline/trip"
)

func TestDefaultConfigIsValidAndSillyOnesAreNot(t *testing.T) {
	good := trip.DefaultConfig()
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*trip.Config){
		"never stops":          func(c *trip.Config) { c.StopAfter = 0 },
		"no distance":          func(c *trip.Config) { c.StartDistance = 0 },
		"NaN distance":         func(c *trip.Config) { c.StartDistance = math.NaN() },
		"split before no data": func(c *trip.Config) { c.Split = c.NoData },
		"stop above start":     func(c *trip.Config) { c.StopSpeed = 10 },
		"NaN speed":            func(c *trip.Config) { c.StartSpeed = math.NaN() },
		"noise above radius":   func(c *trip.Config) { c.Noise = 100 },
		"negative rise":        func(c *trip.Config) { c.ChargeRise = -1 },
	} {
		c := trip.DefaultConfig()
		spoil(&c)
		if c.Validate() == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func TestSettingsChangeWhatTheyNameOnly(t *testing.T) {
	stop, off, speed := fleet.Millis(60_000), false, 3.0
	want := trip.DefaultConfig()
	want.StopAfter, want.UseIgnition, want.StartSpeed = stop, off, speed
	got := trip.DefaultConfig().With(fleet.TripSettings{StopAfter: &stop, UseIgnition: &off, StartSpeed: &speed})
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got = got.With(fleet.TripSettings{}); got != want {
		t.Errorf("no settings changed %+v", got)
	}
}

// TestASettingTakesAlongWhatItPasses gives single settings as far as the API lets them go: each holds, whatever
// the others are.
func TestASettingTakesAlongWhatItPasses(t *testing.T) {
	for _, span := range []fleet.Millis{30_000, 3_599_000, 3_600_000, 10_800_000, 604_800_000} {
		c := trip.DefaultConfig().With(fleet.TripSettings{NoData: &span})
		if err := c.Validate(); err != nil || c.NoData != span || c.Split <= span {
			t.Errorf("no_data %d s: silence from %d ms, split from %d ms: %v", span/1000, c.NoData, c.Split, err)
		}
	}
	for _, span := range []fleet.Millis{60_000, 300_000, 2_592_000_000} {
		c := trip.DefaultConfig().With(fleet.TripSettings{Split: &span})
		if err := c.Validate(); err != nil || c.Split < span {
			t.Errorf("split %d s: from %d ms: %v", span/1000, c.Split, err)
		}
	}
	for _, mph := range []float64{0.1, 5, 20, 60} {
		speed := mph * 1.609344 * fleet.MetresPerKmh
		for name, settings := range map[string]fleet.TripSettings{"start": {StartSpeed: &speed},
			"stop": {StopSpeed: &speed}} {
			c := trip.DefaultConfig().With(settings)
			if err := c.Validate(); err != nil {
				t.Errorf("%s speed %v mph: %v", name, mph, err)
			}
		}
	}
}

// event is a fix or a signal.
type event struct {
	at      fleet.Millis
	fix     *fleet.Position
	mileage float64
	signal  fleet.SignalValue
}

const noon = fleet.Millis(1_795_000_000_000)

var told = []string{"ignition", "motion", "engine_rpm", "ecu_speed_mps", "soc_pct", "charging", "charge_power_kw",
	"energy_used_kwh", "fuel_used_l", "fuel_level_l", "battery_v"}

// anyDay draws a vehicle's inputs: stretches of driving, standing, crawling, drifting and silence, with and without
// speed, with places that are renewed each time or now and then, of one or two devices.
func anyDay(t *rapid.T) []event {
	nan := math.NaN()
	var events []event
	var last *fleet.Position
	at, lat, lng := noon, 50.0, 10.0
	mileage := rapid.SampledFrom([]float64{nan, 0, 12_000}).Draw(t, "mileage")
	stretches := rapid.IntRange(1, 8).Draw(t, "stretches")
	for range stretches {
		speed := rapid.SampledFrom([]float64{0, 0, 0, 0.8, 3, 14, 30}).Draw(t, "speed")
		every := fleet.Millis(rapid.SampledFrom([]int{1, 5, 30, 60, 120, 299, 400}).Draw(t, "every")) * 1000
		noise := rapid.SampledFrom([]float64{0, 5, 20, 120}).Draw(t, "noise")
		renew := rapid.SampledFrom([]int{1, 1, 1, 4, 15}).Draw(t, "renew")
		speaks := rapid.IntRange(0, 2).Draw(t, "speaks") > 0
		ignition := fleet.Tri(rapid.IntRange(0, 2).Draw(t, "ignition"))
		device := fleet.DeviceID(rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "device"))
		for i := range rapid.IntRange(1, 40).Draw(t, "fixes") {
			at += every + fleet.Millis(rapid.IntRange(0, 999).Draw(t, "jitter"))
			lat += speed * float64(every) / 1000 / 111_195
			mileage += speed * float64(every) / 1000
			p := &fleet.Position{FixTime: at, Device: device, Speed: nan, Course: nan, Accuracy: nan,
				Altitude: nan, Odometer: nan,
				Lat:      fleet.Quantise(lat + noise/111_195*rapid.Float64Range(-1, 1).Draw(t, "north")),
				Lng:      fleet.Quantise(lng + noise/111_195*rapid.Float64Range(-1, 1).Draw(t, "east")),
				Ignition: ignition, Satellites: -1}
			if speaks {
				p.Speed = max(0, speed+rapid.Float64Range(-1, 1).Draw(t, "error"))
			}
			if last != nil && i%renew != 0 {
				p.Lat, p.Lng = last.Lat, last.Lng
			}
			last = p
			events = append(events, event{at: at, fix: p, mileage: mileage})
			if rapid.IntRange(0, 4).Draw(t, "signals") == 0 {
				name := rapid.SampledFrom(told).Draw(t, "signal")
				value := float64(rapid.IntRange(0, 5).Draw(t, "value"))
				later := fleet.Millis(rapid.SampledFrom([]int{0, 0, 500}).Draw(t, "later"))
				events = append(events,
					event{at: at + later, signal: fleet.SignalValue{Signal: fleet.MustSignal(name), Value: value}})
			}
		}
		at += fleet.Millis(rapid.SampledFrom([]int{0, 0, 250, 600, 3600, 5000, 90_000}).Draw(t, "silence")) * 1000
	}
	return events
}

func step(c *trip.Config, s *trip.State, e event, out *fleet.Entities) {
	if e.fix != nil {
		c.Fix(s, vehicle, e.fix, e.mileage, out)
		return
	}
	c.Signal(s, vehicle, e.at, e.signal, out)
}

func written(t *rapid.T, out fleet.Entities) []string {
	var lines []string
	for _, e := range out {
		body, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		h := e.Header()
		lines = append(lines, string(e.Kind())+" "+string(body)+" "+hour(h.RecognisedAt)+" "+hour(fleet.Millis(h.ID>>32)))
	}
	return lines
}

// TestNothingDependsOnBatchesClonesAndTicks plays a day three ways: plainly, cut into batches with the state stored and
// loaded in between, and with Advance called at any time.
func TestNothingDependsOnBatchesClonesAndTicks(t *testing.T) {
	config := trip.DefaultConfig()
	rapid.Check(t, func(t *rapid.T) {
		day := anyDay(t)
		last := day[len(day)-1].at + 2*config.Split
		var plain, stored, ticked trip.State
		var out, storedOut, tickedOut fleet.Entities
		for _, e := range day {
			step(&config, &plain, e, &out)
		}
		config.Advance(&plain, vehicle, last, &out)

		for _, e := range day {
			if rapid.IntRange(0, 3).Draw(t, "store") == 0 {
				kept := stored.Clone()
				var b bytes.Buffer
				if err := gob.NewEncoder(&b).Encode(stored); err != nil {
					t.Fatal(err)
				}
				stored = trip.State{}
				if err := gob.NewDecoder(&b).Decode(&stored); err != nil {
					t.Fatal(err)
				}
				if stored != kept {
					t.Fatalf("loaded %+v, stored %+v", stored, kept)
				}
				step(&config, &kept, e, new(fleet.Entities)) // a copy shares nothing
			}
			step(&config, &stored, e, &storedOut)
		}
		for now := stored.Heard; now < last; now += 700_000 {
			config.Advance(&stored, vehicle, now, &storedOut)
		}
		config.Advance(&stored, vehicle, last, &storedOut)

		from := day[0].at - 1000
		for _, e := range day {
			for range rapid.IntRange(0, 2).Draw(t, "ticks") {
				from += fleet.Millis(rapid.Int64Range(0, int64(e.at-from)-1).Draw(t, "tick"))
				config.Advance(&ticked, vehicle, from, &tickedOut)
			}
			if wake := config.Wake(&ticked); wake != 0 && wake < e.at {
				config.Advance(&ticked, vehicle, wake, &tickedOut)
				if again := config.Wake(&ticked); again != 0 && again <= wake {
					t.Fatalf("woken at %d for %d again", wake, again)
				}
			}
			step(&config, &ticked, e, &tickedOut)
			from = e.at - 1
		}
		config.Advance(&ticked, vehicle, last, &tickedOut)

		if plain != stored || plain != ticked {
			t.Fatalf("states differ:\n%+v\n%+v\n%+v", plain, stored, ticked)
		}
		if want := written(t, out); !slices.Equal(want, written(t, storedOut)) || !slices.Equal(want, written(t, tickedOut)) {
			t.Fatalf("emitted:\n%v\n%v\n%v", want, written(t, storedOut), written(t, tickedOut))
		}
	})
}

// spoken is the speed of a fix, 0 if it has none.
func spoken(p *fleet.Position) float64 {
	if math.IsNaN(p.Speed) {
		return 0
	}
	return p.Speed
}

// atMost is how long the trips of a day can be, in metres: from each place to the next as far as it is straight on, or
// what the odometer rose by meanwhile, or the wheels went, whichever is the most, and only once.
func atMost(day []event) float64 {
	sum, rise, wheels := 0.0, 0.0, 0.0 // the latter two since the place last changed
	var before *event
	fresh := 0 // fixes since the place last stood still
	for i := range day {
		e := &day[i]
		if e.fix == nil {
			continue
		}
		if before != nil {
			straight := fleet.Distance(before.fix.Lat, before.fix.Lng, e.fix.Lat, e.fix.Lng)
			if !math.IsNaN(e.mileage) {
				rise += e.mileage - before.mileage
			}
			fresh++
			if straight == 0 {
				fresh = 0
			}
			if fresh <= 2 { // then the wheels may say more, by the speed of a fix or the vehicle's own, of at most 5 m/s
				wheels += max(5, spoken(before.fix), spoken(e.fix)) * float64(min(e.at-before.at, 10_000)) / 1000
			}
			if straight > 0 {
				sum += max(straight, rise, wheels)
				rise, wheels = 0, 0
			}
		}
		before = e
	}
	return sum + max(rise, wheels)
}

// TestWhatIsEmittedIsConsistent holds what everybody who reads trips and stops relies on.
func TestWhatIsEmittedIsConsistent(t *testing.T) {
	config := trip.DefaultConfig()
	rapid.Check(t, func(t *rapid.T) {
		day := anyDay(t)
		var s trip.State
		var out fleet.Entities
		naive := atMost(day)
		for _, e := range day {
			step(&config, &s, e, &out)
		}
		config.Advance(&s, vehicle, day[len(day)-1].at+2*config.Split, &out)
		config.Open(&s, vehicle, &out)

		newest := map[uint64]fleet.Entity{}
		var order []uint64
		for _, e := range out {
			h := e.Header()
			of := uint64(0)
			if t, ok := e.(*fleet.Trip); ok && t.Unseen && h.ID != fleet.DerivedID(e.Kind(), vehicle, h.Start, 0) {
				of = 1 // a way between trips may begin where one does
			}
			if h.ID != fleet.DerivedID(e.Kind(), vehicle, h.Start, of) {
				t.Fatalf("%s: not the id of its content", describe(e))
			}
			if h.Start > h.End || h.Start > h.RecognisedAt {
				t.Fatalf("%s: it ends or is known before it starts", describe(e))
			}
			old, known := newest[h.ID]
			if !known {
				order = append(order, h.ID)
			} else if was, _ := old.(*fleet.Trip); old.Header().RecognisedAt != h.RecognisedAt ||
				!old.Header().Open && (was == nil || was.ClosedReason != "gap") {
				t.Fatalf("%s after %s", describe(e), describe(old))
			}
			newest[h.ID] = e
		}
		var last fleet.Entity
		lastReason, sum := "", 0.0
		for _, id := range order {
			e := newest[id]
			h := e.Header()
			reason := ""
			switch e := e.(type) {
			case *fleet.Trip:
				reason = e.ClosedReason
				sum += e.Distance
				if !(e.Distance >= 0) || !(e.Estimated >= 0 && e.Estimated <= e.Distance) || e.Moving < 0 || e.Idle < 0 ||
					e.Unrecorded < 0 || e.Moving+e.Idle+e.Unrecorded > h.End-h.Start || e.Fixes < 1 {
					t.Fatalf("%s", describe(e))
				}
			case *fleet.Stop:
				reason = e.ClosedReason
				if e.Idle < 0 || e.Idle > h.End-h.Start || e.Fixes < 0 {
					t.Fatalf("%s", describe(e))
				}
			case *fleet.ChargingSession:
				if e.Energy != nil && !(*e.Energy >= 0) {
					t.Fatalf("%s", describe(e))
				}
				continue
			}
			if h.Open != (reason == "") {
				t.Fatalf("%s: open or not?", describe(e))
			}
			if last != nil {
				parted := lastReason == "gap" || lastReason == "device_change"
				was := last.Header()
				if was.Open || h.Start < was.End || !parted && (h.Start != was.End || e.Kind() == last.Kind()) {
					t.Fatalf("%s after %s", describe(e), describe(last))
				}
			}
			last, lastReason = e, reason
		}
		if sum > naive*1.0001+1 {
			t.Fatalf("trips are %.1f m, all fixes in a row %.1f m", sum, naive)
		}
	})
}

// TestAParkedVehicleGoesNowhere drives, parks with drift of every kind for a day, and drives on: parked, the distance
// grows by no more than one per cent of the sum of the steps.
func TestAParkedVehicleGoesNowhere(t *testing.T) {
	for _, kind := range []struct {
		name             string
		every            fleet.Millis
		sigma, memory    float64 // m; how much of the scatter stays from fix to fix
		speed, noAccurcy bool
	}{
		{"30 s, 15 m, speed 0", 30_000, 15, 0, true, true},
		{"30 s, 15 m, no speed", 30_000, 15, 0, false, true},
		{"10 s, 15 m, no speed", 10_000, 15, 0, false, true},
		{"1 s, wandering, no speed", 1000, 15, 0.98, false, true},
		{"1 s, wandering, speed 0", 1000, 20, 0.98, true, true},
		{"5 min, 20 m, no speed", 300_000, 20, 0, false, true},
		{"60 s, street canyon, no speed, accuracy known", 60_000, 40, 0.5, false, false},
	} {
		t.Run(kind.name, func(t *testing.T) {
			for seed := range uint64(20) {
				config, random := trip.DefaultConfig(), rand.New(rand.NewPCG(seed, 7))
				var s trip.State
				var out fleet.Entities
				at, home := noon, 0.0
				fix := func(north, east, speed float64) *fleet.Position {
					p := &fleet.Position{FixTime: at, Device: 1, Speed: speed, Accuracy: math.NaN(),
						Lat: fleet.Quantise(north / 111_195), Lng: fleet.Quantise(east / 111_195)}
					if !kind.noAccurcy {
						p.Accuracy = 1.5 * kind.sigma
					}
					config.Fix(&s, vehicle, p, math.NaN(), &out)
					return p
				}
				for range 60 {
					fix(home, 0, 15)
					home += 150
					at += 10_000
				}
				atPark := at
				naive, x, y := 0.0, 0.0, 0.0
				last := fix(home, 0, 0)
				for at < atPark+86_400_000 {
					at += kind.every
					keep, fresh := kind.memory, kind.sigma*math.Sqrt(1-kind.memory*kind.memory)
					x, y = keep*x+fresh*random.NormFloat64(), keep*y+fresh*random.NormFloat64()
					speed := math.NaN()
					if kind.speed {
						speed = 0
					}
					p := fix(home+x, y, speed)
					naive += fleet.Distance(last.Lat, last.Lng, p.Lat, p.Lng)
					last = p
				}
				config.Open(&s, vehicle, &out)
				driven := 0.0
				newest := map[uint64]*fleet.Trip{}
				for _, e := range out {
					if trip, ok := e.(*fleet.Trip); ok {
						newest[trip.ID] = trip
					}
				}
				for _, trip := range newest {
					driven += trip.Distance
				}
				if grown := driven - 60*150; grown > naive/100 {
					t.Errorf("seed %d: %.0f m grown of a naive sum of %.0f m: %.2f %%, trips %d", seed, grown, naive,
						100*grown/naive, len(newest))
				}
				if s.Phase != trip.Stopped {
					t.Errorf("seed %d: phase %v", seed, s.Phase)
				}
			}
		})
	}
}

func TestMotionTellsWhatGoesOn(t *testing.T) {
	s := newStory(&scenario.Story{T: t})
	must := func(words ...string) fleet.Motion {
		t.Helper()
		s.happen(words)
		return s.state.Motion()
	}
	if m := s.state.Motion(); m != (fleet.Motion{}) {
		t.Errorf("of nothing: %+v", m)
	}
	at := func(clock string) fleet.Millis {
		h, m, sec := int(clock[0]-'0')*10+int(clock[1]-'0'), int(clock[3]-'0')*10+int(clock[4]-'0'),
			int(clock[6]-'0')*10+int(clock[7]-'0')
		return 1_795_132_800_000 + fleet.Millis(h*3600+m*60+sec)*1000
	}
	if hour(at("10:02:03")) != "10:02:03" {
		t.Fatal("the test's clock is wrong: " + hour(at("10:02:03")))
	}
	if m := must("10:00:00", "stand", "5m", "ignition=off"); !m.Known || m.Moving || m.OnTrip || m.Idling ||
		m.Since != at("10:00:00") {
		t.Errorf("parked: %+v", m)
	}
	if m := must("10:05:00", "stand", "1m", "ignition=on"); !m.Idling || m.IdleFrom != at("10:05:00") {
		t.Errorf("idling at its stop: %+v", m)
	}
	if m := must("10:06:00", "drive", "2m", "50", "ignition=on", "every=10s"); !m.Moving || !m.OnTrip || m.Idling ||
		m.Since != at("10:06:00") || m.Distance < 1000 {
		t.Errorf("driving: %+v", m)
	}
	if m := must("10:08:00", "stand", "1m", "ignition=on", "every=10s"); m.Moving || !m.OnTrip || !m.Idling ||
		m.Since != at("10:08:00") || m.IdleFrom != at("10:08:00") {
		t.Errorf("at a light: %+v", m)
	}
	if m := must("10:15:00", "wait"); m.Known || m.Moving || m.Idling {
		t.Errorf("silent: %+v", m)
	}
	if m := must("10:15:00", "signal", "engine_rpm=700"); !m.Known || !m.Idling || m.IdleFrom != at("10:15:00") {
		t.Errorf("heard again: %+v", m)
	}
}

func BenchmarkFix(b *testing.B) {
	for _, kind := range []struct {
		name string
		p    func(i int) (north float64, speed float64)
	}{
		{"driving", func(i int) (float64, float64) { return float64(i) * 15, 15 }},
		{"parked", func(i int) (float64, float64) { return float64(i%7) * 2, 0 }},
		{"driving without speed", func(i int) (float64, float64) { return float64(i) * 15, math.NaN() }},
	} {
		b.Run(kind.name, func(b *testing.B) {
			config := trip.DefaultConfig()
			fixes := make([]fleet.Position, 3600)
			for i := range fixes {
				north, speed := kind.p(i)
				fixes[i] = fleet.Position{Device: 1, Lat: north / 111_195, Lng: 10, Speed: speed, Accuracy: 5}
			}
			var s trip.State
			out := make(fleet.Entities, 0, 64)
			at := noon
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				p := &fixes[i%len(fixes)]
				at += 1000
				p.FixTime = at
				if i%len(fixes) == 0 {
					s = trip.State{}
				}
				config.Fix(&s, vehicle, p, math.NaN(), &out)
				out = out[:0]
			}
		})
	}
}
