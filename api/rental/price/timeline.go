package price

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/motorpool/fleet/api/record"
)

// day is one billed day.
type day struct {
	date   time.Time
	season int   // in the list of the terms; -1 outside of any
	factor int64 // of the weekday or holiday, in basis points
	why    string
	share  int64 // of the price of the whole rental, before the factor
	amount int64
}

// dates lays out the billed days: their dates, seasons and factors.
func dates(req *Request, from, until int) []day {
	var days []day
	for i := from; i < until; i++ {
		d := day{date: dateOf(req.PickupAt.Time, req.Zone, i), season: -1, factor: unity}
		text := d.date.Format(time.DateOnly)
		for n, s := range req.Terms.Seasons {
			if s.From <= text && text <= s.To {
				d.season = n
			}
		}
		d.factor, d.why = factorOf(&req.Terms, d.date)
		days = append(days, d)
	}
	return days
}

// factorOf is what a date makes of a price, and why; that of a holiday stands instead of that of the day of the week.
func factorOf(t *record.RatePlanTerms, date time.Time) (int64, string) {
	text := date.Format(time.DateOnly)
	for _, h := range t.Holidays {
		if h.Date == text {
			return h.FactorBP, "holiday"
		}
	}
	name := strings.ToLower(date.Format("Mon"))
	for _, w := range t.WeekdayFactors {
		if w.Day == name {
			return w.FactorBP, date.Format("Monday")
		}
	}
	return unity, ""
}

// season is the season of a day, or nil.
func (d *day) of(t *record.RatePlanTerms) *record.RateSeason {
	if d.season < 0 {
		return nil
	}
	return &t.Seasons[d.season]
}

// timeLines prices the billed days and returns them, and a line for each sort of day.
func (c *calc) timeLines(req *Request, n int) ([]day, []record.Charge) {
	days := dates(req, 0, n)
	type offer struct {
		shares []int64
		story  string
	}
	offers := map[int]offer{} // what the whole rental would cost, by season
	for i := range days {
		d := &days[i]
		o, ok := offers[d.season]
		if !ok {
			r := c.ratesOf(req, d.of(&req.Terms))
			pieces := r.compose(n, req.Terms.TierPolicy)
			cost := c.cost(pieces)
			o = offer{spread(cost, n),
				fmt.Sprintf("%s: %s = %s", count(n, "day"), sayPieces(pieces, req.Terms.Currency), req.format(cost))}
			offers[d.season] = o
		}
		d.share = o.shares[i]
		d.amount = c.scale(d.share, d.factor, unity)
	}
	var lines []record.Charge
	for _, group := range groups(days) {
		first := group[0]
		line := record.Charge{Type: "time", Description: timeDescription(req, group), Taxable: true}
		var sum int64
		same := true
		for _, d := range group {
			sum, same = c.add(sum, d.amount), same && d.amount == first.amount
		}
		line.Quantity, line.UnitPrice.Amount = 1, sum
		if same {
			line.Quantity, line.UnitPrice.Amount = int64(len(group)), first.amount
		}
		line.Explanation = offers[first.season].story + "." + explainGroup(req, group, n)
		lines = append(lines, line)
	}
	return days, lines
}

// groups puts days together whose season and factor are the same, in the order of the first of each.
func groups(days []day) [][]*day {
	var all [][]*day
	for i := range days {
		d := &days[i]
		at := slices.IndexFunc(all, func(g []*day) bool {
			return g[0].season == d.season && g[0].factor == d.factor && (g[0].why == "holiday") == (d.why == "holiday")
		})
		if at < 0 {
			at, all = len(all), append(all, nil)
		}
		all[at] = append(all[at], d)
	}
	return all
}

// timeDescription names a line of time: "Rental time, High season, Saturday and Sunday 120 %".
func timeDescription(req *Request, group []*day) string {
	text := "Rental time"
	if s := group[0].of(&req.Terms); s != nil {
		text += ", " + s.Name
	}
	if group[0].factor != unity {
		text += fmt.Sprintf(", %s %s", list(reasons(group)), basisPoints(group[0].factor))
	}
	return text
}

// reasons are why the days of a group have their factor.
func reasons(group []*day) []string {
	var words []string
	for _, d := range group {
		if !slices.Contains(words, d.why) {
			words = append(words, d.why)
		}
	}
	return words
}

// explainGroup says which of the days a line is for, and how their price came to be from that of the whole rental.
func explainGroup(req *Request, group []*day, n int) string {
	var text strings.Builder
	if len(group) < n {
		fmt.Fprintf(&text, " Of these %d: %s.", len(group), sayDates(group))
	}
	if shares := tally(group, func(d *day) int64 { return d.share }); len(shares) > 1 || len(group) < n {
		text.WriteString(" A day's share is " + req.sayTally(shares) + ".")
	}
	if f := group[0].factor; f != unity {
		fmt.Fprintf(&text, " Times %s: %s.", basisPoints(f),
			req.sayTally(tally(group, func(d *day) int64 { return d.amount })))
	}
	return text.String()
}

// sayDates writes the dates of a group, runs of them shortened.
func sayDates(group []*day) string {
	var words []string
	for i := 0; i < len(group); {
		n := i
		for n+1 < len(group) && group[n+1].date.Equal(group[n].date.AddDate(0, 0, 1)) {
			n++
		}
		word := dayName(group[i].date)
		if n > i {
			word += " to " + dayName(group[n].date)
		}
		words, i = append(words, word), n+1
	}
	return list(words)
}

// amountOf is an amount and how many days have it.
type amountOf struct {
	amount int64
	days   int
}

// tally counts the days of each amount, in the order of the first of each.
func tally(group []*day, of func(*day) int64) []amountOf {
	var all []amountOf
	for _, d := range group {
		at := slices.IndexFunc(all, func(a amountOf) bool { return a.amount == of(d) })
		if at < 0 {
			at, all = len(all), append(all, amountOf{amount: of(d)})
		}
		all[at].days++
	}
	return all
}

// sayTally writes "USD 50.00", or "USD 42.86 (5 days) and USD 42.85 (2 days)".
func (req *Request) sayTally(all []amountOf) string {
	var words []string
	for _, a := range all {
		word := req.format(a.amount)
		if len(all) > 1 {
			word += " (" + count(a.days, "day") + ")"
		}
		words = append(words, word)
	}
	return list(words)
}

// format writes an amount of the request's currency.
func (req *Request) format(amount int64) string { return Format(req.money(amount)) }

// money is an amount of the request's currency.
func (req *Request) money(amount int64) record.Money {
	return record.Money{Amount: amount, Currency: req.Terms.Currency}
}
