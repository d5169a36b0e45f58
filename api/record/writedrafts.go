package record

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// writeAtOnce is how many drafts are written at once that are inserts of their own.
const writeAtOnce = 4

// WriteDrafts writes what drafts of one account have decided upon this store, but for those of which Hold has said that
// they moved, and notes beside what that said what Draft.Write returns of each. The error is the first that is not
// ErrMoved.
//
// Those that hold their gates are one insert, under the token of the next revision of the gate of the first. They stand
// upon what their gates say, as a single booking does, which is theirs for a while whatever else comes to the gates.
// Where the first gate has moved, or little of that while is left, each is an insert of its own under the token of its
// own gate. So is a draft of a made-up past, of which a gate keeps nothing: what it says is old when it is written.
func (s *Store) WriteDrafts(ctx context.Context, drafts []*Draft, errs []error) error {
	var held []*Draft
	for i, d := range drafts {
		if errs[i] == nil && d.keeps() {
			held = append(held, d)
		}
	}
	var together bool
	var err error
	if len(held) > 1 {
		together, err = s.writeHeld(ctx, held)
	}
	writing, inner := errgroup.WithContext(ctx)
	writing.SetLimit(writeAtOnce)
	for i, d := range drafts {
		switch {
		case errs[i] != nil:
		case together && d.keeps():
			errs[i] = err
		default:
			writing.Go(func() error {
				if errs[i] = d.Write(inner); !errors.Is(errs[i], ErrMoved) {
					return errs[i] // of the others it is open then, too, whether they stand
				}
				return nil
			})
		}
	}
	return cmp.Or(writing.Wait(), err)
}

// keeps says whether the gate of a draft keeps for it what it holds.
func (d *Draft) keeps() bool { return d.held != nil && !d.past }

// writeHeld writes drafts that hold their gates in one insert. False says that nothing of them stands or is on its way.
func (s *Store) writeHeld(ctx context.Context, drafts []*Draft) (decided bool, err error) {
	first := drafts[0]
	until := first.heldAt
	var all []*revision
	for _, d := range drafts {
		all = append(all, d.all...)
		if d.heldAt.Before(until) {
			until = d.heldAt
		}
	}
	until = until.Add(s.theirs())
	if time.Until(until) < s.cfg.Deadline {
		return false, nil
	}
	next, err := first.nextOfGate()
	if err != nil {
		return true, err
	}
	within, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	wrote := time.Now()
	switch err := s.appendAll(within, revisionToken(next), append(all, next)...); {
	case errors.Is(err, errLost):
		return false, nil
	case err != nil:
		return true, unavailable("write what was decided in memory", err)
	}
	for _, d := range drafts {
		d.heads[d.gate], d.wrote = d.held, wrote
	}
	first.heads[first.gate] = next
	return true, nil
}

// theirs is how long what a draft has claimed, and what its gate keeps for it, is its own.
func (s *Store) theirs() time.Duration { return s.cfg.Deadline + s.cfg.Abandoned/4 }

// lookForOthers notes ErrMoved of drafts of one account that hold their gates if records that they are to make stand
// already: another process has the same to make, and has written it together with what is of other gates, so that
// theirs did not move. One that is about to do so has held the first of its gates before, or will find that it moved.
func (s *Store) lookForOthers(ctx context.Context, drafts []*Draft, moved []error) error {
	of := map[writtenRef]int{}
	var accounts, ids []uint64
	var kinds []string
	for i, d := range drafts {
		if d.held == nil || moved[i] != nil {
			continue
		}
		for _, r := range d.all {
			if r.number == 1 {
				of[r.ref()] = i
				accounts, kinds, ids = append(accounts, r.account), append(kinds, r.kind), append(ids, r.id)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return schemas.EachRow(ctx, s.db, "look for what others have made", schemas.Query("record_shared"), []any{
		clickhouse.Named("accounts", accounts), clickhouse.Named("kinds", kinds), clickhouse.Named("ids", ids),
		clickhouse.Named("writes", []uint64{}),
	}, func(row schemas.Row) error {
		var account, id uint64
		var kind string
		err := row.Scan(&account, &kind, &id)
		if i, ok := of[writtenRef{fleet.AccountID(account), Ref{kind, id}}]; ok {
			moved[i] = ErrMoved
		}
		return err
	})
}
