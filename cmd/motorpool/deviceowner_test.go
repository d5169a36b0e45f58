package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

// operator is the command line upon a fresh store.
type operator struct {
	*records
	t *testing.T
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	all, err := newRecords(schematest.Open(t))
	if err != nil {
		t.Fatal(err)
	}
	return &operator{all, t}
}

func (o *operator) account(name string) fleet.AccountID {
	o.t.Helper()
	id, err := o.records.account(o.t.Context(), name, true)
	if err != nil {
		o.t.Fatal(err)
	}
	return id
}

// registers has an account register a tracker as it does over the interface, on a vehicle.
func (o *operator) registers(account fleet.AccountID, uniqueID string) fleet.DeviceID {
	o.t.Helper()
	body := record.Device{DeviceFields: record.DeviceFields{UniqueID: uniqueID}}
	if err := body.Assign(1, time.Time{}); err != nil {
		o.t.Fatal(err)
	}
	id, _, err := o.createDevice(o.t.Context(), account, body)
	if err != nil {
		o.t.Fatal(err)
	}
	return id
}

func (o *operator) move(uniqueID string, to fleet.AccountID) (fleet.DeviceID, error) {
	o.t.Helper()
	id, _, err := o.moveDevice(o.t.Context(), to, record.Device{DeviceFields: record.DeviceFields{UniqueID: uniqueID}},
		false, "not yours")
	return id, err
}

// holder is the account whose device is in use under a unique id, if there is one.
func (o *operator) holder(uniqueID string) query.Tracker {
	o.t.Helper()
	holders, err := query.Holders(o.t.Context(), o.db, uniqueID)
	if err != nil || len(holders) != 1 {
		o.t.Fatalf("%q is in use as %v, %v", uniqueID, holders, err)
	}
	return holders[0]
}

// TestAMoveThatWasCutShortIsFinished kills the command after each of its steps, and runs it again.
func TestAMoveThatWasCutShortIsFinished(t *testing.T) {
	o := newOperator(t)
	old, to := o.account("Old"), o.account("New")
	for steps, cut := range []string{"before anything", "after the word", "after the end of the old device",
		"after everything"} {
		t.Run(cut, func(t *testing.T) {
			uniqueID := fmt.Sprintf("tracker-%d", steps)
			id := o.registers(old, uniqueID)
			if steps >= 1 {
				if err := o.store.Own(t.Context(), to, false, uniqueID); err != nil {
					t.Fatal(err)
				}
			}
			if steps >= 2 {
				if _, err := o.devices.Archive(t.Context(), commandLine, old, uint64(id), 0,
					func(d *record.Record[record.Device]) error {
						d.Body.Leave(time.Now(), "not yours")
						return nil
					}); err != nil {
					t.Fatal(err)
				}
			}
			if steps >= 3 {
				if _, err := o.move(uniqueID, to); err != nil {
					t.Fatal(err)
				}
			}
			moved, err := o.move(uniqueID, to)
			if err != nil {
				t.Fatal(err)
			}
			if h := o.holder(uniqueID); h.Account != to || h.ID != moved || moved == id {
				t.Errorf("%s of %s has it, want %s of %s", h.ID, h.Account, moved, to)
			}
			before, err := o.devices.Get(t.Context(), old, uint64(id))
			if err != nil || !before.Archived() || before.Body.ArchiveReason != "not yours" ||
				before.Body.Assignments[0].To.IsZero() {
				t.Errorf("the device that there was: %+v, %v", before, err)
			}
			if err := o.own(t.Context(), old, uniqueID); err == nil || !strings.Contains(err.Error(), "device move") {
				t.Errorf("given back without a move: %v", err)
			}
		})
	}
	if _, err := o.move("nobody's", to); err == nil {
		t.Error("a tracker that nobody has is moved")
	}
}

// TestTwoMovesAtOnceLeaveOneOwner has two operators give one tracker to different accounts: one device stands, and who
// moves it again has it.
func TestTwoMovesAtOnceLeaveOneOwner(t *testing.T) {
	o := newOperator(t)
	accounts := []fleet.AccountID{o.account("Left"), o.account("Right")}
	o.registers(o.account("Old"), "tracker")
	var both sync.WaitGroup
	for _, to := range accounts {
		both.Go(func() {
			if _, err := o.move("tracker", to); err != nil && fleet.CodeOf(errors.Unwrap(err)) != fleet.CodeConflict &&
				fleet.CodeOf(err) != fleet.CodeConflict {
				t.Errorf("move to %s: %v", to, err)
			}
		})
	}
	both.Wait()
	for _, to := range slices.Backward(accounts) {
		if _, err := o.move("tracker", to); err != nil {
			t.Fatal(err)
		}
		owners, err := query.Owners(t.Context(), o.db, "tracker")
		if err != nil || owners["tracker"].Account != to || o.holder("tracker").Account != to {
			t.Errorf("%v and %v own it, want %s, %v", owners, o.holder("tracker"), to, err)
		}
	}
}

