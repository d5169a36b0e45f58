package schemas_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// figures are the raw figures of a row of a report, by name; nil for null.
type figures map[string]*float64

// The chart of accounts, as far as these tests have entries.
const (
	chartAccounts = `['revenue.time','revenue.fees','revenue.damage','revenue.toll_recharge','contra.discount','cost.platform_fee','cost.toll','cost.repair','cost.fuel']`
	chartMeasures = `['revenue_time','revenue_fees','revenue_damage','toll_recharge','discounts','platform_fees','cost_other_variable','cost_maintenance','cost_energy']`
)

// ask runs a report of account 7 in dollars, which are its rows by key. settings replace its parameters.
func ask(t *testing.T, db driver.Conn, report, group string, settings ...string) map[string]figures {
	t.Helper()
	parameters := clickhouse.Parameters{
		"account": "7", "from": "2026-03-01", "to": "2026-03-31", "group": group, "basis": "accrual", "currency": "USD",
		"zone": "America/Chicago", "today": "2026-06-30", "vehicles": "[]", "classes": "[]", "locations": "[]",
		"channels": "[]", "customers": "[]", "owners": "[]", "tags": "[]", "makes": "[]", "models": "[]",
		"totals": "false", "totals_by_tag": "false", "accounts": chartAccounts, "measures": chartMeasures,
	}
	for i := 0; i < len(settings); i += 2 {
		parameters[settings[i]] = settings[i+1]
	}
	text := schemas.Query("report_" + report)
	if strings.Contains(text, "FROM driving_days") || strings.Contains(text, "driven_mm") {
		makeDriving(t, db, parameters)
	}
	if strings.Contains(text, "FROM geofence_days") {
		schematest.MakeGeofenceDays(t, db, parameters)
	}
	if strings.Contains(text, "FROM rental_sums") || strings.Contains(text, "FROM tax_bases") ||
		strings.Contains(text, "FROM booking_sums") {
		schematest.MakeBooked(t, db, parameters)
	}
	rows, err := db.Query(clickhouse.Context(t.Context(), clickhouse.WithParameters(parameters)), text)
	if err != nil {
		t.Fatalf("%s by %s: %v", report, group, err)
	}
	defer rows.Close()
	all := map[string]figures{}
	for rows.Next() {
		var values []any
		for _, column := range rows.ColumnTypes() {
			values = append(values, reflect.New(column.ScanType()).Interface())
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		key, row := "", figures{}
		for i, name := range rows.Columns() {
			if v := reflect.ValueOf(values[i]).Elem(); name == "key" {
				key = v.String()
			} else {
				row[name] = number(t, v)
			}
		}
		if all[key] != nil {
			t.Errorf("%s by %s: two rows of %q", report, group, key)
		}
		all[key] = row
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s by %s: %v", report, group, err)
	}
	return all
}

// makeDriving makes the facts of driving, and the months of vehicles, that reports of the parameters' account read.
func makeDriving(t *testing.T, db driver.Conn, of clickhouse.Parameters) {
	t.Helper()
	for _, name := range []string{"facts_months", "facts_driving", "facts_driving_months"} {
		ctx := clickhouse.Context(t.Context(), clickhouse.WithParameters(clickhouse.Parameters{"account": of["account"],
			"from": "2024-01-01", "to": "2027-12-31", "zone": of["zone"], "vehicles": "[]", "kept": "1970-01-01"}))
		if err := db.Exec(ctx, schemas.Query(name)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

func number(t *testing.T, v reflect.Value) *float64 {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	switch {
	case v.CanInterface() && v.Type() == reflect.TypeFor[big.Int]():
		n := v.Interface().(big.Int)
		return new(float64(n.Int64()))
	case v.CanInt():
		return new(float64(v.Int()))
	case v.CanUint():
		return new(float64(v.Uint()))
	case v.CanFloat():
		return new(v.Float())
	case v.Kind() == reflect.String: // a date, as the days since 1970
		day, err := time.Parse(time.DateOnly, v.String())
		if err != nil {
			t.Fatal(err)
		}
		return new(float64(day.Unix() / 86400))
	}
	t.Fatalf("%s is no number", v.Type())
	return nil
}

// want compares figures of a row: "trips 3, score null, trips_mi 21.748". A number may differ in its last digit.
func want(t *testing.T, rows map[string]figures, key, list string) {
	t.Helper()
	row, ok := rows[key]
	if !ok {
		t.Errorf("no row of %q among %q", key, slices.Sorted(maps.Keys(rows)))
		return
	}
	for _, item := range strings.Split(strings.Join(strings.Fields(list), " "), ", ") {
		name, text, _ := strings.Cut(item, " ")
		value, ok := row[name]
		if !ok {
			t.Errorf("there is no figure %s", name)
			continue
		}
		if text == "null" || value == nil {
			if text != "null" || value != nil {
				t.Errorf("%q: %s is %v, not %s", key, name, show(value), text)
			}
			continue
		}
		var is float64
		if _, err := fmt.Sscan(text, &is); err != nil {
			t.Fatal(err)
		}
		_, decimals, _ := strings.Cut(text, ".")
		if math.Abs(*value-is) > 0.6*math.Pow10(-len(decimals)) {
			t.Errorf("%q: %s is %s, not %s", key, name, show(value), text)
		}
	}
}

func show(value *float64) string {
	if value == nil {
		return "null"
	}
	return fmt.Sprint(*value)
}

// openReports is a database with two accounts, 7 and 8, both in Chicago.
func openReports(t *testing.T) driver.Conn {
	db := schematest.Open(t)
	for _, account := range []int{7, 8} {
		record(t, db, "accounts", account, account, "2024-01-01 00:00:00", `{"name":"`+strconv.Itoa(account)+
			`","timezone":"America/Chicago","currency":"USD","energy_costs":{"gallon":{"amount":400,"currency":"USD"},"kwh":{"amount":30,"currency":"USD"}}}`)
	}
	return db
}

// has gives account 7 vehicles of which nothing else is known.
func has(t *testing.T, db driver.Conn, vehicles ...int) {
	t.Helper()
	for _, id := range vehicles {
		record(t, db, "vehicles", 7, id, "2026-01-01 00:00:00", "{}")
	}
}

// put inserts rows.
func put(t *testing.T, db driver.Conn, statements ...string) {
	t.Helper()
	ctx := clickhouse.Context(context.Background(),
		clickhouse.WithSettings(clickhouse.Settings{"max_partitions_per_insert_block": 0}))
	for _, statement := range statements {
		if err := db.Exec(ctx, statement); err != nil {
			t.Fatalf("%.300s: %v", statement, err)
		}
		if strings.HasPrefix(statement, "INSERT INTO vehicle_days ") {
			schematest.MakeFleetDays(t, db, 7)
		}
	}
}

// record inserts a current record: "bookings", 7, 1, "2026-03-01 10:00:00", {…}.
func record(t *testing.T, db driver.Conn, table string, account, id int, created, body string) {
	t.Helper()
	put(t, db, fmt.Sprintf(`INSERT INTO %s (account, id, revision, created_at, updated_at, body) VALUES (%d, %d, 1, '%s', '%[4]s', '%[5]s')`,
		table, account, id, created, body))
}
