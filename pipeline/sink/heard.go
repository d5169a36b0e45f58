package sink

import (
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
)

// heardRows are the rows of heard: when something came last from which device, and on which vehicle it was then.
type heardRows struct {
	index                       map[[3]uint64]int
	accounts, devices, vehicles []uint64
	times                       []int64
}

// Heard adds that something came from a device, which was on a vehicle then, or on none (0).
func (b *Batch) Heard(account fleet.AccountID, device fleet.DeviceID, vehicle fleet.VehicleID, at fleet.Millis) {
	b.heard.add(uint64(account), uint64(device), uint64(vehicle), int64(at))
	b.heardHours.add(uint64(account), uint64(device), at.Time())
}

func (r *heardRows) add(account, device, vehicle uint64, at int64) {
	i, ok := r.index[[3]uint64{account, device, vehicle}]
	if ok {
		r.times[i] = max(r.times[i], at)
		return
	}
	if r.index == nil {
		r.index = make(map[[3]uint64]int)
	}
	r.index[[3]uint64{account, device, vehicle}] = len(r.times)
	r.accounts, r.devices = append(r.accounts, account), append(r.devices, device)
	r.vehicles, r.times = append(r.vehicles, vehicle), append(r.times, at)
}

func (r *heardRows) reset() {
	clear(r.index)
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

// heardHourRows are the rows of heard_hours: in which minutes something came from which device.
type heardHourRows struct {
	index                      map[[3]uint64]int
	accounts, devices, minutes []uint64
	hours                      []time.Time
}

func (r *heardHourRows) add(account, device uint64, at time.Time) {
	hour := at.Truncate(time.Hour)
	key := [3]uint64{account, device, uint64(hour.Unix())}
	i, ok := r.index[key]
	if !ok {
		if r.index == nil {
			r.index = make(map[[3]uint64]int)
		}
		i = len(r.hours)
		r.index[key] = i
		r.accounts, r.devices = append(r.accounts, account), append(r.devices, device)
		r.hours, r.minutes = append(r.hours, hour), append(r.minutes, 0)
	}
	r.minutes[i] |= 1 << at.Minute()
}

func (r *heardHourRows) reset() {
	clear(r.index)
	r.accounts, r.devices, r.hours, r.minutes = r.accounts[:0], r.devices[:0], r.hours[:0], r.minutes[:0]
}

func (r *heardHourRows) rows() int        { return len(r.accounts) }
func (r *heardHourRows) keys(Source) keys { return keys{} } // as of heardRows
func (r *heardHourRows) insert() string {
	return "INSERT INTO heard_hours (account, device, hour, minutes)"
}

func (r *heardHourRows) fill(into driver.Batch, _ Source) error {
	f := filler{batch: into}
	f.column(r.accounts)
	f.column(r.devices)
	f.column(r.hours)
	f.column(r.minutes)
	return f.err
}
