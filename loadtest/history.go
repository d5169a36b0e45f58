package main

import (
	"context"
	"flag"
	"time"

	"github.com/motorpool/fleet/loadtest/fixload"
	"github.com/motorpool/fleet/loadtest/historyload"
	"github.com/motorpool/fleet/loadtest/system"
)

// runHistory is "loadtest history".
func runHistory(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("history", flag.ExitOnError)
	var o historyload.Options
	flags.IntVar(&o.Fixes, "fixes", 100_000_000, "fixes of a year")
	flags.IntVar(&o.Vehicles, "vehicles", 1000, "vehicles whose fixes they are")
	flags.IntVar(&o.Clients, "clients", 32, "clients at once, after one alone")
	flags.DurationVar(&o.For, "for", 5*time.Second, "how long each sort of request is made")
	binary := flags.String("binary", "bin/motorpool", "the program to measure")
	other := flags.String("beside", "", "another program, to be measured beside it on the same store")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return onSystem(ctx, *binary, func(s *system.System) (result historyload.Result, err error) {
		if o.Key, err = s.Output("key", "create", "--account", "History", "--scopes", "admin"); err != nil {
			return result, err
		}
		err = servePrograms(s, *other, func(name, url string) {
			o.Bases = append(o.Bases, historyload.Base{Name: name, URL: url})
		})
		if err != nil {
			return result, err
		}
		return historyload.Run(ctx, s, o)
	})
}

// runFixes is "loadtest fixes".
func runFixes(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("fixes", flag.ExitOnError)
	var o fixload.Options
	flags.IntVar(&o.Devices, "devices", 10_000, "devices that report")
	flags.IntVar(&o.Clients, "clients", 32, "clients at once")
	flags.DurationVar(&o.For, "for", 10*time.Second, "how long each sort of request is made")
	binary := flags.String("binary", "bin/motorpool", "the program to measure")
	other := flags.String("beside", "", "another program, to be measured beside it on the same store")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return onSystem(ctx, *binary, func(s *system.System) (result fixload.Result, err error) {
		if o.Key, err = s.Output("key", "create", "--account", "Fixes", "--scopes", "admin"); err != nil {
			return result, err
		}
		err = servePrograms(s, *other, func(name, url string) {
			o.Bases = append(o.Bases, fixload.Base{Name: name, URL: url})
		})
		if err != nil {
			return result, err
		}
		return fixload.Run(ctx, s, o)
	})
}

// servePrograms has the program of a system serve, and another one beside it unless that is empty, and names each.
func servePrograms(s *system.System, other string, add func(name, url string)) error {
	own := s.Binary
	defer func() { s.Binary = own }()
	for _, of := range []struct{ name, program string }{{"this", own}, {"beside", other}} {
		if of.program == "" {
			continue
		}
		s.Binary = of.program
		one, err := serveBeside(s, "--rate-limit", "0")
		if err != nil {
			return err
		}
		add(of.name, one.URL)
	}
	time.Sleep(5 * time.Second) // until both serve
	return nil
}
