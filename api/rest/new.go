package rest

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/eventview"
	"github.com/motorpool/fleet/api/pace"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// PublishTime is how long a request waits for Kafka before it is taken to be down.
const PublishTime = 8 * time.Second

// New builds a server without a route.
func New(cfg Config, deps Deps) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if deps.DB == nil || deps.IDs == nil || deps.Log == nil {
		return nil, errors.New("api: DB, IDs and Log must be given")
	}
	if deps.Long == nil {
		deps.Long = deps.DB
	}
	if deps.Now == nil {
		deps.Now = time.Now
	}
	if deps.Refused == nil {
		deps.Refused = func() error { return nil }
	}
	if deps.Metrics == nil {
		deps.Metrics = prometheus.NewRegistry()
	}
	cfg.Record.Log = deps.Log
	store, err := record.NewStore(cfg.Record, deps.DB, deps.IDs, deps.Now)
	if err != nil {
		return nil, err
	}
	store.Listed(deps.Roster.Wrote)
	if deps.Roster != nil {
		store.Remember(deps.Roster.Recall)
		deps.Roster.Follow(store.Follow(calendar.Kind.Name, calendar.ClassKind.Name))
	}
	s := &Server{
		Config: cfg, Deps: deps, Store: store, router: chi.NewRouter(),
		Works: map[string]JobWork{}, WakeJobs: func() {},
		Transfers: map[string]Transferable{}, Kinds: map[string]Kind{}, Absent: map[string]func(string) string{},
		Related: map[*query.Listing]relatedFunc{},
		Events:  eventview.New(),
		KeyUsed: func(context.Context, *auth.Principal) {}, Noted: func(context.Context, auth.Use) {},
		limiter: auth.NewLimiter(cfg.Auth, deps.Now), strangers: strangers{seen: map[netip.Addr]bool{}},
		views: map[reflect.Type]bool{}, longWork: pace.NewPool(int64(cfg.Long), int64(cfg.LongShare)),
		Bodies: newBodies(cfg.BodyMemory, 2), StrangerBodies: newBodies(strangeMemory, 8),
	}
	if s.metrics, err = newMetrics(deps.Metrics); err != nil {
		return nil, err
	}
	s.Docs = humachi.New(s.router, openAPIConfig(cfg.Version))
	s.router.NotFound(func(w http.ResponseWriter, r *http.Request) {
		detail := "There is no such route. The routes are in /v1/openapi.json."
		for prefix, explain := range s.Absent {
			if name, ok := strings.CutPrefix(strings.TrimPrefix(r.URL.Path, "/api"), prefix); ok {
				detail = explain(name)
			}
		}
		s.WriteProblem(w, r, fleet.NewError(fleet.CodeNotFound, detail))
	})
	s.router.MethodNotAllowed(s.methodNotAllowed)
	return s, nil
}

// Handler registers the reference, which describes all other routes, and returns the handler of all.
func (s *Server) Handler() http.Handler {
	s.docsRoutes()
	handler := s.Middleware(s.router)
	if s.Wrap != nil {
		handler = s.Wrap(handler)
	}
	return s.Config.Pace.Handler(handler)
}
