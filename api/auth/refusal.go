package auth

import (
	"context"

	"github.com/motorpool/fleet"
)

// Refusal is a credential that proves nothing, and how whoever presents it is told.
type Refusal struct {
	Scheme string // of the Authorization header, in which the next one is asked for: Bearer unless given
	Code   string // for programs, as RFC 6750 and RFC 9449 name it; invalid_token unless given
	Says   string // for people, and what to do
	Cause  error  // for the log; may be nil
}

func (e *Refusal) Error() string {
	if e.Cause != nil {
		return e.Cause.Error()
	}
	return e.Says
}

// Unwrap returns what callers of the interface see.
func (e *Refusal) Unwrap() error { return fleet.NewError(fleet.CodeUnauthorized, e.Says) }

type againKey struct{}

// Again returns a context in which a request is authenticated once more: what may be presented only once was, and is
// not asked about again.
func Again(ctx context.Context) context.Context { return context.WithValue(ctx, againKey{}, true) }

// IsAgain says whether a context is one of Again.
func IsAgain(ctx context.Context) bool { return ctx.Value(againKey{}) != nil }
