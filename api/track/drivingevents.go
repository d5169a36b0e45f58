package track

import (
	"net/http"
	"slices"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/units"
	"github.com/motorpool/fleet/query"
)

// DrivingEvent is a moment or span of unsafe driving, as it is answered.
type DrivingEvent struct {
	ID               string              `json:"id" example:"drv_1234"`
	Object           string              `json:"object" doc:"Always driving_event." example:"driving_event"`
	VehicleID        string              `json:"vehicle_id" example:"veh_1234"`
	Kind             string              `json:"kind" doc:"harsh_braking, harsh_acceleration, harsh_cornering, speeding or crash."`
	Source           string              `json:"source" doc:"device (its alarm) or derived (from speed and course)."`
	StartAt          record.Instant      `json:"from"`
	EndAt            record.Instant      `json:"until"`
	DurationS        float64             `json:"duration_s"`
	LocalOn          string              `json:"local_on" format:"date" doc:"Date of its from in the time zone that the vehicle, or else the account, has now: it is told when it is asked for, and another zone changes it for all of them."`
	Place            rest.Place          `json:"place"`
	SpeedMph         units.MilesPerHour  `json:"speed_mph"`
	OverLimitMph     *units.MilesPerHour `json:"over_limit_mph" nullable:"true" doc:"Of speeding: how far above the limit."`
	AccelerationMps2 *float64            `json:"acceleration_mps2" nullable:"true" doc:"Of harsh driving, in m/s²; null if the device did not say."`
	DerivedStamps
}

// drivingKinds are the kinds of driving events.
var drivingKinds = []string{fleet.HarshBraking, fleet.HarshAcceleration, fleet.HarshCornering,
	fleet.Speeding, fleet.Crash}

func (a *API) drivingEventRoutes() {
	s := &derivedResource[*fleet.DrivingEvent, DrivingEvent]{
		api: a, path: "/v1/driving_events", name: "DrivingEvent", noun: "driving event", nouns: "driving events",
		tag: "Trips", from: &query.DrivingEvents,
		about: "Moments and spans of unsafe driving, whether or not a rule asks for an alert.", show: a.showDrivingEvents,
		params: []rest.Param{{Name: "kind", Multiple: true, NotEmpty: true, Enum: drivingKinds,
			About: "Only of these kinds, separated by commas: " + strings.Join(drivingKinds, ", ") + "."}},
		filter: func(r *http.Request, f *query.DerivedFilter) error {
			f.Kinds = rest.ListParam(r, "kind")
			return nil
		},
	}
	s.registerList()
	s.registerGet()
}

func (a *API) showDrivingEvents(_ *http.Request, rows []query.Derived[*fleet.DrivingEvent]) ([]DrivingEvent, error) {
	views := make([]DrivingEvent, len(rows))
	for i := range rows {
		d, e := &rows[i], rows[i].Entity
		views[i] = DrivingEvent{
			ID: DerivedID(e), Object: "driving_event", VehicleID: d.Vehicle.String(), Kind: e.What, Source: e.Source,
			StartAt: rest.Instant(e.Start), EndAt: rest.Instant(e.End),
			DurationS: rest.Seconds(e.End - e.Start), LocalOn: d.LocalDate.Format("2006-01-02"), Place: a.Place(e.Place),
			SpeedMph: units.MphOf(e.Speed), DerivedStamps: derivedStamps(d),
		}
		harsh := slices.Contains([]string{fleet.HarshBraking, fleet.HarshAcceleration, fleet.HarshCornering}, e.What)
		switch {
		case e.What == fleet.Speeding:
			over := units.MphOf(e.Value)
			views[i].OverLimitMph = &over
		case harsh && e.Value != 0:
			value := units.Rounded(e.Value, 2)
			views[i].AccelerationMps2 = &value
		}
	}
	return views, nil
}
