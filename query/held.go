package query

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/klauspost/compress/s2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Held is a record of a listing in memory, with all that lists compare of it. It is never changed.
type Held struct {
	ID       uint64
	Revision uint64

	created int64 // milliseconds since 1970
	updated int64
	data    string    // see set
	more    *heldMore // nil if there is nothing of it
	packed  *s2.Dict  // by which the body is; nil if it is not
	texts   uint16    // those of the fields in data, and what is sought
	numbers uint16
	odd     bool // what is sought has a letter outside ASCII that the store takes for one inside
}

// heldMore is what few records have.
type heldMore struct {
	folded []string // what of the texts must be the same; nil if they are ASCII, and it is worked out
	lists  [][]string
	refs   []string // ids in external_refs
}

// Stored is the record as the current table holds it.
func (h *Held) Stored() Stored {
	return Stored{ID: h.ID, Revision: h.Revision, CreatedAt: time.UnixMilli(h.created).UTC(),
		UpdatedAt: time.UnixMilli(h.updated).UTC(), Body: h.body()}
}

// Odd says that questions with words cannot be answered where this record is one of those looked through.
func (h *Held) Odd() bool { return h.odd }

// Size is about how many bytes of memory the record takes.
func (h *Held) Size() int {
	n := 112 + len(h.data)
	if h.more == nil {
		return n
	}
	n += 80 + 24*len(h.more.lists) + 16*len(h.more.refs)
	for _, text := range h.more.folded {
		n += 16 + len(text)
	}
	for _, list := range h.more.lists {
		n += 16 * len(list) // the texts are shared
	}
	for _, ref := range h.more.refs {
		n += len(ref)
	}
	return n
}

// The bytes of the figures that data begins with.
const (
	numberBytes = 8
	endBytes    = 4
)

// set keeps numbers and texts of the fields in the order of the shape, in what words are sought as the last of the
// texts, and the body. All are one text, as a record of several values would be as many things to look at whenever
// garbage is collected: the numbers, where in it each of the texts ends, the texts, and the body. It returns buf, which
// it writes over.
func (h *Held) set(buf []byte, numbers []int64, texts []string, body string) []byte {
	h.numbers, h.texts = uint16(len(numbers)), uint16(len(texts))
	buf = buf[:0]
	for _, n := range numbers {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(n))
	}
	end := len(buf) + endBytes*len(texts)
	for _, text := range texts {
		end += len(text)
		buf = binary.LittleEndian.AppendUint32(buf, uint32(end))
	}
	for _, text := range texts {
		buf = append(buf, text...)
	}
	buf = append(buf, body...)
	h.data = string(buf)
	return buf
}

// number is the number of a field.
func (h *Held) number(at int) int64 {
	b := h.data[numberBytes*at : numberBytes*(at+1)]
	return int64(uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56)
}

