package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Listing says how a kind of record may be listed: its current table, the fields to filter and sort by, and the
// columns in which words are sought. It is the whitelist from which every identifier in the text of a list query
// comes. The table has the columns account, id, revision, created_at, updated_at, archived_at, external_ids and body
// beside those named here.
type Listing struct {
	Table  string
	Fields []ListField
	Search []string // columns of text, or fields
	Heard  string   // device or vehicle, of which heard_of.sql tells what fields of that join are made of

	Related []Related // records that these name
}

// ListField is a member of a record that lists know.
type ListField struct {
	Name  string    // in the interface, and the column
	Type  FieldType //
	Range bool      // may be compared by gt, gte, lt, lte
	Sort  bool      // may be sorted by
	Few   bool      // few records have the same value, or one within fewDays, so that a page is counted as it is found

	// Column, if not empty, is what stands for the column; Join is the query that it is of, which is joined where such a
	// field is used.
	Column string
	Join   string

	FewOf  []string // values whose records do not become more with the years, which are counted in that way too
	Values []string // that it can have, if they are known and the member does not say
	Passes bool     // it becomes another as time passes, without anybody writing
	// without a value it is before all that have one, also where it is compared; else it compares with nothing
	Never bool
}

// byNumber stands for the number that people call a record by, as text that sorts as the numbers do: C-10000
// comes after C-9999.
const byNumber = "leftPad(number, 20)"

// column is what stands for the field in the text of a query.
func (f *ListField) column() string {
	if f.Column != "" {
		return f.Column
	}
	return f.Name
}

// FieldType says what the values of a field are.
type FieldType string

// The types of fields.
const (
	TextField   FieldType = "text"
	NumberField FieldType = "number"
	TimeField   FieldType = "time"
	TagsField   FieldType = "tags"  // a filter finds the records that have one of the values
	WordsField  FieldType = "words" // text that people write: compared without regard to case
	CodeField   FieldType = "code"  // a plate, a telephone: compared by letters and digits alone, without regard to case
)

// Field returns the field with a name.
func (l *Listing) Field(name string) (*ListField, bool) {
	for i := range l.Fields {
		if l.Fields[i].Name == name {
			return &l.Fields[i], true
		}
	}
	return nil, false
}

// Filter keeps records whose field has one of the values (Op "eq"), or compares with the one value (gt, gte, lt, lte).
type Filter struct {
	Field  string
	Op     string
	Values []string // as text: RFC 3339 for times
}

// SortKey is one member of a sort order.
type SortKey struct {
	Field string
	Desc  bool
}

// ListRequest is which records of which account are wanted, and which part of them.
type ListRequest struct {
	Account  fleet.AccountID
	Now      time.Time // of what fields say that change with time; the real time unless given
	Filters  []Filter
	Sort     []SortKey // id is always the last
	Archived string    // "" without the archived ones, "true" only them, "all"
	Since    time.Time // updated at or after; zero for ever
	Ref      string    // an id in external_refs
	Search   string    // words, all of which occur
	Related  []string  // tables of related records in which words may be sought too
	Only     *[]uint64 // of these ids; nil for any
	After    []string  // the sort keys behind which the page begins
	Limit    int
	Offset   int
}

// Stored is one record as the current table holds it.
type Stored struct {
	ID         uint64
	Revision   uint64
	CreatedAt  time.Time
	UpdatedAt  time.Time
	ArchivedAt *time.Time
	Body       string // JSON
}

// ListPage is one page of a list.
type ListPage struct {
	Records []Stored // in order
	Total   int      // on all pages
	Next    []string // sort keys of the last record, if there are more behind it
}

// comparisons are the operators of filters.
var comparisons = map[string]string{"eq": "IN", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}

// ErrCursor says that ListRequest.After is not what a page of that order could have given.
var ErrCursor = errors.New("not the cursor of this list")

