package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet/api"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/console"
	"github.com/motorpool/fleet/api/geocode"
	"github.com/motorpool/fleet/api/hook"
	"github.com/motorpool/fleet/api/oauth"
	"github.com/motorpool/fleet/api/outbound"
	"github.com/motorpool/fleet/api/pace"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/roster"
	"github.com/motorpool/fleet/api/traccar"
	"github.com/motorpool/fleet/api/user"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/pipeline/follow"
	"github.com/motorpool/fleet/pipeline/registry"
	"github.com/motorpool/fleet/pipeline/webhook"
)

type serveCommand struct {
	apiSettings
	Check bool `help:"Check the settings, build everything and start nothing."`
}

// apiSettings are those of the interface alone.
type apiSettings struct {
	CORSOrigins     []string `name:"cors-origins" help:"Origins that browsers may call the interface from; none by default." placeholder:"ORIGIN"`
	PublicURL       string   `name:"public-url" help:"Address that people and programs reach this server at, without a path, such as https://fleet.example.com: for links, and access tokens (OAuth) are given under it and for it; by https://, but on this machine alone. Unless given links have that at which a request came in, and access tokens are given only if --http is an address of this machine alone, such as 127.0.0.1:8080, and no proxy is in front." placeholder:"URL"`
	TrustedProxies  []string `help:"Addresses or prefixes of proxies whose X-Forwarded-For is believed; without it all clients behind one share its address, in limits too." placeholder:"PREFIX"`
	QueryMemory     int64    `help:"Memory that one question of the interface may take in ClickHouse, in MiB; what takes more is refused. 0 is no bound." default:"512"`
	RateLimit       int      `help:"Requests that a credential (an API key, the sessions of a person, what was granted to an OAuth client) may make to this process within a minute: so many reads, as many requests of trackers, and a fifth as many writes; all credentials of an account together five times as many. 0 is no limit; 'motorpool account limit' sets that of one account." default:"60000"`
	RosterMemory    int64    `help:"Memory in which current vehicles, devices, classes, locations, rate plans, geofences and customers are kept, with what vehicles show, where they are and what has them, of accounts that ask, in MiB. 0 keeps none: the store answers, more slowly." default:"192"`
	AccountItems    int      `help:"Reports and rows of imports that an account may send to this process within a minute." default:"3000000"`
	AccountMiB      int      `name:"account-mib" help:"The same in MiB of bodies, unpacked." default:"1024"`
	Geocoder        string   `help:"Where addresses come from: offline, nominatim or photon." enum:"offline,nominatim,photon" default:"offline"`
	GeocoderURL     string   `help:"Base address of that server." placeholder:"URL"`
	GeocoderPrivate bool     `help:"That server may be on this machine or in a private network."`
	GeocoderRate    float64  `help:"Requests a second to that server." default:"1"`

	Basemap string `help:"File of map tiles (PMTiles version 3, vector or raster) that the console's map is drawn of. Without it the map has countries and their borders." type:"path" placeholder:"FILE"`

	OutboundNetworks []netip.Prefix `help:"Networks beside the public ones in which servers that somebody names may be, such as 10.20.0.0/16: of addresses, commands to trackers and webhooks." placeholder:"PREFIX"`

	Webhooks    webhookSettings    `embed:"" prefix:"webhook-" group:"Webhooks"`
	APIWebhooks apiWebhookSettings `embed:"" prefix:"webhook-" group:"Webhooks"`

	Traccar    traccarSettings    `embed:"" prefix:"traccar-" group:"Traccar"`
	Encryption encryptionSettings `embed:"" group:"HTTPS"`
	Clients    clientSettings     `embed:"" group:"Clients"`
}

// webhookSettings say where webhooks may go, in the networks of OutboundNetworks and in public.
type webhookSettings struct {
	HTTP  bool     `name:"http" help:"Endpoints may be http:// too, as while one develops."`
	Ports []uint16 `help:"Ports that endpoints may be on." default:"443,8443"`
}

// apiWebhookSettings are those of the interface alone.
type apiWebhookSettings struct {
	Endpoints int `help:"Webhook endpoints that an account may have." default:"100"`
}

// traccarSettings say which Traccar server commands to trackers go through.
type traccarSettings struct {
	URL          string `help:"Base address of the Traccar server through which commands go to the trackers that 'motorpool device' said are an account's." placeholder:"URL"`
	Token        string `help:"Token of a user of Traccar that may command them; better in a file or the environment, as others see command lines."`
	TokenFile    string `help:"File whose first line is the token." type:"path"`
	User         string `help:"User of Traccar, in the place of a token."`
	PasswordFile string `help:"File whose first line is the user's password." type:"path"`
	Private      bool   `help:"That server may be on this machine or in a private network."`
}

