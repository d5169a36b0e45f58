package user

import (
	"bytes"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"html/template"
	"image/png"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/page"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/seal"
)

// Paths of the second factor.
const (
	factorPath   = "/signin/factor"
	securityPath = "/signin/security"
)

// step is how long a code of an app holds, in seconds (RFC 6238, section 5.2); one step earlier or later is taken too.
const step = 30

// asksMore says whether the password alone does not let a person in.
func asksMore(b *record.User) bool { return b.TOTPSealed != "" || len(b.Passkeys) > 0 }

// totpPurpose is what a secret of a person's app is sealed for.
func totpPurpose(id uint64) string {
	return "user/" + fleet.FormatID(fleet.UserPrefix, id) + "/totp"
}

func (a *API) factorPages() {
	a.Page(http.MethodGet, factorPath, page.KeepOpener(a.factorPage))
	a.Page(http.MethodPost, factorPath, page.KeepOpener(a.form(a.giveFactor)))
	a.Page(http.MethodGet, securityPath, a.securityPage)
	a.Page(http.MethodGet, securityPath+"/qr.png", a.picture)
	a.Page(http.MethodPost, securityPath+"/begin", a.form(a.beginTOTP))
	a.Page(http.MethodPost, securityPath+"/confirm", a.form(a.confirmTOTP))
	a.Page(http.MethodPost, securityPath+"/remove", a.form(a.removeTOTP))
}

const codeFault = "The code is wrong, or was used already. Wait for the next one."

// errCode says that a code of an app is wrong, was used, or is none.
var errCode = errors.New("wrong code")

// takeCode takes a code of a person's app, or one of their recovery codes, so that it is good once. It changes the body
// that is written with it.
func (a *API) takeCode(b *record.User, id uint64, sealed, code string) error {
	code = strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(code))
	hash := auth.Hash(code)
	if i := slices.Index(b.Recovery, hash); i >= 0 && len(code) == recoveryLength {
		b.Recovery = slices.Delete(slices.Clone(b.Recovery), i, i+1)
		return nil
	}
	if sealed == "" {
		return errCode // they have no app
	}
	secret, err := a.Settings.Keys.Open(totpPurpose(id), sealed)
	if err != nil {
		return fmt.Errorf("open the secret of a person's app: %w", err)
	}
	now := a.Now().Unix() / step
	for _, at := range []int64{now - 1, now, now + 1} {
		ok, err := totp.ValidateCustom(code, secret, time.Unix(at*step, 0), totp.ValidateOpts{Period: step,
			Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err == nil && ok && at > b.TOTPStep {
			b.TOTPStep = at
			return nil
		}
	}
	return errCode
}

// Recovery codes: ten of 50 random bits, shown once.
const (
	recoveryCodes  = 10
	recoveryLength = 10
)

func newRecovery() (codes, hashes []string) {
	for range recoveryCodes {
		raw := make([]byte, 7)
		rand.Read(raw)
		code := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw)[:recoveryLength]
		codes, hashes = append(codes, code[:5]+"-"+code[5:]), append(hashes, auth.Hash(code))
	}
	return codes, hashes
}

var factorForm = template.Must(template.New("factor").Parse(`{{with .Fault}}<p class="bad" role="alert">{{.}}</p>{{end}}
{{if .Passkeys}}<p>Use a passkey of yours, or give {{if .App}}the code that your app shows for Motorpool, or {{end}}one of your
recovery codes.</p>
` + passkeyForm(passkeyFactorPath, "Use a passkey", `data-passkey="get"`, nextField) + `{{else}}<p>Give the code that your app
shows for Motorpool, or one of your recovery codes.</p>
{{end}}<form method="post" action="/signin/factor">
<input type="hidden" name="next" value="{{.Next}}">
<label>Code<input class="code" name="code" autocomplete="one-time-code" autocapitalize="characters" maxlength="20" required
autofocus></label>
<button>Sign in</button>
</form>
<p class="soft">No telephone and no codes left? An owner of your account takes the second factor away.</p>`))

