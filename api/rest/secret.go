package rest

import (
	"net/http"
	"strconv"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// CreateSecret creates a record whose secret is shown in the answer and never again. An earlier attempt of the request
// may have got as far as the record, and nobody ever saw its secret: take then puts that of this one in its place.
func CreateSecret[T any](r *http.Request, log *record.Log[T], id uint64, body T, take func(*T)) (record.Record[T],
	error) {
	account := auth.From(r.Context()).Account
	rec, fresh, err := log.Create(r.Context(), Author(r), account, id, body)
	if err == nil && !fresh {
		rec, err = log.Update(r.Context(), Author(r), account, rec.ID, 0, func(rec *record.Record[T]) error {
			take(&rec.Body)
			return nil
		})
	}
	return rec, err
}

// SecretOverlap is how long the secret before works beside a new one: a day, unless it is said in hours.
func SecretOverlap(hours *int) time.Duration {
	if hours == nil {
		return 24 * time.Hour
	}
	return time.Duration(*hours) * time.Hour
}

// MayGrant looks at the scopes that a request is about to give to something, in its member scopes. Those that are none
// are faults; one that whoever makes the request does not hold is an error.
func MayGrant(r *http.Request, scopes []string) (faults []fleet.FieldError, err error) {
	p := auth.From(r.Context())
	for i, name := range scopes {
		at := "/scopes/" + strconv.Itoa(i)
		if !auth.Scope(name).Known() {
			faults = append(faults, fleet.FieldError{Pointer: at, Code: "unknown_scope", Detail: "there is no scope " + name})
		} else if !p.Has(auth.Scope(name)) {
			return nil, fleet.NewError(fleet.CodeForbidden, "The "+p.Called()+" cannot grant the scope "+name+
				", which it does not hold itself.",
				fleet.FieldError{Pointer: at, Code: "not_held", Detail: "not held by the credential that makes the request"})
		}
	}
	return faults, nil
}
