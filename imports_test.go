package fleet_test

import (
	"cmp"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/motorpool/fleet"

// allowed lists, for each folder, what of this module its packages may import; a folder that is not listed fails, so
// that a new one gets its sentence here. "std" in outside means the standard library only.
var allowed = []struct {
	folder  string   // package path below the module; "" is the root; the first match from the top holds
	inside  []string // packages of this module, exact, or with /... for all below
	outside []string // prefixes of other modules; nil allows any
}{
	{"", []string{}, []string{"std"}},
	{"schemas/schematest", []string{"schemas", "query", "deploy/..."}, nil},
	{"schemas", []string{}, []string{"github.com/ClickHouse/"}},
	{"pipeline/codec", []string{""}, []string{"github.com/apache/arrow/", "github.com/google/flatbuffers"}},
	{"pipeline/fix", []string{""}, []string{"std"}},
	{"pipeline/recording", []string{""}, []string{"std"}},
	{"pipeline/scenario", []string{""}, []string{"std"}},
	{"pipeline/trip", []string{""}, []string{"std"}},
	{"pipeline/geofence", []string{"", "query/area"}, []string{"github.com/uber/h3-go/"}},
	{"pipeline/alert", []string{""}, []string{"std"}},
	{"pipeline/route", []string{"", "query/area"}, []string{"std"}},
	{"pipeline/derive", []string{"", "pipeline/fix", "pipeline/trip", "pipeline/geofence", "pipeline/route",
		"pipeline/alert"}, []string{"std"}},
	{"pipeline/webhook", []string{"", "schemas", "pipeline/codec", "pipeline/consume", "pipeline/eventlog",
		"pipeline/topic"}, nil},
	{"pipeline/eventlog", []string{"", "schemas", "pipeline/codec", "pipeline/consume"}, nil},
	{"pipeline/follow", []string{"", "schemas", "query", "query/pair", "pipeline/..."}, nil},
	{"pipeline/place", []string{"", "pipeline/codec", "pipeline/consume"}, nil},
	{"pipeline/topic", []string{"", "pipeline/codec"}, nil},
	{"pipeline/consume", []string{"", "pipeline/topic"}, nil},
	{"pipeline/sink", []string{"", "schemas"}, nil},
	{"pipeline/registry", []string{"", "schemas", "query", "pipeline/webhook"}, nil},
	{"pipeline", []string{"", "schemas", "query", "pipeline/..."}, nil},
	{"query/area", []string{""}, []string{"github.com/uber/h3-go/"}},
	{"query/pair", []string{""}, []string{"std"}},
	{"query/together", []string{}, []string{"std"}},
	{"query/report", []string{"", "schemas"}, nil},
	{"query", []string{"", "schemas", "query/area"}, nil},
	{"api/driver", []string{""}, []string{"std"}},
	{"api/export", []string{""}, nil},
	{"api/outbound", []string{}, nil},
	{"api/seal", []string{}, []string{"std"}},
	{"api/traccar", []string{"api/outbound"}, []string{"std"}},
	{"api/geocode", []string{"", "schemas", "api/outbound"}, nil},
	{"api/record", []string{"", "query", "query/together", "schemas"}, nil},
	{"api/csvrow", []string{}, []string{"std"}},
	{"api/rental/paperwork", []string{"", "api/record", "api/rental/..."}, []string{"golang.org/x/text/"}},
	{"api/rental", []string{"", "api/record", "api/rental/...", "api/csvrow"}, []string{"std"}},
	{"api/calendar", []string{"", "api/record"}, []string{"std"}},
	{"api/seed",
		[]string{"", "api/rental", "api/record", "api/calendar", "api/desk", "api/desk/...", "api/rental/..."}, nil},
	{"api/command", []string{"", "query", "api/record", "api/traccar"}, nil},
	{"api/desk/base", []string{"", "query", "query/together", "api/record", "api/calendar"}, nil},
	{"api/desk/event", []string{"", "api/record"}, []string{"github.com/tidwall/gjson"}},
	{"api/desk/person", []string{"", "query", "schemas", "api/record", "api/rental", "api/driver", "api/desk/base"}, nil},
	{"api/desk/books", []string{"", "query", "api/record", "api/rental/...", "api/desk/base"}, nil},
	{"api/desk/fact", []string{"", "schemas", "api/rental/ledger", "api/desk/base"}, nil},
	{"api/desk/paper", []string{"", "query", "schemas", "api/record", "api/rental/...", "api/desk/base"}, nil},
	{"api/desk/cost", []string{"", "query", "api/record", "api/rental/...", "api/desk/base", "api/desk/books"}, nil},
	{"api/desk/holding", []string{"", "query", "api/record", "api/calendar", "api/desk/base"}, nil},
	{"api/desk/yard",
		[]string{"", "query", "api/record", "api/calendar", "api/rental", "api/desk/base", "api/desk/holding"}, nil},
	{"api/desk/workshop", []string{"", "query", "api/record", "api/calendar", "api/rental", "api/rental/...",
		"api/desk/base", "api/desk/books", "api/desk/holding", "api/desk/yard"}, nil},
	{"api/desk/audit", []string{"", "schemas", "api/record", "api/rental/...", "api/desk/base", "api/desk/books",
		"api/desk/fact", "api/desk/holding"}, nil},
	{"api/desk",
		[]string{"", "query", "schemas", "api/record", "api/calendar", "api/rental", "api/rental/...", "api/command"}, nil},
	{"api/desk/bulk", []string{"", "query", "api/record", "api/calendar", "api/desk", "api/desk/base", "api/desk/books"},
		nil},
	{"api/stream", []string{"", "query"}, nil},
	{"api/roster", []string{"", "query", "schemas"}, nil},
	{"api/auth", []string{""}, nil},
	{"api/eventview/eventtest", []string{"", "api/eventview"}, []string{"github.com/santhosh-tekuri/jsonschema/"}},
	{"api/eventview", []string{"", "api/record", "api/units", "api/desk/event", "api/sheet"},
		[]string{"github.com/danielgtaylor/huma/"}},
	{"api/units", []string{""}, []string{"github.com/danielgtaylor/huma/"}},
	{"api/pace", []string{}, nil},
	{"api/bi", []string{"", "schemas", "api/rental/ledger", "api/rental/price"}, nil},
	{"api/sheet", []string{"", "query", "api/csvrow"}, nil},
	// The framework knows no resource, and the rooms that hold the resources know nothing of each other.
	{"api/rest", []string{"", "query", "api/auth", "api/record", "api/calendar", "api/export", "api/eventview",
		"api/units", "api/pace", "api/roster", "api/sheet"}, nil},
	{"api/account", []string{"", "query", "api/rest", "api/auth", "api/record", "api/desk", "api/stream",
		"api/eventview", "api/rental/price", "api/rental/paperwork"}, nil},
	{"api/ingest", []string{"", "query", "query/together", "api/rest", "api/auth", "api/record", "api/desk"}, nil},
	{"api/outlook", []string{"", "query", "api/rest", "api/auth", "api/record", "api/rental/..."}, nil},
	{"api/savedreport", []string{"", "query", "api/rest", "api/auth", "api/record", "api/export"}, nil},
	{"api/page", []string{}, []string{"std"}},
	{"api/console", []string{"", "api/rest", "api/page", "api/geocode"}, []string{"std"}},
	{"api/user/password", []string{}, []string{"golang.org/x/crypto/argon2"}},
	{"api/user", []string{"", "query", "api/rest", "api/auth", "api/record", "api/page", "api/seal",
		"api/user/..."}, nil},
	{"api/hook", []string{"", "query", "api/rest", "api/auth", "api/record", "api/eventview",
		"api/outbound", "api/seal", "pipeline/webhook"}, nil},
	{"api/share", []string{"", "query", "api/rest", "api/auth", "api/record"}, nil},
	{"api/oauth/token", []string{}, []string{"github.com/go-jose/go-jose/"}},
	{"api/oauth",
		[]string{"", "query", "api/rest", "api/auth", "api/record", "api/page", "api/seal", "api/oauth/token"}, nil},
	{"api/transfer",
		[]string{"", "query", "api/rest", "api/auth", "api/record", "api/export", "api/sheet"}, nil},
	{"api/track", []string{"", "query", "query/area", "query/pair", "api/roster", "api/rest", "api/auth", "api/record",
		"api/desk", "api/desk/...", "api/driver", "api/rental", "api/export", "api/eventview", "api/units",
		"api/command"}, nil},
	{"api/rent",
		[]string{"", "query", "api/roster", "api/rest", "api/auth", "api/record", "api/calendar", "api/desk", "api/desk/...",
			"api/rental", "api/rental/...", "api/export", "api/sheet", "api/units"}, nil},
	{"api/report", []string{"", "query", "query/report", "api/rest", "api/auth", "api/record", "api/rental/...",
		"api/export", "api/sheet"}, nil},
	{"api/paper/pdf", []string{"", "api/record", "api/rental/..."},
		[]string{"codeberg.org/go-pdf/fpdf", "golang.org/x/image/font/", "golang.org/x/text/"}},
	{"api/paper",
		[]string{"", "query", "api/rest", "api/auth", "api/record", "api/desk", "api/desk/...", "api/rental/..."}, nil},
	{"api", []string{"", "query", "query/area", "query/pair", "schemas", "api/..."}, nil},
	{"loadtest/reportload", []string{"", "schemas", "query/report", "api/rest", "api/rental/..."}, nil},
	{"loadtest", []string{"", "schemas", "query", "pipeline/codec", "loadtest/...", "deploy/..."}, nil},
	{"deploy", []string{"", "deploy/..."}, nil},
	{"cmd", []string{"", "..."}, nil},
}

// ofItself are the folders whose rule is not that of what stands below them: a new room needs a rule of its own.
var ofItself = []string{"", "api", "api/desk", "pipeline", "query"}

// TestImportsFollowTheRules holds the import graph against the list that ARCHITECTURE.md explains.
func TestImportsFollowTheRules(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		words := strings.Fields(line)
		folder := strings.TrimPrefix(strings.TrimPrefix(words[0], module), "/")
		rule := -1
		for i, r := range allowed {
			if folder == r.folder || !slices.Contains(ofItself, r.folder) && strings.HasPrefix(folder, r.folder+"/") {
				rule = i
				break
			}
		}
		if rule < 0 {
			t.Errorf("%s: no rule says what this folder may import; add one here and to ARCHITECTURE.md", words[0])
			continue
		}
		for _, imported := range words[1:] {
			if !mayImport(folder, imported, allowed[rule].inside, allowed[rule].outside) {
				t.Errorf("%s must not import %s", words[0], imported)
			}
		}
	}
}

