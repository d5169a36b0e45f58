package fleet

// alertDefaults holds, for each kind, the unit of its threshold and the threshold of a rule that gives none. A kind
// that is not here takes no threshold.
var alertDefaults = map[AlertKind]struct {
	unit  string
	value float64
}{
	AlertSpeeding:          {"m/s", 120 * MetresPerKmh},
	AlertFenceSpeeding:     {"m/s", 0},
	AlertFenceDwell:        {"s", 0},
	AlertBatteryLow:        {"percent", 20},
	AlertFuelLow:           {"percent", 15},
	AlertVoltageLow:        {"V", 11.8},
	AlertOffline:           {"s", 1800},
	AlertIdling:            {"s", 600},
	AlertHarshBraking:      {"m/s²", 3.4},
	AlertHarshAcceleration: {"m/s²", 3.0},
	AlertHarshCornering:    {"m/s²", 4.0},
	AlertTow:               {"m", 200},
	AlertOverdueReturn:     {"s", 900},
	AlertOdometerJump:      {"m", 5000},
	AlertDocumentExpiring:  {"s", 30 * 24 * 3600},
	AlertMaintenanceDue:    {"s", 7 * 24 * 3600},

	AlertStopMissed:     {"s", 0},
	AlertRouteDeviation: {"s", 120},
	AlertFuelDrop:       {"percent", 10},
	AlertFuelRise:       {"percent", 10},
	AlertProximity:      {"m", 100},
}

// Default returns the threshold of a rule of the kind that gives none, in Unit; 0 for a kind that takes none, for
// speeding above a geofence's own limit (no tolerance) and for dwelling (the geofence's own time).
func (k AlertKind) Default() float64 { return alertDefaults[k].value }

// Unit returns the unit of the kind's threshold: m/s, s, percent, V, m/s² or m. It is empty for a kind that takes none.
func (k AlertKind) Unit() string { return alertDefaults[k].unit }

// Severity returns how grave an alert of the kind is unless its rule says otherwise: info, warning or critical.
func (k AlertKind) Severity() string {
	switch k {
	case AlertCrash, AlertTow, AlertUnbookedMovement, AlertSOS, AlertJamming, AlertTampering:
		return SeverityCritical
	case AlertFenceEnter, AlertFenceExit, AlertFenceDwell, AlertIdling, AlertStopReached, AlertFuelRise:
		return SeverityInfo
	}
	return SeverityWarning
}

// OfHealth says whether alerts of the kind are about the health of the vehicle, so that somebody should look at it.
func (k AlertKind) OfHealth() bool {
	return k == AlertFaultCode || k == AlertVoltageLow || k == AlertCrash
}

// Severities of alerts.
const (
	SeverityInfo     = "info"
	SeverityWarning  = "warning"
	SeverityCritical = "critical"
)
