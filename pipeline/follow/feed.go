package follow

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/ext"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/schemas"
)

// partChunks is how many chunks the inputs of several vehicles may be that are pulled at once.
const partChunks = 4

// feed pulls what the runs want and steps over it, in portions that fit into memory whatever is stored.
func (h *Handler) feed(ctx context.Context, runs []*run) error {
	var near, far []window
	pulled := make(map[fleet.VehicleKey]*run, len(runs))
	expected := fleet.Millis(0)
	for _, r := range runs {
		if r.after >= r.until {
			continue
		}
		if ok, err := h.f.feedGiven(r); err != nil {
			return err
		} else if ok {
			continue
		}
		pulled[r.key] = r
		expected += r.expectedSpan
		if w := (window{key: r.key, after: r.after, until: r.until}); w.until-w.after < day/24 {
			near = append(near, w)
		} else {
			far = append(far, w)
		}
	}
	// Devices say something every second at most, as a rule. Then so little is there that counting would cost more.
	count := expected/1000 > fleet.Millis(h.f.cfg.ChunkRows)
	for _, windows := range [][]window{near, far} { // of one sort, so that their bounds are good for all
		parts, large := [][]window{windows}, []window(nil)
		if count {
			counts, err := h.f.counts(ctx, windows)
			if err != nil {
				return err
			}
			parts, large = portions(windows, counts, h.f.cfg.ChunkRows)
		}
		for _, part := range parts {
			found, err := h.f.pull(ctx, part)
			if err != nil {
				return err
			}
			for key, inputs := range found {
				if err := pulled[key].feed(inputs); err != nil {
					return fmt.Errorf("derive %s: %w", key.Vehicle, err)
				}
			}
		}
		for _, w := range large {
			if err := h.f.feedChunks(ctx, pulled[w.key], w); err != nil {
				return err
			}
		}
	}
	return nil
}

// portions divides windows into parts that can be pulled at once, and those that must be in chunks. What has nothing
// is in neither.
func portions(windows []window, counts map[fleet.VehicleKey]int, chunk int) (parts [][]window, large []window) {
	var part []window
	rows := 0
	for _, w := range windows {
		n := counts[w.key]
		switch {
		case n == 0:
			continue
		case n > chunk:
			large = append(large, w)
			continue
		case rows+n > partChunks*chunk:
			parts = append(parts, part)
			part, rows = nil, 0
		}
		part, rows = append(part, w), rows+n
	}
	if len(part) > 0 {
		parts = append(parts, part)
	}
	return parts, large
}

// counts returns how many inputs there are in each window that has any.
func (f *Follower) counts(ctx context.Context, windows []window) (map[fleet.VehicleKey]int, error) {
	found := make(map[fleet.VehicleKey]int, len(windows))
	if len(windows) == 0 {
		return found, nil
	}
	table, bounds, err := spans(windows)
	if err != nil {
		return nil, err
	}
	ctx = clickhouse.Context(ctx, clickhouse.WithExternalTable(table))
	_, signals := f.wanted(windows...)
	err = f.each(ctx, "follow_counts", func(row schemas.Row) error {
		var account, vehicle, n uint64
		if err := row.Scan(&account, &vehicle, &n); err != nil {
			return err
		}
		found[keyOf(account, vehicle)] = int(n)
		return nil
	}, append(bounds, clickhouse.Named("signals", signals))...)
	if err != nil {
		return nil, fmt.Errorf("count inputs of %d vehicles: %w", len(windows), err)
	}
	return found, nil
}

// spans makes a table of windows that goes along with a query, and the parameters that bound all of them.
func spans(windows []window) (*ext.Table, []any, error) {
	table, err := ext.NewTable("wanted", ext.Column("account", "UInt64"), ext.Column("vehicle", "UInt64"),
		ext.Column("after_ms", "Int64"), ext.Column("until_ms", "Int64"))
	if err != nil {
		return nil, nil, err
	}
	after, until := windows[0].after, windows[0].until
	for _, w := range windows {
		after, until = min(after, w.after), max(until, w.until)
		if err := table.Append(uint64(w.key.Account), uint64(w.key.Vehicle), int64(w.after), int64(w.until)); err != nil {
			return nil, nil, err
		}
	}
	return table, []any{clickhouse.Named("after", int64(max(after, 0))), clickhouse.Named("until", int64(until))}, nil
}

// maxGiven is how much of a vehicle is unpacked at once, in bytes. What is pulled is pulled in portions.
const maxGiven = 1 << 20

// feedGiven steps over the inputs that came with the changes, and says whether it could.
func (f *Follower) feedGiven(r *run) (bool, error) {
	if r.givenInputs == nil {
		return false, nil
	}
	var inputs []derive.Input
	wanted, size := f.policy(r.key.Account).wantedSignals, 0
	for _, packed := range r.givenInputs {
		if size += len(packed); size > maxGiven {
			f.deps.Metrics.unpacked.WithLabelValues("no").Inc()
			return false, nil
		}
		var err error
		if inputs, err = derive.Unpack(r.key, packed, &wanted, inputs); err != nil {
			f.deps.Metrics.unpacked.WithLabelValues("no").Inc()
			return false, nil // those of another version may be right
		}
	}
	inputs = arrange(inputs)
	if n := len(inputs); n > 0 && (inputs[0].At <= r.after || inputs[n-1].At > r.until) {
		f.deps.Metrics.unpacked.WithLabelValues("no").Inc()
		return false, nil
	}
	f.deps.Metrics.unpacked.WithLabelValues("yes").Inc()
	if err := r.feed(inputs); err != nil {
		return false, fmt.Errorf("derive %s: %w", r.key.Vehicle, err)
	}
	return true, nil
}

// feedChunks pulls what one run wants, piece by piece, and steps over it.
func (f *Follower) feedChunks(ctx context.Context, r *run, w window) error {
	for w.after < w.until {
		inputs, until, err := f.pullSome(ctx, w)
		if err != nil {
			return err
		}
		if err := r.feed(inputs); err != nil {
			return fmt.Errorf("derive %s: %w", r.key.Vehicle, err)
		}
		w.after = until
	}
	return nil
}
