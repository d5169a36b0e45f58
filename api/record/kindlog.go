package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/motorpool/fleet"
)

// kindLog is the log of a kind, whatever the type of its bodies. It has them as pointers; that of a record it returns
// is its caller's to change. Methods that are named as those of Log do what these say. They are not of a type, as each
// package that has a log would have to compile all of them for each kind.
type kindLog struct {
	store   *Store
	name    string
	prefix  string
	letter  string
	hidden  []string
	newBody func() any
	claims  func(body any) []Claim
}

func (l *kindLog) get(ctx context.Context, account fleet.AccountID, id uint64) (Record[any], error) {
	r, err := l.store.newest(ctx, uint64(account), l.name, id)
	if err != nil {
		return Record[any]{}, err
	}
	if r == nil {
		return Record[any]{}, l.notFound(id)
	}
	return l.record(r)
}

func (l *kindLog) recall(ctx context.Context, account fleet.AccountID, id uint64) (Record[any], error) {
	if r := l.store.recall(ctx, account, Ref{l.name, id}); r != nil {
		return l.record(r)
	}
	return l.get(ctx, account, id)
}

func (l *kindLog) create(ctx context.Context, by Author, account fleet.AccountID, id uint64,
	body any) (Record[any], bool, error) {
	create := l.ensure
	if !by.Again && l.store.Young(id) {
		create = l.createSeen
	}
	rec, fresh, err := create(ctx, by, account, id, body)
	if err == nil && !fresh {
		err = l.own(ctx, by, account, id)
	}
	return rec, fresh, err
}

func (l *kindLog) ensure(ctx context.Context, by Author, account fleet.AccountID, id uint64,
	body any) (Record[any], bool, error) {
	if found, err := l.get(ctx, account, id); fleet.CodeOf(err) != fleet.CodeNotFound {
		return found, false, err
	}
	return l.ensureSeen(ctx, by, account, id, body, false)
}

// createNew is New.
func (l *kindLog) createNew(ctx context.Context, by Author, account fleet.AccountID, body any) (Record[any], error) {
	by.Command = NewCommand()
	for {
		if rec, err := l.newOnce(ctx, by, account, body); !errors.Is(err, ErrTaken) {
			return rec, err
		}
	}
}

func (l *kindLog) newOnce(ctx context.Context, by Author, account fleet.AccountID, body any) (Record[any], error) {
	id, over := l.store.DrawID()
	defer over()
	rec, _, err := l.create(ctx, by, account, id, body)
	return rec, err
}

func (l *kindLog) createSeen(ctx context.Context, by Author, account fleet.AccountID, id uint64,
	body any) (Record[any], bool, error) {
	return l.ensureSeen(ctx, by, account, id, body, l.store.mayShare(by, id))
}

// ensureSeen is EnsureSeen; with share the insert is shared, unless too little time is left for that.
func (l *kindLog) ensureSeen(ctx context.Context, by Author, account fleet.AccountID, id uint64, body any,
	share bool) (Record[any], bool, error) {
	ctx, cancel := context.WithTimeout(ctx, l.store.cfg.Deadline)
	defer cancel()
	if err := l.number(ctx, account, body, 1); err != nil {
		return Record[any]{}, false, err
	}
	held, err := l.takeAll(ctx, account, id, l.claims(body))
	if err != nil {
		l.releaseUnheld(ctx, account, id, held)
		return Record[any]{}, false, err
	}
	r, err := l.first(by, account, id, body, millis(l.store.now()))
	if err != nil {
		return Record[any]{}, false, err
	}
	r.shares = share
	switch err := l.store.append(ctx, r, l.decided(body), "", nil); {
	case err == nil:
		rec, err := l.record(r)
		return rec, true, err
	case errors.Is(err, ErrTaken):
		l.releaseUnheld(ctx, account, id, held)
		return Record[any]{}, false, err
	case errors.Is(err, errLost):
		// The same creation, repeated at the same time, whose result this is; or another one, which wants none of the values
		// that it does not have.
		l.releaseUnheld(ctx, account, id, held)
		other, err := l.get(ctx, account, id)
		return other, false, err
	default:
		return Record[any]{}, false, unavailable("create "+l.named(id), err)
	}
}

// first makes the first revision of a record.
func (l *kindLog) first(by Author, account fleet.AccountID, id uint64, body any, at time.Time) (*revision, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", l.name, err)
	}
	return &revision{account: uint64(account), kind: l.name, id: id, number: 1, action: ActionCreate,
		at: at, createdAt: at,
		actor: by.Actor, requestID: by.RequestID, command: by.Command, body: string(text)}, nil
}

// change is Update or Archive, as action says.
func (l *kindLog) change(ctx context.Context, by Author, account fleet.AccountID, id, expect uint64, action string,
	mutate func(*Record[any]) error) (Record[any], error) {
	r, err := l.write(ctx, by, account, id, expect, action, mutate, nil)
	if err != nil {
		return Record[any]{}, err
	}
	return l.record(r)
}

