//go:build long

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/motorpool/fleet/deploy/embedded"
)

// TestARestoreOlderThanItsKafkaReadsOnWhereItStands: a Kafka elsewhere runs on after the backup, and the restored
// system works through all that it got since, as the one did that was lost.
func TestARestoreOlderThanItsKafkaReadsOnWhereItStands(t *testing.T) {
	m := newMachine(t)
	broker, err := embedded.StartBroker(embedded.BrokerConfig{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Stop()
	m.elsewhere(broker.Addr())
	m.up()
	m.must("key", "create", "--account", "Acme", "--scopes", "admin")
	m.replay("Acme", writeWarts(t))
	made := m.backup(t.TempDir())

	later := filepath.Join(t.TempDir(), "later.csv")
	text := "vehicle,timestamp,lat,lng,speed_kmh,battery_pct\n"
	for i := range 200 {
		text += fmt.Sprintf("w%d,2021-05-03T10:%02d:%02dZ,48.%04d,11.5,30,%d\n", 1+i%2, i/60, i%60, 1000+3*i, 80-i/4)
	}
	if err := os.WriteFile(later, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m.replay("Acme", later)
	tables := []string{"positions", "telemetry", "telemetry_1h", "ingest_outcomes", "vehicle_mileage", "trips", "stops"}
	want := m.rowsNow(tables...)
	m.interrupt()

	other := m.another(t)
	other.elsewhere(broker.Addr())
	if _, stderr, code := other.command("restore", made); code != exitFailure ||
		!strings.Contains(stderr, "--external-kafka") {
		t.Errorf("a restore without the Kafka that it belongs to: %d\n%s", code, stderr)
	}
	other.must("restore", "--external-kafka", made)
	other.up()
	other.eventually("everything since is there", func() error {
		return differ(other.rowsNow(tables...), want)
	})
	other.interrupt()
}

// elsewhere makes the machine use a Kafka that runs already.
func (m *machine) elsewhere(addr string) {
	m.kafka = addr
	m.env = append(m.env, "MOTORPOOL_KAFKA="+addr)
}
