package record

import (
	"strconv"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
)

// AlertRuleFields are what callers write of an alert rule. Each kind takes one threshold at most, which GET
// /v1/alert_kinds names; without it the kind's default holds.
type AlertRuleFields struct {
	Name        string `json:"name" minLength:"1" maxLength:"100" example:"Speeding on the highway"`
	Description string `json:"description,omitempty" maxLength:"500"`
	Kind        string `json:"kind" enum:"speeding,geofence_speeding,geofence_enter,geofence_exit,geofence_dwell,geofence_curfew,battery_low,fuel_low,voltage_low,device_offline,idling,harsh_braking,harsh_acceleration,harsh_cornering,tow,movement_without_booking,overdue_return,fault_code,odometer_jump,crash,document_expiring,maintenance_due,booking_conflict,stop_reached,stop_missed,route_deviation,sos,jamming,tampering,power_cut,low_power,device_alarm,signal,fuel_drop,fuel_rise,proximity" example:"speeding"`
	Severity    string `json:"severity,omitempty" enum:"info,warning,critical" doc:"The kind's own unless given."`
	Enabled     *bool  `json:"enabled,omitempty" doc:"True unless given."`

	ThresholdMph  *float64 `json:"threshold_mph,omitempty" doc:"Of speeding: the limit; of geofence_speeding: so much above the geofence's limit." example:"75"`
	ThresholdPct  *float64 `json:"threshold_pct,omitempty" doc:"Of battery_low and fuel_low; of fuel_drop and fuel_rise: so much of the tank."`
	ThresholdV    *float64 `json:"threshold_v,omitempty" doc:"Of voltage_low."`
	ThresholdS    *float64 `json:"threshold_s,omitempty" doc:"Of geofence_dwell (the geofence's own unless given), device_offline, idling, overdue_return, stop_missed and route_deviation."`
	ThresholdMps2 *float64 `json:"threshold_mps2,omitempty" doc:"Of harsh_braking, harsh_acceleration and harsh_cornering: metres per second squared."`
	ThresholdM    *float64 `json:"threshold_m,omitempty" doc:"Of tow: metres moved with the ignition off. Of proximity: metres between the two vehicles."`
	ThresholdMi   *float64 `json:"threshold_mi,omitempty" doc:"Of odometer_jump."`
	ThresholdDays *float64 `json:"threshold_days,omitempty" doc:"Of document_expiring and maintenance_due: so many days before."`

	MinDurationS int       `json:"min_duration_s,omitempty" minimum:"0" maximum:"2592000" doc:"It must have held for so long before an alert is raised." example:"30"`
	CooldownS    int       `json:"cooldown_s,omitempty" minimum:"0" maximum:"2592000" doc:"After one alert is resolved, no other is raised for so long."`
	Schedule     *Schedule `json:"schedule,omitempty" doc:"The times at which it watches; always unless given."`
	Scope        *Scope    `json:"scope,omitempty" doc:"The vehicles that it is about; all of them unless given."`
	GeofenceIDs  []string  `json:"geofence_ids,omitempty" maxItems:"1000" nullable:"false" doc:"Of speeding: only inside one of these. Of geofence_curfew: outside all of these. Of signal: only inside one of these. Of the other geofence kinds: these; any geofence unless given."`

	Alarms []string `json:"alarms,omitempty" maxItems:"50" nullable:"false" doc:"Of device_alarm: the words that it watches for, as devices spell them, such as overspeed, idle or door; any alarm unless given."`

	Signal *SignalCondition `json:"signal,omitempty" doc:"Of signal, which needs it: what it watches. With min_duration_s it must hold for so long; a reading holds until the next."`

	Relation string `json:"relation,omitempty" enum:"near,apart" doc:"Of proximity: near (not farther from each other than threshold_m, as unless given) or apart (farther)."`

	OpenIssue bool `json:"open_issue,omitempty" doc:"An issue of the vehicle is opened for each of its alerts, within a minute. Only of fault_code, voltage_low and crash."`

	ExternalRefs []ExternalRef     `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`
	Metadata     map[string]string `json:"metadata,omitempty" maxProperties:"50" doc:"Yours to use; at most 50 members."`
}

// AlertRule is an alert rule as it is stored.
type AlertRule struct{ AlertRuleFields }

// AlertRules describes the kind; an external reference is unique in an account.
var AlertRules = Kind[AlertRule]{
	Name: "alert_rule", Prefix: fleet.RulePrefix,
	Claims: func(r *AlertRule) []Claim { return refClaims("alert_rule", r.ExternalRefs) },
}

// Complete fills in what the caller left to the kind.
func (r *AlertRuleFields) Complete() {
	if r.Severity == "" {
		r.Severity = fleet.AlertKind(r.Kind).Severity()
	}
	if r.Enabled == nil {
		yes := true
		r.Enabled = &yes
	}
}

// Faults says what of a rule is not acceptable beyond what its schema says.
func (r *AlertRuleFields) Faults() []fleet.FieldError {
	kind := fleet.AlertKind(r.Kind)
	faults := append(r.Scope.faults(), r.Schedule.faults()...)
	takes, _ := query.ThresholdOf(kind)
	for _, t := range r.thresholds() {
		if t.value == nil {
			continue
		}
		fault := fleet.FieldError{Pointer: "/" + t.member, Code: "invalid"}
		switch {
		case takes.Member == "":
			fault.Detail = "the kind " + r.Kind + " takes no threshold"
		case takes.Member != t.member:
			fault.Detail = "the kind " + r.Kind + " takes " + takes.Member
		case *t.value < takes.Least || *t.value > takes.Most:
			fault.Detail = fleet.Between(takes.Least, takes.Most)
		default:
			continue
		}
		faults = append(faults, fault)
	}
	for i, text := range r.GeofenceIDs {
		if _, err := fleet.ParseID(fleet.FencePrefix, text); err != nil {
			faults = append(faults, fleet.FieldError{Pointer: "/geofence_ids/" + strconv.Itoa(i), Code: "not_found",
				Detail: "is not the id of a geofence"})
		}
	}
	if len(r.GeofenceIDs) > 0 && !query.TakesFences(kind) {
		faults = append(faults,
			fleet.FieldError{Pointer: "/geofence_ids", Code: "invalid", Detail: "the kind " + r.Kind + " takes no geofences"})
	}
	if len(r.GeofenceIDs) == 0 && kind == fleet.AlertFenceCurfew {
		faults = append(faults, fleet.FieldError{Pointer: "/geofence_ids", Code: "required",
			Detail: "the kind " + r.Kind + " needs the geofences to be in"})
	}
	faults = append(append(append(faults, r.alarmFaults()...), r.signalFaults()...), r.pairFaults()...)
	if r.OpenIssue && !kind.OfHealth() {
		faults = append(faults, fleet.FieldError{Pointer: "/open_issue", Code: "invalid",
			Detail: "an alert of the kind " + r.Kind +
				" says nothing about the health of the vehicle; rules of fault_code, voltage_low and crash may open issues"})
	}
	return faults
}

// threshold is one of the members that hold a threshold.
type threshold struct {
	member string
	value  *float64
}

func (r *AlertRuleFields) thresholds() []threshold {
	return []threshold{
		{"threshold_mph", r.ThresholdMph}, {"threshold_pct", r.ThresholdPct}, {"threshold_v", r.ThresholdV},
		{"threshold_s", r.ThresholdS}, {"threshold_mps2", r.ThresholdMps2}, {"threshold_m", r.ThresholdM},
		{"threshold_mi", r.ThresholdMi},
		{"threshold_days", r.ThresholdDays},
	}
}
