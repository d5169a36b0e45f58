// Command loadtest measures Motorpool. "loadtest bench" compares it, side by side in one run, with what users would
// take otherwise, and prints a report in Markdown; it starts its own stores and needs bin/motorpool. "loadtest stream"
// measures many open streams, "loadtest bookings" the interface over a million bookings, "loadtest reports" the reports
// over ten years of 5,000 vehicles, "loadtest screens" what open screens ask for again and again, "loadtest history"
// pages of what was of one vehicle, "loadtest fixes" fixes that are reported one by one, "loadtest imports" bookings
// that are imported, "loadtest offers" what is free and what it costs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/motorpool/fleet/loadtest/bench"
	"github.com/motorpool/fleet/loadtest/screenload"
	"github.com/motorpool/fleet/loadtest/system"
)

func main() {
	system.ServeBroker()
	screenload.ServeThin()
	serveClickHouse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "loadtest:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "stream" {
		return runStream(ctx, args[1:])
	}
	if len(args) > 0 && args[0] == "bookings" {
		return runBookings(ctx, args[1:])
	}
	if len(args) > 0 && args[0] == "screens" {
		return runScreens(ctx, args[1:])
	}
	if len(args) > 0 && args[0] == "history" {
		return runHistory(ctx, args[1:])
	}
	if len(args) > 0 && args[0] == "imports" {
		return runImports(ctx, args[1:])
	}
	if len(args) > 0 && args[0] == "offers" {
		return runOffers(ctx, args[1:])
	}
	if len(args) > 0 && args[0] == "fixes" {
		return runFixes(ctx, args[1:])
	}
	if len(args) > 0 && args[0] == "reports" {
		return runReports(ctx, args[1:])
	}
	if len(args) == 0 || args[0] != "bench" {
		return errors.New("usage: loadtest bench [-fixes N] [-vehicles N] [-fences-within KM] [-rounds N] [-latency 30s] [-sizes=false] [-stored N] [-binary bin/motorpool]")
	}
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	var o bench.Options
	flags.IntVar(&o.Fixes, "fixes", 8_000_000, "fixes of the ingest comparison")
	flags.IntVar(&o.Vehicles, "vehicles", 1000, "vehicles of the simulated fleet")
	flags.Float64Var(&o.FencesWithin, "fences-within", 60,
		"km from the middle of the city within which its geofences lie and its fleet stays; the further, the fewer visits")
	flags.IntVar(&o.Rounds, "rounds", 3, "rounds of the ingest comparison")
	flags.DurationVar(&o.Latency, "latency", 30*time.Second, "how long to watch the latency; 0 leaves it out")
	flags.IntVar(&o.Stored.Fixes, "stored", 100_000_000, "fixes of the comparison of queries; 0 leaves it out")
	flags.IntVar(&o.Stored.Vehicles, "stored-vehicles", 1000, "vehicles whose fixes they are")
	flags.IntVar(&o.Stored.Queries, "queries", 240, "queries of each kind")
	flags.StringVar(&o.Stored.Explain, "explain", "loadtest/bench/explain",
		"folder for the plans of the queries; empty keeps none")
	flags.BoolVar(&o.Sizes, "sizes", true, "measure bytes on disk with real recordings")
	binary := flags.String("binary", "bin/motorpool", "the program to measure")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	path, err := filepath.Abs(*binary)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "motorpool-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := system.Start(ctx, path, dir, "", os.Stderr)
	if err != nil {
		return err
	}
	return errors.Join(bench.Run(ctx, s, o, os.Stdout), s.Stop())
}
