package track

import (
	"context"
	"slices"
	"time"
	"unsafe"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/roster"
	"github.com/motorpool/fleet/query"
)

// known is what other tables than its own know of a vehicle, by which it is shown. It is shared and never changed. Who
// shows it works out what holds at that moment.
type known struct {
	number  uint64 // that nothing else has in this process
	live    query.Live
	meters  meters
	heard   query.Heard
	devices []tracker // that are or were on it
	rare    *rare
	home    string // the time zone of the account
}

// rare is what is known of few vehicles at a time.
type rare struct {
	holds  []query.Hold // that are not over
	over   []string     // bookings among them that are completed
	unsafe []uint64     // open issues that are critical for safety
}

// nothingRare is shared by all vehicles of which nothing rare is known.
var nothingRare rare

// meters are what a vehicle shows of them.
type meters struct {
	odometer    odometer
	engineHours float64
	engineAt    fleet.Millis // 0: there is no reading
}

// odometer is what a vehicle shows of a query.Meter.
type odometer struct {
	value  float64
	at     fleet.Millis
	source string
	track  *query.OdometerTrack
}

func metersOf(m query.Meters) meters {
	return meters{odometer{m.OdometerMi.Value, m.OdometerMi.At, m.OdometerMi.Source, m.OdometerMi.Track},
		m.EngineHours.Value, m.EngineHours.At}
}

// tracker is a device by the times at which it is on vehicles.
type tracker struct {
	id    uint64
	spans []trackerSpan
}

type trackerSpan struct {
	from, to fleet.Millis // to is 0 for without end
	here     bool         // on the vehicle of which this is known
}

func trackerOf(device *record.Record[record.Device], vehicle string) tracker {
	t := tracker{id: device.ID, spans: make([]trackerSpan, 0, len(device.Body.Assignments))}
	for _, s := range device.Body.Assignments {
		t.spans = append(t.spans, trackerSpan{fleet.MillisOf(s.From.Time), fleet.MillisOf(s.To.Time), s.VehicleID == vehicle})
	}
	return t
}

// here says whether the tracker is on the vehicle at an instant, as record.Device.VehicleNow does.
func (t *tracker) here(at time.Time) bool {
	for _, s := range t.spans {
		if !s.from.Time().After(at) && (s.to == 0 || at.Before(s.to.Time())) {
			return s.here
		}
	}
	return false
}

// readKnown reads what is known of vehicles.
func (a *API) readKnown(ctx context.Context, account fleet.AccountID, ids []uint64,
	now time.Time) (map[uint64]*roster.Fact[known], error) {
	live, err := query.LiveOf(ctx, a.DB, account, ids)
	if err != nil {
		return nil, err
	}
	counted, err := query.MetersNow(ctx, a.DB, account, ids, now)
	if err != nil {
		return nil, err
	}
	var ahead map[uint64]time.Time
	if a.Roster != nil { // else nothing is kept, and nobody asks until when it holds
		if ahead, err = query.VehiclesAhead(ctx, a.DB, account, ids, now); err != nil {
			return nil, err
		}
	}
	stored, err := query.DevicesOf(ctx, a.DB, account, ids)
	if err != nil {
		return nil, err
	}
	heard, err := query.VehiclesHeard(ctx, a.DB, account, ids, now)
	if err != nil {
		return nil, err
	}
	holds, err := query.BusyVehicles(ctx, a.DB, account, 0, ids, now, now.AddDate(100, 0, 0), now)
	if err != nil {
		return nil, err
	}
	bookings, over, err := a.bookingsOf(ctx, account, holds)
	if err != nil {
		return nil, err
	}
	owner, err := a.accounts.Get(ctx, account, uint64(account))
	if err != nil && fleet.CodeOf(err) != fleet.CodeNotFound {
		return nil, err
	}
	unsafe, err := query.OpenSafetyIssues(ctx, a.DB, account, ids)
	if err != nil {
		return nil, err
	}
	on := map[string][]tracker{}
	for _, row := range stored {
		rec, err := rest.FromStored[record.Device](account, row)
		if err != nil {
			return nil, err
		}
		named := map[string]bool{}
		for _, s := range rec.Body.Assignments {
			if !named[s.VehicleID] {
				named[s.VehicleID] = true
				on[s.VehicleID] = append(on[s.VehicleID], trackerOf(&rec, s.VehicleID))
			}
		}
	}
	all := make(map[uint64]*roster.Fact[known], len(ids))
	for _, id := range ids {
		k := known{number: a.knownBefore.Add(1), live: live[id], meters: metersOf(counted[id]), heard: heard[id],
			devices: on[fleet.FormatID(fleet.VehiclePrefix, id)], rare: &nothingRare, home: owner.Body.Timezone}
		if len(holds[id])+len(unsafe[id]) > 0 {
			k.rare = &rare{holds[id], over[id], unsafe[id]}
		}
		all[id] = &roster.Fact[known]{Value: k, Until: fleet.MillisOf(k.until(now, ahead[id])), By: bookings[id],
			Size: k.size()}
	}
	return all, nil
}

