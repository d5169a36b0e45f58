package embedded

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// syncFlag is the attribute of files that `chattr +S` sets: a write returns when the disk has it, and what is made in a
// folder that has it inherits it.
const syncFlag = 0x8

// SyncTokens has the tokens of inserts on the disk before the rows that they stand for. ClickHouse syncs rows alone
// (fsync_after_insert): after a power cut it would have rows whose token is lost, and take the same insert again. It is
// for all tables there are; an error says that the file system under dir, the engine's folder, has no such attribute.
func SyncTokens(dir string) error {
	folders, err := filepath.Glob(filepath.Join(dir, "store", "store", "*", "*", "deduplication_logs"))
	if err != nil {
		return err
	}
	for _, folder := range folders {
		logs, err := filepath.Glob(filepath.Join(folder, "*"))
		if err != nil {
			return err
		}
		for _, path := range append(logs, folder) {
			if err := writeThrough(path); err != nil && !os.IsNotExist(err) {
				return fmt.Errorf("write %s through to the disk: %w", path, err)
			}
		}
	}
	return nil
}

// writeThrough sets the attribute, and syncs what was written without it.
func writeThrough(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	flags, err := unix.IoctlGetInt(int(file.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil || flags&syncFlag != 0 {
		return err
	}
	if err := unix.IoctlSetPointerInt(int(file.Fd()), unix.FS_IOC_SETFLAGS, flags|syncFlag); err != nil {
		return err
	}
	return file.Sync()
}
