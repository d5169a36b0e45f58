package bench

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/segmentio/kafka-go"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/loadtest/sim"
	"github.com/motorpool/fleet/loadtest/system"
	"github.com/motorpool/fleet/pipeline/codec"
)

// LatencyResult is how long it takes from the moment Kafka has a fix until the interface shows it.
type LatencyResult struct {
	Rate          float64 // fixes a second of the load meanwhile
	Probes        int
	P50, P90, P99 time.Duration
}

// Latency sends a steady load with fixes of now, and in between a probe every quarter of a second, whose arrival it
// watches through the interface.
func Latency(ctx context.Context, s *system.System, c *client, group string, ids []string, rate float64,
	span time.Duration) (LatencyResult, error) {
	result := LatencyResult{Rate: rate}
	process, err := s.Start("ingest", group)
	if err != nil {
		return result, err
	}
	defer func() { _, _, _ = process.Stop() }()
	loading, stopLoading := context.WithCancel(ctx)
	defer stopLoading()
	work, loading := errgroup.WithContext(loading)
	vehicles := len(ids) - 1 // the last one is the probe's
	work.Go(func() error { return load(loading, s, vehicles, rate) })

	writer := newWriter(s)
	defer writer.Close()
	var taken []time.Duration
	warm := time.Now().Add(5 * time.Second)
	for until := warm.Add(span); time.Now().Before(until); {
		next := time.Now().Add(250 * time.Millisecond)
		report := fleet.NewReport()
		report.UniqueID, report.Positioned = sim.UniqueID(vehicles), true
		report.Lat, report.Lng = 30.25, -97.75
		report.FixTime = fleet.MillisOf(time.Now())
		if err := writer.WriteMessages(ctx,
			kafka.Message{Key: []byte(report.UniqueID), Value: codec.AppendReport(nil, &report)}); err != nil {
			return result, err
		}
		sent := time.Now()
		if err := await(ctx, 5*time.Millisecond, func() (bool, error) {
			return c.shows(ctx, ids[vehicles], report.FixTime)
		}); err != nil {
			return result, err
		}
		if sent.After(warm) {
			taken = append(taken, time.Since(sent))
		}
		time.Sleep(time.Until(next))
	}
	stopLoading()
	if err := work.Wait(); err != nil && ctx.Err() == nil && loading.Err() == nil {
		return result, err
	}
	slices.Sort(taken)
	at := func(q float64) time.Duration { return taken[min(len(taken)-1, int(q*float64(len(taken))))] }
	result.Probes, result.P50, result.P90, result.P99 = len(taken), at(0.5), at(0.9), at(0.99)
	return result, nil
}

// shows says whether the vehicle's latest position is the one of a fix time, or newer.
func (c *client) shows(ctx context.Context, vehicle string, at fleet.Millis) (bool, error) {
	var list struct {
		Data []struct {
			FixAt time.Time `json:"fix_at"`
		}
	}
	err := c.do(ctx, http.MethodGet, "/v1/positions/latest?vehicle_id="+vehicle, nil, &list)
	return err == nil && len(list.Data) == 1 && fleet.MillisOf(list.Data[0].FixAt) >= at, err
}

// load sends fixes of now at a rate until ctx ends.
func load(ctx context.Context, s *system.System, vehicles int, rate float64) error {
	writer := newWriter(s)
	defer writer.Close()
	cfg := sim.DefaultConfig()
	cfg.Vehicles = vehicles
	cfg.Interval = fleet.Millis(math.Round(float64(vehicles) / rate * 1000))
	cfg.Start = fleet.MillisOf(time.Now())
	driven := sim.New(cfg)
	const tick = 50 * time.Millisecond
	perTick := int(rate * tick.Seconds())
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	var report fleet.Report
	for {
		messages := make([]kafka.Message, 0, perTick)
		now := fleet.MillisOf(time.Now())
		for range perTick {
			driven.Next(&report)
			report.FixTime = min(report.FixTime, now)
			messages = append(messages, kafka.Message{Key: []byte(report.UniqueID), Value: codec.AppendReport(nil, &report)})
		}
		if err := writer.WriteMessages(ctx, messages...); err != nil {
			return fmt.Errorf("load: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func newWriter(s *system.System) *kafka.Writer {
	return &kafka.Writer{
		Addr: kafka.TCP(s.Kafka()), Topic: "positions", Balancer: &kafka.Murmur2Balancer{}, RequiredAcks: kafka.RequireAll,
		BatchSize: 5000, BatchBytes: 1 << 20, BatchTimeout: 2 * time.Millisecond,
	}
}
