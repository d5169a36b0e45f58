package auth

import (
	"context"
	"net/netip"
	"time"

	"github.com/motorpool/fleet"
)

// Act is what was done with a credential, or to it.
type Act string

// The acts there are.
const (
	Created Act = "created" // and its secret was shown, this once
	Changed Act = "changed" // in what it may do, or from where
	Rotated Act = "rotated" // another secret takes its place
	Revoked Act = "revoked" // it opens nothing any more, or will not from some instant on
	Sealed  Act = "sealed"  // its secret was sealed with another key of the server; nobody saw it
	Used    Act = "used"    // a request was let in by it
	Refused Act = "refused" // it was presented, is a real one, and opened nothing: Use.Reason says why
)

// Acts are all acts, in the order in which they are described.
var Acts = []Act{Created, Changed, Rotated, Revoked, Sealed, Used, Refused}

// Counted says whether acts of the kind are counted by the hour and not noted one by one.
func (a Act) Counted() bool { return a == Used || a == Refused }

// Use is one thing that was done with a credential, or to it, for the audit that its account reads. It never holds a
// secret, or any part of one.
type Use struct {
	Account    fleet.AccountID
	Actor      string // who did it, as Principal.Actor says; "cli" and "system" for the command line and ourselves
	Credential string // its id: key_…, whe_…, usr_…, ses_…, ocl_…, ogr_…
	Kind       string // of the credential: api_key, webhook_secret, password, session, oauth_client, oauth_grant, …
	Act        Act
	Reason     string     // of Refused: expired, revoked, address_not_allowed, … Else empty, or a word about the act
	Client     netip.Addr // the address it came from; the zero Addr if there is none
	At         time.Time
	// Item tells apart what was done in one instant, and is the same when it is noted once more: the revision of a record.
	// 0 draws one. What is counted has none.
	Item uint64
}

// RefusedError is the refusal of a credential that is a real one: whose it is can be told to its account.
type RefusedError struct {
	Account    fleet.AccountID
	Credential string
	Kind       string
	Reason     string // a word: expired, revoked, address_not_allowed
	Err        error  // one of the errors of Authenticate
}

func (e *RefusedError) Error() string { return e.Credential + ": " + e.Err.Error() }

// Unwrap is the error that callers branch on.
func (e *RefusedError) Unwrap() error { return e.Err }

type addressKey struct{}

// WithAddress returns a context that knows the address of the client.
func WithAddress(ctx context.Context, client netip.Addr) context.Context {
	return context.WithValue(ctx, addressKey{}, client)
}

// AddressOf is the address of the client of a request; the zero Addr where there is none.
func AddressOf(ctx context.Context) netip.Addr {
	client, _ := ctx.Value(addressKey{}).(netip.Addr)
	return client
}
