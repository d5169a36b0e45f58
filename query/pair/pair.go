// Package pair tells when two vehicles were near each other, or apart. It is pure: a function of the fixes of both in
// order of event time, and so the same whatever the order in which these came.
//
// Between two fixes a vehicle goes straight and evenly; what lies between two of one vehicle farther apart in time than
// three times its usual interval (the median; five minutes at least, an hour at most) is unknown, unless it was found
// within Stood of where it was: then it stood there. A span ends where one of the two is unknown. Distances are exact
// for that model: when a span begins and ends is solved for, not sampled. They are taken on a plane around the pair,
// which is right to a thousandth within 100 km of each other.
package pair

import (
	"math"
	"slices"
	"sort"

	"github.com/motorpool/fleet"
)

const (
	// LeastGap is the silence across which a way is believed whatever the vehicle, and MostGap the longest of any.
	LeastGap = fleet.Millis(5 * 60 * 1000)
	MostGap  = 12 * LeastGap
	// Stood is how far a vehicle that was silent for longer may be found to have stood.
	Stood = 100.0
)

// Fix is where a vehicle was.
type Fix struct {
	At    fleet.Millis
	Place fleet.Place
}

// Question is what is asked of a pair.
type Question struct {
	Metres float64
	Apart  bool         // farther than that; otherwise not farther
	For    fleet.Millis // at least so long
}

// Span is a time during which the answer is yes.
type Span struct {
	From, To fleet.Millis
	Extreme  float64     // m, the least distance, or the greatest of two that are apart
	At       fleet.Place // where the first vehicle was then
}

// Spans returns when the answer is yes. The fixes of each are in order of time, one at a time at most.
func Spans(a, b []Fix, q Question) []Span {
	var s sweep
	s.q = q
	gapA, gapB := longestGap(a), longestGap(b)
	for i, j := 0, 0; i+1 < len(a) && j+1 < len(b); {
		from, to := max(a[i].At, b[j].At), min(a[i+1].At, b[j+1].At)
		switch {
		case from >= to:
			if from > s.end {
				s.close()
			}
		case !known(a[i], a[i+1], gapA) || !known(b[j], b[j+1], gapB):
			s.close()
		default:
			s.piece(from, to, [2]fleet.Place{at(a[i], a[i+1], from), at(a[i], a[i+1], to)},
				[2]fleet.Place{at(b[j], b[j+1], from), at(b[j], b[j+1], to)})
		}
		end := a[i+1].At
		if end <= b[j+1].At {
			i++
		}
		if b[j+1].At <= end {
			j++
		}
	}
	s.close()
	return s.found
}

// longestGap is the longest silence of a vehicle across which its way is believed: three times as long as it
// usually is silent.
func longestGap(fixes []Fix) fleet.Millis {
	if len(fixes) < 2 {
		return LeastGap
	}
	silences := make([]fleet.Millis, len(fixes)-1)
	for i := range silences {
		silences[i] = fixes[i+1].At - fixes[i].At
	}
	slices.Sort(silences)
	return min(max(LeastGap, 3*silences[(len(silences)-1)/2]), MostGap)
}

// known says whether anything is known of the way between two fixes.
func known(x, y Fix, gap fleet.Millis) bool {
	return y.At-x.At <= gap || fleet.Distance(x.Place.Lat, x.Place.Lng, y.Place.Lat, y.Place.Lng) <= Stood
}

// at returns where a vehicle was on the way between two fixes.
func at(x, y Fix, t fleet.Millis) fleet.Place {
	part := float64(t-x.At) / float64(y.At-x.At)
	return fleet.Place{Lat: x.Place.Lat + part*(y.Place.Lat-x.Place.Lat),
		Lng: turn(x.Place.Lng + part*turn(y.Place.Lng-x.Place.Lng))}
}

// Where returns where a vehicle was at an instant by its fixes, the way between two of which is taken to be known.
func Where(fixes []Fix, t fleet.Millis) (fleet.Place, bool) {
	for i := range fixes {
		switch {
		case fixes[i].At == t:
			return fixes[i].Place, true
		case i > 0 && fixes[i-1].At < t && t < fixes[i].At:
			return at(fixes[i-1], fixes[i], t), true
		}
	}
	return fleet.Place{}, false
}

