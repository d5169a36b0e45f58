package system

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Used returns the processor time that a process has used, and the memory that it has now, in bytes.
func Used(pid int) (cpu time.Duration, memory int64, err error) {
	p, err := statOf(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return p.cpu, p.memory, err
}

// UsedByAll returns the processor time that a process and its children have used.
func UsedByAll(pid int) (time.Duration, error) {
	all, _, err := Used(pid)
	if err != nil {
		return 0, err
	}
	others, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	for _, path := range others {
		if p, err := statOf(path); err == nil && p.parent == pid { // others come and go
			all += p.cpu
		}
	}
	return all, nil
}

type stat struct {
	parent int
	cpu    time.Duration
	memory int64
}

// statOf reads what the kernel tells of a process (proc(5)).
func statOf(path string) (stat, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return stat{}, err
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name may have spaces
	fields := strings.Fields(rest)
	if len(fields) < 22 {
		return stat{}, fmt.Errorf("%q tells nothing of processor time", text)
	}
	parent, bad1 := strconv.Atoi(fields[1])
	user, bad2 := strconv.ParseInt(fields[11], 10, 64)
	kernel, bad3 := strconv.ParseInt(fields[12], 10, 64)
	pages, bad4 := strconv.ParseInt(fields[21], 10, 64)
	const tick = 10 * time.Millisecond // Linux tells it in hundredths of a second
	return stat{parent, time.Duration(user+kernel) * tick, pages * int64(os.Getpagesize())},
		errors.Join(bad1, bad2, bad3, bad4)
}