// bookingsOf returns which bookings have vehicles, by vehicle, and which of these are completed.
func (a *API) bookingsOf(ctx context.Context, account fleet.AccountID,
	holds map[uint64][]query.Hold) (of map[uint64][]uint64, over map[uint64][]string, err error) {
	of, over = map[uint64][]uint64{}, map[uint64][]string{}
	var all []uint64
	for vehicle, some := range holds {
		for _, h := range some {
			if id, err := fleet.ParseID(fleet.BookingPrefix, h.Ref); err == nil {
				of[vehicle], all = append(of[vehicle], id), append(all, id)
			}
		}
	}
	completed, err := query.CompletedBookings(ctx, a.DB, account, all)
	if err != nil || len(completed) == 0 {
		return of, over, err
	}
	slices.Sort(completed)
	for vehicle, some := range of {
		for _, id := range some {
			if _, ok := slices.BinarySearch(completed, id); ok {
				over[vehicle] = append(over[vehicle], fleet.FormatID(fleet.BookingPrefix, id))
			}
		}
	}
	return of, over, nil
}

// until is the last instant at which all of it holds that holdsAt, deviceOn and heard do not work out: in which
// interval devices report is told by whole hours of the week before; an odometer that a tracker told counts for a week;
// and next is when a reading of the future, or the present of a trip, changes the meters, if any does.
func (k *known) until(now, next time.Time) time.Time {
	until := now.Add(-1).Truncate(time.Hour).Add(time.Hour)
	if told := k.live.MileageTime; told != 0 {
		if week := told.Time().AddDate(0, 0, 7); week.After(now) {
			until = earlier(until, week.Add(-time.Millisecond))
		}
	}
	if !next.IsZero() {
		until = earlier(until, next.Add(-time.Millisecond))
	}
	return until
}

// shownUntil is the last instant at which a vehicle is shown as it is now, if nothing is written: neither a hold, nor a
// time on a tracker, nor its status, ends or begins, it does not fall silent, and no zone's date changes, which happens
// at quarters of an hour. It is zero if that cannot be told.
func (k *known) shownUntil(now, statusUntil time.Time) time.Time {
	until := now.Truncate(15 * time.Minute).Add(15*time.Minute - 1)
	at := func(instant time.Time) {
		if instant.After(now) {
			until = earlier(until, instant.Truncate(time.Millisecond).Add(-1))
		}
	}
	at(statusUntil)
	at(k.heard.Until.Time().Add(time.Millisecond)) // it is online at that instant
	for _, h := range k.rare.holds {
		if h.Open && !h.Until.After(now) { // it ends with every instant
			return time.Time{}
		}
		at(h.From)
		at(h.Until)
		at(h.Expires)
	}
	for i := range k.devices {
		for _, s := range k.devices[i].spans {
			at(s.from.Time())
			at(s.to.Time())
		}
	}
	if k.rare.unsafe != nil { // the issues are called by their names, of which nothing is known here
		return time.Time{}
	}
	return until
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// size is about how many bytes of memory it takes beside itself.
func (k *known) size() int {
	n := 0
	if k.rare != &nothingRare {
		n += int(unsafe.Sizeof(*k.rare)) + 8*cap(k.rare.unsafe)
	}
	for _, h := range k.rare.holds {
		n += int(unsafe.Sizeof(h)) + len(h.Ref) + len(h.Begins) + len(h.Ends)
	}
	for _, ref := range k.rare.over {
		n += int(unsafe.Sizeof(ref)) + len(ref)
	}
	for i := range k.devices {
		n += int(unsafe.Sizeof(k.devices[i])) + cap(k.devices[i].spans)*int(unsafe.Sizeof(trackerSpan{}))
	}
	if t := k.meters.odometer.track; t != nil {
		n += int(unsafe.Sizeof(*t))
	}
	return n
}
