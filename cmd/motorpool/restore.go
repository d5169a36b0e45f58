package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/deploy/embedded"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/topic"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
)

type restoreCommand struct {
	Backup             string `arg:"" help:"A backup, as 'motorpool backup' printed it. Of a folder that holds several the newest is taken."`
	ExternalKafka      bool   `help:"Kafka runs elsewhere, where --kafka says."`
	ExternalClickHouse bool   `name:"external-clickhouse" help:"ClickHouse runs elsewhere, where --clickhouse says."`

	S3 backupPlace `embed:"" prefix:"s3-" group:"S3"`
}

func (*restoreCommand) Help() string {
	return `
Makes a data folder from a backup, or a database where ClickHouse runs elsewhere. It writes into what is empty only; what
a restore that was broken off has left is thrown away, so run it again. Everything is compared and checked before it
says that it is done. A backup of a folder may have been moved, together with the full one that it builds upon.

The pipeline then goes on where the backup stands: it works through the records that were not read when the backup was
made, and with a Kafka that runs on, through all since. Stop every 'serve' and 'ingest' before you restore what they work
on. Passwords of the engines are made anew; accounts, keys and their secrets are as they were.

  motorpool restore --data /srv/motorpool /var/backups/motorpool
  motorpool restore --s3-access-key KEY s3://bucket/motorpool/2026-11-22T02-00-00Z
  motorpool up --data /srv/motorpool

A drill, which disturbs nothing on the machine that runs:

  motorpool restore --data /tmp/drill --clickhouse 127.0.0.1:0 --clickhouse-http 127.0.0.1:0 --kafka 127.0.0.1:0 \
      /var/backups/motorpool && rm -r /tmp/drill`
}

// unfinishedTable stands in a database while it is being restored.
const unfinishedTable = "restore_unfinished"

// errUnfinished is the answer to whoever wants to work on such a database.
var errUnfinished = errors.New("a restore into this database was broken off: run 'motorpool restore' again")

// refuseUnfinished returns errUnfinished if a restore into a database has not ended.
func refuseUnfinished(ctx context.Context, db driver.Conn, database string) error {
	_, unfinished, err := restoreState(ctx, db, database)
	if err == nil && unfinished {
		err = errUnfinished
	}
	return err
}

func restoreState(ctx context.Context, db driver.Conn, database string) (tables uint64, unfinished bool, err error) {
	err = db.QueryRow(ctx, schemas.Query("restore_state"),
		clickhouse.Named("database", database)).Scan(&tables, &unfinished)
	return tables, unfinished, err
}

// restore is one that is under way.
type restore struct {
	command  *restoreCommand
	settings *settings
	target   backupTarget // where the backup's folder is
	name     string
	base     string
	manifest manifest
	db       driver.Conn
	out      io.Writer
}

// Run restores a backup and says what to do next.
func (c *restoreCommand) Run(ctx context.Context, s settings, o output) error {
	r := &restore{command: c, settings: &s, out: o.err}
	if err := r.find(); err != nil {
		return err
	}
	release, err := openData(s.Data)
	if err != nil {
		return err
	}
	defer release()
	engines := &engines{log: s.logger(o.err)}
	defer engines.stop()
	if !c.ExternalClickHouse {
		if err := engines.startClickHouse(ctx, &s, engineChoice{}); err != nil {
			return err
		}
	}
	if err := r.all(ctx, engines); err != nil {
		return r.target.clean(err)
	}
	next := "'motorpool up --data " + s.Data + "'"
	if c.ExternalClickHouse {
		next = "'motorpool migrate', then 'motorpool serve' and 'motorpool ingest'"
	}
	_, err = fmt.Fprintf(o.out, "restored %s; go on with %s\n", r.name, next)
	return err
}

