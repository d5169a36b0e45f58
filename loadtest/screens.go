package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
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
	binary := flags.String("binary", "bin/motorpool", "the program to measure")
	if err := flags.Parse(args); err != nil {
		return err
	}
	path, err := filepath.Abs(*binary)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "motorpool-screens-")
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
	result, err := func() (screenload.Result, error) {
		if o.Key, err = s.Output("key", "create", "--account", "Screens", "--scopes", "admin"); err != nil {
			return screenload.Result{}, err
		}
		var memory *system.Process
		for _, from := range []struct{ name, mib string }{{"memory", "512"}, {"store", "0"}} {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return screenload.Result{}, err
			}
			address := l.Addr().String()
			l.Close()
			p, err := s.Start("serve", "--http", address, "--ops", "127.0.0.1:0", "--roster-memory", from.mib,
				"--rate-limit", "0")
			if err != nil {
				return screenload.Result{}, err
			}
			if memory == nil {
				memory = p
			}
			o.Bases = append(o.Bases, screenload.Base{Name: from.name, URL: "http://" + address})
		}
		time.Sleep(5 * time.Second) // until both serve
		result, err := screenload.Run(ctx, s, o)
		if err != nil {
			return result, err
		}
		if _, most, err := memory.Stop(); err == nil {
			fmt.Printf("the process that keeps them in memory took %d MiB at most\n\n", most>>20)
		}
		return result, nil
	}()
	if err == nil {
		err = result.Write(os.Stdout)
	}
	return errors.Join(err, s.Stop())
}
