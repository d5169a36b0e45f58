package due

import (
	"time"

	"github.com/motorpool/fleet/api/record"
)

// Now is an instant, and the zone that says which day it is.
type Now struct {
	At   time.Time
	Zone *time.Location
}

// Today returns the local date.
func (n Now) Today() Day { return DayOf(n.At, n.Zone) }

// Begin makes the reminder of a cycle that begins at an anchor.
func (r *Rule) Begin(cycle int, a Anchor, m Meters, now Now) record.Reminder {
	rem := record.Reminder{Cycle: cycle, Stage: Upcoming, StageSince: record.InstantOf(now.At),
		Anchor: a.Completed(now.Today(), m).Record()}
	r.Judge(&rem, m, now)
	return rem
}

// Judge brings an open reminder up to date: its point, forecast and stage, when to look at it again, and what is told
// of it. It returns what is to be told now. Who calls it again on the same day with the same meters changes nothing.
func (r *Rule) Judge(rem *record.Reminder, m Meters, now Now) []string {
	today, at := now.Today(), record.InstantOf(now.At)
	if !Open(rem.Stage) {
		return nil
	}
	a := AnchorOf(rem.Anchor).Completed(today, m)
	rem.Anchor = a.Record()
	p := r.Point(rem.Cycle, a)
	rem.DueOn, rem.DueMi, rem.DueHours = p.On.String(), p.Mi, p.Hours
	stage := r.Stage(p, m, today)
	reached := func(stage string) bool { return stage == Due || stage == Overdue }
	if f := r.Forecast(p, m, today); !reached(rem.Stage) &&
		(moved(dayIn(rem.ForecastDueOn), f, today) || reached(stage)) || reached(rem.Stage) && !reached(stage) {
		rem.ForecastDueOn = f.String() // what was reached keeps the day on which it was
	}
	if stage != rem.Stage {
		rem.Stage, rem.StageSince = stage, at
	}
	w := r.Watch(p, dayIn(rem.ForecastDueOn), m, today)
	rem.WatchAt, rem.WatchMi, rem.WatchHours = record.Instant{}, w.Mi, w.Hours
	if w.On != 0 {
		rem.WatchAt = record.InstantOf(w.On.Start(now.Zone))
	}
	if at.Before(rem.SnoozedUntil.Time) {
		return nil // its stage goes on, and is told of afterwards
	}
	rem.SnoozedUntil = record.Instant{}
	return r.Tell(rem, today)
}

// moved says whether a forecast has moved so far that it is worth writing: by more than a tenth of the time that is
// left. Forecasts wander a little every day.
func moved(was, is, today Day) bool {
	if was == 0 || is == 0 {
		return was != is
	}
	return max(was-is, is-was) > max(was-today, is-today, 0)/10
}
