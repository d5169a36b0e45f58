package main

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"

	"github.com/motorpool/fleet/loadtest/system"
)

// onSystem measures a whole system that runs in a folder of its own, and writes what came of it.
func onSystem[R interface{ Write(io.Writer) error }](ctx context.Context, binary string,
	measure func(*system.System) (R, error)) error {
	path, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "motorpool-loadtest-")
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
	result, err := measure(s)
	if err == nil {
		err = result.Write(os.Stdout)
	}
	return errors.Join(err, s.Stop())
}

// beside is another interface on a system: the addresses of clients and operators, and its process.
type beside struct {
	URL, Ops string
	Process  *system.Process
}

// serveBeside starts another interface on a system.
func serveBeside(s *system.System, flags ...string) (b beside, err error) {
	var addresses [2]string
	for i := range addresses {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return b, err
		}
		addresses[i] = l.Addr().String()
		if err := l.Close(); err != nil {
			return b, err
		}
	}
	b.URL, b.Ops = "http://"+addresses[0], "http://"+addresses[1]
	b.Process, err = s.Start(append([]string{"serve", "--http", addresses[0], "--ops", addresses[1]}, flags...)...)
	return b, err
}
