package due

import (
	"fmt"
	"slices"
	"strings"

	"github.com/motorpool/fleet/api/record"
)

// The stages of a reminder.
const (
	Upcoming  = "upcoming"
	DueSoon   = "due_soon"
	Due       = "due"
	Overdue   = "overdue"
	Resolved  = "resolved"
	Dismissed = "dismissed"
)

// Stages are those of an open reminder, in the order in which time brings them about.
var Stages = []string{Upcoming, DueSoon, Due, Overdue}

// Open says whether a reminder of a stage is still to be done.
func Open(stage string) bool { return slices.Contains(Stages, stage) }

// Move moves a reminder to a stage. Time moves it among the open stages, backwards too if a meter or the schedule was
// corrected; what is resolved or dismissed stays. A move that cannot be is a *record.TransitionError; a move to the
// stage that it is in changes nothing.
func Move(r *record.Reminder, name, stage string, at record.Instant) error {
	if r.Stage == stage {
		return nil
	}
	if !Open(r.Stage) || !Open(stage) && stage != Resolved && stage != Dismissed {
		return Refusal(r, name, stage)
	}
	r.Stage, r.StageSince = stage, at
	return nil
}

// Refusal says that a reminder's stage does not allow what was asked.
func Refusal(r *record.Reminder, name, wanted string) error {
	e := &record.TransitionError{What: "reminder " + name, Current: r.Stage, Wanted: wanted, Allowed: []string{}}
	if Open(r.Stage) {
		e.Allowed = []string{Resolved, Dismissed}
	}
	return e
}

// offsetKey is how an offset stands among what was told.
func offsetKey(days int) string { return fmt.Sprintf("offset:%d", days) }

// Tell notes what is to be told of a reminder now that was not told before, and says what: the stage, if it is not
// upcoming, and the offset before the forecast that was passed last. Each is told once in a cycle. Offsets that were
// passed together are one piece of news; once it is due, none is.
func (r *Rule) Tell(rem *record.Reminder, today Day) []string {
	var news []string
	note := func(key string) bool {
		if slices.Contains(rem.Told, key) {
			return false
		}
		rem.Told = append(rem.Told, key)
		return true
	}
	if Open(rem.Stage) && rem.Stage != Upcoming && note(rem.Stage) {
		news = append(news, rem.Stage)
	}
	forecast := dayIn(rem.ForecastDueOn)
	if forecast == 0 || rem.Stage != Upcoming && rem.Stage != DueSoon {
		return news
	}
	nearest := ""
	offsets := slices.Sorted(slices.Values(r.Offsets))
	for _, days := range slices.Backward(offsets) {
		if today >= forecast-Day(days) && note(offsetKey(days)) {
			nearest = offsetKey(days)
		}
	}
	if nearest != "" {
		news = append(news, nearest)
	}
	return news
}

// News returns what a revision of a reminder tells that the one before did not.
func News(before, after *record.Reminder) []string {
	var news []string
	offset := ""
	for _, key := range after.Told {
		if before != nil && slices.Contains(before.Told, key) {
			continue
		}
		if strings.HasPrefix(key, "offset:") {
			offset = key // they are noted in the order in which they pass
			continue
		}
		news = append(news, key)
	}
	if offset != "" {
		news = append(news, offset)
	}
	return news
}
