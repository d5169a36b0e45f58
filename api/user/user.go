// Package user serves the people of an account: who they are and what they may do, how they prove it, and the sessions
// of their browsers.
//
// A person is a record of the kind user. What proves who they are is no part of what is shown of it: a password is
// hashed by argon2id (api/user/password), a secret of a second factor sealed, an invitation and a recovery code hashed.
// A session is a row of the table sessions, found by the hash of its cookie. It lets in as long as its own bounds and
// the person allow: a role that is taken away is gone within Remember everywhere, and at once here.
//
//	invited ──sets a password──> active ──disable──> disabled
//	   ▲                           │  ▲                  │
//	   └──────reset_password───────┘  └─────enable───────┘     archived ends each of them for good
package user

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/seal"
	"github.com/motorpool/fleet/api/user/password"
	"github.com/motorpool/fleet/query"
)

// Config are the settings of people.
type Config struct {
	PublicURL string          // the address that people reach the server at, for links; that of the connection if empty
	Keys      seal.Ring       // what secrets of second factors are sealed with
	Hashing   password.Config // zero is the default
	// Challenges is how many of passkeys strangers may have within ten minutes, all networks together; 0 is the
	// default.
	Challenges int
}

// Bounds of sessions and invitations.
const (
	Idle       = 12 * time.Hour     // a session that is not used for so long has ended
	Whole      = 7 * 24 * time.Hour // so has each after so long
	Halfway    = 10 * time.Minute   // for the second factor
	Invitation = 7 * 24 * time.Hour
	Remember   = 4 * time.Second // how long what was read of a session or a person is believed
)

// API holds the people and their sessions.
type API struct {
	*rest.Server
	Settings Config

	users  *record.Log[record.User]
	hasher *password.Hasher

	sessions *lru.Cache[string, known]  // by the hash of the cookie
	people   *lru.Cache[personKey, who] // who have been looked up

	byAddress, byPerson, ofPerson, byDevice, strangers, challenges, allChallenges, links, invitations *auth.Throttle
}

type personKey struct {
	account fleet.AccountID
	user    fleet.UserID
}

// who is a person as far as that decides what they may do.
type who struct {
	until   time.Time // when they are to be read again
	role    auth.Role
	name    string
	locked  bool // they are disabled, archived or were never there
	endedAt time.Time
	rate    *int // of the account, see auth.Principal
}

// New makes the people on a server, which from then on knows their sessions. It registers nothing.
func New(s *rest.Server, c Config) *API {
	if c.Hashing == (password.Config{}) {
		c.Hashing = password.DefaultConfig()
	}
	a := &API{Server: s, Settings: c, users: record.NewLog(s.Store, record.Users), hasher: password.New(c.Hashing),
		// A network may fail so often with anybody; with one person much less often; and all together with one person
		// so often that nobody gets through a million passwords, but that somebody else cannot easily keep the person
		// out.
		byAddress: auth.NewThrottle(60, 10*time.Minute, s.Now), byPerson: auth.NewThrottle(10, 15*time.Minute, s.Now),
		ofPerson: auth.NewThrottle(100, time.Hour, s.Now), byDevice: auth.NewThrottle(10, 15*time.Minute, s.Now),
		strangers: auth.NewThrottle(60, time.Minute, s.Now),
		// Each page at which somebody could sign in asks for a challenge of passkeys, which is a row.
		challenges:    auth.NewThrottle(300, 10*time.Minute, s.Now),
		allChallenges: auth.NewThrottle(cmp.Or(c.Challenges, 20_000), 10*time.Minute, s.Now),
		// Links that are none keep nobody from signing in.
		links: auth.NewThrottle(60, time.Minute, s.Now), invitations: auth.NewThrottle(60, time.Minute, s.Now),
	}
	var err error
	if a.sessions, err = lru.New[string, known](10_000); err != nil {
		panic(err) // a constant size
	}
	if a.people, err = lru.New[personKey, who](10_000); err != nil {
		panic(err) // a constant size
	}
	s.Ways, s.Standings = append(s.Ways, a.way), append(s.Standings, a.standing)
	return a
}

// Role returns what a person is in an account now, to within Remember; false if they may not do anything.
func (a *API) Role(ctx context.Context, account fleet.AccountID, user fleet.UserID) (auth.Role, bool, error) {
	is, err := a.who(ctx, account, user)
	return is.role, err == nil && !is.locked, err
}

func (a *API) who(ctx context.Context, account fleet.AccountID, user fleet.UserID) (who, error) {
	key := personKey{account, user}
	if is, ok := a.people.Get(key); ok && a.Now().Before(is.until) {
		return is, nil
	}
	until := a.Now().Add(Remember) // what is read may be as old as the beginning of the look-up
	rec, err := a.users.Get(ctx, account, uint64(user))
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return who{locked: true}, nil
	}
	if err != nil {
		return who{}, err
	}
	is := who{until: until, role: auth.Role(rec.Body.Role), name: rec.Body.Name, endedAt: rec.Body.EndedAt.Time,
		locked: rec.Archived() || rec.Body.Disabled}
	if is.rate, err = query.AccountRate(ctx, a.DB, account); err != nil {
		return who{}, err
	}
	a.people.Add(key, is)
	return is, nil
}

// update changes a person, who is then looked up anew.
func (a *API) update(ctx context.Context, by record.Author, account fleet.AccountID, id uint64,
	mutate func(*record.Record[record.User]) error) (record.Record[record.User], error) {
	defer a.people.Remove(personKey{account, fleet.UserID(id)})
	return a.users.Update(ctx, by, account, id, 0, mutate)
}

// secure says whether browsers reach the server over https.
func (a *API) secure(r *http.Request) bool {
	return a.Secure(r) || strings.HasPrefix(a.Settings.PublicURL, "https://")
}

// origin is what browsers call this server. Of a request without a configured address it is what the browser says of
// both ends: a page of another site can change neither.
func (a *API) origin(r *http.Request) string {
	if at, err := url.Parse(a.Settings.PublicURL); err == nil && at.Host != "" {
		return at.Scheme + "://" + at.Host
	}
	if a.secure(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// ours says whether a page of this server makes a request, and none of another. Browsers say so in headers that pages
// cannot set.
func (a *API) ours(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin" || site == "none"
	}
	origin := r.Header.Get("Origin")
	return origin != "" && origin == a.origin(r)
}

// forwarded are the headers of proxies.
var forwarded = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"}

// here says whether a request comes from this machine: its connection does, and no proxy brings it from elsewhere; or
// the server's address was said to be on this machine, and is what the browser went to. What a request alone says of
// its host proves nothing.
func (a *API) here(r *http.Request) bool {
	if at, err := url.Parse(a.Settings.PublicURL); err == nil && at.Host != "" && at.Host == r.Host {
		addr, err := netip.ParseAddr(at.Hostname())
		return at.Hostname() == "localhost" || err == nil && addr.IsLoopback()
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback() &&
		!slices.ContainsFunc(forwarded, func(name string) bool { return r.Header.Get(name) != "" })
}

// address is what people reach this server at: what was said, or that at which the request came in; never what the
// request says of its host, as links would lead wherever somebody else wants. It is "" if nothing is known.
func (a *API) address(r *http.Request) string {
	if a.Settings.PublicURL != "" {
		return a.Settings.PublicURL
	}
	at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return ""
	}
	listens, err := netip.ParseAddrPort(at.String())
	if err != nil {
		return ""
	}
	scheme := "http://"
	if a.secure(r) {
		scheme = "https://"
	}
	return scheme + netip.AddrPortFrom(listens.Addr().Unmap().WithZone(""), listens.Port()).String()
}
