package rest

import (
	"context"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// The security schemes of the OpenAPI document.
const (
	apiKeyScheme      = "api_key"
	TokenScheme       = "oauth2" // which the room of OAuth describes, if access tokens are given
	DeviceTokenScheme = "device_token"
	ClientScheme      = "oauth_client"
)

// Route declares one operation: how it is reached, who may call it, what it takes and what it answers. It is the
// source of the registration, of the checks made before the handler runs, and of the OpenAPI document.
type Route struct {
	Method  string
	Path    string // "/v1/vehicles/{id}"; also served under "/api"
	Also    string // one more path that is served, and not documented apart ("/osmand")
	ID      string // operation id: "listVehicles"
	Summary string
	About   string // more words, in Markdown
	Tag     string // resource, for grouping

	Public bool         // takes no API key
	Scheme string       // the security scheme of what a public route takes instead; empty if it takes nothing
	Scope  auth.Scope   // needed; empty means that any valid credential will do
	AnyOf  []auth.Scope // instead of Scope: one of them is needed, and the handler says which
	Class  auth.Class   // rate limit class; by default reads for GET and HEAD, writes otherwise

	Params    []Param  // query parameters and headers; any other query parameter is refused
	AnyParams bool     // the protocol is not ours: Params describe some parameters, and none is checked
	Body      any      // zero value of the body's type, for its schema; nil takes no body
	BodyTypes []string // media types of the body; application/json by default
	BodyLimit int64    // bytes; Config.BodyLimit by default
	Optional  bool     // the body may be left out
	Conflicts bool     // a GET may be a 409
	Missing   bool     // it may be a 404 although its path names nothing

	Status     int           // of success; 200 by default
	Accepts    bool          // success may also be a 202: it goes on after the answer
	Reply      any           // zero value of the answer's type; nil answers without a body
	ReplyTypes []string      // media types of the answer; application/json by default
	Timeout    time.Duration // of the whole operation; -1 for streams, which have none
	Early      bool          // what it writes is answered when the log has it: the next operation waits for the rest

	// Wrong answers with an error in the form of a protocol that is not ours; a problem unless given.
	Wrong func(w http.ResponseWriter, r *http.Request, err error)
}

// within returns a context that ends when the operation has taken as long as it may.
func (rt *Route) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if rt.Timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, rt.Timeout)
}

// handlerFunc answers one operation. An error it returns before anything was written becomes a problem; after that
// the connection is cut, so that nobody takes half an answer for a whole one.
type handlerFunc func(w http.ResponseWriter, r *http.Request) error

// Handle registers an operation.
func (a *Server) Handle(rt Route, h handlerFunc) {
	if rt.Status == 0 {
		rt.Status = http.StatusOK
	}
	if rt.Class == "" {
		rt.Class = auth.Write
		if rt.Method == http.MethodGet {
			rt.Class = auth.Read
		}
	}
	if rt.Body != nil && rt.BodyTypes == nil {
		rt.BodyTypes = []string{"application/json"}
	}
	if rt.BodyLimit == 0 {
		rt.BodyLimit = a.Config.BodyLimit
	}
	if rt.Timeout == 0 {
		rt.Timeout = a.Config.WriteTime
		if rt.Method == http.MethodGet {
			rt.Timeout = a.Config.ReadTime
		}
	}
	if rt.Reply != nil && rt.ReplyTypes == nil {
		rt.ReplyTypes = []string{"application/json"}
	}
	if rt.Method == http.MethodGet {
		rt.Params = append(rt.Params, unitsParam)
	}
	if rt.Method == http.MethodPost && !rt.Public {
		rt.Params = append(rt.Params, idempotencyParam)
	}
	op := a.operation(&rt)
	a.Routes = append(a.Routes, &rt)
	serve := a.serve(&rt, h)
	adapt := func(ctx huma.Context) {
		r, w := humachi.Unwrap(ctx)
		serve(w, r)
	}
	a.Docs.OpenAPI().AddOperation(op)
	paths := []string{rt.Path, "/api" + rt.Path}
	if rt.Also != "" {
		paths = append(paths, rt.Also)
	}
	for _, path := range paths {
		again := *op
		again.Path = path
		a.Docs.Adapter().Handle(&again, adapt)
		if rt.Method == http.MethodGet {
			again.Method = http.MethodHead
			a.Docs.Adapter().Handle(&again, adapt)
		}
	}
}

