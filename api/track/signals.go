package track

import (
	"net/http"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
)

// KnownSignal is a quantity that vehicles and trackers report over time.
type KnownSignal struct {
	Name        string  `json:"name" doc:"Ends with the unit." example:"temp1_c"`
	Kind        string  `json:"kind" enum:"number,boolean" doc:"Of a boolean the values are 1 and 0."`
	Unit        *string `json:"unit" doc:"Null of a boolean; 1 of a number without a unit." example:"°C"`
	Description string  `json:"description" example:"temperature probe 1"`
	Minimum     float64 `json:"minimum" doc:"The least value that is taken."`
	Maximum     float64 `json:"maximum"`
}

func (a *API) signalRoutes() {
	all := make([]KnownSignal, len(fleet.Signals))
	for i := range fleet.Signals {
		s := &fleet.Signals[i]
		all[i] = KnownSignal{Name: s.Name, Kind: "number", Unit: &s.Unit, Description: s.About, Minimum: s.Min,
			Maximum: s.Max}
		if s.Unit == "bool" {
			all[i].Kind, all[i].Unit = "boolean", nil
		}
	}
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/signals", ID: "listSignals", Tag: "Tracking", Scope: auth.TelematicsRead,
		Summary: "List the signals",
		About:   "What vehicles and trackers may report beside where they are: telemetry names these, and so do alert rules of the kind `signal`. They are the same for everyone. All on one page.",
		Reply:   rest.List[KnownSignal]{},
	}, func(w http.ResponseWriter, r *http.Request) error {
		return rest.WriteJSON(w, r, http.StatusOK,
			rest.List[KnownSignal]{Data: all, Pagination: rest.Pagination{Page: 1, PerPage: len(all), Total: len(all)}})
	})
}
