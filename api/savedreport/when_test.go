package savedreport

import (
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/record"
)

func zoneOf(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTheTimesOfASchedule(t *testing.T) {
	for _, test := range []struct {
		zone     string
		schedule record.ReportSchedule
		after    string
		want     string // times in a row
	}{
		{"America/Chicago", record.ReportSchedule{Every: "day", At: "06:00"}, "2026-03-06T12:00:00Z",
			"2026-03-07T12:00:00Z 2026-03-08T11:00:00Z 2026-03-09T11:00:00Z"},
		// Clocks go from 2 to 3 on the 8th: half past two is an hour later.
		{"America/Chicago", record.ReportSchedule{Every: "day", At: "02:30"}, "2026-03-07T00:00:00Z",
			"2026-03-07T08:30:00Z 2026-03-08T08:30:00Z 2026-03-09T07:30:00Z"},
		// Clocks go from 2 back to 1 on November 1st: half past one comes twice, and the first holds.
		{"America/Chicago", record.ReportSchedule{Every: "day", At: "01:30"}, "2026-10-31T06:30:00Z",
			"2026-11-01T06:30:00Z 2026-11-02T07:30:00Z"},
		{"Europe/Berlin", record.ReportSchedule{Every: "week", At: "00:00", Weekday: "mon"}, "2026-03-23T00:00:00Z",
			"2026-03-29T22:00:00Z 2026-04-05T22:00:00Z"},
		{"America/Santiago", record.ReportSchedule{Every: "day", At: "00:00"}, "2026-09-05T05:00:00Z",
			"2026-09-06T04:00:00Z 2026-09-07T03:00:00Z"}, // clocks jump over midnight of the 6th
		{"UTC", record.ReportSchedule{Every: "month", At: "09:15", Day: 31}, "2026-01-31T09:15:00Z",
			"2026-02-28T09:15:00Z 2026-03-31T09:15:00Z 2026-04-30T09:15:00Z"},
		{"Pacific/Apia", record.ReportSchedule{Every: "day", At: "10:00"}, "2011-12-29T20:00:00Z",
			"2011-12-30T20:00:00Z 2011-12-31T20:00:00Z"}, // it left out the 30th
	} {
		var got []string
		zone := zoneOf(t, test.zone)
		for next := at(t, test.after); len(got) < len(strings.Fields(test.want)); {
			next = Next(&test.schedule, next, zone)
			got = append(got, next.UTC().Format(time.RFC3339))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s %+v: %s, want %s", test.zone, test.schedule, got, test.want)
		}
	}
}

// A schedule has one time a day, in whatever zone, over all changes of its clocks.
func TestADayHasOneTime(t *testing.T) {
	for _, name := range []string{"America/Chicago", "Europe/London", "Australia/Lord_Howe", "America/Havana",
		"Asia/Tehran", "Africa/Cairo", "America/St_Johns"} {
		zone := zoneOf(t, name)
		for _, clock := range []string{"00:00", "00:30", "01:00", "01:45", "02:00", "02:30", "03:00", "23:59"} {
			s := &record.ReportSchedule{Every: "day", At: clock}
			seen := map[string]bool{}
			from := at(t, "2024-01-01T12:00:00Z")
			last := from
			for last.Before(from.AddDate(2, 0, 0)) {
				next := Next(s, last, zone)
				day := next.In(zone).Format(time.DateOnly)
				if gap := next.Sub(last); seen[day] || last != from && (gap < 22*time.Hour || gap > 26*time.Hour) {
					t.Fatalf("%s %s: %s after %s", name, clock, next.In(zone), last.In(zone))
				}
				seen[day], last = true, next
			}
		}
	}
}

func TestTheLastTimeThatPassedIsMadeUpFor(t *testing.T) {
	s := &record.ReportSchedule{Every: "day", At: "06:00"}
	first := at(t, "2026-03-07T06:00:00Z")
	for now, want := range map[string]int{"2026-03-07T06:00:00Z": 0, "2026-03-08T05:59:59Z": 0, "2026-03-08T06:00:00Z": 1,
		"2026-03-17T07:00:00Z": 10} {
		last, missed := Last(s, first, at(t, now), time.UTC)
		if missed != want || !last.Equal(first.AddDate(0, 0, want)) {
			t.Errorf("at %s: %s, %d missed", now, last, missed)
		}
	}
}

func TestSpansCountFromTheirDay(t *testing.T) {
	for day, spans := range map[string]map[string]string{
		"2026-03-01": { // a Sunday
			"today": "2026-03-01 2026-03-01", "yesterday": "2026-02-28 2026-02-28", "last_7_days": "2026-02-22 2026-02-28",
			"last_30_days": "2026-01-30 2026-02-28", "last_90_days": "2025-12-01 2026-02-28",
			"week_to_date": "2026-02-23 2026-03-01", "last_week": "2026-02-16 2026-02-22",
			"month_to_date": "2026-03-01 2026-03-01", "last_month": "2026-02-01 2026-02-28", "": "2026-02-01 2026-02-28",
			"quarter_to_date": "2026-01-01 2026-03-01", "last_quarter": "2025-10-01 2025-12-31",
			"year_to_date": "2026-01-01 2026-03-01", "last_year": "2025-01-01 2025-12-31",
			"last_12_months": "2025-03-01 2026-02-28", "fixed": "2020-01-02 2020-01-03"},
		"2024-03-31": {"last_month": "2024-02-01 2024-02-29", "last_week": "2024-03-18 2024-03-24",
			"last_quarter": "2023-10-01 2023-12-31"},
	} {
		for span, want := range spans {
			from, until := Span(&record.SavedReportFields{Span: span, From: "2020-01-02", Until: "2020-01-03"},
				at(t, day+"T23:30:00Z"))
			if got := from + " " + until; got != want {
				t.Errorf("%s on %s: %s, want %s", span, day, got, want)
			}
		}
	}
}
