package main

import (
	"testing"
	"time"
)

// TestNothingAcknowledgedIsLostInAPowerCut cuts the power under load and looks for every expense, posting and fix that was
// acknowledged. With --durability os some must be missing, or the test would not see a loss.
func TestNothingAcknowledgedIsLostInAPowerCut(t *testing.T) {
	for _, durability := range []string{"sync", "os"} {
		t.Run(durability, func(t *testing.T) {
			disk := newDisk(t, 900)
			m := newMachine(t)
			m.onDisk(disk)
			m.up("--durability", durability, "--keep-free", "16")
			key, vehicle, unique := m.business()
			if durability == "os" { // what comes before the load is not meant
				disk.run("sync", "--file-system", disk.dir)
			}
			var told promised
			stop := make(chan struct{})
			working := told.work(m, key, unique, time.Now().Add(-24*time.Hour).Truncate(time.Second), stop)
			m.eventually("some of everything is acknowledged", func() error { return told.atLeast(30, 30) })
			disk.cutPower()
			close(stop)
			m.kill()
			working.Wait()
			disk.restorePower()
			m.up("--durability", durability, "--keep-free", "16")
			expenses, transactions, fixes := told.lost(m, key, vehicle)
			t.Logf("of %d expenses and %d fixes that were acknowledged, %d expenses, %d postings and %d fixes are lost",
				len(told.expenses), told.fixes, expenses, transactions, fixes)
			if lost := expenses + transactions + fixes; (lost == 0) != (durability == "sync") {
				t.Errorf("with --durability %s %d are lost", durability, lost)
			}
			m.interrupt()
		})
	}
}
