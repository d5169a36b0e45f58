// Package system runs a whole Motorpool for benchmarks and crash tests: a ClickHouse and a broker of its own, each in a
// process that can be killed and started again, and the built motorpool binary against them. What it runs listens on
// loopback and ends with the process that uses it.
//
// The broker's process is the calling program, executed again: main or TestMain calls ServeBroker first.
package system

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/deploy/embedded"
)

const brokerCommand = "loadtest-broker"

// ServeBroker turns the process into a broker if it was executed for that, and otherwise returns at once. The broker
// ends when its standard input does.
func ServeBroker() {
	if len(os.Args) != 4 || os.Args[1] != brokerCommand {
		return
	}
	broker, err := embedded.StartBroker(embedded.BrokerConfig{Dir: os.Args[2], Addr: os.Args[3], MaxBytes: 16 << 30})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(broker.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	broker.Stop()
	os.Exit(0)
}

// System is a ClickHouse, a broker and the motorpool binary that runs against them. It is for one goroutine, but for
// Output.
type System struct {
	Binary string // path of the motorpool binary
	Dir    string
	DB     driver.Conn // database motorpool, every right; survives a restart of ClickHouse
	Log    io.Writer   // takes what the started processes say

	kafka      string // address of the broker
	broker     *exec.Cmd
	hangUp     io.Closer // the broker's standard input
	clickhouse *embedded.ClickHouse
	engine     embedded.ClickHouseConfig
	password   string
	http, ops  string
	processes  []*Process
}

// Start starts the two stores in dir and applies the schema. With kafka it uses the broker at that address instead of
// one of its own.
func Start(ctx context.Context, binary, dir, kafka string, log io.Writer) (*System, error) {
	s := &System{Binary: binary, Dir: dir, Log: log, kafka: kafka, password: rand.Text()}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *System) start(ctx context.Context) (err error) {
	if s.kafka == "" {
		s.kafka = "127.0.0.1:0"
		if err := s.StartBroker(); err != nil {
			return err
		}
	}
	s.engine = embedded.ClickHouseConfig{
		Dir:     filepath.Join(s.Dir, "clickhouse"),
		Users:   []embedded.User{embedded.AppUser("motorpool", s.password)},
		Command: []string{s.Binary, embedded.ChildCommand},
	}
	if err := s.StartClickHouse(ctx); err != nil {
		return err
	}
	if s.http, err = freeAddr(); err != nil {
		return err
	}
	if s.ops, err = freeAddr(); err != nil {
		return err
	}
	if _, err := s.Output("migrate"); err != nil {
		return err
	}
	s.DB, err = clickhouse.Open(&clickhouse.Options{
		Addr:        []string{s.clickhouse.Addr()},
		Auth:        clickhouse.Auth{Database: "motorpool", Username: "motorpool", Password: s.password},
		ReadTimeout: 10 * time.Minute,
	})
	return err
}

// StartBroker starts the broker, where it was if it ran before.
func (s *System) StartBroker() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, brokerCommand, filepath.Join(s.Dir, "broker"), s.kafka)
	cmd.Stderr = s.Log
	if s.hangUp, err = cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start broker: %w", err)
	}
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("start broker: %w", errors.Join(err, cmd.Wait()))
	}
	s.broker, s.kafka = cmd, strings.TrimSpace(addr)
	return nil
}

// OwnsBroker says whether the broker is this system's, and may be killed.
func (s *System) OwnsBroker() bool { return s.broker != nil }

// KillBroker ends the broker with SIGKILL.
func (s *System) KillBroker() error {
	if err := s.broker.Process.Kill(); err != nil {
		return err
	}
	_ = s.broker.Wait()  // says that it was killed
	_ = s.hangUp.Close() // and has closed this
	return nil
}

// StartClickHouse starts ClickHouse, where it was if it ran before.
func (s *System) StartClickHouse(ctx context.Context) (err error) {
	err = whenFree(func() error {
		s.clickhouse, err = embedded.StartClickHouse(ctx, s.engine)
		return err
	})
	if err != nil {
		return err
	}
	s.engine.TCPAddr, s.engine.HTTPAddr = s.clickhouse.Addr(), s.clickhouse.HTTPAddr()
	return nil
}

