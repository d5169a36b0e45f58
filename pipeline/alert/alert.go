// Package alert watches a vehicle for what its account's rules ask for, and records harsh and fast driving whether or
// not a rule asks. It is pure: the time is that of the inputs, and the same inputs, rules and traits always make the
// same alerts, however the inputs are cut into batches.
//
//	rule instance, one for each rule, geofence and subject (an alarm, a document, a booking)
//
//	           condition holds           held for MinDuration              condition ended, or the schedule's
//	[idle] ----------------------> [pending] ----------------> [raised] -- window, or the rule's version --+
//	  ^                                | no longer                 | worse: updated                        |
//	  |<-------------------------------+                           +------<                                v
//	  +------------------------------- CoolDown over -------------------------------------------- [cooling down]
//
// An alert's Start is when its condition began (at the earliest when the version of the rule, and the window of its
// schedule, did), RecognisedAt is the input or deadline that raised it, and it is resolved at its End. A moment is
// raised and resolved at once. Nothing is raised during the cool-down; what holds through it is raised when it is over.
//
//	kind                       default   watches                                       ends                   silence
//	speeding                   120 km/h  the fix's speed, in the geofences if given    1 m/s below            ends it
//	geofence_speeding          0         speed above the lowest limit of the fences    1 m/s below, left      ends it
//	geofence_enter, _exit      -         moves; a pass between two fixes is both       moment                 -
//	geofence_dwell             fence's   inside for so long                            left                   raises it
//	geofence_curfew            -         outside all of the rule's geofences           inside one             raises it
//	battery_low                20 %      soc_pct                                       2 points above         goes on
//	fuel_low                   15 %      fuel_level_pct, or fuel_level_l of the tank   3 points above         goes on
//	voltage_low                11.8 V    battery_v, not with the engine on             0.3 V above            goes on
//	device_offline             30 min    nothing heard, doubtful fixes count           anything heard         raises it
//	idling                     10 min    standing with the engine on                   not so                 raises it
//	harsh_braking              3.4 m/s²  incidents, see below                          moment                 -
//	harsh_acceleration         3.0 m/s²  incidents                                     moment                 -
//	harsh_cornering            4.0 m/s²  incidents                                     moment                 -
//	crash                      -         the alarm accident                            moment                 -
//	tow                        200 m     distance from where the ignition went off     ignition on, half way  goes on
//	                           -         the alarm tow; an angle that is another       moment                 -
//	movement_without_booking   -         moving while no booking holds                 stands, booked         ends it
//	overdue_return             15 min    a booking that is past its end, not done      done or extended       raises it
//	fault_code                 -         the alarms of faultAlarms, see there          moment                 -
//	sos, jamming, tampering,   -         their alarms, see fleet.KindOfAlarm           moment                 -
//	power_cut, low_power
//	device_alarm               -         any alarm, or those that the rule names       moment                 -
//	fuel_drop, fuel_rise       10 %      a level that stands at another height         moment                 -
//	signal                     -         what the rule asks of a signal                hysteresis             goes on
//	odometer_jump              5 km      a reading refused or leaping, drops as well   moment                 -
//	document_expiring          30 days   what falls due, so long before                done                   raises it
//	maintenance_due            7 days    likewise                                      done                   raises it
//	booking_conflict           -         a conflict from its From, or when first seen  done                   raises it
//	stop_reached               -         a stop of a route plan                        moment                 -
//	stop_missed                0         a stop not reached in time                    reached, plan over     raises it
//	route_deviation            120 s     off the corridor of a route plan              back, plan over        raises it
//
// A vehicle idles between fixes that stand: a single one does not say that it stays. With the second, or later and two
// minutes after the newest, the alert is raised as of the first; what drives off has idled up to when its trip went on.
//
// The kind proximity is about two vehicles, and not found here but by pipeline/follow.
//
// "Silence": what a deadline does while nothing arrives. Silence says nothing about speed or motion: after five minutes
// without a fix such an alert ends at its last fix with the reason no_data. A starter battery is judged by readings at
// least five minutes after the ignition went off, as its voltage under charge and while cranking says nothing; if the
// ignition is not known, by every reading. An alarm that a device repeats is one alert as long as it comes again within
// ten minutes; a rule tells 32 alarms of a vehicle apart at a time, and more are other. A rule that begins or is edited
// judges anew, without cool-down: what it had raised is resolved with the reason rule_changed.
//
// Driving events: the alarms hardBraking, hardAcceleration, hardCornering and accident, and the change of speed or
// course between trusted fixes at most three seconds apart. What belongs together within five seconds is one incident,
// which its identity survives while it grows. Speeding is a span above the limit of a geofence or of the road as the
// vehicle reports it. See driving.go for thresholds and sources.
package alert

import (
	"cmp"
	"math"
	"slices"

	"github.com/motorpool/fleet"
)

