package registry

import (
	"testing"
	"time"

	"github.com/motorpool/fleet/schemas/schematest"
)

func TestEndpointsAreThoseOfTheirRecords(t *testing.T) {
	db := schematest.Open(t)
	endpoints := NewEndpoints(db)
	write := func(account, id, revision uint64, body string) {
		t.Helper()
		schematest.Write(t, db, "webhook_endpoint", account, id, revision, time.Now(), body)
		if err := endpoints.RefreshNow(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	write(7, 5, 1, `{"url":"https://example.com/a","status":"enabled"}`)
	write(7, 4, 1, `{"url":"https://example.com/b","status":"paused"}`)
	write(8, 6, 1, `{"url":"https://example.com/c","status":"enabled"}`)
	write(8, 7, 1, `{"url":"https://example.com/d","vehicle_ids":["nobody"]}`)
	if of := endpoints.Of(7); len(of) != 2 || of[0].ID != 4 || of[0].Enabled || !of[1].Enabled {
		t.Errorf("%+v", of)
	}
	if e, ok := endpoints.Get(8, 6); !ok || e.URL != "https://example.com/c" || e.Revision != 1 {
		t.Errorf("%+v, %v", e, ok)
	}
	if _, ok := endpoints.Get(7, 6); ok {
		t.Error("an endpoint of another account")
	}
	if n := len(endpoints.All()); n != 3 || endpoints.Skipped() != 1 {
		t.Errorf("%d endpoints, %d skipped", n, endpoints.Skipped())
	}
	if err := db.Exec(t.Context(), "INSERT INTO webhook_endpoints (account, id, revision, created_at, updated_at, archived_at, "+
		"body) VALUES (7, 4, 2, now64(3), now64(3), now64(3), '{}')"); err != nil {
		t.Fatal(err)
	}
	if err := endpoints.RefreshNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, ok := endpoints.Get(7, 4); ok || len(endpoints.Of(7)) != 1 || len(endpoints.All()) != 3 {
		t.Errorf("what is archived is told of: %v; all are %+v", ok, endpoints.All())
	}
	write(7, 5, 2, `{"url":"https://example.com/e","status":"disabled"}`)
	if e, ok := endpoints.Get(7, 5); !ok || e.URL != "https://example.com/e" || e.Enabled || e.Revision != 2 {
		t.Errorf("%+v, %v", e, ok)
	}
}
