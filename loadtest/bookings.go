package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/motorpool/fleet/loadtest/bookingload"
	"github.com/motorpool/fleet/loadtest/system"
)

// runBookings is "loadtest bookings".
func runBookings(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bookings", flag.ExitOnError)
	var o bookingload.Options
	flags.IntVar(&o.Bookings, "bookings", 1_000_000, "bookings to fill the store with")
	flags.IntVar(&o.Vehicles, "vehicles", 2000, "vehicles that they are of")
	flags.IntVar(&o.Requests, "requests", 200, "requests of each sort")
	flags.IntVar(&o.Clients, "clients", 2, "clients at once")
	processes := flags.Int("processes", 2, "interfaces on the store, of which each client has one")
	binary := flags.String("binary", "bin/motorpool", "the program to measure")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.Clients < 1 || o.Vehicles < o.Clients {
		return fmt.Errorf("-clients %d, -vehicles %d: each client needs a vehicle of its own", o.Clients, o.Vehicles)
	}
	if *processes < 1 || *processes > o.Clients || o.Requests < o.Clients {
		return fmt.Errorf("-processes %d, -clients %d, -requests %d: each process needs a client, and each client a request",
			*processes, o.Clients, o.Requests)
	}
	return onSystem(ctx, *binary, func(s *system.System) (result bookingload.Result, err error) {
		if o.Key, err = s.Output("key", "create", "--account", "Records", "--scopes", "admin"); err != nil {
			return result, err
		}
		for range *processes {
			one, err := serveBeside(s)
			if err != nil {
				return result, err
			}
			o.Bases = append(o.Bases, one.URL)
		}
		time.Sleep(3 * time.Second) // until they serve
		return bookingload.Run(ctx, s, o)
	})
}
