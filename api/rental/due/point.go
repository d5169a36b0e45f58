package due

import "math"

// Point is when a cycle is due: what comes first of the conditions that are set.
type Point struct {
	On    Day
	Mi    *float64
	Hours *float64
}

// Point returns when a cycle is due. The first cycle of a rule with a fixed day is due on that day, whenever it
// was done last.
func (r *Rule) Point(cycle int, a Anchor) Point {
	p := Point{On: r.after(a.On), Mi: r.Mi.after(a.Mi), Hours: r.Hours.after(a.Hours)}
	if r.FixedOn != 0 && cycle == 1 {
		p.On = r.FixedOn
	}
	return p
}

// after returns the day on which a cycle is due that begins on a day.
func (r *Rule) after(on Day) Day {
	var days, months Day
	if on != 0 && r.Days > 0 {
		days = on + Day(r.Days)
	}
	if on != 0 && r.Months > 0 {
		months = on.addMonths(r.Months)
		if r.Fixed && r.FixedOn != 0 {
			// Counted from the first day, so that the last of a month comes back to the last after a shorter month.
			k := 1
			for months = r.FixedOn; months <= on; k++ {
				months = r.FixedOn.addMonths(k * r.Months)
			}
		}
	}
	return earliest(days, months)
}

func (i Interval) after(from *float64) *float64 {
	if i.Every == 0 || from == nil {
		return nil
	}
	at := *from + i.Every
	return &at
}

// Next returns where the cycle after one begins that was done, or given up, at done. From completion it begins there. A
// fixed rule goes on from each point that the cycle had, and leaves out the points that had gone by when it was done.
func (r *Rule) Next(cycle int, a, done Anchor) Anchor {
	if !r.Fixed {
		return done
	}
	p := r.Point(cycle, a)
	next := Anchor{On: p.On, Mi: passed(p.Mi, done.Mi, r.Mi.Every), Hours: passed(p.Hours, done.Hours, r.Hours.Every)}
	if next.On == 0 {
		next.On = done.On
	}
	for {
		following := r.after(next.On)
		if following == 0 || following > done.On {
			return next
		}
		next.On = following
	}
}

// passed returns the last of the points p, p + every, p + 2 every and so on that done has reached, at least p.
func passed(p, done *float64, every float64) *float64 {
	if p == nil {
		return done
	}
	last := *p
	if done != nil && *done > last {
		last += math.Floor((*done-last)/every) * every
	}
	return &last
}

// Stage returns how far a point has come.
func (r *Rule) Stage(p Point, m Meters, today Day) string {
	rank := 0
	if p.On != 0 {
		switch {
		case today > p.On:
			rank = 3
		case today == p.On:
			rank = 2
		case today >= p.On-Day(r.Soon):
			rank = 1
		}
	}
	rank = max(rank, r.Mi.rank(p.Mi, m.Mi), r.Hours.rank(p.Hours, m.Hours))
	return Stages[rank]
}

// rank is the place in Stages to which a reading has come.
func (i Interval) rank(point, reading *float64) int {
	switch {
	case point == nil || reading == nil:
		return 0
	case *reading >= *point+i.grace():
		return 3
	case *reading >= *point:
		return 2
	case *reading >= *point-i.Soon:
		return 1
	}
	return 0
}

// Forecast returns the day on which the point will be reached: its day, or sooner at the rate at which the vehicle is
// driven. What is reached already is forecast for the day of the reading, what should have been reached since an old
// reading for today. No day means that nothing is known.
func (r *Rule) Forecast(p Point, m Meters, today Day) Day {
	on := earliest(p.On, reach(p.Mi, m.Mi, m.MiOn, m.MiPerDay, today))
	return earliest(on, reach(p.Hours, m.Hours, m.HoursOn, m.HoursPerDay, today))
}

// farthest is how many days ahead a forecast may lie; a vehicle that hardly moves has none for its meter.
const farthest = 100 * 365

func reach(point, reading *float64, on Day, perDay float64, today Day) Day {
	if point == nil || reading == nil || on == 0 {
		return 0
	}
	left := *point - *reading
	if left <= 0 {
		return on
	}
	days := math.Ceil(left / perDay)
	if perDay <= 0 || days > farthest {
		return 0
	}
	return max(on+Day(days), today)
}

// Watch is when to look at a cycle again: on a day, or when a meter has come so far. Until then its stage stays, and
// nothing is to be told, unless the forecast moves.
type Watch struct {
	On    Day
	Mi    *float64
	Hours *float64
}

// Watch returns when the next stage begins, or the next offset before the forecast passes.
func (r *Rule) Watch(p Point, forecast Day, m Meters, today Day) Watch {
	var w Watch
	if p.On != 0 {
		for _, at := range []Day{p.On + 1, p.On, p.On - Day(r.Soon)} {
			if at > today {
				w.On = at
			}
		}
	}
	if forecast != 0 {
		for _, offset := range r.Offsets {
			if at := forecast - Day(offset); at > today {
				w.On = earliest(w.On, at)
			}
		}
	}
	w.Mi = r.Mi.watch(p.Mi, m.Mi)
	w.Hours = r.Hours.watch(p.Hours, m.Hours)
	return w
}

func (i Interval) watch(point, reading *float64) *float64 {
	if i.Every == 0 {
		return nil
	}
	if point == nil {
		return new(float64) // any reading will do: the cycle counts from it
	}
	for _, at := range []float64{*point - i.Soon, *point, *point + i.grace()} {
		if reading == nil || *reading < at {
			return &at
		}
	}
	return nil
}
