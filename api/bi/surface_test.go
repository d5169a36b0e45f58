package bi_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/api/bi"
	"github.com/motorpool/fleet/schemas"
)

// Every view answers a user with exactly the rows of their account, and every column that the user has a right to is
// one that a view reads.
func TestEveryViewShowsOnesOwnRows(t *testing.T) {
	s := open(t)
	for _, v := range schemas.Surface() {
		want := fmt.Sprint(mineRows)
		if v.Name == "ledger_accounts" {
			want = fmt.Sprint(mineRows * chartLength(t, s))
		}
		sql := fmt.Sprintf("SELECT count() FROM bi.%s WHERE NOT ignore(*)", v.Name)
		for user, seen := range map[string]string{"bi_mine": want, "bi_other": ""} {
			status, text := s.ask(t, user, nil, sql)
			if text = strings.TrimSpace(text); status != 200 || seen != "" && text != seen || text == "0" {
				t.Errorf("%s sees %s of %s, want %s: %d", user, text, v.Name, seen, status)
			}
		}
		for _, column := range v.Reads {
			_, body, _ := strings.Cut(v.SQL, "SQL SECURITY")
			if !regexp.MustCompile(`\b`+column+`\b`).MatchString(body) && column != "account" {
				t.Errorf("%s says that it reads %s, and does not", v.Name, column)
			}
		}
	}
}

