package savedreport

import (
	"time"

	"github.com/motorpool/fleet/api/record"
)

var weekdays = map[string]time.Weekday{"mon": time.Monday, "tue": time.Tuesday, "wed": time.Wednesday,
	"thu": time.Thursday, "fri": time.Friday, "sat": time.Saturday, "sun": time.Sunday}

// Next is the first time of a schedule after an instant. Each day, week or month has one.
func Next(s *record.ReportSchedule, after time.Time, zone *time.Location) time.Time {
	y, m, d := after.In(zone).Date()
	for back := -1; ; back++ { // the day before may still have its time, where the date line was moved
		day := time.Date(y, m, d+back, 0, 0, 0, 0, time.UTC)
		if !on(s, day) {
			continue
		}
		if at := clock(day, s.At, zone); at.After(after) {
			return at
		}
	}
}

// on says whether a schedule has a time on a day.
func on(s *record.ReportSchedule, day time.Time) bool {
	switch s.Every {
	case "week":
		return day.Weekday() == weekdays[s.Weekday]
	case "month":
		last := time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
		return day.Day() == min(s.Day, last)
	}
	return true
}

// clock is the instant at which the clock of a zone shows a time of day ("06:00") on a date. Of two the first; and if
// the clock leaves it out, as much later as it is put forward.
func clock(day time.Time, at string, zone *time.Location) time.Time {
	of, err := time.Parse("15:04", at)
	if err != nil {
		of = time.Time{} // it was held against its pattern when it was written
	}
	wall := time.Date(day.Year(), day.Month(), day.Day(), of.Hour(), of.Minute(), 0, 0, time.UTC)
	offset := func(of time.Time) time.Duration {
		_, seconds := of.In(zone).Zone()
		return time.Duration(seconds) * time.Second
	}
	// The offsets of the day before and the day after are all that there are around a change.
	before, after := wall.Add(-offset(wall.AddDate(0, 0, -1))), wall.Add(-offset(wall.AddDate(0, 0, 1)))
	first := before
	if after.Before(before) {
		first = after
	}
	for _, t := range []time.Time{first, before, after} {
		if shown := t.In(zone); shown.Hour() == wall.Hour() && shown.Minute() == wall.Minute() && shown.Day() == wall.Day() {
			return t.UTC()
		}
	}
	return before.UTC()
}

// Last is the last time of a schedule until now, of those from the first on, and how many were before it.
func Last(s *record.ReportSchedule, first, now time.Time, zone *time.Location) (last time.Time, missed int) {
	last = first
	for next := Next(s, last, zone); !next.After(now); next = Next(s, last, zone) {
		last = next
		missed++
	}
	return last, missed
}

// Span is which days a saved report is of, as texts, if it is made for a local day.
func Span(f *record.SavedReportFields, day time.Time) (from, until string) {
	y, m, d := day.Date()
	date := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	today := date(y, m, d)
	monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
	quarter := (m-1)/3*3 + 1
	a, b := today, today
	switch f.Span {
	case "fixed":
		return f.From, f.Until
	case "today":
	case "yesterday":
		a, b = date(y, m, d-1), date(y, m, d-1)
	case "last_7_days":
		a, b = date(y, m, d-7), date(y, m, d-1)
	case "last_30_days":
		a, b = date(y, m, d-30), date(y, m, d-1)
	case "last_90_days":
		a, b = date(y, m, d-90), date(y, m, d-1)
	case "week_to_date":
		a = monday
	case "last_week":
		a, b = monday.AddDate(0, 0, -7), monday.AddDate(0, 0, -1)
	case "month_to_date":
		a = date(y, m, 1)
	case "quarter_to_date":
		a = date(y, quarter, 1)
	case "last_quarter":
		a, b = date(y, quarter-3, 1), date(y, quarter, 0)
	case "year_to_date":
		a = date(y, 1, 1)
	case "last_year":
		a, b = date(y-1, 1, 1), date(y-1, 12, 31)
	case "last_12_months":
		a, b = date(y, m-12, 1), date(y, m, 0)
	default: // last_month
		a, b = date(y, m-1, 1), date(y, m, 0)
	}
	return a.Format(time.DateOnly), b.Format(time.DateOnly)
}
