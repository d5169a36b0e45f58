package outlook

import (
	"context"
	"net/http"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/forecast"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// Pace is what is on the books for the coming weeks or months, beside the same day last year.
type Pace struct {
	Object       string         `json:"object" doc:"Always pace." example:"pace"`
	MadeAt       record.Instant `json:"made_at"`
	Timezone     string         `json:"timezone" doc:"Of the account: days are its." example:"America/Chicago"`
	Currency     string         `json:"currency" example:"USD"`
	Method       string         `json:"method" doc:"How it is worked out, in words."`
	On           string         `json:"on" format:"date" doc:"Today."`
	LastYearOn   string         `json:"last_year_on" format:"date" doc:"The day of last year with which today is compared, at its end."`
	Periods      []PacePeriod   `json:"periods" nullable:"false"`
	BacktestDays PaceBacktest   `json:"backtest_billed_days"`
	BacktestRev  PaceBacktest   `json:"backtest_revenue"`
}

// PacePeriod is a week or a month.
type PacePeriod struct {
	From         string      `json:"from" format:"date"`
	Until        string      `json:"until" format:"date" doc:"Its last day."`
	LastFrom     string      `json:"last_year_from" format:"date"`
	LastUntil    string      `json:"last_year_until" format:"date"`
	Now          PaceAmount  `json:"on_the_books" doc:"Now, with what of the period is over already."`
	LastYear     PaceAmount  `json:"last_year" doc:"What was on the books for the period of last year, on the same day of it."`
	LastFinal    *PaceAmount `json:"last_year_final,omitempty" doc:"What that period came to; absent while it is not over."`
	Expected     *PaceAmount `json:"expected,omitempty" doc:"What is on the books and what the period of last year still took on from that day until its end; absent if nothing was booked then, or it is not over."`
	DaysPaceBP   *int64      `json:"billed_days_change_bp" nullable:"true" doc:"Of on_the_books against last_year, in basis points; null if nothing was on the books then."`
	RevenuePacBP *int64      `json:"revenue_change_bp" nullable:"true"`
}

// PaceAmount is what is on the books.
type PaceAmount struct {
	BilledDays int64        `json:"billed_days"`
	Revenue    record.Money `json:"revenue" doc:"As agreed, without taxes: time, mileage, extras, protection and fees of the price, less discounts. Not what is only known later: tolls, damage, fees of a late return or a cancellation."`
}

// PaceBacktest is how far off the same would have been a year ago.
type PaceBacktest struct {
	On          *string `json:"on" format:"date" doc:"The day on which it would have been asked; null if there is no history for it."`
	Periods     int     `json:"periods" doc:"That are over since, and whose year before is known."`
	MAE         *int64  `json:"mean_absolute_error_bp" nullable:"true" doc:"Of what was expected, in basis points of what came; null without periods."`
	Bias        *int64  `json:"bias_bp" nullable:"true" doc:"Positive if too much was expected."`
	LastYearMAE *int64  `json:"last_year_mean_absolute_error_bp" nullable:"true" doc:"Of the guess that a period comes to what its year before did."`
	LastYears   *int64  `json:"last_year_bias_bp" nullable:"true"`
}

const paceMethod = "A booking is on the books from its confirmation until it is cancelled, lapses or becomes a no-show, with the days that it is billed, as it stands now. What was agreed is divided among them in proportion to their prices, as in the report pace, which says the same. " +
	"Weeks are compared with those 52 weeks before, which have the same weekdays, months with the same month."

// mostPeriods is how many weeks or months are looked ahead at most.
const mostPeriods = 26

func (a *API) paceRoutes() {
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/forecasts/pace", ID: "getPace", Tag: "Outlook", Scope: auth.ReportsRead,
		Summary: "Pace against last year",
		About: "Billed days and revenue that are on the books for the coming weeks or months, beside what was on the books for those of last year on the same day of it. " + paceMethod +
			" The expected outcome adds what last year still took on; the backtest says how far off that would have been a year ago.",
		Params: []rest.Param{
			{Name: "group_by", Enum: []string{"week", "month"}, About: "`month` unless given."},
			{Name: "periods", Type: "integer", Min: 1, Max: mostPeriods, About: "How many, the first with today in it; 6 unless given."},
			classParam, currencyParam,
		},
		Reply: Pace{},
	}, a.answered(a.pace))
}

