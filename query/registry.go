package query

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Registry is every registered device of every account, held in memory for the pipeline: the account and the vehicle of
// a fix come from here. A device whose unique id an operator gave to another account is not among them. Every second it looks whether any were written, and reads those that were written lately again; all of
// them every minute, so that a change of an account's retention is seen too. It is safe for concurrent use.
type Registry struct {
	db driver.Conn

	loading sync.Mutex // one load at a time
	newest  time.Time  // of the writes that were read; only used while loading
	full    time.Time  // when everything was read; only used while loading
	written stamp      // of the table; only used while loading
	bad     badRecords // only used while loading

	mu       sync.RWMutex
	byUnique map[string]*fleet.Device
	uniqueOf map[fleet.DeviceID]string
	loaded   time.Time
}

const (
	registryPoll = time.Second
	registryFull = time.Minute
	// registryOverlap is how far a poll looks back behind the newest write it has seen: a write's time is its writer's
	// clock, and writers are many.
	registryOverlap = 30 * time.Second
	// registryHold bounds how often RefreshNow asks the store, whatever stream of unknown devices comes in.
	registryHold = 200 * time.Millisecond
)

// NewRegistry returns an empty registry; Refresh or Run fills it.
func NewRegistry(db driver.Conn) *Registry {
	return &Registry{db: db, written: stamp{tables: []string{"devices", "device_owners"}}, byUnique: map[string]*fleet.Device{}, uniqueOf: map[fleet.DeviceID]string{}}
}

// Run keeps the registry up to date until ctx ends. A store that does not answer leaves it as it is, and is asked again;
// failed is told of each failure, and once of each record that cannot be read.
func (r *Registry) Run(ctx context.Context, failed func(error)) {
	tick := time.NewTicker(registryPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		bad, err := r.refresh(ctx)
		for _, one := range bad {
			failed(one)
		}
		if err != nil && ctx.Err() == nil {
			failed(err)
		}
	}
}

// RefreshNow is Refresh for somebody who met a device that is not known: it does nothing if the registry has just been
// read.
func (r *Registry) RefreshNow(ctx context.Context) error {
	r.mu.RLock()
	fresh := time.Since(r.loaded) < registryHold
	r.mu.RUnlock()
	if fresh {
		return nil
	}
	return r.Refresh(ctx)
}

// Refresh reads what was written since the last time. A device whose record cannot be read is not known, which hurts no
// other; Skipped counts it.
func (r *Registry) Refresh(ctx context.Context) error {
	_, err := r.refresh(ctx)
	return err
}

// Skipped returns how many records could not be read, each once.
func (r *Registry) Skipped() int { return int(r.bad.count.Load()) }

// refresh is Refresh; it returns what is wrong with the records that were skipped for the first time.
func (r *Registry) refresh(ctx context.Context) ([]error, error) {
	r.loading.Lock()
	defer r.loading.Unlock()
	began := time.Now()
	everything := began.Sub(r.full) > registryFull
	stale, err := r.written.stale(ctx, r.db, began)
	if err != nil {
		return nil, fmt.Errorf("read device registry: %w", err)
	}
	if !stale && !everything {
		r.take(nil, nil, false)
		return nil, nil
	}
	bad, err := r.read(ctx, began, everything)
	if err != nil {
		r.written.forget()
	}
	return bad, err
}

