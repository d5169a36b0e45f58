package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/api/desk/books"
	"github.com/motorpool/fleet/pipeline/topic"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
)

type doctorCommand struct {
	JSON   bool `name:"json" help:"Print JSON."`
	Books  bool `help:"Look through the books of all accounts instead, whole: what is stored twice must agree."`
	Repair bool `help:"With --books: make again what differs, from the log and the entries of the ledger, which never change."`
}

func (doctorCommand) Help() string {
	return `Looks at the data folder, ClickHouse and Kafka as the settings name them. It changes nothing, unless it is to repair,
and fails if anything is wrong.

With --books it holds the ledger against its sums by day and month, facts against the ledger, bookings and calendars,
tables of current records against the log, and deposits held against deposits owed, of all accounts. What differs is
looked at again after some seconds, and may take minutes where there is much. With --repair it is made again; it may be
done while everything runs, and again.`
}

// finding is one thing that was looked at.
type finding struct {
	What   string `json:"what"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Advice string `json:"advice,omitempty"` // what to do, if it is not OK
}

// Limits of the doctor.
const (
	doctorTime     = 20 * time.Second
	ledgerTime     = 8 * time.Second // of it for the books
	ledgerSample   = 50              // records whose postings are worked out anew
	viewsTime      = 6 * time.Second // of it for what views fill
	viewsWithin    = 24 * time.Hour  // that is compared with what they read
	viewsUnderWay  = time.Minute     // that an insert may still be on its way to them
	clockTolerance = 2 * time.Second
	leastFree      = 2 << 30
	leastMajor     = 26 // of ClickHouse: from 26.2 on repeated tokens hold in the tables that views fill
	leastMinor     = 2
)

func (c doctorCommand) Run(ctx context.Context, s settings, o output) error {
	if c.Repair && !c.Books {
		return errors.New("--repair is for --books: give both, or leave it out")
	}
	if c.Books {
		findings, err := examineBooks(ctx, s, c.Repair, o.err)
		if len(findings) == 0 && err != nil {
			return err
		}
		return errors.Join(c.say(findings, o), err)
	}
	ctx, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	findings := examineData(s)
	findings = append(findings, examineStore(ctx, s)...)
	findings = append(findings, examineKafka(ctx, s)...)
	return c.say(append(findings, examineWindow(ctx, s)...), o)
}

// say prints what was found; that something is wrong is an error that has been reported then.
func (c doctorCommand) say(findings []finding, o output) error {
	healthy := true
	for _, f := range findings {
		healthy = healthy && f.OK
	}
	if c.JSON {
		encoder := json.NewEncoder(o.out)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(map[string]any{"ok": healthy, "findings": findings}); err != nil {
			return err
		}
	} else {
		printFindings(o.out, findings)
	}
	if !healthy {
		return errReported
	}
	return nil
}

func printFindings(w io.Writer, findings []finding) {
	for _, f := range findings {
		mark := "ok  "
		if !f.OK {
			mark = "FAIL"
		}
		fmt.Fprintf(w, "%s  %-28s %s\n", mark, f.What, f.Detail)
		if f.Advice != "" {
			fmt.Fprintf(w, "      %-28s -> %s\n", "", f.Advice)
		}
	}
}

// judge makes a finding whose advice shows only if it is not OK.
func judge(what string, ok bool, detail, advice string) finding {
	f := finding{What: what, OK: ok, Detail: detail}
	if !ok {
		f.Advice = advice
	}
	return f
}

// examineData looks at the data folder, if there is one: only a machine that runs `up` has it.
func examineData(s settings) []finding {
	info, err := os.Stat(s.Data)
	if os.IsNotExist(err) {
		return []finding{judge("data folder", true, s.Data+" does not exist; 'motorpool up' makes it", "")}
	}
	if err != nil {
		return []finding{judge("data folder", false, err.Error(), "make it readable for this user")}
	}
	if !info.IsDir() {
		return []finding{judge("data folder", false, s.Data+" is no folder", "give another --data")}
	}
	mode := info.Mode().Perm()
	findings := []finding{judge("data folder", mode&0o077 == 0, fmt.Sprintf("%s, mode %#o", s.Data, mode),
		"others can read the passwords in it: chmod 700 "+s.Data)}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(s.Data, &disk); err == nil {
		free := uint64(disk.Bavail) * uint64(disk.Bsize)
		findings = append(findings, judge("free disk", free >= leastFree, gigabytes(free)+" free",
			"less than "+gigabytes(leastFree)+": make room, or move the data folder"))
	}
	return findings
}

func gigabytes(n uint64) string {
	if n < 1e9 {
		return fmt.Sprintf("%d MB", n/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

func examineStore(ctx context.Context, s settings) []finding {
	config := s.store()
	where := strings.Join(config.Addrs, ", ")
	began := time.Now()
	db, err := query.Open(ctx, config)
	if errors.Is(err, query.ErrSeveralStores) {
		return []finding{judge("clickhouse", false, err.Error(), "give one address with --clickhouse, or share the tables")}
	}
	if err != nil {
		return []finding{judge("clickhouse", false, err.Error(),
			"start 'motorpool up', or give --clickhouse, --clickhouse-user and --clickhouse-password-file of a running server; 'motorpool migrate' makes the database")}
	}
	defer db.Close()
	findings := []finding{judge("clickhouse", true,
		fmt.Sprintf("%s answers in %d ms", where, time.Since(began).Milliseconds()), "")}
	if err := refuseUnfinished(ctx, db, config.Database); err != nil {
		return append(findings,
			judge("restore", false, err.Error(), "run 'motorpool restore' again, or give an empty --data"))
	}
	findings = append(findings, examineServer(ctx, db)...)
	findings = append(findings, examineSchema(ctx, db)...)
	findings = append(findings, examineDurability(ctx, db, s.synced()), examinePoison(ctx, db))
	findings = append(findings, examineLedger(ctx, db)...)
	return append(findings, examineViews(ctx, db), examineBI(ctx, db, config.Database))
}

// examineViews compares what views have made of the last day with what they read, as long as that does not take too
// long.
func examineViews(ctx context.Context, db driver.Conn) finding {
	ctx, cancel := context.WithTimeout(ctx, viewsTime)
	defer cancel()
	torn, err := query.TornViews(ctx, db, time.Now().Add(-viewsWithin), time.Now().Add(-viewsUnderWay))
	if ctx.Err() != nil {
		return judge("views", true, fmt.Sprintf("too large to be looked through within %s", viewsTime), "")
	}
	if err != nil {
		return judge("views", false, err.Error(), "run 'motorpool migrate'")
	}
	return judge("views", len(torn) == 0,
		fmt.Sprintf("%d tables lack what their views ought to have made of the last day %s", len(torn),
			strings.Join(torn, " ")),
		"ask again in a minute: ingest repeats what was cut off. What stays is made again by 'motorpool migrate --fill'")
}

// examineLedger looks through the books, as long as that does not take too long.
func examineLedger(ctx context.Context, db driver.Conn) []finding {
	ctx, cancel := context.WithTimeout(ctx, ledgerTime)
	defer cancel()
	faults, err := query.LedgerAudit(ctx, db)
	if ctx.Err() != nil {
		return []finding{judge("ledger", true, fmt.Sprintf("too large to be looked through within %s", ledgerTime), "")}
	}
	if err != nil {
		return []finding{judge("ledger", false, err.Error(), "run 'motorpool migrate'")}
	}
	findings := []finding{judge("ledger", faults == query.LedgerFaults{},
		fmt.Sprintf("%d transactions out of balance, %d incomplete, %d entries twice", faults.Unbalanced, faults.Incomplete,
			faults.Doubled),
		"what is just being written counts too, and incomplete ones are completed within a minute while 'motorpool serve' runs: ask again, and report what stays")}
	looked, wrong, err := books.CheckBooks(ctx, db, ledgerSample)
	if err != nil {
		return append(findings, judge("ledger and records", false, err.Error(), "try again"))
	}
	return append(findings, judge("ledger and records", len(wrong) == 0,
		fmt.Sprintf("%d records looked at, %d differences %s", looked, len(wrong), strings.Join(wrong, "; ")),
		"report them: the entries of a record must sum to what it stands for"))
}

// examinePoison tells of record batches that the pipeline had to step over.
func examinePoison(ctx context.Context, db driver.Conn) finding {
	var batches uint64
	var newest string
	if err := db.QueryRow(ctx, schemas.Query("doctor_poison")).Scan(&batches, &newest); err != nil {
		return judge("kafka batches", false, err.Error(), "run 'motorpool migrate'")
	}
	if batches == 0 {
		return judge("kafka batches", true, "all of the last 7 days could be read", "")
	}
	return judge("kafka batches", false,
		fmt.Sprintf("%d of the last 7 days could not be read, the newest on %s", batches, newest),
		"what was in them is not stored: correct what produces them, or for a checksum the broker's disk, and send it again; their first bytes are in the table dead_letters, reason 'unreadable_batch'")
}

func examineServer(ctx context.Context, db driver.Conn) []finding {
	var version string
	var nowMS int64
	var async, dedup, dedupViews bool
	var free uint64
	before := time.Now()
	if err := db.QueryRow(ctx, schemas.Query("doctor_server")).Scan(&version, &nowMS, &async, &dedup, &dedupViews,
		&free); err != nil {
		return []finding{judge("clickhouse server", false, err.Error(), "give the user the right to read system tables")}
	}
	// The server's clock was read somewhere in between.
	middle := before.Add(time.Since(before) / 2)
	apart := time.UnixMilli(nowMS).Sub(middle)
	return []finding{
		judge("clickhouse version", recentEnough(version), version,
			fmt.Sprintf("install ClickHouse %d.%d or newer", leastMajor, leastMinor)),
		judge("insert settings", !async && dedup && dedupViews,
			fmt.Sprintf("async_insert %v, insert_deduplicate %v, deduplicate_blocks_in_dependent_materialized_views %v", async,
				dedup, dedupViews),
			"the user's profile forbids to set them: allow them, or set them in the profile to 0, 1 and 1"),
		judge("clock difference", apart.Abs() <= clockTolerance, apart.Round(time.Millisecond).String(),
			"run a time service (NTP) on both machines"),
		judge("clickhouse disk", free >= leastFree, gigabytes(free)+" free", "make room on the server's disk"),
	}
}

func recentEnough(version string) bool {
	parts := strings.Split(version, ".")
	if len(parts) < 2 {
		return false
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	return err1 == nil && err2 == nil && (major > leastMajor || major == leastMajor && minor >= leastMinor)
}

func examineSchema(ctx context.Context, db driver.Conn) []finding {
	applied, err := schemas.Applied(ctx, db)
	if err != nil {
		return []finding{judge("schema", false, "not there", "run 'motorpool migrate'")}
	}
	var missing, edited []string
	for _, m := range schemas.Migrations() {
		switch sum, ok := applied[m.Version]; {
		case !ok:
			missing = append(missing, m.Version)
		case sum != m.Checksum:
			edited = append(edited, m.Version)
		}
	}
	findings := []finding{judge("schema", len(missing)+len(edited) == 0,
		fmt.Sprintf("%d migrations applied, %d missing, %d of another text %s", len(applied), len(missing), len(edited),
			strings.Join(append(missing, edited...), " ")),
		"run 'motorpool migrate'; one of another text means that this database belongs to another version")}
	unguarded, err := namedTables(ctx, db, "doctor_tables")
	if err != nil {
		return append(findings, judge("deduplication", false, err.Error(), "give the user the right to read system.tables"))
	}
	return append(findings, judge("deduplication", len(unguarded) == 0,
		fmt.Sprintf("%d tables without a window %s", len(unguarded), strings.Join(unguarded, " ")),
		"ALTER TABLE … MODIFY SETTING non_replicated_deduplication_window = 10000"))
}

// examineWindow holds what the tables remember against the topics, if both answer.
func examineWindow(ctx context.Context, s settings) []finding {
	partitions, err := topic.IngestPartitions(ctx, s.topics(false))
	if err != nil {
		return nil
	}
	db, err := query.Open(ctx, s.store())
	if err != nil {
		return nil
	}
	defer db.Close()
	window := schemas.Window(partitions)
	narrow, err := schemas.Narrow(ctx, db, window)
	if err != nil {
		return nil // examineSchema has said why
	}
	return []finding{judge("deduplication window", len(narrow) == 0,
		fmt.Sprintf("%d partitions need %d blocks; %d tables remember fewer %s", partitions, window, len(narrow),
			strings.Join(narrow, " ")),
		"a batch that is formed again after minutes could be stored twice: run 'motorpool migrate'")}
}

// examineDurability names the weaker mode, which is right only for who has chosen it.
func examineDurability(ctx context.Context, db driver.Conn, wanted bool) finding {
	unsynced, err := namedTables(ctx, db, "doctor_durability")
	if err != nil {
		return judge("durability", false, err.Error(),
			"give the user the right to read system.tables and system.merge_tree_settings")
	}
	if len(unsynced) == 0 {
		return judge("durability", true, "what is acknowledged is on the disk", "")
	}
	return judge("durability", !wanted,
		fmt.Sprintf("a power cut of the server loses what was acknowledged in the last half minute, in %d tables",
			len(unsynced)),
		"start 'up' with --durability sync; of a server elsewhere set fsync_after_insert and fsync_part_directory to 1 in <merge_tree>, or give --durability os if that is meant")
}

// namedTables returns the names that a query of schemas finds.
func namedTables(ctx context.Context, db driver.Conn, query string) ([]string, error) {
	return schemas.AllRows(ctx, db, "read "+query, schemas.Query(query), nil, func(name *string, row schemas.Row) error {
		return row.Scan(name)
	})
}

func examineKafka(ctx context.Context, s settings) []finding {
	// Compared with what `up` or `migrate` would make, whichever it was.
	config := s.topics(allLoopback(s.Kafka) && s.Broker.Partitions == 0)
	found, err := topic.Check(ctx, config)
	findings := make([]finding, 0, len(found)+1)
	for _, f := range found {
		findings = append(findings, judge("kafka "+f.What, f.OK, f.Detail, f.Advice))
	}
	if err != nil {
		findings = append(findings, judge("kafka", false, err.Error(),
			"start 'motorpool up', or give --kafka and, if it wants them, --kafka-tls and --kafka-sasl"))
		return findings
	}
	return append(findings, examineWebhooks(ctx, config))
}

// mostBehind is how many records may wait to be sent to webhook endpoints that nobody need look at.
const mostBehind = 100_000

// examineWebhooks looks how far those are behind who send webhooks.
func examineWebhooks(ctx context.Context, config topic.Config) finding {
	const what = "kafka webhooks"
	client, err := config.Client()
	if err != nil {
		return judge(what, false, err.Error(), "")
	}
	defer topic.Disconnect(client)
	events, err := topic.Lag(ctx, client, consumerGroup+dispatchGroup, config.Events)
	if err != nil {
		return judge(what, false, err.Error(), "")
	}
	deliveries, err := topic.Lag(ctx, client, consumerGroup+deliverGroup, config.Deliveries)
	if err != nil {
		return judge(what, false, err.Error(), "")
	}
	return judge(what, events+deliveries < mostBehind,
		fmt.Sprintf("%d events and %d deliveries wait for who sends them", events, deliveries),
		"they are kept for some days: start 'motorpool up' without --webhook-hold, or 'motorpool notify', one more if one runs")
}
