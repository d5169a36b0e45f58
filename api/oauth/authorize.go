package oauth

import (
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/oauth/token"
	"github.com/motorpool/fleet/api/page"
)

// authorizePath is where browsers are sent to ask a person for consent.
const authorizePath = "/oauth/authorize"

func (a *API) pageRoutes() {
	for method, h := range map[string]func(http.ResponseWriter, *http.Request) error{
		http.MethodGet: a.askForConsent, http.MethodPost: a.answerConsent,
	} {
		a.Page(method, authorizePath, page.KeepOpener(func(w http.ResponseWriter, r *http.Request) error {
			err := h(w, r)
			if err == nil {
				return nil
			}
			p, ok := a.Judge(w, r, err)
			if !ok {
				return nil
			}
			return a.tell(w, &shown{p.Status, p.Title, p.Detail})
		}))
	}
}

// wish is what a client asks a person for. It comes back with the answer, sealed for the session of the person.
type wish struct {
	Client    string   `json:"client"`
	Redirect  string   `json:"redirect"`
	State     string   `json:"state,omitempty"`
	Scopes    []string `json:"scopes"`
	Challenge string   `json:"challenge"`
	JKT       string   `json:"jkt,omitempty"`
	Until     int64    `json:"until"` // Unix seconds
}

// shown is a refusal that only the person at the browser may see, as there is no address that is known to be the
// client's.
type shown struct {
	status  int
	title   string
	message string
}

func (e *shown) Error() string { return e.title + ": " + e.message }

// askForConsent shows the page that asks a person whether a client may act for them.
func (a *API) askForConsent(w http.ResponseWriter, r *http.Request) error {
	if err := a.noIssuer(); err != nil {
		return a.tell(w, &shown{http.StatusNotFound, "Nobody can be asked here", fleet.Sentence(err.Error())})
	}
	form, err := readForm(r.URL.RawQuery, "resource")
	if err != nil {
		return a.tell(w, &shown{http.StatusBadRequest, "This link cannot be read", fleet.Sentence(err.Error())})
	}
	c, err := a.asking(r, form)
	if err != nil {
		return a.tell(w, err)
	}
	if a.Settings.SignedIn == nil || a.Settings.SignIn == nil {
		return a.tell(w, &shown{http.StatusNotFound, "Nobody can sign in here",
			"This server has no sign-in page, so that nobody can give access to their account."})
	}
	person, in, err := a.Settings.SignedIn(r)
	if err != nil {
		return err
	}
	// Whoever is not signed in is sent nowhere else, whatever the link says: a link of anybody's must not lead to an
	// address of theirs by way of this server.
	if !in {
		http.Redirect(w, r, a.Settings.SignIn(r.URL.RequestURI(), false), http.StatusSeeOther)
		return nil
	}
	if person.Account != c.account {
		return a.tell(w, &shown{http.StatusForbidden, "This application is of another account",
			"You are signed in to an account that it does not belong to. Sign in to the other one, and open the link again."})
	}
	want, err := a.wishOf(c, form)
	if err != nil {
		return a.sendBack(w, r, form.Get("redirect_uri"), form.Get("state"), err)
	}
	if want.Scopes = auth.Both(want.Scopes, texts(person.Role.Scopes())); len(want.Scopes) == 0 {
		return a.sendBack(w, r, want.Redirect, want.State,
			refuse(codeDenied, "The person may do nothing of what is asked for."))
	}
	if form.Get("prompt") == "none" {
		return a.sendBack(w, r, want.Redirect, want.State, refuse("consent_required", "The person must be asked."))
	}
	if slices.ContainsFunc(want.Scopes, isWide) && a.Now().Sub(person.Since) > freshLasts {
		return page.Write(w, http.StatusForbidden, "Sign in once more", signInFirst,
			map[string]string{"Client": c.body.Name, "Page": a.Settings.SignIn(r.URL.RequestURI(), true)})
	}
	want.Until = a.Now().Add(consentLasts).Unix()
	text, err := json.Marshal(want)
	if err != nil {
		return err
	}
	sealed, err := a.Settings.Keys.Seal(consentPurpose(&person), string(text))
	if err != nil {
		return noKey(err)
	}
	return a.showConsent(w, c, &person, want, sealed)
}

// consentPurpose is what the question to a person is sealed for: their session, so that nobody else answers it.
func consentPurpose(p *auth.Person) string {
	return "oauth/consent/" + p.Account.String() + "/" + p.User.String() + "/" + p.Session.String()
}

// asking is the client of a request, with an address that is its own. Without these there is nobody to tell but the
// person.
func (a *API) asking(r *http.Request, form url.Values) (*client, error) {
	c, err := a.lookup(r.Context(), form.Get("client_id"))
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, &shown{http.StatusBadRequest, "This application is not known here",
			"The link names no application of this server, or one that was disabled. Ask whoever gave you the link."}
	}
	if !redirectsTo(c.body.RedirectURIs, form.Get("redirect_uri")) {
		return nil, &shown{http.StatusBadRequest, "This link leads back to an unknown place",
			"The redirect_uri is none of those that the application has. Nothing was given to anybody."}
	}
	return c, nil
}

