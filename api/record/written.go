package record

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
)

// Written is a revision that stands.
type Written struct {
	Account   fleet.AccountID
	Kind      string
	Prefix    string // of the ids of the kind; empty if the store has no log of it
	ID        uint64
	Revision  uint64
	Action    string
	At        time.Time
	Actor     string
	RequestID string
	Before    json.RawMessage // the body of the revision before; nil for the first
	After     json.RawMessage

	of *revision // as the store has it
}

// System is the author of what follows from the revision: the system, on account of the request that wrote it.
func (w Written) System() Author { return Author{Actor: System.Actor, RequestID: w.RequestID} }

// Consequence is what follows from the revisions of a kind: postings, events, another record's state. It is carried
// out after the write is decided, and again whenever it is not certain that it was (see Store.SettleConsequences): so
// it must be harmless to repeat, by identities that come from the revision, and must not mind that newer revisions
// stand by then.
type Consequence func(ctx context.Context, w Written) error

// ErrNotYet is the error of a Consequence that cannot be carried out yet, and is tried again as one that failed.
var ErrNotYet = errors.New("it cannot be told yet what follows")

// consequence is a Consequence with its name, for the log.
type consequence struct {
	name   string
	do     Consequence
	beside bool // it waits for no other of its kind, and none for it
}

// Then has a consequence follow from every revision of a kind, after those that were named before it; "" means all
// kinds, beside what follows from the kind. It must be called before anything is written.
func (s *Store) Then(kind, name string, do Consequence) {
	s.consequences[kind] = append(s.consequences[kind], consequence{name: name, do: do})
}

// Beside has a consequence follow from every revision of a kind at the same time as the others: one that neither reads
// what they write nor writes what they read.
func (s *Store) Beside(kind, name string, do Consequence) {
	s.consequences[kind] = append(s.consequences[kind], consequence{name: name, do: do, beside: true})
}

// Bodies decodes the bodies of a revision; before is nil for the first. They are shared by all that follows from it,
// and must not be changed.
func Bodies[T any](w Written) (before, after *T, err error) {
	of := w.of
	if of == nil || of.kept == nil {
		of = &revision{body: string(w.After)}
	}
	if after, err = sharedBody[T](of); err != nil {
		return nil, nil, fmt.Errorf("decode %s %d revision %d: %w", w.Kind, w.ID, w.Revision, err)
	}
	if w.Before != nil {
		was := of.before
		if was == nil {
			was = &revision{body: string(w.Before)}
		}
		if before, err = sharedBody[T](was); err != nil {
			return nil, nil, fmt.Errorf("decode %s %d revision %d: %w", w.Kind, w.ID, w.Revision-1, err)
		}
	}
	return before, after, nil
}

// written carries out what follows from a revision that has just come to stand, and returns the error of list, which
// has the tables of current records know it. What else fails is not the caller's, for the write is decided:
// SettleConsequences does it again.
func (s *Store) written(ctx context.Context, r *revision, before string, list func() error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*s.cfg.Deadline)
	defer cancel()
	var unlisted error
	done := s.carryOut(ctx, r, before, func() error {
		unlisted = list()
		return unlisted
	})
	switch {
	case done != nil || len(s.consequences[r.kind])+len(s.consequences[""]) == 0:
	case s.draft != nil:
		s.draft.mark(r)
	default:
		s.mark(ctx, r)
	}
	return unlisted
}

// listed is for revisions that the tables know already.
func listed() error { return nil }

// writtenOf is a revision as it is handed to its consequences, but for the body before it.
func (s *Store) writtenOf(r *revision) Written {
	w := Written{Account: fleet.AccountID(r.account), Kind: r.kind, ID: r.id, Revision: r.number, Action: r.action,
		At: r.at.UTC(), Actor: r.actor, RequestID: r.requestID, After: json.RawMessage(r.body), of: r}
	if prefix, ok := s.prefixes.Load(r.kind); ok {
		w.Prefix = prefix.(string)
	}
	return w
}

// carryOut does what follows from a revision: the consequences of its kind once list has returned, one after the other
// but for those that go beside, and beside all this those of all kinds. A consequence that fails is logged and keeps no
// other from being done. The error is the first one.
func (s *Store) carryOut(ctx context.Context, r *revision, before string, list func() error) error {
	w := s.writtenOf(r)
	if before != "" {
		w.Before = json.RawMessage(before)
	}
	var group errgroup.Group
	if common := s.consequences[""]; len(common) > 0 && r.kind != "" {
		group.Go(func() error { return s.carryOutSome(ctx, common, w) })
	}
	own := list()
	if own == nil {
		own = s.carryOutSome(ctx, s.consequences[r.kind], w)
	}
	return cmp.Or(own, group.Wait())
}

type unhurriedKey struct{}

// Unhurried says of the context of a Consequence that nobody waits for it, who wrote so much that it takes a while.
func Unhurried(ctx context.Context) bool { return ctx.Value(unhurriedKey{}) != nil }

// carryOutCommon does what follows from a revision of a draft as from those of all kinds.
func (s *Store) carryOutCommon(ctx context.Context, r *revision) error {
	w := s.writtenOf(r)
	if r.before != nil {
		w.Before = json.RawMessage(r.before.body)
	}
	return s.carryOutSome(context.WithValue(ctx, unhurriedKey{}, true), s.consequences[""], w)
}

// carryOutSome does some of what follows from a revision.
func (s *Store) carryOutSome(ctx context.Context, some []consequence, w Written) (first error) {
	one := func(c consequence) error {
		err := c.do(ctx, w)
		if err == nil {
			return nil
		}
		level := slog.LevelWarn
		if errors.Is(err, ErrNotYet) {
			level = slog.LevelDebug
		}
		s.log.Log(ctx, level, "a consequence of a write failed and will be done again", "consequence", c.name,
			"kind", w.Kind, "id", w.ID, "revision", w.Revision, "error", err)
		return fmt.Errorf("%s of %s %d revision %d: %w", c.name, w.Kind, w.ID, w.Revision, err)
	}
	var group errgroup.Group
	for _, c := range some {
		if c.beside {
			group.Go(func() error { return one(c) })
		}
	}
	for _, c := range some {
		if !c.beside {
			first = cmp.Or(first, one(c))
		}
	}
	return cmp.Or(first, group.Wait())
}
