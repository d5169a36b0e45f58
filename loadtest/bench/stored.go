package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/loadtest/postgres"
	"github.com/motorpool/fleet/loadtest/sim"
	"github.com/motorpool/fleet/loadtest/system"
	"github.com/motorpool/fleet/schemas"
)

// StoredOptions say what the queries are asked of.
type StoredOptions struct {
	Fixes    int    // 0 leaves the comparison out
	Vehicles int    //
	Queries  int    // of each kind
	Explain  string // folder for the plans of the queries; "" keeps none
}

// stored is a fleet's history in Motorpool's schema and, if it is installed, in PostgreSQL.
type stored struct {
	s        *system.System
	o        StoredOptions
	cfg      sim.Config
	days     int // that are whole
	postgres *postgres.Server
	rng      *rand.Rand
	report   io.Writer
}

// shift is how long the vehicles are out each day.
const shift fleet.Millis = 16 * 3600 * 1000

// Stored fills both stores with the same tracks and compares how long they take to answer the same questions, in turn.
func Stored(ctx context.Context, s *system.System, o StoredOptions, report io.Writer) (err error) {
	cfg := sim.DefaultConfig()
	cfg.Vehicles, cfg.Reach, cfg.Shift = o.Vehicles, 15_000, shift
	b := &stored{s: s, o: o, cfg: cfg, rng: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0)), report: report}
	perDay := o.Vehicles * int(shift/cfg.Interval)
	if b.days = o.Fixes / perDay; b.days < 1 {
		return fmt.Errorf("%d fixes are not a day of %d vehicles: at least %d are needed", o.Fixes, o.Vehicles, perDay)
	}
	if bin := postgres.Find(); bin != "" {
		if b.postgres, err = postgres.Start(ctx, bin, memoryOfMachine(), s.Log); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, b.postgres.Stop()) }()
	}
	if o.Explain != "" {
		if err := os.MkdirAll(o.Explain, 0o755); err != nil {
			return err
		}
	}
	if err := b.load(ctx); err != nil {
		return err
	}
	fmt.Fprintf(b.report, "### One vehicle's day\n\nAll %d positions of a random vehicle on a random day, every column, until the client has them all, by turns. "+
		"Motorpool's rows are also taken apart into Go values; psql leaves them text.\n\n"+
		"| | queries | Motorpool p50, ms | p99, ms | PostgreSQL p50, ms | p99, ms | ratio of p50 | of p99 |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
		int(shift/cfg.Interval))
	if err := b.oneDay(ctx, "warm, as loading left it", o.Queries); err != nil {
		return fmt.Errorf("one vehicle's day: %w", err)
	}
	switch err := b.cool(ctx, s.Log); {
	case err == nil:
		if err := b.oneDay(ctx, "cold: nothing of the tables in memory at first", max(1, o.Queries/4)); err != nil {
			return fmt.Errorf("one vehicle's day, cold: %w", err)
		}
	case !errors.Is(err, errors.ErrUnsupported):
		return err
	}
	fmt.Fprintln(b.report)
	if err := b.area(ctx); err != nil {
		return fmt.Errorf("area: %w", err)
	}
	return nil
}

// cool makes both stores read from the disk again.
func (b *stored) cool(ctx context.Context, log io.Writer) error {
	fmt.Fprintln(log, "emptying the caches")
	if b.postgres != nil {
		if err := b.postgres.Restart(ctx); err != nil { // for its own buffers
			return err
		}
		if err := forget(b.postgres.Dir); err != nil {
			return err
		}
	}
	return forget(b.s.Dir)
}

