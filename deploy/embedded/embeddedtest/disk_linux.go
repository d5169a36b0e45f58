package embeddedtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Disk is a file system of the test alone, in a file: it can lose its power, and be filled.
type Disk struct {
	t     testing.TB
	image string
	Dir   string // where it is mounted
}

// NewDisk makes a file system of so many megabytes, which takes root and a loop device.
func NewDisk(t testing.TB, megabytes int) *Disk {
	t.Helper()
	if os.Geteuid() != 0 && !required() {
		t.Skip("only root may mount a file system")
	}
	d := &Disk{t: t, image: filepath.Join(t.TempDir(), "disk.img"), Dir: filepath.Join(t.TempDir(), "disk")}
	if err := os.Mkdir(d.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	d.run("truncate", "--size", fmt.Sprintf("%dM", megabytes), d.image)
	d.run("mkfs.ext4", "-q", "-F", "-m", "0", d.image)
	d.mount()
	t.Cleanup(d.unmount) // after the machine's own cleanup, which ends who writes to it
	return d
}

func (d *Disk) run(name string, args ...string) {
	d.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		d.t.Fatalf("this test needs root, mkfs.ext4 and a loop device: %s: %v\n%s", name, err, out)
	}
}

func (d *Disk) mount() {
	d.t.Helper()
	d.run("mount", "-o", "loop", d.image, d.Dir)
}

// unmount waits for the processes that were killed to be gone from it.
func (d *Disk) unmount() {
	d.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		err := unix.Unmount(d.Dir, 0)
		if err == nil || errors.Is(err, unix.EINVAL) { // it is not mounted
			return
		}
		if time.Now().After(deadline) {
			d.t.Fatalf("unmount %s: %v", d.Dir, err)
		}
	}
}

// CutPower has the disk forget all that it was not told to keep, at once: the kernel's own way to test file systems
// (EXT4_IOC_SHUTDOWN without flushing the journal). Nothing can be written after that, until RestorePower.
//
// Where the power goes, nobody is left to say that something is kept. Here whoever writes runs on, and an fsync that is
// under way while the call runs may succeed although its blocks are lost: write, fsync, cut, in a loop beside six
// writers, found that in 85 of 223 cuts, always of an fsync that ended after the call began, and never of one that
// ended before. So count what was acknowledged before the call, and leave out what is acknowledged during it.
func (d *Disk) CutPower() {
	d.t.Helper()
	dir, err := os.Open(d.Dir)
	if err != nil {
		d.t.Fatal(err)
	}
	defer dir.Close()
	const (
		shutdown       = 0x8004587d // _IOR('X', 125, __u32)
		withoutJournal = 2
	)
	if err := unix.IoctlSetPointerInt(int(dir.Fd()), shutdown, withoutJournal); err != nil {
		d.t.Fatalf("cut the power of %s: %v", d.Dir, err)
	}
}

// RestorePower reads the disk anew. Nobody may use it.
func (d *Disk) RestorePower() {
	d.t.Helper()
	d.unmount()
	d.mount()
}

// Fill takes all that is free, to the last byte, and returns what gives it free again.
func (d *Disk) Fill() (free func()) {
	d.t.Helper()
	path := filepath.Join(d.Dir, "filler")
	filler, err := os.Create(path)
	if err != nil {
		d.t.Fatal(err)
	}
	defer filler.Close()
	for size := 1 << 20; size > 0; {
		if n, err := filler.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			if size /= 2; n > 0 {
				size = min(size, n)
			}
		} else if err != nil {
			d.t.Fatal(err)
		}
	}
	return func() {
		if err := os.Remove(path); err != nil {
			d.t.Fatal(err)
		}
	}
}
