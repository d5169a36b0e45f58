package record

import (
	"strconv"
	"strings"

	"github.com/motorpool/fleet"
)

// SignalCondition is what a rule of the kind signal asks of a signal's values. Values are in the signal's own unit,
// which is the end of its name.
type SignalCondition struct {
	Name       string   `json:"name" maxLength:"100" example:"temp1_c" doc:"A signal, as /v1/signals lists them. Of what is so or not (door_open) the values are 1 and 0."`
	Is         string   `json:"is" enum:"above,below,between,outside,equals,changed" example:"above"`
	Value      *float64 `json:"value,omitempty" doc:"Of above, below and equals: the bound, which must be given. Of changed: the least change since it was told last; any change unless given." example:"8"`
	From       *float64 `json:"from,omitempty" doc:"Of between and outside: the lower bound, which must be given."`
	To         *float64 `json:"to,omitempty" doc:"Of between and outside: the upper bound, which must be given."`
	Hysteresis *float64 `json:"hysteresis,omitempty" minimum:"0" doc:"The alert is over when the value has come back by so much. Unless given: 1 for °C, 2 for percent, 0.3 for V, and the like for other units; 0 for what is so or not." example:"1"`
}

// signalFaults says what is wrong with the rule's signal.
func (r *AlertRuleFields) signalFaults() (faults []fleet.FieldError) {
	fault := func(pointer, code, detail string) {
		faults = append(faults, fleet.FieldError{Pointer: "/signal" + pointer, Code: code, Detail: detail})
	}
	s := r.Signal
	switch {
	case fleet.AlertKind(r.Kind) != fleet.AlertSignal && s != nil:
		fault("", "invalid", "the kind "+r.Kind+" takes no signal; the kind signal does")
	case fleet.AlertKind(r.Kind) == fleet.AlertSignal && s == nil:
		fault("", "required", "the kind signal needs to know which signal, and what it is to be")
	}
	if faults != nil || s == nil {
		return faults
	}
	signal, known := fleet.SignalNamed(s.Name)
	if !known {
		fault("/name", "invalid", "is no signal; GET /v1/signals lists those that there are")
	}
	ranged := s.Is == fleet.SignalBetween || s.Is == fleet.SignalOutside
	for _, bound := range []struct {
		member string
		value  *float64
		takes  bool
		needs  bool
	}{
		{"/value", s.Value, !ranged, !ranged && s.Is != fleet.SignalChanged}, {"/from", s.From, ranged, ranged},
		{"/to", s.To, ranged, ranged},
	} {
		switch {
		case bound.value == nil && bound.needs:
			fault(bound.member, "required", "must be given with "+s.Is)
		case bound.value != nil && !bound.takes:
			fault(bound.member, "invalid", "means nothing with "+s.Is)
		case bound.value != nil && s.Is == fleet.SignalChanged && *bound.value < 0:
			fault(bound.member, "invalid", "a change has a size of 0 or more")
		case bound.value != nil && s.Is != fleet.SignalChanged && known && !signal.Accepts(*bound.value):
			fault(bound.member, "invalid", fleet.Between(signal.Spec().Min, signal.Spec().Max))
		}
	}
	if faults == nil && ranged && *s.From >= *s.To {
		fault("/to", "invalid", "must be more than from")
	}
	return faults
}

// alarmFaults says what is wrong with the words that the rule watches for: each must be kept of a position as it is.
func (r *AlertRuleFields) alarmFaults() (faults []fleet.FieldError) {
	if len(r.Alarms) > 0 && fleet.AlertKind(r.Kind) != fleet.AlertDeviceAlarm {
		return []fleet.FieldError{{Pointer: "/alarms", Code: "invalid",
			Detail: "the kind " + r.Kind + " takes no alarms; device_alarm does"}}
	}
	for i, word := range r.Alarms {
		if word == "" || strings.Contains(word, ",") || fleet.AlarmOf(word) != word {
			faults = append(faults, fleet.FieldError{Pointer: "/alarms/" + strconv.Itoa(i), Code: "invalid",
				Detail: "must be one word of at most 50 bytes, as a device spells it"})
		}
	}
	return faults
}
