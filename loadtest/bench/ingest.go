// Package bench measures Motorpool against what users would otherwise take, side by side in one run on one machine, and
// reports ratios: absolute figures of a shared machine mean little, ratios of alternating runs mean something.
package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/loadtest/sim"
	"github.com/motorpool/fleet/loadtest/system"
	"github.com/motorpool/fleet/pipeline/codec"
)

// IngestResult compares JSON ingest with ClickHouse's own Kafka engine on the same topic.
type IngestResult struct {
	Fixes       int
	Ours        []float64 // fixes a second, a round each; all steps on
	Derived     []float64 // of that which is derived
	Sink        []float64 // the same without deriving
	KafkaEngine []float64
	OursCPU     time.Duration // of the pipeline process in the last round
	OursMemory  int64         // the most that process used, in bytes
	BytesPerFix float64       // positions, after a full merge
}

// Ratio is the median of the rounds' ratios.
func (r IngestResult) Ratio() float64 {
	ratios := make([]float64, len(r.Ours))
	for i := range ratios {
		ratios[i] = r.Ours[i] / r.KafkaEngine[i]
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// Ingest fills the topic with fixes of a simulated fleet that stays within reach metres of its city, and has either
// side work through all of it, in turn, for the given number of rounds. Both sides write into a table of the structure
// of positions, the cell included. The Kafka engine is spared what only Motorpool does: the device registry,
// classification, states, telemetry and outcomes.
func Ingest(ctx context.Context, s *system.System, fixes, vehicles, rounds int, reach float64) (IngestResult, error) {
	result := IngestResult{Fixes: fixes}
	if err := fill(ctx, s, fixes, vehicles, reach); err != nil {
		return result, err
	}
	for round := range rounds {
		theirs, err := kafkaEngine(ctx, s, round, fixes)
		if err != nil {
			return result, fmt.Errorf("kafka engine: %w", err)
		}
		sink, err := pipeline(ctx, s, round, fixes, false)
		if err != nil {
			return result, fmt.Errorf("pipeline without deriving: %w", err)
		}
		ours, err := pipeline(ctx, s, round, fixes, true)
		if err != nil {
			return result, fmt.Errorf("pipeline: %w", err)
		}
		result.Ours, result.KafkaEngine = append(result.Ours, ours.stored), append(result.KafkaEngine, theirs)
		result.Derived, result.Sink = append(result.Derived, ours.derived), append(result.Sink, sink.stored)
		result.OursCPU, result.OursMemory = ours.cpu, max(result.OursMemory, ours.memory)
		fmt.Fprintf(s.Log, "round %d: stored %.0f fixes/s, derived %.0f fixes/s, without deriving %.0f fixes/s, Kafka engine %.0f fixes/s, ratio %.2f\n",
			round+1, ours.stored, ours.derived, sink.stored, theirs, ours.stored/theirs)
	}
	if err := s.DB.Exec(ctx, "OPTIMIZE TABLE positions FINAL"); err != nil {
		return result, err
	}
	var err error
	result.BytesPerFix, err = bytesPerRow(ctx, s, "positions")
	return result, err
}

func bytesPerRow(ctx context.Context, s *system.System, table string) (float64, error) {
	return scalar[float64](ctx, s.DB, `SELECT sum(bytes_on_disk) / sum(rows) FROM system.parts
		WHERE active AND database = currentDatabase() AND table = $1`, table)
}

// fill publishes the fixes, one record each, and returns when the broker has them all.
func fill(ctx context.Context, s *system.System, fixes, vehicles int, reach float64) error {
	cfg := sim.DefaultConfig()
	cfg.Vehicles, cfg.Reach = vehicles, reach
	fleetOf := sim.New(cfg)
	writer := newWriter(s)
	defer writer.Close()
	var report fleet.Report
	batch := make([]kafka.Message, 0, 20_000)
	for sent := 0; sent < fixes; {
		batch = batch[:0]
		for len(batch) < cap(batch) && sent < fixes {
			fleetOf.Next(&report)
			batch = append(batch, kafka.Message{Key: []byte(report.UniqueID), Value: codec.AppendReport(nil, &report)})
			sent++
		}
		if err := writer.WriteMessages(ctx, batch...); err != nil {
			return fmt.Errorf("fill topic: %w", err)
		}
	}
	return nil
}

// run is one pass of the pipeline over the topic.
type run struct {
	stored, derived float64 // fixes a second, from the first that were stored or derived to the last
	cpu             time.Duration
	memory          int64
}

// pipeline runs motorpool ingest over the whole topic, as a consumer group of its own.
func pipeline(ctx context.Context, s *system.System, round, fixes int, derive bool) (run, error) {
	var r run
	for _, table := range []string{"positions", "positions_by_cell", "telemetry", "telemetry_1m", "telemetry_1h",
		"telemetry_1d", "telemetry_latest", "vehicle_state", "vehicle_mileage", "ingest_outcomes", "device_outcomes", "heard",
		"heard_hours", "derivations", "trips", "stops", "visits", "alerts", "driving_events", "charges",
		"tag_reports", "route_runs", "checkpoints", "dirty_spans", "events"} {
		if err := s.DB.Exec(ctx, "TRUNCATE TABLE "+table); err != nil {
			return r, err
		}
	}
	// A new group reads the topics of what earlier passes told from their beginning.
	if err := remake(ctx, s, "changes", "events"); err != nil {
		return r, err
	}
	args := []string{"ingest", groupFlag(round)}
	if !derive {
		args = []string{"ingest", groupFlag(round) + "-sink", "--no-derive"}
	}
	process, err := s.Start(args...)
	if err != nil {
		return r, err
	}
	work, inner := errgroup.WithContext(ctx)
	work.Go(func() (err error) {
		r.stored, err = measure(inner, fixes, func() (int64, error) {
			// Asked as the other side is, and as cheap: it is asked fifty times a second of the machine that is measured.
			return scalar[int64](inner, s.DB, "SELECT toInt64(count()) FROM positions")
		})
		return err
	})
	if derive {
		work.Go(func() (err error) {
			r.derived, err = derivedRate(inner, s, groupOf(round), fixes)
			return err
		})
	}
	err = work.Wait()
	var stopErr error
	r.cpu, r.memory, stopErr = process.Stop()
	if err == nil {
		err = stopErr
	}
	if err != nil {
		return r, err
	}
	stored, err := scalar[uint64](ctx, s.DB, "SELECT count() FROM positions FINAL")
	if err == nil && stored != uint64(fixes) {
		err = fmt.Errorf("%d positions of %d fixes", stored, fixes)
	}
	return r, err
}

// groupFlag names the consumer group of a round. What comes after the rounds goes on as the last one's group, which has
// read the topic.
func groupFlag(round int) string { return "--group=" + groupOf(round) }

func groupOf(round int) string { return fmt.Sprintf("bench-%d", round) }

// kafkaEngine has ClickHouse read the topic by itself into a copy of positions.
func kafkaEngine(ctx context.Context, s *system.System, round, fixes int) (float64, error) {
	for _, statement := range []string{
		"DROP TABLE IF EXISTS kafka_feed_view", "DROP TABLE IF EXISTS kafka_feed",
		"DROP TABLE IF EXISTS positions_by_kafka_engine",
		"CREATE TABLE positions_by_kafka_engine AS positions",
		fmt.Sprintf(`CREATE TABLE kafka_feed (device String, fix_at DateTime64(3, 'UTC'), lat Float64, lng Float64, altitude_m Nullable(Float64),
			speed_mps Nullable(Float64), course_deg Nullable(Float64), accuracy_m Nullable(Float64), odometer_m Nullable(Float64),
			satellites Nullable(UInt8), ignition Nullable(Bool))
			ENGINE = Kafka('%s', 'positions', 'kafka-engine-%d', 'JSONEachRow')
			SETTINGS kafka_num_consumers = 2, kafka_thread_per_consumer = 1, kafka_max_block_size = 262144,
			kafka_poll_max_batch_size = 65536, kafka_flush_interval_ms = 2000, input_format_skip_unknown_fields = 1,
			date_time_input_format = 'best_effort'`, s.Kafka(), round),
		`CREATE MATERIALIZED VIEW kafka_feed_view TO positions_by_kafka_engine AS
		SELECT 1 AS account, cityHash64(device) AS vehicle, vehicle AS device,
			fix_at AS fix_time, fix_time AS device_time, now64(3, 'UTC') AS received_at,
			toInt32(round(lat * 1e7)) AS lat7, toInt32(round(lng * 1e7)) AS lng7, toInt32(round(altitude_m * 10)) AS altitude_dm,
			toUInt16(round(speed_mps * 100)) AS speed_cms, toUInt16(round(course_deg * 100)) AS course_cdeg,
			toUInt32(round(accuracy_m * 10)) AS accuracy_dm, toUInt32(odometer_m) AS odometer_m, satellites,
			if(isNull(ignition), 'unknown', if(ignition, 'on', 'off')) AS ignition, 'unknown' AS motion, '' AS alarm,
			geoToH3(lat, lng, 9) AS cell, 0 AS flags,
			_topic AS source_topic, _partition AS source_partition, _offset AS source_offset
		FROM kafka_feed SETTINGS geotoh3_argument_order = 'lat_lon'`,
	} {
		if err := s.DB.Exec(ctx, statement); err != nil {
			return 0, err
		}
	}
	rate, err := measure(ctx, fixes, func() (int64, error) {
		return scalar[int64](ctx, s.DB, "SELECT toInt64(count()) FROM positions_by_kafka_engine")
	})
	for _, table := range []string{"kafka_feed_view", "kafka_feed"} {
		if dropErr := s.DB.Exec(ctx, "DROP TABLE IF EXISTS "+table+" SYNC"); err == nil {
			err = dropErr
		}
	}
	return rate, err
}

// measure returns the rate between the first rows that are seen and the last. The start of the process or of the group
// membership is left out on both sides, and the rows that came with the first look too.
func measure(ctx context.Context, want int, count func() (int64, error)) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	var first int64
	var since time.Time
	err := await(ctx, 20*time.Millisecond, func() (bool, error) {
		n, err := count()
		if err != nil {
			return false, err
		}
		if since.IsZero() && n > 0 {
			first, since = n, time.Now()
		}
		return n >= int64(want), nil
	})
	if err != nil {
		return 0, err
	}
	return float64(int64(want)-first) / time.Since(since).Seconds(), nil
}

// scalar reads one number.
func scalar[T any](ctx context.Context, db driver.Conn, query string, args ...any) (T, error) {
	var value T
	if err := db.QueryRow(ctx, query, args...).Scan(&value); err != nil {
		return value, fmt.Errorf("%.60s: %w", query, err)
	}
	return value, nil
}

// await polls until done says so.
func await(ctx context.Context, every time.Duration, done func() (bool, error)) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
