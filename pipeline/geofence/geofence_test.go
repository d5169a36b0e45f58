package geofence_test

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/geofence"
	"github.com/motorpool/fleet/query/area"
)

var key = fleet.VehicleKey{Account: 3, Vehicle: 5}

// world is a random account and drive: fences of all kinds with versions, hours, dwell times and confirmations, near
// one place, and fixes of one vehicle among them.
type world struct {
	versions []fleet.FenceVersion
	index    *geofence.Index
	traits   fleet.Traits
	fixes    []fleet.Position
}

const begin = fleet.Millis(1_800_000_000_000)

func makeWorld(t *rapid.T) *world {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
	places := [][2]float64{{50, 8}, {-17, 179.99}, {0, 0}, {70, -150}}
	at := places[rng.IntN(len(places))]
	w := &world{traits: fleet.Traits{Tags: []string{"van"}}}
	for i := range 1 + rng.IntN(12) {
		from := fleet.Millis(1)
		for revision := uint64(1); ; revision++ {
			f := drawFence(rng, rng.IntN(5), at[0]+rng.NormFloat64()*0.02, at[1]+rng.NormFloat64()*0.02)
			f.ID, f.Revision, f.From = fleet.FenceID(i+1), revision, from
			f.Dwell = fleet.Millis(rng.IntN(3)) * 90_000
			f.Confirm = max(0, rng.IntN(5)-2)
			f.Margin = float64(rng.IntN(2)) * 40 * rng.Float64()
			f.SpeedLimit = float64(rng.IntN(3)) * 10
			if rng.IntN(4) == 0 {
				open := rng.IntN(24 * 60)
				f.Schedule = &fleet.Schedule{Zone: time.UTC,
					Windows: []fleet.Window{{Days: 0x7f, From: open, To: (open + 700) % 1440}}}
			}
			if rng.IntN(5) == 0 {
				f.Scope.Tags = []string{"van", "car"}[rng.IntN(2):][:1]
			}
			if rng.IntN(3) > 0 {
				w.versions = append(w.versions, f)
				break
			}
			f.To = max(from, begin) + fleet.Millis(rng.IntN(40*60_000))
			from = f.To
			w.versions = append(w.versions, f)
			if rng.IntN(3) == 0 {
				break // archived
			}
		}
	}
	var err error
	if w.index, err = geofence.NewIndex(w.versions); err != nil {
		t.Fatal(err)
	}
	lat, lng, time := at[0], at[1], begin
	north, east := 0.0, 0.0
	for range 20 + rng.IntN(80) {
		time += fleet.Millis(1 + rng.IntN(60_000))
		if rng.IntN(30) == 0 {
			time += fleet.Millis(rng.IntN(8 * 3600_000))
		}
		if rng.IntN(4) == 0 {
			size := 0.02 * math.Pow(rng.Float64(), 2)
			north, east = size*rng.NormFloat64(), size*rng.NormFloat64()
		}
		lat, lng = lat+north, lng+east
		if math.Abs(lat-at[0]) > 0.1 {
			lat = at[0]
		}
		if math.Abs(math.Mod(lng-at[1]+540, 360)-180) > 0.1 {
			lng = at[1]
		}
		if lng > 180 {
			lng -= 360
		} else if lng < -180 {
			lng += 360
		}
		p := fleet.Position{FixTime: time, Lat: fleet.Quantise(lat), Lng: fleet.Quantise(lng), Accuracy: math.NaN()}
		if rng.IntN(3) == 0 {
			p.Accuracy = 100 * rng.Float64()
		}
		p.Cell = area.CellOf(p.Lat, p.Lng)
		w.fixes = append(w.fixes, p)
	}
	return w
}

type result struct {
	state geofence.State
	out   fleet.Entities
	moves []fleet.FenceMove
}

