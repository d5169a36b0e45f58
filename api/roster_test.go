package api

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/roster"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

// answersFromMemory returns how many answers a registry's roster has given, and how many it left to the store.
func answersFromMemory(t *testing.T, from prometheus.Gatherer) (memory, store float64) {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "motorpool_roster_answers_total" {
			for _, m := range family.GetMetric() {
				if m.GetLabel()[0].GetValue() == "memory" {
					memory = m.GetCounter().GetValue()
				} else {
					store = m.GetCounter().GetValue()
				}
			}
		}
	}
	return memory, store
}

// twoServers are two interfaces on one store, with one account and its key, each with its own memory.
func twoServers(t *testing.T) (both [2]*world, registries [2]*prometheus.Registry) {
	t.Helper()
	db := schematest.Open(t)
	memory := func(i int) *roster.Roster {
		registries[i] = prometheus.NewRegistry()
		r, err := roster.New(roster.DefaultConfig(), db, registries[i], slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	w := newWorld(t, func(_ *rest.Config, deps *Deps) { deps.DB, deps.Roster = db, memory(0) })
	deps := Deps{Deps: rest.Deps{DB: db, IDs: fleet.NewIDSource(2, time.Now), Log: w.api.Log, Now: w.api.Now,
		Roster: memory(1)}}
	var err error
	other := *w
	if other.api, err = New(w.api.Config, deps); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(other.api.Handler())
	t.Cleanup(func() {
		server.Close()
		if err := other.api.Store.AwaitAll(context.Background()); err != nil {
			t.Error(err)
		}
	})
	other.url = server.URL
	return [2]*world{w, &other}, registries
}

// What one process is told, it shows with the next answer; what another one is told, within the roster's lag.
func TestWhatIsWrittenIsReadFromMemory(t *testing.T) {
	both, registries := twoServers(t)
	a, b := both[0], both[1]
	made := a.do("POST", "/v1/locations", `{"name":"Airport","timezone":"America/Chicago"}`).ok(201).object()
	path := "/v1/locations/" + made["id"].(string)
	for _, w := range both {
		w.do("GET", "/v1/locations", "").ok(200)
		w.do("GET", path, "").ok(200)
	}
	for n := range 8 {
		name := fmt.Sprintf("Airport %d", n)
		a.do("PATCH", path, fmt.Sprintf(`{"name":%q}`, name)).ok(200)
		if got := a.do("GET", path, "").ok(200).object()["name"]; got != name {
			t.Fatalf("whoever wrote %q reads %q", name, got)
		}
		list := a.do("GET", "/v1/locations?q=airport&sort=-name&fields=name", "").ok(200)
		if !strings.Contains(string(list.body), `"`+name+`"`) {
			t.Fatalf("whoever wrote %q lists %s", name, list.body)
		}
		time.Sleep(roster.DefaultConfig().Lag)
		if got := b.do("GET", path, "").ok(200).object()["name"]; got != name {
			t.Errorf("another process reads %q of %q after the roster's lag", got, name)
		}
		list = b.do("GET", "/v1/locations?q=airport&sort=-name&fields=name", "").ok(200)
		if !strings.Contains(string(list.body), `"`+name+`"`) {
			t.Errorf("another process lists %s of %q", list.body, name)
		}
	}
	second := b.newKey(b.newAccount("Second"), auth.Admin)
	for _, w := range both {
		w.do("GET", path, "", "Authorization", "Bearer "+second).problem(404, "not_found")
		if list := w.do("GET", "/v1/locations", "", "Authorization", "Bearer "+second).ok(200).data(); len(list) != 0 {
			t.Errorf("another account lists %v", list)
		}
	}
	a.do("DELETE", path, "").ok(204)
	if list := a.do("GET", "/v1/locations", "").ok(200); strings.Contains(string(list.body), made["id"].(string)) {
		t.Errorf("what is archived is listed: %s", list.body)
	}
	for i := range both {
		if memory, store := answersFromMemory(t, registries[i]); memory < 10 {
			t.Errorf("server %d answered %v times from memory and left %v to the store", i, memory, store)
		}
	}
}

// Many change one record in two processes: of the changes that were accepted none is lost, whatever memory said, no
// reader goes back, and in the end both processes say what the store does.
func TestAStaleMemoryCostsARetryAndNothingElse(t *testing.T) {
	both, _ := twoServers(t)
	id := both[0].do("POST", "/v1/vehicle_classes", `{"name":"Compact","code":"C"}`).ok(201).object()["id"].(string)
	path := "/v1/vehicle_classes/" + id
	const writers, each = 4, 4
	var work sync.WaitGroup
	for n := range writers {
		w, random := both[n%2], rand.New(rand.NewPCG(42, uint64(n)))
		work.Go(func() {
			last := 0.0
			for done := 0; done < each; {
				seen := w.do("GET", path, "")
				if seen.status != 200 {
					t.Errorf("a read: %s", seen.body)
					return
				}
				revision := seen.object()["revision"].(float64)
				if revision < last {
					t.Errorf("a reader went back from revision %v to %v", last, revision)
				}
				last = revision
				rank, _ := seen.object()["rank"].(float64)
				answer := w.do("PATCH", path, fmt.Sprintf(`{"rank":%d}`, int(rank)+1), "If-Match", seen.header.Get("ETag"))
				switch answer.status {
				case 200:
					done, last = done+1, answer.object()["revision"].(float64)
				case 412:
					time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
				default:
					t.Errorf("a change: %d %s", answer.status, answer.body)
					return
				}
			}
		})
	}
	work.Wait()
	time.Sleep(time.Second)
	stored := storedBody(t, both[0].db, id)
	for _, w := range both {
		if got := w.do("GET", path, "").ok(200).object(); got["rank"] != float64(writers*each) {
			t.Errorf("after %d changes the rank is %v; the store has %s", writers*each, got["rank"], stored)
		}
	}
}

// storedBody is what the table of classes has of one.
func storedBody(t *testing.T, db driver.Conn, id string) (body string) {
	t.Helper()
	row := db.QueryRow(t.Context(), "SELECT body FROM "+query.VehicleClasses.Table+
		" FINAL WHERE concat('vcl_', toString(id)) = '"+id+"'")
	if err := row.Scan(&body); err != nil {
		t.Fatal(err)
	}
	return body
}