// List returns one page of the records of a listing. A filter or sort key that the listing does not allow is an error,
// and so is a cursor: ErrCursor.
func List(ctx context.Context, db driver.Conn, l *Listing, req ListRequest) (ListPage, error) {
	b, err := l.build(req)
	if err != nil {
		return ListPage{}, err
	}
	ids, next, total, err := b.page(ctx, db)
	if err != nil {
		return ListPage{}, err
	}
	// Where the list ends on this page its length is known; otherwise everything that fits is counted, if it was not yet.
	if ends := next == nil && (len(ids) > 0 || req.Offset == 0); ends && len(req.After) == 0 {
		total = req.Offset + len(ids)
	}
	page := ListPage{Next: next, Total: total}
	group, inner := errgroup.WithContext(ctx)
	if total < 0 {
		group.Go(func() error {
			var total uint64
			if err := db.QueryRow(inner, b.fill("records_count"), b.args...).Scan(&total); err != nil {
				return fmt.Errorf("count %s: %w", l.Table, err)
			}
			page.Total = int(total)
			return nil
		})
	}
	var records map[uint64]Stored
	group.Go(func() (err error) {
		records, err = RecordsByID(inner, db, l, req.Account, ids)
		return err
	})
	if err := group.Wait(); err != nil {
		return ListPage{}, err
	}
	for _, id := range ids {
		if r, ok := records[id]; ok {
			page.Records = append(page.Records, r)
		}
	}
	return page, nil
}

// RecordsByID returns those of an account's records that exist, archived or not, by their ids.
func RecordsByID(ctx context.Context, db driver.Conn, l *Listing, account fleet.AccountID,
	ids []uint64) (map[uint64]Stored, error) {
	records := make(map[uint64]Stored, len(ids))
	if len(ids) == 0 {
		return records, nil
	}
	text := strings.Replace(schemas.Query("records_by_id"), "/*table*/", l.Table, 1)
	all, err := scanStored(ctx, db, l.Table, text, clickhouse.Named("account", uint64(account)),
		clickhouse.Named("ids", ids))
	for _, r := range all {
		records[r.ID] = r
	}
	return records, err
}

// scanStored reads the records that a query gives.
func scanStored(ctx context.Context, db driver.Conn, what, text string, args ...any) ([]Stored, error) {
	return schemas.AllRows(ctx, db, "read "+what, text, args, func(r *Stored, row schemas.Row) error {
		return row.Scan(&r.ID, &r.Revision, &r.CreatedAt, &r.UpdatedAt, &r.ArchivedAt, &r.Body)
	})
}

// listQuery is a list query being put together.
type listQuery struct {
	l       *Listing
	limit   int
	total   string // how many fit, or -1
	joined  string // with what the table is joined
	sought  string // in what words are sought
	keys    string
	filters string
	after   string
	order   string
	args    []any
}

// fill puts the parts into the marks of a query file.
func (b *listQuery) fill(name string) string {
	return strings.NewReplacer("/*table*/", b.l.Table, "/*joined*/", b.joined, "/*search*/", b.sought, "/*total*/",
		b.total, "/*keys*/", b.keys, "/*filters*/", b.filters, "/*after*/", b.after, "/*order*/", b.order).
		Replace(schemas.Query(name))
}

func (l *Listing) build(req ListRequest) (*listQuery, error) {
	b := &listQuery{l: l, limit: req.Limit, total: "toInt64(-1)"}
	b.arg("account", uint64(req.Account))
	b.arg("archived", req.Archived)
	b.arg("ref", req.Ref)
	narrowed, only := uint8(0), []uint64{}
	if req.Only != nil {
		narrowed, only = 1, append(only, *req.Only...)
	}
	b.arg("narrowed", narrowed)
	b.arg("ids", only)
	b.arg("limit", uint32(req.Limit+1)) // one more tells whether there is a next page
	b.arg("offset", uint32(req.Offset))
	var where strings.Builder
	if !req.Since.IsZero() { // a condition that says nothing would have the column read all the same
		b.arg("since", int64(fleet.MillisOf(req.Since)))
		where.WriteString("AND updated_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') ")
	}
	for _, f := range req.Filters {
		condition, err := b.filter(f)
		if err != nil {
			return nil, err
		}
		where.WriteString("AND " + condition + " ")
	}
	if req.After == nil && l.leaveFew(req.Filters) {
		b.total = "toInt64(count() OVER ())"
	}
	b.filters = where.String()
	if err := b.sort(req.Sort, req.After); err != nil {
		return nil, err
	}
	b.join(req)
	return b, nil
}

