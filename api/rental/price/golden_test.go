package price_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rental/price"
)

var update = flag.Bool("update", false, "write the answers in testdata anew")

// TestPricesAreAsWrittenDown works out each file of testdata: what is above the rule is asked, what is below it is
// answered. The files are to be read by people who rent out cars; see testdata/README.md.
func TestPricesAreAsWrittenDown(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d files, %v; want at least 25", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			asked, want, _ := strings.Cut(string(text), rule)
			got := workOut(t, asked)
			if *update {
				if err := os.WriteFile(file, []byte(asked+rule+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("%s:\n%s\nwant\n%s", file, got, want)
			}
		})
	}
}

const rule = "----\n"

// counter is the clerk who reads what is asked.
type counter struct {
	t    *testing.T
	req  price.Request
	then []string // what happens afterwards

	agreed price.Agreed    // as the booking has it by then
	late   []record.Charge // what the return has added
}

// workOut answers what is asked.
func workOut(t *testing.T, asked string) string {
	c := &counter{t: t}
	c.req.PlanID, c.req.PlanName, c.req.PlanRevision, c.req.Zone = "rat_1", "Standard", 1, time.UTC
	c.req.Terms.Currency = "USD"
	for line := range strings.Lines(asked) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			word, rest, _ := strings.Cut(line, ":")
			c.read(word, strings.TrimSpace(rest))
		}
	}
	if c.req.BookedAt.IsZero() {
		c.req.BookedAt = record.InstantOf(c.req.PickupAt.Add(-24 * time.Hour))
	}
	s, err := price.Quote(c.req)
	if err != nil {
		return "refused: " + says(err) + "\n"
	}
	var out strings.Builder
	showPrice(&out, &s)
	c.agreed = price.Agreed{PickupAt: c.req.PickupAt.Time, ReturnAt: c.req.ReturnAt.Time}
	for _, event := range c.then {
		s = c.after(&out, s, event)
	}
	return out.String()
}

