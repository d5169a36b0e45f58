package record_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas/schematest"
)

// In a context of Early a write returns when the log has it. Whoever awaits the account finds what follows carried out,
// and nobody waits for another account.
func TestWhatFollowsAnEarlyWriteIsAwaited(t *testing.T) {
	db := schematest.Open(t)
	s := newStore(t, db, 1)
	goOn := make(chan struct{})
	followed := false
	s.Then("vehicle", "slow", func(ctx context.Context, _ record.Written) error {
		select {
		case <-goOn:
			followed = true
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	vehicles := record.NewLog(s, record.Vehicles)
	id := s.NextID()
	early := record.Early(t.Context())
	if _, _, err := vehicles.Create(early, by, account, id, record.Vehicle{}); err != nil {
		t.Fatal(err)
	}
	if _, err := vehicles.Get(t.Context(), account, id); err != nil {
		t.Errorf("the log does not have it: %v", err)
	}
	if err := errors.Join(s.Await(early, account), s.Await(t.Context(), account+1)); err != nil {
		t.Error(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := s.Await(soon, account); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it is not done, and who awaits it is told %v", err)
	}
	close(goOn)
	if err := s.AwaitAll(t.Context()); err != nil || !followed {
		t.Errorf("after all was awaited it had followed: %v, %v", followed, err)
	}
	wantRows(t, db, "vehicles", 1)
}

// What follows from a write may fall: its writer has gone on, and nobody waits for ever.
func TestWhoAwaitsWhatFellGoesOn(t *testing.T) {
	s := newStore(t, schematest.Open(t), 1)
	s.Then("vehicle", "fall", func(context.Context, record.Written) error { panic("it fell") })
	vehicles := record.NewLog(s, record.Vehicles)
	if _, _, err := vehicles.Create(record.Early(t.Context()), by, account, s.NextID(), record.Vehicle{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Await(t.Context(), account); err != nil {
		t.Error(err)
	}
}

// What is written by what follows is carried out when that is.
func TestWhatFollowsWritesAndIsAwaitedWithIt(t *testing.T) {
	db := schematest.Open(t)
	s := newStore(t, db, 1)
	vehicles, classes := record.NewLog(s, record.Vehicles), record.NewLog(s, record.VehicleClasses)
	s.Then("vehicle", "class", func(ctx context.Context, w record.Written) error {
		_, _, err := classes.Create(ctx, by, w.Account, w.ID+1, record.VehicleClass{Name: "C"})
		return err
	})
	if _, _, err := vehicles.Create(record.Early(t.Context()), by, account, s.NextID(), record.Vehicle{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Await(t.Context(), account); err != nil {
		t.Error(err)
	}
	wantRows(t, db, "vehicle_classes", 1)
}

func wantRows(t *testing.T, db driver.Conn, table string, want uint64) {
	t.Helper()
	var n uint64
	if err := db.QueryRow(t.Context(), "SELECT count() FROM "+table).Scan(&n); err != nil || n != want {
		t.Errorf("%s has %d rows, want %d: %v", table, n, want, err)
	}
}
