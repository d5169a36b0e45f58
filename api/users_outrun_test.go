package api

import (
	"context"
	"html"
	"net"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/descope/virtualwebauthn"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/schemas/schematest"
)

// trap is a store that does something at the first statement of a kind after it was set, before the statement, and then
// carries it out unless that fails.
type trap struct {
	driver.Conn
	mu   sync.Mutex
	on   string // a text that it has
	then func() error
	all  bool // not the first alone
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
	c.on, c.then = text, then
}

// stay has the trap do the same at each such statement, or at none any more.
func (c *trap) stay(all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all = all; !all {
		c.then = nil
	}
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
	if then == nil || !strings.Contains(statement, c.on) {
		c.mu.Unlock()
		return nil
	}
	if !c.all {
		c.then = nil
	}
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

func (c *trap) QueryRow(ctx context.Context, text string, args ...any) driver.Row {
	if err := c.look(text); err != nil {
		return failedRow{err}
	}
	return c.Conn.QueryRow(ctx, text, args...)
}

// failedRow is what comes of a question that got no answer.
type failedRow struct{ err error }

func (r failedRow) Err() error           { return r.err }
func (r failedRow) Scan(...any) error    { return r.err }
func (r failedRow) ScanStruct(any) error { return r.err }

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

// Codes are shown once, so that they are shown also where nothing else can be done.
func TestRecoveryCodesAreShownThoughNoSessionBegins(t *testing.T) {
	w, at := withTrap(t)
	for _, what := range []string{"a passkey is made", "an app is confirmed"} {
		ann, id := w.person(strings.ReplaceAll(what, " ", "")+"@example.com", auth.Clerk)
		send := selfChanges[what](w, ann)
		at.set("INTO sessions", func() error { return errAway })
		shown := send()
		codes := recoveryCode.FindAllString(string(shown.body), -1)
		if shown.status != 200 || !at.sprung() || len(codes) != 10 || !strings.Contains(string(shown.body), "sign in again") {
			t.Fatalf("%s: %d %s", what, shown.status, shown.body)
		}
		if who := w.do("GET", "/v1/users/"+id, "").ok(200).object(); ann.in() {
			t.Errorf("%s: a session of before goes on: %v", what, who)
		}
		ann.signIn(strings.ReplaceAll(what, " ", "")+"@example.com", goodPassword).ok(303)
		ann.form("/signin/factor", "code", codes[0]).ok(303)
		if !ann.in() {
			t.Errorf("%s: the codes are none", what)
		}
	}
}

// errAway is the answer of a store that is away.
var errAway = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}

// A store that does not answer is no sign-out: whoever comes is asked to try again, and is in when it is back.
func TestAStoreThatIsAwaySignsNobodyOut(t *testing.T) {
	w, at := withTrap(t)
	ann, _ := w.person("ann@example.com", auth.Owner)
	d := w.newDevice(false)
	ann.register(d, "Key").ok(200)
	half := w.browser()
	half.signIn("ann@example.com", goodPassword).ok(303)
	told := half.form(afterPassword + "/options").ok(200)
	options, err := virtualwebauthn.ParseAssertionOptions(string(told.body))
	if err != nil {
		t.Fatal(err)
	}
	d.key.Counter++
	signed := virtualwebauthn.CreateAssertionResponse(d.at, d.made, d.key, *options)
	for path, send := range map[string]func() *reply{
		"the second step":  func() *reply { return half.open("/signin/factor") },
		"a passkey":        func() *reply { return half.form(afterPassword, "credential", signed) },
		"security":         func() *reply { return ann.open("/signin/security") },
		"the password":     func() *reply { return ann.open("/signin/password") },
		"the sign-in page": func() *reply { return ann.open("/signin") },
		"an invitation":    func() *reply { return ann.open("/signin/invitation?token=1.1.x") },
		"a link":           func() *reply { return ann.open("/signin/link?token=" + strings.Repeat("x", 43)) },
		"signing out":      func() *reply { return ann.form("/signout") },
		"a consent":        func() *reply { return ann.open(question("ocl_1")) },
	} {
		w.clock.Add(int64(5 * time.Second)) // what was looked up is believed no more
		at.stay(true)
		at.set("", func() error { return errAway })
		r := send()
		at.stay(false)
		if r.status != 503 || !strings.HasPrefix(r.header.Get("Content-Type"), "text/html") ||
			r.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %v", path, r.status, r.header)
		}
	}
	half.form(afterPassword, "credential", signed).ok(303)
	if !ann.in() || !half.in() {
		t.Error("somebody is signed out")
	}

	// So it is where the store goes away between two looks at one session.
	half = w.browser()
	half.signIn("ann@example.com", goodPassword).ok(303)
	signed = half.assertion(d, afterPassword)
	w.clock.Add(int64(5 * time.Second))
	at.set("FROM record_log", func() error {
		w.clock.Add(int64(5 * time.Second))
		at.set("FROM sessions", func() error { return errAway })
		return nil
	})
	if r := half.form(afterPassword, "credential", signed); r.status != 303 && r.status != 503 {
		t.Errorf("a passkey after the password: %d %s", r.status, r.body)
	}
}
