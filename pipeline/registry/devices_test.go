package registry_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/motorpool/fleet/pipeline/registry"
	"github.com/motorpool/fleet/schemas/schematest"
)

// TestRegistryOutlivesWritesThatCameInAnotherOrder has two devices of one name, as it looks when the clock of the
// writer that took the name from the first stood behind.
func TestRegistryOutlivesWritesThatCameInAnotherOrder(t *testing.T) {
	db := schematest.Open(t)
	devices := registry.NewDevices(db)
	write := func(id, revision uint64, at time.Time, archived bool) {
		t.Helper()
		archivedAt := "NULL"
		if archived {
			archivedAt = "now64(3)"
		}
		if err := db.Exec(t.Context(),
			fmt.Sprintf(`INSERT INTO devices (account, id, revision, created_at, updated_at, archived_at, unique_id, body)
			VALUES (7, %d, %d, now64(3), fromUnixTimestamp64Milli(%d), %s, 'one', '{}')`, id, revision, at.UnixMilli(), archivedAt)); err != nil {
			t.Fatal(err)
		}
		if err := devices.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	write(1, 1, now.Add(-time.Hour), false)
	write(2, 1, now, false)
	write(2, 2, now, true)
	write(1, 2, now, true)
	if d, ok := devices.Lookup("one"); ok {
		t.Errorf("device %d is archived and still known", d.ID)
	}
}

func TestADeviceThatCannotBeReadHurtsNoOther(t *testing.T) {
	db := schematest.Open(t)
	devices := registry.NewDevices(db)
	if err := db.Exec(t.Context(),
		`INSERT INTO devices (account, id, revision, created_at, updated_at, unique_id, body) VALUES
		(7, 1, 1, now64(3), now64(3), 'bad', '{"assignments":[{"vehicle_id":"nonsense"}]}'),
		(7, 2, 1, now64(3), now64(3), 'good', '{"assignments":[{"vehicle_id":"veh_5"}]}')`); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := devices.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := devices.Lookup("good"); !ok || devices.Len() != 1 || devices.Skipped() != 1 {
		t.Errorf("good known: %v; %d known, %d skipped", ok, devices.Len(), devices.Skipped())
	}
}
