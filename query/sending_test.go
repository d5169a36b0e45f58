package query_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

// A context often ends as soon as what it was for is done. That may not cut off whoever has the connection by then:
// what the driver's watch looks at, as it does late on a busy machine, never ends after the batch is done with.
func TestNobodyIsCutOffByAnInsertThatIsDone(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(driver.Batch) error
	}{
		{"sent", driver.Batch.Send},
		{"aborted", driver.Batch.Abort},
		{"closed", driver.Batch.Close},
	} {
		t.Run(test.name, func(t *testing.T) {
			b, cancel := numbers(t)
			watched := query.Watched(b)
			if err := test.end(b); err != nil {
				t.Fatal(err)
			}
			cancel()
			select {
			case <-watched:
				t.Error("the watch of a batch that is done with is told to close the connection")
			case <-time.After(100 * time.Millisecond):
			}
		})
	}
}

// Whoever does not want an insert any more does not wait for it.
func TestAnInsertEndsWithItsContext(t *testing.T) {
	b, cancel := numbers(t)
	cancel()
	<-query.Watched(b)
	if err := b.Send(); !errors.Is(err, context.Canceled) {
		t.Errorf("sent after the context had ended: %v, want %v", err, context.Canceled)
	}
}

// numbers is an insert of one number that is prepared, and what ends its context.
func numbers(t *testing.T) (driver.Batch, context.CancelFunc) {
	t.Helper()
	db, err := query.Open(t.Context(), schematest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Exec(t.Context(), "CREATE TABLE numbers (n UInt64) ENGINE = Memory"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	b, err := db.PrepareBatch(ctx, "INSERT INTO numbers (n)")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Append(uint64(1)); err != nil {
		t.Fatal(err)
	}
	return b, cancel
}
