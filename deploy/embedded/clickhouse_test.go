package embedded_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/deploy/embedded"
)

const (
	appPassword = "app-secret"
	biPassword  = "bi <&> secret"
)

func testConfig(dir string) embedded.ClickHouseConfig {
	bi := embedded.BIUser("bi", biPassword, 256<<20, "GRANT SELECT ON motorpool.trips")
	bi.Filters = []embedded.RowFilter{{Database: "motorpool", Table: "trips", Where: "account = 'a' AND 1 < 2"}}
	return embedded.ClickHouseConfig{
		Dir:         dir,
		Users:       []embedded.User{embedded.AppUser("motorpool", appPassword), bi},
		MemoryBytes: 1 << 30,
	}
}

// start runs an engine on dir until the test ends.
func start(t *testing.T, dir string) *embedded.ClickHouse {
	t.Helper()
	ch, err := embedded.StartClickHouse(soon(t), testConfig(dir))
	if errors.Is(err, embedded.ErrNoLibrary) && os.Getenv("CI") != "true" &&
		os.Getenv("MOTORPOOL_REQUIRE_ENGINES") != "1" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ch.Stop(soon(t)) })
	return ch
}

func open(t *testing.T, addr, user, password string, protocol clickhouse.Protocol) *sql.DB {
	t.Helper()
	db := clickhouse.OpenDB(&clickhouse.Options{
		Addr: []string{addr}, Protocol: protocol,
		Auth: clickhouse.Auth{Username: user, Password: password},
	})
	t.Cleanup(func() { db.Close() })
	return db
}

func mustExec(t *testing.T, db *sql.DB, queries ...string) {
	t.Helper()
	for _, query := range queries {
		if _, err := db.Exec(query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
}

// refused fails the test unless err is ClickHouse's exception code.
func refused(t *testing.T, what string, err error, code string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), code) {
		t.Errorf("%s: got %v, want an error with %s", what, err, code)
	}
}

func TestOnlyTheListedUsersLogIn(t *testing.T) {
	ch := start(t, t.TempDir())
	for protocol, addr := range map[clickhouse.Protocol]string{clickhouse.Native: ch.Addr(),
		clickhouse.HTTP: ch.HTTPAddr()} {
		for _, c := range []struct{ user, password, refusal string }{
			{"motorpool", appPassword, ""},
			{"bi", biPassword, ""},
			{"motorpool", "wrong", "516"},
			{"motorpool", "", "516"},
			{"nobody", "", "516"},
			{"default", "wrong", ""},
			{"default", "", ""},
		} {
			if c.user == "default" { // the guard does not know it; over HTTP its one session is taken
				c.refusal = map[clickhouse.Protocol]string{clickhouse.Native: "516", clickhouse.HTTP: "session count"}[protocol]
			}
			var one uint8
			err := open(t, addr, c.user, c.password, protocol).QueryRow("SELECT 1").Scan(&one)
			if c.refusal != "" {
				refused(t, protocol.String()+" "+c.user, err, c.refusal)
			} else if err != nil {
				t.Errorf("%v %s: %v", protocol, c.user, err)
			}
		}
	}
}

func TestDefaultReadsNeitherTableNorFileNorStopsTheServer(t *testing.T) {
	dir := t.TempDir()
	ch := start(t, dir)
	app := open(t, ch.Addr(), "motorpool", appPassword, clickhouse.Native)
	mustExec(t, app,
		"CREATE DATABASE motorpool",
		"CREATE TABLE motorpool.trips (account String) ENGINE = MergeTree ORDER BY account")
	for _, query := range []string{
		"SELECT count() FROM motorpool.trips",
		"SELECT file('" + filepath.Join(dir, "users.xml") + "')",
		"SELECT * FROM file('" + filepath.Join(dir, "users.xml") + "', RawBLOB)",
		"SYSTEM STOP LISTEN HTTP",
	} {
		_, err := open(t, ch.HTTPAddr(), "default", "", clickhouse.HTTP).Exec(query)
		refused(t, query, err, "session count")
	}
	if err := open(t, ch.HTTPAddr(), "motorpool", appPassword, clickhouse.HTTP).Ping(); err != nil {
		t.Errorf("HTTP no longer answers: %v", err)
	}
}

