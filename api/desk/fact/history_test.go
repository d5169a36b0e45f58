package fact_test

import (
	"fmt"
	"maps"
	"time"

	"github.com/motorpool/fleet/api/desk/fact"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas"
)

// pick is one of some things, and whether there are any.
func pick[T any](w *world, all []T) (T, bool) {
	var none T
	if len(all) == 0 {
		return none, false
	}
	return all[w.rng.IntN(len(all))], true
}

// near is an instant within some days of the present.
func (w *world) near(days int) time.Time {
	return w.now.Add(time.Duration(w.rng.Int64N(int64(days)*2*24*3600)-int64(days)*24*3600)*time.Second +
		time.Duration(w.rng.IntN(3))*250*time.Millisecond)
}

func (w *world) money() record.Money {
	return record.Money{Amount: w.rng.Int64N(100_000) + 1, Currency: []string{"USD", "EUR"}[w.rng.IntN(2)]}
}

var vehicleStates = []string{record.VehicleAvailable, record.VehicleRented, record.VehicleTurnaround,
	record.VehicleMaintenance, record.VehicleOutOfService}

// step does one thing at random, and lets time go on.
func (w *world) step() {
	w.now = w.now.Add(time.Duration(w.rng.IntN(7*3600)) * time.Second)
	vehicle, _ := pick(w, w.vehicles)
	switch w.rng.IntN(12) {
	case 0:
		w.move(vehicle, vehicleStates[w.rng.IntN(len(vehicleStates))],
			w.now.Add(-time.Duration(w.rng.IntN(7200))*time.Second))
	case 1:
		kinds := []string{"manual", "maintenance", "repair", "owner_use"}
		from := w.near(3)
		w.blocks = append(w.blocks, create(w, w.base.Blocks, record.Block{VehicleID: v1(vehicle),
			BlockFields: record.BlockFields{From: record.InstantOf(from), Reason: "why not", Kind: kinds[w.rng.IntN(4)],
				Until: record.InstantOf(from.Add(time.Duration(w.rng.IntN(80)) * time.Hour))}}))
	case 2:
		w.changeBlock()
	case 3:
		w.changeVehicle(vehicle)
	case 4:
		w.cost(vehicle)
	case 5, 6:
		start := w.now.Add(-time.Duration(w.rng.IntN(30*3600)) * time.Second)
		w.drive(trip{vehicle: vehicle, id: uint64(len(w.trips) + 1), revision: 1, start: start,
			end: start.Add(time.Duration(w.rng.IntN(9*3600)) * time.Second), metres: w.rng.Float64() * 100_000,
			fuel: w.rng.Float64() * 20})
	case 7:
		if tr, ok := pick(w, w.trips); ok && w.rng.IntN(2) == 0 {
			tr.revision, tr.deleted, tr.metres = tr.revision+1, w.rng.IntN(3) == 0, w.rng.Float64()*100_000
			w.drive(tr)
		} else {
			w.charge(charge{vehicle, w.now.Add(-time.Duration(w.rng.IntN(24*3600)) * time.Second), w.rng.Float64() * 80})
		}
	case 8, 9:
		w.book(vehicle)
	default:
		if id, ok := pick(w, w.bookings); ok {
			update(w, w.base.Bookings, id, w.changeBooking)
		}
	}
}

func (w *world) changeBlock() {
	id, ok := pick(w, w.blocks)
	if !ok {
		return
	}
	if b := get(w, w.base.Blocks, id); b.Archived() {
		return
	}
	if w.rng.IntN(4) == 0 {
		if _, err := w.base.Blocks.Archive(w.t.Context(), by, account, id, 0, nil); err != nil {
			w.t.Fatal(err)
		}
		return
	}
	update(w, w.base.Blocks, id, func(b *record.Block) {
		b.Until = record.InstantOf(b.From.Add(time.Duration(w.rng.IntN(60)) * time.Hour))
		b.Kind = []string{"repair", "other"}[w.rng.IntN(2)]
	})
}

func (w *world) changeVehicle(id uint64) {
	update(w, w.base.Vehicles, id, func(v *record.Vehicle) {
		switch w.rng.IntN(6) {
		case 0:
			v.Timezone = append(zones, "")[w.rng.IntN(4)]
		case 1:
			v.InServiceOn = began.AddDate(0, 0, w.rng.IntN(20)-8).Format(dateForm)
		case 2:
			v.DisposalOn = []string{"", w.now.AddDate(0, 0, w.rng.IntN(20)-5).Format(dateForm)}[w.rng.IntN(2)]
		case 3:
			v.OutOfServiceOn = []string{"", w.now.AddDate(0, 0, w.rng.IntN(20)-10).Format(dateForm)}[w.rng.IntN(2)]
		case 4:
			v.FuelType = []string{"electric", "diesel", ""}[w.rng.IntN(3)]
		default:
			v.Nickname = fmt.Sprint(w.rng.IntN(9))
		}
	})
}

