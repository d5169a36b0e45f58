package api

import (
	"net/http"

	"github.com/motorpool/fleet"
)

// authorise finds out who makes the request and whether they may, and sets the headers that go with the answer.
func (a *API) authorise(w http.ResponseWriter, r *http.Request, rt *route, x *exchange) error {
	return fleet.NewError(fleet.CodeUnauthorized, "Send an API key as Authorization: Bearer <key>.")
}
