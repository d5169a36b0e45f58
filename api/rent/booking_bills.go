package rent

import (
	"math"
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/api/rest"
)

// ChargeNew is a charge as callers write it.
type ChargeNew struct {
	Type        string       `json:"type" enum:"time,mileage,extra,protection,delivery,one_way,young_driver,additional_driver,cleaning,smoking,refuel,recharge,late_return,toll,fine,damage,impound,discount,promo,adjustment"`
	Description string       `json:"description,omitempty" maxLength:"300"`
	Quantity    int64        `json:"quantity,omitempty" minimum:"1" maximum:"100000" doc:"1 unless given."`
	UnitPrice   record.Money `json:"unit_price" doc:"A discount or promo takes it off, whichever sign it has; an adjustment may be negative, all others must be above 0."`
	Taxable     *bool        `json:"taxable,omitempty" doc:"Whether the taxes of the booking are due on it; they are posted with it. Unless given a discount or promo lowers the taxes, and others are not taxed."`

	At record.Instant `json:"at,omitzero" doc:"When it came about; now unless given. It counts in the books then, but not before pickup, and of a booking that came to nothing not before that."`
}

// ChargeReversal is the body that takes a charge back.
type ChargeReversal struct {
	Reason string         `json:"reason,omitempty" maxLength:"300"`
	At     record.Instant `json:"at,omitzero" doc:"When it was taken back; now unless given. It counts in the books then."`
}

// DepositOrder is the body of what is done with a deposit.
type DepositOrder struct {
	Amount      *record.Money  `json:"amount,omitempty" doc:"All that there is unless given."`
	ProviderRef string         `json:"provider_ref,omitempty" maxLength:"200"`
	ExpiresAt   record.Instant `json:"expires_at,omitzero" doc:"Of an authorization."`
	At          record.Instant `json:"at,omitzero" doc:"When it was done; now unless given. Money counts in the books then."`
}

// DamageNew is a damage as callers report it.
type DamageNew struct {
	Description string        `json:"description" minLength:"1" maxLength:"1000"`
	Severity    string        `json:"severity" enum:"cosmetic,minor,major,unroadworthy"`
	Place       string        `json:"place,omitempty" maxLength:"100"`
	Photos      []string      `json:"photos,omitempty" maxItems:"20" nullable:"false"`
	Estimate    *record.Money `json:"estimate,omitempty"`

	At record.Instant `json:"at,omitzero" doc:"When it was found; now unless given."`
}

// DamageMove is the body that moves a damage to another state.
type DamageMove struct {
	Status   string        `json:"status" enum:"assessed,charged,waived,repaired,closed"`
	Estimate *record.Money `json:"estimate,omitempty"`
	Charge   *record.Money `json:"charge,omitempty" doc:"What is charged for it; the estimate unless given."`

	At record.Instant `json:"at,omitzero" doc:"When it was charged; now unless given. The charge counts in the books then."`
}

// mostMinor bounds amounts that callers write, so that sums never overflow.
const mostMinor = 1_000_000_000_000

// checkCosts refuses what a damage cannot cost.
func checkCosts(costs map[string]*record.Money) error {
	for pointer, m := range costs {
		if m != nil && m.Amount < 0 {
			return fleet.Invalid(fleet.FieldError{Pointer: pointer + "/amount", Code: "out_of_range",
				Detail: "must not be negative"})
		}
	}
	return checkAmounts(costs)
}

// checkAmounts refuses amounts that are out of range.
func checkAmounts(amounts map[string]*record.Money) error {
	for pointer, m := range amounts {
		if m != nil && (m.Amount > mostMinor || m.Amount < -mostMinor) {
			return fleet.Invalid(fleet.FieldError{Pointer: pointer, Code: "invalid", Detail: "is out of range"})
		}
	}
	return nil
}

