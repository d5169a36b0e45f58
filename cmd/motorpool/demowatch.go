package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/track"
)

// Places of the recordings of Austin, and what is watched for in the fleet that is only tracked. Some of the rules find
// something within minutes of the start.
var (
	demoFences = []record.GeofenceFields{
		{Name: "Downtown", Color: "#7b3fe4", Description: "Between the river and the Capitol.",
			Geometry: record.Geometry{Type: "Polygon", Coordinates: [][][]float64{{{-97.7535, 30.2700}, {-97.7490, 30.2820},
				{-97.7345, 30.2785}, {-97.7330, 30.2630}, {-97.7440, 30.2600}, {-97.7535, 30.2700}}}}},
		{Name: "University", Color: "#bf5700", Description: "Its streets are slow.", SpeedLimitMph: new(20.0),
			Geometry: record.Geometry{Type: "Circle", Center: []float64{-97.7341, 30.2849}, RadiusM: new(700.0)}},
		{Name: "South yard", Color: "#2f80ed", Description: "Where buses stand overnight.", DwellS: 1800,
			Geometry: record.Geometry{Type: "Circle", Center: []float64{-97.7900, 30.1630}, RadiusM: new(400.0)}},
	}
	demoRules = []struct {
		record.AlertRuleFields
		fences []string // by name
	}{
		{AlertRuleFields: record.AlertRuleFields{Name: "Faster than 65 mph", Kind: "speeding", ThresholdMph: new(65.0),
			CooldownS: 30 * 60}},
		{AlertRuleFields: record.AlertRuleFields{Name: "Too fast at the university", Kind: "geofence_speeding",
			ThresholdMph: new(5.0), CooldownS: 30 * 60}, fences: []string{"University"}},
		{AlertRuleFields: record.AlertRuleFields{Name: "Out of the yard", Kind: "geofence_exit", Severity: "info"},
			fences: []string{"South yard"}},
		{AlertRuleFields: record.AlertRuleFields{Name: "To be charged", Kind: "battery_low", ThresholdPct: new(10.0),
			CooldownS: 6 * 60 * 60}},
	}
)

// watch makes the fences and rules of the demo where they never were: what somebody changed or archived stays so.
func (r *records) watch(ctx context.Context, account fleet.AccountID) error {
	fences, rules := record.NewLog(r.store, record.Geofences), record.NewLog(r.store, record.AlertRules)
	idOf := func(name string) uint64 { return fleet.NamedID("demo %d %s", account, name) }
	for _, f := range demoFences {
		body := record.Geofence{GeofenceFields: f}
		if faults, err := track.JudgeGeometry(&body); err != nil || len(faults) > 0 {
			return errors.Join(err, fleet.Invalid(faults...))
		}
		if _, _, err := fences.Ensure(ctx, commandLine, account, idOf(f.Name), body); err != nil {
			return fmt.Errorf("make the fence %q: %w", f.Name, err)
		}
	}
	for _, of := range demoRules {
		body := record.AlertRule{AlertRuleFields: of.AlertRuleFields}
		for _, name := range of.fences {
			body.GeofenceIDs = append(body.GeofenceIDs, fleet.FenceID(idOf(name)).String())
		}
		body.Complete()
		if _, _, err := rules.Ensure(ctx, commandLine, account, idOf(of.Name), body); err != nil {
			return fmt.Errorf("make the rule %q: %w", of.Name, err)
		}
	}
	return nil
}
