package export

import (
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/simplify"

	"github.com/motorpool/fleet"
)

// Simplify leaves out positions that a track is nearly the same without: first those nearer than tolerance metres to
// the line through what stays (Douglas-Peucker; 0 leaves it out), then, while more than keep are left, the one whose
// triangle with its neighbours is the smallest (Visvalingam; 0 leaves it out). The first and the last stay. It works in
// place, keeps the order and returns the head of track. It takes time of order n log n on tracks of vehicles, and of n²
// on lines made for the purpose: bound n.
func Simplify(track []fleet.Position, tolerance float64, keep int) []fleet.Position {
	if tolerance > 0 && len(track) > 2 {
		track = pick(track, simplify.DouglasPeucker(tolerance).LineString(flatten(track)))
	}
	if keep > 0 && len(track) > max(keep, 2) {
		track = pick(track, simplify.VisvalingamKeep(max(keep, 2)).LineString(flatten(track)))
	}
	return track
}

// flatten projects a track to metres: equirectangular around its middle latitude, with longitudes unwrapped so that the
// antimeridian is no edge. It is off by a few parts in a thousand over 100 km, which tolerances are not sensitive to.
func flatten(track []fleet.Position) orb.LineString {
	low, high := track[0].Lat, track[0].Lat
	for i := range track {
		low, high = math.Min(low, track[i].Lat), math.Max(high, track[i].Lat)
	}
	const metres = fleet.EarthRadius * math.Pi / 180
	shrink := math.Cos((low + high) / 2 * math.Pi / 180)
	line := make(orb.LineString, len(track))
	lng := track[0].Lng
	for i := range track {
		lng += math.Remainder(track[i].Lng-lng, 360)
		// A tenth of a micrometre for each position makes two visits of one place two points, so that pick can tell them
		// apart.
		line[i] = orb.Point{lng*metres*shrink + float64(i)*1e-7, track[i].Lat * metres}
	}
	return line
}

// pick moves the positions that a simplified line kept to the head of the track. The line is a subsequence of the
// track's own.
func pick(track []fleet.Position, kept orb.LineString) []fleet.Position {
	line := flatten(track)
	n := 0
	for i := range track {
		if n < len(kept) && line[i] == kept[n] {
			track[n] = track[i]
			n++
		}
	}
	return track[:n]
}
