package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestACopyOfTheLogKeepsOffsets: a copy that was made while the broker ran, of what is wanted, goes on at its offsets.
func TestACopyOfTheLogKeepsOffsets(t *testing.T) {
	b, _ := fill(t, BrokerConfig{}, 10)
	for name, c := range map[string]struct{ from, start int64 }{
		"all": {-1, 0}, "the unread": {7, 7}, "nothing is unread": {10, 9},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			copied := func(f LogFile) error { return PlaceLogFile(dir, f) }
			if err := CopyLog(b.config.Dir, func(string, int32) int64 { return c.from }, copied); err != nil {
				t.Fatal(err)
			}
			again, err := StartBroker(BrokerConfig{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			defer again.Stop()
			wantStart(t, again, name, c.start)
		})
	}
	if err := CopyLog(t.TempDir(), nil, nil); !errors.Is(err, ErrNoLog) {
		t.Errorf("a folder without a log: %v", err)
	}
	if err := PlaceLogFile(t.TempDir(), LogFile{Path: "../outside"}); err == nil {
		t.Error("a file outside of the log was written")
	}
}

// TestABatchThatIsBeingWrittenIsNotCopied: the copy ends before it.
func TestABatchThatIsBeingWrittenIsNotCopied(t *testing.T) {
	b, _ := fill(t, BrokerConfig{}, 1)
	segment, err := os.ReadFile(filepath.Join(b.config.Dir, "log", "partitions", "positions-0", "0.dat"))
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(segment) {
		if _, data := wanted(append(segment[:len(segment):len(segment)], segment[:cut]...), -1); len(data) != len(segment) {
			t.Fatalf("of a batch and %d bytes of another %d bytes were copied, want %d", cut, len(data), len(segment))
		}
	}
	spoilt := append([]byte{}, segment...)
	spoilt[len(spoilt)-1] ^= 1
	if _, data := wanted(spoilt, -1); len(data) != 0 {
		t.Error("a batch with a wrong checksum was copied")
	}
}
