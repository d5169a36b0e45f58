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

	"github.com/motorpool/fleet/pipeline/topic"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
)

// store opens the machine's ClickHouse.
func (m *machine) store() driver.Conn {
	m.t.Helper()
	config := query.DefaultConfig()
	config.Addrs, config.PasswordFile = []string{m.variable("MOTORPOOL_CLICKHOUSE")},
		filepath.Join(m.data, appPasswordFile)
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
		var err error
		// Those that are left out are written at any time.
		tables, err = schemas.AllRows(m.t.Context(), db, "list tables", `SELECT name FROM system.tables
			WHERE database = currentDatabase() AND engine LIKE '%MergeTree'
			AND name NOT IN ('backups', 'backup_files', 'ingest_holds', 'key_uses', 'record_settled', 'checkpoints',
				'fact_runs', 'rollup_looks')`,
			nil, func(name *string, row schemas.Row) error { return row.Scan(name) })
		if err != nil {
			m.t.Fatal(err)
		}
	}
	columns := func(table string) string {
		switch table { // when and how often it was written is another matter
		case "trips", "stops":
			return "* EXCEPT (revision, updated_at)"
		case "derivations":
			return "* EXCEPT (revision, written_at)"
		case "events":
			return "* EXCEPT (noted_at)"
		case "vehicle_days", "vehicle_months", "rental_days", "rental_sums", "booking_sums", "tax_bases", "customer_sums",
			"driving_days", "driving_months", "fleet_days":
			return "* EXCEPT (computed_at)"
		case "geofence_days": // the first day of a visit that goes on knows how long it lasts
			return "* EXCEPT (computed_at, visit_s)"
		}
		return "*"
	}
	found := map[string]string{}
	for _, table := range tables {
		var rows, digest uint64
		var engine string
		if err := db.QueryRow(m.t.Context(),
			"SELECT engine FROM system.tables WHERE database = currentDatabase() AND name = '"+table+
				"'").Scan(&engine); err != nil {
			m.t.Fatal(err)
		}
		from := table
		if engine != "MergeTree" {
			from += " FINAL"
		}
		switch table {
		case "trips", "stops", "derivations":
			from += " WHERE NOT deleted AND NOT open" // what is open is written now and then
		case "claim_log":
			from += " WHERE field != 'node'" // a process that serves leases one
		case "vehicle_days", "rental_days", "fleet_days", "geofence_days":
			from += " WHERE local_date < today() - 1" // a day that is not over counts to the present
		case "vehicle_months":
			from += " WHERE month < toStartOfMonth(today() - 1)" // and so does its month
		}
		if err := db.QueryRow(m.t.Context(), "SELECT count(), sum(cityHash64(toString(tuple("+columns(table)+")))) FROM "+
			from).Scan(&rows, &digest); err != nil {
			m.t.Fatal(table, err)
		}
		found[table] = fmt.Sprintf("%d rows, digest %x", rows, digest)
	}
	return found
}

// differ says which tables do not have what is wanted.
func differ(got, want map[string]string) error {
	var errs []error
	for _, table := range slices.Sorted(maps.Keys(want)) {
		if got[table] != want[table] {
			errs = append(errs, fmt.Errorf("%s has %s, want %s", table, got[table], want[table]))
		}
	}
	return errors.Join(errs...)
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
		"SELECT sum(read), sum(stored), sum(arraySum(mapValues(refused))) FROM ingest_outcomes FINAL").Scan(&read, &stored,
		&refused); err != nil {
		m.t.Fatal(err)
	}
	return read, stored, refused
}

// unread is how many records the pipeline has not worked through.
func (m *machine) unread() int64 {
	m.t.Helper()
	config := topic.DefaultConfig()
	config.Brokers = []string{m.variable("MOTORPOOL_KAFKA")}
	client, err := config.Client()
	if err != nil {
		m.t.Fatal(err)
	}
	defer topic.Disconnect(client)
	lag, err := topic.Lag(m.t.Context(), client, consumerGroup, config.Ingest()...)
	if err != nil {
		m.t.Fatal(err)
	}
	return lag
}

