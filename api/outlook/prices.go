package outlook

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/forecast"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// PriceAdvice is which days are sold too cheaply or too dearly for how full they will be.
type PriceAdvice struct {
	Object     string         `json:"object" doc:"Always price_advice." example:"price_advice"`
	MadeAt     record.Instant `json:"made_at"`
	Timezone   string         `json:"timezone" doc:"Of the account: days are its." example:"America/Chicago"`
	Currency   string         `json:"currency" example:"USD"`
	Method     string         `json:"method" doc:"How it is worked out, in words."`
	Thresholds Thresholds     `json:"thresholds"`
	History    History        `json:"history"`
	Refused    string         `json:"refused,omitempty" doc:"Why nothing is advised: there is too little history."`
	Backtest   CallBacktest   `json:"backtest"`
	Judged     int            `json:"days_judged" doc:"Classes and days that were looked at. Those without a usual rate are not among them."`
	Days       []PricedDay    `json:"days" nullable:"false" doc:"Those of which there is something to say, by date and class."`
}

// Thresholds are those by which days are judged.
type Thresholds struct {
	High float64 `json:"high_pct" doc:"A day that will be so full or fuller should not cost less than usual."`
	Low  float64 `json:"low_pct" doc:"A day that will be so empty or emptier should not cost more."`
	Band int64   `json:"band_bp" doc:"Nothing is said of a rate that is further than this from the usual one already, on the right side. In basis points."`
	Most int64   `json:"most_bp" doc:"By which a price is moved at most, in basis points."`
}

// CallBacktest is how often days were called full or empty rightly in the last year.
type CallBacktest struct {
	From  *string `json:"from" format:"date" doc:"The first day that was judged; null if there is too little history for a test."`
	Until *string `json:"until" format:"date"`
	Full  Calls   `json:"full" doc:"Days that were expected to be full."`
	Empty Calls   `json:"empty" doc:"Days that were expected to be empty."`
}

// Calls is how often something was said, and how often it came to be.
type Calls struct {
	Called int    `json:"called" doc:"Forecasts of a class and day that said so."`
	Right  int    `json:"right" doc:"Those of them where it came to be."`
	Hit    *int64 `json:"right_bp" nullable:"true" doc:"right of called, in basis points; null for none."`
	Chance *int64 `json:"chance_bp" nullable:"true" doc:"How often it came to be of all days: what right_bp would be by chance."`
}

// PricedDay is a class and day of which there is something to say.
type PricedDay struct {
	Date string `json:"date" format:"date"`
	ClassRef
	Verdict     string        `json:"verdict" enum:"too_low,too_high" doc:"Of what the day costs."`
	ExpectedPct float64       `json:"expected_pct" doc:"How full it will be."`
	OnBooksPct  float64       `json:"on_the_books_pct"`
	SampleDays  int           `json:"sample_days" doc:"Past days that the expectation is made of."`
	Booked      int64         `json:"booked_days" doc:"That are sold of the class for the day."`
	BookedRate  *record.Money `json:"booked_rate,omitempty" doc:"For which they are sold on average: time and miles less discounts, divided evenly among the days of each booking. Absent if none is sold; the usual rate stands in."`
	UsualRate   record.Money  `json:"usual_rate" doc:"What the class brought on average for a billed day of this weekday in the last 12 months: time and miles less discounts."`
	UsualDays   int64         `json:"usual_rate_days" doc:"Billed days that it is made of."`
	Cost        record.Money  `json:"running_cost" doc:"What a billed day of the class cost to run on average in the last 12 months, with what platforms kept: no rate below it is suggested."`
	From        record.Money  `json:"suggested_from" doc:"A rate for the day, at least."`
	Until       record.Money  `json:"suggested_until" doc:"A rate for the day, at most."`
	Says        string        `json:"says" doc:"The same in a sentence."`
}

const priceMethod = "A day that is expected to be fuller than high_pct, and is sold for no more than band_bp above the usual rate, costs too little; one that is expected to be emptier than low_pct, and is sold for no less than band_bp below it, too much. " +
	"The suggestion is the usual rate moved by 5 % at the threshold and by most_bp where the day is quite full or empty, as a range from half of that to all of it. The expectation is that of GET /v1/forecasts/utilization."

