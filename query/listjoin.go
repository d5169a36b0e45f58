package query

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/motorpool/fleet/schemas"
)

// Related is a kind of record that those of a listing name. Words are sought in what that has to be found by, too: a
// booking is known by its customer and its vehicle.
type Related struct {
	Field  string // that names it
	Prefix string // of its ids
	To     *Listing
}

// Queries that fields may be joined from.
const (
	joinHeard = "heard" // when something was last heard of a device or vehicle
	joinPaid  = "paid"  // what was received and given back for a booking
)

// join joins what the filters, the order and the words need beside the table.
func (b *listQuery) join(req ListRequest) {
	uses := func(join string) bool {
		of := func(name string) bool {
			f, ok := b.l.Field(name)
			return ok && f.Join == join
		}
		return slices.ContainsFunc(req.Filters, func(f Filter) bool { return of(f.Field) }) ||
			slices.ContainsFunc(req.Sort, func(k SortKey) bool { return of(k.Field) })
	}
	if uses(joinHeard) {
		now := req.Now
		if now.IsZero() {
			now = time.Now()
		}
		b.left(joinHeard, heardText(b.l.Heard), "heard.heard_id = "+b.l.Table+".id")
		b.args = append(b.args, heardArgs(req.Account, nil, nil, now)[1:]...)
	}
	if uses(joinPaid) {
		b.left(joinPaid, schemas.Query("bookings_paid"), "paid.paid_ref = concat('bkg_', toString(bookings.id))")
	}
	b.words(req)
}

// words says in what the words are sought, and gives them: each as it is, and without what people put between
// letters and digits.
func (b *listQuery) words(req ListRequest) {
	words, bare := append([]string{}, strings.Fields(req.Search)...), []string{}
	for _, word := range words {
		code := bareCode(word)
		if code == word {
			code = ""
		}
		bare = append(bare, code)
	}
	b.arg("words", words)
	b.arg("bare", bare)
	b.sought = b.l.searched()
	if len(words) == 0 {
		return
	}
	for _, r := range b.l.Related {
		if !slices.Contains(req.Related, r.To.Table) {
			continue
		}
		name := "by_" + r.Field
		text := strings.NewReplacer("/*prefix*/", r.Prefix, "/*search*/", r.To.searched(), "/*table*/",
			r.To.Table).Replace(schemas.Query("records_related"))
		b.left(name, text, name+".related_ref = "+b.l.Table+"."+r.Field)
		b.sought = "concat(" + b.sought + ", '\\n', " + name + ".related_words)"
	}
}

// left joins a query under a name.
func (b *listQuery) left(name, text, on string) {
	b.joined += "LEFT JOIN (\n" + text + ") AS " + name + " ON " + on + "\n"
}

// searched is the text in which words are sought, one column a line: those of codes a second time, without what people
// put between letters and digits, so that a plate, a number or a telephone is found however it is written.
func (l *Listing) searched() string {
	var columns []string
	for _, name := range l.Search {
		column := name
		if f, ok := l.Field(name); ok && f.Type == TagsField {
			column = "arrayStringConcat(" + name + ", '\n')"
		} else if ok && f.Type == CodeField {
			column += ", '\n', " + bareColumn(name)
		} else if ok && f.Type == NumberField {
			column = "toString(" + name + ")"
		}
		columns = append(columns, column)
	}
	return "concat('', " + strings.Join(append(columns, "''"), ", '\n', ") + ")"
}

// bareColumn is a column without all that is neither letter nor digit.
func bareColumn(column string) string {
	return `replaceRegexpAll(` + column + `, '[^\\pL\\pN]', '')`
}

// bareCode is bareColumn of a text.
func bareCode(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return r
		}
		return -1
	}, text)
}
