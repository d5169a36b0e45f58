// Package report runs reports. A report is one file of schemas/queries, report_<name>.sql: its opening comment is the
// definition of each of its figures, for people and for this package, and its statement answers rows of raw figures by
// a key. Ratios are worked out here, of sums, exactly, and rounded once. See Definition for how a comment is written.
//
// It knows no ledger and no HTTP: which account of the books goes into which measure is a parameter of a report, and
// what stands in an account is asked for by links that api/report makes.
package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/motorpool/fleet/schemas"
)

// Definition is a report as the comment of its file says it:
//
//	-- report: Utilization
//	-- about: One or two sentences for people. They may go on
//	--   in a line that is indented.
//	-- bases: accrual cash
//	-- groups: total month vehicle
//	-- places: booking
//	-- apart: channel
//	-- figure rented_s seconds: What it counts.
//	-- figure revenue money [ledger minus revenue.*, contra.*] [cash cash of payment]: What it is made of in the books.
//	-- ratio utilization percent = rented_s / rentable_s: What it says.
//	-- ratio revpav money = revenue * 86400 / rentable_s: Factors are figures, span_days and whole numbers.
//
// The first basis is the default, and so is the first group. Class and location are those that a vehicle has now,
// unless places says of what else they are. Rows of a group that is apart are worked out each by itself, so that the
// totals are not their sum. A figure is a column of the statement. What stands in brackets names the
// ledger accounts of whose entries it is the sum, by basis: codes, the measures of the chart, or a beginning with a
// star, and with a minus what is left out; after "of", only those that records of these kinds were the cause of;
// "capital" among them leaves what was paid for vehicles and loans alone, and "-capital" all else. In
// front, "minus" means that the figure is their sum with its sign turned, and "standing", behind it, that all entries
// until the end of the span count.
// Every other line of the comment is prose for whoever works on it.
type Definition struct {
	Name    string
	Title   string
	About   string
	Bases   []string
	Groups  []string
	Apart   []string // groups whose rows do not add up to the totals, though nothing is in two of them
	Places  string   // whose classes and locations are meant: of a booking, of a quote; "" for vehicles, as they are now
	Figures []Figure // raw ones and ratios, in the order of the comment
	Version string   // a digest of the lines above: another one means that a figure may mean something else

	reckoned  []reckoned      // by figures
	statement string          // with all parts, whatever is asked
	parts     []part          // of the statement
	takes     map[string]bool // the parameters of the statement
	narrowed  map[string]bool // by those of them that it compares with something
}

// Figure is a figure of a report: raw, or a ratio of raw ones.
type Figure struct {
	Name  string
	Unit  string
	About string
	// of a ratio: what is multiplied above and below the line
	Over, Under []Factor
	Ledger      map[string]Accounts // by basis: what it is made of in the books
}

// SpanDays is a factor of its own: the days of the span that a row is of.
const SpanDays = "span_days"

// Factor is a figure, by its name, SpanDays, or a whole number.
type Factor struct {
	Figure string
	Number int64
}

// Accounts are patterns of accounts of the ledger, and the kinds of records whose entries alone count; none for all.
// What is standing at the end of a span is made of all entries until then. Minus turns the sign: revenue and
// liabilities are credits, which are negative.
type Accounts struct {
	Patterns, Kinds []string
	Capital         string // "true" for what was paid for vehicles and loans alone, "false" for all else, "" for both
	Standing        bool
	Minus           bool
}

// Ratio says whether the figure is worked out of others.
func (f *Figure) Ratio() bool { return len(f.Under) > 0 }

// Formula is how a ratio is worked out: "revenue * 86400 / rentable_s".
func (f *Figure) Formula() string {
	if !f.Ratio() {
		return ""
	}
	under := product(f.Under)
	if len(f.Under) > 1 {
		under = "(" + under + ")"
	}
	return product(f.Over) + " / " + under
}

func product(factors []Factor) string {
	var parts []string
	for _, factor := range factors {
		if factor.Figure == "" {
			parts = append(parts, fmt.Sprint(factor.Number))
		} else {
			parts = append(parts, factor.Figure)
		}
	}
	return strings.Join(parts, " * ")
}

// Additive says whether the figure's values of disjoint rows add up to that of all: of what is counted, not of ratios
// and texts.
func (f *Figure) Additive() bool { return !f.Ratio() && units[f.Unit].additive }

