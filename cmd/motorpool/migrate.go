package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/motorpool/fleet/pipeline/topic"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
)

type migrateCommand struct {
	Fill bool `help:"Make anew what is made of other tables: those of current records, rollups, trips and the like."`
}

func (migrateCommand) Help() string {
	return `Makes the database and what is missing in it, and the topics. It may be run any number of times, and while the rest
runs. 'up' does it at every start.

With --fill the tables that lists read are made anew from the log of revisions, and those that views fill (rollups of
telemetry and of the ledger, positions by place, trips, stops, visits, alerts) from what the views read: after processes
of an earlier version have gone on writing while this one was migrated, when a table was lost, or when
'motorpool doctor' says so. Then what reports stand on is made again too. It changes nothing that is whole, and takes as
long as reading everything takes.`
}

func (m migrateCommand) Run(ctx context.Context, s settings, o output) error {
	filled := func(year string, sums int) {
		fmt.Fprintf(o.out, "filled %d sums of the ledger of %s\n", sums, year)
	}
	applied, err := migrateStore(ctx, &s, filled)
	if err != nil {
		return err
	}
	for _, version := range applied {
		fmt.Fprintf(o.out, "applied %s\n", version)
	}
	if m.Fill {
		if err := fillRecords(ctx, &s, filled); err != nil {
			return err
		}
		fmt.Fprintln(o.out, "filled the tables of current records and those of views, and made the facts of reports again")
	}
	created, err := topic.Ensure(ctx, s.topics(false))
	if err != nil {
		return err
	}
	for _, name := range created {
		fmt.Fprintf(o.out, "created topic %s\n", name)
	}
	widened, err := widenWindows(ctx, &s, s.topics(false))
	if err != nil {
		return err
	}
	for _, name := range widened {
		fmt.Fprintf(o.out, "widened the deduplication window of %s\n", name)
	}
	if len(applied)+len(created)+len(widened) == 0 && !m.Fill {
		fmt.Fprintln(o.out, "nothing to do")
	}
	return nil
}

// migrateStore makes the database and brings it to the newest schema. Sums of the ledger that are new take half a
// minute for each year of books; filled is told of each.
func migrateStore(ctx context.Context, s *settings, filled func(year string, sums int)) ([]string, error) {
	config := s.store()
	if err := query.EnsureDatabase(ctx, config); err != nil {
		return nil, err
	}
	db, err := query.Open(ctx, config)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if err := refuseUnfinished(ctx, db, config.Database); err != nil {
		return nil, err
	}
	applied, err := schemas.Apply(ctx, db)
	if err != nil {
		return applied, err
	}
	if len(applied) > 0 { // views that are new see only what comes
		if err := schemas.FillRollups(ctx, db, schemas.RollupsApart, filled); err != nil {
			return applied, err
		}
	}
	return applied, applyBI(ctx, db, config.Database)
}

// widenWindows has the tables of ingest remember as many inserts as the topics' partitions need.
func widenWindows(ctx context.Context, s *settings, kafka topic.Config) ([]string, error) {
	partitions, err := topic.IngestPartitions(ctx, kafka)
	if err != nil {
		return nil, err
	}
	db, err := query.Open(ctx, s.store())
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return schemas.Widen(ctx, db, schemas.Window(partitions))
}

// fillRecords makes the tables of current records anew, those that views fill, and the facts that are made of them:
// what is filled in bears the time at which it was first written, so nobody who looks for what is new would find it.
func fillRecords(ctx context.Context, s *settings, filled func(year string, sums int)) error {
	db, err := query.Open(ctx, s.store())
	if err != nil {
		return err
	}
	defer db.Close()
	if err := schemas.Fill(ctx, db); err != nil {
		return err
	}
	if err := schemas.FillViews(ctx, db); err != nil {
		return err
	}
	if err := schemas.FillRollups(ctx, db, schemas.RollupsApart, filled); err != nil {
		return err
	}
	return withRecords(ctx, *s, func(r *records) error { return factsOf(r).MakeAll(ctx) })
}

// migrateAll is what `up` does at its start.
func migrateAll(ctx context.Context, s *settings, kafka topic.Config, log *slog.Logger) error {
	applied, err := migrateStore(ctx, s, func(year string, sums int) {
		log.InfoContext(ctx, "sums of the ledger are filled", "year", year, "sums", sums)
	})
	if err != nil {
		return err
	}
	created, err := topic.Ensure(ctx, kafka)
	if err != nil {
		return err
	}
	if _, err := widenWindows(ctx, s, kafka); err != nil {
		return err
	}
	if len(applied)+len(created) > 0 {
		log.Info("schema and topics are up to date", "migrations", len(applied), "topics", created)
	}
	return nil
}
