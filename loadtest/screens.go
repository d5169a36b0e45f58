package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/motorpool/fleet/loadtest/screenload"
	"github.com/motorpool/fleet/loadtest/system"
)

// runScreens is "loadtest screens".
func runScreens(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("screens", flag.ExitOnError)
	var o screenload.Options
	flags.IntVar(&o.Vehicles, "vehicles", 100_000, "vehicles of the account")
	flags.IntVar(&o.Clients, "clients", 32, "clients at once")
	flags.DurationVar(&o.For, "for", 5*time.Second, "how long each sort of request is made")
	flags.StringVar(&o.Profiles, "profiles", "", "folder for profiles of the processes that are measured")
	binary := flags.String("binary", "bin/motorpool", "the program to measure")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return onSystem(ctx, *binary, func(s *system.System) (result screenload.Result, err error) {
		if o.Key, err = s.Output("key", "create", "--account", "Screens", "--scopes", "admin"); err != nil {
			return result, err
		}
		for _, from := range []struct{ name, mib string }{{"memory", "192"}, {"store", "0"}} {
			one, err := serveBeside(s, "--roster-memory", from.mib, "--rate-limit", "0")
			if err != nil {
				return result, err
			}
			o.Bases = append(o.Bases, screenload.Base{Name: from.name, URL: one.URL, Ops: one.Ops, Process: one.Process})
		}
		if o.Thin, err = screenload.StartThin(ctx, 2<<30, s.Log); err != nil {
			return result, err
		}
		if o.Thin != nil {
			defer func() { err = errors.Join(err, o.Thin.Stop()) }()
		}
		time.Sleep(5 * time.Second) // until both serve
		if result, err = screenload.Run(ctx, s, o); err != nil {
			return result, err
		}
		kept, err := screenload.Kept(o.Bases[0])
		if err != nil {
			return result, err
		}
		fmt.Printf("what is current takes %d bytes a vehicle in memory, by count\n\n", int(kept)/o.Vehicles)
		if _, most, err := o.Bases[0].Process.Stop(); err == nil {
			fmt.Printf("the process that keeps them in memory took %d MiB at most\n\n", most>>20)
		}
		return result, nil
	})
}
