package track

import (
	"net/http"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// Stop is a time during which a vehicle stood still, as it is answered.
type Stop struct {
	ID           string         `json:"id" example:"stp_1234"`
	Object       string         `json:"object" doc:"Always stop." example:"stop"`
	VehicleID    string         `json:"vehicle_id" example:"veh_1234"`
	StartAt      record.Instant `json:"from"`
	EndAt        record.Instant `json:"until" doc:"Last fix of it so far."`
	DurationS    float64        `json:"duration_s"`
	LocalOn      string         `json:"local_on" format:"date" doc:"Date of its from in the time zone that the vehicle, or else the account, has now: it is told when it is asked for, and another zone changes it for all of them."`
	Place        rest.Place     `json:"place"`
	IdleS        float64        `json:"idle_s" doc:"Of it with the engine on."`
	Fixes        int            `json:"fixes"`
	ClosedReason *string        `json:"closed_reason" nullable:"true" doc:"moved, gap or device_change; null while it goes on."`
	DerivedStamps
}

func (a *API) stopRoutes() {
	s := &derivedResource[*fleet.Stop, Stop]{
		api: a, path: "/v1/stops", name: "Stop", noun: "stop", nouns: "stops", tag: "Trips", from: &query.Stops,
		about: "Times during which a vehicle stood still.", show: a.showStops,
	}
	s.registerList()
	s.registerGet()
}

func (a *API) showStops(_ *http.Request, rows []query.Derived[*fleet.Stop]) ([]Stop, error) {
	views := make([]Stop, len(rows))
	for i := range rows {
		d, s := &rows[i], rows[i].Entity
		views[i] = Stop{
			ID: DerivedID(s), Object: "stop", VehicleID: d.Vehicle.String(), StartAt: rest.Instant(s.Start),
			EndAt:     rest.Instant(s.End),
			DurationS: rest.Seconds(s.End - s.Start), LocalOn: d.LocalDate.Format("2006-01-02"), Place: a.Place(s.Place),
			IdleS: rest.Seconds(s.Idle),
			Fixes: s.Fixes, ClosedReason: rest.TextOrNull(s.ClosedReason), DerivedStamps: derivedStamps(d),
		}
	}
	return views, nil
}
