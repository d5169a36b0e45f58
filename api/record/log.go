package record

import (
	"context"

	"github.com/motorpool/fleet"
)

// Log reads and writes the records of one kind. What it does is kindLog's, compiled once and not for each type.
type Log[T any] struct {
	kind Kind[T]
	of   *kindLog
}

// NewLog returns the log of a kind.
func NewLog[T any](store *Store, kind Kind[T]) *Log[T] {
	store.prefixes.Store(kind.Name, kind.Prefix)
	of := &kindLog{store: store, name: kind.Name, prefix: kind.Prefix, letter: kind.Letter, hidden: kind.Hidden,
		newBody: func() any { return new(T) }, claims: func(any) []Claim { return nil }}
	if kind.Claims != nil {
		of.claims = func(body any) []Claim { return kind.Claims(body.(*T)) }
	}
	return &Log[T]{kind: kind, of: of}
}

// typed returns a record of kindLog as one of its type.
func typed[T any](r Record[any], err error) (Record[T], error) {
	rec := Record[T]{Account: r.Account, ID: r.ID, Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		ArchivedAt: r.ArchivedAt}
	if body, ok := r.Body.(*T); ok {
		rec.Body = *body
	}
	return rec, err
}

// typedIf is typed with what else kindLog says.
func typedIf[T any](r Record[any], says bool, err error) (Record[T], bool, error) {
	rec, err := typed[T](r, err)
	return rec, says, err
}

// untyped returns what changes a record of kindLog as mutate does one of its type; nil for nil.
func untyped[T any](mutate func(*Record[T]) error) func(*Record[any]) error {
	if mutate == nil {
		return nil
	}
	return func(r *Record[any]) error {
		rec, _ := typed[T](*r, nil)
		err := mutate(&rec)
		*r.Body.(*T) = rec.Body
		return err
	}
}

// Kind returns the description of the kind.
func (l *Log[T]) Kind() Kind[T] { return l.kind }

// Get returns the newest revision of a record, archived or not. A record that does not exist, or that belongs to
// another account, is a *fleet.Error of the code fleet.CodeNotFound.
func (l *Log[T]) Get(ctx context.Context, account fleet.AccountID, id uint64) (Record[T], error) {
	return typed[T](l.of.get(ctx, account, id))
}

// Recall is Get for what is only looked up: from memory, if it is there. Whoever refuses something by it gets it first.
func (l *Log[T]) Recall(ctx context.Context, account fleet.AccountID, id uint64) (Record[T], error) {
	return typed[T](l.of.recall(ctx, account, id))
}

// Create writes the first revision of a record under an id that the caller got from Store.NextID, or reserved
// earlier (see Ticket): if an earlier attempt of the same command has made the record, it is returned as it is and the
// second result is false. That makes a repeated creation harmless. A record of somebody else is ErrTaken. Who has no
// id calls New; who has one that says what it is the id of calls Ensure.
func (l *Log[T]) Create(ctx context.Context, by Author, account fleet.AccountID, id uint64,
	body T) (Record[T], bool, error) {
	return typedIf[T](l.of.create(ctx, by, account, id, &body))
}

// Ensure writes the first revision of a record under an id that says what it is the id of, unless the record is there
// already: whoever made it, it is the one that is meant. The second result says whether it was made now.
func (l *Log[T]) Ensure(ctx context.Context, by Author, account fleet.AccountID, id uint64,
	body T) (Record[T], bool, error) {
	return typedIf[T](l.of.ensure(ctx, by, account, id, &body))
}

// New writes the first revision of a record under an id that it chooses itself. A repeated call makes another record.
func (l *Log[T]) New(ctx context.Context, by Author, account fleet.AccountID, body T) (Record[T], error) {
	return typed[T](l.of.createNew(ctx, by, account, &body))
}

// EnsureSeen is Ensure for a caller who has seen a moment ago that there is no record with that id: so lately that the
// server still knows the token of one that was made since.
func (l *Log[T]) EnsureSeen(ctx context.Context, by Author, account fleet.AccountID, id uint64,
	body T) (Record[T], bool, error) {
	return typedIf[T](l.of.ensureSeen(ctx, by, account, id, &body, false))
}

// CreateSeen is Create for a caller who has seen a moment ago, as EnsureSeen says, that there is no record with that
// id, and who looks itself whose one is that it finds all the same.
func (l *Log[T]) CreateSeen(ctx context.Context, by Author, account fleet.AccountID, id uint64,
	body T) (Record[T], bool, error) {
	return typedIf[T](l.of.createSeen(ctx, by, account, id, &body))
}

// CreateMany writes the first revisions of new records, of which the ids come from Store.NextIDOfMany, or are named by
// what they are of, and returns the error of each, nil for those that were made. It promises what Create does for each
// of them, and costs a fraction: what can be read and written together is, and only claims on unique values, but for
// those of fields of which many are taken together, are single inserts, as each of them must be able to lose. The
// records do not stand or fall together. Where an id is taken, ids has another one afterwards; bodies that are numbered
// have their numbers.
func (l *Log[T]) CreateMany(ctx context.Context, by Author, account fleet.AccountID, ids []uint64, bodies []T) []error {
	some := make([]any, len(bodies))
	for i := range bodies {
		some[i] = &bodies[i]
	}
	return l.of.createMany(ctx, by, account, ids, some)
}

