package api

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// business is a fleet with four months of books, in which everything that reports tell apart occurs.
type business struct {
	*world
	vehicles, bookings, customers []string
	class, home, owner            string
	sums                          map[string]int64 // of links that were followed
}

func newBusiness(t *testing.T) *business {
	t.Helper()
	b := &business{world: newWorld(t)}
	b.class = b.do("POST", "/v1/vehicle_classes", `{"name":"=Compact","code":"CCAR"}`).ok(201).id()
	b.home = b.do("POST", "/v1/locations", `{"name":"Airport","timezone":"America/Chicago"}`).ok(201).id()
	for i := range 3 {
		b.customers = append(b.customers, b.do("POST", "/v1/customers",
			fmt.Sprintf(`{"first_name":"@Ann","last_name":"Lee %d","email":"a%d@example.com"}`, i, i)).ok(201).id())
	}
	b.owner = b.customers[2]
	for i, more := range []string{
		`,"vehicle_class_id":"` + b.class + `","home_location_id":"` + b.home + `","tags":["ev","vip"]`, `,"owner_customer_id":"` + b.owner + `","ownership":"consigned","tags":["ev"]`, `,"vehicle_class_id":"` + b.class + `"`} {
		b.vehicles = append(b.vehicles, b.vehicle(fmt.Sprintf(`{"make":"%s","model":"M%d","license_plate":"CAR-%d",
			"acquisition_cost":{"amount":%d,"currency":"USD"}%s}`, []string{"Tesla", "Kia", "Tesla"}[i], i, i, 2000000+i, more)))
	}
	rng := rand.New(rand.NewPCG(18, 4))
	for i := range 14 {
		from := time.Date(2026, 1, 2+9*i, 15, 0, 0, 0, time.UTC)
		days := 1 + rng.IntN(6)
		body := record.Booking{
			BookingFields: record.BookingFields{CustomerID: b.customers[i%2], VehicleID: b.vehicles[i%3],
				Channel:  []string{"direct", "turo", ""}[i%3],
				PickupAt: record.InstantOf(from), ReturnAt: record.InstantOf(from.AddDate(0, 0, days))},
			Status: record.BookingConfirmed, Timezone: "America/Chicago", Currency: "USD", RateSnapshot: &record.RateSnapshot{},
		}
		total := int64(0)
		for d := range days {
			price := 3000 + rng.Int64N(5000)
			total += price
			body.RateSnapshot.Days = append(body.RateSnapshot.Days,
				record.DayPrice{Date: from.AddDate(0, 0, d).Format(time.DateOnly), Amount: usd(price)})
		}
		charge := func(kind string, amount int64) {
			body.Charges = append(body.Charges, record.Charge{ID: fmt.Sprintf("chg_%d", len(body.Charges)+1), Type: kind,
				Amount: usd(amount), PostedAt: record.InstantOf(from)})
		}
		charge("time", total)
		charge("mileage", rng.Int64N(900))
		charge("extra", 777)
		charge("protection", 1001)
		charge("discount", -total/9)
		charge("late", 501)
		charge("toll", 320)
		charge("tax", total/12)
		if body.Channel == "turo" {
			charge("platform_fee", -total/4)
		}
		id := b.booking(body)
		b.rebook(id, func(r *record.Booking) {
			r.Status, r.ActualPickupAt, r.StatusSince = record.BookingActive, r.PickupAt, r.PickupAt
		})
		if i%4 != 3 {
			b.rebook(id, func(r *record.Booking) { r.Status, r.ActualReturnAt = record.BookingCompleted, r.ReturnAt })
		}
		b.bookings = append(b.bookings, id)
		if i%2 == 0 {
			b.do("POST", "/v1/bookings/"+id+"/payments", fmt.Sprintf(
				`{"method":"card","amount":{"amount":%d,"currency":"USD"},"fee":{"amount":%d,"currency":"USD"},"received_at":"%s"}`,
				total/2, total/80, from.AddDate(0, 0, -3).Format(time.RFC3339))).ok(201)
		}
	}
	expense := func(category string, vehicle int, amount int64, from, until string) {
		b.do("POST", "/v1/expenses", fmt.Sprintf(`{"category":"%s","status":"posted"%s,"amount":{"amount":%d,"currency":"USD"},
			"incurred_on":"%s","service_period":{"from":"%s","until":"%s"}}`, category,
			map[bool]string{true: `,"vehicle_id":"` + b.vehicles[max(vehicle, 0)] + `"`}[vehicle >= 0], amount, from, from, until)).ok(201)
	}
	for i := range b.vehicles {
		expense("depreciation", i, 121003, "2026-01-01", "2026-04-30")
		expense("insurance", i, 40001, "2026-01-01", "2026-04-30")
		expense("repair", i, 9999, "2026-02-10", "2026-02-10")
		expense("fuel", i, 4321, "2026-03-08", "2026-03-08")
		expense("loan_interest", i, 5005, "2026-03-01", "2026-03-31")
	}
	expense("salary", -1, 300000, "2026-03-01", "2026-03-31")
	b.do("POST", "/v1/expenses", `{"category":"fuel","status":"posted","vehicle_id":"`+b.vehicles[0]+
		`","amount":{"amount":50,"currency":"EUR"},"incurred_on":"2026-03-04"}`).ok(201)
	b.facts()
	b.tracked()
	return b
}

