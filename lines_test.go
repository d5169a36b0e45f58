package fleet_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// The columns at which a line of Go ends, a tab being one, and from how many on a string literal or a struct tag, which
// cannot be broken, may make its line longer.
const (
	lineColumns    = 120
	literalColumns = 50
)

// TestLinesEndAt120Columns holds every Go file against the limit. A line may be longer because of one long literal or
// one address of a page, without which it would fit, and inside a string that goes over several lines.
func TestLinesEndAt120Columns(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git"):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, line := range overlong(source) {
			t.Errorf("%s:%d: the line is longer than %d columns", path, line, lineColumns)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOnlyWhatCannotBeBrokenMayBeLonger(t *testing.T) {
	long, short := strings.Repeat("x", literalColumns), strings.Repeat("x", literalColumns-1)
	rest := "\tx = f(" + strings.Repeat("a, ", 25)
	for source, want := range map[string]bool{
		rest + `"` + short + `")`:                                     true,
		rest + `"` + long + `")`:                                      false,
		rest + rest[1:] + `"` + long + `"))`:                          true,
		"// " + strings.Repeat("word ", 30):                           true,
		"// see https://" + strings.Repeat("x", lineColumns):          false,
		"\tF int `json:\"f\" doc:\"" + strings.Repeat("x", 120) + "`": false,
		"x = `SELECT 1\n" + strings.Repeat("word ", 30) + "`":         false,
	} {
		if got := len(overlong([]byte(source))) > 0; got != want {
			t.Errorf("too long is %v, want %v: %s", got, want, source)
		}
	}
}

// overlong returns the numbers of the lines that are too long and could be broken.
func overlong(source []byte) []int {
	file := token.NewFileSet().AddFile("", -1, len(source))
	var tokens scanner.Scanner
	tokens.Init(file, source, nil, scanner.ScanComments)
	excused := map[int]int{} // by line, how many of its columns cannot be broken
	for {
		pos, kind, text := tokens.Scan()
		if kind == token.EOF {
			break
		}
		line := file.Line(pos)
		switch kind {
		case token.STRING:
			pieces := strings.Split(text, "\n")
			for i := range pieces[1:] {
				excused[line+1+i] = len(source)
			}
			if n := utf8.RuneCountInString(strings.Trim(pieces[0], "\"`")); n >= literalColumns {
				excused[line] = max(excused[line], n)
			}
		case token.COMMENT:
			if at := strings.Index(text, "https://"); at >= 0 {
				excused[line] = max(excused[line], utf8.RuneCountInString(strings.Fields(text[at:])[0]))
			}
		}
	}
	var out []int
	for i, text := range strings.Split(string(source), "\n") {
		if n := utf8.RuneCountInString(text); n-excused[i+1] > lineColumns {
			out = append(out, i+1)
		}
	}
	return out
}
