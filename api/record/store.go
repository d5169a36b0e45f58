package record

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/query/together"
	"github.com/motorpool/fleet/schemas"
)

// Config are the times that writes keep.
type Config struct {
	Deadline  time.Duration // within which a write is decided, or given up
	Abandoned time.Duration // age at which a claim without a record may be taken over; well above Deadline
	Log       *slog.Logger  // of what failed after a write and is done again; slog.Default if nil

	// Feeds fill the tables of current records; those of schemas if nil.
	Feeds []schemas.Feed
}

// DefaultConfig returns the settings used when nothing else is said.
func DefaultConfig() Config { return Config{Deadline: 5 * time.Second, Abandoned: 20 * time.Second} }

// Validate says what is wrong with the settings.
func (c Config) Validate() error {
	if c.Deadline <= 0 || c.Abandoned < 2*c.Deadline {
		return errors.New("record: abandoned must be at least twice the deadline, and both positive")
	}
	return nil
}

// Store writes the logs. Any number of stores, in any number of processes, may write to one database.
type Store struct {
	cfg Config
	db  driver.Conn
	ids *fleet.IDSource
	now func() time.Time
	log *slog.Logger

	feeds        map[string][]schemas.Feed                  // by kind
	prefixes     sync.Map                                   // of the ids of the kinds that have a log, by their names
	consequences map[string][]consequence                   // by kind; complete before the first write
	listed       func(account fleet.AccountID, kind string) // may be nil
	memory       Memory                                     // may be nil
	marks        marks
	settling     settling
	mending      mending
	numbers      numbers
	lately       lately
	heads        heads
	shared       *sharedInserts
	early        early
	creating     atomic.Int64                           // who has drawn an id and is not done with it
	inStep       atomic.Int64                           // commands under way that go in step
	manySince    atomic.Int64                           // when they were many last, in nanoseconds since 1970
	reads        *together.Reads[writtenRef, *revision] // of newest revisions

	draft *Draft // whose store this is; nil if writes are written

	leasing sync.Mutex
	node    node // of the ids; guarded by leasing
}

// NewStore makes a store on connections that the caller opened and closes.
func NewStore(cfg Config, db driver.Conn, ids *fleet.IDSource, now func() time.Time) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	log := cfg.Log
	if log == nil {
		log = slog.Default()
	}
	if cfg.Feeds == nil {
		cfg.Feeds = schemas.Feeds()
	}
	s := &Store{cfg: cfg, db: db, ids: ids, now: now, log: log, feeds: byKind(cfg.Feeds),
		consequences: make(map[string][]consequence),
		early:        early{going: map[fleet.AccountID]map[chan struct{}]bool{}, awaiting: map[fleet.AccountID]int{}}}
	s.shared = newSharedInserts(s.Moment)
	s.reads = together.New(mostTogether, s.readNewest).Linger(s.Moment)
	return s, nil
}

// Listed has fn called whenever tables of current records were brought something of an account that this store wrote,
// or may have been, before whoever wrote it, or awaits it, goes on: with the kind, or with "" where it may be any. It
// must be called before anything is written.
func (s *Store) Listed(fn func(account fleet.AccountID, kind string)) { s.listed = fn }

// Memory returns a record that is not archived as it stands, or as it stood a second ago at most if another process has
// written it since; false if only the store can tell.
type Memory func(ctx context.Context, account fleet.AccountID, kind string, id uint64) (query.Stored, bool)

// Remember has what is only looked up come from a memory (Recall, Log.Recall). It must be called before anything is
// read.
func (s *Store) Remember(m Memory) { s.memory = m }

// Remembers says whether anything may come from a memory.
func (s *Store) Remembers() bool { return s.memory != nil && s.draft == nil }

// tell calls what Listed was given.
func (s *Store) tell(account uint64, kind string) {
	if s.listed != nil {
		s.listed(fleet.AccountID(account), kind)
	}
}

// Abandoned is the age from which on what somebody was about to do counts as given up (see Config).
func (s *Store) Abandoned() time.Duration { return s.cfg.Abandoned }

// fresh is how old what was read or written may be for the next revision to be written upon it without another look:
// so lately that the server still knows the token of one that was written since.
func (s *Store) fresh() time.Duration { return s.cfg.Deadline / 2 }

