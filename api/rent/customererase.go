package rent

import (
	"context"
	"net/http"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
)

// CustomerErasure is the body of the action that erases a customer's personal data.
type CustomerErasure struct {
	Reason string `json:"reason" minLength:"1" maxLength:"200" doc:"Why; kept, so it should name nobody." example:"request of the customer"`
	Force  bool   `json:"force,omitempty" doc:"Also while a booking is not over, or a balance is open."`
}

func (a *API) customerEraseRoutes(s *rest.Resource[record.Customer]) {
	rest.Act(s, rest.Action[record.Customer, CustomerErasure]{
		Verb: "erase", AnyRevision: true, Accepts: true, Reply: Customer{},
		Summary: "Erase a customer's personal data for good",
		About: "Needs the scope `customers.pii:read` too. Takes name, addresses, licence, notes, documents and files out of every table, with those of customers that were merged into this one, and " +
			"what names the person out of texts of bookings, imports, exports and stored answers. Ids, bookings, amounts and the ledger stay as they are, and so do numbers, times and authors of revisions. " +
			"It cannot be undone. While a booking is pending, confirmed or active, or a balance is open, it is a 409 that names them, unless `force` is set. " +
			"The answer is a 200 with `erased_at` when all of it is done. If that takes longer it is a 202 with `erasing_since`: it goes on by itself, and the customer shows `erased_at` in the end.",
		Answer: func(w http.ResponseWriter, c *rest.Call[record.Customer], sent CustomerErasure) error {
			return a.eraseCustomer(s, w, c, sent)
		},
	})
}

func (a *API) eraseCustomer(
	s *rest.Resource[record.Customer], w http.ResponseWriter, c *rest.Call[record.Customer], sent CustomerErasure,
) error {
	if p := auth.From(c.Context()); !p.Has(auth.CustomersPII) {
		return a.Lacks(w, c.Request, p, auth.CustomersPII)
	}
	rec, err := a.desk.Persons.DecideErasure(c.Context(), c.By, c.Account, c.ID, sent.Reason, sent.Force)
	if err != nil {
		return err
	}
	if rec.Body.ErasedAt.IsZero() {
		ctx, cancel := context.WithTimeout(c.Context(), a.Config.WriteTime*6/10) // the answer needs some of it
		defer cancel()
		if err := a.desk.Persons.FinishErasure(ctx, c.By, c.Account, c.ID); err != nil {
			// It is decided, and will be done.
			a.Log.WarnContext(c.Context(), "an erasure is left to the duty", "customer", c.ID, "error", err,
				"request_id", rest.RequestID(c.Context()))
		}
		if rec, err = a.desk.Customers.Get(c.Context(), c.Account, c.ID); err != nil {
			return err
		}
	}
	if rec.Body.ErasedAt.IsZero() {
		return s.Answer(w, c.Request, http.StatusAccepted, rec)
	}
	return s.Answer(w, c.Request, http.StatusOK, rec)
}
