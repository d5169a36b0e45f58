package record

import (
	"fmt"

	"github.com/motorpool/fleet"
)

// pairFaults says what is wrong with a rule about pairs of vehicles, or with what only such a rule takes.
func (r *AlertRuleFields) pairFaults() (faults []fleet.FieldError) {
	fault := func(pointer, code, detail string) {
		faults = append(faults, fleet.FieldError{Pointer: pointer, Code: code, Detail: detail})
	}
	if fleet.AlertKind(r.Kind) != fleet.AlertProximity {
		if r.Relation != "" {
			fault("/relation", "invalid", "the kind "+r.Kind+" takes no relation; proximity does")
		}
		return faults
	}
	switch {
	case r.Scope == nil || len(r.Scope.VehicleIDs)+len(r.Scope.Tags) == 0:
		fault("/scope", "required", "the kind proximity needs the vehicles, or their tags")
	case len(r.Scope.VehicleIDs) > fleet.MaxPairVehicles:
		fault("/scope/vehicle_ids", "invalid",
			fmt.Sprintf("a rule watches %d pairs at most, which are those of %d vehicles: write several rules",
				fleet.MaxPairVehicles*(fleet.MaxPairVehicles-1)/2, fleet.MaxPairVehicles))
	case len(r.Scope.Tags) == 0 && len(r.Scope.VehicleIDs) < 2:
		fault("/scope/vehicle_ids", "invalid", "a pair is of two vehicles")
	}
	if r.Schedule != nil {
		fault("/schedule", "invalid", "the kind proximity takes no schedule")
	}
	if r.CooldownS != 0 {
		fault("/cooldown_s", "invalid", "the kind proximity takes no cooldown")
	}
	return faults
}
