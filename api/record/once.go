package record

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// What works once. A text that must work once, such as the code of an authorization, is kept as a claim of its hash
// that expires, and using it is the next revision of that claim: of all who try, in any number of processes, one wins.
//
//	free ──Put──> kept ──Use──> used ──(expires)──> free
//
// Of a text that needs only not come twice, such as the number of a proof, Put alone says who came first.

// Once is a text that works once, as it is kept.
type Once struct {
	Owner   uint64 // what it is of
	Detail  string // whatever was put with it
	Used    bool
	Expired bool // by the clock of the server

	field, value string
	revision     uint64
}

// usedOnce begins the detail of what was used.
const usedOnce = "used "

// Put keeps a text of a field until it expires, and says whether it came first: false if it is there already. The text
// itself is stored as a hash.
func (s *Store) Put(ctx context.Context, field, text string, owner uint64, detail string,
	expires time.Time) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Deadline)
	defer cancel()
	value := digest(text)
	row, err := s.claim(ctx, 0, field, value)
	if err != nil {
		return false, err
	}
	if !row.free() {
		return false, nil
	}
	switch _, err = s.setClaim(ctx, 0, field, value, row.revision, max(owner, 1), &expires, detail); {
	case err == nil:
		return true, nil
	case errors.Is(err, errLost):
		return false, nil
	}
	return false, fmt.Errorf("keep %s: %w", field, err)
}

// Find returns what was put of a text; nil if there is nothing.
func (s *Store) Find(ctx context.Context, field, text string) (*Once, error) {
	value := digest(text)
	row, err := s.claim(ctx, 0, field, value)
	if err != nil || row.revision == 0 || row.owner == 0 {
		return nil, err
	}
	once := &Once{Owner: row.owner, Detail: row.detail, Expired: row.expired, field: field, value: value,
		revision: row.revision}
	if len(row.detail) >= len(usedOnce) && row.detail[:len(usedOnce)] == usedOnce {
		once.Used, once.Detail = true, row.detail[len(usedOnce):]
	}
	return once, nil
}

// Use uses what was found, and says whether it was the first to. That it was used is known until keep.
func (s *Store) Use(ctx context.Context, o *Once, keep time.Time) (bool, error) {
	if o.Used || o.Expired {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Deadline)
	defer cancel()
	switch _, err := s.setClaim(ctx, 0, o.field, o.value, o.revision, o.Owner, &keep, usedOnce+o.Detail); {
	case err == nil:
		return true, nil
	case errors.Is(err, errLost):
		return false, nil
	default:
		return false, fmt.Errorf("use %s: %w", o.field, err)
	}
}

// Alone does something while nobody else, at any process, does what has the same name. Who comes meanwhile waits, for
// the store's deadline at most. Somebody who dies at it keeps the others out for a while, which is longer than a write
// may take.
func (s *Store) Alone(ctx context.Context, field, name string, do func() error) error {
	waiting, cancel := context.WithTimeout(ctx, s.cfg.Deadline)
	defer cancel()
	value := digest(name)
	for {
		row, err := s.claim(waiting, 0, field, value)
		if err != nil {
			return unavailable("wait for "+field, err)
		}
		if row.free() {
			// What is done may take a few writes; the server's clock says when the claim is over.
			expires := time.Now().Add(max(time.Minute, 6*s.cfg.Deadline))
			number, err := s.setClaim(waiting, 0, field, value, row.revision, 1, &expires, "")
			if err == nil {
				defer s.letOthers(ctx, field, value, number)
				return do()
			}
			if !errors.Is(err, errLost) {
				return unavailable("wait for "+field, err)
			}
		}
		select {
		case <-waiting.Done():
			return unavailable("wait for "+field, waiting.Err())
		case <-time.After(10*time.Millisecond + rand.N(20*time.Millisecond)):
		}
	}
}

// letOthers ends what somebody does alone. If it fails, that ends by itself.
func (s *Store) letOthers(ctx context.Context, field, value string, number uint64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.Deadline)
	defer cancel()
	_, _ = s.setClaim(ctx, 0, field, value, number, 0, nil, "")
}
