package record_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// TestManyAtOnceHaveOneHolderOfAValueEach has two stores make records of the same values at the same time, while a
// third makes some of them one by one.
func TestManyAtOnceHaveOneHolderOfAValueEach(t *testing.T) {
	a, b, db := twoStores(t)
	const values = 130 // more than go together
	bodies := make([]record.Vehicle, values)
	for i := range bodies {
		bodies[i] = vehicle(fmt.Sprintf("VIN%03d", i))
		bodies[i].ExternalRefs = []record.ExternalRef{{System: "recording", ID: fmt.Sprint(i)}}
	}
	var mu sync.Mutex
	made := make(map[string][]uint64)
	var running sync.WaitGroup
	note := func(vin string, id uint64, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			made[vin] = append(made[vin], id)
		} else if fleet.CodeOf(err) != fleet.CodeConflict {
			t.Errorf("%s: %v", vin, err)
		}
	}
	for _, store := range []*record.Store{a, b} {
		running.Go(func() {
			ids := make([]uint64, values)
			for i := range ids {
				ids[i] = store.NextID()
			}
			log := record.NewLog(store, record.Vehicles)
			for i, err := range log.CreateMany(t.Context(), by, account, ids, bodies) {
				note(bodies[i].VIN, ids[i], err)
			}
		})
	}
	single := newStore(t, db, 3)
	running.Go(func() {
		log := record.NewLog(single, record.Vehicles)
		for i := 0; i < values; i += 13 {
			id := single.NextID()
			_, _, err := log.Create(t.Context(), by, account, id, bodies[i])
			note(bodies[i].VIN, id, err)
		}
	})
	running.Wait()
	log := record.NewLog(a, record.Vehicles)
	for i := range bodies {
		ids := made[bodies[i].VIN]
		if len(ids) != 1 {
			t.Errorf("%s has %d holders", bodies[i].VIN, len(ids))
			continue
		}
		got, err := log.Get(t.Context(), account, ids[0])
		if err != nil || got.Body.VIN != bodies[i].VIN || got.Revision != 1 {
			t.Errorf("%s: %+v, %v", bodies[i].VIN, got, err)
		}
	}
	var rows uint64
	if err := db.QueryRow(t.Context(),
		"SELECT count() FROM vehicles FINAL WHERE archived_at IS NULL").Scan(&rows); err != nil || rows != values {
		t.Errorf("%d current vehicles, want %d: %v", rows, values, err)
	}
	if records, claims, err := a.Audit(t.Context()); err != nil || records != 0 || claims != 0 {
		t.Errorf("audit: %d records, %d claims, %v", records, claims, err)
	}
}

func TestOneOfManyThatCannotBeDoesNotKeepTheOthers(t *testing.T) {
	a, _, db := twoStores(t)
	log := record.NewLog(a, record.Vehicles)
	held, _, err := log.Create(t.Context(), by, account, a.NextID(), vehicle("HELD"))
	if err != nil {
		t.Fatal(err)
	}
	given, _, err := log.Create(t.Context(), by, account, a.NextID(), vehicle("GIVEN"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Archive(t.Context(), by, account, given.ID, 0, nil); err != nil {
		t.Fatal(err)
	}
	bodies := []record.Vehicle{vehicle("FREE"), vehicle("HELD"), vehicle("GIVEN"), vehicle("TWICE"),
		vehicle("TWICE"), vehicle("")}
	ids := make([]uint64, len(bodies))
	for i := range ids {
		ids[i] = a.NextID()
	}
	errs := log.CreateMany(t.Context(), by, account, ids, bodies)
	for i, conflict := range []bool{false, true, false, false, true, false} {
		if got := fleet.CodeOf(errs[i]) == fleet.CodeConflict; got != conflict || !conflict && errs[i] != nil {
			t.Errorf("%d (%s): %v", i, bodies[i].VIN, errs[i])
		}
	}
	if got, err := log.Get(t.Context(), account, held.ID); err != nil || got.Body.VIN != "HELD" {
		t.Errorf("the holder: %+v %v", got, err)
	}
	// A value that a refused record gave back can be had.
	if _, err := log.Archive(t.Context(), by, account, held.ID, 0, nil); err != nil {
		t.Fatal(err)
	}
	if errs := log.CreateMany(t.Context(), by, account, []uint64{a.NextID()},
		[]record.Vehicle{vehicle("HELD")}); errs[0] != nil {
		t.Errorf("after it was given up: %v", errs[0])
	}
	var rows uint64
	if err := db.QueryRow(t.Context(),
		"SELECT count() FROM vehicles FINAL WHERE archived_at IS NULL").Scan(&rows); err != nil || rows != 5 {
		t.Errorf("%d current vehicles, want 5: %v", rows, err)
	}
	if len(log.CreateMany(t.Context(), by, account, nil, nil)) != 0 {
		t.Error("errors of nothing")
	}
}
