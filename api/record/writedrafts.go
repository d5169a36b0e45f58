package record

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
)

// writeAtOnce is how many drafts are written at once that are inserts of their own.
const writeAtOnce = 4

// WriteDrafts writes what drafts of one account have decided upon this store, but for those of which Hold has said that
// they moved, and notes beside what that said what Draft.Write returns of each.
//
// Those that hold their gates are one insert, under the token of the next revision of the gate of the first. They stand
// upon what their gates say, as a single booking does, which is theirs for a while whatever else comes to the gates.
// Where the first gate has moved, or that while is over, each is an insert of its own under the token of its own gate.
func (s *Store) WriteDrafts(ctx context.Context, drafts []*Draft, errs []error) {
	var held []*Draft
	for i, d := range drafts {
		if errs[i] == nil && d.held != nil {
			held = append(held, d)
		}
	}
	var together error
	decided := false
	if len(held) > 1 {
		decided, together = s.writeHeld(ctx, held)
	}
	writing, inner := errgroup.WithContext(ctx)
	writing.SetLimit(writeAtOnce)
	for i, d := range drafts {
		switch {
		case errs[i] != nil:
		case decided && d.held != nil:
			errs[i] = together
		default:
			writing.Go(func() error {
				if errs[i] = d.Write(inner); !errors.Is(errs[i], ErrMoved) {
					return errs[i] // of the others it is open then, too, whether they stand
				}
				return nil
			})
		}
	}
	_ = writing.Wait()
}

// writeHeld writes drafts that hold their gates in one insert. False says that nothing of them stands.
func (s *Store) writeHeld(ctx context.Context, drafts []*Draft) (decided bool, err error) {
	first := drafts[0]
	next, err := first.nextOfGate()
	if err != nil {
		return true, err
	}
	var all []*revision
	until := first.theirsUntil()
	for _, d := range drafts {
		all = append(all, d.all...)
		if theirs := d.theirsUntil(); theirs.Before(until) {
			until = theirs
		}
	}
	within, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	if within.Err() != nil {
		return ctx.Err() != nil, ctx.Err()
	}
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

// theirsUntil is until when what a draft has claimed, and what its gate keeps for it, is its own.
func (d *Draft) theirsUntil() time.Time {
	since := d.heldAt
	if len(d.claimed) > 0 && d.claimedAt.Before(since) || since.IsZero() {
		since = d.claimedAt
	}
	return since.Add(d.under.cfg.Deadline + d.under.cfg.Abandoned/4)
}
