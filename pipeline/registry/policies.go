package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
)

// Policies is what every account has laid down about its vehicles: the versions of its geofences and alert
// rules, and the traits of its vehicles, route plans among them. Whatever callers wrote in miles or local times
// is SI and UTC here.
type Policies struct {
	Refresher

	records map[fleet.AccountID]*accountRecords // only used while reading

	mu       sync.RWMutex
	policies map[fleet.AccountID]*fleet.Policy
}

// accountRecords are the records of an account that its policy is made of, as they were read.
type accountRecords struct {
	revision uint64 // of the account's record
	account  accountBody
	zone     *time.Location
	vehicles map[fleet.VehicleID]*vehicleRecord
	devices  map[fleet.DeviceID]deviceRecord    // that have settings, or had some
	fences   map[fleet.FenceID][]policyRevision // by number
	rules    map[fleet.RuleID][]policyRevision  // by number

	plans  map[fleet.PlanID][]policyRevision         // by number
	driven map[fleet.VehicleID]map[fleet.PlanID]bool // plans that are, or were, the vehicle's

	owed     map[owedKey]*owed                     // the newest of each, gone or not
	bound    map[fleet.VehicleID]map[owedKey]*owed // those that are not gone
	stale    map[fleet.VehicleID]bool              // whose traits must be made again
	restated bool                                  // the account was written, and those of all must be
	laid     bool                                  // a geofence or rule was written
}

type deviceRecord struct {
	revision uint64
	noData   string // as it was written; empty: not
}

type vehicleRecord struct {
	revision uint64
	archived fleet.Millis // since when; 0: it is not
	body     *vehicleBody // nil if it cannot be read
}

// NewPolicies returns empty policies; Refresh or Run fills them.
func NewPolicies(db driver.Conn) *Policies {
	p := &Policies{records: map[fleet.AccountID]*accountRecords{}, policies: map[fleet.AccountID]*fleet.Policy{}}
	p.start(db, "policies", p.load, "accounts", "vehicles", "devices", "geofences", "alert_rules", "bookings", "blocks",
		"work_orders", "reminders", "route_plans")
	return p
}

// Of returns the policy of an account, which is empty if nothing is laid down. It is shared and must not be changed,
// and it does not change by itself: ask again for a newer one.
func (p *Policies) Of(account fleet.AccountID) *fleet.Policy {
	p.mu.RLock()
	policy := p.policies[account]
	p.mu.RUnlock()
	if policy == nil {
		return &fleet.Policy{Account: account, Default: fleet.Traits{Zone: time.UTC}}
	}
	return policy
}

// policyRow is a row of either query: a record as it stands, or one revision of one.
type policyRow struct {
	account  uint64
	kind     string
	id       uint64
	revision uint64
	at       time.Time
	archived int64 // since when, in ms; 0: it is not
	body     string
}

// load reads what was written since a time, and makes the policies of the accounts that it changes.
func (p *Policies) load(ctx context.Context, r *reading) error {
	records, err := p.rows(ctx, "policy_records", r.since)
	if err != nil {
		return err
	}
	revisions, err := p.rows(ctx, "policy_revisions", r.since)
	if err != nil {
		return err
	}
	boundSince := r.since
	if r.everything && !r.newest.IsZero() {
		boundSince = r.newest.Add(-owedOverlap)
	}
	obligations, err := p.readOwed(ctx, boundSince, r.began)
	if err != nil {
		return err
	}
	routes, err := p.readRoutes(ctx, boundSince, r.began)
	if err != nil {
		return err
	}
	changed := map[fleet.AccountID]bool{}
	for i := range records {
		p.takeRecord(r, &records[i], changed)
	}
	eachRecord(revisions, func(rows []policyRow) { p.takeRevisions(r, rows, changed) })
	eachRecord(routes, func(rows []policyRow) { p.takeRoute(r, rows, changed) })
	for i := range obligations {
		p.takeOwed(&obligations[i], changed)
		r.saw(obligations[i].at)
	}
	for account := range changed {
		policy := p.make(r, account)
		p.mu.Lock()
		p.policies[account] = policy
		p.mu.Unlock()
	}
	for _, rows := range [][]policyRow{records, revisions, routes} {
		for i := range rows {
			r.saw(rows[i].at)
		}
	}
	return nil
}

func (p *Policies) rows(ctx context.Context, name string, since time.Time, more ...any) ([]policyRow, error) {
	args := append(more, clickhouse.Named("since", since.UnixMilli()))
	return schemas.AllRows(ctx, p.db, "read policies", schemas.Query(name), args,
		func(one *policyRow, row schemas.Row) error {
			return row.Scan(&one.account, &one.kind, &one.id, &one.revision, &one.at, &one.archived, &one.body)
		})
}