// end is where a text ends, and what is after it begins.
func (h *Held) end(at int) uint32 {
	begin := numberBytes * int(h.numbers)
	if at < 0 {
		return uint32(begin + endBytes*int(h.texts))
	}
	b := h.data[begin+endBytes*at : begin+endBytes*(at+1)]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// text is the text of a field.
func (h *Held) text(at int) string { return h.data[h.end(at-1):h.end(at)] }

// sought is in what words are sought, with small letters for the capital ones of ASCII.
func (h *Held) sought() string { return h.text(int(h.texts) - 1) }

// list is the list of a field.
func (h *Held) list(at int) []string {
	if h.more == nil {
		return nil
	}
	return h.more.lists[at]
}

// refs are the ids in external_refs.
func (h *Held) refs() []string {
	if h.more == nil {
		return nil
	}
	return h.more.refs
}

// body is the JSON of the record.
func (h *Held) body() string {
	text := h.data[h.end(int(h.texts)-1):]
	if h.packed == nil {
		return text
	}
	plain, err := h.packed.Decode(nil, []byte(text))
	if err != nil {
		panic(err) // pack wrote it
	}
	return string(plain)
}

// oddLetters are those outside ASCII of which the small one is inside: the sign of Kelvin, and the I with a dot.
const oddLetters = "\u212a\u0130"

// shape is what Held has of a listing.
type shape struct {
	places                map[string]int // of the fields in texts, numbers or lists
	texts, numbers, lists []string       // what stands for them in the text of a query
	folded                []string       // the same of what of texts must be the same
	query                 string

	names atomic.Pointer[s2.Dict] // by which bodies are packed
}

var shapes sync.Map // by their *Listing

func (l *Listing) shape() *shape {
	if s, ok := shapes.Load(l); ok {
		return s.(*shape)
	}
	s := &shape{places: map[string]int{}}
	for i := range l.Fields {
		f := &l.Fields[i]
		if f.Join != "" || f.Passes {
			continue
		}
		var at int
		switch f.Type {
		case NumberField:
			at, s.numbers = len(s.numbers), append(s.numbers, "toInt64("+f.column()+")")
		case TimeField:
			at, s.numbers = len(s.numbers), append(s.numbers, "toUnixTimestamp64Milli("+f.column()+")")
		case TagsField:
			at, s.lists = len(s.lists), append(s.lists, f.column())
		default:
			text := "toString(" + f.column() + ")"
			at, s.texts, s.folded = len(s.texts), append(s.texts, text), append(s.folded, f.same(text))
		}
		s.places[f.Name] = at
	}
	s.query = strings.NewReplacer("/*texts*/", strings.Join(s.texts, ", "), "/*folded*/", strings.Join(s.folded, ", "),
		"/*numbers*/", strings.Join(s.numbers, ", "),
		"/*lists*/", strings.Join(s.lists, ", "), "/*search*/", l.searched(), "/*table*/", l.Table).
		Replace(schemas.Query("records_held"))
	shapes.Store(l, s)
	return s
}

// HeldOf is which records EachHeld reads: those of some accounts that are not archived; with IDs only these, archived
// or not; with a Block every revision in the parts of the table that hold what was inserted from that block on; with
// filters those of which one of these finds a revision.
type HeldOf struct {
	Accounts []uint64
	IDs      []uint64
	Block    int64
	Any      []Filter
}

// EachHeld reads records into memory, in no order, and hands them over with their account and whether they are
// archived.
func (l *Listing) EachHeld(ctx context.Context, db driver.Conn, of HeldOf,
	take func(account fleet.AccountID, h *Held, archived bool) error) error {
	s := l.shape()
	known := map[string]string{} // texts that many records have, each once
	one := func(text string) string {
		if old, ok := known[text]; ok {
			return old
		}
		if len(known) < 4096 {
			known[text] = text
		}
		return text
	}
	archived := uint8(0)
	if of.IDs != nil || of.Block != 0 {
		archived = 1
	}
	text, args := s.query, []any{clickhouse.Named("ids", append([]uint64{}, of.IDs...)),
		clickhouse.Named("archived", archived)}
	some, more, err := l.revisions(of)
	if err != nil {
		return err
	}
	args = append(args, more...)
	switch {
	case of.Block != 0:
		text = strings.Replace(text, "/*some*/", "AND toInt64(splitByChar('_', _part)[3]) >= {block:Int64}", 1)
	case len(of.Any) > 0:
		text = strings.Replace(text, "/*some*/", "AND id IN (SELECT id FROM ("+some+"))", 1)
	}
	if of.Block == 0 {
		text = strings.Replace(text, "/*final*/", "FINAL", 1)
	}
	var texts, folded, refs []string
	var numbers []int64
	var lists [][]string
	var body, sought string
	var b []byte
	type row struct {
		account  fleet.AccountID
		held     *Held
		archived bool
	}
	var first []row // that wait until it is known whether they are packed
	release := func() error {
		for _, r := range first {
			r.held.pack(s.names.Load())
			if err := take(r.account, r.held, r.archived); err != nil {
				return err
			}
		}
		first = first[:0]
		return nil
	}
	err = schemas.EachRow(ctx, db, "read "+l.Table+" into memory", text, args, func(scan schemas.Row) error {
		h := &Held{}
		var account uint64
		var archived uint8
		if err := scan.Scan(&account, &h.ID, &h.Revision, &h.created, &h.updated, &archived,
			&body, &texts, &folded, &numbers, &lists, &refs, &sought); err != nil {
			return err
		}
		var more heldMore
		if slices.ContainsFunc(texts, func(text string) bool { return !ascii(text) }) {
			more.folded = slices.Clone(folded)
		}
		b = h.set(b, numbers, append(texts, smallASCII(sought)), body)
		h.odd = strings.ContainsAny(sought, oddLetters)
		if more.refs = refs; len(refs) == 0 {
			more.refs = nil
		}
		empty := true
		for _, list := range lists {
			empty = empty && len(list) == 0
			for i, text := range list {
				list[i] = one(text)
			}
		}
		if more.lists = lists; !empty || more.folded != nil || more.refs != nil {
			h.more = &more
		}
		texts, folded, lists, refs = nil, nil, nil, nil
		first = append(first, row{fleet.AccountID(account), h, archived != 0})
		if s.names.Load() != nil {
			return release()
		}
		if len(first) < packedFrom {
			return nil
		}
		bodies := make([]string, len(first))
		for i, r := range first {
			bodies[i] = r.held.body()
		}
		s.names.CompareAndSwap(nil, namesIn(bodies))
		return release()
	})
	if err != nil {
		return err
	}
	return release()
}

// packedFrom is of how many records the names of members are gathered by which bodies are packed.
const packedFrom = 64

// pack makes a body that was not packed smaller by a dictionary.
func (h *Held) pack(names *s2.Dict) {
	if names == nil || h.packed != nil {
		return
	}
	begin := h.end(int(h.texts) - 1)
	body := h.data[begin:]
	small := names.EncodeBetter(nil, []byte(body))
	if len(small) < len(body) {
		h.data, h.packed = h.data[:begin]+string(small), names
	}
}

// theirs are members in which people give names of their own.
var theirs = []string{"metadata", "custom_fields", "external_ids"}

// namesIn makes a dictionary of the names of members in some bodies, and of nothing else that stands in them, nor of
// names that people give: whoever is erased is not to be found in it.
func namesIn(bodies []string) *s2.Dict {
	var all []byte
	seen := map[string]bool{}
	var look func(value any, depth int)
	look = func(value any, depth int) {
		switch v := value.(type) {
		case []any:
			for _, inner := range v {
				look(inner, depth+1)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if !seen[name] {
					seen[name] = true
					all = append(all, `","`+name+`":"`...)
				}
				if !slices.Contains(theirs, name) && depth < 4 {
					look(v[name], depth+1)
				}
			}
		}
	}
	for _, body := range bodies {
		var value any
		if json.Unmarshal([]byte(body), &value) == nil {
			look(value, 0)
		}
	}
	all = append(all, `":true,":false,":null,:00:00Z","T00:00:00.000Z","`...)
	return s2.MakeDict(all, nil)
}

// EachRevision hands over the newest revision of each record of some accounts in the parts that hold what was inserted
// from a block on; with filters, of what one of them finds.
func (l *Listing) EachRevision(ctx context.Context, db driver.Conn, of HeldOf,
	take func(account fleet.AccountID, id, revision uint64)) error {
	text, args, err := l.revisions(of)
	if err != nil {
		return err
	}
	return schemas.EachRow(ctx, db, "look for new "+l.Table, text, args, func(row schemas.Row) error {
		var account, id, revision uint64
		if err := row.Scan(&account, &id, &revision); err != nil {
			return err
		}
		take(fleet.AccountID(account), id, revision)
		return nil
	})
}

// revisions is the query of EachRevision, with its parameters.
func (l *Listing) revisions(of HeldOf) (string, []any, error) {
	args := []any{clickhouse.Named("accounts", append([]uint64{}, of.Accounts...)), clickhouse.Named("block", of.Block)}
	some := ""
	if len(of.Any) > 0 {
		condition, more, err := l.anyOf(of.Any)
		if err != nil {
			return "", nil, err
		}
		some, args = "AND ("+condition+")", append(args, more...)
	}
	text := strings.NewReplacer("/*table*/", l.Table, "/*some*/", some).Replace(schemas.Query("records_revisions"))
	return text, args, nil
}

// Rows is how many rows the table has of an account, in all revisions.
func (l *Listing) Rows(ctx context.Context, db driver.Conn, account fleet.AccountID) (int, error) {
	var n uint64
	text := strings.Replace(schemas.Query("records_rows"), "/*table*/", l.Table, 1)
	if err := db.QueryRow(ctx, text, clickhouse.Named("account", uint64(account))).Scan(&n); err != nil {
		return 0, fmt.Errorf("count the rows of %s: %w", l.Table, err)
	}
	return int(n), nil
}

// smallASCII is a text with small letters for the capital ones of ASCII, and all others as they are.
func smallASCII(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return 'A' <= r && r <= 'Z' }) {
		return text
	}
	small := []byte(text)
	for i, c := range small {
		if 'A' <= c && c <= 'Z' {
			small[i] = c + 'a' - 'A'
		}
	}
	return string(small)
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Question is a ListRequest as it is put to records in memory. What it finds is what List finds, in the same order.
type Question struct {
	keep  []func(*Held) bool
	keys  []heldKey
	words []string
	bare  []string
}