// find says which backup is meant: of a folder that holds several, the newest that is whole.
func (r *restore) find() error {
	whole, err := r.command.S3.target(r.command.Backup)
	if err != nil {
		return err
	}
	if whole.folder != "" && !isBackup(whole.folder) {
		entries, err := os.ReadDir(whole.folder)
		if err != nil {
			if r.command.ExternalClickHouse && errors.Is(err, os.ErrNotExist) {
				return r.split(whole) // a folder of the server's
			}
			return fmt.Errorf("there is no backup: %w", err)
		}
		for _, entry := range slices.Backward(entries) {
			if folder := filepath.Join(whole.folder, entry.Name()); isBackup(folder) {
				whole.folder, whole.name = folder, folder
				return r.split(whole)
			}
		}
		return fmt.Errorf("%s is no backup and holds none that is whole", whole.folder)
	}
	return r.split(whole)
}

// isBackup tells whether a folder of this machine is a backup that is whole.
func isBackup(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, manifestStage.Name, ".backup"))
	return err == nil
}

// split takes a backup's place apart into its target and its name there.
func (r *restore) split(whole backupTarget) error {
	r.target, r.name = whole, path.Base(filepath.ToSlash(whole.name))
	r.target.name = path.Dir(filepath.ToSlash(whole.name))
	if whole.folder != "" {
		r.target.folder = filepath.Dir(whole.folder)
	}
	r.target.url = whole.url
	if i := len(whole.url) - len(r.name) - 1; whole.url != "" {
		if strings.Count(whole.url[:max(i, 0)], "/") < 2 {
			return fmt.Errorf("%q names a bucket, not a backup in it", r.command.Backup)
		}
		r.target.url = whole.url[:i]
	}
	return nil
}

// all restores everything, in an order in which a next try finds out that this one was broken off.
func (r *restore) all(ctx context.Context, engines *engines) error {
	if err := r.empty(ctx); err != nil {
		return err
	}
	var err error
	if r.db, err = query.Open(ctx, r.settings.slowStore()); err != nil {
		return err
	}
	defer r.db.Close()
	if !r.command.ExternalClickHouse {
		if err := r.target.mount(ctx, r.db); err != nil {
			return err
		}
	}
	if err := r.readManifest(ctx); err != nil {
		return err
	}
	if err := r.tables(ctx); err != nil {
		return err
	}
	if err := patiently(r.out, "checking", func() error { return r.check(ctx) }); err != nil {
		return err
	}
	if err := r.kafka(ctx, engines); err != nil {
		return err
	}
	if err := r.db.Exec(ctx, "TRUNCATE TABLE backup_files"); err != nil {
		return err
	}
	if !r.command.ExternalKafka {
		if err := embedded.EndPlacing(brokerDir(r.settings)); err != nil {
			return err
		}
	}
	return r.db.Exec(ctx, "DROP TABLE "+unfinishedTable+" SYNC")
}

