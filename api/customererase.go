package api

import (
	"context"
	"net/http"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// CustomerErasure is the body of the action that erases a customer's personal data.
type CustomerErasure struct {
	Reason string `json:"reason" minLength:"1" maxLength:"200" doc:"Why; kept, so it should name nobody." example:"request of the customer"`
	Force  bool   `json:"force,omitempty" doc:"Also while a booking is not over, or a balance is open."`
}

func (a *API) customerEraseRoutes(s *resource[record.Customer]) {
	a.handle(route{
		Method: "POST", Path: "/v1/customers/{id}/erase", ID: "eraseCustomer", Tag: "Customers", Scope: auth.CustomersWrite,
		Summary: "Erase a customer's personal data for good",
		About: "Needs the scope `customers.pii:read` too. Takes name, addresses, licence, notes, documents and files out of every table, with those of customers that were merged into this one, and " +
			"what names the person out of texts of bookings, imports, exports and stored answers. Ids, bookings, amounts and the ledger stay as they are, and so do numbers, times and authors of revisions. " +
			"It cannot be undone. While a booking is pending, confirmed or active, or a balance is open, it is a 409 that names them, unless `force` is set. " +
			"The answer is a 200 with `erased_at` when all of it is done. If that takes longer it is a 202 with `erasing_since`: it goes on by itself, and the customer shows `erased_at` in the end.",
		Body: CustomerErasure{}, Accepts: true, Reply: Customer{},
	}, func(w http.ResponseWriter, r *http.Request) error { return a.eraseCustomer(s, w, r) })
}

func (a *API) eraseCustomer(s *resource[record.Customer], w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "customer", fleet.CustomerPrefix)
	if err != nil {
		return err
	}
	p := auth.From(r.Context())
	if !p.Has(auth.CustomersPII) {
		w.Header().Set("WWW-Authenticate", realm+`, error="insufficient_scope", scope="`+string(auth.CustomersPII)+`"`)
		return fleet.NewError(fleet.CodeForbidden, "The API key lacks the scope "+string(auth.CustomersPII)+".")
	}
	var sent CustomerErasure
	if err := a.decodeBody(r, &sent); err != nil {
		return err
	}
	rec, err := a.desk.Persons.DecideErasure(r.Context(), author(r), p.Account, id, sent.Reason, sent.Force)
	if err != nil {
		return err
	}
	if rec.Body.ErasedAt.IsZero() {
		ctx, cancel := context.WithTimeout(r.Context(), a.cfg.WriteTime*6/10) // the answer needs some of it
		defer cancel()
		if err := a.desk.Persons.FinishErasure(ctx, author(r), p.Account, id); err != nil {
			// It is decided, and will be done.
			a.log.WarnContext(r.Context(), "an erasure is left to the duty", "customer", id, "error", err, "request_id", requestID(r.Context()))
		}
		if rec, err = a.desk.Customers.Get(r.Context(), p.Account, id); err != nil {
			return err
		}
	}
	if rec.Body.ErasedAt.IsZero() {
		return s.answer(w, r, http.StatusAccepted, rec)
	}
	return s.answer(w, r, http.StatusOK, rec)
}
