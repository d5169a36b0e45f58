package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// What a writer hands over of a booking is what the table's expressions make of the same text, of whatever a desk
// writes and of what none does.
func TestColumnsOfBookingsAreWhatTheirExpressionsSay(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	sayTheSame(t, rng, Bookings.Name, "bookings", len(bookingColumns), manyBookings(rng))
}

func TestColumnsOfQuotesAreWhatTheirExpressionsSay(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	var all []*Quote
	for _, b := range manyBookings(rng) {
		q := &Quote{BookingFields: b.BookingFields, Numbered: b.Numbered, ExpiresAt: b.ReturnAt,
			BookingID: oneOf(rng, "", "bkg_7", "a\x00b", "Zürich, 東京")}
		if b.RateSnapshot != nil {
			q.Snapshot = *b.RateSnapshot
			q.Snapshot.Totals.Total.Amount = oneOf[int64](rng, 0, 1, -1, 5995, 1<<63-1, -1<<63)
		}
		all = append(all, q)
	}
	sayTheSame(t, rng, Quotes.Name, "quotes", len(quoteColumns), all)
}

// sayTheSame holds what writers hand over of records, some of them spoilt, against what the table's expressions say.
func sayTheSame[T any](t *testing.T, rng *rand.Rand, kind, table string, mostColumns int, records []*T) {
	t.Helper()
	db := schematest.Open(t)
	bodies := []string{"", "no JSON", "null", "[]", "{}", `{"charges":{}}`, `{"number":1,"status":[],"drivers":"x"}`}
	for _, b := range records {
		text := encoded(t, b)
		bodies = append(bodies, text)
		for range 3 {
			bodies = append(bodies, spoilt(t, rng, text))
		}
	}
	store, err := NewStore(DefaultConfig(), db, fleet.NewIDSource(1, time.Now), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	at := millis(time.Now())
	groups, all, full := map[string][]*revision{}, []*revision{}, 0
	for i, body := range bodies {
		r := &revision{account: 7, kind: kind, id: uint64(i + 1), number: 1, at: at, createdAt: at, body: body}
		if of := i - (len(bodies) - 4*len(records)); of >= 0 && of%8 == 0 { // as a draft has every second one
			r.kept = &kept{made: records[of/4]}
		}
		columns, _ := workOut(table, []*revision{r})
		if all = append(all, r); len(columns) == mostColumns {
			full++
		}
		groups[strings.Join(columns, ",")] = append(groups[strings.Join(columns, ",")], r)
	}
	if full < len(bodies)/20 || len(groups[""]) < len(bodies)/20 {
		t.Errorf("all columns are told of %d of %d records, none of %d", full, len(bodies), len(groups[""]))
	}
	// Those of which the same can be told stand together in an insert: what cannot be told of one is told of none. Some
	// come as they come, so that of others too less is told than could be.
	mixed := rng.Perm(len(all))[:len(all)/3]
	for columns, some := range groups {
		some = slices.DeleteFunc(some, func(r *revision) bool { return slices.Contains(mixed, int(r.id)-1) })
		if err := store.insertWritten(t.Context(), feedOf(t, table, table), some); err != nil {
			t.Fatal(columns, err)
		}
	}
	for some := range slices.Chunk(mixed, 8) {
		if err := store.insertWritten(t.Context(), feedOf(t, table, table), each(some, func(i int) *revision {
			return all[i]
		})); err != nil {
			t.Fatal(err)
		}
	}
	said := table + "_said"
	if err := db.Exec(t.Context(), "CREATE TABLE "+said+" AS "+table); err != nil {
		t.Fatal(err)
	}
	if err := store.insertWritten(t.Context(), feedOf(t, table, said), all); err != nil {
		t.Fatal(err)
	}
	for column, expression := range storedColumns(t, db, table) {
		for _, sides := range [][2]string{{table, said}, {said, table}} {
			text := fmt.Sprintf("SELECT id, toString(%[1]s) FROM (SELECT id, %[1]s FROM %[2]s EXCEPT SELECT id, %[1]s FROM %[3]s) ORDER BY id LIMIT 3",
				column, sides[0], sides[1])
			if err := schemas.EachRow(t.Context(), db, "compare", text, nil, func(row schemas.Row) error {
				var id uint64
				var is string
				if err := row.Scan(&id, &is); err != nil {
					return err
				}
				t.Errorf("%s has %s = %s, and the other table has not; %s of %s", sides[0], column, is, expression, bodies[id-1])
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What is not handed over the server would have to plan with each write.
func TestAllColumnsAreWorkedOutByTheirWriter(t *testing.T) {
	db := schematest.Open(t)
	for table, handed := range map[string][]string{
		"bookings": each(bookingColumns, func(c column[Booking]) string { return c.name }),
		"quotes":   each(quoteColumns, func(c column[Quote]) string { return c.name }),
	} {
		columns := storedColumns(t, db, table)
		for _, name := range handed {
			if columns[name] == "" {
				t.Errorf("%s.%s is no column that is taken from the record", table, name)
			}
		}
		handed = append(handed, feedOf(t, table, table).Columns...)
		for name := range columns {
			if !slices.Contains(handed, name) {
				t.Errorf("each write has the server plan %s.%s", table, name)
			}
		}
	}
}

// storedColumns are the columns that a table of records keeps, each with its expression.
func storedColumns(t *testing.T, db driver.Conn, table string) map[string]string {
	t.Helper()
	columns := map[string]string{}
	if err := schemas.EachRow(t.Context(), db, "list columns", `SELECT name, default_expression FROM system.columns
		WHERE database = currentDatabase() AND table = {table:String} AND default_kind IN ('', 'DEFAULT')`,
		[]any{clickhouse.Named("table", table)},
		func(row schemas.Row) error {
			var name, expression string
			defer func() { columns[name] = expression }()
			return row.Scan(&name, &expression)
		}); err != nil {
		t.Fatal(err)
	}
	return columns
}

func feedOf(t *testing.T, table, into string) schemas.Feed {
	t.Helper()
	for _, f := range schemas.Feeds() {
		if f.Table == table {
			f.Table = into
			return f
		}
	}
	t.Fatal("nothing feeds " + table)
	return schemas.Feed{}
}

func encoded(t *testing.T, of any) string {
	t.Helper()
	text, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// manyBookings are bookings of all shapes: at least one of each zone in which a day is told.
func manyBookings(rng *rand.Rand) []*Booking {
	zones := append(slices.Sorted(maps.Keys(schemas.ReturnZones())), "",
		"Europe/Kyiv", "US/Central", "Mars/Olympus", "utc", "America//Chicago", "Asia/Tokyo\x00")
	line, _ := reflect.TypeFor[Charge]().FieldByName("Type")
	types := append(strings.Split(line.Tag.Get("enum"), ","), "tax", "platform_fee", "Tax", "")
	var all []*Booking
	for i := range 4 * len(zones) {
		b := &Booking{}
		schematest.Fill(rng, b)
		b.Timezone = zones[i%len(zones)]
		b.VehicleID = oneOf(rng, vehicleIDs...)
		for s := range b.VehicleSwaps {
			b.VehicleSwaps[s].VehicleID = oneOf(rng, vehicleIDs...)
		}
		lines := [][]Charge{b.Charges}
		if b.RateSnapshot != nil {
			lines = append(lines, b.RateSnapshot.Lines)
			day := time.Date(1990+rng.IntN(100), 1, 1, 0, 0, 0, 0, time.UTC)
			for d := range b.RateSnapshot.Days {
				b.RateSnapshot.Days[d].Date = day.AddDate(0, 0, rng.IntN(400)).Format(time.DateOnly)
				b.RateSnapshot.Days[d].Amount.Amount -= rng.Int64N(3e4)
			}
		}
		for _, some := range lines {
			for l := range some {
				some[l].Type = oneOf(rng, types...)
				some[l].Amount.Amount -= rng.Int64N(5e4)
				some[l].ReversalOf = oneOf(rng, "", "", "chg_7")
			}
		}
		plain := time.Date(2020+rng.IntN(10), 1, 1+rng.IntN(400), rng.IntN(24), rng.IntN(60), 0, 0, time.UTC)
		switch rng.IntN(8) {
		case 0: // not ended, and nothing is known yet
			b.ActualReturnAt, b.ActualPickupAt, b.VehicleSwaps = Instant{}, Instant{}, nil
		case 1: // imported: no price was frozen
			b.RateSnapshot = nil
		case 2: // nothing is billed by days
			b.RateSnapshot, b.BilledDays = &RateSnapshot{}, 0
		case 3: // amounts that no sum can hold
			for l := range b.Charges {
				b.Charges[l].Amount.Amount = oneOf[int64](rng, 1<<63-1, -1<<63, 1<<53+1, -1<<53-1)
			}
		case 4: // times of long ago and of far away
			b.PickupAt = InstantOf(plain.AddDate(oneOf(rng, -2020, -150, -50, 170, 275, 7000), 0, 0))
			b.ReturnAt, b.ActualReturnAt = InstantOf(plain), b.PickupAt
		case 5: // so many days
			b.RateSnapshot, b.BilledDays = nil, oneOf(rng, -1, 0, 1, 3660, 3661, 1<<31, 1<<40)
		}
		if i%2 == 0 {
			b.ActualReturnAt = Instant{}
		}
		if i%3 != 0 { // as most are: days of a month or less, and a vehicle
			b.PickupAt, b.ReturnAt = InstantOf(plain), InstantOf(plain.Add(time.Duration(rng.IntN(30*24*60))*time.Minute))
			b.VehicleID, b.VehicleSwaps = oneOf(rng, "", "veh_7", "veh_18446744073709551615"), nil
		}
		all = append(all, b)
	}
	return all
}

var vehicleIDs = []string{"veh_7", "veh_184467440737095516", "", "veh_18446744073709551615", "veh_18446744073709551616",
	"veh_0", "veh_007", "veh_+7", "veh_-7", "veh_7 ", "bkg_7", "veh", "\x00\x00\x00\x007", "Zürich, 東京"}

func oneOf[T any](rng *rand.Rand, all ...T) T { return all[rng.IntN(len(all))] }

// spoilt puts something in the place of one member of a record that does not belong there, or leaves it out.
func spoilt(t *testing.T, rng *rand.Rand, body string) string {
	t.Helper()
	var record map[string]any
	if err := json.Unmarshal([]byte(body), &record); err != nil {
		t.Fatal(err)
	}
	within := record
	for {
		name := oneOf(rng, slices.Sorted(maps.Keys(within))...)
		inner, _ := within[name].(map[string]any)
		if list, ok := within[name].([]any); ok && len(list) > 0 {
			inner, _ = list[rng.IntN(len(list))].(map[string]any)
		}
		if len(inner) > 0 && rng.IntN(5) > 0 {
			within = inner
			continue
		}
		switch within[name] = oneOf[any](rng, nil, "", "x", "7", true, 7, -7, 1.5, 1e300, json.Number("9007199254740993"),
			json.Number("-9223372036854775809"), json.Number("18446744073709551616"), []any{}, []any{nil, 7, "x", []any{}},
			map[string]any{}, "2024-02-30", "2024-2-3", "1850-01-01", "2026-05-04T03:02:01Z", "2026-05-04 03:02:01", "a\u0000b",
			"veh_9"); rng.IntN(8) {
		case 0:
			delete(within, name)
		case 1:
			within[strings.ToUpper(name)] = within[name]
			delete(within, name)
		}
		return encoded(t, record)
	}
}
