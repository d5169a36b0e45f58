package track

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/units"
	"github.com/motorpool/fleet/query"
)

// ChargingSession is the charging of an electric vehicle, as it is answered.
type ChargingSession struct {
	ID          string         `json:"id" example:"chs_1234"`
	Object      string         `json:"object" doc:"Always charging_session." example:"charging_session"`
	VehicleID   string         `json:"vehicle_id" example:"veh_1234"`
	StartAt     record.Instant `json:"from"`
	EndAt       record.Instant `json:"until"`
	DurationS   float64        `json:"duration_s"`
	LocalOn     string         `json:"local_on" format:"date" doc:"Date of its from in the time zone that the vehicle, or else the account, has now: it is told when it is asked for, and another zone changes it for all of them."`
	Place       *rest.Place    `json:"place"`
	SocStartPct *float64       `json:"soc_start_pct" nullable:"true" doc:"State of charge."`
	SocEndPct   *float64       `json:"soc_end_pct" nullable:"true"`
	EnergyKWh   *float64       `json:"energy_kwh" nullable:"true" doc:"From the power, if the vehicle reports it: by trapezoids between readings at most five minutes apart, and the last reading holds until the vehicle says that it is over."`
	PeakPowerKW *float64       `json:"peak_power_kw" nullable:"true"`
	Estimated   bool           `json:"estimated" doc:"Concluded from a rising state of charge, not from a charging signal."`
	DerivedStamps
}

// TransformSchema implements huma.SchemaTransformer.
func (ChargingSession) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return rest.NullablePlace(s, "place")
}

func (a *API) chargingSessionRoutes() {
	s := &derivedResource[*fleet.ChargingSession, ChargingSession]{
		api: a, path: "/v1/charging_sessions", name: "ChargingSession", noun: "charging session", nouns: "charging sessions",
		tag: "Trips", from: &query.ChargingSessions,
		about: "Charging sessions of electric vehicles.", show: a.showChargingSessions,
	}
	s.registerList()
	s.registerGet()
}

func (a *API) showChargingSessions(_ *http.Request,
	rows []query.Derived[*fleet.ChargingSession]) ([]ChargingSession, error) {
	three := func(v float64) float64 { return units.Rounded(v, 3) }
	views := make([]ChargingSession, len(rows))
	for i := range rows {
		d, c := &rows[i], rows[i].Entity
		views[i] = ChargingSession{
			ID: DerivedID(c), Object: "charging_session", VehicleID: d.Vehicle.String(), StartAt: rest.Instant(c.Start),
			EndAt:     rest.Instant(c.End),
			DurationS: rest.Seconds(c.End - c.Start), LocalOn: d.LocalDate.Format("2006-01-02"), Place: a.PlaceOrNull(c.Place),
			SocStartPct: rest.ConvertOrNull(c.SocStart, three), SocEndPct: rest.ConvertOrNull(c.SocEnd, three),
			EnergyKWh:   rest.ConvertOrNull(c.Energy, three),
			PeakPowerKW: rest.ConvertOrNull(c.PeakPower, three), Estimated: c.Estimated, DerivedStamps: derivedStamps(d),
		}
	}
	return views, nil
}
