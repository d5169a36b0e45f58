package api

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
)

// device is an authenticator with one passkey, at a browser that is on a page of the server.
type device struct {
	at   virtualwebauthn.RelyingParty
	made virtualwebauthn.Authenticator
	key  virtualwebauthn.Credential
}

// newDevice is one that looks at who holds it, unless it is said to be blind.
func (w *world) newDevice(blind bool) *device {
	w.t.Helper()
	at, err := url.Parse(w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	return &device{at: virtualwebauthn.RelyingParty{ID: "localhost", Origin: "http://localhost:" + at.Port()},
		made: virtualwebauthn.NewAuthenticatorWithOptions(virtualwebauthn.AuthenticatorOptions{UserNotVerified: blind}),
		key:  newPasskey()}
}

// newPasskey is a key whose coordinates have all their bytes: the library leaves noughts at their beginning out, which
// no authenticator does, and of which the server takes none.
func newPasskey() virtualwebauthn.Credential {
	const whole = 77 // bytes of the public key as it is sent
	for {
		if made := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2); len(made.Key.AttestationData()) == whole {
			return made
		}
	}
}

// creation is what a device makes of the options that the server has for who is signed in.
func (b *browser) creation(d *device) (made string) {
	b.t.Helper()
	told := b.form("/signin/security/passkeys/options", "password", goodPassword).ok(200)
	options, err := virtualwebauthn.ParseAttestationOptions(string(told.body))
	if err != nil {
		b.t.Fatal(err)
	}
	d.made.Options.UserHandle = []byte(options.UserID)
	return virtualwebauthn.CreateAttestationResponse(d.at, d.made, d.key, *options)
}

func (b *browser) register(d *device, name string) *reply {
	b.t.Helper()
	return b.form("/signin/security/passkeys", "credential", b.creation(d), "name", name)
}

// assertion is what a device signs of the options that the server has at a path.
func (b *browser) assertion(d *device, path string) string {
	b.t.Helper()
	told := b.form(path + "/options").ok(200)
	options, err := virtualwebauthn.ParseAssertionOptions(string(told.body))
	if err != nil {
		b.t.Fatal(err)
	}
	d.key.Counter++
	return virtualwebauthn.CreateAssertionResponse(d.at, d.made, d.key, *options)
}

const byPasskey, afterPassword = "/signin/passkey", "/signin/factor/passkey"

// use gives what a device signs.
func (b *browser) use(d *device, path string, fields ...string) *reply {
	b.t.Helper()
	return b.form(path, append(fields, "credential", b.assertion(d, path))...)
}

func (b *browser) in() bool { b.t.Helper(); return b.json("GET", "/v1/account", "").status == 200 }

var recoveryCode = regexp.MustCompile(`[A-Z2-7]{5}-[A-Z2-7]{5}`)