// halfway calls do with the person who gave the password at this browser, or sends them to the sign-in page.
func (a *API) halfway(w http.ResponseWriter, r *http.Request, do func(*visitor) error) error {
	v, err := a.visitor(r, half)
	if err != nil {
		return err
	}
	if v == nil {
		http.Redirect(w, r, SignIn(r.URL.Query().Get("next")), http.StatusSeeOther)
		return nil
	}
	return do(v)
}

type factorView struct {
	Fault, Next   string
	App, Passkeys bool // what there is beside recovery codes
}

func (a *API) factorOf(r *http.Request, rec *record.Record[record.User], next string) factorView {
	return factorView{Next: next, App: rec.Body.TOTPSealed != "",
		Passkeys: len(rec.Body.Passkeys) > 0 && a.relyingParty(r) != nil}
}

func askFactor(w http.ResponseWriter, status int, view factorView) error {
	return page.WriteWithScript(w, status, "Second step", passkeyScript, factorForm, view)
}

func (a *API) factorPage(w http.ResponseWriter, r *http.Request) error {
	return a.halfway(w, r, func(v *visitor) error {
		return askFactor(w, http.StatusOK, a.factorOf(r, v.Record, page.Local(r.URL.Query().Get("next"))))
	})
}

func (a *API) giveFactor(w http.ResponseWriter, r *http.Request) error {
	return a.halfway(w, r, func(v *visitor) error {
		view := a.factorOf(r, v.Record, page.Local(r.PostForm.Get("next")))
		// Wrong codes count apart from wrong passwords: who gives these has the password.
		at := a.doors(r, record.CanonicalEmail(v.Body.Email), "code of ")
		if !a.open(at) {
			w.Header().Set("Retry-After", "300")
			view.Fault = waitFault
			return askFactor(w, http.StatusTooManyRequests, view)
		}
		err := a.complete(w, r, v.Record, view.Next, byPassword, func(b *record.User) error {
			if !asksMore(b) {
				return nil // it was taken away meanwhile
			}
			return a.takeCode(b, v.ID, b.TOTPSealed, r.PostForm.Get("code"))
		})
		if !errors.Is(err, errCode) {
			a.passed(at)
		} else {
			a.noteRefused(r, v.Record, "totp")
			view.Fault = codeFault
			return askFactor(w, http.StatusUnauthorized, view)
		}
		return err
	})
}

var securityBody = template.Must(template.New("security").Parse(`{{with .Fault}}<p class="bad" role="alert">{{.}}</p>{{end}}
{{if .Codes}}<p>These recovery codes are shown this once. Each is good once, in the place of a code of your app or a passkey. Keep
them where your devices are not.</p>
<ul class="codes">{{range .Codes}}<li>{{.}}</li>{{end}}</ul>
{{else if .Passkeys}}<p>You have {{.Left}} recovery codes left.</p>
{{else if .Since}}<p>You have {{.Left}} recovery codes left.</p>
{{else}}<p>Your password alone signs you in. With an app or a passkey, whoever learns the password cannot.</p>
{{end}}<p class="soft">An app that you set up, a passkey where the password alone was asked for, and whatever you remove sign you out
everywhere else, and end what you let programs do for you: they ask you again.</p>
<h2>Codes of an app</h2>
{{if .Since}}<p>They are asked of you since {{.Since}}.</p>
<form method="post" action="/signin/security/remove">
<label>A code of your app, or a recovery code<input class="code" name="code" autocomplete="one-time-code" maxlength="20" required></label>
<button class="quiet">Ask no codes any more</button>
</form>
{{else if .Secret}}<p>Read this with an app for one-time codes, or type the secret into it.</p>
<img class="qr" src="/signin/security/qr.png" alt="The secret as a picture for your app">
<p class="soft">{{.Secret}}</p>
<form method="post" action="/signin/security/confirm">
<label>The code that the app shows now<input class="code" name="code" autocomplete="one-time-code" inputmode="numeric" maxlength="20" required
autofocus></label>
<button>Ask for codes from now on</button>
</form>
{{else}}<form method="post" action="/signin/security/begin">
<label>Your password<input type="password" name="password" autocomplete="current-password" required></label>
<button>Set up an app</button>
</form>
{{end}}` + passkeysBody + `<p><a class="button quiet" href="/signin">Back</a></p>`))