func TestBIUserReadsItsRowsWithinItsLimits(t *testing.T) {
	ch := start(t, t.TempDir())
	app := open(t, ch.Addr(), "motorpool", appPassword, clickhouse.Native)
	mustExec(t, app,
		"CREATE DATABASE motorpool",
		"CREATE TABLE motorpool.trips (account String, id UInt64) ENGINE = ReplacingMergeTree ORDER BY (account, id)",
		"CREATE TABLE motorpool.secrets (id UInt64) ENGINE = MergeTree ORDER BY id",
		"SYSTEM STOP MERGES motorpool.trips",
		"INSERT INTO motorpool.trips VALUES ('a', 1), ('b', 2)",
		"INSERT INTO motorpool.trips VALUES ('a', 1)")

	bi := open(t, ch.Addr(), "bi", biPassword, clickhouse.Native)
	var rows uint64
	if err := bi.QueryRow("SELECT count() FROM motorpool.trips").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("bi sees %d trips (%v), want 1: its account's, and the final one", rows, err)
	}
	mustExec(t, bi, "SELECT 1 SETTINGS max_execution_time = 5") // below its limit
	for query, code := range map[string]string{
		"SELECT * FROM motorpool.secrets":                              "497",
		"INSERT INTO motorpool.trips VALUES ('a', 3)":                  "code: ",
		"ALTER TABLE motorpool.trips DELETE WHERE 1":                   "code: ",
		"DROP TABLE motorpool.trips":                                   "code: ",
		"CREATE TABLE motorpool.mine (id UInt64) ENGINE = Memory":      "code: ",
		"SELECT * FROM url('http://127.0.0.1:1/', RawBLOB)":            "code: ",
		"BACKUP TABLE motorpool.trips TO File('/tmp/of-bi')":           "code: ",
		"RESTORE TABLE motorpool.trips FROM File('/tmp/of-bi')":        "code: ",
		"SELECT 1 SETTINGS max_execution_time = 0":                     "code: 452",
		"SELECT 1 SETTINGS max_execution_time = 3600":                  "code: 452",
		"SELECT 1 SETTINGS max_memory_usage = 0":                       "code: 452",
		"SELECT 1 SETTINGS readonly = 0":                               "code: 164",
		"SELECT 1 SETTINGS final = 0":                                  "code: 452",
		"SELECT groupArray(repeat('x', 1000)) FROM numbers(100000000)": "code: 241",
	} {
		_, err := bi.Exec(query)
		refused(t, query, err, code)
	}
}

func TestDataSurvivesKillOfTheEngine(t *testing.T) {
	dir := t.TempDir()
	ch := start(t, dir)
	db := open(t, ch.Addr(), "motorpool", appPassword, clickhouse.Native)
	mustExec(t, db,
		"CREATE DATABASE motorpool",
		"CREATE TABLE motorpool.trips (account String) ENGINE = MergeTree ORDER BY account",
		"INSERT INTO motorpool.trips VALUES ('a')")

	if err := syscall.Kill(ch.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ch.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("Done is not closed after the engine was killed")
	}
	if ch.Err() == nil {
		t.Error("Err is nil after the engine was killed")
	}
	if err := ch.Stop(soon(t)); err != nil {
		t.Errorf("Stop of a dead engine: %v", err)
	}
	wantTrips(t, start(t, dir), 1)
}

func TestEngineEndsWithAKilledParentAndStartsAgain(t *testing.T) {
	dir := t.TempDir()
	start(t, t.TempDir()) // skips where there is no library
	addr, kill := startHelper(t, "clickhouse "+dir)
	mustExec(t, open(t, addr, "motorpool", appPassword, clickhouse.Native),
		"CREATE DATABASE motorpool",
		"CREATE TABLE motorpool.trips (account String) ENGINE = MergeTree ORDER BY account",
		"INSERT INTO motorpool.trips VALUES ('a')")
	kill()
	// The engine holds the directory's lock for as long as it lives, and the
	// start waits for it for three seconds only.
	wantTrips(t, start(t, dir), 1)
	if err := open(t, addr, "motorpool", appPassword, clickhouse.Native).Ping(); err == nil {
		t.Error("the orphan still answers")
	}
}

func wantTrips(t *testing.T, ch *embedded.ClickHouse, want uint64) {
	t.Helper()
	var got uint64
	db := open(t, ch.Addr(), "motorpool", appPassword, clickhouse.Native)
	if err := db.QueryRow("SELECT count() FROM motorpool.trips").Scan(&got); err != nil || got != want {
		t.Errorf("%d trips (%v), want %d", got, err, want)
	}
}

func TestSecondStartOnADirectoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	ch := start(t, dir)
	if _, err := embedded.StartClickHouse(soon(t), testConfig(dir)); !errors.Is(err, embedded.ErrInUse) {
		t.Errorf("second start: %v, want ErrInUse", err)
	}
	if err := open(t, ch.Addr(), "motorpool", appPassword, clickhouse.Native).Ping(); err != nil {
		t.Errorf("the first engine after the second start: %v", err)
	}
}

