package sink

import (
	"time"

	"github.com/motorpool/fleet"
)

// heardRows are the rows of heard: when something came last from which device, and on which vehicle it was then.
type heardRows struct {
	index                       index
	accounts, devices, vehicles list[uint64]
	times                       list[int64]
}

// Heard adds that something came from a device, which was on a vehicle then, or on none (0).
func (b *Batch) Heard(account fleet.AccountID, device fleet.DeviceID, vehicle fleet.VehicleID, at fleet.Millis) {
	b.heard.add(uint64(account), uint64(device), uint64(vehicle), int64(at))
	b.heardHours.add(uint64(account), uint64(device), at.Time())
}

func (r *heardRows) add(account, device, vehicle uint64, at int64) {
	i, known := r.index.row([3]uint64{account, device, vehicle}, r.rows())
	if known {
		r.times[i] = max(r.times[i], at)
		return
	}
	r.accounts.add(account)
	r.devices.add(device)
	r.vehicles.add(vehicle)
	r.times.add(at)
}

func (r *heardRows) rows() int      { return len(r.accounts) }
func (r *heardRows) insert() string { return "INSERT INTO heard (account, device, vehicle, heard_at)" }

func (r *heardRows) columns() []part {
	return []part{&r.index, &r.accounts, &r.devices, &r.vehicles, &r.times}
}

// keys of what is heard are none: written again it changes nothing.
func (r *heardRows) keys(Source) keys { return keys{} }

// heardHourRows are the rows of heard_hours: in which minutes something came from which device.
type heardHourRows struct {
	index                      index
	accounts, devices, minutes list[uint64]
	hours                      list[time.Time]
}

func (r *heardHourRows) add(account, device uint64, at time.Time) {
	hour := at.Truncate(time.Hour)
	i, known := r.index.row([3]uint64{account, device, uint64(hour.Unix())}, r.rows())
	if !known {
		r.accounts.add(account)
		r.devices.add(device)
		r.hours.add(hour)
		r.minutes.add(0)
	}
	r.minutes[i] |= 1 << at.Minute()
}

func (r *heardHourRows) rows() int        { return len(r.accounts) }
func (r *heardHourRows) keys(Source) keys { return keys{} } // as of heardRows
func (r *heardHourRows) insert() string {
	return "INSERT INTO heard_hours (account, device, hour, minutes)"
}

func (r *heardHourRows) columns() []part {
	return []part{&r.index, &r.accounts, &r.devices, &r.hours, &r.minutes}
}
