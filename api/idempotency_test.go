package api

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
)

func TestARepeatedRequestIsAnsweredAndNotRepeated(t *testing.T) {
	w := newWorld(t)
	body := `{"make":"A","model":"B"}`
	first := w.do("POST", "/v1/vehicles", body, "Idempotency-Key", "k1").ok(201)
	again := w.do("POST", "/api/v1/vehicles", body, "Idempotency-Key", "k1").ok(201)
	if again.header.Get("Idempotency-Replayed") != "true" || first.header.Get("Idempotency-Replayed") != "" {
		t.Errorf("replayed: first %v, again %v", first.header, again.header)
	}
	for _, name := range []string{"Location", "ETag", "Content-Type"} {
		wantEqual(t, name, again.header.Get(name), first.header.Get(name))
	}
	wantEqual(t, "body", string(again.body), string(first.body))
	w.do("POST", "/v1/vehicles", `{"make":"A","model":"C"}`, "Idempotency-Key", "k1").problem(422,
		"idempotency_key_reused")
	w.do("POST", "/v1/devices", body, "Idempotency-Key", "k1").problem(422, "idempotency_key_reused")

	// A refusal does not use the key up.
	w.do("POST", "/v1/vehicles", `{"make":"A"}`, "Idempotency-Key", "k2").problem(422, "validation_failed")
	w.do("POST", "/v1/vehicles", body, "Idempotency-Key", "k2").ok(201)
	wantEqual(t, "vehicles", w.do("GET", "/v1/vehicles", "").pagination().Total, 2)

	// Actions too.
	action := "/v1/vehicles/" + first.id() + "/status"
	w.do("POST", action, `{"status":"maintenance","reason":"x"}`, "Idempotency-Key", "k3").ok(200)
	w.do("POST", action, `{"status":"available","reason":"y"}`).ok(200)
	w.do("POST", action, `{"status":"maintenance","reason":"x"}`, "Idempotency-Key", "k3").ok(200)
	wantEqual(t, "status", w.do("GET", "/v1/vehicles/"+first.id(), "").object()["status"], "available")

	// Keys of one account mean nothing to another.
	w.key = w.newKey(w.newAccount("Second"), auth.Admin)
	if r := w.do("POST", "/v1/vehicles", body, "Idempotency-Key", "k1").ok(201); r.id() == first.id() {
		t.Error("another account's answer was replayed")
	}
}

func TestARequestSentManyTimesAtOnceIsCarriedOutOnce(t *testing.T) {
	w := newWorld(t)
	var made, busy atomic.Int32
	var mu sync.Mutex
	ids := map[string]bool{}
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			r := w.do("POST", "/v1/vehicles", `{"make":"A","model":"B"}`, "Idempotency-Key", "k")
			switch r.status {
			case 201:
				made.Add(1)
				mu.Lock()
				ids[r.id()] = true
				mu.Unlock()
			case 409:
				busy.Add(1)
			default:
				t.Errorf("%d %s", r.status, r.body)
			}
		})
	}
	group.Wait()
	if made.Load() < 1 || len(ids) != 1 || made.Load()+busy.Load() != 16 {
		t.Errorf("%d answers for %d vehicles, %d busy", made.Load(), len(ids), busy.Load())
	}
	wantEqual(t, "vehicles", w.do("GET", "/v1/vehicles", "").pagination().Total, 1)
}

