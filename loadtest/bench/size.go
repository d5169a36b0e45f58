package bench

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/motorpool/fleet/loadtest/system"
)

// SizeResult is how much of the disk a position of a recording takes.
type SizeResult struct {
	Recording string
	Positions uint64
	Bytes     float64 // of a position, in table positions, merged
	Columns   []ColumnSize
}

// ColumnSize is what one column takes of it.
type ColumnSize struct {
	Name  string
	Bytes float64 // of a position
}

// Sizes replays each folder of recordings into an account of its own, alone in the table, and measures.
func Sizes(ctx context.Context, s *system.System, group string, folders []string) ([]SizeResult, error) {
	process, err := s.Start("ingest", group)
	if err != nil {
		return nil, err
	}
	defer func() { _, _, _ = process.Stop() }()
	var results []SizeResult
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.csv.gz"))
		if err != nil {
			return nil, err
		}
		files = slices.DeleteFunc(files, func(f string) bool { return strings.HasPrefix(filepath.Base(f), "stops_") })
		if len(files) == 0 {
			continue
		}
		if err := s.DB.Exec(ctx, "TRUNCATE TABLE positions"); err != nil {
			return nil, err
		}
		name := filepath.Base(folder)
		if _, err := s.Output(append([]string{"replay", "--account", "size " + name, "--register", "--json"}, files...)...); err != nil {
			return nil, err
		}
		if err := s.DB.Exec(ctx, "OPTIMIZE TABLE positions FINAL"); err != nil {
			return nil, err
		}
		r := SizeResult{Recording: name}
		if r.Positions, err = scalar[uint64](ctx, s.DB, "SELECT count() FROM positions"); err != nil {
			return nil, err
		}
		if r.Bytes, err = bytesPerRow(ctx, s, "positions"); err != nil {
			return nil, err
		}
		rows, err := s.DB.Query(ctx, `SELECT name, data_compressed_bytes / $1 AS bytes FROM system.columns
			WHERE database = currentDatabase() AND table = 'positions' AND bytes >= 0.05 ORDER BY bytes DESC`, r.Positions)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var c ColumnSize
			if err := rows.Scan(&c.Name, &c.Bytes); err != nil {
				return nil, err
			}
			r.Columns = append(r.Columns, c)
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}
