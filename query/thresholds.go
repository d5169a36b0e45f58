package query

import "github.com/motorpool/fleet"

// Threshold is how callers write the threshold of a kind of alert.
type Threshold struct {
	Member string  // of the rule: "threshold_mph"
	Scale  float64 // SI units in one of its units; what is stored is multiplied by it
	Least  float64 // value that a caller may write, in its own units
	Most   float64
}

const day = 24 * 3600 // s

// thresholds are the members of those kinds that have one.
var thresholds = map[fleet.AlertKind]Threshold{
	fleet.AlertSpeeding:          {Member: "threshold_mph", Scale: fleet.MetresPerMph, Least: 1, Most: 300},
	fleet.AlertFenceSpeeding:     {Member: "threshold_mph", Scale: fleet.MetresPerMph, Least: 0, Most: 300},
	fleet.AlertFenceDwell:        {Member: "threshold_s", Scale: 1, Least: 0, Most: 30 * day},
	fleet.AlertBatteryLow:        {Member: "threshold_pct", Scale: 1, Least: 1, Most: 100},
	fleet.AlertFuelLow:           {Member: "threshold_pct", Scale: 1, Least: 1, Most: 100},
	fleet.AlertVoltageLow:        {Member: "threshold_v", Scale: 1, Least: 1, Most: 100},
	fleet.AlertOffline:           {Member: "threshold_s", Scale: 1, Least: 60, Most: 365 * day},
	fleet.AlertIdling:            {Member: "threshold_s", Scale: 1, Least: 10, Most: 30 * day},
	fleet.AlertHarshBraking:      {Member: "threshold_mps2", Scale: 1, Least: 0.5, Most: 50},
	fleet.AlertHarshAcceleration: {Member: "threshold_mps2", Scale: 1, Least: 0.5, Most: 50},
	fleet.AlertHarshCornering:    {Member: "threshold_mps2", Scale: 1, Least: 0.5, Most: 50},
	fleet.AlertTow:               {Member: "threshold_m", Scale: 1, Least: 10, Most: 1e5},
	fleet.AlertOverdueReturn:     {Member: "threshold_s", Scale: 1, Least: 1, Most: 365 * day},
	fleet.AlertOdometerJump:      {Member: "threshold_mi", Scale: fleet.MetresPerMile, Least: 0.1, Most: 1e5},
	fleet.AlertDocumentExpiring:  {Member: "threshold_days", Scale: day, Least: 1, Most: 366},
	fleet.AlertMaintenanceDue:    {Member: "threshold_days", Scale: day, Least: 1, Most: 366},

	fleet.AlertStopMissed:     {Member: "threshold_s", Scale: 1, Least: 0, Most: 30 * day},
	fleet.AlertRouteDeviation: {Member: "threshold_s", Scale: 1, Least: 1, Most: 30 * day},
	fleet.AlertFuelDrop:       {Member: "threshold_pct", Scale: 1, Least: 5, Most: 100},
	fleet.AlertFuelRise:       {Member: "threshold_pct", Scale: 1, Least: 5, Most: 100},
	fleet.AlertProximity:      {Member: "threshold_m", Scale: 1, Least: 1, Most: 1e5},
}

// ThresholdOf returns how the threshold of a kind is written, and false if the kind takes none.
func ThresholdOf(kind fleet.AlertKind) (Threshold, bool) {
	t, ok := thresholds[kind]
	return t, ok
}

// TakesFences says whether a rule of the kind may name geofences.
func TakesFences(kind fleet.AlertKind) bool {
	switch kind {
	case fleet.AlertSpeeding, fleet.AlertFenceSpeeding, fleet.AlertFenceEnter, fleet.AlertFenceExit, fleet.AlertFenceDwell,
		fleet.AlertFenceCurfew,
		fleet.AlertSignal:
		return true
	}
	return false
}
