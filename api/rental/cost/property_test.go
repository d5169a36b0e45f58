package cost

import (
	"math/big"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rental/price"
)

// drawn makes up the terms of a vehicle, and what it drives.
func drawn(t *rapid.T) (*record.VehicleFields, map[int]int64) {
	money := func(name string, most int64) *record.Money { return usd(rapid.Int64Range(0, most).Draw(t, name)) }
	date := func(name string) string {
		return ledger.Day(rapid.IntRange(10_000, 25_000).Draw(t, name)).String()
	}
	v := &record.VehicleFields{
		Ownership:       rapid.SampledFrom([]string{"", "owned", "financed", "leased", "consigned"}).Draw(t, "ownership"),
		AcquiredOn:      date("acquired"),
		AcquisitionCost: money("cost", 1<<rapid.IntRange(1, 52).Draw(t, "size")), ResidualValue: money("residual", 3_000_000),
		UsefulLifeMonths: rapid.IntRange(0, 300).Draw(t, "life"),
		ExpectedLifeMi:   ptr(rapid.IntRange(0, 200_000).Draw(t, "miles")),
		DepreciationMethod: rapid.SampledFrom([]string{"straight_line", "declining", "units_of_production",
			"market_value", "none", ""}).Draw(t, "method"),
		Financing: &record.Financing{Principal: money("principal", 10_000_000), FirstPaymentOn: date("first"),
			APR: ptr(rapid.Int64Range(0, 3000).Draw(t, "apr")), TermMonths: rapid.IntRange(0, 120).Draw(t, "term")},
		Insurance: &record.Insurance{Premium: money("premium", 200_000), StartsOn: date("insured"),
			Period: rapid.SampledFrom([]string{"month", "quarter", "half_year", "year"}).Draw(t, "period")},
	}
	if rapid.Bool().Draw(t, "pays") {
		v.Financing.MonthlyPayment = money("payment", 500_000)
	}
	if rapid.Bool().Draw(t, "sold") {
		v.DisposalOn, v.DisposalPrice = date("disposal"), money("price", 3_000_000)
	}
	driven := map[int]int64{}
	for m := range rapid.IntRange(0, 100).Draw(t, "months") {
		driven[monthOf(day(v.AcquiredOn))+m] = rapid.Int64Range(-1000, 20_000_000).Draw(t, "driven")
	}
	return v, driven
}

// Whatever the terms: parts add up, nothing goes below the residual value, days follow each other without a gap or an
// overlap, a disposal takes out what is in, and who asks again, or asks later, is told the same.
func TestSchedulesAddUpWhateverTheTerms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, driven := drawn(t)
		through := ledger.Day(rapid.IntRange(9_000, 27_000).Draw(t, "through"))
		s := OfVehicle(v, driven, nil, through)
		if again := OfVehicle(v, driven, nil, through); !reflect.DeepEqual(s, again) {
			t.Fatalf("asked again: %v, then %v", s, again)
		}
		lost, worth := sum(of(s.Items, Depreciation)), v.AcquisitionCost.Amount-v.ResidualValue.Amount
		if lost > max(worth, 0) {
			t.Fatalf("%d of %d is lost", lost, worth)
		}
		timed := v.DepreciationMethod == "straight_line" || v.DepreciationMethod == "declining"
		if timed && ours(v) && v.DisposalOn == "" && v.UsefulLifeMonths > 0 && lost != max(worth, 0) {
			t.Fatalf("%d of %d is lost by the end", lost, worth)
		}
		for _, sold := range of(s.Items, Disposal) {
			if sold.Sold.Cost != *v.AcquisitionCost || sold.Sold.Depreciated.Amount != lost {
				t.Fatalf("sold %+v, lost %d", sold.Sold, lost)
			}
		}
		if paid := of(s.Items, Principal); len(paid) > 0 && sum(paid) != v.Financing.Principal.Amount {
			t.Fatalf("%d of %d is paid back", sum(paid), v.Financing.Principal.Amount)
		}
		for _, paid := range append(of(s.Items, Principal), of(s.Items, Interest)...) {
			if v.DisposalOn != "" && paid.On > day(v.DisposalOn) {
				t.Fatalf("sold on %s, and paid back afterwards: %+v", v.DisposalOn, paid)
			}
		}
		for _, what := range []What{Depreciation, Insurance, Interest, Lease} {
			items := of(s.Items, what)
			for i, item := range items {
				// What was paid ahead for days beyond the sale comes back on its day, and nothing else does.
				var back *record.Refunded
				gone := day(v.DisposalOn)
				kept := v.DisposalOn != "" && what != Interest && (item.From >= gone || what == Depreciation && item.To >= gone)
				if v.DisposalOn != "" && what != Interest && item.To >= gone && !kept {
					rest := item.Amount
					rest.Amount -= firstDays(rest.Amount, int64(item.To+1-item.From), int64(gone-item.From))
					if rest.Amount > 0 {
						back = &record.Refunded{On: v.DisposalOn, Amount: rest}
					}
				}
				kept = kept || !reflect.DeepEqual(item.Refunded, back)
				if item.Amount.Amount <= 0 || item.To < item.From || kept ||
					i > 0 && (item.From <= items[i-1].To || item.Number <= items[i-1].Number) {
					t.Fatalf("%s", text(items[max(i-1, 0):i+1]))
				}
			}
		}
		// What was asked for by a day is asked for later, too.
		later := map[What]map[int]Item{}
		for _, i := range OfVehicle(v, driven, nil, through+400).Items {
			if later[i.What] == nil {
				later[i.What] = map[int]Item{}
			}
			later[i.What][i.Number] = i
		}
		for _, i := range s.Items {
			if i.What != Disposal && i.Due <= through && !reflect.DeepEqual(later[i.What][i.Number], i) {
				t.Fatalf("%+v became %+v", i, later[i.What][i.Number])
			}
		}
	})
}

// The first days of an amount have what the ledger gives them, and an annuity is within half a unit of the formula.
func TestSharesAreThoseOfTheLedger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount, n := rapid.Int64Range(0, price.Limit).Draw(t, "amount"), rapid.Int64Range(1, 400).Draw(t, "n")
		k := rapid.Int64Range(0, n).Draw(t, "k")
		want := int64(0)
		for _, part := range price.Allocate(amount, make([]int64, n))[:k] {
			want += part
		}
		if got := firstDays(amount, n, k); got != want {
			t.Fatalf("%d of %d days have %d of %d, want %d", k, n, got, amount, want)
		}
		apr := rapid.Int64Range(1, 5000).Draw(t, "apr")
		r := big.NewRat(apr, monthsTimesBP)
		factor := big.NewRat(1, 1)
		for range n {
			factor.Mul(factor, new(big.Rat).Add(big.NewRat(1, 1), r))
		}
		exact := new(big.Rat).Mul(new(big.Rat).SetInt64(amount), r)
		exact.Quo(exact, new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).Inv(factor)))
		off := new(big.Rat).Sub(exact, new(big.Rat).SetInt64(annuity(amount, apr, int(n))))
		if off.Abs(off).Cmp(big.NewRat(1, 2)) > 0 {
			t.Fatalf("the annuity of %d is off by %s", amount, off.FloatString(3))
		}
	})
}
