package api

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
)

func newRecorder() *httptest.ResponseRecorder { return httptest.NewRecorder() }

// secrets are texts that only the first account may ever see.
var secrets = []string{"SECRETMAKE", "SECRETVIN", "SECRETUNIQUE", "SECRETKEYNAME", "SECRETNOTE"}

// Every operation of the OpenAPI document, whoever registered it, is called with another account's key and, for each
// parameter in its path, the id of a record of the first account that is there: nothing of the first account may be
// seen or changed.
func TestAnotherAccountSeesNothing(t *testing.T) {
	w := newLot(t)
	ids := w.oneOfEach()
	vehicle, device := ids["/v1/vehicles/{id}"], ids["/v1/devices/{id}"]
	var strangers []string // what stands for nobody's
	for _, id := range ids {
		prefix, _, _ := strings.Cut(id, "_")
		strangers = append(strangers, id, prefix+"_7777777")
	}
	inBodies, ofNobody := namingIn(ids), strings.NewReplacer(strangers...)
	state := func() string {
		var all []string
		for path, id := range filled(t, w, ids) {
			if strings.HasSuffix(path, "}") {
				all = append(all, path+" "+string(w.do("GET", id, "").ok(200).body))
			}
		}
		for _, path := range []string{"/v1/vehicles?archived=all", "/v1/devices?archived=all",
			"/v1/vehicles/" + vehicle + "/history", "/v1/devices/" + device + "/history",
			"/v1/bookings?archived=all", "/v1/customers?archived=all", "/v1/payments?archived=all", "/v1/ledger/entries",
			"/v1/maintenance/work_orders?archived=all"} {
			all = append(all, string(w.do("GET", path, "").ok(200).body))
		}
		slices.Sort(all)
		return strings.Join(all, "\n")
	}
	before := state()
	first := w.key
	w.key = w.newKey(w.newAccount("Second"), auth.Admin)

	calls := 0
	for _, op := range operations(w.world) {
		if op.id == "getEventType" {
			continue // which is everybody's
		}
		// A body may name what is somebody else's too.
		body := inBodies.Replace(op.body)
		one := op.path
		if strings.Contains(op.path, "{") {
			one = fill(t, op.path, ids)
		}
		calls++
		r := w.do(op.method, one+naming(op.params, ids), body)
		for _, secret := range secrets {
			shown := string(r.body)
			// What was asked for by name may stand in the refusal; that is no news to whoever asked.
			if strings.Contains(strings.NewReplacer(one, "", vehicle, "", device, "", "SECRETUNIQUE", "").Replace(shown),
				secret) {
				t.Errorf("%s (%s %s) shows %s: %d %s", op.id, op.method, one, secret, r.status, shown)
			}
		}
		if strings.Contains(op.path, "{") && r.status != 404 {
			// Any other refusal is made before the record is looked at, and must not depend on whether it exists.
			nobody := w.do(op.method, ofNobody.Replace(one), body)
			if r.status < 400 || nobody.status != r.status {
				t.Errorf("%s (%s %s): %d, and %d for an id of nobody: %s", op.id, op.method, one, r.status, nobody.status,
					r.body)
			}
		}
	}
	// With records of its own in the path, and the other account's in the body.
	mine := w.vehicle(`{"make":"A","model":"B"}`)
	tracker := w.do("POST", "/v1/devices", `{"unique_id":"MINE"}`).ok(201).id()
	w.do("POST", "/v1/devices/"+tracker+"/assign", `{"vehicle_id":"`+vehicle+`"}`).problem(422, "validation_failed")
	if p := w.do("POST", "/v1/devices/"+tracker+"/assign",
		`{"vehicle_id":"`+mine+`"}`).ok(200).object()["vehicle_id"]; p != mine {
		t.Errorf("on %v", p)
	}
	if calls < 20 {
		t.Errorf("only %d calls", calls)
	}
	w.key = first
	if after := state(); after != before {
		t.Errorf("the first account changed:\n%s\nwas\n%s", after, before)
	}
}

// namingIn makes the ids of examples in bodies, and what trackers are called there, those of the first account, by
// their prefixes.
func namingIn(ids map[string]string) *strings.Replacer {
	byPrefix := map[string]string{}
	for path, id := range ids {
		prefix, _, _ := strings.Cut(id, "_")
		if byPrefix[prefix] == "" || !strings.Contains(path, "}/") {
			byPrefix[prefix] = id
		}
	}
	named := []string{"352093081452251", "SECRETUNIQUE"}
	for prefix, id := range byPrefix {
		named = append(named, prefix+"_1234", id)
	}
	return strings.NewReplacer(named...)
}

