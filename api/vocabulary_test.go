package api

import (
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
)

// document is the OpenAPI document, which needs no server.
func document(t *testing.T) (doc struct {
	Paths      map[string]map[string]operationDoc
	Components struct{ Schemas map[string]map[string]any }
}) {
	t.Helper()
	db, err := clickhouse.Open(&clickhouse.Options{Addr: []string{"127.0.0.1:1"}}) // nobody is asked
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	a, err := New(rest.DefaultConfig(), Deps{Deps: rest.Deps{DB: db, IDs: fleet.NewIDSource(1, time.Now),
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: time.Now}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(a.Docs.OpenAPI())
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

type operationDoc struct {
	OperationID string
	Description string
	Parameters  []struct{ Name, In string }
	Security    []map[string][]string
	RequestBody struct {
		Content map[string]struct {
			Schema struct {
				Ref string `json:"$ref"`
			}
		}
	}
}

// Words that the interface has another one for, each with what it is called here. What is no span of time, no share and
// no money may be called so.
var notOurWords = []struct {
	word   *regexp.Regexp
	ours   string
	except []string // schema.member
}{
	{regexp.MustCompile(`^((valid_|scheduled_)?(start|starts|end|ends|to|till)(_at|_on)?|(first|last|.*_)(start|end)_at|.*_(start|end))$`), "from and until",
		[]string{"SignalCondition.to"}}, // bounds of a value
	{regexp.MustCompile(`^(discount|factor|fee|.*_fee|.*share|.*discount|overbooking|.*_rate|apr|tax)?_?(pct|percent)$|_share$|^apr$`),
		"a share in basis points, _bp", []string{"LevelReading.pct"}}, // how full it was
	{regexp.MustCompile(`^(qty|quantity_.+)$`), "quantity", nil},
	{regexp.MustCompile(`(^|_)(labour|colour|tyre|cheque)(_|$)`), "labor, color, tire", nil},
	{regexp.MustCompile(`(_cents|_minor)$`), "an amount with its currency", nil},
}

// One word for one thing, wherever a client reads or writes it: members, parameters and operations are held against the
// words of the house.
func TestTheInterfaceHasOneWordForEachThing(t *testing.T) {
	doc := document(t)
	for name, schema := range doc.Components.Schemas {
		properties, _ := schema["properties"].(map[string]any)
		// Which have the members of what they change, or of what is stored.
		name := strings.TrimPrefix(strings.TrimSuffix(name, "Patch"), "Stored")
		for member, property := range properties {
			for _, not := range notOurWords {
				if not.word.MatchString(member) && !slices.Contains(not.except, name+"."+member) {
					t.Errorf("%s.%s is called %s here", name, member, not.ours)
				}
			}
			p, _ := property.(map[string]any)
			bare := p["type"] == "integer" || p["type"] == "number"
			if money := regexp.MustCompile(`(^|_)(amount|price|cost|fee|balance|paid|subtotal)$`); bare &&
				money.MatchString(member) && name != "Money" {
				t.Errorf("%s.%s is money without its currency", name, member)
			}
			if _, both := properties["currency"]; member == "amount" && bare && !both {
				t.Errorf("%s.%s has no currency", name, member)
			}
		}
	}
	wrong := regexp.MustCompile(`sss|[^aeiou]ys$|AndFines|Childs`)
	for path, methods := range doc.Paths {
		for method, op := range methods {
			if wrong.MatchString(op.OperationID) {
				t.Errorf("%s %s is called %s", method, path, op.OperationID)
			}
			for _, p := range op.Parameters {
				name, _, _ := strings.Cut(p.Name, "[")
				for _, not := range notOurWords {
					if p.In == "query" && not.word.MatchString(name) {
						t.Errorf("%s takes %s, which is called %s here", op.OperationID, p.Name, not.ours)
					}
				}
			}
			if strings.HasSuffix(path, "/charges") && !strings.HasPrefix(path, "/v1/bookings/") {
				t.Errorf("%s: charges are money", path)
			}
		}
	}
}

// Every scope that a key can have lets it do something, and nothing needs a scope that no key can have. Of a few scopes
// the routes decide inside, and say so.
func TestEveryScopeIsOfUse(t *testing.T) {
	needed := map[string]bool{string(auth.Admin): true} // holds every other one
	for _, methods := range document(t).Paths {
		for _, op := range methods {
			for _, way := range op.Security {
				for _, scope := range way["api_key"] {
					needed[scope] = true
				}
			}
			for _, m := range regexp.MustCompile("`([a-z.]+:[a-z]+)`").FindAllStringSubmatch(op.Description, -1) {
				needed[m[1]] = true
			}
			for scope := range needed {
				if !auth.Scope(scope).Known() {
					t.Errorf("%s needs the scope %s, which no key can have", op.OperationID, scope)
				}
			}
		}
	}
	for _, scope := range auth.Scopes {
		if !needed[string(scope)] {
			t.Errorf("no route needs the scope %s", scope)
		}
	}
}

// A client learns from the description what a record can be changed by: whatever it can be replaced by, and no more.
func TestAPatchHasTheMembersOfWhatItChanges(t *testing.T) {
	doc := document(t)
	members := func(op operationDoc) []string {
		name := strings.TrimPrefix(op.RequestBody.Content["application/json"].Schema.Ref, "#/components/schemas/")
		properties, _ := doc.Components.Schemas[name]["properties"].(map[string]any)
		return slices.Sorted(maps.Keys(properties))
	}
	compared := 0
	for path, methods := range doc.Paths {
		whole, replaced := methods["put"]
		part, patched := methods["patch"]
		if !replaced || !patched {
			continue
		}
		compared++
		if want, got := members(whole), members(part); len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s is replaced by %v and changed by %v", path, want, got)
		}
	}
	if compared < 10 {
		t.Errorf("%d kinds of records were compared", compared)
	}
}
