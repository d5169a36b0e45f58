package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
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
	path, err := filepath.Abs(*binary)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "motorpool-stream-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	log, err := os.Create(filepath.Join(dir, "log")) // a line for each of thousands of requests
	if err != nil {
		return err
	}
	defer log.Close()
	s, err := system.Start(ctx, path, dir, "", log)
	if err != nil {
		return err
	}
	serve, err := s.Start("serve")
	if err != nil {
		return errors.Join(err, s.Stop())
	}
	result, err := stream.Run(ctx, s, serve.PID(), o)
	if err == nil {
		err = result.Write(os.Stdout)
	}
	return errors.Join(err, s.Stop())
}
