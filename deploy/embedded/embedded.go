// Package embedded runs the two engines of Motorpool on one machine, with
// nothing to install beside the binary: the real ClickHouse as a child
// process, and a broker that speaks the Kafka protocol inside this process.
//
// `motorpool up` starts both; a larger installation names the addresses of
// its own servers instead and never calls this package. The engines keep
// their data in the directories they are given, survive kill -9 of any
// process, and stop when the process that started them ends, however it ends.
//
// # What one machine does not give
//
// There is one copy of everything. Unless they are told to sync
// ([BrokerConfig.Sync], [ClickHouseConfig.Sync] and [SyncTokens]), both
// engines leave flushing to the operating system, so that what survives a
// killed process does not survive a power cut.
//
// The embedded ClickHouse is `clickhouse local` with its listeners on. In
// that mode the SQL function file() reads any file this process can read and
// no grant stops it. The listening session's own user, default, is therefore
// kept from logging in at all; but whoever has the password of any user,
// [BIUser] included, can read this machine's files with it, other accounts'
// column files among them. Hand out a database password of the embedded
// engine only to people who may see everything on the machine. A ClickHouse
// server confines file() to its user_files directory and has no such hole.
// Everybody else comes through a [Gate], which refuses what reads past grants
// and row filters, and by a password that the engine does not know.
//
// The engine also aborts when a native handshake fails. A guard in this
// process checks every login before the engine sees it; a local program that
// looks for the engine's own port can still crash it. No data is lost then,
// and [ClickHouse.Done] tells.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrInUse reports that another process runs an engine on the same directory.
var ErrInUse = errors.New("directory is in use by another engine")

// lockDir creates dir and takes an exclusive lock on it, waiting until ctx
// ends for a holder that is going away. The lock lasts as long as any process
// has the returned file open, so a child that inherits it keeps it.
func lockDir(ctx context.Context, dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("%s: %w", dir, ErrInUse)
		case <-retry.C:
		}
	}
}

// requireLoopback refuses a host:port that another machine could reach.
func requireLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("%s is not on the loopback interface", addr)
	}
	return nil
}
