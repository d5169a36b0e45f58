//go:build linux

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
)

// TestNothingAcknowledgedIsLostInAPowerCut cuts the power under load and looks for every expense, posting and fix that
// was acknowledged before. That such a cut loses what is not synced is shown with the broker alone, in deploy/embedded.
func TestNothingAcknowledgedIsLostInAPowerCut(t *testing.T) {
	m := newMachine(t).withOwnBroker()
	disk := embeddedtest.NewDisk(t, 900)
	m.onDisk(disk)
	m.up("--keep-free", "16")
	key, vehicle, unique := m.business()
	var told promised
	stop := make(chan struct{})
	working := told.work(m, key, unique, time.Now().Add(-24*time.Hour).Truncate(time.Second), stop)
	m.eventually("some of everything is acknowledged", func() error { return told.atLeast(30, 30) })
	told.end()
	disk.CutPower()
	close(stop)
	m.kill()
	working.Wait()
	disk.RestorePower()
	m.up("--keep-free", "16")
	if out, _, _ := m.command("doctor"); !strings.Contains(out, "what is acknowledged is on the disk") {
		t.Errorf("doctor says:\n%s", out)
	}
	expenses, transactions, fixes := told.lost(m, key, vehicle)
	t.Logf("of %d expenses and %d fixes that were acknowledged, %d expenses, %d postings and %d fixes are lost",
		len(told.expenses), told.fixes, expenses, transactions, fixes)
	if expenses+transactions+fixes > 0 {
		t.Error("what was acknowledged is lost")
	}
	m.interrupt()
}
