package record

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Bounds of settling.
const (
	settleAfter  = 15 * time.Second // age of a revision whose own writer cannot be at it any more
	settleWithin = time.Hour        // that SettleConsequences looks back, beyond what it knows to have failed
	settlePage   = 500              // revisions read at a time
	settleFails  = 20               // failures in a row after which a pass is given up
	markTogether = 500              // marks that are written together
)

// key names a revision. Its order is that of the log.
type key struct {
	account  uint64
	kind     string
	id       uint64
	revision uint64
}

// marks are revisions whose consequences were carried out, and that are not stored as such yet. They are written
// together, by SettleConsequences or when there are many: a mark that is lost with its process costs a repetition.
type marks struct {
	mu      sync.Mutex
	pending []marked
}

type marked struct {
	key
	at time.Time
}

// settling is what one pass of SettleConsequences leaves to the next.
type settling struct {
	mu    sync.Mutex
	since time.Time // what was written before is settled; zero before the first pass
	after key       // where a pass that was given up goes on
	first time.Time // the oldest revision that failed in the passes since the last whole one; zero if none
}

// mark notes that everything that follows from a revision has been carried out.
func (s *Store) mark(ctx context.Context, r *revision) {
	s.marks.mu.Lock()
	s.marks.pending = append(s.marks.pending, marked{key{r.account, r.kind, r.id, r.number}, r.at})
	full := len(s.marks.pending) >= markTogether
	s.marks.mu.Unlock()
	if full {
		if err := s.storeMarks(ctx); err != nil {
			s.log.WarnContext(ctx, "what was carried out could not be noted, and will be again", "error", err)
		}
	}
}

// Close notes what was carried out last. A store that is not closed leaves a repetition of it to others.
func (s *Store) Close(ctx context.Context) error { return s.storeMarks(ctx) }

