package roster

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/motorpool/fleet/query"
)

// table are the records of a kind and an account at one moment, by id. It is never changed: with makes the next one,
// and copies the pieces that differ.
type table struct {
	pieces [][]*query.Held
	count  int
	bytes  int
	odd    int // records of which query.Held.Odd says so
	found  finds
}

// pieceOf is about how many records a piece has.
const pieceOf = 512

// change is what became of a record: now is nil if it is there no more, and was if it was not there.
type change struct {
	id       uint64
	was, now *query.Held
}

// newTable makes a table of records in any order.
func newTable(all []*query.Held) *table {
	slices.SortFunc(all, func(a, b *query.Held) int { return cmp.Compare(a.ID, b.ID) })
	t := &table{count: len(all)}
	for piece := range slices.Chunk(all, pieceOf) {
		t.pieces = append(t.pieces, slices.Clone(piece))
	}
	for _, h := range all {
		t.add(h, 1)
	}
	return t
}

func (t *table) add(h *query.Held, sign int) {
	t.bytes += sign * h.Size()
	if h.Odd() {
		t.odd += sign
	}
}

// pieceBefore returns the piece that has an id, if any has.
func (t *table) pieceBefore(id uint64) int {
	return min(len(t.pieces), max(0, sort.Search(len(t.pieces), func(i int) bool { return t.pieces[i][0].ID > id })-1))
}

// get returns the record of an id, or nil.
func (t *table) get(id uint64) *query.Held {
	i := t.pieceBefore(id)
	if i == len(t.pieces) {
		return nil
	}
	at, ok := slices.BinarySearchFunc(t.pieces[i], id, func(h *query.Held, id uint64) int { return cmp.Compare(h.ID, id) })
	if !ok {
		return nil
	}
	return t.pieces[i][at]
}

// with returns the table after some changes, of which each id has one.
func (t *table) with(changes []change) *table {
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.id, b.id) })
	next := &table{count: t.count, bytes: t.bytes, odd: t.odd}
	for _, c := range changes {
		if c.was != nil {
			next.add(c.was, -1)
			next.count--
		}
		if c.now != nil {
			next.add(c.now, 1)
			next.count++
		}
	}
	pieces, rest := t.pieces, changes
	if len(pieces) == 0 {
		pieces = [][]*query.Held{nil}
	}
	next.pieces = make([][]*query.Held, 0, len(pieces)+1)
	for i, piece := range pieces {
		n := len(rest) // of those that belong to this piece
		if i+1 < len(pieces) {
			n = sort.Search(len(rest), func(k int) bool { return rest[k].id >= pieces[i+1][0].ID })
		}
		if n > 0 {
			piece = merged(piece, rest[:n])
			rest = rest[n:]
		}
		for len(piece) > 2*pieceOf {
			next.pieces, piece = append(next.pieces, piece[:pieceOf:pieceOf]), piece[pieceOf:]
		}
		if len(piece) > 0 {
			next.pieces = append(next.pieces, piece)
		}
	}
	next.found.follow(t, changes)
	return next
}

// merged is a piece after changes, both by id.
func merged(piece []*query.Held, changes []change) []*query.Held {
	all := make([]*query.Held, 0, len(piece)+len(changes))
	for _, c := range changes {
		n := sort.Search(len(piece), func(k int) bool { return piece[k].ID >= c.id })
		all, piece = append(all, piece[:n]...), piece[n:]
		if len(piece) > 0 && piece[0].ID == c.id {
			piece = piece[1:]
		}
		if c.now != nil {
			all = append(all, c.now)
		}
	}
	return append(all, piece...)
}

// list returns a page, or false if only the store can tell.
func (t *table) list(l *query.Listing, req query.ListRequest) (query.ListPage, bool, error) {
	q, ok, err := l.InMemory(req)
	if err != nil || !ok || q.Words() && t.odd > 0 {
		return query.ListPage{}, false, err
	}
	if req.Only != nil {
		return q.Page(t.search(q), req), true, nil
	}
	return q.Page(t.found.find(keyOf(req), t, q), req), true, nil
}

