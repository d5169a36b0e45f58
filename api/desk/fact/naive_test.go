package fact_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/schemas"
)

// What the facts ought to be, counted second by second.

// moment is what a vehicle is at one second.
type moment struct {
	in, down bool
	rented   int // 1 more than the place of the currency in which it is, 0 if it is not
}

var currencies = []string{"USD", "EUR"} // the first is the account's

const dateForm = time.DateOnly

// expected counts the facts of all vehicles up to the present.
func (w *world) expected() map[string]facts {
	all := map[string]facts{}
	at := func(day string, vehicle uint64, currency string) facts {
		key := fmt.Sprintf("%s %d %s", day, vehicle, currency)
		if all[key] == nil {
			all[key] = facts{}
		}
		return all[key]
	}
	for _, id := range w.vehicles {
		w.countVehicle(id, func(day, currency string) facts { return at(day, id, currency) })
	}
	for _, id := range w.bookings {
		b := get(w, w.base.Bookings, id).Body
		for _, d := range w.billed(&b) {
			at(d.day, d.vehicle, cmp.Or(b.Currency, "USD")).add("billed_days", 1)
		}
	}
	err := schemas.EachRow(w.t.Context(), w.db, "read the ledger",
		"SELECT toString(local_date), vehicle, currency, ledger_account, amount FROM ledger_entries FINAL", nil,
		func(row schemas.Row) error {
			var day, currency, name string
			var vehicle uint64
			var amount int64
			if err := row.Scan(&day, &vehicle, &currency, &name, &amount); err != nil {
				return err
			}
			line, _ := ledger.LineOf(ledger.Account(name))
			switch line.Type {
			case ledger.Revenue:
				at(day, vehicle, currency).add(line.Measure, -amount)
			case ledger.Cost:
				at(day, vehicle, currency).add(line.Measure, amount)
			}
			return nil
		})
	if err != nil {
		w.t.Fatal(err)
	}
	for key, f := range all {
		if len(f) == 0 {
			delete(all, key)
		}
	}
	return all
}

func (w *world) countVehicle(id uint64, of func(day, currency string) facts) {
	r := get(w, w.base.Vehicles, id)
	v, zone := r.Body, load(w.t, cmp.Or(r.Body.Timezone, w.zone))
	first, now := began.AddDate(0, 0, -40).Unix(), w.now.Unix()
	moments := make([]moment, now-first)
	each := func(from, until time.Time, do func(*moment)) {
		for s := max(first, from.Unix()); s < min(now, until.Unix()); s++ {
			do(&moments[s-first])
		}
	}
	came, gone := r.CreatedAt, w.now
	if on := cmp.Or(v.InServiceOn, v.AcquiredOn); on != "" {
		came = w.midnight(on, zone)
	}
	for _, on := range []string{v.DisposalOn, v.OutOfServiceOn} {
		if on != "" && w.midnight(on, zone).Before(gone) && (on == v.DisposalOn || on > cmp.Or(v.InServiceOn, v.AcquiredOn)) {
			gone = w.midnight(on, zone)
		}
	}
	if r.Archived() && r.ArchivedAt.Before(gone) {
		gone = r.ArchivedAt
	}
	each(came, gone, func(m *moment) { m.in = true })
	for _, mv := range w.moves[id] { // one after the other as they were said, each until further notice
		down := mv.status == record.VehicleMaintenance || mv.status == record.VehicleOutOfService
		each(mv.since, w.now, func(m *moment) { m.down = down })
	}
	for _, id := range w.blocks {
		if b := get(w, w.base.Blocks, id); b.Body.Maintains() && !b.Archived() && b.Body.VehicleID == v1(r.ID) {
			each(b.Body.From.Time, b.Body.Until.Time, func(m *moment) { m.down = true })
		}
	}
	var parts []part
	for _, id := range w.bookings {
		b := get(w, w.base.Bookings, id).Body
		for _, u := range w.used(&b) {
			if u.vehicle == r.ID {
				parts = append(parts, w.byDay(&b, u)...)
			}
		}
	}
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.from.Unix(), b.from.Unix()), cmp.Compare(a.until.Unix(), b.until.Unix()),
			cmp.Compare(a.currency, b.currency))
	})
	for _, p := range parts {
		each(p.from, p.until, func(m *moment) {
			if m.rented == 0 {
				m.rented = 1 + slices.Index(currencies, p.currency)
			}
		})
	}
	w.countMoments(first, moments, zone, of)
	w.countTrips(id, first, moments, zone, of)
}

func (w *world) countMoments(first int64, moments []moment, zone *time.Location, of func(day, currency string) facts) {
	var in, rented, down, length int64
	var rentedIn [3]int64
	day := time.Unix(first, 0).In(zone).Format(dateForm)
	for i, m := range append(moments, moment{}) {
		s := first + int64(i)
		if s%60 == 0 || i == len(moments) {
			on := time.Unix(s, 0).In(zone).Format(dateForm)
			if on != day || i == len(moments) {
				f := of(day, "USD")
				if length = w.midnight(next(day), zone).Unix() - w.midnight(day, zone).Unix(); in+rented > 0 {
					f.add("day_s", length)
				}
				f.add("fleet_s", in)
				f.add("down_s", down)
				f.add("idle_s", max(0, in-down-rented))
				for i, currency := range currencies {
					of(day, currency).add("rented_s", rentedIn[i+1])
				}
				day, in, rented, down, rentedIn = on, 0, 0, 0, [3]int64{}
			}
		}
		if m.in {
			in++
		}
		switch {
		case m.rented > 0:
			rented++
			rentedIn[m.rented]++
		case m.down && m.in:
			down++
		}
	}
}