func chartLength(t *testing.T, s *server) int {
	t.Helper()
	var n uint64
	err := s.db.QueryRow(t.Context(), "SELECT uniqExact(ledger_account) FROM bi.ledger_accounts").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

// What tells who somebody is or where renters drove is in no column that a user has a right to.
func TestNoRightReachesWhatIsPersonal(t *testing.T) {
	personal := regexp.MustCompile(`^(body|vin|driver_ids|name_.*|.*_lat|.*_lng|lat|lng|lat7|lng7|cell|email|phone|` +
		`description|vendor|assignee|title|plate|reference|provider_ref|external_ids|listed_customer_ids|line1)$`)
	kept := []string{"customers", "customer_notes", "documents", "document_files", "positions", "positions_by_cell",
		"record_log", "claim_log", "api_keys", "events", "derivations", "tag_reports", "vehicle_state"}
	for _, r := range bi.Rights("motorpool") {
		if r.Database == "motorpool" && (len(r.Columns) == 0 || slices.Contains(kept, r.Table)) {
			t.Errorf("a right to all of %s", r.Table)
		}
		for _, column := range r.Columns {
			if personal.MatchString(column) {
				t.Errorf("a right to %s.%s", r.Table, column)
			}
		}
	}
}

// Money is exact in units of its currency, however many digits that has.
func TestMoneyHasTheDigitsOfItsCurrency(t *testing.T) {
	s := open(t)
	var text string
	err := s.db.QueryRow(t.Context(), `
		SELECT arrayStringConcat(arraySort(groupArray(concat(currency, ' ', toString(amount)))), ', ') FROM (
			SELECT currency, amount FROM bi.tolls WHERE toll_id IN ('tol_501', 'tol_502', 'tol_503'))`).Scan(&text)
	if err != nil || text != "" {
		t.Fatal(err, text)
	}
	insert := `INSERT INTO motorpool.tolls (account, id, revision, currency, amount) VALUES
		(9, 501, 1, 'USD', -123456789012345678), (9, 502, 1, 'JPY', 1234), (9, 503, 1, 'KWD', 1)`
	if err := s.db.Exec(t.Context(), insert); err != nil {
		t.Fatal(err)
	}
	err = s.db.QueryRow(t.Context(), `
		SELECT arrayStringConcat(arraySort(groupArray(concat(currency, ' ', toString(amount)))), ', ')
		FROM bi.tolls WHERE account_id = 'acc_9'`).Scan(&text)
	if err != nil || text != "JPY 1234, KWD 0.001, USD -1234567890123456.78" {
		t.Error(text, err)
	}
}

// Each table of the server is refused, or shows the views and what is the same for everybody. So a new version of the
// engine with a table that tells more does not pass.
func TestTablesOfTheServerTellNothing(t *testing.T) {
	s := open(t)
	// What a server tells everybody about itself: its functions, formats, settings, and who one is.
	same := strings.Fields(`
		aggregate_function_combinators build_options codecs collations completions contributors current_roles
		data_skipping_index_types data_type_families database_engines dictionary_layouts dictionary_sources
		disk_types documentation enabled_roles formats functions graphite_retentions keywords licenses
		merge_tree_settings one privileges quota_usage replicated_merge_tree_settings settings
		settings_changes table_engines table_functions time_zones tokenizers unicode user_defined_functions`)
	listed := []string{"columns", "databases", "tables"}
	names, err := schemas.AllRows(t.Context(), s.db, "list tables",
		"SELECT name FROM system.tables WHERE database = 'system'", nil,
		func(name *string, row schemas.Row) error { return row.Scan(name) })
	if err != nil || len(names) < 80 {
		t.Fatal(len(names), err)
	}
	for _, name := range names {
		status, text := s.ask(t, "bi_mine", nil, "SELECT * FROM system."+name+" LIMIT 100")
		if found := marked.FindString(text); found != "" {
			t.Errorf("system.%s tells %q", name, found)
		}
		if status == 200 && strings.TrimSpace(text) != "" && !slices.Contains(same, name) && !slices.Contains(listed, name) {
			t.Errorf("system.%s is open: %.200s", name, text)
		}
	}
}

// The function of a table that needs no right is known to the test, or refused as it stands.
func TestFunctionsOfTablesAreKnown(t *testing.T) {
	s := open(t)
	known := strings.Fields(`
		numbers numbers_mt zeros zeros_mt primes values SQLStandardValues null view viewIfPermitted
		generateSeries generate_series generateRandom fuzzJSON input merge cluster clusterAllReplicas format`)
	forbidden := []string{"mergeTreeIndex", "mergeTreeProjection", "mergeTreeTextIndex", "mergeTreeAnalyzeIndexes",
		"mergeTreeAnalyzeIndexesUUID", "eval", "fuzzQuery", "file"}
	names, err := schemas.AllRows(t.Context(), s.db, "list functions",
		"SELECT name FROM system.table_functions WHERE allow_readonly OR name = 'file'", nil,
		func(name *string, row schemas.Row) error { return row.Scan(name) })
	if err != nil || len(names) < 15 {
		t.Fatal(len(names), err)
	}
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		if !slices.Contains(forbidden, name) {
			t.Errorf("nobody has looked at the function %s", name)
		}
		if status, text := s.ask(t, "bi_mine", nil, "SELECT * FROM "+name+"('motorpool', 'payments')"); status != 403 {
			t.Errorf("%s passes the gate: %d %.200s", name, status, text)
		}
	}
}

// Who gives no password, a wrong one or the name of the program's own user does not come in.
func TestTheGateOpensForItsGuestsAlone(t *testing.T) {
	s := open(t)
	for _, params := range []url.Values{
		{"user": {"motorpool"}, "password": {"app"}},
		{"user": {"default"}},
		{},
	} {
		status, text := s.askWith(t, "", "", params, "SELECT 1")
		if status != 401 {
			t.Errorf("%v: %d %s", params, status, text)
		}
	}
	if status, _ := s.askWith(t, "bi_mine", "of the engine", nil, "SELECT 1"); status != 401 {
		t.Errorf("the engine's own password is taken: %d", status)
	}
	// Nor do they come in past the gate.
	for _, word := range []string{password, ""} {
		db, err := clickhouse.Open(&clickhouse.Options{Addr: []string{s.engine.Addr()},
			Auth: clickhouse.Auth{Username: "bi_mine", Password: word}})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Ping(t.Context()); err == nil {
			t.Errorf("%q opens the native port", word)
		}
		_ = db.Close()
	}
}

