package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet/api/console"
)

type upCommand struct {
	apiSettings
	Demo               bool   `help:"Make a demo: a rental business with its vehicles, and buses and others that are tracked; all drive real recordings, as if that happened now."`
	ExternalKafka      bool   `help:"Kafka runs elsewhere, where --kafka says; start none."`
	ExternalClickHouse bool   `name:"external-clickhouse" help:"ClickHouse runs elsewhere, where --clickhouse says; start none."`
	BIUser             bool   `name:"bi-user" help:"Deprecated, for 'motorpool bi user create', which makes users of one account: make a ClickHouse user 'bi', read-only, of all accounts. Who has its password can read all accounts, and the files of this program's user: the embedded engine cannot forbid that."`
	BIHTTP             string `name:"bi-http" help:"Where the embedded ClickHouse speaks HTTP to the users that 'motorpool bi user create' makes, if there are any." default:"127.0.0.1:8124"`
	WebhookHold        bool   `help:"Send no webhooks: what happens waits, for seven days. For a copy that was restored beside the system that it is of." group:"Webhooks"`
	WebhookWorkers     int    `help:"Requests to webhook endpoints that are under way at once." default:"256" group:"Webhooks"`
	Check              bool   `help:"Check the settings and start nothing."`
}

func (*upCommand) Help() string {
	return `
    trackers ──► [ broker ──► pipeline ──► ClickHouse ◄── interface ] ◄── apps

Everything on this machine, with its data in one folder. The first start makes the folder, the passwords, the database
and the topics; later starts find them. The engines listen on loopback only. Ctrl-C stops everything in order; a second
Ctrl-C stops at once, and loses nothing either.

  motorpool up --demo
  motorpool up --data /var/lib/motorpool --http 0.0.0.0:8080`
}

// startTime is what the engines are given to start: after an unclean stop the broker reads its whole log.
const startTime = 5 * time.Minute

// Run starts everything, says where it is, and returns when ctx has ended and everything has stopped: the demo and the
// pipeline first, then the interface, then the connections, then the engines.
func (c *upCommand) Run(ctx context.Context, s settings, o output) error {
	if err := c.Encryption.Validate(); err != nil {
		return err
	}
	basemap, err := console.OpenBasemap(c.Basemap)
	if err != nil {
		return fmt.Errorf("--basemap: %w", err)
	}
	defer basemap.Close()
	log := s.logger(o.err)
	external := engineChoice{Kafka: c.ExternalKafka, ClickHouse: c.ExternalClickHouse, BIUser: c.BIUser,
		BIHTTP: c.BIHTTP}
	if c.Check {
		return c.check(&s, external, o.out)
	}
	release, err := openData(s.Data)
	if err != nil {
		return err
	}
	defer release()
	if err := s.makeSealKey(); err != nil {
		return err
	}
	var shown *demoShow
	if c.Demo {
		if shown, err = loadShow(); err != nil {
			return err
		}
	}
	starting, started := context.WithTimeout(ctx, startTime)
	defer started()
	engines, err := startEngines(starting, &s, external, consumerGroups(consumerGroup), log)
	if err != nil {
		return err
	}
	defer engines.stop()
	if err := migrateAll(starting, &s, s.topics(!c.ExternalKafka), log); err != nil {
		return err
	}
	engines.syncTokens()
	p, err := connect(starting, &s, !c.ExternalKafka, log)
	if err != nil {
		return err
	}
	defer p.close()
	ingest, err := p.newIngest(starting, consumerGroup, true)
	if err != nil {
		return err
	}
	serve, err := p.newServe(ctx, c.apiSettings, basemap, isTerminal(o.err))
	if err != nil {
		return err
	}
	defer serve.close()
	notify, err := p.newNotify(starting, consumerGroup, notifySettings{networks: c.OutboundNetworks, webhooks: c.Webhooks,
		workers: c.WebhookWorkers, routes: serve.routes, policies: ingest.policies})
	if err != nil {
		return err
	}
	ops, err := p.newOps(ingest.checks(), serve.wanted())
	if err != nil {
		return err
	}
	defer ops.close()
	started()

	all, running := errgroup.WithContext(ctx)
	// The interface outlives the pipeline, and answers until that has stopped.
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	all.Go(func() error {
		defer stopServing()
		return ingest.run(running)
	})
	if c.WebhookHold {
		log.Warn("webhooks are held: nothing is sent until 'up' is started without --webhook-hold")
	} else {
		all.Go(func() error { return notify.run(running) })
	}
	all.Go(func() error { return serve.run(serving) })
	all.Go(func() error { return p.room.run(serving) })
	all.Go(func() error { return ops.run(serving) })
	all.Go(func() error { return engines.watch(running) })
	all.Go(func() error {
		screen := startScreen{settings: &s, external: external, gate: engines.gate,
			scheme: serve.scheme(), http: serve.listener.addr(), ops: ops.addr(),
			color: isTerminal(o.out)}
		if shown == nil {
			return screen.print(o.out)
		}
		return ignoreStop(running, shown.run(running, p, &screen, func() error { return screen.print(o.out) }))
	})
	if err := all.Wait(); err != nil {
		return err
	}
	log.Info("stopped")
	return nil
}

