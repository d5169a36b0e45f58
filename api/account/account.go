package account

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/api/rest"
)

// Account is the caller's account as it is answered.
type Account struct {
	ID string `json:"id" doc:"Identity." example:"acc_1234"`

	record.Account

	Object string   `json:"object" doc:"Always account." example:"account"`
	Key    *string  `json:"api_key_id" nullable:"true" doc:"The API key of this request; null if there is none." example:"key_1234"`
	User   *string  `json:"user_id" nullable:"true" doc:"The person who makes this request; null of an API key." example:"usr_1234"`
	Scopes []string `json:"scopes" nullable:"false" doc:"What the API key of this request, or the person's role, lets it do."`

	rest.Stamps
}

func (a *API) accountRoutes() {
	a.Handle(rest.Route{
		Method: "GET", Path: "/v1/account", ID: "getAccount", Tag: "Account", Summary: "Get the account of the API key",
		Reply:  Account{},
		Params: []rest.Param{rest.IfNoneMatchParam},
	}, func(w http.ResponseWriter, r *http.Request) error {
		account := auth.From(r.Context()).Account
		rec, err := a.accounts.Get(r.Context(), account, uint64(account))
		if err != nil {
			return err
		}
		return a.answerAccount(w, r, rec)
	})
	a.Handle(rest.Route{
		Method: "PATCH", Path: "/v1/account", ID: "updateAccount", Tag: "Account",
		Summary: "Change the account of the API key", Scope: auth.Admin,
		About: "A merge patch (RFC 7396): null removes a member, objects merge, arrays are replaced whole, and what is left out stays. `trip_settings` hold for trips from now on; older trips stay as they are until late positions have them derived again.\n\n" +
			"With `retention_days` of at least 30, what happened longer ago than so many days of UTC is deleted for good, a day at a time: positions " +
			"(in searches and heat maps too), telemetry and its rollups, tags that trackers read, trips, stops, charges, visits, driving events and alerts that were over by " +
			"then, events, dead letters, and the audit of credentials, which goes after 400 days in any case. What began before and ended after, or goes on, stays whole until its end is that old. Business " +
			"records stay (bookings, customers and their documents, ledger, meter readings, drivers of trips, acknowledgements), and so do the " +
			"newest state and measurements of each vehicle. A first or a smaller number deletes within minutes all that is older; a larger one " +
			"brings nothing back. Files of imports and exports go after 30 days, whatever this says.",
		Params: []rest.Param{rest.IfMatchParam},
		Body:   AccountFields{}, BodyTypes: []string{"application/merge-patch+json", "application/json"}, Reply: Account{},
	}, a.patchAccount)
}

// leastRetention is how many days are kept at least, so that a slip does not delete what is in use.
const leastRetention = 30

// AccountFields is what callers write of their account.
type AccountFields record.Account

func (a *API) patchAccount(w http.ResponseWriter, r *http.Request) error {
	patch, err := rest.ParseObject(rest.RequestBody(r))
	if err != nil {
		return err
	}
	account := auth.From(r.Context()).Account
	rec, err := a.accounts.Update(r.Context(), rest.Author(r), account, uint64(account), 0,
		func(rec *record.Record[record.Account]) error {
			if err := rest.Precondition(r, rec.Revision); err != nil {
				return err
			}
			object, err := rest.Members(rec.Body)
			if err != nil {
				return err
			}
			rest.MergePatch(object, patch)
			var body AccountFields
			if err := a.DecodeObject(object, &body); err != nil {
				return err
			}
			if faults := body.TripSettings.Faults(); faults != nil {
				return fleet.Invalid(faults...)
			}
			if err := rest.CheckZone(body.Timezone); err != nil {
				return err
			}
			if body.Country != "" && !record.Dials(body.Country) {
				return fleet.Invalid(fleet.FieldError{Pointer: "/country", Code: "invalid", Detail: "is not a country, as US is"})
			}
			amounts := map[string]*record.Money{}
			if costs := body.EnergyCosts; costs != nil {
				amounts["/energy_costs/gallon"], amounts["/energy_costs/kwh"] = costs.Gallon, costs.KilowattHour
			}
			if settings := body.Bookings; settings != nil {
				for i := range settings.OneWayFees {
					amounts[fmt.Sprintf("/booking_settings/one_way_fees/%d/fee", i)] = &settings.OneWayFees[i].Fee
				}
			}
			if faults := rest.FeeFaults(price.Limit, amounts); faults != nil {
				return fleet.Invalid(faults...)
			}
			if faults := paperFaults(body.Papers); faults != nil {
				return fleet.Invalid(faults...)
			}
			if days := body.RetentionDays; days != rec.Body.RetentionDays && days != 0 && days < leastRetention {
				return fleet.Invalid(fleet.FieldError{Pointer: "/retention_days", Code: "out_of_range",
					Detail: fmt.Sprintf("must be 0, or at least %d", leastRetention)})
			}
			if body.BooksClosed != rec.Body.BooksClosed {
				return fleet.Invalid(fleet.FieldError{Pointer: "/books_closed_through", Code: "read_only",
					Detail: "is changed by POST /v1/ledger/close and /v1/ledger/reopen"})
			}
			if !reflect.DeepEqual(body.RateLimit, rec.Body.RateLimit) {
				return fleet.Invalid(fleet.FieldError{Pointer: "/rate_limit", Code: "read_only",
					Detail: "is set by whoever runs the server, by 'motorpool account limit'"})
			}
			if !maps.Equal(body.LedgerChart, rec.Body.LedgerChart) {
				return fleet.Invalid(fleet.FieldError{Pointer: "/ledger_chart", Code: "read_only",
					Detail: "is changed by PATCH /v1/ledger/chart"})
			}
			rec.Body = record.Account(body)
			return nil
		})
	if err != nil {
		return err
	}
	return a.answerAccount(w, r, rec)
}

// answerAccount shows the account, to the key that asks.
func (a *API) answerAccount(w http.ResponseWriter, r *http.Request, rec record.Record[record.Account]) error {
	p := auth.From(r.Context())
	view := Account{ID: p.Account.String(), Account: rec.Body, Object: "account", Scopes: []string{},
		Stamps: rest.StampsOf(rec)}
	if p.Key != 0 {
		view.Key = rest.TextOrNull(p.Key.String())
	}
	if p.User != 0 {
		view.User = rest.TextOrNull(p.User.String())
	}
	for _, s := range p.Scopes {
		view.Scopes = append(view.Scopes, string(s))
	}
	tag := rest.ETagOf(rec.Revision, []byte(p.Credential()+" "+strings.Join(view.Scopes, " ")))
	w.Header().Set("ETag", tag)
	if r.Method != http.MethodPatch && rest.Unchanged(r, tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return rest.WriteJSON(w, r, http.StatusOK, view)
}
