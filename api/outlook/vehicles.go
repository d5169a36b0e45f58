package outlook

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/forecast"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// VehicleAdvice is which vehicles lose money.
type VehicleAdvice struct {
	Object   string          `json:"object" doc:"Always vehicle_advice." example:"vehicle_advice"`
	MadeAt   record.Instant  `json:"made_at"`
	Timezone string          `json:"timezone" doc:"Of the account." example:"America/Chicago"`
	Currency string          `json:"currency" example:"USD"`
	Method   string          `json:"method" doc:"How it is worked out, in words."`
	Judged   int             `json:"vehicles_judged" doc:"That were in the fleet, or earned or cost something, in the last 12 months, and were neither disposed of nor archived since."`
	Backtest VehicleBacktest `json:"backtest"`
	Vehicles []LosingVehicle `json:"vehicles" nullable:"false" doc:"Those that lost money in the last 3 or 12 months, the one that lost most in 12 first."`
}

// VehicleBacktest is whether vehicles that lost money went on losing it.
type VehicleBacktest struct {
	From   *string `json:"from" format:"date" doc:"The year before last began on this day; null if nothing is known of it."`
	Until  *string `json:"until" format:"date" doc:"It ended on this day, and the last 12 months followed."`
	Lost   int     `json:"lost" doc:"Vehicles that lost money in it and are known in the 12 months after."`
	Again  int     `json:"lost_again" doc:"Those of them that lost money in these as well."`
	Hit    *int64  `json:"lost_again_bp" nullable:"true" doc:"lost_again of lost, in basis points; null for none."`
	Chance *int64  `json:"chance_bp" nullable:"true" doc:"How many of all vehicles that are known in both lost money in these: what lost_again_bp would be by chance."`
}

// LosingVehicle is a vehicle that lost money.
type LosingVehicle struct {
	VehicleID    string        `json:"vehicle_id" example:"veh_1234"`
	LicensePlate string        `json:"license_plate"`
	Name         string        `json:"name" doc:"Its nickname, or make and model."`
	Quarter      VehicleResult `json:"last_3_months"`
	Year         VehicleResult `json:"last_12_months"`
	Says         string        `json:"says" doc:"The same in a sentence."`
}

// VehicleResult is what a vehicle earned and cost in a span of days.
type VehicleResult struct {
	From           string       `json:"from" format:"date"`
	Until          string       `json:"until" format:"date"`
	Days           int64        `json:"days_known" doc:"Of the span."`
	BilledDays     int64        `json:"billed_days"`
	RentedS        int64        `json:"rented_s"`
	RentableS      int64        `json:"rentable_s"`
	BreakEven      *int64       `json:"break_even_days" nullable:"true" doc:"Billed days that would have paid for the fixed cost, each contributing what the billed days did on average; null if no number of them would."`
	Revenue        record.Money `json:"revenue" doc:"Without taxes, deposits and tolls that were passed on; less discounts and refunds."`
	PlatformFees   record.Money `json:"platform_fees"`
	Energy         record.Money `json:"energy_cost"`
	Maintenance    record.Money `json:"maintenance_cost"`
	OtherVariable  record.Money `json:"other_variable_cost"`
	TollRecharge   record.Money `json:"toll_recharge" doc:"Tolls that renters paid back: they lessen the variable cost."`
	VariableCost   record.Money `json:"variable_cost" doc:"energy_cost, maintenance_cost and other_variable_cost, less toll_recharge."`
	Contribution   record.Money `json:"contribution" doc:"revenue less platform_fees and variable_cost."`
	Depreciation   record.Money `json:"depreciation"`
	Finance        record.Money `json:"finance_cost"`
	Insurance      record.Money `json:"insurance_cost"`
	OtherFixedCost record.Money `json:"other_fixed_cost"`
	FixedCost      record.Money `json:"fixed_cost" doc:"depreciation, finance_cost, insurance_cost and other_fixed_cost."`
	NetProfit      record.Money `json:"net_profit" doc:"contribution less fixed_cost."`
}

const vehicleMethod = "From the facts of each vehicle and local day, which are made of the ledger: a vehicle loses money if its revenue, less platform fees, variable and fixed cost, is below zero over the last 3 or 12 months up to yesterday. " +
	"Costs that are not in the books (depreciation, insurance or a loan that nobody posts) are not counted. Vehicles that were sold, or are archived, are not named; the backtest counts them."

func (a *API) vehicleRoutes() {
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/advice/vehicles", ID: "getVehicleAdvice", Tag: "Outlook",
		Scope: auth.ReportsRead, Summary: "Vehicles that lose money",
		About: "Each vehicle that lost money, with every sum that its result is made of and the billed days at which it would have broken even. " + vehicleMethod +
			" The backtest says how many of those that lost money in the year before last went on losing it.",
		Params: []rest.Param{classParam, currencyParam}, Reply: VehicleAdvice{},
	}, a.answered(a.vehicleAdvice))
}

