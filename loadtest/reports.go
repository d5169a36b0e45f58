package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/motorpool/fleet/deploy/embedded"
	"github.com/motorpool/fleet/loadtest/reportload"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
)

// serveClickHouse turns the process into a ClickHouse if it was executed for that, and otherwise returns at once.
func serveClickHouse() {
	if len(os.Args) < 2 || os.Args[1] != embedded.ChildCommand {
		return
	}
	args, err := embedded.ParseChildArgs(os.Args[2:])
	if err == nil {
		err = embedded.ServeClickHouse(args)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// runReports is "loadtest reports".
func runReports(ctx context.Context, args []string) (err error) {
	flags := flag.NewFlagSet("reports", flag.ExitOnError)
	data := flags.String("data", "bin/reports", "folder with the data, which is filled once and kept")
	list := func(name, usage string, into *[]string) {
		flags.Func(name, usage+", separated by commas; all unless given", func(s string) error {
			*into = strings.Split(s, ",")
			return nil
		})
	}
	var o reportload.Options
	list("reports", "the reports to ask", &o.Reports)
	list("groups", "by what they are grouped", &o.Groups)
	list("spans", "of what they are asked: month, year, decade", &o.Spans)
	list("bases", "accrual, cash", &o.Bases)
	flags.StringVar(&o.Compare, "compare", "", "previous_period or previous_year, to compare with; nothing unless given")
	flags.IntVar(&o.Times, "times", 20, "how often each question is asked; 0 only fills")
	flags.IntVar(&o.Above, "above", 0, "print only questions that take this many milliseconds of processor time")
	flags.StringVar(&o.Explain, "explain", "", "folder for the plans of the questions; empty keeps none")
	tcp := flags.String("listen", "127.0.0.1:0", "host:port on which the engine listens")
	wait := flags.Bool("wait", false, "leave the engine up until it is interrupted, and say how to reach it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := os.MkdirAll(*data, 0o700); err != nil {
		return err
	}
	if o.Explain != "" {
		if err := os.MkdirAll(o.Explain, 0o700); err != nil {
			return err
		}
	}
	config := query.DefaultConfig()
	config.Password, config.QueryTimeout = rand.Text(), 10*time.Minute
	engine, err := embedded.StartClickHouse(ctx, embedded.ClickHouseConfig{Dir: filepath.Join(*data, "clickhouse"),
		TCPAddr: *tcp, Users: []embedded.User{embedded.AppUser(config.User, config.Password)}})
	if err != nil {
		return err
	}
	defer func() {
		down, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		err = errors.Join(err, engine.Stop(down))
	}()
	config.Addrs = []string{engine.Addr()}
	if err := query.EnsureDatabase(ctx, config); err != nil {
		return err
	}
	db, err := query.Open(ctx, config)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := schemas.Apply(ctx, db); err != nil {
		return err
	}
	if err := reportload.Fill(ctx, db, *data, os.Stderr); err != nil {
		return err
	}
	if *wait {
		fmt.Printf("HTTP http://%s native %s user %s password %s\n", engine.HTTPAddr(), engine.Addr(), config.User,
			config.Password)
		<-ctx.Done()
		return nil
	}
	if o.Times == 0 {
		return reportload.Sizes(ctx, db, os.Stdout)
	}
	return reportload.Ask(ctx, db, o, os.Stdout)
}
