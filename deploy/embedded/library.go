package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// LibraryEnv names the environment variable that points FindLibrary at a
// libchdb.so and outranks every other place.
const LibraryEnv = "MOTORPOOL_LIBCHDB"

// ErrNoLibrary reports that libchdb.so is in none of the places searched.
var ErrNoLibrary = errors.New("libchdb.so not found: run `make deps`")

// FindLibrary returns the absolute path of libchdb.so, ClickHouse as a shared library. It looks at $MOTORPOOL_LIBCHDB,
// in dir unless that is empty, in lib/ beside the executable, and under deploy/embedded/npm of the working directory,
// of the executable's, and of each directory above them, so that it is found from inside the source tree and by a
// binary that was built there. A variable that names no file is an error of its own: falling back would run another
// engine than the one asked for.
func FindLibrary(dir string) (string, error) {
	if path := os.Getenv(LibraryEnv); path != "" {
		if !isFile(path) {
			return "", fmt.Errorf("%s=%s: %w", LibraryEnv, path, fs.ErrNotExist)
		}
		return filepath.Abs(path)
	}
	var places []string
	if dir != "" {
		places = append(places, dir)
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	trees := []string{wd}
	if exe, err := os.Executable(); err == nil {
		places = append(places, filepath.Join(filepath.Dir(exe), "lib"))
		trees = append(trees, filepath.Dir(exe))
	}
	for _, tree := range trees {
		for ; ; tree = filepath.Dir(tree) {
			places = append(places, filepath.Join(tree, "deploy", "embedded", "npm", "node_modules", "@chdb", packageName()))
			if tree == filepath.Dir(tree) {
				break
			}
		}
	}
	for _, place := range places {
		if path := filepath.Join(place, "libchdb.so"); isFile(path) {
			return filepath.Abs(path)
		}
	}
	return "", ErrNoLibrary
}

// packageName is the npm package that holds the library for this system.
func packageName() string {
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	name := "lib-" + runtime.GOOS + "-" + arch
	if runtime.GOOS == "linux" {
		name += "-gnu"
	}
	return name
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
