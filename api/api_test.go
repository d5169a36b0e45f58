package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/eventview/eventtest"
	"github.com/motorpool/fleet/api/hook"
	"github.com/motorpool/fleet/api/oauth"
	"github.com/motorpool/fleet/api/outbound"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/roster"
	"github.com/motorpool/fleet/api/seal"
	"github.com/motorpool/fleet/api/user"
	"github.com/motorpool/fleet/api/user/password"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/pipeline/webhook"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

// world is an interface that serves on a fresh database, with one account and an admin key for it.
type world struct {
	t       *testing.T
	api     *API
	db      driver.Conn
	url     string
	log     *logText
	clock   *atomic.Int64 // offset of Now from the real time
	account fleet.AccountID
	key     string
	unfit   bool // it writes records that no request could, of which no event fits its schema
}

// logText is what was logged; requests are logged after they are answered, so that it is written while tests read.
type logText struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// words is a geocoder that knows one answer.
type words string

func (g words) Address(_, _ float64) string { return string(g) }

func newWorld(t *testing.T, change ...func(*rest.Config, *Deps)) *world {
	t.Helper()
	w := &world{t: t, log: &logText{}, clock: &atomic.Int64{}}
	// A busy machine may need more than the usual time; what is decided stays the same.
	cfg := rest.DefaultConfig()
	cfg.ReadTime, cfg.WriteTime = 50*time.Second, 50*time.Second
	cfg.Record = record.Config{Deadline: 50 * time.Second, Abandoned: 100 * time.Second}
	deps := Deps{Deps: rest.Deps{
		IDs: fleet.NewIDSource(1, time.Now), Geocoder: words("Austin, Texas, US"),
		Log: slog.New(slog.NewTextHandler(w.log, nil)),
		Now: func() time.Time { return time.Now().Add(time.Duration(w.clock.Load())) },
	}}
	deps.Webhooks = hook.Config{Reach: outbound.Reach{Private: true}, Plain: true, Keys: sealKeys(t)}
	server := httptest.NewUnstartedServer(nil)
	deps.OAuth = oauth.Config{Issuer: "http://" + server.Listener.Addr().String(), Keys: deps.Webhooks.Keys}
	deps.Users = user.Config{Keys: deps.Webhooks.Keys, Hashing: password.Config{MemoryKiB: 64, Time: 1, AtOnce: 2}}
	for _, f := range change {
		f(&cfg, &deps)
	}
	name := "First"
	if deps.DB == nil {
		deps.DB = schematest.Open(t)
	} else {
		name += " on " + server.Listener.Addr().String() // the store has another world's first
	}
	w.db = deps.DB
	if deps.Roster == nil && memory != nil {
		deps.Roster = memory(t, deps.DB)
	}
	deps.Events = &eventtest.Publisher{T: t, To: deps.Events, Check: func() *eventtest.Check {
		if w.unfit {
			return nil
		}
		return eventCheck(w)
	}}
	commands, ok := deps.Webhooks.Commands.(*webhook.Commands)
	if !ok {
		commands = &webhook.Commands{Publisher: &keptRecords{}, Topic: "webhook.deliveries"}
		deps.Webhooks.Commands = commands
	}
	commands.DB = deps.DB
	var err error
	if w.api, err = New(cfg, deps); err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = w.api.Handler()
	server.Start()
	t.Cleanup(func() {
		server.Close()
		if err := w.api.Store.AwaitAll(context.Background()); err != nil {
			t.Error(err)
		}
	})
	w.url = server.URL
	w.account = w.newAccount(name)
	w.key = w.newKey(w.account, auth.Admin)
	return w
}

// memory is what each world has between it and the store, if it is set: what is asked is answered alike without.
var memory func(*testing.T, driver.Conn) *roster.Roster

