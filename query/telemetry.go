package query

import (
	"context"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// SeriesFilter says which measurements of a vehicle are wanted.
type SeriesFilter struct {
	Account fleet.AccountID
	Vehicle fleet.VehicleID
	Signals []fleet.Signal

	From, To fleet.Millis  // [From, To); for buckets, widened to whole ones
	Every    time.Duration // length of a bucket, a whole number of minutes; 0 for the measurements themselves

	AfterSignal   string       // of a page before: its last signal
	AfterTime     fleet.Millis // and its last time
	Offset, Limit int          // Limit 0 means all
}

// Sample is a measurement, or what the measurements of a bucket come to.
type Sample struct {
	Signal string
	At     fleet.Millis // of the measurement, or the start of the bucket
	Value  float64      // of the measurement; the other fields are for buckets

	Min, Max, Mean, First, Last float64
}

func (f *SeriesFilter) named(more ...any) []any {
	signals := make([]string, len(f.Signals))
	for i, s := range f.Signals {
		signals[i] = s.String()
	}
	more = append(more, clickhouse.Named("account", uint64(f.Account)), clickhouse.Named("vehicle", uint64(f.Vehicle)),
		clickhouse.Named("signals", signals))
	from, to := max(f.From, 0), f.To
	if f.Every == 0 {
		if to == 0 || to > endOfTime {
			to = endOfTime
		}
		return append(more, clickhouse.Named("from", int64(from)), clickhouse.Named("to", int64(to)))
	}
	every := int64(f.Every / time.Second)
	seconds := func(t int64) uint32 { return uint32(min(max(t, 0), math.MaxUint32)) }
	until := int64(math.MaxUint32)
	if to != 0 {
		until = (int64(to) + every*1000 - 1) / (every * 1000) * every
	}
	return append(more, clickhouse.Named("every", uint32(every)),
		clickhouse.Named("from", seconds(int64(from)/(every*1000)*every)), clickhouse.Named("to", seconds(until)))
}

func (f *SeriesFilter) query() string {
	if f.Every == 0 {
		return "telemetry_raw"
	}
	return "telemetry_buckets"
}

// Series returns measurements or buckets by signal and time, as they come from the server. An error is the last thing
// that is yielded.
func Series(ctx context.Context, db driver.Conn, f SeriesFilter) iter.Seq2[Sample, error] {
	return func(yield func(Sample, error) bool) {
		if err := series(ctx, db, f, yield); err != nil {
			yield(Sample{}, err)
		}
	}
}

func series(ctx context.Context, db driver.Conn, f SeriesFilter, yield func(Sample, error) bool) error {
	limit := uint64(math.MaxInt64)
	if f.Limit > 0 {
		limit = uint64(f.Limit)
	}
	after := int64(f.AfterTime)
	if f.Every != 0 {
		after /= 1000
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	args := f.named(clickhouse.Named("after_signal", f.AfterSignal), clickhouse.Named("after_time", after),
		clickhouse.Named("limit", limit), clickhouse.Named("offset", uint64(f.Offset)))
	doing := fmt.Sprintf("read telemetry of %s", f.Vehicle)
	return schemas.EachRow(ctx, db, doing, schemas.Query(f.query()), args, func(row schemas.Row) (err error) {
		var s Sample
		var at int64
		if f.Every == 0 {
			err = row.Scan(&s.Signal, &at, &s.Value)
		} else {
			err = row.Scan(&s.Signal, &at, &s.Min, &s.Max, &s.Mean, &s.First, &s.Last)
			at *= 1000
		}
		if err != nil {
			return err
		}
		s.At = fleet.Millis(at)
		if !yield(s, nil) {
			cancel()
			return schemas.ErrEnough
		}
		return nil
	})
}

// CountSeries returns how many rows Series gives without cursor, offset and limit.
func CountSeries(ctx context.Context, db driver.Conn, f SeriesFilter) (int, error) {
	var n uint64
	if err := db.QueryRow(ctx, schemas.Query(f.query()+"_count"), f.named()...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count telemetry of %s: %w", f.Vehicle, err)
	}
	return int(n), nil
}

// LatestTelemetry returns the newest measurement of each signal of a vehicle, by signal.
func LatestTelemetry(ctx context.Context, db driver.Conn, account fleet.AccountID,
	vehicle fleet.VehicleID) ([]Sample, error) {
	args := []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicle", uint64(vehicle)),
	}
	return schemas.AllRows(ctx, db, fmt.Sprintf("read latest telemetry of %s", vehicle),
		schemas.Query("telemetry_latest"), args,
		func(s *Sample, row schemas.Row) error {
			var at int64
			if err := row.Scan(&s.Signal, &at, &s.Value); err != nil {
				return err
			}
			s.At = fleet.Millis(at)
			return nil
		})
}