// facts makes the facts that reports stand on: money of the ledger by the chart, and for every day of every vehicle
// time and miles that differ by day.
func (b *business) facts() {
	b.t.Helper()
	var accounts, measures []string
	for _, line := range ledger.Chart {
		accounts, measures = append(accounts, string(line.Account)), append(measures, line.Measure)
	}
	var columns, sums []string
	for _, m := range measures {
		if m != "" && !slices.Contains(columns, m) {
			sign := "-"
			if strings.HasPrefix(m, "cost") || m == "platform_fees" {
				sign = ""
			}
			columns = append(columns, m)
			sums = append(sums, "sumIf("+sign+"amount, measure = '"+m+"')")
		}
	}
	for _, text := range []string{
		`INSERT INTO vehicle_days (account, local_date, vehicle, currency, computed_at, ` + strings.Join(columns, ", ") + `,
			day_s, fleet_s, down_s, rented_s, idle_s, billed_days, driven_m, rented_m, fuel_l, energy_kwh)
		SELECT account, local_date, vehicle, currency, now64(3), ` + strings.Join(sums, ", ") + `,
			sum(day), sum(there), sum(down), sum(out), sum(there - down - out), sum(sold), sum(metres), sum(metres) / 2, sum(sold) * 1.5, 0
		FROM (
			SELECT account, local_date, vehicle, CAST(currency, 'String') AS currency, amount,
				transform(CAST(ledger_account, 'String'), {accounts:Array(String)}, {measures:Array(String)}, '') AS measure,
				0 AS day, 0 AS there, 0 AS down, 0 AS out, 0 AS sold, 0. AS metres
			FROM ledger_entries FINAL WHERE transform(CAST(ledger_account, 'String'), {accounts:Array(String)}, {measures:Array(String)}, '') != ''
			UNION ALL
			SELECT v.account, toDate32('2026-01-01') + d.number, v.id, 'USD', 0, '', 86400, 86400, if(d.number % 11 = 0, 7200, 0),
				if((d.number + v.id) % 3 = 0, 86400 - 7200, 0), (d.number + v.id) % 3 = 0, 1000. * ((d.number + v.id) % 7) + 0.25
			FROM vehicles AS v FINAL CROSS JOIN numbers(120) AS d
		)
		GROUP BY account, local_date, vehicle, currency`,
		`INSERT INTO rental_days (account, local_date, booking, computed_at, vehicle, class, customer, location, channel, status, rented_s, billed_days)
		SELECT DISTINCT account, local_date, booking, now64(3), any(vehicle), any(class), any(customer), any(location), any(channel), 'completed', 86400, 1
		FROM ledger_entries FINAL WHERE ledger_account = 'revenue.time' GROUP BY account, local_date, booking`,
	} {
		if err := b.db.Exec(b.t.Context(), text, clickhouse.Named("accounts", accounts),
			clickhouse.Named("measures", measures)); err != nil {
			b.t.Fatal(err)
		}
	}
}