func (a *API) pace(ctx context.Context, q *asker) (any, error) {
	buckets := forecast.Months
	if rest.TextParam(q.request, "group_by", "month") == "week" {
		buckets = forecast.Weeks
	}
	n := rest.IntParam(q.request, "periods", 6)
	now, err := a.paceAt(ctx, q, buckets, q.today, n)
	if err != nil {
		return nil, err
	}
	answer := Pace{Object: "pace", MadeAt: record.InstantOf(q.at), Timezone: q.zone.String(), Currency: q.currency,
		Method: paceMethod, On: q.today.String(), LastYearOn: now.beforeOn.String(), Periods: []PacePeriod{}}
	for i, b := range now.buckets {
		answer.Periods = append(answer.Periods, showPeriod(q, b, now.amounts[i]))
	}
	then, err := a.paceAt(ctx, q, buckets, now.beforeOn, n)
	if err != nil {
		return nil, err
	}
	answer.BacktestDays = then.test(q, func(o forecast.OnBooks) int64 { return o.BilledDays })
	answer.BacktestRev = then.test(q, func(o forecast.OnBooks) int64 { return o.Revenue })
	return answer, nil
}

// paceThen is the pace as it was, or is, on a day.
type paceThen struct {
	on, beforeOn ledger.Day
	buckets      []forecast.Bucket
	amounts      []paceAmounts
}

// paceAmounts are those of a bucket: on the books on the day, on the same day a year before, and what both came to, as
// far as it is known.
type paceAmounts struct{ now, before, beforeFinal, final forecast.OnBooks }

// paceAt asks for the pace on a day. What periods came to is asked as of today.
func (a *API) paceAt(ctx context.Context, q *asker,
	in func(ledger.Day, int) ([]forecast.Bucket, ledger.Day), on ledger.Day, n int) (*paceThen, error) {
	t := &paceThen{on: on}
	t.buckets, t.beforeOn = in(on, n)
	asOf := []string{t.beforeOn.String(), on.String(), q.today.String()}
	rows, err := query.PaceOfClasses(ctx, a.Long, q.span(t.buckets[0].From, t.buckets[n-1].To), asOf, q.currency)
	if err != nil {
		return nil, err
	}
	books := make([]map[ledger.Day]forecast.OnBooks, len(asOf))
	for i := range books {
		books[i] = map[ledger.Day]forecast.OnBooks{}
	}
	for _, row := range rows {
		if !q.asks(row.Class) {
			continue
		}
		for _, days := range books[row.Since:row.Until] {
			d := days[ledger.Day(row.Day)]
			d.BilledDays += row.BilledDays
			d.Revenue += row.Revenue
			days[ledger.Day(row.Day)] = d
		}
	}
	before, then, today := books[0], books[1], books[2]
	for _, b := range t.buckets {
		t.amounts = append(t.amounts, paceAmounts{
			now: forecast.Sum(then, b.From, b.To), final: forecast.Sum(today, b.From, b.To),
			before:      forecast.Sum(before, b.BeforeFrom, b.BeforeTo),
			beforeFinal: forecast.Sum(today, b.BeforeFrom, b.BeforeTo)})
	}
	return t, nil
}

func showPeriod(q *asker, b forecast.Bucket, m paceAmounts) PacePeriod {
	show := func(o forecast.OnBooks) PaceAmount {
		return PaceAmount{BilledDays: o.BilledDays, Revenue: record.Money{Amount: o.Revenue, Currency: q.currency}}
	}
	p := PacePeriod{From: b.From.String(), Until: b.To.String(), LastFrom: b.BeforeFrom.String(),
		LastUntil: b.BeforeTo.String(), Now: show(m.now), LastYear: show(m.before),
		DaysPaceBP:   changeBP(m.now.BilledDays, m.before.BilledDays),
		RevenuePacBP: changeBP(m.now.Revenue, m.before.Revenue)}
	if b.BeforeTo < q.today {
		final := show(m.beforeFinal)
		p.LastFinal = &final
		if m.beforeFinal.BilledDays > 0 {
			expected := show(forecast.Pickup(m.now, m.before, m.beforeFinal))
			p.Expected = &expected
		}
	}
	return p
}

// changeBP is how much more something is than before, in basis points; nil if it was nothing.
func changeBP(now, before int64) *int64 {
	if before <= 0 {
		return nil
	}
	bp := (now - before) * 10_000 / before
	return &bp
}

// test holds what would have been expected of the periods that are over since against what came.
func (t *paceThen) test(q *asker, of func(forecast.OnBooks) int64) PaceBacktest {
	var expected, naive, came []int64
	for i, b := range t.buckets {
		m := &t.amounts[i]
		if b.To >= q.today || m.beforeFinal.BilledDays == 0 {
			continue
		}
		expected = append(expected, of(forecast.Pickup(m.now, m.before, m.beforeFinal)))
		naive, came = append(naive, of(m.beforeFinal)), append(came, of(m.final))
	}
	shown := PaceBacktest{Periods: len(came)}
	if e, ok := forecast.PaceErrorOf(expected, naive, came); ok {
		on := t.on.String()
		shown.On, shown.MAE, shown.Bias = &on, &e.MAE, &e.Bias
		shown.LastYearMAE, shown.LastYears = &e.NaiveMAE, &e.Naives
	}
	return shown
}