// search looks through all records.
func (t *table) search(q *query.Question) []*query.Held {
	all := []*query.Held{}
	for _, piece := range t.pieces {
		for _, h := range piece {
			if q.Match(h) {
				all = append(all, h)
			}
		}
	}
	slices.SortFunc(all, q.Compare)
	return all
}

// keyOf names what a request finds and in what order, whatever its page.
func keyOf(req query.ListRequest) string {
	var b strings.Builder
	word := func(text string) {
		b.WriteString(strconv.Itoa(len(text)))
		b.WriteByte(':')
		b.WriteString(text)
	}
	for _, f := range req.Filters {
		word(f.Field)
		word(f.Op)
		for _, v := range f.Values {
			word(v)
		}
		b.WriteByte(';')
	}
	b.WriteByte('|')
	for _, k := range req.Sort {
		word(k.Field)
		b.WriteString(strconv.FormatBool(k.Desc))
	}
	b.WriteByte('|')
	if !req.Since.IsZero() {
		b.WriteString(strconv.FormatInt(req.Since.UnixMilli(), 10))
	}
	b.WriteByte('|')
	word(req.Ref)
	word(req.Search)
	return b.String()
}

// finds are the answers to the questions that were put to a table, so that the pages of a list, and all who ask the
// same, share one search; and what the next table begins with, as few records are others there.
type finds struct {
	mu      sync.Mutex
	all     map[string]*find
	from    map[string]*find // those of an earlier table
	changes []change         // since then
}

type find struct {
	once sync.Once
	done bool // guarded by the finds that it stands in
	all  []*query.Held
}

// Bounds of finds: how many questions, and after how many changes they are asked anew.
const (
	findsKept   = 16
	changesKept = 256
)

// find returns what a question finds.
func (f *finds) find(key string, t *table, q *query.Question) []*query.Held {
	f.mu.Lock()
	one := f.all[key]
	if one == nil {
		if one = (&find{}); f.all == nil {
			f.all = map[string]*find{}
		}
		if len(f.all) >= findsKept {
			for other := range f.all {
				delete(f.all, other)
				break
			}
		}
		f.all[key] = one
	}
	before, changes := f.from[key], f.changes
	f.mu.Unlock()
	one.once.Do(func() {
		if before != nil {
			one.all = changed(before.all, changes, q)
		} else {
			one.all = t.search(q)
		}
		f.mu.Lock()
		one.done = true
		f.mu.Unlock()
	})
	return one.all
}

// follow has the finds begin with those of the table before.
func (f *finds) follow(before *table, changes []change) {
	old := &before.found
	old.mu.Lock()
	defer old.mu.Unlock()
	known := map[string]*find{}
	for key, one := range old.all {
		if one.done {
			known[key] = one
		}
	}
	switch {
	case len(known) > 0:
		f.from, f.changes = known, changes
	case len(old.changes)+len(changes) <= changesKept:
		f.from, f.changes = old.from, append(slices.Clip(old.changes), changes...)
	}
	if len(f.changes) > changesKept {
		f.from, f.changes = nil, nil
	}
	old.from, old.changes = nil, nil
}

// changed is what a question finds after changes, which come in their order.
func changed(all []*query.Held, changes []change, q *query.Question) []*query.Held {
	all = slices.Clone(all)
	for _, c := range changes {
		if c.was != nil && q.Match(c.was) {
			if at, ok := slices.BinarySearchFunc(all, c.was, q.Compare); ok {
				all = slices.Delete(all, at, at+1)
			}
		}
		if c.now != nil && q.Match(c.now) {
			at, _ := slices.BinarySearchFunc(all, c.now, q.Compare)
			all = slices.Insert(all, at, c.now)
		}
	}
	return all
}
