package track

import (
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/units"
	"github.com/motorpool/fleet/query"
)

// Alert is what a rule has found, as it is answered.
type Alert struct {
	ID               string         `json:"id" example:"alr_1234"`
	Object           string         `json:"object" doc:"Always alert." example:"alert"`
	VehicleID        string         `json:"vehicle_id" example:"veh_1234"`
	RuleID           string         `json:"rule_id" example:"rul_1234"`
	RuleRevision     uint64         `json:"rule_revision"`
	Kind             string         `json:"kind" example:"speeding"`
	Severity         string         `json:"severity" doc:"info, warning or critical."`
	Status           string         `json:"status" doc:"raised, resolved, or withdrawn: data that came later showed that there was no reason for it."`
	StartAt          record.Instant `json:"from" doc:"When what it is about began."`
	EndAt            record.Instant `json:"until" doc:"When it ended; the last that is known of it while it is raised."`
	ResolvedAt       record.Instant `json:"resolved_at" doc:"Null while it is raised."`
	DurationS        float64        `json:"duration_s"`
	LocalOn          string         `json:"local_on" format:"date" doc:"Date of its from in the time zone that the vehicle, or else the account, has now: it is told when it is asked for, and another zone changes it for all of them."`
	Place            *rest.Place    `json:"place" doc:"Where it began."`
	Unit             *string        `json:"unit" nullable:"true" doc:"Of value, peak and threshold: mph (km/h with units=metric), s, percent, V, m or m/s²; of the kind signal the unit of the signal." example:"mph"`
	Value            *float64       `json:"value" nullable:"true" doc:"What was found first."`
	Peak             *float64       `json:"peak" nullable:"true" doc:"The worst so far."`
	Threshold        *float64       `json:"threshold" nullable:"true"`
	Before           *float64       `json:"before" nullable:"true" doc:"Of fuel_drop and fuel_rise: the level before, in percent; value is what it changed by."`
	After            *float64       `json:"after" nullable:"true" doc:"Of these: the level after."`
	AmountGal        *float64       `json:"amount_gal" nullable:"true" doc:"Of these: what value is in gallons, if the vehicle tells litres or its fuel_capacity_gal is known."`
	GeofenceID       *string        `json:"geofence_id" nullable:"true" example:"geo_1234"`
	Subject          *string        `json:"subject" nullable:"true" doc:"What it is about besides: an alarm, a signal, a document, a booking; of proximity the other vehicle's id."`
	ResolvedReason   *string        `json:"resolved_reason" nullable:"true" doc:"cleared, moment, rule_changed or no_data; null while it is raised."`
	AcknowledgedAt   record.Instant `json:"acknowledged_at" doc:"Null until somebody has taken note of it."`
	AcknowledgedBy   *string        `json:"acknowledged_by" nullable:"true" doc:"The id of an API key." example:"key_1234"`
	AcknowledgedNote *string        `json:"acknowledged_note" nullable:"true"`
	DerivedStamps
}

// TransformSchema implements huma.SchemaTransformer.
func (Alert) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return rest.NullablePlace(s, "place")
}

// Acknowledge is the body of the action that takes note of an alert.
type Acknowledge struct {
	Note string `json:"note,omitempty" maxLength:"2000"`
}

