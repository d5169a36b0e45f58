package schemas_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// keptForGood are the tables with an account and a time from which no retention deletes, and why.
var keptForGood = map[string][]string{
	"the log and what is made of it": {"record_log", "claim_log", "record_settled", "accounts",
		"alert_acks", "alert_rules", "api_keys", "blocks", "bookings", "calendars", "customer_notes", "customers",
		"device_commands", "devices", "documents", "expenses", "geofences", "inspections", "issues", "jobs",
		"journal_entries", "locations", "oauth_clients", "oauth_grants",
		"maintenance_schedules", "meter_readings", "meters", "driver_tags", "payments", "quotes", "rate_plans",
		"recurring_costs", "reminders", "route_plans", "saved_reports", "service_tasks", "share_links", "tolls",
		"trip_drivers",
		"users", "vehicle_classes", "vehicles", "webhook_endpoints", "work_orders"},
	"the books": {"ledger_entries", "ledger_transactions", "ledger_days", "ledger_months", "ledger_flows"},
	"papers, as long as the law asks (persons go by keep_years)": {"papers", "paper_persons"},
	"facts, no places": {"vehicle_days", "rental_days", "vehicle_months", "vehicle_statuses", "fact_runs",
		"driving_days", "driving_months", "fleet_days", "rental_sums", "booking_sums", "tax_bases", "customer_sums"},
	"goes a day after it is done": {"pair_marks"},
	"a row a vehicle, its newest": {"vehicle_state", "vehicle_mileage", "telemetry_latest",
		"dirty_spans", "heard"},
	"goes after 30 or 90 days by itself": {"sessions", "job_input", "job_output", "job_errors", "webhook_deliveries",
		"webhook_attempts", "webhook_asked"},
	"a row an endpoint, its newest": {"webhook_health"},
	"counts of use and progress, no places": {"ingest_outcomes", "device_outcomes", "key_uses", "job_steps",
		"schedule_looks", "owner_share_looks"},
	"whose a tracker is":  {"device_owners"},
	"the retention's own": {"retention_cuts", "retention_keeps"},
}

func TestEveryTableWithAnAccountAndATimeIsRetainedOrKept(t *testing.T) {
	db := schematest.Open(t)
	var decided []string
	for _, r := range schemas.Retention {
		decided = append(decided, r.Table)
	}
	for _, tables := range keptForGood {
		decided = append(decided, tables...)
	}
	slices.Sort(decided)
	var found []string
	row := db.QueryRow(t.Context(), `SELECT arraySort(groupUniqArray(c.table)) FROM system.columns AS c
		INNER JOIN system.tables AS t ON t.database = c.database AND t.name = c.table
		WHERE c.database = currentDatabase() AND t.engine LIKE '%MergeTree' AND c.type LIKE '%Date%'
			AND c.table IN (SELECT table FROM system.columns WHERE database = currentDatabase() AND name = 'account')`)
	if err := row.Scan(&found); err != nil {
		t.Fatal(err)
	}
	for _, table := range found {
		if !slices.Contains(decided, table) {
			t.Errorf("%s has an account and a time: say in schemas.Retention or here whether old rows go", table)
		}
	}
	for i, table := range decided {
		if i > 0 && table == decided[i-1] || !slices.Contains(found, table) {
			t.Errorf("%s is listed twice, or there is no such table", table)
		}
	}
}

