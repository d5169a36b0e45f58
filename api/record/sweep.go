package record

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Bounds of a sweep: texts that are read and changed at a time, words that the server seeks at a time, and the longest
// text that is sent back to it. A longer one is emptied, unless it is a record.
const (
	textsAtOnce = 200
	wordsAtOnce = 200
	longestText = 32 << 10
)

// Sweep puts what rewrite makes of it in the place of every text of an account, in whatever table, that holds one of
// some words; a text that rewrite leaves as it is stays. It is for what must not be kept anywhere: nothing tells of the
// change, and revisions are not counted. Records of the kinds named, and their tables, are left out, and so are tables
// that devices fill.
func (s *Store) Sweep(ctx context.Context, account fleet.AccountID, words []string, without map[string]string,
	rewrite func(table, text string) string) error {
	kinds, tables := []string{}, []string{}
	for kind, table := range without {
		kinds, tables = append(kinds, kind), append(tables, table)
	}
	defer s.tell(uint64(account), "")
	columns, err := schemas.AllRows(ctx, s.db, "list columns of text", schemas.Query("text_columns"), []any{
		clickhouse.Named("without", tables),
	}, func(c *[2]string, row schemas.Row) error { return row.Scan(&c[0], &c[1]) })
	if err != nil {
		return err
	}
	for i, c := range columns {
		if i > 0 && columns[i-1][0] == "record_log" && c[0] != "record_log" {
			select { // until whoever had one of the texts in memory has brought it to its table, and the server has it
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(2 * fromMemory):
			}
		}
		for some := range slices.Chunk(words, wordsAtOnce) {
			if err := s.sweepColumn(ctx, account, c[0], c[1], some, kinds, rewrite); err != nil {
				return fmt.Errorf("sweep %s.%s: %w", c[0], c[1], err)
			}
		}
	}
	return nil
}

// sweepColumn changes the texts of one column, some at a time, until none is left to change.
func (s *Store) sweepColumn(ctx context.Context, account fleet.AccountID, table, column string, words, kinds []string,
	rewrite func(table, text string) string) error {
	but := ""
	if table == "record_log" {
		but = "AND kind NOT IN {kinds:Array(String)}"
	}
	fill := strings.NewReplacer("/*table*/", table, "/*column*/", column, "/*but*/", but)
	kept := map[uint64]bool{} // texts that stay as they are
	for {
		var hashes []uint64
		var texts []string
		args := []any{
			clickhouse.Named("account", uint64(account)), clickhouse.Named("words", words),
			clickhouse.Named("kinds", kinds), clickhouse.Named("limit", uint32(textsAtOnce+len(kept))),
		}
		text := fill.Replace(schemas.Query("text_find"))
		err := schemas.EachRow(ctx, s.db, "find texts", text, args, func(row schemas.Row) error {
			var hash uint64
			var text string
			if err := row.Scan(&hash, &text); err != nil {
				return err
			}
			next := rewrite(table, text)
			if next == text || kept[hash] {
				kept[hash] = true
				return nil
			}
			if len(next) > longestText && !strings.HasPrefix(next, "{") { // a record must stay one
				next = ""
			}
			hashes, texts = append(hashes, hash), append(texts, next)
			return nil
		})
		if err != nil || len(hashes) == 0 {
			return err
		}
		if err := s.changeTexts(ctx, account, fill, hashes, texts); err != nil {
			return err
		}
		for _, hash := range hashes {
			kept[hash] = true
		}
	}
}

// changeTexts puts other texts in the place of those of some hashes. The statement names neither, since the server
// keeps it.
func (s *Store) changeTexts(
	ctx context.Context, account fleet.AccountID, fill *strings.Replacer, hashes []uint64, texts []string,
) error {
	sweep := clickhouse.Named("sweep", RandomID())
	batch, err := s.db.PrepareBatch(ctx, "INSERT INTO sweep_texts (sweep, hash, text)")
	if err != nil {
		return err
	}
	for i, hash := range hashes {
		if err := batch.Append(sweep.Value, hash, texts[i]); err != nil {
			batch.Abort()
			return err
		}
	}
	if err := batch.Send(); err != nil {
		return err
	}
	text := fill.Replace(schemas.Query("text_change"))
	if err := s.db.Exec(ctx, text, clickhouse.Named("account", uint64(account)), sweep); err != nil {
		return err
	}
	return s.db.Exec(ctx, schemas.Query("sweep_over"), sweep)
}
