package user

import "github.com/motorpool/fleet/api/record"

// factorPath is the page that asks for a second factor.
const factorPath = "/signin/factor"

// asksMore says whether the password alone does not let a person in.
func asksMore(b *record.User) bool { return b.TOTPSealed != "" || len(b.Passkeys) > 0 }
