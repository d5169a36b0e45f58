package bi_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/bi"
	"github.com/motorpool/fleet/deploy/embedded"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
)

func TestMain(m *testing.M) {
	code := embeddedtest.Run(m)
	if house.stop != nil {
		house.stop()
	}
	os.Exit(code)
}

// The accounts of the tests. What the other one has is marked by a word and a number, which nobody else may read.
const (
	mine, other = fleet.AccountID(7), fleet.AccountID(8)
	mark        = "ZEBRA"
	markNumber  = 918273645
	mineRows    = 2 // in each table
	otherRows   = 3
	password    = "a password"
)

// server is an engine with the views, rows of two accounts in every table behind them, and a user of each behind the
// gate. All tests of the package share it.
type server struct {
	once sync.Once
	err  error
	stop func()

	db     driver.Conn
	engine *embedded.ClickHouse
	gate   *embedded.Gate
}

var house server

func open(t *testing.T) *server {
	t.Helper()
	house.once.Do(func() { house.err = house.start() })
	if house.err != nil {
		t.Fatal(house.err)
	}
	return &house
}

func (s *server) start() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "bi")
	if err != nil {
		return err
	}
	app := embedded.AppUser("motorpool", "app")
	lower := maps.Clone(bi.Limits)
	lower["max_execution_time"] = 1 // what runs away is waited for, but not for a minute
	lower["max_result_bytes"] = 64 << 20
	users := []embedded.User{app}
	for name, account := range map[string]fleet.AccountID{"bi_mine": mine, "bi_hasty": mine, "bi_other": other} {
		u := embedded.User{Name: name, Password: "of the engine", Locked: true, Settings: bi.Settings, Limits: bi.Limits,
			Choices: bi.Choices}
		if name == "bi_hasty" {
			u.Limits = lower
		}
		for _, r := range bi.Rights("motorpool") {
			u.Grants = append(u.Grants, r.Grant())
		}
		for _, p := range bi.Policies("motorpool", account) {
			u.Filters = append(u.Filters, embedded.RowFilter(p))
		}
		users = append(users, u)
	}
	// This one has rights without a policy.
	users = append(users, embedded.User{Name: "bi_open", Password: "of the engine", Locked: true,
		Grants: []string{"GRANT SELECT(id) ON motorpool.bookings", "GRANT SHOW TABLES ON motorpool.*",
			"GRANT SELECT ON elsewhere.*"}})
	s.engine, err = embedded.StartClickHouse(ctx, embedded.ClickHouseConfig{Dir: dir, Users: users, MemoryBytes: 3 << 30})
	if err != nil {
		return err
	}
	s.gate, err = embedded.OpenGate(embedded.GateConfig{Addr: "127.0.0.1:0", Engine: s.engine.HTTPAddr(),
		Logger: slog.New(slog.DiscardHandler), Guest: func(name string) (embedded.Guest, bool) {
			return embedded.Guest{SHA256: sha(password), Engine: "of the engine"}, strings.HasPrefix(name, "bi_")
		}})
	if err != nil {
		return err
	}
	config := query.DefaultConfig()
	config.Addrs, config.User, config.Password = []string{s.engine.Addr()}, app.Name, app.Password
	config.Database = "motorpool"
	if err := query.EnsureDatabase(ctx, config); err != nil {
		return err
	}
	if s.db, err = query.Open(ctx, config); err != nil {
		return err
	}
	s.stop = func() {
		_ = s.db.Close()
		_ = s.gate.Close()
		_ = s.engine.Stop(context.Background())
		_ = os.RemoveAll(dir)
	}
	if _, err := schemas.Apply(ctx, s.db); err != nil {
		return err
	}
	if err := bi.Apply(ctx, s.db, "motorpool"); err != nil {
		return err
	}
	return s.fill(ctx)
}

