package geofence

import (
	"time"

	"github.com/motorpool/fleet"
)

const day = fleet.Millis(24 * 60 * 60 * 1000)

// hours are a schedule, by the clock on the wall of its zone: an hour that daylight saving skips is missing from a
// window and one that it repeats counts twice. pipeline/alert reads schedules alike.
type hours struct {
	zone    *time.Location
	windows []fleet.Window
}

// compileHours returns nil for a schedule that always holds.
func compileHours(s *fleet.Schedule) *hours {
	if s == nil {
		return nil
	}
	zone := s.Zone
	if zone == nil {
		zone = time.UTC
	}
	return &hours{zone, s.Windows}
}

// holds says whether a window is open, and for how long the clock on the wall will say so.
func (h *hours) holds(at fleet.Millis) (open bool, left fleet.Millis) {
	_, offset := time.UnixMilli(int64(at)).In(h.zone).Zone()
	wall := at + fleet.Millis(offset)*1000
	midnight := wall - (wall%day+day)%day
	weekday := ((midnight/day+3)%7 + 7) % 7 // 1 January 1970 was a Thursday
	for _, w := range h.windows {
		for back := range fleet.Millis(2) {
			if w.Days&(1<<((weekday-back+7)%7)) == 0 {
				continue
			}
			from := midnight - back*day + fleet.Millis(w.From)*60_000
			to := midnight - back*day + fleet.Millis(w.To)*60_000
			if w.To <= w.From {
				to += day
			}
			if wall >= from && wall < to {
				open, left = true, max(left, to-wall)
			}
		}
	}
	return open, left
}

func (h *hours) open(at fleet.Millis) bool {
	if h == nil {
		return true
	}
	open, _ := h.holds(at)
	return open
}

// closes returns a time after at, at which the schedule is open, such that it is open until then; it closes there if it
// does not open at once again. 0 means never.
func (h *hours) closes(at fleet.Millis) fleet.Millis {
	if h == nil {
		return 0
	}
	for range 8 {
		open, left := h.holds(at)
		if !open {
			return at
		}
		next := at + left
		// Where the clock on the wall is put back or forth a window ends at another time.
		if _, end := time.UnixMilli(int64(at)).In(h.zone).ZoneBounds(); !end.IsZero() {
			next = min(next, fleet.Millis(end.UnixMilli()))
		}
		at = next
	}
	return at
}
