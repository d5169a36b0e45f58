package query

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// QualityFilter says whose quality is wanted, and of when.
type QualityFilter struct {
	Account  fleet.AccountID
	Devices  []uint64          // none means all
	Vehicles []fleet.VehicleID // that they were on
	From, To fleet.Millis      // [From, To)
	Zone     string            // of the days; empty for the whole span as one
}

func (f *QualityFilter) named() []any {
	return []any{clickhouse.Named("account", uint64(f.Account)),
		clickhouse.Named("devices", append([]uint64{}, f.Devices...)),
		clickhouse.Named("vehicles", append([]uint64{}, ids(f.Vehicles)...)), clickhouse.Named("from", int64(f.From)),
		clickhouse.Named("to", int64(f.To)), clickhouse.Named("zone", f.Zone),
		clickhouse.Named("flags", uint8(len(fleet.FlagNames)))}
}

// DeviceDay names a device and a local day (YYYY-MM-DD); the day is empty where days are not told apart.
type DeviceDay struct {
	Device uint64
	Day    string
}

// Quality is what came of a device, and how good it is. Absent quantities are NaN, spans in seconds.
type Quality struct {
	Positions uint64            // stored
	Flagged   map[string]uint64 // of these, by flag
	Measured  int64             // reports of which only measurements are stored
	Refused   map[string]int64  // by reason

	MovingEvery, MovingEvery95     float64 // median and 95th percentile between fixes
	StandingEvery, StandingEvery95 float64
	Delay5, Delay, Delay95         float64 // from fix to receipt
	Ahead                          float64 // of the clock, where it is flagged
	Satellites, Accuracy           float64 // medians
}

// QualityOf returns the quality of devices by device and day. Those of which nothing came are left out.
func QualityOf(ctx context.Context, db driver.Conn, f QualityFilter) (map[DeviceDay]*Quality, error) {
	all := map[DeviceDay]*Quality{}
	of := func(key DeviceDay) *Quality {
		q := all[key]
		if q == nil {
			nan := math.NaN()
			q = &Quality{Flagged: map[string]uint64{}, Refused: map[string]int64{}, MovingEvery: nan, MovingEvery95: nan,
				StandingEvery:   nan,
				StandingEvery95: nan, Delay5: nan, Delay: nan, Delay95: nan, Ahead: nan, Satellites: nan, Accuracy: nan}
			all[key] = q
		}
		return q
	}
	err := schemas.EachRow(ctx, db, "read device_quality", schemas.Query("device_quality"), f.named(),
		func(row schemas.Row) error {
			var key DeviceDay
			var stored uint64
			var flagged []uint64
			var moving, standing, delay []float64
			var ahead, satellites, accuracy float64
			if err := row.Scan(&key.Device, &key.Day, &stored, &flagged, &moving, &standing, &delay, &ahead, &satellites,
				&accuracy); err != nil {
				return err
			}
			q := of(key)
			q.Positions, q.Ahead, q.Satellites, q.Accuracy = stored, ahead, satellites, accuracy
			for bit, n := range flagged {
				if n > 0 {
					q.Flagged[fleet.FlagNames[bit]] = n
				}
			}
			q.MovingEvery, q.MovingEvery95 = moving[0], moving[1]
			q.StandingEvery, q.StandingEvery95 = standing[0], standing[1]
			q.Delay5, q.Delay, q.Delay95 = delay[0], delay[1], delay[2]
			return nil
		})
	if err != nil {
		return nil, err
	}
	return all, schemas.EachRow(ctx, db, "read device_outcomes_days", schemas.Query("device_outcomes_days"), f.named(),
		func(row schemas.Row) error {
			var key DeviceDay
			var outcome string
			var n int64
			if err := row.Scan(&key.Device, &key.Day, &outcome, &n); err != nil {
				return err
			}
			if outcome == "measured" {
				of(key).Measured = n
			} else {
				of(key).Refused[outcome] = n
			}
			return nil
		})
}

// Silence is a time during which nothing came of a device: from the minute in which it was last heard of to that in
// which it was heard of again, or to the ends of what was asked for.
type Silence struct{ From, To time.Time }

// Patience is since when a device is expected to report, and for how long it may be silent.
type Patience struct {
	Since  time.Time
	Within time.Duration
}

// Silences returns by device the silences of a span that are longer than the device may be, in order: of the devices
// that expected names.
func Silences(ctx context.Context, db driver.Conn, f QualityFilter,
	expected map[uint64]Patience) (map[uint64][]Silence, error) {
	all := map[uint64][]Silence{}
	last := map[uint64]time.Time{}
	from, to := f.From.Time(), f.To.Time()
	heard := func(device uint64, at time.Time) {
		p, ok := expected[device]
		if !ok {
			return
		}
		before, ok := last[device]
		if !ok {
			if before = from; p.Since.After(from) {
				before = p.Since
			}
		}
		if last[device] = at; at.Sub(before) > p.Within {
			all[device] = append(all[device], Silence{before, at})
		}
	}
	err := schemas.EachRow(ctx, db, "read heard_minutes", schemas.Query("heard_minutes"), f.named(),
		func(row schemas.Row) error {
			var device, minutes uint64
			var hour time.Time
			if err := row.Scan(&device, &hour, &minutes); err != nil {
				return err
			}
			for ; minutes != 0; minutes &= minutes - 1 {
				at := hour.UTC().Add(time.Duration(bits.TrailingZeros64(minutes)) * time.Minute)
				if !at.Before(from) && at.Before(to) {
					heard(device, at)
				}
			}
			return nil
		})
	for device := range expected {
		heard(device, to)
	}
	return all, err
}

// Power is the lowest that the trackers of a vehicle said of power, by signal.
type Power map[string]float64

// PowerOf returns the lowest of trackers' own batteries and of their supply by vehicle and day.
func PowerOf(ctx context.Context, db driver.Conn, f QualityFilter) (map[fleet.VehicleID]map[string]Power, error) {
	all := map[fleet.VehicleID]map[string]Power{}
	return all, schemas.EachRow(ctx, db, "read device_power", schemas.Query("device_power"), f.named(),
		func(row schemas.Row) error {
			var vehicle uint64
			var day, signal string
			var lowest float64
			if err := row.Scan(&vehicle, &day, &signal, &lowest); err != nil {
				return err
			}
			days := all[fleet.VehicleID(vehicle)]
			if days == nil {
				days = map[string]Power{}
				all[fleet.VehicleID(vehicle)] = days
			}
			if days[day] == nil {
				days[day] = Power{}
			}
			days[day][signal] = lowest
			return nil
		})
}

// DevicesInUse returns the devices of an account that are not archived, by their ids.
func DevicesInUse(ctx context.Context, db driver.Conn, account fleet.AccountID) ([]Stored, error) {
	found, err := scanStored(ctx, db, "devices_in_use", schemas.Query("devices_in_use"),
		clickhouse.Named("account", uint64(account)))
	if err != nil {
		return nil, fmt.Errorf("list devices in use: %w", err)
	}
	return found, nil
}