func (w *world) run() (r result) {
	for i := range w.fixes {
		w.index.Fix(&r.state, key, &w.traits, &w.fixes[i], &r.out, &r.moves)
	}
	w.index.Advance(&r.state, key, &w.traits, w.fixes[len(w.fixes)-1].FixTime+3600_000, &r.out, &r.moves)
	return r
}

// visits are the last versions of all visits that were told of.
func (r *result) visits() []fleet.Visit {
	last := map[uint64]fleet.Visit{}
	for _, e := range r.out {
		last[e.Header().ID] = *e.(*fleet.Visit)
	}
	var list []fleet.Visit
	for _, v := range last {
		list = append(list, v)
	}
	slices.SortFunc(list, func(a, b fleet.Visit) int {
		return cmp.Or(cmp.Compare(a.Fence, b.Fence), cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID))
	})
	return list
}

func TestTicksRestartsAndNewIndexesChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := makeWorld(t)
		want := w.run()
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "ticks"), 3))
		var got result
		for i := range w.fixes {
			p := w.fixes[i]
			for at := got.state.At; rng.IntN(3) == 0 && at < p.FixTime; {
				if at += fleet.Millis(rng.IntN(60_000)); at > p.FixTime {
					at = p.FixTime
				}
				wake := w.index.Wake(&got.state, &w.traits)
				told := len(got.out)
				w.index.Advance(&got.state, key, &w.traits, at, &got.out, &got.moves)
				if told != len(got.out) && (wake == 0 || wake > at) {
					t.Fatalf("something was due at %d, and Wake said %d", at, wake)
				}
			}
			if rng.IntN(4) == 0 {
				var buf bytes.Buffer
				if err := gob.NewEncoder(&buf).Encode(&got.state); err != nil {
					t.Fatal(err)
				}
				var read geofence.State
				if err := gob.NewDecoder(&buf).Decode(&read); err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(read, got.state) {
					t.Fatalf("gob makes %+v of %+v", read, got.state)
				}
				got.state = read
			}
			if rng.IntN(10) == 0 {
				index, err := geofence.NewIndexFrom(w.index, w.versions)
				if err != nil {
					t.Fatal(err)
				}
				w.index = index
			}
			if rng.IntN(4) == 0 { // what a clone does is not seen
				c := got.state.Clone()
				var out fleet.Entities
				var moves []fleet.FenceMove
				far := p
				far.Lat, far.Cell = far.Lat+1, 0
				w.index.Fix(&c, key, &w.traits, &far, &out, &moves)
			}
			w.index.Fix(&got.state, key, &w.traits, &p, &got.out, &got.moves)
		}
		w.index.Advance(&got.state, key, &w.traits, w.fixes[len(w.fixes)-1].FixTime+3600_000, &got.out, &got.moves)
		if !reflect.DeepEqual(want.state, got.state) {
			t.Fatalf("state\n%+v\n%+v", want.state, got.state)
		}
		if !reflect.DeepEqual(want.out, got.out) || !reflect.DeepEqual(want.moves, got.moves) {
			t.Fatalf("told\n%+v\n%+v", want.moves, got.moves)
		}
	})
}

