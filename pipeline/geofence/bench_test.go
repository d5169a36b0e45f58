package geofence_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/geofence"
	"github.com/motorpool/fleet/query/area"
)

// drawFence makes a fence of any kind, 50 m to 20 km across with as many small ones as large ones to the octave.
func drawFence(rng *rand.Rand, id int, lat, lng float64) fleet.FenceVersion {
	size := 25 * math.Pow(400, rng.Float64())
	north := size / 111195
	east := north / math.Cos(lat*math.Pi/180)
	at := func(dx, dy float64) string {
		x := lng + dx*east
		if x > 180 {
			x -= 360
		} else if x < -180 {
			x += 360
		}
		return fmt.Sprintf("[%.7f,%.7f]", x, lat+dy*north)
	}
	star := func(cx, cy, scale float64) string {
		n := 12 + rng.IntN(20)
		text := ""
		for i := range n {
			r := scale * (0.7 + 0.3*rng.Float64())
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
			text += "," + at(cx+r*cos, cy+r*sin)
		}
		return "[" + text[1:] + "]"
	}
	var geometry string
	switch id % 5 {
	case 0, 1:
		geometry = fmt.Sprintf(`{"type":"Circle","center":%s,"radius_m":%.1f}`, at(0, 0), size)
	case 2:
		geometry = fmt.Sprintf(`{"type":"Polygon","coordinates":[%s,%s]}`, star(0, 0, 1), star(0, 0, 0.4))
	case 3:
		geometry = fmt.Sprintf(`{"type":"MultiPolygon","coordinates":[[%s],[%s]]}`, star(-0.6, 0, 0.5), star(0.6, 0, 0.5))
	default:
		text, x, y := "", -1.0, 0.0
		for range 6 {
			text += "," + at(x, y)
			x, y = x+0.4*rng.Float64(), y+0.5*(rng.Float64()-0.5)
		}
		geometry = fmt.Sprintf(`{"type":"Corridor","coordinates":[%s],"width_m":%.1f}`, text[1:],
			10+rng.Float64()*min(size/4, 500))
	}
	return fleet.FenceVersion{ID: fleet.FenceID(id + 1), Revision: 1, From: 1, Geometry: []byte(geometry)}
}

// city holds n fences in two by two degrees, and fixes of vehicles that drive about there, ten seconds apart.
func city(n, vehicles, fixes int) ([]fleet.FenceVersion, [][]fleet.Position) {
	rng := rand.New(rand.NewPCG(7, 7))
	var fences []fleet.FenceVersion
	for i := range n {
		fences = append(fences, drawFence(rng, i, 50+2*rng.Float64(), 8+2*rng.Float64()))
	}
	tracks := make([][]fleet.Position, vehicles)
	for v := range tracks {
		lat, lng, course, speed := 50.1+1.8*rng.Float64(), 8.1+1.8*rng.Float64(), 2*math.Pi*rng.Float64(), 0.0
		for i := range fixes {
			switch rng.IntN(10) {
			case 0:
				speed = 0
			case 1, 2:
				speed = 33 * rng.Float64()
			}
			course += rng.NormFloat64() * 0.3
			lat += speed * 10 / 111195 * math.Cos(course)
			lng += speed * 10 / 71000 * math.Sin(course)
			p := fleet.Position{FixTime: fleet.Millis(1e12 + 10_000*i), Lat: fleet.Quantise(lat),
				Lng: fleet.Quantise(lng), Accuracy: 5}
			p.Cell = area.CellOf(p.Lat, p.Lng)
			tracks[v] = append(tracks[v], p)
		}
	}
	return fences, tracks
}

// built keeps what several runs of a benchmark share, as the fences take a while to cover.
var built = map[int]*town{}

type town struct {
	fences []fleet.FenceVersion
	tracks [][]fleet.Position
	index  *geofence.Index
}

func townOf(b *testing.B, n int) *town {
	if built[n] == nil {
		t := &town{}
		t.fences, t.tracks = city(n, 1000, 200)
		var err error
		if t.index, err = geofence.NewIndex(t.fences); err != nil {
			b.Fatal(err)
		}
		built[n] = t
	}
	return built[n]
}

// cpu is the processor time that the process has used.
func cpu() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func benchmarkIndex(b *testing.B, n int, keepCell bool) {
	t := townOf(b, n)
	tracks, index := t.tracks, t.index
	states := make([]geofence.State, len(tracks))
	var out fleet.Entities
	var moves []fleet.FenceMove
	traits := &fleet.Traits{}
	b.ReportAllocs()
	events, inside := 0, 0
	used := cpu()
	b.ResetTimer()
	for i := range b.N {
		round := i / 200_000 * 2_000_000 // each time over is a new day
		v := i / 20 % len(tracks)        // a batch brings some fixes of each vehicle
		p := tracks[v][i%20+i/20_000%10*20]
		p.FixTime += fleet.Millis(round)
		if !keepCell {
			p.Cell = 0
		}
		index.Fix(&states[v], fleet.VehicleKey{Account: 1, Vehicle: fleet.VehicleID(v + 1)}, traits, &p, &out, &moves)
		events += len(moves)
		inside += len(states[v].Stays)
		out, moves = out[:0], moves[:0]
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(b.N)/(cpu()-used).Seconds(), "rows/cpu-s") // what a core would do that has nothing else to do
	b.ReportMetric(float64(inside)/float64(b.N), "inside/row")
	b.ReportMetric(float64(events)/float64(b.N), "moves/row")
}

func BenchmarkIndex10kCellGiven(b *testing.B)    { benchmarkIndex(b, 10_000, true) }
func BenchmarkIndex10kCellComputed(b *testing.B) { benchmarkIndex(b, 10_000, false) }
func BenchmarkIndex1k(b *testing.B)              { benchmarkIndex(b, 1_000, true) }

// BenchmarkAt10k is the lookup alone.
func BenchmarkAt10k(b *testing.B) {
	t := townOf(b, 10_000)
	tracks, index := t.tracks, t.index
	var buf []int
	b.ResetTimer()
	for i := range b.N {
		p := &tracks[i/20%len(tracks)][i%20]
		buf = index.At(p.Lat, p.Lng, p.Cell, p.FixTime, buf[:0])
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkBuild10k(b *testing.B) {
	t := townOf(b, 10_000)
	for b.Loop() {
		if _, err := geofence.NewIndex(t.fences); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkChangeOneOf10k is what a change through the API costs the pipeline.
func BenchmarkChangeOneOf10k(b *testing.B) {
	t := townOf(b, 10_000)
	fences, index := slices.Clone(t.fences), t.index
	var err error
	for i := 0; b.Loop(); i++ {
		fences[0].Geometry = fmt.Appendf(nil, `{"type":"Circle","center":[9,51],"radius_m":%d}`, 100+i)
		if index, err = geofence.NewIndexFrom(index, fences); err != nil {
			b.Fatal(err)
		}
	}
}
