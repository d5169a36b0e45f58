package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
)

// policyRevision is one revision of a geofence or an alert rule, read already.
type policyRevision struct {
	number   uint64
	at       fleet.Millis
	archived bool
	off      bool         // it does not exist as long as this is the newest
	applies  fleet.Millis // applies_from, 1 ms past 1970 if it is not later than that; 0 for none
	renewed  string       // what makes an applies_from count that was there before

	fence *fenceBody // of a geofence
	rule  *ruleBody  // of an alert rule,
	limit float64    // with its threshold in SI units
	plan  *fleet.RoutePlan
}

// spansOf returns for each of a record's revisions, in order of their numbers, the event times [from, to) for which it
// holds; to 0 is until further notice, and one with to = from never holds. A revision holds from when it was written,
// or from its applies_from if that lies before, until a later one begins. An applies_from counts in the revision that
// brings it, not in those that carry it along: renaming a geofence does not rewrite its past.
func spansOf(revisions []policyRevision) (from, to []fleet.Millis) {
	from, to = make([]fleet.Millis, len(revisions)), make([]fleet.Millis, len(revisions))
	for i, r := range revisions {
		from[i] = r.at
		brought := i == 0 || r.applies != revisions[i-1].applies || r.renewed != revisions[i-1].renewed
		if r.applies != 0 && r.applies < r.at && brought && !r.archived {
			from[i] = r.applies
		}
	}
	var next fleet.Millis
	for i := len(revisions) - 1; i >= 0; i-- {
		if to[i] = next; next != 0 && next < from[i] {
			to[i] = from[i]
		}
		if next == 0 || from[i] < next {
			next = from[i]
		}
	}
	return from, to
}

// fenceVersions makes the versions of a geofence. Revisions that differ in nothing that matters are one version, under
// the number of the first and the name of the last. One that cannot be read is left out, and named by the error.
func fenceVersions(id fleet.FenceID, revisions []policyRevision, zone *time.Location) ([]fleet.FenceVersion, error) {
	var versions []fleet.FenceVersion
	var bad error
	from, to := spansOf(revisions)
	for i, r := range revisions {
		if r.archived || to[i] == from[i] {
			continue
		}
		b := r.fence
		v := fleet.FenceVersion{ID: id, Revision: r.number, From: from[i], To: to[i], Name: b.Name, Geometry: b.Geometry,
			Dwell: seconds(b.DwellS), SpeedLimit: b.SpeedLimit * fleet.MetresPerMph, Margin: b.ExitMargin, Confirm: b.Confirm}
		var err, wrong error
		v.Scope, err = b.Scope.scope()
		if v.Schedule, wrong = b.Schedule.schedule(zone); err != nil || wrong != nil {
			bad = errors.Join(bad, err, wrong)
			continue
		}
		if last := len(versions) - 1; last >= 0 && versions[last].To == v.From {
			same := v
			same.Revision, same.From = versions[last].Revision, versions[last].From
			was := versions[last]
			was.Name, was.To = same.Name, same.To
			if reflect.DeepEqual(was, same) {
				versions[last] = same
				continue
			}
		}
		versions = append(versions, v)
	}
	return versions, bad
}

// ruleVersions makes the versions of an alert rule, as fenceVersions does those of a geofence.
func ruleVersions(id fleet.RuleID, revisions []policyRevision, zone *time.Location) ([]fleet.Rule, error) {
	var versions []fleet.Rule
	var bad error
	from, to := spansOf(revisions)
	for i, r := range revisions {
		if r.archived || r.off || to[i] == from[i] {
			continue
		}
		b := r.rule
		v := fleet.Rule{ID: id, Revision: r.number, From: from[i], To: to[i], Kind: b.Kind, Severity: b.Severity,
			Threshold:   r.limit,
			MinDuration: seconds(b.MinDuration), CoolDown: seconds(b.CoolDown), Alarms: b.Alarms,
			Apart: b.Relation == "apart"}
		var err, wrong error
		v.Scope, err = b.Scope.scope()
		v.Schedule, wrong = b.Schedule.schedule(zone)
		err = errors.Join(err, wrong)
		v.Signal, wrong = b.Signal.test()
		err = errors.Join(err, wrong)
		for _, text := range b.GeofenceIDs {
			fence, wrong := fleet.ParseID(fleet.FencePrefix, text)
			err = errors.Join(err, wrong)
			v.Fences = append(v.Fences, fleet.FenceID(fence))
		}
		if err != nil {
			bad = errors.Join(bad, err)
			continue
		}
		if last := len(versions) - 1; last >= 0 && versions[last].To == v.From {
			same := v
			same.Revision, same.From = versions[last].Revision, versions[last].From
			was := versions[last]
			if was.To = same.To; reflect.DeepEqual(was, same) {
				versions[last] = same
				continue
			}
		}
		versions = append(versions, v)
	}
	return versions, bad
}

// appliesFrom reads the member of that name. "Since ever" is often written as the beginning of 1970, whose number of
// milliseconds means none here; no fix is that old.
func appliesFrom(at *time.Time) fleet.Millis {
	if at == nil {
		return 0
	}
	return max(fleet.MillisOf(*at), 1)
}

// readFence reads the body of a geofence's revision.
func (r *policyRevision) readFence(body string) error {
	r.fence = &fenceBody{}
	if err := json.Unmarshal([]byte(body), r.fence); err != nil {
		return err
	}
	r.applies = appliesFrom(r.fence.AppliesFrom)
	r.renewed = r.fence.Backfill
	return nil
}

// readRule reads the body of an alert rule's revision.
func (r *policyRevision) readRule(body string) error {
	r.rule = &ruleBody{}
	if err := json.Unmarshal([]byte(body), r.rule); err != nil {
		return err
	}
	r.applies = appliesFrom(r.rule.AppliesFrom)
	r.off = r.rule.Enabled != nil && !*r.rule.Enabled
	if r.rule.Severity == "" {
		r.rule.Severity = r.rule.Kind.Severity()
	}
	takes, ok := query.ThresholdOf(r.rule.Kind)
	if !ok {
		return nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &members); err != nil {
		return err
	}
	if text, given := members[takes.Member]; given {
		if err := json.Unmarshal(text, &r.limit); err != nil {
			return fmt.Errorf("%s: %w", takes.Member, err)
		}
		r.limit *= takes.Scale
	}
	return nil
}

// RuleOf reads the body of an alert rule as it stands, by the zone of its account. It has no identity, and holds from
// no time on: that is for the caller to say.
func RuleOf(body []byte, zone *time.Location) (fleet.Rule, error) {
	r := policyRevision{at: 1}
	if err := r.readRule(string(body)); err != nil {
		return fleet.Rule{}, err
	}
	r.off, r.applies = false, 0
	versions, err := ruleVersions(0, []policyRevision{r}, zone)
	if err != nil {
		return fleet.Rule{}, err
	}
	rule := versions[0]
	rule.Revision, rule.From = 0, 0
	return rule, nil
}
