package user

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/page"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/user/password"
)

// passkeyScript is where the script of passkeys is served.
const passkeyScript = "/ui/passkeys.js"

//go:embed script/passkeys.js
var passkeyScriptFile []byte

// Paths of passkeys. Each has another one with passkeyOptions after it, at which its challenge is had.
const (
	passkeySignInPath = "/signin/passkey"
	passkeyFactorPath = "/signin/factor/passkey"
	passkeysPath      = "/signin/security/passkeys"
	passkeyOptions    = "/options"
)

func (a *API) passkeyPages() {
	a.Page(http.MethodGet, passkeyScript, func(w http.ResponseWriter, _ *http.Request) error {
		return page.File(w, "text/javascript; charset=utf-8", passkeyScriptFile)
	})
	a.Page(http.MethodPost, passkeySignInPath, page.KeepOpener(a.form(a.passkeySignIn)))
	a.Page(http.MethodPost, passkeyFactorPath, page.KeepOpener(a.form(a.passkeyFactor)))
	a.Page(http.MethodPost, passkeysPath, a.form(a.registerPasskey))
	a.Page(http.MethodPost, passkeysPath+"/remove", a.form(a.removePasskey))
	for path, h := range map[string]func(http.ResponseWriter, *http.Request, *webauthn.WebAuthn) error{
		passkeySignInPath: a.passkeySignInOptions, passkeyFactorPath: a.passkeyFactorOptions, passkeysPath: a.registerOptions,
	} {
		a.Server.Page(http.MethodPost, path+passkeyOptions, a.form(a.toScript(h)))
	}
}

// passkeyForm is a form that the script shows where there are passkeys: its path and its button.
func passkeyForm(path, button, attributes, fields string) string {
	return `<form method="post" action="` + path + `" data-options="` + path + passkeyOptions + `" ` + attributes + `
hidden>
<p class="bad" role="alert" hidden></p>
<input type="hidden" name="credential">
` + fields + `<button class="quiet">` + button + `</button>
</form>
`
}

// passkeysBody is the part of the page of security that is about passkeys.
var passkeysBody = `<h2>Passkeys</h2>
<p>A passkey is kept by a device or a password manager, and signs you in without your password.</p>
{{with .Passkeys}}<ul class="rows">{{range .}}<li><strong>{{.Name}}</strong>
<p class="soft">Since {{.Since}}. {{if .Used}}Last used {{.Used}}.{{else}}Never used.{{end}}</p>
{{if $.Password}}<details><summary>Remove {{.Name}}</summary>
<form method="post" action="/signin/security/passkeys/remove">
<input type="hidden" name="id" value="{{.ID}}">
<label>Your password<input type="password" name="password" autocomplete="current-password" required></label>
<button class="quiet">Remove it, and sign out everywhere else</button>
</form></details>{{end}}</li>
{{end}}</ul>{{end}}
{{if .Password}}` + passkeyForm(passkeysPath, "Make a passkey", `data-passkey="create"`,
	`<label>What you call it<input name="name" autocomplete="off" maxlength="60" placeholder="My telephone" required></label>
<label>Your password<input type="password" name="password" autocomplete="current-password" required></label>
`) + `<noscript><p class="soft">Passkeys take a browser that runs scripts.</p></noscript>
{{else}}<p class="soft">` + noPassword + `</p>
{{end}}`

// passkeyRow is a passkey as the page lists it.
type passkeyRow struct{ ID, Name, Since, Used string }

func passkeyRows(b *record.User) []passkeyRow {
	rows := make([]passkeyRow, len(b.Passkeys))
	for i, p := range b.Passkeys {
		rows[i] = passkeyRow{ID: p.ID, Name: p.Name, Since: p.AddedAt.Format("2 January 2006")}
		if !p.LastUsedAt.IsZero() {
			rows[i].Used = p.LastUsedAt.Format("2 January 2006")
		}
	}
	return rows
}

const nextField = `<input type="hidden" name="next" value="{{.Next}}">
`