// The instants that DateTime64(3) can hold, in milliseconds: the years 1900 to 2299.
const firstMillis, lastMillis = -2_208_988_800_000, 10_413_791_999_999

// arg adds a parameter.
func (b *listQuery) arg(name string, value any) {
	b.args = append(b.args, clickhouse.Named(name, value))
}

// value adds one value of a field as a parameter and returns the parameter with its type.
func (b *listQuery) value(f *ListField, text string) (string, error) {
	name := "v" + strconv.Itoa(len(b.args))
	if f.Type != NumberField && f.Type != TimeField {
		b.arg(name, text)
		return "{" + name + ":String}", nil
	}
	n, err := f.number(text)
	if err != nil {
		return "", err
	}
	b.arg(name, n)
	if f.Type == TimeField {
		return "fromUnixTimestamp64Milli({" + name + ":Int64}, 'UTC')", nil
	}
	return "{" + name + ":Int64}", nil
}

// number reads a number, or an instant in milliseconds: the server would read a time in a parameter by its own rules;
// milliseconds are the same everywhere.
func (f *ListField) number(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64) // of an instant, a sort key
	if f.Type == NumberField {
		if err != nil {
			return 0, fmt.Errorf("%q is not a number: %w", text, err)
		}
		return n, nil
	}
	if err != nil {
		t, err := fleet.ParseTime(text)
		if err != nil {
			return 0, fmt.Errorf("%q is not an instant: %w", text, err)
		}
		n = t.UnixMilli()
	}
	if n < firstMillis || n > lastMillis {
		return 0, fmt.Errorf("%q is out of range", text)
	}
	return n, nil
}

func (b *listQuery) filter(f Filter) (string, error) {
	field, ok := b.l.Field(f.Field)
	operator, known := comparisons[f.Op]
	if !ok || !known || f.Op != "eq" && (!field.Range || len(f.Values) != 1) || len(f.Values) == 0 {
		return "", fmt.Errorf("%s cannot be filtered by %s %s", b.l.Table, f.Field, f.Op)
	}
	values := make([]string, len(f.Values))
	for i, text := range f.Values {
		var err error
		if values[i], err = b.value(field, text); err != nil {
			return "", fmt.Errorf("filter %s: %w", f.Field, err)
		}
		if f.Op == "eq" {
			values[i] = field.same(values[i])
		}
	}
	column, condition := field.column(), ""
	switch {
	case field.Type == TagsField:
		return "hasAny(" + column + ", [" + strings.Join(values, ", ") + "])", nil
	case f.Op == "eq" && field.Type == CodeField: // what has no letter or digit is no code
		return column + " != '' AND " + field.same(column) + " IN (" + strings.Join(values, ", ") + ")", nil
	case f.Op == "eq":
		return field.same(column) + " IN (" + strings.Join(values, ", ") + ")", nil
	case field.Never || f.Op == "gt" || f.Op == "gte":
	case field.Type == TimeField: // what is not known is 1970, and is not before anything
		condition = "toUnixTimestamp64Milli(" + column + ") != 0 AND "
	case field.Type == TextField:
		condition = column + " != '' AND "
	}
	return condition + column + " " + operator + " " + values[0], nil
}

// fewDays is how far apart two instants are at most between which few records have one of theirs.
const fewDays = 31

// leaveFew says that one of the filters, or two that are the ends of a time, leave few records.
func (l *Listing) leaveFew(filters []Filter) bool {
	return slices.ContainsFunc(filters, func(f Filter) bool {
		field, ok := l.Field(f.Field)
		switch {
		case !ok:
			return false
		case f.Op == "eq":
			return field.fewHave(f.Values)
		}
		return field.Few && (f.Op == "gt" || f.Op == "gte") && slices.ContainsFunc(filters, func(end Filter) bool {
			return end.Field == f.Field && (end.Op == "lt" || end.Op == "lte") && field.near(f.Values[0], end.Values[0])
		})
	})
}

