package rest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/sheet"
	"github.com/motorpool/fleet/api/units"
)

// problemWords say when a problem of a code is answered.
type problemWords struct {
	Code fleet.Code
	When string
}

// problems describes every code of a problem, for people and for the OpenAPI document.
var problems = []problemWords{
	{fleet.CodeInvalid, "The request cannot be understood: broken JSON, an unknown or malformed parameter."},
	{fleet.CodeUnauthorized, "There is no valid API key in the Authorization header."},
	{fleet.CodeForbidden, "The API key lacks the scope that WWW-Authenticate names."},
	{codeAddress, "The API key may not be used from this address."},
	{fleet.CodeNotFound, "There is no such thing, or it belongs to somebody else."},
	{CodeMethod, "The path does not take this method; Allow says what it takes."},
	{codeAccept, "None of the media types in Accept can be answered."},
	{codeTimeout, "The body came too slowly, or not at all."},
	{fleet.CodeConflict, "The state of things forbids it: a value that must be unique is taken, a record is archived, a vehicle is taken (conflicts says by what)."},
	{fleet.CodeTransition, "The state of the record does not allow the move; allowed_transitions says what it allows."},
	{fleet.CodeConfirm, "What the request says is far from what is known, and may be a typing error: if it is right, send it again with what confirm says."},
	{codeInProgress, "A request with this Idempotency-Key is being carried out."},
	{fleet.CodeStale, "The record was changed since the revision that If-Match names."},
	{fleet.CodeTooLarge, "The body is too large."},
	{fleet.CodeMediaType, "The media type, charset or encoding of the body is not taken."},
	{fleet.CodeValidation, "The body is understood and not acceptable; detail is the first of errors, which say what is wrong with which members."},
	{codeKeyReuse, "The Idempotency-Key was used for another request."},
	{CodeTooMuch, "The answer takes more of the store than one question may; ask for less at once."},
	{fleet.CodeRateLimited, "Too many requests, or too much in them, within a minute; RateLimit-Policy says how many may be, and Retry-After when to go on."},
	{codeInternal, "A fault of ours; request_id names it in our logs."},
	{fleet.CodeUnavailable, "A store or broker does not answer; Retry-After says when to try again. What was asked for may have been done: look before you repeat it, or use an Idempotency-Key."},
	{fleet.CodeFull, "There is no room left on a disk: nothing can be written until somebody makes room. Reads go on."},
}

// faultWords say what is wrong with a member that has one of some codes.
type faultWords struct {
	Codes string `json:"codes"`
	When  string `json:"when"`
}

// faults describes the codes that members have in errors, those first that programs go by.
var faults = []faultWords{
	{"elsewhere",
		"The vehicle will be at another location: take another one, plan a transfer, or send elsewhere true. With conflict."},
	{"closed", "The location is closed then; its opening_hours say when it is open."},
	{"not_in_fleet",
		"The vehicle is not in service yet then, or has left the fleet: see its in_service_on and disposal_on."},
	{"in_the_past", "The pickup was more than an hour ago, and backdated is not true."},
	{"deposit_due", "The deposit must be authorized first. With conflict."},
	{"too_soon, too_short, too_long, too_young, not_offered",
		"The rental is not offered so: by the lead time, the least or most days, the age of the driver, the channel."},
	{"not_enabled, not_valid, no_rate", "The rate plan or promotion does not hold, or nothing has a rate."},
	{"plans_changed", "A rate plan is another than when the price was worked out."},
	{"required", "The member must be given."},
	{"invalid, type, mismatch, order", "Its value, or its type, cannot be, or does not go with another member."},
	{"out_of_range, too_large, too_many, too_early", "It is too little, too much or outside its time."},
	{"currency_mismatch", "It is in another currency."},
	{"not_found, archived, ambiguous", "What it names does not exist, is archived, or is several."},
	{"not_unique, overlap, in_use", "Something else has the value, the time or the record."},
	{"not_both, one_of", "It excludes another member, or one of several must be given."},
	{"read_only, fixed", "It is set by the system, or cannot be changed in this state."},
	{"unknown_field, unknown_parameter, unknown_signal, unknown_scope",
		"There is no such name; detail says what was probably meant."},
	{"implausible", "It is far from what is known. With confirmation_required."},
}

// about is what the interface is, for people; conventions are what holds for all of it. Both in Markdown of which only
// `code` is used.
const about = "Fleet management and GPS tracking for vehicle rental: vehicles, trackers, positions and telemetry."

