package api

import (
	"net/http"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// Account is the caller's account as it is answered.
type Account struct {
	ID string `json:"id" doc:"Identity." example:"acc_1234"`

	record.Account

	Object string   `json:"object" doc:"Always account." example:"account"`
	Key    string   `json:"api_key_id" doc:"The API key of this request." example:"key_1234"`
	Scopes []string `json:"scopes" nullable:"false" doc:"What the API key of this request may do."`

	Stamps
}

func (a *API) accountRoutes() {
	a.handle(route{
		Method: "GET", Path: "/v1/account", ID: "getAccount", Tag: "Account", Summary: "Get the account of the API key", Reply: Account{},
		Params: []param{{Name: "If-None-Match", In: "header", About: "The `ETag` of what you have; 304 if it is still that."}},
	}, func(w http.ResponseWriter, r *http.Request) error {
		p := auth.From(r.Context())
		rec, err := a.accounts.Get(r.Context(), p.Account, uint64(p.Account))
		if err != nil {
			return err
		}
		view := Account{ID: p.Account.String(), Account: rec.Body, Object: "account", Key: p.Key.String(), Scopes: []string{}, Stamps: stampsOf(rec)}
		for _, s := range p.Scopes {
			view.Scopes = append(view.Scopes, string(s))
		}
		tag := etagOf(rec.Revision, []byte(p.Key.String()))
		w.Header().Set("ETag", tag)
		if unchanged(r, tag) {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
		return writeJSON(w, r, http.StatusOK, view)
	})
}
