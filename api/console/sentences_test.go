package console

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/motorpool/fleet/query/report"
)

// composed are the sources that compose sentences which the console says in the language that was chosen, with the
// functions and variables that do; all of them if none is named.
var composed = map[string][]string{
	"../rental/price/line.go":     nil,
	"../rental/price/price.go":    {"tell"},
	"../rental/price/tier.go":     nil,
	"../rental/price/timeline.go": nil,
	"../rental/price/total.go":    nil,
	"../rental/price/after.go":    nil,
	"../rental/price/correct.go":  nil,
	"../rental/bill.go":           nil,
	"../rental/use.go":            nil,
	"../rental/listed.go":         nil,
	"../rental/deposit.go":        {"DepositHeld"},
	"../desk/expense.go":          {"expenseLine"},
	"../desk/booking_items.go":    {"SetDamage"},
	"../desk/booking_bill.go":     nil,
	"../desk/toll.go":             {"MatchToll"},
	"../rent/bookings.go":         {"bookingWarnings"},
	"../rent/booking_timeline.go": nil,
	"../rent/payment_timeline.go": nil,
	"../track/alert_rules.go":     {"alertAbout"},
}

// unsaid are texts of those sources that are no sentences of their own, with why.
var unsaid = map[string]string{
	"The customer {} {}.":    "goes on with a text of rental.ListedText, which is looked at",
	"name and date of birth": "is told as two things of a list",
	"{} and {}":              "is a list of two times",
	", which has none":       refusal,
	", which has {}":         refusal,
	"until {}":               refusal,
	"from {} on":             refusal,
	"from {} to {}":          refusal,
}

const refusal = "is a part of what is answered to a wrong request"

// elsewhere are the calls and values whose texts no sentence tells: refusals, the reference, the log, and layouts of
// times.
var elsewhere = []string{"NewError", "fault", "Errorf", "FieldError", "Route", "WarnContext", "Format"}

// formats are the functions that take a format, and which of their arguments it is.
var formats = map[string]int{"Sprintf": 0, "Fprintf": 1}

var (
	verb    = regexp.MustCompile(`%(\.\d+)?[a-z]`)
	braces  = regexp.MustCompile(`\{[a-z]\d*(:[^}]*)?\}`)
	several = regexp.MustCompile(`(\{\}){2,}`)
	quoted  = `('[^'\n]*'|"[^"\n]*")`
	more    = `,\s*` + quoted
	entry   = regexp.MustCompile(`(?m)^\t` + quoted + `: \[\s*` + quoted + more + `(?:` + more + `)?,?\s*\],$`)
	key     = regexp.MustCompile(`(?m)^\t['"]`)
	name    = regexp.MustCompile(`\{[a-z]\d*`)
	letters = regexp.MustCompile(`[A-Za-z]{2}`)
	begins  = regexp.MustCompile(`^[A-Z{]`)

	identifier = regexp.MustCompile(`[a-z]_[a-z]|[a-z][A-Z]|/v\d|\{i`)
)

// The catalogues of the console: of sentences, and of what figures of reports mean.
const (
	ofSentences = "texts.sentences.ts"
	ofFigures   = "texts.figures.ts"
)

// catalogue reads what the console knows: each sentence or phrase in English, with its gaps alike, and how it is said
// in German, in Spanish, and in English if people are to read other words.
func catalogue(t *testing.T, file string) map[string][4]string {
	t.Helper()
	text, err := os.ReadFile("web/src/lib/" + file)
	if err != nil {
		t.Fatal(err)
	}
	known, found := map[string][4]string{}, entry.FindAllStringSubmatch(string(text), -1)
	for _, m := range found {
		var said [4]string
		for i, text := range m[1:] {
			if text != "" {
				said[i] = text[1 : len(text)-1]
			}
		}
		known[braces.ReplaceAllString(said[0], "{}")] = said
	}
	if all := len(key.FindAll(text, -1)); len(found) != all || all == 0 {
		t.Fatalf("%d of the %d sentences of %s can be read", len(found), all, file)
	}
	return known
}

// A sentence that the interface composes and the console does not know is shown in English to people who chose another
// language: it gets its words in texts.sentences.ts, or a reason above why it needs none.
func TestTheConsoleKnowsTheSentencesOfTheInterface(t *testing.T) {
	known := catalogue(t, ofSentences)
	for path, names := range composed {
		for _, text := range textsOf(t, path, names) {
			if _, whole := known[text]; whole || unsaid[text] != "" {
				continue
			}
			// A piece, without a beginning or an end, is known if a sentence has it.
			piece := !begins.MatchString(text) || !strings.HasSuffix(text, ".")
			if !piece || !strings.Contains(strings.Join(slices.Collect(maps.Keys(known)), "\n"), text) {
				t.Errorf("%s says %q, which the console does not know", path, text)
			}
		}
	}
	for _, name := range report.Names() {
		about := report.Named(name).About
		if _, whole := known[about]; whole {
			continue
		}
		at := strings.LastIndex(about, ". ")
		_, before := known[about[:at+1]]
		_, last := known[about[at+2:]]
		if !before || !last {
			t.Errorf("report %s says %q, which the console does not know", name, about)
		}
	}
}