func TestStopEndsTheEngineAndFreesTheDirectory(t *testing.T) {
	dir := t.TempDir()
	ch := start(t, dir)
	for range 2 { // the second call has nothing left to do
		if err := ch.Stop(soon(t)); err != nil {
			t.Fatal(err)
		}
	}
	if err := ch.Err(); err != nil {
		t.Errorf("Err after Stop: %v", err)
	}
	start(t, dir)
}

func TestEngineThatCannotStartSaysWhy(t *testing.T) {
	start(t, t.TempDir()) // skips where there is no library
	config := testConfig(t.TempDir())
	config.Library = "/nonexistent/libchdb.so"
	if _, err := embedded.StartClickHouse(soon(t), config); err == nil || !strings.Contains(err.Error(), config.Library) {
		t.Errorf("got %v, want an error that names %s", err, config.Library)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := embedded.StartClickHouse(ctx, testConfig(t.TempDir())); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled start: %v", err)
	}
}

func TestUnsafeUsersAreRefused(t *testing.T) {
	for name, user := range map[string]embedded.User{
		"no password": {Name: "app"},
		"default":     {Name: "default", Password: "x"},
		"markup":      {Name: "a><b", Password: "x"},
		"unbounded":   {Name: "app", Password: "x", Limits: map[string]uint64{"max_threads": 0}},
		"setting twice": {Name: "app", Password: "x", Limits: map[string]uint64{"n": 1},
			Settings: map[string]string{"n": "1"}},
	} {
		config := embedded.ClickHouseConfig{Dir: t.TempDir(), Library: "unused", Users: []embedded.User{user}}
		if _, err := embedded.StartClickHouse(soon(t), config); err == nil {
			t.Errorf("%s: started", name)
		}
	}
}

// The engine aborts on a handshake that fails, so none may reach it.
func TestEngineSurvivesHostileNativeClients(t *testing.T) {
	ch := start(t, t.TempDir())
	hello := func(user, password string) []byte {
		b := append([]byte{0, 5}, "probe"...)
		b = append(b, 1, 1)
		b = binary.AppendUvarint(b, 54460)
		for _, s := range []string{"", user, password} {
			b = binary.AppendUvarint(b, uint64(len(s)))
			b = append(b, s...)
		}
		return b
	}
	good := hello("motorpool", appPassword)
	for name, sent := range map[string][]byte{
		"nothing":        nil,
		"HTTP":           []byte("GET / HTTP/1.0\r\n\r\n"),
		"garbage":        bytes.Repeat([]byte{0x7f}, 300),
		"half a hello":   good[:6],
		"a long string":  append([]byte{0, 0xff, 0xff, 0xff, 0xff, 0x0f}, bytes.Repeat([]byte{'x'}, 1000)...),
		"wrong password": hello("motorpool", "wrong"),
		"default":        hello("default", ""),
		"good, no more":  good,
		"good, garbage":  append(slices.Clone(good), bytes.Repeat([]byte{0x7f}, 300)...),
	} {
		for range 5 {
			conn, err := net.Dial("tcp", ch.Addr())
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if _, err := conn.Write(sent); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := conn.(*net.TCPConn).SetLinger(0); err != nil { // reset instead of an orderly end
				t.Fatal(err)
			}
			conn.Close()
		}
		if err := open(t, ch.Addr(), "motorpool", appPassword, clickhouse.Native).Ping(); err != nil {
			t.Fatalf("after %s: %v", name, err)
		}
	}
	if err := ch.Err(); err != nil {
		t.Error(err)
	}
}

func TestNonLoopbackAddressesAreRefused(t *testing.T) {
	config := testConfig(t.TempDir())
	config.Library, config.HTTPAddr = "unused", "0.0.0.0:0"
	if _, err := embedded.StartClickHouse(soon(t), config); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("ClickHouse: %v, want a refusal", err)
	}
	if _, err := embedded.StartBroker(embedded.BrokerConfig{Dir: t.TempDir(), Addr: "0.0.0.0:0"}); err == nil ||
		!strings.Contains(err.Error(), "loopback") {
		t.Errorf("broker: %v, want a refusal", err)
	}
}

func TestMergesYieldToQueries(t *testing.T) {
	ch := start(t, t.TempDir())
	db := open(t, ch.Addr(), "motorpool", appPassword, clickhouse.Native)
	var nice string
	if err := db.QueryRow("SELECT value FROM system.server_settings WHERE name = 'os_threads_nice_value_merge_mutate'").
		Scan(&nice); err != nil {
		t.Fatal(err)
	}
	if nice != "10" {
		t.Errorf("merges have nice value %s", nice)
	}
}