// turn brings a longitude, or a difference of two, to within half a turn.
func turn(degrees float64) float64 { return math.Remainder(degrees, 360) }

// sweep goes through pieces of time in order.
type sweep struct {
	q     Question
	found []Span
	open  *Span
	end   fleet.Millis // of the newest piece
}

// piece asks during a time in which both go straight: the square of their distance is a parabola.
func (s *sweep) piece(from, to fleet.Millis, a, b [2]fleet.Place) {
	if from != s.end {
		s.close()
	}
	s.end = to
	x0, y0 := between(a[0], b[0])
	x1, y1 := between(a[1], b[1])
	dx, dy := x1-x0, y1-y0
	squares, half, rest := dx*dx+dy*dy, x0*dx+y0*dy, x0*x0+y0*y0-s.q.Metres*s.q.Metres
	enter, leave := 0.0, 1.0 // where they are near
	switch root := half*half - squares*rest; {
	case squares == 0 && rest > 0 || squares > 0 && root < 0:
		enter, leave = 2, 2
	case squares > 0:
		enter, leave = (-half-math.Sqrt(root))/squares, (-half+math.Sqrt(root))/squares
	}
	if !s.q.Apart {
		nearest := 0.0
		if squares > 0 {
			nearest = -half / squares
		}
		s.add(from, to, max(enter, 0), min(leave, 1), nearest, a, b)
		return
	}
	if leave < 0 || enter > 1 {
		enter, leave = 1, 1 // apart all the way
	}
	s.add(from, to, 0, max(enter, 0), 0, a, b)
	if leave < 1 {
		s.add(from, to, leave, 1, 1, a, b)
	}
}

// add has the answer be yes from one part of a piece to another, most of all at the part best, or as near
// to it as may be.
func (s *sweep) add(from, to fleet.Millis, begin, end, best float64, a, b [2]fleet.Place) {
	if begin > end || s.q.Apart && begin == end {
		s.close()
		return
	}
	length := float64(to - from)
	start, stop := from+fleet.Millis(math.Round(begin*length)), from+fleet.Millis(math.Round(end*length))
	if begin > 0 {
		s.close()
	}
	if s.open == nil {
		s.open = &Span{From: start, Extreme: math.NaN()}
	}
	s.open.To = stop
	parts := []float64{min(max(best, begin), end)}
	if s.q.Apart {
		parts = []float64{begin, end}
	}
	for _, part := range parts {
		place, other := along(a, part), along(b, part)
		distance := math.Hypot(between(place, other))
		if e := s.open.Extreme; math.IsNaN(e) || s.q.Apart && distance > e || !s.q.Apart && distance < e {
			s.open.Extreme, s.open.At = distance, place
		}
	}
	if end < 1 {
		s.close()
	}
}

// close ends the span that goes on.
func (s *sweep) close() {
	if s.open != nil && s.open.To-s.open.From >= s.q.For {
		s.found = append(s.found, *s.open)
	}
	s.open = nil
}

// along returns the place at a part of the way between two.
func along(way [2]fleet.Place, part float64) fleet.Place {
	return at(Fix{At: 0, Place: way[0]}, Fix{At: 1 << 40, Place: way[1]}, fleet.Millis(part*(1<<40)))
}

// between returns how far the second place lies east and north of the first, in metres, on a plane between them.
func between(a, b fleet.Place) (x, y float64) {
	perDegree := fleet.EarthRadius * math.Pi / 180
	return turn(b.Lng-a.Lng) * perDegree * math.Cos((a.Lat+b.Lat)/2*math.Pi/180), (b.Lat - a.Lat) * perDegree
}

// Clip leaves of spans what lies in [from, to), and of that what is long enough.
func Clip(spans []Span, from, to fleet.Millis, q Question) []Span {
	var all []Span
	for _, s := range spans {
		if s.From, s.To = max(s.From, from), min(s.To, to); s.From <= s.To && s.To-s.From >= q.For {
			all = append(all, s)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].From < all[j].From })
	return all
}
