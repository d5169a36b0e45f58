package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/deploy/embedded"
	"github.com/motorpool/fleet/schemas"
)

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

// patiently does what may take long, and says now and then that it goes on.
func patiently(out io.Writer, what string, do func() error) error {
	began, done := time.Now(), make(chan struct{})
	defer close(done)
	go func() {
		tick := time.NewTicker(10 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				fmt.Fprintf(out, "%s for %s\n", what, time.Since(began).Round(time.Second))
			}
		}
	}()
	return do()
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
	if err := db.QueryRow(ctx, schemas.Query("backup_size"), clickhouse.Named("id", id)).Scan(&status, &files,
		&bytes); err != nil {
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
	var bytes uint64
	err := embedded.CopyLog(brokerDir(b.settings), func(topic string, partition int32) int64 {
		if offset, ok := from[topic][partition]; ok {
			return offset
		}
		return -1 // nobody of ours reads it
	}, func(f embedded.LogFile) error {
		bytes += uint64(len(f.Data))
		b.manifest.Files++
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

// dropFiles drops what was on its way into this backup, and into others that were broken off long ago.
func (b *backup) dropFiles(ctx context.Context) error {
	names := []string{b.name}
	err := schemas.EachRow(ctx, b.db, "find files of backups that came to nothing",
		schemas.Query("backup_leftovers"), []any{
			clickhouse.Named("before", time.Now().Add(-2*backupTime).UTC().Format(nameForm)),
		}, func(row schemas.Row) error {
			var name string
			if err := row.Scan(&name); err != nil {
				return err
			}
			names = append(names, name)
			return nil
		})
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := b.db.Exec(ctx, "ALTER TABLE backup_files DROP PARTITION "+sqlText(name)); err != nil {
			return err
		}
	}
	return nil
}