// heldKey is a member of a sort order; its text is as that of a cursor.
type heldKey struct {
	field *ListField
	at    int
	desc  bool
}

// InMemory puts a request to records in memory: which ones, and in what order. It returns false where only the store
// can tell: what is archived, what is joined, and letters outside ASCII where capital and small ones are the same, of
// which the store has rules of its own. An error is that of List.
func (l *Listing) InMemory(req ListRequest) (*Question, bool, error) {
	if _, err := l.build(req); err != nil {
		return nil, false, err
	}
	s, q := l.shape(), &Question{}
	if req.Archived != "" || req.Limit < 1 || req.Offset < 0 || !ascii(req.Search) {
		return nil, false, nil
	}
	if words := strings.Fields(req.Search); len(words) > 0 {
		if len(req.Related) > 0 {
			return nil, false, nil
		}
		for _, word := range words {
			bare := bareCode(word)
			q.words, q.bare = append(q.words, smallASCII(word)), append(q.bare, smallASCII(bare))
		}
		q.keep = append(q.keep, q.speaksOf)
	}
	if !req.Since.IsZero() {
		since := int64(fleet.MillisOf(req.Since))
		q.keep = append(q.keep, func(h *Held) bool { return h.updated >= since })
	}
	if req.Ref != "" {
		q.keep = append(q.keep, func(h *Held) bool { return slices.Contains(h.refs(), req.Ref) })
	}
	if req.Only != nil {
		only := make(map[uint64]bool, len(*req.Only))
		for _, id := range *req.Only {
			only[id] = true
		}
		q.keep = append(q.keep, func(h *Held) bool { return only[h.ID] })
	}
	for _, f := range req.Filters {
		field, _ := l.Field(f.Field)
		at, ok := s.places[f.Field]
		if !ok {
			return nil, false, nil
		}
		keep, ok := field.keeps(at, f)
		if !ok {
			return nil, false, nil
		}
		q.keep = append(q.keep, keep)
	}
	for _, k := range req.Sort {
		field, at, ok := idField, 0, k.Field == idField.Name
		if !ok {
			field, _ = l.Field(k.Field)
			if at, ok = s.places[k.Field]; !ok {
				return nil, false, nil
			}
		}
		q.keys = append(q.keys, heldKey{field, at, k.Desc})
	}
	q.keys = append(q.keys, heldKey{field: idField})
	return q, true, nil
}