// recordsOf returns the records of an account.
func (p *Policies) recordsOf(account uint64) *accountRecords {
	id := fleet.AccountID(account)
	a := p.records[id]
	if a == nil {
		a = &accountRecords{zone: time.UTC, vehicles: map[fleet.VehicleID]*vehicleRecord{},
			devices: map[fleet.DeviceID]deviceRecord{}, fences: map[fleet.FenceID][]policyRevision{},
			rules: map[fleet.RuleID][]policyRevision{}, owed: map[owedKey]*owed{},
			bound: map[fleet.VehicleID]map[owedKey]*owed{},
			stale: map[fleet.VehicleID]bool{}, plans: map[fleet.PlanID][]policyRevision{},
			driven: map[fleet.VehicleID]map[fleet.PlanID]bool{}}
		p.records[id] = a
	}
	return a
}

// takeDevice notes what a device has for settings, and its account as changed if that is news.
func (p *Policies) takeDevice(row *policyRow, changed map[fleet.AccountID]bool) {
	a, id := p.recordsOf(row.account), fleet.DeviceID(row.id)
	was, known := a.devices[id]
	if row.revision <= was.revision || !known && row.body == "" {
		return
	}
	a.devices[id] = deviceRecord{row.revision, row.body}
	if was.noData != row.body {
		changed[fleet.AccountID(row.account)] = true
	}
}

// settings are those of the devices of an account that have any.
func (a *accountRecords) settings() map[fleet.DeviceID]fleet.TripSettings {
	var all map[fleet.DeviceID]fleet.TripSettings
	for id, d := range a.devices {
		if s, err := strconv.ParseFloat(d.noData, 64); err == nil {
			if all == nil {
				all = map[fleet.DeviceID]fleet.TripSettings{}
			}
			silence := seconds(s)
			all[id] = fleet.TripSettings{NoData: &silence}
		}
	}
	return all
}

// takeRecord notes an account, a vehicle or a device as it stands, and its account as changed if that is news.
func (p *Policies) takeRecord(r *reading, row *policyRow, changed map[fleet.AccountID]bool) {
	if row.kind == "device" {
		p.takeDevice(row, changed)
		return
	}
	a := p.recordsOf(row.account)
	if row.kind == "account" {
		if row.revision <= a.revision {
			return
		}
		changed[fleet.AccountID(row.account)] = true
		a.revision, a.restated = row.revision, true
		var body accountBody
		err := json.Unmarshal([]byte(row.body), &body)
		zone, wrong := query.ZoneNamed(body.Timezone, time.UTC)
		if err = errors.Join(err, wrong); err != nil {
			r.skip(fleet.AccountID(row.id).String(), row.revision, err)
			return
		}
		a.account, a.zone = body, zone
		return
	}
	id := fleet.VehicleID(row.id)
	if was := a.vehicles[id]; was != nil && row.revision <= was.revision {
		return
	}
	changed[fleet.AccountID(row.account)] = true
	now := &vehicleRecord{revision: row.revision, archived: fleet.Millis(row.archived), body: &vehicleBody{}}
	a.vehicles[id], a.stale[id] = now, true
	if err := json.Unmarshal([]byte(row.body), now.body); err != nil {
		now.body = nil
		r.skip(id.String(), row.revision, err)
	}
}

// takeRevisions notes all revisions of a geofence or an alert rule; those that were read before are not read again.
func (p *Policies) takeRevisions(r *reading, rows []policyRow, changed map[fleet.AccountID]bool) {
	first := &rows[0]
	a := p.recordsOf(first.account)
	isFence := first.kind == "geofence"
	known, name := a.rules[fleet.RuleID(first.id)], fleet.RuleID(first.id).String()
	if isFence {
		known, name = a.fences[fleet.FenceID(first.id)], fleet.FenceID(first.id).String()
	}
	have := len(known)
	for i := range rows {
		row := &rows[i]
		if last := len(known) - 1; last >= 0 && row.revision <= known[last].number {
			continue
		}
		v := policyRevision{number: row.revision, at: fleet.MillisOf(row.at), archived: row.archived != 0}
		var err error
		if isFence {
			err = v.readFence(row.body)
		} else {
			err = v.readRule(row.body)
		}
		if err != nil {
			r.skip(name, row.revision, err)
			continue
		}
		if last := len(known) - 1; isFence && last >= 0 && string(v.fence.Geometry) == string(known[last].fence.Geometry) {
			v.fence.Geometry = known[last].fence.Geometry // large, and mostly the same
		}
		known = append(known, v)
	}
	if len(known) == have {
		return
	}
	changed[fleet.AccountID(first.account)], a.laid = true, true
	if isFence {
		a.fences[fleet.FenceID(first.id)] = known
	} else {
		a.rules[fleet.RuleID(first.id)] = known
	}
}