// client is the client of that server; nil if there is none.
func (c *traccarSettings) client(networks []netip.Prefix) (*traccar.Client, error) {
	if c.URL == "" {
		return nil, nil
	}
	config := traccar.Config{URL: c.URL, Token: c.Token, User: c.User, Private: c.Private, Networks: networks}
	for _, secret := range []struct {
		file string
		to   *string
	}{{c.TokenFile, &config.Token}, {c.PasswordFile, &config.Password}} {
		if secret.file == "" {
			continue
		}
		text, err := os.ReadFile(secret.file)
		if err != nil {
			return nil, fmt.Errorf("read the secret of Traccar: %w", err)
		}
		line, _, _ := strings.Cut(string(text), "\n")
		*secret.to = strings.TrimSpace(line)
	}
	client, err := traccar.New(config)
	if err != nil {
		return nil, fmt.Errorf("--traccar-url: %w", err)
	}
	return client, nil
}

// clientSettings bound what one client can keep from the others.
type clientSettings struct {
	MaxConnections           int           `help:"Connections at once; those above it are refused." default:"4096"`
	MaxConnectionsPerAddress int           `help:"Of them from one IPv4 address or one /64 of IPv6. Behind a proxy all clients share its address: loopback and what --trusted-proxies names is not counted, so bound clients in the proxy." default:"256"`
	HeadTime                 time.Duration `help:"The head of a request must be there within so long." default:"10s"`
	IdleTime                 time.Duration `help:"A connection is closed when nothing is asked on it for so long." default:"2m"`
	BodyTime                 time.Duration `help:"A body must be there within so long, and what its bytes take at --body-rate." default:"20s"`
	BodyMemory               int64         `help:"Bytes of bodies that are worked on at once, half of them of one account; the next ones wait some seconds and are then refused. While it is worked on a byte can take a hundred." default:"8388608"`
	BodyRate                 int           `help:"Bytes a second that a phone in a bad network still sends, and takes of an answer." default:"4096"`
	MaxDownloads             int           `help:"Downloads and long searches that one account may have under way; the next ones wait some seconds and are then refused." default:"2"`
	ClientStall              time.Duration `help:"A client that takes nothing of its answer for so long is cut off." default:"30s"`
}

func (*serveCommand) Help() string {
	return `
    apps   ──HTTP──► /v1     ──► ClickHouse
    phones ──HTTP──► /osmand ──► Kafka

Any number of these may run behind a load balancer.`
}

// Run serves until ctx ends, and then until the requests under way are answered.
func (c *serveCommand) Run(ctx context.Context, s settings, o output) error {
	if err := c.Encryption.Validate(); err != nil {
		return err
	}
	basemap, err := console.OpenBasemap(c.Basemap)
	if err != nil {
		return fmt.Errorf("--basemap: %w", err)
	}
	defer basemap.Close()
	collectSooner(c.RosterMemory)
	log := s.logger(o.err)
	p, err := connect(ctx, &s, false, log)
	if err != nil {
		return err
	}
	defer p.close()
	half, err := p.newServe(ctx, c.apiSettings, basemap, isTerminal(o.err))
	if err != nil {
		return err
	}
	defer half.close()
	wanted := half.wanted()
	maps.Copy(wanted, p.readBroker())
	ops, err := p.newOps(p.readStore(), wanted)
	if err != nil {
		return err
	}
	if c.Check {
		ops.close()
		fmt.Fprintln(o.out, "the settings are good")
		return nil
	}
	log.Info("serving", "http", half.listener.addr(), "ops", ops.addr())
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return half.run(ctx) })
	all.Go(func() error { return p.room.run(ctx) })
	all.Go(func() error { return ops.run(ctx) })
	return all.Wait()
}

// serveHalf is the interface, ready to run.
type serveHalf struct {
	listener *listener
	https    *encryption // nil: it is served by HTTP
	routes   *api.API
	live     *liveHub
	roster   *roster.Roster  // nil: the store answers
	geocoder *geocode.Online // nil: addresses come from the gazetteer alone
	flush    func()          // of traces
}

// mostTried is how many positions and measurements a rule may be tried against: some ten seconds of one core.
const mostTried = 5_000_000

