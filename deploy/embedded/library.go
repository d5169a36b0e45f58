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

// FindLibrary returns the absolute path of libchdb.so, ClickHouse as a shared
// library. It looks at $MOTORPOOL_LIBCHDB, in dir unless that is empty, in
// lib/ beside the executable, and under deploy/embedded/npm of the working
// directory and each directory above it, so that it is found from anywhere
// inside the source tree. A variable that names no file is an error of its
// own: falling back would run another engine than the one asked for.
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
	if exe, err := os.Executable(); err == nil {
		places = append(places, filepath.Join(filepath.Dir(exe), "lib"))
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; wd = filepath.Dir(wd) {
		places = append(places, filepath.Join(wd, "deploy", "embedded", "npm", "node_modules", "@chdb", packageName()))
		if wd == filepath.Dir(wd) {
			break
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