// fewHave says that few records have one of some values. An instant may be the one of all that have none.
func (f *ListField) fewHave(values []string) bool {
	if f.Few {
		return f.Type != TimeField
	}
	return !slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(f.FewOf, v) })
}

// near says that one instant is not much later than another.
func (f *ListField) near(from, until string) bool {
	first, bad1 := f.number(from)
	last, bad2 := f.number(until)
	const most = fewDays * 24 * time.Hour
	return f.Type == TimeField && bad1 == nil && bad2 == nil && last-first <= most.Milliseconds()
}

// anyOf is the condition that a record is found by one of some filters, with its parameters.
func (l *Listing) anyOf(filters []Filter) (condition string, args []any, err error) {
	b := &listQuery{l: l}
	for i, f := range filters {
		one, err := b.filter(f)
		if err != nil {
			return "", nil, err
		}
		if i > 0 {
			condition += " OR "
		}
		condition += "(" + one + ")"
	}
	return condition, b.args, nil
}

// same is what of a column, or a value of it, must be the same where a filter asks for it.
func (f *ListField) same(of string) string {
	switch f.Type {
	case WordsField:
		return "lowerUTF8(trimBoth(" + of + "))"
	case CodeField:
		return "upperUTF8(" + bareColumn(of) + ")"
	}
	return of
}

// idField is what every order ends with.
var idField = &ListField{Name: "id", Type: NumberField, Sort: true}

// sort writes the order and, for a cursor, the condition of coming after its keys: with keys a, b and id that is
// a > x OR (a = x AND (b > y OR (b = y AND id > z))), each comparison in its direction.
func (b *listQuery) sort(keys []SortKey, after []string) error {
	fields := make([]*ListField, 0, len(keys)+1)
	for _, k := range keys {
		f, ok := b.l.Field(k.Field)
		if k.Field == "id" {
			f, ok = idField, true
		}
		if !ok || !f.Sort {
			return fmt.Errorf("%s cannot be sorted by %s", b.l.Table, k.Field)
		}
		fields = append(fields, f)
		direction := " ASC, "
		if k.Desc {
			direction = " DESC, "
		}
		b.keys += sortText(f) + ", "
		b.order += f.column() + direction
	}
	if after == nil {
		return nil
	}
	fields = append(fields, idField)
	if len(after) != len(fields) {
		return fmt.Errorf("%w: %d keys for an order of %d", ErrCursor, len(after), len(fields))
	}
	condition := ""
	for i := len(fields) - 1; i >= 0; i-- {
		f, operator := fields[i], " > "
		if i < len(keys) && keys[i].Desc {
			operator = " < "
		}
		value, err := b.value(f, after[i])
		if err != nil {
			return fmt.Errorf("%w: %w", ErrCursor, err)
		}
		if condition == "" {
			condition = f.column() + operator + value
		} else {
			condition = f.column() + operator + value + " OR (" + f.column() + " = " + value + " AND (" + condition + "))"
		}
	}
	b.after = "AND (" + condition + ")"
	return nil
}

// sortText is the text of a sort key, as value reads it.
func sortText(f *ListField) string {
	if f.Type == TimeField {
		return "toString(toUnixTimestamp64Milli(" + f.column() + "))"
	}
	return "toString(" + f.column() + ")"
}

// page reads the ids of the page, the keys behind which the next one begins, and how many records fit, if they were
// counted; else -1.
func (b *listQuery) page(ctx context.Context, db driver.Conn) (ids []uint64, next []string, total int, err error) {
	count := int64(-1)
	var last []string
	err = schemas.EachRow(ctx, db, "list "+b.l.Table, b.fill("records_list"), b.args, func(row schemas.Row) error {
		var id uint64
		var keys []string
		if err := row.Scan(&id, &keys, &count); err != nil {
			return err
		}
		if len(ids) == b.limit {
			next = last
			return schemas.ErrEnough
		}
		ids, last = append(ids, id), keys
		return nil
	})
	return ids, next, int(count), err
}
