package price

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/motorpool/fleet/api/record"
)

// Kinds of lines that this package treats in a way of their own.
const (
	lineDiscount = "discount"
	linePromo    = "promo"
	lineTax      = "tax"
	linePlatform = "platform_fee"
)

// discountLines takes the discounts off the price of the time, one after the other.
func (c *calc) discountLines(req *Request, days int, price int64) ([]record.Charge, error) {
	var lines []record.Charge
	left := price
	take := func(kind, description, why string, amount int64) {
		if amount = min(amount, left); amount == 0 {
			return
		}
		left -= amount
		lines = append(lines, record.Charge{Type: kind, Description: description, Quantity: 1,
			UnitPrice: record.Money{Amount: -amount}, Taxable: true, Explanation: why})
	}
	share := func(kind, description, why string, bp int64) {
		take(kind, description, fmt.Sprintf("%s: %s of %s.", why, basisPoints(bp), req.format(left)),
			c.scale(left, bp, unity))
	}
	if off, ok := longest(req.Terms.LengthDiscounts, func(o record.LengthOff) int { return o.MinDays }, days); ok {
		share(lineDiscount, "Discount for a long rental", count(off.MinDays, "day")+" or more", off.DiscountBP)
	}
	agreed := req.PickupAt.Time
	if !req.AgreedPickupAt.IsZero() {
		agreed = req.AgreedPickupAt.Time
	}
	ahead := int(dateOf(agreed, req.Zone, 0).Sub(dateOf(req.BookedAt.Time, req.Zone, 0)) / (24 * time.Hour))
	if off, ok := longest(req.Terms.EarlyBirdDiscounts, func(o record.EarlyOff) int { return o.MinDaysAhead }, ahead); ok {
		share(lineDiscount, "Discount for booking early",
			fmt.Sprintf("Booked %s ahead, %d or more", count(ahead, "day"), off.MinDaysAhead), off.DiscountBP)
	}
	if req.PromoCode != "" {
		promo, err := promotion(req)
		if err != nil {
			return nil, err
		}
		if promo.DiscountBP > 0 {
			share(linePromo, "Promotion "+promo.Code, "With the code", promo.DiscountBP)
		}
		if promo.Amount != nil {
			why := "With the code: " + Format(*promo.Amount) + "."
			if promo.Amount.Amount > left {
				why += fmt.Sprintf(" No more than what is left of the price of the time: %s.", req.format(left))
			}
			take(linePromo, "Promotion "+promo.Code, why, promo.Amount.Amount)
		}
	}
	if req.CustomerDiscountBP > 0 {
		share(lineDiscount, "Discount of the customer", "Agreed with the customer", req.CustomerDiscountBP)
	}
	return lines, nil
}

// longest is the element with the largest bound that a value reaches.
func longest[T any](all []T, bound func(T) int, value int) (best T, ok bool) {
	for _, t := range all {
		if bound(t) <= value && (!ok || bound(t) > bound(best)) {
			best, ok = t, true
		}
	}
	return best, ok
}

// promotion is the one whose code was given.
func promotion(req *Request) (*record.Promotion, error) {
	at := slices.IndexFunc(req.Terms.Promotions, func(p record.Promotion) bool {
		return fold(p.Code) == fold(req.PromoCode)
	})
	if at < 0 {
		return nil, fault("/promo_code", "not_found",
			"is no promotion of the rate plan"+named(req)+"; leave it out, or name a rate plan that has it")
	}
	p := &req.Terms.Promotions[at]
	booked := dateOf(req.BookedAt.Time, req.Zone, 0).Format(time.DateOnly)
	if p.From != "" && booked < p.From || p.To != "" && booked > p.To {
		return nil, fault("/promo_code", "not_valid", "is not valid for bookings made on "+booked+", only "+span(p))
	}
	return p, nil
}

// named is the name of the rate plan, to be put behind the words.
func named(req *Request) string {
	if req.PlanName == "" {
		return ""
	}
	return fmt.Sprintf(" %q", req.PlanName)
}

// has says which extras of a kind the rate plan has, of all kinds if it is "".
func has(req *Request, kind string) string {
	var codes []string
	for _, e := range req.Terms.Extras {
		if kind == "" || e.Kind == kind {
			codes = append(codes, e.Code)
		}
	}
	if codes == nil {
		return ", which has none"
	}
	return ", which has " + strings.Join(codes[:min(len(codes), 10)], ", ")
}

// span is when bookings with a promotion may be made, in words.
func span(p *record.Promotion) string {
	switch {
	case p.From == "":
		return "until " + p.To
	case p.To == "":
		return "from " + p.From + " on"
	}
	return "from " + p.From + " to " + p.To
}