var conventions = []string{
	"Send `Authorization: Bearer <API key or access token>` and JSON. The same routes answer under `/api/v1`.",
	"Lists answer `{\"data\": […], \"pagination\": {\"page\", \"per_page\", \"total\", \"next_cursor\"}}`; go on with `page`, " +
		"or with `cursor` as far as you like. Instants are RFC 3339 in UTC, money is in minor units, and `units=metric` turns " +
		"miles into kilometres.",
	"A record's `ETag` is its revision: send it as `If-Match` to change only what you have seen. Send an `Idempotency-Key` " +
		"with a POST and repeat it as often as you must.",
	"`RateLimit` says how many operations are left (`r`) and in how many seconds all are back (`t`, as `X-RateLimit-Reset`), " +
		"`RateLimit-Policy` how many there are (`q`) in so many seconds (`w`); where there is no limit they are not sent. An " +
		"API key, the sessions of a person together, and what a person granted to an OAuth client have a limit each, and an " +
		"account one of all of them.",
	"Whatever is not a success is `application/problem+json`; `code` is stable. `errors` names the members that are meant, " +
		"each with a code of its own, which may be among any of these problems. More may be added.",
}

// documentProblems adds to an operation the problems that it can answer: those that say more than their code does
// (what is missing, in the way or wrong, when to try again, what scope is wanted) by their status, and all others
// as the default.
func (a *Server) documentProblems(rt *Route, op *huma.Operation) {
	statuses := []int{429, 503}
	if !rt.Public {
		statuses = append(statuses, 401, 403)
	}
	if strings.Contains(rt.Path, "{") || rt.Missing {
		statuses = append(statuses, 404)
	}
	if rt.Conflicts || rt.Method != http.MethodGet && !rt.Public {
		statuses = append(statuses, 409)
	}
	if rt.Method != http.MethodGet && !rt.Public {
		statuses = append(statuses, 412)
	}
	if rt.Class != auth.Read && !rt.Public {
		statuses = append(statuses, 507)
	}
	if rt.Body != nil || rt.Method == http.MethodGet || rt.Method == http.MethodPost && !rt.Public {
		// a member is wrong, it asks for too much, or its Idempotency-Key was used for another request
		statuses = append(statuses, 422)
	}
	components := a.Docs.OpenAPI().Components
	if components.Responses == nil {
		components.Responses = a.problemResponses()
	}
	op.Responses["default"] = &huma.Response{Ref: "#/components/responses/problem"}
	for _, status := range statuses {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/problem" + strconv.Itoa(status)}
	}
}

// documentUnchanged adds the answer to If-None-Match where a route takes it.
func documentUnchanged(rt *Route, op *huma.Operation) {
	if slices.ContainsFunc(rt.Params, func(p Param) bool { return p.Name == "If-None-Match" }) {
		op.Responses["304"] = &huma.Response{Description: http.StatusText(http.StatusNotModified)}
	}
}

// problemResponses describes the problems by their statuses, and those of all statuses together.
func (a *Server) problemResponses() map[string]*huma.Response {
	all := map[string]*huma.Response{"problem": a.problemResponse("A problem; its code says which.", problems)}
	for _, status := range []int{401, 403, 404, 409, 412, 422, 429, 503, 507} {
		of := slices.DeleteFunc(slices.Clone(problems), func(p problemWords) bool { return CodeStatus[p.Code] != status })
		all["problem"+strconv.Itoa(status)] = a.problemResponse(http.StatusText(status), of)
	}
	return all
}

// problemResponse describes an answer that is a problem, with an example of each code that it may have.
func (a *Server) problemResponse(words string, codes []problemWords) *huma.Response {
	examples := map[string]*huma.Example{}
	for _, p := range codes {
		shown := problemFrom(fleet.NewError(p.Code, p.When))
		shown.Instance, shown.RequestID = "/v1/vehicles", "req_0123456789abcdef01234567"
		if p.Code == fleet.CodeConflict {
			day := time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)
			shown.Conflicts = []Conflict{{VehicleID: "veh_1234", Ref: "bkg_1234", From: record.InstantOf(day),
				Until: record.InstantOf(day.AddDate(0, 0, 3))}}
		}
		examples[string(p.Code)] = &huma.Example{Value: shown}
	}
	return &huma.Response{Description: words, Content: map[string]*huma.MediaType{"application/problem+json": {
		Schema: a.Docs.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Problem](), true, ""), Examples: examples,
	}}}
}

//go:embed docs.html
var docsTemplate string