// changeSeen is UpdateSeen.
func (l *kindLog) changeSeen(ctx context.Context, seen *Seen, by Author, account fleet.AccountID, id uint64,
	mutate func(*Record[any]) error) error {
	_, err := l.write(ctx, by, account, id, 0, ActionUpdate, mutate,
		seen.guess(account, Ref{l.name, id}, l.store.fresh()))
	return err
}

// write writes the next revision of a record, and returns it, or the present one if nothing changes. guess, if not nil,
// is what that is thought to be, else what this store wrote a moment ago. Only what a guess leads to that stands is an
// answer; else the record is read.
func (l *kindLog) write(ctx context.Context, by Author, account fleet.AccountID, id, expect uint64, action string,
	mutate func(*Record[any]) error, guess *revision) (*revision, error) {
	ctx, cancel := context.WithTimeout(ctx, l.store.cfg.Deadline)
	defer cancel()
	if guess == nil && l.store.draft == nil {
		guess = l.store.guess(account, Ref{l.name, id})
	}
	if guess != nil && guess.archivedAt == nil && (expect == 0 || expect == guess.number) {
		next, err := l.attempt(ctx, by, account, guess, false, action, mutate)
		if err == nil && next != guess || fleet.CodeOf(err) == fleet.CodeUnavailable {
			return next, err
		}
	}
	for lost := 0; ; lost++ {
		old, err := l.store.newest(ctx, uint64(account), l.name, id)
		if err != nil {
			return nil, unavailable("write "+l.named(id), err)
		}
		if old == nil {
			return nil, l.notFound(id)
		}
		if expect != 0 && expect != old.number {
			return nil, l.stale(id, old.number)
		}
		if old.archivedAt != nil {
			if action == ActionArchive {
				return old, nil
			}
			return nil, fleet.NewError(fleet.CodeConflict, "The "+l.named(id)+" is archived and cannot be changed.")
		}
		next, err := l.attempt(ctx, by, account, old, true, action, mutate)
		if !errors.Is(err, errLost) {
			return next, err
		}
		if expect != 0 {
			return nil, l.stale(id, old.number+1)
		}
		// Many writers of one record would otherwise go on colliding in step.
		select {
		case <-ctx.Done():
			return nil, unavailable("write "+l.named(id), ctx.Err())
		case <-time.After(rand.N(time.Duration(lost+1) * 20 * time.Millisecond)):
		}
	}
}

// attempt writes the revision after old, once, and returns it; it returns old if nothing changes. Upon what is not read
// a record claims nothing anew: it may have ended, or been erased, and then nobody would take the claim back.
func (l *kindLog) attempt(ctx context.Context, by Author, account fleet.AccountID, old *revision, read bool,
	action string, mutate func(*Record[any]) error) (*revision, error) {
	rec, err := l.record(old)
	if err != nil {
		return nil, err
	}
	had := l.claims(rec.Body)
	if mutate != nil {
		if err := mutate(&rec); err != nil {
			if by.wrote(old) && refused(err) {
				return old, nil
			}
			return nil, err
		}
	}
	// What the gate of a draft comes to is encoded once, when it is written.
	gate := l.store.draft != nil && l.store.draft.gate == Ref{old.kind, old.id}
	var text []byte
	if !gate {
		if text, err = json.Marshal(rec.Body); err != nil {
			return nil, fmt.Errorf("encode %s: %w", l.name, err)
		}
	}
	at := millis(l.store.now())
	if at.Before(old.at) {
		at = old.at // the clock of another process may be ahead; time within a record never runs back
	}
	r := &revision{account: old.account, kind: old.kind, id: old.id, number: old.number + 1, action: action, at: at,
		createdAt: old.createdAt, actor: by.Actor, requestID: by.RequestID, command: by.Command, body: string(text),
		before: old}
	wanted := l.claims(rec.Body)
	if action == ActionArchive {
		r.archivedAt, wanted = &at, nil
	} else if !gate && string(text) == old.body { // one that an older version wrote in another way gets one too many
		return old, nil
	}
	if !read && len(without(wanted, had)) > 0 {
		return nil, errLost
	}
	// What the record gives up is noted now: whoever claims it again from here on makes a newer claim, and the
	// release below then loses against that.
	dropped, err := l.claimed(ctx, account, old.id, without(had, wanted))
	if err != nil {
		return nil, err
	}
	// Claims that come to nothing are left to lapse: another write of this very record may have made the same one.
	if _, err := l.takeAll(ctx, account, old.id, without(wanted, had)); err != nil {
		return nil, err
	}
	release := func() { l.releaseAll(ctx, account, dropped) }
	switch err := l.store.append(ctx, r, l.decided(rec.Body), old.body, release); {
	case err == nil:
		return r, nil
	case errors.Is(err, errLost):
		return nil, err
	default:
		return nil, unavailable("write "+l.named(old.id), err)
	}
}