// cost notes an expense, or changes or takes back one.
func (w *world) cost(vehicle uint64) {
	if id, ok := pick(w, w.expenses); ok && w.rng.IntN(2) == 0 {
		update(w, w.base.Expenses, id, func(e *record.Expense) {
			switch w.rng.IntN(3) {
			case 0:
				e.Amount = w.money()
			case 1:
				e.IncurredOn = w.near(20).Format(dateForm)
			default:
				e.VehicleID = ""
			}
		})
		return
	}
	categories := []string{"fuel", "charging", "repair", "cleaning", "insurance", "parking", "lease", "depreciation"}
	e := record.Expense{Status: record.ExpensePosted}
	e.VehicleID, e.Category, e.Amount = v1(vehicle), categories[w.rng.IntN(len(categories))], w.money()
	e.IncurredOn = w.near(20).Format(dateForm)
	w.expenses = append(w.expenses, create(w, w.base.Expenses, e))
}

func (w *world) book(vehicle uint64) {
	pickup := w.near(3)
	b := record.Booking{BookingFields: record.BookingFields{VehicleID: v1(vehicle), CustomerID: "cus_5",
		VehicleClassID: "vcl_3", PickupLocationID: "loc_4", PickupAt: record.InstantOf(pickup),
		Channel:  []string{"", "turo", "phone"}[w.rng.IntN(3)],
		ReturnAt: record.InstantOf(pickup.Add(time.Duration(1+w.rng.IntN(200)) * time.Hour))},
		Status: record.BookingConfirmed, StatusSince: record.InstantOf(w.now),
		Currency: append(currencies, "USD", "")[w.rng.IntN(4)],
		Timezone: append(zones, "")[w.rng.IntN(4)]}
	b.Backdated = w.rng.IntN(4) == 0
	if w.rng.IntN(2) == 0 {
		b.RateSnapshot = &record.RateSnapshot{}
		for i := range 1 + w.rng.IntN(6) {
			b.RateSnapshot.Days = append(b.RateSnapshot.Days, record.DayPrice{Date: pickup.AddDate(0, 0, i).Format(dateForm),
				Amount: w.money()})
		}
	}
	w.bookings = append(w.bookings, create(w, w.base.Bookings, b))
}

var lineTypes = []string{"time", "mileage", "extra", "protection", "delivery", "toll", "damage", "discount", "promo",
	"platform_fee", "tax", "adjustment"}

func (w *world) changeBooking(b *record.Booking) {
	switch w.rng.IntN(9) {
	case 0, 1, 2:
		if b.Status == record.BookingConfirmed {
			b.Status, b.StatusSince, b.ActualPickupAt = record.BookingActive, record.InstantOf(w.now),
				record.InstantOf(earlier(w.now, w.near(1)))
		} else if b.Status == record.BookingActive {
			b.Status, b.ActualReturnAt = record.BookingCompleted, record.InstantOf(w.now)
		}
	case 3:
		b.Status = []string{record.BookingCancelled, record.BookingActive, record.BookingCompleted}[w.rng.IntN(3)]
		b.StatusSince = record.InstantOf(w.now)
	case 4:
		b.VehicleSwaps = append(b.VehicleSwaps, record.VehicleSwap{VehicleID: b.VehicleID, Until: record.InstantOf(w.now)})
		vehicle, _ := pick(w, w.vehicles)
		b.VehicleID = v1(vehicle)
	case 5:
		b.ReturnAt = record.InstantOf(b.ReturnAt.Add(time.Duration(w.rng.IntN(60)-20) * time.Hour))
	case 6:
		b.ActualPickupAt = record.InstantOf(b.PickupAt.Add(time.Duration(w.rng.IntN(20)-10) * time.Hour))
	default:
		if n := len(b.Charges); n > 0 && w.rng.IntN(3) == 0 && b.Charges[n-1].ReversalOf == "" {
			back := b.Charges[n-1]
			back.ID, back.ReversalOf, back.Amount.Amount, back.PostedAt = fmt.Sprintf("chg_%d", n+1), back.ID,
				-back.Amount.Amount, record.InstantOf(w.now)
			b.Charges = append(b.Charges, back)
			return
		}
		c := record.Charge{ID: fmt.Sprintf("chg_%d", len(b.Charges)+1), Type: lineTypes[w.rng.IntN(len(lineTypes))],
			Amount: w.money(), PostedAt: record.InstantOf(w.now), Source: "manual"}
		if w.rng.IntN(3) == 0 {
			c.Amount.Amount = -c.Amount.Amount
		}
		b.Charges = append(b.Charges, c)
	}
}