// Figure returns the figure of a name, nil if there is none.
func (d *Definition) Figure(name string) *Figure {
	if i := d.index(name); i >= 0 {
		return &d.Figures[i]
	}
	return nil
}

func (d *Definition) index(name string) int {
	return slices.IndexFunc(d.Figures, func(f Figure) bool { return f.Name == name })
}

// prefix of the names of the files of reports.
const prefix = "report_"

// all are the reports by their names. A malformed one is a fault of the program, which no test gets past.
var all = func() map[string]*Definition {
	all := map[string]*Definition{}
	for _, file := range schemas.QueryNames() {
		name, ok := strings.CutPrefix(file, prefix)
		if !ok {
			continue
		}
		d, err := Parse(name, schemas.Query(file))
		if err != nil {
			panic(fmt.Sprintf("%s.sql: %v", file, err))
		}
		all[name] = d
	}
	return all
}()

// Takes says whether a parameter that is a filter can narrow the report: whether its statement does more with it than
// to ask if it is there.
func (d *Definition) Takes(parameter string) bool { return d.narrowed[parameter] }

// Spans says whether the report looks at the span before by itself.
func (d *Definition) Spans() bool { return d.takes["before_from"] }

// Named returns the report of a name, nil if there is none.
func Named(name string) *Definition { return all[name] }

// Names lists the reports.
func Names() []string { return slices.Sorted(maps.Keys(all)) }

var (
	parameter  = regexp.MustCompile(`\{(\w+):`)
	askedIf    = regexp.MustCompile(`\bempty\(\{\w+:[^{}]*\}\)`) // whether a filter is there
	headLine   = regexp.MustCompile(`^-- (report|about|bases|groups|apart|places): (.+)$`)
	figureLine = regexp.MustCompile(`^-- figure (\w+) (\w+)((?: \[[^\]]+\])*): (.+)$`)
	ratioLine  = regexp.MustCompile(`^-- ratio (\w+) (\w+)((?: \[[^\]]+\])*) = ([^:]+): (.+)$`)
	bracket    = regexp.MustCompile(`\[(\w+) ([^\]]+)\]`)
	figureName = regexp.MustCompile(`^[a-z]\w*$`)
)

// Parse reads a report of its file's text.
func Parse(name, text string) (*Definition, error) {
	d := &Definition{Name: name, statement: text, takes: parametersOf(text),
		narrowed: parametersOf(askedIf.ReplaceAllString(text, ""))}
	var err error
	if d.parts, err = parts(text); err != nil {
		return nil, err
	}
	digest := sha256.New()
	for _, line := range comment(text) {
		known := true
		var err error
		switch {
		case headLine.MatchString(line):
			m := headLine.FindStringSubmatch(line)
			err = d.head(m[1], m[2])
		case figureLine.MatchString(line):
			m := figureLine.FindStringSubmatch(line)
			err = d.add(Figure{Name: m[1], Unit: m[2], About: m[4]}, m[3])
		case ratioLine.MatchString(line):
			m := ratioLine.FindStringSubmatch(line)
			f := Figure{Name: m[1], Unit: m[2], About: m[5]}
			if f.Over, f.Under, err = quotient(m[4]); err == nil {
				err = d.add(f, m[3])
			}
		case strings.HasPrefix(line, "-- figure"), strings.HasPrefix(line, "-- ratio"):
			err = fmt.Errorf("cannot be read")
		default:
			known = false
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		if known {
			digest.Write([]byte(line + "\n"))
		}
	}
	d.Version = hex.EncodeToString(digest.Sum(nil)[:4])
	d.About += d.whose()
	d.reckon()
	return d, d.check()
}

// parametersOf are those that a text names.
func parametersOf(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range parameter.FindAllStringSubmatch(text, -1) {
		all[m[1]] = true
	}
	return all
}

// whose says in words what classes and locations are meant, where the report knows any.
func (d *Definition) whose() string {
	switch {
	case !d.narrowed["classes"] && !d.narrowed["locations"]:
		return ""
	case d.Places == "":
		return " Class and location are those that vehicles have now."
	}
	return " Class and location are those of the " + d.Places + ", the location that of its pickup."
}

// comment gives the lines that a file opens with, those that go on in indented ones joined.
func comment(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		if !strings.HasPrefix(line, "-- ") {
			break
		}
		if more, ok := strings.CutPrefix(line, "--   "); ok && len(lines) > 0 {
			lines[len(lines)-1] += " " + strings.TrimSpace(more)
		} else {
			lines = append(lines, line)
		}
	}
	return lines
}

