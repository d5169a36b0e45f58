package console

import (
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"sync"

	"github.com/motorpool/fleet/api/geocode"
	"github.com/motorpool/fleet/api/rest"
)

// townsPath is where the map learns what towns there are, which it names where the operator has no basemap.
const townsPath = assets + "towns.json"

// mostTowns are those of some 30,000 people and more, which take a browser 130 kB.
const mostTowns = 12_000

// towns are the largest towns of the gazetteer, the largest first, as the map reads them: their names with line feeds
// between, and for each its longitude and latitude in hundredths of a degree.
var towns = sync.OnceValues(func() ([]byte, error) {
	g, err := geocode.NewGazetteer()
	if err != nil {
		return nil, err
	}
	all := g.Largest(mostTowns)
	names, at := make([]string, len(all)), make([]int, 0, 2*len(all))
	for i, t := range all {
		names[i], at = t.Name, append(at, int(math.Round(t.Lng*100)), int(math.Round(t.Lat*100)))
	}
	return json.Marshal(map[string]any{"names": strings.Join(names, "\n"), "at": at})
})

func townRoutes(s *rest.Server) {
	s.Page(http.MethodGet, townsPath, func(w http.ResponseWriter, _ *http.Request) error {
		content, err := towns()
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "public, max-age=86400")
		_, err = w.Write(content)
		return err
	})
}
