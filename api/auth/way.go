package auth

import "net/http"

// Way is one way to prove who makes a request, beside an API key. It says false if the request has no credential of its
// kind.
type Way func(r *http.Request) (p *Principal, ok bool, err error)
