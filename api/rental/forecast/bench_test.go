package forecast_test

import (
	"math/rand/v2"
	"testing"

	"github.com/motorpool/fleet/api/rental/forecast"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// BenchmarkTest works out the backtest of twelve classes over three years: what a forecast costs beside its queries.
func BenchmarkTest(b *testing.B) {
	const today, years = ledger.Day(20_000), 3 * 366
	rng := rand.New(rand.NewPCG(1, 2))
	all := make([]*forecast.Series, 12)
	for i := range all {
		all[i] = forecast.NewSeries(uint64(i), today-years, years+forecast.Horizon+1)
		for n := range all[i].Days {
			d := &all[i].Days[n]
			d.Known, d.Rentable, d.Rented = n < years, 400*86400, rng.Int64N(400*86400)
			for range 60 {
				d.Step(rng.IntN(forecast.Earliest+1), rng.Int64N(3*86400))
			}
		}
	}
	b.Run("total", func(b *testing.B) {
		for b.Loop() {
			forecast.Total(all)
		}
	})
	total := forecast.Total(all)
	for b.Loop() {
		forecast.Test(all, total, today, forecast.Usual)
	}
}
