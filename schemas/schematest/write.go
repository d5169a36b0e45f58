package schematest

import (
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
)

// Write puts a revision of a record into the log, as api/record does, and brings its table of current records up to it.
// The body "archived" is that of a record that goes.
func Write(t testing.TB, db driver.Conn, kind string, account, id, revision uint64, at time.Time, body string) {
	t.Helper()
	archived := any(nil)
	if body == "archived" {
		archived, body = at, "{}"
	}
	if err := db.Exec(t.Context(), `INSERT INTO record_log
		(account, kind, id, revision, write_id, action, at, created_at, archived_at, actor, request_id, body)
		VALUES ($1, $2, $3, $4, 1, '', $5, $5, $6, '', '', $7)`, account, kind, id, revision, at, archived, body); err != nil {
		t.Fatal(err)
	}
	if err := schemas.Fill(t.Context(), db, kind); err != nil {
		t.Fatal(err)
	}
}
