package schematest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
)

// words are what Fill writes into texts.
var words = []string{"", "active", "confirmed", "platform_fee", "tax", "turo", "veh_7", "bkg_1234", "cus_99",
	"a \"b\" <c> & d", "Zürich, 東京", "America/Chicago"}

// Fill fills a value with anything: texts, whole numbers, flags, instants of the years that tables hold, some of them
// none; maps of texts, and those of any values with what JSON has.
func Fill(rng *rand.Rand, into any) { fill(rng, reflect.ValueOf(into).Elem()) }

func fill(rng *rand.Rand, v reflect.Value) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		if rng.IntN(4) > 0 {
			first := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
			v.Set(reflect.ValueOf(first.Add(time.Duration(rng.Int64N(200*365*24*3600*1000)) * time.Millisecond)))
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(words[rng.IntN(len(words))])
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(rng.Int64N(1e5))
	case reflect.Uint64:
		v.SetUint(rng.Uint64N(1e5))
	case reflect.Float64:
		v.SetFloat(float64(rng.IntN(1000)) / 8)
	case reflect.Pointer:
		if rng.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(rng, v.Elem())
		}
	case reflect.Slice:
		if n := rng.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range v.Len() {
			fill(rng, v.Index(i))
		}
	case reflect.Map:
		if n := rng.IntN(4); n > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				value := reflect.New(v.Type().Elem()).Elem()
				fill(rng, value)
				v.SetMapIndex(reflect.ValueOf(words[rng.IntN(len(words))]).Convert(v.Type().Key()), value)
			}
		}
	case reflect.Interface:
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf(anything(rng)))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(rng, v.Field(i))
			}
		}
	}
}

// anything is what a member of any type may be.
func anything(rng *rand.Rand) any {
	all := []any{words[rng.IntN(len(words))], rng.IntN(2) == 0, float64(rng.IntN(1000)) / 8, float64(1<<53 - 1), -5e-324,
		[]any{}, map[string]any{}}
	switch n := rng.IntN(len(all) + 2); n {
	case len(all):
		return []any{anything(rng), anything(rng)}
	case len(all) + 1:
		return map[string]any{words[rng.IntN(len(words))]: anything(rng), "status": anything(rng)}
	default:
		return all[n]
	}
}

// newest are the revisions that a table of current records shows.
const newest = "SELECT * FROM record_log WHERE (account, kind, id, revision) IN (SELECT account, kind, id, max(revision) FROM record_log GROUP BY account, kind, id)"

// FeedAgrees compares what a table of current records holds with what its feed makes of the log.
func FeedAgrees(t *testing.T, db driver.Conn, table string, atLeast int) {
	t.Helper()
	feeds := schemas.Feeds()
	i := slices.IndexFunc(feeds, func(f schemas.Feed) bool { return f.Table == table })
	if i < 0 {
		t.Fatalf("nothing feeds %s", table)
	}
	f := feeds[i]
	f.Table = table + "_anew"
	ctx := clickhouse.Context(t.Context(),
		clickhouse.WithSettings(clickhouse.Settings{"max_partitions_per_insert_block": 0}))
	for _, text := range []string{"CREATE TABLE " + f.Table + " AS " + table, f.Insert() + "\n" + f.Of(newest)} {
		if err := db.Exec(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	held, made := "SELECT * FROM "+table+" FINAL", "SELECT * FROM "+f.Table+" FINAL"
	var n uint64
	both := "SELECT count() FROM (" + held + " INTERSECT DISTINCT " + made + ")"
	if err := db.QueryRow(ctx, both).Scan(&n); err != nil {
		t.Fatal(err)
	}
	if n < uint64(atLeast) {
		t.Errorf("%s: %d rows are as the feed makes them, not %d", table, n, atLeast)
	}
	for _, side := range [][2]string{{held, made}, {made, held}} {
		one := fmt.Sprintf("SELECT toString(tuple(*)) FROM (%s EXCEPT DISTINCT %s) LIMIT 3", side[0], side[1])
		err := schemas.EachRow(ctx, db, "compare a feed", one, nil, func(line schemas.Row) error {
			var row string
			if err := line.Scan(&row); err != nil {
				return err
			}
			t.Errorf("%s: only one side has\n%s", table, row)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
