package track

import (
	"net/http"
	"strconv"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// AlertRule is an alert rule as it is answered.
type AlertRule struct {
	ID string `json:"id" doc:"Identity." example:"rul_1234"`

	record.AlertRuleFields

	Object string `json:"object" doc:"Always alert_rule." example:"alert_rule"`

	rest.Stamps
}

// AlertKind is a kind of alert that rules may watch for.
type AlertKind struct {
	Kind             string   `json:"kind" example:"speeding"`
	About            string   `json:"about" doc:"What it watches for."`
	Threshold        *string  `json:"threshold" doc:"The member of a rule that holds its threshold; null if it takes none." example:"threshold_mph"`
	Unit             *string  `json:"unit" doc:"Of the threshold." example:"mph"`
	DefaultThreshold *float64 `json:"default_threshold" doc:"In that unit; 0 where the geofence's own holds." example:"74.6"`
	Minimum          *float64 `json:"minimum" doc:"The least threshold that a rule may give."`
	Maximum          *float64 `json:"maximum"`
	DefaultSeverity  string   `json:"default_severity" example:"warning"`
	TakesGeofences   bool     `json:"takes_geofences" doc:"Whether a rule of the kind may name geofence_ids."`
}

// alertAbout says what each kind watches for.
var alertAbout = map[fleet.AlertKind]string{
	fleet.AlertSpeeding:          "Faster than the threshold; only inside the geofences that are chosen, if any are.",
	fleet.AlertFenceSpeeding:     "Faster than the speed limit of the geofence that it is in, by more than the threshold.",
	fleet.AlertFenceEnter:        "Enters a geofence.",
	fleet.AlertFenceExit:         "Leaves a geofence.",
	fleet.AlertFenceDwell:        "Stays inside a geofence for the threshold or longer, which is the geofence's own dwell_s unless given.",
	fleet.AlertFenceCurfew:       "Is outside all of the geofences that are chosen, while the schedule holds.",
	fleet.AlertBatteryLow:        "State of charge of the traction battery below the threshold.",
	fleet.AlertFuelLow:           "Fuel in the tank below the threshold.",
	fleet.AlertVoltageLow:        "Voltage of the starter battery below the threshold, by a reading that comes when the engine has been off for five minutes; by any where the ignition is not known.",
	fleet.AlertOffline:           "Nothing heard for longer than the threshold; raised up to a minute after that, as of when it was.",
	fleet.AlertIdling:            "Stands with the engine on for the threshold or longer, as two fixes say that stand; raised as of the first, with a later fix that stands or when none has come for two minutes.",
	fleet.AlertHarshBraking:      "Brakes harder than the threshold, or the device says so.",
	fleet.AlertHarshAcceleration: "Accelerates harder than the threshold, or the device says so.",
	fleet.AlertHarshCornering:    "Corners harder than the threshold, or the device says so.",
	fleet.AlertTow:               "Moves further than the threshold with the ignition off; or, by two readings in a row of roll_deg or pitch_deg, lies 10 degrees otherwise than it was left (subject tilt); or the device says so by its alarm.",
	fleet.AlertUnbookedMovement:  "Moves while no booking, block or work order holds it: buffers of bookings count, and so does what is not back yet.",
	fleet.AlertOverdueReturn:     "Was picked up, and is not back so long after the end of its booking.",
	fleet.AlertFaultCode:         "The device reports a fault, a fuel leak or a temperature by an alarm; or sos, jamming, tampering, removing, gpsAntennaCut or powerCut, as long as no rule of their own kind watches the vehicle.",
	fleet.AlertOdometerJump:      "The odometer jumps by more than the threshold.",
	fleet.AlertCrash:             "The device reports a crash.",
	fleet.AlertDocumentExpiring:  "Registration, inspection, insurance or warranty ends within so many days.",
	fleet.AlertMaintenanceDue:    "Maintenance falls due within so many days, by date or by the miles that it is driven a day.",
	fleet.AlertBookingConflict:   "A booking of the vehicle overlaps another.",

	fleet.AlertStopReached:    "Reaches a stop of its route plan.",
	fleet.AlertStopMissed:     "Has not reached a stop of its route plan by arrive_until and the threshold.",
	fleet.AlertRouteDeviation: "Was seen off the corridor of its route plan, and not on it again for the threshold or longer.",
	fleet.AlertSOS:            "Somebody calls for help: the device's alarm sos.",
	fleet.AlertJamming:        "The device reports that its radio or GNSS is jammed.",
	fleet.AlertTampering:      "The device reports that it is tampered with or taken off, or that its antenna was cut: the alarms tampering, removing and gpsAntennaCut.",
	fleet.AlertPowerCut:       "The device lost the vehicle's power, or was switched off: the alarms powerCut and powerOff.",
	fleet.AlertLowPower:       "The device's supply or its own battery is low: the alarms lowPower and lowBattery.",
	fleet.AlertSignal:         "A signal is what the rule's member signal asks: above, below, between, outside, equals, changed. The alert's subject is the signal, and its values are in the signal's unit.",
	fleet.AlertFuelDrop:       "The level in the tank has fallen by more than what may have been used and the threshold together, and stays there: known with the first reading that comes five minutes or more after the one that showed it. The subject is standing or driving. Without fuel_capacity_gal a vehicle that tells litres is held to have a tank of 60 litres.",
	fleet.AlertFuelRise:       "The level in the tank has risen by more than the threshold, and stays there: somebody has refuelled. As with fuel_drop.",
	fleet.AlertProximity: "Two vehicles of the rule's scope are not farther from each other than the threshold, or with relation apart farther, for min_duration_s. " +
		"Every pair of at most " + strconv.Itoa(fleet.MaxPairVehicles) +
		" vehicles; of more with the scope's tags, those with the lowest ids. The alert is one of the vehicle with the lower id, its subject is the other. " +
		"It is known when both have reported a place of after it, so it comes later by their reporting interval, and while one is silent it goes on. Between places it is judged as /v1/reports/proximity says.",
	fleet.AlertDeviceAlarm: "The device raises one of the alarms of the rule, or any if it names none. The alert's subject is the alarm, or other when 32 different alarms of the vehicle are told apart already.",
}

// thresholdUnits are the units of the members that hold thresholds.
var thresholdUnits = map[string]string{
	"threshold_mph": "mph", "threshold_pct": "percent", "threshold_v": "V", "threshold_s": "s", "threshold_mps2": "m/s²",
	"threshold_m":  "m",
	"threshold_mi": "mi", "threshold_days": "days",
}

func (a *API) alertRuleRoutes() {
	s := &rest.Resource[record.AlertRule]{
		Server: a.Server, Log: a.alertRules, Listing: &query.AlertRules,
		Titles: rest.Titles{
			Path: "/v1/alert_rules", Tag: "Alerts", Noun: "alert rule", Nouns: "alert rules",
			About: "A rule holds from when it was written, and a change from when it was made: it raises nothing for what happened before, also if the data of then comes later. " +
				"`GET /v1/alert_kinds` lists what it may watch for, and `GET /v1/signals` the signals. Of what a geofence would have seen before it was written, `POST /v1/geofences/{id}/backfill` makes the visits.",
		},
		Scope:    rest.Scopes{Read: auth.TelematicsRead, Write: auth.TelematicsWrite},
		Views:    rest.Views{View: AlertRule{}, Fields: record.AlertRuleFields{}},
		Writable: func(b *record.AlertRule) any { return &b.AlertRuleFields },
		Show:     rest.ShowEach(showAlertRule),
		Prepare:  func(r *http.Request, _ uint64, _, b *record.AlertRule) error { return a.prepareRule(r, b) },
	}
	s.Register()
	a.trialRoutes()
	a.Handle(rest.Route{
		Method: "GET", Path: "/v1/alert_kinds", ID: "listAlertKinds", Tag: "Alerts", Scope: auth.TelematicsRead,
		Summary: "List the kinds of alerts",
		About:   "What a rule may watch for, and the thresholds that hold unless it gives one. A rule holds from when it was written, and a change from when it was made: what is of before is judged by the rules of its time. All on one page.",
		Reply:   rest.List[AlertKind]{},
	}, func(w http.ResponseWriter, r *http.Request) error {
		kinds := alertKinds()
		return rest.WriteJSON(w, r, http.StatusOK,
			rest.List[AlertKind]{Data: kinds, Pagination: rest.Pagination{Page: 1, PerPage: len(kinds), Total: len(kinds)}})
	})
}

// prepareRule completes a rule, and refuses what the schema cannot.
func (a *API) prepareRule(r *http.Request, b *record.AlertRule) error {
	b.Complete()
	faults := b.Faults()
	for i := range faults {
		if faults[i].Pointer == "/signal/name" {
			faults[i].Detail += rest.DidYouMean(b.Signal.Name, rest.SignalNames())
		}
	}
	if faults != nil {
		return fleet.Invalid(faults...)
	}
	if err := a.vehiclesExist(r, b.Scope); err != nil {
		return err
	}
	return a.CheckAllExist(r, &query.Geofences, fleet.FencePrefix, b.GeofenceIDs, "/geofence_ids/", "geofence")
}

// alertKinds describes every kind, in the units that rules are written in.
func alertKinds() []AlertKind {
	var all []AlertKind
	for _, kind := range fleet.AlertKinds {
		k := AlertKind{Kind: string(kind), About: alertAbout[kind], DefaultSeverity: kind.Severity(),
			TakesGeofences: query.TakesFences(kind)}
		if takes, ok := query.ThresholdOf(kind); ok {
			member, unit := takes.Member, thresholdUnits[takes.Member]
			k.Threshold, k.Unit, k.DefaultThreshold = &member, &unit, rest.RoundedOrNull(kind.Default()/takes.Scale, 2)
			k.Minimum, k.Maximum = &takes.Least, &takes.Most
		}
		all = append(all, k)
	}
	return all
}

func showAlertRule(rec record.Record[record.AlertRule]) any {
	return AlertRule{ID: fleet.FormatID(fleet.RulePrefix, rec.ID), AlertRuleFields: rec.Body.AlertRuleFields,
		Object: "alert_rule", Stamps: rest.StampsOf(rec)}
}

// vehiclesExist refuses a scope that names vehicles which the account does not have. Archived ones are there.
func (a *API) vehiclesExist(r *http.Request, scope *record.Scope) error {
	if scope == nil {
		return nil
	}
	return a.CheckAllExist(r, &query.Vehicles, fleet.VehiclePrefix, scope.VehicleIDs, "/scope/vehicle_ids/", "vehicle")
}
