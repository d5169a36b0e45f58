package main

import (
	"context"
	"flag"
	"time"

	"github.com/motorpool/fleet/loadtest/stream"
	"github.com/motorpool/fleet/loadtest/system"
)

// runStream is "loadtest stream".
func runStream(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("stream", flag.ExitOnError)
	var o stream.Options
	flags.IntVar(&o.Connections, "connections", 2000, "open streams")
	flags.IntVar(&o.Events, "events", 300, "events to publish")
	flags.DurationVar(&o.Every, "every", 100*time.Millisecond, "pause between two events")
	flags.DurationVar(&o.Settle, "settle", 3*time.Second, "wait before memory is read")
	binary := flags.String("binary", "bin/motorpool", "the program to measure")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return onSystem(ctx, *binary, func(s *system.System) (result stream.Result, err error) {
		serve, err := s.Start("serve")
		if err != nil {
			return result, err
		}
		return stream.Run(ctx, s, serve.PID(), o)
	})
}
