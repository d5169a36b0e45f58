package fleet_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheTestsWithKafkaAreThere: make test-kafka names tests of the program, and one that is called otherwise by now
// would be left out in silence.
func TestTheTestsWithKafkaAreThere(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^KAFKA_TESTS := (\S+)$`).FindSubmatch(makefile)
	if found == nil {
		t.Fatal("the Makefile names no tests")
	}
	files, err := filepath.Glob("cmd/motorpool/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(source)
	}
	for _, name := range strings.Split(string(found[1]), "|") {
		if !strings.Contains(all.String(), "func "+name+"(t *testing.T)") {
			t.Errorf("cmd/motorpool has no %s", name)
		}
	}
}

// TestTheSlowTestsAreThere: make test leaves out what slow-tests.txt names, and a slow test that is called otherwise by
// now would slow it down in silence.
func TestTheSlowTestsAreThere(t *testing.T) {
	tests := testsOfTheTree(t)
	for name := range strings.Lines(readText(t, "slow-tests.txt")) {
		if name = strings.TrimSpace(name); !strings.HasPrefix(name, "#") && !tests[name] {
			t.Errorf("slow-tests.txt names %s, which is no test of this tree", name)
		}
	}
}
