package price_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/price"
)

// bookings is how many random ones are priced.
const bookings = 100_000

// TestPartsAddUp prices random bookings by random terms: the days add up to the lines of time, lines to totals, a line
// is its quantity times its unit, taxes are never negative nor is what is owed, and extending to the time of return
// that was agreed changes nothing.
func TestPartsAddUp(t *testing.T) {
	n := 0
	begin := time.Now()
	for seed := 0; n < bookings; seed++ {
		gen := rapid.Custom(anyRequest)
		for range 1000 {
			n++
			req := gen.Example(n)
			s, err := price.Quote(req)
			if err != nil {
				t.Fatalf("booking %d: %s: %+v", n, says(err), req)
			}
			if why := wrong(&s); why != "" {
				t.Fatalf("booking %d: %s: %+v\n%s", n, why, req, strings.Join(s.Steps, "\n"))
			}
			if n%10 == 0 {
				if why := wrongAfter(&s, &req); why != "" {
					t.Fatalf("booking %d: %s: %+v", n, why, req)
				}
			}
		}
	}
	t.Logf("%d bookings in %s", n, time.Since(begin).Round(time.Millisecond))
}

// wrong says what does not add up.
func wrong(s *record.RateSnapshot) string {
	var days, lines, all, taxes int64
	for _, d := range s.Days {
		days += d.Amount.Amount
	}
	for _, l := range s.Lines {
		if l.Quantity*l.UnitPrice.Amount != l.Amount.Amount || l.Amount.Currency != s.Currency || l.Explanation == "" {
			return "line " + l.Description
		}
		switch l.Type {
		case "time":
			lines += l.Amount.Amount
		case "tax":
			taxes += l.Amount.Amount
			if l.Amount.Amount < 0 {
				return "a negative tax"
			}
		}
		if l.Type != "platform_fee" {
			all += l.Amount.Amount
		}
	}
	t := s.Totals
	switch {
	case len(s.Days) != s.BilledDays:
		return "days"
	case days != lines:
		return "the days are " + strconv.FormatInt(days, 10) + ", the lines " + strconv.FormatInt(lines, 10)
	case all != t.Total.Amount || taxes != t.Taxes.Amount ||
		t.Subtotal.Amount+t.Discounts.Amount+t.Taxes.Amount != t.Total.Amount:
		return "totals"
	case t.NetToHost.Amount+t.PlatformFee.Amount+t.Taxes.Amount != t.Total.Amount || t.PlatformFee.Amount < 0 ||
		t.NetToHost.Amount < 0:
		return "what the host has"
	case t.Total.Amount < 0 || t.Discounts.Amount > 0 || -t.Discounts.Amount > days:
		return "a discount beyond the time"
	}
	return ""
}

// wrongAfter says what an extension does wrong.
func wrongAfter(s *record.RateSnapshot, req *price.Request) string {
	agreed := price.Agreed{PickupAt: req.PickupAt.Time, ReturnAt: req.ReturnAt.Time}
	same, lines, err := price.Extend(s, agreed, req.ReturnAt.Time)
	if err != nil || len(lines) != 0 || !reflect.DeepEqual(same, *s) {
		return "extended to the same return it differs"
	}
	longer, lines, err := price.Extend(s, agreed, req.ReturnAt.Add(77*time.Hour))
	if err != nil {
		return "extended: " + says(err)
	}
	after, err := price.Totals(s.Currency, append(append([]record.Charge{}, s.Lines...), lines...))
	if err != nil || after.Total != longer.Totals.Total || after.Taxes != longer.Totals.Taxes ||
		after.NetToHost != longer.Totals.NetToHost {
		return "the charges of an extension are not the difference"
	}
	if why := wrongCorrected(s, agreed); why != "" {
		return why
	}
	return wrongKept(s, req)
}