// operation describes a route in OpenAPI.
func (a *Server) operation(rt *Route) *huma.Operation {
	op := &huma.Operation{
		OperationID: rt.ID, Method: rt.Method, Path: rt.Path, Summary: rt.Summary, Description: rt.About,
		Tags: []string{rt.Tag}, Responses: map[string]*huma.Response{}, Security: []map[string][]string{},
	}
	if !rt.Public {
		schemes := []string{apiKeyScheme}
		if a.ResourceMetadata != "" {
			schemes = append(schemes, TokenScheme)
		}
		for _, scheme := range schemes {
			if rt.AnyOf == nil && rt.Scope == "" {
				op.Security = append(op.Security, map[string][]string{scheme: {}})
			} else if rt.AnyOf == nil {
				op.Security = append(op.Security, map[string][]string{scheme: {string(rt.Scope)}})
			}
			for _, scope := range rt.AnyOf {
				op.Security = append(op.Security, map[string][]string{scheme: {string(scope)}})
			}
		}
		if rt.Scope != "" {
			op.Description = strings.TrimSpace(op.Description + "\n\nNeeds the scope `" + string(rt.Scope) + "`.")
		}
	}
	if rt.Scheme != "" {
		op.Security = append(op.Security, map[string][]string{rt.Scheme: {}})
	}
	for _, name := range pathNames(rt.Path) {
		op.Parameters = append(op.Parameters, &huma.Param{
			Name: name, In: "path", Required: true, Description: "Identity of the record.", Schema: &huma.Schema{Type: "string"},
		})
	}
	for i := range rt.Params {
		op.Parameters = append(op.Parameters, rt.Params[i].document())
	}
	if rt.Body != nil {
		op.RequestBody = &huma.RequestBody{Required: !rt.Optional, Content: map[string]*huma.MediaType{}}
		schema := a.Schema(rt.Body, rt.ID+"Body")
		for _, mediaType := range rt.BodyTypes {
			op.RequestBody.Content[mediaType] = &huma.MediaType{Schema: schema}
		}
	}
	reply := &huma.Response{Description: http.StatusText(rt.Status)}
	if rt.Reply != nil {
		reply.Content = map[string]*huma.MediaType{}
		schema := a.Schema(rt.Reply, rt.ID+"Reply")
		for _, mediaType := range rt.ReplyTypes {
			if strings.HasSuffix(mediaType, "json") {
				reply.Content[mediaType] = &huma.MediaType{Schema: schema}
			} else {
				reply.Content[mediaType] = &huma.MediaType{}
			}
		}
	}
	op.Responses[strconv.Itoa(rt.Status)] = reply
	if rt.Accepts {
		op.Responses[strconv.Itoa(http.StatusAccepted)] = &huma.Response{Description: "Decided, and not done yet.",
			Content: reply.Content}
	}
	documentUnchanged(rt, op)
	a.documentProblems(rt, op)
	return op
}

// Schema returns the schema of a value's type; a *huma.Schema stands for itself.
func (a *Server) Schema(v any, hint string) *huma.Schema {
	if s, ok := v.(*huma.Schema); ok {
		return s
	}
	s := a.Docs.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(v), true, hint)
	return s
}

// pathNames returns the names of the parameters in a path, in order.
func pathNames(path string) []string {
	var names []string
	for _, part := range strings.Split(path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

func openAPIConfig(version string) huma.Config {
	cfg := huma.DefaultConfig("Motorpool", version)
	cfg.OpenAPIPath, cfg.DocsPath, cfg.SchemasPath = "", "", ""
	cfg.CreateHooks = nil
	cfg.Info.Description = about + "\n\n" + strings.Join(conventions, "\n\n")
	cfg.Extensions = map[string]any{"x-error-codes": faults}
	cfg.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	// An instant is a text that may be null; the library would see its methods and call it any text.
	cfg.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[record.Instant](), reflect.TypeFor[*time.Time]())
	cfg.Servers = []*huma.Server{{URL: "/"}}
	cfg.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		DeviceTokenScheme: {Type: "apiKey", In: "query", Name: "token",
			Description: "The token of a device, which only reports its positions."},
		ClientScheme: {Type: "http", Scheme: "basic",
			Description: "The id and the secret of an OAuth client; a public client sends its id in the form alone."},
		apiKeyScheme: {Type: "http", Scheme: "bearer", Description: "An API key, as Authorization: Bearer mp_live_…"},
	}
	return cfg
}