// naming is a query string that asks for what is the first account's wherever a parameter can.
func naming(params []string, ids map[string]string) string {
	values := url.Values{}
	for _, name := range params {
		switch name {
		case "vehicle_id", "vehicle", "vehicles", "vehicle_ids":
			values.Set(name, ids["/v1/vehicles/{id}"])
		case "device_id", "device":
			values.Set(name, ids["/v1/devices/{id}"])
		case "customer_id":
			values.Set(name, ids["/v1/customers/{id}"])
		case "booking_id":
			values.Set(name, ids["/v1/bookings/{id}"])
		case "geofence_id":
			values.Set(name, ids["/v1/geofences/{id}"])
		case "external_ref", "q", "unique_id", "vin":
			values.Set(name, "SECRETUNIQUE")
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// operation is one of the served OpenAPI document.
type operation struct {
	id, method, path string
	body             string // made from its example or schema; empty if it takes none
	params           []string
	security         []map[string][]string // any one of them lets in: scopes by the scheme of the credential
}

// operations are all of the served OpenAPI document.
func operations(w *world) (all []operation) {
	w.t.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Parameters  []struct{ Name, In string }
			RequestBody *struct {
				Content map[string]struct{ Schema schemaDoc }
			}
			Security []map[string][]string
		}
		Components struct{ Schemas map[string]schemaDoc }
	}
	if err := json.Unmarshal(w.do("GET", "/v1/openapi.json", "").ok(200).body, &doc); err != nil {
		w.t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			said, ok := doc.Paths[path][method]
			if !ok {
				continue
			}
			op := operation{id: said.OperationID, method: strings.ToUpper(method), path: path, security: said.Security}
			if said.RequestBody != nil {
				op.body = "{}"
				if media, ok := said.RequestBody.Content["application/json"]; ok {
					text, err := json.Marshal(media.Schema.example(doc.Components.Schemas, 0))
					if err != nil {
						w.t.Fatal(err)
					}
					op.body = string(text)
				}
			}
			for _, p := range said.Parameters {
				if p.In == "query" {
					op.params = append(op.params, p.Name)
				}
			}
			all = append(all, op)
		}
	}
	return all
}

// schemaDoc is as much of a JSON schema as it takes to make a document that fits it.
type schemaDoc struct {
	Ref        string `json:"$ref"`
	Type       any
	Format     string
	Enum       []any
	Examples   []any
	Properties map[string]schemaDoc
	Required   []string
	Items      *schemaDoc
	OneOf      []schemaDoc `json:"oneOf"`
	AnyOf      []schemaDoc `json:"anyOf"`
	Minimum    float64
}

func (s schemaDoc) example(all map[string]schemaDoc, depth int) any {
	if s.Ref != "" {
		return all[strings.TrimPrefix(s.Ref, "#/components/schemas/")].example(all, depth)
	}
	for _, some := range [][]schemaDoc{s.OneOf, s.AnyOf} {
		if len(some) > 0 {
			return some[0].example(all, depth)
		}
	}
	if len(s.Examples) > 0 {
		return s.Examples[0]
	}
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	kind := fmt.Sprint(s.Type)
	switch {
	case strings.Contains(kind, "object") || s.Properties != nil:
		object := map[string]any{}
		for _, name := range s.Required {
			if depth < 6 {
				object[name] = s.Properties[name].example(all, depth+1)
			}
		}
		return object
	case strings.Contains(kind, "array"):
		if s.Items == nil || depth > 6 {
			return []any{}
		}
		return []any{s.Items.example(all, depth+1)}
	case strings.Contains(kind, "integer"), strings.Contains(kind, "number"):
		return s.Minimum
	case strings.Contains(kind, "boolean"):
		return true
	case s.Format == "date-time":
		return "2026-01-01T00:00:00Z"
	}
	return "text"
}

// fill puts an id that is there in the place of each parameter of a path, by the path up to it.
func fill(t *testing.T, path string, ids map[string]string) string {
	t.Helper()
	if path == "/v1/event_types/{type}" {
		return "/v1/event_types/vehicle.created"
	}
	whole := ""
	for rest := path; rest != ""; {
		at := strings.IndexByte(rest, '{')
		if at < 0 {
			return whole + rest
		}
		end := strings.IndexByte(rest, '}') + 1
		kind := path[:len(path)-len(rest)+end]
		if ids[kind] == "" {
			t.Errorf("no record of the first account is there for %s; make one in oneOfEach", kind)
		}
		whole, rest = whole+rest[:at]+ids[kind], rest[end:]
	}
	return whole
}

// filled are the paths of all routes that answer with one record, with ids.
func filled(t *testing.T, w *lotWorld, ids map[string]string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, rt := range w.api.Routes {
		if rt.Method == "GET" && strings.Contains(rt.Path, "{") {
			all[rt.Path] = fill(t, rt.Path, ids)
		}
	}
	return all
}