// decided returns a copy of what a revision of a draft is to hold; nil where none is decided.
func (l *kindLog) decided(body any) any {
	if l.store.draft == nil {
		return nil
	}
	return copied(body)
}

// takeAll claims values in a fixed order and returns those it got.
func (l *kindLog) takeAll(ctx context.Context, account fleet.AccountID, owner uint64,
	claims []Claim) ([]taken, error) {
	var held []taken
	for _, c := range claims {
		t, err := l.store.take(ctx, uint64(account), owner, c, func(account, id uint64) (bool, error) {
			return l.holds(ctx, account, id, c)
		})
		if err != nil {
			return held, err
		}
		held = append(held, t)
	}
	return held, nil
}

// claimed returns the present claims of a record on values.
func (l *kindLog) claimed(ctx context.Context, account fleet.AccountID, owner uint64,
	claims []Claim) ([]taken, error) {
	var held []taken
	for _, c := range claims {
		row, err := l.store.claim(ctx, c.account(uint64(account)), c.Field, c.Value)
		if err != nil {
			return nil, err
		}
		if row.ownedBy(uint64(account), owner) {
			held = append(held, taken{claim: c, revision: row.revision})
		}
	}
	return held, nil
}

func (l *kindLog) releaseAll(ctx context.Context, account fleet.AccountID, held []taken) {
	// The write is decided; giving up its values must not fail because the caller's time is up.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.store.cfg.Deadline)
	defer cancel()
	for _, t := range held {
		l.store.release(ctx, uint64(account), t)
	}
}

// releaseUnheld gives up those of the claims that the record under the id does not hold. What cannot be told lapses.
func (l *kindLog) releaseUnheld(ctx context.Context, account fleet.AccountID, id uint64, held []taken) {
	held = slices.DeleteFunc(held, func(t taken) bool {
		holds, err := l.holds(ctx, uint64(account), id, t.claim)
		return holds || err != nil
	})
	l.releaseAll(ctx, account, held)
}

// holds says whether the newest revision of a record holds a value.
func (l *kindLog) holds(ctx context.Context, account, id uint64, c Claim) (bool, error) {
	r, err := l.store.newest(ctx, account, l.name, id)
	if err != nil || r == nil || r.archivedAt != nil {
		return false, err
	}
	rec, err := l.record(r)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(l.claims(rec.Body), func(other Claim) bool {
		return other.Field == c.Field && other.Value == c.Value
	}), nil
}

func (l *kindLog) record(r *revision) (Record[any], error) {
	rec := Record[any]{Account: fleet.AccountID(r.account), ID: r.id, Revision: r.number, CreatedAt: r.createdAt.UTC(),
		UpdatedAt: r.at.UTC(), Body: l.newBody()}
	if r.archivedAt != nil {
		rec.ArchivedAt = r.archivedAt.UTC()
	}
	if err := decode(r, rec.Body); err != nil {
		return rec, fmt.Errorf("decode %s revision %d: %w", l.named(r.id), r.number, err)
	}
	return rec, nil
}

func (l *kindLog) named(id uint64) string {
	return noun(l.name) + " " + fleet.FormatID(l.prefix, id)
}

func (l *kindLog) notFound(id uint64) error {
	return fleet.NewError(fleet.CodeNotFound, "There is no "+l.named(id)+".")
}

func (l *kindLog) stale(id, newest uint64) error {
	return fleet.NewError(fleet.CodeStale,
		fmt.Sprintf("The %s is at revision %d by now. Read it again and repeat the change upon that.", l.named(id), newest))
}

// unavailable says that it is not known whether a write happened, which the caller may repeat.
func unavailable(what string, err error) error {
	return &outcomeError{what: what, cause: err}
}

// outcomeError is a write whose outcome is unknown. It unwraps both to what callers of the interface see and to the
// cause.
type outcomeError struct {
	what  string
	cause error
}

func (e *outcomeError) Error() string { return e.what + ": " + e.cause.Error() }

func (e *outcomeError) Unwrap() []error {
	return []error{fleet.NewError(fleet.CodeUnavailable,
		"The store did not confirm the write in time. Look whether it happened before you repeat it, or use an Idempotency-Key."), e.cause}
}

// without returns the claims of a that are not in b.
func without(a, b []Claim) []Claim {
	var rest []Claim
	for _, c := range a {
		if !slices.ContainsFunc(b, func(o Claim) bool { return o.Field == c.Field && o.Value == c.Value }) {
			rest = append(rest, c)
		}
	}
	return rest
}

// noun writes a kind's name in words.
func noun(kind string) string {
	if kind == "api_key" {
		return "API key"
	}
	return strings.ReplaceAll(kind, "_", " ")
}
