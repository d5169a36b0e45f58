//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
)

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
	over     bool      // nothing more is promised
	expenses []string  // posted
	begin    time.Time // of the first fix; the others follow second by second
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
	p.begin = begin
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
	case err != nil || p.over: // the program or its power is gone
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

// end has nothing count as promised that is answered from now on: a disk whose power is being cut says of writes that
// they are kept and loses them, which no program can know, and where the power really goes nobody hears it.
func (p *promised) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}

func (p *promised) count() (expenses, fixes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.expenses), p.fixes
}

// lostExpenses counts those that a machine does not have.
func (p *promised) lostExpenses(m *machine, key string) (lost int) {
	m.t.Helper()
	for _, id := range p.expenses {
		status, body, err := get(m.base+"/v1/expenses/"+id, key)
		switch {
		case status == http.StatusNotFound:
			lost++
		case err != nil || status != http.StatusOK:
			m.t.Fatalf("GET an expense: %d %v\n%s", status, err, body)
		}
	}
	return lost
}

// lost counts what a machine does not have of what was promised. It waits until the fixes that it has are stored.
func (p *promised) lost(m *machine, key, vehicle string) (expenses, transactions, fixes int) {
	m.t.Helper()
	expenses = p.lostExpenses(m, key)
	// Consequences of the last writes may be carried out again.
	var stored []string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
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
	for i := range p.fixes {
		if at := p.begin.Add(time.Duration(i) * time.Second).UTC().Format("2006-01-02T15:04:05.000Z"); !once[at] {
			m.t.Logf("fix %d of %d, that of %s, is not stored; there are %v", i+1, p.fixes, at, stored)
		}
	}
	return expenses, max(transactions, 0), max(p.fixes-len(once), 0)
}

// onDisk moves the machine's folder to a disk of its own.
func (m *machine) onDisk(d *embeddedtest.Disk) {
	m.data = filepath.Join(d.Dir, "data")
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