// speaksOf says whether all words occur.
func (q *Question) speaksOf(h *Held) bool {
	sought := h.sought()
	for i, word := range q.words {
		if !strings.Contains(sought, word) && (q.bare[i] == "" || !strings.Contains(sought, q.bare[i])) {
			return false
		}
	}
	return true
}

// Within says that another filter finds all that one finds. It may say no where it does.
func (l *Listing) Within(f, other Filter) bool {
	field, ok := l.Field(f.Field)
	if !ok || f.Field != other.Field {
		return false
	}
	switch {
	case f.Op == "eq" && other.Op == "eq" && field.Type == TextField:
		return !slices.ContainsFunc(f.Values, func(v string) bool { return !slices.Contains(other.Values, v) })
	case field.Type == TimeField && other.Op == "gte" && (f.Op == "eq" || f.Op == "gt" || f.Op == "gte"):
		least, err := field.number(other.Values[0])
		return err == nil && !slices.ContainsFunc(f.Values, func(v string) bool {
			n, err := field.number(v)
			return err != nil || n < least
		})
	}
	return false
}

// Words says whether words are sought.
func (q *Question) Words() bool { return len(q.words) > 0 }

// keeps is a filter; false if only the store can tell.
func (f *ListField) keeps(at int, filter Filter) (func(*Held) bool, bool) {
	if f.Type == NumberField || f.Type == TimeField {
		values := make([]int64, len(filter.Values))
		for i, text := range filter.Values {
			values[i], _ = f.number(text) // build has looked at it
		}
		value := values[0]
		switch never := f.Type == TimeField && !f.Never; filter.Op {
		case "eq":
			return func(h *Held) bool { return slices.Contains(values, h.number(at)) }, true
		case "gt":
			return func(h *Held) bool { return h.number(at) > value }, true
		case "gte":
			return func(h *Held) bool { return h.number(at) >= value }, true
		case "lt": // what is not known is not before anything
			return func(h *Held) bool { return !(never && h.number(at) == 0) && h.number(at) < value }, true
		default:
			return func(h *Held) bool { return !(never && h.number(at) == 0) && h.number(at) <= value }, true
		}
	}
	values := slices.Clone(filter.Values)
	if f.Type == TagsField {
		return func(h *Held) bool {
			return slices.ContainsFunc(h.list(at), func(tag string) bool { return slices.Contains(values, tag) })
		}, true
	}
	value := values[0]
	switch never := f.Type == TextField && !f.Never; filter.Op {
	case "gt":
		return func(h *Held) bool { return h.text(at) > value }, true
	case "gte":
		return func(h *Held) bool { return h.text(at) >= value }, true
	case "lt":
		return func(h *Held) bool { return !(never && h.text(at) == "") && h.text(at) < value }, true
	case "lte":
		return func(h *Held) bool { return !(never && h.text(at) == "") && h.text(at) <= value }, true
	}
	for i, value := range values {
		switch {
		case f.Type == TextField:
			continue
		case !ascii(value):
			return nil, false
		case f.Type == WordsField:
			values[i] = smallASCII(strings.Trim(value, " "))
		default:
			values[i] = strings.ToUpper(bareCode(value))
		}
	}
	if f.Type == TextField {
		return func(h *Held) bool { return slices.Contains(values, h.text(at)) }, true
	}
	same := wordsAre
	if f.Type == CodeField {
		same = codeIs
	}
	return func(h *Held) bool {
		text := h.text(at)
		switch {
		case f.Type == CodeField && text == "":
			return false
		case h.more != nil && h.more.folded != nil:
			return slices.Contains(values, h.more.folded[at])
		}
		return slices.ContainsFunc(values, func(value string) bool { return same(text, value) })
	}, true
}