func TestAPersonSignsInByAPasskeyAlone(t *testing.T) {
	w := newWorld(t)
	ann, id := w.person("ann@example.com", auth.Clerk)
	path := "/v1/users/" + id
	elsewhere := w.browser()
	elsewhere.signIn("ann@example.com", goodPassword).ok(303)
	was := ann.cookie()
	d := w.newDevice(false)
	shown := ann.register(d, "  My\ttelephone <b> ").ok(200)
	if n := len(recoveryCode.FindAll(shown.body, -1)); n != 10 || ann.cookie() == was || elsewhere.in() || !ann.in() {
		t.Errorf("%d recovery codes; a session of less lives on, or this one keeps its cookie", n)
	}
	if !strings.Contains(string(shown.body), "My telephone &lt;b&gt;") {
		t.Errorf("the page lists %s", shown.body)
	}
	keys := ann.json("GET", path+"/passkeys", "").data()
	if len(keys) != 1 || keys[0]["name"] != "My telephone <b>" || keys[0]["last_used_at"] != nil ||
		keys[0]["user_id"] != id || !strings.HasPrefix(keys[0]["id"].(string), "pky_") {
		t.Fatalf("passkeys %v", keys)
	}

	phone := w.browser()
	wantEqual(t, "on to", phone.use(d, byPasskey, "next", "/oauth/authorize?x=1").ok(303).header.Get("Location"),
		"/oauth/authorize?x=1")
	wantEqual(t, "who", phone.json("GET", "/v1/account", "").ok(200).object()["user_id"], any(id))
	phone.json("POST", "/v1/customers", `{"first_name":"X"}`).ok(201)
	for _, next := range []string{"//evil.example", "https://evil.example"} {
		wantEqual(t, next, w.browser().use(d, byPasskey, "next", next).ok(303).header.Get("Location"), "/signin")
	}
	one := path + "/passkeys/" + keys[0]["id"].(string)
	renamed := phone.json("PATCH", one, `{"name":"Old telephone"}`).ok(200).object()
	if renamed["name"] != "Old telephone" || renamed["last_used_at"] == nil {
		t.Errorf("renamed %v", renamed)
	}
	phone.json("PATCH", one, `{"name":""}`).problem(422, "validation_failed")
	if who := w.do("GET", path, "").ok(200).object(); who["passkeys"] != 1.0 || who["signed_in_at"] == nil {
		t.Errorf("the person is %v", who)
	}
	told := string(w.do("GET", path+"/history", "").ok(200).body) + w.log.String()
	if strings.Contains(told, credentialIDOf(d)) || strings.Contains(told, "credential_id") {
		t.Error("history or log tell of the key")
	}

	// Twenty are all that a person has.
	for range 19 {
		phone.register(w.newDevice(false), "Another").ok(200)
	}
	phone.form("/signin/security/passkeys/options", "password", goodPassword).problem(403, "insufficient_scope")
	if all := phone.json("GET", path+"/passkeys?per_page=15", ""); len(all.data()) != 15 {
		t.Errorf("%d on the first page", len(all.data()))
	}
	wantEqual(t, "on the second page", len(phone.json("GET", path+"/passkeys?per_page=15&page=2", "").data()), 5)
}

func credentialIDOf(d *device) string { return base64.RawURLEncoding.EncodeToString(d.key.ID) }

func TestAPasskeyIsASecondStep(t *testing.T) {
	w := newWorld(t)
	ann, id := w.person("ann@example.com", auth.Clerk)
	d := w.newDevice(true) // as keys without a PIN are
	codes := recoveryCode.FindAllString(string(ann.register(d, "Key").ok(200).body), -1)
	half := func() *browser {
		b := w.browser()
		wantEqual(t, "the password leads to", b.signIn("ann@example.com", goodPassword).ok(303).header.Get("Location"),
			"/signin/factor")
		if b.in() {
			t.Error("the password alone lets in")
		}
		return b
	}
	b := half()
	if page := string(b.open("/signin/factor").ok(200).body); !strings.Contains(page, afterPassword) ||
		strings.Contains(page, "your app") {
		t.Errorf("the page asks for %s", page)
	}
	b.form("/signin/factor", "code", "123456").ok(401)
	b.form("/signin/factor", "code", "").ok(401)
	b.use(d, afterPassword, "next", "/x").ok(303)
	if !b.in() {
		t.Error("a passkey after the password does not let in")
	}
	// It looked at nobody when it was made: whoever finds it and sets a PIN comes in by it alone no more than before.
	w.browser().use(d, byPasskey).ok(401)
	d.made.Options.UserNotVerified = false
	w.browser().use(d, byPasskey).ok(401)
	// After the password it may begin to.
	c := half()
	c.use(d, afterPassword).ok(303)
	w.browser().use(d, byPasskey).ok(303)

	// Without it, a recovery code, once; which leads to the page on which it is removed.
	lost := half()
	lost.form("/signin/factor", "code", codes[0]).ok(303)
	half().form("/signin/factor", "code", codes[0]).ok(401)
	key := lost.json("GET", "/v1/users/"+id+"/passkeys", "").data()[0]["id"].(string)
	remove := func(b *browser, password string) *reply {
		return b.form("/signin/security/passkeys/remove", "id", key, "password", password)
	}
	remove(lost, "wrong wrong wrong").ok(403)
	w.clock.Add(int64(11 * time.Minute))
	remove(lost, goodPassword).ok(403) // the second step is long ago
	lost.form("/signin/security/passkeys/options", "password", goodPassword).problem(403, "insufficient_scope")
	fresh := half()
	fresh.form("/signin/factor", "code", codes[1]).ok(303)
	remove(fresh, goodPassword).ok(200)
	if lost.in() || !fresh.in() {
		t.Error("sessions of a lost passkey live on, or this one does not")
	}
	wantEqual(t, "without a second factor", w.browser().signIn("ann@example.com", goodPassword).ok(303).
		header.Get("Location"), "/signin")
	w.browser().use(d, byPasskey).ok(401)
	wantEqual(t, "a recovery code of before", len(recoveryCode.FindAll(fresh.register(d, "Key").ok(200).body, -1)), 10)

	// Beside an app either is enough, and recovery codes stay until the last of them is gone.
	app := fresh.withApp()
	e := half()
	e.use(d, afterPassword).ok(303)
	half().form("/signin/factor", "code", w.code(app)).ok(303)
	w.clock.Add(int64(time.Minute))
	f := half()
	f.form("/signin/factor", "code", w.code(app)).ok(303)
	w.clock.Add(int64(time.Minute))
	kept := string(f.form("/signin/security/remove", "code", w.code(app)).ok(200).body)
	if !strings.Contains(kept, "10 recovery codes left") {
		t.Errorf("with a passkey left the page says %s", kept)
	}
	half()
	w.do("POST", "/v1/users/"+id+"/reset_factors", "").ok(200)
	wantEqual(t, "after the reset", w.browser().signIn("ann@example.com", goodPassword).ok(303).header.Get("Location"),
		"/signin")
	w.browser().use(d, byPasskey).ok(401)
}

