package desk

import (
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/event"
	"github.com/motorpool/fleet/api/eventview"
	"github.com/motorpool/fleet/api/eventview/eventtest"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) {
	os.Exit(embeddedtest.Run(m))
}

const account = fleet.AccountID(7)

var by = record.Author{Actor: "key_1", RequestID: "req_1"}

// open opens a desk on a database of its own.
func open(t testing.TB, now func() time.Time) *Desk {
	t.Helper()
	db := schematest.Open(t)
	store, err := record.NewStore(record.Config{Deadline: time.Minute, Abandoned: 2 * time.Minute}, db,
		fleet.NewIDSource(1, time.Now), now)
	if err != nil {
		t.Fatal(err)
	}
	event.Announce(store, &eventtest.Publisher{T: t, Check: eventChecks})
	return New(store, db, now, slog.New(slog.DiscardHandler))
}

// eventChecks holds what is told in any test against its schema.
var eventChecks = sync.OnceValue(func() *eventtest.Check { return eventtest.New(eventview.New()) })

// put writes a new record and returns its id as text.
func put[T any](t testing.TB, d *Desk, log *record.Log[T], body T) string {
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

// refusal says whether an error is one that a command may give: taken, or somebody was faster.
func refusal(err error) bool {
	return slices.Contains([]fleet.Code{fleet.CodeConflict, fleet.CodeTransition, fleet.CodeValidation}, fleet.CodeOf(err))
}