// Young says that an id was drawn so lately that the server still knows the token of whatever was created under
// it: a creation that nobody tried before need not look first whether the record is there. What was made with others
// has no such token; its ids are of NextOfMany, which makes none that NextID makes.
func (s *Store) Young(id uint64) bool {
	age := time.Since(fleet.IDTime(id))
	return s.draft == nil && -s.fresh() < age && age < s.fresh()
}

// NextID returns an id for a record to be.
func (s *Store) NextID() uint64 { return s.ids.Next() }

// NextIDOfMany returns an id for a record to be that Log.CreateMany makes.
func (s *Store) NextIDOfMany() uint64 { return s.ids.NextOfMany() }

// DrawID returns an id for a record to be that nobody else asks to be made: no other request knows it before this one
// is done. over must be called when that is. While others have drawn one it is an id with which Log.Create shares an
// insert with them.
func (s *Store) DrawID() (id uint64, over func()) {
	if s.creating.Add(1) > 1 && s.draft == nil {
		id = s.ids.NextOfMany()
	} else {
		id = s.ids.Next()
	}
	return id, func() { s.creating.Add(-1) }
}

// A command that many carry out at once reads and writes several times, and most of that can be shared. Those who have
// shared one step come to the next at the same time, but for the moment by which the first of them is ahead: it would
// go alone, and the others would wait for it.
const (
	manyInStep = 4 // commands under way from which on each step waits for others
	moment     = 10 * time.Millisecond
)

// InStep notes that such a command is under way, until over is called.
func (s *Store) InStep() (over func()) {
	if s.inStep.Add(1) >= manyInStep {
		s.manySince.Store(time.Now().UnixNano())
	}
	return func() { s.inStep.Add(-1) }
}

// Moment is how long a read or an insert that can be shared waits for others before it is sent.
func (s *Store) Moment() time.Duration {
	if s.inStep.Load() < manyInStep {
		return 0
	}
	return moment
}

// FewInStep says that not many are under way together, or were within a second. Then each may spare itself a step for
// which it knows beforehand what is read; of many those who did would come to the next alone.
func (s *Store) FewInStep() bool {
	return s.inStep.Load() < manyInStep && time.Now().UnixNano()-s.manySince.Load() > int64(time.Second)
}

// mayShare says that the first revision of a record that is created may be inserted together with others: its id is of
// NextOfMany, and this is the first attempt. A while after it was drawn it need not be: an id that was worked out may
// look like it. It must not be asked for a record that others may ensure, as two of one insert do not see each other.
func (s *Store) mayShare(by Author, id uint64) bool {
	return s.draft == nil && !by.Again && fleet.IDOfMany(id) && time.Since(fleet.IDTime(id)).Abs() < s.cfg.Deadline
}

// revision is one row of record_log.
type revision struct {
	account, id uint64
	kind        string
	number      uint64
	command     uint32 // of whoever is about to write it
	writeID     uint64
	action      string
	at          time.Time
	createdAt   time.Time
	archivedAt  *time.Time
	actor       string
	requestID   string
	body        string
	before      *revision // upon which it was written, if that is known
	kept        *kept     // of drafts; else nil
	shares      bool      // an insert with others; see mayShare
}

const insertRevision = `INSERT INTO record_log
	(account, kind, id, revision, write_id, action, at, created_at, archived_at, actor, request_id, body)`

// ref names the record of a revision.
func (r *revision) ref() writtenRef { return writtenRef{fleet.AccountID(r.account), Ref{r.kind, r.id}} }

// gaveWay says of a first revision that was inserted with others that it was taken back: the id is another's.
func (r *revision) gaveWay() bool { return r.writeID == 0 }

// errLost says that another write became the revision.
var errLost = errors.New("another write came first")

