package auth

import (
	"context"
	"net/http"
)

// Way is one way to prove who makes a request, beside an API key. It says false if the request has no credential of its
// kind.
type Way func(r *http.Request) (p *Principal, ok bool, err error)

// Standing says what whoever asked for something earlier may do now: the principal as it is today, or as what took its
// place. It says false if the credential is not of its kind, and a *fleet.Error says why it may do nothing any more.
type Standing func(ctx context.Context, asked *Principal) (now *Principal, ok bool, err error)
