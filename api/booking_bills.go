package api

import (
	"context"
	"math"
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rental/price"
)

// ChargeNew is a charge as callers write it.
type ChargeNew struct {
	Type        string       `json:"type" enum:"time,mileage,extra,protection,delivery,one_way,young_driver,additional_driver,cleaning,smoking,refuel,recharge,late_return,toll,fine,damage,impound,discount,promo,adjustment"`
	Description string       `json:"description,omitempty" maxLength:"300"`
	Quantity    int64        `json:"quantity,omitempty" minimum:"1" maximum:"100000" doc:"1 unless given."`
	UnitPrice   record.Money `json:"unit_price" doc:"A discount or promo takes it off, whichever sign it has; an adjustment may be negative, all others must be above 0."`
	Taxable     *bool        `json:"taxable,omitempty" doc:"Whether the taxes of the booking are due on it; they are posted with it. Unless given a discount or promo lowers the taxes, and others are not taxed."`
}

// ChargeReversal is the body that takes a charge back.
type ChargeReversal struct {
	Reason string `json:"reason,omitempty" maxLength:"300"`
}

// DepositOrder is the body of what is done with a deposit.
type DepositOrder struct {
	Amount      *record.Money  `json:"amount,omitempty" doc:"All that there is unless given."`
	ProviderRef string         `json:"provider_ref,omitempty" maxLength:"200"`
	ExpiresAt   record.Instant `json:"expires_at,omitzero" doc:"Of an authorization."`
}

// DamageNew is a damage as callers report it.
type DamageNew struct {
	Description string        `json:"description" minLength:"1" maxLength:"1000"`
	Severity    string        `json:"severity" enum:"cosmetic,minor,major,unroadworthy"`
	Place       string        `json:"place,omitempty" maxLength:"100"`
	Photos      []string      `json:"photos,omitempty" maxItems:"20" nullable:"false"`
	Estimate    *record.Money `json:"estimate,omitempty"`
}

// DamageMove is the body that moves a damage to another state.
type DamageMove struct {
	Status   string        `json:"status" enum:"assessed,charged,waived,repaired,closed"`
	Estimate *record.Money `json:"estimate,omitempty"`
	Charge   *record.Money `json:"charge,omitempty" doc:"What is charged for it; the estimate unless given."`
}

// mostMinor bounds amounts that callers write, so that sums never overflow.
const mostMinor = 1_000_000_000_000

// checkCosts refuses what a damage cannot cost.
func checkCosts(costs map[string]*record.Money) error {
	for pointer, m := range costs {
		if m != nil && m.Amount < 0 {
			return validation(fleet.FieldError{Pointer: pointer + "/amount", Code: "out_of_range", Detail: "must not be negative"})
		}
	}
	return checkAmounts(costs)
}

// checkAmounts refuses amounts that are out of range.
func checkAmounts(amounts map[string]*record.Money) error {
	for pointer, m := range amounts {
		if m != nil && (m.Amount > mostMinor || m.Amount < -mostMinor) {
			return validation(fleet.FieldError{Pointer: pointer, Code: "invalid", Detail: "is out of range"})
		}
	}
	return nil
}

