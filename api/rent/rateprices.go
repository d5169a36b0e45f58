package rent

import (
	"errors"
	"net/http"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
)

// RatePrices is what rentals by a rate plan cost, by the day on which they begin.
type RatePrices struct {
	Object     string      `json:"object" doc:"Always rate_prices." example:"rate_prices"`
	PlanID     string      `json:"rate_plan_id" example:"rat_1234"`
	ClassID    string      `json:"vehicle_class_id" doc:"Of which a vehicle is rented." example:"vcl_1234"`
	PickupID   *string     `json:"pickup_location_id" doc:"Whose taxes and days they are; null for none." example:"loc_1234"`
	Currency   string      `json:"currency"`
	Timezone   string      `json:"timezone" doc:"Whose days they are." example:"America/Chicago"`
	PickupTime string      `json:"pickup_time" doc:"By the clock there; the vehicle comes back at the same time." example:"10:00"`
	RentalDays int         `json:"rental_days" doc:"How long each of them is."`
	Days       []RatePrice `json:"days" nullable:"false"`
}

// RatePrice is what a rental costs that begins on a day.
type RatePrice struct {
	On        string            `json:"pickup_on" format:"date"`
	Subtotal  *record.Money     `json:"subtotal" doc:"Before discounts and taxes; null, as the others, where it cannot be rented so."`
	Discounts *record.Money     `json:"discounts_total" doc:"Negative or zero."`
	Total     *record.Money     `json:"total" doc:"What the customer would owe, with the taxes of the location."`
	Reasons   []rest.FieldIssue `json:"reasons" nullable:"false" doc:"Why it cannot be rented so; empty if it can."`
}

func (a *API) ratePriceRoutes() {
	a.Handle(rest.Route{
		Method: "GET", Path: "/v1/rate_plans/{id}/prices", ID: "getRatePlanPrices", Tag: "Catalogue",
		Scope:   auth.BookingsRead,
		Summary: "What a rate plan's rentals cost, by the day on which they begin",
		About: "For somebody who books now: seasons, weekdays, holidays, tiers, discounts for length and for booking early are in, as in a quote. " +
			"It says what is asked for and not what is free.",
		Params: []rest.Param{
			{Name: "from", Format: "date", About: "The first day; today unless given."},
			{Name: "days", Type: "integer", Min: 1, Max: 400, About: "How many days; 365 unless given."},
			{Name: "rental_days", Type: "integer", Min: 1, Max: 90, About: "How long each rental is; a day unless given."},
			{Name: "vehicle_class_id", NotEmpty: true,
				About: "Of which a vehicle is rented; the first of the plan's unless given. It must be given where the plan is for any class."},
			{Name: "pickup_location_id", NotEmpty: true,
				About: "Where it begins, for the taxes there; the only location of the account unless given."},
			{Name: "pickup_time", About: "By the clock there; `10:00` unless given."},
		},
		Reply: RatePrices{},
	}, a.ratePrices)
}

func (a *API) ratePrices(w http.ResponseWriter, r *http.Request) error {
	id, err := rest.PathID(r, "rate plan", fleet.RatePlanPrefix)
	if err != nil {
		return err
	}
	account := auth.From(r.Context()).Account
	plan, err := a.desk.RatePlans.Get(r.Context(), account, id)
	if err != nil {
		return err
	}
	class := rest.TextParam(r, "vehicle_class_id", "")
	if class == "" {
		if len(plan.Body.ClassIDs) == 0 {
			return rest.InvalidParam("vehicle_class_id", "must be given, as the rate plan is for any class")
		}
		class = plan.Body.ClassIDs[0]
	}
	first, err := a.firstDay(r, account)
	if err != nil {
		return err
	}
	clock := rest.TextParam(r, "pickup_time", "10:00")
	at, err := time.Parse("15:04", clock)
	if err != nil {
		return rest.InvalidParam("pickup_time", "must be a time such as 10:00")
	}
	answer := RatePrices{Object: "rate_prices", PlanID: fleet.FormatID(fleet.RatePlanPrefix, id), ClassID: class,
		Currency: plan.Body.Currency, PickupTime: clock, RentalDays: rest.IntParam(r, "rental_days", 1)}
	fields := record.BookingFields{RatePlanID: answer.PlanID, VehicleClassID: class,
		PickupLocationID: rest.TextParam(r, "pickup_location_id", "")}
	days, found, err := a.desk.PriceDays(r.Context(), account, fields, first,
		time.Duration(at.Hour())*time.Hour+time.Duration(at.Minute())*time.Minute, rest.IntParam(r, "days", 365),
		answer.RentalDays)
	if refused, ok := errors.AsType[*fleet.Error](err); ok && refused.Code == fleet.CodeValidation {
		return rest.InvalidParams(refused)
	}
	if err != nil {
		return err
	}
	answer.PickupID, answer.Timezone = locationOf(found.Pickup), found.Zone.String()
	for i := range days {
		answer.Days = append(answer.Days, ratePrice(&days[i]))
	}
	return rest.WriteJSON(w, r, http.StatusOK, answer)
}

// firstDay is the day from which on is asked for; today where the account is at home, unless it is said.
func (a *API) firstDay(r *http.Request, account fleet.AccountID) (time.Time, error) {
	if text := rest.TextParam(r, "from", ""); text != "" {
		return time.Parse(time.DateOnly, text) // which the parameter's format has checked
	}
	rec, err := a.accounts.Get(r.Context(), account, uint64(account))
	if err != nil {
		return time.Time{}, err
	}
	return a.today(&rec.Body).Time(), nil
}

func ratePrice(d *desk.PricedDay) RatePrice {
	p := RatePrice{On: d.On.Format(time.DateOnly), Reasons: []rest.FieldIssue{}}
	for _, why := range d.Why {
		p.Reasons = append(p.Reasons, rest.FieldIssue(why))
	}
	if d.Snapshot != nil {
		sums := d.Snapshot.Totals
		p.Subtotal, p.Discounts, p.Total = &sums.Subtotal, &sums.Discounts, &sums.Total
	}
	return p
}