// mileageLine charges miles beyond those included, if so many are expected.
func (c *calc) mileageLine(req *Request, s *record.RateSnapshot) []record.Charge {
	if s.IncludedMi == nil || s.ExtraMileFee == nil || req.ExpectedMi == nil || *req.ExpectedMi <= *s.IncludedMi {
		return nil
	}
	return []record.Charge{{
		Type: "mileage", Description: "Miles beyond those included", Quantity: int64(*req.ExpectedMi - *s.IncludedMi),
		UnitPrice: *s.ExtraMileFee, Taxable: true,
		Explanation: fmt.Sprintf("%d miles expected, %d included; settled by what was driven.", *req.ExpectedMi,
			*s.IncludedMi),
	}}
}

// extraLines charges the extras and the protection plan.
func (c *calc) extraLines(req *Request, days int) ([]record.Charge, error) {
	var lines []record.Charge
	for i, b := range req.Extras {
		at := slices.IndexFunc(req.Terms.Extras, func(e record.Extra) bool { return e.Code == b.Code })
		if at < 0 {
			return nil, fault(fmt.Sprintf("/extras/%d/code", i), "not_found",
				"is no extra of the rate plan"+named(req)+has(req, ""))
		}
		lines = append(lines, c.extraLine(req, &req.Terms.Extras[at], int64(max(1, b.Quantity)), days))
	}
	if req.ProtectionPlan == "" {
		return lines, nil
	}
	at := slices.IndexFunc(req.Terms.Extras, func(e record.Extra) bool {
		return e.Code == req.ProtectionPlan && e.Kind == "protection"
	})
	if at < 0 {
		return nil, fault("/protection_plan", "not_found",
			"is no protection plan of the rate plan"+named(req)+has(req, "protection"))
	}
	return append(lines, c.extraLine(req, &req.Terms.Extras[at], 1, days)), nil
}

func (c *calc) extraLine(req *Request, e *record.Extra, quantity int64, days int) record.Charge {
	line := record.Charge{Type: "extra", Description: e.Name, Quantity: quantity, UnitPrice: e.Price,
		Taxable:     e.Taxable == nil || *e.Taxable,
		Explanation: fmt.Sprintf("%d at %s a rental.", quantity, Format(e.Price))}
	if e.Kind == "protection" {
		line.Type = "protection"
	}
	perOne := e.Price.Amount
	if e.Per == "day" {
		perOne = c.times(perOne, int64(days))
		line.Quantity *= int64(days)
		line.Explanation = fmt.Sprintf("%d for %s at %s a day.", quantity, count(days, "day"), Format(e.Price))
	}
	if e.MaxPrice != nil && perOne > e.MaxPrice.Amount {
		line.Quantity, line.UnitPrice = quantity, *e.MaxPrice
		line.Explanation += fmt.Sprintf(" No more than %s for one.", Format(*e.MaxPrice))
	}
	return line
}

// feeLines charges what goes with who drives and where.
func (c *calc) feeLines(req *Request, days int) []record.Charge {
	var lines []record.Charge
	fee := func(kind, description string, quantity int, unit *record.Money, why string) {
		if unit != nil && unit.Amount != 0 && quantity > 0 {
			lines = append(lines, record.Charge{Type: kind, Description: description, Quantity: int64(quantity),
				UnitPrice: *unit, Taxable: true, Explanation: why})
		}
	}
	if req.YoungDriver {
		fee("young_driver", "Young driver", days, req.Terms.YoungDriverFee,
			fmt.Sprintf("A driver is younger than %d: a fee for each of %s.", req.Terms.YoungDriverAge, count(days, "day")))
	}
	fee("additional_driver", "Additional drivers", req.AdditionalDrivers*days, req.Terms.AdditionalDriverFee,
		fmt.Sprintf("%s for %s.", count(req.AdditionalDrivers, "driver"), count(days, "day")))
	fee("one_way", "Return at another location", 1, req.OneWayFee, "The fee for the two locations.")
	fee("delivery", "Delivery", 1, req.DeliveryFee, "The fee of the location of pickup.")
	return lines
}

// finish gives lines their amounts, currency and source.
func (c *calc) finish(currency string, lines []record.Charge) []record.Charge {
	for i := range lines {
		l := &lines[i]
		l.Source = "auto"
		l.UnitPrice.Currency = currency
		l.Amount = record.Money{Amount: c.times(l.UnitPrice.Amount, l.Quantity), Currency: currency}
	}
	return lines
}
