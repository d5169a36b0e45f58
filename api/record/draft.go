package record

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Draft is what was decided in memory about the records of an account, upon what stood at one moment, and is written in
// one go. Commands that are given its store decide as they do in any other: they read what stands with what they have
// written since, and lose a compare-and-set against each other.
//
//	Standing ──NewDraft──> commands decide ──Hold──> gate ──Write──> all of it stands
//	    ^                                     └─────────────┴─ ErrMoved: nothing of it does
//	    └──────── decide again ─────────────────────────────┘
//
// A draft makes any number of new records, and changes one that stands: its gate. All are one insert under the token of
// the gate's next revision, which is one part of the table: so they stand together or not at all, and not if anybody
// else has written the gate since. What would change another record that stands is refused with ErrNotYet, and
// remembered, so that what is decided next goes by it: consequences that are refused so are carried out the ordinary
// way once the draft is written (Store.SettleDrafts). A command that is refused so is not for a draft. Claims on unique
// values, of fields of which many are taken together, are taken before the revisions are written. A value is taken to
// be free until then: of a draft that wants one which is not, nothing is written.
//
// Beside its gate a draft may rest on records that others write upon the gates of drafts, and that it only reads (a
// class's calendar). Whoever writes one of those does so first and looks at the gates afterwards. So does a draft with
// its gate: Hold writes what the gate is to say, and looks whether what the draft rests on is what it was. Of two that
// meet at least one sees the other. What is held is the draft's own for a while, so that drafts that hold their gates
// may be one insert together, whatever else comes to the gates but the first (Store.WriteDrafts).
type Draft struct {
	Store *Store // what is written through it is decided, and is not written

	under   *Store
	stands  *Standing
	gate    Ref
	rests   string // the kind of what it rests on; empty for none
	past    bool   // it goes by a clock of its own
	current func(Current)

	mu      sync.Mutex
	heads   map[Ref]*revision // of the records that were written
	held    *revision         // of the gate, before the rest; nil if it was not needed
	rested  map[Ref]*revision // what was read of what it rests on, nil of what does not stand
	all     []*revision       // in the order in which they were decided
	claims  map[claimKey]*draftClaim
	settled map[key]bool // of which everything that follows is carried out

	claimed   []*neededClaim // the values that it has taken
	claimedAt time.Time
	heldAt    time.Time // before the gate was written
	wrote     time.Time // when the log was about to get it
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

// Standing are the newest revisions of records of an account: of all, as they stood at one moment, or of some, and of
// others as they stood when they were first asked for.
type Standing struct {
	account fleet.AccountID
	under   *Store // where others are read; nil if there are none

	mu    sync.Mutex
	heads map[Ref]*revision   // nil of what does not stand
	free  map[claimKey]uint64 // by values that are known to be free, after which revision of a claim
}

// Standing reads the newest revisions of all records of an account, and takes every value to be free that is claimed.
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

// StandingOf reads the newest revisions of some records of an account, and which of some values are free. Other records
// are read when they are first asked for; who claims another value, or one that is not free, is refused with ErrNotYet.
func (s *Store) StandingOf(ctx context.Context, account fleet.AccountID, refs []Ref,
	values []Claim) (*Standing, error) {
	seen, err := s.See(ctx, account, refs...)
	if err != nil {
		return nil, err
	}
	some := &Standing{account: account, under: s, heads: seen.revisions}
	if some.free, err = s.freeOf(ctx, uint64(account), values); err != nil {
		return nil, err
	}
	for _, ref := range refs {
		if r := some.heads[ref]; r == nil {
			some.heads[ref] = nil
		} else {
			r.kept = &kept{}
		}
	}
	return some, nil
}

// known returns the newest revision of a record, nil if it does not stand; false if it was not read.
func (s *Standing) known(ref Ref) (*revision, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, known := s.heads[ref]
	return r, known || s.under == nil
}

// newest returns the newest revision of a record, or nil.
func (s *Standing) newest(ctx context.Context, ref Ref) (*revision, error) {
	if r, known := s.known(ref); known {
		return r, nil
	}
	r, err := s.under.newest(ctx, uint64(s.account), ref.Kind, ref.ID)
	if err != nil {
		return nil, err
	}
	if r != nil {
		r.kept = &kept{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if first, known := s.heads[ref]; known {
		return first, nil
	}
	s.heads[ref] = r
	return r, nil
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

// NewDraft begins a draft upon what stands in a store; it rests on records of a kind, unless that is empty. ids and now
// are those of what is decided, nil for the store's own; unread answers whoever reads from the store past the draft,
// with an error; current is told each revision in the place of tables.
func NewDraft(under *Store, stands *Standing, gate Ref, rests string, ids *fleet.IDSource, now func() time.Time,
	unread driver.Conn, current func(Current)) (*Draft, error) {
	if ids == nil {
		ids = under.ids
	}
	past := now != nil
	if !past {
		now = under.now
	}
	store, err := NewStore(under.cfg, unread, ids, now)
	if err != nil {
		return nil, err
	}
	d := &Draft{Store: store, under: under, stands: stands, gate: gate, rests: rests, past: past, current: current,
		heads: map[Ref]*revision{}, rested: map[Ref]*revision{}, claims: map[claimKey]*draftClaim{},
		settled: map[key]bool{}}
	store.draft = d
	return d, nil
}

// newest returns the newest revision of a record, or nil. Nobody changes a revision.
func (d *Draft) newest(ctx context.Context, account uint64, kind string, id uint64) (*revision, error) {
	if account != uint64(d.stands.account) {
		return nil, fmt.Errorf("read %s %d of another account than is decided about: %w", kind, id, ErrNotYet)
	}
	ref := Ref{kind, id}
	d.mu.Lock()
	r, known := d.heads[ref]
	if !known {
		r, known = d.rested[ref]
	}
	d.mu.Unlock()
	if known {
		return r, nil
	}
	r, err := d.stands.newest(ctx, ref)
	if err != nil || kind != d.rests {
		return r, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rested[ref] = r
	return r, nil
}

// head is newest of what was read before, or is new, for who holds mu.
func (d *Draft) head(ref Ref) *revision {
	if r := d.heads[ref]; r != nil {
		return r
	}
	r, _ := d.stands.known(ref)
	return r
}

// append decides a revision, or returns errLost if another was decided first. body points to what it holds.
func (d *Draft) append(r *revision, body any) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	ref, before := Ref{r.kind, r.id}, uint64(0)
	if head := d.head(ref); head != nil {
		before = head.number
	}
	stands, known := d.stands.known(ref)
	switch {
	case r.account != uint64(d.stands.account), !known && d.heads[ref] == nil:
		return errOutside
	case r.number != before+1:
		return errLost
	}
	if r.kept = (&kept{bodies: []any{body}, made: body}); ref == d.gate {
		r.before = nil // which is large
	}
	d.heads[ref] = r
	switch {
	case ref == d.gate: // of which the last revision counts
	case stands != nil || ref.Kind == d.rests:
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

// claim returns the newest claim of the draft on a value, none if there is none.
func (d *Draft) claim(account uint64, field, value string) (claimRow, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := claimKey{account, field, value}
	if c := d.claims[at]; c != nil {
		return claimRow{revision: c.revision, owner: c.owner, detail: c.detail}, nil
	}
	revision, known := d.stands.free[at]
	if d.stands.under != nil && !known {
		return claimRow{}, fmt.Errorf("a value of %s is not known to be free: %w", field, ErrNotYet)
	}
	return claimRow{revision: revision}, nil
}

// setClaim claims a value, or releases one that was claimed in the draft.
func (d *Draft) setClaim(account uint64, field, value string, after, owner uint64, expires *time.Time,
	detail string) (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := claimKey{account, field, value}
	switch c := d.claims[at]; {
	case expires != nil, !takenTogether(field):
		return 0, errOutside
	case c == nil && after != d.stands.free[at], c != nil && c.revision != after:
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

// Made returns the ids of the records of a kind that the draft makes, in the order in which they were decided.
func (d *Draft) Made(kind string) []uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	var ids []uint64
	for _, r := range d.all {
		if r.kind == kind && r.number == 1 {
			ids = append(ids, r.id)
		}
	}
	return ids
}

// Gate is the record that stands and that the draft changes.
func (d *Draft) Gate() Ref { return d.gate }

// Stood returns what the gate of a draft said before, nil if it did not stand.
func Stood[T any](d *Draft) (*T, error) {
	r, _ := d.stands.known(d.gate)
	if r == nil {
		return nil, nil
	}
	return sharedBody[T](r)
}

// Held returns what the gate was made to say before the rest was written, a pointer to the body of its kind; nil if
// that was not needed, or not done.
func (d *Draft) Held() any {
	if d.held == nil {
		return nil
	}
	return d.heads[d.gate].kept.made
}

// empty says that nothing was decided, but at most what was refused.
func (d *Draft) empty() bool { return len(d.all) == 0 && d.heads[d.gate] == nil }

// Hold writes what the gates of drafts of one account are to say, once their commands are done, looks whether what
// they rest on is what it was, and takes the values that they claim. It returns for each draft nil, or ErrMoved: then
// nothing of it stands but the gate, which says more than is wanted. A draft that rests on nothing need not hold.
func (s *Store) Hold(ctx context.Context, drafts ...*Draft) ([]error, error) {
	moved, wrote := make([]error, len(drafts)), time.Now()
	writing, inner := errgroup.WithContext(ctx)
	writing.SetLimit(holdAtOnce)
	for i, d := range drafts {
		if d.heads[d.gate] == nil || len(d.rested) == 0 {
			continue
		}
		writing.Go(func() error {
			r, err := d.nextOfGate()
			if err != nil {
				return err
			}
			r.writeID = writeIDOf(r.command)
			d.heldAt = time.Now()
			err = s.appendAll(inner, revisionToken(r), r)
			if d.held = r; errors.Is(err, errLost) {
				d.held, moved[i], err = nil, ErrMoved, nil
			}
			return err
		})
	}
	if err := writing.Wait(); err != nil {
		return nil, unavailable("hold what was decided in memory", err)
	}
	if err := s.lookAt(ctx, wrote, drafts, moved); err != nil {
		return nil, err
	}
	if err := s.lookForOthers(ctx, drafts, moved); err != nil {
		return nil, err
	}
	return moved, s.claimFor(ctx, drafts, moved)
}

// holdAtOnce is how many gates are written at once.
const holdAtOnce = 4

// lookAt notes which of the drafts that hold their gates since an instant rest on what has moved.
func (s *Store) lookAt(ctx context.Context, wrote time.Time, drafts []*Draft, moved []error) error {
	var gates []*revision
	newest := map[Ref]uint64{}
	for _, d := range drafts {
		if d.held == nil {
			continue
		}
		gates = append(gates, d.held)
		for ref := range d.rested {
			newest[ref] = 0
		}
	}
	if len(gates) == 0 {
		return nil
	}
	if err := s.feedSince(ctx, wrote, gates...); err != nil {
		return unavailable("list what was decided in memory", err)
	}
	for ref := range newest {
		r, err := s.newest(ctx, gates[0].account, ref.Kind, ref.ID)
		if err != nil {
			return err
		}
		if r != nil {
			newest[ref] = r.number
		}
	}
	for i, d := range drafts {
		for ref, r := range d.rested {
			before := uint64(0)
			if r != nil {
				before = r.number
			}
			if d.held != nil && newest[ref] != before {
				moved[i] = ErrMoved
			}
		}
	}
	return nil
}

// nextOfGate is what was decided of the gate, as the revision after the one that stands, or is held.
func (d *Draft) nextOfGate() (*revision, error) {
	next := *d.heads[d.gate]
	text, err := json.Marshal(next.kept.made)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", next.kind, err)
	}
	next.body = string(text)
	next.number = 1
	if stands, _ := d.stands.known(d.gate); stands != nil {
		next.number = stands.number + 1
	}
	if d.held != nil {
		next.number = d.held.number + 1
	}
	return &next, nil
}

// Write writes what was decided, once the commands are done. ErrMoved says that nothing of it stands, and that it can
// be decided again upon what stands now. After any other error it is open whether it stands. What follows is for
// SettleDrafts.
func (d *Draft) Write(ctx context.Context) error {
	if d.empty() {
		return nil
	}
	if d.claimedAt.IsZero() {
		moved := make([]error, 1)
		if err := d.under.claimFor(ctx, []*Draft{d}, moved); err != nil || moved[0] != nil {
			return cmp.Or(err, moved[0])
		}
	}
	token, all, err := d.chunk()
	if err != nil {
		return err
	}
	account := uint64(d.stands.account)
	if len(d.claimed) > 0 { // which are kept for it for a while, and not longer
		within, cancel := context.WithDeadline(ctx, d.claimedAt.Add(d.under.theirs()))
		defer cancel()
		if within.Err() != nil && ctx.Err() == nil {
			d.under.unclaim(ctx, account, d.claimed)
			return ErrMoved
		}
		ctx = within
	}
	d.wrote = time.Now()
	switch err = d.under.appendAll(ctx, token, all...); {
	case errors.Is(err, errLost):
		d.under.unclaim(ctx, account, d.claimed)
		return ErrMoved
	case err != nil:
		return unavailable("write what was decided in memory", err)
	}
	return nil
}

// chunk returns all revisions and the token under which they are written: that of the next revision of the gate,
// which is the last of them, or of any if the gate was not changed.
func (d *Draft) chunk() (token string, all []*revision, err error) {
	all = slices.Clone(d.all)
	if d.heads[d.gate] != nil {
		next, err := d.nextOfGate()
		if err != nil {
			return "", nil, err
		}
		d.heads[d.gate], all = next, append(all, next)
	}
	return revisionToken(all[len(all)-1]), all, nil
}

// claimFor takes the values that drafts of one account claim, but for those that have moved, and notes ErrMoved of
// those of which a value is not free.
func (s *Store) claimFor(ctx context.Context, drafts []*Draft, moved []error) error {
	var owners []uint64
	var needed []*neededClaim
	of := make([][]*neededClaim, len(drafts))
	for i, d := range drafts {
		d.claimedAt = time.Now()
		for at, c := range d.claims {
			if c.owner != 0 && moved[i] == nil {
				of[i] = append(of[i], &neededClaim{item: len(owners), writeID: RandomID(),
					claim: Claim{Field: at.field, Value: at.value, Global: at.account == 0}})
				owners = append(owners, c.owner)
			}
		}
		needed = append(needed, of[i]...)
	}
	if len(needed) == 0 {
		return nil
	}
	account := uint64(drafts[0].stands.account)
	if err := s.claimMany(ctx, account, owners, needed); err != nil {
		return unavailable("claim what was decided in memory", err)
	}
	var back []*neededClaim
	for i, d := range drafts {
		for _, w := range of[i] {
			if w.won {
				d.claimed = append(d.claimed, w)
			}
		}
		if len(d.claimed) < len(of[i]) {
			moved[i], back = ErrMoved, append(back, d.claimed...)
		}
	}
	s.unclaim(ctx, account, back)
	return nil
}

// ListDrafts has the tables of current records know what drafts of one account have written upon this store.
func (s *Store) ListDrafts(ctx context.Context, drafts ...*Draft) error {
	byKind := map[string][]*revision{}
	wrote := time.Now()
	for _, d := range drafts {
		if d.empty() {
			continue
		}
		defer s.tell(uint64(d.stands.account), "")
		if d.wrote.Before(wrote) {
			wrote = d.wrote
		}
		for ref, r := range d.heads {
			if stands, _ := d.stands.known(ref); r != d.held && (stands == nil || ref == d.gate) { // that is listed
				byKind[r.kind] = append(byKind[r.kind], r)
			}
		}
	}
	memory, cancel := context.WithDeadline(ctx, wrote.Add(fromMemory))
	defer cancel()
	listing, inner := errgroup.WithContext(ctx)
	listing.SetLimit(listAtOnce)
	for kind, all := range byKind {
		for _, f := range s.feeds[kind] {
			listing.Go(func() error {
				err := s.insertWritten(memory, f, all)
				if err != nil { // it took too long, so that an erasure may have been in the log since
					err = s.insertLogged(inner, f, all)
				}
				if err != nil {
					return fmt.Errorf("list %s: %w", noun(kind), err)
				}
				return nil
			})
		}
	}
	return listing.Wait()
}

// listAtOnce is how many tables of current records learn of drafts at once: one alone leaves half of two cores idle.
const listAtOnce = 2

// SettleDrafts carries out what follows from revisions of all kinds of what drafts of one account have written upon
// this store, notes what was carried out, and carries out the rest. What an error leaves undone is done as after a
// crash.
func (s *Store) SettleDrafts(ctx context.Context, drafts ...*Draft) error {
	var common, left []*revision
	for _, d := range drafts {
		for _, r := range d.all {
			switch own := len(s.consequences[r.kind]); {
			case d.settled[key{r.account, r.kind, r.id, r.number}] && own == len(d.Store.consequences[r.kind]):
				common = append(common, r)
			case own+len(s.consequences[""]) > 0:
				left = append(left, r)
			}
		}
		for _, gate := range slices.Compact([]*revision{d.held, d.heads[d.gate]}) {
			if gate != nil && len(s.consequences[gate.kind]) == 0 && len(s.consequences[""]) > 0 {
				common = append(common, gate)
			}
		}
	}
	s.tellOf(ctx, common)
	first := s.storeMarks(ctx)
	for _, r := range left {
		first = cmp.Or(first, s.settleRevision(ctx, marked{key{r.account, r.kind, r.id, r.number}, r.at}))
	}
	return cmp.Or(first, s.storeMarks(ctx))
}

// What follows from revisions of all kinds is carried out for so many revisions of drafts at once, and no longer than
// this: what is left then is done as after a crash.
const (
	tellAtOnce = 64
	tellWithin = 10 * time.Second
)

// tellOf carries out what follows from revisions of all kinds, by a few goroutines whose stacks have grown, and notes
// of which it was.
func (s *Store) tellOf(ctx context.Context, all []*revision) {
	within, cancel := context.WithTimeout(ctx, tellWithin)
	defer cancel()
	var next, late atomic.Int64
	var telling sync.WaitGroup
	for range min(tellAtOnce, len(all)) {
		telling.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(all)); i = next.Add(1) - 1 {
				switch r := all[i]; {
				case within.Err() != nil:
					late.Add(1)
				case s.carryOutCommon(within, r) == nil:
					s.marks.mu.Lock()
					s.marks.pending = append(s.marks.pending, marked{key{r.account, r.kind, r.id, r.number}, r.at})
					s.marks.mu.Unlock()
				}
			}
		})
	}
	telling.Wait()
	if n := late.Load(); n > 0 {
		s.log.WarnContext(ctx, "of what was decided in memory not all is told in time, and will be", "revisions", n)
	}
}

// Doubled counts the revisions that drafts of one account have written and that have more than one row. None must.
func (s *Store) Doubled(ctx context.Context, drafts ...*Draft) (uint64, error) {
	var n, account uint64
	since := int64(math.MaxInt64)
	for _, d := range drafts {
		account = uint64(d.stands.account)
		for _, r := range d.all {
			since = min(since, r.at.UnixMilli())
		}
	}
	if since == math.MaxInt64 {
		return 0, nil
	}
	if err := s.db.QueryRow(ctx, schemas.Query("record_doubled"), clickhouse.Named("account", account),
		clickhouse.Named("since", since)).Scan(&n); err != nil {
		return 0, fmt.Errorf("count doubled revisions: %w", err)
	}
	return n, nil
}
