package query

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Policies is what every account has laid down about its vehicles, held in memory: the versions of its geofences and
// alert rules, and the traits of its vehicles, route plans among them. Every second it looks whether any of it was written, and reads what was written lately
// again; everything every minute. Whatever callers wrote in miles or local times is SI and UTC here. A record that cannot be read is skipped and
// counted, and hurts no other. It is safe for concurrent use.
type Policies struct {
	db driver.Conn

	// Only used while loading.
	loading sync.Mutex
	began   time.Time // of the newest load that came through
	newest  time.Time // of the writes that were read
	full    time.Time // when everything was read
	written stamp     // of all tables that are read
	grounds map[fleet.AccountID]*ground
	bad     badRecords

	mu       sync.RWMutex
	policies map[fleet.AccountID]*fleet.Policy
}

// ground is what an account's policy is made of.
type ground struct {
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
	tables := []string{"accounts", "vehicles", "devices", "geofences", "alert_rules", "bookings", "blocks", "work_orders", "reminders", "route_plans"}
	return &Policies{db: db, written: stamp{tables: tables}, grounds: map[fleet.AccountID]*ground{}, policies: map[fleet.AccountID]*fleet.Policy{}}
}

// Of returns the policy of an account, which is empty if nothing is laid down. It is shared and must not be changed, and
// it does not change by itself: ask again for a newer one.
func (p *Policies) Of(account fleet.AccountID) *fleet.Policy {
	p.mu.RLock()
	policy := p.policies[account]
	p.mu.RUnlock()
	if policy == nil {
		return &fleet.Policy{Account: account, Default: fleet.Traits{Zone: time.UTC}}
	}
	return policy
}

// Skipped returns how many revisions could not be read, each counted once.
func (p *Policies) Skipped() int { return int(p.bad.count.Load()) }

// Run keeps the policies up to date until ctx ends. A store that does not answer leaves them as they are, and is asked
// again; failed is told of each failure, and once of each record that cannot be read.
func (p *Policies) Run(ctx context.Context, failed func(error)) {
	tick := time.NewTicker(registryPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		p.loading.Lock()
		bad, err := p.load(ctx)
		p.loading.Unlock()
		for _, one := range bad {
			failed(one)
		}
		if err != nil && ctx.Err() == nil {
			failed(err)
		}
	}
}

// Refresh reads what was written since the last time.
func (p *Policies) Refresh(ctx context.Context) error {
	p.loading.Lock()
	defer p.loading.Unlock()
	_, err := p.load(ctx)
	return err
}

