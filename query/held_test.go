package query_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"pgregory.net/rapid"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// heldListings are those of which records are kept in memory.
var heldListings = []*query.Listing{&query.Vehicles, &query.Devices, &query.VehicleClasses, &query.Locations,
	&query.RatePlans, &query.Geofences, &query.Customers, &query.Bookings}

// awkwardTexts are what people write, and what the store and Go may see with different eyes.
var awkwardTexts = []string{"", " ", "a", "A", "aa", "Tesla", "tesla", " TESLA ", "\ttesla", "Model 3", "model-3",
	"MODEL3", "AB-123 C",
	"ab123c", "--", "Z", "z", "é", "É", "Ägypten", "ägypten", "ß", "SS", "İstanbul", "istanbul", "K2", "k2",
	"ſ", "日本", "\u00a0x", "O'Brien \\ \"x\"", "true", "false", "10", "9", "1", "2026-01-01", "veh_1", "a\nb"}

// fillAtRandom puts records with random columns into the tables of listings, for two accounts.
func fillAtRandom(t *testing.T, db driver.Conn, seed uint64, n int) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	text := func() string { return awkwardTexts[random.IntN(len(awkwardTexts))] }
	list := func() []string {
		some := []string{}
		for range random.IntN(3) {
			some = append(some, text())
		}
		return some
	}
	instant := func() time.Time {
		return []time.Time{time.UnixMilli(0), day, day.Add(time.Millisecond), day.Add(-time.Hour)}[random.IntN(4)].UTC()
	}
	for _, l := range heldListings {
		columns := []string{"account", "id", "revision", "archived_at", "external_ids", "body"}
		written := writtenColumns(t, db, l.Table)
		var values []func() any
		for _, f := range l.Fields {
			column := f.Name
			if written[f.Column] {
				column = f.Column
			}
			if f.Join != "" || !written[column] {
				continue
			}
			columns = append(columns, column)
			switch f.Type {
			case query.NumberField:
				values = append(values, func() any { return uint16(random.IntN(12)) })
			case query.TimeField:
				values = append(values, func() any { return instant() })
			case query.TagsField:
				values = append(values, func() any { return list() })
			default:
				values = append(values, func() any { return text() })
			}
		}
		for _, name := range l.Search {
			if _, ok := l.Field(name); !ok {
				columns, values = append(columns, name), append(values, func() any { return text() })
			}
		}
		batch, err := db.PrepareBatch(t.Context(), "INSERT INTO "+l.Table+" ("+strings.Join(columns, ", ")+")")
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			account, id := uint64(7+i%10/9), uint64(1+random.IntN(n))
			var archived *time.Time
			if random.IntN(10) == 0 {
				archived = &day
			}
			row := []any{account, id, uint64(i + 1), archived, list(),
				fmt.Sprintf(`{"body":%d,"description":"","daily_rate":{"amount":%d,"currency":"USD"},"license_plate":%q}`, i, i,
					text())}
			for _, value := range values {
				row = append(row, value())
			}
			if err := batch.Append(row...); err != nil {
				t.Fatal(err)
			}
		}
		if err := batch.Send(); err != nil {
			t.Fatal(err)
		}
	}
}

