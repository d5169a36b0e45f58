// Package oauth is the authorization server: it gives programs access tokens (OAuth 2.0, as RFC 9700 has it), and
// has the interface take them. It owns the OAuth clients of accounts, what people granted to them, and the keys that
// tokens are signed with.
//
//	client ──/oauth/token (client_credentials)──────────────────────────────► access token
//	person ──/oauth/authorize──► consent ──code──► client ──/oauth/token──► access token, refresh token ─┐
//	                                                              └──────────── (refresh_token) ◄────────┘
//
// An access token is a signed text (RFC 9068) that lasts minutes, and what it may do is decided anew at each use:
// the scopes that it was given, of them those that the client has now, of them those of the person's role now. A
// client that was disabled, a grant that was taken away or a token that was revoked is felt within five seconds
// everywhere.
//
// Codes and refresh tokens work once (record.Once): of all who redeem one, in any number of processes, one wins. A
// second use tells that somebody has it who should not, and ends the grant.
package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/seal"
)

// Config says who the authorization server is and what it stands on.
type Config struct {
	Issuer string    // address at which clients reach the server, "https://fleet.example.com"; empty serves no OAuth
	Keys   seal.Ring // signing keys are sealed with; without a key no token can be signed

	// SignedIn says who is signed in at a browser, and SignIn is the address of the page that signs people in and comes
	// back to next; with again it asks those too who are signed in. Without them nobody can consent.
	SignedIn func(r *http.Request) (auth.Person, bool, error)
	SignIn   func(next string, again bool) string
	// RoleOf is what a person is in an account now; false if they are not there any more.
	RoleOf func(ctx context.Context, account fleet.AccountID, user fleet.UserID) (auth.Role, bool, error)
	// EndedAt is when a person ended all that they were signed in with; what they granted until then is over. It may be
	// nil.
	EndedAt func(ctx context.Context, account fleet.AccountID, user fleet.UserID) (time.Time, error)
}

// Validate says what is wrong with the settings.
func (c *Config) Validate() error {
	if c.Issuer == "" {
		return nil
	}
	u, err := url.Parse(c.Issuer)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || !plainHost(u.Host) ||
		!strings.EqualFold(c.Issuer, u.Scheme+"://"+u.Host) {
		return fmt.Errorf("%q is no public address: it must be https:// and a host, without a path, such as "+
			"https://fleet.example.com", c.Issuer)
	}
	ip, _ := netip.ParseAddr(u.Hostname())
	if u.Scheme == "http" && !strings.EqualFold(u.Hostname(), "localhost") && !ip.IsLoopback() {
		return fmt.Errorf("%q is no public address: passwords and access tokens would be sent in clear. http:// is for this "+
			"machine alone; give the https:// address that clients reach the server at", c.Issuer)
	}
	if as := Written(c.Issuer); as != c.Issuer {
		return fmt.Errorf("%q is not how browsers write that public address, by which it is compared: give %s", c.Issuer, as)
	}
	return nil
}

// Written is the address of a server as browsers write it: in small letters, with a port only if it is not that of the
// scheme, and with the one way in which an address in numbers is written.
func Written(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	host, port := strings.ToLower(u.Hostname()), strings.TrimLeft(u.Port(), "0")
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.String()
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" && u.Scheme+port != "https443" && u.Scheme+port != "http80" {
		host += ":" + port
	}
	return u.Scheme + "://" + host
}

// asksOfNetwork is how often a network may ask for a token within a minute.
const asksOfNetwork = 600

// How long things last.
const (
	accessLasts  = 10 * time.Minute
	codeLasts    = time.Minute
	refreshLasts = 30 * 24 * time.Hour  // since it was given; each use gives a new one
	familyLasts  = 180 * 24 * time.Hour // all refresh tokens that come of one consent
	consentLasts = 10 * time.Minute     // for a person to read the page
	freshLasts   = time.Hour            // a sign-in, for whoever gives what deserves a second look
	remembers    = 4 * time.Second      // what decides over a token
)

// API holds OAuth clients and grants, and the authorization server.
type API struct {
	*rest.Server
	Settings Config

	clients *record.Log[record.OAuthClient]
	grants  *record.Log[record.OAuthGrant]
	keys    *keyring
	door    *auth.Doorkeeper[*client]
	states  *memo[string, state]
	paced   *auth.Throttle // for tokens, by network
}

// New makes the authorization server on a server of the interface, which from then on takes access tokens. It
// registers nothing.
func New(s *rest.Server, c Config) (*API, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	a := &API{Server: s, Settings: c, clients: record.NewLog(s.Store, record.OAuthClients),
		grants: record.NewLog(s.Store, record.OAuthGrants)}
	a.keys = &keyring{log: record.NewLog(s.Store, record.OAuthKeyrings), ring: c.Keys, now: s.Now}
	a.door = auth.NewDoorkeeper(s.Config.Auth, a.lookup, proves, s.Now)
	a.paced = auth.NewThrottle(asksOfNetwork, time.Minute, s.Now)
	a.states = newMemo[string, state](remembers, s.Now)
	if c.Issuer != "" {
		s.Ways, s.Standings = append(s.Ways, a.bearer), append(s.Standings, a.standing)
		s.ResourceMetadata = c.Issuer + resourcePath
	}
	return a, nil
}

// resource is what access tokens are for: the whole interface.
func (a *API) resource() string { return a.Settings.Issuer }

// Routes registers clients, grants and the endpoints of the authorization server.
func (a *API) Routes() {
	a.clientRoutes()
	a.grantRoutes()
	a.metadataRoutes()
	a.tokenRoutes()
	a.pageRoutes()
	a.describe()
}

// noIssuer refuses what a server without an address cannot do.
func (a *API) noIssuer() error {
	if a.Settings.Issuer == "" {
		return fleet.NewError(fleet.CodeNotFound, "This server does not know its public address, so that it gives no access "+
			"tokens: its operator says it with --public-url, such as --public-url https://fleet.example.com.")
	}
	return nil
}

// noKey says to callers that the server has nothing to seal with, or has lost it.
func noKey(err error) error {
	if errors.Is(err, seal.ErrUnknownKey) {
		return fleet.NewError(fleet.CodeUnavailable, "This server lacks the key that its signing keys are sealed with, so "+
			"that it gives and takes no access tokens: its operator puts that key into --seal-key-file again, or, if it is "+
			"lost, runs 'motorpool seal rotate --lost'.")
	}
	if errors.Is(err, seal.ErrNoKey) {
		return fleet.NewError(fleet.CodeUnavailable, "This server has no key to seal secrets with, so that it can sign no "+
			"access tokens: its operator gives it one with --seal-key-file.")
	}
	return err
}

// texts are scopes as texts.
func texts(scopes []auth.Scope) []string {
	all := make([]string, len(scopes))
	for i, s := range scopes {
		all[i] = string(s)
	}
	return all
}