// storeMarks writes the marks that are pending. Those that it cannot write are forgotten.
func (s *Store) storeMarks(ctx context.Context) error {
	s.marks.mu.Lock()
	all := s.marks.pending
	s.marks.pending = nil
	s.marks.mu.Unlock()
	if len(all) == 0 {
		return nil
	}
	// A mark that was lost is said again: by its content the server would take that for a repetition.
	batch, err := s.db.PrepareBatch(again(ctx), "INSERT INTO record_settled (account, kind, id, revision, at)")
	if err != nil {
		return fmt.Errorf("mark what is settled: %w", err)
	}
	for _, m := range all {
		if err := batch.Append(m.account, m.kind, m.id, m.revision, m.at); err != nil {
			batch.Abort()
			return fmt.Errorf("mark what is settled: %w", err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("mark what is settled: %w", err)
	}
	return nil
}

// SettleConsequences carries out the consequences of revisions that are not known to have had all of them, once the
// tables of current records know these: their writer died after the write, or one of them failed. It looks back over an
// hour, further to what failed, and the first time as far as to an hour before the newest revision that is known to be
// settled. Any number of processes may do it at once. The error says what still fails; it is tried again by the next
// call.
func (s *Store) SettleConsequences(ctx context.Context) error {
	if len(s.consequences) == 0 {
		return nil
	}
	s.settling.mu.Lock()
	defer s.settling.mu.Unlock()
	stored := s.storeMarks(ctx)
	since, until, err := s.settleSpan(ctx)
	if err != nil {
		return err
	}
	whole, failed := s.settlePass(ctx, since, until)
	if whole {
		// What failed stays in the span of the next pass.
		s.settling.since, s.settling.after = until, key{}
		if !s.settling.first.IsZero() && s.settling.first.Before(until) {
			s.settling.since = s.settling.first
		}
		s.settling.first = time.Time{}
	}
	return errors.Join(stored, failed, s.storeMarks(ctx))
}

// Resume does what Mend and SettleConsequences do over everything since an instant, for who writes with another clock
// than today's and may have been cut short.
func (s *Store) Resume(ctx context.Context, since time.Time) error {
	s.mending.mu.Lock()
	s.mending.since = since
	s.mending.mu.Unlock()
	s.settling.mu.Lock()
	s.settling.since, s.settling.after = since, key{} // wherever a pass was given up
	s.settling.mu.Unlock()
	if err := s.Mend(ctx); err != nil {
		return err
	}
	return s.SettleConsequences(ctx)
}

// settleSpan returns the instants between which revisions are looked at.
func (s *Store) settleSpan(ctx context.Context) (since, until time.Time, err error) {
	now := s.now()
	since = s.settling.since
	if since.IsZero() {
		_, settled, err := s.newestInstants(ctx)
		if err != nil {
			return since, until, err
		}
		if since = now; settled.Unix() > 0 {
			since = settled.Add(-settleWithin)
		}
	}
	if back := now.Add(-settleWithin); back.Before(since) {
		since = back
	}
	return since, now.Add(-settleAfter), nil
}

// newestInstants returns when the newest revision was written, and the newest of those that are settled; 1970 if
// there is none.
func (s *Store) newestInstants(ctx context.Context) (written, settled time.Time, err error) {
	if err := s.db.QueryRow(ctx, schemas.Query("record_recent")).Scan(&written, &settled); err != nil {
		return written, settled, fmt.Errorf("read the newest revision: %w", err)
	}
	return written, settled, nil
}

// settlePass settles a span. It is whole if it came to the end of the span; the error is the first failure.
func (s *Store) settlePass(ctx context.Context, since, until time.Time) (whole bool, first error) {
	kinds := []string{}
	if len(s.consequences[""]) == 0 {
		for kind := range s.consequences {
			kinds = append(kinds, kind)
		}
	}
	fails := 0
	for {
		some, err := s.unsettled(ctx, kinds, since, until, s.settling.after)
		if err != nil {
			return false, errors.Join(first, err)
		}
		for left := some; len(left) > 0; {
			group := alike(left)
			left = left[len(group):]
			unlisted := s.listUnsettled(ctx, group)
			for _, m := range group {
				err := unlisted
				if err == nil {
					err = s.settleRevision(ctx, m)
				}
				if err == nil {
					fails = 0
				} else {
					if first == nil {
						first = err
					}
					if s.settling.first.IsZero() || m.at.Before(s.settling.first) {
						s.settling.first = m.at
					}
					fails++
				}
				// The next pass goes on here: what always fails must not keep the others from their turn.
				if s.settling.after = m.key; fails == settleFails || ctx.Err() != nil {
					return false, first
				}
			}
		}
		if len(some) < settlePage {
			return true, first
		}
	}
}

// alike returns those of the first revisions that are of one account and kind, of at least one.
func alike(some []marked) []marked {
	for i, m := range some {
		if m.account != some[0].account || m.kind != some[0].kind {
			return some[:i]
		}
	}
	return some
}

// listUnsettled has the tables of current records know the records of some revisions, of one account and kind, before
// anything follows from them. Mend may not have come to them: what was decided in memory bears times of the past, and
// is in the log for a while before it is listed.
func (s *Store) listUnsettled(ctx context.Context, some []marked) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Deadline)
	defer cancel()
	account, kind := fleet.AccountID(some[0].account), some[0].kind
	refs := make([]Ref, len(some))
	for i, m := range some {
		refs[i] = Ref{kind, m.id}
	}
	seen, err := s.See(ctx, account, slices.Compact(refs)...) // they are in the order of their ids
	if err != nil {
		return err
	}
	stand := slices.Collect(maps.Values(seen.revisions))
	if len(stand) == 0 {
		return nil
	}
	for _, f := range s.feeds[kind] {
		if err := s.insertLogged(ctx, f, stand); err != nil {
			return fmt.Errorf("list %s: %w", noun(kind), err)
		}
	}
	return nil
}

// unsettled returns the next revisions of a span that are not marked.
func (s *Store) unsettled(ctx context.Context, kinds []string, since, until time.Time, after key) ([]marked, error) {
	return schemas.AllRows(ctx, s.db, "read what is not settled", schemas.Query("record_unsettled"), []any{
		clickhouse.Named("since", since.UnixMilli()), clickhouse.Named("until", until.UnixMilli()),
		clickhouse.Named("kinds", kinds), clickhouse.Named("account", after.account),
		clickhouse.Named("kind", after.kind), clickhouse.Named("id", after.id),
		clickhouse.Named("revision", after.revision), clickhouse.Named("limit", uint32(settlePage)),
	}, func(m *marked, row schemas.Row) error {
		return row.Scan(&m.account, &m.kind, &m.id, &m.revision, &m.at)
	})
}

// settleRevision carries out what follows from one revision, and marks it.
func (s *Store) settleRevision(ctx context.Context, m marked) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Deadline)
	defer cancel()
	revisions, err := s.revisions(ctx, m.account, m.kind, m.id, m.revision+1, 2)
	if err != nil {
		return err
	}
	if len(revisions) == 0 || revisions[0].number != m.revision {
		return nil // erased meanwhile
	}
	before := ""
	if len(revisions) == 2 {
		before = revisions[1].body
	}
	if err := s.carryOut(ctx, &revisions[0], before, listed); err != nil {
		return err
	}
	s.mark(ctx, &revisions[0])
	return nil
}
