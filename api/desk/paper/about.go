package paper

import (
	"context"
	"fmt"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/paperwork"
	"github.com/motorpool/fleet/api/rental/price"
)

// subject is what a paper is about: as it says it, and the records.
type subject struct {
	said    record.PaperSubject
	booking *record.Booking
	vehicle *record.Vehicle
}

// about reads what a paper is about.
func (d *Papers) about(ctx context.Context, account fleet.AccountID, p *record.Paper) (*subject, error) {
	s := &subject{}
	if p.About != nil { // what was known when it was made
		s.said = *p.About
	}
	if id, err := fleet.ParseID(fleet.BookingPrefix, p.BookingID); err == nil {
		b, err := d.Bookings.Get(ctx, account, id)
		if err != nil {
			return nil, err
		}
		s.booking = &b.Body
		if err := d.aboutBooking(ctx, account, s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (d *Papers) aboutBooking(ctx context.Context, account fleet.AccountID, s *subject) error {
	b := s.booking
	s.said.BookingNumber = b.Number
	s.said.PickupAt, s.said.ReturnAt = b.PickupAt, b.ReturnAt
	if !b.ActualPickupAt.IsZero() {
		s.said.PickupAt = b.ActualPickupAt
	}
	if !b.ActualReturnAt.IsZero() {
		s.said.ReturnAt = b.ActualReturnAt
	}
	for _, place := range []struct {
		id   string
		name *string
	}{{b.PickupLocationID, &s.said.PickupPlace}, {b.ReturnLocationID, &s.said.ReturnPlace}} {
		if id, err := fleet.ParseID(fleet.LocationPrefix, place.id); err == nil {
			l, err := d.Locations.Get(ctx, account, id)
			if err != nil {
				return err
			}
			*place.name = l.Body.Name
		}
	}
	v, err := d.VehicleOf(ctx, account, b.VehicleID)
	if err != nil || v == nil {
		return err
	}
	s.vehicle = &v.Body
	s.said.Vehicle, s.said.VIN = vehicleWords(&v.Body), v.Body.VIN
	return nil
}

// vehicleWords is what people know a vehicle by: "ABC1234, Tesla Model 3, 2024".
func vehicleWords(v *record.Vehicle) string {
	var known []string
	for _, text := range []string{v.LicensePlate, strings.TrimSpace(v.Make + " " + v.Model)} {
		if text != "" {
			known = append(known, text)
		}
	}
	if v.Year != 0 {
		known = append(known, fmt.Sprint(v.Year))
	}
	return strings.Join(known, ", ")
}

// agreementText is the text of an agreement, made of the account's template, and the drivers whom it names.
func (d *Papers) agreementText(ctx context.Context, account fleet.AccountID, p *record.Paper, about *subject,
	c *record.Customer, s *setting) (string, []uint64, error) {
	b := about.booking
	zone := b.Timezone
	if zone == "" {
		zone = p.Timezone
	}
	w := paperwork.NewWriter(p.Language, zone)
	inline := func(a *record.Address) string { return strings.Join(paperwork.Address(a, s.country), ", ") }
	party := partyOf(c)
	values := map[string]string{
		"agreement.date": w.Day(p.IssuedOn), "seller.name": s.seller.LegalName,
		"seller.address": inline(s.seller.Address), "seller.tax_id": s.seller.TaxID, "seller.email": s.seller.Email,
		"seller.phone": s.seller.Phone, "customer.name": party.Name, "customer.company": c.CompanyName,
		"customer.number": c.Number, "customer.address": inline(c.Address), "customer.email": c.Email,
		"customer.phone": c.Phone, "vehicle.condition": paperwork.Condition(b, w), "booking.number": b.Number,
		"booking.pickup_at": w.Moment(about.said.PickupAt), "booking.return_at": w.Moment(b.ReturnAt),
		"booking.pickup_location": about.said.PickupPlace, "booking.return_location": about.said.ReturnPlace,
	}
	if party.Name == "" {
		values["customer.name"] = c.DisplayName
	}
	if l := c.Licence; l != nil {
		values["customer.licence"], values["customer.licence_country"] = record.Masked(l.Number), l.Country
		values["customer.licence_expires_on"] = w.Day(l.ExpiresOn)
	}
	if v := about.vehicle; v != nil {
		values["vehicle.plate"], values["vehicle.name"] = v.LicensePlate, strings.TrimSpace(v.Make+" "+v.Model)
		values["vehicle.color"], values["vehicle.vin"] = v.Color, v.VIN
		if v.Year != 0 {
			values["vehicle.year"] = fmt.Sprint(v.Year)
		}
	}
	if b.PickupMileageMi != nil {
		values["vehicle.mileage"] = w.Count(int64(*b.PickupMileageMi)) + " mi"
	}
	switch {
	case b.PickupFuelPct != nil:
		values["vehicle.fuel"] = fmt.Sprintf("%.0f %%", *b.PickupFuelPct)
	case b.PickupBattery != nil:
		values["vehicle.fuel"] = fmt.Sprintf("%d %%", *b.PickupBattery)
	}
	if err := priceValues(b, w, values); err != nil {
		return "", nil, err
	}
	var drivers []uint64
	var names []string
	for _, driver := range b.Drivers {
		id, err := fleet.ParseID(fleet.CustomerPrefix, driver.CustomerID)
		if err != nil || driver.CustomerID == b.CustomerID {
			continue
		}
		who, err := d.Customers.Get(ctx, account, id)
		if err != nil {
			return "", nil, err
		}
		drivers = append(drivers, id)
		name := who.Body.DisplayName
		if l := who.Body.Licence; l != nil && l.Number != "" {
			name += " (" + record.Masked(l.Number) + ")"
		}
		names = append(names, name)
	}
	values["drivers"] = strings.Join(names, ", ")
	template := s.settings.Agreement
	if template == "" {
		template = paperwork.UsualAgreement(p.Language)
	}
	return paperwork.Fill(template, values), drivers, nil
}

// priceValues are what an agreement says of the price.
func priceValues(b *record.Booking, w *paperwork.Writer, values map[string]string) error {
	totals, err := price.Totals(b.Currency, b.Charges)
	if err != nil {
		return err
	}
	values["booking.total"] = w.Money(totals.Total)
	if b.BilledDays > 0 {
		values["booking.days"] = w.Count(int64(b.BilledDays))
	}
	if b.Deposit.Amount.Amount > 0 {
		values["booking.deposit"] = w.Money(b.Deposit.Amount)
	}
	if r := b.RateSnapshot; r != nil {
		if r.IncludedMi != nil {
			values["booking.included_miles"] = w.Count(int64(*r.IncludedMi)) + " mi"
		}
		if r.ExtraMileFee != nil {
			values["booking.extra_mile_fee"] = w.Money(*r.ExtraMileFee)
		}
	}
	content, _ := paperwork.Bill(b.Currency, paperwork.Open(b, nil))
	var lines []string
	for _, l := range content.Lines {
		name := w.Word(l.Type)
		if l.Description != "" {
			name = l.Description
		}
		lines = append(lines, name+": "+w.Money(l.Amount))
	}
	for _, t := range content.Taxes {
		lines = append(lines, t.Name+" "+w.Rate(t.RateBP)+": "+w.Money(t.Tax))
	}
	values["booking.charges"] = strings.Join(lines, "\n")
	return nil
}