// append writes a revision after the body before, which is empty for the first, brings it to the tables of current
// records, has release give up what the record claims no more, unless it is nil, and carries out what follows from it,
// which may claim what was given up. body points to what the revision holds. It returns nil if it won, errLost if
// another did, ErrTaken if the id of one that was inserted with others is another's. Any other error leaves open what
// happened: the row may still arrive, and then a later reader sees it. In a context of Early it returns as soon as the
// log has the revision.
func (s *Store) append(ctx context.Context, r *revision, body any, before string, release func()) error {
	r.writeID = writeIDOf(r.command)
	if s.draft != nil {
		if err := s.draft.append(r, body); err != nil {
			return err
		}
	} else {
		write := s.appendByItself
		if until, ok := ctx.Deadline(); r.shares && (!ok || time.Until(until) > s.cfg.Deadline/2) {
			write = s.appendShared
		} else if r.shares {
			write = s.appendUnsaid
		}
		begun := time.Now() // before the token is known to the server
		if err := write(ctx, r); err != nil {
			return err
		}
		s.lately.note(r, begun, s.fresh())
		s.heads.note(r, begun)
	}
	follow := func(ctx, listing context.Context) error {
		return s.written(ctx, r, before, func() error {
			if err := s.bring(listing, r); err != nil {
				return err
			}
			if release != nil {
				release()
			}
			return nil
		})
	}
	if s.followEarly(ctx, r, follow) {
		return nil
	}
	ctx = punctual(ctx)
	return follow(ctx, ctx)
}

// appendByItself writes a revision to the log under its own token.
func (s *Store) appendByItself(ctx context.Context, r *revision) error {
	return s.appendAll(ctx, revisionToken(r), r)
}

// revisionToken is the token of a revision: of all writes with it one stands.
func revisionToken(r *revision) string {
	return fmt.Sprintf("%s:%d:%d:%d", r.kind, r.account, r.id, r.number)
}

// appendAll writes revisions to the log, together: they stand or fall with the last of them. Where a token is spent and
// nobody's row stands, all who want to write that revision go on to the next token alike, of which again one wins.
func (s *Store) appendAll(ctx context.Context, token string, all ...*revision) error {
	return s.appendUnder(ctx, token, s.writerOf, all)
}

// appendUnder is appendAll with what tells who wrote the last of them, if anybody did.
func (s *Store) appendUnder(ctx context.Context, token string, wrote func(context.Context, *revision) (uint64, error),
	all []*revision) error {
	last := all[len(all)-1]
	winner := func() (uint64, error) { return wrote(ctx, last) }
	for turn := 1; ; turn++ {
		insert := func() (bool, error) { return s.insert(ctx, schemas.NextToken(token, turn), all...) }
		if err := decide(ctx, insert, winner, last.writeID); !errors.Is(err, errSpent) {
			return err
		}
	}
}

// bring has the tables of current records know revisions of one kind and account that stand.
func (s *Store) bring(ctx context.Context, all ...*revision) error {
	if s.draft != nil {
		return s.draft.list(all...)
	}
	// What stands must come to the tables although the caller may have gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.Deadline)
	defer cancel()
	return s.feed(ctx, all...)
}

// insert inserts revisions together, under a token, and says whether it is certain that they were stored.
func (s *Store) insert(ctx context.Context, token string, all ...*revision) (bool, error) {
	heard := &schemas.Verdict{}
	batch, err := s.db.PrepareBatch(heard.Of(WithToken(ctx, token)), insertRevision)
	if err != nil {
		return false, err
	}
	for _, r := range all {
		if err := batch.Append(r.account, r.kind, r.id, r.number, r.writeID, r.action, r.at, r.createdAt, r.archivedAt,
			r.actor, r.requestID, r.body); err != nil {
			batch.Abort()
			return false, err
		}
	}
	return sent(heard, batch)
}

// writerOf returns whose write became a revision.
func (s *Store) writerOf(ctx context.Context, r *revision) (uint64, error) {
	if s.draft != nil {
		return s.draft.writerOf(r)
	}
	return s.writer(ctx, "record_writer", clickhouse.Named("account", r.account), clickhouse.Named("kind", r.kind),
		clickhouse.Named("id", r.id), clickhouse.Named("revision", r.number))
}

// errSpent says that a token was used before, and that no row stands where its row would be: the table has dropped it,
// it belongs to something else, or the server died after it had noted the token and before it had the row. The row that
// was to be written is not stored, and will not be.
var errSpent = errors.New("the token was used before for what is not there")

// sent sends the insert, and says whether it is certain that its rows were stored. It is not where the server does not
// say: then whose rows stand must be read.
func sent(v *schemas.Verdict, batch driver.Batch) (bool, error) {
	if err := batch.Send(); err != nil {
		return false, err
	}
	return v.Stored > 0 && v.Duplicate == 0, nil
}

