package price

import (
	"fmt"
	"slices"

	"github.com/motorpool/fleet/api/record"
)

// rates are what time costs in a season, or outside of any.
type rates struct {
	season string // name; empty outside
	daily  int64
	tiers  []piece // longest first
	factor int64   // in basis points, that was applied; 0 for none
}

// piece is a price for so many days.
type piece struct {
	days  int
	price int64
}

// ratesOf works out the rates of a season, nil for none: what the terms say, in proportion to the vehicle's own rate.
func (c *calc) ratesOf(req *Request, season *record.RateSeason) rates {
	plan := req.Terms.DailyRate.Amount
	own := func(amount int64) int64 {
		if req.DailyRate == nil || plan == 0 {
			return amount
		}
		return c.scale(amount, req.DailyRate.Amount, plan)
	}
	r := rates{daily: plan}
	if req.DailyRate != nil {
		r.daily = req.DailyRate.Amount
	}
	tiers, factor := req.Terms.Tiers, int64(unity)
	if season != nil {
		r.season = season.Name
		switch {
		case season.DailyRate != nil:
			r.daily, tiers = own(season.DailyRate.Amount), season.Tiers
		case season.Tiers != nil:
			tiers = season.Tiers
		case season.FactorBP != nil:
			factor, r.factor = *season.FactorBP, *season.FactorBP
		}
	}
	r.daily = c.scale(r.daily, factor, unity)
	for _, t := range tiers {
		r.tiers = append(r.tiers, piece{t.Days, c.scale(own(t.Price.Amount), factor, unity)})
	}
	slices.SortStableFunc(r.tiers, func(a, b piece) int { return b.days - a.days })
	return r
}

// compose puts so many days together of tiers and single days, by a policy, and returns the pieces, longest first.
func (r *rates) compose(days int, policy string) []piece {
	if policy == "longest_fit" {
		return r.longestFit(days)
	}
	return r.cheapest(days)
}

// longestFit takes the longest tier that fits as often as it fits, and goes on with the rest.
func (r *rates) longestFit(days int) []piece {
	var pieces []piece
	for _, t := range r.tiers {
		for t.days > 0 && days >= t.days {
			pieces, days = append(pieces, t), days-t.days
		}
	}
	for range days {
		pieces = append(pieces, piece{1, r.daily})
	}
	return pieces
}

// cheapest finds the cheapest pieces that cover the days, by dynamic programming: the cheapest for n days is a piece
// and the cheapest for the days that it does not cover. Of equally cheap ones the longest piece is taken.
func (r *rates) cheapest(days int) []piece {
	all := append(slices.Clone(r.tiers), piece{1, r.daily})
	cost, last := make([]int64, days+1), make([]piece, days+1)
	for n := 1; n <= days; n++ {
		for i, p := range all {
			// Prices are below 1<<53 and days below 1<<12, and a cost beyond 1<<62 is not told apart: no sum overflows.
			if with := min(p.price+cost[max(0, n-p.days)], 1<<62); i == 0 || with < cost[n] {
				cost[n], last[n] = with, p
			}
		}
	}
	var pieces []piece
	for n := days; n > 0; n -= last[n].days {
		pieces = append(pieces, last[n])
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return b.days - a.days })
	return pieces
}

// cost adds up pieces.
func (c *calc) cost(pieces []piece) int64 {
	var sum int64
	for _, p := range pieces {
		sum = c.add(sum, p.price)
	}
	return sum
}

// sayPieces writes pieces for people: "1 x 7 days at USD 300.00 and 3 x 1 day at USD 50.00".
func sayPieces(pieces []piece, currency string) string {
	var words []string
	for i := 0; i < len(pieces); {
		n := i
		for n < len(pieces) && pieces[n] == pieces[i] {
			n++
		}
		words = append(words, fmt.Sprintf("%d x %s at %s", n-i, count(pieces[i].days, "day"),
			Format(record.Money{Amount: pieces[i].price, Currency: currency})))
		i = n
	}
	return list(words)
}