func (a *API) bookingBillRoutes(s *rest.Resource[record.Booking]) {
	type asked = rest.Call[record.Booking]
	items(s, "charges", "listBookingCharges", "List the charges of a booking",
		func(b *record.Booking) []record.Charge { return b.Charges })
	items(s, "inspections", "listBookingInspections", "List the inspections of a booking",
		func(b *record.Booking) []record.Inspection { return b.Inspections })
	items(s, "damages", "listBookingDamages", "List the damages of a booking",
		func(b *record.Booking) []record.Damage { return b.Damages })
	newItem(s, bookingAction[ChargeNew]{
		Verb: "charges", ID: "addBookingCharge", Summary: "Post a charge to a booking",
		About: "Posted charges are never edited, only reversed. Taxes that are due on it are posted with it. A " +
			"discount takes off no more than the charges come to before taxes: 422.",
	}, fleet.ChargePrefix, func(c *asked, id string, sent ChargeNew) (record.Charge, error) {
		if sent.Quantity == 0 {
			sent.Quantity = 1
		}
		if err := checkAmounts(map[string]*record.Money{"/unit_price": &sent.UnitPrice}); err != nil {
			return record.Charge{}, err
		}
		if sent.UnitPrice.Amount == 0 || math.Abs(float64(sent.UnitPrice.Amount))*float64(sent.Quantity) > mostMinor {
			return record.Charge{}, fleet.Invalid(fleet.FieldError{Pointer: "/unit_price/amount", Code: "invalid",
				Detail: "is nothing, or too much with that quantity"})
		}
		taxable := price.Lowers(sent.Type)
		if sent.Taxable != nil {
			taxable = *sent.Taxable
		}
		charge := record.Charge{ID: id, Type: sent.Type, Description: sent.Description,
			Quantity: sent.Quantity, UnitPrice: sent.UnitPrice,
			Amount:  record.Money{Amount: sent.UnitPrice.Amount * sent.Quantity, Currency: sent.UnitPrice.Currency},
			Taxable: taxable, Source: "manual"}
		rec, err := a.desk.AddCharge(c.Context(), orderAt(c, sent.At), charge)
		return first(rec.Body.Charges, func(c record.Charge) bool { return c.ID == id }), err
	})
	newItem(s, bookingAction[ChargeReversal]{
		Verb: "charges/{charge}/reverse", ID: "reverseBookingCharge", Summary: "Take a charge back", Optional: true,
		About: "By another charge of the opposite amount, with the taxes on it.",
	}, fleet.ChargePrefix, func(c *asked, id string, sent ChargeReversal) (record.Charge, error) {
		rec, err := a.desk.ReverseCharge(c.Context(), orderAt(c, sent.At), chi.URLParam(c.Request, "charge"), id, sent.Reason)
		return first(rec.Body.Charges, func(c record.Charge) bool { return c.ID == id }), err
	})
	newItem(s, bookingAction[BookingInspection]{
		Verb: "inspections", ID: "addBookingInspection", Summary: "Add an inspection to a booking", Optional: true,
	}, fleet.InspectionPrefix, func(c *asked, id string, sent BookingInspection) (record.Inspection, error) {
		i := sent.record()
		if i.ID = id; i.Type == "" {
			i.Type = "periodic"
		}
		rec, err := a.desk.AddInspection(c.Context(), orderOf(c), *i)
		return first(rec.Body.Inspections, func(i record.Inspection) bool { return i.ID == id }), err
	})
	newItem(s, bookingAction[DamageNew]{
		Verb: "damages", ID: "addBookingDamage", Summary: "Report damage",
	}, fleet.DamagePrefix, func(c *asked, id string, sent DamageNew) (record.Damage, error) {
		if err := checkCosts(map[string]*record.Money{"/estimate": sent.Estimate}); err != nil {
			return record.Damage{}, err
		}
		rec, err := a.desk.AddDamage(c.Context(), orderOf(c), record.Damage{ID: id, Description: sent.Description,
			Severity: sent.Severity, Place: sent.Place, Photos: sent.Photos, Estimate: sent.Estimate, At: sent.At})
		return first(rec.Body.Damages, func(v record.Damage) bool { return v.ID == id }), err
	})
	rest.Act(s, bookingAction[DamageMove]{
		Verb: "damages/{damage}/status", ID: "setBookingDamageStatus", Summary: "Move a damage to another state",
		Refuses: rest.OtherState,
		About:   "reported, assessed, charged or waived, repaired, closed. Charging it posts a charge.",
		Do: func(c *asked, sent DamageMove) (record.Record[record.Booking], error) {
			if err := checkCosts(map[string]*record.Money{"/estimate": sent.Estimate, "/charge": sent.Charge}); err != nil {
				return record.Record[record.Booking]{}, err
			}
			return a.desk.SetDamage(c.Context(), orderAt(c, sent.At),
				desk.DamageRequest{ID: chi.URLParam(c.Request, "damage"), Status: sent.Status,
					Estimate: sent.Estimate, Charge: sent.Charge})
		},
	})
	for does, about := range map[rental.DepositAction]string{
		rental.Authorize: "The provider holds the amount.", rental.Capture: "The money is taken, all of it or a part.",
		rental.Release: "What was authorized lapses, or what was captured and not used is given back.",
		rental.Apply:   "What was captured pays what the customer owes.",
	} {
		verb := string(does)
		rest.Act(s, bookingAction[DepositOrder]{
			Verb: "deposit/" + verb, ID: verb + "BookingDeposit", Summary: "Deposit: " + verb, About: about,
			Optional: true, Refuses: rest.OtherState,
			Do: func(c *asked, sent DepositOrder) (record.Record[record.Booking], error) {
				order := rental.DepositOrder{
					Action: does, ProviderRef: sent.ProviderRef, ExpiresAt: sent.ExpiresAt.Time,
				}
				if sent.Amount != nil {
					if order.Amount, order.Currency = sent.Amount.Amount, sent.Amount.Currency; order.Amount <= 0 ||
						order.Amount > mostMinor {
						return record.Record[record.Booking]{},
							fleet.Invalid(fleet.FieldError{Pointer: "/amount/amount", Code: "invalid", Detail: "must be above 0"})
					}
				}
				return a.desk.SetDeposit(c.Context(), orderAt(c, sent.At), order)
			},
		})
	}
}