// A view that reads with the rights of its maker, a table among the views, a view that is gone and a right without a
// policy are found.
func TestAuditFindsWhatIsOpen(t *testing.T) {
	s := open(t)
	if wrong, err := bi.Audit(t.Context(), s.db, "nothing"); !errors.Is(err, bi.ErrNoViews) {
		t.Errorf("where no view stands: %q, %v", wrong, err)
	}
	audit := func() []string {
		t.Helper()
		wrong, err := bi.Audit(t.Context(), s.db, "motorpool")
		if err != nil {
			t.Fatal(err)
		}
		return wrong
	}
	open := []string{"bi_open reads motorpool.bookings without a policy", "bi_open reads elsewhere.* without a policy"}
	slices.Sort(open)
	if wrong := audit(); !slices.Equal(wrong, open) {
		t.Errorf("at first: %q", wrong)
	}
	for _, statement := range []string{
		"CREATE OR REPLACE VIEW bi.trips SQL SECURITY DEFINER AS SELECT * FROM motorpool.trips",
		"CREATE TABLE bi.copy ENGINE = Memory AS SELECT 1 AS x",
		"DROP VIEW bi.stops",
	} {
		if err := s.db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	want := append([]string{
		"bi.copy is not of Motorpool and has no policy",
		"bi.stops is missing",
		"bi.trips is no view that reads with the rights of its reader",
	}, open...)
	if wrong := audit(); !slices.Equal(wrong, want) {
		t.Errorf("found %q", wrong)
	}
	if err := s.db.Exec(t.Context(), "DROP TABLE bi.copy SYNC"); err != nil {
		t.Fatal(err)
	}
	if err := bi.Apply(t.Context(), s.db, "motorpool"); err != nil {
		t.Fatal(err)
	}
	if wrong := audit(); !slices.Equal(wrong, open) {
		t.Errorf("after the views were made again: %q", wrong)
	}
}

// What somebody else keeps by the name of a view is not replaced.
func TestATableByTheNameOfAViewIsLeft(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	for _, statement := range []string{"CREATE DATABASE other", "CREATE DATABASE other_bi",
		"CREATE TABLE other_bi.trips ENGINE = Memory AS SELECT 1 AS x"} {
		if err := s.db.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	err := bi.Apply(ctx, s.db, "other")
	var x uint8
	if readErr := s.db.QueryRow(ctx, "SELECT x FROM other_bi.trips").Scan(&x); err == nil || readErr != nil || x != 1 {
		t.Errorf("%v, %v, %d", err, readErr, x)
	}
}

// The statements for a server are understood by the engine, which has no place for users of its own, so that each ends
// with an error about users, and none with one about its words.
func TestStatementsAreUnderstood(t *testing.T) {
	s := open(t)
	all := bi.Statements("motorpool", "bi_new", sha("x"), mine)
	all = append(all, bi.Rotation("bi_new", sha("y"))...)
	all = append(all, bi.Removal("motorpool", "bi_new")...)
	for _, statement := range all {
		var refused *clickhouse.Exception
		err := s.db.Exec(t.Context(), statement)
		if err != nil && (!asException(err, &refused) || !slices.Contains([]int32{180, 192, 511, 514, 495}, refused.Code)) {
			t.Errorf("%.120s: %v", statement, err)
		}
	}
	last := bi.Statements("motorpool", "bi_new", sha("x"), mine)
	for _, p := range bi.Policies("motorpool", mine) {
		on := p.Database + "." + p.Table + " FOR SELECT USING "
		for _, want := range []string{
			"CREATE ROW POLICY OR REPLACE bi_new ON " + on + p.Where + " AS RESTRICTIVE TO bi_new",
			"CREATE ROW POLICY OR REPLACE bi_others ON " + on + "1 AS PERMISSIVE TO ALL",
		} {
			if !slices.Contains(last, want) {
				t.Errorf("nobody says %s", want)
			}
		}
	}
	if !strings.HasSuffix(last[1], "HOST NONE SETTINGS PROFILE 'bi_profile'") ||
		last[len(last)-1] != "ALTER USER bi_new HOST ANY" {
		t.Error("the user can come in before all policies stand")
	}
}

// A permissive policy of a user is none where another shows everybody all rows; a restrictive one is.
func TestAuditDemandsRestrictivePolicies(t *testing.T) {
	s := open(t)
	for _, statement := range []string{
		"CREATE DATABASE made",
		"CREATE TABLE made.row_policies ENGINE = Memory AS SELECT * FROM system.row_policies WHERE false",
		"CREATE TABLE made.grants ENGINE = Memory AS SELECT * FROM system.grants WHERE false",
		`INSERT INTO made.grants (user_name, access_type, database, table)
			SELECT arrayJoin(['bi_a', 'bi_b']), 'SELECT', 'bi', arrayJoin(['strict', 'loose', 'own', 'void', 'none'])`,
	} {
		if err := s.db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []string{
		"'strict', 'account = 7', 1, 0, ['bi_a']", "'strict', 'account = 8', 1, 0, ['bi_b']", "'strict', '1', 0, 1, []",
		"'loose', 'account = 7', 1, 0, ['bi_a']", "'loose', 'account = 8', 0, 0, ['bi_b']", "'loose', '1', 0, 1, []",
		"'own', 'account = 7', 0, 0, ['bi_a']", "'own', 'account = 8', 0, 0, ['bi_b']",
		"'void', '1', 1, 0, ['bi_a']", "'void', 'account = 8', 0, 0, ['bi_b']", "'void', '1', 0, 0, ['somebody']",
	} {
		insert := "INSERT INTO made.row_policies (database, table, select_filter, is_restrictive, apply_to_all, apply_to_list) " +
			"SELECT 'bi', " + row
		if err := s.db.Exec(t.Context(), insert); err != nil {
			t.Fatal(err)
		}
	}
	got, err := schemas.AllRows(t.Context(), s.db, "look at made-up rows",
		strings.ReplaceAll(schemas.Query("bi_unguarded"), "system.", "made."), []any{clickhouse.Named("prefix", "bi_")},
		func(what *string, row schemas.Row) error { return row.Scan(what) })
	want := []string{"bi_a reads bi.none", "bi_a reads bi.void", "bi_b reads bi.loose", "bi_b reads bi.none",
		"bi_b reads bi.void"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if err := s.db.Exec(t.Context(), "DROP DATABASE made SYNC"); err != nil {
		t.Fatal(err)
	}
}

func TestNamesOfUsers(t *testing.T) {
	for given, want := range map[string]string{"Acme": "bi_acme",
		"Ünser Verleih GmbH": "bi_nser_verleih_gmbh", "a--b_": "bi_a_b",
		"漢字": "", "": "", "'; DROP": "bi_drop"} {
		if got, err := bi.UserName("motorpool", given); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", given, got, err)
		}
	}
	if got, err := bi.UserName("fleet2", "acme"); got != "fleet2_bi_acme" || err != nil {
		t.Error(got, err)
	}
}

// The driver of Go, which Grafana's plug-in is built on, comes through the gate, with and without compression and with
// a deadline, which it sends as a setting.
func TestTheDriverOfGoComesThroughTheGate(t *testing.T) {
	s := open(t)
	for _, method := range []clickhouse.CompressionMethod{clickhouse.CompressionNone, clickhouse.CompressionLZ4,
		clickhouse.CompressionGZIP} {
		db, err := clickhouse.Open(&clickhouse.Options{Addr: []string{s.gate.Addr()}, Protocol: clickhouse.HTTP,
			Auth:        clickhouse.Auth{Database: "bi", Username: "bi_other", Password: password},
			Compression: &clickhouse.Compression{Method: method}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second) // which the driver rounds up by five
		defer cancel()
		var rows uint64
		if err := db.QueryRow(ctx, "SELECT count() FROM payments WHERE status != ?", "x").Scan(&rows); err != nil ||
			rows != otherRows {
			t.Errorf("compression %v: %d rows, %v", method, rows, err)
		}
		_ = db.Close()
	}
}
