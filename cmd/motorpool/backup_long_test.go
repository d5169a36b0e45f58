//go:build long

package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
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

// TestABackupInS3 makes two in a bucket and restores the second, although rows of it are past their time. The
// secret is in none of them, nor in what the engine keeps.
func TestABackupInS3(t *testing.T) {
	t.Parallel()
	m := newMachine(t).withOwnBroker()
	bucket := s3mem.New()
	if err := bucket.CreateBucket("fleet-backups"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(bucket).Server())
	defer server.Close()
	const secret = "a-secret-that-nobody-sees"
	file := filepath.Join(t.TempDir(), "s3")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	secretFile := "MOTORPOOL_S3_SECRET_KEY_FILE=" + file
	m.env = append(m.env, secretFile)
	flags := []string{"--s3-endpoint", server.URL, "--s3-access-key", "operator"}
	m.up()
	m.replay("Acme", writeWarts(t))
	m.backup(append(flags, "s3://fleet-backups/nightly")...)
	m.must("account", "create", "Later")
	m.writeExpired("job_output", "unregistered_reports")
	second := m.backup(append(flags, "s3://fleet-backups/nightly")...)
	tables := []string{"positions", "telemetry", "telemetry_1h", "record_log", "claim_log", "ingest_outcomes",
		"accounts", "vehicles"}
	whole := m.rowsNow(tables...)
	m.interrupt()

	other := m.another(t)
	other.env = append(other.env, secretFile)
	other.must(append([]string{"restore", second}, flags...)...)
	other.up()
	if err := differ(other.rowsNow(tables...), whole); err != nil {
		t.Errorf("what was restored from S3: %v", err)
	}
	other.interrupt()
	for _, folder := range []string{m.data, other.data} {
		if err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s holds the secret", path)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := bucket.ListBucket("fleet-backups", nil, gofakes3.ListBucketPage{})
	if err != nil || len(list.Contents) == 0 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, object := range list.Contents {
		read, err := bucket.GetObject("fleet-backups", object.Key, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(read.Contents)
		if err != nil || bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s holds the secret: %v", object.Key, err)
		}
		_ = read.Contents.Close()
	}
}

// writeExpired writes a row of long ago into each table, as they lie in a backup that has grown old: this machine keeps
// it, another deletes it when it sees it.
func (m *machine) writeExpired(tables ...string) {
	m.t.Helper()
	for _, table := range tables {
		for _, statement := range []string{
			"SYSTEM STOP TTL MERGES " + table, "INSERT INTO " + table + " (at) VALUES (now() - INTERVAL 1 YEAR)",
		} {
			if err := m.store().Exec(m.t.Context(), statement); err != nil {
				m.t.Fatal(err)
			}
		}
	}
}