func TestTheDescriptionIsWhole(t *testing.T) {
	w := newWorld(t)
	var doc map[string]any
	if err := json.Unmarshal(w.do("GET", "/v1/openapi.json", "", "Authorization", "").ok(200).body, &doc); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "openapi", strings.HasPrefix(fmt.Sprint(doc["openapi"]), "3.1."), true)
	paths := doc["paths"].(map[string]any)
	operations := map[string]bool{}
	for _, rt := range w.api.Routes {
		op, ok := paths[rt.Path].(map[string]any)[strings.ToLower(rt.Method)].(map[string]any)
		if !ok || op["operationId"] != rt.ID || op["summary"] == "" || op["summary"] == nil {
			t.Errorf("%s %s is not described", rt.Method, rt.Path)
		}
		if operations[rt.ID] {
			t.Errorf("%s is the id of two operations", rt.ID)
		}
		operations[rt.ID] = true
		for status, when := range map[string]bool{
			"304":     slices.ContainsFunc(rt.Params, func(p rest.Param) bool { return p.Name == "If-None-Match" }),
			"default": true,
		} {
			if _, described := op["responses"].(map[string]any)[status]; described != when {
				t.Errorf("%s describes %s: %v", rt.ID, status, described)
			}
		}
		if rt.Tag == "" {
			t.Errorf("%s has no tag", rt.ID)
		}
	}
	text := string(w.do("GET", "/v1/openapi.json", "").body)
	for _, ref := range regexp.MustCompile(`"\$ref":"#/components/([^/]+)/([^"]+)"`).FindAllStringSubmatch(text, -1) {
		if _, ok := doc["components"].(map[string]any)[ref[1]].(map[string]any)[ref[2]]; !ok {
			t.Errorf("%s names nothing", ref[0])
		}
	}
	wantEqual(t, "the same under /api", string(w.do("GET", "/api/v1/openapi.json", "").ok(200).body), text)
	yaml := w.do("GET", "/v1/openapi.yaml", "").ok(200)
	if !strings.Contains(string(yaml.body), "\nopenapi: 3.1") && !strings.HasPrefix(string(yaml.body), "openapi: 3.1") {
		t.Errorf("yaml begins %.80s", yaml.body)
	}
	page := w.do("GET", "/v1/docs", "", "Authorization", "").ok(200)
	for id := range operations {
		if !strings.Contains(string(page.body), `id="`+id+`"`) {
			t.Errorf("/v1/docs does not show %s", id)
		}
	}
	// Every body is shown, with an example that is one.
	registry := w.api.Docs.OpenAPI().Components.Schemas
	for _, rt := range w.api.Routes {
		shown, err := w.api.BodyShown(rt)
		if err != nil || (shown == nil) != (rt.Body == nil) {
			t.Errorf("the body of %s: %v, %v", rt.ID, shown, err)
		}
		if shown == nil {
			continue
		}
		_, part, _ := strings.Cut(string(page.body), `id="`+rt.ID+`"`)
		part, _, _ = strings.Cut(part, "</details>")
		for _, f := range shown.Fields {
			if !strings.Contains(part, "<code>"+f.Name+"</code>") {
				t.Errorf("/v1/docs does not show %s of the body of %s", f.Name, rt.ID)
			}
			if f.Required && shown.Example == "" {
				t.Errorf("the body of %s needs %s, and has no example", rt.ID, f.Name)
			}
		}
		if shown.Example == "" {
			continue
		}
		item := w.api.OpenAPI().Paths[rt.Path]
		op := map[string]*huma.Operation{"POST": item.Post, "PUT": item.Put, "PATCH": item.Patch,
			"DELETE": item.Delete}[rt.Method]
		if content := op.RequestBody.Content[rt.BodyTypes[0]]; content.Example == nil {
			t.Errorf("the OpenAPI document has no example of the body of %s", rt.ID)
		}
		if !strings.Contains(html.UnescapeString(part), shown.Example) {
			t.Errorf("/v1/docs does not show an example of %s", rt.ID)
		}
		var example any
		if err := json.Unmarshal([]byte(shown.Example), &example); err != nil {
			t.Fatal(err)
		}
		schema := w.api.Schema(rt.Body, "")
		if len(schema.OneOf) > 0 {
			schema = schema.OneOf[0]
		}
		res := &huma.ValidateResult{}
		huma.Validate(registry, schema, huma.NewPathBuffer([]byte{}, 0), huma.ModeWriteToServer, example, res)
		if len(res.Errors) > 0 {
			t.Errorf("the example of %s does not fit: %v in %s", rt.ID, res.Errors, shown.Example)
		}
	}
	for code := range rest.CodeStatus {
		if !strings.Contains(string(page.body), `id="problem-`+string(code)+`"`) {
			t.Errorf("/v1/docs does not explain %s", code)
		}
	}
	if outside := regexp.MustCompile(`(?i)(src|href)="https?:`).Find(page.body); outside != nil ||
		strings.Contains(string(page.body), "<script") {
		t.Errorf("/v1/docs loads %s", outside)
	}
}
