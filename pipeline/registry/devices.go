package registry

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Devices is every registered device of every account: the account and the vehicle of a fix come from here. A device
// whose unique id an operator gave to another account is not among them. A change of an account's retention is seen
// when everything is read.
type Devices struct {
	Refresher

	mu       sync.RWMutex
	byUnique map[string]*fleet.Device
	uniqueOf map[fleet.DeviceID]string
}

// lookAgainAfter bounds how often LookAgain asks the store, whatever stream of unknown devices comes in.
const lookAgainAfter = 200 * time.Millisecond

// NewDevices returns no devices; Refresh or Run fills them in.
func NewDevices(db driver.Conn) *Devices {
	d := &Devices{byUnique: map[string]*fleet.Device{}, uniqueOf: map[fleet.DeviceID]string{}}
	d.start(db, "device registry", d.load, "devices", "device_owners", "accounts")
	return d
}

// LookAgain is Refresh for somebody who met a device that is not known: it does nothing if the devices have just been
// read.
func (d *Devices) LookAgain(ctx context.Context) error {
	if d.refreshedWithin(lookAgainAfter) {
		return nil
	}
	return d.Refresh(ctx)
}

// load reads what was written since a time.
func (d *Devices) load(ctx context.Context, r *reading) error {
	var found []*fleet.Device
	var gone []fleet.DeviceID
	err := schemas.EachRow(ctx, d.db, "read device registry", schemas.Query("device_registry"), []any{
		clickhouse.Named("since", r.since.UnixMilli()),
	}, func(row schemas.Row) error {
		var account, id, owner uint64
		var unique, body string
		var archived, kept bool
		var created, updated time.Time
		var retentionDays uint32
		if err := row.Scan(&account, &id, &unique, &archived, &created, &updated, &body, &retentionDays, &owner,
			&kept); err != nil {
			return err
		}
		r.saw(updated)
		if archived || owner != 0 && owner != account { // an operator gave its unique id to another account
			gone = append(gone, fleet.DeviceID(id))
			return nil
		}
		assignments, named, err := assignmentsOf(body)
		if err != nil {
			r.skip(fleet.DeviceID(id).String(), uint64(updated.UnixMilli()), err)
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
		found = append(found, device)
		return nil
	})
	if err != nil {
		return err
	}
	d.take(found, gone, r.everything)
	return nil
}

// take puts devices in place of what was known of them, or of everything.
func (d *Devices) take(found []*fleet.Device, gone []fleet.DeviceID, everything bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if everything {
		d.byUnique, d.uniqueOf = make(map[string]*fleet.Device, len(found)), make(map[fleet.DeviceID]string, len(found))
	}
	forget := func(id fleet.DeviceID) {
		unique := d.uniqueOf[id]
		// another device may have come and gone under the name
		if device := d.byUnique[unique]; device != nil && device.ID == id {
			delete(d.byUnique, unique)
		}
		delete(d.uniqueOf, id)
	}
	for _, id := range gone {
		forget(id)
	}
	for _, device := range found {
		if d.uniqueOf[device.ID] != device.UniqueID {
			forget(device.ID)
		}
		d.byUnique[device.UniqueID], d.uniqueOf[device.ID] = device, device.UniqueID
	}
}

// Lookup finds a device by its unique id. One that was never on a vehicle does not count: what it sends is kept apart
// until it is put on one. The device is shared and must not be changed.
func (d *Devices) Lookup(unique string) (*fleet.Device, bool) {
	d.mu.RLock()
	device, ok := d.byUnique[unique]
	d.mu.RUnlock()
	return device, ok && len(device.Assignments) > 0
}

// Len returns how many devices are registered.
func (d *Devices) Len() int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return len(d.byUnique)
}

// assignmentsOf reads the assignments out of a device's record, and when it got the unique id that it has, 0 if it
// always had it.
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
