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
