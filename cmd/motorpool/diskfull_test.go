//go:build linux

package main

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
)

// TestFullDiskRefusesWritesAndGoesOnWhenThereIsRoom fills a disk to the last byte under load, ten times by
// `make test-long`. Reads go on all the time, writes are answered with 507, and when there is room both go on by
// themselves, with all that was acknowledged.
func TestFullDiskRefusesWritesAndGoesOnWhenThereIsRoom(t *testing.T) {
	disk := embeddedtest.NewDisk(t, 400)
	m := newMachine(t)
	m.onDisk(disk)
	m.up("--keep-free", "32")
	key, vehicle, unique := m.business()
	var told promised
	stop := make(chan struct{})
	working := told.work(m, key, unique, time.Now().Add(-24*time.Hour).Truncate(time.Second), stop)
	for round := range fillings {
		expenses, fixes := told.count()
		m.eventually("writes go on", func() error { return told.atLeast(expenses+5, fixes+5) })
		free := disk.Fill()
		refused := told.refusedFor(http.StatusInsufficientStorage)
		m.eventually("writes are refused", func() error {
			if told.refusedFor(http.StatusInsufficientStorage) < refused+5 {
				return errors.New("none was answered with 507")
			}
			return nil
		})
		m.eventually("`up` says that the disk is full", func() error {
			if strings.Count(m.said(), "the disk is full") <= round {
				return errors.New("it does not")
			}
			return nil
		})
		m.readsGoOn(key, vehicle, round, time.Second)
		if _, body, err := get(m.ops+"/readyz", ""); err != nil || !strings.Contains(string(body), "make room") {
			t.Errorf("readyz on a full disk: %v %s", err, body)
		}
		free()
		m.readsGoOn(key, vehicle, round, roomFor)
		expenses, fixes = told.count()
		m.eventually("writes go on again", func() error { return told.atLeast(expenses+5, fixes+5) })
	}
	close(stop)
	working.Wait()
	if len(told.wrong) > 0 {
		t.Errorf("answers to writes: %v %v", told.refused, told.wrong)
	}
	m.interrupt()
	m.up("--keep-free", "32")
	expenses, transactions, fixes := told.lost(m, key, vehicle)
	t.Logf("%d expenses and %d fixes acknowledged, refused by status: %v", len(told.expenses), told.fixes, told.refused)
	if expenses+transactions+fixes > 0 {
		t.Errorf("%d expenses, %d postings and %d fixes that were acknowledged are lost", expenses, transactions, fixes)
	}
	m.interrupt()
}

// readsGoOn reads for a while, lists of records and a track: nothing may be refused.
func (m *machine) readsGoOn(key, vehicle string, round int, while time.Duration) {
	m.t.Helper()
	for until := time.Now().Add(while); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		for _, path := range []string{"/v1/expenses", "/v1/vehicles",
			"/v1/vehicles/" + vehicle + "/positions?from=2000-01-02T00:00:00Z&until=2100-01-01T00:00:00Z"} {
			if status, body, err := get(m.base+path, key); err != nil || status != http.StatusOK {
				m.t.Fatalf("round %d: GET %s: %d %v\n%s\n`up` said:\n%s", round, path, status, err, body, m.said())
			}
		}
	}
}

func (p *promised) refusedFor(status int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused[status]
}
