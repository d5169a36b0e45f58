package outlook

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/api/rental/forecast"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

// fact is a row of vehicle_days.
type fact struct {
	vehicle                                                 uint64
	day                                                     ledger.Day
	currency                                                string
	rented, down, billed, time, mileage, discount, fee, fix int64
}

// booked is a booking as these tests know it.
type booked struct {
	class                        uint64
	pickup, back, confirmed, off time.Time
	gone                         bool
}

// history is a random past of vehicles of two classes and none, of which the third changed from the one to the other.
type history struct {
	db     driver.Conn
	rng    *rand.Rand
	zone   *time.Location
	today  ledger.Day
	class  []uint64 // of each vehicle, by its number
	facts  map[string]fact
	booked []booked
}

func newHistory(t *testing.T, seed uint64) *history {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	h := &history{db: schematest.Open(t), rng: rand.New(rand.NewPCG(seed, 1)), zone: zone, facts: map[string]fact{},
		class: []uint64{0, 1, 1, 2, 2, 0, 2}}
	h.today = ledger.DayOf(time.Date(2026, 3, 20, 16, 0, 0, 0, zone), zone)
	var rows []string
	for id, class := range h.class[1:] {
		row := func(revision int, class uint64) {
			name := ""
			if class > 0 {
				name = fmt.Sprintf("vcl_%d", class)
			}
			rows = append(rows, fmt.Sprintf(`(7, %d, %d, now(), now(), '{"vehicle_class_id":%q,"status":"available"}')`,
				id+1, revision, name))
		}
		row(1, class)
		if id+1 == 3 {
			rows = rows[:len(rows)-1]
			row(1, 1)
			row(2, class)
		}
	}
	h.insert(t, "vehicles (account, id, revision, created_at, updated_at, body)", rows)
	for range 3 { // the second and third time some days are made again, and their months
		h.makeFacts(t)
	}
	h.book(t)
	return h
}

func (h *history) insert(t *testing.T, into string, rows []string) {
	t.Helper()
	if err := h.db.Exec(t.Context(), "INSERT INTO "+into+" VALUES "+strings.Join(rows, ", ")); err != nil {
		t.Fatal(err)
	}
}

// makeFacts makes about every third day of each vehicle anew, in one or two currencies, and the months of them all.
func (h *history) makeFacts(t *testing.T) {
	const first = 150
	var rows []string
	for vehicle := uint64(1); vehicle < uint64(len(h.class)); vehicle++ {
		for day := h.today - first; day <= h.today; day++ {
			for _, currency := range []string{"USD", "EUR"} {
				if h.rng.IntN(3) > 0 {
					continue
				}
				n := func() int64 { return h.rng.Int64N(40_000) }
				f := fact{vehicle: vehicle, day: day, currency: currency, time: n(), mileage: n(), discount: -n(), fee: n(),
					fix: n()}
				if currency == "USD" {
					f.rented, f.down, f.billed = n(), n(), h.rng.Int64N(3)
				}
				h.facts[fmt.Sprint(vehicle, day, currency)] = f
				rows = append(rows, fmt.Sprintf("(7, '%s', %d, '%s', now64(3), %d, 86400, %d, %d, %d, %d, %d, %d, %d)", day, vehicle,
					currency, f.rented, f.down, f.billed, f.time, f.mileage, f.discount, f.fee, f.fix))
			}
		}
	}
	h.insert(t, `vehicle_days (account, local_date, vehicle, currency, computed_at, rented_s, fleet_s, down_s, billed_days,
		revenue_time, revenue_mileage, discounts, platform_fees, cost_insurance)`, rows)
	again := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{"insert_deduplicate": 0}))
	if err := h.db.Exec(again, schemas.Query("facts_months"), clickhouse.Named("account", uint64(7)),
		clickhouse.Named("from", (h.today-first).String()), clickhouse.Named("to", h.today.String()),
		clickhouse.Named("vehicles", []uint64{})); err != nil {
		t.Fatal(err)
	}
}

// book writes bookings about the present and about two changes of clocks.
func (h *history) book(t *testing.T) {
	var rows []string
	for id := range 300 {
		b := booked{pickup: h.today.Time().Add(time.Duration(h.rng.IntN(250*24*60)-160*24*60) * time.Minute)}
		b.back = b.pickup.Add(time.Duration(1+h.rng.IntN(9*24*60)) * time.Minute)
		b.confirmed = b.pickup.Add(-time.Duration(h.rng.IntN(110*24)-24) * time.Hour)
		status := []string{"confirmed", "completed", "cancelled", "no_show", "expired"}[h.rng.IntN(5)]
		b.gone, b.off = status[0] != 'c' || status == "cancelled", b.confirmed.Add(time.Duration(h.rng.IntN(90*24))*time.Hour)
		vehicle := ""
		b.class = uint64(1 + h.rng.IntN(2))
		body := fmt.Sprintf(`"vehicle_class_id":"vcl_%d"`, b.class)
		if h.rng.IntN(4) > 0 { // the class of the vehicle counts
			car := 1 + h.rng.IntN(len(h.class)-1)
			vehicle, b.class = fmt.Sprintf("veh_%d", car), h.class[car]
		}
		h.booked = append(h.booked, b)
		rows = append(rows, fmt.Sprintf(`(7, %d, 1, now(), now(), '{"status":%q,"status_since":%q,"confirmed_at":%q,`+
			`"pickup_at":%q,"return_at":%q,"vehicle_id":%q,%s}')`, id+1, status, b.off.Format(time.RFC3339),
			b.confirmed.Format(time.RFC3339), b.pickup.Format(time.RFC3339), b.back.Format(time.RFC3339), vehicle, body))
	}
	h.insert(t, "bookings (account, id, revision, created_at, updated_at, body)", rows)
}

