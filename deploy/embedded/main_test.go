package embedded_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/deploy/embedded"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
)

// helperEnv turns this test binary into a process that tests can kill: it
// holds "clickhouse DIR" or "broker DIR ADDR", the latter with " sync" behind.
const helperEnv = "EMBEDDED_TEST_HELPER"

func TestMain(m *testing.M) {
	if what := os.Getenv(helperEnv); what != "" && !isChild() {
		fmt.Fprintln(os.Stderr, help(strings.Fields(what)))
		os.Exit(1)
	}
	os.Exit(embeddedtest.Run(m))
}

// isChild tells the engine a helper started, which inherits its variables.
func isChild() bool { return len(os.Args) > 1 && os.Args[1] == embedded.ChildCommand }

// help runs an engine, says on standard output where, and waits to be killed.
func help(what []string) error {
	var addr string
	switch what[0] {
	case "clickhouse":
		ch, err := embedded.StartClickHouse(context.Background(), testConfig(what[1]))
		if err != nil {
			return err
		}
		addr = ch.Addr()
	case "broker":
		b, err := embedded.StartBroker(embedded.BrokerConfig{Dir: what[1], Addr: what[2], Sync: len(what) > 3})
		if err != nil {
			return err
		}
		addr = b.Addr()
	}
	fmt.Println(addr)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return nil
}

// startHelper runs a helper and returns the address it printed and a function
// that kills it with SIGKILL.
func startHelper(t *testing.T, what string) (addr string, kill func()) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), helperEnv+"="+what)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("helper %q: %v", what, err)
	}
	return strings.TrimSpace(line), kill
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}
