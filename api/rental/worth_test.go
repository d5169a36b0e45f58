package rental_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
)

func on(text string) time.Time {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestBookValue(t *testing.T) {
	usd := func(n int64) *record.Money { return &record.Money{Amount: n, Currency: "USD"} }
	miles := func(n int) *int { return &n }
	base := record.VehicleFields{AcquisitionCost: usd(3_000_000), ResidualValue: usd(600_000), AcquiredOn: "2023-06-01",
		InServiceOn:      "2024-01-01",
		UsefulLifeMonths: 48, ExpectedLifeMi: miles(120_000), AcquisitionMileageMi: miles(10_000)}
	for _, c := range []struct {
		method, on string
		mileage    *int
		change     func(v *record.VehicleFields)
		want       string
	}{
		{"straight_line", "2023-12-01", nil, nil, "3000000"},
		{"straight_line", "2024-01-01", nil, nil, "3000000"},
		{"straight_line", "2024-12-31", nil, nil, "2400411"}, // 365 of 1461 days: 599,589.3
		{"straight_line", "2028-01-01", nil, nil, "600000"},
		{"straight_line", "2040-01-01", nil, nil, "600000"},
		{"straight_line", "2024-12-31", nil, func(v *record.VehicleFields) { v.UsefulLifeMonths = 0 }, "unknown"},
		{"straight_line", "2024-12-31", nil, func(v *record.VehicleFields) {
			v.InServiceOn, v.AcquiredOn = "", ""
		}, "unknown"},
		{"declining", "2024-01-31", nil, nil, "3000000"},
		{"declining", "2024-02-01", nil, nil, "2875000"}, // less 2/48
		{"declining", "2024-03-01", nil, nil, "2755209"}, // less 119,791.67
		{"declining", "2030-01-01", nil, nil, "600000"},
		{"declining", "2024-02-01", nil, func(v *record.VehicleFields) { v.UsefulLifeMonths, v.ResidualValue = 1, nil }, "0"},
		{"units_of_production", "2024-02-01", miles(40_000), nil, "2400000"},
		{"units_of_production", "2024-02-01", miles(500_000), nil, "600000"},
		{"units_of_production", "2024-02-01", miles(5), nil, "3000000"},
		{"units_of_production", "2024-02-01", nil, nil, "unknown"},
		{"none", "2030-02-01", nil, nil, "3000000"},
		{"market_value", "2030-02-01", nil, nil, "unknown"},
		{"", "2030-02-01", nil, nil, "unknown"},
		{"none", "2030-02-01", nil, func(v *record.VehicleFields) { v.DisposalOn = "2030-02-01" }, "0"},
		{"none", "2030-02-01", nil, func(v *record.VehicleFields) { v.DisposalOn = "2030-02-02" }, "3000000"},
		{"straight_line", "2024-12-31", nil, func(v *record.VehicleFields) {
			v.ResidualValue = &record.Money{Amount: 1, Currency: "EUR"}
		}, "unknown"},
		{"straight_line", "2024-12-31", nil, func(v *record.VehicleFields) {
			v.AcquisitionCost, v.ResidualValue = usd(9e18), nil
		}, "6751540041067761807"},
	} {
		v := base
		v.DepreciationMethod = c.method
		if c.change != nil {
			c.change(&v)
		}
		got := "unknown"
		if m := rental.BookValue(&v, on(c.on), c.mileage); m != nil {
			got = fmt.Sprint(m.Amount)
		}
		if got != c.want {
			t.Errorf("%s on %s: %s, want %s", c.method, c.on, got, c.want)
		}
	}
}

func TestPapers(t *testing.T) {
	limit, driven := 60_000, 59_500
	v := record.VehicleFields{RegistrationExpiresOn: "2026-03-31", InspectionExpiresOn: "2026-05-02",
		Insurance:      &record.Insurance{EndsOn: "2026-06-30"},
		WarrantyEndsOn: "2028-01-01", WarrantyEndsMi: &limit}
	text := ""
	for _, p := range rental.Papers(&v, on("2026-04-02"), &driven) {
		left := "-"
		if p.LeftMi != nil {
			left = fmt.Sprint(*p.LeftMi)
		}
		text += fmt.Sprintf("%s %s %d %s; ", p.Paper, p.Status, *p.DaysLeft, left)
	}
	if want := "registration expired -2 -; inspection expiring 30 -; insurance valid 89 -; warranty expiring 639 500; "; text != want {
		t.Errorf("%s\nwant %s", text, want)
	}
	if none := rental.Papers(&record.VehicleFields{}, on("2026-04-02"), nil); none == nil || len(none) != 0 {
		t.Errorf("without papers: %v", none)
	}
}