// toScript is what a script asks: it is answered by tell, or by a problem document.
func (a *API) toScript(h func(http.ResponseWriter, *http.Request, *webauthn.WebAuthn) error) func(
	http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		rp := a.relyingParty(r)
		if rp == nil {
			return fleet.NewError(fleet.CodeNotFound, "There are no passkeys here: the operator says with --public-url at "+
				"which https:// address people reach this server.")
		}
		err := h(w, r, rp)
		if errors.Is(err, password.ErrBusy) {
			w.Header().Set("Retry-After", "5")
			return fleet.NewError(fleet.CodeUnavailable, busyFault)
		}
		return err
	}
}

// tell answers a script with the options of a challenge, which is kept for who asked.
func (a *API) tell(w http.ResponseWriter, r *http.Request, what, by string, options any,
	data *webauthn.SessionData) error {
	if err := a.pose(r.Context(), what, by, data); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(options)
}

// errWaitHere is waitFault to a script.
var errWaitHere = fleet.NewError(fleet.CodeRateLimited, waitFault)

// browserOf is what the challenges are kept by of a browser at which nobody is signed in; "" if it has none.
func (a *API) browserOf(r *http.Request) string {
	cookie, err := r.Cookie(a.passkeyCookie(r))
	if err != nil || len(cookie.Value) != 43 {
		return ""
	}
	return auth.Hash(cookie.Value)
}

func (a *API) passkeyCookie(r *http.Request) string {
	if a.secure(r) {
		return "__Host-motorpool_passkey"
	}
	return "motorpool_passkey"
}

// mayAsk says whether somebody may have another challenge. All of whom nothing is known share a number of them: each is
// a row, and there are many networks. Whoever gave a password is kept out by none of these.
func (a *API) mayAsk(w http.ResponseWriter, r *http.Request, stranger bool) bool {
	network := a.network(r)
	ok := a.challenges.Take(network)
	if ok && stranger && !a.allChallenges.Take("") {
		a.challenges.Give(network)
		ok = false
	}
	if !ok {
		w.Header().Set("Retry-After", "300")
	}
	return ok
}

func (a *API) passkeySignInOptions(w http.ResponseWriter, r *http.Request, rp *webauthn.WebAuthn) error {
	if !a.mayAsk(w, r, true) {
		return errWaitHere
	}
	by := a.browserOf(r)
	if by == "" {
		text := secret()
		http.SetCookie(w, &http.Cookie{Name: a.passkeyCookie(r), Value: text, Path: "/", HttpOnly: true, Secure: a.secure(r),
			SameSite: http.SameSiteStrictMode})
		by = auth.Hash(text)
	}
	// Whose passkeys there are is told to nobody: authenticators find those of this server themselves.
	options, data, err := rp.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return fmt.Errorf("begin a sign-in by passkey: %w", err)
	}
	return a.tell(w, r, toSignIn, by, options, data)
}

// passkeySignIn signs somebody in by a passkey alone.
func (a *API) passkeySignIn(w http.ResponseWriter, r *http.Request) error {
	if ok, err := a.safe(w, r); !ok {
		return err
	}
	view := signInView{Next: page.Local(r.PostForm.Get("next"))}
	sent, err := protocol.ParseCredentialRequestResponseBytes([]byte(r.PostForm.Get("credential")))
	if err != nil {
		sent = nil
	}
	at, err := a.doorsOf(r, sent)
	if err != nil {
		return err
	}
	if !a.open(at) {
		w.Header().Set("Retry-After", "300")
		view.Fault = waitFault
		return a.askAgain(w, r, http.StatusTooManyRequests, view)
	}
	rec, err := a.passkeyEnters(w, r, sent, view.Next)
	why, refused := errors.AsType[*notTaken](err)
	if !refused {
		a.passed(at)
		return err
	}
	if rec != nil {
		a.notePasskeyRefused(r, rec, err)
	}
	view.Fault = why.fault
	return a.askAgain(w, r, http.StatusUnauthorized, view)
}

// doorsOf are those of who presents a passkey: of their network; or of their browser, if the person whose it says it is
// has signed in there before. Whose it is is looked up only for browsers that show the cookie of anybody, and no more
// often of a network than cookies of sessions are that are none.
func (a *API) doorsOf(r *http.Request, sent *protocol.ParsedCredentialAssertionData) (doors, error) {
	d := doors{network: a.network(r)}
	if sent == nil || !hasDevice(r) || !a.strangers.Open(d.network) {
		return d, nil
	}
	account, id := personOf(sent.Response.UserHandle)
	rec, err := a.users.Get(r.Context(), account, id)
	if err != nil && fleet.CodeOf(err) != fleet.CodeNotFound {
		return d, err
	}
	if err == nil {
		d.device = a.device(r, record.CanonicalEmail(rec.Body.Email))
	}
	if d.device == "" {
		a.strangers.Fail(d.network)
	}
	return d, nil
}