// wrongCorrected says what is wrong with a rental whose pickup and return were typed wrongly at first, and with wrong
// corrections too: in the end it must cost what it costs if all was typed right at once.
func wrongCorrected(s *record.RateSnapshot, agreed price.Agreed) string {
	pickups := []time.Time{agreed.PickupAt.Add(-50 * time.Hour), agreed.PickupAt.Add(5 * time.Hour),
		agreed.PickupAt.Add(-200 * time.Hour), agreed.PickupAt.Add(-26 * time.Hour)}
	miles := []int{200_000, 100, 0, 3000}
	returned := func(i int) price.Returned {
		return price.Returned{At: agreed.ReturnAt.Add(time.Duration(i*31) * time.Hour), MilesDriven: &miles[i],
			FuelMissingPct: int64(40 - 10*i)}
	}
	typed := func(instead bool) (total record.Totals, days []record.DayPrice, err error) {
		now, posted, late := *s, slices.Clone(s.Lines), []record.Charge(nil)
		for i, at := range pickups {
			if !instead && i < len(pickups)-1 {
				continue
			}
			var lines []record.Charge
			first := i == 0 || !instead
			if first {
				now, lines, err = price.PickedUp(&now, agreed, at)
			} else {
				now, lines, err = price.PickedUpInstead(&now, agreed, at, at.Before(agreed.PickupAt))
			}
			if err != nil {
				return total, nil, err
			}
			posted = append(posted, lines...)
			if first {
				lines, err = price.AtReturn(&now, agreed, returned(i))
			} else {
				lines, err = price.AtReturnInstead(&now, agreed, returned(i), late)
			}
			if err != nil {
				return total, nil, err
			}
			late = append(late, lines...)
			if lines, err = price.Retax(now.Taxes, now.Currency, slices.Concat(posted, late), nil); err != nil {
				return total, nil, err
			}
			posted = append(posted, lines...)
		}
		total, err = price.Totals(s.Currency, slices.Concat(posted, late))
		return total, now.Days, err
	}
	want, days, err := typed(false)
	if err != nil {
		return "typed right: " + says(err)
	}
	got, again, err := typed(true)
	if err != nil {
		return "corrected: " + says(err)
	}
	if got != want || !reflect.DeepEqual(days, again) {
		return fmt.Sprintf("corrected it costs %v, typed right %v", got, want)
	}
	return ""
}

// wrongKept says what is wrong with a price that was kept when its rental was moved.
func wrongKept(s *record.RateSnapshot, req *price.Request) string {
	moved := price.Agreed{PickupAt: req.PickupAt.Add(24 * time.Hour), ReturnAt: req.ReturnAt.Add(100 * time.Hour)}
	if lines, err := price.AtReturn(s, moved, price.Returned{At: moved.ReturnAt}); err != nil || len(lines) != 0 {
		return "a return in time costs more than the price that was kept"
	}
	same, lines, err := price.Extend(s, moved, moved.ReturnAt)
	if err != nil || len(lines) != 0 || !reflect.DeepEqual(same, *s) {
		return "extended to the same return a price that was kept differs"
	}
	longer, lines, err := price.Extend(s, moved, moved.ReturnAt.Add(77*time.Hour))
	if err != nil {
		return "extended at a price that was kept: " + says(err)
	}
	after, err := price.Totals(s.Currency, append(append([]record.Charge{}, s.Lines...), lines...))
	if err != nil || after != longer.Totals {
		return "the charges of an extension are not the difference to the price that was kept"
	}
	if len(longer.Days) != longer.BilledDays {
		return "the days of an extension of a price that was kept"
	}
	return ""
}

