package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/motorpool/fleet/loadtest/importload"
	"github.com/motorpool/fleet/loadtest/system"
)

// runImports is "loadtest imports".
func runImports(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("imports", flag.ExitOnError)
	var o importload.Options
	flags.IntVar(&o.Bookings, "bookings", 100_000, "bookings of the CSV")
	flags.IntVar(&o.Vehicles, "vehicles", 1000, "vehicles that they are of")
	flags.IntVar(&o.Customers, "customers", 5000, "customers that they are for")
	flags.BoolVar(&o.Reservations, "reservations", false, "each has the id of a reservation, which is unique")
	binary := flags.String("binary", "bin/motorpool", "the program to measure")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return onSystem(ctx, *binary, func(s *system.System) (result importload.Result, err error) {
		if o.Key, err = s.Output("key", "create", "--account", "Imports", "--scopes", "admin"); err != nil {
			return result, err
		}
		one, err := serveBeside(s, "--rate-limit", "0")
		if err != nil {
			return result, err
		}
		fmt.Fprintln(os.Stderr, "pages of the operator:", one.Ops)
		o.Base = one.URL
		time.Sleep(3 * time.Second) // until it serves
		return importload.Run(ctx, s, o)
	})
}

// runOffers is "loadtest offers".
func runOffers(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("offers", flag.ExitOnError)
	o := importload.Options{Customers: 1000}
	flags.IntVar(&o.Bookings, "bookings", 10_000, "bookings that are imported first")
	flags.IntVar(&o.Vehicles, "vehicles", 1000, "vehicles that they are of, and that are asked for")
	clients := flags.Int("clients", 32, "clients at once, after one alone")
	long := flags.Duration("for", 5*time.Second, "how long each sort of request is made")
	binary := flags.String("binary", "bin/motorpool", "the program to measure")
	other := flags.String("beside", "", "another program, to be measured beside it on the same store")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return onSystem(ctx, *binary, func(s *system.System) (result importload.Offers, err error) {
		if o.Key, err = s.Output("key", "create", "--account", "Offers", "--scopes", "admin"); err != nil {
			return result, err
		}
		var bases []importload.Base
		err = servePrograms(s, *other, func(name, url string) {
			bases = append(bases, importload.Base{Name: name, URL: url})
		})
		if err != nil {
			return result, err
		}
		o.Base = bases[0].URL
		return importload.Ask(ctx, s, o, bases, *clients, *long)
	})
}
