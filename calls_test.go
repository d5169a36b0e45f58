package fleet_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ownClient is what makes a client of HTTP, or is one.
var ownClient = regexp.MustCompile(`http\.(Client\{|Transport\{|Default(Client|Transport)|(Get|Head|Post|PostForm)\()`)

// TestEveryAddressThatSomebodyGivesIsCalledByTheGuardedClient holds that nothing but api/outbound makes a client where
// addresses of accounts come: it judges whom it dials. What the command line itself asks is what its operator named.
func TestEveryAddressThatSomebodyGivesIsCalledByTheGuardedClient(t *testing.T) {
	for _, root := range []string{"api", "pipeline", "query", "schemas"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "node_modules" || path == filepath.FromSlash("api/outbound")):
				return filepath.SkipDir
			case entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			source, err := os.ReadFile(path)
			if found := ownClient.FindString(string(source)); found != "" {
				t.Errorf("%s has %q: take a client of api/outbound", path, found)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
