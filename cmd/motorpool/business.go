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
	return `Makes up a rental business around the vehicles of the demo, in the account Demo: customers, two years of bookings with payments,
damages and cancellations, maintenance and costs, and bookings of the next two months. It goes through the same commands as
the interface, with a clock that stands where the story is, so that histories and the ledger are as if it had happened.
The same seed and day give the same business; run again, it goes on where it stopped, and does what has come due since.

"motorpool up --demo" does the same in the background.`
}

// Validate refuses what cannot be made up.
func (c *demoCommand) Validate() error {
	if c.Years < 1 || c.Years > 10 {
		return fmt.Errorf("--years is 1 to 10, not %d", c.Years)
	}
	return nil
}

func (c *demoCommand) Run(ctx context.Context, s settings, o output) error {
	drive, err := loadDemo()
	if err != nil {
		return err
	}
	return withRecords(ctx, s, func(r *records) error {
		account, err := r.account(ctx, demoAccount, true)
		if err != nil {
			return err
		}
		if _, err := r.register(ctx, account, drive.registrations, func(int) {}); err != nil {
			return err
		}
		bar := newBar(o, "bookings", 1)
		begun, rentals := time.Now(), atomic.Int64{}
		business := &demoBusiness{records: r, drive: drive, seed: c.Seed, years: c.Years, atOnce: 4, log: slog.New(slog.DiscardHandler), progress: func(done, all int) {
			bar.ChangeMax(all)
			_ = bar.Set(done)
			rentals.Store(int64(all))
		}}
		if err := business.carry(ctx, account, time.Now()); err != nil {
			return err
		}
		_ = bar.Finish()
		_, err = fmt.Fprintf(o.out, "%d bookings of %d years, in %s\n", rentals.Load(), c.Years, time.Since(begun).Round(time.Second))
		return err
	})
}

// demoBusiness makes up the past of the demo account.
type demoBusiness struct {
	*records
	drive    *demoFleet
	seed     uint64
	years    int
	atOnce   int // vehicles
	log      *slog.Logger
	progress func(done, all int)
}

// demoCoaches is how many of the demo's buses are rented out; the others run their lines.
const demoCoaches = 1

// demoClass is the class in which a body type is rented out; empty for none.
func demoClass(v *record.VehicleFields, coaches *int) string {
	switch v.BodyType {
	case "bike", "scooter":
		return "MICRO"
	case "car", "hatchback":
		return "COMPACT"
	case "sedan":
		return "SEDAN"
	case "suv", "wagon":
		return "SUV"
	case "bus":
		if *coaches++; *coaches <= demoCoaches {
			return "COACH"
		}
	}
	return ""
}

// demoAnchor is the member of the account's metadata that says when its business was made up.
const demoAnchor = "demo_anchor"

// carry makes the business up to a moment.
func (b *demoBusiness) carry(ctx context.Context, account fleet.AccountID, until time.Time) error {
	rec, err := b.accounts.Update(ctx, commandLine, account, uint64(account), 0, func(r *record.Record[record.Account]) error {
		if r.Body.Metadata[demoAnchor] != "" {
			return nil
		}
		if r.Body.Metadata == nil {
			r.Body.Metadata = map[string]string{}
		}
		r.Body.Metadata[demoAnchor] = until.UTC().Format(time.RFC3339)
		if r.Body.Timezone == "" {
			r.Body.Timezone = "America/Chicago"
		}
		if r.Body.Currency == "" {
			r.Body.Currency = "USD"
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
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		return err
	}
	cars, err := b.cars(ctx, account)
	if err != nil {
		return err
	}
	business := &seed.Business{Account: account, Plan: seed.New(b.seed, anchor, b.years, cars, zone), Cars: cars, AtOnce: b.atOnce, Progress: b.progress,
		Open: func(node uint64, now func() time.Time) (*desk.Desk, error) { return openDesk(b.db, node, now, b.log) }}
	return business.Carry(ctx, until)
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

// cars are the vehicles of the demo that are rented out.
func (b *demoBusiness) cars(ctx context.Context, account fleet.AccountID) ([]seed.Car, error) {
	known, err := query.ExternalRefs(ctx, b.db, account, recordingSystem)
	if err != nil {
		return nil, err
	}
	coaches := 0
	var cars []seed.Car
	for i, reg := range b.drive.registrations {
		class := demoClass(&reg.vehicle, &coaches)
		if class == "" {
			continue
		}
		id, ok := known.Vehicles[reg.identifier]
		if !ok {
			return nil, fmt.Errorf("the demo's vehicle %s is not registered", reg.identifier)
		}
		cars = append(cars, seed.Car{ID: id.String(), Class: class, Electric: reg.vehicle.FuelType == "electric", MileageMi: 40_000 + i%7*6_500})
	}
	return cars, nil
}

// carryOn makes the business up to now, and does what has come due every few minutes, until ctx ends.
func (b *demoBusiness) carryOn(ctx context.Context) error {
	account, err := b.account(ctx, demoAccount, true)
	if err != nil {
		return ignoreStop(ctx, err)
	}
	ticker := time.NewTicker(10 * time.Minute)
	defer ticker.Stop()
	b.log.Info("the demo's two years of business are being made up, which takes a while; what there is of them is listed")
	var shown atomic.Int64
	b.progress = func(done, all int) {
		if tenths := int64(done * 10 / max(all, 1)); tenths > shown.Load() && shown.Swap(tenths) < tenths {
			b.log.Info("the demo's business is being made up", "rentals", done, "of", all)
		}
	}
	for begun := time.Now(); ; {
		switch err := b.carry(ctx, account, time.Now()); {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			b.log.Warn("the demo's business cannot go on and tries again", "error", err)
		case !begun.IsZero():
			b.log.Info("the demo has two years of bookings", "seconds", int(time.Since(begun).Seconds()))
			begun, b.progress = time.Time{}, nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