// figures is a report as a test reads it.
type figures struct {
	Columns []struct {
		Name, Unit, Formula string
		Additive            bool
	}
	Rows   []figureRow
	Totals figureRow
}

type figureRow struct {
	Key, Label, From, Until   string
	Figures, Previous, Change map[string]json.RawMessage
	Links                     map[string]string
}

func (r figureRow) number(t *testing.T, name string) *big.Rat {
	t.Helper()
	text := string(r.Figures[name])
	if text == "null" {
		return nil
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%s of %s is %q", name, r.Key, text)
	}
	return n
}

func (b *business) report(path string) (f figures) {
	b.t.Helper()
	if err := json.Unmarshal(b.do("GET", "/v1/reports/"+path, "").ok(200).body, &f); err != nil {
		b.t.Fatal(err)
	}
	return f
}

// Every report by every group on every basis runs; what is additive adds up to the totals, of tags to no less; times
// add up to the same totals whatever times they are; and the entries that a figure links to sum to it exactly.
func TestReportsAddUpAndLinkToTheirEntries(t *testing.T) {
	b := newBusiness(t)
	followed := 0
	for _, one := range b.do("GET", "/v1/reports", "").data() {
		name := one["name"].(string)
		var definition struct {
			Figures []struct {
				Name   string
				Ledger map[string]struct {
					Sign int64 `json:"entries_sign"`
				}
			}
		}
		if err := json.Unmarshal(b.do("GET", "/v1/reports/"+name+"/definition", "").ok(200).body, &definition); err != nil {
			t.Fatal(err)
		}
		for _, basis := range one["bases"].([]any) {
			signs := map[string]int64{}
			for _, f := range definition.Figures {
				signs[f.Name] = f.Ledger[basis.(string)].Sign
			}
			for _, group := range one["groups"].([]any) {
				path := fmt.Sprintf("%s?from=2026-01-10&to=2026-04-20&basis=%s&group_by=%s", name, basis, group)
				f := b.report(path)
				for _, c := range f.Columns {
					total := f.Totals.number(t, c.Name)
					if !c.Additive || total == nil {
						continue
					}
					sum := new(big.Rat)
					for _, row := range f.Rows {
						if n := row.number(t, c.Name); n != nil {
							sum.Add(sum, n)
						}
					}
					if c.Unit == "mi" || c.Unit == "gal" || c.Unit == "kwh" { // rounded by row
						sum.Sub(sum, total)
						if off, _ := sum.Abs(sum).Float64(); group != "tag" && off > 0.001*float64(len(f.Rows)) {
							t.Errorf("%s: %s is off by %v", path, c.Name, off)
						}
					} else if group == "tag" {
						continue
					} else if sum.Cmp(total) != 0 {
						t.Errorf("%s: the rows of %s sum to %s, the total is %s", path, c.Name, sum.RatString(), total.RatString())
					}
				}
				if len(f.Rows) == 0 {
					t.Errorf("%s has no rows", path)
				}
				for i, row := range append(f.Rows, f.Totals) {
					if i < len(f.Rows) && (i > 1 || basis != "accrual" && i > 0) {
						continue // of many some
					}
					for figure, link := range row.Links {
						followed++
						got := b.follow(link) * signs[figure]
						if want := row.number(t, figure); want == nil || want.Cmp(big.NewRat(got, 1)) != 0 {
							t.Errorf("%s: %s of %q is %s, and the entries of %s come to %d", path, figure, row.Label, row.Figures[figure], link, got)
						}
					}
				}
			}
		}
	}
	if followed < 500 {
		t.Errorf("only %d links", followed)
	}
}

// follow sums the entries of a list.
func (b *business) follow(link string) (sum int64) {
	b.t.Helper()
	if b.sums == nil {
		b.sums = map[string]int64{}
	}
	if sum, ok := b.sums[link]; ok {
		return sum
	}
	for line := range strings.Lines(string(b.do("GET", link+"&format=ndjson", "").ok(200).body)) {
		var e struct{ Amount record.Money }
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Amount.Currency != "USD" {
			b.t.Fatalf("%s: %s, %v", link, line, err)
		}
		sum += e.Amount.Amount
	}
	b.sums[link] = sum
	return sum
}