// docsRoutes serves the description of all routes, to programs and to people. It is registered last.
func (a *Server) docsRoutes() {
	a.openAnswers()
	a.showExamples()
	texts := sync.OnceValues(a.renderDocs)
	for _, d := range []struct {
		Route
		contentType string
		pick        func(*docTexts) []byte
	}{
		{Route{Path: "/v1/openapi.json", ID: "getOpenAPI", Summary: "Get this description as JSON",
			ReplyTypes: []string{"application/openapi+json"}},
			"application/openapi+json", func(t *docTexts) []byte { return t.json }},
		{Route{Path: "/v1/openapi.yaml", ID: "getOpenAPIYAML", Summary: "Get this description as YAML",
			ReplyTypes: []string{"application/openapi+yaml"}},
			"application/openapi+yaml", func(t *docTexts) []byte { return t.yaml }},
		{Route{Path: "/v1/docs", ID: "getDocs", Summary: "Get this description for people",
			ReplyTypes: []string{"text/html"}},
			"text/html; charset=utf-8", func(t *docTexts) []byte { return t.html }},
	} {
		d.Method, d.Tag, d.Public = http.MethodGet, "Documentation", true
		d.Reply = &huma.Schema{Type: "string"}
		a.Handle(d.Route, func(w http.ResponseWriter, r *http.Request) error {
			all, err := texts()
			if err != nil {
				return err
			}
			h := w.Header()
			h.Set("Content-Type", d.contentType)
			h.Set("Cache-Control", "public, max-age=300")
			h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
			_, err = w.Write(d.pick(all))
			return err
		})
	}
}

// showExamples gives each body that is JSON or a form an example.
func (a *Server) showExamples() {
	for _, rt := range a.Routes {
		shown, err := a.BodyShown(rt)
		if err != nil || shown == nil || shown.Example == "" {
			continue // the page that shows the same says what is wrong
		}
		item := a.Docs.OpenAPI().Paths[rt.Path]
		op := map[string]*huma.Operation{http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodPatch: item.Patch,
			http.MethodDelete: item.Delete}[rt.Method]
		for mediaType, content := range op.RequestBody.Content {
			if strings.Contains(mediaType, "json") || strings.Contains(mediaType, "form") {
				content.Example = json.RawMessage(shown.Example)
			}
		}
	}
}

// openAnswers lets answers have members that this description does not know: they may be added at any time. What is
// sent must not.
func (a *Server) openAnswers() {
	schemas := a.Docs.OpenAPI().Components.Schemas.Map()
	sent := map[string]bool{}
	var visit func(s *huma.Schema)
	visit = func(s *huma.Schema) {
		if s == nil {
			return
		}
		if name := strings.TrimPrefix(s.Ref, "#/components/schemas/"); name != "" && !sent[name] {
			sent[name] = true
			visit(schemas[name])
		}
		for _, p := range s.Properties {
			visit(p)
		}
		for _, inner := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf, []*huma.Schema{s.Items}) {
			visit(inner)
		}
	}
	for _, rt := range a.Routes {
		if rt.Body != nil {
			visit(a.Schema(rt.Body, ""))
		}
	}
	for name, s := range schemas {
		if sent[name] {
			continue
		}
		if additional, ok := s.AdditionalProperties.(bool); ok && !additional {
			s.AdditionalProperties = nil
		}
		sheet.AllowNulls(a.Docs.OpenAPI().Components.Schemas.TypeFromRef("#/components/schemas/"+name), s)
		a.tellFull(a.Docs.OpenAPI().Components.Schemas.TypeFromRef("#/components/schemas/"+name), s)
	}
}

// metricDocument is the description with room for units=metric, which renames members: none of those is required, and
// whatever has some may have their twins. Members that may be null and have certain values alone have null among those.
func metricDocument(doc *huma.OpenAPI) *huma.OpenAPI {
	open, components := *doc, *doc.Components
	components.Schemas = huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	for name, schema := range doc.Components.Schemas.Map() {
		s := *schema
		s.Required = slices.Clone(s.Required)
		s.Properties = maps.Clone(s.Properties)
		for member, p := range s.Properties {
			if p.Nullable && p.Enum != nil && !slices.Contains(p.Enum, nil) {
				open := *p // what may be null is one of its values, too
				open.Enum = append(slices.Clone(p.Enum), nil)
				s.Properties[member] = &open
			}
		}
		for member := range s.Properties {
			if twin, _ := units.MetricName(member); twin != member {
				s.AdditionalProperties = nil
				s.Required = slices.DeleteFunc(s.Required, func(required string) bool { return required == member })
			}
		}
		components.Schemas.Map()[name] = &s
	}
	open.Components = &components
	return &open
}

// docTexts are the three forms of the description.
type docTexts struct{ json, yaml, html []byte }

func (a *Server) renderDocs() (*docTexts, error) {
	var texts docTexts
	var err error
	doc := metricDocument(a.Docs.OpenAPI())
	if texts.json, err = json.Marshal(doc); err != nil {
		return nil, fmt.Errorf("write openapi.json: %w", err)
	}
	if texts.yaml, err = doc.YAML(); err != nil {
		return nil, fmt.Errorf("write openapi.yaml: %w", err)
	}
	page, err := template.New("docs").Funcs(template.FuncMap{"marked": marked}).Parse(docsTemplate)
	if err != nil {
		return nil, fmt.Errorf("read docs.html: %w", err)
	}
	var out bytes.Buffer
	shown, err := a.docsPage()
	if err != nil {
		return nil, err
	}
	if err := page.Execute(&out, shown); err != nil {
		return nil, fmt.Errorf("write docs: %w", err)
	}
	texts.html = out.Bytes()
	return &texts, nil
}

