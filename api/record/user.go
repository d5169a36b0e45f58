package record

import (
	"strings"
	"time"

	"github.com/motorpool/fleet"
)

// UserFields are what callers write of a person who signs in to an account.
type UserFields struct {
	Name   string `json:"name" minLength:"1" maxLength:"100" doc:"As people know them." example:"Ann Lee"`
	Email  string `json:"email" minLength:"3" maxLength:"254" doc:"What they sign in with; nobody else of this server has it, whatever its letters." example:"ann@example.com"`
	Role   string `json:"role" enum:"owner,manager,clerk,analyst,driver" doc:"What they may do. Nobody gives a role that may do more than they may themselves."`
	Locale string `json:"locale,omitempty" maxLength:"35" pattern:"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$" doc:"The language that they read, as BCP 47 writes it." example:"en-US"`
}

// User is a person who signs in, as it is stored. What proves who they are is hashed or sealed, and no history shows
// it.
type User struct {
	UserFields

	Disabled      bool    `json:"disabled,omitempty"`
	PasswordSetAt Instant `json:"password_set_at"`
	TOTPSince     Instant `json:"totp_since"`   // codes of an app are asked since; zero: not
	SignedInAt    Instant `json:"signed_in_at"` // last
	// EndedAt ends all sessions that began before it.
	EndedAt Instant `json:"sessions_ended_at"`

	PasswordHash string    `json:"password_hash,omitempty"` // with its parameters; empty until the invitation is taken up
	Invitation   string    `json:"invitation,omitempty"`    // the SHA-256 of its secret
	InvitedUntil Instant   `json:"invited_until"`
	TOTPSealed   string    `json:"totp_sealed,omitempty"`
	TOTPPending  string    `json:"totp_pending,omitempty"` // sealed, until a code of it has been given
	TOTPStep     int64     `json:"totp_step,omitempty"`    // of the last code that was taken: none up to it is again
	Recovery     []string  `json:"recovery,omitempty"`     // the SHA-256 of each code that is left
	Passkeys     []Passkey `json:"passkeys,omitempty"`
}

// Passkey is a key of a person's device, of which we have the public part.
type Passkey struct {
	ID           string  `json:"id"`            // pky_…
	CredentialID string  `json:"credential_id"` // what browsers call it by, in base64url; one person's of the server
	Name         string  `json:"name"`
	AddedAt      Instant `json:"added_at"`
	LastUsedAt   Instant `json:"last_used_at"` // zero: never
	Credential   []byte  `json:"credential"`   // as the library keeps it
}

// EndSessions ends all sessions that began until now, whatever clock says so: one begins when its person signs in, or
// just after all of theirs were ended. What was ended before stays so.
func (u *User) EndSessions(now time.Time) {
	for _, began := range []time.Time{u.SignedInAt.Time, u.EndedAt.Add(time.Millisecond)} {
		if began.After(now) {
			now = began
		}
	}
	u.EndedAt = InstantOf(now)
}

// CanonicalEmail is an address as it is compared.
func CanonicalEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// Users describes the kind.
var Users = Kind[User]{Name: "user", Prefix: fleet.UserPrefix,
	Hidden: []string{"password_hash", "invitation", "totp_sealed", "totp_pending", "totp_step", "recovery", "passkeys"},
	Claims: func(u *User) []Claim {
		claims := []Claim{{Field: "user.email", Value: CanonicalEmail(u.Email), Global: true, Says: "/email"}}
		for _, p := range u.Passkeys {
			claims = append(claims, Claim{Field: "user.passkey", Value: p.CredentialID, Global: true, Says: "/passkeys"})
		}
		return claims
	},
}
