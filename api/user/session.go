package user

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/http"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// What a session has proved.
const (
	half  = 1 // the password alone, where more is asked for: it opens nothing but the page that asks
	whole = 2
)

// known is a session that was looked up.
type known struct {
	query.Session
	until time.Time
}

// secret makes what only its owner knows: 256 random bits.
func secret() string {
	raw := make([]byte, 32)
	rand.Read(raw)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// cookieName is what the cookie of a session is called. Browsers take a name with __Host- only over https, from the
// very host, so that no neighbour can put another in its place.
func (a *API) cookieName(r *http.Request) string {
	if a.secure(r) {
		return "__Host-motorpool_session"
	}
	return "motorpool_session"
}

func (a *API) setCookie(w http.ResponseWriter, r *http.Request, value string, lives time.Duration) {
	http.SetCookie(w, &http.Cookie{Name: a.cookieName(r), Value: value, Path: "/", HttpOnly: true, Secure: a.secure(r),
		SameSite: http.SameSiteLaxMode, MaxAge: max(-1, int(lives.Seconds()))})
}

// begin begins the session of somebody who goes on at the browser at which they were, as beginBy does.
func (a *API) begin(w http.ResponseWriter, r *http.Request, rec *record.Record[record.User], factors uint8,
	now time.Time) error {
	return a.beginBy(w, r, rec, factors, now, byRenewal)
}

// beginBy begins a session under a new cookie, and ends the one that the browser had: nobody who put a cookie into the
// browser before, or saw it, has anything of this. It began at an instant at which rec was known to hold: what ends
// sessions later than that ends this one. The audit says by what a whole one was begun.
func (a *API) beginBy(w http.ResponseWriter, r *http.Request, rec *record.Record[record.User], factors uint8,
	now time.Time, by string) error {
	if err := a.endPresent(r, wasReplaced); err != nil {
		return err
	}
	now = now.UTC().Truncate(time.Millisecond)
	if ended := rec.Body.EndedAt.Time; !now.After(ended) {
		now = ended.Add(time.Millisecond)
	}
	token := secret()
	s := &query.Session{Account: rec.Account, User: fleet.UserID(rec.ID), ID: fleet.SessionID(a.Store.NextID()),
		Token: auth.Hash(token), Factors: factors, BeganAt: now, SeenAt: now,
		Address: a.ClientAddr(r).String(), Agent: shortened(r.UserAgent(), 200)}
	if err := query.NoteSession(r.Context(), a.DB, s); err != nil {
		return err
	}
	lives := Whole
	if factors == half {
		lives = Halfway
	} else {
		a.noteSession(r, s, auth.Created, s.User.String(), by)
	}
	a.setCookie(w, r, token, lives)
	return nil
}

// shortened is the beginning of a text in printable ASCII.
func shortened(text string, most int) string {
	var short []byte
	for i := 0; i < len(text) && len(short) < most; i++ {
		if text[i] >= ' ' && text[i] <= '~' {
			short = append(short, text[i])
		}
	}
	return string(short)
}

// endPresent ends the session of the browser, if it has one, and notes why.
func (a *API) endPresent(r *http.Request, why string) error {
	s, err := a.session(r)
	if err != nil || s == nil {
		return err
	}
	return a.end(r, s, s.User.String(), why)
}

// end ends a session, here at once and elsewhere within Remember, and notes who did and why.
func (a *API) end(r *http.Request, s *query.Session, actor, why string) error {
	defer a.sessions.Remove(s.Token)
	if err := query.NoteSession(r.Context(), a.DB, &query.Session{Account: s.Account, User: s.User, ID: s.ID,
		EndedAt: a.Now()}); err != nil {
		return err
	}
	if s.Factors == whole { // the others let nobody in
		a.noteSession(r, s, auth.Revoked, actor, why)
	}
	return nil
}

// session returns the session of a browser that is neither over nor ended, whatever it has proved; nil if there is
// none. One whose person may do nothing any more is none.
func (a *API) session(r *http.Request) (*query.Session, error) {
	cookie, err := r.Cookie(a.cookieName(r))
	if err != nil || len(cookie.Value) != 43 {
		return nil, nil
	}
	s, err := a.find(r, auth.Hash(cookie.Value))
	if err != nil || s == nil {
		return nil, err
	}
	is, err := a.who(r.Context(), s.Account, s.User)
	if err != nil {
		return nil, err
	}
	now := a.Now()
	if is.locked || s.Ended() || !s.BeganAt.After(is.endedAt) || now.Sub(s.BeganAt) >= Whole ||
		now.Sub(s.SeenAt) >= Idle || s.Factors != whole && now.Sub(s.BeganAt) >= Halfway {
		return nil, nil
	}
	if now.Sub(s.SeenAt) >= time.Minute {
		s.SeenAt = now
		a.sessions.Add(s.Token, known{*s, now.Add(Remember)})
		if err := query.NoteSession(r.Context(), a.DB, &query.Session{Account: s.Account, User: s.User, ID: s.ID,
			SeenAt: now}); err != nil {
			a.Log.WarnContext(r.Context(), "use of a session not noted", "error", err, "session", s.ID.String())
		}
	}
	return s, nil
}

// errWait is the answer to a network that tried too many cookies, on every path.
var errWait = errors.Join(auth.ErrThrottled, fleet.NewError(fleet.CodeRateLimited,
	"Too many cookies of sessions from your address were none. Wait a minute."))

// find looks a session up by the hash of its cookie. Somebody who tries cookies has nothing more looked up: the error
// is auth.ErrThrottled, as nobody knows whether there is one.
func (a *API) find(r *http.Request, token string) (*query.Session, error) {
	was, before := a.sessions.Get(token)
	if before && a.Now().Before(was.until) {
		return &was.Session, nil
	}
	network := a.network(r)
	if !before && !a.strangers.Open(network) {
		return nil, errWait
	}
	until := a.Now().Add(Remember)
	s, err := query.SessionByToken(r.Context(), a.DB, token)
	if err != nil {
		return nil, err
	}
	if s == nil {
		a.strangers.Fail(network)
		return nil, nil
	}
	a.sessions.Add(token, known{*s, until})
	return s, nil
}

// AsHeader is by what a page says whose it is, as an identity of a person: all tabs of a browser have one session, and
// what one of them shows of one account must not be changed, or added to, as somebody of another.
const AsHeader = "Motorpool-User"

// way lets a request in by the session of a browser. A request that could come from another server's page is refused
// unless it only reads.
func (a *API) way(r *http.Request) (*auth.Principal, bool, error) {
	if r.Header.Get("Authorization") != "" {
		return nil, false, nil
	}
	if _, err := r.Cookie(a.cookieName(r)); err != nil {
		return nil, false, nil
	}
	s, err := a.session(r)
	if err != nil {
		return nil, true, err
	}
	if s == nil || s.Factors != whole {
		return nil, true, fleet.NewError(fleet.CodeUnauthorized, "The session has ended, or is not complete. Sign in again.")
	}
	if as := r.Header.Get(AsHeader); as != "" && as != s.User.String() {
		return nil, true, fleet.NewError(fleet.CodeUnauthorized,
			"Somebody else has signed in at this browser since the page was opened. Open it again.")
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead && !a.ours(r) {
		return nil, true, fleet.NewError(fleet.CodeForbidden,
			"Another site's page seems to make this request. With a session, send it from a page of this server.")
	}
	is, err := a.who(r.Context(), s.Account, s.User)
	if err == nil && is.locked {
		err = fleet.NewError(fleet.CodeUnauthorized, "You have no access any more. Ask an owner of your account.")
	}
	if err != nil {
		return nil, true, err
	}
	return &auth.Principal{Account: s.Account, User: s.User, Session: s.ID, Scopes: is.role.Scopes(),
		Rate: is.rate}, true, nil
}

// SignedIn returns who is signed in at the browser that makes a request.
func (a *API) SignedIn(r *http.Request) (auth.Person, bool, error) {
	s, err := a.session(r)
	if err != nil || s == nil || s.Factors != whole {
		return auth.Person{}, false, err
	}
	is, err := a.who(r.Context(), s.Account, s.User)
	if err != nil || is.locked {
		return auth.Person{}, false, err
	}
	return auth.Person{Account: s.Account, User: s.User, Session: s.ID, Name: is.name, Role: is.role,
		Since: s.BeganAt}, true, nil
}