// newServe makes the half that answers. quiet says that somebody reads its log as it comes, and looks for what went
// wrong.
func (p *platform) newServe(
	ctx context.Context, c apiSettings, basemap *console.Basemap, quiet bool,
) (*serveHalf, error) {
	if err := c.Clients.Validate(); err != nil {
		return nil, err
	}
	half := &serveHalf{}
	var err error
	if half.https, err = newEncryption(&c.Encryption, p.settings.Data, p.log); err != nil {
		return nil, err
	}
	config := rest.DefaultConfig()
	config.Version, config.CORSOrigins, config.QueryMemory = version, c.CORSOrigins, c.QueryMemory<<20
	config.Quiet = quiet
	config.Long, config.LongShare = p.settings.DB.DownloadConnections, c.Clients.MaxDownloads
	config.BodyMemory = c.Clients.BodyMemory
	config.Pace = pace.Pace{BodyTime: c.Clients.BodyTime, BodyRate: c.Clients.BodyRate, Stall: c.Clients.ClientStall}
	if c.RateLimit < 0 || c.RateLimit > auth.MaxRate {
		return nil, fmt.Errorf("--rate-limit: must be between 0 and %d", auth.MaxRate)
	}
	config.Auth.Limits = auth.LimitsOf(c.RateLimit)
	config.Auth.Volume.Items, config.Auth.Volume.Bytes = c.AccountItems, c.AccountMiB<<20
	if config.TrustedProxies, err = prefixes(c.TrustedProxies); err != nil {
		return nil, fmt.Errorf("--trusted-proxies: %w", err)
	}
	long, err := p.pool(ctx, p.settings.DB.DownloadConnections)
	if err != nil {
		return nil, err
	}
	deps := api.Deps{
		Deps:      rest.Deps{DB: p.db, Long: long, IDs: p.ids, Log: p.log, Metrics: p.metrics},
		Publisher: publisher{p.feed}, Reader: newRecordReader(),
		Changes: changes{p.feed, p.kafka.Changes}, Events: events{p.feed, p.kafka.Events},
		// Nothing is read of what accounts have laid down until somebody tries a rule.
		Trials: &follow.Trials{Derive: derive.DefaultConfig(), DB: long, Policies: registry.NewPolicies(long), Log: p.log,
			Most: mostTried},
		Basemap: basemap,
	}
	if deps.Geocoder, err = half.newGeocoder(p, c); err != nil {
		return nil, err
	}
	if deps.Roster, err = p.newRoster(c.RosterMemory); err != nil {
		return nil, err
	}
	half.roster = deps.Roster
	if deps.Traccar, err = c.Traccar.client(c.OutboundNetworks); err != nil {
		return nil, err
	}
	deps.Webhooks = hook.Config{Reach: outbound.Reach{Networks: c.OutboundNetworks, Ports: c.Webhooks.Ports},
		Plain: c.Webhooks.HTTP, Most: c.APIWebhooks.Endpoints,
		Commands: &webhook.Commands{DB: p.db, Publisher: p.feed, Topic: p.kafka.Deliveries}}
	if deps.Webhooks.Keys, err = p.settings.sealKeys(); err != nil {
		return nil, err
	}
	deps.OAuth = oauth.Config{Keys: deps.Webhooks.Keys,
		Issuer: p.settings.publicURL(c.PublicURL, half.scheme(), len(c.TrustedProxies) > 0)}
	deps.Users = user.Config{PublicURL: strings.TrimRight(c.PublicURL, "/"), Keys: deps.Webhooks.Keys}
	if err := deps.OAuth.Validate(); err != nil {
		return nil, fmt.Errorf("--public-url: %w", err)
	}
	if deps.OAuth.Issuer == "" {
		p.log.Warn("no access tokens are given by OAuth: say by --public-url at which address clients reach this server",
			"http", p.settings.HTTP)
	}
	if deps.Wrap, half.flush, err = p.settings.tracing(ctx); err != nil {
		return nil, err
	}
	if half.live, err = p.newLiveHub(ctx); err != nil {
		return nil, err
	}
	deps.Stream, deps.Refused = half.live.hub, p.room.Refused
	if half.routes, err = api.New(config, deps); err != nil {
		return nil, err
	}
	half.listener, err = listen(p.settings.HTTP, half.routes.Handler(), c.Clients.manners(config.TrustedProxies), p.log)
	if err != nil {
		return nil, err
	}
	if half.https != nil {
		half.listener.server.TLSConfig = half.https.config
		if err := half.listenPlain(c, config.TrustedProxies, p.log); err != nil {
			half.listener.close()
			return nil, err
		}
	}
	p.metrics.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "motorpool_http_connections",
			Help: "Connections of clients that are open."},
			func() float64 { return float64(half.listener.socket.open()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "motorpool_http_connections_refused_total",
			Help: "Connections above the bounds."},
			func() float64 { return float64(half.listener.socket.refused.Load()) }))
	return half, nil
}

