package registry_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/pipeline/registry"
	"github.com/motorpool/fleet/schemas/schematest"
)

// counted counts the queries that read more than a stamp.
type counted struct {
	driver.Conn
	reads int
}

func (c *counted) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	if !strings.Contains(query, "system.parts") {
		c.reads++
	}
	return c.Conn.Query(ctx, query, args...)
}

// TestWhatIsNotWrittenIsNotReadAgain polls the registry and the policies past the time for which a write is looked for
// on other replicas, and then writes: the very next reading must know.
func TestWhatIsNotWrittenIsNotReadAgain(t *testing.T) {
	w := newPolicyWorld(t)
	w.write("geofence", 7, 1, 1, `{"name":"a","geometry":{"type":"Circle","radius_m":100}}`)
	w.write("device", 7, 2, 1, `{"unique_id":"one","assignments":[{"vehicle_id":"veh_5"}]}`)
	db := &counted{Conn: w.db}
	w.policies = registry.NewPolicies(db)
	devices := registry.NewDevices(db)
	poll := func() int {
		t.Helper()
		before := db.reads
		if err := devices.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.policy()
		return db.reads - before
	}
	quiet := func() {
		t.Helper()
		for giveUp := time.Now().Add(30 * time.Second); poll() > 0; {
			if time.Now().After(giveUp) {
				t.Fatal("what nobody writes to is read again and again")
			}
		}
	}
	quiet()
	if err := w.db.Exec(t.Context(), "OPTIMIZE TABLE geofences FINAL"); err != nil {
		t.Fatal(err)
	}
	if poll() > 0 {
		t.Error("a merge is no write")
	}
	w.write("geofence", 7, 1, 2, `{"name":"b","geometry":{"type":"Circle","radius_m":100}}`)
	w.want("changed", w.fences(), "1 r1 1-on b")
	quiet()
	w.write("device", 7, 3, 1, `{"unique_id":"two","assignments":[{"vehicle_id":"veh_5"}]}`)
	if poll(); devices.Len() != 2 {
		t.Errorf("%d devices", devices.Len())
	}
	quiet()
	w.write("vehicle", 7, 5, 1, `{"tags":["x"]}`)
	if tags := w.policy().TraitsOf(5).Tags; len(tags) != 1 {
		t.Errorf("tags %v", tags)
	}
}

// A write that says it was made long before what is known, as one by a program that hung does, is not among what was
// written lately: it is found all the same, since the tables were written to and nothing was found.
func TestAWriteThatComesLateIsFound(t *testing.T) {
	w := newPolicyWorld(t)
	w.write("vehicle", 7, 5, 1, `{"tags":["x"]}`)
	w.write("device", 7, 2, 1, `{"unique_id":"one","assignments":[{"vehicle_id":"veh_5"}]}`)
	devices := registry.NewDevices(w.db)
	read := func() {
		t.Helper()
		if err := devices.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.policy()
	}
	read()
	late := w.at.Add(-time.Hour)
	schematest.Write(t, w.db, "vehicle", 7, 6, 1, late, `{"tags":["late"]}`)
	schematest.Write(t, w.db, "device", 7, 3, 1, late, `{"unique_id":"two","assignments":[{"vehicle_id":"veh_6"}]}`)
	read()
	if devices.Len() != 1 {
		t.Fatal("a reading of what was written lately has found it: this test would not see the other")
	}
	registry.Missed(devices, w.policies)
	for giveUp := time.Now().Add(30 * time.Second); devices.Len() != 2 || len(w.policies.Of(7).TraitsOf(6).Tags) != 1; {
		if time.Now().After(giveUp) {
			t.Fatalf("%d devices, tags %v", devices.Len(), w.policies.Of(7).TraitsOf(6).Tags)
		}
		read()
	}
}
