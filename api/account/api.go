// Package account serves what belongs to the platform and not to a fleet: the account, its API keys and their use,
// events, and the stream of what happens.
package account

import (
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/eventview"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/stream"
)

// API holds the resources of the platform.
type API struct {
	*rest.Server
	Stream *stream.Hub // of what happens; without it /v1/events and /v1/stream answer 503

	accounts *record.Log[record.Account]
	keys     *record.Log[record.APIKey]
	audit    *audit

	eventTypes []EventType // that there are
	catalogue  *eventview.Catalogue
}

// New makes the resources of the platform on a server, which from then on knows the keys of accounts. It
// registers nothing.
func New(s *rest.Server, d *desk.Desk, hub *stream.Hub) *API {
	a := &API{Server: s, Stream: hub, accounts: d.Accounts, keys: record.NewLog(s.Store, record.APIKeys)}
	s.KeyUsed = newKeyUses(a).note
	s.Standings = append(s.Standings, a.standing)
	a.audit = newAudit(a)
	s.Noted = a.audit.note
	a.audit.follow(s.Store)
	s.Auth = auth.NewAuthenticator(s.Config.Auth, a.lookupKey, s.Now)
	return a
}