// endCurfews ends rules that want a vehicle inside of geofences with the last of these: otherwise no vehicle could be
// where it should be.
func endCurfews(policy *fleet.Policy) {
	last := make(map[fleet.FenceID]fleet.Millis, len(policy.Fences)) // 0: until further notice
	for i := range policy.Fences {
		f := &policy.Fences[i]
		if end, ok := last[f.ID]; !ok || end != 0 && (f.To == 0 || f.To > end) {
			last[f.ID] = f.To
		}
	}
	for i := range policy.Rules {
		r := &policy.Rules[i]
		if r.Kind != fleet.AlertFenceCurfew || len(r.Fences) == 0 {
			continue
		}
		end := fleet.Millis(1)
		for _, id := range r.Fences {
			if to, ok := last[id]; ok && (to == 0 || to > end) {
				if end = to; to == 0 {
					break
				}
			}
		}
		if end != 0 && (r.To == 0 || end < r.To) {
			r.To = max(end, r.From)
		}
	}
}

// make builds the policy of an account of what was written, and of the old one, with which it shares the rest. It is
// the old one, with its version, if nothing has come of that.
func (p *Policies) make(r *reading, account fleet.AccountID) *fleet.Policy {
	a := p.records[account]
	old := p.Of(account)
	anew := a.restated || old.Version == 0
	policy := &fleet.Policy{Account: account, Version: old.Version, Fences: old.Fences, Rules: old.Rules,
		Default: fleet.Traits{Zone: a.zone, Trip: a.account.Trip.over(fleet.TripSettings{})}, Devices: a.settings()}
	if anew || a.laid {
		a.layDown(r, policy)
	}
	if anew {
		policy.Vehicles = make(map[fleet.VehicleID]*fleet.Traits, len(a.vehicles))
		for id := range a.vehicles {
			a.judge(r, id, policy, old)
		}
	} else {
		policy.Vehicles = maps.Clone(old.Vehicles)
		for id := range a.stale {
			a.judge(r, id, policy, old)
		}
	}
	clear(a.stale)
	a.restated, a.laid = false, false
	// Traits that are as they were are the very same.
	if old.Version != 0 && maps.Equal(old.Vehicles, policy.Vehicles) && reflect.DeepEqual(old.Fences, policy.Fences) &&
		reflect.DeepEqual(old.Rules, policy.Rules) && reflect.DeepEqual(old.Default, policy.Default) &&
		reflect.DeepEqual(old.Devices, policy.Devices) {
		return old
	}
	policy.Version++
	return policy
}

// layDown gives a policy the versions of the account's geofences and rules.
func (a *accountRecords) layDown(r *reading, policy *fleet.Policy) {
	policy.Fences, policy.Rules = nil, nil
	for _, id := range slices.Sorted(maps.Keys(a.fences)) {
		revisions := a.fences[id]
		versions, err := fenceVersions(id, revisions, a.zone)
		if err != nil {
			r.skip(id.String(), revisions[len(revisions)-1].number, err)
		}
		policy.Fences = append(policy.Fences, versions...)
	}
	for _, id := range slices.Sorted(maps.Keys(a.rules)) {
		revisions := a.rules[id]
		versions, err := ruleVersions(id, revisions, a.zone)
		if err != nil {
			r.skip(id.String(), revisions[len(revisions)-1].number, err)
		}
		policy.Rules = append(policy.Rules, versions...)
	}
	endCurfews(policy)
	slices.SortStableFunc(policy.Fences, func(a, b fleet.FenceVersion) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.From, b.From))
	})
	slices.SortStableFunc(policy.Rules, func(a, b fleet.Rule) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.From, b.From))
	})
}

// judge gives a policy the traits of a vehicle: those of the old one, if they are as they were, and none of one that is
// not known or cannot be read.
func (a *accountRecords) judge(r *reading, id fleet.VehicleID, policy, old *fleet.Policy) {
	delete(policy.Vehicles, id)
	v := a.vehicles[id]
	if v == nil || v.body == nil {
		return
	}
	traits, err := v.body.traits(&policy.Default)
	if err != nil {
		r.skip(id.String(), v.revision, err)
		return
	}
	a.obligations(id, traits)
	a.routes(id, traits)
	if v.archived != 0 {
		traits.Archived = v.archived
		traits.Obligations = nil // nobody renews the papers of what is gone
	}
	if was := old.Vehicles[id]; was != nil && reflect.DeepEqual(was, traits) {
		traits = was
	}
	policy.Vehicles[id] = traits
}
