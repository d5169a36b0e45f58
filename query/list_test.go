package query_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// putVehicle writes one revision of a vehicle's log, as api/record does.
func putVehicle(t *testing.T, db driver.Conn, account, id, revision uint64, at time.Time, archived bool,
	body map[string]any) {
	t.Helper()
	putRecord(t, db, "vehicle", account, id, revision, at, archived, body)
}

// putRecord writes one revision of a record's log.
func putRecord(t *testing.T, db driver.Conn, kind string, account, id, revision uint64, at time.Time, archived bool,
	body map[string]any) {
	t.Helper()
	logRecord(t, db, kind, account, id, revision, at, archived, body)
	if err := schemas.Fill(t.Context(), db, kind); err != nil {
		t.Fatal(err)
	}
}

// logRecord is putRecord without bringing the record to its table: for several that schemas.Fill brings at once.
func logRecord(t *testing.T, db driver.Conn, kind string, account, id, revision uint64, at time.Time, archived bool,
	body map[string]any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	var archivedAt *time.Time
	if archived {
		archivedAt = &at
	}
	batch, err := db.PrepareBatch(t.Context(),
		"INSERT INTO record_log (account, kind, id, revision, at, created_at, archived_at, body)")
	if err != nil {
		t.Fatal(err)
	}
	if err := batch.Append(account, kind, id, revision, at, at, archivedAt, string(text)); err != nil {
		t.Fatal(err)
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
}

var day = time.Date(2026, 1, 1, 12, 0, 0, 123e6, time.UTC)

func ids(page query.ListPage) string {
	var parts []string
	for _, r := range page.Records {
		parts = append(parts, strconv.FormatUint(r.ID, 10))
	}
	return strings.Join(parts, " ")
}

func TestVehiclesAreListedByWhatIsAskedFor(t *testing.T) {
	db := schematest.Open(t)
	awkward := "O'Brien \\ \"x\" \t\n{id:UInt64} -- ü"
	put := func(id uint64, body map[string]any) {
		putVehicle(t, db, 7, id, 1, day.Add(time.Duration(id)*time.Hour), false, body)
	}
	put(1, map[string]any{"make": "Tesla", "model": "Model 3", "year": 2022, "status": "available", "vin": "V1",
		"tags": []string{"ev", "blue"}})
	put(2, map[string]any{"make": "Tesla", "model": "Model Y", "year": 2024, "status": "maintenance", "vin": "V2",
		"tags": []string{"ev"}})
	put(3, map[string]any{"make": "VW", "model": "Tiguan", "year": 2020, "status": "available", "nickname": awkward,
		"external_refs": []map[string]string{{"system": "turo", "id": "T'3"}}})
	put(4, map[string]any{"make": "Audi", "model": "A3", "year": 2020, "status": "available"})
	putVehicle(t, db, 7, 4, 2, day.Add(48*time.Hour), true,
		map[string]any{"make": "Audi", "model": "A3", "year": 2020, "status": "retired"})
	putVehicle(t, db, 8, 5, 1, day, false, map[string]any{"make": "Tesla", "model": "Model 3", "year": 2022})

	tests := map[string]struct {
		req   query.ListRequest
		want  string
		total int
	}{
		"everything":    {query.ListRequest{}, "1 2 3", 3},
		"archived only": {query.ListRequest{Archived: "true"}, "4", 1},
		"archived too":  {query.ListRequest{Archived: "all"}, "1 2 3 4", 4},
		"one make":      {query.ListRequest{Filters: []query.Filter{{"make", "eq", []string{"Tesla"}}}}, "1 2", 2},
		"two statuses": {
			query.ListRequest{Filters: []query.Filter{{"status", "eq", []string{"maintenance", "available"}}}}, "1 2 3", 3},
		"a range": {query.ListRequest{Filters: []query.Filter{{"year", "gt", []string{"2020"}},
			{"year", "lte", []string{"2022"}}}}, "1", 1},
		"a range of times": {
			query.ListRequest{Filters: []query.Filter{{"created_at", "gte", []string{"2026-01-01T14:00:00.123Z"}}}}, "2 3", 2},
		"a tag":               {query.ListRequest{Filters: []query.Filter{{"tags", "eq", []string{"blue", "red"}}}}, "1", 1},
		"awkward text":        {query.ListRequest{Filters: []query.Filter{{"nickname", "eq", []string{awkward}}}}, "3", 1},
		"a reference":         {query.ListRequest{Ref: "T'3"}, "3", 1},
		"words":               {query.ListRequest{Search: "model tesla"}, "1 2", 2},
		"words of a nickname": {query.ListRequest{Search: "o'brien Ü"}, "3", 1},
		"changed since":       {query.ListRequest{Since: day.Add(2 * time.Hour)}, "2 3", 2},
		"newest first":        {query.ListRequest{Sort: []query.SortKey{{"created_at", true}}}, "3 2 1", 3},
		"by year, then newest": {query.ListRequest{Archived: "all",
			Sort: []query.SortKey{{"year", false}, {"created_at", true}}}, "4 3 1 2", 4},
		"second page": {query.ListRequest{Offset: 2}, "3", 3},
	}
	for name, test := range tests {
		test.req.Account, test.req.Limit = 7, 10
		page, err := query.List(t.Context(), db, &query.Vehicles, test.req)
		if err != nil || ids(page) != test.want || page.Total != test.total || page.Next != nil {
			t.Errorf("%s: %q of %d, next %v, %v; want %q of %d", name, ids(page), page.Total, page.Next, err,
				test.want, test.total)
		}
	}
	for name, req := range map[string]query.ListRequest{
		"unknown field":   {Filters: []query.Filter{{"body", "eq", []string{"x"}}}},
		"unknown op":      {Filters: []query.Filter{{"year", "like", []string{"2"}}}},
		"no range":        {Filters: []query.Filter{{"make", "gt", []string{"A"}}}},
		"not a number":    {Filters: []query.Filter{{"year", "eq", []string{"new"}}}},
		"unknown sort":    {Sort: []query.SortKey{{"id; DROP TABLE vehicles", false}}},
		"unsortable":      {Sort: []query.SortKey{{"tags", false}}},
		"foreign cursor":  {After: []string{"a", "1"}},
		"broken cursor":   {After: []string{"x"}},
		"broken sort key": {Sort: []query.SortKey{{"year", false}}, After: []string{"x", "1"}},
	} {
		req.Account, req.Limit = 7, 10
		if _, err := query.List(t.Context(), db, &query.Vehicles, req); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Whatever the order, following the cursor shows every vehicle once, in the same order as one long page.
func TestACursorVisitsEveryVehicleOnce(t *testing.T) {
	db := schematest.Open(t)
	for id := uint64(1); id <= 23; id++ {
		putVehicle(t, db, 7, id, 1, day.Add(time.Duration(id%4)*time.Hour), false,
			map[string]any{"make": "m'\\" + strconv.Itoa(int(id%3)), "year": 2000 + id%5})
	}
	for _, sort := range [][]query.SortKey{
		nil, {{"id", true}}, {{"make", false}}, {{"make", true}}, {{"year", true}, {"make", false}},
		{{"created_at", true}, {"year", false}, {"make", true}},
	} {
		req := query.ListRequest{Account: 7, Sort: sort, Limit: 100}
		whole, err := query.List(t.Context(), db, &query.Vehicles, req)
		if err != nil || len(whole.Records) != 23 {
			t.Fatalf("%v: %d records, %v", sort, len(whole.Records), err)
		}
		var got []string
		req.Limit = 5
		for pages := 0; pages < 10; pages++ {
			page, err := query.List(t.Context(), db, &query.Vehicles, req)
			if err != nil || page.Total != 23 {
				t.Fatalf("%v: total %d, %v", sort, page.Total, err)
			}
			got = append(got, ids(page))
			if page.Next == nil {
				break
			}
			req.After = page.Next
		}
		if strings.Join(got, " ") != ids(whole) {
			t.Errorf("%v: by cursor %v, at once %s", sort, got, ids(whole))
		}
	}
}

// The total is the same on every page, by cursor, and behind the last, whether it is counted with the page, as what few
// records have (an id, an instant of one month, that they are not over), or apart.
func TestEveryPageTellsTheTotal(t *testing.T) {
	db := schematest.Open(t)
	const instant = time.RFC3339Nano
	for n := range uint64(13) {
		putRecord(t, db, "customer_note", 7, n+1, 1, day, false,
			map[string]any{"customer_id": fmt.Sprintf("cus_%d", min(n, 1)), "text": "note"})
		from := day.Add(time.Duration(n) * time.Hour)
		status := "confirmed"
		if n == 0 {
			status = "completed"
		}
		putRecord(t, db, "booking", 7, n+1, 1, day, false, map[string]any{"status": status,
			"pickup_at": from.Format(instant), "return_at": from.Add(time.Hour).Format(instant), "timezone": "UTC"})
	}
	at := func(since time.Duration) []string { return []string{day.Add(since).Format(instant)} }
	for _, of := range []struct {
		l       *query.Listing
		filters []query.Filter
	}{
		{&query.CustomerNotes, []query.Filter{{"customer_id", "eq", []string{"cus_1"}}}},
		{&query.Bookings, []query.Filter{{"pickup_at", "gte", at(time.Hour)}, {"pickup_at", "lt", at(24 * time.Hour)}}},
		{&query.Bookings, []query.Filter{{"pickup_at", "lte", at(40 * 24 * time.Hour)}, {"pickup_at", "gt", at(0)}}},
		{&query.Bookings, []query.Filter{{"status", "eq", []string{"active", "confirmed"}}}},
	} {
		req := query.ListRequest{Account: 7, Filters: of.filters, Limit: 5}
		for _, want := range []struct{ offset, records int }{{0, 5}, {5, 5}, {10, 2}, {12, 0}, {50, 0}} {
			req.Offset = want.offset
			page, err := query.List(t.Context(), db, of.l, req)
			if err != nil || len(page.Records) != want.records || page.Total != 12 {
				t.Errorf("%v from %d: %d of %d, %v", of.filters, want.offset, len(page.Records), page.Total, err)
			}
		}
		req.Offset = 0
		for pages := 1; pages < 10; pages++ {
			page, err := query.List(t.Context(), db, of.l, req)
			if err != nil || page.Total != 12 {
				t.Fatalf("%v page %d: total %d, %v", of.filters, pages, page.Total, err)
			}
			if req.After = page.Next; req.After == nil {
				break
			}
		}
	}
}

// listings are those of all kinds of records.
var listings = []*query.Listing{
	&query.Vehicles, &query.Devices, &query.APIKeys, &query.Geofences, &query.AlertRules, &query.Jobs,
	&query.Bookings, &query.Customers, &query.CustomerNotes, &query.Documents, &query.Tolls, &query.ServiceTasks,
	&query.Schedules, &query.Reminders, &query.WorkOrders, &query.Issues, &query.Inspections, &query.VehicleClasses,
	&query.Locations, &query.RatePlans, &query.Quotes, &query.Payments, &query.Expenses, &query.MeterReadings,
	&query.DeviceCommands, &query.Blocks, &query.RoutePlans, &query.DriverTags, &query.Papers,
}

// Every listing names what its table has: each of its fields can be filtered and sorted by, compared if it says so,
// and words sought.
func TestEveryListingRuns(t *testing.T) {
	db := schematest.Open(t)
	values := map[query.FieldType]string{query.TextField: "x", query.NumberField: "1",
		query.TimeField: "2026-01-01T00:00:00Z", query.TagsField: "x",
		query.WordsField: "x", query.CodeField: "x"}
	for _, l := range listings {
		req := query.ListRequest{Account: 7, Archived: "all", Search: "some words",
			Related: []string{"customers", "vehicles", "bookings"}, Ref: "x", Only: &[]uint64{1, 2}, Limit: 10}
		for _, f := range l.Fields {
			ops := []string{"eq"}
			if f.Range {
				ops = append(ops, "gt", "gte", "lt", "lte")
			}
			for _, op := range ops {
				req.Filters = append(req.Filters, query.Filter{Field: f.Name, Op: op, Values: []string{values[f.Type]}})
			}
			if f.Sort {
				req.Sort = append(req.Sort, query.SortKey{Field: f.Name, Desc: len(req.Sort)%2 == 1})
				req.After = append(req.After, values[f.Type])
			}
		}
		req.After = append(req.After, "1")
		if page, err := query.List(t.Context(), db, l, req); err != nil || page.Total != 0 {
			t.Errorf("%s: %d records, %v", l.Table, page.Total, err)
		}
		if records, err := query.RecordsByID(t.Context(), db, l, 7, []uint64{1}); err != nil || len(records) != 0 {
			t.Errorf("%s by id: %d records, %v", l.Table, len(records), err)
		}
	}
}

func TestListsReadOnlyTheirAccountsPartOfTheTable(t *testing.T) {
	db := schematest.Open(t)
	batch, err := db.PrepareBatch(t.Context(),
		"INSERT INTO record_log (account, kind, id, revision, at, created_at, body)")
	if err != nil {
		t.Fatal(err)
	}
	for id := range uint64(100_000) {
		if err := batch.Append(id/1000, "vehicle", id+1, uint64(1), day, day, `{"make":"Tesla"}`); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(batch.Send(), schemas.Fill(t.Context(), db, "vehicle")); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]any{
		"records_by_id": {clickhouse.Named("account", uint64(7)), clickhouse.Named("ids", []uint64{7001, 7002})},
		"records_list": {clickhouse.Named("account", uint64(7)), clickhouse.Named("archived", ""),
			clickhouse.Named("since", int64(0)), clickhouse.Named("ref", ""), clickhouse.Named("words", []string{}),
			clickhouse.Named("bare", []string{}), clickhouse.Named("limit", uint32(26)), clickhouse.Named("offset", uint32(0)),
			clickhouse.Named("narrowed", uint8(0)), clickhouse.Named("ids", []uint64{})},
	} {
		text := strings.NewReplacer("/*table*/", "vehicles", "/*search*/", "make", "/*total*/",
			"-1").Replace(schemas.Query(name))
		var plan []string
		err := schemas.EachRow(t.Context(), db, "explain a list", "EXPLAIN indexes = 1 "+text, args,
			func(row schemas.Row) error {
				var line string
				if err := row.Scan(&line); err != nil {
					return err
				}
				plan = append(plan, strings.TrimSpace(line))
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s:\n%s", name, strings.Join(plan, "\n"))
		if !slices.ContainsFunc(plan, func(line string) bool {
			var some, all int
			n, _ := fmt.Sscanf(line, "Granules: %d/%d", &some, &all)
			return n == 2 && all > 5 && some <= 2
		}) {
			t.Errorf("%s reads more than its part of the table", name)
		}
	}
}