// The process dies after the record was written and before the answer was stored: the repetition finds the record.
func TestARequestRepeatedAfterACrashAnswersWithTheSameRecord(t *testing.T) {
	w := newWorld(t)
	body := `{"make":"A","model":"B","vin":"VIN1"}`
	me := w.do("GET", "/v1/account", "").ok(200).object()["api_key_id"].(string)
	keyID, err := fleet.ParseID(fleet.KeyPrefix, me)
	if err != nil {
		t.Fatal(err)
	}
	ticket, err := w.api.Store.Begin(t.Context(), w.account, "k",
		rest.RequestHash("POST", "/v1/vehicles", "", fleet.KeyID(keyID).String(), []byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	first, _, err := w.api.desk.Vehicles.Create(t.Context(), record.Author{Actor: me, Command: ticket.Command},
		w.account, ticket.ID,
		record.Vehicle{VehicleFields: record.VehicleFields{Make: "A", Model: "B", VIN: "VIN1"},
			Status: record.VehicleAvailable})
	if err != nil {
		t.Fatal(err)
	}
	w.do("POST", "/v1/vehicles", body, "Idempotency-Key", "k").problem(409, "request_in_progress")
	if err := w.db.Exec(t.Context(), "ALTER TABLE claim_log UPDATE at = at - INTERVAL 1 HOUR WHERE field = 'idempotency' SETTINGS mutations_sync = 1"); err != nil {
		t.Fatal(err)
	}
	again := w.do("POST", "/v1/vehicles", body, "Idempotency-Key", "k").ok(201)
	wantEqual(t, "id", again.id(), fleet.FormatID(fleet.VehiclePrefix, first.ID))
	wantEqual(t, "vehicles", w.do("GET", "/v1/vehicles", "").pagination().Total, 1)
}

// The first attempt was of a version whose keys and writes name no command, and was cut short. The repetition finds the
// record all the same.
func TestARequestRepeatedAcrossAnUpgradeMakesNoSecondRecord(t *testing.T) {
	w := newWorld(t)
	body := `{"make":"A","model":"B"}`
	me := w.do("GET", "/v1/account", "").ok(200).object()["api_key_id"].(string)
	keyID, err := fleet.ParseID(fleet.KeyPrefix, me)
	if err != nil {
		t.Fatal(err)
	}
	hash := rest.RequestHash("POST", "/v1/vehicles", "", fleet.KeyID(keyID).String(), []byte(body))
	ticket, err := w.api.Store.Begin(t.Context(), w.account, "k", hash)
	if err != nil {
		t.Fatal(err)
	}
	first, _, err := w.api.desk.Vehicles.Create(t.Context(), record.Author{Actor: me}, w.account, ticket.ID,
		record.Vehicle{VehicleFields: record.VehicleFields{Make: "A", Model: "B"}, Status: record.VehicleAvailable})
	if err != nil {
		t.Fatal(err)
	}
	w.exec(`ALTER TABLE claim_log UPDATE detail = '{"hash":"` + hash +
		`","open":true}' WHERE field = 'idempotency' SETTINGS mutations_sync = 1`)
	again := w.do("POST", "/v1/vehicles", body, "Idempotency-Key", "k").ok(201)
	wantEqual(t, "id", again.id(), fleet.FormatID(fleet.VehiclePrefix, first.ID))
	wantEqual(t, "vehicles", w.do("GET", "/v1/vehicles", "").pagination().Total, 1)
}

func TestAReplayedAnswerShowsNoSecret(t *testing.T) {
	w := newWorld(t)
	first := w.do("POST", "/v1/api_keys", `{"name":"x","scopes":["vehicles:read"]}`, "Idempotency-Key", "k").ok(201)
	again := w.do("POST", "/v1/api_keys", `{"name":"x","scopes":["vehicles:read"]}`, "Idempotency-Key", "k").ok(201)
	secret, _ := first.object()["key"].(string)
	if secret == "" || again.object()["key"] != nil || again.id() != first.id() {
		t.Errorf("first %s, again %s", first.body, again.body)
	}
	for _, table := range []string{"claim_log", "record_log", "api_keys"} {
		var n uint64
		if err := w.db.QueryRow(t.Context(), "SELECT count() FROM "+table+" WHERE position(toString(tuple(*)), $1) > 0",
			secret[21:]).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s holds the secret in %d rows, %v", table, n, err)
		}
	}
	if strings.Contains(fmt.Sprint(w.log), secret[21:]) {
		t.Error("the log holds the secret")
	}
}