// What a figure of a report means gets its words in texts.figures.ts, unless it is a sentence that other pages know
// too. They are looked up as a whole.
func TestTheConsoleKnowsWhatFiguresMean(t *testing.T) {
	known, figures := catalogue(t, ofSentences), catalogue(t, ofFigures)
	meant := map[string]bool{}
	for _, name := range report.Names() {
		for _, f := range report.Named(name).Figures {
			meant[f.About] = true
			_, own := figures[f.About]
			if _, other := known[f.About]; !own && !other {
				t.Errorf("%s of the report %s means %q, which the console does not know", f.Name, name, f.About)
			}
		}
	}
	for about, said := range figures {
		if !meant[about] {
			t.Errorf("no figure means %q any more", about)
		}
		if _, other := known[about]; other {
			t.Errorf("%q is in %s too", about, ofSentences)
		}
		for _, text := range said[1:] {
			if identifier.MatchString(text) {
				t.Errorf("%q names an identifier or a path", text)
			}
		}
	}
}

// A translation has the gaps of its sentence, so that nothing is lost but an id. People read no identifiers.
func TestTranslationsHaveTheGapsOfTheirSentences(t *testing.T) {
	names := func(text string) []string {
		all := name.FindAllString(text, -1)
		slices.Sort(all)
		return slices.DeleteFunc(all, func(gap string) bool { return strings.HasPrefix(gap, "{i") })
	}
	for _, said := range catalogue(t, ofSentences) {
		for _, text := range append(said[1:3:3], cmp.Or(said[3], said[0])) {
			if !slices.Equal(names(text), names(said[0])) {
				t.Errorf("%q has other gaps than %q", text, said[0])
			}
			if identifier.MatchString(text) {
				t.Errorf("%q names an identifier or a path", text)
			}
		}
	}
}

// textsOf are the texts for people of a source, or of some of its declarations, with {} where something is put in. A
// word in small letters is an identifier.
func textsOf(t *testing.T, path string, names []string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.FromSlash(path), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	var look func(ast.Node) bool
	look = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType: // has tags
			return false
		case *ast.CallExpr:
			if slices.Contains(elsewhere, nameOf(n.Fun)) {
				return false
			}
		case *ast.CompositeLit:
			if slices.Contains(elsewhere, nameOf(n.Type)) {
				return false
			}
		}
		e, ok := n.(ast.Expr)
		if !ok || !isText(e) {
			return true
		}
		text, within := written(e)
		texts = append(texts, strings.TrimSpace(several.ReplaceAllString(text, "{}")))
		for _, w := range within {
			ast.Inspect(w, look)
		}
		return false
	}
	for _, d := range file.Decls {
		for declared, node := range declarations(d) {
			if at := slices.Index(names, declared); at >= 0 || names == nil {
				ast.Inspect(node, look)
			}
		}
	}
	if texts == nil {
		t.Errorf("%s composes nothing any more", path)
	}
	return slices.DeleteFunc(texts, func(text string) bool {
		return !letters.MatchString(text) || !strings.Contains(text, " ") && !begins.MatchString(text)
	})
}

// declarations are the functions and variables of a declaration, by their names.
func declarations(d ast.Decl) map[string]ast.Node {
	all := map[string]ast.Node{}
	switch d := d.(type) {
	case *ast.FuncDecl:
		all[d.Name.Name] = d.Body
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if v, ok := s.(*ast.ValueSpec); ok {
				all[v.Names[0].Name] = v
			}
		}
	}
	return all
}

// isText says whether an expression is a text, or put together of some.
func isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (isText(e.X) || isText(e.Y))
	case *ast.CallExpr:
		at, ok := formats[nameOf(e.Fun)]
		return ok && isText(e.Args[at])
	}
	return false
}

// written is what an expression puts together, and what is put into that.
func written(e ast.Expr) (string, []ast.Expr) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text, nil
		}
	case *ast.BinaryExpr:
		x, within := written(e.X)
		y, also := written(e.Y)
		return x + y, append(within, also...)
	case *ast.CallExpr:
		if isText(e) {
			at := formats[nameOf(e.Fun)]
			text, _ := written(e.Args[at])
			return strings.ReplaceAll(verb.ReplaceAllString(text, "{}"), "%%", "%"), e.Args[at+1:]
		}
	}
	return "{}", []ast.Expr{e}
}

// nameOf is the name of a function or a type, without that of its package.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// TestScopesSayTheSameWhereverTheyAreGiven holds the words of the console for scopes against those by which somebody
// lets a program in.
func TestScopesSayTheSameWhereverTheyAreGiven(t *testing.T) {
	scopes := regexp.MustCompile(`(?m)^\t(\w+)\s+Scope = "([^"]+)"`)
	rights := regexp.MustCompile(`auth\.(\w+):\s+\{Words: "([^"]+)"`)
	words := regexp.MustCompile(`(?m)^\t'([^']+)': \['([^']+)', '[^']+', '[^']+'\],`)
	found := func(path string, of *regexp.Regexp) map[string]string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]string{}
		for _, m := range of.FindAllStringSubmatch(string(text), -1) {
			all[m[1]] = m[2]
		}
		return all
	}
	asked := map[string]string{}
	names := found("../auth/scope.go", scopes)
	for name, text := range found("../oauth/consent.go", rights) {
		asked[names[name]] = text
	}
	if told := found("web/src/platform/scopes.ts", words); len(told) != len(names) || !maps.Equal(told, asked) {
		t.Errorf("the console says %v, the page that asks for consent %v", told, asked)
	}
}