// passkeyEnters begins the session of who holds a passkey, and returns them, if it is that of anybody. What was sent is
// nil if it cannot be read.
func (a *API) passkeyEnters(w http.ResponseWriter, r *http.Request, sent *protocol.ParsedCredentialAssertionData,
	next string) (*record.Record[record.User], error) {
	rp := a.relyingParty(r)
	if sent == nil || rp == nil {
		return nil, errOther
	}
	asked, err := a.answered(r.Context(), toSignIn, a.browserOf(r), sent.Response.CollectedClientData.Challenge)
	if err != nil {
		return nil, err
	}
	account, id := personOf(sent.Response.UserHandle)
	if id == 0 {
		return nil, errOther
	}
	rec, err := a.users.Get(r.Context(), account, id)
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return nil, errOther
	}
	if err != nil {
		return nil, err
	}
	if rec.Archived() || rec.Body.Disabled {
		return &rec, errOther
	}
	return &rec, a.complete(w, r, &rec, next, byPasskey, func(b *record.User) error {
		return a.takeAssertion(rp, account, id, b, asked, sent, true)
	})
}

func (a *API) passkeyFactorOptions(w http.ResponseWriter, r *http.Request, rp *webauthn.WebAuthn) error {
	return a.halfway(w, r, func(v *visitor) error {
		if !a.mayAsk(w, r, false) {
			return errWaitHere
		}
		h, err := holderOf(v.Account, v.ID, &v.Body)
		if err != nil {
			return err
		}
		if len(h.keys) == 0 {
			return fleet.NewError(fleet.CodeNotFound, "You have no passkey any more. Sign in again.")
		}
		// After the password a passkey may begin to look at who holds it.
		options, data, err := rp.BeginLogin(h, webauthn.WithLoginAuthorizeUVInitialization(true))
		if err != nil {
			return fmt.Errorf("begin a second step by passkey: %w", err)
		}
		return a.tell(w, r, toFinish, v.session.ID.String(), options, data)
	})
}

// passkeyFactor signs somebody in by a passkey, who gave the password before.
func (a *API) passkeyFactor(w http.ResponseWriter, r *http.Request) error {
	return a.halfway(w, r, func(v *visitor) error {
		view := a.factorOf(r, v.Record, page.Local(r.PostForm.Get("next")))
		at := a.doors(r, record.CanonicalEmail(v.Body.Email), "code of ")
		if !a.open(at) {
			w.Header().Set("Retry-After", "300")
			view.Fault = waitFault
			return askFactor(w, http.StatusTooManyRequests, view)
		}
		err := a.passkeyFinishes(w, r, v, view.Next)
		why, refused := errors.AsType[*notTaken](err)
		if !refused {
			a.passed(at)
			return err
		}
		a.notePasskeyRefused(r, v.Record, err)
		view.Fault = why.fault
		return askFactor(w, http.StatusUnauthorized, view)
	})
}

func (a *API) passkeyFinishes(w http.ResponseWriter, r *http.Request, v *visitor, next string) error {
	rp := a.relyingParty(r)
	sent, err := protocol.ParseCredentialRequestResponseBytes([]byte(r.PostForm.Get("credential")))
	if err != nil || rp == nil {
		return errOther
	}
	asked, err := a.answered(r.Context(), toFinish, v.session.ID.String(), sent.Response.CollectedClientData.Challenge)
	if err != nil {
		return err
	}
	return a.complete(w, r, v.Record, next, byPassword, func(b *record.User) error {
		return a.takeAssertion(rp, v.Account, v.ID, b, asked, sent, false)
	})
}

// noPassword is said to people who have none, as somebody had them choose another one.
const noPassword = "You have no password. Choose one before, by the link that an owner of your account makes you."

