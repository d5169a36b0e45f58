package api

import (
	"slices"

	"github.com/motorpool/fleet/api/account"
	"github.com/motorpool/fleet/api/auth"
)

// MayHear says whether scopes let their holder be told of a type of events.
func MayHear(scopes []string, eventType string) bool {
	needed, ok := scopeOf[eventType]
	return ok && (slices.Contains(scopes, needed) || slices.Contains(scopes, string(auth.Admin)))
}

// scopeOf is the scope that each type of events takes.
var scopeOf = func() map[string]string {
	of := map[string]string{}
	for _, t := range account.EventsOf(kinds) {
		of[t.Type] = t.Scope
	}
	return of
}()