// load fills both stores, brings ClickHouse's parts together and makes PostgreSQL's indexes.
func (b *stored) load(ctx context.Context) error {
	for _, table := range []string{"positions", "positions_by_cell"} {
		if err := b.s.DB.Exec(ctx, "TRUNCATE TABLE "+table); err != nil {
			return err
		}
	}
	var rows io.WriteCloser
	var copied io.Writer
	wait := func() error { return nil }
	if b.postgres != nil {
		var err error
		if rows, wait, err = loadPostgres(b.postgres); err != nil {
			return err
		}
		copied = rows
	}
	err := writeTracks(ctx, b.s.DB, copied, b.cfg, b.o.Fixes, b.s.Log)
	if rows != nil {
		err = errors.Join(err, rows.Close())
	}
	if err := errors.Join(err, wait()); err != nil {
		return err
	}
	for _, table := range []string{"positions", "positions_by_cell"} {
		fmt.Fprintf(b.s.Log, "merging %s\n", table)
		if err := b.s.DB.Exec(ctx, "OPTIMIZE TABLE "+table+" FINAL"); err != nil {
			return err
		}
	}
	positions, err := bytesPerRow(ctx, b.s, "positions")
	if err != nil {
		return err
	}
	byCell, err := bytesPerRow(ctx, b.s, "positions_by_cell")
	if err != nil {
		return err
	}
	fmt.Fprintf(b.report, "## Questions about %d stored fixes\n\n%d vehicles around one city, a fix each 10 s for 16 hours of each of %d days. "+
		"On disk, bytes a fix: positions %.1f, its second order by H3 cell %.1f", b.o.Fixes, b.o.Vehicles, b.days,
		positions, byCell)
	if b.postgres != nil {
		fmt.Fprintln(b.s.Log, "making PostgreSQL's indexes")
		if _, err := b.postgres.Run("CREATE INDEX positions_vehicle_time ON positions (vehicle, fix_time)",
			"CREATE INDEX positions_time ON positions USING brin (fix_time)", "ANALYZE positions", "CHECKPOINT"); err != nil {
			return err
		}
		sizes, err := b.postgres.Run(
			"SELECT round(pg_table_size('positions')::numeric / count(*), 1) || ', its index (vehicle, fix_time) ' || " +
				"round(pg_relation_size('positions_vehicle_time')::numeric / count(*), 1) FROM positions")
		if err != nil {
			return err
		}
		fmt.Fprintf(b.report, "; PostgreSQL's table %s", sizes)
	}
	fmt.Fprint(b.report, ".\n\n")
	return nil
}

// memoryOfMachine returns its memory in bytes, or 8 GB where it does not say.
func memoryOfMachine() int64 {
	var kilobytes int64
	text, err := os.ReadFile("/proc/meminfo")
	if err == nil {
		_, err = fmt.Sscanf(string(text), "MemTotal: %d kB", &kilobytes)
	}
	if err != nil {
		return 8 << 30
	}
	return kilobytes << 10
}

// took are the times of one kind of query.
type took []time.Duration

func (t took) at(q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(t))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func (t took) String() string {
	return fmt.Sprintf("%.1f | %.1f", float64(t.at(0.5).Microseconds())/1000, float64(t.at(0.99).Microseconds())/1000)
}

// explain keeps the plans of a query.
func (b *stored) explain(name, text string) error {
	if b.o.Explain == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(b.o.Explain, name+".txt"), []byte(text), 0o644)
}

// explainClickHouse runs EXPLAIN of a query, which must not end with a setting that it cannot take.
func (b *stored) explainClickHouse(ctx context.Context, name, query string, args ...any) error {
	var text strings.Builder
	err := schemas.EachRow(ctx, b.s.DB, "explain "+name, "EXPLAIN indexes = 1 "+query, args, func(row schemas.Row) error {
		var line string
		if err := row.Scan(&line); err != nil {
			return err
		}
		text.WriteString(line + "\n")
		return nil
	})
	if err != nil {
		return err
	}
	return b.explain(name, text.String())
}

func (b *stored) explainPostgres(name, query string) error {
	plan, err := b.postgres.Run("EXPLAIN (ANALYZE, BUFFERS) " + query)
	if err != nil {
		return err
	}
	return b.explain(name, plan+"\n")
}

