package screenload

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/loadtest/postgres"
	"github.com/motorpool/fleet/loadtest/system"
)

const thinCommand = "loadtest-postgres"

// ServeThin turns the process into the thinnest handler that a page of vehicles can come from PostgreSQL by, if it was
// executed for that, and otherwise returns at once: a router, one prepared statement, and texts put together as they
// are stored. It knows neither keys nor limits, counts nothing and logs nothing. It ends when its standard input does.
func ServeThin() {
	if len(os.Args) != 3 || os.Args[1] != thinCommand {
		return
	}
	if err := serveThin(context.Background(), os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serveThin(ctx context.Context, url string) error {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return err
	}
	config.MaxConns = 8
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	router := chi.NewRouter()
	router.Get("/vehicles", func(w http.ResponseWriter, r *http.Request) {
		// pgx prepares a statement once on each connection, by its text.
		rows, err := pool.Query(r.Context(), `SELECT body FROM vehicles WHERE account = $1 AND status = $2
			ORDER BY license_plate DESC, id LIMIT 20`, 1, r.URL.Query().Get("status"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer rows.Close()
		answer := []byte(`{"data":[`)
		for rows.Next() {
			if answer[len(answer)-1] != '[' {
				answer = append(answer, ',')
			}
			answer = append(answer, rows.RawValues()[0]...)
		}
		if err := rows.Err(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer = append(answer, "]}\n"...)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		_, _ = w.Write(answer) // the client may be gone
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		l.Close()
	}()
	if err := http.Serve(l, router); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Thin is a PostgreSQL with the vehicles of an account, as they are answered, and the handler before it.
type Thin struct {
	server  *postgres.Server
	handler *exec.Cmd
	hangUp  io.Closer
	url     string
}

// StartThin starts both with a quarter of some memory, in bytes; nil if there is no PostgreSQL.
func StartThin(ctx context.Context, memory int64, log io.Writer) (*Thin, error) {
	bin := postgres.Find()
	if bin == "" {
		return nil, nil
	}
	server, err := postgres.Start(ctx, bin, memory, log)
	if err != nil {
		return nil, err
	}
	t := &Thin{server: server}
	if err := t.start(); err != nil {
		return nil, errors.Join(err, t.Stop())
	}
	return t, nil
}

func (t *Thin) start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	t.handler = exec.Command(self, thinCommand, t.server.URL())
	t.handler.Stderr = os.Stderr
	if t.hangUp, err = t.handler.StdinPipe(); err != nil {
		return err
	}
	out, err := t.handler.StdoutPipe()
	if err != nil {
		return err
	}
	if err := t.handler.Start(); err != nil {
		return err
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	t.url = "http://" + strings.TrimSpace(address)
	return err
}

// fill puts vehicles into the table, each the JSON of one with an id and a plate of its own, and an index for the page.
func (t *Thin) fill(vehicle []byte, plate string, first uint64, vehicles int) error {
	_, err := t.server.Run(`CREATE TABLE vehicles (account bigint, id bigint, status text, license_plate text, body text,
		PRIMARY KEY (account, id))`,
		fmt.Sprintf(`INSERT INTO vehicles SELECT 1, %d + n, 'available', plate,
			replace(replace(%s, %s, plate), %s, '%s' || (%d + n)) FROM (SELECT n, 'P' || upper(substr(md5(n::text), 1, 8)) plate
			FROM generate_series(0, %d) n) AS all_of_them`, first, quoted(string(vehicle)), quoted(plate),
			quoted(fleet.FormatID(fleet.VehiclePrefix, first)), fleet.VehiclePrefix, first, vehicles-1),
		"CREATE INDEX vehicles_page ON vehicles (account, status, license_plate DESC, id)", "ANALYZE vehicles")
	return err
}

// quoted is a text as SQL has it.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Used is the processor time of the handler, and of the server with its connections.
func (t *Thin) Used() (time.Duration, error) {
	handler, _, err := system.Used(t.handler.Process.Pid)
	if err != nil {
		return 0, err
	}
	server, err := system.UsedByAll(t.server.PID())
	return handler + server, err
}

// Stop ends both.
func (t *Thin) Stop() error {
	var err error
	if t.handler != nil && t.handler.Process != nil {
		err = errors.Join(t.hangUp.Close(), t.handler.Wait())
	}
	return errors.Join(err, t.server.Stop())
}