// Update changes a record. mutate gets a copy of the newest revision and changes its body; it may run several times
// and must not keep anything. With expect 0 the change is made upon whatever is newest, however often others come
// first; with another expect only upon that revision, and a *fleet.Error of the code fleet.CodeStale says that there
// is a newer one. A change that changes nothing writes nothing. An archived record cannot be changed.
func (l *Log[T]) Update(ctx context.Context, by Author, account fleet.AccountID, id, expect uint64,
	mutate func(*Record[T]) error) (Record[T], error) {
	return typed[T](l.of.change(ctx, by, account, id, expect, ActionUpdate, untyped(mutate)))
}

// UpdateSeen is Update upon what the caller has seen a moment ago. Only if that leads to no new revision is the record
// read again, and then what stands decides.
func (l *Log[T]) UpdateSeen(ctx context.Context, seen *Seen, by Author, account fleet.AccountID, id uint64,
	mutate func(*Record[T]) error) error {
	return l.of.changeSeen(ctx, seen, by, account, id, untyped(mutate))
}

// Archive ends a record: it stays readable, holds no unique value any more, and cannot be changed. Archiving twice
// is once. guard, if not nil, may refuse.
func (l *Log[T]) Archive(ctx context.Context, by Author, account fleet.AccountID, id, expect uint64,
	guard func(*Record[T]) error) (Record[T], error) {
	return typed[T](l.of.change(ctx, by, account, id, expect, ActionArchive, untyped(guard)))
}

// Own returns ErrTaken if a record that exists was made by another command than the author's. An author without a
// command owns what it finds.
func (l *Log[T]) Own(ctx context.Context, by Author, account fleet.AccountID, id uint64) error {
	return l.of.own(ctx, by, account, id)
}

// AlreadyDone returns the record as it stands in the place of a refusal, if what stands was written by an earlier
// attempt of the command that is repeated; otherwise it returns the refusal. It is for commands that judge a record
// before they write it.
func (l *Log[T]) AlreadyDone(ctx context.Context, refusal error, by Author, account fleet.AccountID,
	id uint64) (Record[T], error) {
	return typed[T](l.of.alreadyDone(ctx, refusal, by, account, id))
}

// Look sees one record, which may have many and large revisions. With recall it may be seen as it stood a moment ago,
// if it is known: whoever refuses something by that looks again without.
func (l *Log[T]) Look(ctx context.Context, account fleet.AccountID, id uint64, recall bool) (*Seen, error) {
	return l.of.look(ctx, account, id, recall)
}

// In returns what Get would have returned when records were seen; false if this one was not among those asked for.
func (l *Log[T]) In(seen *Seen, account fleet.AccountID, id uint64) (Record[T], bool, error) {
	return typedIf[T](l.of.in(seen, account, id))
}

// Unlisted returns those of some records, archived or not, that were written so lately that their table may not know
// it yet, as they stand.
func (l *Log[T]) Unlisted(ctx context.Context, account fleet.AccountID, ids []uint64) ([]Record[T], error) {
	found, err := l.of.unlisted(ctx, account, ids)
	var all []Record[T]
	for _, r := range found {
		rec, _ := typed[T](r, nil)
		all = append(all, rec)
	}
	return all, err
}

// History returns revisions of a record, newest first: at most limit of those below a revision (0 starts at the
// newest), and the revision to go on below, zero at the end. A record that does not exist is not found.
func (l *Log[T]) History(ctx context.Context, account fleet.AccountID, id, below uint64,
	limit int) ([]Revision, uint64, error) {
	return l.of.history(ctx, account, id, below, limit)
}

// Erase wipes a record (see Wipe) and takes what it held out of its earlier revisions and out of its current
// table, which is named. The numbers, times and authors of its revisions stay, so that its history has no gap. It
// can be repeated.
func (l *Log[T]) Erase(ctx context.Context, by Author, account fleet.AccountID, table string, id uint64,
	wipe func(*T)) error {
	if _, err := l.Wipe(ctx, by, account, id, wipe); err != nil {
		return err
	}
	return l.Forget(ctx, account, table, id)
}

// Wipe writes a revision that ends a record, archived or not, with what wipe leaves in its body. One that says the same
// is not written twice. It releases no claims: a release would tell the value again, and arrive late at worst. Forget
// removes them, and until then they are those of a record that does not hold the values, which lapse.
func (l *Log[T]) Wipe(ctx context.Context, by Author, account fleet.AccountID, id uint64,
	wipe func(*T)) (Record[T], error) {
	return typed[T](l.of.wipe(ctx, by, account, id, func(body any) { wipe(body.(*T)) }))
}

// Forget takes the bodies of records that were wiped out of their earlier revisions and out of their current table, and
// their values out of the claims on them. It returns when the bytes are out of the parts that are read.
func (l *Log[T]) Forget(ctx context.Context, account fleet.AccountID, table string, ids ...uint64) error {
	return l.of.forget(ctx, account, table, ids)
}

// ForgetEarlier is Forget for records that go on: what the newest revision claims stays claimed.
func (l *Log[T]) ForgetEarlier(ctx context.Context, account fleet.AccountID, table string, ids ...uint64) error {
	return l.of.forgetEarlier(ctx, account, table, ids)
}

// Everything returns what was ever written in some records, in order of record and revision. Bodies that were
// forgotten are zero.
func (l *Log[T]) Everything(ctx context.Context, account fleet.AccountID, ids ...uint64) ([]T, error) {
	found, err := l.of.everything(ctx, account, ids)
	var all []T
	for _, body := range found {
		all = append(all, *body.(*T))
	}
	return all, err
}