// signed changes what a device signed.
func signed(t *testing.T, text string, change func(response map[string]any)) string {
	t.Helper()
	var whole map[string]any
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		t.Fatal(err)
	}
	change(whole["response"].(map[string]any))
	changed, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	return string(changed)
}

func TestWhatAPasskeyDidNotSignForThisIsRefused(t *testing.T) {
	w := newWorld(t)
	ann, id := w.person("ann@example.com", auth.Clerk)
	bob, _ := w.person("bob@example.com", auth.Clerk)
	d, other := w.newDevice(false), w.newDevice(false)
	ann.register(d, "Ann's").ok(200)
	bob.register(other, "Bob's").ok(200)
	first := w.key
	stranger := w.newAccount("Second")
	w.key = w.newKey(stranger, auth.Admin)
	eve, _ := w.person("eve@example.com", auth.Owner)
	third := w.newDevice(false)
	eve.register(third, "Eve's").ok(200)
	w.key = first
	handle := func(of *device) string { return base64.RawURLEncoding.EncodeToString(of.made.Options.UserHandle) }
	asOf := func(whose *device) func(string) string {
		return func(text string) string {
			return signed(t, text, func(r map[string]any) { r["userHandle"] = handle(whose) })
		}
	}
	same := func(text string) string { return text }
	having := func(member, has string) func(string) string {
		return func(text string) string {
			return signed(t, text, func(r map[string]any) {
				if r[member] = has; has == "" {
					delete(r, member)
				}
			})
		}
	}

	for what, attack := range map[string]struct {
		with func(d *device)
		then func(string) string
		sent func(b *browser, made string) *reply
	}{
		"nothing wrong":  {},
		"another origin": {with: func(d *device) { d.at.Origin = "https://evil.example" }},
		"another port":   {with: func(d *device) { d.at.Origin = "http://localhost:1" }},
		"another scheme": {with: func(d *device) {
			d.at.Origin = strings.Replace(d.at.Origin, "http:", "https:", 1)
		}},
		"another name of the server": {with: func(d *device) { d.at.ID = "example.com" }},
		"nobody verified":            {with: func(d *device) { d.made.Options.UserNotVerified = true }},
		"nobody present":             {with: func(d *device) { d.made.Options.UserNotPresent = true }},
		"another key under its id": {with: func(d *device) {
			d.key.Key = virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2).Key
		}},
		"another id under its key": {with: func(d *device) { d.key.ID = other.key.ID }},
		"a count that went back":   {with: func(d *device) { d.key.Counter = 1 }},
		"the same count":           {with: func(d *device) { d.key.Counter-- }},
		"the handle of another":    {then: asOf(other)},
		"one of another account":   {then: asOf(third)},
		"the handle of nobody":     {then: having("userHandle", "AAAA")},
		"an account of nobody":     {then: handleOf(t, 1<<40, 1<<41)},
		"no handle":                {then: having("userHandle", "")},
		"no signature":             {then: having("signature", "")},
		"the data of a registration": {then: func(s string) string {
			return signed(t, s, func(r map[string]any) {
				raw, _ := base64.RawURLEncoding.DecodeString(r["clientDataJSON"].(string))
				r["clientDataJSON"] = base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(raw), "webauthn.get",
					"webauthn.create", 1)))
			})
		}},
		"garbage":          {then: func(string) string { return "{" }},
		"nothing":          {then: func(string) string { return "" }},
		"garbage for data": {then: having("authenticatorData", "_____w")},
		"at another browser": {sent: func(_ *browser, made string) *reply {
			return w.browser().form(byPasskey, "credential", made)
		}},
		"at another browser, which asked too": {sent: func(_ *browser, made string) *reply {
			b := w.browser()
			b.form(byPasskey + "/options").ok(200)
			return b.form(byPasskey, "credential", made)
		}},
		"after the password": {sent: func(_ *browser, made string) *reply {
			b := w.browser()
			b.signIn("ann@example.com", goodPassword).ok(303)
			return b.form(afterPassword, "credential", made)
		}},
		"five minutes late": {sent: func(b *browser, made string) *reply {
			w.clock.Add(int64(5 * time.Minute))
			return b.form(byPasskey, "credential", made)
		}},
		"from another site": {sent: func(b *browser, made string) *reply {
			b.from = "cross-site"
			defer func() { b.from = "same-origin" }()
			b.form(byPasskey + "/options").ok(403)
			r := b.form(byPasskey, "credential", made).ok(403)
			r.status = 401
			return r
		}},
	} {
		b := w.browser()
		bad := *d
		d.key.Counter += 2
		bad.key.Counter = d.key.Counter
		told := b.form(byPasskey + "/options").ok(200)
		options, err := virtualwebauthn.ParseAssertionOptions(string(told.body))
		if err != nil {
			t.Fatal(err)
		}
		good := *d
		w.browser().use(&good, byPasskey).ok(303)
		bad.key.Counter = good.key.Counter + 1
		if attack.with != nil {
			attack.with(&bad)
		}
		d.key.Counter = good.key.Counter + 1
		then := same
		if attack.then != nil {
			then = attack.then
		}
		made := then(virtualwebauthn.CreateAssertionResponse(bad.at, bad.made, bad.key, *options))
		send := func(b *browser, made string) *reply { return b.form(byPasskey, "credential", made) }
		if attack.sent != nil {
			send = attack.sent
		}
		want := 401
		if what == "nothing wrong" {
			want = 303
		}
		if r := send(b, made); r.status != want || b.in() != (want == 303) {
			t.Errorf("%s: answers %d, and the browser is in: %v\n%s", what, r.status, b.in(), r.body)
		}
		w.clock.Add(int64(time.Minute)) // so that who fails so often may go on
	}

	b := w.browser()
	made := b.assertion(d, byPasskey)
	b.form(byPasskey, "credential", made).ok(303)
	b.form(byPasskey, "credential", made).ok(401)

	// What was not taken is in the audit of whose passkey it is, and nobody else's.
	w.api.Close(t.Context())
	refused := w.do("GET", "/v1/credential_audit?per_page=100&act=refused&credential_id="+id, "")
	reasons := map[any]bool{}
	for _, act := range refused.data() {
		if act["kind"] == "passkey" {
			reasons[act["reason"]] = true
		}
	}
	for _, reason := range []string{"passkey_copied", "passkey_unverified", "wrong_passkey"} {
		if !reasons[reason] {
			t.Errorf("the audit has no refusal %q: %v", reason, reasons)
		}
	}
}

