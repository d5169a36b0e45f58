package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet/deploy/embedded"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/topic"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
)

type backupCommand struct {
	Target             string `arg:"" help:"Folder, or s3://bucket/prefix, that holds backups, each under its own name."`
	Full               bool   `help:"Copy everything; without it, what the last full backup there does not have."`
	Group              string `help:"Consumer group of the pipeline." default:"motorpool"`
	ExternalKafka      bool   `help:"Kafka is not that of 'up': keep the offsets in it, not its records."`
	ExternalClickHouse bool   `name:"external-clickhouse" help:"ClickHouse is not that of 'up': a folder is one of its machine."`

	S3 backupPlace `embed:"" prefix:"s3-" group:"S3"`
}

func (*backupCommand) Help() string {
	return `
    ClickHouse's tables ─┐
    offsets in Kafka     ├──► TARGET/2026-11-22T02-00-00Z
    the broker's log    ─┘

Makes a backup while everything runs. The pipeline holds still for some seconds while it is settled which moment the
backup is of; devices and the interface notice nothing, and what they send meanwhile is worked through afterwards. The
first backup of a target is full. Later ones hold what that one does not have: a restore needs the two and no others, so
the rest may be deleted. Make a full one now and then, as the others grow.

ClickHouse writes the backup itself: with a server elsewhere, a folder is one of that machine, and the server's
configuration must allow it (backups.allowed_path). The embedded one writes to any folder of this machine. Under 'up'
the records that are not worked through yet are in the backup too. A Kafka elsewhere keeps its own records.

  motorpool backup /var/backups/motorpool                 each night, by cron
  motorpool backup --full /var/backups/motorpool          each Sunday
  MOTORPOOL_S3_SECRET_KEY_FILE=/etc/motorpool/s3 motorpool backup --s3-access-key KEY s3://bucket/motorpool
  motorpool restore --help                                and the way back: try it before you need it`
}

// Bounds of a backup.
const (
	holdSpan     = 20 * time.Second // after its maker's last sign of life the pipeline goes on
	holdRenew    = 5 * time.Second
	stillTime    = 2 * time.Minute // for the batches in hand
	collectTime  = 5 * time.Minute // for reading which parts there are
	backupTime   = 48 * time.Hour  // for one step of ClickHouse
	collectPoll  = 10 * time.Millisecond
	standingPoll = 300 * time.Millisecond
)

// stage is a part of a backup, which ClickHouse makes and restores at once.
type stage struct {
	Name   string   `json:"name"`
	Tables []string `json:"tables"`
	Files  uint64   `json:"files"` // with those of its base
	Bytes  uint64   `json:"bytes"`
}

// storeStage is the part with the tables that no other names.
const storeStage = "store"

// stages are the parts of a backup in the order in which it is settled what they are of: the reverse of the order in
// which things are written, so that whatever is in the backup has its cause in it too. What a cause did not bring about
// yet is brought about again, as after a crash: marks after consequences, entries before their sums, a transaction before
// its entries, a revision before all of that, its claims before the revision.
func stages(tables []string) []stage {
	all := []stage{
		{Name: "settled", Tables: []string{"record_settled", "ledger_daily"}},
		{Name: "entries", Tables: []string{"ledger_entries"}},
		{Name: storeStage}, // everything else
		{Name: "log", Tables: []string{"record_log"}},
		{Name: "claims", Tables: []string{"claim_log"}},
	}
	for _, table := range tables {
		if !slices.ContainsFunc(all, func(s stage) bool { return slices.Contains(s.Tables, table) }) {
			store := slices.IndexFunc(all, func(s stage) bool { return s.Name == storeStage })
			all[store].Tables = append(all[store].Tables, table)
		}
	}
	return all
}

// manifestStage is the last one. A backup without it was broken off.
var manifestStage = stage{Name: "manifest", Tables: []string{"backups", "backup_files"}}

// manifest is what a restore has to know.
type manifest struct {
	Version   string                        `json:"version"` // of the program that made it
	Schema    string                        `json:"schema"`  // the newest migration
	Group     string                        `json:"group"`
	Embedded  bool                          `json:"embedded"` // it holds the log of the embedded broker
	Standings map[string][]consume.Standing `json:"standings"`
	Rows      map[string]uint64             `json:"rows"` // of each table, before what is equal was merged
	Stages    []stage                       `json:"stages"`
}

