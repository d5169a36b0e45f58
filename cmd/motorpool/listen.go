package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// drainTime is what requests under way are given when the process stops.
const drainTime = 15 * time.Second

// listener is an HTTP server that already has its address, so that one which is taken shows at start.
type listener struct {
	socket net.Listener
	server *http.Server
}

func listen(addr string, handler http.Handler, log *slog.Logger) (*listener, error) {
	socket, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%w; give another address", err)
	}
	return &listener{socket: socket, server: &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}}, nil
}

// addr is where it listens; a port 0 has become a real one.
func (l *listener) addr() string { return l.socket.Addr().String() }

// run serves until ctx ends, and then until the requests under way are answered or drainTime has passed.
func (l *listener) run(ctx context.Context) error {
	drained := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		fresh, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		err := l.server.Shutdown(fresh)
		if err != nil {
			err = l.server.Close()
		}
		drained <- err
	})
	err := l.server.Serve(l.socket)
	if !errors.Is(err, http.ErrServerClosed) {
		stop()
		return err
	}
	return <-drained
}

// close frees the address of a listener that was never run.
func (l *listener) close() { _ = l.socket.Close() }