// mayChange says whether somebody proves once more who they are before what they sign in with is changed: a browser
// that was left alone must change nothing. Else it says what is wrong, and how that is answered. Who has a second
// factor has given it within Halfway.
func (a *API) mayChange(r *http.Request, v *visitor) (fault string, status int, err error) {
	if v.Body.PasswordHash == "" {
		return noPassword, http.StatusForbidden, nil
	}
	if fault = a.stale(v); fault != "" {
		return fault, http.StatusForbidden, nil
	}
	at := a.doors(r, record.CanonicalEmail(v.Body.Email), "")
	if !a.open(at) {
		return waitFault, http.StatusTooManyRequests, nil
	}
	ok, err := a.hasher.Check(r.Context(), at.network, r.PostForm.Get("password"), v.Body.PasswordHash)
	if err != nil || ok {
		a.passed(at)
	}
	if err == nil && !ok {
		fault, status = "The password is another.", http.StatusForbidden
	}
	return fault, status, err
}

// stale says what is wrong where somebody with a second factor did not give it within Halfway. Sessions are renewed by
// what asks this or for a factor alone, so that one that began lately stands for a proof that is as late.
func (a *API) stale(v *visitor) (fault string) {
	if asksMore(&v.Body) && a.Now().Sub(v.session.BeganAt) >= Halfway {
		fault = "You signed in more than ten minutes ago. Sign out and in again, and do this then."
	}
	return fault
}

func (a *API) registerOptions(w http.ResponseWriter, r *http.Request, rp *webauthn.WebAuthn) error {
	return a.mine(w, r, func(v *visitor) error {
		fault, status, err := a.mayChange(r, v)
		if err != nil {
			return err
		}
		if fault == "" && len(v.Body.Passkeys) >= MostPasskeys {
			fault = errFull.fault
		}
		switch {
		case status == http.StatusTooManyRequests:
			w.Header().Set("Retry-After", "300")
			return errWaitHere
		case fault != "":
			return fleet.NewError(fleet.CodeForbidden, fault)
		case !a.mayAsk(w, r, false):
			return errWaitHere
		}
		h, err := holderOf(v.Account, v.ID, &v.Body)
		if err != nil {
			return err
		}
		options, data, err := rp.BeginRegistration(h,
			webauthn.WithExclusions(webauthn.Credentials(h.keys).CredentialDescriptors()))
		if err != nil {
			return fmt.Errorf("begin to register a passkey: %w", err)
		}
		return a.tell(w, r, toRegister, v.session.ID.String(), options, data)
	})
}

// registerPasskey gives who is signed in another passkey. They gave their password for its challenge.
func (a *API) registerPasskey(w http.ResponseWriter, r *http.Request) error {
	return a.mine(w, r, func(v *visitor) error {
		rp := a.relyingParty(r)
		if rp == nil {
			return a.security(w, http.StatusUnprocessableEntity, v.Record, errOther.fault, nil)
		}
		made, err := a.madeCredential(r, rp, v)
		var codes []string
		first := false
		var after record.Record[record.User]
		if err == nil {
			after, err = a.change(r.Context(), v, func(b *record.User) error {
				first = !asksMore(b)
				var err error
				codes, err = a.addPasskey(b, made)
				return err
			})
		}
		if fleet.CodeOf(err) == fleet.CodeConflict {
			err = errPresent // at another person
		}
		if why, refused := errors.AsType[*notTaken](err); refused {
			return a.security(w, http.StatusUnprocessableEntity, v.Record, why.fault, nil)
		}
		if err != nil {
			return err
		}
		if first {
			return a.renew(w, r, &after, codes)
		}
		return a.security(w, http.StatusOK, &after, "", codes)
	})
}

// removePasskey takes a passkey away of who is signed in, as when its device was lost.
func (a *API) removePasskey(w http.ResponseWriter, r *http.Request) error {
	return a.mine(w, r, func(v *visitor) error {
		fault, status, err := a.mayChange(r, v)
		if err != nil {
			return err
		}
		if fault != "" {
			return a.security(w, status, v.Record, fault, nil)
		}
		dropped := false
		after, err := a.change(r.Context(), v, func(b *record.User) error {
			dropped = a.dropPasskey(b, r.PostForm.Get("id"))
			return nil
		})
		if err != nil {
			return err
		}
		if dropped { // else nothing ended the session that there is
			return a.renew(w, r, &after, nil)
		}
		return a.security(w, http.StatusOK, &after, "", nil)
	})
}
