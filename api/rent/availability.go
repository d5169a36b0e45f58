package rent

import (
	"errors"
	"net/http"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
)

// Availability is what is free in a period: a page of the vehicles, and all classes.
type Availability struct {
	Data       []AvailableVehicle `json:"data" nullable:"false" doc:"The vehicles that are free, cheapest first."`
	Pagination rest.Pagination    `json:"pagination"`
	Classes    []AvailableClass   `json:"classes" nullable:"false" doc:"The classes at each location where vehicles of them will be, or at pickup_location_id, by rank and name of the location; also those of which nothing is left."`
	Not        map[string]int     `json:"not_available" doc:"How many vehicles are not offered, by reason: not_in_fleet (before in_service_on, or from disposal_on on), busy, elsewhere, class_full, no_rate, too_short, too_long, too_soon, not_offered, promo_code_not_found, promo_code_not_valid, ... More may be added."`
}

// AvailableVehicle is a vehicle that is free, and what it costs.
type AvailableVehicle struct {
	VehicleID         string `json:"vehicle_id" example:"veh_1234"`
	Make              string `json:"make"`
	Model             string `json:"model"`
	Year              *int   `json:"year"`
	Nickname          string `json:"nickname,omitempty"`
	LicensePlate      string `json:"license_plate,omitempty" doc:"With the scope vehicles:read." example:"ABC1234"`
	VehicleClassID    string `json:"vehicle_class_id,omitempty" example:"vcl_1234"`
	HomeLocationID    string `json:"home_location_id,omitempty" example:"loc_1234"`
	CurrentLocationID string `json:"current_location_id,omitempty" example:"loc_1234"`
	OfferedPrice
}

// AvailableClass is what is left of a class at a location in a period.
type AvailableClass struct {
	VehicleClassID string            `json:"vehicle_class_id" example:"vcl_1234"`
	Name           string            `json:"name"`
	Code           string            `json:"code,omitempty"`
	Location       *string           `json:"pickup_location_id" doc:"Where its vehicles will be; null for those at no location." example:"loc_1234"`
	Vehicles       int               `json:"vehicles" doc:"That can be rented at all, and will be there at pickup_at: by where they are now, the bookings that move them and planned transfers."`
	Free           int               `json:"free" doc:"Of them, in the period, and where they are needed after it."`
	Booked         int               `json:"booked" doc:"Bookings of the class there in the period that have no vehicle yet."`
	Left           int               `json:"left" doc:"How many more bookings there may be, overbooking included."`
	Price          *OfferedPrice     `json:"price,omitempty" doc:"Absent where the class cannot be booked so."`
	Reasons        []rest.FieldIssue `json:"reasons,omitempty" nullable:"false" doc:"Why it cannot be booked so."`
}

// OfferedPrice is what a rental would cost. A quote shows every line of it.
type OfferedPrice struct {
	PickupID   *string          `json:"pickup_location_id" doc:"The location that the price is for: the one that was asked for, or where the vehicle will be; null for none." example:"loc_1234"`
	ReturnID   *string          `json:"return_location_id" doc:"Another one costs the one-way fee." example:"loc_1234"`
	TaxRates   []record.TaxRate `json:"taxes" nullable:"false" doc:"Of the location of pickup, which the total holds; empty where none are due, or the location is not known."`
	RatePlanID string           `json:"rate_plan_id,omitempty" example:"rat_1234"`
	BilledDays int              `json:"billed_days"`
	Subtotal   record.Money     `json:"subtotal" doc:"Before discounts and taxes."`
	Discounts  record.Money     `json:"discounts_total"`
	Taxes      record.Money     `json:"taxes_total"`
	Total      record.Money     `json:"total" doc:"What the customer would owe."`
	Deposit    record.Money     `json:"deposit_amount"`
	IncludedMi *int             `json:"included_mi" doc:"Null for unlimited."`
}

func (a *API) availabilityRoutes() {
	a.Handle(rest.Route{
		Method: "GET", Path: "/v1/availability", ID: "getAvailability", Tag: "Bookings", Scope: auth.BookingsRead,
		Summary: "Find what is free in a period, and what it costs",
		About: "Vehicles are free from pickup until return with their buffers, at the location where they will be at pickup: where they are now, or where bookings and transfers leave them until then. " +
			"Each price says its locations and taxes. Nothing is held: whoever books may find that somebody else was faster.",
		Params: append([]rest.Param{
			{Name: "pickup_at", Format: "date-time", Required: true, About: "Begin of the period."},
			{Name: "return_at", Format: "date-time", Required: true, About: "End of the period."},
			{Name: "vehicle_class_id", Multiple: true, NotEmpty: true, About: "Only of these classes, separated by commas."},
			{Name: "pickup_location_id", NotEmpty: true,
				About: "Only vehicles that will be there at pickup_at. Without it each vehicle and class is offered where it will be."},
			{Name: "return_location_id", NotEmpty: true, About: "Where it is returned, for the fee of a one-way rental."},
			{Name: "channel", Enum: channels, About: "For the rates of the channel; direct unless given."},
			{Name: "rate_plan_id", NotEmpty: true, About: "For the rates of this plan."},
			{Name: "customer_id", NotEmpty: true, About: "For the customer's discount, age and deposit."},
			{Name: "promo_code", NotEmpty: true, About: "Only where the rate plan has this promotion."},
		}, rest.PageParams...),
		Reply: Availability{},
	}, a.availability)
}

