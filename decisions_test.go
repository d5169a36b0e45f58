package fleet_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	decisionHeading = regexp.MustCompile(`(?m)^## (\d{4}-\d\d-\d\d) (.+)$`)
	decisionLine    = regexp.MustCompile(`(?m)^\| (\d{4}-\d\d-\d\d) \| \[(.+?)\]\(([a-z-]+\.md#[^)]+)\) \| \S.* \|$`)
	decisionLink    = regexp.MustCompile(`\]\(([a-z-]+\.md)?(#[^)]+)\)`)
	decisionPath    = regexp.MustCompile("`(?:\\./)?((?:api|cmd|deploy|loadtest|pipeline|query|schemas)/[a-z0-9_./-]+)`")
	notInAnchors    = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
	supersededBy    = regexp.MustCompile(` \((?:in part )?superseded by .*\)$`)
)

// TestDecisionsAreIndexed holds the index of docs/decisions against the entries: each entry has its line with its date,
// its title and a link that leads to it, in the order of the entries, and no line is of something else. Entries of a
// subject are in the order of their dates, and links between entries lead to one.
func TestDecisionsAreIndexed(t *testing.T) {
	index := readText(t, "docs/decisions/README.md")
	files, err := filepath.Glob("docs/decisions/*.md")
	if err != nil {
		t.Fatal(err)
	}
	entries := make(map[string][]string) // lines of the index as they ought to be, by file
	anchors := make(map[string]bool)
	for _, file := range files {
		name := filepath.Base(file)
		if name == "README.md" {
			continue
		}
		last := ""
		for _, found := range decisionHeading.FindAllStringSubmatch(readText(t, file), -1) {
			date, title := found[1], found[2]
			if date < last {
				t.Errorf("%s: %q is of %s and stands behind one of %s", name, title, date, last)
			}
			last = date
			anchor := name + anchorOf(date+" "+title)
			anchors[anchor] = true
			entries[name] = append(entries[name],
				date+" "+supersededBy.ReplaceAllString(title, "")+" "+anchor)
		}
	}
	indexed := make(map[string][]string)
	for _, found := range decisionLine.FindAllStringSubmatch(index, -1) {
		name, _, _ := strings.Cut(found[3], "#")
		indexed[name] = append(indexed[name], found[1]+" "+found[2]+" "+found[3])
	}
	for name := range entries {
		if !slices.Equal(entries[name], indexed[name]) {
			t.Errorf("the index does not have the entries of %s: it has\n%s\nand the entries are\n%s", name,
				strings.Join(indexed[name], "\n"), strings.Join(entries[name], "\n"))
		}
	}
	for name := range indexed {
		if entries[name] == nil {
			t.Errorf("the index has entries of %s, which has none", name)
		}
	}
	for _, file := range files {
		for _, found := range decisionLink.FindAllStringSubmatch(readText(t, file), -1) {
			name := found[1]
			if name == "" {
				name = filepath.Base(file)
			}
			if !anchors[name+found[2]] {
				t.Errorf("%s: there is no entry at %s%s", file, name, found[2])
			}
		}
	}
}

// TestDecisionsNameWhatExists looks for the folders, files and tests that the decisions name: what has moved since is
// to be named where it is now.
func TestDecisionsNameWhatExists(t *testing.T) {
	tests := testsOfTheTree(t)
	files, err := filepath.Glob("docs/decisions/*.md")
	if err != nil || len(files) < 10 {
		t.Fatal("there are few decisions:", files, err)
	}
	for _, file := range files {
		text := readText(t, file)
		for _, found := range decisionPath.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(strings.TrimSuffix(found[1], "/...")); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
		for _, found := range testName.FindAllStringSubmatch(text, -1) {
			if !tests[found[1]] {
				t.Errorf("%s: %s is no test of this tree", file, found[1])
			}
		}
	}
}

// anchorOf returns the anchor that a heading has on GitHub and on most pages that are made of Markdown.
func anchorOf(heading string) string {
	return "#" + strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}
