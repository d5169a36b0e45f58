package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Draft is what was decided in memory about the records of an account, upon what stood at one moment, and is written in
// one go. Commands that are given its store decide as they do in any other: they read what stands with what they have
// written since, and lose a compare-and-set against each other.
//
//	Standing ──NewDraft──> commands decide ──Write──> all of it stands
//	    ^                                     └─ ErrMoved: nothing of it does
//	    └──────── decide again ───────────────┘
//
// A draft makes any number of new records, and changes one that stands: its gate, which gets one revision in the end.
// All are one insert under the token of that revision, which is one part of the table: so they stand together or not
// at all, and not if anybody else has written the gate since. What would change another record that stands is refused
// with ErrNotYet, and remembered, so that what is decided next goes by it: consequences that are refused so are
// carried out the ordinary way once the draft is written (Store.SettleDrafts). A command that is refused so is not
// for a draft. Claims on unique values are taken, each by compare-and-set, before the revisions are written. A value
// is taken to be free until then: of a draft that wants one which is not, nothing is written.
type Draft struct {
	Store *Store // what is written through it is decided, and is not written

	under   *Store
	stands  *Standing
	gate    Ref
	current func(Current)

	mu      sync.Mutex
	heads   map[Ref]*revision // of the records that were written
	all     []*revision       // in the order in which they were decided
	claims  map[claimKey]*draftClaim
	settled map[key]bool // of which everything that follows is carried out
}

// Current is a record as the tables of current records have it.
type Current struct {
	Kind                 string
	ID, Revision         uint64
	CreatedAt, UpdatedAt time.Time
	Archived             bool
	Body                 string
}

// claimKey names a unique value; the account is 0 of one that is unique over all.
type claimKey struct {
	account      uint64
	field, value string
}

type draftClaim struct {
	revision, owner uint64
	detail          string
}

// Errors of drafts.
var (
	// ErrMoved says that somebody has changed what a draft rests on: nothing of it stands.
	ErrMoved = errors.New("what was decided in memory rests on what has changed since")
	// errOutside says that a draft changes one record that stands, and that this is another one.
	errOutside = fmt.Errorf("what is decided in memory changes no other record that stands: %w", ErrNotYet)
)

// Standing are the newest revisions of all records of an account, as they stood at one moment.
type Standing struct {
	account fleet.AccountID
	heads   map[Ref]*revision
}

// Standing reads the newest revisions of all records of an account.
func (s *Store) Standing(ctx context.Context, account fleet.AccountID) (*Standing, error) {
	all := &Standing{account: account, heads: map[Ref]*revision{}}
	return all, schemas.EachRow(ctx, s.db, "read what stands", schemas.Query("record_standing"), []any{
		clickhouse.Named("account", uint64(account)),
	}, func(row schemas.Row) error {
		r := &revision{account: uint64(account)}
		if err := row.Scan(&r.kind, &r.id, &r.number, &r.writeID, &r.action, &r.at, &r.createdAt, &r.archivedAt,
			&r.actor, &r.requestID, &r.body); err != nil {
			return err
		}
		r.kept = &kept{}
		all.heads[Ref{r.kind, r.id}] = r
		return nil
	})
}

// Each hands over all records that stand, in no order.
func (s *Standing) Each(do func(Current)) {
	for _, r := range s.heads {
		do(r.current())
	}
}

func (r *revision) current() Current {
	return Current{Kind: r.kind, ID: r.id, Revision: r.number, CreatedAt: r.createdAt.UTC(), UpdatedAt: r.at.UTC(),
		Archived: r.archivedAt != nil, Body: r.body}
}