// leastRateDays is how many billed days a usual rate is made of at least.
const leastRateDays = 8

func (a *API) priceRoutes() {
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/advice/prices", ID: "getPriceAdvice", Tag: "Outlook", Scope: auth.ReportsRead,
		Summary: "Days that are sold too cheaply or too dearly",
		About: "For each class and day to come, how full it will be, what it is sold for and what such a day usually brings, where these do not fit. " + priceMethod +
			" Nothing is changed: prices are changed in rate plans.",
		Params: []rest.Param{daysParam, classParam, currencyParam,
			{Name: "high_pct", Type: "number", Min: 1, Max: 100, About: "85 unless given."},
			{Name: "low_pct", Type: "number", Min: 1, Max: 100, About: "40 unless given; less than high_pct."}},
		Reply: PriceAdvice{},
	}, a.answered(a.priceAdvice))
}

func (a *API) priceAdvice(ctx context.Context, q *asker) (any, error) {
	t := forecast.Usual
	t.High, t.Low = rest.NumberParam(q.request, "high_pct", t.High), rest.NumberParam(q.request, "low_pct", t.Low)
	if t.Low >= t.High {
		return nil, rest.InvalidParam("low_pct", "must be less than high_pct")
	}
	p, err := a.pastOf(ctx, q)
	if err != nil {
		return nil, err
	}
	answer := PriceAdvice{Object: "price_advice", MadeAt: record.InstantOf(q.at), Timezone: q.zone.String(),
		Currency: q.currency, Method: priceMethod, History: showHistory(p), Refused: refusal(p.history),
		Thresholds: Thresholds{High: t.High, Low: t.Low, Band: int64(100 * t.Band), Most: int64(100 * t.Most)},
		Backtest:   showCalls(forecast.Test(p.classes, p.total, q.today, t)), Days: []PricedDay{}}
	if p.history.Enough() {
		err = a.judge(ctx, q, p, t, &answer)
	}
	return answer, err
}

// judge looks at each class and day, and puts what there is to say into the answer.
func (a *API) judge(ctx context.Context, q *asker, p *past, t forecast.Thresholds, answer *PriceAdvice) error {
	days := rest.IntParam(q.request, "days", forecast.Horizon)
	usual, err := a.usualRates(ctx, q)
	if err != nil {
		return err
	}
	sold, err := a.soldRates(ctx, q, days)
	if err != nil {
		return err
	}
	for lead := 1; lead <= days; lead++ {
		day := q.today + ledger.Day(lead)
		for _, s := range p.classes {
			rate, cost, ok := usual.of(s.Class, day)
			e := forecast.Expect(s, p.total, day, q.today)
			expected, rentable := forecast.Pct(e.Rented, e.Rentable)
			if !ok || !rentable || !q.asks(s.Class) || e.Samples == 0 {
				continue
			}
			answer.Judged++
			booked := sold[classDay{s.Class, day}]
			said := forecast.Advise(expected, booked.each(), rate.each(), cost, t)
			if said.Verdict == "" {
				continue
			}
			onBooks, _ := forecast.Pct(e.OnBooks, e.Rentable)
			shown := PricedDay{Date: day.String(), ClassRef: p.refs[s.Class], Verdict: said.Verdict, ExpectedPct: expected,
				OnBooksPct: onBooks, SampleDays: e.Samples}
			answer.Days = append(answer.Days, showPriced(q, shown, said, booked, rate, cost))
		}
	}
	slices.SortStableFunc(answer.Days, func(a, b PricedDay) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Name, b.Name))
	})
	return nil
}