type securityView struct {
	Fault, Since, Secret string
	Left                 int
	Codes                []string
	Passkeys             []passkeyRow
	Password             bool // they have one, which is asked of them
}

func (a *API) security(w http.ResponseWriter, status int, rec *record.Record[record.User], fault string,
	codes []string) error {
	b := &rec.Body
	view := securityView{Fault: fault, Left: len(b.Recovery), Codes: codes, Passkeys: passkeyRows(b),
		Password: b.PasswordHash != ""}
	if !b.TOTPSince.IsZero() {
		view.Since = b.TOTPSince.Format("2 January 2006")
	} else if b.TOTPPending != "" {
		secret, err := a.Settings.Keys.Open(totpPurpose(rec.ID), b.TOTPPending)
		if err != nil {
			return fmt.Errorf("open the secret of a person's app: %w", err)
		}
		view.Secret = secret
	}
	return page.WriteWithScript(w, status, "Second step and passkeys", passkeyScript, securityBody, view)
}

func (a *API) securityPage(w http.ResponseWriter, r *http.Request) error {
	return a.mine(w, r, func(v *visitor) error {
		return a.security(w, http.StatusOK, v.Record, "", nil)
	})
}

// fresh lets somebody change what they prove who they are with, who has given a second factor lately, or has none.
func (a *API) fresh(w http.ResponseWriter, r *http.Request, do func(*visitor) error) error {
	return a.mine(w, r, func(v *visitor) error {
		if fault := a.stale(v); fault != "" {
			return a.security(w, http.StatusForbidden, v.Record, fault, nil)
		}
		return do(v)
	})
}

// beginTOTP makes a secret, which counts when a code of it is given. It asks for the password: a browser that somebody
// left alone must not lock its owner out.
func (a *API) beginTOTP(w http.ResponseWriter, r *http.Request) error {
	return a.fresh(w, r, func(v *visitor) error {
		at := a.doors(r, record.CanonicalEmail(v.Body.Email), "")
		if !a.open(at) {
			w.Header().Set("Retry-After", "300")
			return a.security(w, http.StatusTooManyRequests, v.Record, waitFault, nil)
		}
		ok, err := a.hasher.Check(r.Context(), at.network, r.PostForm.Get("password"), v.Body.PasswordHash)
		if err != nil || ok {
			a.passed(at)
		}
		if err != nil {
			return err
		}
		if !ok {
			a.noteRefused(r, v.Record, "password")
			return a.security(w, http.StatusUnauthorized, v.Record, "The password is another.", nil)
		}
		raw := make([]byte, 20)
		rand.Read(raw)
		sealed, err := a.Settings.Keys.Seal(totpPurpose(v.ID),
			base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw))
		if errors.Is(err, seal.ErrNoKey) {
			return a.security(w, http.StatusServiceUnavailable, v.Record, "This server has no key to seal secrets with: its "+
				"operator gives it one with --seal-key-file.", nil)
		}
		if err != nil {
			return err
		}
		after, err := a.change(r.Context(), v, func(b *record.User) error {
			if b.TOTPSealed == "" {
				b.TOTPPending = sealed
			}
			return nil
		})
		if err != nil {
			return err
		}
		return a.security(w, http.StatusOK, &after, "", nil)
	})
}