func TestVisitsAreWhatTheyShouldBe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := makeWorld(t)
		r := w.run()
		recognised := map[uint64]fleet.Millis{}
		for _, e := range r.out {
			h := e.Header()
			if was, ok := recognised[h.ID]; ok && was != h.RecognisedAt {
				t.Fatal("the time of recognition changes")
			}
			recognised[h.ID] = h.RecognisedAt
		}
		// Visits of a fence follow each other; a visit left has its exit, one entered its enter, and nothing else moves.
		moves := map[string]int{}
		for _, m := range r.moves {
			moves[m.What]++
		}
		counted := map[string]int{}
		var previous fleet.Visit
		for _, v := range r.visits() {
			if v.End < v.Start || v.ID != fleet.DerivedID(fleet.KindVisit, key, v.Start, uint64(v.Fence)) {
				t.Fatalf("%+v", v)
			}
			if v.Fence == previous.Fence && (previous.Open || v.Start < previous.End) {
				t.Fatalf("%+v\nbegins before the end of\n%+v", v, previous)
			}
			previous = v
			switch {
			case v.Crossed:
				counted[fleet.MoveCross]++
			case v.Initial:
				counted[fleet.MoveInside]++
			default:
				counted[fleet.MoveEnter]++
			}
			if !v.Crossed && v.ExitReason == "left" {
				counted[fleet.MoveExit]++
			}
			if v.DwelledAt != 0 {
				counted[fleet.MoveDwell]++
				if v.DwelledAt < v.Start || !v.Open && v.DwelledAt > v.End {
					t.Fatalf("dwell outside the visit %+v", v)
				}
			}
			if v.Open != (v.ExitReason == "") || v.Crossed != (v.Fixes == 0) {
				t.Fatalf("%+v", v)
			}
		}
		if !reflect.DeepEqual(moves, counted) {
			t.Fatalf("moves %v, visits %v", moves, counted)
		}
		// Open tells of the same visits as they go on.
		var open fleet.Entities
		w.index.Open(&r.state, key, &open)
		if len(open) != len(w.index.Inside(&r.state, nil)) {
			t.Fatal("Open and Inside differ")
		}
		for _, e := range open {
			if recognised[e.Header().ID] == 0 || !e.Header().Open {
				t.Fatalf("%+v was never told of", e)
			}
		}
	})
}

// TestIndexAgreesWithLookingAtEveryFence: the same places, and the same passes, as without an index.
func TestIndexAgreesWithLookingAtEveryFence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := makeWorld(t)
		shapes := make([]area.Shape, len(w.versions))
		for i, v := range w.versions {
			var err error
			if shapes[i], err = area.Parse(v.Geometry); err != nil {
				t.Fatal(err)
			}
		}
		valid := func(v *fleet.FenceVersion, at fleet.Millis) bool { return v.From <= at && (v.To == 0 || at < v.To) }
		for _, p := range w.fixes {
			var want []int
			for i, s := range shapes {
				if valid(&w.versions[i], p.FixTime) && s.Contains(p.Lat, p.Lng) {
					want = append(want, i)
				}
			}
			if got := w.index.At(p.Lat, p.Lng, p.Cell, p.FixTime, nil); !slices.Equal(got, want) {
				t.Fatalf("%v,%v: %v, want %v", p.Lat, p.Lng, got, want)
			}
		}
		var state geofence.State
		for i, p := range w.fixes {
			before := state.Clone()
			var out fleet.Entities
			var moves []fleet.FenceMove
			w.index.Fix(&state, key, &w.traits, &p, &out, &moves)
			if i == 0 {
				continue
			}
			q := w.fixes[i-1]
			length := fleet.Distance(p.Lat, p.Lng, q.Lat, q.Lng)
			gap := p.FixTime - q.FixTime
			var want, got []fleet.FenceID
			for _, m := range moves {
				if m.What == fleet.MoveCross {
					got = append(got, m.Fence)
				}
			}
			for k, s := range shapes {
				v := &w.versions[k]
				margin := cmp.Or(v.Margin, geofence.DefaultMargin)
				accuracy := math.Max(before.Accuracy, state.Accuracy)
				if v.Confirm > 1 || v.Schedule != nil || v.Scope.Tags != nil && v.Scope.Tags[0] != "van" ||
					!valid(v, p.FixTime) || !valid(v, q.FixTime) || gap > geofence.MaxGap || gap < 2 ||
					length > geofence.MaxSpeed*float64(gap)/1000 || length <= max(margin, accuracy) ||
					slices.ContainsFunc(before.Stays, func(y geofence.Stay) bool { return y.Fence == v.ID }) {
					continue
				}
				if enter, exit, ok := s.Crosses(q.Lat, q.Lng, p.Lat, p.Lng); ok && enter > 0 && exit < 1 && exit > enter {
					want = append(want, v.ID)
				}
			}
			got = slices.DeleteFunc(got, func(id fleet.FenceID) bool {
				return slices.ContainsFunc(w.versions, func(v fleet.FenceVersion) bool {
					return v.ID == id && valid(&v, p.FixTime) && v.Schedule != nil
				})
			})
			if !slices.Equal(got, want) {
				t.Fatalf("passes %v, want %v", got, want)
			}
		}
	})
}