// newRoster makes the memory of current records; nil if it may take none.
func (p *platform) newRoster(mib int64) (*roster.Roster, error) {
	if mib == 0 {
		return nil, nil
	}
	config := roster.DefaultConfig()
	config.Memory = mib << 20
	return roster.New(config, p.db, p.metrics, p.log)
}

// listenPlain opens the listener that leads from HTTP to HTTPS, if one is asked for.
func (h *serveHalf) listenPlain(c apiSettings, proxies []netip.Prefix, log *slog.Logger) (err error) {
	if c.Encryption.HTTPRedirect == "" {
		return nil
	}
	handler := h.https.wrap(h.https.redirectTo(h.listener.addr()))
	h.https.redirect, err = listen(c.Encryption.HTTPRedirect, handler, c.Clients.manners(proxies), log)
	if err != nil {
		return fmt.Errorf("--http-redirect: %w", err)
	}
	return nil
}

// scheme is that of the addresses of the interface.
func (h *serveHalf) scheme() string {
	if h.https != nil {
		return "https"
	}
	return "http"
}

// publicURL is the address at which clients reach the server: the one that was given, or else that of programs on this
// machine, if the interface listens to these alone and not to a proxy, which others reach. By which name a network
// reaches it nothing but a setting can say: without it there is none.
func (s *settings) publicURL(given, scheme string, proxied bool) string {
	if given != "" {
		return strings.TrimRight(given, "/")
	}
	host, port, err := net.SplitHostPort(s.HTTP)
	ip, _ := netip.ParseAddr(host)
	if err != nil || proxied || port == "0" || host != "localhost" && !ip.IsLoopback() {
		return ""
	}
	return oauth.Written(scheme + "://" + net.JoinHostPort(host, port))
}

// Validate says which setting is none; what the interface uses itself is validated there.
func (c *clientSettings) Validate() error {
	if c.MaxConnections < 1 || c.MaxConnectionsPerAddress < 1 || c.HeadTime <= 0 || c.IdleTime <= 0 {
		return errors.New("--max-connections, --max-connections-per-address, --head-time and --idle-time must be positive")
	}
	return nil
}

// manners are what the interface's listener asks of clients.
func (c clientSettings) manners(proxies []netip.Prefix) manners {
	return manners{Head: c.HeadTime, Idle: c.IdleTime,
		Crowd: crowd{All: c.MaxConnections, PerAddress: c.MaxConnectionsPerAddress, Uncounted: proxies}}
}

func (h *serveHalf) newGeocoder(p *platform, c apiSettings) (rest.Geocoder, error) {
	offline, err := geocode.NewGazetteer()
	if err != nil || c.Geocoder == "offline" {
		return offline, err
	}
	config := geocode.DefaultConfig()
	config.Provider, config.URL, config.Private, config.Networks, config.PerSecond =
		c.Geocoder, c.GeocoderURL, c.GeocoderPrivate, c.OutboundNetworks, c.GeocoderRate
	h.geocoder, err = geocode.NewOnline(config, offline, p.db, p.log)
	return h.geocoder, err
}

func (h *serveHalf) run(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return h.listener.run(ctx) })
	all.Go(func() error { return h.live.run(ctx) })
	all.Go(func() error { return h.routes.Run(ctx) })
	if h.https != nil {
		all.Go(func() error { h.https.watch(ctx); return nil })
		if h.https.redirect != nil {
			all.Go(func() error { return h.https.redirect.run(ctx) })
		}
	}
	if h.geocoder != nil {
		all.Go(func() error { return h.geocoder.Run(ctx) })
	}
	return all.Wait()
}

// wanted are what /readyz tells of the interface beside what it needs.
func (h *serveHalf) wanted() checks {
	if h.roster == nil {
		return checks{}
	}
	return checks{"roster": h.roster.Check}
}

// close gives the address free, stores what is only in memory, and sends the last traces.
func (h *serveHalf) close() {
	h.listener.close()
	if h.https != nil && h.https.redirect != nil {
		h.https.redirect.close()
	}
	h.routes.Close(context.Background())
	h.flush()
}
