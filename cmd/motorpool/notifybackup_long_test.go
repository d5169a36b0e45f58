//go:build long

package main

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// TestABackupBesideANotifyThatIsKilledLosesNoDelivery kills what sends again and again while a backup is made, and the
// machine afterwards: what the account was told before the backup comes to the endpoint, from one machine or the other.
func TestABackupBesideANotifyThatIsKilledLosesNoDelivery(t *testing.T) {
	m := newMachine(t).withOwnBroker()
	h, receiver := newHooked(m)
	m.up("--webhook-hold")
	h.begin(receiver.URL)
	over := make(chan struct{})
	var killing sync.WaitGroup
	killing.Go(func() {
		for after := time.Second; ; after += 300 * time.Millisecond {
			sending, _, err := m.startNotify()
			if err != nil {
				t.Error(err)
				return
			}
			select {
			case <-over:
				return
			case <-time.After(after):
			}
			_ = sending.Kill()
		}
	})
	h.vehicles(0, 40)
	made := m.backup(t.TempDir())
	h.vehicles(40, 60) // which the backup may lack
	close(over)
	killing.Wait()
	if err := m.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-m.exited
	m.process = nil

	other := m.another(t)
	other.env = append(other.env, "MOTORPOOL_OUTBOUND_NETWORKS=127.0.0.0/8", "MOTORPOOL_WEBHOOK_HTTP=true",
		"MOTORPOOL_WEBHOOK_PORTS="+m.variable("MOTORPOOL_WEBHOOK_PORTS"))
	other.must("restore", made)
	key, err := os.ReadFile(filepath.Join(m.data, sealKeyFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other.data, sealKeyFile), key, 0o600); err != nil {
		t.Fatal(err)
	}
	other.up()
	h.machine = other
	ids, err := h.told()
	if err != nil || len(ids) < 40 {
		t.Fatalf("the backup has %d events, %v", len(ids), err)
	}
	h.all(len(ids))
	h.vehicles(60, 62)
	h.all(len(ids) + 2)
}
