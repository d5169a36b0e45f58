package embedded_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/motorpool/fleet/deploy/embedded"
)

func TestLibraryIsFoundInOrder(t *testing.T) {
	touch := func(path string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv(embedded.LibraryEnv, "")
	t.Chdir(t.TempDir())
	if _, err := embedded.FindLibrary(""); !errors.Is(err, embedded.ErrNoLibrary) {
		t.Errorf("nowhere: %v, want ErrNoLibrary", err)
	}
	dir := t.TempDir()
	given := touch(filepath.Join(dir, "libchdb.so"))
	if got, err := embedded.FindLibrary(dir); got != given {
		t.Errorf("in the given directory: %q, %v", got, err)
	}
	named := touch(filepath.Join(t.TempDir(), "engine.so"))
	t.Setenv(embedded.LibraryEnv, named)
	if got, err := embedded.FindLibrary(dir); got != named {
		t.Errorf("named by the variable: %q, %v", got, err)
	}
	t.Setenv(embedded.LibraryEnv, filepath.Join(dir, "missing.so"))
	if got, err := embedded.FindLibrary(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a variable that names no file: %q, %v", got, err)
	}
}