// read reads what was written since the last time, or everything. The caller holds r.loading.
func (r *Registry) read(ctx context.Context, began time.Time, everything bool) ([]error, error) {
	since := time.Unix(0, 0)
	if !everything && !r.newest.IsZero() {
		since = r.newest.Add(-registryOverlap)
	}
	var devices []*fleet.Device
	var gone []fleet.DeviceID
	var bad []error
	newest := r.newest
	err := schemas.EachRow(ctx, r.db, "read device registry", schemas.Query("device_registry"), []any{
		clickhouse.Named("since", since.UnixMilli()),
	}, func(row schemas.Row) error {
		var account, id uint64
		var unique, body string
		var archived, kept bool
		var created, updated time.Time
		var retentionDays uint32
		var owner uint64
		if err := row.Scan(&account, &id, &unique, &archived, &created, &updated, &body, &retentionDays, &owner, &kept); err != nil {
			return err
		}
		if updated.After(newest) {
			newest = updated
		}
		if archived || owner != 0 && owner != account { // an operator gave its unique id to another account
			gone = append(gone, fleet.DeviceID(id))
			return nil
		}
		assignments, named, err := assignmentsOf(body)
		if err != nil {
			bad = r.bad.add(bad, fleet.DeviceID(id).String(), uint64(updated.UnixMilli()), err)
			gone = append(gone, fleet.DeviceID(id))
			return nil
		}
		device := &fleet.Device{
			ID: fleet.DeviceID(id), Account: fleet.AccountID(account), UniqueID: unique, Assignments: assignments,
			Retention: fleet.Millis(retentionDays) * 24 * 3600 * 1000,
		}
		if !kept {
			device.Since = max(fleet.MillisOf(created), named)
		}
		devices = append(devices, device)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.take(devices, gone, everything)
	r.newest = newest
	if everything {
		r.full = began
	}
	return bad, nil
}

// take puts devices in place of what was known of them, or of everything.
func (r *Registry) take(devices []*fleet.Device, gone []fleet.DeviceID, everything bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loaded = time.Now()
	if everything {
		r.byUnique, r.uniqueOf = make(map[string]*fleet.Device, len(devices)), make(map[fleet.DeviceID]string, len(devices))
	}
	forget := func(id fleet.DeviceID) {
		unique := r.uniqueOf[id]
		if d := r.byUnique[unique]; d != nil && d.ID == id { // another device may have come and gone under the name
			delete(r.byUnique, unique)
		}
		delete(r.uniqueOf, id)
	}
	for _, id := range gone {
		forget(id)
	}
	for _, d := range devices {
		if r.uniqueOf[d.ID] != d.UniqueID {
			forget(d.ID)
		}
		r.byUnique[d.UniqueID], r.uniqueOf[d.ID] = d, d.UniqueID
	}
}

// Lookup finds a device by its unique id. One that was never on a vehicle does not count: what it sends is kept apart
// until it is put on one. The device is shared and must not be changed.
func (r *Registry) Lookup(unique string) (*fleet.Device, bool) {
	r.mu.RLock()
	d, ok := r.byUnique[unique]
	r.mu.RUnlock()
	return d, ok && len(d.Assignments) > 0
}

// Len returns how many devices are registered.
func (r *Registry) Len() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.byUnique)
}

// UniqueIDs returns the unique ids of all devices, sorted.
func (r *Registry) UniqueIDs() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(maps.Keys(r.byUnique))
}

// assignmentsOf reads the assignments out of a device's record, and when it got the unique id that it has, 0 if it always had it.
func assignmentsOf(body string) ([]fleet.Assignment, fleet.Millis, error) {
	var device struct {
		Named       *time.Time `json:"unique_since"`
		Assignments []struct {
			Vehicle string     `json:"vehicle_id"`
			From    *time.Time `json:"from"`
			To      *time.Time `json:"until"`
		} `json:"assignments"`
	}
	if err := json.Unmarshal([]byte(body), &device); err != nil {
		return nil, 0, err
	}
	assignments := make([]fleet.Assignment, 0, len(device.Assignments))
	for _, a := range device.Assignments {
		vehicle, err := fleet.ParseID(fleet.VehiclePrefix, a.Vehicle)
		if err != nil {
			return nil, 0, err
		}
		assignment := fleet.Assignment{Vehicle: fleet.VehicleID(vehicle)}
		if a.From != nil {
			assignment.From = fleet.MillisOf(*a.From)
		}
		if a.To != nil {
			assignment.To = fleet.MillisOf(*a.To)
		}
		assignments = append(assignments, assignment)
	}
	slices.SortFunc(assignments, func(a, b fleet.Assignment) int { return int(max(-1, min(1, a.From-b.From))) })
	if device.Named == nil {
		return assignments, 0, nil
	}
	return assignments, fleet.MillisOf(*device.Named), nil
}