func anyRequest(t *rapid.T) price.Request {
	money := func(most int) record.Money {
		return record.Money{Amount: int64(rapid.IntRange(0, most).Draw(t, "amount")), Currency: "USD"}
	}
	chance := func(name string) bool { return rapid.IntRange(0, 2).Draw(t, name) == 0 }
	terms := record.RatePlanTerms{Currency: "USD", DailyRate: money(20000),
		DayRounding: rapid.SampledFrom([]string{"", "calendar_day", "24h"}).Draw(t, "rounding"),
		TierPolicy:  rapid.SampledFrom([]string{"", "longest_fit"}).Draw(t, "policy")}
	for _, days := range []int{3, 7, 30} {
		if chance("tier") {
			terms.Tiers = append(terms.Tiers, record.RateTier{Days: days, Price: money(20000 * days)})
		}
	}
	pickup := time.Date(2026, 1, 1, 0, 0, 0, 0,
		time.UTC).Add(time.Duration(rapid.IntRange(0, 365*24*60).Draw(t, "pickup")) * time.Minute)
	if chance("season") {
		s := record.RateSeason{Name: "Season", From: pickup.AddDate(0, 0, 2).Format(time.DateOnly),
			To: pickup.AddDate(0, 0, 20).Format(time.DateOnly)}
		if rate := money(30000); chance("by factor") {
			s.FactorBP = new(int64(rapid.IntRange(1, 30000).Draw(t, "bp")))
		} else {
			s.DailyRate = &rate
		}
		terms.Seasons = append(terms.Seasons, s)
	}
	if chance("weekend") {
		terms.WeekdayFactors = []record.DayFactor{{Day: "sat", FactorBP: int64(rapid.IntRange(1, 30000).Draw(t, "sat"))},
			{Day: "sun", FactorBP: 11700}}
	}
	req := price.Request{Zone: time.UTC, Terms: terms, PlanID: "rat_1"}
	if chance("new york") {
		req.Zone = newYork
	}
	if chance("discounts") {
		req.Terms.LengthDiscounts = []record.LengthOff{{MinDays: 3, DiscountBP: 700}, {MinDays: 14, DiscountBP: 10000}}
		req.Terms.EarlyBirdDiscounts = []record.EarlyOff{{MinDaysAhead: 10, DiscountBP: 1350}}
		req.CustomerDiscountBP = int64(rapid.IntRange(0, 10000).Draw(t, "customer"))
		amount := money(50000)
		req.Terms.Promotions = []record.Promotion{{Code: "A", Amount: &amount}, {Code: "B", DiscountBP: 3300}}
		req.PromoCode = rapid.SampledFrom([]string{"", "a", "B"}).Draw(t, "code")
	}
	if chance("extras") {
		most := money(4000)
		req.Terms.Extras = []record.Extra{{Code: "x", Name: "x", Per: "day", Price: money(999), MaxPrice: &most},
			{Code: "y", Name: "y", Price: money(5000), Taxable: new(false)}}
		req.Extras = []record.BookedExtra{{Code: "x", Quantity: 3}, {Code: "y"}}
	}
	if chance("miles") {
		fee := money(99)
		req.Terms.IncludedMilesPerDay, req.Terms.ExtraMileFee, req.ExpectedMi =
			new(100), &fee, new(rapid.IntRange(0, 5000).Draw(t, "miles"))
	}
	if chance("own rate") {
		rate := money(30000)
		req.DailyRate, req.DailyRateOf = &rate, "vehicle"
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "taxes") {
		req.Taxes = append(req.Taxes,
			record.TaxRate{Name: "tax " + strconv.Itoa(i), RateBP: int64(rapid.IntRange(0, 3000).Draw(t, "bp"))})
	}
	if chance("channel") {
		req.Terms.PlatformFeeBP = int64(rapid.IntRange(0, 10000).Draw(t, "keeps"))
	}
	req.PickupAt = record.InstantOf(pickup)
	req.ReturnAt = record.InstantOf(
		pickup.Add(time.Duration(rapid.IntRange(1, 40*24*60).Draw(t, "minutes")) * time.Minute))
	req.BookedAt = record.InstantOf(pickup.AddDate(0, 0, -rapid.IntRange(0, 30).Draw(t, "ahead")))
	return req
}

var newYork = func() *time.Location {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		panic(err)
	}
	return zone
}()

// TestAllocateIsExact divides random amounts: parts add up, and none is a whole unit from its share.
func TestAllocateIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.Int64Range(-price.Limit, price.Limit).Draw(t, "amount")
		weights := rapid.SliceOfN(rapid.Int64Range(0, 1000), 1, 40).Draw(t, "weights")
		var sum, total int64
		for _, w := range weights {
			total += w
		}
		for i, part := range price.Allocate(amount, weights) {
			sum += part
			if total > 0 && weights[i] == 0 && part != 0 {
				t.Fatalf("part %d of no weight is %d", i, part)
			}
		}
		if sum != amount {
			t.Fatalf("%d became %d", amount, sum)
		}
	})
}

// TestAmountsTooLargeAreRefused asks for prices at the edge of what can be.
func TestAmountsTooLargeAreRefused(t *testing.T) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for _, amount := range []int64{price.Limit / 2, price.Limit, price.Limit + 1, 1<<63 - 1, -1} {
		req := price.Request{Terms: record.RatePlanTerms{Currency: "USD",
			DailyRate: record.Money{Amount: amount, Currency: "USD"}}, PriceBasis: record.PriceBasis{
			PickupAt: record.InstantOf(at), ReturnAt: record.InstantOf(at.AddDate(9, 0, 0)), BookedAt: record.InstantOf(at)}}
		if _, err := price.Quote(req); err == nil {
			t.Errorf("%d a day for nine years has a price", amount)
		}
	}
}

// TestNoFloatTouchesMoney reads the package's own source: no type and no literal of a float is in it.
func TestNoFloatTouchesMoney(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, entry := range entries {
		if name := entry.Name(); !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, entry.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if strings.HasPrefix(n.Name, "float") || strings.HasPrefix(n.Name, "complex") || n.Name == "ParseFloat" {
					t.Errorf("%s: %s", set.Position(n.Pos()), n.Name)
				}
			case *ast.BasicLit:
				if n.Kind == token.FLOAT || n.Kind == token.IMAG {
					t.Errorf("%s: %s", set.Position(n.Pos()), n.Value)
				}
			}
			return true
		})
	}
	if files < 8 {
		t.Errorf("only %d files were read", files)
	}
}
