package record

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/s2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
)

// heads has the newest revisions of records of some kinds, so that whoever writes the next one need not read it first:
// see Log.write, which reads it after all where that leads to nothing. A head may be written upon for as long after an
// instant at which it was the newest as the server knows for certain the token of whatever was written since. Looks at
// the log make that instant a later one: they tell which records have a newer revision, and all others stand. It does
// not matter what tables know, nor whose clock wrote what.
type heads struct {
	kinds    []string // none while nobody looks
	mu       sync.Mutex
	accounts map[fleet.AccountID]*headsOf
	bytes    int
	looked   time.Time // when whoever looks asked last what is wanted
	lost     time.Time // when all were let go of last
}

// headsOf are those of an account.
type headsOf struct {
	newest  map[Ref]head
	asked   time.Time
	told    time.Time // of what was read before nobody knows whether it was among what was told
	stood   time.Time // when all of them were the newest: the last look began
	lacking map[Ref]bool
	reading bool // somebody reads what is lacking
	full    bool // there was no room for what is lacking
}

// head is a newest revision without its body.
type head struct {
	revision revision
	body     []byte    // packed; nil if it is too large then, or the record is archived
	at       time.Time // when it was the newest
}

// Bounds of heads.
const (
	mostHeads   = 32 << 20         // bytes of all together
	headBytes   = 400              // that one takes beside its body, about
	largestHead = 32 << 10         // bytes of a packed body
	headsIdle   = 15 * time.Minute // after which those of an account for which nobody asks are let go
	headsDoze   = 3 * time.Second  // after which what is lacking of it is not read, and nothing is told
	headsPause  = 4                // times as long as some were read nothing is
	headsAgain  = 5 * time.Second  // after all were let go of none are read
)

// Follow has the heads of some kinds known. It must be called before anything is read, by whoever then tells what comes
// to the log.
func (s *Store) Follow(kinds ...string) *Followed {
	s.heads.kinds, s.heads.accounts = kinds, make(map[fleet.AccountID]*headsOf)
	return &Followed{s}
}

// Followed is told what comes to the log.
type Followed struct{ store *Store }

// Wanted returns the accounts and kinds of which it wants to be told, of an account that was not among them before,
// what comes from now on; and whether anybody has asked lately. It lets go of those for which nobody has asked for
// long, or the first look after a long sleep would have to read all that came to the log meanwhile.
func (f *Followed) Wanted() (accounts []uint64, kinds []string, asked bool) {
	h := &f.store.heads
	h.mu.Lock()
	defer h.mu.Unlock()
	h.looked = time.Now()
	for account, of := range h.accounts {
		if h.looked.Sub(of.asked) > headsIdle {
			h.drop(account)
			continue
		}
		accounts = append(accounts, uint64(account))
		asked = asked || h.looked.Sub(of.asked) < headsDoze
	}
	return accounts, h.kinds, asked
}

// Told says what has come to the log since the look before, or earlier, of the accounts that were wanted, by a look
// that began at an instant.
func (f *Followed) Told(accounts []uint64, began time.Time, came []query.Came) {
	h, now := &f.store.heads, time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range came {
		of, ref := h.accounts[c.Account], Ref{c.Kind, c.ID}
		if of == nil {
			continue
		}
		if known, ok := of.newest[ref]; !ok || known.revision.number < c.Revision {
			h.remove(of, ref)
			of.lacking[ref] = true
		}
	}
	for _, account := range accounts {
		of := h.accounts[fleet.AccountID(account)]
		if of == nil {
			continue
		}
		of.told, of.stood = now, began
		if of.full {
			clear(of.lacking)
		} else if len(of.lacking) > 0 && !of.reading && now.Sub(of.asked) < headsDoze {
			of.reading = true
			go f.store.readHeads(fleet.AccountID(account), of, false)
		}
	}
}

// Lost says that what is in the log may have been written over.
func (f *Followed) Lost() {
	h := &f.store.heads
	h.mu.Lock()
	defer h.mu.Unlock()
	for account := range h.accounts {
		h.lost = time.Now()
		h.drop(account)
	}
}

// drop lets go of an account, and remove of one head.
func (h *heads) drop(account fleet.AccountID) {
	of := h.accounts[account]
	for ref := range of.newest {
		h.remove(of, ref)
	}
	delete(h.accounts, account)
}

func (h *heads) remove(of *headsOf, ref Ref) {
	if old, ok := of.newest[ref]; ok {
		h.bytes -= headBytes + len(old.body)
		delete(of.newest, ref)
	}
}

// find returns the newest revision of a record, and an instant at which it was that, if it may be written upon; nil
// if not.
func (h *heads) find(account fleet.AccountID, ref Ref, within time.Duration) (*revision, time.Time) {
	if !slices.Contains(h.kinds, ref.Kind) {
		return nil, time.Time{}
	}
	h.mu.Lock()
	of := h.accounts[account]
	if of == nil {
		h.mu.Unlock()
		return nil, time.Time{}
	}
	known, ok := of.newest[ref]
	if known.at.Before(of.stood) {
		known.at = of.stood
	}
	h.mu.Unlock()
	if !ok || known.body == nil || time.Since(known.at) > within {
		return nil, time.Time{}
	}
	body, err := s2.Decode(nil, known.body)
	if err != nil { // which note packed
		return nil, time.Time{}
	}
	known.revision.body = string(body)
	return &known.revision, known.at
}

