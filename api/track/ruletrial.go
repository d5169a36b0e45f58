package track

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// RuleTrials know what an alert rule would have raised, of its body as it is stored.
type RuleTrials interface {
	TryRule(ctx context.Context, account fleet.AccountID, body []byte, from, until fleet.Millis) (
		[]query.Derived[*fleet.Alert], error)
}

// RuleTrial is a question: what a rule would have raised.
type RuleTrial struct {
	Rule record.AlertRuleFields `json:"rule" doc:"As it would be created. Of kinds about two vehicles (proximity) GET /v1/reports/proximity tells instead."`
	From time.Time              `json:"from" doc:"From when on it is to have held."`
	To   time.Time              `json:"until" doc:"Up to when; at most 31 days later, and not ahead."`
}

// TriedRule is the answer.
type TriedRule struct {
	Data     []TriedAlert `json:"data" nullable:"false" doc:"The earliest 500 of them."`
	Alerts   int          `json:"alerts" doc:"How many it would have raised."`
	Vehicles int          `json:"vehicles" doc:"Of how many vehicles."`
}

// TriedAlert is an alert that a rule would have raised.
type TriedAlert struct {
	VehicleID  string         `json:"vehicle_id" example:"veh_1234"`
	Kind       string         `json:"kind" example:"speeding"`
	Severity   string         `json:"severity"`
	StartAt    record.Instant `json:"from" doc:"When what it is about began."`
	EndAt      record.Instant `json:"until" doc:"When it ended; the last that is known of it while goes_on."`
	DurationS  float64        `json:"duration_s"`
	GoesOn     bool           `json:"goes_on" doc:"It had not ended at the end of the trial."`
	Place      *rest.Place    `json:"place" doc:"Where it began."`
	Unit       *string        `json:"unit" nullable:"true" doc:"Of value, peak and threshold, as of an alert." example:"mph"`
	Value      *float64       `json:"value" nullable:"true" doc:"What was found first."`
	Peak       *float64       `json:"peak" nullable:"true" doc:"The worst."`
	Threshold  *float64       `json:"threshold" nullable:"true"`
	GeofenceID *string        `json:"geofence_id" nullable:"true" example:"geo_1234"`
	Subject    *string        `json:"subject" nullable:"true" doc:"What it is about besides."`
}

const (
	maxTrial  = 31 * 24 * time.Hour
	mostTried = 500 // alerts in an answer
)

func (a *API) trialRoutes() {
	a.Handle(rest.Route{
		Method: http.MethodPost, Path: "/v1/alert_rules/try", ID: "tryAlertRule", Tag: "Alerts", Scope: auth.TelematicsRead,
		Class: auth.Read, Summary: "Try a rule against the past",
		About: "What an alert rule would have raised, had it held from `from` until `until`. It is derived as alerts are, from the positions and measurements that " +
			"are stored, of vehicles that are in use, and with the geofences as they are now, since ever. Nothing is written, and nobody is told.",
		Body: RuleTrial{}, Reply: TriedRule{}, Timeout: areaTime,
	}, a.tryRule)
}

func (a *API) tryRule(w http.ResponseWriter, r *http.Request) error {
	var sent RuleTrial
	if err := a.DecodeBody(r, &sent); err != nil {
		return err
	}
	rule := record.AlertRule{AlertRuleFields: sent.Rule}
	if err := a.prepareRule(r, &rule); err != nil {
		return within("/rule", err)
	}
	var faults []fleet.FieldError
	fault := func(pointer, code, detail string) {
		faults = append(faults, fleet.FieldError{Pointer: pointer, Code: code, Detail: detail})
	}
	if rule.Kind == string(fleet.AlertProximity) {
		fault("/rule/kind", "invalid", "is about two vehicles: GET /v1/reports/proximity tells what it would have raised")
	}
	switch {
	case sent.From.Year() < 1900 || sent.To.Year() > 2299 || !sent.To.After(sent.From):
		fault("/until", "invalid", "must be later than from")
	case sent.To.Sub(sent.From) > maxTrial:
		fault("/until", "too_large", "must be at most 31 days after from")
	case sent.To.After(a.Now().Add(time.Minute)):
		fault("/until", "invalid", "must not lie ahead")
	}
	if faults != nil {
		return fleet.Invalid(faults...)
	}
	if a.Trials == nil {
		return fleet.NewError(fleet.CodeUnavailable, "This server derives nothing, and cannot try a rule.")
	}
	if _, err := a.LongTurn(w, r); err != nil {
		return err
	}
	body, err := json.Marshal(rule)
	if err != nil {
		return fmt.Errorf("encode a rule to be tried: %w", err)
	}
	alerts, err := a.Trials.TryRule(r.Context(), auth.From(r.Context()).Account, body, fleet.MillisOf(sent.From),
		fleet.MillisOf(sent.To))
	if err != nil {
		return err
	}
	reply := TriedRule{Data: []TriedAlert{}, Alerts: len(alerts)}
	vehicles := map[fleet.VehicleID]bool{}
	for i := range alerts {
		vehicles[alerts[i].Vehicle] = true
	}
	reply.Vehicles = len(vehicles)
	for i := range alerts[:min(len(alerts), mostTried)] {
		reply.Data = append(reply.Data, a.showTried(&alerts[i], rest.MetricUnits(r)))
	}
	return rest.WriteJSON(w, r, http.StatusOK, reply)
}

func (a *API) showTried(d *query.Derived[*fleet.Alert], metric bool) TriedAlert {
	v := a.showAlert(d, metric)
	return TriedAlert{VehicleID: v.VehicleID, Kind: v.Kind, Severity: v.Severity, StartAt: v.StartAt, EndAt: v.EndAt,
		DurationS: v.DurationS, GoesOn: d.Entity.Open, Place: v.Place, Unit: v.Unit, Value: v.Value, Peak: v.Peak,
		Threshold: v.Threshold, GeofenceID: v.GeofenceID, Subject: v.Subject}
}

// within puts the faults of a member's content in their place.
func within(pointer string, err error) error {
	e, ok := errors.AsType[*fleet.Error](err)
	if !ok || len(e.Fields) == 0 {
		return err
	}
	moved := *e
	moved.Fields = slices.Clone(e.Fields)
	for i := range moved.Fields {
		moved.Fields[i].Pointer = pointer + moved.Fields[i].Pointer
	}
	return &moved
}
