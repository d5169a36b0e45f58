package desk

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// faults are the pointers and codes of an error.
func faults(err error) string {
	var e *fleet.Error
	if !errors.As(err, &e) {
		return fmt.Sprint(err)
	}
	var words []string
	for _, f := range e.Fields {
		words = append(words, f.Pointer+" "+f.Code)
	}
	return strings.Join(words, ", ")
}

func usd(amount int64) *record.Money { return &record.Money{Amount: amount, Currency: "USD"} }

func plan(name string, daily int64, change func(*record.RatePlan)) record.RatePlan {
	p := record.RatePlan{Name: name, RatePlanTerms: record.RatePlanTerms{Currency: "USD", DailyRate: *usd(daily)}}
	if change != nil {
		change(&p)
	}
	return p
}

func TestABookingIsPricedByWhatItNames(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	d := open(t, func() time.Time { return now })
	standard := put(t, d, d.RatePlans, plan("standard", 5000, nil))
	turo := put(t, d, d.RatePlans, plan("turo", 6000, func(p *record.RatePlan) {
		p.Channels, p.Priority, p.PlatformFeeBP = []string{"turo"}, 5, 2500
	}))
	spring := put(t, d, d.RatePlans, plan("spring", 4500, func(p *record.RatePlan) {
		p.ValidFrom, p.ValidTo, p.Priority = "2026-04-01", "2026-04-30", 9
	}))
	off := put(t, d, d.RatePlans, plan("off", 1, func(p *record.RatePlan) { p.Enabled, p.Priority = new(false), 100 }))
	austin := put(t, d, d.Locations, record.Location{Name: "Austin", Timezone: "America/Chicago",
		Taxes: []record.TaxRate{{Name: "tax", RateBP: 1000}}, DeliveryFee: usd(2500)})
	dallas := put(t, d, d.Locations, record.Location{Name: "Dallas", OneWayFee: usd(9900)})
	small := put(t, d, d.Classes, record.VehicleClass{Name: "small", MinDriverAge: 21, MinRentalDays: 2,
		BufferAfterMinutes: 60, DepositAmount: usd(20000)})
	large := put(t, d, d.Classes, record.VehicleClass{Name: "large", DailyRate: usd(8000)})
	vans := put(t, d, d.RatePlans, plan("vans", 7000, func(p *record.RatePlan) {
		p.ClassIDs, p.Priority = []string{large}, 3
	}))
	vehicle := func(change func(*record.Vehicle)) string {
		v := record.Vehicle{VehicleFields: record.VehicleFields{Make: "A", Model: "B", ClassID: small,
			HomeLocationID: austin}, Status: record.VehicleAvailable}
		if change != nil {
			change(&v)
		}
		return put(t, d, d.Vehicles, v)
	}
	car := vehicle(nil)
	own := vehicle(func(v *record.Vehicle) {
		v.DailyRate, v.MinRentalDays, v.LeadTimeMinHours, v.Channels = usd(9000), 1, 48, []string{"direct", "turo"}
		v.BufferBeforeMinutes, v.DepositAmount, v.RatePlanID = 30, usd(50000), standard
	})
	ada := put(t, d, d.Customers, record.Customer{CustomerFields: record.CustomerFields{FirstName: "Ada",
		DateOfBirth: "2005-03-10", DiscountBP: 1000}})
	kid := put(t, d, d.Customers,
		record.Customer{CustomerFields: record.CustomerFields{FirstName: "Kid", DateOfBirth: "2005-03-12"}})

	at := func(text string) record.Instant {
		zone, _ := time.LoadLocation("America/Chicago")
		when, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
		if err != nil {
			t.Fatal(err)
		}
		return record.InstantOf(when)
	}
	three := record.BookingFields{VehicleID: car, PickupAt: at("2026-03-10 10:00"), ReturnAt: at("2026-03-13 10:00")}
	ask := func(change func(*record.BookingFields)) record.BookingFields {
		f := three
		change(&f)
		return f
	}
	for name, c := range map[string]struct {
		fields record.BookingFields
		plan   string
		total  int64
	}{
		"of three the one without bounds": {three, standard, 16500},
		"over a channel":                  {ask(func(f *record.BookingFields) { f.Channel = "turo" }), turo, 19800},
		"on a day": {ask(func(f *record.BookingFields) {
			f.PickupAt, f.ReturnAt = at("2026-04-01 00:00"), at("2026-04-03 00:00")
		}), spring, 9900},
		"the day before, late": {ask(func(f *record.BookingFields) {
			f.PickupAt, f.ReturnAt = at("2026-03-31 23:59"), at("2026-04-02 23:59")
		}), standard, 11000},
		"for a class": {ask(func(f *record.BookingFields) {
			f.VehicleID, f.VehicleClassID, f.PickupLocationID = "", large, dallas
		}), vans, 21000},
		"the class's own rate": {ask(func(f *record.BookingFields) {
			f.VehicleID, f.VehicleClassID, f.RatePlanID, f.PickupLocationID = "", large, standard, dallas
		}), standard, 24000},
		"the named one":          {ask(func(f *record.BookingFields) { f.RatePlanID = turo }), turo, 19800},
		"the vehicle's own rate": {ask(func(f *record.BookingFields) { f.VehicleID = own }), standard, 29700},
		"a class booked, an upgrade given": {ask(func(f *record.BookingFields) {
			f.VehicleID, f.VehicleClassID, f.PickupLocationID = own, large, austin
		}), vans, 23100},
		"an old customer, one way, delivered": {ask(func(f *record.BookingFields) {
			f.CustomerID, f.ReturnLocationID, f.DeliveryAddress = ada, dallas, "Main Street 1"
		}), standard, (13500 + 9900 + 2500) * 11 / 10},
	} {
		s, r, err := d.Price(t.Context(), account, c.fields, now)
		if err != nil || s.RatePlanID != c.plan || s.Totals.Total.Amount != c.total || r.Fields.RatePlanID != c.plan {
			t.Errorf("%s: %s %d (%s), %v; want %s %d\n%s", name, s.RatePlanID, s.Totals.Total.Amount, s.RatePlanName, err,
				c.plan, c.total, strings.Join(s.Steps, "\n"))
		}
	}

	s, r, err := d.Price(t.Context(), account, ask(func(f *record.BookingFields) { f.VehicleID = own }), now)
	if err != nil || r.Fields.VehicleClassID != small || r.Fields.PickupLocationID != austin ||
		r.Fields.ReturnLocationID != austin || r.Fields.Channel != "direct" {
		t.Errorf("completed to %+v, %v", r.Fields, err)
	}
	if s.Timezone != "America/Chicago" || r.Zone.String() != s.Timezone || r.BufferBefore != 30*time.Minute ||
		r.BufferAfter != time.Hour || s.DepositAmount != *usd(50000) {
		t.Errorf("zone %s, buffers %s %s, deposit %v", s.Timezone, r.BufferBefore, r.BufferAfter, s.DepositAmount)
	}

	for name, c := range map[string]struct {
		fields record.BookingFields
		want   string
	}{
		"nothing": {record.BookingFields{PickupAt: three.PickupAt, ReturnAt: three.ReturnAt},
			"/vehicle_class_id required"},
		"not to be found": {record.BookingFields{
			PickupAt:         three.PickupAt,
			ReturnAt:         three.ReturnAt,
			CustomerID:       "cus_1",
			VehicleID:        "veh_x",
			VehicleClassID:   car,
			PickupLocationID: "loc_1",
			ReturnLocationID: "loc_2",
			RatePlanID:       "rat_1",
			Drivers:          []record.Driver{{CustomerID: ada}, {CustomerID: "cus_9"}},
		}, "/customer_id not_found, /drivers/1/customer_id not_found, /pickup_location_id not_found, /rate_plan_id not_found, /return_location_id not_found, /vehicle_class_id not_found, /vehicle_id not_found"},
		"of a class, nowhere": {ask(func(f *record.BookingFields) {
			f.VehicleID, f.VehicleClassID = "", large
		}), "/pickup_location_id required"},
		"not enabled": {ask(func(f *record.BookingFields) { f.RatePlanID = off }), "/rate_plan_id not_enabled"},
		"too short": {ask(func(f *record.BookingFields) {
			f.ReturnAt = at("2026-03-11 10:00")
		}), "/return_at too_short"},
		"backwards": {ask(func(f *record.BookingFields) {
			f.ReturnAt = at("2026-03-09 10:00")
		}), "/return_at invalid"},
		"too young": {ask(func(f *record.BookingFields) {
			f.CustomerID = kid
			f.PickupAt = at("2026-03-11 10:00")
		}), "/customer_id too_young"},
		"driver too young": {ask(func(f *record.BookingFields) {
			f.CustomerID, f.Drivers = ada, []record.Driver{{CustomerID: kid}}
			f.PickupAt = at("2026-03-11 10:00")
		}), "/drivers/0/customer_id too_young"},
		"too soon, elsewhere": {ask(func(f *record.BookingFields) {
			f.VehicleID, f.Channel = own, "getaround"
			f.PickupAt = record.InstantOf(now.Add(47 * time.Hour))
		}), "/pickup_at too_soon, /channel not_offered"},
		"unknown extra": {ask(func(f *record.BookingFields) {
			f.Extras = []record.BookedExtra{{Code: "x"}}
		}), "/extras/0/code not_found"},
		"unknown code": {ask(func(f *record.BookingFields) { f.PromoCode = "x" }), "/promo_code not_found"},
	} {
		if _, _, err := d.Price(t.Context(), account, c.fields, now); faults(err) != c.want {
			t.Errorf("%s: %s, want %s", name, faults(err), c.want)
		}
	}
	if _, _, err := d.Price(t.Context(), 8, three, now); faults(err) != "/vehicle_id not_found" {
		t.Errorf("another account: %s", faults(err))
	}
	if _, _, err := d.PriceAnyway(t.Context(), account, ask(func(f *record.BookingFields) {
		f.ReturnAt = at("2026-03-11 10:00")
	}), now); err != nil {
		t.Errorf("anyway: %v", err)
	}
}

func TestAVehicleWithARateNeedsNoPlan(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	d := open(t, func() time.Time { return now })
	car := put(t, d, d.Vehicles, record.Vehicle{VehicleFields: record.VehicleFields{Make: "A", Model: "B",
		DailyRate: usd(7000)}, Status: record.VehicleAvailable})
	bare := put(t, d, d.Vehicles,
		record.Vehicle{VehicleFields: record.VehicleFields{Make: "A", Model: "B"}, Status: record.VehicleAvailable})
	fields := record.BookingFields{VehicleID: car, PickupAt: record.InstantOf(now.AddDate(0, 0, 1)),
		ReturnAt: record.InstantOf(now.AddDate(0, 0, 3))}
	s, _, err := d.Price(t.Context(), account, fields, now)
	if err != nil || s.Totals.Total != *usd(14000) || s.RatePlanID != "" ||
		s.Steps[0] != "No rate plan: the rate of the vehicle." {
		t.Errorf("%v %q, %v", s.Totals.Total, s.Steps, err)
	}
	fields.VehicleID = bare
	if _, _, err := d.Price(t.Context(), account, fields, now); faults(err) != "/rate_plan_id not_found" {
		t.Errorf("without any rate: %s", faults(err))
	}
}
