// Package systemtest gives tests a whole Motorpool: the binary, built once for a test package, and stores of its own
// for each test. A package that uses it hands its tests to Run:
//
//	func TestMain(m *testing.M) { os.Exit(systemtest.Run(m)) }
package systemtest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/motorpool/fleet/loadtest/system"
)

var binary string

// SharedKafka is the address of a broker that all tests share and none may kill, or empty: then each has its own.
func SharedKafka() string { return os.Getenv("MOTORPOOL_TEST_KAFKA") }

// Run builds the binary, runs the tests and returns the exit code.
func Run(m *testing.M) int {
	system.ServeBroker()
	dir, err := os.MkdirTemp("", "motorpool-systemtest-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "motorpool")
	if out, err := exec.Command("go", "build", "-o", binary,
		"github.com/motorpool/fleet/cmd/motorpool").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build motorpool: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// Start starts the stores of a test, which end with it. If it fails, the end of what the processes said is shown.
func Start(t *testing.T) *system.System {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(tail(log))
		}
		log.Close()
	})
	s, err := system.Start(t.Context(), binary, t.TempDir(), SharedKafka(), log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Process starts a motorpool process that runs until the test ends, and must end well then.
func Process(t *testing.T, s *system.System, args ...string) {
	t.Helper()
	process, err := s.Start(args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, _, err := process.Stop(); err != nil {
			t.Error(err)
		}
	})
}

// tail returns the end of a file.
func tail(f *os.File) string {
	const most = 8000
	info, err := f.Stat()
	if err != nil {
		return err.Error()
	}
	text := make([]byte, min(most, info.Size()))
	if _, err := f.ReadAt(text, info.Size()-int64(len(text))); err != nil && err != io.EOF {
		return err.Error()
	}
	return string(text)
}
