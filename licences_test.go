package fleet_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var updateNotices = flag.Bool("update-notices", false, "write THIRD_PARTY_NOTICES.txt anew")

// allowedLicences are those under which modules may be built into the program, and a sentence that each has and no
// other. All let anybody use and change the program, and ask for their text to be passed on, which the notices do.
var allowedLicences = []struct {
	name string
	says *regexp.Regexp
}{
	{"Apache-2.0", regexp.MustCompile(`Apache License\s+Version 2\.0, January 2004`)},
	{"MPL-2.0", regexp.MustCompile(`Mozilla Public License,? [Vv]ersion 2\.0`)},
	{"BSD-3-Clause", regexp.MustCompile(`(?s)Redistribution and use in source and binary forms.*[Nn]either the names? of`)},
	{"BSD-2-Clause", regexp.MustCompile(`(?s)Redistribution and use in source and binary forms`)},
	{"ISC", regexp.MustCompile(`Permission to use, copy, modify, and(?:/or)? distribute this software`)},
	{"MIT", regexp.MustCompile(`Permission is hereby granted, free of charge, to any person obtaining`)},
	{"Unlicense", regexp.MustCompile(`This is free and unencumbered software released into the public domain`)},
	{"CC0-1.0", regexp.MustCompile(`CC0 1\.0 Universal`)},
}

// licenceFile is what licences and notices are called.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|unlicense|patents)(\.(md|txt|bsd|mit|apache))?$`)

// licenceElsewhere are modules that say their licence in another file.
var licenceElsewhere = map[string]string{"github.com/JohnCGriffin/overflow": "README.md"}

const notices = "THIRD_PARTY_NOTICES.txt"

// TestEveryModuleHasALicenceThatAllowsIt looks at the modules that are built into the program, and holds the file of
// their licences against them: go test . -run TestEveryModule -update-notices writes it.
func TestEveryModuleHasALicenceThatAllowsIt(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", "./cmd/motorpool")
	var fault bytes.Buffer
	list.Stderr = &fault
	out, err := list.Output()
	if err != nil {
		t.Fatalf("list the modules: %v\n%s", err, fault.String())
	}
	modules := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if path, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			modules[path] = dir
		}
	}
	if len(modules) < 20 {
		t.Fatalf("there are only %d modules", len(modules))
	}
	names := map[string][]string{} // by the text: many have the same
	for _, module := range slices.Sorted(maps.Keys(modules)) {
		files, err := os.ReadDir(modules[module])
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, file := range files {
			if file.IsDir() || !licenceFile.MatchString(file.Name()) && file.Name() != licenceElsewhere[module] {
				continue
			}
			text, err := os.ReadFile(filepath.Join(modules[module], file.Name()))
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range allowedLicences {
				if l.says.Match(text) {
					found = append(found, l.name)
					break
				}
			}
			plain := strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
			names[plain] = append(names[plain], module)
		}
		if len(found) == 0 {
			t.Errorf("%s has no licence that is on the list of licences_test.go: look at %s, and take another module, "+
				"or put the licence there with the reason into docs/decisions/security.md", module, modules[module])
		}
	}
	var b strings.Builder
	b.WriteString("Motorpool is built with the modules below, each under its own licence, which asks for its text to be passed on.\n" +
		"Made by: go test . -run TestEveryModule -update-notices\n")
	for _, text := range slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		return strings.Compare(names[a][0]+a, names[b][0]+b)
	}) {
		fmt.Fprintf(&b, "\n%s\n%s\n%[1]s\n\n%[3]s\n", strings.Repeat("=", 100), strings.Join(names[text], "\n"), text)
	}
	if *updateNotices {
		if err := os.WriteFile(notices, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(notices); err != nil || string(kept) != b.String() {
		t.Errorf("%s is not what the modules say (%v): go test . -run TestEveryModule -update-notices writes it anew",
			notices, err)
	}
}