// NewDraft begins a draft upon what stands in a store. ids and now are those of what is decided; unread answers whoever
// reads from the store past the draft, with an error; current is told each revision in the place of tables.
func NewDraft(under *Store, stands *Standing, gate Ref, ids *fleet.IDSource, now func() time.Time, unread driver.Conn,
	current func(Current)) (*Draft, error) {
	cfg := under.cfg
	store, err := NewStore(cfg, unread, ids, now)
	if err != nil {
		return nil, err
	}
	d := &Draft{Store: store, under: under, stands: stands, gate: gate, current: current, heads: map[Ref]*revision{},
		claims: map[claimKey]*draftClaim{}, settled: map[key]bool{}}
	store.draft = d
	return d, nil
}

// newest returns the newest revision of a record, or nil.
func (d *Draft) newest(account uint64, kind string, id uint64) (*revision, error) {
	if account != uint64(d.stands.account) {
		return nil, fmt.Errorf("read %s %d of another account than is decided about: %w", kind, id, ErrNotYet)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.head(Ref{kind, id}), nil
}

// head is newest for who holds mu. Nobody changes a revision.
func (d *Draft) head(ref Ref) *revision {
	if r := d.heads[ref]; r != nil {
		return r
	}
	return d.stands.heads[ref]
}

// append decides a revision, or returns errLost if another was decided first. body, which may be nil, points to what
// was written of the gate, that is large and is read after each change of it.
func (d *Draft) append(r *revision, body any) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	ref, before := Ref{r.kind, r.id}, uint64(0)
	if head := d.head(ref); head != nil {
		before = head.number
	}
	switch {
	case r.account != uint64(d.stands.account):
		return errOutside
	case r.number != before+1:
		return errLost
	}
	if r.kept = (&kept{}); ref == d.gate {
		r.before, r.kept.body = nil, body
	}
	d.heads[ref] = r
	switch {
	case ref == d.gate: // which has one revision in the end
	case d.stands.heads[ref] != nil:
		return errOutside
	default:
		d.all = append(d.all, r)
	}
	return nil
}

// writerOf returns whose write became a revision, as far as a draft can know.
func (d *Draft) writerOf(r *revision) (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	head := d.head(Ref{r.kind, r.id})
	if head == nil || head.number < r.number {
		return 0, nil
	}
	for _, one := range append(d.all, head) {
		if one.kind == r.kind && one.id == r.id && one.number == r.number {
			return one.writeID, nil
		}
	}
	return 0, errOutside
}

// list tells of a revision in the place of the tables of current records.
func (d *Draft) list(all ...*revision) error {
	for _, r := range all {
		d.current(r.current())
	}
	return nil
}

func (d *Draft) claim(account uint64, field, value string) claimRow {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.claims[claimKey{account, field, value}]
	if c == nil {
		return claimRow{}
	}
	return claimRow{revision: c.revision, owner: c.owner, detail: c.detail}
}

// setClaim claims a value, or releases one that was claimed in the draft.
func (d *Draft) setClaim(account uint64, field, value string, after, owner uint64, expires *time.Time,
	detail string) (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := claimKey{account, field, value}
	switch c := d.claims[at]; {
	case expires != nil:
		return 0, errOutside
	case c == nil && after != 0, c != nil && c.revision != after:
		return 0, errLost
	}
	d.claims[at] = &draftClaim{revision: after + 1, owner: owner, detail: detail}
	return after + 1, nil
}

// mark notes that everything that follows from a revision is carried out.
func (d *Draft) mark(r *revision) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settled[key{r.account, r.kind, r.id, r.number}] = true
}

// Len is how many revisions were decided.
func (d *Draft) Len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.all)
}

// Write writes what was decided, once the commands are done. ErrMoved says that nothing of it stands, and that it can
// be decided again upon what stands now. After any other error it is open whether it stands. What follows is for
// SettleDrafts.
func (d *Draft) Write(ctx context.Context) error {
	if len(d.all) == 0 && d.heads[d.gate] == nil { // at most what was refused
		return nil
	}
	held, err := d.writeClaims(ctx)
	if err == nil {
		token, all := d.chunk()
		if err = d.under.appendAll(ctx, token, all...); errors.Is(err, errLost) {
			err = ErrMoved
		}
	}
	if errors.Is(err, ErrMoved) {
		for _, t := range held {
			d.under.release(ctx, uint64(d.stands.account), t)
		}
		return err
	}
	if err != nil {
		return unavailable("write what was decided in memory", err)
	}
	return nil
}