// picture shows the secret that waits for its first code.
func (a *API) picture(w http.ResponseWriter, r *http.Request) error {
	return a.mine(w, r, func(v *visitor) error {
		secret, err := a.Settings.Keys.Open(totpPurpose(v.ID), v.Body.TOTPPending)
		if err != nil {
			return fleet.NewError(fleet.CodeNotFound, "There is no secret to show. Begin again at "+securityPath+".")
		}
		key, err := otp.NewKeyFromURL("otpauth://totp/Motorpool:" + template.URLQueryEscaper(v.Body.Email) + "?secret=" +
			secret + "&issuer=Motorpool")
		if err != nil {
			return fmt.Errorf("make an address of a secret: %w", err)
		}
		image, err := key.Image(384, 384)
		if err != nil {
			return fmt.Errorf("draw a secret: %w", err)
		}
		var buf bytes.Buffer
		if err := png.Encode(&buf, image); err != nil {
			return fmt.Errorf("draw a secret: %w", err)
		}
		w.Header().Set("Content-Type", "image/png")
		_, err = buf.WriteTo(w)
		return err
	})
}

// confirmTOTP has codes asked from now on, when one was given, and shows the recovery codes. The session is a new one,
// and all others end: they were begun with less. A recovery code confirms nothing: the app is to show that it works.
func (a *API) confirmTOTP(w http.ResponseWriter, r *http.Request) error {
	change := func(b *record.User, id uint64) ([]string, error) {
		if b.TOTPPending == "" {
			return nil, errCode
		}
		b.Recovery = nil
		if err := a.takeCode(b, id, b.TOTPPending, r.PostForm.Get("code")); err != nil {
			return nil, err
		}
		codes, hashes := newRecovery()
		b.TOTPSealed, b.TOTPPending, b.TOTPSince, b.Recovery = b.TOTPPending, "", record.InstantOf(a.Now()), hashes
		return codes, nil
	}
	return a.fresh(w, r, func(*visitor) error { return a.changeTOTP(w, r, change) })
}

// removeTOTP asks for no codes any more, if one was given.
func (a *API) removeTOTP(w http.ResponseWriter, r *http.Request) error {
	return a.changeTOTP(w, r, func(b *record.User, id uint64) ([]string, error) {
		if b.TOTPSealed == "" {
			return nil, errCode
		}
		if err := a.takeCode(b, id, b.TOTPSealed, r.PostForm.Get("code")); err != nil {
			return nil, err
		}
		b.TOTPSealed, b.TOTPSince = "", record.Instant{}
		if !asksMore(b) {
			b.Recovery = nil
		}
		return nil, nil
	})
}

// changeTOTP makes a change that a code allows, ends all sessions, and begins one here.
func (a *API) changeTOTP(w http.ResponseWriter, r *http.Request,
	change func(b *record.User, id uint64) ([]string, error)) error {
	return a.mine(w, r, func(v *visitor) error {
		at := a.doors(r, record.CanonicalEmail(v.Body.Email), "code of ")
		if !a.open(at) {
			w.Header().Set("Retry-After", "300")
			return a.security(w, http.StatusTooManyRequests, v.Record, waitFault, nil)
		}
		var codes []string
		after, err := a.change(r.Context(), v, func(b *record.User) error {
			var err error
			codes, err = change(b, v.ID)
			b.EndSessions(a.Now())
			return err
		})
		if errors.Is(err, errCode) {
			a.noteRefused(r, v.Record, "totp")
			return a.security(w, http.StatusUnauthorized, v.Record, codeFault, nil)
		}
		a.passed(at)
		if err != nil {
			return err
		}
		return a.renew(w, r, &after, codes)
	})
}

// renew begins the session anew of somebody who was changed so that the one they had ended, and shows them the page of
// security. Recovery codes that were made are shown even where no session begins, as nothing shows them again.
func (a *API) renew(w http.ResponseWriter, r *http.Request, after *record.Record[record.User], codes []string) error {
	fault := ""
	if err := a.begin(w, r, after, whole, after.Body.EndedAt.Time); err != nil {
		if codes == nil {
			return err
		}
		a.Log.ErrorContext(r.Context(), "no session after a change", "error", err, "user", fleet.UserID(after.ID).String())
		fault = "It is done, but this server could not keep you signed in. Keep the codes that are shown here, and sign in again."
	}
	return a.security(w, http.StatusOK, after, fault, codes)
}