func (a *API) bookingBillRoutes(s *resource[record.Booking]) {
	items(a, "charges", "listBookingCharges", "List the charges of a booking", func(b *record.Booking) []record.Charge { return b.Charges })
	items(a, "inspections", "listBookingInspections", "List the inspections of a booking", func(b *record.Booking) []record.Inspection { return b.Inspections })
	items(a, "damages", "listBookingDamages", "List the damages of a booking", func(b *record.Booking) []record.Damage { return b.Damages })
	newItem(a, "charges", "addBookingCharge", "Post a charge to a booking", "Posted charges are never edited, only reversed. Taxes that are due on it are posted with it. "+
		"A discount takes off no more than the charges come to before taxes: 422.",
		fleet.ChargePrefix, func(ctx context.Context, o desk.Order, id string, sent ChargeNew) (record.Charge, error) {
			if sent.Quantity == 0 {
				sent.Quantity = 1
			}
			if err := checkAmounts(map[string]*record.Money{"/unit_price": &sent.UnitPrice}); err != nil {
				return record.Charge{}, err
			}
			if sent.UnitPrice.Amount == 0 || math.Abs(float64(sent.UnitPrice.Amount))*float64(sent.Quantity) > mostMinor {
				return record.Charge{}, validation(fleet.FieldError{Pointer: "/unit_price/amount", Code: "invalid", Detail: "is nothing, or too much with that quantity"})
			}
			taxable := price.Lowers(sent.Type)
			if sent.Taxable != nil {
				taxable = *sent.Taxable
			}
			c := record.Charge{ID: id, Type: sent.Type, Description: sent.Description, Quantity: sent.Quantity, UnitPrice: sent.UnitPrice,
				Amount:  record.Money{Amount: sent.UnitPrice.Amount * sent.Quantity, Currency: sent.UnitPrice.Currency},
				Taxable: taxable, Source: "manual"}
			rec, err := a.desk.AddCharge(ctx, o, c)
			return the(rec.Body.Charges, func(c record.Charge) bool { return c.ID == id }), err
		})
	newItem(a, "charges/{charge}/reverse", "reverseBookingCharge", "Take a charge back", "By another charge of the opposite amount, with the taxes on it.",
		fleet.ChargePrefix, func(ctx context.Context, o desk.Order, id string, sent ChargeReversal) (record.Charge, error) {
			rec, err := a.desk.ReverseCharge(ctx, o, chi.URLParamFromCtx(ctx, "charge"), id, sent.Reason)
			return the(rec.Body.Charges, func(c record.Charge) bool { return c.ID == id }), err
		})
	newItem(a, "inspections", "addBookingInspection", "Add an inspection to a booking", "", fleet.InspectionPrefix,
		func(ctx context.Context, o desk.Order, id string, sent BookingInspection) (record.Inspection, error) {
			i := sent.record()
			if i.ID = id; i.Type == "" {
				i.Type = "periodic"
			}
			rec, err := a.desk.AddInspection(ctx, o, *i)
			return the(rec.Body.Inspections, func(i record.Inspection) bool { return i.ID == id }), err
		})
	newItem(a, "damages", "addBookingDamage", "Report damage", "", fleet.DamagePrefix,
		func(ctx context.Context, o desk.Order, id string, sent DamageNew) (record.Damage, error) {
			if err := checkCosts(map[string]*record.Money{"/estimate": sent.Estimate}); err != nil {
				return record.Damage{}, err
			}
			rec, err := a.desk.AddDamage(ctx, o, record.Damage{ID: id, Description: sent.Description, Severity: sent.Severity, Place: sent.Place,
				Photos: sent.Photos, Estimate: sent.Estimate})
			return the(rec.Body.Damages, func(v record.Damage) bool { return v.ID == id }), err
		})
	a.bookingAction(s, bookingAction{path: "damages/{damage}/status", id: "setBookingDamageStatus", summary: "Move a damage to another state", body: DamageMove{},
		about: "reported, assessed, charged or waived, repaired, closed. Charging it posts a charge.",
		do: with(a, func(ctx context.Context, o desk.Order, _ *http.Request, sent DamageMove) (record.Record[record.Booking], error) {
			if err := checkCosts(map[string]*record.Money{"/estimate": sent.Estimate, "/charge": sent.Charge}); err != nil {
				return record.Record[record.Booking]{}, err
			}
			return a.desk.SetDamage(ctx, o, desk.DamageRequest{ID: chi.URLParamFromCtx(ctx, "damage"), Status: sent.Status, Estimate: sent.Estimate, Charge: sent.Charge})
		})})
	for action, about := range map[rental.DepositAction]string{
		rental.Authorize: "The provider holds the amount.", rental.Capture: "The money is taken, all of it or a part.",
		rental.Release: "What was authorized lapses, or what was captured and not used is given back.",
		rental.Apply:   "What was captured pays what the customer owes.",
	} {
		verb := string(action)
		a.bookingAction(s, bookingAction{path: "deposit/" + verb, id: verb + "BookingDeposit", summary: "Deposit: " + verb, about: about, body: DepositOrder{}, optional: true,
			do: with(a, func(ctx context.Context, o desk.Order, _ *http.Request, sent DepositOrder) (record.Record[record.Booking], error) {
				order := rental.DepositOrder{Action: action, ProviderRef: sent.ProviderRef, ExpiresAt: sent.ExpiresAt.Time}
				if sent.Amount != nil {
					if order.Amount, order.Currency = sent.Amount.Amount, sent.Amount.Currency; order.Amount <= 0 || order.Amount > mostMinor {
						return record.Record[record.Booking]{}, validation(fleet.FieldError{Pointer: "/amount/amount", Code: "invalid", Detail: "must be above 0"})
					}
				}
				return a.desk.SetDeposit(ctx, o, order)
			})})
	}
}

// the is the item that a condition finds; the zero one if there is none.
func the[T any](items []T, which func(T) bool) T {
	if at := slices.IndexFunc(items, which); at >= 0 {
		return items[at]
	}
	var none T
	return none
}

// items lists what a booking has of something; it is not much, so that pages are cut here.
func items[T any](a *API, path, id, summary string, of func(*record.Booking) []T) {
	var zero T
	a.handle(route{
		Method: "GET", Path: "/v1/bookings/{id}/" + path, ID: id, Tag: "Bookings", Scope: auth.BookingsRead, Summary: summary,
		Params: pageParams, Reply: a.listSchema(zero),
	}, func(w http.ResponseWriter, r *http.Request) error {
		o, err := a.order(r)
		if err != nil {
			return err
		}
		rec, err := a.desk.Bookings.Get(r.Context(), o.Account, o.Booking)
		if err != nil {
			return err
		}
		return writeCut(w, r, of(&rec.Body))
	})
}

// newItem adds something to a booking, under an id that a repeated request gives again, and answers with it.
func newItem[B, T any](a *API, path, id, summary, about, prefix string, add func(ctx context.Context, o desk.Order, id string, sent B) (T, error)) {
	var body B
	var reply T
	optional := slices.Contains([]string{"reverseBookingCharge", "addBookingInspection"}, id)
	a.handle(route{
		Method: "POST", Path: "/v1/bookings/{id}/" + path, ID: id, Tag: "Bookings", Scope: auth.BookingsWrite, Summary: summary, About: about,
		Params: []param{ifMatchParam}, Body: body, Optional: optional, Status: http.StatusCreated, Reply: reply,
	}, func(w http.ResponseWriter, r *http.Request) error {
		o, err := a.order(r)
		if err != nil {
			return err
		}
		sent, err := decoded[B](a, r)
		if err != nil {
			return err
		}
		item, err := add(r.Context(), o, fleet.FormatID(prefix, a.newID(r)), sent)
		if err != nil {
			return err
		}
		return writeJSON(w, r, http.StatusCreated, item)
	})
}
