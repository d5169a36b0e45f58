package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Where no file can be opened for a moment nothing is known to be on the disk, but nothing is lost either.
func TestAPassingLackOfFileDescriptorsIsNotFinal(t *testing.T) {
	s := newSynced(filepath.Join(t.TempDir(), "kafka", "log"))
	if err := s.begin(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "segment"), []byte("acknowledged"), 0o600); err != nil {
		t.Fatal(err)
	}
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	none := before
	none.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	err := s.Flush()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, syscall.EMFILE) {
		t.Fatalf("without file descriptors: %v", err)
	}
	if len(s.seen) > 0 {
		t.Errorf("taken to be on the disk: %v", s.seen)
	}
	if err := s.Flush(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	select {
	case <-s.broken:
		t.Error("it is broken for good")
	default:
	}
	if _, synced := s.seen[filepath.Join(s.dir, "segment")]; !synced {
		t.Error("the file was forgotten")
	}
}

// The name of the log's folder is on the disk before the broker answers.
func TestBeginMakesTheFolderWhoseNameItSyncs(t *testing.T) {
	s := newSynced(filepath.Join(t.TempDir(), "kafka", "log"))
	if err := s.begin(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(s.dir); err != nil || !info.IsDir() {
		t.Errorf("there is no folder: %v", err)
	}
}
