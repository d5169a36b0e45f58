package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ownDisk is a file system of the test alone, in a file: it can lose its power, and be filled.
type ownDisk struct {
	t     *testing.T
	image string
	dir   string // where it is mounted
}

// newDisk makes a file system of so many megabytes, which takes root and a loop device.
func newDisk(t *testing.T, megabytes int) *ownDisk {
	t.Helper()
	if os.Geteuid() != 0 && os.Getenv("CI") != "true" && os.Getenv("MOTORPOOL_REQUIRE_ENGINES") != "1" {
		t.Skip("only root may mount a file system")
	}
	d := &ownDisk{t: t, image: filepath.Join(t.TempDir(), "disk.img"), dir: filepath.Join(t.TempDir(), "disk")}
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	d.run("truncate", "--size", fmt.Sprintf("%dM", megabytes), d.image)
	d.run("mkfs.ext4", "-q", "-F", "-m", "0", d.image)
	d.mount()
	t.Cleanup(d.unmount) // after the machine's own cleanup, which ends who writes to it
	return d
}

func (d *ownDisk) run(name string, args ...string) {
	d.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		d.t.Fatalf("this test needs root, mkfs.ext4 and a loop device: %s: %v\n%s", name, err, out)
	}
}

func (d *ownDisk) mount() {
	d.t.Helper()
	d.run("mount", "-o", "loop", d.image, d.dir)
}

// unmount waits for the processes that were killed to be gone from it.
func (d *ownDisk) unmount() {
	d.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		err := unix.Unmount(d.dir, 0)
		if err == nil || errors.Is(err, unix.EINVAL) { // it is not mounted
			return
		}
		if time.Now().After(deadline) {
			d.t.Fatalf("unmount %s: %v", d.dir, err)
		}
	}
}

// cutPower has the disk forget all that it was not told to keep, at once: the kernel's own way to test file systems
// (EXT4_IOC_SHUTDOWN without flushing the journal). Nothing can be written after that, until restorePower.
func (d *ownDisk) cutPower() {
	d.t.Helper()
	dir, err := os.Open(d.dir)
	if err != nil {
		d.t.Fatal(err)
	}
	defer dir.Close()
	const (
		shutdown       = 0x8004587d // _IOR('X', 125, __u32)
		withoutJournal = 2
	)
	if err := unix.IoctlSetPointerInt(int(dir.Fd()), shutdown, withoutJournal); err != nil {
		d.t.Fatalf("cut the power of %s: %v", d.dir, err)
	}
}

// restorePower reads the disk anew. Nobody may use it.
func (d *ownDisk) restorePower() {
	d.t.Helper()
	d.unmount()
	d.mount()
}

// kill ends the program and its engines at once.
func (m *machine) kill() {
	m.t.Helper()
	_ = m.process.Process.Kill()
	<-m.exited
	m.process = nil
}

// post sends JSON and returns what is answered.
func (m *machine) post(key, path, body string) (int, []byte, error) {
	request, err := http.NewRequest(http.MethodPost, m.base+path, bytes.NewBufferString(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// promised is what a business was told that it is kept.
type promised struct {
	mu       sync.Mutex
	expenses []string // posted
	fixes    int
	refused  map[int]int // by status
	wrong    []string    // answers that nobody should get
}

// work writes to a machine until stop is closed: expenses, which post to the ledger, from one side, and fixes of one
// vehicle from another. A write that is not acknowledged is nobody's promise; a fix is sent again until it is.
func (p *promised) work(m *machine, key, unique string, begin time.Time, stop <-chan struct{}) *sync.WaitGroup {
	var all sync.WaitGroup
	until := func(f func()) {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(40 * time.Millisecond): // below the limits of an account
					f()
				}
			}
		})
	}
	for range 3 {
		until(func() {
			const expense = `{"category":"fuel","amount":{"amount":100,"currency":"USD"},"incurred_on":"2026-03-01","status":"posted"}`
			status, body, err := m.post(key, "/v1/expenses", expense)
			var made struct{ ID string }
			p.note(status, body, err, http.StatusCreated, func() {
				if json.Unmarshal(body, &made) == nil {
					p.expenses = append(p.expenses, made.ID)
				}
			})
		})
	}
	at := begin
	until(func() {
		fix := fmt.Sprintf(`{"data":[{"unique_id":%q,"fix_at":%q,"lat":52.1,"lng":13.2}]}`, unique, at.Format(time.RFC3339))
		status, body, err := m.post(key, "/v1/positions", fix)
		p.note(status, body, err, http.StatusAccepted, func() {
			p.fixes++
			at = at.Add(time.Second)
		})
	})
	return &all
}

// note sorts an answer: kept is called if it is the one that promises.
func (p *promised) note(status int, body []byte, err error, good int, kept func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err != nil: // the program is gone
	case status == good:
		kept()
	default:
		if p.refused == nil {
			p.refused = map[int]int{}
		}
		p.refused[status]++
		if status != http.StatusInsufficientStorage && status != http.StatusServiceUnavailable && len(p.wrong) < 5 {
			p.wrong = append(p.wrong, fmt.Sprintf("%d %s", status, body))
		}
	}
}

func (p *promised) count() (expenses, fixes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.expenses), p.fixes
}

// lost counts what a machine does not have of what was promised. It waits until the fixes that it has are stored.
func (p *promised) lost(m *machine, key, vehicle string) (expenses, transactions, fixes int) {
	m.t.Helper()
	for _, id := range p.expenses {
		status, body, err := get(m.base+"/v1/expenses/"+id, key)
		if err != nil || status != http.StatusOK && status != http.StatusNotFound {
			m.t.Fatalf("GET an expense: %d %v\n%s", status, err, body)
		}
		if status == http.StatusNotFound {
			expenses++
		}
	}
	// Consequences of the last writes may be carried out again.
	var stored []string
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		transactions = len(p.expenses) - m.list(key, "/v1/ledger/transactions").Pagination.Total
		stored = m.track(key, vehicle)
		if transactions <= 0 && len(stored) >= p.fixes {
			break
		}
	}
	once := map[string]bool{}
	for _, at := range stored {
		if once[at] {
			m.t.Errorf("the fix of %s is stored twice", at)
		}
		once[at] = true
	}
	return expenses, max(transactions, 0), max(p.fixes-len(once), 0)
}

// onDisk moves the machine's folder to a disk of its own.
func (m *machine) onDisk(d *ownDisk) {
	m.data = filepath.Join(d.dir, "data")
	m.env = append(m.env, "MOTORPOOL_DATA="+m.data)
}

// business makes a key, a vehicle and its tracker.
func (m *machine) business() (key, vehicle, unique string) {
	m.t.Helper()
	key = strings.TrimSpace(m.must("key", "create", "--account", "Acme", "--scopes", "admin"))
	status, body, err := m.post(key, "/v1/vehicles", `{"make":"Ford","model":"Transit"}`)
	var made struct{ ID string }
	if err != nil || status != http.StatusCreated || json.Unmarshal(body, &made) != nil {
		m.t.Fatalf("make a vehicle: %d %v\n%s", status, err, body)
	}
	unique = "imei-" + made.ID
	m.must("device", "create", unique, "--account", "Acme", "--vehicle", made.ID)
	return key, made.ID, unique
}

// atLeast is an error as long as less was promised of something.
func (p *promised) atLeast(someExpenses, someFixes int) error {
	if expenses, fixes := p.count(); expenses < someExpenses || fixes < someFixes {
		return fmt.Errorf("%d expenses, %d fixes are acknowledged", expenses, fixes)
	}
	return nil
}