// chunk returns all revisions and the token under which they are written: that of the next revision of the gate,
// which is the last of them, or of any if the gate was not changed.
func (d *Draft) chunk() (token string, all []*revision) {
	all = slices.Clone(d.all)
	if decided := d.heads[d.gate]; decided != nil {
		next := *decided
		if next.number = 1; d.stands.heads[d.gate] != nil {
			next.number = d.stands.heads[d.gate].number + 1
		}
		d.heads[d.gate], all = &next, append(all, &next)
	}
	return revisionToken(all[len(all)-1]), all
}

// writeClaims takes the values that were claimed, and returns those it has: all, unless there is an error.
func (d *Draft) writeClaims(ctx context.Context) ([]taken, error) {
	var owners []uint64
	var needed []*neededClaim
	for at, c := range d.claims {
		if c.owner != 0 {
			needed = append(needed, &neededClaim{item: len(owners), writeID: RandomID(),
				claim: Claim{Field: at.field, Value: at.value, Global: at.account == 0}})
			owners = append(owners, c.owner)
		}
	}
	if len(needed) == 0 {
		return nil, nil
	}
	if err := d.under.claimMany(ctx, uint64(d.stands.account), owners, needed); err != nil {
		return nil, err
	}
	var held []taken
	for _, w := range needed {
		if w.won {
			held = append(held, taken{claim: w.claim, revision: w.revision})
		}
	}
	if len(held) < len(needed) {
		return held, ErrMoved
	}
	return held, nil
}

// SettleDrafts has the tables of current records know what drafts of one account have written upon this store, notes
// what was carried out of what follows, and carries out the rest. What an error leaves undone is done as after a crash.
func (s *Store) SettleDrafts(ctx context.Context, drafts ...*Draft) error {
	if err := s.listDrafts(ctx, drafts); err != nil {
		return err
	}
	var left []*revision
	s.marks.mu.Lock()
	for _, d := range drafts {
		for _, r := range d.all {
			if k := (key{r.account, r.kind, r.id, r.number}); d.settled[k] {
				s.marks.pending = append(s.marks.pending, marked{k, r.at})
			} else if len(s.consequences[r.kind])+len(s.consequences[""]) > 0 {
				left = append(left, r)
			}
		}
	}
	s.marks.mu.Unlock()
	first := s.storeMarks(ctx)
	for _, r := range left {
		first = cmp.Or(first, s.settleRevision(ctx, marked{key{r.account, r.kind, r.id, r.number}, r.at}))
	}
	return cmp.Or(first, s.storeMarks(ctx))
}

// listDrafts brings the newest revisions of drafts to the tables of current records, out of the log: an erasure may
// have been there since.
func (s *Store) listDrafts(ctx context.Context, drafts []*Draft) error {
	byKind := map[string][]*revision{}
	for _, d := range drafts {
		defer s.tell(uint64(d.stands.account), "")
		for ref, r := range d.heads {
			if d.stands.heads[ref] == nil || ref == d.gate {
				byKind[r.kind] = append(byKind[r.kind], r)
			}
		}
	}
	for kind, all := range byKind {
		for _, f := range s.feeds[kind] {
			if err := s.insertLogged(ctx, f, all); err != nil {
				return fmt.Errorf("list %s: %w", noun(kind), err)
			}
		}
	}
	return nil
}

// Doubled counts the revisions of an account that have more than one row. None must.
func (s *Store) Doubled(ctx context.Context, account fleet.AccountID) (uint64, error) {
	var n uint64
	if err := s.db.QueryRow(ctx, schemas.Query("record_doubled"),
		clickhouse.Named("account", uint64(account))).Scan(&n); err != nil {
		return 0, fmt.Errorf("count doubled revisions: %w", err)
	}
	return n, nil
}