// note notes a revision that was the newest at an instant, and says whether there is room for it.
func (h *heads) note(r *revision, at time.Time) (room bool) {
	if !slices.Contains(h.kinds, r.kind) || !h.has(fleet.AccountID(r.account)) {
		return false
	}
	one := head{revision: *r, at: at}
	one.revision.body, one.revision.before = "", nil
	if r.archivedAt == nil {
		if one.body = s2.Encode(nil, []byte(r.body)); len(one.body) > largestHead {
			one.body = nil
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	of, ref := h.accounts[fleet.AccountID(r.account)], Ref{r.kind, r.id}
	if of == nil {
		return false
	}
	known, ok := of.newest[ref]
	if ok && known.revision.number > r.number {
		return true
	}
	if at.Before(of.told) {
		if !ok || known.revision.number < r.number {
			h.remove(of, ref)
			of.lacking[ref] = true
		}
		return true
	}
	h.remove(of, ref)
	delete(of.lacking, ref)
	if of.full = h.bytes+headBytes+len(one.body) > mostHeads; of.full {
		return false
	}
	of.newest[ref] = one
	h.bytes += headBytes + len(one.body)
	return true
}

func (h *heads) has(account fleet.AccountID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.accounts[account] != nil
}

// wantHeads says that somebody asks for heads of an account. Of one that nobody has asked for all are lacking; it is
// kept only while somebody looks.
func (s *Store) wantHeads(account fleet.AccountID, kind string) {
	h := &s.heads
	if !slices.Contains(h.kinds, kind) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now() // after any look that did not know of the account, so that nothing is kept that was read before
	of := h.accounts[account]
	if of == nil {
		if now.Sub(h.looked) > headsDoze || now.Sub(h.lost) < headsAgain {
			return
		}
		of = &headsOf{newest: make(map[Ref]head), told: now, lacking: make(map[Ref]bool), reading: true}
		h.accounts[account] = of
		go s.readHeads(account, of, true)
	}
	of.asked = now
}

// readHeads reads what is lacking of an account, and first lists that if it is not known, until nothing is, nobody asks
// for it or there is no room.
func (s *Store) readHeads(account fleet.AccountID, of *headsOf, list bool) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	h := &s.heads
	if list {
		if err := s.listHeads(ctx, account, of); err != nil {
			s.log.DebugContext(ctx, "heads could not be listed", "error", err)
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.accounts[account] == of {
				h.drop(account) // whoever asks next lists them
			}
			return
		}
	}
	for all := h.lackingOf(account, of); len(all) > 0; all = h.lackingOf(account, of) {
		if err := s.readAllHeads(ctx, account, of, all); err != nil {
			s.log.DebugContext(ctx, "not all heads could be read", "error", err)
			break
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	of.reading = false
}

// lackingOf returns what is lacking of an account that somebody asks for, in the order of the log turned round: what is
// read together is of few granules, and where there is no room for all, the oldest vehicles are left out, and no class.
func (h *heads) lackingOf(account fleet.AccountID, of *headsOf) (all []writtenRef) {
	h.mu.Lock()
	if h.wanted(account, of) {
		all = make([]writtenRef, 0, len(of.lacking))
		for ref := range of.lacking {
			all = append(all, writtenRef{account, ref})
		}
	}
	h.mu.Unlock()
	slices.SortFunc(all, func(a, b writtenRef) int {
		return cmp.Or(strings.Compare(b.of.Kind, a.of.Kind), cmp.Compare(b.of.ID, a.of.ID))
	})
	return all
}

// wanted says that somebody asks for heads of an account that are kept still. It is called with mu held.
func (h *heads) wanted(account fleet.AccountID, of *headsOf) bool {
	return h.accounts[account] == of && time.Since(of.asked) <= headsDoze
}

// readAllHeads reads heads some at a time, for as long as somebody asks.
func (s *Store) readAllHeads(ctx context.Context, account fleet.AccountID, of *headsOf, all []writtenRef) error {
	for some := range slices.Chunk(all, mostTogether) {
		s.heads.mu.Lock()
		wanted := s.heads.wanted(account, of)
		some = slices.DeleteFunc(some, func(r writtenRef) bool { return !of.lacking[r.of] }) // read or written meanwhile
		s.heads.mu.Unlock()
		if !wanted {
			return nil
		}
		if len(some) == 0 {
			continue
		}
		begun := time.Now()
		if err := s.readSomeHeads(ctx, of, some, begun); err != nil {
			return err
		}
		time.Sleep(headsPause * time.Since(begun))
	}
	return nil
}

// listHeads notes that all of an account are lacking.
func (s *Store) listHeads(ctx context.Context, account fleet.AccountID, of *headsOf) error {
	var all []Ref
	err := query.EachCame(ctx, s.db, []uint64{uint64(account)}, s.heads.kinds, 0, func(c query.Came) {
		all = append(all, Ref{c.Kind, c.ID})
	})
	s.heads.mu.Lock()
	defer s.heads.mu.Unlock()
	for _, ref := range all {
		if _, ok := of.newest[ref]; !ok {
			of.lacking[ref] = true
		}
	}
	return err
}

// readSomeHeads reads some heads from an instant on.
func (s *Store) readSomeHeads(ctx context.Context, of *headsOf, some []writtenRef, begun time.Time) error {
	found, err := s.readNewest(ctx, some)
	if err != nil {
		return err
	}
	for _, ref := range some {
		if r := found[ref]; r == nil { // erased meanwhile
			s.heads.mu.Lock()
			delete(of.lacking, ref.of)
			s.heads.mu.Unlock()
		} else if !s.heads.note(r, begun) {
			return fmt.Errorf("there is no room for more than %d bytes of them", mostHeads)
		}
	}
	return nil
}
