package auth

import (
	"time"

	"github.com/motorpool/fleet"
)

// Person is who is signed in at this browser.
type Person struct {
	Account fleet.AccountID
	User    fleet.UserID
	Session fleet.SessionID
	Name    string // as people know the person
	Role    Role
	Since   time.Time // when the person last proved who they are
}
