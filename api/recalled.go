package api

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/roster"
	"github.com/motorpool/fleet/query"
)

// recalled is what commands of the desk read of the store, with what memory has from there.
type recalled struct {
	base.Stored
	roster *roster.Roster
}

// mostPlans bounds the rate plans that are looked through in memory.
const mostPlans = 200

// PlansInUse is query.PlansInUse.
func (r recalled) PlansInUse(ctx context.Context, account fleet.AccountID) ([]query.PlanInUse, error) {
	all, ok := r.roster.All(ctx, account, record.RatePlans.Name, mostPlans)
	if !ok {
		return r.Stored.PlansInUse(ctx, account)
	}
	type ranked struct {
		query.PlanInUse
		priority int
	}
	found := make([]ranked, 0, len(all))
	for _, stored := range all {
		var p record.RatePlan
		if err := json.Unmarshal([]byte(stored.Body), &p); err != nil {
			return nil, err
		}
		if p.Enabled == nil || *p.Enabled {
			found = append(found, ranked{query.PlanInUse{ID: stored.ID, Classes: p.ClassIDs, Channels: p.Channels,
				ValidFrom: p.ValidFrom, ValidTo: p.ValidTo}, p.Priority})
		}
	}
	slices.SortFunc(found, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(b.ID, a.ID))
	})
	plans := make([]query.PlanInUse, len(found))
	for i := range found {
		plans[i] = found[i].PlanInUse
	}
	return plans, nil
}