// storedRentals reads rental_days by key.
func (w *world) storedRentals() map[string]facts {
	w.t.Helper()
	all := map[string]facts{}
	err := schemas.EachRow(w.t.Context(), w.db, "read days of rentals", `SELECT concat(toString(local_date), ' ',
		toString(booking), ' ', toString(vehicle)), toInt64(rented_s), toInt64(billed_days) FROM rental_days FINAL`, nil,
		func(row schemas.Row) error {
			var key string
			var rented, billed int64
			if err := row.Scan(&key, &rented, &billed); err != nil {
				return err
			}
			f := facts{}
			f.add("rented_s", rented)
			f.add("billed_days", billed)
			if len(f) > 0 {
				all[key] = f
			}
			return nil
		})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// expectedRentals counts them second by second.
func (w *world) expectedRentals() map[string]facts {
	all := map[string]facts{}
	of := func(day string, booking, vehicle uint64) facts {
		key := fmt.Sprintf("%s %d %d", day, booking, vehicle)
		if all[key] == nil {
			all[key] = facts{}
		}
		return all[key]
	}
	for _, id := range w.bookings {
		b := get(w, w.base.Bookings, id).Body
		zone := load(w.t, b.Timezone)
		if b.Timezone == "" {
			zone = load(w.t, w.zone)
		}
		for _, u := range w.used(&b) {
			var f facts
			for s := u.from.Unix(); s < min(u.until.Unix(), w.now.Unix()); s++ {
				if f == nil || s%60 == 0 {
					f = of(time.Unix(s, 0).In(zone).Format(dateForm), id, u.vehicle)
				}
				f.add("rented_s", 1)
			}
		}
		for _, d := range w.billed(&b) {
			of(d.day, id, d.vehicle).add("billed_days", 1)
		}
	}
	maps.DeleteFunc(all, func(_ string, f facts) bool { return len(f) == 0 })
	return all
}

// again makes everything again, which writes nothing, and then from nothing, which gives the same; and compares the
// months with the days.
func again(w *world) {
	w.t.Helper()
	days, months := w.stored("vehicle_days", "local_date"), w.stored("vehicle_months", "month")
	sums := map[string]facts{}
	for key, f := range days {
		key = key[:len("2026-03-")] + "01" + key[len(dateForm):]
		if sums[key] == nil {
			sums[key] = facts{}
		}
		for measure, n := range f {
			sums[key].add(measure, n)
		}
	}
	same(w.t, "months", months, sums)
	fleet := w.fleetDays()
	if fleet.not > 0 || fleet.all == 0 {
		w.t.Errorf("of %d days of the fleet %d are not the sums of its vehicles", fleet.all, fleet.not)
	}
	from, to, err := w.facts.Extent(w.t.Context(), account)
	if err != nil {
		w.t.Fatal(err)
	}
	stands := func() (text string) {
		if err := w.db.QueryRow(w.t.Context(), `SELECT toString((
			(SELECT (count(), max(computed_at)) FROM vehicle_days), (SELECT (count(), max(computed_at)) FROM rental_days)))
			`).Scan(&text); err != nil {
			w.t.Fatal(err)
		}
		return text
	}
	booked := w.booked()
	for _, table := range []string{"", "vehicle_days", "rental_days", "vehicle_months", "fleet_days", "rental_sums",
		"tax_bases", "booking_sums", "vehicle_statuses"} {
		if table == "" { // parts are merged at their own time
			for _, table := range []string{"vehicle_days", "rental_days"} {
				if err := w.db.Exec(w.t.Context(), "OPTIMIZE TABLE "+table+" FINAL"); err != nil {
					w.t.Fatal(err)
				}
			}
		} else if err := w.db.Exec(w.t.Context(), "TRUNCATE TABLE "+table); err != nil {
			w.t.Fatal(err)
		}
		if table != "" && table != "vehicle_statuses" {
			continue
		}
		before := stands()
		if err := w.facts.Make(w.t.Context(), account, from, to, func(fact.Made) error { return nil }); err != nil {
			w.t.Fatal(err)
		}
		if table == "" && stands() != before {
			w.t.Errorf("made again %s, before %s", stands(), before)
		}
	}
	same(w.t, "from nothing", w.stored("vehicle_days", "local_date"), days)
	same(w.t, "months from nothing", w.stored("vehicle_months", "month"), months)
	if anew := w.fleetDays(); anew != fleet {
		w.t.Errorf("days of the fleet from nothing are %v, and were %v", anew, fleet)
	}
	same(w.t, "rentals from nothing", w.storedRentals(), w.expectedRentals())
	if now := w.booked(); now != booked {
		w.t.Errorf("what bookings came to is from nothing %s, and was %s", now, booked)
	}
}

// booked is how many rentals, taxes and bookings stand in what is made of bookings, and a sum of all that they say.
func (w *world) booked() (text string) {
	w.t.Helper()
	if err := w.db.QueryRow(w.t.Context(), `SELECT toString((
		(SELECT (count(), sum(cityHash64(* EXCEPT computed_at))) FROM rental_sums FINAL WHERE completed),
		(SELECT (count(), sum(cityHash64(* EXCEPT computed_at))) FROM tax_bases FINAL WHERE base != 0 OR known != 0),
		(SELECT (count(), sum(cityHash64(* EXCEPT computed_at))) FROM booking_sums FINAL WHERE on_books)))`).
		Scan(&text); err != nil {
		w.t.Fatal(err)
	}
	return text
}
