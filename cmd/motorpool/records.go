package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// records writes business records in the name of the command line.
type records struct {
	db       driver.Conn
	ids      *fleet.IDSource
	store    *record.Store
	accounts *record.Log[record.Account]
	vehicles *record.Log[record.Vehicle]
	devices  *record.Log[record.Device]
	keys     *record.Log[record.APIKey]
}

// commandLine is the author of what these commands write.
var commandLine = record.Author{Actor: "cli"}

func newRecords(db driver.Conn) (*records, error) {
	ids := newIDs()
	store, err := record.NewStore(record.DefaultConfig(), db, ids, time.Now)
	if err != nil {
		return nil, err
	}
	return &records{
		db: db, ids: ids, store: store,
		accounts: record.NewLog(store, record.Accounts), vehicles: record.NewLog(store, record.Vehicles),
		devices: record.NewLog(store, record.Devices), keys: record.NewLog(store, record.APIKeys),
	}, nil
}

// newIDs makes a source of identities for this process. Its node number is one of those that are not leased: two
// processes of one number make the same identity only in the same millisecond, and then a record's creation takes
// another one. Who serves leases a number of its own.
func newIDs() *fleet.IDSource {
	return fleet.NewIDSource(fleet.LeasedNodes+rand.Uint64N(fleet.Nodes-fleet.LeasedNodes), time.Now)
}

// recordingSystem is the system of the external references of vehicles and devices that were made for a recording.
const recordingSystem = "recording"

// registration is one vehicle to be, with its tracker.
type registration struct {
	identifier string // the external reference of both
	uniqueID   string
	vehicle    record.VehicleFields
}

// registerTogether is how many vehicles are made together.
const registerTogether = 100

// register makes the vehicles and devices that an account does not have yet, puts each device on its vehicle since
// ever, and returns the unique id of each identifier's device. It may be repeated, and finishes what was cut short.
// done is told how many more are through.
func (r *records) register(ctx context.Context, account fleet.AccountID, all []registration,
	done func(int)) (map[string]string, error) {
	known, err := query.ExternalRefs(ctx, r.db, account, recordingSystem)
	if err != nil {
		return nil, err
	}
	uniqueIDs := make(map[string]string, len(all))
	for some := range slices.Chunk(all, registerTogether) {
		made, err := r.registerVehicles(ctx, account, some, known)
		if err != nil {
			return nil, err
		}
		if err := r.registerDevices(ctx, account, some, known, made, uniqueIDs); err != nil {
			return nil, err
		}
		done(len(some))
	}
	return uniqueIDs, nil
}

func refTo(reg registration) []record.ExternalRef {
	return []record.ExternalRef{{System: recordingSystem, ID: reg.identifier}}
}

// registerVehicles makes the vehicles that are missing, notes them as known and returns their identifiers.
func (r *records) registerVehicles(ctx context.Context, account fleet.AccountID, some []registration,
	known query.Refs) (map[string]bool, error) {
	made := make(map[string]bool)
	var ids []uint64
	var bodies []record.Vehicle
	for _, reg := range some {
		if _, ok := known.Vehicles[reg.identifier]; ok {
			continue
		}
		body := record.Vehicle{
			VehicleFields: reg.vehicle, Status: record.VehicleAvailable, StatusSince: record.InstantOf(time.Now()),
		}
		body.ExternalRefs = refTo(reg)
		ids, bodies = append(ids, r.store.NextIDOfMany()), append(bodies, body)
	}
	for i, err := range r.vehicles.CreateMany(ctx, record.Author{Actor: commandLine.Actor, Command: record.NewCommand()},
		account, ids, bodies) {
		identifier := bodies[i].ExternalRefs[0].ID
		if err != nil {
			return nil, fmt.Errorf("make vehicle %q: %w", identifier, err)
		}
		known.Vehicles[identifier], made[identifier] = fleet.VehicleID(ids[i]), true
	}
	return made, nil
}

// registerDevices makes the devices that are missing, on their vehicles, and notes all unique ids.
func (r *records) registerDevices(ctx context.Context, account fleet.AccountID, some []registration, known query.Refs,
	made map[string]bool, uniqueIDs map[string]string) error {
	var ids []uint64
	var bodies []record.Device
	for _, reg := range some {
		vehicle := known.Vehicles[reg.identifier]
		if device, ok := known.Devices[reg.identifier]; ok {
			uniqueIDs[reg.identifier] = device.UniqueID
			if device.VehicleID != "" && !made[reg.identifier] {
				continue // also if somebody has put it on another vehicle since
			}
			// Its vehicle was archived, or it was taken off: it goes on the one of today.
			if _, err := r.devices.Update(ctx, commandLine, account, uint64(device.ID), 0,
				func(d *record.Record[record.Device]) error {
					return d.Body.Assign(vehicle, time.Now())
				}); err != nil {
				return fmt.Errorf("put device %q on its vehicle: %w", device.UniqueID, err)
			}
			continue
		}
		body := record.Device{DeviceFields: record.DeviceFields{
			UniqueID: reg.uniqueID, Name: reg.vehicle.Nickname, Protocol: recordingSystem, ExternalRefs: refTo(reg),
		}}
		if err := body.Assign(vehicle, time.Time{}); err != nil {
			return err
		}
		ids, bodies = append(ids, r.store.NextIDOfMany()), append(bodies, body)
		uniqueIDs[reg.identifier] = reg.uniqueID
	}
	given := make([]string, len(bodies))
	for i := range bodies {
		given[i] = bodies[i].UniqueID
	}
	if err := r.own(ctx, account, given...); err != nil {
		return err
	}
	for i, err := range r.devices.CreateMany(ctx, record.Author{Actor: commandLine.Actor, Command: record.NewCommand()},
		account, ids, bodies) {
		if err != nil {
			return fmt.Errorf("make device %q: %w", bodies[i].UniqueID, err)
		}
	}
	return nil
}

// uniqueIDFor names the device of a recording's identifier. Unique ids are one space for all accounts, and two of
// them may replay the same file. What is too long, not printable or ends in a blank is told apart by its digest.
func uniqueIDFor(account fleet.AccountID, identifier string) string {
	const longest = 90 // leaves room for the account within the 128 bytes of a unique id
	plain := len(identifier) <= longest && utf8.ValidString(identifier) && strings.TrimSpace(identifier) == identifier
	for _, c := range identifier {
		plain = plain && unicode.IsPrint(c)
	}
	if !plain {
		sum := sha256.Sum256([]byte(identifier))
		identifier = hex.EncodeToString(sum[:16])
	}
	return account.String() + ":" + identifier
}
