package embedded

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
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
	if err := CopyLog(t.TempDir(), nil, nil); !errors.Is(err, errNoLog) {
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
		_, data, err := wanted(append(segment[:len(segment):len(segment)], segment[:cut]...), -1, true)
		if err != nil || len(data) != len(segment) {
			t.Fatalf("of a batch and %d bytes of another %d bytes were copied, want %d: %v", cut, len(data), len(segment), err)
		}
	}
	spoilt := append([]byte{}, segment...)
	spoilt[len(spoilt)-1] ^= 1
	if _, data, err := wanted(spoilt, -1, true); err != nil || len(data) != 0 {
		t.Errorf("a batch with a wrong checksum was copied: %v", err)
	}
}

// TestADamagedLogIsNotCopiedInPart: where a batch that is wanted cannot be read there is no copy, and one in front of
// what is wanted does not matter.
func TestADamagedLogIsNotCopiedInPart(t *testing.T) {
	b, _ := fill(t, BrokerConfig{}, 1)
	one, err := os.ReadFile(filepath.Join(b.config.Dir, "log", "partitions", "positions-0", "0.dat"))
	if err != nil {
		t.Fatal(err)
	}
	var segment []byte
	for offset := range uint64(3) {
		segment = append(binary.BigEndian.AppendUint64(segment, offset), one[8:]...)
	}
	size := len(one)
	damage := func(at int) []byte {
		spoilt := slices.Clone(segment)
		spoilt[at] ^= 1
		return spoilt
	}
	for name, c := range map[string]struct {
		segment []byte
		newest  bool
		from    int64
		whole   bool
	}{
		"all of it is wanted":               {damage(size - 1), true, 0, false},
		"no one reads it":                   {damage(size - 1), true, -1, false},
		"within what is wanted":             {damage(2*size - 1), false, 0, false},
		"the one that is wanted":            {damage(2*size - 1), true, 1, false},
		"before what is wanted":             {damage(2*size - 1), true, 2, true},
		"before the last":                   {damage(2*size - 1), true, 3, true},
		"the last, being written":           {damage(3*size - 1), true, 2, true},
		"the last, of a closed segment":     {damage(3*size - 1), false, 0, false},
		"the length, of a closed segment":   {damage(batchLengthAt), false, 0, false},
		"the end is missing, of a closed":   {segment[:3*size-1], false, 0, false},
		"the end is missing, being written": {segment[:3*size-1], true, 0, true},
	} {
		if _, _, err := wanted(c.segment, c.from, c.newest); (err == nil) != c.whole ||
			err != nil && !errors.Is(err, errDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOnlyALogThatWasBeingPlacedIsDeleted: a restore that begins anew deletes what it placed, and no other log.
func TestOnlyALogThatWasBeingPlacedIsDeleted(t *testing.T) {
	b, _ := fill(t, BrokerConfig{}, 1)
	if err := BeginPlacing(b.config.Dir); !errors.Is(err, errLog) {
		t.Errorf("where somebody's log is: %v", err)
	}
	dir := t.TempDir()
	place := func() {
		t.Helper()
		if err := BeginPlacing(dir); err != nil {
			t.Fatal(err)
		}
		if err := PlaceLogFile(dir, LogFile{Path: "partitions/positions-0/7.dat"}); err != nil {
			t.Fatal(err)
		}
	}
	place() // and is broken off
	if err := BeginPlacing(dir); err != nil {
		t.Fatal(err)
	}
	if has, err := HasLog(dir); err != nil || has {
		t.Errorf("half a log is still there: %v", err)
	}
	place()
	if err := EndPlacing(dir); err != nil {
		t.Fatal(err)
	}
	if err := BeginPlacing(dir); !errors.Is(err, errLog) {
		t.Errorf("a log that was placed completely: %v", err)
	}
}
