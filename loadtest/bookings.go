package main

import (
	"context"
	"errors"
	"flag"
	"net"
	"os"
	"path/filepath"
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
	binary := flags.String("binary", "bin/motorpool", "the program to measure")
	if err := flags.Parse(args); err != nil {
		return err
	}
	path, err := filepath.Abs(*binary)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "motorpool-bookings-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	s, err := system.Start(ctx, path, dir, "", log)
	if err != nil {
		return err
	}
	result, err := func() (bookingload.Result, error) {
		if o.Key, err = s.Output("key", "create", "--account", "Records", "--scopes", "admin"); err != nil {
			return bookingload.Result{}, err
		}
		for range 2 {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return bookingload.Result{}, err
			}
			address := l.Addr().String()
			l.Close()
			if _, err := s.Start("serve", "--http", address, "--ops", "127.0.0.1:0"); err != nil {
				return bookingload.Result{}, err
			}
			o.Bases = append(o.Bases, "http://"+address)
		}
		time.Sleep(3 * time.Second) // until both serve
		return bookingload.Run(ctx, s, o)
	}()
	if err == nil {
		err = result.Write(os.Stdout)
	}
	return errors.Join(err, s.Stop())
}