// fill inserts rows of both accounts into every table that a view reads. All columns of the other account's rows have
// the marks, personal ones too; text and numbers of one's own rows are small.
func (s *server) fill(ctx context.Context) error {
	var tables []string
	for _, r := range bi.Rights("motorpool") {
		if r.Database == "motorpool" {
			tables = append(tables, r.Table)
		}
	}
	rows, err := s.db.Query(ctx, `SELECT table, groupArray(name), groupArray(type) FROM system.columns
		WHERE database = 'motorpool' AND default_kind NOT IN ('ALIAS', 'MATERIALIZED', 'EPHEMERAL') GROUP BY table`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var table string
		var names, types []string
		if err := rows.Scan(&table, &names, &types); err != nil {
			return err
		}
		if !slices.Contains(tables, table) {
			continue
		}
		insert := "INSERT INTO motorpool." + table + " (" + strings.Join(names, ", ") + ") SELECT "
		for i, name := range names {
			if i > 0 {
				insert += ", "
			}
			insert += value(name, types[i])
		}
		insert += fmt.Sprintf(" FROM (SELECT number, number < %d AS own FROM numbers(%d))", mineRows, mineRows+otherRows)
		if strings.HasPrefix(table, "telemetry_") {
			insert += " GROUP BY number, own"
		}
		if err := s.db.Exec(ctx, insert); err != nil {
			return fmt.Errorf("%w: %s", err, insert)
		}
	}
	return rows.Err()
}

// value is what a column gets in row number, which is one's own or not.
func value(name, kind string) string {
	number := fmt.Sprintf("if(own, 1 + number, %d + number)", markNumber)
	for _, wrap := range []string{"Nullable(", "LowCardinality("} {
		if inner, found := strings.CutPrefix(kind, wrap); found {
			kind = strings.TrimSuffix(inner, ")")
		}
	}
	switch {
	case name == "account":
		return fmt.Sprintf("if(own, %d, %d)", mine, other)
	case name == "deleted":
		return "false"
	case name == "archived_at":
		return "NULL"
	case name == "currency":
		return "'USD'"
	case name == "incurred_on":
		return "toString(today())"
	case strings.HasSuffix(name, "local_date") || strings.HasPrefix(kind, "Date32"), kind == "Date":
		return "today()"
	case strings.HasPrefix(kind, "DateTime"):
		return "now() - 3600"
	case kind == "Bool":
		return "false"
	case strings.HasPrefix(kind, "AggregateFunction(argM"):
		function, _, _ := strings.Cut(strings.TrimPrefix(kind, "AggregateFunction("), ",")
		return function + "State(toFloat64(" + number + "), now64(3))"
	case strings.HasPrefix(kind, "SimpleAggregateFunction"), strings.HasPrefix(kind, "Float"):
		return "toFloat64(" + number + ")"
	case strings.HasPrefix(kind, "UInt8"), strings.HasPrefix(kind, "UInt16"):
		return "1 + number"
	case strings.HasPrefix(kind, "UInt"), strings.HasPrefix(kind, "Int"):
		return number
	case strings.HasPrefix(kind, "String"):
		return "if(own, concat('own', toString(number)), concat('" + mark + "', toString(number)))"
	case strings.HasPrefix(kind, "Array(String)"):
		return "if(own, ['own'], ['" + mark + "'])"
	case strings.HasPrefix(kind, "Map"):
		return "map('cash', if(own, tuple('1', 'own'), tuple('2', '" + mark + "')))"
	}
	return "defaultValueOfTypeName('" + kind + "')"
}

// ask sends a query of a user through the gate, as a client does, and returns the status and what was answered.
func (s *server) ask(t *testing.T, user string, params url.Values, sql string) (int, string) {
	t.Helper()
	return s.askWith(t, user, password, params, sql)
}

// askWith is ask with a password; a user without a name gives none of both.
func (s *server) askWith(t *testing.T, user, password string, params url.Values, sql string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.gate.Addr()+"/?"+params.Encode(),
		strings.NewReader(sql))
	if err != nil {
		t.Fatal(err)
	}
	if user != "" {
		req.SetBasicAuth(user, password)
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error() // the answer was broken off
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, string(text) + err.Error()
	}
	return answer.StatusCode, string(text)
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func asException(err error, target **clickhouse.Exception) bool { return errors.As(err, target) }
