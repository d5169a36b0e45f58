package person

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

const account = fleet.AccountID(7)

var by = record.Author{Actor: "key_1", RequestID: "req_1"}

// on opens the room on a database that others may be on too.
func on(t *testing.T, db driver.Conn, now func() time.Time) *Persons {
	t.Helper()
	cfg := record.Config{Deadline: time.Minute, Abandoned: 2 * time.Minute}
	store, err := record.NewStore(cfg, db, fleet.NewIDSource(1, time.Now), now)
	if err != nil {
		t.Fatal(err)
	}
	d := New(base.New(store, db, now, slog.New(slog.DiscardHandler)))
	d.Register()
	return d
}

// put writes a new record and returns its id as text.
func put[T any](t *testing.T, d *Persons, log *record.Log[T], body T) string {
	t.Helper()
	rec, _, err := log.Create(t.Context(), by, account, d.Store.NextID(), body)
	if err != nil {
		t.Fatal(err)
	}
	return fleet.FormatID(log.Kind().Prefix, rec.ID)
}

// number is that of a written id.
func number(prefix, text string) uint64 {
	id, _ := fleet.ParseID(prefix, text)
	return id
}
