package follow

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/pipeline/registry"
	"github.com/motorpool/fleet/query"
)

// Trials tell what an alert rule would have raised. They derive as an owner does, from what is stored, and write
// nothing. Trials are safe for concurrent use.
type Trials struct {
	Derive   derive.Config
	DB       driver.Conn
	Policies Policies
	Log      *slog.Logger
	Most     int // fixes and measurements that are looked at for one trial
}

// Most of what a trial of one rule comes to, beside Trials.Most: alerts, which are held in memory, and vehicles, which
// are read one after the other.
const (
	mostTrialAlerts   = 100_000
	mostTrialVehicles = 1_000
)

// settling is how long before a trial its vehicles are derived from, so that it is known where they are, and whether
// they stand, when it begins.
const settling = day

// TryRule returns the alerts that a rule would have raised had it held in [from, until), the earliest first, of
// vehicles that are in use and with the geofences as they are now. The rule is given as the body of an alert rule. What
// it takes two vehicles to know is not told. A fault with the code too_large says that more is stored than may be
// looked at.
func (t *Trials) TryRule(ctx context.Context, account fleet.AccountID, body []byte, from, until fleet.Millis) (
	[]query.Derived[*fleet.Alert], error) {
	if err := t.Policies.RefreshNow(ctx); err != nil {
		return nil, err
	}
	held := t.Policies.Of(account)
	rule, err := registry.RuleOf(body, held.Default.Zone)
	if err != nil {
		return nil, fmt.Errorf("read a rule to be tried: %w", err)
	}
	rule.ID, rule.Revision, rule.From = 1, 1, from
	policy := trialPolicy(held, rule)
	f := &Follower{cfg: DefaultConfig(), compiled: map[fleet.AccountID]*compiled{},
		deps: Deps{DB: t.DB, Policies: onePolicy{policy}, Log: t.Log}}
	f.cfg.Derive = t.Derive

	var windows []window
	for id, traits := range policy.Vehicles {
		if traits.Archived == 0 && rule.Scope.Holds(id, traits.Tags) {
			windows = append(windows, window{key: fleet.VehicleKey{Account: account, Vehicle: id}, after: from - settling,
				until: until - 1})
		}
	}
	slices.SortFunc(windows, func(a, b window) int { return cmp.Compare(a.key.Vehicle, b.key.Vehicle) })
	counts, err := f.counts(ctx, windows)
	if err != nil {
		return nil, err
	}
	total, vehicles := 0, 0
	for _, n := range counts {
		if total += n; n > 0 {
			vehicles++
		}
	}
	if total > t.Most {
		return nil, tooLarge("there are %d positions and measurements to look at, and at most %d are", total, t.Most)
	}
	if vehicles > mostTrialVehicles {
		return nil, tooLarge("%d vehicles have reported, and at most %d are looked at", vehicles, mostTrialVehicles)
	}
	var all []query.Derived[*fleet.Alert]
	for _, w := range windows {
		if counts[w.key] == 0 {
			continue
		}
		alerts, err := f.try(ctx, w, until)
		if err != nil {
			return nil, err
		}
		for _, a := range alerts {
			all = append(all, query.Derived[*fleet.Alert]{Entity: a, Vehicle: w.key.Vehicle})
		}
		if len(all) > mostTrialAlerts {
			return nil, errTrialAlerts
		}
	}
	slices.SortStableFunc(all, func(a, b query.Derived[*fleet.Alert]) int {
		return cmp.Compare(a.Entity.Start, b.Entity.Start)
	})
	return all, nil
}

// tooLarge is the fault of a trial that would take too much.
func tooLarge(format string, args ...any) error {
	return fleet.Invalid(fleet.FieldError{Pointer: "/until", Code: "too_large",
		Detail: fmt.Sprintf(format, args...) + ": choose a shorter time or fewer vehicles"})
}

var errTrialAlerts = tooLarge("the rule would have raised more than %d alerts", mostTrialAlerts)

// try derives one vehicle, and returns the alerts that came of it.
func (f *Follower) try(ctx context.Context, w window, until fleet.Millis) ([]*fleet.Alert, error) {
	c := f.policy(w.key.Account)
	machine := derive.NewVehicle(&f.cfg.Derive, w.key, c.policy, c.fences, c.rules)
	var state derive.State
	var out fleet.Entities
	found := map[uint64]int{}
	var alerts []*fleet.Alert
	take := func() {
		for _, e := range out {
			a, ok := e.(*fleet.Alert)
			if !ok {
				continue
			}
			if at, known := found[a.ID]; known {
				alerts[at] = a
			} else {
				found[a.ID] = len(alerts)
				alerts = append(alerts, a)
			}
		}
		out = out[:0]
	}
	for w.after < w.until {
		inputs, reached, err := f.pullSome(ctx, w)
		if err != nil {
			return nil, err
		}
		machine.Step(&state, inputs, &out)
		if take(); len(alerts) > mostTrialAlerts {
			return nil, errTrialAlerts
		}
		w.after = reached
	}
	machine.Advance(&state, until, &out)
	machine.Open(&state, &out)
	take()
	return alerts, nil
}

// trialPolicy is a policy with one rule and no other, and with the geofences as they are now since ever.
func trialPolicy(held *fleet.Policy, rule fleet.Rule) *fleet.Policy {
	policy := *held
	policy.Rules, policy.Fences = []fleet.Rule{rule}, nil
	for _, fence := range held.Fences {
		if fence.To == 0 {
			fence.From = 0
			policy.Fences = append(policy.Fences, fence)
		}
	}
	return &policy
}

// onePolicy knows the policy of one account.
type onePolicy struct{ policy *fleet.Policy }

func (p onePolicy) Of(fleet.AccountID) *fleet.Policy { return p.policy }

func (p onePolicy) RefreshNow(context.Context) error { return nil }