// decide inserts a row until it is known whose row stands: nil if it is ours, errLost if it is another's, errSpent if
// there can be none. Repeating the insert is harmless: it has a token.
func decide(ctx context.Context, insert func() (bool, error), winner func() (uint64, error), mine uint64) error {
	swallowed := 0 // inserts that were acknowledged and left no row
	for attempt := 0; ; attempt++ {
		stored, err := insert()
		if stored {
			return nil
		}
		if acknowledged := err == nil; acknowledged || attempt > 0 {
			var id uint64
			if id, err = winner(); err == nil {
				switch {
				case id == mine:
					return nil
				case id != 0:
					return errLost
				case acknowledged:
					if swallowed++; swallowed > 1 {
						return errSpent
					}
				}
				// Nobody's row stands: the insert did not reach the server.
			}
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(time.Duration(attempt+1) * 50 * time.Millisecond):
		}
	}
}

// writer returns the write id of a revision, and zero if the revision does not stand.
func (s *Store) writer(ctx context.Context, query string, args ...any) (uint64, error) {
	var id uint64
	err := s.db.QueryRow(ctx, schemas.Query(query), args...).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return id, err
}

// newest returns the newest revision of a record, or nil.
func (s *Store) newest(ctx context.Context, account uint64, kind string, id uint64) (*revision, error) {
	if s.draft != nil {
		return s.draft.newest(ctx, account, kind, id)
	}
	ref := writtenRef{fleet.AccountID(account), Ref{kind, id}}
	found, err := s.reads.Of(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("read %s %d: %w", kind, id, err)
	}
	return found[ref].alone(), nil
}

// alone returns a copy of a revision that others have too, nil for none.
func (r *revision) alone() *revision {
	if r == nil {
		return nil
	}
	mine := *r
	return &mine
}

// mostTogether is how many records are read together that several ask for.
const mostTogether = 200

// readNewest reads the newest revisions of records of any accounts.
func (s *Store) readNewest(ctx context.Context, refs []writtenRef) (map[writtenRef]*revision, error) {
	accounts, kinds, ids := make([]uint64, len(refs)), make([]string, len(refs)), make([]uint64, len(refs))
	for i, ref := range refs {
		accounts[i], kinds[i], ids[i] = uint64(ref.account), ref.of.Kind, ref.of.ID
	}
	text, args := schemas.Query("records_newest"), []any{clickhouse.Named("accounts", accounts),
		clickhouse.Named("kinds", kinds), clickhouse.Named("ids", ids)}
	if len(refs) == 1 {
		text, args = schemas.Query("record_newest"), []any{clickhouse.Named("account", accounts[0]),
			clickhouse.Named("kind", kinds[0]), clickhouse.Named("id", ids[0])}
	}
	found := make(map[writtenRef]*revision, len(refs))
	err := s.eachRevision(ctx, "read the newest revisions", text, args, func(r *revision) error {
		found[r.ref()] = r
		return nil
	})
	return found, err
}

// eachRevision hands over the revisions that a query finds.
func (s *Store) eachRevision(ctx context.Context, what, text string, args []any, take func(*revision) error) error {
	return schemas.EachRow(ctx, s.db, what, text, args, func(row schemas.Row) error {
		r := &revision{}
		if err := row.Scan(&r.account, &r.kind, &r.id, &r.number, &r.writeID, &r.action, &r.at, &r.createdAt, &r.archivedAt,
			&r.actor, &r.requestID, &r.body); err != nil {
			return err
		}
		return take(r)
	})
}

// Audit counts the revisions of records and of claims that have more than one row. Both must be zero: anything else
// means that the deduplication window was too small for the rate of writes.
func (s *Store) Audit(ctx context.Context) (records, claims uint64, err error) {
	if err := s.db.QueryRow(ctx, schemas.Query("record_audit")).Scan(&records, &claims); err != nil {
		return 0, 0, fmt.Errorf("audit revisions: %w", err)
	}
	return records, claims, nil
}

// WithToken makes an insert synchronous and repeatable.
func WithToken(ctx context.Context, token string) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"insert_deduplication_token": token, "insert_deduplicate": 1, "async_insert": 0,
		"max_partitions_per_insert_block": 0, // an expense may be spread over more months than the server likes
	}))
}

// RandomID returns a number that names one write, or one bid. It is random and not from the id source, because two
// processes that were given one node number by mistake must still not take each other's write for their own.
func RandomID() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:]) | 1 // never zero, which stands for nobody
}

// digest shortens a text of any length for use in a token.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// millis cuts an instant to what the log stores.
func millis(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