// Input is what happened at one time: a trusted fix, a doubtful one, a signal, or, with none of these, moves that a
// deadline of the geofences made. What it points to is read during the Step only.
type Input struct {
	At         fleet.Millis
	Position   *fleet.Position    // A trusted fix, else nil.
	Doubtful   *fleet.Position    // A fix that does not count for place; it was heard, and its alarm counts.
	Signal     *fleet.SignalValue // A measurement, else nil.
	Aside      bool               // Only a rule wants this signal: to the other rules nothing was heard.
	Motion     fleet.Motion       // How the vehicle moves after this input.
	Moves      []fleet.FenceMove  // What this input did to the fences.
	Stops      []fleet.StopMove   // The stops of its route plans that were reached with this input.
	Inside     []fleet.FenceID    // The fences that the vehicle is inside of after this input.
	SpeedLimit float64            // In m/s, the lowest of the fences it is inside of; 0 for none.
	LimitFence fleet.FenceID      // The fence whose limit that is.
	Mileage    float64            // In metres, and never falling; NaN if unknown.

	RawOdometer     float64         // In metres, as reported with this input; NaN if it was not.
	OdometerRefused bool            // The odometer was not believed.
	Last            *fleet.Position // The newest trusted position; may be nil.
}

// Engine is an account's rules, compiled. It does not change and is safe for concurrent use.
type Engine struct {
	rules []rule // by identity and revision

	speeding, limits, enters, exits, curfews []*rule
	batteries, fuels, voltages, tows         []*rule
	unbooked, faults, odometers, alarms      []*rule
	drops, rises                             []*rule
	// The rules of the kinds that alarms have of their own.
	own     map[fleet.AlertKind]*[]*rule
	harsh   [incidents][]*rule
	stops   []*rule                     // The rules of the kind stop_reached.
	signals [len(fleet.Signals)][]*rule // The rules that watch a signal, by the signal.
	// Those of signals that watch inside of geofences.
	fenced []*rule
	// The rules device_offline, idling, geofence_dwell and what obligations ask for.
	facts []*rule
}

// NewEngine compiles versions of rules, in any order. A rule of an unknown kind watches for nothing.
func NewEngine(rules []fleet.Rule) *Engine {
	e := &Engine{rules: make([]rule, len(rules)), own: map[fleet.AlertKind]*[]*rule{}}
	for i := range rules {
		e.rules[i] = compile(&rules[i])
	}
	slices.SortStableFunc(e.rules, func(a, b rule) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Revision, b.Revision))
	})
	for i := range e.rules {
		r := &e.rules[i]
		if list := e.list(r.Kind); list != nil {
			*list = append(*list, r)
		}
		if r.Kind == fleet.AlertTow {
			e.signals[signalRoll] = append(e.signals[signalRoll], r)
			e.signals[signalPitch] = append(e.signals[signalPitch], r)
		}
		if r.Kind == fleet.AlertSignal && r.Signal != nil {
			e.signals[r.Signal.Signal] = append(e.signals[r.Signal.Signal], r)
			if r.lasting && len(r.Fences) > 0 {
				e.fenced = append(e.fenced, r)
			}
		}
	}
	return e
}

// Until returns the engine of the same rules, none of which holds from a time on.
func (e *Engine) Until(end fleet.Millis) *Engine {
	var rules []fleet.Rule
	for i := range e.rules {
		r := e.rules[i].Rule
		if r.From >= end {
			continue
		}
		if r.To == 0 || r.To > end {
			r.To = end
		}
		rules = append(rules, r)
	}
	return NewEngine(rules)
}

// list returns where rules of a kind are kept.
func (e *Engine) list(kind fleet.AlertKind) *[]*rule {
	switch kind {
	case fleet.AlertSpeeding:
		return &e.speeding
	case fleet.AlertFenceSpeeding:
		return &e.limits
	case fleet.AlertFenceEnter:
		return &e.enters
	case fleet.AlertFenceExit:
		return &e.exits
	case fleet.AlertFenceCurfew:
		return &e.curfews
	case fleet.AlertBatteryLow:
		return &e.batteries
	case fleet.AlertFuelLow:
		return &e.fuels
	case fleet.AlertVoltageLow:
		return &e.voltages
	case fleet.AlertTow:
		return &e.tows
	case fleet.AlertUnbookedMovement:
		return &e.unbooked
	case fleet.AlertFaultCode:
		return &e.faults
	case fleet.AlertSOS, fleet.AlertJamming, fleet.AlertTampering, fleet.AlertPowerCut, fleet.AlertLowPower:
		if e.own[kind] == nil {
			e.own[kind] = new([]*rule)
		}
		return e.own[kind]
	case fleet.AlertDeviceAlarm:
		return &e.alarms
	case fleet.AlertFuelDrop:
		return &e.drops
	case fleet.AlertFuelRise:
		return &e.rises
	case fleet.AlertOdometerJump:
		return &e.odometers
	case fleet.AlertHarshBraking:
		return &e.harsh[braking]
	case fleet.AlertHarshAcceleration:
		return &e.harsh[acceleration]
	case fleet.AlertHarshCornering:
		return &e.harsh[cornering]
	case fleet.AlertCrash:
		return &e.harsh[crash]
	case fleet.AlertOffline, fleet.AlertIdling, fleet.AlertFenceDwell, fleet.AlertOverdueReturn,
		fleet.AlertDocumentExpiring, fleet.AlertMaintenanceDue, fleet.AlertBookingConflict,
		fleet.AlertStopMissed, fleet.AlertRouteDeviation:
		return &e.facts
	case fleet.AlertStopReached:
		return &e.stops
	}
	return nil
}