// read reads one line of what is asked.
func (c *counter) read(word, rest string) {
	terms, words := &c.req.Terms, strings.Fields(rest)
	switch word {
	case "currency":
		terms.Currency = rest
	case "day":
		terms.DailyRate = c.money(rest)
	case "rounding":
		terms.DayRounding = words[0]
		if len(words) > 1 {
			terms.GraceMinutes = new(c.number(words[1]))
		}
	case "policy":
		terms.TierPolicy = rest
	case "tier":
		terms.Tiers = append(terms.Tiers, c.tier(words))
	case "season": // NAME FROM TO day AMOUNT, or factor PCT, and tiers: tier DAYS AMOUNT
		season := record.RateSeason{Name: words[0], From: words[1], To: words[2]}
		for words = words[3:]; len(words) > 0; {
			switch words[0] {
			case "day":
				season.DailyRate, words = new(c.money(words[1])), words[2:]
			case "factor":
				season.FactorBP, words = new(100*int64(c.number(words[1]))), words[2:]
			case "tier":
				season.Tiers, words = append(season.Tiers, c.tier(words[1:3])), words[3:]
			default:
				c.t.Fatalf("season: %q", words)
			}
		}
		terms.Seasons = append(terms.Seasons, season)
	case "weekday":
		terms.WeekdayFactors = append(terms.WeekdayFactors,
			record.DayFactor{Day: words[0], FactorBP: 100 * int64(c.number(words[1]))})
	case "holiday":
		terms.Holidays = append(terms.Holidays, record.DateFactor{Date: words[0], FactorBP: 100 * int64(c.number(words[1]))})
	case "long":
		terms.LengthDiscounts = append(terms.LengthDiscounts,
			record.LengthOff{MinDays: c.number(words[0]), DiscountBP: 100 * int64(c.number(words[1]))})
	case "early":
		terms.EarlyBirdDiscounts = append(terms.EarlyBirdDiscounts,
			record.EarlyOff{MinDaysAhead: c.number(words[0]), DiscountBP: 100 * int64(c.number(words[1]))})
	case "promotion": // CODE PCT% or AMOUNT [FROM TO]
		p := record.Promotion{Code: words[0]}
		if pct, ok := strings.CutSuffix(words[1], "%"); ok {
			p.DiscountBP = 100 * int64(c.number(pct))
		} else {
			p.Amount = new(c.money(words[1]))
		}
		if len(words) > 2 {
			p.From, p.To = words[2], words[3]
		}
		terms.Promotions = append(terms.Promotions, p)
	case "miles": // PER_DAY FEE
		terms.IncludedMilesPerDay, terms.ExtraMileFee = new(c.number(words[0])), new(c.money(words[1]))
	case "extra", "protection": // CODE day|rental AMOUNT [max AMOUNT] [untaxed]
		e := record.Extra{Code: words[0], Name: strings.ReplaceAll(words[0], "_", " "), Kind: word, Per: words[1],
			Price: c.money(words[2])}
		for i, w := range words {
			switch w {
			case "max":
				e.MaxPrice = new(c.money(words[i+1]))
			case "untaxed":
				e.Taxable = new(false)
			}
		}
		terms.Extras = append(terms.Extras, e)
	case "young fee":
		terms.YoungDriverAge, terms.YoungDriverFee = c.number(words[0]), new(c.money(words[1]))
	case "driver fee":
		terms.AdditionalDriverFee = new(c.money(rest))
	case "late fee":
		terms.LateFeePerDay = new(c.money(rest))
	case "refuel fee":
		terms.RefuelFee = new(c.money(rest))
	case "cancel step":
		terms.CancelSteps = append(terms.CancelSteps,
			record.CancelStep{HoursBefore: c.number(words[0]), FeeBP: 100 * int64(c.number(words[1]))})
	case "no-show fee":
		terms.NoShowFeeBP = new(100 * int64(c.number(words[0])))
	case "deposit":
		terms.DepositAmount, terms.DepositMethod = new(c.money(words[0])), words[1]
	case "channel keeps":
		terms.PlatformFeeBP = c.bp(words[0])
	case "tax":
		c.req.Taxes = append(c.req.Taxes,
			record.TaxRate{Name: strings.Join(words[:len(words)-1], " "), RateBP: c.bp(words[len(words)-1])})
	case "zone":
		zone, err := time.LoadLocation(rest)
		if err != nil {
			c.t.Fatal(err)
		}
		c.req.Zone = zone
	case "pickup":
		c.req.PickupAt = c.instant(rest)
	case "return":
		c.req.ReturnAt = c.instant(rest)
	case "booked":
		c.req.BookedAt = c.instant(rest)
	case "with": // CODE [N]
		b := record.BookedExtra{Code: words[0]}
		if len(words) > 1 {
			b.Quantity = c.number(words[1])
		}
		c.req.Extras = append(c.req.Extras, b)
	case "protected by":
		c.req.ProtectionPlan = rest
	case "code":
		c.req.PromoCode = rest
	case "drivers more":
		c.req.AdditionalDrivers = c.number(rest)
	case "young":
		c.req.YoungDriver = rest == "yes"
	case "one-way fee":
		c.req.OneWayFee = new(c.money(rest))
	case "delivery fee":
		c.req.DeliveryFee = new(c.money(rest))
	case "expects miles":
		c.req.ExpectedMi = new(c.number(rest))
	case "customer has":
		c.req.CustomerDiscountBP = 100 * int64(c.number(words[0]))
	case "vehicle day", "class day":
		c.req.DailyRate, c.req.DailyRateOf = new(c.money(rest)),
			map[string]string{"vehicle day": "vehicle", "class day": "vehicle class"}[word]
	case "vehicle miles":
		c.req.IncludedMilesPerDay, c.req.ExtraMileFee = new(c.number(words[0])), new(c.money(words[1]))
	case "extended to", "picked up", "picked up instead", "kept, from", "returned", "returned instead", "waived",
		"cancelled", "no-show", "charged":
		c.then = append(c.then, word+": "+rest)
	default:
		c.t.Fatalf("nobody understands %q", word)
	}
}