// writtenColumns are those of a table that follow from no others.
func writtenColumns(t *testing.T, db driver.Conn, table string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	err := schemas.EachRow(t.Context(), db, "read columns",
		`SELECT name FROM system.columns
			WHERE database = currentDatabase() AND table = {table:String} AND default_kind != 'ALIAS'`,
		[]any{clickhouse.Named("table", table)}, func(row schemas.Row) error {
			var name string
			err := row.Scan(&name)
			all[name] = true
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// drawRequest draws what may be asked of a listing.
func drawRequest(t *rapid.T, l *query.Listing) query.ListRequest {
	text := rapid.SampledFrom(awkwardTexts)
	req := query.ListRequest{Account: 7, Limit: rapid.IntRange(1, 9).Draw(t, "limit"),
		Offset: max(0, rapid.IntRange(-8, 4).Draw(t, "offset"))}
	value := func(f query.ListField, name string) string {
		switch f.Type {
		case query.NumberField:
			return strconv.Itoa(rapid.IntRange(-1, 12).Draw(t, name))
		case query.TimeField:
			return day.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, name)) * time.Millisecond).Format(time.RFC3339Nano)
		}
		return text.Draw(t, name)
	}
	var plain []query.ListField
	for _, f := range l.Fields {
		if f.Join == "" {
			plain = append(plain, f)
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "filters") {
		f := rapid.SampledFrom(plain).Draw(t, "filter")
		op := "eq"
		if f.Range {
			op = rapid.SampledFrom([]string{"eq", "gt", "gte", "lt", "lte"}).Draw(t, "op")
		}
		filter := query.Filter{Field: f.Name, Op: op, Values: []string{value(f, "value")}}
		for op == "eq" && len(filter.Values) < 4 && rapid.Bool().Draw(t, "more") {
			filter.Values = append(filter.Values, value(f, "value"))
		}
		req.Filters = append(req.Filters, filter)
	}
	for range rapid.IntRange(0, 3).Draw(t, "keys") {
		f := rapid.SampledFrom(append(plain, query.ListField{Name: "id", Sort: true})).Draw(t, "key")
		known := slices.ContainsFunc(req.Sort, func(k query.SortKey) bool { return k.Field == f.Name || k.Field == "id" })
		if f.Sort && !known {
			req.Sort = append(req.Sort, query.SortKey{Field: f.Name, Desc: rapid.Bool().Draw(t, "desc")})
		}
	}
	switch rapid.IntRange(0, 9).Draw(t, "beside") {
	case 0, 1, 2:
		req.Search = text.Draw(t, "word") + " " + rapid.SampledFrom([]string{"", "", "s", "k", "i", "-3", "A"}).Draw(t, "q")
	case 3:
		req.Since = day.Add(-time.Minute)
	case 4:
		req.Ref = text.Draw(t, "ref")
	case 5:
		req.Only = &[]uint64{1, 2, 3, 5, 8, 13, 21}
	}
	return req
}

func TestMemoryAnswersAsTheStoreDoes(t *testing.T) {
	db := schematest.Open(t)
	fillAtRandom(t, db, 42, 120)
	held := map[*query.Listing][]*query.Held{}
	for _, l := range heldListings {
		err := l.EachHeld(t.Context(), db, query.HeldOf{Accounts: []uint64{7}},
			func(account fleet.AccountID, h *query.Held, archived bool) error {
				if account != 7 || archived {
					t.Errorf("%s %d of account %d, archived %v", l.Table, h.ID, account, archived)
				}
				held[l] = append(held[l], h)
				return nil
			})
		if err != nil || len(held[l]) < 30 {
			t.Fatalf("%s: %d in memory, %v", l.Table, len(held[l]), err)
		}
	}
	asked, answered, found := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		l := rapid.SampledFrom(heldListings).Draw(rt, "listing")
		req := drawRequest(rt, l)
		for page := 0; page < 3; page++ {
			q, ok, err := l.InMemory(req)
			if err != nil {
				rt.Fatal(err)
			}
			if asked++; !ok {
				return
			}
			var all []*query.Held
			for _, h := range held[l] {
				if q.Words() && h.Odd() {
					return
				}
				if q.Match(h) {
					all = append(all, h)
				}
			}
			slices.SortFunc(all, q.Compare)
			got := q.Page(all, req)
			want, err := query.List(t.Context(), db, l, req)
			if err != nil {
				rt.Fatal(err)
			}
			if answered++; len(want.Records) > 0 {
				found++
			}
			if !reflect.DeepEqual(got, want) {
				rt.Fatalf("%s %+v:\nmemory %+v\nstore  %+v", l.Table, req, got, want)
			}
			if req.After, req.Offset = want.Next, 0; req.After == nil {
				return
			}
		}
	})
	t.Logf("%d asked, %d answered from memory, %d with records", asked, answered, found)
	if answered*3 < asked || found*4 < answered {
		t.Errorf("of %d requests memory answered %d, %d with records: that tells little", asked, answered, found)
	}
}
