// Package embeddedtest gives tests a real ClickHouse and a real Kafka
// protocol: one engine per test binary, started when the first test asks.
//
// A package that asks for ClickHouse hands its tests to [Run]:
//
//	func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }
//
// The engine is the test binary itself, executed a second time. Three
// variables change what tests talk to: MOTORPOOL_TEST_CLICKHOUSE
// ("user:password@host:9000,host:8123") and MOTORPOOL_TEST_KAFKA
// ("host:9092") name servers that already run, and with CI=true or
// MOTORPOOL_REQUIRE_ENGINES=1 a missing engine fails a test instead of
// skipping it.
package embeddedtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/motorpool/fleet/deploy/embedded"
)

// userName is the account that ClickHouse returns: every right on every
// database.
const userName = "motorpool"

// running is this binary's engine, if a test asked for one.
var running struct {
	once     sync.Once
	wired    bool // Run was called, so re-executing this binary gives the engine
	dir      string
	password string
	engine   *embedded.ClickHouse
	err      error
}

// Run runs a package's tests and stops the engine they started; it returns
// the exit code. In the re-executed binary it is the engine and never
// returns. Call it from TestMain before anything else.
func Run(m *testing.M) int {
	if len(os.Args) > 1 && os.Args[1] == embedded.ChildCommand {
		args, err := embedded.ParseChildArgs(os.Args[2:])
		if err == nil {
			err = embedded.ServeClickHouse(args)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	running.wired = true
	code := m.Run()
	if running.engine != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := running.engine.Stop(ctx); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if running.dir != "" {
		_ = os.RemoveAll(running.dir)
	}
	return code
}

// ClickHouse returns the addresses and the account of a server that every
// test of this binary shares: give each test a database of its own. Without
// libchdb.so the test is skipped, or fails where engines are required.
func ClickHouse(t testing.TB) (addr, httpAddr, user, password string) {
	t.Helper()
	if server := os.Getenv("MOTORPOOL_TEST_CLICKHOUSE"); server != "" {
		account, addrs, ok1 := cutLast(server, "@")
		user, password, ok2 := strings.Cut(account, ":")
		addr, httpAddr, ok3 := strings.Cut(addrs, ",")
		if !ok1 || !ok2 || !ok3 {
			t.Fatalf("MOTORPOOL_TEST_CLICKHOUSE is not user:password@host:9000,host:8123")
		}
		return addr, httpAddr, user, password
	}
	running.once.Do(start)
	if errors.Is(running.err, embedded.ErrNoLibrary) && !required() {
		t.Skip(running.err)
	}
	if running.err != nil {
		t.Fatal(running.err)
	}
	return running.engine.Addr(), running.engine.HTTPAddr(), userName, running.password
}

// Outlived tells whether the server was there before the tests and stays when they end.
func Outlived() bool { return os.Getenv("MOTORPOOL_TEST_CLICKHOUSE") != "" }

func start() {
	if !running.wired {
		running.err = errors.New("TestMain does not call embeddedtest.Run")
		return
	}
	library, err := embedded.FindLibrary("")
	if err != nil {
		running.err = err
		return
	}
	if running.dir, running.err = os.MkdirTemp("", "motorpool-clickhouse-"); running.err != nil {
		return
	}
	running.password = rand.Text()
	user := embedded.AppUser(userName, running.password)
	user.Settings["fsync_metadata"] = "0" // what a table is made of need not outlive the tests
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	running.engine, running.err = embedded.StartClickHouse(ctx, embedded.ClickHouseConfig{
		Dir:         running.dir,
		Library:     library,
		Users:       []embedded.User{user},
		MemoryBytes: 2 << 30,
	})
}

// required tells whether a missing engine is a failure.
func required() bool {
	return os.Getenv("CI") == "true" || os.Getenv("MOTORPOOL_REQUIRE_ENGINES") == "1"
}

// cutLast is strings.Cut at the last separator: passwords may hold an @.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
