package user

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/page"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/user/password"
	"github.com/motorpool/fleet/query"
)

// SignInPath is the page on which people sign in.
const SignInPath = "/signin"

// SignIn is the address of that page, which goes on to next when somebody has signed in.
func SignIn(next string) string {
	if next = page.Local(next); next == "" {
		return SignInPath
	}
	return SignInPath + "?next=" + url.QueryEscape(next)
}

func (a *API) pages() {
	a.Page(http.MethodGet, page.StylePath, page.Style)
	a.Page(http.MethodGet, SignInPath, page.KeepOpener(a.signInPage))
	a.Page(http.MethodPost, SignInPath, page.KeepOpener(a.form(a.signIn)))
	for path, do := range map[string]func(http.ResponseWriter, *http.Request) error{
		"/signout": a.signOut, InvitationPath: a.accept, "/signin/password": a.changePassword, LinkPath: a.useLink,
	} {
		a.Page(http.MethodPost, path, a.form(do))
	}
	a.Page(http.MethodGet, InvitationPath, a.invitationPage)
	a.Page(http.MethodGet, LinkPath, a.linkPage)
	a.Page(http.MethodGet, "/signin/password", a.passwordPage)
	a.factorPages()
	a.passkeyPages()
}

// form lets only what pages of this server send come to a handler: else another site could sign people in as somebody
// else, or out.
func (a *API) form(do func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if !a.ours(r) {
			return a.say(w, http.StatusForbidden, "Not from here",
				"Another site sent you here with a form. Open this page yourself, and fill it in there.")
		}
		if err := r.ParseForm(); err != nil {
			return fleet.NewError(fleet.CodeInvalid, "The form cannot be read. Open the page again, and fill it in.")
		}
		return do(w, r)
	}
}

var notice = template.Must(template.New("notice").Parse(`<p>{{.}}</p><p><a href="/signin">To the sign-in page</a></p>`))

// Page registers a page. People are told on a page what is wrong, too.
func (a *API) Page(method, path string, h func(http.ResponseWriter, *http.Request) error) {
	a.Server.Page(method, path, func(w http.ResponseWriter, r *http.Request) error {
		err := h(w, r)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, auth.ErrThrottled):
			w.Header().Set("Retry-After", "60")
			return a.say(w, http.StatusTooManyRequests, "Please wait", waitFault)
		case errors.Is(err, password.ErrBusy):
			w.Header().Set("Retry-After", "5")
			return a.say(w, http.StatusServiceUnavailable, "Please try again", busyFault)
		}
		p, ok := a.Judge(w, r, err)
		if !ok {
			return nil
		}
		return a.say(w, p.Status, p.Title, p.Detail)
	})
}

// say shows a sentence.
func (a *API) say(w http.ResponseWriter, status int, title, text string) error {
	return page.Write(w, status, title, notice, text)
}

// safe says whether passwords may be typed here: over https, or on this machine. If not, it has said so.
func (a *API) safe(w http.ResponseWriter, r *http.Request) (bool, error) {
	if a.secure(r) || a.here(r) {
		return true, nil
	}
	return false, a.say(w, http.StatusForbidden, "This connection is not encrypted",
		"What you type could be read on the way. Open this page by https://. Whoever runs the server gives it a certificate, "+
			"or names the proxy that has one with --trusted-proxies and has it send X-Forwarded-Proto.")
}

var signInForm = template.Must(template.New("signin").Parse(`{{with .Fault}}<p class="bad" role="alert">{{.}}</p>{{end}}
<form method="post" action="/signin">
<input type="hidden" name="next" value="{{.Next}}">
<label>Email<input type="email" name="email" autocomplete="username webauthn" value="{{.Email}}" required autofocus></label>
<label>Password<input type="password" name="password" autocomplete="current-password" required></label>
<button>Sign in</button>
</form>
{{if .Passkeys}}` + passkeyForm(passkeySignInPath, "Sign in with a passkey", `data-passkey="get" data-offered`, nextField) +
	`{{end}}<p class="soft">No password any more? An owner of your account makes you a new link.</p>`))

