package fleet_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	testName   = regexp.MustCompile("`(Test[A-Za-z0-9]+)`")
	testFunc   = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(`)
	pageLink   = regexp.MustCompile(`\]\(([A-Za-z0-9_./-]+)`)
	makeTarget = regexp.MustCompile("`make ([a-z-]+)[` ]")
)

// TestEveryPromiseNamesItsTest holds docs/guarantees.md against the tests: each paragraph that begins with a promise,
// and each row of a table, names at least one test, and every test that this page, ARCHITECTURE.md or SECURITY.md names
// exists.
func TestEveryPromiseNamesItsTest(t *testing.T) {
	tests := testsOfTheTree(t)
	guarantees := readText(t, "docs/guarantees.md")
	for _, page := range []string{guarantees, readText(t, "ARCHITECTURE.md"), readText(t, "SECURITY.md")} {
		for _, name := range testName.FindAllStringSubmatch(page, -1) {
			if !tests[name[1]] {
				t.Errorf("%s is named as the proof of a promise, and is no test of this tree", name[1])
			}
		}
	}
	promises := 0
	for _, paragraph := range strings.Split(guarantees, "\n\n") {
		for _, promise := range promisesOf(strings.TrimSpace(paragraph)) {
			promises++
			if !testName.MatchString(promise) {
				t.Errorf("this promise names no test:\n%s", promise)
			}
		}
	}
	if promises < 50 {
		t.Errorf("only %d promises were found: does this test still read the page as it is written?", promises)
	}
}

// TestPagesNameWhatExists looks for the files that the pages for people name and link to, and for the targets of make.
func TestPagesNameWhatExists(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, "README.md", "ARCHITECTURE.md", "BENCHMARKS.md", "CHANGELOG.md", "SECURITY.md")
	makefile := readText(t, "Makefile")
	for _, page := range pages {
		text := readText(t, page)
		for _, found := range decisionPath.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(strings.TrimSuffix(found[1], "/...")); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
		for _, found := range pageLink.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), found[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
		for _, found := range makeTarget.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(makefile, "\n"+found[1]+":") {
				t.Errorf("%s: there is no make %s", page, found[1])
			}
		}
	}
}

// promisesOf returns what of a paragraph is a promise: the rows of a table without its head, or a paragraph that begins
// in bold.
func promisesOf(paragraph string) []string {
	switch {
	case strings.HasPrefix(paragraph, "|"):
		rows := strings.Split(paragraph, "\n")
		return rows[min(2, len(rows)):]
	case strings.HasPrefix(paragraph, "**"):
		return []string{paragraph}
	}
	return nil
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// testsOfTheTree returns the names of all test functions.
func testsOfTheTree(t *testing.T) map[string]bool {
	t.Helper()
	tests := make(map[string]bool)
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git"):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, name := range testFunc.FindAllSubmatch(text, -1) {
			tests[string(name[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}
