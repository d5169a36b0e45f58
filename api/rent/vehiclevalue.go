package rent

import (
	"maps"
	"net/http"
	"slices"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk/cost"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rest"
)

// VehicleValue is what a vehicle is worth in the books, and what it costs by schedule.
type VehicleValue struct {
	Object      string        `json:"object" doc:"Always vehicle_value." example:"vehicle_value"`
	VehicleID   string        `json:"vehicle_id" example:"veh_1234"`
	On          string        `json:"on" format:"date" doc:"Today, where the vehicle is: all but the schedule is as the books say at its end."`
	Through     string        `json:"posted_through" format:"date" doc:"The last day through which the books have all that the schedule asks for, as it is shown here: on, unless lines are due still or their changes are; those are posted within minutes, and the values follow then."`
	Cost        *record.Money `json:"acquisition_cost" doc:"What it was bought for, while it is in the books; null if that is nothing, or more than one currency."`
	Depreciated *record.Money `json:"depreciated" doc:"What it has lost in value since."`
	BookValue   *record.Money `json:"book_value" doc:"acquisition_cost less depreciated."`
	LoanBalance *record.Money `json:"loan_balance" doc:"What is owed of its loan; null for nothing."`
	Schedule    []VehicleCost `json:"schedule" nullable:"false" doc:"What its terms ask for, so far and to come: by schedule, and by time. Of what has no end a year is shown, and of what goes by miles what was driven."`
	Missing     []TermMissing `json:"missing" nullable:"false" doc:"What must be said of the vehicle before a schedule can begin."`
}

// VehicleCost is an expense that a vehicle's terms ask for.
type VehicleCost struct {
	Schedule   string        `json:"schedule" doc:"purchase, depreciation, insurance, loan_interest, loan_principal, lease or disposal." example:"depreciation"`
	IncurredOn string        `json:"incurred_on" format:"date" doc:"The day on which it is paid, if it is."`
	From       string        `json:"from" format:"date" doc:"The days over which it is spread."`
	Until      string        `json:"until" format:"date"`
	Amount     record.Money  `json:"amount"`
	Left       *record.Money `json:"left" doc:"By the terms: the book value after it, of depreciation, and what is owed after it, of loan_principal."`
	Status     string        `json:"status" doc:"planned, due (it, or what was changed of it, is posted within minutes), posted, posted_by_hand (somebody posted an expense of the category for the vehicle whose days overlap, which stands in its place) or voided (by somebody, which stands)." example:"posted"`
	ExpenseID  *string       `json:"expense_id" doc:"Its expense, or the one in its place." example:"exp_1234"`
}

// TermMissing is what a schedule lacks.
type TermMissing struct {
	Schedule string `json:"schedule" example:"depreciation"`
	Detail   string `json:"detail" example:"useful_life_months says how long it goes on"`
}

func (a *API) vehicleValueRoutes() {
	a.Handle(rest.Route{
		Method: "GET", Path: "/v1/vehicles/{id}/value", ID: "getVehicleValue", Tag: "Vehicles", Scope: auth.FinanceRead,
		Summary: "Get what a vehicle is worth, and what it costs by schedule",
		About: "Depreciation, insurance, the loan or lease, the purchase and the sale of a vehicle are posted by themselves, " +
			"each period once, by what the vehicle says of them. When that is changed the difference is posted.",
		Reply: VehicleValue{},
	}, a.vehicleValue)
}

func (a *API) vehicleValue(w http.ResponseWriter, r *http.Request) error {
	id, err := rest.PathID(r, "vehicle", fleet.VehiclePrefix)
	if err != nil {
		return err
	}
	v, err := a.desk.Costs.ValueOf(r.Context(), auth.From(r.Context()).Account, id)
	if err != nil {
		return err
	}
	answer := VehicleValue{Object: "vehicle_value", VehicleID: fleet.FormatID(fleet.VehiclePrefix, id), On: v.On.String(),
		Through:  v.Through.String(),
		Schedule: make([]VehicleCost, len(v.Lines)), Missing: []TermMissing{}}
	answer.Cost = balanceOf(v, ledger.FixedAsset, 1)
	answer.LoanBalance = balanceOf(v, ledger.LoansPayable, -1)
	if answer.Cost != nil {
		answer.Depreciated = &record.Money{Currency: answer.Cost.Currency}
		if lost := balanceOf(v, ledger.AccumulatedDepreciation, -1); lost != nil && lost.Currency == answer.Cost.Currency {
			answer.Depreciated = lost
		}
		answer.BookValue = &record.Money{Amount: answer.Cost.Amount - answer.Depreciated.Amount,
			Currency: answer.Cost.Currency}
	}
	for i, l := range v.Lines {
		answer.Schedule[i] = VehicleCost{Schedule: string(l.What), IncurredOn: l.On.String(), From: l.From.String(),
			Until: l.To.String(), Amount: l.Amount, Left: l.Left, Status: l.State, ExpenseID: rest.TextOrNull(l.Expense)}
	}
	for _, what := range slices.Sorted(maps.Keys(v.Lacks)) {
		answer.Missing = append(answer.Missing, TermMissing{Schedule: string(what), Detail: v.Lacks[what]})
	}
	return rest.WriteJSON(w, r, http.StatusOK, answer)
}

// balanceOf is what a vehicle has on an account of the books, times a sign; nil for nothing, and for more than one
// currency.
func balanceOf(v *cost.Value, account ledger.Account, sign int64) *record.Money {
	var found *record.Money
	for _, m := range v.Books[account] {
		if m.Amount == 0 {
			continue
		}
		if found != nil {
			return nil
		}
		found = &record.Money{Amount: sign * m.Amount, Currency: m.Currency}
	}
	return found
}