// wordsAre says whether a text of ASCII is what a WordsField must be the same as.
func wordsAre(text, folded string) bool { return strings.EqualFold(strings.Trim(text, " "), folded) }

// codeIs is wordsAre of a CodeField.
func codeIs(text, folded string) bool {
	n := 0
	for i := range len(text) {
		c := text[i]
		switch {
		case 'a' <= c && c <= 'z':
			c -= 'a' - 'A'
		case 'A' <= c && c <= 'Z' || '0' <= c && c <= '9':
		default:
			continue
		}
		if n == len(folded) || folded[n] != c {
			return false
		}
		n++
	}
	return n == len(folded)
}

// Match says whether a record is one of those that are asked for.
func (q *Question) Match(h *Held) bool {
	for _, keep := range q.keep {
		if !keep(h) {
			return false
		}
	}
	return true
}

// Compare orders two records.
func (q *Question) Compare(a, b *Held) int {
	for i := range q.keys {
		if c := q.keys[i].compare(a, b); c != 0 {
			return c
		}
	}
	return 0
}

// compare orders two records by the key.
func (k *heldKey) compare(a, b *Held) (c int) {
	switch {
	case k.field == idField:
		c = cmp.Compare(a.ID, b.ID)
	case k.field.Type == NumberField || k.field.Type == TimeField:
		c = cmp.Compare(a.number(k.at), b.number(k.at))
	default:
		c = strings.Compare(a.text(k.at), b.text(k.at))
	}
	if k.desc {
		return -c
	}
	return c
}

// text is the key of a record, as a cursor has it.
func (k *heldKey) text(h *Held) string {
	switch {
	case k.field == idField:
		return strconv.FormatUint(h.ID, 10)
	case k.field.Type == NumberField || k.field.Type == TimeField:
		return strconv.FormatInt(h.number(k.at), 10)
	}
	return h.text(k.at)
}

// after orders a record against the key of a cursor.
func (k *heldKey) after(h *Held, key string) (c int) {
	switch {
	case k.field == idField || k.field.Type == NumberField || k.field.Type == TimeField:
		n, _ := k.field.number(key) // build has looked at it
		switch {
		case k.field != idField:
			c = cmp.Compare(h.number(k.at), n)
		case n < 0:
			c = 1
		default:
			c = cmp.Compare(h.ID, uint64(n))
		}
	default:
		c = strings.Compare(h.text(k.at), key)
	}
	if k.desc {
		return -c
	}
	return c
}

// Page is what a request shows of all records that match its question, in the order of Compare.
func (q *Question) Page(all []*Held, req ListRequest) ListPage {
	from := 0
	if req.After != nil {
		from = sort.Search(len(all), func(i int) bool {
			for k := range q.keys {
				if c := q.keys[k].after(all[i], req.After[k]); c != 0 {
					return c > 0
				}
			}
			return false
		})
	}
	from = min(from+req.Offset, len(all))
	to := min(from+req.Limit, len(all))
	page := ListPage{Total: len(all)}
	for _, h := range all[from:to] {
		page.Records = append(page.Records, h.Stored())
	}
	if to < len(all) && to > from {
		for k := range q.keys {
			page.Next = append(page.Next, q.keys[k].text(all[to-1]))
		}
	}
	return page
}