// handleOf puts the handle of a person in the place of that which a device sent.
func handleOf(t *testing.T, account, user uint64) func(string) string {
	raw := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, account), user)
	return func(text string) string {
		return signed(t, text, func(r map[string]any) { r["userHandle"] = base64.RawURLEncoding.EncodeToString(raw) })
	}
}

func TestWhatNobodyAskedForIsNotRegistered(t *testing.T) {
	w := newWorld(t)
	ann, id := w.person("ann@example.com", auth.Clerk)
	bob, _ := w.person("bob@example.com", auth.Clerk)
	taken := w.newDevice(false)
	bob.register(taken, "Bob's").ok(200)
	for _, password := range []string{"", "wrong wrong wrong"} { // whoever has a browser for a minute
		ann.form("/signin/security/passkeys/options", "password", password).problem(403, "insufficient_scope")
	}
	out := w.browser()
	wantEqual(t, "nobody is sent to", out.form("/signin/security/passkeys/options", "password", goodPassword).ok(303).
		header.Get("Location"), "/signin?next=%2Fsignin%2Fsecurity%2Fpasskeys%2Foptions")
	object := func(change func([]byte) []byte) func(string) string {
		return func(text string) string {
			return signed(t, text, func(r map[string]any) {
				raw, err := base64.RawURLEncoding.DecodeString(r["attestationObject"].(string))
				if err != nil {
					t.Fatal(err)
				}
				r["attestationObject"] = base64.RawURLEncoding.EncodeToString(change(raw))
			})
		}
	}
	for what, attack := range map[string]struct {
		with   func(d *device)
		then   func(string) string
		sent   func(made string) *reply
		status int
	}{
		"another origin":             {with: func(d *device) { d.at.Origin = "https://evil.example" }},
		"another name of the server": {with: func(d *device) { d.at.ID = "example.com" }},
		"nobody present":             {with: func(d *device) { d.made.Options.UserNotPresent = true }},
		"the id of somebody else's":  {with: func(d *device) { d.key.ID = taken.key.ID }},
		"an empty id":                {with: func(d *device) { d.key.ID = nil }},
		"a longer id than there are": {with: func(d *device) { d.key.ID = make([]byte, 1024) }},
		"garbage":                    {then: func(string) string { return "[]" }},
		"an object cut short":        {then: object(func(raw []byte) []byte { return raw[:len(raw)/2] })},
		"an empty object":            {then: object(func([]byte) []byte { return nil })},
		"a map of 2^32 entries":      {then: object(func([]byte) []byte { return []byte{0xba, 0xff, 0xff, 0xff, 0xff} })},
		"a text of 2^63 bytes": {then: object(func([]byte) []byte {
			return []byte{0x7b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
		})},
		"lists in lists": {then: object(func([]byte) []byte {
			return []byte(strings.Repeat("\x81", 20_000))
		})},
		"more after the object":          {then: object(func(raw []byte) []byte { return append(raw, 0) })},
		"a text in the place of the map": {then: object(func([]byte) []byte { return []byte("\x63fmt") })},
		"ten thousand noughts":           {then: object(func([]byte) []byte { return make([]byte, 10_000) })},
		"more than a form may be":        {status: 400, then: object(func([]byte) []byte { return make([]byte, 100_000) })},
		"five minutes late": {sent: func(made string) *reply {
			w.clock.Add(int64(5 * time.Minute))
			return ann.form("/signin/security/passkeys", "credential", made)
		}},
		"by somebody else": {sent: func(made string) *reply {
			return bob.form("/signin/security/passkeys", "credential", made)
		}},
		"in another session of theirs": {sent: func(made string) *reply {
			b := w.browser()
			b.signIn("ann@example.com", goodPassword).ok(303)
			return b.form("/signin/security/passkeys", "credential", made)
		}},
		"from another site": {status: 403, sent: func(made string) *reply {
			ann.from = "cross-site"
			defer func() { ann.from = "same-origin" }()
			ann.form("/signin/security/passkeys/options", "password", goodPassword).ok(403)
			ann.form("/signin/security/passkeys/remove", "password", goodPassword).ok(403)
			return ann.form("/signin/security/passkeys", "credential", made)
		}},
	} {
		d := w.newDevice(false)
		told := ann.form("/signin/security/passkeys/options", "password", goodPassword).ok(200)
		options, err := virtualwebauthn.ParseAttestationOptions(string(told.body))
		if err != nil {
			t.Fatal(err)
		}
		if attack.with != nil {
			attack.with(d)
		}
		made := virtualwebauthn.CreateAttestationResponse(d.at, d.made, d.key, *options)
		if attack.then != nil {
			made = attack.then(made)
		}
		send := func(made string) *reply {
			return ann.form("/signin/security/passkeys", "credential", made, "name", "X")
		}
		if attack.sent != nil {
			send = attack.sent
		}
		if attack.status == 0 {
			attack.status = 422
		}
		if r := send(made); r.status != attack.status {
			t.Errorf("%s: answers %d: %s", what, r.status, r.body)
		}
		if n := len(w.do("GET", "/v1/users/"+id+"/passkeys", "").ok(200).data()); n != 0 {
			t.Fatalf("%s: registered %d", what, n)
		}
	}
	wantEqual(t, "Bob's", len(bob.json("GET", "/v1/users/"+w.userOf(bob)+"/passkeys", "").data()), 1)

	// An answer is used by the first who gives it, whatever comes of it.
	d := w.newDevice(false)
	made := ann.creation(d)
	ann.form("/signin/security/passkeys", "credential", made).ok(200)
	ann.form("/signin/security/passkeys", "credential", made).ok(422)
	again := ann.creation(d) // an authenticator that does not look at what there is
	ann.form("/signin/security/passkeys", "credential", again).ok(422)
	wantEqual(t, "Ann's", len(ann.json("GET", "/v1/users/"+id+"/passkeys", "").data()), 1)
}

// userOf is who is signed in.
func (w *world) userOf(b *browser) string {
	w.t.Helper()
	return b.json("GET", "/v1/account", "").ok(200).object()["user_id"].(string)
}

func TestPasskeysAreManagedByWhoMay(t *testing.T) {
	w := newWorld(t)
	ann, annID := w.person("ann@example.com", auth.Owner)
	bob, bobID := w.person("bob@example.com", auth.Clerk)
	annKey, bobKey := w.newDevice(false), w.newDevice(false)
	ann.register(annKey, "Ann's").ok(200)
	bob.register(bobKey, "Bob's").ok(200)
	of := func(id string) string {
		list := "/v1/users/" + id + "/passkeys"
		return list + "/" + w.do("GET", list, "").data()[0]["id"].(string)
	}
	anns, bobs := of(annID), of(bobID)
	bob.json("GET", "/v1/users/"+annID+"/passkeys", "").problem(403, "insufficient_scope")
	for _, call := range [][2]string{{"PATCH", `{"name":"X"}`}, {"DELETE", ""}} {
		bob.json(call[0], anns, call[1]).problem(403, "insufficient_scope")
		w.do(call[0], "/v1/users/"+annID+"/passkeys/pky_1", call[1]).problem(404, "not_found")
		w.do(call[0], "/v1/users/"+annID+"/passkeys/x", call[1]).problem(404, "not_found")
		w.do(call[0], strings.Replace(bobs, bobID, annID, 1), call[1]).problem(404, "not_found")
	}
	for _, b := range []*browser{ann, bob} { // by a session nobody removes their own, whatever they may do
		p := b.json("DELETE", map[*browser]string{ann: anns, bob: bobs}[b], "").problem(403, "insufficient_scope")
		if !strings.Contains(p.Detail, "/signin/security") {
			t.Errorf("it does not say how: %s", p.Detail)
		}
	}
	admin := w.key
	w.key = w.newKey(w.account, append(auth.Clerk.Scopes(), auth.UsersManage)...) // may do less than an owner
	w.do("DELETE", anns, "").problem(403, "insufficient_scope")
	w.do("PATCH", anns, `{"name":"X"}`).problem(403, "insufficient_scope")
	w.do("GET", "/v1/users/"+annID+"/passkeys", "").ok(200)
	w.do("PATCH", bobs, `{"name":"Bob's key"}`).ok(200)
	w.key = w.newKey(w.newAccount("Second"), auth.Admin)
	for _, call := range [][3]string{{"GET", "/v1/users/" + annID + "/passkeys"}, {"PATCH", anns, `{"name":"X"}`},
		{"DELETE", anns}} {
		w.do(call[0], call[1], call[2]).problem(404, "not_found")
	}
	w.key = admin
	ann.json("DELETE", bobs, "").ok(204)
	if bob.in() {
		t.Error("the session of a removed passkey lives on")
	}
	w.browser().use(bobKey, byPasskey).ok(401)
	bob.signIn("bob@example.com", goodPassword).ok(303)
	bob.register(bobKey, "Again").ok(200) // the id is free again

	// Who is disabled or removed comes in by none of theirs.
	w.browser().use(bobKey, byPasskey).ok(303)
	w.do("POST", "/v1/users/"+bobID+"/disable", "").ok(200)
	w.browser().use(bobKey, byPasskey).ok(401)
	w.do("POST", "/v1/users/"+bobID+"/enable", "").ok(200)
	w.browser().use(bobKey, byPasskey).ok(303)
	w.do("DELETE", "/v1/users/"+bobID, "").ok(204)
	w.browser().use(bobKey, byPasskey).ok(401)

	// Without a password the passkey is what the last owner signs in with.
	w.do("POST", "/v1/users/"+annID+"/reset_password", "").ok(200)
	in := w.browser()
	in.use(annKey, byPasskey).ok(303)
	in.form("/signin/security/passkeys/options", "password", "").problem(403, "insufficient_scope")
	in.form("/signin/security/passkeys/remove", "password", "", "id", anns[strings.LastIndex(anns, "/")+1:]).ok(403)
	w.do("DELETE", anns, "").problem(409, "conflict")
	w.do("POST", "/v1/users/"+annID+"/reset_factors", "").problem(409, "conflict")
	w.person("cat@example.com", auth.Owner)
	w.do("DELETE", anns, "").ok(204)
	wantEqual(t, "without anything", w.do("GET", "/v1/users/"+annID, "").object()["status"], any("invited"))
}

// Of all who give what a device signed, at the same time and at any process, one is let in.
func TestWhatAPasskeySignedIsTakenOnce(t *testing.T) {
	w := newWorld(t, func(_ *rest.Config, d *Deps) {
		d.Users.PublicURL = strings.Replace(d.OAuth.Issuer, "127.0.0.1", "localhost", 1)
	})
	ann, _ := w.person("ann@example.com", auth.Clerk)
	d := w.newDevice(false)
	ann.register(d, "Ann's").ok(200)
	here := w.browser()
	there := here.elsewhere()
	for range 3 {
		made := here.assertion(d, byPasskey)
		statuses, lock := map[int]int{}, sync.Mutex{}
		var all sync.WaitGroup
		for i := range 6 {
			at := []*browser{here, there}[i%2]
			cookie := here.cookieNamed("motorpool_passkey")
			all.Go(func() {
				// Without the jar, so that the sessions of the others are not this one's.
				b := &browser{world: at.world, from: at.from, client: w.browser().client}
				r := b.send("POST", byPasskey, url.Values{"credential": {made}}.Encode(), "application/x-www-form-urlencoded",
					"Cookie", "motorpool_passkey="+cookie)
				lock.Lock()
				defer lock.Unlock()
				statuses[r.status]++
			})
		}
		all.Wait()
		wantEqual(t, "one answer six times", statuses, map[int]int{303: 1, 401: 5})
		w.clock.Add(int64(5 * time.Minute))
	}
}

// cookieNamed is the value of a cookie of the browser.
func (b *browser) cookieNamed(name string) string {
	at, _ := url.Parse(b.url)
	for _, c := range b.client.Jar.Cookies(at) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

func TestPasskeysAreOfTheAddressThatTheServerWasGiven(t *testing.T) {
	for address, want := range map[string]string{"https://fleet.example.com": "fleet.example.com", "": "localhost",
		"https://192.0.2.1": ""} {
		w := newWorld(t, func(_ *rest.Config, d *Deps) { d.Users.PublicURL = address })
		for _, host := range []string{"evil.example", "localhost", "localhost:1"} {
			r := w.plain("POST", byPasskey+"/options", host, "Sec-Fetch-Site", "same-origin")
			if want == "" {
				r.problem(404, "not_found")
				continue
			}
			told := r.ok(200).object()["publicKey"].(map[string]any)
			if told["rpId"] != want || told["userVerification"] != "required" || told["allowCredentials"] != nil {
				t.Errorf("%q as %s: %v", address, host, told)
			}
		}
		if address == "" { // by a proxy that nobody named there is no name to go by
			w.plain("POST", byPasskey+"/options", "localhost", "Sec-Fetch-Site", "same-origin", "X-Forwarded-For", "192.0.2.1").
				problem(404, "not_found")
		}
	}
}