// ignoreStop turns the error of work that was cut short by a stop into none.
func ignoreStop(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// check says what can be said without starting anything.
func (c *upCommand) check(s *settings, external engineChoice, w io.Writer) error {
	var problems []error
	if !external.ClickHouse {
		problems = append(problems, checkLibrary())
	}
	problems = append(problems, s.store().Validate(), s.topics(true).Validate())
	if _, err := loadShow(); c.Demo {
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "the settings are good")
	return err
}

// startScreen is what `up` says when everything runs.
type startScreen struct {
	settings  *settings
	external  engineChoice
	gate      *biGate // nil if ClickHouse runs elsewhere
	http, ops string
	scheme    string // of http
	color     bool
	accounts  []shownAccount // of the demo; none without one
}

// shownAccount is an account of the demo.
type shownAccount struct {
	name, what string
	vehicles   int
	more       string // what else there is, if anything
	keyFile    string
	newKey     string // shown once
	signIn     string // where its owner is signed in, once
}

func (v *startScreen) print(w io.Writer) error {
	var text strings.Builder
	line := func(name, format string, args ...any) {
		if v.color {
			name = "\x1b[1m" + name + "\x1b[0m" + strings.Repeat(" ", max(0, 12-len(name)))
		}
		fmt.Fprintf(&text, "  %-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	base := v.base()
	text.WriteString("\nMotorpool is up. Ctrl-C stops it.\n\n")
	line("console", "%s", base)
	line("interface", "%s/v1, reference at %s/docs", base, base)
	line("health", "http://%s/readyz, /metrics", reachable(v.ops))
	line("Kafka", "%s%s", strings.Join(v.settings.Kafka, ", "), elsewhere(v.external.Kafka))
	if v.external.ClickHouse {
		line("ClickHouse", "%s%s", strings.Join(v.settings.ClickHouse, ", "), elsewhere(true))
	} else {
		line("ClickHouse", "%s, HTTP %s", v.settings.ClickHouse[0], v.settings.ClickHouseHTTP)
		if v.external.BIUser {
			line("", "user bi reads, its password is in %s", filepath.Join(v.settings.Data, biPasswordFile))
		}
	}
	if v.gate != nil && v.gate.gate != nil {
		line("analysts", "HTTP %s, for %s", v.gate.gate.Addr(), v.gate.names())
	}
	line("data", "%s", v.settings.Data)
	if v.accounts != nil {
		for _, a := range v.accounts {
			line("demo", "%s: %d vehicles in the account %q; its key is kept in %s", a.what, a.vehicles, a.name, a.keyFile)
			if a.more != "" {
				line("", "%s", a.more)
			}
			if a.signIn != "" {
				line("", "see it, once, within the hour: %s", a.signIn)
			}
			if a.newKey != "" {
				line("", "%s (shown this once)", a.newKey)
			}
		}
		key := func(i int) string { return fmt.Sprintf(`-H "Authorization: Bearer $(cat %s)"`, v.accounts[i].keyFile) }
		fmt.Fprintf(&text, "\nTry:\n  curl -s %s \"%s/v1/bookings?status=active&per_page=3\"\n", key(0), base)
		fmt.Fprintf(&text, "  curl -s %s \"%s/v1/positions/latest?near=30.27,-97.74&radius_m=2000\"\n", key(1), base)
		fmt.Fprintf(&text, "  curl -s %s %s/v1/openapi.json\n\n", key(0), base)
	} else {
		program, flags := v.again()
		fmt.Fprintf(&text, "\nTry, in another terminal:\n  %[1]s key create --account Acme --scopes admin%[2]s\n"+
			"  %[1]s replay --account Acme --register --wait%[2]s drive.csv.gz\n  %[1]s doctor%[2]s\n\n", program, flags)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// base is the address of the interface, from this machine.
func (v *startScreen) base() string { return v.scheme + "://" + reachable(v.http) }

// again returns how to call this program for what runs here, from any folder.
func (v *startScreen) again() (program, flags string) {
	program, err := os.Executable()
	if err != nil {
		program = "motorpool"
	}
	flags = " --data " + v.settings.Data
	if kafka := strings.Join(v.settings.Kafka, ","); kafka != "127.0.0.1:9092" {
		flags += " --kafka " + kafka
	}
	if store := strings.Join(v.settings.ClickHouse, ","); store != "127.0.0.1:9000" {
		flags += " --clickhouse " + store
	}
	return program, flags
}

func elsewhere(external bool) string {
	if external {
		return " (runs elsewhere)"
	}
	return ""
}

// reachable turns an address that listens everywhere into one that can be opened.
func reachable(addr string) string {
	for _, any := range []string{"0.0.0.0:", "[::]:"} {
		if port, ok := strings.CutPrefix(addr, any); ok {
			return "127.0.0.1:" + port
		}
	}
	return addr
}