// What forecasts and advice are made of comes from what is kept by month and from bookings as they are. It is what one
// gets by adding up each day and each booking.
func TestWhatForecastsAreMadeOfIsWhatEachDayAddsUpTo(t *testing.T) {
	h := newHistory(t, 1)
	a := &API{Server: &rest.Server{}}
	a.DB, a.Long = h.db, h.db
	q := &asker{account: 7, zone: h.zone, currency: "USD", at: time.Now(), today: h.today}
	p, err := a.pastOf(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("days", func(t *testing.T) { h.daysAddUp(t, p) })
	t.Run("books", func(t *testing.T) { h.booksAddUp(t, p) })
	t.Run("rates", func(t *testing.T) { h.ratesAddUp(t, a, q) })
	t.Run("results", func(t *testing.T) { h.resultsAddUp(t, a, q) })
}

func (h *history) daysAddUp(t *testing.T, p *past) {
	if len(p.classes) != 3 {
		t.Fatalf("%d classes", len(p.classes))
	}
	known := 0
	for _, s := range p.classes {
		for i := range s.Days {
			day, d := s.First+ledger.Day(i), &s.Days[i]
			var want forecast.Day
			for _, f := range h.facts {
				if f.day == day && h.class[f.vehicle] == s.Class && day < h.today {
					want.Known, want.Rented, want.Rentable = true, want.Rented+f.rented, want.Rentable+86400-f.down
				}
			}
			if day < h.today && (d.Known != want.Known || d.Rented != want.Rented || d.Rentable != want.Rentable) {
				t.Errorf("class %d on %s: %v %d of %d, want %v %d of %d", s.Class, day, d.Known, d.Rented, d.Rentable, want.Known,
					want.Rented, want.Rentable)
			}
			if want.Known {
				known++
			}
		}
	}
	if known < 300 {
		t.Errorf("only %d days are known", known)
	}
}

func (h *history) booksAddUp(t *testing.T, p *past) {
	for _, s := range p.classes {
		for day := h.today - 165; day <= h.today+forecast.Horizon; day++ {
			y, m, d := day.Time().Date()
			begins, ends := time.Date(y, m, d, 0, 0, 0, 0, h.zone), time.Date(y, m, d+1, 0, 0, 0, 0, h.zone)
			for _, lead := range []int{0, 1, 7, 30, forecast.Horizon, forecast.Earliest} {
				var want int64
				for _, b := range h.booked {
					stay := earlier(b.back, ends).Sub(later(b.pickup, begins))
					before := day - ledger.Day(lead)
					if b.class != s.Class || stay <= 0 || lead > 0 && ledger.DayOf(b.confirmed, h.zone) > before {
						continue
					}
					if b.gone && (lead == 0 || ledger.DayOf(b.off, h.zone) <= before) {
						continue
					}
					want += int64(stay / time.Second)
				}
				if got := s.At(day).OnBooks(lead); got != want {
					t.Fatalf("class %d, %d days before %s: %d s on the books, want %d", s.Class, lead, day, got, want)
				}
			}
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (h *history) ratesAddUp(t *testing.T, a *API, q *asker) {
	got, err := a.usualRates(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	want := usualRates{}
	for _, f := range h.facts {
		class, weekday := h.class[f.vehicle], (int(f.day.Time().Weekday())+6)%7
		if f.day >= h.today {
			continue
		}
		if want[class] == nil {
			want[class] = &[8]soldDays{}
		}
		var sum soldDays
		if f.currency == "USD" {
			sum = soldDays{days: f.billed, revenue: f.time + f.mileage + f.discount, costs: f.fee}
		}
		want[class][weekday], want[class][7] = want[class][weekday].plus(sum), want[class][7].plus(sum)
	}
	for class, rates := range want {
		if got[class] == nil || *got[class] != *rates {
			t.Errorf("class %d: %v, want %v", class, got[class], *rates)
		}
	}
}

// resultsAddUp asks for spans within a month, of whole months, and between.
func (h *history) resultsAddUp(t *testing.T, a *API, q *asker) {
	for _, span := range [][2]ledger.Day{{h.today - 100, h.today - 1}, {h.today - 5, h.today - 5},
		{h.today - 47, h.today - 20}, {h.today.AddMonths(-3), h.today.AddMonths(-1) - 1}} {
		for _, currency := range []string{"USD", "EUR"} {
			q := *q
			q.currency = currency
			got, err := a.results(t.Context(), &q, span[0], span[1])
			if err != nil {
				t.Fatal(err)
			}
			want, days := map[uint64]query.VehicleResult{}, map[uint64][]ledger.Day{}
			for _, f := range h.facts {
				if f.day < span[0] || f.day > span[1] {
					continue
				}
				v := want[f.vehicle]
				v.RentedS, v.RentableS = v.RentedS+f.rented, v.RentableS+86400-f.down
				if f.currency == currency {
					v.BilledDays += f.billed
					v.Revenue, v.PlatformFees = v.Revenue+f.time+f.mileage+f.discount, v.PlatformFees+f.fee
					v.Insurance += f.fix
				}
				if want[f.vehicle] = v; !slices.Contains(days[f.vehicle], f.day) {
					days[f.vehicle] = append(days[f.vehicle], f.day)
				}
			}
			if len(got.of) != len(want) {
				t.Errorf("%s to %s: %d vehicles, want %d", span[0], span[1], len(got.of), len(want))
			}
			for id, v := range want {
				v.Vehicle, v.Days = id, int64(len(days[id]))
				if is := got.of[id].VehicleResult; is != v {
					t.Errorf("%s to %s in %s: %+v, want %+v", span[0], span[1], currency, is, v)
				}
			}
		}
	}
}