// held counts the rows of a table by account and day.
func held(t *testing.T, db driver.Conn, r schemas.Retained) map[string]uint64 {
	t.Helper()
	text := "SELECT concat(toString(account), ' ', toString(toDate(%s))), count() FROM %s FINAL GROUP BY 1"
	all := map[string]uint64{}
	err := schemas.EachRow(t.Context(), db, "count rows by day", fmt.Sprintf(text, r.Time, r.Table), nil,
		func(row schemas.Row) error {
			var name string
			var n uint64
			if err := row.Scan(&name, &n); err != nil {
				return err
			}
			all[name] = n
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Account 1 keeps 30 days, 2 keeps everything, 3 keeps 60 days.
func TestRetentionDeletesWhatIsOlderAndNothingElse(t *testing.T) {
	db := schematest.Open(t)
	exec := func(text string, args ...any) {
		t.Helper()
		if err := db.Exec(t.Context(), text, args...); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	now := time.Now().UTC()
	cut := now.Truncate(24*time.Hour).AddDate(0, 0, -30)
	old, older, recent := cut.Add(-time.Hour), cut.AddDate(0, 0, -100), cut.Add(time.Hour)
	exec("INSERT INTO accounts (account, id, revision, retention_days) VALUES (1, 1, 1, 30), (2, 2, 1, 0), (3, 3, 1, 60)")
	// each is the rows of four accounts, 0 being nobody's, at three times.
	each := fmt.Sprintf("(SELECT number AS account, "+
		"fromUnixTimestamp64Milli(arrayJoin([%d, %d, %d]), 'UTC') AS at FROM numbers(4))",
		old.UnixMilli(), older.UnixMilli(), recent.UnixMilli())
	exec("INSERT INTO positions (account, vehicle, fix_time, received_at) SELECT account, 5, at, now64(3) FROM " + each)
	exec("INSERT INTO telemetry (account, vehicle, signal, time, value) SELECT account, 5, 'soc_pct', at, 50 FROM " + each)
	exec("INSERT INTO tag_reports (account, vehicle, time, tag) SELECT account, 5, at, '1A2B' FROM " + each)
	exec("INSERT INTO geofence_days (account, local_date, vehicle, geofence, stays) SELECT account, toDate32(at), 5, 6, 1 FROM " + each)
	exec("INSERT INTO events (account, sequence, at, noted_at) " +
		"SELECT account, toUnixTimestamp64Milli(at), at, now64(3) FROM " + each)
	exec("INSERT INTO heard_hours (account, device, hour, minutes) SELECT account, 5, at, 1 FROM " + each)
	exec("INSERT INTO credential_audit (account, at, credential, act) SELECT account, at, 'key_5', 'used' FROM " + each)
	exec("INSERT INTO checkpoints (account, vehicle, day, version, at) SELECT account, 5, toDate(at), 1, at FROM " + each)
	exec("INSERT INTO vehicle_state (account, vehicle, version, fix_time) " +
		"SELECT account, toUnixTimestamp64Milli(at), 1, at FROM " + each)
	exec("INSERT INTO meters (account, vehicle, recorded_at) SELECT account, 5, at FROM " + each)
	exec("INSERT INTO dead_letters (account, id, at) " + // of which none lives 90 days
		"SELECT account, 5, at FROM (SELECT account, greatest(at, now64(3) - toIntervalDay(80)) AS at FROM " + each + ")")
	derived := "INSERT INTO derivations (account, vehicle, kind, id, revision, start_at, end_at, open, written_at) "
	for _, open := range []string{"true", "false"} { // a part each: what was open once must not come to light again
		exec(derived + fmt.Sprintf("SELECT account, 5, "+
			"arrayJoin(['trip', 'stop', 'charge', 'visit', 'driving_event', 'alert', 'route_run']) AS kind, cityHash64(at, kind), if(%s, 1, 2), at, at, %[1]s, now64(3) FROM %[2]s", open, each))
	}
	exec(derived+"SELECT number, 5, 'trip', 77, 1, $1, $2, false, now64(3) FROM numbers(4)", old, recent)
	exec(derived+"SELECT number, 6, 'stop', 78, 1, $1, $1, true, now64(3) FROM numbers(4)", older)
	before := map[string]map[string]uint64{}
	for _, r := range schemas.Retention {
		before[r.Table] = held(t, db, r)
	}
	mutations := func() (n uint64) {
		t.Helper()
		row := db.QueryRow(t.Context(), "SELECT count() FROM system.mutations WHERE database = currentDatabase()")
		if err := row.Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	retain := func() {
		t.Helper()
		if err := schemas.Retain(t.Context(), db, now); err != nil {
			t.Fatal(err)
		}
	}
	var both errgroup.Group
	for range 2 { // processes
		both.Go(func() error { return schemas.Retain(t.Context(), db, now) })
	}
	if err := both.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, r := range schemas.Retention {
		want := maps.Clone(before[r.Table])
		for name := range want {
			var account int
			var day string
			fmt.Sscan(name, &account, &day)
			limit := map[int]time.Time{1: cut, 3: cut.AddDate(0, 0, -30)}[account]
			if day < limit.Format(time.DateOnly) {
				delete(want, name)
			}
			for at, kept := range map[time.Time]string{old: "derivations trips checkpoints", older: "derivations stops"} {
				if account == 1 && day == at.Format(time.DateOnly) && strings.Contains(kept, r.Table) {
					want[name] = 1
				}
			}
			if account == 3 && day == older.Format(time.DateOnly) && strings.Contains("derivations stops checkpoints", r.Table) {
				want[name] = 1
			}
		}
		if got := held(t, db, r); !maps.Equal(got, want) || len(before[r.Table]) < 8 {
			t.Errorf("%s holds %v, want %v of %v", r.Table, got, want, before[r.Table])
		}
	}
	for _, table := range []string{"vehicle_state", "meters"} {
		var n uint64
		if err := db.QueryRow(t.Context(), "SELECT count() FROM "+table+" WHERE account = 1").Scan(&n); err != nil || n != 3 {
			t.Errorf("%d rows of %s, %v", n, table, err)
		}
	}
	if lacking := torn(t, db); len(lacking) != 0 {
		t.Errorf("%v are said to lack something", lacking)
	}
	if err := schemas.FillViews(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	done := mutations()
	exec("INSERT INTO positions (account, vehicle, fix_time, received_at) SELECT 1, 5, $1, now64(3)", old)
	retain()
	if again := mutations(); again != done || done == 0 {
		t.Errorf("%d mutations after a second turn of the same day, %d before", again, done)
	}
	now = now.AddDate(0, 0, 1)
	retain()
	for _, table := range []string{"positions", "positions_by_cell"} {
		var n uint64
		row := db.QueryRow(t.Context(), "SELECT count() FROM "+table+" WHERE account = 1 AND fix_time < $1",
			cut.Add(24*time.Hour))
		if err := row.Scan(&n); err != nil || n != 0 {
			t.Errorf("%d rows of %s the day after, %v", n, table, err)
		}
	}
}

// A server that is told of the deletion and dies, or a process that does, leaves a turn that the next one ends.
func TestARetentionThatWasCutShortIsFinished(t *testing.T) {
	db := schematest.Open(t)
	for _, text := range []string{
		"INSERT INTO accounts (account, id, revision, retention_days) VALUES (1, 1, 1, 30)",
		"INSERT INTO positions (account, vehicle, fix_time) SELECT 1, 5, now64(3) - toIntervalDay(40)",
		"INSERT INTO retention_cuts (account, done, cut_at) SELECT 1, false, now64(3) - toIntervalDay(30)",
		"ALTER TABLE positions DELETE WHERE account = 1",
	} {
		if err := db.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	var done bool
	if err := schemas.Retain(t.Context(), db, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow(t.Context(), "SELECT max(done) FROM retention_cuts").Scan(&done); err != nil || !done {
		t.Errorf("%t, %v", done, err)
	}
}