// version finds a version of a rule, or returns nil.
func (e *Engine) version(id fleet.RuleID, revision uint64) *rule {
	low, high := 0, len(e.rules)
	for low < high {
		mid := (low + high) / 2
		if r := &e.rules[mid]; r.ID < id || r.ID == id && r.Revision < revision {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(e.rules) && e.rules[low].ID == id && e.rules[low].Revision == revision {
		return &e.rules[low]
	}
	return nil
}

// rule is a version of a rule with what follows from it.
type rule struct {
	fleet.Rule
	threshold float64 // The rule's own threshold, or the kind's default.
	required  fleet.Millis
	hours     *hours // When the rule is in force; nil for always.
	vehicles  []fleet.VehicleID
	lasting   bool    // What was last heard goes on through silence.
	low       bool    // A lower value is worse.
	fact      bool    // The condition is found from the state and the traits at any time; see facts.go.
	watch     watch   // The kind of fact that is watched.
	bound     string  // The kind of obligation that the rule is about.
	timed     bool    // The value is a time that passes, in seconds.
	subject   string  // What the rule's instances are about, if that is always the same.
	step      float64 // By how much worse it must have become to be told again.
}

func compile(r *fleet.Rule) rule {
	c := rule{Rule: *r, threshold: r.Threshold, hours: compileHours(r.Schedule), vehicles: slices.Clone(r.Scope.Vehicles)}
	slices.Sort(c.vehicles)
	if !(c.threshold > 0) || math.IsInf(c.threshold, 1) {
		c.threshold = r.Kind.Default()
	}
	c.MinDuration, c.CoolDown = max(c.MinDuration, 0), max(c.CoolDown, 0)
	switch r.Kind {
	case fleet.AlertSpeeding, fleet.AlertFenceSpeeding:
		c.step = 5 * fleet.MetresPerKmh
	case fleet.AlertFenceCurfew:
		c.lasting = true
	case fleet.AlertBatteryLow, fleet.AlertFuelLow:
		c.lasting, c.low, c.step = true, true, 5
	case fleet.AlertVoltageLow:
		c.lasting, c.low, c.step = true, true, 0.5
	case fleet.AlertTow:
		c.lasting, c.step = true, 1000
	case fleet.AlertSignal:
		c.compileTest()
	case fleet.AlertOffline, fleet.AlertIdling, fleet.AlertFenceDwell, fleet.AlertOverdueReturn,
		fleet.AlertStopMissed, fleet.AlertRouteDeviation:
		c.fact, c.timed = true, true
		c.required = max(seconds(c.threshold), c.MinDuration)
		if r.Kind == fleet.AlertOffline {
			c.required++ // silent for longer than the threshold: who reports each so often is not silent
		}
		c.watch = map[fleet.AlertKind]watch{
			fleet.AlertOffline: silence, fleet.AlertIdling: idling, fleet.AlertFenceDwell: dwelling,
		}[r.Kind]
	case fleet.AlertDocumentExpiring, fleet.AlertMaintenanceDue, fleet.AlertBookingConflict:
		c.fact = true
	}
	if c.bound = obligation(r.Kind); c.bound != "" {
		c.watch = obligations
	}
	return c
}

// seconds makes a time of a threshold. A century is as good as for ever.
func seconds(s float64) fleet.Millis { return fleet.Millis(min(s, 100*366*24*3600) * 1000) }

// current says whether the version holds at a time.
func (r *rule) current(at fleet.Millis) bool { return r.From <= at && (r.To == 0 || at < r.To) }

// scoped says whether the rule is about the vehicle.
func (r *rule) scoped(vehicle fleet.VehicleID, t *fleet.Traits) bool {
	if len(r.vehicles) == 0 && len(r.Scope.Tags) == 0 {
		return true
	}
	if _, named := slices.BinarySearch(r.vehicles, vehicle); named {
		return true
	}
	for _, tag := range r.Scope.Tags {
		if slices.Contains(t.Tags, tag) {
			return true
		}
	}
	return false
}

// fenced says whether the rule is about a geofence; one that names none is about all.
func (r *rule) fenced(fence fleet.FenceID) bool {
	return len(r.Fences) == 0 || slices.Contains(r.Fences, fence)
}
