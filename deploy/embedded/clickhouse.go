package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// ClickHouseConfig says where and for whom the embedded ClickHouse runs.
type ClickHouseConfig struct {
	// Dir holds the engine's data, configuration and logs. It is created,
	// readable by its owner only, and belongs to one engine at a time.
	Dir string
	// TCPAddr and HTTPAddr are host:port of the native and HTTP protocols on
	// the loopback interface, since neither is encrypted; port 0 picks a free
	// one. Both default to 127.0.0.1:0. Behind TCPAddr the engine has a native
	// port of its own, picked at each start.
	TCPAddr, HTTPAddr string
	// Users may log in. The first one is the one whose ping tells that the
	// engine is up, so it needs no particular rights.
	Users []User
	// Library is the path of libchdb.so; empty asks FindLibrary.
	Library string
	// LogFile takes the engine's log, by default clickhouse.log in Dir. It is
	// rotated at 10 MB and three older ones are kept, compressed.
	LogFile string
	// LogLevel is ClickHouse's name of a level; "warning" by default.
	LogLevel string
	// MemoryBytes bounds what the engine may allocate. If it is 0, MemoryRatio
	// of the machine's memory does; a third by default.
	MemoryBytes uint64
	MemoryRatio float64
	// Sync has every insert on the disk before it is acknowledged, and what
	// merges make before it counts. Without it an acknowledged insert
	// survives kill -9, not a power cut. A table's own settings win.
	Sync bool
	// KeepFree is how many bytes of its disk the engine leaves free: inserts
	// that would go below are refused as NOT_ENOUGH_SPACE, merges go on.
	KeepFree uint64
	// Command starts the child: a program and the arguments that lead it to
	// ServeClickHouse, to which -library, -config and -log-level are added.
	// By default this executable with [ChildCommand].
	Command []string
}

func (c *ClickHouseConfig) setDefaults() error {
	if c.Dir == "" {
		return errors.New("no directory is given")
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	c.Dir = dir
	if c.TCPAddr == "" {
		c.TCPAddr = "127.0.0.1:0"
	}
	if c.HTTPAddr == "" {
		c.HTTPAddr = "127.0.0.1:0"
	}
	for _, addr := range []string{c.TCPAddr, c.HTTPAddr} {
		if err := requireLoopback(addr); err != nil {
			return err
		}
	}
	if c.LogFile == "" {
		c.LogFile = filepath.Join(dir, "clickhouse.log")
	}
	if c.LogLevel == "" {
		c.LogLevel = "warning"
	}
	if c.MemoryRatio == 0 {
		c.MemoryRatio = 1.0 / 3
	}
	if len(c.Users) == 0 {
		return errors.New("no user: nobody could log in")
	}
	names := map[string]bool{}
	for _, u := range c.Users {
		if err := u.validate(); err != nil {
			return err
		}
		if names[u.Name] {
			return fmt.Errorf("two users named %s", u.Name)
		}
		names[u.Name] = true
	}
	if c.Library == "" {
		if c.Library, err = FindLibrary(""); err != nil {
			return err
		}
	}
	if len(c.Command) == 0 {
		exe, err := os.Executable()
		if err != nil {
			return err
		}
		c.Command = []string{exe, ChildCommand}
	}
	return nil
}

// ClickHouse is a running engine. Its methods may be called from any
// goroutine.
type ClickHouse struct {
	tcp, http string
	pid       int
	lock      *os.File
	guard     *guard
	done      chan struct{} // closed once the child is gone
	err       error         // why it ended; written before done is closed
	stopping  chan struct{} // closed by the first Stop
	stop      sync.Once
	process   *os.Process
}

// lockWait is how long a start waits for a killed predecessor's process to be
// gone from the directory.
const lockWait = 3 * time.Second

// StartClickHouse starts the engine and returns once its first user can log
// in, in about half a second on a directory with little data. It returns
// [ErrInUse] if another engine runs on the directory, and [ErrNoLibrary] if
// there is no libchdb.so; a child that ends early is an error that quotes its
// last words. The engine outlives ctx, which bounds the start only; it does
// not outlive this process.
func StartClickHouse(ctx context.Context, config ClickHouseConfig) (*ClickHouse, error) {
	c := config
	if err := c.setDefaults(); err != nil {
		return nil, fmt.Errorf("start ClickHouse: %w", err)
	}
	lockCtx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock, err := lockDir(lockCtx, c.Dir)
	if err != nil {
		return nil, fmt.Errorf("start ClickHouse: %w", err)
	}
	ch, err := c.start(ctx, lock)
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("start ClickHouse: %w", err)
	}
	return ch, nil
}

// start runs the child behind its guard. A port that was free when it was
// picked may be taken by the time the child binds it: it gets three tries.
func (c *ClickHouseConfig) start(ctx context.Context, lock *os.File) (*ClickHouse, error) {
	listener, err := net.Listen("tcp", c.TCPAddr)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		var ch *ClickHouse
		if ch, err = c.startOn(ctx, lock, listener); err == nil {
			return ch, nil
		}
		if attempt == 3 || ctx.Err() != nil || !strings.Contains(err.Error(), "Address already in use") {
			listener.Close()
			return nil, err
		}
	}
}