// TestManyFencesOverEachOther: more than the lists of a block repeat, and fences of all sizes at once.
func TestManyFencesOverEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
		var versions []fleet.FenceVersion
		var shapes []area.Shape
		for i := range 10 + rng.IntN(40) {
			f := drawFence(rng, i, 50+0.05*rng.NormFloat64(), 8+0.05*rng.NormFloat64())
			if rng.IntN(2) == 0 {
				f.Geometry = fmt.Appendf(nil, `{"type":"Circle","center":[%v,50],"radius_m":%v}`, 8+0.05*rng.NormFloat64(),
					4000+4000*rng.Float64())
			}
			s, err := area.Parse(f.Geometry)
			if err != nil {
				t.Fatal(err)
			}
			versions, shapes = append(versions, f), append(shapes, s)
		}
		index, err := geofence.NewIndex(versions)
		if err != nil {
			t.Fatal(err)
		}
		for range 300 {
			lat, lng := fleet.Quantise(50+0.1*rng.NormFloat64()), fleet.Quantise(8+0.15*rng.NormFloat64())
			var want []int
			for i, s := range shapes {
				if s.Contains(lat, lng) {
					want = append(want, i)
				}
			}
			if got := index.At(lat, lng, 0, begin, nil); !slices.Equal(got, want) {
				t.Fatalf("%v,%v: %v, want %v", lat, lng, got, want)
			}
		}
	})
}

// TestAPassAnywhereOnTheWay: the fence may be near the fix before, near this one, or near neither, round or the end of
// a corridor that comes up to the way from a side, on any parallel and beside any meridian. What it holds of the way,
// and when, is worked out on the sphere.
func TestAPassAnywhereOnTheWay(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 5000 {
		// The way begins at from and goes ahead; places are so many metres along it and to its left.
		sinLat, cosLat := math.Sincos((rng.Float64()*170 - 85) * math.Pi / 180)
		sinLng, cosLng := math.Sincos(float64(180+rng.IntN(3)*90)*math.Pi/180 + rng.NormFloat64()*0.001)
		sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
		from, north, east := vec{cosLat * cosLng, cosLat * sinLng, sinLat}, vec{-sinLat * cosLng, -sinLat * sinLng, cosLat},
			vec{-sinLng, cosLng, 0}
		ahead, left := mix(cos, north, sin, east), mix(-sin, north, cos, east)
		on := func(along, aside float64) (lat, lng float64) {
			sin, cos := math.Sincos(along / fleet.EarthRadius)
			sinOff, cosOff := math.Sincos(aside / fleet.EarthRadius)
			p := mix(cosOff, mix(cos, from, sin, ahead), sinOff, left)
			return math.Atan2(p[2], math.Hypot(p[0], p[1])) * 180 / math.Pi, math.Atan2(p[1], p[0]) * 180 / math.Pi
		}
		metres, radius := 150*math.Pow(100, rng.Float64()), 20.0
		length, middle := fleet.Millis(300_000), 25+(metres-50)*rng.Float64()
		off := radius * (1 - math.Pow(10, -4*rng.Float64())) * float64(1-2*rng.IntN(2))
		lat, lng := on(middle, off)
		text := fmt.Sprintf(`{"type":"Circle","center":[%v,%v],"radius_m":%v}`, lng, lat, radius)
		if rng.IntN(2) == 0 {
			farLat, farLng := on(middle, off+math.Copysign(50+1000*rng.Float64(), off))
			text = fmt.Sprintf(`{"type":"Corridor","coordinates":[[%v,%v],[%v,%v]],"width_m":%v}`, lng, lat, farLng,
				farLat, 2*radius)
		}
		index, err := geofence.NewIndex([]fleet.FenceVersion{{ID: 1, Revision: 1, From: 1, Geometry: []byte(text)}})
		if err != nil {
			t.Fatal(err)
		}
		var state geofence.State
		var out fleet.Entities
		var moves []fleet.FenceMove
		for _, along := range []float64{0, metres} {
			p := fleet.Position{FixTime: begin + fleet.Millis(along/metres*float64(length))}
			p.Lat, p.Lng = on(along, 0)
			index.Fix(&state, key, &fleet.Traits{}, &p, &out, &moves)
		}
		if len(moves) != 1 || moves[0].What != fleet.MoveCross {
			t.Fatalf("%v m at %v,%v past %s: %v", metres, lat, lng, text, moves)
		}
		half := math.Sqrt(radius*radius - off*off)
		visit := out[0].(*fleet.Visit)
		for _, c := range []struct {
			got   fleet.Millis
			along float64
		}{{visit.Start, middle - half}, {visit.End, middle + half}} {
			if want := float64(begin) + c.along/metres*float64(length); math.Abs(float64(c.got)-want) > 2 {
				t.Fatalf("%v m at %v,%v past %s: at %v, want %v", metres, lat, lng, text, c.got, want)
			}
		}
	}
}

