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
	return `Makes a backup while everything runs. The pipeline holds still for some seconds while it is settled which moment the
backup is of; devices and the interface notice nothing, and what they send meanwhile is worked through afterwards. The
first backup of a target is full. Later ones hold what that one does not have: a restore needs the two and no others, so
the rest may be deleted. Make a full one now and then, as the others grow.

    ClickHouse's tables ─┐
    offsets in Kafka     ├──► TARGET/2026-11-22T02-00-00Z
    the broker's log    ─┘

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

// nameForm makes the name of a backup: in the order of names each is older than the next.
const nameForm = "2006-01-02T15-04-05Z"

// storeStage is the part with the tables that no other names.
const storeStage = "store"

// stages are the parts of a backup in the order in which it is settled what they are of: the reverse of the order in
// which things are written, so that whatever is in the backup has its cause in it too. What a cause did not bring about
// yet is brought about again, as after a crash: marks after consequences, sums after entries, a transaction before its
// entries, a revision before all of that, and before the revision its claims and whatever rows it is about.
func stages(tables []string) []stage {
	all := []stage{
		{Name: "settled", Tables: []string{"record_settled", "pair_watches", "pair_marks", "fact_runs", "ledger_days",
			"ledger_months", "ledger_flows", "rollup_looks", "owner_share_looks"}},
		{Name: "entries", Tables: []string{"ledger_entries"}},
		{Name: storeStage}, // everything else
		{Name: "log", Tables: []string{"record_log"}},
		{Name: "subjects", Tables: []string{"document_files", "job_input", "job_output", "job_errors", "device_owners"}},
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

func stageNames() (names []string) {
	for _, s := range stages(nil) {
		names = append(names, s.Name)
	}
	return names
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
	Files     int                           `json:"files"` // of the broker's log
	Stages    []stage                       `json:"stages"`
}

// backup is one that is being made.
type backup struct {
	command  *backupCommand
	settings *settings
	target   backupTarget
	name     string
	base     string // the full one that it builds upon, or empty
	folder   string // that was made for it, or empty
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
	if err := apartFrom(s.Data, target.folder); err != nil {
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
	b.name = time.Now().UTC().Format(nameForm)
	if err := b.make(ctx); err != nil {
		if b.folder != "" {
			err = errors.Join(err, os.RemoveAll(b.folder)) // what is there of it
		}
		return fmt.Errorf("the backup %s was not made: %w", b.name, target.clean(err))
	}
	b.tidy(ctx)
	_, err = fmt.Fprintf(o.out, "%s/%s\n", target.name, b.name)
	return err
}

// apartFrom refuses a target that is, or lies in, the folder of what is backed up: whoever deletes the one
// deletes the other.
func apartFrom(data, target string) error {
	if data == "" || target == "" {
		return nil
	}
	data, err := filepath.Abs(data)
	if err != nil {
		return err
	}
	if below, err := filepath.Rel(data, target); err == nil && filepath.IsLocal(below) {
		return fmt.Errorf("%s is in the folder that is to be backed up, %s: give another, best on another disk", target, data)
	}
	return nil
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

// groupTopics are the pipeline's consumer groups with what they read.
func groupTopics(c topic.Config, group string) map[string][]string {
	names := consumerGroups(group)
	return map[string][]string{names[0]: c.Ingest(), names[1]: {c.Changes}, names[2]: {c.Events}, names[3]: {c.Events},
		names[4]: {c.Deliveries}, names[5]: {c.Changes}}
}

// make makes the backup.
func (b *backup) make(ctx context.Context) error {
	migrations := schemas.Migrations()
	b.manifest = manifest{
		Version: version, Schema: migrations[len(migrations)-1].Version, Group: b.command.Group,
		Embedded: !b.command.ExternalKafka,
	}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	copying, inner := errgroup.WithContext(ctx)
	err := b.holdingStill(inner, func(ctx context.Context) error { return b.collect(ctx, inner, copying) })
	copied := patiently(b.out, "copying", copying.Wait)
	if err := cmp.Or(copied, err); err != nil { // the first is the cause of the second
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
		if has, err := embedded.HasLog(brokerDir(b.settings)); err != nil || !has {
			return errors.Join(err,
				fmt.Errorf("%s has no log of an embedded broker: give --data, or --external-kafka", b.settings.Data))
		}
	}
	if !b.command.ExternalClickHouse {
		if err := b.target.mount(ctx, b.db); err != nil {
			return err
		}
		if err := b.makeFolder(); err != nil {
			return err
		}
	}
	if !b.command.Full {
		err := schemas.EachRow(ctx, b.db, "look for a backup to build upon", schemas.Query("backup_base"), []any{
			clickhouse.Named("target", b.target.name), clickhouse.Named("stages", stageNames()),
		}, func(row schemas.Row) error {
			return row.Scan(&b.base)
		})
		if err != nil {
			return err
		}
	}
	var tables []string
	var bytes uint64
	err := schemas.EachRow(ctx, b.db, "list tables", schemas.Query("backup_tables"), nil, func(row schemas.Row) error {
		var table string
		var size uint64
		if err := row.Scan(&table, &size); err != nil {
			return err
		}
		tables, bytes = append(tables, table), bytes+size
		return nil
	})
	if err != nil {
		return err
	}
	b.manifest.Stages = stages(tables)
	upon := "full"
	if b.base != "" {
		upon = "what " + b.base + " does not have"
	}
	fmt.Fprintf(b.out, "backup %s of %s (%s)\n", b.name, volume(bytes), upon)
	return nil
}

// makeFolder makes the backup's folder, unless it goes elsewhere. One that is there is somebody else's.
func (b *backup) makeFolder() error {
	if b.target.folder == "" {
		return nil
	}
	if err := os.MkdirAll(b.target.folder, 0o700); err != nil {
		return err
	}
	folder := filepath.Join(b.target.folder, b.name)
	err := os.Mkdir(folder, 0o700)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("another backup to %s began in the same second: try again", b.target.folder)
	}
	if err == nil {
		b.folder = folder
	}
	return err
}

// finish writes the manifest, which makes the backup one.
func (b *backup) finish(ctx context.Context) error {
	if err := b.note(ctx, false); err != nil {
		return err
	}
	return b.copyStage(ctx, manifestStage, "")
}

// tidy notes a backup that is made, for later ones to build upon, and clears away. What fails of that costs no backup.
func (b *backup) tidy(ctx context.Context) {
	if err := b.note(ctx, true); err != nil {
		fmt.Fprintf(b.out, "warning: the backup is whole, but later ones will not build upon it: %v\n", err)
	}
	if err := b.dropFiles(ctx); err != nil {
		fmt.Fprintf(b.out,
			"warning: the backup is whole, but its copy of the broker's log stays in the database for some days: %v\n",
			err)
	}
}

func (b *backup) note(ctx context.Context, done bool) error {
	text, err := json.Marshal(b.manifest)
	if err != nil {
		return err
	}
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