func (c *ClickHouseConfig) startOn(ctx context.Context, lock *os.File, listener net.Listener) (*ClickHouse, error) {
	host, http, err := resolve(c.HTTPAddr)
	if err != nil {
		return nil, err
	}
	_, tcp, err := resolve(net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, err
	}
	configFile := filepath.Join(c.Dir, "config.xml")
	if err := c.serverXML(c.Dir, host, tcp, http).write(configFile); err != nil {
		return nil, err
	}
	if err := c.usersXML().write(filepath.Join(c.Dir, "users.xml")); err != nil {
		return nil, err
	}
	outPath := filepath.Join(c.Dir, "clickhouse.out")
	out, err := os.OpenFile(outPath, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()

	child := ChildConfig{Library: c.Library, Config: configFile, LogLevel: c.LogLevel}
	cmd := exec.Command(c.Command[0], append(c.Command[1:len(c.Command):len(c.Command)], child.args()...)...)
	cmd.Dir = c.Dir // relative paths in SQL start here
	cmd.Stdout, cmd.Stderr = out, out
	cmd.ExtraFiles = []*os.File{lock} // the directory is taken until the child too is gone
	cmd.SysProcAttr = childAttr()
	// Its other end closes when this process ends; that ends the child.
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, err
	}

	ch := &ClickHouse{
		tcp:      listener.Addr().String(),
		http:     net.JoinHostPort(host, strconv.Itoa(http)),
		lock:     lock,
		guard:    newGuard(listener, net.JoinHostPort(host, strconv.Itoa(tcp)), c.Users),
		done:     make(chan struct{}),
		stopping: make(chan struct{}),
	}
	started := make(chan error)
	go ch.run(cmd, started)
	if err := <-started; err != nil {
		return nil, err
	}
	if err := ch.awaitLogin(ctx, c.Users[0], ch.guard.engine); err != nil {
		_ = ch.process.Kill()
		<-ch.done
		if said := tail(outPath); said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return nil, err
	}
	go ch.guard.serve()
	go func() {
		<-ch.done
		listener.Close()
	}()
	return ch, nil
}

// run starts the child and waits for it on one thread of its own: the kernel
// sends the parent-death signal when the thread that forked ends.
func (ch *ClickHouse) run(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	if err == nil {
		ch.process, ch.pid = cmd.Process, cmd.Process.Pid
	}
	started <- err
	if err != nil {
		return
	}
	err = cmd.Wait()
	select {
	case <-ch.stopping:
	default:
		if err == nil {
			err = errors.New("exit status 0")
		}
		ch.err = fmt.Errorf("ClickHouse ended by itself: %w", err)
	}
	close(ch.done)
}

// awaitLogin returns when u can log in on the engine's native port and the
// HTTP port accepts connections too, or with the reason why that will not
// happen.
func (ch *ClickHouse) awaitLogin(ctx context.Context, u User, engine string) error {
	db, err := clickhouse.Open(&clickhouse.Options{
		Addr:        []string{engine},
		Auth:        clickhouse.Auth{Username: u.Name, Password: u.Password},
		DialTimeout: time.Second,
	})
	if err != nil {
		return err
	}
	defer db.Close()
	retry := time.NewTicker(10 * time.Millisecond)
	defer retry.Stop()
	for {
		err := db.Ping(ctx)
		if err == nil {
			var conn net.Conn
			if conn, err = net.Dial("tcp", ch.http); err == nil {
				return conn.Close()
			}
		}
		var refused *clickhouse.Exception
		if errors.As(err, &refused) {
			return fmt.Errorf("log in as %s: %w", u.Name, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no answer on %s: %w", engine, ctx.Err())
		case <-ch.done:
			return ch.err
		case <-retry.C:
		}
	}
}

// Addr is host:port of the native protocol.
func (ch *ClickHouse) Addr() string { return ch.tcp }

// HTTPAddr is host:port of the HTTP protocol.
func (ch *ClickHouse) HTTPAddr() string { return ch.http }

// PID is the process id of the child.
func (ch *ClickHouse) PID() int { return ch.pid }

// Done is closed when the child is gone, whoever ended it.
func (ch *ClickHouse) Done() <-chan struct{} { return ch.done }

// Err tells why the child is gone: nil while it runs and after Stop.
func (ch *ClickHouse) Err() error {
	select {
	case <-ch.done:
		return ch.err
	default:
		return nil
	}
}

// Stop asks the engine to end and waits for it, which takes up to a second;
// when ctx ends first the engine is killed, which loses nothing either. It
// frees the directory and may be called again.
func (ch *ClickHouse) Stop(ctx context.Context) error {
	ch.stop.Do(func() { close(ch.stopping) })
	if err := ch.process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop ClickHouse: %w", err)
	}
	defer ch.lock.Close()
	select {
	case <-ch.done:
		return nil
	case <-ctx.Done():
		_ = ch.process.Kill()
		<-ch.done
		return fmt.Errorf("stop ClickHouse: killed: %w", ctx.Err())
	}
}

// resolve splits host:port and turns port 0 into a free one.
func resolve(addr string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, err
	}
	if port, err = strconv.Atoi(text); err != nil || port != 0 {
		return host, port, err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", 0, err
	}
	defer l.Close()
	return host, l.Addr().(*net.TCPAddr).Port, nil
}

// tail returns the last few hundred bytes of a file.
func tail(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	const most = 600
	if len(text) > most {
		text = text[len(text)-most:]
	}
	return strings.TrimSpace(string(text))
}