func (a *API) alertRoutes() {
	var kinds []string
	for _, kind := range fleet.AlertKinds {
		kinds = append(kinds, string(kind))
	}
	severities := []string{fleet.SeverityInfo, fleet.SeverityWarning, fleet.SeverityCritical}
	s := &derivedResource[*fleet.Alert, Alert]{
		api: a, path: "/v1/alerts", name: "Alert", noun: "alert", nouns: "alerts", tag: "Alerts", from: &query.Alerts,
		about: "What the alert rules have found.", show: a.showAlerts, tell: a.showAlert, keeps: true,
		params: []rest.Param{
			{Name: "rule_id", NotEmpty: true, About: "Only of these rules, separated by commas."},
			{Name: "geofence_id", NotEmpty: true, About: "Only about these geofences, separated by commas."},
			{Name: "kind", Multiple: true, NotEmpty: true, Enum: kinds, About: "Only of these kinds, separated by commas."},
			{Name: "severity", Multiple: true, NotEmpty: true, Enum: severities,
				About: "Only of these severities, separated by commas."},
			{
				Name:     "status",
				Multiple: true,
				NotEmpty: true,
				Enum:     []string{query.AlertRaised, query.AlertResolved, query.AlertWithdrawn},
				About:    "Only in these states, separated by commas. `withdrawn` alerts are left out unless they are asked for.",
			},
			{Name: "include_withdrawn", Type: "boolean",
				About: "`true` answers the withdrawn ones too, as `include=deleted` does."},
			{Name: "acknowledged", Type: "boolean", About: "Whether somebody has taken note."},
		},
		filter: func(r *http.Request, f *query.DerivedFilter) (err error) {
			f.Kinds, f.Severities, f.Statuses =
				rest.ListParam(r, "kind"), rest.ListParam(r, "severity"), rest.ListParam(r, "status")
			f.Acknowledged = rest.TriParam(r, "acknowledged")
			f.Deleted = f.Deleted || rest.TriParam(r, "include_withdrawn") == fleet.Yes ||
				slices.Contains(f.Statuses, query.AlertWithdrawn)
			if f.Rules, err = rest.IDsParam[fleet.RuleID](r, "rule_id", fleet.RulePrefix); err == nil {
				f.Fences, err = rest.IDsParam[fleet.FenceID](r, "geofence_id", fleet.FencePrefix)
			}
			return err
		},
	}
	s.registerList()
	s.registerGet()
	a.Handle(rest.Route{
		Method: http.MethodPost, Path: "/v1/alerts/{id}/acknowledge", ID: "acknowledgeAlert", Tag: "Alerts",
		Scope:   auth.TelematicsWrite,
		Summary: "Take note of an alert",
		About:   "Does not resolve it, and is no new revision of it: `alert.acknowledged` tells others. The first acknowledgement stands; another one changes nothing.",
		Body:    Acknowledge{}, Optional: true, Reply: Alert{},
	}, func(w http.ResponseWriter, r *http.Request) error {
		var sent Acknowledge
		if err := a.DecodeBody(r, &sent); err != nil {
			return err
		}
		d, err := s.find(r)
		if err != nil {
			return err
		}
		by := rest.Author(r)
		body := record.AlertAck{VehicleID: d.Vehicle.String(), Note: strings.TrimSpace(sent.Note), By: by.Actor}
		if _, _, err := a.alertAcks.Ensure(r.Context(), by, auth.From(r.Context()).Account, d.ID(), body); err != nil {
			return err
		}
		views, err := a.showAlerts(r, []query.Derived[*fleet.Alert]{d})
		if err != nil {
			return err
		}
		return rest.WriteJSON(w, r, http.StatusOK, views[0])
	})
}

func (a *API) showAlerts(r *http.Request, rows []query.Derived[*fleet.Alert]) ([]Alert, error) {
	alerts := make([]uint64, len(rows))
	for i := range rows {
		alerts[i] = rows[i].ID()
	}
	noted, err := query.Acknowledgements(r.Context(), a.DB, auth.From(r.Context()).Account, alerts)
	if err != nil {
		return nil, err
	}
	views := make([]Alert, len(rows))
	for i := range rows {
		views[i] = a.showAlert(&rows[i], rest.MetricUnits(r))
		if ack, ok := noted[rows[i].ID()]; ok {
			v := &views[i]
			v.AcknowledgedAt, v.AcknowledgedBy, v.AcknowledgedNote =
				rest.Instant(ack.At), rest.TextOrNull(ack.By), rest.TextOrNull(ack.Note)
		}
	}
	return views, nil
}

// inGallons makes gallons of litres.
func inGallons(litres float64) float64 { return units.Rounded(litres/fleet.LitresPerGal, 2) }

func (a *API) showAlert(d *query.Derived[*fleet.Alert], metric bool) Alert {
	e := d.Entity
	unit, scale, decimals := e.What.Unit(), 1.0, 2
	if unit == "m/s" {
		decimals = 1
		if unit, scale = "mph", fleet.MetresPerMph; metric {
			unit, scale = "km/h", fleet.MetresPerKmh
		}
	}
	if signal, ok := fleet.SignalNamed(e.Subject); ok && e.What == fleet.AlertSignal {
		unit, scale = signal.Spec().Unit, 1
	}
	shownValue := func(v float64) float64 { return units.Rounded(v/scale, decimals) }
	view := Alert{
		ID: DerivedID(e), Object: "alert", VehicleID: d.Vehicle.String(), RuleID: e.Rule.String(),
		RuleRevision: e.RuleRevision, Kind: string(e.What),
		Severity: e.Severity, Status: query.AlertResolved, StartAt: rest.Instant(e.Start), EndAt: rest.Instant(e.End),
		DurationS: rest.Seconds(e.End - e.Start),
		LocalOn:   d.LocalDate.Format("2006-01-02"), Place: a.PlaceOrNull(e.Place), Unit: rest.TextOrNull(unit),
		Value: rest.ConvertOrNull(e.Value, shownValue),
		Peak:  rest.ConvertOrNull(e.Peak, shownValue), Threshold: rest.ConvertOrNull(e.Threshold, shownValue),
		Before: rest.ConvertOrNull(e.Before, shownValue),
		After:  rest.ConvertOrNull(e.After, shownValue), AmountGal: rest.ConvertOrNull(e.Litres, inGallons),
		Subject:        rest.TextOrNull(e.Subject),
		ResolvedReason: rest.TextOrNull(e.ResolvedReason), DerivedStamps: derivedStamps(d),
	}
	if e.Fence != 0 {
		view.GeofenceID = rest.TextOrNull(e.Fence.String())
	}
	switch {
	case d.Deleted:
		view.Status = query.AlertWithdrawn
	case e.Open:
		view.Status = query.AlertRaised
	default:
		view.ResolvedAt = rest.Instant(e.End)
	}
	return view
}