// docsText is a piece of a text.
type docsText struct {
	Text string
	Code bool
}

// marked takes a text apart that is Markdown with code alone.
func marked(text string) (pieces []docsText) {
	for i, piece := range strings.Split(text, "`") {
		pieces = append(pieces, docsText{Text: piece, Code: i%2 == 1})
	}
	return pieces
}

// docsPage is what docs.html shows.
type docsPage struct {
	Title, Version, About string
	Conventions           []string
	Tags                  []docsTag
	Schemas               []docsSchema
	Problems, Faults      []docsProblem
}

type docsTag struct {
	Name       string
	Operations []docsOperation
}

type docsOperation struct {
	ID, Method, Path, Summary, About, Status string
	Params                                   []docsField
	Body                                     *docsBody
	Reply                                    string // name of its schema
	Types                                    string
}

type docsField struct {
	Name, Type, About string
	Required          bool
}

type docsSchema struct {
	Name   string
	Fields []docsField
}

type docsProblem struct {
	Code   string
	Status int
	When   string
}

func (a *Server) docsPage() (docsPage, error) {
	doc := a.Docs.OpenAPI()
	page := docsPage{Title: doc.Info.Title, Version: doc.Info.Version, About: about, Conventions: conventions}
	for _, rt := range a.Routes {
		op := docsOperation{ID: rt.ID, Method: rt.Method, Path: rt.Path, Summary: rt.Summary, About: rt.About,
			Status: strconv.Itoa(rt.Status),
			Reply:  a.schemaName(rt.Reply), Types: strings.Join(rt.ReplyTypes, ", ")}
		var err error
		if op.Body, err = a.BodyShown(rt); err != nil {
			return page, err
		}
		if rt.Scope != "" {
			op.About = strings.TrimSpace(op.About + " Needs the scope " + string(rt.Scope) + ".")
		}
		for i := range rt.Params {
			p := rt.Params[i].document()
			op.Params = append(op.Params,
				docsField{Name: p.Name, Type: schemaWords(p.Schema), About: p.Description, Required: p.Required})
		}
		i := slices.IndexFunc(page.Tags, func(t docsTag) bool { return t.Name == rt.Tag })
		if i < 0 {
			i, page.Tags = len(page.Tags), append(page.Tags, docsTag{Name: rt.Tag})
		}
		page.Tags[i].Operations = append(page.Tags[i].Operations, op)
	}
	for name, s := range doc.Components.Schemas.Map() {
		page.Schemas = append(page.Schemas, docsSchema{Name: name, Fields: schemaFields(s)})
	}
	sort.Slice(page.Schemas, func(i, j int) bool { return page.Schemas[i].Name < page.Schemas[j].Name })
	for _, p := range problems {
		page.Problems = append(page.Problems, docsProblem{Code: string(p.Code), Status: CodeStatus[p.Code], When: p.When})
	}
	for _, f := range faults {
		page.Faults = append(page.Faults, docsProblem{Code: f.Codes, When: f.When})
	}
	return page, nil
}

// schemaName names the schema of a route's body or answer; of a list, that of its members.
func (a *Server) schemaName(v any) string {
	if v == nil {
		return ""
	}
	if s, ok := v.(*huma.Schema); ok {
		if data := s.Properties["data"]; data != nil && data.Items != nil {
			return strings.TrimPrefix(data.Items.Ref, "#/components/schemas/")
		}
		return ""
	}
	return strings.TrimPrefix(a.Schema(v, "").Ref, "#/components/schemas/")
}

func schemaFields(s *huma.Schema) []docsField {
	var fields []docsField
	for name, p := range s.Properties {
		fields = append(fields,
			docsField{Name: name, Type: schemaWords(p), About: p.Description, Required: slices.Contains(s.Required, name)})
	}
	sort.Slice(fields, func(i, j int) bool { return fields[i].Name < fields[j].Name })
	return fields
}

// schemaWords writes a schema in a few words.
func schemaWords(s *huma.Schema) string {
	switch {
	case s == nil:
		return ""
	case s.Ref != "":
		return strings.TrimPrefix(s.Ref, "#/components/schemas/")
	case s.Type == "array":
		return "array of " + schemaWords(s.Items)
	case len(s.Enum) > 0:
		words := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			words[i] = fmt.Sprint(v)
		}
		return strings.Join(words, " | ")
	case s.Format != "":
		return s.Type + " (" + s.Format + ")"
	}
	return s.Type
}
