// Package postgres runs a PostgreSQL server that something is compared with.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Server is a PostgreSQL server of the benchmark's own, on loopback, in a folder that is removed with it. Its data is
// not safe against a crash: loading is not what is measured.
type Server struct {
	bin, Dir string
	port     int
	as       *syscall.Credential // PostgreSQL refuses to run as root
	args     []string            // of the server
	log      io.Writer
	server   *exec.Cmd
}

// Find returns the folder of the newest PostgreSQL programs that are installed, "" for none.
func Find() string {
	newest, best := "", -1
	folders, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is well formed
	for _, folder := range folders {
		if version, err := strconv.Atoi(filepath.Base(filepath.Dir(folder))); err == nil && version > best {
			newest, best = folder, version
		}
	}
	if newest != "" {
		return newest
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	return ""
}

// Start makes a server in a folder for temporary files and starts it with a quarter of the memory, in bytes,
// for its buffers.
func Start(ctx context.Context, bin string, memory int64, log io.Writer) (*Server, error) {
	dir, err := os.MkdirTemp("", "motorpool-postgres-")
	if err != nil {
		return nil, err
	}
	p := &Server{bin: bin, Dir: dir, log: log}
	if err := p.create(ctx, memory); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

func (p *Server) create(ctx context.Context, memory int64) error {
	dir := p.Dir
	if os.Geteuid() == 0 {
		account, err := user.Lookup("postgres")
		if err != nil {
			return err
		}
		uid, err := strconv.Atoi(account.Uid)
		if err != nil {
			return err
		}
		gid, err := strconv.Atoi(account.Gid)
		if err != nil {
			return err
		}
		p.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			return err
		}
	}
	if out, err := p.command("initdb", "-D", filepath.Join(dir, "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8",
		"--locale=C", "-N").CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p.port = l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return err
	}
	p.args = []string{"-D", filepath.Join(dir, "data"), "-p", strconv.Itoa(p.port), "-h", "127.0.0.1", "-k", dir}
	for _, setting := range []string{
		fmt.Sprintf("shared_buffers=%dMB", memory>>22), fmt.Sprintf("effective_cache_size=%dMB", memory>>21),
		"maintenance_work_mem=1GB", "work_mem=64MB", "random_page_cost=1.1", "fsync=off", "synchronous_commit=off",
		"wal_level=minimal", "max_wal_senders=0", "max_wal_size=16GB", "autovacuum=off", "log_min_messages=fatal",
	} {
		p.args = append(p.args, "-c", setting)
	}
	return p.start(ctx)
}

// Restart ends the server in good order and starts it again.
func (p *Server) Restart(ctx context.Context) error {
	if err := p.server.Process.Signal(syscall.SIGINT); err != nil {
		return err
	}
	if err := p.server.Wait(); err != nil {
		return fmt.Errorf("stop postgres: %w", err)
	}
	return p.start(ctx)
}

func (p *Server) start(ctx context.Context) error {
	p.server = p.command("postgres", p.args...)
	p.server.Stderr = p.log
	if err := p.server.Start(); err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for p.command("pg_isready", "-q", "-h", p.Dir, "-p", strconv.Itoa(p.port)).Run() != nil {
		select {
		case <-ctx.Done():
			return fmt.Errorf("start postgres: %w", ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}

func (p *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.bin, name), args...)
	cmd.Dir = p.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	return cmd
}

// PSQL is a psql that talks to the server.
func (p *Server) PSQL(args ...string) *exec.Cmd {
	return p.command("psql", append([]string{"-X", "-q", "-h", p.Dir, "-p", strconv.Itoa(p.port), "-U", "postgres", "-v",
		"ON_ERROR_STOP=1"}, args...)...)
}

// Run executes statements and returns what they print, without decoration.
func (p *Server) Run(statements ...string) (string, error) {
	args := []string{"-A", "-t"}
	for _, s := range statements {
		args = append(args, "-c", s)
	}
	out, err := p.PSQL(args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("psql: %w: %s", err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// URL is how a program on this machine connects to it.
func (p *Server) URL() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres", p.port)
}

// PID is the process id of the server, of which those of its connections are children.
func (p *Server) PID() int { return p.server.Process.Pid }

// Stop ends the server at once and removes its folder.
func (p *Server) Stop() error {
	var err error
	if p.server != nil && p.server.Process != nil {
		err = p.server.Process.Signal(syscall.SIGQUIT)
		_ = p.server.Wait() // says that it was ended
	}
	return errors.Join(err, os.RemoveAll(p.Dir))
}