// after shows what an event makes of a price.
func (c *counter) after(out *strings.Builder, s record.RateSnapshot, event string) record.RateSnapshot {
	word, rest, _ := strings.Cut(event, ": ")
	fmt.Fprintf(out, "\n%s\n", strings.TrimSpace(word+" "+rest))
	switch word {
	case "extended to", "picked up", "picked up instead":
		change := map[string]func(*record.RateSnapshot, price.Agreed,
			time.Time) (record.RateSnapshot, []record.Charge, error){
			"extended to": price.Extend, "picked up": price.PickedUp,
			"picked up instead": func(s *record.RateSnapshot, a price.Agreed,
				at time.Time) (record.RateSnapshot, []record.Charge, error) {
				return price.PickedUpInstead(s, a, at, true)
			}}[word]
		at := c.instant(rest).Time
		next, lines, err := change(&s, c.agreed, at)
		if err != nil {
			fmt.Fprintln(out, "refused:", says(err))
			return s
		}
		if word == "extended to" {
			c.agreed.ReturnAt = at
		}
		showLines(out, lines)
		fmt.Fprintf(out, "new total %s\n", price.Format(next.Totals.Total))
		return next
	case "kept, from": // AT to AT: the booking is moved, and its price kept
		from, until, _ := strings.Cut(rest, " to ")
		c.agreed = price.Agreed{PickupAt: c.instant(from).Time, ReturnAt: c.instant(until).Time}
	case "charged": // TYPE AMOUNT [untaxed], by hand
		words := strings.Fields(rest)
		amount := c.money(words[1])
		line := record.Charge{Type: words[0], Description: "By hand", Quantity: 1, UnitPrice: amount, Amount: amount,
			Taxable:     len(words) < 3,
			Explanation: "Said so."}
		lines, err := price.ByHand(s.Taxes, s.Currency, s.Lines, line)
		if err != nil {
			fmt.Fprintln(out, "refused:", says(err))
			return s
		}
		showLines(out, lines)
		s.Lines = append(s.Lines[:len(s.Lines):len(s.Lines)], lines...)
		if s.Totals, err = price.Totals(s.Currency, s.Lines); err != nil {
			c.t.Fatal(err)
		}
		fmt.Fprintf(out, "owed in all %s\n", price.Format(s.Totals.Total))
	case "returned", "returned instead": // AT [miles N] [fuel N] [battery N] [elsewhere FEE]
		words := strings.Fields(rest)
		r := price.Returned{At: c.instant(words[0] + " " + words[1]).Time}
		for i := 2; i < len(words); i += 2 {
			if words[i] == "elsewhere" {
				r.OneWayFee = new(c.money(words[i+1]))
				continue
			}
			n := c.number(words[i+1])
			switch words[i] {
			case "miles":
				r.MilesDriven = &n
			case "fuel":
				r.FuelMissingPct = int64(n)
			case "battery":
				r.BatteryMissingPct = int64(n)
			}
		}
		var lines []record.Charge
		var err error
		if word == "returned" {
			c.late = nil
			lines, err = price.AtReturn(&s, c.agreed, r)
		} else {
			lines, err = price.AtReturnInstead(&s, c.agreed, r, c.late)
		}
		if err != nil {
			c.t.Fatal(err)
		}
		c.owed(out, &s, lines)
	case "waived": // TYPE, of the return: the last line of it
		at := len(c.late) - 1
		for c.late[at].Type != rest || c.late[at].ReversalOf != "" {
			at--
		}
		c.late[at].ID = fmt.Sprint(rest, at)
		back := rental.Reversal(&c.late[at])
		back.Source = "manual"
		c.owed(out, &s, []record.Charge{back})
	case "cancelled", "no-show":
		fee, err := price.NoShowFee(&s)
		if word == "cancelled" {
			fee, err = price.CancelFee(&s, s.Basis.PickupAt.Time, c.instant(rest).Time)
		}
		if err != nil {
			c.t.Fatal(err)
		}
		showLines(out, []record.Charge{fee})
	}
	return s
}

