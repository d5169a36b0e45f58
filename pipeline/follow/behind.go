package follow

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

const (
	// sourcesOf is how far back it is looked, beside the newest fix, where a vehicle's come through: a device's always
	// come through one, until it is given another gateway.
	sourcesOf = 24 * time.Hour
	// behindAgain is when a vehicle is looked at again of which something may be on its way.
	behindAgain = 5 * time.Second
)

// audible returns those of the vehicles whose silence can be told from that of the partitions that lag: nothing of them
// came through those, and where it does come through is known. The others are looked at again soon.
func (h *Handler) audible(ctx context.Context, keys []fleet.VehicleKey, to fleet.Millis,
	behind []string) ([]fleet.VehicleKey, error) {
	if len(behind) == 0 || len(keys) == 0 {
		return keys, nil
	}
	again := func(keys []fleet.VehicleKey) {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, key := range keys {
			h.wakes.set(key, to.Add(behindAgain))
		}
	}
	windows := make([]window, len(keys))
	for i, key := range keys {
		windows[i].key = key
	}
	free := make(map[fleet.VehicleKey]bool, len(keys))
	with, err := external(ctx, "after_ms", windows)
	if err == nil {
		err = h.f.each(with, "follow_behind", func(row schemas.Row) error {
			var account, vehicle uint64
			var lags uint8
			if err := row.Scan(&account, &vehicle, &lags); err != nil {
				return err
			}
			free[fleet.VehicleKey{Account: fleet.AccountID(account), Vehicle: fleet.VehicleID(vehicle)}] = lags == 0
			return nil
		}, clickhouse.Named("since", int64(to.Add(-sourcesOf))), clickhouse.Named("behind", behind))
	}
	if err != nil {
		again(keys)
		return nil, fmt.Errorf("read where vehicles report: %w", err)
	}
	var now, later []fleet.VehicleKey
	for _, key := range keys {
		if free[key] {
			now = append(now, key)
		} else {
			later = append(later, key)
		}
	}
	again(later)
	return now, nil
}