func (a *API) availability(w http.ResponseWriter, r *http.Request) error {
	p, err := rest.PageOf(r, r.URL.Path)
	if err != nil {
		return err
	}
	if p.After != nil {
		return rest.InvalidParam("cursor", "is not a next_cursor of this list")
	}
	search := desk.Search{Classes: rest.ListParam(r, "vehicle_class_id"), Fields: record.BookingFields{
		PickupAt:         record.InstantOf(rest.TimeParam(r, "pickup_at", 0).Time()),
		ReturnAt:         record.InstantOf(rest.TimeParam(r, "return_at", 0).Time()),
		PickupLocationID: rest.TextParam(r, "pickup_location_id", ""),
		ReturnLocationID: rest.TextParam(r, "return_location_id", ""), Channel: rest.TextParam(r, "channel", ""),
		RatePlanID: rest.TextParam(r, "rate_plan_id", ""), CustomerID: rest.TextParam(r, "customer_id", ""),
		PromoCode: rest.TextParam(r, "promo_code", ""),
	}}
	found, err := a.desk.Available(r.Context(), auth.From(r.Context()).Account, search)
	if refused, ok := errors.AsType[*fleet.Error](err); ok && refused.Code == fleet.CodeValidation {
		return rest.InvalidParams(refused)
	}
	if err != nil {
		return err
	}
	answer := Availability{Data: []AvailableVehicle{}, Classes: []AvailableClass{}, Not: found.Not,
		Pagination: rest.Pagination{Page: p.Number, PerPage: p.PerPage, Total: len(found.Vehicles)}}
	for _, o := range found.Vehicles[min(p.Offset(), len(found.Vehicles)):min(p.Offset()+p.PerPage, len(found.Vehicles))] {
		v := &o.Resolved.Vehicle.Body
		shown := AvailableVehicle{VehicleID: fleet.FormatID(fleet.VehiclePrefix, o.Resolved.Vehicle.ID), Make: v.Make,
			Model: v.Model, Nickname: v.Nickname,
			VehicleClassID: v.ClassID, HomeLocationID: v.HomeLocationID, CurrentLocationID: v.CurrentLocationID,
			OfferedPrice: *offered(&o)}
		if auth.From(r.Context()).Has(auth.VehiclesRead) {
			shown.LicensePlate = v.LicensePlate
		}
		if v.Year != 0 {
			shown.Year = &v.Year
		}
		answer.Data = append(answer.Data, shown)
	}
	for _, c := range found.Classes {
		shown := AvailableClass{VehicleClassID: fleet.FormatID(fleet.ClassPrefix, c.Class.ID), Name: c.Class.Body.Name,
			Code:     c.Class.Body.Code,
			Location: locationOf(c.Pickup), Vehicles: c.Vehicles, Free: c.Free, Booked: c.Booked, Left: c.Left}
		for _, why := range c.Why {
			shown.Reasons = append(shown.Reasons, rest.FieldIssue(why))
		}
		if c.Offer != nil {
			shown.Price = offered(c.Offer)
		}
		answer.Classes = append(answer.Classes, shown)
	}
	return rest.WriteJSON(w, r, http.StatusOK, answer)
}

// offered shows the price of an offer.
func offered(o *desk.Offer) *OfferedPrice {
	s := o.Price
	return &OfferedPrice{PickupID: locationOf(o.Resolved.Pickup), ReturnID: locationOf(o.Resolved.Return),
		TaxRates: append([]record.TaxRate{}, s.Taxes...), RatePlanID: s.RatePlanID, BilledDays: s.BilledDays,
		Subtotal: s.Totals.Subtotal, Discounts: s.Totals.Discounts, Taxes: s.Totals.Taxes,
		Total: s.Totals.Total, Deposit: s.DepositAmount, IncludedMi: s.IncludedMi}
}

// locationOf is the id of a location, null for none.
func locationOf(l *record.Record[record.Location]) *string {
	if l == nil {
		return nil
	}
	id := fleet.FormatID(fleet.LocationPrefix, l.ID)
	return &id
}