// RefreshNow returns when all that was written before the call is known: it reads, or waits for somebody's reading that
// began after the call. Ask once for a batch, not for each of its records.
func (p *Policies) RefreshNow(ctx context.Context) error {
	asked := time.Now()
	p.loading.Lock()
	defer p.loading.Unlock()
	if p.began.After(asked) {
		return nil
	}
	_, err := p.load(ctx)
	return err
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

// load reads what was written since the last time, and returns what is wrong with records that were skipped for the
// first time. The caller holds p.loading.
func (p *Policies) load(ctx context.Context) ([]error, error) {
	began := time.Now()
	everything := began.Sub(p.full) > registryFull
	stale, err := p.written.stale(ctx, p.db, began)
	if err != nil {
		return nil, fmt.Errorf("read policies: %w", err)
	}
	if !stale && !everything {
		p.began = began
		return nil, nil
	}
	bad, err := p.loadWritten(ctx, began, everything)
	if err != nil {
		p.written.forget()
	}
	return bad, err
}

// loadWritten is load without asking whether there is anything new.
func (p *Policies) loadWritten(ctx context.Context, began time.Time, everything bool) ([]error, error) {
	since := time.Unix(0, 0)
	if !everything && !p.newest.IsZero() {
		since = p.newest.Add(-registryOverlap)
	}
	records, err := p.read(ctx, "policy_records", since)
	if err != nil {
		return nil, err
	}
	revisions, err := p.read(ctx, "policy_revisions", since)
	if err != nil {
		return nil, err
	}
	bookedSince := since
	if everything && !p.newest.IsZero() {
		bookedSince = p.newest.Add(-owedOverlap)
	}
	obligations, err := p.readOwed(ctx, bookedSince, began)
	if err != nil {
		return nil, err
	}
	routes, err := p.readRoutes(ctx, bookedSince, began)
	if err != nil {
		return nil, err
	}
	var bad []error
	changed := map[fleet.AccountID]bool{}
	for i := range records {
		bad = p.takeRecord(&records[i], changed, bad)
	}
	eachRecord(revisions, func(rows []policyRow) { bad = p.takeRevisions(rows, changed, bad) })
	eachRecord(routes, func(rows []policyRow) { bad = p.takeRoute(rows, changed, bad) })
	for i := range obligations {
		p.takeOwed(&obligations[i], changed)
		if at := obligations[i].at; at.After(p.newest) {
			p.newest = at
		}
	}
	for account := range changed {
		var policy *fleet.Policy
		policy, bad = p.make(account, bad)
		p.mu.Lock()
		p.policies[account] = policy
		p.mu.Unlock()
	}
	for _, rows := range [][]policyRow{records, revisions, routes} {
		for i := range rows {
			if rows[i].at.After(p.newest) {
				p.newest = rows[i].at
			}
		}
	}
	p.began = began
	if everything {
		p.full = began
	}
	return bad, nil
}

func (p *Policies) read(ctx context.Context, name string, since time.Time, more ...any) ([]policyRow, error) {
	args := append(more, clickhouse.Named("since", since.UnixMilli()))
	return schemas.AllRows(ctx, p.db, "read policies", schemas.Query(name), args,
		func(r *policyRow, row schemas.Row) error {
			return row.Scan(&r.account, &r.kind, &r.id, &r.revision, &r.at, &r.archived, &r.body)
		})
}

func (p *Policies) ground(account uint64) *ground {
	id := fleet.AccountID(account)
	g := p.grounds[id]
	if g == nil {
		g = &ground{zone: time.UTC, vehicles: map[fleet.VehicleID]*vehicleRecord{},
			devices: map[fleet.DeviceID]deviceRecord{}, fences: map[fleet.FenceID][]policyRevision{},
			rules: map[fleet.RuleID][]policyRevision{}, owed: map[owedKey]*owed{}, bound: map[fleet.VehicleID]map[owedKey]*owed{},
			stale: map[fleet.VehicleID]bool{}, plans: map[fleet.PlanID][]policyRevision{}, driven: map[fleet.VehicleID]map[fleet.PlanID]bool{}}
		p.grounds[id] = g
	}
	return g
}

// takeDevice notes what a device has for settings, and its account as changed if that is news.
func (p *Policies) takeDevice(r *policyRow, changed map[fleet.AccountID]bool) {
	g, id := p.ground(r.account), fleet.DeviceID(r.id)
	was, known := g.devices[id]
	if r.revision <= was.revision || !known && r.body == "" {
		return
	}
	g.devices[id] = deviceRecord{r.revision, r.body}
	if was.noData != r.body {
		changed[fleet.AccountID(r.account)] = true
	}
}

// settings are those of the devices of an account that have any.
func (g *ground) settings() map[fleet.DeviceID]fleet.TripSettings {
	var all map[fleet.DeviceID]fleet.TripSettings
	for id, d := range g.devices {
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
func (p *Policies) takeRecord(r *policyRow, changed map[fleet.AccountID]bool, bad []error) []error {
	if r.kind == "device" {
		p.takeDevice(r, changed)
		return bad
	}
	g := p.ground(r.account)
	if r.kind == "account" {
		if r.revision <= g.revision {
			return bad
		}
		changed[fleet.AccountID(r.account)] = true
		g.revision, g.restated = r.revision, true
		var body accountBody
		err := json.Unmarshal([]byte(r.body), &body)
		zone, wrong := zoneNamed(body.Timezone, time.UTC)
		if err = errors.Join(err, wrong); err != nil {
			return p.bad.add(bad, fleet.AccountID(r.id).String(), r.revision, err)
		}
		g.account, g.zone = body, zone
		return bad
	}
	id := fleet.VehicleID(r.id)
	if was := g.vehicles[id]; was != nil && r.revision <= was.revision {
		return bad
	}
	changed[fleet.AccountID(r.account)] = true
	now := &vehicleRecord{revision: r.revision, archived: fleet.Millis(r.archived), body: &vehicleBody{}}
	g.vehicles[id], g.stale[id] = now, true
	if err := json.Unmarshal([]byte(r.body), now.body); err != nil {
		now.body = nil
		return p.bad.add(bad, id.String(), r.revision, err)
	}
	return bad
}

// takeRevisions notes all revisions of a geofence or an alert rule; those that were read before are not read again.
func (p *Policies) takeRevisions(rows []policyRow, changed map[fleet.AccountID]bool, bad []error) []error {
	first := &rows[0]
	g := p.ground(first.account)
	isFence := first.kind == "geofence"
	known, name := g.rules[fleet.RuleID(first.id)], fleet.RuleID(first.id).String()
	if isFence {
		known, name = g.fences[fleet.FenceID(first.id)], fleet.FenceID(first.id).String()
	}
	have := len(known)
	for i := range rows {
		row := &rows[i]
		if last := len(known) - 1; last >= 0 && row.revision <= known[last].number {
			continue
		}
		r := policyRevision{number: row.revision, at: fleet.MillisOf(row.at), archived: row.archived != 0}
		var err error
		if isFence {
			err = r.readFence(row.body)
		} else {
			err = r.readRule(row.body)
		}
		if err != nil {
			bad = p.bad.add(bad, name, row.revision, err)
			continue
		}
		if last := len(known) - 1; isFence && last >= 0 && string(r.fence.Geometry) == string(known[last].fence.Geometry) {
			r.fence.Geometry = known[last].fence.Geometry // large, and mostly the same
		}
		known = append(known, r)
	}
	if len(known) == have {
		return bad
	}
	changed[fleet.AccountID(first.account)] = true
	if isFence {
		g.fences[fleet.FenceID(first.id)] = known
	} else {
		g.rules[fleet.RuleID(first.id)] = known
	}
	return bad
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

// make builds the policy of an account. It is the old one, with its version, if nothing has come of what was written.
func (p *Policies) make(account fleet.AccountID, bad []error) (*fleet.Policy, []error) {
	g := p.grounds[account]
	old := p.Of(account)
	policy := &fleet.Policy{Account: account, Version: old.Version, Vehicles: make(map[fleet.VehicleID]*fleet.Traits, len(g.vehicles)),
		Default: fleet.Traits{Zone: g.zone, Trip: g.account.Trip.over(fleet.TripSettings{})}, Devices: g.settings()}
	for _, id := range slices.Sorted(maps.Keys(g.fences)) {
		revisions := g.fences[id]
		versions, err := fenceVersions(id, revisions, g.zone)
		if err != nil {
			bad = p.bad.add(bad, id.String(), revisions[len(revisions)-1].number, err)
		}
		policy.Fences = append(policy.Fences, versions...)
	}
	for _, id := range slices.Sorted(maps.Keys(g.rules)) {
		revisions := g.rules[id]
		versions, err := ruleVersions(id, revisions, g.zone)
		if err != nil {
			bad = p.bad.add(bad, id.String(), revisions[len(revisions)-1].number, err)
		}
		policy.Rules = append(policy.Rules, versions...)
	}
	endCurfews(policy)
	for id, v := range g.vehicles {
		if v.body == nil {
			continue
		}
		if was := old.Vehicles[id]; was != nil && !g.stale[id] && !g.restated {
			policy.Vehicles[id] = was
			continue
		}
		traits, err := v.body.traits(&policy.Default)
		if err != nil {
			bad = p.bad.add(bad, id.String(), v.revision, err)
			continue
		}
		g.obligations(id, traits)
		g.routes(id, traits)
		if v.archived != 0 {
			traits.Archived = v.archived
			traits.Obligations = nil // nobody renews the papers of what is gone
		}
		if was := old.Vehicles[id]; was != nil && reflect.DeepEqual(was, traits) {
			traits = was
		}
		policy.Vehicles[id] = traits
	}
	clear(g.stale)
	g.restated = false
	slices.SortStableFunc(policy.Fences, func(a, b fleet.FenceVersion) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.From, b.From)) })
	slices.SortStableFunc(policy.Rules, func(a, b fleet.Rule) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.From, b.From)) })
	if old.Version != 0 && reflect.DeepEqual(old, policy) {
		return old, bad
	}
	policy.Version++
	return policy, bad
}
