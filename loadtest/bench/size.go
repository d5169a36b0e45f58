package bench

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/motorpool/fleet/loadtest/system"
)

// SizeResult is how much of the disk a position of a recording takes.
type SizeResult struct {
	Recording string
	Positions uint64
	Bytes     float64 // of a position, in table positions, merged
}

// Sizes replays each folder of recordings into an account of its own, alone in the table, and measures.
func Sizes(ctx context.Context, s *system.System, group string, folders []string) ([]SizeResult, error) {
	process, err := s.Start("ingest", group)
	if err != nil {
		return nil, err
	}
	defer func() { _, _, _ = process.Stop() }()
	if err := awaitIdle(ctx, s); err != nil { // what the load before has left
		return nil, err
	}
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
		if _, err := s.Output(append([]string{"replay", group, "--account", "size " + name, "--register", "--json"},
			files...)...); err != nil {
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
		results = append(results, r)
	}
	return results, nil
}

// awaitIdle returns when the pipeline has had nothing to do for a while.
func awaitIdle(ctx context.Context, s *system.System) error {
	var last int64
	quiet := time.Now()
	return await(ctx, pollEvery, func() (bool, error) {
		n, err := scalar[int64](ctx, s.DB, "SELECT sum(read) FROM ingest_outcomes")
		if n != last {
			last, quiet = n, time.Now()
		}
		return time.Since(quiet) > 5*time.Second, err
	})
}
