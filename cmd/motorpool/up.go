package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

type upCommand struct {
	apiSettings
	Demo               bool `help:"Drive a demo fleet: real recordings, in a loop, as if they happened now."`
	ExternalKafka      bool `help:"Kafka runs elsewhere, where --kafka says; start none."`
	ExternalClickHouse bool `name:"external-clickhouse" help:"ClickHouse runs elsewhere, where --clickhouse says; start none."`
	BIUser             bool `name:"bi-user" help:"Make a ClickHouse user 'bi' for analysts, read-only. Who has its password can read all accounts, and the files of this program's user: the embedded engine cannot forbid that."`
	Check              bool `help:"Check the settings and start nothing."`
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
	log := s.logger(o.err)
	external := engineChoice{Kafka: c.ExternalKafka, ClickHouse: c.ExternalClickHouse, BIUser: c.BIUser}
	if c.Check {
		return c.check(&s, external, o.out)
	}
	release, err := openData(s.Data)
	if err != nil {
		return err
	}
	defer release()
	var drive *demoFleet
	if c.Demo {
		if drive, err = loadDemo(); err != nil {
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
	serve, err := p.newServe(ctx, c.apiSettings)
	if err != nil {
		return err
	}
	defer serve.close()
	ops, err := p.newOps(ingest.checks(), nil)
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
	all.Go(func() error { return serve.run(serving) })
	all.Go(func() error { return p.room.run(serving) })
	all.Go(func() error { return ops.run(serving) })
	all.Go(func() error { return engines.watch(running) })
	all.Go(func() error {
		screen := startScreen{settings: &s, external: external, http: serve.listener.addr(), ops: ops.addr(), color: isTerminal(o.out)}
		if drive == nil {
			return screen.print(o.out)
		}
		uniqueIDs, err := c.prepareDemo(running, p, drive, &screen, log)
		if err == nil {
			err = screen.print(o.out)
		}
		if err != nil {
			return ignoreStop(running, err)
		}
		all.Go(func() error {
			made, err := newRecords(p.db)
			if err != nil {
				return err
			}
			return (&demoBusiness{records: made, drive: drive, seed: 1, years: 2, atOnce: 1, log: log}).carryOn(running)
		})
		return drive.play(running, uniqueIDs, time.Now, func(ctx context.Context, due []fleet.Report) error {
			return p.feed.Publish(ctx, p.kafka.Positions, due)
		}, log)
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
	if _, err := loadDemo(); c.Demo {
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "the settings are good")
	return err
}

// prepareDemo makes the demo's account, vehicles, devices and key where they are missing.
func (c *upCommand) prepareDemo(ctx context.Context, p *platform, drive *demoFleet, screen *startScreen, log *slog.Logger) (map[string]string, error) {
	all, err := newRecords(p.db)
	if err != nil {
		return nil, err
	}
	account, err := all.account(ctx, demoAccount, true)
	if err != nil {
		return nil, err
	}
	uniqueIDs, err := all.register(ctx, account, drive.registrations, func(int) {})
	if err != nil {
		return nil, err
	}
	screen.vehicles = len(uniqueIDs)
	screen.keyFile = filepath.Join(p.settings.Data, demoKeyFile)
	if _, err := os.Stat(screen.keyFile); err == nil {
		return uniqueIDs, nil
	}
	_, token, err := all.createKey(ctx, account, []auth.Scope{auth.Admin}, record.APIKey{Name: "demo"})
	if err != nil {
		return nil, err
	}
	screen.newKey = token
	return uniqueIDs, writeSecret(screen.keyFile, token)
}

// startScreen is what `up` says when everything runs.
type startScreen struct {
	settings  *settings
	external  engineChoice
	http, ops string
	color     bool
	vehicles  int    // of the demo; 0 without one
	keyFile   string // of the demo
	newKey    string // shown once
}

func (v *startScreen) print(w io.Writer) error {
	var text strings.Builder
	line := func(name, format string, args ...any) {
		if v.color {
			name = "\x1b[1m" + name + "\x1b[0m" + strings.Repeat(" ", max(0, 12-len(name)))
		}
		fmt.Fprintf(&text, "  %-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	base := "http://" + reachable(v.http)
	text.WriteString("\nMotorpool is up. Ctrl-C stops it.\n\n")
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
	line("data", "%s", v.settings.Data)
	if v.vehicles > 0 {
		line("demo", "%d vehicles in the account %q; its key is kept in %s", v.vehicles, demoAccount, v.keyFile)
		if v.newKey != "" {
			line("", "%s (shown this once)", v.newKey)
		}
		key := fmt.Sprintf(`-H "Authorization: Bearer $(cat %s)"`, v.keyFile)
		fmt.Fprintf(&text, "\nTry:\n  curl -s %s \"%s/v1/vehicles?per_page=3\"\n", key, base)
		fmt.Fprintf(&text, "  curl -s %s \"%s/v1/positions/latest?near=30.27,-97.74&radius_m=2000\"\n", key, base)
		fmt.Fprintf(&text, "  curl -s %s %s/v1/openapi.json\n\n", key, base)
	} else {
		program, flags := v.again()
		fmt.Fprintf(&text, "\nTry, in another terminal:\n  %[1]s key create --account Acme --scopes admin%[2]s\n"+
			"  %[1]s replay --account Acme --register --wait%[2]s drive.csv.gz\n  %[1]s doctor%[2]s\n\n", program, flags)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

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