// sealKeys are keys of a test alone.
func sealKeys(t *testing.T) seal.Ring {
	t.Helper()
	keys, err := seal.Read([]byte(seal.NewKey()))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func (w *world) newAccount(name string) fleet.AccountID {
	w.t.Helper()
	id := w.api.Store.NextID()
	if _, _, err := w.api.desk.Accounts.Create(w.t.Context(), record.Author{Actor: "cli"}, fleet.AccountID(id), id,
		record.Account{Name: name, Timezone: "America/Chicago", Currency: "USD"}); err != nil {
		w.t.Fatal(err)
	}
	return fleet.AccountID(id)
}

func (w *world) newKey(account fleet.AccountID, scopes ...auth.Scope) string {
	w.t.Helper()
	made := auth.MakeKey()
	body := record.APIKey{Name: "test", TokenID: made.TokenID, SecretSHA256: made.SecretSHA256, LastFour: made.LastFour}
	for _, s := range scopes {
		body.Scopes = append(body.Scopes, string(s))
	}
	if _, _, err := record.NewLog(w.api.Store, record.APIKeys).Create(w.t.Context(), record.Author{Actor: "cli"}, account,
		w.api.Store.NextID(), body); err != nil {
		w.t.Fatal(err)
	}
	return made.Token
}

// reply is an answer, read to its end.
type reply struct {
	t      *testing.T
	log    *logText // of the world that answered
	status int
	header http.Header
	body   []byte
}

// do makes a request with the world's key; headers are pairs of name and value, and an empty value removes one.
func (w *world) do(method, path, body string, headers ...string) *reply {
	w.t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(w.t.Context()), method, w.url+path,
		strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Del(headers[i]); headers[i+1] != "" {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return &reply{t: w.t, log: w.log, status: res.StatusCode, header: res.Header, body: text}
}

// ok fails the test unless the answer has the status. What was logged tells why the server could not answer.
func (r *reply) ok(status int) *reply {
	r.t.Helper()
	if r.status != status {
		if r.status >= 500 && r.log != nil {
			r.t.Log(r.log)
		}
		r.t.Fatalf("status %d, want %d: %s", r.status, status, r.body)
	}
	return r
}

// problem fails the test unless the answer is a whole problem of that status and code.
func (r *reply) problem(status int, code string) rest.Problem {
	r.t.Helper()
	var p rest.Problem
	if err := json.Unmarshal(r.body, &p); err != nil {
		r.t.Fatalf("status %d with %q: %v", r.status, r.body, err)
	}
	if r.status != status || p.Status != status || p.Code != code {
		r.t.Errorf("status %d, want %d %s: %s", r.status, status, code, r.body)
	}
	if got := r.header.Get("Content-Type"); got != "application/problem+json" {
		r.t.Errorf("problem of type %q", got)
	}
	if p.Type == "" || p.Title == "" || p.Detail == "" || p.Instance == "" || p.RequestID == "" ||
		p.RequestID != r.header.Get("X-Request-Id") {
		r.t.Errorf("problem lacks something: %s", r.body)
	}
	return p
}

// object is the answer as a JSON object.
func (r *reply) object() map[string]any {
	r.t.Helper()
	var v map[string]any
	if err := json.Unmarshal(r.body, &v); err != nil {
		r.t.Fatalf("%q: %v", r.body, err)
	}
	return v
}

// data is the list in the answer.
func (r *reply) data() []map[string]any {
	r.t.Helper()
	var v struct{ Data []map[string]any }
	if err := json.Unmarshal(r.ok(200).body, &v); err != nil {
		r.t.Fatalf("%q: %v", r.body, err)
	}
	return v.Data
}

func (r *reply) pagination() (p rest.Pagination) {
	r.t.Helper()
	var v struct{ Pagination *rest.Pagination }
	if err := json.Unmarshal(r.body, &v); err != nil || v.Pagination == nil {
		r.t.Fatalf("%q: %v", r.body, err)
	}
	return *v.Pagination
}

func (r *reply) id() string {
	r.t.Helper()
	id, _ := r.object()["id"].(string)
	if id == "" {
		r.t.Fatalf("no id in %d %s", r.status, r.body)
	}
	return id
}

// vehicle creates one and returns its id.
func (w *world) vehicle(body string) string {
	w.t.Helper()
	return w.do("POST", "/v1/vehicles", body).ok(201).id()
}

func wantEqual(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
