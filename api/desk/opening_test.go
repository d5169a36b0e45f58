package desk

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

func TestNobodyComesToAClosedPlace(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	d := open(t, func() time.Time { return now })
	hours := []record.OpenHours{{Days: []string{"mon", "tue", "wed", "thu", "fri", "sat"}, From: "08:00", Until: "18:00"}}
	austin := put(t, d, d.Locations, record.Location{Name: "Austin", Timezone: "America/Chicago", OpeningHours: hours})
	paris := put(t, d, d.Locations, record.Location{Name: "Paris", Timezone: "Europe/Paris", OpeningHours: hours})
	always := put(t, d, d.Locations, record.Location{Name: "Always"})
	car := put(t, d, d.Vehicles, record.Vehicle{VehicleFields: record.VehicleFields{Make: "A", Model: "B",
		DailyRate: usd(7000), HomeLocationID: austin}, Status: record.VehicleAvailable})
	fields := func(pickup, back, from, to, delivered string) record.BookingFields {
		f := record.BookingFields{VehicleID: car, PickupLocationID: from, ReturnLocationID: to, DeliveryAddress: delivered}
		for text, into := range map[string]*record.Instant{pickup: &f.PickupAt, back: &f.ReturnAt} {
			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				t.Fatal(err)
			}
			*into = record.InstantOf(at)
		}
		return f
	}
	// Clocks change in Austin on Sunday the 8th at 02:00: 08:00 is 14:00 UTC before, and 13:00 after.
	for _, c := range []struct{ pickup, back, from, to, delivered, want string }{
		{"2026-03-07T14:00:00Z", "2026-03-09T13:00:00Z", "", "", "", "<nil>"},
		{"2026-03-07T13:00:00Z", "2026-03-09T12:59:00Z", "", "", "", "/pickup_at closed, /return_at closed"},
		{"2026-03-07T14:00:00Z", "2026-03-08T16:00:00Z", "", "", "", "/return_at closed"},
		{"2026-03-07T14:00:00Z", "2026-03-08T16:00:00Z", "", always, "", "<nil>"},
		{"2026-03-07T04:00:00Z", "2026-03-09T13:00:00Z", always, austin, "", "<nil>"},
		{"2026-03-07T04:00:00Z", "2026-03-09T13:00:00Z", "", "", "5 Main St", "<nil>"},
		{"2026-03-07T14:00:00Z", "2026-03-10T17:00:00Z", austin, paris, "", "<nil>"},
		{"2026-03-07T14:00:00Z", "2026-03-10T17:01:00Z", austin, paris, "", "/return_at closed"},
	} {
		f := fields(c.pickup, c.back, c.from, c.to, c.delivered)
		_, _, err := d.Price(t.Context(), account, f, now)
		if got := faults(err); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
		if _, _, err := d.PriceAnyway(t.Context(), account, f, now); err != nil {
			t.Errorf("%+v, agreed elsewhere: %v", c, err)
		}
	}
	_, _, err := d.Price(t.Context(), account, fields("2026-03-07T14:00:00Z", "2026-03-08T16:00:00Z", "", "", ""), now)
	e, _ := errors.AsType[*fleet.Error](err)
	if e == nil || !strings.Contains(e.Fields[0].Detail, "Sunday 11:00 at Austin") ||
		!strings.Contains(e.Fields[0].Detail, "2026-03-09T08:00:00-05:00") {
		t.Errorf("refused with %+v", e)
	}

	by := record.Author{Actor: "test"}
	if _, _, err := d.Accounts.Create(t.Context(), by, account, uint64(account),
		record.Account{Name: "A", Timezone: "America/Chicago", Currency: "USD"}); err != nil {
		t.Fatal(err)
	}
	rec, err := d.Book(t.Context(), by, account,
		BookRequest{ID: d.Store.NextID(), Fields: fields("2026-03-07T14:00:00Z", "2026-03-09T13:00:00Z", "", "", "")})
	if err != nil {
		t.Fatal(err)
	}
	order := Order{By: by, Account: account, Booking: rec.ID}
	for hours, want := range map[int]string{24: "<nil>", 36: "/return_at closed"} {
		if _, err := d.Extend(t.Context(), order,
			rec.Body.ReturnAt.Add(time.Duration(hours)*time.Hour)); faults(err) != want {
			t.Errorf("extended by %d hours: %v, want %s", hours, err, want)
		}
	}

	// A swap that is priced anew leaves the booking where it was taken, or nowhere: what the other vehicle's home is open
	// for says nothing.
	nowhere := put(t, d, d.Vehicles, record.Vehicle{VehicleFields: record.VehicleFields{Make: "A", Model: "B",
		DailyRate: usd(7000)}, Status: record.VehicleAvailable})
	free := fields("2026-03-07T04:00:00Z", "2026-03-09T03:00:00Z", "", "", "")
	free.VehicleID = nowhere
	other, err := d.Book(t.Context(), by, account, BookRequest{ID: d.Store.NextID(), Fields: free})
	if err != nil {
		t.Fatal(err)
	}
	spare := put(t, d, d.Vehicles, record.Vehicle{VehicleFields: record.VehicleFields{Make: "A", Model: "B",
		DailyRate: usd(9000), HomeLocationID: austin}, Status: record.VehicleAvailable})
	swapped, err := d.Swap(t.Context(), Order{By: by, Account: account, Booking: other.ID},
		SwapRequest{VehicleID: spare, Reprice: true})
	if faults(err) != "<nil>" || swapped.Body.PickupLocationID != "" ||
		swapped.Body.RateSnapshot.Totals.Total.Amount != 18000 {
		t.Errorf("swapped: %v, at %q", err, swapped.Body.PickupLocationID)
	}

	sold := fields("2026-03-07T13:00:00Z", "2026-03-09T12:59:00Z", "", "", "")
	sold.Channel = "turo"
	if _, _, err := d.Price(t.Context(), account, sold, now); err != nil {
		t.Errorf("sold by a channel: %v", err)
	}
	// Shorter hours are no reason against a change that leaves the times as they are.
	place, _ := fleet.ParseID(fleet.LocationPrefix, austin)
	if _, err := d.Locations.Update(t.Context(), by, account, place, 0, func(r *record.Record[record.Location]) error {
		r.Body.OpeningHours[0].From = "10:00"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	miles := 100
	for want, change := range map[string]func(*record.Booking){
		"<nil>":             func(b *record.Booking) { b.ExpectedMi = &miles },
		"/pickup_at closed": func(b *record.Booking) { b.PickupAt = record.InstantOf(b.PickupAt.Add(time.Hour)) },
	} {
		if _, err := d.Change(t.Context(), order, false, func(r *record.Record[record.Booking]) error {
			change(&r.Body)
			return nil
		}); faults(err) != want {
			t.Errorf("changed: %v, want %s", err, want)
		}
	}
}
