package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/recording"
)

// scanned is what a first pass over recordings finds out.
type scanned struct {
	rows        int64
	identifiers []string // in the order of their first rows, without the empty one
	electric    map[string]bool
	first, last fleet.Millis // of all usable times; zero if there is none
}

// maxIdentifiers bounds what --register makes from one command: a file of any columns may have been named by mistake.
const maxIdentifiers = 200_000

// scan reads files whole, one row at a time.
func scan(ctx context.Context, files []string, passed func(bytes int64)) (scanned, error) {
	s := scanned{electric: make(map[string]bool)}
	seen := make(map[string]bool)
	soc := fleet.MustSignal("soc_pct")
	err := eachReport(ctx, files, func(r *fleet.Report) error {
		s.rows++
		if !seen[r.UniqueID] && r.UniqueID != "" {
			identifier := strings.Clone(r.UniqueID)
			seen[identifier] = true
			s.identifiers = append(s.identifiers, identifier)
			if len(seen) > maxIdentifiers {
				return fmt.Errorf("more than %d vehicles: is the first column really the vehicle?", maxIdentifiers)
			}
		}
		for _, signal := range r.Signals {
			if signal.Signal == soc && !s.electric[r.UniqueID] {
				s.electric[strings.Clone(r.UniqueID)] = true
			}
		}
		if r.FixTime != 0 {
			if s.first == 0 || r.FixTime < s.first {
				s.first = r.FixTime
			}
			s.last = max(s.last, r.FixTime)
		}
		return nil
	}, passed)
	return s, err
}

// sizeOf adds up the files, and refuses what is no recording before anything is sent.
func sizeOf(files []string) (int64, error) {
	var size int64
	for _, path := range files {
		reader, err := recording.Open(path)
		if err != nil {
			return 0, err
		}
		reader.Close()
		info, err := os.Stat(path)
		if err != nil {
			return 0, err
		}
		size += info.Size()
	}
	return size, nil
}

// eachReport calls visit with every row of the files, in their order. The report is valid during the call. passed is
// told the bytes read, now and then.
func eachReport(ctx context.Context, files []string, visit func(*fleet.Report) error, passed func(bytes int64)) error {
	var done int64
	report := fleet.NewReport()
	for _, path := range files {
		reader, err := recording.Open(path)
		if err != nil {
			return err
		}
		for rows := 0; ; rows++ {
			if rows%1024 == 0 {
				passed(done + reader.Offset())
				if err := ctx.Err(); err != nil {
					reader.Close()
					return err
				}
			}
			err := reader.Next(&report)
			if err == nil {
				err = visit(&report)
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				reader.Close()
				return err
			}
		}
		done += reader.Offset()
		passed(done)
		if err := reader.Close(); err != nil {
			return err
		}
	}
	return nil
}
