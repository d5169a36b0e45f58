// Package api serves the interface: chi routes for /v1 (and the same under /api/v1), described in OpenAPI 3.1 by the
// very declarations that register them. It puts the rooms together: rest is the framework, and track, ingest, rent,
// report, account and transfer hold the resources.
package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/account"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/console"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/desk/audit"
	"github.com/motorpool/fleet/api/desk/event"
	"github.com/motorpool/fleet/api/eventview"
	"github.com/motorpool/fleet/api/hook"
	"github.com/motorpool/fleet/api/ingest"
	"github.com/motorpool/fleet/api/oauth"
	"github.com/motorpool/fleet/api/outlook"
	"github.com/motorpool/fleet/api/paper"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rent"
	"github.com/motorpool/fleet/api/report"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/savedreport"
	"github.com/motorpool/fleet/api/share"
	"github.com/motorpool/fleet/api/stream"
	"github.com/motorpool/fleet/api/traccar"
	"github.com/motorpool/fleet/api/track"
	"github.com/motorpool/fleet/api/transfer"
	"github.com/motorpool/fleet/api/user"
)

// Deps are the things that the interface works with: those of every resource, and what single ones need. A nil
// Publisher makes ingest answer 503.
type Deps struct {
	rest.Deps
	Publisher ingest.Publisher
	Reader    ingest.RecordReader   // without it neither Traccar's positions nor dead letters are taken
	Events    event.Publisher       // of records; without it nothing is told of them
	Changes   track.ChangePublisher // without it nothing can be derived again on request
	Trials    track.RuleTrials      // without it no rule can be tried against the past
	Stream    *stream.Hub           // of what happens; without it /v1/events and /v1/stream answer 503
	Traccar   *traccar.Client       // sends commands to trackers behind it; may be nil
	Webhooks  hook.Config           // where they may go, and what their secrets are sealed with
	OAuth     oauth.Config          // under which address access tokens are given; without one none are
	Users     user.Config           // how people prove who they are
	Basemap   *console.Basemap      // the operator's own, below the map of the console; may be nil
}

// API is the interface, ready to serve. It is made by New, holds no goroutine but in Run, and is closed by Close.
type API struct {
	*rest.Server
	handler http.Handler

	desk     *desk.Desk // the rental half, with the logs of its records
	track    *track.API
	ingest   *ingest.API
	rent     *rent.API
	report   *report.API
	paper    *paper.API
	account  *account.API
	outlook  *outlook.API
	share    *share.API
	saved    *savedreport.API
	hook     *hook.API
	oauth    *oauth.API
	user     *user.API
	transfer *transfer.API
}

// New builds the interface and registers every route. It starts nothing.
func New(cfg rest.Config, deps Deps) (*API, error) {
	s, err := rest.New(cfg, deps.Deps)
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	s.Kinds = kinds
	d := desk.New(s.Store, s.DB, s.Now, s.Log)
	recalled := newRecalled(s)
	d.Reads, d.Fleet = recalled, recalled
	event.Announce(s.Store, deps.Events)
	d.Sender.Traccar, d.Audit.To = deps.Traccar, deps.Events
	a := &API{
		Server: s, desk: d, track: track.New(s, d, deps.Changes), ingest: ingest.New(s, d, deps.Publisher, deps.Reader),
		rent: rent.New(s, d), paper: paper.New(s, d), report: report.New(s, d.Accounts),
		account: account.New(s, d, deps.Stream), outlook: outlook.New(s), saved: savedreport.New(s),
		hook:     hook.New(s, deps.Webhooks, eventTypes(kinds)),
		share:    share.New(s),
		user:     user.New(s, deps.Users),
		transfer: transfer.New(s),
	}
	if deps.OAuth.SignedIn == nil {
		deps.OAuth.SignedIn, deps.OAuth.SignIn, deps.OAuth.RoleOf = a.user.SignedIn, signIn, a.user.Role
		deps.OAuth.EndedAt = a.user.EndedAt
	}
	if a.oauth, err = oauth.New(s, deps.OAuth); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	a.track.Trials = deps.Trials
	a.track.Routes()
	a.rent.Routes()
	a.paper.Routes()
	a.report.Routes()
	a.ingest.Routes()
	s.Events.Derived(fleet.Kind(record.WebhookEndpoints.Name), hook.FailureView)
	s.Events.At(fleet.Kind(record.WebhookEndpoints.Name), "/v1/webhook_endpoints/")
	s.Events.Derived("books", eventview.View{Of: audit.Told{},
		Show: func(e *fleet.Event, _ bool) (any, error) { return e.Body, nil }})
	a.outlook.Routes()
	s.Reporter = reporterOf(a.report)
	a.saved.Routes()
	a.account.Routes() // after what says how what events are about is shown
	a.hook.Routes()
	a.oauth.Routes()
	a.user.Routes()
	a.share.Routes()
	console.Routes(s, deps.Basemap)
	a.transfer.Routes() // after what can be imported and exported
	a.handler = s.Handler()
	return a, nil
}

// signIn is the address of the page on which people sign in and come back to next; with again those too who are signed
// in.
func signIn(next string, again bool) string {
	to := user.SignInPath + "?next=" + url.QueryEscape(next)
	if again {
		to += "&again=true"
	}
	return to
}

// Run does the duties of the rental half, which time brings about, and imports and exports, until ctx ends.
func (a *API) Run(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return a.Store.HoldNode(ctx) })
	all.Go(func() error { return a.Roster.Run(ctx) })
	all.Go(func() error { return a.desk.Run(ctx) })
	all.Go(func() error { return a.transfer.Run(ctx) })
	all.Go(func() error { return a.account.RunAudit(ctx) })
	return all.Wait()
}

// Close stores what is only in memory yet. It is called when Run has returned and nothing is served any more.
func (a *API) Close(ctx context.Context) {
	if err := a.Store.AwaitAll(ctx); err != nil {
		a.Log.WarnContext(ctx, "what follows from the last writes is left to others", "error", err)
	}
	a.account.FlushAudit(ctx)
}

// Handler returns the handler of all routes.
func (a *API) Handler() http.Handler { return a.handler }

// OpenAPI returns the description of every route. The caller must not change it.
func (a *API) OpenAPI() *huma.OpenAPI { return a.Docs.OpenAPI() }

// eventTypes are the types of events that endpoints can hear of, and what that takes.
func eventTypes(kinds map[string]rest.Kind) (all []hook.EventType) {
	for _, t := range account.EventsOf(kinds) {
		all = append(all, hook.EventType{Type: t.Type, Categories: t.Categories, Scope: auth.Scope(t.Scope)})
	}
	return all
}