func (a *API) vehicleAdvice(ctx context.Context, q *asker) (any, error) {
	last := q.today - 1
	year, err := a.results(ctx, q, q.today.AddMonths(-12), last)
	if err != nil {
		return nil, err
	}
	quarter, err := a.results(ctx, q, q.today.AddMonths(-3), last)
	if err != nil {
		return nil, err
	}
	before, err := a.results(ctx, q, q.today.AddMonths(-24), q.today.AddMonths(-12)-1)
	if err != nil {
		return nil, err
	}
	answer := VehicleAdvice{Object: "vehicle_advice", MadeAt: record.InstantOf(q.at), Timezone: q.zone.String(),
		Currency: q.currency, Method: vehicleMethod, Backtest: lostAgain(before, year), Vehicles: []LosingVehicle{}}
	for id, v := range year.of {
		if v.Gone {
			continue
		}
		answer.Judged++
		months := quarter.of[id]
		if v.NetProfit() < 0 || months.NetProfit() < 0 {
			answer.Vehicles = append(answer.Vehicles, showLosing(q, v.VehicleResult, year.show(q, v), quarter.show(q, months)))
		}
	}
	slices.SortFunc(answer.Vehicles, func(a, b LosingVehicle) int {
		return cmp.Or(cmp.Compare(a.Year.NetProfit.Amount, b.Year.NetProfit.Amount), cmp.Compare(a.VehicleID, b.VehicleID))
	})
	return answer, nil
}

// vehicleResult is what a vehicle earned and cost.
type vehicleResult struct {
	query.VehicleResult
	forecast.Result
}

// results are those of a span of days, by vehicles.
type results struct {
	from, to ledger.Day
	of       map[uint64]vehicleResult
}

func (a *API) results(ctx context.Context, q *asker, from, to ledger.Day) (*results, error) {
	rows, err := query.VehicleResults(ctx, a.Long, q.span(from, to), q.today.String(), q.currency, q.classes)
	if err != nil {
		return nil, err
	}
	all := &results{from: from, to: to, of: map[uint64]vehicleResult{}}
	for _, v := range rows {
		all.of[v.Vehicle] = vehicleResult{v, forecast.Result{BilledDays: v.BilledDays,
			Revenue: v.Revenue, PlatformFees: v.PlatformFees, Energy: v.Energy,
			Maintenance: v.Maintenance, OtherVariable: v.OtherVariable, TollRecharge: v.TollRecharge,
			Depreciation: v.Depreciation, Finance: v.Finance, Insurance: v.Insurance, OtherFixedCosts: v.OtherFixedCosts}}
	}
	return all, nil
}

func (s *results) show(q *asker, v vehicleResult) VehicleResult {
	money := func(amount int64) record.Money { return record.Money{Amount: amount, Currency: q.currency} }
	r := &v.Result
	shown := VehicleResult{From: s.from.String(), Until: s.to.String(), Days: v.Days, BilledDays: r.BilledDays,
		RentedS: v.RentedS, RentableS: v.RentableS, Revenue: money(r.Revenue), PlatformFees: money(r.PlatformFees),
		Energy: money(r.Energy), Maintenance: money(r.Maintenance), OtherVariable: money(r.OtherVariable),
		TollRecharge: money(r.TollRecharge), VariableCost: money(r.VariableCost()), Contribution: money(r.Contribution()),
		Depreciation: money(r.Depreciation), Finance: money(r.Finance), Insurance: money(r.Insurance),
		OtherFixedCost: money(r.OtherFixedCosts), FixedCost: money(r.FixedCost()), NetProfit: money(r.NetProfit())}
	if days, ok := r.BreakEvenDays(); ok {
		shown.BreakEven = &days
	}
	return shown
}

func showLosing(q *asker, v query.VehicleResult, year, quarter VehicleResult) LosingVehicle {
	shown := LosingVehicle{VehicleID: fleet.FormatID(fleet.VehiclePrefix, v.Vehicle), LicensePlate: v.Plate,
		Name: cmp.Or(v.Nickname, strings.TrimSpace(v.Make+" "+v.Model)), Quarter: quarter, Year: year}
	worse, span := year, "12 months"
	if year.NetProfit.Amount >= 0 {
		worse, span = quarter, "3 months"
	}
	even := "no number of such days would have paid for its fixed cost"
	if worse.BreakEven != nil {
		even = fmt.Sprintf("%d such days would have paid for its fixed cost", *worse.BreakEven)
	}
	lost := record.Money{Amount: -worse.NetProfit.Amount, Currency: q.currency}
	shown.Says = fmt.Sprintf("%s lost %s in the last %s: %d days were billed, and %s.",
		cmp.Or(shown.LicensePlate, shown.Name, shown.VehicleID), price.Format(lost), span, worse.BilledDays, even)
	return shown
}

// lostAgain says how many of the vehicles that lost money in a year lost it in the next one.
func lostAgain(before, year *results) VehicleBacktest {
	b := VehicleBacktest{}
	both, losing := 0, 0
	for id, v := range before.of {
		next, ok := year.of[id]
		if !ok {
			continue
		}
		both++
		again := next.NetProfit() < 0
		if again {
			losing++
		}
		if v.NetProfit() < 0 {
			if b.Lost++; again {
				b.Again++
			}
		}
	}
	share := func(part, of int) *int64 {
		if of == 0 {
			return nil
		}
		bp := int64(part) * 10_000 / int64(of)
		return &bp
	}
	if both > 0 {
		b.From, b.Until = dates(before.from, before.to)
	}
	b.Hit, b.Chance = share(b.Again, b.Lost), share(losing, both)
	return b
}