// backup is one that is being made.
type backup struct {
	command  *backupCommand
	settings *settings
	target   backupTarget
	name     string
	base     string // the full one that it builds upon, or empty
	db       driver.Conn
	kafka    topic.Config
	client   *kafka.Client
	out      io.Writer // of what happens
	manifest manifest
}

// Run makes a backup and prints where it is.
func (c *backupCommand) Run(ctx context.Context, s settings, o output) error {
	target, err := c.S3.target(c.Target)
	if err != nil {
		return err
	}
	b := &backup{command: c, settings: &s, target: target, kafka: s.topics(!c.ExternalKafka), out: o.err}
	if b.db, err = s.openSlowStore(ctx); err != nil {
		return err
	}
	defer b.db.Close()
	if b.client, err = b.kafka.Client(); err != nil {
		return err
	}
	defer topic.Disconnect(b.client)
	b.name = time.Now().UTC().Format("2006-01-02T15-04-05Z")
	if err := b.make(ctx); err != nil {
		if target.folder != "" && !c.ExternalClickHouse {
			err = errors.Join(err, os.RemoveAll(filepath.Join(target.folder, b.name)))
		}
		return fmt.Errorf("the backup %s was not made: %w", b.name, target.clean(err))
	}
	_, err = fmt.Fprintf(o.out, "%s/%s\n", target.name, b.name)
	return err
}

// openSlowStore is openStore for statements that take long and say nothing meanwhile.
func (s *settings) openSlowStore(ctx context.Context) (driver.Conn, error) {
	quick, err := s.openStore(ctx) // says what may be wrong
	if err != nil {
		return nil, err
	}
	if err := quick.Close(); err != nil {
		return nil, err
	}
	return query.Open(ctx, s.slowStore())
}

func (s *settings) slowStore() query.Config {
	c := s.store()
	c.QueryTimeout = backupTime
	return c
}

// groups are the pipeline's consumer groups with what they read.
func (b *backup) groups(group string) map[string][]string {
	names := consumerGroups(group)
	return map[string][]string{names[0]: b.kafka.Ingest(), names[1]: {b.kafka.Changes}, names[2]: {b.kafka.Events}}
}

// make makes the backup.
func (b *backup) make(ctx context.Context) error {
	migrations := schemas.Migrations()
	b.manifest = manifest{
		Version: version, Schema: migrations[len(migrations)-1].Version, Group: b.command.Group, Embedded: !b.command.ExternalKafka,
	}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	copying, inner := errgroup.WithContext(ctx)
	err := b.holdingStill(inner, func(ctx context.Context) error { return b.collect(ctx, inner, copying) })
	if err := cmp.Or(copying.Wait(), err); err != nil { // the first is the cause of the second
		return err
	}
	for i := range b.manifest.Stages {
		s := &b.manifest.Stages[i]
		if err := b.measure(ctx, s); err != nil {
			return err
		}
		fmt.Fprintf(b.out, "%-9s %d tables, %s\n", s.Name, len(s.Tables), volume(s.Bytes))
	}
	return b.finish(ctx)
}

