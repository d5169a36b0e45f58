package bench

import (
	"bufio"
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

// postgres is a PostgreSQL server of the benchmark's own, on loopback, in a folder that is removed with it. Its data is
// not safe against a crash: loading is not what is measured.
type postgres struct {
	bin, dir string
	port     int
	as       *syscall.Credential // PostgreSQL refuses to run as root
	args     []string            // of the server
	log      io.Writer
	server   *exec.Cmd
}

// findPostgres returns the folder of the newest PostgreSQL programs that are installed, "" for none.
func findPostgres() string {
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

// startPostgres makes a server in a folder for temporary files and starts it with a quarter of the memory, in bytes,
// for its buffers.
func startPostgres(ctx context.Context, bin string, memory int64, log io.Writer) (*postgres, error) {
	dir, err := os.MkdirTemp("", "motorpool-postgres-")
	if err != nil {
		return nil, err
	}
	p := &postgres{bin: bin, dir: dir, log: log}
	if err := p.create(ctx, memory); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

func (p *postgres) create(ctx context.Context, memory int64) error {
	dir := p.dir
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

// restart ends the server in good order and starts it again.
func (p *postgres) restart(ctx context.Context) error {
	if err := p.server.Process.Signal(syscall.SIGINT); err != nil {
		return err
	}
	if err := p.server.Wait(); err != nil {
		return fmt.Errorf("stop postgres: %w", err)
	}
	return p.start(ctx)
}

func (p *postgres) start(ctx context.Context) error {
	p.server = p.command("postgres", p.args...)
	p.server.Stderr = p.log
	if err := p.server.Start(); err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err := await(ctx, pollEvery, func() (bool, error) {
		return p.command("pg_isready", "-q", "-h", p.dir, "-p", strconv.Itoa(p.port)).Run() == nil, nil
	})
	if err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	return nil
}

func (p *postgres) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.bin, name), args...)
	cmd.Dir = p.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	return cmd
}

func (p *postgres) psql(args ...string) *exec.Cmd {
	return p.command("psql", append([]string{"-X", "-q", "-h", p.dir, "-p", strconv.Itoa(p.port), "-U", "postgres", "-v",
		"ON_ERROR_STOP=1"}, args...)...)
}

// run executes statements and returns what they print, without decoration.
func (p *postgres) run(statements ...string) (string, error) {
	args := []string{"-A", "-t"}
	for _, s := range statements {
		args = append(args, "-c", s)
	}
	out, err := p.psql(args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("psql: %w: %s", err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// load makes the table and takes its rows in binary COPY format until the writer is closed; wait then tells how it
// went. Rows of the transaction that made their table need no vacuum afterwards.
func (p *postgres) load() (rows io.WriteCloser, wait func() error, err error) {
	cmd := p.psql("-c", "BEGIN", "-c", createCopied, "-c", "COPY positions FROM STDIN (FORMAT binary, FREEZE)",
		"-c", "COMMIT")
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if rows, err = cmd.StdinPipe(); err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	return rows, func() error {
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("copy: %w: %s", err, &said)
		}
		return nil
	}, nil
}

// session is one connection of psql, which takes the time of each statement and drops its rows.
type session struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (p *postgres) session() (*session, error) {
	s := &session{cmd: p.psql("-A", "-t")}
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	_, err = io.WriteString(s.in, "\\timing on\n\\o /dev/null\n")
	return s, err
}

// time runs a statement and returns how long it took until the client had all rows.
func (s *session) time(statement string) (time.Duration, error) {
	if _, err := io.WriteString(s.in, statement+";\n"); err != nil {
		return 0, err
	}
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			return 0, fmt.Errorf("psql: %w", err)
		}
		if words := strings.Fields(line); len(words) >= 3 && words[0] == "Time:" {
			ms, err := strconv.ParseFloat(words[1], 64)
			return time.Duration(ms * float64(time.Millisecond)), err
		}
	}
}

func (s *session) close() error {
	return errors.Join(s.in.Close(), s.cmd.Wait())
}

// stop ends the server at once and removes its folder.
func (p *postgres) stop() error {
	var err error
	if p.server != nil && p.server.Process != nil {
		err = p.server.Process.Signal(syscall.SIGQUIT)
		_ = p.server.Wait() // says that it was ended
	}
	return errors.Join(err, os.RemoveAll(p.dir))
}
