package outlook

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/forecast"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rest"
)

// UtilizationForecast is what is expected of the coming days.
type UtilizationForecast struct {
	Object   string         `json:"object" doc:"Always utilization_forecast." example:"utilization_forecast"`
	MadeAt   record.Instant `json:"made_at"`
	Timezone string         `json:"timezone" doc:"Of the account: days are its." example:"America/Chicago"`
	Method   string         `json:"method" doc:"How it is worked out, in words."`
	History  History        `json:"history"`
	Refused  string         `json:"refused,omitempty" doc:"Why nothing is expected: there is too little history. What is on the books is said all the same."`
	Backtest Backtest       `json:"backtest"`
	Days     []ExpectedDay  `json:"days" nullable:"false" doc:"From tomorrow on."`
}

// History is what past a forecast is made of.
type History struct {
	From       *string `json:"from" format:"date" doc:"The first local day of which is known what vehicles did; null if none is."`
	Until      *string `json:"until" format:"date" doc:"The last one."`
	Days       int     `json:"days" doc:"That are known."`
	Needed     int     `json:"days_needed" doc:"For anything to be said."`
	Afterwards uint64  `json:"written_afterwards" doc:"Bookings of that time that were written down after their pickup, imported ones among them: they count as booked on the day, so that many of them make early bookings seem rare."`
}

// Backtest is how far off the forecast would have been in the last year.
type Backtest struct {
	From      *string         `json:"from" format:"date" doc:"The first day that was forecast; null if there is too little history for a test."`
	Until     *string         `json:"until" format:"date" doc:"The last one."`
	Forecasts int             `json:"forecasts" doc:"Days on which one was made, a week apart, each of what was known that day."`
	Classes   []ForecastError `json:"classes" nullable:"false" doc:"Of each class and day."`
	Account   []ForecastError `json:"account" nullable:"false" doc:"Of all classes together and day."`
}

// ForecastError is how far off forecasts were, in points of percent of utilization.
type ForecastError struct {
	FromDays int      `json:"from_days" doc:"So many days ahead, at least."`
	ToDays   int      `json:"until_days" doc:"So many days ahead, at most."`
	Days     int      `json:"days" doc:"That were forecast."`
	MAE      *float64 `json:"mean_absolute_error_points" nullable:"true"`
	Bias     *float64 `json:"bias_points" nullable:"true" doc:"Mean of the errors: positive if too much was expected."`

	Compared      int      `json:"days_with_last_year" doc:"Those of them of which the same weekday 52 weeks before is known. The rest is about these."`
	MAECompared   *float64 `json:"mean_absolute_error_points_then" nullable:"true" doc:"Of the forecast on these days."`
	LastYearMAE   *float64 `json:"last_year_mean_absolute_error_points" nullable:"true" doc:"Of the guess that a day is like that one."`
	LastYearsBias *float64 `json:"last_year_bias_points" nullable:"true"`
}

// Expectation is what is expected of some vehicles on a day.
type Expectation struct {
	Rentable    int64    `json:"rentable_s" doc:"Seconds: of vehicles that can be rented, less planned maintenance."`
	OnBooks     int64    `json:"on_the_books_s" doc:"Seconds of confirmed bookings."`
	Expected    *int64   `json:"expected_s" nullable:"true" doc:"Seconds that will be rented in the end, at most rentable_s; null if there is too little history."`
	OnBooksPct  *float64 `json:"on_the_books_pct" nullable:"true" doc:"Of rentable_s; above 100 if more is booked than can be rented; null if nothing can."`
	ExpectedPct *float64 `json:"expected_pct" nullable:"true"`
	LowPct      *float64 `json:"low_pct" nullable:"true" doc:"expected_pct less the mean absolute error of the backtest so many days ahead; null without a test."`
	HighPct     *float64 `json:"high_pct" nullable:"true" doc:"expected_pct and that error."`
}

// ExpectedDay is what is expected of a day.
type ExpectedDay struct {
	Date string `json:"date" format:"date"`
	Expectation
	Classes []ExpectedClass `json:"classes" nullable:"false"`
}

// ExpectedClass is what is expected of a class on a day.
type ExpectedClass struct {
	ClassRef
	Expectation
	FreeShare  *int64 `json:"free_share_bp" nullable:"true" doc:"Of what is free, so much is expected to be rented yet, in basis points; negative where cancellations outweigh."`
	SampleDays int    `json:"sample_days" doc:"Past days of the same weekday that it is made of."`
	Pooled     bool   `json:"of_all_classes" doc:"The class has too few such days, and those of the whole account stand in."`
}

const utilizationMethod = "Of the time that was still free so many days before, on past days of the same weekday, a share was rented in the end. That share of what is free now is expected besides " +
	"what is on the books. Past days count less the further their season is (half for each 14 days of the year apart) and the older they are (half for each year). What was on the books then follows from when bookings were confirmed, " +
	"cancelled or lapsed, by their planned times as they stand now."

var (
	daysParam = rest.Param{Name: "days", Type: "integer", Min: 1, Max: forecast.Horizon,
		About: "How many days from tomorrow on; 90 unless given."}
	classParam = rest.Param{Name: "vehicle_class_id", Multiple: true, NotEmpty: true,
		About: "Only these classes, separated by commas."}
	currencyParam = rest.Param{Name: "currency", NotEmpty: true, About: "Of the money; the account's unless given."}
)

