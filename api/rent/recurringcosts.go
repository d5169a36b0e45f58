package rent

import (
	"net/http"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// RecurringCost is a recurring cost as it is answered.
type RecurringCost struct {
	ID string `json:"id" doc:"Identity." example:"rcc_1234"`

	record.RecurringCostFields

	Object string `json:"object" doc:"Always recurring_cost." example:"recurring_cost"`

	rest.Stamps
}

func (a *API) recurringCostRoutes() {
	s := &rest.Resource[record.RecurringCost]{
		Server: a.Server, Log: a.desk.Recurring, Listing: &query.RecurringCosts,
		Titles: rest.Titles{Path: "/v1/recurring_costs", Tag: "Expenses", Noun: "recurring cost", Nouns: "recurring costs",
			About: "Each of its periods makes an expense on its first day, once, which names it as `recurring_cost_id`; those of " +
				"the past are made at once. A change counts for all periods, also those in the past: when a price rises, give " +
				"this one an `until` and make another. What is archived makes no more expenses, and those that it has made stay. " +
				"What somebody posted for the vehicle in a period, of the category and amount, stands for that period; " +
				"of a cost of the whole business it must be of the vendor, too."},
		Scope:    rest.Scopes{Read: auth.FinanceRead, Write: auth.FinanceWrite},
		Views:    rest.Views{View: RecurringCost{}, Fields: record.RecurringCostFields{}},
		Writable: func(r *record.RecurringCost) any { return &r.RecurringCostFields },
		Show: rest.ShowEach(func(rec record.Record[record.RecurringCost]) any {
			return RecurringCost{ID: fleet.FormatID(fleet.RecurringCostPrefix, rec.ID),
				RecurringCostFields: rec.Body.RecurringCostFields, Object: "recurring_cost", Stamps: rest.StampsOf(rec)}
		}),
		Prepare: func(r *http.Request, _ uint64, before, after *record.RecurringCost) error {
			return a.prepareRecurring(r, before, after)
		},
	}
	s.Register()
}

// prepareRecurring refuses a recurring cost that its schema cannot; before is nil for a new one.
func (a *API) prepareRecurring(r *http.Request, before, c *record.RecurringCost) error {
	faults := moneyFaults("/amount", c.Amount, 1, price.Limit)
	faults = append(faults, dayFaults("/from", c.From)...)
	if c.Until != "" {
		faults = append(faults, dayFaults("/until", c.Until)...)
		if faults == nil && c.Until < c.From {
			faults = []fleet.FieldError{{Pointer: "/until", Code: "out_of_range", Detail: "must not be before from"}}
		}
	}
	if before != nil && (before.VehicleID != c.VehicleID || before.LocationID != c.LocationID) {
		faults = append(faults, fleet.FieldError{Pointer: "/vehicle_id", Code: "invalid",
			Detail: "what it is for cannot be changed; give this one an until, and make another"})
	}
	if c.VehicleID != "" && c.LocationID != "" {
		faults = append(faults, fleet.FieldError{Pointer: "/location_id", Code: "one_of",
			Detail: "must not be given with vehicle_id: what a vehicle costs counts where that is at home"})
	}
	if faults != nil {
		return fleet.Invalid(faults...)
	}
	if err := a.CheckExists(r, &query.Vehicles, fleet.VehiclePrefix, c.VehicleID, "/vehicle_id", "vehicle"); err != nil {
		return err
	}
	return a.CheckExists(r, &query.Locations, fleet.LocationPrefix, c.LocationID, "/location_id", "location")
}
