package rental

import (
	"math/big"
	"time"

	"github.com/motorpool/fleet/api/record"
)

// BookValue returns what a vehicle is worth in the books on a local day (midnight UTC of that date), at a mileage, or
// nil if that cannot be told: without a cost, a method or what the method needs, or with market_value, which only a
// buyer knows. The cost is spread from the day it was put in service (or acquired), down to the residual value (0
// unless given) and no further:
//
//	straight_line        (cost − residual) × days in service / days of the useful life
//	declining            twice the straight-line rate of what is left: value × 2 / months of the useful life, each month
//	units_of_production  (cost − residual) × miles since acquisition / expected life in miles
//	none                 the cost
//
// All of it is whole minor units; what is divided is rounded towards zero, so that the books are never too low by it. A
// vehicle that was disposed of is worth nothing.
func BookValue(v *record.VehicleFields, on time.Time, mileage *int) *record.Money {
	if v.AcquisitionCost == nil || v.DepreciationMethod == "" {
		return nil
	}
	value := func(amount int64) *record.Money {
		return &record.Money{Amount: amount, Currency: v.AcquisitionCost.Currency}
	}
	if gone, ok := date(v.DisposalOn); ok && !on.Before(gone) {
		return value(0)
	}
	cost, residual := v.AcquisitionCost.Amount, int64(0)
	if v.ResidualValue != nil {
		if v.ResidualValue.Currency != v.AcquisitionCost.Currency {
			return nil
		}
		residual = v.ResidualValue.Amount
	}
	residual = min(residual, cost)
	began, started := date(v.InServiceOn)
	if !started {
		began, started = date(v.AcquiredOn)
	}
	switch v.DepreciationMethod {
	case "none":
		return value(cost)
	case "straight_line":
		if !started || v.UsefulLifeMonths <= 0 {
			return nil
		}
		life := days(began, began.AddDate(0, v.UsefulLifeMonths, 0))
		return value(cost - share(cost, residual, days(began, on), life))
	case "declining":
		if !started || v.UsefulLifeMonths <= 0 {
			return nil
		}
		left, months := cost, int64(v.UsefulLifeMonths)
		for n := 1; n <= v.UsefulLifeMonths && left > residual && !began.AddDate(0, n, 0).After(on); n++ {
			left = max(left-mulDiv(left, min(2, months), months), residual)
		}
		return value(left)
	case "units_of_production":
		if v.ExpectedLifeMi == nil || *v.ExpectedLifeMi <= 0 || mileage == nil {
			return nil
		}
		driven := int64(*mileage)
		if v.AcquisitionMileageMi != nil {
			driven -= int64(*v.AcquisitionMileageMi)
		}
		return value(cost - share(cost, residual, driven, int64(*v.ExpectedLifeMi)))
	}
	return nil
}

// share is the part of what is to be written off that is used up.
func share(cost, residual, used, life int64) int64 {
	return mulDiv(cost-residual, min(max(used, 0), life), life)
}

// mulDiv returns a × b / c, rounded towards zero, without overflow of the product.
func mulDiv(a, b, c int64) int64 {
	product := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
	return product.Quo(product, big.NewInt(c)).Int64()
}

// date reads a local date as midnight UTC.
func date(text string) (time.Time, bool) {
	t, err := time.Parse(time.DateOnly, text)
	return t, err == nil
}

// days counts the days between two dates.
func days(from, to time.Time) int64 { return int64(to.Sub(from) / (24 * time.Hour)) }

// Paper is something of a vehicle that ends by date or by miles.
type Paper struct {
	Paper     string   `json:"paper" enum:"registration,inspection,insurance,warranty"`
	Status    string   `json:"status" enum:"valid,expiring,expired" doc:"expiring within 30 days or 1,000 miles."`
	ExpiresOn string   `json:"expires_on,omitempty" format:"date" doc:"Its last day, where the vehicle is."`
	DaysLeft  *int     `json:"days_left" doc:"To its last day; negative since it ended. Null without a date."`
	ExpiresMi *int     `json:"expires_mi,omitempty"`
	LeftMi    *float64 `json:"left_mi" doc:"Negative since it ended; null without a limit or a mileage."`
}

// Papers returns what of a vehicle ends, on a local day (midnight UTC of that date) and at a mileage.
func Papers(v *record.VehicleFields, on time.Time, mileage *int) []Paper {
	insurance := ""
	if v.Insurance != nil {
		insurance = v.Insurance.EndsOn
	}
	papers := []Paper{}
	for _, p := range []Paper{
		{Paper: "registration", ExpiresOn: v.RegistrationExpiresOn}, {Paper: "inspection", ExpiresOn: v.InspectionExpiresOn},
		{Paper: "insurance", ExpiresOn: insurance},
		{Paper: "warranty", ExpiresOn: v.WarrantyEndsOn, ExpiresMi: v.WarrantyEndsMi},
	} {
		if p.ExpiresOn == "" && p.ExpiresMi == nil {
			continue
		}
		p.Status = "valid"
		judge := func(ended, soon bool) {
			if ended {
				p.Status = "expired"
			} else if soon && p.Status == "valid" {
				p.Status = "expiring"
			}
		}
		if last, ok := date(p.ExpiresOn); ok {
			left := int(days(on, last))
			p.DaysLeft = &left
			judge(left < 0, left <= 30)
		}
		if p.ExpiresMi != nil && mileage != nil {
			left := float64(*p.ExpiresMi - *mileage)
			p.LeftMi = &left
			judge(left < 0, left <= 1000)
		}
		papers = append(papers, p)
	}
	return papers
}
