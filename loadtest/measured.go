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

// serveBeside starts another interface on a system, and returns its address.
func serveBeside(s *system.System, flags ...string) (url string, p *system.Process, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	address := l.Addr().String()
	l.Close()
	p, err = s.Start(append([]string{"serve", "--http", address, "--ops", "127.0.0.1:0"}, flags...)...)
	return "http://" + address, p, err
}
