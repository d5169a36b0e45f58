package record

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/motorpool/fleet"
)

// Commands. Who writes on behalf of a command puts its number into the number of each write, so that a record tells
// which command made it, and which wrote it last. The number is drawn when a request comes in, or kept with its
// idempotency key: no caller chooses it.

// NewCommand returns a number that names a command: random, and never zero.
func NewCommand() uint32 { return uint32(RandomID()>>32) | 1 }

// writeIDOf returns a number that names one write, and the command that it belongs to if there is one.
func writeIDOf(command uint32) uint64 {
	id := RandomID()
	if command != 0 {
		id = uint64(command)<<32 | id&0xffffffff
	}
	return id
}

// commandOf returns the command that a write belongs to. It means nothing for a write that belongs to none.
func commandOf(writeID uint64) uint32 { return uint32(writeID >> 32) }

// ErrTaken says that the id of a record to be is another record's. The caller tries again with another
// one (Store.Another).
var ErrTaken = errors.New("the id is another record's")

// Another returns the id to try after one that was taken (ErrTaken). A command that may be repeated finds the same
// one each time.
func (s *Store) Another(by Author, taken uint64) uint64 {
	if by.Command == 0 {
		return s.NextID()
	}
	hash := fnv.New64a()
	fmt.Fprintf(hash, "after %d for %d", taken, by.Command)
	return max(hash.Sum64()>>1, 1)
}

func (l *kindLog) own(ctx context.Context, by Author, account fleet.AccountID, id uint64) error {
	if by.Command == 0 {
		return nil
	}
	first, err := l.store.writerOf(ctx, &revision{account: uint64(account), kind: l.name, id: id, number: 1})
	if err != nil {
		return fmt.Errorf("read who made %s: %w", l.named(id), err)
	}
	if commandOf(first) != by.Command {
		return ErrTaken
	}
	return nil
}

// Found is what to say to a command that finds what it is about to add there already, under the id that was drawn for
// it: an earlier attempt has added it, or it is another's. An author without a command owns what it finds.
func (a Author) Found() error {
	if a.Again || a.Command == 0 {
		return nil
	}
	return ErrTaken
}

// wrote says whether a revision was written by an earlier attempt of the very command that is repeated. Then what the
// command asks for stands, and is no reason to refuse it.
func (a Author) wrote(r *revision) bool {
	return a.Again && a.Command != 0 && a.Command == commandOf(r.writeID) && a.Actor == r.actor
}

// refused says whether an error refuses what was asked for as the record stands.
func refused(err error) bool {
	return slices.Contains([]fleet.Code{fleet.CodeTransition, fleet.CodeStale, fleet.CodeConflict, fleet.CodeValidation},
		fleet.CodeOf(err))
}

func (l *kindLog) alreadyDone(ctx context.Context, refusal error, by Author, account fleet.AccountID,
	id uint64) (Record[any], error) {
	if !by.Again || !refused(refusal) {
		return Record[any]{}, refusal
	}
	r, err := l.store.newest(ctx, uint64(account), l.name, id)
	if err != nil || r == nil || !by.wrote(r) {
		return Record[any]{}, refusal // which is certain, whatever became of the reading
	}
	return l.record(r)
}