// TestABackupOfARunningSystemIsRestoredWhole makes a full backup, one that builds upon it in the middle of a replay,
// and one of a system at rest. All come back, the last one equal in every row; and the one that is older than its log
// reads on where it stood, without a fix twice or missing.
func TestABackupOfARunningSystemIsRestoredWhole(t *testing.T) {
	t.Parallel()
	m := newMachine(t).withOwnBroker() // with another: TestARestoreOlderThanItsKafkaReadsOnWhereItStands
	m.up()
	key := strings.TrimSpace(m.must("key", "create", "--account", "Acme", "--scopes", "admin"))
	target := filepath.Join(t.TempDir(), "backups")
	repeats := "../../deploy/demo/recordings/austin-repeats.csv.gz"
	want, fixes := expected(t, repeats)
	m.replay("Acme", writeWarts(t))
	full := m.backup(target)
	inside := filepath.Join(m.data, "backups")
	if _, stderr, code := m.command("backup", inside); code != exitFailure || !strings.Contains(stderr, "another disk") {
		t.Errorf("a backup into the folder that is backed up: %d, %s", code, stderr)
	}

	before, _, _ := m.outcomes()
	all := before + want.Read
	replay := exec.Command(m.path, "replay", "--account", "Acme", "--register", "--json", "--rate", "400", repeats)
	replay.Env = m.env
	var out, errs bytes.Buffer
	replay.Stdout, replay.Stderr = &out, &errs
	if err := replay.Start(); err != nil {
		t.Fatal(err)
	}
	m.eventually("some fixes have arrived", func() error {
		if read, _, _ := m.outcomes(); read < before+100 {
			return fmt.Errorf("%d", read)
		}
		return nil
	})
	hold := func(span time.Duration) {
		t.Helper()
		if err := query.AskIngestHold(t.Context(), m.store(), "test", span); err != nil {
			t.Fatal(err)
		}
	}
	hold(time.Hour)
	stood := int64(-1)
	m.eventually("the rest is in Kafka and not read", func() error {
		read, _, _ := m.outcomes()
		unread := m.unread()
		if read+unread != all || read != stood {
			stood = read
			return fmt.Errorf("%d read and %d not, of %d", read, unread, all)
		}
		return nil
	})
	middle := m.backup(target)
	hold(0)
	if err := replay.Wait(); err != nil {
		t.Fatalf("replay: %v\n%s", err, errs.String())
	}
	m.eventually("the rest is read", func() error {
		read, _, _ := m.outcomes()
		if unread := m.unread(); read < all || unread > 0 {
			return fmt.Errorf("%d read and %d not, of %d", read, unread, all)
		}
		return nil
	})
	seen := m.rowsNow()
	m.within(3*time.Minute, "what follows from it is told", func() error {
		time.Sleep(5 * time.Second)
		before := seen
		seen = m.rowsNow("events", "derivations", "trips", "stops", "driving_days")
		return differ(before, seen)
	})
	whole := m.rowsNow()
	rest := m.backup(target)
	// Time goes on: what it brings about under the backup's hands is not compared.
	maps.DeleteFunc(whole, func(table, rows string) bool { return m.rowsNow(table)[table] != rows })
	for _, table := range []string{"positions", "telemetry", "telemetry_1h", "record_log", "claim_log",
		"ingest_outcomes", "vehicles"} {
		if whole[table] == "" {
			t.Errorf("%s changed while nothing was sent", table)
		}
	}
	t.Logf("%d tables are compared", len(whole))

	tables := []string{"telemetry_1m", "telemetry_1h", "telemetry_1d", "vehicle_mileage", "trips", "stops"}
	alike := m.rowsNow(tables...)
	t.Run("at rest", func(t *testing.T) {
		other := m.another(t)
		other.must("restore", target) // the newest
		other.up()
		// What was still to be repaired when the backup was made is repaired in both, each in its own time; facts are
		// made each minute.
		other.within(3*time.Minute, "every row is there", func() error {
			if unread := other.unread(); unread > 0 {
				return fmt.Errorf("%d records are read that were read before the backup", unread)
			}
			tables := slices.Collect(maps.Keys(whole))
			got, want := other.rowsNow(tables...), m.rowsNow(tables...)
			for table, rows := range whole {
				if got[table] == rows {
					want[table] = rows
				}
			}
			return differ(got, want)
		})
		if l := other.list(key, "/v1/vehicles"); l.Pagination.Total < len(fixes) {
			t.Errorf("the old key shows %d vehicles", l.Pagination.Total)
		}
		if out, stderr, code := other.command("restore", rest); code != exitFailure || !strings.Contains(stderr, "in use") {
			t.Errorf("a restore under a running system: %d\n%s%s", code, out, stderr)
		}
		other.interrupt()
		if _, stderr, code := other.command("restore", rest); code != exitFailure ||
			!strings.Contains(stderr, "is not empty") {
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
			// The replay sends again what was acknowledged late, and then there is more.
			if read, _, _ := other.outcomes(); read < all {
				return fmt.Errorf("%d of %d, after %d", read, all, stood)
			}
			return nil
		})
		sameCounts(t, "the same again", other.replay("Acme", repeats), counted{
			Read: want.Read, Refused: map[string]int64{"duplicate": want.Read},
		})
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
		var rows uint64
		if err := other.store().QueryRow(t.Context(), "SELECT count() FROM positions FINAL").Scan(&rows); err != nil ||
			int64(rows) != stored {
			t.Errorf("%d positions lie in the table, %d were stored: %v", rows, stored, err)
		}
		other.eventually("derived and summed up alike", func() error { return differ(other.rowsNow(tables...), alike) })
		other.interrupt()

		spoilt := m.another(t)
		spoil(t, moved)
		if out, stderr, code := spoilt.command("restore", filepath.Join(moved, filepath.Base(middle))); code != exitFailure {
			t.Errorf("a backup with a byte that differs was restored: %d\n%s%s", code, out, stderr)
		}
	})
	if full == middle || middle == rest {
		t.Error("two backups have one name")
	}
	m.interrupt()
}

// spoil changes a byte of what a backup holds of the positions.
func spoil(t *testing.T, backups string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(backups, "*", "store", "data", "motorpool", "positions", "*", "data.bin"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the backups hold no positions: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text[len(text)/2] ^= 1
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// another is a second machine with the same program and an empty folder.
func (m *machine) another(t *testing.T) *machine {
	t.Helper()
	other := newMachine(t)
	other.t = t
	if m.kafka == "" {
		other.withOwnBroker()
	}
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
