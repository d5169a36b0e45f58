//go:build long

package desk

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas"
)

// TestASearchOverAFleet measures a price and a search over 2,000 vehicles; the log says how long they take.
func TestASearchOverAFleet(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	d := open(t, func() time.Time { return now })
	place := put(t, d, d.Locations,
		record.Location{Name: "A", Timezone: "America/Chicago", Taxes: []record.TaxRate{{Name: "tax", RateBP: 825}}})
	var classes []string
	for i := range 10 {
		classes = append(classes,
			put(t, d, d.Classes, record.VehicleClass{Name: fmt.Sprint(i), DailyRate: usd(int64(4000 + 500*i))}))
	}
	put(t, d, d.RatePlans, plan("standard", 5000, func(p *record.RatePlan) {
		p.Tiers = []record.RateTier{{Days: 7, Price: *usd(30000)}}
	}))
	// Written as the log writes them, all at once.
	batch, err := d.DB.PrepareBatch(t.Context(),
		"INSERT INTO record_log (account, kind, id, revision, action, at, created_at, body)")
	if err != nil {
		t.Fatal(err)
	}
	hold := func(from, until int) string {
		day := func(n int) string { return now.AddDate(0, 0, n).Format("2006-01-02T15:04:05.000Z") }
		return fmt.Sprintf(`{"ref":"bkg_%d","from":%q,"until":%q,"at":%q}`, d.Store.NextID(), day(from), day(until), day(0))
	}
	const vehicles = 2000
	for i := range vehicles {
		id := d.Store.NextID()
		body := fmt.Sprintf(`{"make":"A","model":"B","status":"available","vehicle_class_id":%q,"home_location_id":%q}`,
			classes[i%10], place)
		holds := hold(-400+i%7, -390+i%7)
		for n := range 60 {
			holds += "," + hold(-380+6*n, -376+6*n)
		}
		if i%4 == 0 {
			holds += "," + hold(9, 12)
		}
		for kind, body := range map[string]string{"vehicle": body, "calendar": `{"holds":[` + holds + `]}`} {
			if err := batch.Append(uint64(account), kind, id, uint64(1), "create", now, now, body); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(batch.Send(), schemas.Fill(t.Context(), d.DB, "vehicle", "calendar")); err != nil {
		t.Fatal(err)
	}
	fields := record.BookingFields{PickupAt: record.InstantOf(now.AddDate(0, 0, 10)),
		ReturnAt: record.InstantOf(now.AddDate(0, 0, 20))}
	found, err := d.Available(t.Context(), account, Search{Fields: fields})
	if err != nil || len(found.Vehicles) != vehicles*3/4 || found.Not["busy"] != vehicles/4 || len(found.Classes) != 10 {
		t.Fatalf("%d vehicles, %d classes, %v, %v", len(found.Vehicles), len(found.Classes), found.Not, err)
	}
	// The cheapest first, each as its booking would cost.
	one := found.Vehicles[0]
	fields.VehicleID = fleet.FormatID(fleet.VehiclePrefix, one.Resolved.Vehicle.ID)
	s, _, err := d.Price(t.Context(), account, fields, now)
	if err != nil || s.Totals != one.Price.Totals {
		t.Errorf("found for %v, booked for %v, %v", one.Price.Totals, s.Totals, err)
	}
	measure := func(what string, do func() error) {
		var times []time.Duration
		for range 15 {
			begin := time.Now()
			if err := do(); err != nil {
				t.Fatal(err)
			}
			times = append(times, time.Since(begin))
		}
		slices.Sort(times)
		t.Logf("%s: median %s, worst of 15 %s", what, times[7].Round(time.Millisecond), times[14].Round(time.Millisecond))
	}
	measure("a price", func() error { _, _, err := d.Price(t.Context(), account, fields, now); return err })
	fields.VehicleID = ""
	measure("a search over 2,000 vehicles", func() error {
		_, err := d.Available(t.Context(), account, Search{Fields: fields})
		return err
	})
}
