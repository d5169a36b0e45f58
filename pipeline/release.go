package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/registry"
	"github.com/motorpool/fleet/schemas"
)

// Apart bounds what is kept of devices that are not registered, so that nobody fills the disk with made-up devices. Its
// counts are read from the store now and then and kept up in between; it is shared by the chains of a process.
type Apart struct {
	perDevice, total int

	mu     sync.Mutex
	counts map[string]int
	sum    int
}

// NewApart returns the bounds of a configuration, with nothing kept yet.
func NewApart(cfg *Config) *Apart {
	return &Apart{perDevice: cfg.ApartPerDevice, total: cfg.ApartTotal, counts: map[string]int{}}
}

// take says whether there is room for another report of a device, and takes it.
func (a *Apart) take(uniqueID string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sum >= a.total || a.counts[uniqueID] >= a.perDevice {
		return false
	}
	a.counts[uniqueID]++
	a.sum++
	return true
}

// read takes over the counts of the store, and returns the devices with any that are chosen. newest is when the last of
// a device's came.
func (a *Apart) read(ctx context.Context, db driver.Conn,
	chosen func(uniqueID string, newest fleet.Millis) bool) ([]string, error) {
	var found []string
	counts, sum := make(map[string]int), 0
	err := schemas.EachRow(ctx, db, "count reports that are kept apart", schemas.Query("unregistered_devices"), nil,
		func(row schemas.Row) error {
			var uniqueID string
			var n uint64
			var newest int64
			if err := row.Scan(&uniqueID, &n, &newest); err != nil {
				return err
			}
			counts[uniqueID] = int(n)
			sum += int(n)
			if chosen(uniqueID, fleet.Millis(newest)) {
				found = append(found, uniqueID)
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counts, a.sum = counts, sum
	return found, nil
}

// Kept is a report that was kept apart, as it goes back onto its topic.
type Kept struct {
	Topic    string // where it came from
	UniqueID string
	Run      string
	At       fleet.Millis // when it was received first
	Report   []byte       // native JSON
}

// ReleasePublisher puts kept-apart reports back onto their topics, marked as released, and returns when they are
// acknowledged.
type ReleasePublisher interface {
	PublishReleased(ctx context.Context, reports []Kept) error
}

// Releaser brings back what was kept apart of devices that are registered by now, as far as it is their accounts'
// (see fleet.Device.Sent): it publishes the reports again and then forgets them. Killed in between, it publishes
// them once more, and the pipeline refuses them as duplicates. One process of a group does it, the one that is told
// to be in charge.
type Releaser struct {
	db       driver.Conn
	registry *registry.Devices
	apart    *Apart
	out      ReleasePublisher
	metrics  *Metrics
	log      *slog.Logger
	inCharge atomic.Int32
}

// NewReleaser prepares a releaser.
func NewReleaser(deps Deps, out ReleasePublisher) *Releaser {
	return &Releaser{db: deps.DB, registry: deps.Registry, apart: deps.Apart, out: out,
		metrics: deps.Metrics, log: deps.Log}
}

const (
	releasePoll      = time.Second
	releaseMostPause = 30 * time.Second
	// releaseMost is more than may be kept of one device by any number of processes, so that a device is released whole.
	releaseMost = 10_000_000
)

// InCharge tells the releaser that this process is in charge until the returned function is called. The owner of
// partition 0 of the first topic is.
func (r *Releaser) InCharge() (until func()) {
	r.inCharge.Add(1)
	return sync.OnceFunc(func() { r.inCharge.Add(-1) })
}

// Run releases until ctx ends. A store or broker that does not answer is asked again; of its errors the first is
// logged, and then one every minute.
func (r *Releaser) Run(ctx context.Context) {
	var logged time.Time
	timer := time.NewTimer(releasePoll)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		began := time.Now()
		err := r.Release(ctx)
		switch {
		case err == nil:
			logged = time.Time{}
		case ctx.Err() == nil && time.Since(logged) > time.Minute:
			logged = time.Now()
			r.log.Warn("release of kept-apart reports failed, trying again", "error", err)
		}
		// To count a million made-up devices takes a while, and must not be all that the store does.
		timer.Reset(min(max(releasePoll, 10*time.Since(began)), releaseMostPause))
	}
}

// Release reads what is kept apart and, if this process is in charge, brings back what is of registered devices.
func (r *Releaser) Release(ctx context.Context) error {
	devices, err := r.apart.read(ctx, r.db, func(uniqueID string, newest fleet.Millis) bool {
		device, ok := r.registry.Lookup(uniqueID)
		return ok && newest >= device.Since
	})
	if err != nil {
		return fmt.Errorf("count kept-apart reports: %w", err)
	}
	if r.inCharge.Load() == 0 {
		return nil
	}
	var failed []error
	for _, uniqueID := range devices {
		if err := r.release(ctx, uniqueID); err != nil {
			failed = append(failed, fmt.Errorf("release reports of %q: %w", uniqueID, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

func (r *Releaser) release(ctx context.Context, uniqueID string) error {
	device, ok := r.registry.Lookup(uniqueID)
	if !ok {
		return nil // it was taken away a moment ago
	}
	since := clickhouse.Named("since", int64(device.Since))
	args := []any{clickhouse.Named("unique_id", uniqueID), since, clickhouse.Named("limit", releaseMost)}
	type source struct {
		topic     string
		partition uint16
	}
	read := map[source]uint64{} // up to which offset; a record's reports are inserted together
	reports, err := schemas.AllRows(ctx, r.db, "read reports that are kept apart",
		schemas.Query("unregistered_reports"), args,
		func(k *Kept, row schemas.Row) error {
			var at time.Time
			var partition uint16
			var offset uint64
			var index uint32
			var report string
			if err := row.Scan(&at, &k.Topic, &partition, &offset, &index, &k.Run, &report); err != nil {
				return err
			}
			k.UniqueID, k.At, k.Report = uniqueID, fleet.MillisOf(at), []byte(report)
			from := source{k.Topic, partition}
			read[from] = max(read[from], offset)
			return nil
		})
	if err != nil || len(reports) == 0 {
		return err
	}
	if err := r.out.PublishReleased(ctx, reports); err != nil {
		return err
	}
	r.metrics.released.Add(float64(len(reports)))
	r.log.Info("released the reports of a device that is registered by now", "device", uniqueID, "reports", len(reports))
	var topics []string
	var partitions, offsets []uint64
	for from, upto := range read {
		topics, partitions = append(topics, from.topic), append(partitions, uint64(from.partition))
		offsets = append(offsets, upto)
	}
	return r.db.Exec(ctx, schemas.Query("unregistered_delete"), clickhouse.Named("unique_id", uniqueID), since,
		clickhouse.Named("topics", topics), clickhouse.Named("partitions", partitions), clickhouse.Named("offsets", offsets))
}
