package record

import "github.com/motorpool/fleet"

// OAuthClientFields are what callers write of an OAuth client.
type OAuthClientFields struct {
	Name         string   `json:"name" minLength:"1" maxLength:"100" doc:"As people read it where they are asked for consent." example:"Route planner"`
	RedirectURIs []string `json:"redirect_uris,omitempty" maxItems:"20" nullable:"false" doc:"Where people come back to, for authorization_code. Compared character by character: https://, http:// on 127.0.0.1 or [::1] of which the port is free, or a scheme of its own that is a name turned around, such as com.example.app:/back." example:"[\"https://example.com/back\"]"`
	GrantTypes   []string `json:"grant_types" minItems:"1" maxItems:"3" nullable:"false" enum:"client_credentials,authorization_code,refresh_token" doc:"How it gets access tokens." example:"[\"client_credentials\"]"`
	Scopes       []string `json:"scopes" minItems:"1" maxItems:"40" nullable:"false" doc:"The most that its tokens may do; nothing that the credential which writes it may not. A token that was given holds what stands here now." example:"[\"vehicles:read\"]"`
	DPoPBound    bool     `json:"dpop_bound_access_tokens,omitempty" doc:"It gets only tokens that work with a key of its own (DPoP, RFC 9449)."`
}

// OAuthClient is an OAuth client as it is stored.
type OAuthClient struct {
	OAuthClientFields

	ClientID  string              `json:"client_id"`         // the id of the record, over all accounts
	Type      string              `json:"type"`              // confidential or public
	Status    string              `json:"status"`            // enabled or disabled
	Secrets   []OAuthClientSecret `json:"secrets,omitempty"` // those that prove who it is, the newest first
	CreatedBy string              `json:"created_by,omitempty"`
}

// OAuthClientSecret is what is kept of a secret of a client.
type OAuthClientSecret struct {
	ID        string  `json:"id"`
	SHA256    string  `json:"sha256"`
	LastFour  string  `json:"last_four"`
	CreatedAt Instant `json:"created_at"`
	ExpiresAt Instant `json:"expires_at"` // zero is for good
}

// Types and states of OAuth clients.
const (
	OAuthConfidential = "confidential"
	OAuthPublic       = "public"

	OAuthEnabled  = "enabled"
	OAuthDisabled = "disabled"
)

// OAuthClients describes the kind.
var OAuthClients = Kind[OAuthClient]{Name: "oauth_client", Prefix: fleet.ClientPrefix, Hidden: []string{"secrets"},
	Claims: func(c *OAuthClient) []Claim {
		return []Claim{{Field: "oauth_client.id", Value: c.ClientID, Global: true, Says: "/id"}}
	}}

// OAuthGrant is what a person gave to a client. Archived it is taken away.
type OAuthGrant struct {
	ClientID  string `json:"client_id"`
	UserID    string `json:"user_id"`
	SessionID string `json:"session_id,omitempty"` // in which it was given
	// SessionBeganAt is when that session began: what ends it ends the grant.
	SessionBeganAt Instant  `json:"session_began_at"`
	Scopes         []string `json:"scopes"`
	Ended          string   `json:"ended,omitempty"` // why it was taken away: empty, or one of the words below
}

// Why grants end by themselves.
const (
	GrantCodeReused    = "code_reused"
	GrantRefreshReused = "refresh_token_reused"
	GrantRevoked       = "revoked_by_client"
)

// OAuthGrants describes the kind.
var OAuthGrants = Kind[OAuthGrant]{Name: "oauth_grant", Prefix: fleet.GrantPrefix}

// OAuthKeyring is the keys that access tokens are signed with, the newest first. There is one, of no account.
type OAuthKeyring struct {
	Keys []OAuthKey `json:"keys"`
}

// OAuthKey is a key that access tokens are signed with.
type OAuthKey struct {
	ID        string  `json:"id"`
	Sealed    string  `json:"sealed"`
	CreatedAt Instant `json:"created_at"`
	SignsFrom Instant `json:"signs_from"` // it is published before, so that whoever keeps the keys knows it
}

// OAuthKeyrings describes the kind.
var OAuthKeyrings = Kind[OAuthKeyring]{Name: "oauth_keyring", Prefix: "okr_", Hidden: []string{"keys"}}
