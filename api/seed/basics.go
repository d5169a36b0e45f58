package seed

import (
	"context"
	"fmt"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// basics makes what all bookings refer to.
func (w *worker) basics(ctx context.Context) error {
	begin := w.Plan.Begin
	dollars := func(cents int64) record.Money { return record.Money{Amount: cents, Currency: "USD"} }
	w.known.locations = map[string]string{}
	for i, branch := range w.Branches {
		id := w.id(begin, sortLocation, i)
		if _, _, err := w.Locations.Create(ctx, by, w.Account, id, branch.Location); err != nil {
			return err
		}
		w.known.locations[branch.Code] = fleet.FormatID(fleet.LocationPrefix, id)
	}
	w.known.classes = map[string]string{}
	for i, c := range Classes {
		id, rate, deposit := w.id(begin, sortClass, i), dollars(c.DailyCents), dollars(c.Deposit)
		if _, _, err := w.Classes.Create(ctx, by, w.Account, id, record.VehicleClass{Name: c.Name, Code: c.Code, Rank: c.Rank,
			DailyRate: &rate, DepositAmount: &deposit, BufferAfterMinutes: 120}); err != nil {
			return err
		}
		w.known.classes[c.Code] = fleet.FormatID(fleet.ClassPrefix, id)
	}
	plan := w.id(begin, sortPlan, 0)
	if _, _, err := w.RatePlans.Create(ctx, by, w.Account, plan, w.rates(dollars)); err != nil {
		return err
	}
	w.known.plan = fleet.FormatID(fleet.RatePlanPrefix, plan)
	for i, c := range []record.RecurringCostFields{
		{Category: "parking", Vendor: "Prairie Parking", Description: "Lots in Omaha and Ames", Amount: dollars(120000)},
		{Category: "telematics", Vendor: "SIM cards", Amount: dollars(18000)},
	} {
		c.Every, c.From = "month", w.Plan.Whole().Format(time.DateOnly)
		if _, _, err := w.Recurring.Create(ctx, by, w.Account, w.id(begin, sortRecurring, i),
			record.RecurringCost{RecurringCostFields: c}); err != nil {
			return err
		}
	}
	return w.customers(ctx, begin)
}

// customers makes the customers, all of them together.
func (w *worker) customers(ctx context.Context, begin time.Time) error {
	var ids []uint64
	var bodies []record.Customer
	var names []string
	for i, p := range w.Plan.Customers {
		ids, bodies = append(ids, w.id(begin, sortCustomer, i)), append(bodies, customer(p, begin))
		names = append(names, fleet.FormatID(fleet.CustomerPrefix, ids[i]))
	}
	// They are made in order, so that all are there if the last one is.
	if _, err := w.Customers.Get(ctx, w.Account, ids[len(ids)-1]); fleet.CodeOf(err) == fleet.CodeNotFound {
		for i, err := range w.Customers.CreateMany(ctx, by, w.Account, ids, bodies) {
			if err != nil {
				return fmt.Errorf("customer %d: %w", i, err)
			}
		}
	} else if err != nil {
		return err
	}
	w.known.customers = names
	return nil
}

// rates is the rate plan of the business. The daily rate is the class's.
func (w *worker) rates(dollars func(int64) record.Money) record.RatePlan {
	miles := 200
	fee, refuel, grace := dollars(35), dollars(90), 59
	noShow := int64(10000)
	return record.RatePlan{Name: "Standard", RatePlanTerms: record.RatePlanTerms{
		Currency: "USD", DailyRate: dollars(4500), DayRounding: "24h_with_grace", GraceMinutes: &grace,
		WeekdayFactors: []record.DayFactor{{Day: "fri", FactorBP: 11000}, {Day: "sat", FactorBP: 12000},
			{Day: "sun", FactorBP: 11000}},
		Holidays: []record.DateFactor{{Date: "2025-07-04", FactorBP: 15000}, {Date: "2025-12-31", FactorBP: 15000},
			{Date: "2026-07-04", FactorBP: 15000}, {Date: "2026-12-31", FactorBP: 15000}},
		LengthDiscounts:     []record.LengthOff{{MinDays: 7, DiscountBP: 1000}, {MinDays: 14, DiscountBP: 1800}},
		EarlyBirdDiscounts:  []record.EarlyOff{{MinDaysAhead: 30, DiscountBP: 500}},
		IncludedMilesPerDay: &miles, ExtraMileFee: &fee, RefuelFee: &refuel,
		Extras: []record.Extra{
			{Code: "child_seat", Name: "Child seat", Per: "day", Price: dollars(700)},
			{Code: "gps", Name: "Navigation", Per: "rental", Price: dollars(1900)},
			{Code: "cover", Name: "Full cover", Kind: "protection", Per: "day", Price: dollars(1500)},
		},
		CancelSteps: []record.CancelStep{{HoursBefore: 24, FeeBP: 5000}, {HoursBefore: 72, FeeBP: 2000}},
		NoShowFeeBP: &noShow, PlatformFeeBP: 0,
	}}
}

// customer is the record of a person.
func customer(p Person, since time.Time) record.Customer {
	c := record.Customer{CustomerFields: record.CustomerFields{
		Type: "person", FirstName: p.First, LastName: p.Last, DisplayName: p.First + " " + p.Last, Email: p.Email,
		Phone: p.Phone, DateOfBirth: p.Born.Format(time.DateOnly),
		Address: &record.Address{City: p.City, Country: "US"}, Lifecycle: "active", RiskLevel: "normal",
		Licence: &record.Licence{Number: p.LicenceNumber, Country: "US", Region: "NE",
			ExpiresOn: p.LicenceExpires.Format(time.DateOnly)},
	}, Verification: record.Verification{Status: "verified", Method: "visual", VerifiedAt: record.InstantOf(since),
		VerifiedBy: "demo"}}
	if p.Company != "" {
		c.Type, c.CompanyName, c.DisplayName = "company", p.Company, p.Company
	}
	return c
}