var signedInBody = template.Must(template.New("signedin").Parse(`<p>You are signed in as <strong>{{.Name}}</strong>,
{{.Role}}.</p>
{{range .Links}}<p><a class="button quiet" href="{{.Path}}">{{.Text}}</a></p>
{{end}}<form method="post" action="/signout"><button>Sign out</button></form>`))

type link struct{ Path, Text string }

type signInView struct {
	Fault, Email, Next string
	Passkeys           bool // may be used here
}

func (a *API) signInPage(w http.ResponseWriter, r *http.Request) error {
	if ok, err := a.safe(w, r); !ok {
		return err
	}
	next := page.Local(r.URL.Query().Get("next"))
	person, ok, err := a.SignedIn(r)
	switch {
	case err != nil:
		return err
	case ok && next != "" && r.URL.Query().Get("again") == "true":
	case ok && next != "":
		http.Redirect(w, r, next, http.StatusSeeOther)
		return nil
	case ok:
		return page.Write(w, http.StatusOK, "Signed in", signedInBody, map[string]any{"Name": person.Name,
			"Role": string(person.Role), "Links": signedInLinks})
	}
	return a.askAgain(w, r, http.StatusOK, signInView{Next: next})
}

// signedInLinks are the pages of somebody who is signed in.
var signedInLinks = []link{{"/", "Open the console"}, {"/signin/password", "Change your password"},
	{securityPath, "Second step and passkeys"}}

func (a *API) askAgain(w http.ResponseWriter, r *http.Request, status int, view signInView) error {
	view.Passkeys = a.relyingParty(r) != nil
	return page.WriteWithScript(w, status, "Sign in", passkeyScript, signInForm, view)
}

// doors are the names by which failures are counted: of the network, of the network with the person, of the person, if
// that is said before anything is proved; or of the browser alone, if the person has signed in there before.
type doors struct{ network, both, person, device string }

// doors are those of a person, by their address, and of what they have to prove: "" is the password.
func (a *API) doors(r *http.Request, email, what string) doors {
	d := doors{network: a.network(r), person: auth.Hash(what + email), device: a.device(r, email)}
	d.both = d.network + " " + d.person
	if d.device != "" {
		d.device += what
	}
	return d
}

func (a *API) network(r *http.Request) string { return auth.Network(a.ClientAddr(r)) }

// open counts a failure before it is one, so that many attempts at once are no more than one after the other, and says
// whether one may be made. passed takes it back of one that did not fail.
func (a *API) open(d doors) bool {
	if d.device != "" {
		return a.byDevice.Take(d.device)
	}
	if !a.byAddress.Take(d.network) {
		return false
	}
	if d.person == "" {
		return true
	}
	if !a.byPerson.Take(d.both) {
		a.byAddress.Give(d.network)
		return false
	}
	if !a.ofPerson.Take(d.person) {
		a.byAddress.Give(d.network)
		a.byPerson.Give(d.both)
		return false
	}
	return true
}

func (a *API) passed(d doors) {
	if d.device != "" {
		a.byDevice.Give(d.device)
		return
	}
	a.byAddress.Give(d.network)
	if d.person != "" {
		a.byPerson.Give(d.both)
		a.ofPerson.Give(d.person)
	}
}

const (
	wrongFault = "This address and password do not belong together. Look whether one of them is mistyped."
	waitFault  = "There were too many attempts. Wait some minutes, and try again."
	busyFault  = "Too many people sign in at this moment. Try again in some seconds."
)

