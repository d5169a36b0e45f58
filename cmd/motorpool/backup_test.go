package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/query"
)

// store opens the machine's ClickHouse.
func (m *machine) store() driver.Conn {
	m.t.Helper()
	config := query.DefaultConfig()
	config.Addrs, config.PasswordFile = []string{m.variable("MOTORPOOL_CLICKHOUSE")}, filepath.Join(m.data, appPasswordFile)
	db, err := query.Open(m.t.Context(), config)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = db.Close() })
	return db
}

func (m *machine) variable(name string) string {
	for _, entry := range slices.Backward(m.env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// rowsNow are how many rows each table has, once what is equal is merged, and a digest of them.
func (m *machine) rowsNow(tables ...string) map[string]string {
	m.t.Helper()
	db := m.store()
	if len(tables) == 0 {
		rows, err := db.Query(m.t.Context(), `SELECT name FROM system.tables
			WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name NOT IN ('backups', 'backup_files', 'ingest_holds', 'key_uses')`)
		if err != nil {
			m.t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var table string
			if err := rows.Scan(&table); err != nil {
				m.t.Fatal(err)
			}
			tables = append(tables, table)
		}
	}
	found := map[string]string{}
	for _, table := range tables {
		var rows, digest uint64
		var engine string
		if err := db.QueryRow(m.t.Context(), "SELECT engine FROM system.tables WHERE database = currentDatabase() AND name = '"+table+"'").Scan(&engine); err != nil {
			m.t.Fatal(err)
		}
		final := ""
		if engine != "MergeTree" {
			final = " FINAL"
		}
		if err := db.QueryRow(m.t.Context(), "SELECT count(), sum(cityHash64(toString(tuple(*)))) FROM "+table+final).Scan(&rows, &digest); err != nil {
			m.t.Fatal(table, err)
		}
		found[table] = fmt.Sprintf("%d rows, digest %x", rows, digest)
	}
	return found
}

func sameRows(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for _, table := range slices.Sorted(maps.Keys(want)) {
		if got[table] != want[table] {
			t.Errorf("%s: %s has %s, want %s", what, table, got[table], want[table])
		}
	}
}

// backup makes a backup and returns where it is.
func (m *machine) backup(args ...string) string {
	m.t.Helper()
	args = append([]string{"backup"}, args...)
	if m.kafka != "" {
		args = append(args, "--external-kafka")
	}
	out, errs, code := m.command(args...)
	if code != 0 {
		m.t.Fatalf("motorpool %s: %d\n%s%s\n`up` said:\n%s", strings.Join(args, " "), code, out, errs, m.said())
	}
	m.t.Log(errs)
	return strings.TrimSpace(out)
}

// outcomes are the sums of what became of all reports.
func (m *machine) outcomes() (read, stored, refused int64) {
	m.t.Helper()
	if err := m.store().QueryRow(m.t.Context(),
		"SELECT sum(read), sum(stored), sum(arraySum(mapValues(refused))) FROM ingest_outcomes FINAL").Scan(&read, &stored, &refused); err != nil {
		m.t.Fatal(err)
	}
	return read, stored, refused
}

// TestABackupOfARunningSystemIsRestoredWhole makes a full backup, one that builds upon it in the middle of a replay, and
// one of a system at rest. All come back, the last one equal in every row; and the one that is older than its log reads
// on where it stood, without a fix twice or missing.
func TestABackupOfARunningSystemIsRestoredWhole(t *testing.T) {
	m := newMachine(t)
	if m.kafka != "" {
		t.Skip("the broker's log is elsewhere") // TestABackupWithAKafkaElsewhere
	}
	m.up()
	key := strings.TrimSpace(m.must("key", "create", "--account", "Acme", "--scopes", "admin"))
	target := filepath.Join(t.TempDir(), "backups")
	repeats := "../../deploy/demo/recordings/austin-repeats.csv.gz"
	want, fixes := expected(t, repeats)
	m.replay("Acme", writeWarts(t))
	full := m.backup(target)

	replay := exec.Command(m.path, "replay", "--account", "Acme", "--register", "--json", "--rate", "400", repeats)
	replay.Env = m.env
	var out, errs bytes.Buffer
	replay.Stdout, replay.Stderr = &out, &errs
	if err := replay.Start(); err != nil {
		t.Fatal(err)
	}
	m.eventually("some fixes have arrived", func() error {
		if read, _, _ := m.outcomes(); read < 200 {
			return fmt.Errorf("%d", read)
		}
		return nil
	})
	middle := m.backup(target)
	if err := replay.Wait(); err != nil {
		t.Fatalf("replay: %v\n%s", err, errs.String())
	}
	rest := m.backup(target)
	whole := m.rowsNow()

	t.Run("at rest", func(t *testing.T) {
		other := m.another(t)
		other.must("restore", target) // the newest
		other.up()
		sameRows(t, "what was restored", other.rowsNow(), whole)
		if l := other.list(key, "/v1/vehicles"); l.Pagination.Total < len(fixes) {
			t.Errorf("the old key shows %d vehicles", l.Pagination.Total)
		}
		if out, stderr, code := other.command("restore", rest); code != exitFailure || !strings.Contains(stderr, "in use") {
			t.Errorf("a restore under a running system: %d\n%s%s", code, out, stderr)
		}
		other.interrupt()
		if _, stderr, code := other.command("restore", rest); code != exitFailure || !strings.Contains(stderr, "is not empty") {
			t.Errorf("a restore into what is not empty: %d\n%s", code, stderr)
		}
	})
	t.Run("in the middle, moved, broken off and begun again", func(t *testing.T) {
		moved := filepath.Join(t.TempDir(), "moved")
		if err := os.Rename(target, moved); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(moved, filepath.Base(rest))); err != nil {
			t.Fatal(err)
		}
		other := m.another(t)
		other.breakOff("restore", filepath.Join(moved, filepath.Base(middle)))
		if _, stderr, code := other.command("up"); code != exitFailure || !strings.Contains(stderr, "broken off") {
			t.Errorf("`up` on half a restore: %d\n%s", code, stderr)
		}
		other.must("restore", filepath.Join(moved, filepath.Base(middle)))
		other.up()
		other.eventually("what was not read then is read", func() error {
			if read, _, _ := other.outcomes(); read < 200 {
				return fmt.Errorf("%d", read)
			}
			return nil
		})
		// What came after the backup is sent again, and what came before it is refused.
		other.replay("Acme", repeats)
		read, stored, refused := other.outcomes()
		if read != stored+refused {
			t.Errorf("%d read, %d stored, %d refused", read, stored, refused)
		}
		for identifier, instants := range fixes {
			l := other.list(key, "/v1/vehicles?external_ref="+url.QueryEscape(identifier))
			if len(l.Data) != 1 {
				t.Fatalf("external_ref %s finds %+v", identifier, l.Data)
			}
			if track := other.track(key, l.Data[0].ID); len(track) != len(instants) {
				t.Errorf("%s has %d positions, want %d", identifier, len(track), len(instants))
			}
		}
		if warts := want.Stored; stored < warts {
			t.Errorf("%d stored, want %d at least", stored, warts)
		}
		var rows uint64
		if err := other.store().QueryRow(t.Context(), "SELECT count() FROM positions").Scan(&rows); err != nil || int64(rows) != stored {
			t.Errorf("%d positions lie in the table, %d were stored: %v", rows, stored, err)
		}
		sameRows(t, "sums by time", other.rowsNow("telemetry_1h", "telemetry_1d"), map[string]string{
			"telemetry_1h": whole["telemetry_1h"], "telemetry_1d": whole["telemetry_1d"],
		})
		other.interrupt()
	})
	if full == middle || middle == rest {
		t.Error("two backups have one name")
	}
	m.interrupt()
}

// another is a second machine with the same program and an empty folder.
func (m *machine) another(t *testing.T) *machine {
	t.Helper()
	other := newMachine(t)
	other.t = t
	return other
}

// breakOff runs a command and kills it once it has begun to change the database.
func (m *machine) breakOff(args ...string) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, m.path, args...)
	cmd.Env = m.env
	said := &buffer{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.eventually("the restore is under way", func() error {
		if !strings.Contains(said.String(), "restored in") {
			return errors.New(said.String())
		}
		return nil
	})
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if strings.Contains(said.String(), "go on with") {
		m.t.Fatal("it was done before it could be broken off")
	}
}
