package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/motorpool/fleet"
)

// Idempotency keys. A key is claimed before its request is carried out, and the claim reserves the id of the record
// that the request may create, so that a request repeated after a crash makes the same record and not another. It keeps
// the number of the command, too, under which all attempts write: so one that finds its own work done answers with what
// stands (Author.Again).
//
//	free ──Begin──> running ──Finish──> answered: the answer is replayed until the key expires
//	                   │  └──Reopen──> open: the next one carries it out again, with the same reserved id
//	                   └── Config.Abandoned has passed: the same as open

// Ticket is the right to carry out one request with an idempotency key. It is owned by the request's goroutine.
type Ticket struct {
	ID      uint64  // reserved for the record that the request creates
	Again   bool    // an earlier attempt was cut short: it may have done part of the work
	Command uint32  // of all attempts: what any of them wrote names it; 0 if the first was of a version without commands
	Answer  *Answer // not nil: the request was carried out, and this was the answer

	store    *Store
	account  uint64
	value    string
	revision uint64
	hash     string
	expires  time.Time
}

// Answer is a stored answer.
type Answer struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header,omitempty"`
	Body   string            `json:"body,omitempty"`
}

// attempt is the detail of an idempotency claim.
type attempt struct {
	Hash    string  `json:"hash"`
	Command uint32  `json:"command,omitempty"`
	Answer  *Answer `json:"answer,omitempty"`
	Open    bool    `json:"open,omitempty"`
}

// Errors of Begin.
var (
	// ErrKeyReused says that the key was used for another request.
	ErrKeyReused = errors.New("idempotency key was used for another request")
	// ErrKeyBusy says that the request with this key is being carried out.
	ErrKeyBusy = errors.New("request with this idempotency key is being carried out")
)

// idempotencyField marks the claims of idempotency keys.
const idempotencyField = "idempotency"

// KeptFor is how long an idempotency key is remembered.
const KeptFor = 24 * time.Hour

// Begin claims an idempotency key for a request, of which hash tells one from another. key must already be joined
// with whatever it is scoped by.
func (s *Store) Begin(ctx context.Context, account fleet.AccountID, key, hash string) (*Ticket, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Deadline)
	defer cancel()
	t := &Ticket{store: s, account: uint64(account), value: digest(key), hash: hash}
	for {
		row, err := s.claim(ctx, t.account, idempotencyField, t.value)
		if err != nil {
			return nil, err
		}
		t.ID, t.Again, t.Command, t.expires = s.NextID(), false, NewCommand(), s.now().Add(KeptFor)
		if !row.free() {
			var done attempt
			if err := json.Unmarshal([]byte(row.detail), &done); err != nil {
				return nil, fmt.Errorf("decode idempotency claim: %w", err)
			}
			switch {
			case done.Hash != hash:
				return nil, ErrKeyReused
			case done.Answer != nil:
				t.Answer = done.Answer
				return t, nil
			case !done.Open && row.age < s.cfg.Abandoned:
				return nil, ErrKeyBusy
			}
			// A key that was left open by a version without commands has none: who writes without one owns what it finds.
			t.ID, t.Again, t.Command = row.owner, true, done.Command
		}
		t.revision, err = s.setClaim(ctx, t.account, idempotencyField, t.value, row.revision, t.ID, &t.expires,
			t.detail(attempt{Hash: hash, Command: t.Command}))
		if errors.Is(err, errLost) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("claim idempotency key: %w", err)
		}
		return t, nil
	}
}

// Finish stores the answer of a request that was carried out.
func (t *Ticket) Finish(ctx context.Context, a Answer) error {
	return t.set(ctx, t.ID, attempt{Hash: t.hash, Answer: &a})
}

// Reopen says that it is unknown what the request did: whoever repeats it carries it out again under the same id.
func (t *Ticket) Reopen(ctx context.Context) error {
	return t.set(ctx, t.ID, attempt{Hash: t.hash, Command: t.Command, Open: true})
}

// Release gives the key free, after a request that was refused and did nothing.
func (t *Ticket) Release(ctx context.Context) error {
	return t.set(ctx, 0, attempt{Hash: t.hash})
}

func (t *Ticket) set(ctx context.Context, owner uint64, a attempt) error {
	// The request is over, perhaps because its time was up; what became of it must be noted all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.store.cfg.Deadline)
	defer cancel()
	_, err := t.store.setClaim(ctx, t.account, idempotencyField, t.value, t.revision, owner, &t.expires, t.detail(a))
	if err != nil && !errors.Is(err, errLost) {
		return fmt.Errorf("note idempotency key: %w", err)
	}
	return nil
}

func (t *Ticket) detail(a attempt) string {
	text, err := json.Marshal(a)
	if err != nil {
		panic(err) // strings and numbers only
	}
	return string(text)
}
