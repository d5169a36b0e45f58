package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/seed"
	"github.com/motorpool/fleet/query"
)

type demoCommand struct {
	Seed  uint64 `help:"Another seed makes up another business." default:"1"`
	Years int    `help:"How many years of it." default:"2"`
}

func (*demoCommand) Help() string {
	return `Makes up a rental business of 24 cars, vans and scooters, in the account Demo: customers, two years of bookings with payments,
damages and cancellations, maintenance and costs, and bookings of the next two months. It goes through the same commands as
the interface, with a clock that stands where the story is, so that histories and the ledger are as if it had happened.
The same seed and day give the same business; run again, it goes on where it stopped, and does what has come due since.

"motorpool up --demo" does the same when it starts, and has the vehicles drive as they are rented.`
}

// Validate refuses what cannot be made up.
func (c *demoCommand) Validate() error {
	if c.Years < 1 || c.Years > 10 {
		return fmt.Errorf("--years is 1 to 10, not %d", c.Years)
	}
	return nil
}

func (c *demoCommand) Run(ctx context.Context, s settings, o output) error {
	rentals, err := loadRentals()
	if err != nil {
		return err
	}
	return withRecords(ctx, s, func(r *records) error {
		bar := newBar(o, "bookings", 1)
		begun, all := time.Now(), atomic.Int64{}
		b := &demoBusiness{records: r, fleet: rentals, seed: c.Seed, years: c.Years, atOnce: 4,
			log: slog.New(slog.DiscardHandler)}
		if err := b.open(ctx); err != nil {
			return err
		}
		b.business.Progress = func(done, of int) {
			bar.ChangeMax(of)
			_ = bar.Set(done)
			all.Store(int64(of))
		}
		if err := b.business.Make(ctx, time.Now()); err != nil {
			return err
		}
		_ = bar.Finish()
		_, err := fmt.Fprintf(o.out, "%d bookings of %d years, in %s\n", all.Load(), c.Years,
			time.Since(begun).Round(time.Second))
		return err
	})
}

// demoBusiness makes up the past and the present of the demo's rental business, and goes on with it.
type demoBusiness struct {
	*records
	fleet  *rentalFleet
	seed   uint64
	years  int
	atOnce int // vehicles
	log    *slog.Logger

	business *seed.Business // once it is open
}

// demoAnchor is the member of the account's metadata that says when its business was begun to be made up.
const demoAnchor = "demo_anchor"

// open makes the account, its vehicles and their trackers where they are missing, and the plan of what they do.
func (b *demoBusiness) open(ctx context.Context) error {
	account, err := b.account(ctx, demoAccount, true)
	if err != nil {
		return err
	}
	const zoneName = "America/Chicago"
	branches := b.fleet.places(zoneName)
	rec, err := b.accounts.Update(ctx, commandLine, account, uint64(account), 0,
		func(r *record.Record[record.Account]) error {
			if r.Body.Metadata[demoAnchor] != "" {
				return nil
			}
			if r.Body.Metadata == nil {
				r.Body.Metadata = map[string]string{}
			}
			r.Body.Metadata[demoAnchor] = time.Now().UTC().Format(time.RFC3339)
			if r.Body.Timezone == "" || r.Body.Timezone == "UTC" {
				r.Body.Timezone = zoneName
			}
			if r.Body.Currency == "" {
				r.Body.Currency = "USD"
			}
			if r.Body.Papers == nil {
				r.Body.Papers = &record.PaperSettings{PaperSeller: record.PaperSeller{LegalName: "Demo Rentals",
					Address: branches[0].Location.Address, Email: "rentals@demo.example"}}
			}
			return nil
		})
	if err != nil {
		return err
	}
	anchor, err := time.Parse(time.RFC3339, rec.Body.Metadata[demoAnchor])
	if err != nil {
		return fmt.Errorf("metadata %s of the account: %w", demoAnchor, err)
	}
	zone, err := time.LoadLocation(zoneName)
	if err != nil {
		return err
	}
	if _, err := b.register(ctx, account, b.fleet.registrations, func(int) {}); err != nil {
		return err
	}
	known, err := query.ExternalRefs(ctx, b.db, account, recordingSystem)
	if err != nil {
		return err
	}
	cars, err := b.fleet.cars(known.Vehicles)
	if err != nil {
		return err
	}
	b.business = &seed.Business{Account: account, Plan: seed.New(b.seed, anchor, b.years, cars, zone), Cars: cars,
		Branches: branches, Since: anchor,
		AtOnce: b.atOnce, Open: func(node uint64, now func() time.Time) (*desk.Desk, error) {
			return openDesk(b.db, node, now, b.log)
		}}
	return nil
}

// openDesk opens a desk with a clock of its own.
func openDesk(db driver.Conn, node uint64, now func() time.Time, log *slog.Logger) (*desk.Desk, error) {
	cfg := record.DefaultConfig()
	cfg.Log = log
	store, err := record.NewStore(cfg, db, fleet.NewIDSource(node, now), now)
	if err != nil {
		return nil, err
	}
	return desk.New(store, db, now, log), nil
}

// demoEvery is how often the business does what has come due.
const demoEvery = 30 * time.Second

// make makes the business up to now, and says whether that stands: not if ctx ends before.
func (b *demoBusiness) make(ctx context.Context) bool {
	ticker := time.NewTicker(demoEvery)
	defer ticker.Stop()
	b.log.Info("the demo's two years of business are brought up to now")
	begun := time.Now()
	made := b.insist(ctx, ticker, func() error { return b.business.Make(ctx, begun) })
	if made {
		b.log.Info("the demo has two years of bookings", "seconds", int(time.Since(begun).Seconds()))
	}
	return made
}

// keep does what has come due, until ctx ends.
func (b *demoBusiness) keep(ctx context.Context) {
	ticker := time.NewTicker(demoEvery)
	defer ticker.Stop()
	for b.insist(ctx, ticker, func() error { return b.business.Keep(ctx, time.Now()) }) {
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// insist does something until it succeeds, and says whether it has: not if ctx ends before.
func (b *demoBusiness) insist(ctx context.Context, ticker *time.Ticker, do func() error) bool {
	for {
		err := do()
		if ctx.Err() != nil {
			return false
		}
		if err == nil {
			return true
		}
		b.log.Warn("the demo's business cannot go on and tries again", "error", err)
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
}
