package record

import "github.com/motorpool/fleet"

// APIKey is an API key as it is stored. The secret is not part of it.
type APIKey struct {
	Name         string   `json:"name"`
	TokenID      string   `json:"token_id"`      // the public part of the key, by which it is found
	SecretSHA256 string   `json:"secret_sha256"` // of the secret part, in hex
	LastFour     string   `json:"last_four"`     // of the secret part
	Scopes       []string `json:"scopes"`
	IPAllowList  []string `json:"ip_allow_list,omitempty"` // addresses or prefixes; empty allows any
	CreatedBy    string   `json:"created_by,omitempty"`
	ExpiresAt    Instant  `json:"expires_at"`
	RevokedAt    Instant  `json:"revoked_at"`
	RotatedTo    string   `json:"rotated_to,omitempty"` // the key that replaces this one
}

// APIKeys describes the kind.
var APIKeys = Kind[APIKey]{
	Name: "api_key", Prefix: fleet.KeyPrefix, Hidden: []string{"secret_sha256"},
	Claims: func(k *APIKey) []Claim {
		return []Claim{{Field: "api_key.token_id", Value: k.TokenID, Global: true, Says: "/token_id"}}
	},
}
