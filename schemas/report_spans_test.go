package schemas_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
)

// posting is an entry of account 7 in dollars.
type posting struct {
	day                               time.Time
	account, channel, purpose, kind   string
	vehicle, customer, booking, place uint64
	source                            uint64
	amount                            int64
}

// makeBusiness books on half a year of days: rows of two accounts and two currencies, of five vehicles and none, of
// bookings that are settled, owed and paid too much, by two channels in one booking too. It returns what account 7 has
// in dollars.
func makeBusiness(t *testing.T, db driver.Conn) []posting {
	t.Helper()
	for v := 1; v <= 5; v++ {
		record(t, db, "vehicles", 7, v, "2025-01-01 00:00:00", fmt.Sprintf(
			`{"make":%q,"model":"M","status":"available","vehicle_class_id":"vcl_%d"}`, []string{"Ford", "Kia"}[v%2], 1+v%3))
	}
	for id, category := range []string{"repair", "vehicle_purchase", "fuel"} {
		record(t, db, "expenses", 7, id+1, "2025-11-01 12:00:00", `{"category":"`+category+`"}`)
	}
	put(t, db, `INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency,
			vehicle, class, booking, customer, location, channel, purpose, kind, source, occurred_at)
		WITH cityHash64(number, 'h') AS h, 1 + number % 60 AS b, intDiv(number, 60) AS step,
			['accounts_receivable', 'platform_receivable', 'cash', 'deposits_held', 'tax_payable', 'revenue.time', 'revenue.damage',
				'revenue.fees', 'cost.platform_fee', 'cost.repair', 'cost.tires', 'accumulated_depreciation', 'contra.discount',
				'deferred_revenue'][1 + step % 14] AS l
		SELECT if(h % 23 = 0, 8, 7), toDate32('2025-11-01') + intDiv(h, 29) % 181, l, number, 1, number + 1,
			multiIf(l = 'accounts_receivable' AND b % 3 = 0, if(step < 14, 1, -1) * 5000, toInt64(intDiv(h, 31) % 4001) - 2000) AS amount,
			if(h % 19 = 0, 'EUR', 'USD'), intDiv(h, 37) % 6, 9, if(b = 60, 0, b), 1 + b % 7, intDiv(h, 41) % 3,
			['direct', 'turo'][1 + if(b % 10 = 9, step, b) % 2], if(l = 'tax_payable', ['tax, State tax', 'tax, City tax', ''][1 + h % 3], if(h % 5 = 0, 'deposit', '')),
			['booking', 'payment', 'expense'][1 + intDiv(h, 43) % 3], 1 + h % 4, now64(3)
		FROM numbers(3360)`)
	all, err := schemas.AllRows(t.Context(), db, "read entries", `SELECT toString(local_date), CAST(ledger_account, 'String'),
			CAST(channel, 'String'), CAST(purpose, 'String'), CAST(kind, 'String'), vehicle, customer, booking, location, source, amount
		FROM ledger_entries FINAL WHERE account = 7 AND currency = 'USD'`, nil, func(e *posting, row schemas.Row) (err error) {
		var day string
		if err := row.Scan(&day, &e.account, &e.channel, &e.purpose, &e.kind, &e.vehicle, &e.customer, &e.booking, &e.place,
			&e.source, &e.amount); err != nil {
			return err
		}
		e.day, err = time.Parse(time.DateOnly, day)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// key is what an entry is of in a group.
func (e *posting) key(group string) string {
	y, m, d := e.day.Date()
	switch group {
	case "total":
		return ""
	case "account":
		return e.account
	case "week":
		d -= (int(e.day.Weekday()) + 6) % 7
	case "month":
		d = 1
	case "quarter":
		m, d = m-(m-1)%3, 1
	case "year":
		m, d = 1, 1
	case "vehicle":
		return strconv.FormatUint(e.vehicle, 10)
	case "class":
		if e.vehicle == 0 {
			return ""
		}
		return strconv.FormatUint(1+e.vehicle%3, 10)
	case "make":
		if e.vehicle == 0 {
			return ""
		}
		return []string{"Ford", "Kia"}[e.vehicle%2]
	case "channel":
		return e.channel
	case "customer":
		return strconv.FormatUint(e.customer, 10)
	case "booking":
		return strconv.FormatUint(e.booking, 10)
	case "category":
		return strings.TrimPrefix(e.purpose, "tax, ")
	case "location":
		if e.place == 0 {
			return ""
		}
		return strconv.FormatUint(e.place, 10)
	}
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// spans of whole months and of parts, on their edges and across, within one and of a single day.
var spans = [][2]string{{"2025-11-17", "2026-02-11"}, {"2026-01-01", "2026-02-28"}, {"2026-01-01", "2026-02-10"},
	{"2025-12-20", "2026-03-31"}, {"2026-02-05", "2026-02-20"}, {"2026-02-28", "2026-03-01"}, {"2026-02-28", "2026-02-28"},
	{"2025-11-01", "2026-04-30"}}

// asked is a report with what its figures are by the entries themselves: what one adds to a row. before is of what was
// posting before the span, for reports of what stands.
var asked = []struct {
	report, groups string
	settings       []string
	of             func(e *posting) bool
	standing       bool
	add            func(row map[string]int64, e *posting, before bool)
}{
	{"profit_and_loss", "account total day week month quarter year", nil, earned, false, sumUp("amount", -1)},
	{"profit_and_loss", "account month day", []string{"vehicles", "[2,3]"},
		func(e *posting) bool { return earned(e) && (e.vehicle == 2 || e.vehicle == 3) }, false, sumUp("amount", -1)},
	{"tax_summary", "category location channel total day week month", nil, on("tax_payable"), false,
		func(row map[string]int64, e *posting, _ bool) {
			row["owed"] -= e.amount
			row["entries"]++
			switch {
			case e.kind == "expense":
				row["paid"] += e.amount
			case e.amount < 0:
				row["charged"] -= e.amount
			default:
				row["taken_back"] += e.amount
			}
		}},
	{"deposits_held", "booking customer total", nil, on("deposits_held"), true,
		func(row map[string]int64, e *posting, before bool) {
			row["held"] -= e.amount
			switch {
			case before:
				row["opening"] -= e.amount
			case e.amount < 0:
				row["taken"] -= e.amount
			default:
				row["given"] += e.amount
			}
		}},
	{"damage_recovery", "total day week month vehicle make class channel customer", nil,
		on("revenue.damage", "cost.repair"), false, recovered},
	{"damage_recovery", "month customer", []string{"classes", "[2]", "customers", "[3,4]"}, func(e *posting) bool {
		return on("revenue.damage", "cost.repair")(e) && e.key("class") == "2" && (e.customer == 3 || e.customer == 4)
	}, false, recovered},
	{"take_rate", "channel total day month vehicle class customer", nil, earned, false,
		func(row map[string]int64, e *posting, _ bool) {
			if e.account == "cost.platform_fee" {
				row["platform_fees"] += e.amount
			} else if !strings.HasPrefix(e.account, "cost.") {
				row["gross"] -= e.amount
			}
		}},
	{"revenue", "channel customer", nil, on("revenue.time"), false, sumUp("revenue_time", -1)},
	{"profitability", "week vehicle", []string{"channels", "['turo']"},
		func(e *posting) bool { return e.channel == "turo" && on("cost.repair", "cost.tires")(e) }, false,
		sumUp("maintenance", 1)},
	{"profitability", "total day month vehicle make channel customer", []string{"basis", "cash"},
		on("cash", "deposits_held"), false, func(row map[string]int64, e *posting, _ bool) {
			switch {
			case e.kind != "expense":
				row["revenue"] += e.amount
			case e.source == 2:
				row["capital"] -= e.amount
			default:
				row["paid"] -= e.amount
			}
		}},
	{"maintenance_costs", "total day month vehicle make", nil, on("cost.repair", "cost.tires"), false,
		func(row map[string]int64, e *posting, _ bool) {
			row[strings.TrimPrefix(e.account, "cost.")] += e.amount
		}},
	{"depreciation", "total vehicle make", nil, on("accumulated_depreciation"), true, sumUp("accumulated", -1)},
	{"balance_sheet", "total account", nil, func(*posting) bool { return true }, true,
		func(row map[string]int64, e *posting, before bool) {
			row["balance"] += e.amount
			if before {
				row["opening"] += e.amount
			} else {
				row["movement"] += e.amount
			}
		}},
}

func earned(e *posting) bool {
	return strings.Contains(chartAccounts, "'"+e.account+"'") || e.account == "cost.tires"
}

func on(accounts ...string) func(*posting) bool {
	return func(e *posting) bool { return slices.Contains(accounts, e.account) }
}

func sumUp(figure string, sign int64) func(map[string]int64, *posting, bool) {
	return func(row map[string]int64, e *posting, _ bool) { row[figure] += sign * e.amount }
}

func recovered(row map[string]int64, e *posting, _ bool) {
	if e.account == "cost.repair" {
		row["repair_cost"] += e.amount
	} else {
		row["recovered"] -= e.amount
	}
}

// Whatever the span and the group, a report that reads sums of the ledger says what the entries come to.
func TestReportsOfAnySpanAreTheSumsOfTheEntries(t *testing.T) {
	db := openReports(t)
	all := makeBusiness(t, db)
	chart := []string{"accounts", strings.TrimSuffix(chartAccounts, "]") + ",'cost.tires']",
		"measures", strings.TrimSuffix(chartMeasures, "]") + ",'cost_maintenance']"}
	compared := 0
	for i, span := range spans {
		from, to := dateOf(t, span[0]), dateOf(t, span[1])
		for _, q := range asked {
			groups := strings.Fields(q.groups)
			group := groups[i%len(groups)] // each is asked of some spans, each report of all
			want := map[string]map[string]int64{}
			for k := range all {
				e := &all[k]
				if !q.of(e) || e.day.After(to) || e.day.Before(from) && !q.standing {
					continue
				}
				key := e.key(group)
				if q.report == "balance_sheet" && group == "account" && earned(e) {
					key = "result"
				}
				if want[key] == nil {
					want[key] = map[string]int64{}
				}
				q.add(want[key], e, e.day.Before(from))
			}
			got := ask(t, db, q.report, group,
				slices.Concat(chart, []string{"by", group, "from", span[0], "to", span[1]}, q.settings)...)
			compared += agree(t, fmt.Sprintf("%s by %s of %s to %s", q.report, group, span[0], span[1]), got, want)
		}
		group := []string{"booking", "customer", "channel", "total"}[i%4]
		got := ask(t, db, "receivables_ageing", group, "from", span[0], "to", span[1])
		compared += agree(t, "receivables by "+group+" at "+span[1], got, aged(all, to, group))
		compared += balances(t, db, all, from, to)
	}
	if compared < 1000 {
		t.Errorf("only %d figures were compared", compared)
	}
}

// agree compares what a report says with what it ought to, and returns how many figures that were; rows that are
// nothing need not be there.
func agree(t *testing.T, what string, got map[string]figures, want map[string]map[string]int64) (compared int) {
	t.Helper()
	names := map[string]bool{}
	for _, row := range want {
		for name := range row {
			names[name] = true
		}
	}
	for key := range maps.Keys(got) {
		if want[key] == nil {
			want[key] = map[string]int64{}
		}
	}
	for key, row := range want {
		for name := range names {
			is := got[key][name]
			if got[key] == nil {
				is = new(float64(0))
			}
			if is == nil || *is != float64(row[name]) {
				t.Errorf("%s: %s of %q is %s, and comes to %d by the entries", what, name, key, show(is), row[name])
			}
			compared++
		}
	}
	return compared
}

// aged is what is owed on a day, by how long ago it was billed: what was paid counts against what was billed first.
// What a record comes to on a day is a bill or a payment.
func aged(all []posting, to time.Time, group string) map[string]map[string]int64 {
	type whose struct {
		booking, customer uint64
		channel, account  string
	}
	type bill struct {
		age     int // days ago
		kind    string
		source  uint64
		deposit bool
	}
	bills := map[whose]map[bill]int64{}
	of := map[whose]*posting{}
	for i := range all {
		e := &all[i]
		if on("accounts_receivable", "platform_receivable")(e) && !e.day.After(to) {
			w := whose{e.booking, e.customer, e.channel, e.account}
			if e.booking != 0 && group != "channel" { // a deposit that was kept is of no channel
				w.channel = ""
			}
			if bills[w] == nil {
				bills[w], of[w] = map[bill]int64{}, e
			}
			bills[w][bill{int(to.Sub(e.day) / (24 * time.Hour)), e.kind, e.source, e.purpose == "deposit"}] += e.amount
		}
	}
	rows := map[string]map[string]int64{}
	for w, all := range bills {
		key := of[w].key(group)
		row := rows[key]
		if row == nil {
			row = map[string]int64{}
			rows[key] = row
		}
		var paid, owed int64
		amounts := map[int]int64{}
		for b, amount := range all {
			owed += amount
			paid -= min(amount, 0)
			amounts[b.age] += max(amount, 0)
		}
		row["balance"] += owed
		row["overpaid"] += min(owed, 0)
		for _, age := range slices.Backward(slices.Sorted(maps.Keys(amounts))) {
			left := amounts[age]
			covered := min(paid, left)
			paid -= covered
			switch left -= covered; {
			case age == 0:
				row["not_due"] += left
			case age <= 30:
				row["days_1_30"] += left
			case age <= 60:
				row["days_31_60"] += left
			case age <= 90:
				row["days_61_90"] += left
			default:
				row["days_over_90"] += left
			}
		}
	}
	return rows
}

// balances compares what the accounts of the ledger come to, of all vehicles and of one, and returns how many figures.
func balances(t *testing.T, db driver.Conn, all []posting, from, to time.Time) (compared int) {
	t.Helper()
	for _, vehicles := range []string{"[]", "[4]"} {
		ctx := clickhouse.Context(t.Context(), clickhouse.WithParameters(clickhouse.Parameters{"account": "7",
			"group": "total", "from": from.Format(time.DateOnly), "to": to.Format(time.DateOnly), "vehicles": vehicles}))
		got, want := map[string]figures{}, map[string]map[string]int64{}
		if err := schemas.EachRow(ctx, db, "balances", schemas.Query("ledger_balances"), nil, func(row schemas.Row) error {
			var name, unit string
			var amount int64
			var n uint64
			if err := row.Scan(&name, &unit, &amount, &n); err != nil {
				return err
			}
			if unit == "USD" {
				got[name] = figures{"amount": new(float64(amount)), "entries": new(float64(n))}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for i := range all {
			if e := &all[i]; !e.day.Before(from) && !e.day.After(to) && (vehicles == "[]" || e.vehicle == 4) {
				if want[e.account] == nil {
					want[e.account] = map[string]int64{}
				}
				want[e.account]["amount"] += e.amount
				want[e.account]["entries"]++
			}
		}
		compared += agree(t, fmt.Sprint("balances of vehicles ", vehicles, " from ", from, " to ", to), got, want)
	}
	return compared
}

func dateOf(t *testing.T, text string) time.Time {
	t.Helper()
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t.Fatal(err)
	}
	return day
}