func showPriced(q *asker, d PricedDay, said forecast.Advice, booked, usual soldDays,
	cost int64) PricedDay {
	money := func(amount int64) record.Money { return record.Money{Amount: amount, Currency: q.currency} }
	d.Booked, d.UsualRate, d.UsualDays = booked.days, money(usual.each()), usual.days
	d.Cost, d.From, d.Until = money(cost), money(said.From), money(said.To)
	at := "none of it is sold yet"
	if booked.days > 0 {
		rate := money(booked.each())
		d.BookedRate = &rate
		at = "it is sold at " + price.Format(rate) + " a day"
	}
	d.Says = fmt.Sprintf("%s on %s will be %.0f %% full, %s, and such a day usually brings %s: ask for %s to %s.",
		cmp.Or(d.Name, "What has no class"), d.Date, d.ExpectedPct, at, price.Format(d.UsualRate), price.Decimal(d.From),
		price.Decimal(d.Until))
	return d
}

func showCalls(b forecast.Backtest) CallBacktest {
	show := func(c forecast.Calls) Calls {
		shown := Calls{Called: c.Called, Right: c.Right}
		share := func(part, of int) *int64 {
			if of == 0 {
				return nil
			}
			bp := int64(part) * 10_000 / int64(of)
			return &bp
		}
		shown.Hit, shown.Chance = share(c.Right, c.Called), share(c.Came, c.Of)
		return shown
	}
	shown := CallBacktest{Full: show(b.Full), Empty: show(b.Empty)}
	shown.From, shown.Until = dates(b.From, b.To)
	return shown
}

// soldDays is what some billed days brought and cost, in minor units.
type soldDays struct{ revenue, costs, days int64 }

// each is what a day brought, rounded; 0 if there is none.
func (s soldDays) each() int64 { return ratio(s.revenue, s.days) }

// cost is what a day cost, rounded; 0 if there is none.
func (s soldDays) cost() int64 { return max(0, ratio(s.costs, s.days)) }

func (s soldDays) plus(o soldDays) soldDays {
	return soldDays{s.revenue + o.revenue, s.costs + o.costs, s.days + o.days}
}

// ratio divides, rounding half up; by nothing it is 0.
func ratio(amount, by int64) int64 {
	if by <= 0 || amount <= 0 {
		return 0
	}
	return (amount + by/2) / by
}

type classDay struct {
	class uint64
	day   ledger.Day
}

// soldRates are what each class and day to come is sold for.
func (a *API) soldRates(ctx context.Context, q *asker, days int) (map[classDay]soldDays, error) {
	rows, err := query.PaceOfClasses(ctx, a.Long, q.span(q.today+1, q.today+ledger.Day(days)),
		[]string{q.today.String()}, q.currency)
	if err != nil {
		return nil, err
	}
	sold := map[classDay]soldDays{}
	for _, row := range rows {
		sold[classDay{row.Class, ledger.Day(row.Day)}] = soldDays{revenue: row.OfTime, days: row.BilledDays}
	}
	return sold, nil
}

// usualRates are what days of each class brought, by the day of the week, 0 to 6 from Monday, and 7 for any.
type usualRates map[uint64]*[8]soldDays

func (a *API) usualRates(ctx context.Context, q *asker) (usualRates, error) {
	rows, err := query.ClassRates(ctx, a.Long, q.span(q.today-365, q.today-1), q.currency)
	if err != nil {
		return nil, err
	}
	usual := usualRates{}
	for _, row := range rows {
		if usual[row.Class] == nil {
			usual[row.Class] = &[8]soldDays{}
		}
		sum := soldDays{row.Revenue, row.VariableOut, row.BilledDays}
		usual[row.Class][row.Weekday-1] = sum
		usual[row.Class][7] = usual[row.Class][7].plus(sum)
	}
	return usual, nil
}

// of is what a day of a class usually brings: such weekdays, or any day if there are too few of those; and what any day
// of it costs. False if there are too few days at all.
func (u usualRates) of(class uint64, day ledger.Day) (such soldDays, cost int64, ok bool) {
	rates := u[class]
	if rates == nil {
		return such, 0, false
	}
	if such = rates[(int(day.Time().Weekday())+6)%7]; such.days < leastRateDays {
		such = rates[7]
	}
	return such, rates[7].cost(), such.days >= leastRateDays && such.revenue > 0
}