// owed shows what is posted of a return, with the taxes that follow, and what the rental costs with it.
func (c *counter) owed(out *strings.Builder, s *record.RateSnapshot, lines []record.Charge) {
	taxes, err := price.Retax(s.Taxes, s.Currency, slices.Concat(s.Lines, c.late, lines), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	lines = append(lines, taxes...)
	showLines(out, lines)
	c.late = slices.Concat(c.late, lines)
	totals, err := price.Totals(s.Currency, slices.Concat(s.Lines, c.late))
	if err != nil {
		c.t.Fatal(err)
	}
	fmt.Fprintf(out, "owed in all %s\n", price.Format(totals.Total))
}

func showPrice(out *strings.Builder, s *record.RateSnapshot) {
	for _, d := range s.Days {
		date, _ := time.Parse(time.DateOnly, d.Date)
		fmt.Fprintf(out, "%s %16s\n", date.Format("Mon 2006-01-02"), price.Format(d.Amount))
	}
	out.WriteByte('\n')
	showLines(out, s.Lines)
	t := s.Totals
	fmt.Fprintf(out, "\nsubtotal %s, discounts %s, fees %s, taxes %s\ntotal %s\n", price.Format(t.Subtotal),
		price.Format(t.Discounts), price.Format(t.Fees), price.Format(t.Taxes), price.Format(t.Total))
	if t.PlatformFee.Amount != 0 {
		fmt.Fprintf(out, "channel keeps %s, host has %s\n", price.Format(t.PlatformFee), price.Format(t.NetToHost))
	}
	if s.IncludedMi != nil {
		fmt.Fprintf(out, "miles included %d\n", *s.IncludedMi)
	}
	if s.DepositMethod != "none" {
		fmt.Fprintf(out, "deposit %s (%s)\n", price.Format(s.DepositAmount), s.DepositMethod)
	}
}

func showLines(out *strings.Builder, lines []record.Charge) {
	if len(lines) == 0 {
		out.WriteString("nothing to charge\n")
	}
	for _, l := range lines {
		taxed := ""
		if l.Taxable {
			taxed = ", taxed"
		}
		fmt.Fprintf(out, "%s: %s, %d x %s = %s%s\n    %s\n", l.Type, l.Description, l.Quantity, price.Format(l.UnitPrice),
			price.Format(l.Amount), taxed, l.Explanation)
	}
}

func (c *counter) tier(words []string) record.RateTier {
	return record.RateTier{Days: c.number(words[0]), Price: c.money(words[1])}
}

func (c *counter) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// bp reads a percentage as hundredths of a percent.
func (c *counter) bp(text string) int64 {
	whole, part, _ := strings.Cut(strings.TrimSuffix(text, "%"), ".")
	return int64(c.number(whole))*100 + int64(c.number((part + "00")[:2]))
}

// money reads an amount as people write it: with as many decimals as the currency has.
func (c *counter) money(text string) record.Money {
	whole, part, _ := strings.Cut(text, ".")
	if len(part) != price.Decimals(c.req.Terms.Currency) {
		c.t.Fatalf("%s is not an amount of %s", text, c.req.Terms.Currency)
	}
	return record.Money{Amount: int64(c.number(whole + part)), Currency: c.req.Terms.Currency}
}

// instant reads a local time; a second one of a night on which clocks go back is written with its zone: "01:30 EST".
func (c *counter) instant(text string) record.Instant {
	words := strings.Fields(text)
	at, err := time.ParseInLocation("2006-01-02 15:04", words[0]+" "+words[1], c.req.Zone)
	if err != nil {
		c.t.Fatal(err)
	}
	if len(words) > 2 {
		for _, later := range []time.Duration{-time.Hour, 0, time.Hour} {
			if t := at.Add(later); t.Format("15:04 MST") == words[1]+" "+words[2] {
				return record.InstantOf(t)
			}
		}
		c.t.Fatalf("%q is no such time", text)
	}
	return record.InstantOf(at)
}