// KillClickHouse ends ClickHouse with SIGKILL.
func (s *System) KillClickHouse(ctx context.Context) error {
	if err := syscall.Kill(s.clickhouse.PID(), syscall.SIGKILL); err != nil {
		return err
	}
	<-s.clickhouse.Done()
	return s.clickhouse.Stop(ctx) // frees the folder
}

// Kafka returns host:port of the broker.
func (s *System) Kafka() string { return s.kafka }

// URL returns the address of the interface, if a "serve" runs.
func (s *System) URL() string { return "http://" + s.http }

// Command returns a motorpool command that is set up for this system and not started yet. Its errors and log lines go
// to s.Log.
func (s *System) Command(args ...string) *exec.Cmd {
	cmd := exec.Command(s.Binary, args...)
	cmd.Env = append(os.Environ(),
		"MOTORPOOL_DATA="+s.Dir,
		"MOTORPOOL_KAFKA="+s.kafka,
		"MOTORPOOL_KAFKA_PARTITIONS=4",
		"MOTORPOOL_KAFKA_REPLICATION=1",
		"MOTORPOOL_CLICKHOUSE="+s.clickhouse.Addr(),
		"MOTORPOOL_CLICKHOUSE_HTTP="+s.clickhouse.HTTPAddr(),
		"MOTORPOOL_CLICKHOUSE_USER=motorpool",
		"MOTORPOOL_CLICKHOUSE_PASSWORD="+s.password,
		"MOTORPOOL_HTTP="+s.http,
		"MOTORPOOL_OPS="+s.ops,
	)
	cmd.Stderr = s.Log
	return cmd
}

// Output runs a motorpool command to its end and returns what it prints, without the space around it.
func (s *System) Output(args ...string) (string, error) {
	out, err := s.Command(args...).Output()
	if err != nil {
		return "", fmt.Errorf("motorpool %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Process is a motorpool command that runs until it is ended.
type Process struct {
	cmd   *exec.Cmd
	ended bool // Stop or Kill was called
}

// Start starts a motorpool command.
func (s *System) Start(args ...string) (*Process, error) {
	cmd := s.Command(args...)
	cmd.Stdout = s.Log
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("motorpool %s: %w", args[0], err)
	}
	p := &Process{cmd: cmd}
	s.processes = append(s.processes, p)
	return p, nil
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Used returns the processor time that the process has used, and the memory that it has now, in bytes.
func (p *Process) Used() (cpu time.Duration, memory int64, err error) { return Used(p.PID()) }

// Stop asks the process to end, waits for it and returns the processor time and the most memory it used, in bytes. That
// it did not end well is an error.
func (p *Process) Stop() (cpu time.Duration, memory int64, err error) {
	p.ended = true
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return 0, 0, err
	}
	if err := p.cmd.Wait(); err != nil {
		return 0, 0, fmt.Errorf("motorpool %s: %w", p.cmd.Args[1], err)
	}
	state := p.cmd.ProcessState
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		memory = usage.Maxrss << 10 // Linux counts in KiB
	}
	return state.UserTime() + state.SystemTime(), memory, nil
}

// Kill ends the process with SIGKILL.
func (p *Process) Kill() error {
	p.ended = true
	if err := p.cmd.Process.Kill(); err != nil {
		return err
	}
	_ = p.cmd.Wait() // says that it was killed
	return nil
}

// Stop ends the stores, and kills what was started and not ended.
func (s *System) Stop() error {
	var errs []error
	for _, p := range s.processes {
		if !p.ended {
			errs = append(errs, p.Kill())
		}
	}
	if s.DB != nil {
		errs = append(errs, s.DB.Close())
	}
	if s.clickhouse != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		errs = append(errs, s.clickhouse.Stop(ctx))
	}
	if s.broker != nil {
		errs = append(errs, s.hangUp.Close(), s.broker.Wait())
	}
	return errors.Join(errs...)
}

// whenFree starts something. On a busy machine the port that it had before may be the near end of somebody's connection
// by now, and is waited for.
func whenFree(start func() error) error {
	for giveUp := time.Now().Add(30 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		err := start()
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(giveUp) {
			return err
		}
	}
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
