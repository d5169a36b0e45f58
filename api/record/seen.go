package record

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Ref names a record of an account.
type Ref struct {
	Kind string
	ID   uint64
}

// Seen are the newest revisions of some records of an account, as they were read together.
type Seen struct {
	account   fleet.AccountID
	at        time.Time // when it was read, or before
	asked     map[Ref]bool
	revisions map[Ref]*revision
	recalled  map[Ref]bool // those that came from memory
}

// Recall is See for what is only looked up: what is in memory comes from there. Whoever refuses something by what was
// recalled sees it first.
func (s *Store) Recall(ctx context.Context, account fleet.AccountID, refs ...Ref) (*Seen, error) {
	recalled := map[Ref]*revision{}
	rest := make([]Ref, 0, len(refs))
	for _, ref := range refs {
		if r := s.recall(ctx, account, ref); r != nil {
			recalled[ref] = r
		} else {
			rest = append(rest, ref)
		}
	}
	seen := &Seen{account: account, at: time.Now(), asked: map[Ref]bool{}, revisions: map[Ref]*revision{}}
	if len(rest) > 0 {
		var err error
		if seen, err = s.See(ctx, account, rest...); err != nil {
			return nil, err
		}
	}
	seen.recalled = make(map[Ref]bool, len(recalled))
	for ref, r := range recalled {
		seen.asked[ref], seen.recalled[ref], seen.revisions[ref] = true, true, r
	}
	return seen, nil
}

// recall returns what memory has of a record, nil if only the store can tell.
func (s *Store) recall(ctx context.Context, account fleet.AccountID, ref Ref) *revision {
	if !s.Remembers() {
		return nil
	}
	stored, ok := s.memory(ctx, account, ref.Kind, ref.ID)
	if !ok {
		return nil
	}
	return &revision{account: uint64(account), kind: ref.Kind, id: ref.ID, number: stored.Revision, at: stored.UpdatedAt,
		createdAt: stored.CreatedAt, body: stored.Body}
}

// See reads records together: the time of one, where each by itself would take as long.
func (s *Store) See(ctx context.Context, account fleet.AccountID, refs ...Ref) (*Seen, error) {
	seen := &Seen{account: account, at: time.Now(), asked: make(map[Ref]bool, len(refs)),
		revisions: make(map[Ref]*revision, len(refs))}
	keys := make([]writtenRef, len(refs))
	for i, ref := range refs {
		keys[i], seen.asked[ref] = writtenRef{account, ref}, true
	}
	if s.draft != nil {
		for _, ref := range refs {
			r, err := s.draft.newest(ctx, uint64(account), ref.Kind, ref.ID)
			if err != nil {
				return nil, err
			}
			if r != nil {
				seen.revisions[ref] = r
			}
		}
		return seen, nil
	}
	found, err := s.reads.Of(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read records together: %w", err)
	}
	for _, key := range keys {
		if r := found[key]; r != nil {
			seen.revisions[key.of] = r.alone()
		}
	}
	return seen, nil
}

// Body returns what a record that was seen holds.
func (s *Seen) Body(ref Ref) (string, bool) {
	r := s.revisions[ref]
	if r == nil {
		return "", false
	}
	return r.body, true
}

func (l *kindLog) look(ctx context.Context, account fleet.AccountID, id uint64, recall bool) (*Seen, error) {
	s, ref := l.store, Ref{l.name, id}
	var r *revision
	var at time.Time
	if recall {
		s.wantHeads(account, ref.Kind)
		if known, stood := s.heads.find(account, ref, s.fresh()); known != nil {
			r, at = known, stood
		}
	}
	if r == nil {
		var err error
		at = time.Now()
		if r, err = s.newest(ctx, uint64(account), ref.Kind, id); err != nil {
			return nil, err
		}
		if r != nil {
			s.heads.note(r, at)
		}
	}
	return &Seen{account: account, at: at, asked: map[Ref]bool{ref: true}, revisions: map[Ref]*revision{ref: r}}, nil
}

// guess is the revision of a record that was read, nil if it was not, or so long ago that the server may not know the
// token of the next any more.
func (s *Seen) guess(account fleet.AccountID, ref Ref, within time.Duration) *revision {
	if s == nil || s.account != account || s.recalled[ref] || time.Since(s.at) > within {
		return nil
	}
	return s.revisions[ref]
}

// guess is the newest revision of a record, if this store knows one that may be written upon without another look.
func (s *Store) guess(account fleet.AccountID, ref Ref) *revision {
	if r := s.lately.find(account, ref, time.Now(), s.fresh()); r != nil {
		return r
	}
	known, _ := s.heads.find(account, ref, s.fresh())
	return known
}

func (l *kindLog) in(seen *Seen, account fleet.AccountID, id uint64) (Record[any], bool, error) {
	ref := Ref{l.name, id}
	if seen == nil || seen.account != account || !seen.asked[ref] {
		return Record[any]{}, false, nil
	}
	r := seen.revisions[ref]
	if r == nil {
		return Record[any]{}, true, l.notFound(id)
	}
	rec, err := l.record(r)
	return rec, true, err
}

func (l *kindLog) unlisted(ctx context.Context, account fleet.AccountID, ids []uint64) ([]Record[any], error) {
	s := l.store
	if s.draft != nil {
		return nil, fmt.Errorf("what no table knows is not decided upon: %w", ErrNotYet)
	}
	since := s.now().Add(-mendWithin - settleAfter - time.Minute) // by when a round of Mend has come to it
	var all []Record[any]
	err := s.eachRevision(ctx, "read what no table may know yet", schemas.Query("records_unlisted"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("kind", l.name), clickhouse.Named("ids", ids),
		clickhouse.Named("since", since.UnixMilli()),
	}, func(r *revision) error {
		rec, err := l.record(r)
		all = append(all, rec)
		return err
	})
	return all, err
}
