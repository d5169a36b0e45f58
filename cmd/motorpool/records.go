package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

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

// newIDs makes a source of identities for this process. Its node number is random: two processes of one number make the
// same identity only in the same millisecond, and then a record's creation says so instead of mixing them up.
func newIDs() *fleet.IDSource { return fleet.NewIDSource(rand.Uint64(), time.Now) }

// errTaken is the rare case of two processes that made the same identity in the same millisecond.
var errTaken = errors.New("another process took the same id at the same moment; run this again")

// recordingSystem is the system of the external references of vehicles and devices that were made for a recording.
const recordingSystem = "recording"

// registration is one vehicle to be, with its tracker.
type registration struct {
	identifier string // the external reference of both
	uniqueID   string
	vehicle    record.VehicleFields
}

// registerAtOnce bounds the records that are written at a time; each waits for the server several times.
const registerAtOnce = 8

// register makes the vehicles and devices that an account does not have yet, puts each device on its vehicle since
// ever, and returns the unique id of each identifier's device. It may be repeated, and finishes what was cut short.
// done is called after each.
func (r *records) register(ctx context.Context, account fleet.AccountID, all []registration, done func()) (map[string]string, error) {
	known, err := query.ExternalRefs(ctx, r.db, account, recordingSystem)
	if err != nil {
		return nil, err
	}
	uniqueIDs := make([]string, len(all))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(registerAtOnce)
	for i, reg := range all {
		work.Go(func() error {
			defer done()
			uniqueID, err := r.registerOne(ctx, account, reg, known)
			if err != nil {
				return fmt.Errorf("register %q: %w", reg.identifier, err)
			}
			uniqueIDs[i] = uniqueID
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	byIdentifier := make(map[string]string, len(all))
	for i, reg := range all {
		byIdentifier[reg.identifier] = uniqueIDs[i]
	}
	return byIdentifier, nil
}

func (r *records) registerOne(ctx context.Context, account fleet.AccountID, reg registration, known query.Refs) (string, error) {
	refs := []record.ExternalRef{{System: recordingSystem, ID: reg.identifier}}
	vehicle, haveVehicle := known.Vehicles[reg.identifier]
	if !haveVehicle {
		body := record.Vehicle{
			VehicleFields: reg.vehicle, Status: record.VehicleAvailable, StatusSince: record.InstantOf(time.Now()),
		}
		body.ExternalRefs = refs
		made, fresh, err := r.vehicles.Create(ctx, commandLine, account, r.store.NextID(), body)
		if err == nil && !fresh {
			err = errTaken
		}
		if err != nil {
			return "", err
		}
		vehicle = fleet.VehicleID(made.ID)
	}
	if device, ok := known.Devices[reg.identifier]; ok {
		if haveVehicle {
			return device.UniqueID, nil
		}
		// The vehicle was archived, or never came to be: the device goes on the new one.
		_, err := r.devices.Update(ctx, commandLine, account, uint64(device.ID), 0, func(d *record.Record[record.Device]) error {
			return d.Body.Assign(vehicle, time.Now())
		})
		return device.UniqueID, err
	}
	body := record.Device{DeviceFields: record.DeviceFields{
		UniqueID: reg.uniqueID, Name: reg.vehicle.Nickname, Protocol: recordingSystem, ExternalRefs: refs,
	}}
	if err := body.Assign(vehicle, time.Time{}); err != nil {
		return "", err
	}
	_, fresh, err := r.devices.Create(ctx, commandLine, account, r.store.NextID(), body)
	if err == nil && !fresh {
		err = errTaken
	}
	return reg.uniqueID, err
}

// uniqueIDFor names the device of a recording's identifier. Unique ids are one space for all accounts, and two of
// them may replay the same file. What is too long or not printable is told apart by its digest.
func uniqueIDFor(account fleet.AccountID, identifier string) string {
	const longest = 90 // leaves room for the account within the 128 bytes of a unique id
	plain := len(identifier) <= longest && utf8.ValidString(identifier)
	for _, c := range identifier {
		plain = plain && unicode.IsPrint(c)
	}
	if !plain {
		sum := sha256.Sum256([]byte(identifier))
		identifier = hex.EncodeToString(sum[:16])
	}
	return account.String() + ":" + identifier
}