// vec is a direction from the middle of the earth.
type vec [3]float64

func mix(f float64, v vec, g float64, w vec) (sum vec) {
	for k := range sum {
		sum[k] = f*v[k] + g*w[k]
	}
	return sum
}

func TestAFenceThatCannotBeUsedDoesNotHinderTheOthers(t *testing.T) {
	good := fleet.FenceVersion{ID: 2, Revision: 1, From: 1,
		Geometry: []byte(`{"type":"Circle","center":[8,50],"radius_m":100}`)}
	bad := fleet.FenceVersion{ID: 1, Revision: 4, From: 1, Geometry: []byte(`{"type":"Circle"}`)}
	index, err := geofence.NewIndex([]fleet.FenceVersion{bad, good})
	if err == nil || !strings.Contains(err.Error(), "geo_1 revision 4") {
		t.Errorf("error %v", err)
	}
	if got := index.At(50, 8, 0, 5, nil); !slices.Equal(got, []int{1}) {
		t.Errorf("at the good one: %v", got)
	}
	if got := index.At(50, 8, 0, 0, nil); got != nil {
		t.Errorf("before its time: %v", got)
	}
	empty, err := geofence.NewIndex(nil)
	if err != nil || empty.At(50, 8, 0, 5, nil) != nil {
		t.Errorf("an index of nothing: %v", err)
	}
}

func TestLosingTheFenceFromTheIndexEndsTheVisit(t *testing.T) {
	f := fleet.FenceVersion{ID: 2, Revision: 1, From: 1,
		Geometry: []byte(`{"type":"Circle","center":[8,50],"radius_m":100}`)}
	index, _ := geofence.NewIndex([]fleet.FenceVersion{f})
	var state geofence.State
	var out fleet.Entities
	var moves []fleet.FenceMove
	p := fleet.Position{FixTime: begin, Lat: 50, Lng: 8}
	index.Fix(&state, key, &fleet.Traits{}, &p, &out, &moves)
	none, _ := geofence.NewIndex(nil)
	if wake := none.Wake(&state, &fleet.Traits{}); wake != begin {
		t.Errorf("wake %d", wake)
	}
	none.Advance(&state, key, &fleet.Traits{}, begin+10, &out, &moves)
	if v := out[len(out)-1].(*fleet.Visit); len(state.Stays) != 0 || v.Open || v.ExitReason != "fence_changed" ||
		v.End != begin {
		t.Errorf("%+v", v)
	}
}