// TestATrackerIsItsOwnersWhoeverAsksFirst has an account register trackers of another, which were sending before, on
// a whole system.
func TestATrackerIsItsOwnersWhoeverAsksFirst(t *testing.T) {
	m := newMachine(t)
	m.up()
	thief, owner := m.tenant("Thief"), m.tenant("Owner")
	send := func(uniqueIDs ...string) counted { // a fix more of each, worked through when it returns
		t.Helper()
		text := "vehicle,timestamp,lat,lng\n"
		for i, uniqueID := range uniqueIDs {
			at := time.Now().Add(time.Duration(i) * time.Millisecond).UTC()
			text += fmt.Sprintf("%s,%s,48.1,11.5\n", uniqueID, at.Format("2006-01-02T15:04:05.000Z"))
		}
		file := filepath.Join(t.TempDir(), "fixes.csv")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var got counted
		if err := json.Unmarshal([]byte(m.must("replay", "--json", file)), &got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := send("taken", "renamed", "expected", "known", "taken", "renamed", "expected",
		"known"); got.Refused["unknown_device"] != 8 {
		t.Fatalf("before they are registered: %+v", got)
	}

	taken := thief.puts(thief.posts(201, "/v1/devices", `{"unique_id":"taken"}`))
	renamed := thief.puts(thief.posts(201, "/v1/devices", `{"unique_id":"something"}`))
	thief.sends(200, http.MethodPatch, "/v1/devices/"+renamed, `{"unique_id":"renamed"}`)
	send("taken", "renamed")
	m.eventually("what comes from then on is there", func() error { return thief.has(2) })
	// What an operator registers is brought back by the same round that would bring back the thief's.
	m.must("device", "create", "known", "--account", "Owner", "--vehicle", owner.vehicle)
	m.eventually("what came before is the owner's", func() error { return owner.has(2) })
	if err := thief.has(2); err != nil {
		t.Errorf("who asked first sees what came before: %v", err)
	}

	list := filepath.Join(t.TempDir(), "trackers.txt")
	if err := os.WriteFile(list, []byte("expected\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.must("device", "expect", "--account", "Owner", list)
	if _, stderr, code := m.command("device", "expect", "--account", "Thief", list); code == 0 ||
		!strings.Contains(stderr, "device move") {
		t.Errorf("an expected tracker was given to somebody else without a word: %d, %s", code, stderr)
	}
	thief.posts(409, "/v1/devices", `{"unique_id":"expected"}`)
	thief.sends(409, http.MethodPatch, "/v1/devices/"+renamed, `{"unique_id":"expected"}`)
	owner.puts(owner.posts(201, "/v1/devices", `{"unique_id":"expected"}`))
	m.eventually("what came before of an expected tracker is the owner's", func() error { return owner.has(4) })

	if _, stderr, code := m.command("device", "create", "taken", "--account", "Owner"); code == 0 ||
		!strings.Contains(stderr, "device move") {
		t.Errorf("device create: exit code %d, %s", code, stderr)
	}
	m.must("device", "move", "taken", "--to", "Owner", "--vehicle", owner.vehicle, "--reason", "it was stolen")
	all := 6 // fixes that somebody has
	m.eventually("new fixes are the owner's", func() error {
		send("taken")
		if all++; owner.count() <= 4 {
			return errors.New("the owner has no new fix")
		}
		return nil
	})
	before := thief.count()
	send("taken")
	all++
	m.eventually("each of them is the owner's", func() error { return owner.has(all - before) })
	if err := thief.has(before); err != nil {
		t.Errorf("after the move: %v", err)
	}
	var device struct {
		ArchivedAt    *time.Time `json:"archived_at"`
		ArchiveReason string     `json:"archive_reason"`
		VehicleID     *string    `json:"vehicle_id"`
	}
	if err := json.Unmarshal(thief.sends(200, http.MethodGet, "/v1/devices/"+taken, ""), &device); err != nil ||
		device.ArchivedAt == nil || device.ArchiveReason != "it was stolen" || device.VehicleID != nil {
		t.Errorf("the thief's device: %+v, %v", device, err)
	}
	thief.posts(409, "/v1/devices", `{"unique_id":"taken"}`)
	thief.posts(422, "/v1/positions", `{"unique_id":"taken","fix_at":"2026-01-02T04:00:00Z","lat":48,"lng":11}`)

	m.must("device", "move", "renamed", "--to", "Owner", "--kept", "--vehicle", owner.vehicle)
	m.eventually("with what was kept apart, if the operator says so", func() error { return owner.has(all - before + 2) })
	m.interrupt()
}
