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
	socket *boundedSocket
	server *http.Server
}

// manners are what a listener asks of its clients before a handler sees them.
type manners struct {
	Head, Idle time.Duration // to send the head of a request; to be silent between two
	Crowd      crowd
}

// opsManners are those of the operators' listener.
func opsManners() manners {
	return manners{Head: 10 * time.Second, Idle: 2 * time.Minute, Crowd: crowd{All: 256, PerAddress: 64}}
}

func listen(addr string, handler http.Handler, m manners, log *slog.Logger) (*listener, error) {
	socket, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%w; give another address", err)
	}
	var http1 http.Protocols // HTTP/2 would share connections past the bounds
	http1.SetHTTP1(true)
	return &listener{socket: newBoundedSocket(socket, m.Crowd, log), server: &http.Server{
		Handler: handler, Protocols: &http1, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		// api.Pace has deadlines for bodies; ReadTimeout is for those that no handler sees, as of a request that is
		// refused for its head.
		ReadHeaderTimeout: m.Head, ReadTimeout: m.Head + 5*time.Second, IdleTimeout: m.Idle,
		DisableGeneralOptionsHandler: true,
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
	serve := func() error { return l.server.Serve(l.socket) }
	if l.server.TLSConfig != nil {
		serve = func() error { return l.server.ServeTLS(l.socket, "", "") }
	}
	err := serve()
	if !errors.Is(err, http.ErrServerClosed) {
		stop()
		return err
	}
	return <-drained
}

// close frees the address of a listener that was never run.
func (l *listener) close() { _ = l.socket.Close() }