// empty makes sure that nothing is overwritten, and clears away what a restore that was broken off has left.
func (r *restore) empty(ctx context.Context) error {
	config := r.settings.slowStore()
	if err := query.EnsureDatabase(ctx, config); err != nil {
		return err
	}
	db, err := query.Open(ctx, config)
	if err != nil {
		return err
	}
	defer db.Close()
	tables, unfinished, err := restoreState(ctx, db, config.Database)
	if err != nil {
		return err
	}
	if tables > 0 && !unfinished {
		return fmt.Errorf("the database %s is not empty: give another --data, or another server", config.Database)
	}
	if !r.command.ExternalKafka { // the log may be of another system than the database
		if err := embedded.BeginPlacing(brokerDir(r.settings)); err != nil {
			return fmt.Errorf("%w\nGive another --data, or delete that log if nobody needs it", err)
		}
	}
	if unfinished {
		fmt.Fprintln(r.out, "a restore was broken off here and begins anew")
	}
	name := "`" + config.Database + "`"
	for _, statement := range []string{ // killed in between, it finds an empty database or one with the mark
		"DROP DATABASE " + name + " SYNC", "CREATE DATABASE " + name,
		"CREATE TABLE " + name + "." + unfinishedTable + " (nothing UInt8) ENGINE = Null",
	} {
		if err := db.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// readManifest restores what says what the backup is.
func (r *restore) readManifest(ctx context.Context) error {
	if _, _, err := r.stage(ctx, manifestStage, ""); err != nil {
		return fmt.Errorf("%w\nIs %s/%s a whole backup, of a database named %s?", err, r.target.name, r.name,
			r.settings.DB.Database)
	}
	var text string
	row := r.db.QueryRow(ctx, schemas.Query("backup_by_name"), clickhouse.Named("name", r.name))
	if err := row.Scan(&r.base, &text); err != nil {
		return fmt.Errorf("the backup does not say what it is; was its folder renamed? %w", err)
	}
	if err := json.Unmarshal([]byte(text), &r.manifest); err != nil {
		return fmt.Errorf("read what the backup says of itself: %w", err)
	}
	m := &r.manifest
	if !slices.ContainsFunc(schemas.Migrations(),
		func(known schemas.Migration) bool { return known.Version == m.Schema }) {
		return fmt.Errorf("the backup was made by version %s, which is newer than this one (%s): use that or a newer one",
			m.Version, version)
	}
	if m.Embedded && r.command.ExternalKafka {
		return errors.New("the backup holds the records of an embedded broker, which only such a one can take: leave --external-kafka out, and move to the other Kafka once they are worked through")
	}
	if !m.Embedded && !r.command.ExternalKafka {
		return errors.New(
			"the backup is of a system whose Kafka runs elsewhere and keeps the records: give --external-kafka and --kafka")
	}
	return nil
}

// stage has ClickHouse restore a stage, and returns of how much.
func (r *restore) stage(ctx context.Context, s stage, base string) (files, bytes uint64, err error) {
	id := fmt.Sprintf("restore-%s-%s-%d", r.name, s.Name, time.Now().UnixNano())
	statement := "RESTORE " + tableList(r.settings.DB.Database, s.Tables) + " FROM " + r.target.at(r.name, s.Name) +
		" SETTINGS id = " + sqlText(id)
	statement += r.target.upon(base, s.Name)
	if err := patiently(r.out, s.Name+" is being restored",
		func() error { return r.db.Exec(ctx, statement) }); err != nil {
		return 0, 0, fmt.Errorf("restore %s: %w", s.Name, err)
	}
	return backupSize(ctx, r.db, id)
}

// tables restores all tables.
func (r *restore) tables(ctx context.Context) error {
	isStore := func(s stage) bool { return s.Name == storeStage } // with the views, which want what they feed
	all := slices.DeleteFunc(slices.Clone(r.manifest.Stages), isStore)
	all = append(all, r.manifest.Stages[slices.IndexFunc(r.manifest.Stages, isStore)])
	for _, s := range all {
		began := time.Now()
		fmt.Fprintf(r.out, "%-9s %d tables, %s\n", s.Name, len(s.Tables), volume(s.Bytes))
		files, bytes, err := r.stage(ctx, s, r.base)
		if err != nil {
			return err
		}
		if files != s.Files || bytes != s.Bytes {
			return fmt.Errorf("%s was %d files of %d bytes when the backup was made, and is %d of %d: it is not whole",
				s.Name, s.Files, s.Bytes, files, bytes)
		}
		fmt.Fprintf(r.out, "%-9s restored in %s\n", s.Name, time.Since(began).Round(time.Millisecond))
	}
	// A pipeline held still for the backup.
	return r.db.Exec(ctx, "TRUNCATE TABLE ingest_holds")
}

// check reads every part against its checksums, and holds the positions against the offsets: of what will be read
// nothing ought to be stored yet. That nothing is missing ClickHouse has told by files and bytes; rows are no measure,
// since those of which the time was up go as soon as they are back.
func (r *restore) check(ctx context.Context) error {
	began := time.Now()
	fmt.Fprintln(r.out, "checking every table")
	var rows uint64
	for _, s := range r.manifest.Stages {
		for _, table := range s.Tables {
			n, err := r.checkTable(ctx, table)
			if err != nil {
				return fmt.Errorf("check %s: %w", table, err)
			}
			rows += n
		}
	}
	for _, standing := range r.manifest.Standings[r.manifest.Group] {
		var beyond uint64
		parameters := clickhouse.WithParameters(clickhouse.Parameters{
			"topic": standing.Topic, "partition": fmt.Sprint(standing.Partition), "offset": fmt.Sprint(max(standing.Offset, 0)),
		})
		if err := r.db.QueryRow(clickhouse.Context(ctx, parameters),
			schemas.Query("stored_beyond")).Scan(&beyond); err != nil {
			return err
		}
		if beyond > 0 { // no fault where the topic was made anew once: its predecessor had the same offsets
			fmt.Fprintf(r.out,
				"note: %d positions came from %s/%d at or after offset %d, from which it is read on; they are right "+
					"if that topic was ever made anew\n", beyond, standing.Topic, standing.Partition, standing.Offset)
		}
	}
	fmt.Fprintf(r.out, "%d rows are sound, looked at in %s\n", rows, time.Since(began).Round(time.Millisecond))
	return nil
}

// checkTable returns how many rows a table has; a view has none.
func (r *restore) checkTable(ctx context.Context, table string) (rows uint64, err error) {
	var engine string
	var n *uint64
	if err := r.db.QueryRow(ctx,
		"SELECT engine, total_rows FROM system.tables WHERE database = currentDatabase() AND name = {name:String}",
		clickhouse.Named("name", table)).Scan(&engine, &n); err != nil {
		return 0, err
	}
	if n == nil {
		return 0, nil
	}
	var sound uint8
	if err := r.db.QueryRow(ctx, "CHECK TABLE `"+table+
		"` SETTINGS check_query_single_value_result = 1").Scan(&sound); err != nil {
		return 0, err
	}
	if sound != 1 {
		return 0, errors.New("its parts do not agree with their checksums")
	}
	return *n, nil
}

// kafka makes every group go on where the store stands, and places the records that it reads there.
func (r *restore) kafka(ctx context.Context, engines *engines) error {
	config := r.settings.topics(!r.command.ExternalKafka)
	if !r.command.ExternalKafka {
		if err := r.placeLog(ctx); err != nil {
			return err
		}
		broker, err := startBroker(r.settings, nil, engines.log)
		if err != nil {
			return err
		}
		engines.broker = broker
		config.Brokers = []string{broker.Addr()}
	}
	if _, err := topic.Ensure(ctx, config); err != nil {
		return err
	}
	client, err := config.Client()
	if err != nil {
		return err
	}
	defer topic.Disconnect(client)
	for group, topics := range groupTopics(config, r.manifest.Group) {
		if err := consume.SetStandings(ctx, client, group, r.manifest.Standings[group], topics...); err != nil {
			return fmt.Errorf("%w\nStop every 'ingest' of this group first", err)
		}
	}
	fmt.Fprintln(r.out, "the pipeline will go on where the backup stands")
	return nil
}

// placeLog writes the broker's log from the backup.
func (r *restore) placeLog(ctx context.Context) error {
	files := 0
	text := "SELECT path, data FROM backup_files FINAL WHERE name = {name:String}"
	args := []any{clickhouse.Named("name", r.name)}
	err := schemas.EachRow(ctx, r.db, "read the broker's log", text, args, func(row schemas.Row) error {
		files++
		var path, data string
		if err := row.Scan(&path, &data); err != nil {
			return err
		}
		return embedded.PlaceLogFile(brokerDir(r.settings), embedded.LogFile{Path: path, Data: []byte(data)})
	})
	if err != nil {
		return err
	}
	if files != r.manifest.Files {
		return fmt.Errorf("the broker's log was %d files when the backup was made, and is %d: it is not whole",
			r.manifest.Files, files)
	}
	return nil
}
