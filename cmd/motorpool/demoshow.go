package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// demoShow is what `up --demo` shows: a rental business, and a fleet that is only tracked, in an account each.
type demoShow struct {
	rentals  *rentalFleet
	tracking *demoFleet
}

func loadShow() (*demoShow, error) {
	tracking, err := loadDemo()
	if err != nil {
		return nil, err
	}
	rentals, err := loadRentals()
	return &demoShow{rentals: rentals, tracking: tracking}, err
}

// run makes both accounts where they are missing and plays them until ctx ends. ready is called when what there is to be seen agrees: who has
// which vehicle, and where the trackers were in the week before. What is older is made up behind it.
func (d *demoShow) run(ctx context.Context, p *platform, screen *startScreen, ready func() error) error {
	made, err := newRecords(p.db)
	if err != nil {
		return err
	}
	publish := func(ctx context.Context, due []fleet.Report) error {
		return p.feed.Publish(ctx, p.kafka.Positions, due)
	}
	tracked, err := made.account(ctx, trackingAccount, true)
	if err != nil {
		return err
	}
	uniqueIDs, err := made.register(ctx, tracked, d.tracking.registrations, func(int) {})
	if err != nil {
		return err
	}
	all, running := errgroup.WithContext(ctx)
	all.Go(func() error { return d.tracking.play(running, uniqueIDs, time.Now, publish, p.log) })
	business := &demoBusiness{records: made, fleet: d.rentals, seed: 1, years: 2, atOnce: 4, log: p.log}
	all.Go(func() error {
		if err := business.open(running); err != nil {
			return err
		}
		sent := make(chan struct{})
		all.Go(func() error { return business.drive(running, publish, p.log, func() { close(sent) }) })
		if err := business.business.Present(running, time.Now()); err != nil {
			return err
		}
		select {
		case <-sent:
		case <-running.Done():
			return nil
		}
		for _, a := range []struct {
			shownAccount
			id fleet.AccountID
		}{
			{shownAccount{name: demoAccount, what: "rentals", vehicles: len(d.rentals.vehicles), keyFile: demoKeyFile}, business.business.Account},
			{shownAccount{name: trackingAccount, what: "tracking", vehicles: len(uniqueIDs), keyFile: trackingKeyFile}, tracked},
		} {
			a.keyFile = filepath.Join(p.settings.Data, a.keyFile)
			if a.newKey, err = made.demoKey(running, a.id, a.keyFile); err != nil {
				return err
			}
			screen.accounts = append(screen.accounts, a.shownAccount)
		}
		if err := ready(); err != nil {
			return err
		}
		business.business.AtOnce = 1
		return business.carryOn(running)
	})
	return all.Wait()
}

// demoKey makes the key of an account of the demo unless it is there, keeps it in a file, and returns a new one.
func (r *records) demoKey(ctx context.Context, account fleet.AccountID, file string) (string, error) {
	if _, err := os.Stat(file); err == nil {
		return "", nil
	}
	_, token, err := r.createKey(ctx, account, []auth.Scope{auth.Admin}, record.APIKey{Name: "demo"})
	if err != nil {
		return "", err
	}
	return token, writeSecret(file, token)
}