// prepare looks for what the backup can build upon and what it is to hold.
func (b *backup) prepare(ctx context.Context) error {
	if b.manifest.Embedded {
		if has, err := embedded.HasLog(b.brokerDir()); err != nil || !has {
			return errors.Join(err, fmt.Errorf("%s has no log of an embedded broker: give --data, or --external-kafka", b.settings.Data))
		}
	}
	if !b.command.ExternalClickHouse {
		if err := b.target.mount(ctx, b.db); err != nil {
			return err
		}
		if err := os.MkdirAll(b.target.folder, 0o700); b.target.folder != "" && err != nil {
			return err
		}
	}
	if !b.command.Full {
		rows, err := b.db.Query(ctx, schemas.Query("backup_base"), clickhouse.Named("target", b.target.name))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := rows.Scan(&b.base); err != nil {
				return err
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	var tables []string
	b.manifest.Rows = map[string]uint64{}
	rows, err := b.db.Query(ctx, schemas.Query("backup_tables"))
	if err != nil {
		return err
	}
	defer rows.Close()
	var bytes uint64
	for rows.Next() {
		var table string
		var n, size uint64
		if err := rows.Scan(&table, &n, &size); err != nil {
			return err
		}
		tables, b.manifest.Rows[table], bytes = append(tables, table), n, bytes+size
	}
	b.manifest.Stages = stages(tables)
	upon := "full"
	if b.base != "" {
		upon = "what " + b.base + " does not have"
	}
	fmt.Fprintf(b.out, "backup %s of %s (%s)\n", b.name, volume(bytes), upon)
	return rows.Err()
}

func (b *backup) brokerDir() string { return filepath.Join(b.settings.Data, "kafka") }

// holdingStill does what must be done while the pipeline writes nothing.
func (b *backup) holdingStill(ctx context.Context, do func(context.Context) error) error {
	id := "backup " + b.name
	if err := query.AskIngestHold(ctx, b.db, id, holdSpan); err != nil {
		return err
	}
	began := time.Now()
	holding, stop := context.WithCancelCause(ctx)
	var renewing errgroup.Group
	renewing.Go(func() error {
		tick := time.NewTicker(holdRenew)
		defer tick.Stop()
		for {
			select {
			case <-holding.Done():
				return nil
			case <-tick.C:
			}
			if err := query.AskIngestHold(holding, b.db, id, holdSpan); err != nil && holding.Err() == nil {
				stop(err)
			}
		}
	})
	err := do(holding)
	if err != nil && ctx.Err() == nil && holding.Err() != nil {
		err = context.Cause(holding)
	}
	stop(nil)
	_ = renewing.Wait()
	lifting, cancel := context.WithTimeout(context.WithoutCancel(ctx), holdRenew)
	defer cancel()
	err = errors.Join(err, query.AskIngestHold(lifting, b.db, id, 0))
	if err == nil {
		fmt.Fprintf(b.out, "the pipeline held still for %s\n", time.Since(began).Round(time.Millisecond))
	}
	return err
}

// collect settles what the backup is of. What takes long goes on in copying, whose context is inner.
func (b *backup) collect(ctx, inner context.Context, copying *errgroup.Group) error {
	before, err := b.stillness(ctx)
	if err != nil {
		return err
	}
	for i := range b.manifest.Stages {
		if err := b.begin(ctx, inner, copying, &b.manifest.Stages[i]); err != nil {
			return err
		}
	}
	after, still, err := b.standings(ctx)
	if err != nil {
		return err
	}
	if !still || !equalStandings(before, after) {
		return errors.New("the pipeline did not hold still: is there one of an earlier version, or of another --clickhouse? Stop it, or try again")
	}
	b.manifest.Standings = after
	if b.manifest.Embedded {
		return b.copyLog(ctx)
	}
	return nil
}

// stillness waits until no batch is in hand and every pipeline has heard that it is to hold still.
func (b *backup) stillness(ctx context.Context) (map[string][]consume.Standing, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, stillTime, errors.New(
		"a batch is in hand that is not finished: is the pipeline running, and of this --group? It has to finish it before a backup"))
	defer cancel()
	var last map[string][]consume.Standing
	since := time.Now()
	for {
		now, still, err := b.standings(ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		if !still || !equalStandings(last, now) {
			last, since = now, time.Now()
		}
		if time.Since(since) >= query.HoldNotice {
			return now, nil
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(standingPoll):
		}
	}
}

// standings says how far each group has come, and whether none has a batch in hand.
func (b *backup) standings(ctx context.Context) (all map[string][]consume.Standing, still bool, err error) {
	all, still = map[string][]consume.Standing{}, true
	for group, topics := range b.groups(b.command.Group) {
		standing, err := consume.Standings(ctx, b.client, group, topics...)
		if err != nil {
			return nil, false, err
		}
		all[group] = standing
		still = still && !slices.ContainsFunc(standing, func(s consume.Standing) bool { return s.Planned })
	}
	return all, still, nil
}

func equalStandings(a, b map[string][]consume.Standing) bool {
	if len(a) != len(b) {
		return false
	}
	for group := range a {
		if !slices.Equal(a[group], b[group]) {
			return false
		}
	}
	return true
}

// begin starts a stage, and returns when ClickHouse knows which parts belong to it.
func (b *backup) begin(ctx, inner context.Context, copying *errgroup.Group, s *stage) error {
	if b.base == "" {
		fmt.Fprintf(b.out, "%-9s begun\n", s.Name)
	}
	done := make(chan struct{})
	copying.Go(func() error {
		defer close(done)
		return b.copyStage(inner, *s, b.base)
	})
	ctx, cancel := context.WithTimeout(ctx, collectTime)
	defer cancel()
	for {
		var collected bool
		err := b.db.QueryRow(ctx, schemas.Query("backup_read"), clickhouse.Named("id", b.id(*s))).Scan(&collected)
		if collected {
			return nil
		}
		if err != nil && ctx.Err() != nil {
			return fmt.Errorf("ClickHouse does not say what the backup is of: %w", err)
		}
		select {
		case <-done: // so quickly that it was not seen
			return nil
		case <-time.After(collectPoll):
		}
	}
}

// id names a stage's work to ClickHouse.
func (b *backup) id(s stage) string { return b.name + "-" + s.Name }

// copyStage has ClickHouse copy a stage, as far as the base does not have it.
func (b *backup) copyStage(ctx context.Context, s stage, base string) error {
	statement := "BACKUP " + tableList(b.settings.DB.Database, s.Tables) + " TO " + b.target.at(b.name, s.Name) +
		" SETTINGS id = " + sqlText(b.id(s))
	statement += b.target.upon(base, s.Name)
	if err := b.db.Exec(clickhouse.Context(ctx, clickhouse.WithQueryID(b.id(s))), statement); err != nil {
		err = fmt.Errorf("back up %s: %w", s.Name, err)
		if base != "" {
			err = fmt.Errorf("%w\nIf the full backup %s is gone, make another: --full", err, base)
		}
		return err
	}
	return nil
}

// volume is a number of bytes for people.
func volume(n uint64) string {
	if n < 1e9 {
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return gigabytes(n)
}

func tableList(database string, tables []string) string {
	all := make([]string, len(tables))
	for i, table := range tables {
		all[i] = "TABLE `" + database + "`.`" + table + "`"
	}
	return strings.Join(all, ", ")
}

// measure asks how much a stage is of, for the restore to compare.
func (b *backup) measure(ctx context.Context, s *stage) (err error) {
	s.Files, s.Bytes, err = backupSize(ctx, b.db, b.id(*s))
	return err
}

func backupSize(ctx context.Context, db driver.Conn, id string) (files, bytes uint64, err error) {
	var status string
	if err := db.QueryRow(ctx, schemas.Query("backup_size"), clickhouse.Named("id", id)).Scan(&status, &files, &bytes); err != nil {
		return 0, 0, fmt.Errorf("ask what became of %s: %w", id, err)
	}
	return files, bytes, nil
}

// copyLog puts what the broker has beyond the groups' offsets into a table, which goes into the backup. It comes last:
// what is in the backup followed from records that are in the log by now.
func (b *backup) copyLog(ctx context.Context) error {
	from := map[string]map[int32]int64{}
	for _, all := range b.manifest.Standings {
		for _, s := range all {
			if from[s.Topic] == nil {
				from[s.Topic] = map[int32]int64{}
			}
			from[s.Topic][int32(s.Partition)] = s.Offset
		}
	}
	if err := b.db.Exec(ctx, "TRUNCATE TABLE backup_files"); err != nil {
		return err
	}
	var bytes uint64
	err := embedded.CopyLog(b.brokerDir(), func(topic string, partition int32) int64 {
		if offset, ok := from[topic][partition]; ok {
			return offset
		}
		return -1 // nobody of ours reads it
	}, func(f embedded.LogFile) error {
		bytes += uint64(len(f.Data))
		batch, err := b.db.PrepareBatch(ctx, "INSERT INTO backup_files (name, path, data)")
		if err != nil {
			return err
		}
		if err := batch.Append(b.name, f.Path, string(f.Data)); err != nil {
			batch.Abort()
			return err
		}
		return batch.Send()
	})
	fmt.Fprintf(b.out, "%-9s %s that no one has read yet\n", "kafka", volume(bytes))
	return err
}

// finish writes the manifest, which makes the backup one, and notes it for later ones to build upon.
func (b *backup) finish(ctx context.Context) error {
	text, err := json.Marshal(b.manifest)
	if err != nil {
		return err
	}
	note := func(done bool) error {
		batch, err := b.db.PrepareBatch(ctx, "INSERT INTO backups (target, name, base, done, manifest)")
		if err != nil {
			return err
		}
		if err := batch.Append(b.target.name, b.name, b.base, done, string(text)); err != nil {
			batch.Abort()
			return err
		}
		return batch.Send()
	}
	if err := note(false); err != nil {
		return err
	}
	if err := b.copyStage(ctx, manifestStage, ""); err != nil {
		return err
	}
	return errors.Join(note(true), b.db.Exec(ctx, "TRUNCATE TABLE backup_files"))
}