// TestTheTableOfPackagesIsThatOfTheRules holds the table of ARCHITECTURE.md against the list: a row each, and in its
// last column what the folder may import.
func TestTheTableOfPackagesIsThatOfTheRules(t *testing.T) {
	_, table, found := strings.Cut(readText(t, "ARCHITECTURE.md"), "\n| folder |")
	table, _, ends := strings.Cut(table, "\n\n")
	if !found || !ends {
		t.Fatal("ARCHITECTURE.md has no table of folders")
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	rows := make(map[string]string)
	for _, row := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		if len(cells) != 3 || rows[cells[0]] != "" {
			t.Fatalf("no row, or a second of its folder: %s", row)
		}
		rows[cells[0]] = strings.Join(quoted.FindAllString(cells[2], -1), ", ") + "."
	}
	for _, rule := range allowed {
		var names []string
		for _, name := range rule.inside {
			if name != "" { // fleet itself
				names = append(names, "`"+name+"`")
			}
		}
		folder := "`" + cmp.Or(rule.folder, "*.go") + "`"
		if want := strings.Join(names, ", ") + "."; rows[folder] != want {
			t.Errorf("ARCHITECTURE.md lets %s import %q, the rules %q", folder, rows[folder], want)
		}
		delete(rows, folder)
	}
	for folder := range rows {
		t.Errorf("ARCHITECTURE.md has a row of %s, for which there is no rule", folder)
	}
}

func mayImport(folder, imported string, inside, outside []string) bool {
	if imported == module || strings.HasPrefix(imported, module+"/") {
		name := strings.TrimPrefix(strings.TrimPrefix(imported, module), "/")
		if strings.HasPrefix(name, "cmd") {
			return false
		}
		if folder != "" && strings.HasPrefix(name, folder+"/") {
			return true
		}
		for _, a := range inside {
			below, all := strings.CutSuffix(a, "...")
			if name == a || all && strings.HasPrefix(name, below) {
				return true
			}
		}
		return false
	}
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") || outside == nil {
		return true // the standard library, or no limit
	}
	for _, prefix := range outside {
		if strings.HasPrefix(imported, prefix) {
			return true
		}
	}
	return false
}