func (a *API) signIn(w http.ResponseWriter, r *http.Request) error {
	if ok, err := a.safe(w, r); !ok {
		return err
	}
	email := record.CanonicalEmail(r.PostForm.Get("email"))
	view := signInView{Email: shortened(email, 254), Next: page.Local(r.PostForm.Get("next"))}
	at := a.doors(r, email, "")
	if !a.open(at) {
		w.Header().Set("Retry-After", "300")
		view.Fault = waitFault
		return a.askAgain(w, r, http.StatusTooManyRequests, view)
	}
	rec, ok, err := a.proves(r.Context(), at.network, email, r.PostForm.Get("password"))
	if err != nil || ok {
		a.passed(at)
	}
	if errors.Is(err, password.ErrBusy) {
		w.Header().Set("Retry-After", "5")
		view.Fault = busyFault
		return a.askAgain(w, r, http.StatusServiceUnavailable, view)
	}
	if err != nil {
		return err
	}
	if !ok {
		a.noteRefused(r, &rec, "password")
		a.Log.InfoContext(r.Context(), "sign-in refused", "user", fleet.FormatID(fleet.UserPrefix, rec.ID),
			"client", at.network)
		view.Fault = wrongFault
		return a.askAgain(w, r, http.StatusUnauthorized, view)
	}
	return a.enter(w, r, &rec, view.Next, byPassword)
}

// proves returns the person of an address if the password is theirs and they may sign in. It takes as long for an
// address that nobody has.
func (a *API) proves(
	ctx context.Context, network, email, sent string,
) (rec record.Record[record.User], ok bool, err error) {
	account, id, err := query.UserByEmail(ctx, a.DB, email)
	if err != nil {
		return rec, false, err
	}
	if id != 0 {
		if rec, err = a.users.Get(ctx, account, uint64(id)); err != nil {
			return rec, false, err
		}
	} else if _, err := a.users.Get(ctx, 1, 1); fleet.CodeOf(err) != fleet.CodeNotFound && err != nil {
		return rec, false, err // which nobody is, and takes as long to read
	}
	ok, err = a.hasher.Check(ctx, network, sent, rec.Body.PasswordHash)
	if err != nil || !ok || rec.Archived() || rec.Body.Disabled ||
		record.CanonicalEmail(rec.Body.Email) != email {
		return rec, false, err
	}
	if a.hasher.Stale(rec.Body.PasswordHash) {
		was := rec.Body.PasswordHash
		fresh, err := a.hasher.Hash(ctx, network, sent)
		if err != nil {
			return rec, false, err
		}
		if rec, err = a.update(ctx, record.System, rec.Account, rec.ID, func(rec *record.Record[record.User]) error {
			if rec.Body.PasswordHash == was {
				rec.Body.PasswordHash = fresh
			}
			return nil
		}); err != nil {
			return rec, false, err
		}
	}
	return rec, true, nil
}

// by is a person as the author of what they change of themselves.
func by(rec *record.Record[record.User]) record.Author {
	return record.Author{Actor: fleet.FormatID(fleet.UserPrefix, rec.ID)}
}

// enter begins the session of somebody who gave the right password, or what stands for it: a half one if more is asked
// of them.
func (a *API) enter(w http.ResponseWriter, r *http.Request, rec *record.Record[record.User], next, by string) error {
	if asksMore(&rec.Body) {
		now := a.Now()
		present, err := a.users.Get(r.Context(), rec.Account, rec.ID)
		if err != nil {
			return err
		}
		if !stands(rec, &present) {
			return errChanged
		}
		if err := a.begin(w, r, &present, half, now); err != nil {
			return err
		}
		to := factorPath
		if next != "" {
			to += "?next=" + url.QueryEscape(next)
		}
		http.Redirect(w, r, to, http.StatusSeeOther)
		return nil
	}
	return a.complete(w, r, rec, next, by, nil)
}

