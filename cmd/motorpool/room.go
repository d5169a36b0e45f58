package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/deploy/embedded"
	"github.com/motorpool/fleet/schemas"
)

// room knows how much may still be written, on the disk of the data folder where the engines are ours and on those of
// ClickHouse, and tells before there is none. Reads need no room, so they go on; what writes asks Refused first.
type room struct {
	folder string // of our own engines; empty if there are none
	keep   uint64 // that many bytes of each disk stay free
	db     driver.Conn
	log    *slog.Logger
	gauge  *prometheus.GaugeVec

	mu     sync.Mutex
	free   map[string]uint64 // by disk, when it was last looked at
	state  roomState         // as it was last said
	saidAt time.Time
}

type roomState int

const (
	roomEnough roomState = iota
	roomLow              // still writing: announced
	roomFull             // writes are refused
)

const (
	roomEvery    = 2 * time.Second
	roomSayAgain = 10 * time.Minute
	announced    = 4             // times what is kept free
	folderDisk   = "data folder" // its name beside those of ClickHouse
	roomTime     = 10 * time.Second
)

func newRoom(folder string, keep uint64, db driver.Conn, metrics prometheus.Registerer, log *slog.Logger) *room {
	r := &room{folder: folder, keep: keep, db: db, log: log, gauge: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "motorpool_disk_free_bytes", Help: "What may still be written, by disk.",
	}, []string{"disk"})}
	limit := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "motorpool_disk_keep_free_bytes",
		Help: "Below so much free, writes are refused; four times as much is announced.",
	})
	limit.Set(float64(keep))
	metrics.MustRegister(r.gauge, limit)
	return r
}

// run looks until ctx ends.
func (r *room) run(ctx context.Context) error {
	again := time.NewTicker(roomEvery)
	defer again.Stop()
	for {
		r.look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
		}
	}
}

// look asks all disks, and says what has changed. Of a server that does not answer the last answer holds: that it is
// silent is told elsewhere.
func (r *room) look(ctx context.Context) {
	now, err := r.ask(ctx)
	if err != nil {
		r.mu.Lock()
		now = maps.Clone(r.free)
		r.mu.Unlock()
	}
	if free, ok := r.ours(); ok {
		if now == nil {
			now = map[string]uint64{}
		}
		now[folderDisk] = free
	}
	for disk, free := range now {
		r.gauge.WithLabelValues(disk).Set(float64(free))
	}
	r.mu.Lock()
	r.free = now
	state, disk, free := r.worst()
	said := state == r.state && (state == roomEnough || time.Since(r.saidAt) < roomSayAgain)
	if !said {
		r.state, r.saidAt = state, time.Now()
	}
	r.mu.Unlock()
	if said {
		return
	}
	attrs := []any{"disk", disk, "free", gigabytes(free), "writes_stop_below", gigabytes(r.keep), "data", r.folder}
	switch state {
	case roomLow:
		r.log.Warn("the disk fills up: make room or move the data folder to a larger disk, before writes are refused",
			attrs...)
	case roomFull:
		r.log.Error("the disk is full: writes are refused and ingest waits until there is room again; nothing acknowledged is lost", attrs...)
	default:
		r.log.Info("there is room on the disk", attrs...)
	}
}

// ask asks ClickHouse for the disks of our tables, by their storage policies.
func (r *room) ask(ctx context.Context) (map[string]uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, roomTime)
	defer cancel()
	disks := map[string]uint64{}
	err := schemas.EachRow(ctx, r.db, "read free space", schemas.Query("disks"), nil, func(row schemas.Row) error {
		var name string
		var free uint64
		if err := row.Scan(&name, &free); err != nil {
			return err
		}
		disks["clickhouse "+name] = free
		return nil
	})
	return disks, err
}

// ours is what is free for our own engines; that takes no time to find out.
func (r *room) ours() (uint64, bool) {
	if r.folder == "" {
		return 0, false
	}
	free, err := embedded.Free(r.folder)
	return free, err == nil
}

// worst judges the disk with the least room. The caller holds mu.
func (r *room) worst() (state roomState, disk string, free uint64) {
	for _, name := range slices.Sorted(maps.Keys(r.free)) {
		if disk == "" || r.free[name] < free {
			disk, free = name, r.free[name]
		}
	}
	switch {
	case disk == "" || free >= announced*r.keep:
		return roomEnough, disk, free
	case free >= r.keep:
		return roomLow, disk, free
	}
	return roomFull, disk, free
}

// judge is worst with what our own disk has at this moment.
func (r *room) judge() (state roomState, disk string, free uint64) {
	ours, ok := r.ours()
	r.mu.Lock()
	defer r.mu.Unlock()
	if ok && r.free != nil {
		r.free[folderDisk] = ours
	}
	return r.worst()
}

// Refused returns why nothing can be written now, or nil.
func (r *room) Refused() error {
	if state, _, _ := r.judge(); state != roomFull {
		return nil
	}
	return fleet.NewError(fleet.CodeFull,
		"There is no room left on the disk, and what is written now would be lost. Nothing was changed; send it again later.")
}

// Check fails when the disk fills up, before anything is refused.
func (r *room) Check(context.Context) error {
	state, disk, free := r.judge()
	if state == roomEnough {
		return nil
	}
	return fmt.Errorf("%s free on the disk of %s: below %s writes are refused; make room", gigabytes(free), disk,
		gigabytes(r.keep))
}
