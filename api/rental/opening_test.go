package rental

import (
	"testing"
	"time"

	"github.com/motorpool/fleet/api/record"
)

func open(from, until string, days ...string) record.OpenHours {
	return record.OpenHours{Days: days, From: from, Until: until}
}

// What a clerk would read off the door. In Chicago 2026-03-08 has no 02:00 to 03:00, and 2026-11-01 has 01:00
// to 02:00 twice.
func TestOpeningHours(t *testing.T) {
	office := []record.OpenHours{open("08:00", "18:00", "mon", "tue", "wed", "thu", "fri"), open("09:00", "12:00", "sat")}
	night := []record.OpenHours{open("18:00", "24:00", "fri"), open("00:00", "02:00", "sat")}
	early := []record.OpenHours{open("02:15", "02:45", "sun"), open("22:00", "23:00", "sun")}
	late := []record.OpenHours{open("02:30", "10:00", "sun")}
	twice := []record.OpenHours{open("01:30", "01:45", "sun")}
	for _, c := range []struct {
		what  string
		hours []record.OpenHours
		at    string
		open  bool
		next  string // of what is closed
	}{
		{"no hours", nil, "2026-03-08T03:00:00-05:00", true, ""},
		{"opening", office, "2026-03-09T08:00:00-05:00", true, ""},
		{"closing", office, "2026-03-09T18:00:59-05:00", true, ""},
		{"a minute late", office, "2026-03-09T18:01:00-05:00", false, "2026-03-10T08:00:00-05:00"},
		{"before opening", office, "2026-03-09T07:59:59-05:00", false, "2026-03-09T08:00:00-05:00"},
		// over the change of clocks
		{"saturday noon", office, "2026-03-07T12:30:00-06:00", false, "2026-03-09T08:00:00-05:00"},
		{"an hour that was winter's", office, "2026-03-09T07:30:00-05:00", false, "2026-03-09T08:00:00-05:00"},
		{"past midnight", night, "2026-03-07T01:59:00-06:00", true, ""},
		{"at midnight", night, "2026-03-07T00:00:00-06:00", true, ""},
		{"after the night", night, "2026-03-07T02:01:00-06:00", false, "2026-03-13T18:00:00-05:00"},
		{"until midnight and no further", night[:1], "2026-03-07T00:00:00-06:00", true, ""},
		{"a minute further", night[:1], "2026-03-07T00:01:00-06:00", false, "2026-03-13T18:00:00-05:00"},
		{"hours that are left out", early, "2026-03-08T01:59:00-06:00", false, "2026-03-08T22:00:00-05:00"},
		{"hours that begin while clocks change", late, "2026-03-08T01:59:00-06:00", false, "2026-03-08T03:00:00-05:00"},
		{"just after the change", late, "2026-03-08T03:00:00-05:00", true, ""},
		{"the first time", twice, "2026-11-01T01:40:00-05:00", true, ""},
		{"the second time", twice, "2026-11-01T01:40:00-06:00", true, ""},
		{"in between", twice, "2026-11-01T01:50:00-05:00", false, "2026-11-01T01:30:00-06:00"},
		{"after both", twice, "2026-11-01T01:50:00-06:00", false, "2026-11-08T01:30:00-06:00"},
		{"the day of the change, a week before", late, "2026-03-01T11:00:00-06:00", false, "2026-03-08T03:00:00-05:00"},
		{"a week without its hour", early[:1], "2026-03-01T03:00:00-06:00", false, "2026-03-15T02:15:00-05:00"},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		at = at.In(zone(t, "America/Chicago"))
		if got := Open(c.hours, at); got != c.open {
			t.Errorf("%s: open %v, want %v", c.what, got, c.open)
		}
		if c.open {
			continue
		}
		if got := NextOpening(c.hours, at).Format(time.RFC3339); got != c.next {
			t.Errorf("%s: opens %s, want %s", c.what, got, c.next)
		}
	}
}

// The next opening is the one that waiting at the door finds, in every hour of the weeks in which clocks change, by
// half an hour too.
func TestTheNextOpeningIsTheFirst(t *testing.T) {
	hours := []record.OpenHours{open("02:10", "02:20", "sat", "sun"), open("01:35", "01:50", "sun"),
		open("23:50", "24:00", "sun"), open("09:00", "11:00", "wed"), open("10:00", "12:00", "wed")}
	for _, name := range []string{"America/Chicago", "Australia/Lord_Howe", "Europe/Berlin"} {
		for _, from := range []string{"2026-03-05", "2026-03-26", "2026-04-01", "2026-09-30", "2026-10-22", "2026-10-29"} {
			start, err := time.ParseInLocation(time.DateOnly, from, zone(t, name))
			if err != nil {
				t.Fatal(err)
			}
			var closed []time.Time // since it was open last
			for at := start; at.Before(start.AddDate(0, 0, 5)); at = at.Add(time.Minute) {
				if !Open(hours, at) {
					if at.Minute()%10 == 0 {
						closed = append(closed, at)
					}
					continue
				}
				for _, asked := range closed {
					if got := NextOpening(hours, asked); !got.Equal(at) {
						t.Fatalf("%s: asked at %s, opens %s, want %s", name, asked, got, at)
					}
				}
				closed = nil
			}
		}
	}
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}