// complete begins the whole session of somebody who proved all that is asked, and notes that in their record. also, if
// not nil, changes the record with it, and may refuse.
func (a *API) complete(w http.ResponseWriter, r *http.Request, rec *record.Record[record.User], next, begun string,
	also func(*record.User) error) error {
	now, knew := a.Now(), rec
	var before record.User
	after, err := a.update(r.Context(), by(rec), rec.Account, rec.ID, func(rec *record.Record[record.User]) error {
		before = rec.Body
		if rec.Body.Disabled {
			return fleet.NewError(fleet.CodeForbidden, "You cannot sign in any more. Ask an owner of your account.")
		}
		if !stands(knew, rec) || also == nil && asksMore(&rec.Body) {
			return errChanged // a proof of what was is none of what is
		}
		rec.Body.SignedInAt = record.InstantOf(now)
		if also != nil {
			return also(&rec.Body)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := a.beginBy(w, r, &after, whole, now, provedBy(begun, &before, &after.Body)); err != nil {
		return err
	}
	a.remember(w, r, record.CanonicalEmail(after.Body.Email))
	if next == "" {
		next = SignInPath
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
	return nil
}

func (a *API) signOut(w http.ResponseWriter, r *http.Request) error {
	if err := a.endPresent(r, wasSignedOut); err != nil {
		return err // the cookie stays, so that it can be tried again
	}
	a.setCookie(w, r, "", -1)
	http.Redirect(w, r, SignInPath, http.StatusSeeOther)
	return nil
}

var invitationForm = template.Must(template.New("invitation").Parse(`{{with .Fault}}<p class="bad" role="alert">{{.}}</p>{{end}}
<p>Hello {{.Name}}. You sign in as <strong>{{.Email}}</strong>, with a password of at least 12 characters: a few words that
nobody would put together are best.</p>
<form method="post" action="/signin/invitation">
<input type="hidden" name="token" value="{{.Token}}">
<input type="hidden" name="email" autocomplete="username" value="{{.Email}}">
<label>Password<input type="password" name="password" autocomplete="new-password" minlength="12" required autofocus></label>
<label>The same again<input type="password" name="again" autocomplete="new-password" minlength="12" required></label>
<button>Set password</button>
</form>`))

func (a *API) invitationPage(w http.ResponseWriter, r *http.Request) error {
	return a.invitation(w, r, r.URL.Query().Get("token"),
		func(rec *record.Record[record.User], token string) error {
			return a.askPassword(w, http.StatusOK, rec, token, "")
		})
}

// invitation calls do with the person whom an invitation is for, or says that it is no good.
func (a *API) invitation(w http.ResponseWriter, r *http.Request, token string,
	do func(rec *record.Record[record.User], token string) error) error {
	if ok, err := a.safe(w, r); !ok {
		return err
	}
	if !a.invitations.Open(a.opener(r)) {
		return errWait
	}
	rec, ok, err := a.invited(r.Context(), token)
	if err != nil {
		return err
	}
	if !ok {
		a.invitations.Fail(a.opener(r))
		return a.say(w, http.StatusNotFound, "This link is no good",
			"It was used already, is older than seven days, or there is a newer one. An owner of your account makes you another.")
	}
	return do(&rec, token)
}

func (a *API) askPassword(w http.ResponseWriter, status int, rec *record.Record[record.User], token,
	fault string) error {
	return page.Write(w, status, "Choose a password", invitationForm, map[string]string{"Name": rec.Body.Name,
		"Email": rec.Body.Email, "Token": token, "Fault": fault})
}

// accept sets the password of somebody who was invited, and signs them in.
func (a *API) accept(w http.ResponseWriter, r *http.Request) error {
	return a.invitation(w, r, r.PostForm.Get("token"), func(rec *record.Record[record.User], token string) error {
		text := r.PostForm.Get("password")
		if text != r.PostForm.Get("again") {
			return a.askPassword(w, http.StatusUnprocessableEntity, rec, token, "The two passwords are not the same.")
		}
		made := rec.Body
		if err := SetPassword(r.Context(), a.hasher, a.network(r), &made, text, a.Now()); err != nil {
			if fault := faultOf(err); fault != "" {
				return a.askPassword(w, http.StatusUnprocessableEntity, rec, token, fault)
			}
			return err
		}
		_, _, secret := cutToken(token)
		used := false
		after, err := a.update(r.Context(), by(rec), rec.Account, rec.ID, func(rec *record.Record[record.User]) error {
			if used = !a.opens(rec, secret); used {
				return nil // somebody was faster with the same link
			}
			b := &rec.Body
			b.PasswordHash, b.PasswordSetAt = made.PasswordHash, made.PasswordSetAt
			b.EndSessions(a.Now())
			b.Invitation, b.InvitedUntil = "", record.Instant{}
			return nil
		})
		if err != nil {
			return err
		}
		if used {
			return a.say(w, http.StatusNotFound, "This link is no good", "It was used a moment ago. Sign in.")
		}
		return a.enter(w, r, &after, "", byPassword)
	})
}

// faultOf says what is wrong with a password, if that is what the error is about.
func faultOf(err error) string {
	refused, ok := errors.AsType[*fleet.Error](err)
	if !ok || len(refused.Fields) == 0 {
		return ""
	}
	return "The password " + refused.Fields[0].Detail + "."
}

// cutToken takes an invitation apart.
func cutToken(token string) (account, user, secret string) {
	account, rest, _ := strings.Cut(token, ".")
	user, secret, _ = strings.Cut(rest, ".")
	return account, user, secret
}

var passwordForm = template.Must(template.New("password").Parse(`{{with .}}<p class="bad" role="alert">{{.}}</p>{{end}}
<p>You stay signed in here, and are signed out everywhere else.</p>
<form method="post" action="/signin/password">
<label>Present password<input type="password" name="present" autocomplete="current-password" required autofocus></label>
<label>New password<input type="password" name="password" autocomplete="new-password" minlength="12" required></label>
<label>The same again<input type="password" name="again" autocomplete="new-password" minlength="12" required></label>
<button>Change password</button>
</form>
<p><a class="button quiet" href="/signin">Back</a></p>`))

// mine calls do with who is signed in, or sends them to the sign-in page.
func (a *API) mine(w http.ResponseWriter, r *http.Request, do func(*visitor) error) error {
	v, err := a.visitor(r, whole)
	if err != nil {
		return err
	}
	if v == nil {
		http.Redirect(w, r, SignIn(r.URL.Path), http.StatusSeeOther)
		return nil
	}
	return do(v)
}

func (a *API) passwordPage(w http.ResponseWriter, r *http.Request) error {
	return a.mine(w, r, func(*visitor) error {
		return page.Write(w, http.StatusOK, "Change your password", passwordForm, "")
	})
}

func (a *API) changePassword(w http.ResponseWriter, r *http.Request) error {
	return a.mine(w, r, func(v *visitor) error {
		ask := func(status int, fault string) error {
			return page.Write(w, status, "Change your password", passwordForm, fault)
		}
		if fault := a.stale(v); fault != "" {
			return ask(http.StatusForbidden, fault)
		}
		at := a.doors(r, record.CanonicalEmail(v.Body.Email), "")
		if !a.open(at) {
			w.Header().Set("Retry-After", "300")
			return ask(http.StatusTooManyRequests, waitFault)
		}
		ok, err := a.hasher.Check(r.Context(), at.network, r.PostForm.Get("present"), v.Body.PasswordHash)
		if err != nil || ok {
			a.passed(at)
		}
		if err != nil {
			return err
		}
		if !ok {
			a.noteRefused(r, v.Record, "password")
			return ask(http.StatusUnauthorized, "The present password is another.")
		}
		if r.PostForm.Get("password") != r.PostForm.Get("again") {
			return ask(http.StatusUnprocessableEntity, "The two new passwords are not the same.")
		}
		made := v.Body
		if err := SetPassword(r.Context(), a.hasher, a.network(r), &made, r.PostForm.Get("password"), a.Now()); err != nil {
			if fault := faultOf(err); fault != "" {
				return ask(http.StatusUnprocessableEntity, fault)
			}
			return err
		}
		after, err := a.change(r.Context(), v, func(b *record.User) error {
			b.PasswordHash, b.PasswordSetAt = made.PasswordHash, made.PasswordSetAt
			b.EndSessions(a.Now())
			return nil
		})
		if err != nil {
			return err
		}
		if err := a.begin(w, r, &after, whole, after.Body.EndedAt.Time); err != nil {
			return err
		}
		http.Redirect(w, r, SignInPath, http.StatusSeeOther)
		return nil
	})
}
