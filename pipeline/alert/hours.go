package alert

import (
	"slices"
	"time"

	"github.com/motorpool/fleet"
)

const (
	minute = fleet.Millis(60_000)
	week   = 7 * 24 * 60 * minute
)

// hours are the times of the week of a schedule, read off a clock on the wall of its zone: an hour that daylight saving
// skips is missing from a window, one that it repeats counts twice.
type hours struct {
	zone *time.Location
	open [][2]fleet.Millis // Spans [from, to) since the local Monday's midnight, ordered and apart.
}

// compileHours returns nil for a schedule that always holds.
func compileHours(s *fleet.Schedule) *hours {
	if s == nil {
		return nil
	}
	h := &hours{zone: s.Zone}
	if h.zone == nil {
		h.zone = time.UTC
	}
	var parts [][2]fleet.Millis
	for _, w := range s.Windows {
		for day := range 7 {
			if w.Days&(1<<day) == 0 {
				continue
			}
			from := fleet.Millis(day*24*60+w.From) * minute
			to := fleet.Millis(day*24*60+w.To) * minute
			if w.To <= w.From {
				to += 24 * 60 * minute
			}
			parts = append(parts, [2]fleet.Millis{from, min(to, week)})
			if to > week {
				parts = append(parts, [2]fleet.Millis{0, to - week})
			}
		}
	}
	slices.SortFunc(parts, func(a, b [2]fleet.Millis) int { return int(a[0] - b[0]) })
	for _, p := range parts {
		if n := len(h.open); n > 0 && p[0] <= h.open[n-1][1] {
			h.open[n-1][1] = max(h.open[n-1][1], p[1])
		} else {
			h.open = append(h.open, p)
		}
	}
	if len(h.open) == 1 && h.open[0] == [2]fleet.Millis{0, week} {
		return nil
	}
	return h
}

// clock returns the time since Monday's midnight on the wall.
func (h *hours) clock(at fleet.Millis) fleet.Millis {
	_, offset := time.UnixMilli(int64(at)).In(h.zone).Zone()
	const thursday = 3 * 24 * 60 * minute // 1 January 1970, counted from Monday
	wall := (at + fleet.Millis(offset)*1000 + thursday) % week
	if wall < 0 {
		wall += week
	}
	return wall
}

// holds says whether the schedule holds at a time.
func (h *hours) holds(at fleet.Millis) bool {
	if h == nil {
		return true
	}
	wall := h.clock(at)
	for _, w := range h.open {
		if wall >= w[0] && wall < w[1] {
			return true
		}
	}
	return false
}

// opens returns the first time from at on at which the schedule holds, or 0 if it never does.
func (h *hours) opens(at fleet.Millis) fleet.Millis {
	if h.holds(at) {
		return at
	}
	return h.turns(at, true)
}

// closes returns the first time from at on at which the schedule does not hold, or 0 if it always does.
func (h *hours) closes(at fleet.Millis) fleet.Millis {
	if h == nil {
		return 0
	}
	if !h.holds(at) {
		return at
	}
	return h.turns(at, false)
}

// turns goes from edge to edge, of windows and of daylight saving, until the schedule holds or does not.
func (h *hours) turns(at fleet.Millis, open bool) fleet.Millis {
	if len(h.open) == 0 {
		return 0
	}
	for range 4*len(h.open) + 8 {
		wall := h.clock(at)
		edge := week + h.open[0][0]
		for _, w := range h.open {
			if w[0] > wall {
				edge = w[0]
				break
			}
			if w[1] > wall {
				edge = w[1]
				break
			}
		}
		next := at + edge - wall
		if _, end := time.UnixMilli(int64(at)).In(h.zone).ZoneBounds(); !end.IsZero() {
			next = min(next, fleet.Millis(end.UnixMilli()))
		}
		at = next
		if h.holds(at) == open {
			return at
		}
	}
	return 0
}

// due returns when a condition that holds from a time on has been seen for as long as the rule wants within one window
// of its schedule, and when that window's part began; 0 and 0 if never.
func (r *rule) due(from fleet.Millis) (begin, due fleet.Millis) {
	if r.hours == nil {
		return from, from + r.MinDuration
	}
	for range 8 * max(1, len(r.hours.open)) { // more than a week's windows, each may be too short
		begin = r.hours.opens(from)
		if begin == 0 {
			return 0, 0
		}
		end := r.hours.closes(begin)
		if end == 0 || begin+r.MinDuration < end {
			return begin, begin + r.MinDuration
		}
		from = end
	}
	return 0, 0
}
