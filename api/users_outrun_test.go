package api

import (
	"context"
	"html"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/schemas/schematest"
)

// trap is a store that does something at the first statement of a kind after it was set, before the statement, and then
// carries it out unless that fails.
type trap struct {
	driver.Conn
	mu   sync.Mutex
	on   func(statement string) bool
	then func() error
}

// withTrap is a world upon such a store.
func withTrap(t *testing.T) (*world, *trap) {
	t.Helper()
	at := &trap{Conn: schematest.Open(t)}
	return newWorld(t, func(_ *rest.Config, d *Deps) { d.DB = at }), at
}

// set has the trap wait for a statement that has a text.
func (c *trap) set(text string, then func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.on, c.then = func(statement string) bool { return strings.Contains(statement, text) }, then
}

// sprung says whether it did what it was set for.
func (c *trap) sprung() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.then == nil
}

func (c *trap) look(statement string) error {
	c.mu.Lock()
	then := c.then
	if then == nil || !c.on(statement) {
		c.mu.Unlock()
		return nil
	}
	c.then = nil
	c.mu.Unlock()
	return then()
}

func (c *trap) PrepareBatch(ctx context.Context, text string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	if err := c.look(text); err != nil {
		return nil, err
	}
	return c.Conn.PrepareBatch(ctx, text, opts...)
}

func (c *trap) Exec(ctx context.Context, text string, args ...any) error {
	if err := c.look(text); err != nil {
		return err
	}
	return c.Conn.Exec(ctx, text, args...)
}

func (c *trap) Query(ctx context.Context, text string, args ...any) (driver.Rows, error) {
	if err := c.look(text); err != nil {
		return nil, err
	}
	return c.Conn.Query(ctx, text, args...)
}

// selfChanges are what people change of how they sign in, each ready to be sent.
var selfChanges = map[string]func(w *world, b *browser) func() *reply{
	"a passkey is made": func(w *world, b *browser) func() *reply {
		made := b.creation(w.newDevice(false))
		return func() *reply { return b.form("/signin/security/passkeys", "credential", made) }
	},
	"a passkey is removed": func(w *world, b *browser) func() *reply {
		b.register(w.newDevice(false), "Key").ok(200)
		id := b.json("GET", "/v1/users/"+w.userOf(b)+"/passkeys", "").data()[0]["id"].(string)
		return func() *reply {
			return b.form("/signin/security/passkeys/remove", "id", id, "password", goodPassword)
		}
	},
	"an app is begun": func(_ *world, b *browser) func() *reply {
		return func() *reply { return b.form("/signin/security/begin", "password", goodPassword) }
	},
	"an app is confirmed": func(w *world, b *browser) func() *reply {
		shown := b.form("/signin/security/begin", "password", goodPassword).ok(200)
		secret := regexp.MustCompile(`[A-Z2-7]{32}`).FindString(string(shown.body))
		return func() *reply { return b.form("/signin/security/confirm", "code", w.code(secret)) }
	},
	"an app is removed": func(w *world, b *browser) func() *reply {
		secret := b.withApp()
		return func() *reply { return b.form("/signin/security/remove", "code", w.code(secret)) }
	},
	"the password is changed": func(_ *world, b *browser) func() *reply {
		const other = "another horse in the snow"
		return func() *reply {
			return b.form("/signin/password", "present", goodPassword, "password", other, "again", other)
		}
	},
}

// Whoever has somebody's session keeps nothing of it by a request that is on its way when it is taken from them.
func TestNoChangeOfAPersonOutrunsTheEndOfTheirSessions(t *testing.T) {
	w, at := withTrap(t)
	w.person("boss@example.com", auth.Owner)
	n := 0
	for what, prepare := range selfChanges {
		for how, verb := range map[string]string{"all sessions end": "end_sessions", "a new password": "reset_password"} {
			n++
			ann, id := w.person("ann"+string(rune('a'+n))+"@example.com", auth.Clerk)
			send := prepare(w, ann)
			at.set("INTO record_log", func() error {
				w.do("POST", "/v1/users/"+id+"/"+verb, "").ok(200)
				return nil
			})
			r := send()
			if r.status != 401 || !at.sprung() || ann.in() {
				t.Errorf("%s while %s: %d %s", what, how, r.status, r.body)
			}
			if !strings.HasPrefix(r.header.Get("Content-Type"), "text/html") {
				t.Errorf("%s while %s: people are told by %s", what, how, r.body)
			}
		}
	}
}

// A process that has not heard of the end of a session lets it look for four seconds, and change nothing.
func TestAnEndAtAnotherProcessIsNotOutrun(t *testing.T) {
	w := newWorld(t)
	n := 0
	for what, prepare := range selfChanges {
		n++
		ann, id := w.person("ann"+string(rune('a'+n))+"@example.com", auth.Clerk)
		send := prepare(w, ann)
		ann.json("GET", "/v1/account", "").ok(200)
		there := w.browser().elsewhere()
		there.do("POST", "/v1/users/"+id+"/end_sessions", "").ok(200)
		r := send()
		if to := r.header.Get("Location"); r.status != 303 || !strings.HasPrefix(to, "/signin?next=") {
			t.Errorf("%s: %d to %s", what, r.status, to)
		}
		if ann.open(r.header.Get("Location")).status != 200 {
			t.Errorf("%s: the sign-in page sends back", what)
		}
	}

	// Nor does half of a sign-in go on.
	ann, id := w.person("ann@example.com", auth.Clerk)
	app := ann.withApp()
	half := w.browser()
	half.signIn("ann@example.com", goodPassword).ok(303)
	half.open("/signin/factor").ok(200)
	half.elsewhere().do("POST", "/v1/users/"+id+"/end_sessions", "").ok(200)
	half.form("/signin/factor", "code", w.code(app)).ok(303)
	if half.in() {
		t.Error("half of a sign-in goes on after all sessions were ended")
	}
}

// What a person is asked for is theirs to grant only while their session lasts, wherever it was ended.
func TestNoGrantOutrunsTheEndOfTheSessions(t *testing.T) {
	w := newWorld(t)
	c := w.oauthClient(byConsent)
	ann, id := w.person("ann@example.com", auth.Manager)
	shown := ann.open(question(c.id)).ok(200)
	sealed := html.UnescapeString(string(wishInPage.FindSubmatch(shown.body)[1]))
	ann.elsewhere().do("POST", "/v1/users/"+id+"/end_sessions", "").ok(200)
	r := ann.form("/oauth/authorize", "wish", sealed, "answer", "allow")
	to, _ := url.Parse(r.header.Get("Location"))
	if code := to.Query().Get("code"); code != "" {
		given := c.redeem(code)
		w.clock.Add(int64(5 * time.Second))
		if given.status == 200 {
			access, refresh := given.object()["access_token"].(string), given.object()["refresh_token"].(string)
			w.do("GET", "/v1/vehicles", "", "Authorization", "Bearer "+access).problem(401, "unauthorized")
			c.ask("/oauth/token", "grant_type", "refresh_token", "refresh_token", refresh).refusedAs(400, "invalid_grant")
		}
	}
}
