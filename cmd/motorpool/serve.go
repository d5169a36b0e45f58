package main

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet/api"
	"github.com/motorpool/fleet/api/geocode"
)

type serveCommand struct {
	apiSettings
	Check bool `help:"Check the settings, build everything and start nothing."`
}

// apiSettings are those of the interface alone.
type apiSettings struct {
	CORSOrigins     []string `name:"cors-origins" help:"Origins that browsers may call the interface from; none by default." placeholder:"ORIGIN"`
	TrustedProxies  []string `help:"Addresses or prefixes of proxies whose X-Forwarded-For is believed; without it all clients behind one share its address, in limits too." placeholder:"PREFIX"`
	QueryMemory     int64    `help:"Memory that one question of the interface may take in ClickHouse, in MiB; what takes more is refused. 0 is no bound." default:"512"`
	AccountItems    int      `help:"Reports and rows of imports that an account may send to this process within a minute." default:"3000000"`
	AccountMiB      int      `name:"account-mib" help:"The same in MiB of bodies, unpacked." default:"1024"`
	Geocoder        string   `help:"Where addresses come from: offline, nominatim or photon." enum:"offline,nominatim,photon" default:"offline"`
	GeocoderURL     string   `help:"Base address of that server." placeholder:"URL"`
	GeocoderPrivate bool     `help:"That server may be on this machine or in a private network."`
	GeocoderRate    float64  `help:"Requests a second to that server." default:"1"`
}

func (*serveCommand) Help() string {
	return `
    apps   ──HTTP──► /v1     ──► ClickHouse
    phones ──HTTP──► /osmand ──► Kafka

Any number of these may run behind a load balancer.`
}

// Run serves until ctx ends, and then until the requests under way are answered.
func (c *serveCommand) Run(ctx context.Context, s settings, o output) error {
	log := s.logger(o.err)
	p, err := connect(ctx, &s, false, log)
	if err != nil {
		return err
	}
	defer p.close()
	half, err := p.newServe(ctx, c.apiSettings)
	if err != nil {
		return err
	}
	defer half.close()
	ops, err := p.newOps(p.readStore(), p.readBroker())
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
	all.Go(func() error { return ops.run(ctx) })
	return all.Wait()
}

// serveHalf is the interface, ready to run.
type serveHalf struct {
	listener *listener
	routes   *api.API
	live     *liveHub
	geocoder *geocode.Online // nil: addresses come from the gazetteer alone
	flush    func()          // of traces
}

func (p *platform) newServe(ctx context.Context, c apiSettings) (*serveHalf, error) {
	half := &serveHalf{}
	config := api.DefaultConfig()
	config.Version, config.CORSOrigins, config.QueryMemory = version, c.CORSOrigins, c.QueryMemory<<20
	config.Auth.Volume.Items, config.Auth.Volume.Bytes = c.AccountItems, c.AccountMiB<<20
	var err error
	if config.TrustedProxies, err = prefixes(c.TrustedProxies); err != nil {
		return nil, fmt.Errorf("--trusted-proxies: %w", err)
	}
	deps := api.Deps{DB: p.db, IDs: p.ids, Publisher: publisher{p.feed}, Republisher: publisher{p.feed},
		Changes: changes{p.feed, p.kafka.Changes}, Events: events{p.feed, p.kafka.Events}, Log: p.log, Metrics: p.metrics}
	if deps.Geocoder, err = half.newGeocoder(p, c); err != nil {
		return nil, err
	}
	if deps.Wrap, half.flush, err = p.settings.tracing(ctx); err != nil {
		return nil, err
	}
	if half.live, err = p.newLiveHub(ctx); err != nil {
		return nil, err
	}
	deps.Stream = half.live.hub
	if half.routes, err = api.New(config, deps); err != nil {
		return nil, err
	}
	half.listener, err = listen(p.settings.HTTP, half.routes.Handler(), p.log)
	return half, err
}

func (h *serveHalf) newGeocoder(p *platform, c apiSettings) (api.Geocoder, error) {
	offline, err := geocode.NewGazetteer()
	if err != nil || c.Geocoder == "offline" {
		return offline, err
	}
	config := geocode.DefaultConfig()
	config.Provider, config.URL, config.Private, config.PerSecond = c.Geocoder, c.GeocoderURL, c.GeocoderPrivate, c.GeocoderRate
	h.geocoder, err = geocode.NewOnline(config, offline, p.db, p.log)
	return h.geocoder, err
}

func (h *serveHalf) run(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return h.listener.run(ctx) })
	all.Go(func() error { return h.live.run(ctx) })
	all.Go(func() error { return h.routes.Run(ctx) })
	if h.geocoder != nil {
		all.Go(func() error { return h.geocoder.Run(ctx) })
	}
	return all.Wait()
}

// close gives the address free and sends the last traces.
func (h *serveHalf) close() {
	h.listener.close()
	h.flush()
}
