// Package rest is the framework of the interface. It knows no resource but jobs, which several rooms make: routes and
// how they are described, problems, records with their lists, pages and changes, actions, parameters, bodies, tags,
// idempotency, tables and downloads. The resources are in rooms of their own (track, ingest, rent, account, transfer),
// which stand on a Server and know nothing of each other; the package api puts them together.
//
// An operation is a Route and a handler func(w, r) error: the handler parses, calls query, the desk or a log, and
// writes; the error that it returns becomes a problem document. Everything that an operation shares with the others
// happens around it, in this order: request id, log and metrics, recovery, compression, headers and CORS, credential
// (401), rate limit (429), scope (403), a write to a disk that is full (507), unknown or malformed parameters (400),
// size, turn and media type of the body (413, 429, 415), deadline, idempotency key. Most operations are those of a
// Resource, which has what a kind of record declares, or are made by Act of an Action.
//
// The account of a request is auth.From(ctx).Account, and without a key that of the device whose token was sent; it
// comes from nowhere else. Another account's id is a 404.
package rest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"reflect"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/eventview"
	"github.com/motorpool/fleet/api/pace"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/roster"
	"github.com/motorpool/fleet/query"
)

// Config are the settings of the interface.
type Config struct {
	Version     string        // of the program, shown in the OpenAPI document
	BodyLimit   int64         // bytes of a request body, after decompression
	IngestLimit int64         // the same for POST /v1/positions and /v1/telemetry
	ReadTime    time.Duration // deadline of an operation that reads
	WriteTime   time.Duration // deadline of an operation that writes
	CORSOrigins []string      // origins that browsers may call from; none by default
	Quiet       bool          // requests that went well are logged for debugging alone

	TrustedProxies []netip.Prefix // whose X-Forwarded-For is believed

	Pace      pace.Pace // of clients
	Long      int       // downloads and long searches at once, of all accounts
	LongShare int       // the same of one account

	// bytes of bodies that are worked on at once, half of it for one account; eight times as much are read at once
	BodyMemory  int64
	QueryMemory int64 // bytes that one question of a request may take in ClickHouse; 0 is no bound

	Auth   auth.Config
	Record record.Config
}

// DefaultConfig returns the settings used when nothing else is said.
func DefaultConfig() Config {
	return Config{
		Version: "dev", BodyLimit: 1 << 20, IngestLimit: 5 << 20, ReadTime: 20 * time.Second, WriteTime: 10 * time.Second,
		Pace: pace.Default(), Long: 8, LongShare: 2, BodyMemory: 8 << 20, QueryMemory: 512 << 20,
		Auth: auth.DefaultConfig(), Record: record.DefaultConfig(),
	}
}

// Validate says what is wrong with the settings.
func (c Config) Validate() error {
	if c.BodyLimit <= 0 || c.IngestLimit <= 0 {
		return errors.New("api: body limits must be positive")
	}
	if c.QueryMemory < 0 {
		return errors.New("api: the memory of a question must not be negative")
	}
	if c.ReadTime <= 0 || c.WriteTime <= 0 {
		return errors.New("api: deadlines must be positive")
	}
	if c.WriteTime >= c.Record.Abandoned {
		// A request that is still running must not be taken for one that died.
		return errors.New("api: the deadline of writes must be shorter than the time after which a claim is abandoned")
	}
	if c.BodyMemory < 2 {
		return errors.New("api: there must be memory for bodies")
	}
	if c.Long < 1 || c.LongShare < 1 {
		return errors.New("api: at least one download must be allowed, in all and for each account")
	}
	return errors.Join(c.Pace.Validate(), c.Auth.Validate(), c.Record.Validate())
}

// Geocoder gives the words for a place. It answers at once, with "" if it knows none.
type Geocoder interface {
	Address(lat, lng float64) string
}

// Deps are the things that every resource works with. DB, IDs and Log must be given; a nil Geocoder leaves addresses
// empty, nil Metrics are kept to itself, and Now defaults to time.Now.
type Deps struct {
	DB       driver.Conn // for what is answered at once
	Long     driver.Conn // for what takes long or goes to the client while it is read; DB by default
	IDs      *fleet.IDSource
	Geocoder Geocoder
	Log      *slog.Logger
	Metrics  prometheus.Registerer
	Roster   *roster.Roster // current records in memory; nil keeps none
	Refused  func() error   // why nothing can be written now, or nil; without it something always can
	Now      func() time.Time
	Wrap     func(http.Handler) http.Handler // around everything, for tracing; may be nil
}

// Server is what the resources stand on. It is made by New, holds no goroutine, and needs no closing. What is
// registered must be registered before Handler is called.
type Server struct {
	Config Config
	Deps
	Store *record.Store
	Auth  *auth.Authenticator
	// Ways prove who makes a request beside API keys; they are asked first.
	Ways []auth.Way
	// Standings say what may be done now for whoever asked earlier, a kind of credential each.
	Standings []auth.Standing
	// ResourceMetadata is the address of what says who gives access tokens; empty if nobody does.
	ResourceMetadata string
	Docs             huma.API
	Routes           []*Route

	// Bodies hold those of senders with a key, and StrangerBodies those of senders without, who keep only each other out.
	Bodies, StrangerBodies bodies
	// KeyUsed notes that a key was used.
	KeyUsed func(context.Context, *auth.Principal)
	// Noted notes for the audit of an account what was done with a credential. It returns at once: uses and refusals are
	// counted in memory, and all is written soon after. What is done to a record that is a credential follows from its
	// revisions instead, so that no crash loses it.
	Noted func(context.Context, auth.Use)
	// Transfers are the resources that can be imported and exported, by their paths.
	Transfers map[string]Transferable
	// Kinds are the kinds of records that others name or that texts speak of, by the prefixes of their ids.
	Kinds map[string]Kind
	// Related shows records that others name.
	Related map[*query.Listing]relatedFunc
	// Events shows events, as everybody is told of them.
	Events *eventview.Renderer
	// LivePosition writes a position into a stream.
	LivePosition func(w io.Writer, p *fleet.Position, metric bool) error
	// Absent says, for what its path begins with, what there is instead of a route that there is not.
	Absent map[string]func(name string) string
	// Chores are done between imports and exports.
	Chores []func(context.Context) error
	// Works says how jobs of kinds are done that rooms add, by the kind.
	Works map[string]JobWork
	// WakeJobs has this process look for jobs at once.
	WakeJobs func()
	// Reporter makes reports; without it there are none to save.
	Reporter *Reporter

	router    chi.Router
	limiter   *auth.Limiter
	strangers strangers             // peers whose forwarded headers were told of
	views     map[reflect.Type]bool // that are answered with all their members
	longWork  *pace.Pool            // requests that take long
	metrics   *metrics
}