// countTrips divides what was driven by the second.
func (w *world) countTrips(
	id uint64, first int64, moments []moment, zone *time.Location, of func(day, currency string) facts,
) {
	for _, t := range w.trips {
		if t.vehicle != id || t.deleted {
			continue
		}
		from, until := t.start.Unix(), max(t.start.Unix()+1, t.end.Unix())
		mm, ml := int64(math.Round(t.metres*1000)), int64(math.Round(t.fuel*1000))
		var f facts
		var day string
		for s := from; s < until; s++ {
			part := func(n int64) int64 { return n*(s+1-from)/(until-from) - n*(s-from)/(until-from) }
			if s == from || s%60 == 0 {
				day = time.Unix(s, 0).In(zone).Format(dateForm)
				f = of(day, "USD")
			}
			f.add("driven_m", part(mm))
			f.add("fuel_l", part(ml))
			if i := s - first; i >= 0 && i < int64(len(moments)) && moments[i].rented > 0 {
				of(day, currencies[moments[i].rented-1]).add("rented_m", part(mm))
			}
		}
	}
	for _, c := range w.charges {
		if c.vehicle == id {
			of(c.start.In(zone).Format(dateForm), "USD").add("energy_kwh", int64(math.Round(c.kwh*1000)))
		}
	}
}

type use struct {
	vehicle     uint64
	from, until time.Time
}

// used are the vehicles that a booking had, one after the other.
func (w *world) used(b *record.Booking) []use {
	if b.Status != record.BookingActive && b.Status != record.BookingCompleted {
		return nil
	}
	at, end := b.PickupAt.Time, w.now
	if !b.ActualPickupAt.IsZero() {
		at = b.ActualPickupAt.Time
	}
	switch {
	case b.Status == record.BookingCompleted && !b.ActualReturnAt.IsZero():
		end = b.ActualReturnAt.Time
	case b.Status == record.BookingCompleted, b.Bygone():
		end = b.ReturnAt.Time
	}
	var all []use
	for _, s := range b.VehicleSwaps {
		if s.Until.After(at) {
			all, at = append(all, use{number(s.VehicleID), at, earlier(s.Until.Time, end)}), s.Until.Time
		}
	}
	return append(all, use{number(b.VehicleID), at, end})
}

// part is what a booking used of a vehicle on one local day of its own.
type part struct {
	use
	currency string
}

// byDay cuts what was used until the present at the midnights of a booking.
func (w *world) byDay(b *record.Booking, u use) (all []part) {
	zone := load(w.t, cmp.Or(b.Timezone, w.zone))
	u.until = earlier(u.until, w.now)
	for u.from.Before(u.until) {
		ends := earlier(u.until, w.midnight(next(u.from.In(zone).Format(dateForm)), zone))
		all = append(all, part{use{u.vehicle, u.from, ends}, cmp.Or(b.Currency, "USD")})
		u.from = ends
	}
	return all
}

type billedDay struct {
	day     string
	vehicle uint64
}

// billed are the days that a booking is billed for, each with the vehicle that it had when the day began.
func (w *world) billed(b *record.Booking) []billedDay {
	uses := w.used(b)
	if uses == nil {
		return nil
	}
	zone := load(w.t, cmp.Or(b.Timezone, w.zone))
	var days []string
	if b.RateSnapshot != nil {
		for _, d := range b.RateSnapshot.Days {
			days = append(days, d.Date)
		}
	}
	pickup := uses[0].from
	if len(days) == 0 {
		days = []string{pickup.In(zone).Format(dateForm)}
		for t := pickup; t.Before(b.ReturnAt.Time); t = t.Add(time.Minute) {
			if on := t.In(zone).Format(dateForm); on != days[len(days)-1] {
				days = append(days, on)
			}
		}
		last := b.ReturnAt.Add(-time.Millisecond).In(zone).Format(dateForm)
		if b.ReturnAt.After(pickup) && last != days[len(days)-1] {
			days = append(days, last)
		}
	}
	var all []billedDay
	for _, day := range days {
		at, vehicle := w.midnight(day, zone), number(b.VehicleID)
		if at.Before(pickup) {
			at = pickup
		}
		for _, s := range b.VehicleSwaps {
			if at.Before(s.Until.Time) {
				vehicle = number(s.VehicleID)
				break
			}
		}
		all = append(all, billedDay{day, vehicle})
	}
	return all
}

func (w *world) midnight(day string, zone *time.Location) time.Time {
	t, err := time.ParseInLocation(dateForm, day, zone)
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}

func next(day string) string {
	t, _ := time.Parse(dateForm, day)
	return t.AddDate(0, 0, 1).Format(dateForm)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func v1(id uint64) string { return fleet.FormatID(fleet.VehiclePrefix, id) }

func number(text string) uint64 {
	id, _ := fleet.ParseID(fleet.VehiclePrefix, text)
	return id
}
