package driver

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/motorpool/fleet"
)

func drawSpans(t *rapid.T, name string, whole Span) []Span {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Span {
		from := whole.From - 2*hour +
			fleet.Millis(rapid.Int64Range(0, int64(whole.Length()/minute)+240).Draw(t, "from"))*minute
		return Span{from, from + fleet.Millis(rapid.Int64Range(0, 15*60).Draw(t, "minutes"))*minute}
	}), 0, 20).Draw(t, name)
}

// Driving, other work and rest of the days are together the days, and those the period, in any zone and over any change
// of the clocks; each is as long as the minutes that one counts by looking.
func TestSumsOfPartsAreThePeriod(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago",
		"Asia/Kathmandu"}
	rapid.Check(t, func(t *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		begin := fleet.MillisOf(time.Date(2026, time.Month(rapid.IntRange(1, 12).Draw(t, "month")),
			rapid.IntRange(1, 31).Draw(t, "day"), 0, 0, 0, 0, time.UTC))
		begin += fleet.Millis(rapid.Int64Range(0, 24*60).Draw(t, "minute")) * minute
		if rapid.Bool().Draw(t, "midnight is missing") { // in Santiago, three hours later
			begin = fleet.MillisOf(time.Date(2026, 9, 6, 1, 0, 0, 0, time.UTC))
		}
		period := Span{begin, begin + fleet.Millis(rapid.Int64Range(1, 10*24*60).Draw(t, "length"))*minute}
		driving, logins := drawSpans(t, "driving", period), drawSpans(t, "logins", period)
		r := Hours(driving, logins, period, zone,
			RuleSets[rapid.SampledFrom([]string{"eu_561_2006", "us_395_70_8", "us_395_60_7"}).Draw(t, "rules")])

		if most := int(period.Length()/(23*hour)) + 2; len(r.Days) > most {
			t.Fatalf("%+v has %d days in %s, at most %d are to be", period, len(r.Days), zone, most)
		}
		var days Sums
		at := period.From
		for _, d := range r.Days {
			if d.From != at || d.Driving+d.Other+d.Rest != d.Length() || d.Length() <= 0 || d.Length() > 25*hour {
				t.Fatalf("%+v: %+v is no day behind %v", period, d, at)
			}
			at = d.To
			days = Sums{days.Driving + d.Driving, days.Other + d.Other, days.Rest + d.Rest}
		}
		if at != period.To || days != r.Sums || r.Driving+r.Other+r.Rest != period.Length() {
			t.Fatalf("days are %+v up to %v, the period %+v", days, at, r)
		}
		var counted Sums
		for m := period.From; m < period.To; m += minute {
			switch {
			case inAny(driving, m):
				counted.Driving += minute
			case inAny(logins, m):
				counted.Other += minute
			default:
				counted.Rest += minute
			}
		}
		if counted != r.Sums {
			t.Fatalf("counted %+v, got %+v", counted, r.Sums)
		}
		if want := Total(Within(driving, period)) - counted.Driving; r.Overlap != want {
			t.Fatalf("overlap %v, want %v", r.Overlap, want)
		}
		for _, f := range r.Findings {
			if f.At < period.From || f.At >= period.To || f.Rule != RuleRest && f.Actual <= f.Limit ||
				f.Rule == RuleRest && f.Actual >= f.Limit {
				t.Fatalf("finding %+v of %+v", f, period)
			}
		}
	})
}

func inAny(spans []Span, at fleet.Millis) bool {
	for _, s := range spans {
		if s.From <= at && at < s.To {
			return true
		}
	}
	return false
}

// Who drove does not depend on the order in which anything was read, the parts fill the trip, and a report that repeats
// the one before it changes nothing.
func TestWhoDroveDependsOnNoOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		people := []string{"ada", "bob", "cy", ""}
		spans := func(name string) []fleet.Driven {
			return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) fleet.Driven {
				from := fleet.Millis(rapid.Int64Range(0, 200).Draw(t, "from")) * minute
				return fleet.Driven{ID: rapid.Uint64Range(1, 1<<40).Draw(t, "id"),
					Vehicle: fleet.VehicleID(rapid.IntRange(1, 2).Draw(t, "vehicle")), From: from,
					To:     from + fleet.Millis(rapid.Int64Range(1, 100).Draw(t, "length"))*minute,
					Driver: rapid.SampledFrom(people).Draw(t, "driver")}
			}), 0, 4).Draw(t, name)
		}
		e := Evidence{Manual: spans("manual"), Bookings: spans("bookings"), Holders: map[string][]fleet.TagHolder{
			"A": {{Driver: "ada"}}, "B": {{Driver: "bob", To: 100 * minute}, {Driver: "cy", From: 100 * minute}},
		}}
		e.Reports = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) fleet.TagReport {
			return fleet.TagReport{Vehicle: fleet.VehicleID(rapid.IntRange(1, 2).Draw(t, "vehicle")),
				At:  fleet.Millis(rapid.Int64Range(0, 200).Draw(t, "at")) * minute,
				Tag: rapid.SampledFrom([]string{"A", "B", "C", "0"}).Draw(t, "tag")}
		}), 0, 12).Draw(t, "reports")
		start := fleet.Millis(rapid.Int64Range(0, 200).Draw(t, "start")) * minute
		end := start + fleet.Millis(rapid.Int64Range(0, 100).Draw(t, "length"))*minute

		mixed := Evidence{Holders: e.Holders}
		mixed.Manual, mixed.Bookings, mixed.Reports =
			shuffled(t, e.Manual), shuffled(t, e.Bookings), shuffled(t, append(e.Reports, e.Reports...))
		for vehicle := fleet.VehicleID(1); vehicle <= 2; vehicle++ {
			got, again := e.Who(vehicle, start, end), mixed.Who(vehicle, start, end)
			if fmt.Sprint(got) != fmt.Sprint(again) {
				t.Fatalf("%+v, and in another order %+v", got, again)
			}
			at := start
			for _, p := range got.Parts {
				if p.From != at {
					t.Fatalf("parts %+v leave a hole", got.Parts)
				}
				at = p.To
			}
			if at != end {
				t.Fatalf("parts %+v end before %v", got.Parts, end)
			}
		}
		for _, driver := range people[:3] {
			if got, again := fmt.Sprint(e.Logins(driver, nil)), fmt.Sprint(mixed.Logins(driver, nil)); got != again {
				t.Fatalf("logins %s, and in another order %s", got, again)
			}
		}
	})
}

func shuffled[T any](t *rapid.T, all []T) []T {
	mixed := append([]T{}, all...)
	rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)).Shuffle(len(mixed), func(i, j int) {
		mixed[i], mixed[j] = mixed[j], mixed[i]
	})
	return mixed
}
