package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet/deploy/embedded"
)

// engines are the embedded ClickHouse and broker of `up`; either may be absent, if it runs elsewhere.
type engines struct {
	config embedded.ClickHouseConfig
	broker *embedded.Broker
	log    *slog.Logger
	gate   *biGate // nil without an embedded ClickHouse

	mu         sync.Mutex
	clickhouse *embedded.ClickHouse // replaced by watch when the engine died
}

// How often a dead ClickHouse is started again before `up` gives up, and how long it waits between two tries.
const (
	restartTries = 8
	restartWait  = 500 * time.Millisecond
	restartMost  = 15 * time.Second
	stopTime     = 15 * time.Second
)

// startEngines starts what s says is embedded, and writes the addresses at which it really listens into s.
func startEngines(ctx context.Context, s *settings, external engineChoice, groups []string,
	log *slog.Logger) (*engines, error) {
	e := &engines{log: log}
	if !external.ClickHouse {
		if err := e.startClickHouse(ctx, s, external); err != nil {
			return nil, err
		}
	}
	if !external.Kafka {
		if half, err := embedded.IsBeingPlaced(brokerDir(s)); err != nil || half {
			e.stop()
			return nil, cmp.Or(err, fmt.Errorf("a restore into %s was broken off: run 'motorpool restore' again", s.Data))
		}
		broker, err := startBroker(s, groups, log)
		if err != nil {
			e.stop()
			return nil, err
		}
		e.broker = broker
		s.Kafka = []string{broker.Addr()}
	}
	return e, nil
}

func (e *engines) startClickHouse(ctx context.Context, s *settings, external engineChoice) error {
	if len(s.ClickHouse) != 1 {
		return errors.New(
			"'up' takes one address for ClickHouse, where the embedded one listens; several need --external-clickhouse")
	}
	app, err := secret(filepath.Join(s.Data, appPasswordFile))
	if err != nil {
		return err
	}
	e.config = embedded.ClickHouseConfig{
		Dir: filepath.Join(s.Data, "clickhouse"), TCPAddr: s.ClickHouse[0], HTTPAddr: s.ClickHouseHTTP,
		Users: []embedded.User{embedded.AppUser(s.DB.User, app)},
		Sync:  s.synced(), KeepFree: s.keepFree(),
	}
	if external.BIUser {
		bi, err := secret(filepath.Join(s.Data, biPasswordFile))
		if err != nil {
			return err
		}
		const biMemory = 1 << 30
		e.config.Users = append(e.config.Users, embedded.BIUser("bi", bi, biMemory, "GRANT SELECT ON "+s.DB.Database+".*"))
	}
	gate, err := newBIGate(s)
	if err != nil {
		return err
	}
	e.config.Users = append(e.config.Users, gate.users...)
	started, err := embedded.StartClickHouse(ctx, e.config)
	if errors.Is(err, embedded.ErrNoLibrary) {
		return fmt.Errorf("%w, or name the library in %s", err, embedded.LibraryEnv)
	}
	if err != nil {
		return fmt.Errorf("%w; is another program on %s or %s? Give --clickhouse and --clickhouse-http", err, s.ClickHouse[0],
			s.ClickHouseHTTP)
	}
	e.clickhouse = started
	s.ClickHouse, s.ClickHouseHTTP = []string{started.Addr()}, started.HTTPAddr()
	// After a death it must come back where everybody looks for it.
	e.config.TCPAddr, e.config.HTTPAddr = started.Addr(), started.HTTPAddr()
	s.DB.Password, s.DB.PasswordFile = "", filepath.Join(s.Data, appPasswordFile)
	if err := gate.open(external.BIHTTP, started.HTTPAddr(), e.log); err != nil {
		e.stop()
		return err
	}
	e.gate = gate
	return nil
}

func brokerDir(s *settings) string { return filepath.Join(s.Data, "kafka") }

func startBroker(s *settings, groups []string, log *slog.Logger) (*embedded.Broker, error) {
	if len(s.Kafka) != 1 {
		return nil,
			errors.New("'up' takes one address for Kafka, where the embedded broker listens; several need --external-kafka")
	}
	broker, err := embedded.StartBroker(embedded.BrokerConfig{
		Dir: brokerDir(s), Addr: s.Kafka[0], Groups: groups, Logger: log,
		Sync: s.synced(), KeepFree: s.keepFree(),
	})
	if err != nil {
		return nil, fmt.Errorf("%w; is another program on %s? Give --kafka", err, s.Kafka[0])
	}
	return broker, nil
}

// syncTokens is for when all tables are there.
func (e *engines) syncTokens() {
	if e.clickhouse == nil || !e.config.Sync {
		return
	}
	if err := embedded.SyncTokens(e.config.Dir); err != nil {
		e.log.Warn("after a power cut the batch in hand may be stored twice; keep the data folder on ext4 or XFS", "reason",
			err)
	}
}

// watch returns an error when an engine is lost.
func (e *engines) watch(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return e.watchClickHouse(ctx) })
	all.Go(func() error {
		if e.broker == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-e.broker.Broken():
			return errors.New("the disk failed to keep the broker's log; look at it, and start again: what was acknowledged is there")
		}
	})
	return all.Wait()
}

// watchClickHouse starts ClickHouse again whenever it dies, and returns an error when that does not help. Meanwhile
// inserts and queries fail and are retried by those who make them.
func (e *engines) watchClickHouse(ctx context.Context) error {
	if e.clickhouse == nil {
		return nil
	}
	for {
		e.mu.Lock()
		running := e.clickhouse
		e.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil
		case <-running.Done():
		}
		if ctx.Err() != nil {
			return nil
		}
		e.log.Error("ClickHouse died and is started again", "reason", running.Err(), "log",
			filepath.Join(e.config.Dir, "clickhouse.log"))
		// Frees the directory.
		_ = running.Stop(ctx)
		if err := e.restart(ctx); err != nil {
			return err
		}
	}
}

func (e *engines) restart(ctx context.Context) error {
	wait := restartWait
	var last error
	for range restartTries {
		started, err := embedded.StartClickHouse(ctx, e.config)
		if err == nil {
			e.mu.Lock()
			e.clickhouse = started
			e.mu.Unlock()
			e.log.Info("ClickHouse is back", "pid", started.PID())
			return nil
		}
		last = err
		e.log.Error("ClickHouse does not start", "error", err, "again_in", wait.String())
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		wait = min(2*wait, restartMost)
	}
	return fmt.Errorf("ClickHouse does not stay up: %w", last)
}

// stop ends the engines, the broker first: by now nobody uses them.
func (e *engines) stop() {
	e.gate.close()
	if e.broker != nil {
		e.broker.Stop()
	}
	e.mu.Lock()
	running := e.clickhouse
	e.mu.Unlock()
	if running == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	if err := running.Stop(ctx); err != nil {
		e.log.Warn("ClickHouse had to be killed; it loses nothing by that", "error", err)
	}
}

// engineChoice says which engines run elsewhere, and how analysts come to the embedded ClickHouse: whether there is a
// user who sees all, and where those listen to who see an account.
type engineChoice struct {
	Kafka, ClickHouse bool
	BIUser            bool
	BIHTTP            string
}

// checkLibrary is what -check can say of the embedded engine without starting it.
func checkLibrary() error {
	_, err := embedded.FindLibrary("")
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the embedded ClickHouse: %w", err)
	}
	return err
}
