package sink

import (
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
)

// heardRows are the rows of heard: when something came from which device, and on which vehicle it was then.
type heardRows struct {
	accounts, devices, vehicles []uint64
	times                       []int64
}

// Heard adds that something came from a device, which was on a vehicle then, or on none (0).
func (b *Batch) Heard(account fleet.AccountID, device fleet.DeviceID, vehicle fleet.VehicleID, at fleet.Millis) {
	r := &b.heard
	r.accounts = append(r.accounts, uint64(account))
	r.devices = append(r.devices, uint64(device))
	r.vehicles = append(r.vehicles, uint64(vehicle))
	r.times = append(r.times, int64(at))
}

func (r *heardRows) reset() {
	r.accounts, r.devices, r.vehicles, r.times = r.accounts[:0], r.devices[:0], r.vehicles[:0], r.times[:0]
}

func (r *heardRows) rows() int      { return len(r.accounts) }
func (r *heardRows) insert() string { return "INSERT INTO heard (account, device, vehicle, heard_at)" }

// keys of what is heard are none: written again it changes nothing.
func (r *heardRows) keys(Source) keys { return keys{} }

func (r *heardRows) fill(into driver.Batch, _ Source) error {
	f := filler{batch: into}
	f.column(r.accounts)
	f.column(r.devices)
	f.column(r.vehicles)
	f.column(r.times)
	return f.err
}

// heardHours are the same as rows of heard_hours.
type heardHours struct{ *heardRows }

func (r *heardHours) insert() string {
	return "INSERT INTO heard_hours (account, device, hour, minutes)"
}

func (r *heardHours) fill(into driver.Batch, _ Source) error {
	hours, minutes := make([]time.Time, len(r.times)), make([]uint64, len(r.times))
	for i, ms := range r.times {
		at := fleet.Millis(ms).Time()
		hours[i], minutes[i] = at.Truncate(time.Hour), 1<<at.Minute()
	}
	f := filler{batch: into}
	f.column(r.accounts)
	f.column(r.devices)
	f.column(hours)
	f.column(minutes)
	return f.err
}
