package geocode

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/motorpool/fleet"
)

func gazetteer(t testing.TB) *Gazetteer {
	t.Helper()
	g, err := bundledOnce()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// shared is read once for all tests.
var bundledOnce = sync.OnceValues(NewGazetteer)

func TestTheLargestTownsComeFirst(t *testing.T) {
	towns := gazetteer(t).Largest(12_000)
	if len(towns) != 12_000 {
		t.Fatalf("%d towns", len(towns))
	}
	at := map[string]int{}
	for i, town := range slices.Backward(towns) {
		at[town.Name] = i
	}
	tokyo := towns[at["Tokyo"]]
	if math.Abs(tokyo.Lat-35.69) > 0.01 || math.Abs(tokyo.Lng-139.69) > 0.01 {
		t.Errorf("Tokyo is at %v, %v", tokyo.Lat, tokyo.Lng)
	}
	if !(at["Tokyo"] < at["Omaha"] && at["Omaha"] < at["Salina"]) || at["Salina"] == 0 {
		t.Errorf("Tokyo is %d, Omaha %d, Salina %d", at["Tokyo"], at["Omaha"], at["Salina"])
	}
	if few := (&Gazetteer{}).Largest(3); len(few) != 0 {
		t.Errorf("of nothing: %v", few)
	}
}

func TestAddressNamesThePlace(t *testing.T) {
	g := gazetteer(t)
	for _, c := range []struct {
		lat, lng float64
		want     string
	}{
		{30.2672, -97.7431, "Austin, Texas, US"},
		{30.3521, -97.7079, "Austin, Texas, US"},
		{30.2980, -97.8020, "West Lake Hills, Texas, US"},
		{41.2565, -95.9345, "Omaha, Nebraska, US"},
		{51.9607, 7.6261, "Münster, North Rhine-Westphalia, DE"},
		{34.0209, -6.8416, "Rabat, Rabat-Salé-Kénitra, MA"},
		{-33.8688, 151.2093, "Sydney, New South Wales, AU"},
		{-18.1416, 178.4419, "Suva, Central, FJ"},
		{78.2232, 15.6267, "Longyearbyen, Svalbard, SJ"},
		{31.6, -104.6, "66 km N of Van Horn, Texas, US"},
		{0, 0, ""},
		{-90, 0, ""},
		{48.8566, 2.3522, "Paris, Île-de-France, FR"},
		{math.NaN(), 0, ""},
		{0, math.Inf(1), ""},
		{91, 0, ""},
	} {
		if got := g.Address(c.lat, c.lng); got != c.want {
			t.Errorf("Address(%v, %v) = %q, want %q", c.lat, c.lng, got, c.want)
		}
	}
}

// The tree must give what a look at every place gives.
func TestTreeAgreesWithALookAtEveryPlace(t *testing.T) {
	g := gazetteer(t)
	lat, lng := 0.1, 0.2
	for range 300 {
		lat, lng = math.Mod(lat*997+13.7, 90), math.Mod(lng*1009+31.1, 180)
		at := unit(lat, lng)
		s := search{at: at}
		inside, nearest, ratio, edge := -1, -1, math.Inf(1), math.Inf(1)
		for i := range g.places {
			away := s.away(&g.places[i])
			r := float64(g.places[i].radius)
			if away-r < edge {
				edge, nearest = away-r, i
			}
			if away <= r && away/r < ratio {
				inside, ratio = i, away/r
			}
		}
		walk := search{places: g.places, at: at, inside: -1, nearest: -1, edge: math.Inf(1)}
		walk.visit(0, len(g.places), 0)
		if walk.inside != inside || inside < 0 && math.Abs(walk.edge-edge) > 1e-6 {
			t.Fatalf("at %v,%v: inside %d, edge %v of %d; want %d, %v of %d", lat, lng, walk.inside, walk.edge, walk.nearest,
				inside, edge, nearest)
		}
	}
}

func TestDirectionAndDistance(t *testing.T) {
	g := &Gazetteer{places: []place{{at: unit(10, 179.9), radius: 1000, nameLength: 1}},
		regions: []string{"FJ"}, names: "X"}
	for _, c := range []struct {
		lat, lng float64
		want     string
	}{
		{10, -179.9, "22 km E of X, FJ"}, // over the antimeridian
		{10, 179.7, "22 km W of X, FJ"},
		{10.5, 179.9, "56 km N of X, FJ"},
		{9.5, 179.9, "56 km S of X, FJ"},
		{10.1, -180, "16 km NE of X, FJ"},
		{10.001, 179.9, "X, FJ"},
	} {
		if got := g.Address(c.lat, c.lng); got != c.want {
			t.Errorf("Address(%v, %v) = %q, want %q", c.lat, c.lng, got, c.want)
		}
	}
	if d := (&search{at: unit(10.5, 179.9)}).away(&g.places[0]); math.Abs(d-fleet.Distance(10, 179.9, 10.5, 179.9)) > 2 {
		t.Errorf("%v m away", d)
	}
}

func TestBrokenFileIsAnError(t *testing.T) {
	for _, cut := range []int{0, 3, 20, len(bundled) / 2, len(bundled) - 1} {
		if _, err := readGazetteer(bundled[:cut]); err == nil {
			t.Errorf("read a file cut at %d", cut)
		}
	}
	if len(bundled) > 1536<<10 {
		t.Errorf("the file has %d bytes", len(bundled))
	}
	if strings.Count(gazetteer(t).names, "\n") < 100000 {
		t.Error("most places are missing")
	}
}

func BenchmarkAddress(b *testing.B) {
	g := gazetteer(b)
	for b.Loop() {
		g.Address(40.7527, -73.9772) // many places near
	}
}

func BenchmarkNewGazetteer(b *testing.B) {
	for b.Loop() {
		if _, err := NewGazetteer(); err != nil {
			b.Fatal(err)
		}
	}
}
