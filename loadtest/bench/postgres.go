package bench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/motorpool/fleet/loadtest/postgres"
)

// loadPostgres makes the table and takes its rows in binary COPY format until the writer is closed; wait then tells how
// it went. Rows of the transaction that made their table need no vacuum afterwards.
func loadPostgres(p *postgres.Server) (rows io.WriteCloser, wait func() error, err error) {
	cmd := p.PSQL("-c", "BEGIN", "-c", createCopied, "-c", "COPY positions FROM STDIN (FORMAT binary, FREEZE)",
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

func postgresSession(p *postgres.Server) (*session, error) {
	s := &session{cmd: p.PSQL("-A", "-t")}
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
