// Package api serves the interface: chi routes for /v1 (and the same under /api/v1), described in OpenAPI 3.1 by the
// very declarations that register them.
//
// An operation is a route value and a handler func(w, r) error: the handler parses, calls query or record, and
// writes; the error it returns becomes a problem document. Everything an operation shares with the others happens
// around it, in this order: request id, log and metrics, recovery, compression, deadline, credential (401), rate limit
// (429), scope (403), unknown or malformed parameters (400), size and media type of the body (413, 415), idempotency
// key. Every route is a method on API in a file named after its resource, and is listed in New.
//
// The account of a request is auth.From(ctx).Account and comes from nowhere else. Another account's id is a 404.
package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"reflect"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/desk/event"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/stream"
	"github.com/motorpool/fleet/api/traccar"
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

	TrustedProxies []netip.Prefix // whose X-Forwarded-For is believed

	Pace      Pace // of clients
	Long      int  // downloads and long searches at once, of all accounts
	LongShare int  // the same of one account

	BodyMemory  int64 // bytes of bodies that are worked on at once, half of it for one account; eight times as much are read at once
	QueryMemory int64 // bytes that one question of a request may take in ClickHouse; 0 is no bound

	Auth   auth.Config
	Record record.Config
}

// DefaultConfig returns the settings used when nothing else is said.
func DefaultConfig() Config {
	return Config{
		Version: "dev", BodyLimit: 1 << 20, IngestLimit: 5 << 20, ReadTime: 20 * time.Second, WriteTime: 10 * time.Second,
		Pace: DefaultPace(), Long: 8, LongShare: 2, BodyMemory: 8 << 20, QueryMemory: 512 << 20,
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

// Publisher puts reports of an account's devices on a topic and returns when all of them are acknowledged.
type Publisher interface {
	Publish(ctx context.Context, account fleet.AccountID, topic string, reports []fleet.Report) error
}

// RecordReader reads the reports of a record, or of a body that has the form of one, as the pipeline does. The
// formats are those of dead letters. The reports are the caller's; an error is the record's fault.
type RecordReader interface {
	ReadRecord(format string, record []byte) ([]fleet.Report, error)
}

// Geocoder gives the words for a place. It answers at once, with "" if it knows none.
type Geocoder interface {
	Address(lat, lng float64) string
}

// Deps are the things that the interface works with. DB, IDs and Log must be given; a nil Publisher makes ingest
// answer 503, a nil Geocoder leaves addresses empty, nil Metrics are kept to itself, and Now defaults to time.Now.
type Deps struct {
	DB        driver.Conn // for what is answered at once
	Long      driver.Conn // for what takes long or goes to the client while it is read; DB by default
	IDs       *fleet.IDSource
	Publisher Publisher
	Reader    RecordReader    // without it neither Traccar's positions nor dead letters are taken
	Events    event.Publisher // of records; without it nothing is told of them
	Changes   ChangePublisher // without it nothing can be derived again on request
	Stream    *stream.Hub     // of what happens; without it /v1/events and /v1/stream answer 503
	Geocoder  Geocoder
	Traccar   *traccar.Client // sends commands to trackers behind it; may be nil
	Log       *slog.Logger
	Metrics   prometheus.Registerer
	Refused   func() error // why nothing can be written now, or nil; without it something always can
	Now       func() time.Time
	Wrap      func(http.Handler) http.Handler // around everything, for tracing; may be nil
}

// API is the interface, ready to serve. It is made by New, holds no goroutine but in Run, and needs no closing.
type API struct {
	cfg Config
	Deps
	log     *slog.Logger
	docs    huma.API
	router  chi.Router
	handler http.Handler
	routes  []*route

	auth    *auth.Authenticator
	limiter *auth.Limiter
	used    func(context.Context, *auth.Principal) // notes that a key was used

	strangers strangers // peers whose forwarded headers were told of

	views     map[reflect.Type]bool // that are answered with all their members
	transfers map[string]transfer   // resources that can be imported and exported, by their paths

	kinds        map[string]kind                                         // that records name, by the prefixes of ids
	related      map[*query.Listing]relatedFunc                          // how records are shown that others name
	told         map[fleet.Kind]func(*fleet.Event, bool) (any, error)    // how events show what is derived
	eventTypes   []EventType                                             // that there are
	livePosition func(w io.Writer, p *fleet.Position, metric bool) error // how streams show a position
	chores       []func(context.Context) error                           // that are done between imports and exports

	transfer transferDesk
	longWork *fair  // requests that take long
	bodies   bodies // of senders with a key
	strange  bodies // of senders without, who keep only each other out

	metrics *metrics
	store   *record.Store

	vehicles *record.Log[record.Vehicle]
	devices  *record.Log[record.Device]
	keys     *record.Log[record.APIKey]
	accounts *record.Log[record.Account]

	geofences   *record.Log[record.Geofence]
	alertRules  *record.Log[record.AlertRule]
	jobs        *record.Log[record.Job]
	tripDrivers *record.Log[record.TripDriver]
	alertAcks   *record.Log[record.AlertAck]

	desk *desk.Desk // the rental half, with the logs of its records
}

// New builds the interface and registers every route. It starts nothing.
func New(cfg Config, deps Deps) (*API, error) {
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
	a := &API{
		cfg: cfg, Deps: deps, log: deps.Log, router: chi.NewRouter(),
		limiter: auth.NewLimiter(cfg.Auth, deps.Now), transfers: map[string]transfer{}, views: map[reflect.Type]bool{},
		told: map[fleet.Kind]func(*fleet.Event, bool) (any, error){}, related: map[*query.Listing]relatedFunc{}, kinds: kinds,
		strangers: strangers{seen: map[netip.Addr]bool{}},
		transfer:  newTransferDesk(), longWork: newFair(int64(cfg.Long), int64(cfg.LongShare)),
		bodies: newBodies(cfg.BodyMemory, 2), strange: newBodies(strangeMemory, 8),
		store: store, devices: record.NewLog(store, record.Devices), keys: record.NewLog(store, record.APIKeys),
		geofences: record.NewLog(store, record.Geofences), alertRules: record.NewLog(store, record.AlertRules), jobs: record.NewLog(store, record.Jobs),
	}
	a.tripDrivers, a.alertAcks = record.NewLog(store, record.TripDrivers), record.NewLog(store, record.AlertAcks)
	a.desk = desk.New(store, deps.DB, deps.Now, deps.Log)
	event.Announce(store, deps.Events)
	a.desk.Sender.Traccar = deps.Traccar
	a.vehicles, a.accounts = a.desk.Vehicles, a.desk.Accounts
	if a.metrics, err = newMetrics(deps.Metrics); err != nil {
		return nil, err
	}
	a.used = newKeyUses(a).note
	a.auth = auth.NewAuthenticator(cfg.Auth, a.lookupKey, deps.Now)
	a.docs = humachi.New(a.router, openAPIConfig(cfg.Version))
	if err := a.register(); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	a.handler = a.middleware(a.router)
	if deps.Wrap != nil {
		a.handler = deps.Wrap(a.handler)
	}
	a.handler = cfg.Pace.Handler(a.handler)
	return a, nil
}

// register lists the routes of every resource.
func (a *API) register() error {
	a.router.NotFound(func(w http.ResponseWriter, r *http.Request) {
		a.writeProblem(w, r, fleet.NewError(fleet.CodeNotFound, "There is no such route. The routes are in /v1/openapi.json."))
	})
	a.router.MethodNotAllowed(a.methodNotAllowed)
	// One line for each resource: a method that calls a.handle once for each operation.
	a.vehicleRoutes()
	a.vehicleCalendarRoutes()
	a.blockRoutes()
	a.meterReadingRoutes()
	a.deviceRoutes()
	a.qualityRoutes()
	a.deviceCommandRoutes()
	a.keyRoutes()
	a.accountRoutes()
	a.geofenceRoutes()
	a.routePlanRoutes()
	a.alertRuleRoutes()
	a.catalogueRoutes()
	a.quoteRoutes()
	a.availabilityRoutes()
	a.customerRoutes()
	a.tollRoutes()
	a.positionRoutes()
	a.telemetryRoutes()
	a.signalRoutes()
	a.searchRoutes()
	a.heatmapRoutes()
	a.tripRoutes()
	a.stopRoutes()
	a.visitRoutes()
	a.chargingSessionRoutes()
	a.drivingEventRoutes()
	a.routeHistoryRoutes()
	a.scoreRoutes()
	a.mileageRoutes()
	a.driverTagRoutes()
	a.driverHourRoutes()
	a.proximityRoutes()
	a.alertRoutes()
	a.ingestRoutes()
	a.traccarRoutes()
	a.osmandRoutes()
	a.deadLetterRoutes()
	a.eventRoutes()
	a.streamRoutes()
	a.paymentRoutes()
	a.expenseRoutes()
	a.ledgerRoutes()
	a.bookingRoutes()
	a.taskRoutes()
	a.scheduleRoutes()
	a.reminderRoutes()
	a.workOrderRoutes()
	a.issueRoutes()
	a.inspectionRoutes()
	a.jobRoutes()  // behind what can be imported and exported
	a.docsRoutes() // the last: it describes the others
	return nil
}

// Run does the duties of the rental half, which time brings about, and imports and exports, until ctx ends.
func (a *API) Run(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return a.store.HoldNode(ctx) })
	all.Go(func() error { return a.desk.Run(ctx) })
	all.Go(func() error { return a.runTransfers(ctx) })
	return all.Wait()
}

// Handler returns the handler of all routes.
func (a *API) Handler() http.Handler { return a.handler }

// OpenAPI returns the description of every route. The caller must not change it.
func (a *API) OpenAPI() *huma.OpenAPI { return a.docs.OpenAPI() }