// first is the item that a condition finds; the zero one if there is none.
func first[T any](items []T, which func(T) bool) T {
	if at := slices.IndexFunc(items, which); at >= 0 {
		return items[at]
	}
	var none T
	return none
}

// items lists what a booking has of something; it is not much, so that pages are cut here.
func items[T any](s *rest.Resource[record.Booking], path, id, summary string, of func(*record.Booking) []T) {
	var zero T
	s.Server.Handle(rest.Route{
		Method: "GET", Path: s.Path + "/{id}/" + path, ID: id, Tag: s.Tag, Scope: s.Scope.Read, Summary: summary,
		Params: rest.PageParams, Reply: s.Server.ListSchema(zero),
	}, func(w http.ResponseWriter, r *http.Request) error {
		rec, err := s.Load(r)
		if err != nil {
			return err
		}
		return rest.WritePageOf(w, r, of(&rec.Body))
	})
}

// newItem registers an action that adds something to a booking, under an id that a repeated request gives again, and
// answers with that.
func newItem[B, T any](s *rest.Resource[record.Booking], what bookingAction[B], prefix string,
	add func(c *rest.Call[record.Booking], id string, sent B) (T, error),
) {
	var reply T
	what.Status, what.Reply = http.StatusCreated, reply
	what.Answer = func(w http.ResponseWriter, c *rest.Call[record.Booking], sent B) error {
		item, err := add(c, fleet.FormatID(prefix, s.Server.NewID(c.Request)), sent)
		if err != nil {
			return err
		}
		return rest.WriteJSON(w, c.Request, http.StatusCreated, item)
	}
	rest.Act(s, what)
}
