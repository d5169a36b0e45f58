package main

import (
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// TestTheDemoIsWatchedAsSomebodyLeftIt changes a rule of the demo and archives a fence: another start leaves both so.
func TestTheDemoIsWatchedAsSomebodyLeftIt(t *testing.T) {
	ctx, r := t.Context(), newOperator(t)
	account := r.account("Watched")
	if err := r.watch(ctx, account); err != nil {
		t.Fatal(err)
	}
	fences, rules := record.NewLog(r.store, record.Geofences), record.NewLog(r.store, record.AlertRules)
	rule := fleet.NamedID("demo %d %s", account, demoRules[0].Name)
	fence := fleet.NamedID("demo %d %s", account, demoFences[0].Name)
	for _, of := range demoRules {
		made, err := rules.Get(ctx, account, fleet.NamedID("demo %d %s", account, of.Name))
		if err != nil {
			t.Fatal(err)
		}
		if faults := made.Body.Faults(); len(faults) > 0 || len(made.Body.GeofenceIDs) != len(of.fences) {
			t.Errorf("the rule %q: %v, fences %v", of.Name, faults, made.Body.GeofenceIDs)
		}
	}
	if _, err := fences.Archive(ctx, commandLine, account, fence, 0, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := rules.Update(ctx, commandLine, account, rule, 0, func(of *record.Record[record.AlertRule]) error {
		of.Body.ThresholdMph = new(80.0)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := r.watch(ctx, account); err != nil {
		t.Fatal(err)
	}
	left, err := rules.Get(ctx, account, rule)
	if err != nil || *left.Body.ThresholdMph != 80 {
		t.Errorf("the rule after another start: %v %v", left.Body.ThresholdMph, err)
	}
	if gone, err := fences.Get(ctx, account, fence); err != nil || !gone.Archived() {
		t.Errorf("the fence after another start: archived at %v, %v", gone.ArchivedAt, err)
	}
}
