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
	"github.com/motorpool/fleet/api/user"
	"github.com/motorpool/fleet/query"
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

// run makes both accounts where they are missing and plays them until ctx ends. It calls ready before the past of the
// rental business is made up. Its vehicles are heard of when that stands, so that what can be seen agrees at any
// moment.
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
	if err := made.watch(ctx, tracked); err != nil {
		return err
	}
	uniqueIDs, err := made.register(ctx, tracked, d.tracking.registrations, func(int) {})
	if err != nil {
		return err
	}
	all, running := errgroup.WithContext(ctx)
	all.Go(func() error {
		b := &demoBusiness{records: made, fleet: d.rentals, seed: 1, years: 2, atOnce: 2, log: p.log}
		if err := b.open(running); err != nil {
			return err
		}
		all.Go(func() error { return d.tracking.play(running, uniqueIDs, time.Now, publish, p.log) })
		for _, a := range []struct {
			shownAccount
			id fleet.AccountID
		}{
			{shownAccount{name: demoAccount, what: "rentals", vehicles: len(d.rentals.vehicles), keyFile: demoKeyFile,
				more: "two years of bookings, which a first start takes half a minute to make, or longer where it is busy"},
				b.business.Account},
			{shownAccount{name: trackingAccount, what: "tracking", vehicles: len(uniqueIDs), keyFile: trackingKeyFile},
				tracked},
		} {
			a.keyFile = filepath.Join(p.settings.Data, a.keyFile)
			if a.newKey, err = made.demoKey(running, a.id, a.keyFile); err != nil {
				return err
			}
			if a.signIn, err = made.demoSignIn(running, a.id, a.what, screen.base()); err != nil {
				return err
			}
			screen.accounts = append(screen.accounts, a.shownAccount)
		}
		if err := ready(); err != nil {
			return err
		}
		if !b.make(running) {
			return nil // it was told to end meanwhile
		}
		all.Go(func() error {
			b.keep(running)
			return nil
		})
		return b.drive(running, publish)
	})
	return all.Wait()
}

// demoSignIn makes the address at which the owner of an account of the demo is signed in, once, and the owner unless
// they are there. They have no password: there is a new address with each start.
func (r *records) demoSignIn(ctx context.Context, account fleet.AccountID, what, server string) (string, error) {
	email := what + "@demo.example"
	of, id, err := query.UserByEmail(ctx, r.db, email)
	if err != nil || id != 0 && of != account { // somebody of another account has the address by now
		return "", err
	}
	if id == 0 {
		made, err := record.NewLog(r.store, record.Users).New(ctx, commandLine, account, record.User{
			UserFields: record.UserFields{Name: "Owner of the demo", Email: email, Role: string(auth.Owner)}})
		if err != nil {
			return "", err
		}
		id = fleet.UserID(made.ID)
	}
	return user.SignInLink(ctx, r.store, server, account, id, time.Now().Add(user.LinkLasts))
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