func (a *API) utilizationRoutes() {
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/forecasts/utilization", ID: "getUtilizationForecast", Tag: "Outlook",
		Scope: auth.ReportsRead, Summary: "Expected utilization of the coming days",
		About: "For each day and class: what is on the books, and what is expected in the end. " + utilizationMethod +
			" The answer says of how much history it is made, and how far off such forecasts were in the last year; with less than 8 weeks of history nothing is expected.",
		Params: []rest.Param{daysParam, classParam}, Reply: UtilizationForecast{},
	}, a.answered(a.utilization))
}

func (a *API) utilization(ctx context.Context, q *asker) (any, error) {
	p, err := a.pastOf(ctx, q)
	if err != nil {
		return nil, err
	}
	test := forecast.Test(p.classes, p.total, q.today, forecast.Usual)
	answer := UtilizationForecast{Object: "utilization_forecast", MadeAt: record.InstantOf(q.at),
		Timezone: q.zone.String(), Method: utilizationMethod, History: showHistory(p), Refused: refusal(p.history),
		Backtest: showBacktest(test), Days: []ExpectedDay{}}
	for lead := 1; lead <= rest.IntParam(q.request, "days", forecast.Horizon); lead++ {
		answer.Days = append(answer.Days, expectedDay(q, p, &test, lead))
	}
	return answer, nil
}

// expectedDay is what is expected of the classes that are asked about, so many days ahead.
func expectedDay(q *asker, p *past, test *forecast.Backtest, lead int) ExpectedDay {
	day := q.today + ledger.Day(lead)
	shown := ExpectedDay{Date: day.String(), Classes: []ExpectedClass{}}
	var all forecast.Expected
	all.Samples = 1
	for _, s := range p.classes {
		e := forecast.Expect(s, p.total, day, q.today)
		if !q.asks(s.Class) || e.Rentable == 0 && e.OnBooks == 0 {
			continue
		}
		if !p.history.Enough() {
			e.Samples = 0
		}
		class := ExpectedClass{ClassRef: p.refs[s.Class], Expectation: showExpected(e, test.Classes, lead),
			SampleDays: e.Samples, Pooled: e.Pooled}
		if e.Samples > 0 {
			bp := int64(10_000 * e.Share)
			class.FreeShare = &bp
		}
		shown.Classes = append(shown.Classes, class)
		all.Rentable, all.OnBooks, all.Rented = all.Rentable+e.Rentable, all.OnBooks+e.OnBooks, all.Rented+e.Rented
		all.Samples = min(all.Samples, e.Samples)
	}
	if !p.history.Enough() {
		all.Samples = 0
	}
	errors := test.Account
	if len(q.classes) > 0 {
		errors = test.Classes // some classes are not the account
	}
	shown.Expectation = showExpected(all, errors, lead)
	return shown
}

func showExpected(e forecast.Expected, errors []forecast.Error, lead int) Expectation {
	shown := Expectation{Rentable: e.Rentable, OnBooks: e.OnBooks}
	if pct, ok := forecast.Pct(e.OnBooks, e.Rentable); ok {
		shown.OnBooksPct = &pct
	}
	if e.Samples == 0 {
		return shown
	}
	shown.Expected = &e.Rented
	pct, ok := forecast.Pct(e.Rented, e.Rentable)
	if !ok {
		return shown
	}
	shown.ExpectedPct = &pct
	if off, ok := forecast.Off(errors, lead); ok {
		low, high := max(0, forecast.Tenth(pct-off)), min(100, forecast.Tenth(pct+off))
		shown.LowPct, shown.HighPct = &low, &high
	}
	return shown
}

func showHistory(p *past) History {
	h := History{Days: p.history.Days, Needed: forecast.LeastHistory, Afterwards: p.afterwards}
	h.From, h.Until = dates(p.history.From, p.history.To)
	return h
}

// dates shows a span of days, nulls where there is none.
func dates(from, to ledger.Day) (first, last *string) {
	if from == 0 {
		return nil, nil
	}
	a, b := from.String(), to.String()
	return &a, &b
}

// refusal says why nothing is said; "" if something is.
func refusal(h forecast.History) string {
	if h.Enough() {
		return ""
	}
	return fmt.Sprintf("Facts of %d past days are there, and a forecast takes %d. Facts are made of each day when it is over; wait, or write down or import past rentals.", h.Days, forecast.LeastHistory)
}

func showBacktest(b forecast.Backtest) Backtest {
	shown := Backtest{Forecasts: b.Origins, Classes: showErrors(b.Classes), Account: showErrors(b.Account)}
	shown.From, shown.Until = dates(b.From, b.To)
	return shown
}

func showErrors(errors []forecast.Error) []ForecastError {
	all := make([]ForecastError, len(errors))
	for i, e := range slices.Clone(errors) {
		all[i] = ForecastError{FromDays: e.FromDays, ToDays: e.ToDays, Days: e.Forecasts, Compared: e.Compared}
		if e.Forecasts > 0 {
			all[i].MAE, all[i].Bias = &e.MAE, &e.Bias
		}
		if e.Compared > 0 {
			all[i].MAECompared, all[i].LastYearMAE, all[i].LastYearsBias = &e.MAECompared, &e.NaiveMAE, &e.NaiveBias
		}
	}
	return all
}