func (d *Definition) head(what, text string) error {
	switch what {
	case "report":
		d.Title = text
	case "about":
		d.About = text
	case "places":
		d.Places = text
	case "bases":
		d.Bases = strings.Fields(text)
	case "apart":
		d.Apart = strings.Fields(text)
	case "groups":
		d.Groups = strings.Fields(text)
		for _, g := range d.Groups {
			if _, ok := groups[g]; !ok {
				return fmt.Errorf("there is no group %s", g)
			}
		}
	}
	return nil
}

// add takes a figure in, with what its brackets say.
func (d *Definition) add(f Figure, brackets string) error {
	unit, ok := units[f.Unit]
	if !ok {
		return fmt.Errorf("there is no unit %s", f.Unit)
	}
	if !strings.HasSuffix(f.Name, unit.suffix) {
		return fmt.Errorf("the name of a figure in %s ends in %s", f.Unit, unit.suffix)
	}
	if d.index(f.Name) >= 0 || f.Name == "key" || f.Name == SpanDays {
		return fmt.Errorf("a second %s", f.Name)
	}
	for _, m := range bracket.FindAllStringSubmatch(brackets, -1) {
		if f.Ledger == nil {
			f.Ledger = map[string]Accounts{}
		}
		basis := m[1]
		if basis == "ledger" {
			basis = Accrual
		}
		patterns, minus := strings.CutPrefix(m[2], "minus ")
		patterns, standing := strings.CutPrefix(patterns, "standing ")
		patterns, kinds, _ := strings.Cut(patterns, " of ")
		of := Accounts{Patterns: list(patterns), Standing: standing, Minus: minus}
		for _, kind := range list(kinds) {
			switch kind {
			case "capital":
				of.Capital = "true"
			case "-capital":
				of.Capital = "false"
			default:
				of.Kinds = append(of.Kinds, kind)
			}
		}
		f.Ledger[basis] = of
	}
	d.Figures = append(d.Figures, f)
	return nil
}

func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

// quotient reads "a * 86400 / b" and "a / (b * c)".
func quotient(text string) (over, under []Factor, err error) {
	above, below, ok := strings.Cut(strings.TrimSpace(text), " / ")
	if inner, found := strings.CutPrefix(below, "("); found {
		below, found = strings.CutSuffix(inner, ")")
		ok = ok && found
	} else {
		ok = ok && !strings.Contains(below, "*")
	}
	if !ok {
		return nil, nil, fmt.Errorf("a ratio is a * b / c, or a / (b * c)")
	}
	for side, text := range map[*[]Factor]string{&over: above, &under: below} {
		for _, word := range strings.Split(text, "*") {
			word = strings.TrimSpace(word)
			f := Factor{Figure: word}
			if n, err := strconv.ParseInt(word, 10, 64); err == nil {
				f = Factor{Number: n}
			} else if !figureName.MatchString(word) {
				return nil, nil, fmt.Errorf("%q is no figure", word)
			}
			*side = append(*side, f)
		}
	}
	return over, under, nil
}

// check says what a definition lacks.
func (d *Definition) check() error {
	if d.Title == "" || d.About == "" || len(d.Bases) == 0 || len(d.Groups) == 0 || len(d.Figures) == 0 {
		return fmt.Errorf("a report says its name, what it is about, its bases, its groups and a figure")
	}
	for _, name := range []string{"account", "to", "group"} {
		if !d.takes[name] {
			return fmt.Errorf("takes no {%s}", name)
		}
	}
	for _, g := range d.Apart {
		if !slices.Contains(d.Groups, g) {
			return fmt.Errorf("has no group %s that could be apart", g)
		}
	}
	for _, f := range d.Figures {
		for _, factor := range slices.Concat(f.Over, f.Under) {
			if factor.Figure == "" || factor.Figure == SpanDays {
				continue
			}
			if of := d.Figure(factor.Figure); of == nil || of.Ratio() {
				return fmt.Errorf("%s is worked out of %s, which is no raw figure", f.Name, factor.Figure)
			}
		}
		for basis := range f.Ledger {
			if !slices.Contains(d.Bases, basis) {
				return fmt.Errorf("%s speaks of the basis %s, which is none of the report's", f.Name, basis)
			}
		}
	}
	return nil
}
