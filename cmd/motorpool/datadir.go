package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// openData makes the data folder, readable by its owner only, and takes it for this process. The lock ends with the
// process, however that ends.
func openData(dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		return nil, fmt.Errorf("the data folder %s is in use by another 'motorpool up'; stop that one or give --data", dir)
	}
	return func() { lock.Close() }, nil
}

// secret returns the text that a file keeps, and makes both at the first call.
func secret(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err == nil {
		if word := strings.TrimSpace(string(text)); word != "" {
			return word, nil
		}
		return "", fmt.Errorf("%s is empty", path)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	word := rand.Text() + rand.Text()
	return word, writeSecret(path, word)
}

// writeSecret writes a file that only its owner may read, whole or not at all, and that a power cut does not empty.
func writeSecret(path, word string) error {
	temporary := path + ".new"
	file, err := os.OpenFile(temporary, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(word + "\n")
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