// wishOf reads what a client asks for; the error is for the client.
func (a *API) wishOf(c *client, form url.Values) (*wish, error) {
	switch {
	case form.Has("request"):
		return nil, refuse("request_not_supported", "Send the parameters themselves.")
	case form.Has("request_uri"):
		return nil, refuse("request_uri_not_supported", "Send the parameters themselves.")
	case form.Get("response_type") == "":
		return nil, refuse(codeRequest, "Send response_type=code.")
	case form.Get("response_type") != "code":
		return nil, refuse(codeResponseType, "The response_type must be code.")
	case form.Has("response_mode") && form.Get("response_mode") != "query":
		return nil, refuse(codeRequest, "The response_mode must be query.")
	case !slices.Contains(c.body.GrantTypes, grantCode):
		return nil, refuse(codeUnauthorized, "The client may not use authorization_code; see its grant_types.")
	case form.Get("code_challenge_method") != "S256":
		return nil, refuse(codeRequest, "Send code_challenge_method=S256: PKCE is for all clients, and plain is not taken.")
	case !token.GoodChallenge(form.Get("code_challenge")):
		return nil, refuse(codeRequest, "The code_challenge must be the SHA-256 of the code_verifier, in base64url.")
	case form.Has("dpop_jkt") && !token.GoodChallenge(form.Get("dpop_jkt")):
		return nil, refuse(codeRequest, "The dpop_jkt must be the SHA-256 thumbprint of a key, in base64url.")
	}
	if err := a.checkResource(form["resource"]); err != nil {
		return nil, err
	}
	scopes, err := scopesAsked(form.Get("scope"), c.body.Scopes)
	return &wish{Client: c.id.String(), Redirect: form.Get("redirect_uri"), State: form.Get("state"), Scopes: scopes,
		Challenge: form.Get("code_challenge"), JKT: form.Get("dpop_jkt")}, err
}

// answerConsent takes the answer of a person: a code for the client, or that it gets none.
func (a *API) answerConsent(w http.ResponseWriter, r *http.Request) error {
	again := &shown{http.StatusForbidden, "This page is not valid any more",
		"You were asked too long ago, or have signed in anew. Go back to the application, and begin again."}
	if !a.fromHere(r) || r.ParseForm() != nil || a.Settings.SignedIn == nil || a.noIssuer() != nil {
		return a.tell(w, again)
	}
	person, in, err := a.Settings.SignedIn(r)
	if err != nil {
		return err
	}
	if !in {
		return a.tell(w, again)
	}
	text, err := a.Settings.Keys.Open(consentPurpose(&person), r.PostForm.Get("wish"))
	if err != nil {
		return a.tell(w, again)
	}
	var want wish
	if err := json.Unmarshal([]byte(text), &want); err != nil || a.Now().Unix() >= want.Until {
		return a.tell(w, again)
	}
	c, err := a.lookup(r.Context(), want.Client)
	if err != nil {
		return err
	}
	if c == nil || c.account != person.Account || !redirectsTo(c.body.RedirectURIs, want.Redirect) {
		return a.tell(w, again)
	}
	if r.PostForm.Get("answer") != "allow" {
		return a.sendBack(w, r, want.Redirect, want.State, refuse(codeDenied, "The person did not consent."))
	}
	code := auth.MakeOnce("mp_oac_")
	g := &given{Account: uint64(person.Account), Client: uint64(c.id), User: uint64(person.User),
		Session: uint64(person.Session), Grant: a.Store.NextID(), Redirect: want.Redirect, Verifier: want.Challenge,
		JKT: want.JKT, Began: a.Now().UnixMilli(), Since: person.Since.UnixMilli(),
		Scopes: auth.Both(auth.Both(want.Scopes, c.body.Scopes), texts(person.Role.Scopes()))}
	if err := a.put(r.Context(), onceCode, code, g, codeLasts); err != nil {
		return err
	}
	return a.redirect(w, r, want.Redirect, "code", code, "state", want.State)
}

// fromHere says whether a form was sent from a page of this server, as far as the browser tells. The sealed wish
// says it of those that do not.
func (a *API) fromHere(r *http.Request) bool {
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	return (site == "" || site == "same-origin") && (origin == "" || origin == "null" || origin == a.Settings.Issuer)
}

// sendBack tells a client by way of the browser what is wrong (RFC 6749, section 4.1.2.1). What is our fault is shown.
func (a *API) sendBack(w http.ResponseWriter, r *http.Request, to, state string, err error) error {
	e, ok := errors.AsType[*refused](err)
	if !ok {
		return err
	}
	return a.redirect(w, r, to, "error", e.Code, "error_description", e.Description, "state", state)
}

// redirect sends a browser back to a client, with pairs of name and value, and with who answers (RFC 9207).
func (a *API) redirect(w http.ResponseWriter, r *http.Request, to string, pairs ...string) error {
	values := url.Values{"iss": {a.Settings.Issuer}}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	mark := "?"
	if strings.Contains(to, "?") {
		mark = "&"
	}
	to += mark + values.Encode()
	if r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Site") == "same-origin" {
		// The person has just signed in. Browsers let the form of that page lead nowhere but to this server, through
		// any number of redirects; from a page of its own they go on.
		w.Header().Set("Refresh", "0; url="+to)
		return page.Write(w, http.StatusOK, "Back to the application", onward, template.URL(to))
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// tell shows a person what is wrong; an error that is none of theirs is returned.
func (a *API) tell(w http.ResponseWriter, err error) error {
	e, ok := errors.AsType[*shown](err)
	if !ok {
		return err
	}
	return page.Write(w, e.status, e.title, message, e.message)
}