// window returns a random span of a length that begins while the vehicles are out.
func (b *stored) window(length time.Duration) (from, to fleet.Millis) {
	span := fleet.Millis(length.Milliseconds())
	latest := fleet.Millis(b.days)*24*3600*1000 - max(span, 24*3600*1000-shift)
	for {
		from = b.cfg.Start + fleet.Millis(b.rng.Int64N(int64(max(latest, 1))))
		if length >= 24*time.Hour || (from-b.cfg.Start)%(24*3600*1000) < shift {
			return from, from + span
		}
	}
}

// oneDay asks for all positions of a random vehicle on a random day, by Motorpool's own query.
func (b *stored) oneDay(ctx context.Context, state string, queries int) (err error) {
	query := schemas.Query("positions_track")
	var psql *session
	if b.postgres != nil {
		if psql, err = postgresSession(b.postgres); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, psql.close()) }()
	}
	var ours, theirs took
	const first = 2 // open connections and load code
	for i := range queries + first {
		vehicle := uint64(1 + b.rng.IntN(b.o.Vehicles))
		from := b.cfg.Start + fleet.Millis(b.rng.IntN(b.days))*24*3600*1000
		to := from + 24*3600*1000
		args := []any{clickhouse.Named("account", uint64(trackAccount)), clickhouse.Named("vehicle", vehicle),
			clickhouse.Named("from", int64(from)), clickhouse.Named("to", int64(to)), clickhouse.Named("limit", uint64(1<<62))}
		sql := fmt.Sprintf("FROM positions WHERE account = %d AND vehicle = %d AND fix_time >= to_timestamp(%d) AND fix_time < to_timestamp(%d)",
			trackAccount, vehicle, from/1000, to/1000)
		all := "SELECT device, fix_time, device_time, received_at, lat, lng, altitude_m, speed_mps, course_deg, accuracy_m, odometer_m, satellites, ignition, " +
			"motion, alarm, cell, flags " + sql + " ORDER BY fix_time"
		begun := time.Now()
		n, err := b.readTrack(ctx, query, args)
		if err != nil {
			return err
		}
		our := time.Since(begun)
		if want := int(shift / b.cfg.Interval); n != want {
			return fmt.Errorf("%d positions of vehicle %d on a day of %d", n, vehicle, want)
		}
		var their time.Duration
		if psql != nil {
			if their, err = psql.time(all); err != nil {
				return err
			}
		}
		if i < first {
			if err := b.sameDay(n, sql); err != nil {
				return err
			}
			continue
		}
		ours, theirs = append(ours, our), append(theirs, their)
		if i == first {
			if err := b.explainClickHouse(ctx, "day_clickhouse", query, args...); err != nil {
				return err
			}
			if psql != nil {
				if err := b.explainPostgres("day_postgres", all); err != nil {
					return err
				}
			}
		}
	}
	if psql == nil {
		fmt.Fprintf(b.report, "| %s | %d | %s | not installed | | | |\n", state, len(ours), ours)
		return nil
	}
	fmt.Fprintf(b.report, "| %s | %d | %s | %s | %.1f | %.1f |\n", state, len(ours), ours, theirs,
		theirs.at(0.5).Seconds()/ours.at(0.5).Seconds(), theirs.at(0.99).Seconds()/ours.at(0.99).Seconds())
	return nil
}

// sameDay holds the number of positions against PostgreSQL's.
func (b *stored) sameDay(n int, sql string) error {
	if b.postgres == nil {
		return nil
	}
	count, err := b.postgres.Run("SELECT count(*) " + sql)
	if err == nil && count != fmt.Sprint(n) {
		err = fmt.Errorf("%d positions here, %s in PostgreSQL", n, count)
	}
	return err
}

// readTrack reads every column of a track and returns how many positions it has.
func (b *stored) readTrack(ctx context.Context, query string, args []any) (int, error) {
	var position fleet.StoredPosition
	into := position.Columns() // once, as the product does
	n := 0
	err := schemas.EachRow(ctx, b.s.DB, "read a track", query, args, func(row schemas.Row) error {
		if err := row.Scan(into...); err != nil {
			return err
		}
		n++
		return nil
	})
	return n, err
}
