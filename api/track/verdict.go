package track

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/units"
	"github.com/motorpool/fleet/query"
)

// QualityIssue is something that is wrong with a tracker.
type QualityIssue struct {
	Code string  `json:"code" enum:"never_heard,silent,gaps,refused,doubtful,clock_ahead,clock_behind,late,few_satellites,battery_low" doc:"More may be added."`
	Text string  `json:"text" example:"13 % of places are jumps"`
	Need float64 `json:"need" doc:"What it adds to needs_hand."`
}

// doubtful says in words what the flags of places mean that make a tracker doubtful.
var doubtful = map[string]string{
	"jump": "of places are jumps", "invalid": "of places are not valid by the tracker's own word",
	"approximate": "of places come from cells or wifi", "low_accuracy": "of places are not accurate",
	"mock":      "of places are simulated",
	"bad_speed": "of speeds are impossible", "bad_odometer": "of odometer readings are impossible",
	"week_rollover": "of times are a GPS cycle off",
}

// From which share on something is an issue, and how few reports say nothing.
const (
	doubtfulShare = 0.05
	gapShare      = 0.02
	fewReports    = 10
)

// judge works out what is wrong, and says it. read may be nil: nothing came in the span.
func (q *DeviceQuality) judge(read *query.Quality, now time.Time) {
	q.Issues = []QualityIssue{}
	switch {
	case q.LastHeardAt.IsZero():
		q.add("never_heard", 100, "nothing ever came of it")
	case !q.Online:
		silent := now.Sub(q.LastHeardAt.Time)
		q.add("silent", 50+min(30, 3*silent.Hours()/24), "silent since "+since(q.LastHeardAt.In(now.Location()), now))
	}
	share := float64(q.GapsS) / q.To.Sub(q.From.Time).Seconds()
	if q.Gaps > 0 && share >= gapShare && !q.LastHeardAt.IsZero() {
		q.add("gaps", min(20, 100*share), fmt.Sprintf("%s of more than %s, %s in all", count(q.Gaps, "gap"),
			spell(time.Duration(q.MayBeSilentS)*time.Second), spell(time.Duration(q.GapsS)*time.Second)))
	}
	for reason, n := range q.Refused {
		if share := float64(n) / float64(q.Received); q.Received >= fewReports && share >= doubtfulShare {
			weight := 50.0
			if reason == string(fleet.RefusedDuplicate) {
				weight = 10 // nothing is lost
			}
			q.add("refused", weight*share, percent(share)+" of reports are refused: "+strings.ReplaceAll(reason, "_", " "))
		}
	}
	for flag, words := range doubtful {
		if share := float64(q.FlaggedShare[flag]) / 10000; q.Stored >= fewReports && share >= doubtfulShare {
			q.add("doubtful", 50*share, percent(share)+" "+words)
		}
	}
	if read != nil && read.Positions >= fewReports {
		q.judgeTimes(read)
	}
	if q.Satellites != nil && *q.Satellites > 0 && *q.Satellites < 5 {
		q.add("few_satellites", 10, fmt.Sprintf("sees %.0f satellites", *q.Satellites))
	}
	if q.DeviceBatteryPct != nil && *q.DeviceBatteryPct < 20 {
		q.add("battery_low", 20, fmt.Sprintf("its own battery was down to %.0f %%", *q.DeviceBatteryPct))
	}
	slices.SortFunc(q.Issues, func(x, y QualityIssue) int {
		return cmp.Or(cmp.Compare(y.Need, x.Need), cmp.Compare(x.Text, y.Text))
	})
	q.say()
}

// judgeTimes looks at the clock, and at how late reports come. All late by the same is a clock that is behind.
func (q *DeviceQuality) judgeTimes(read *query.Quality) {
	const late = 5 * 60
	ahead := float64(read.Flagged["future_clock"]) / float64(read.Positions)
	switch {
	case ahead >= doubtfulShare && read.Ahead > 0:
		q.add("clock_ahead", 10+30*ahead, "its clock is "+spell(inSeconds(read.Ahead))+" ahead")
	case read.Delay < -60:
		q.add("clock_ahead", 10, "its clock is "+spell(inSeconds(-read.Delay))+" ahead")
	case read.Delay > late && read.Delay95-read.Delay5 < late:
		q.add("clock_behind", 30, "its clock is "+spell(inSeconds(read.Delay))+" behind, or all that it sends comes as late")
	case read.Delay > late:
		q.add("late", 10, "half of its places come more than "+spell(inSeconds(read.Delay))+" late")
	}
}

func (q *DeviceQuality) add(code string, need float64, text string) {
	q.Issues = append(q.Issues, QualityIssue{Code: code, Need: units.Rounded(need, 1), Text: text})
	q.NeedsHand = units.Rounded(min(100, q.NeedsHand+need), 1)
}

// say puts the verdict into a sentence.
func (q *DeviceQuality) say() {
	var parts []string
	switch {
	case q.ReportIntervalS != nil && *q.ReportIntervalS <= 60:
		parts = append(parts, "reports each minute or more often")
	case q.ReportIntervalS != nil:
		parts = append(parts, "reports each "+spell(time.Duration(*q.ReportIntervalS)*time.Second))
	}
	for _, issue := range q.Issues {
		parts = append(parts, issue.Text)
	}
	if len(q.Issues) == 0 {
		parts = append(parts, "nothing is wrong")
	}
	text := strings.Join(parts, "; ")
	q.Verdict = strings.ToUpper(text[:1]) + text[1:] + "."
}

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

func count(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// spell writes a duration in the greatest unit of which it has at least one and a half, or exactly one.
func spell(d time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		switch n := float64(d) / float64(unit.length); {
		case math.Abs(n-1) < 0.02:
			return "1 " + unit.name
		case n >= 1.5:
			return fmt.Sprintf("%.0f %ss", n, unit.name)
		}
	}
	return "a second"
}

// since writes when something began: by its weekday within a week.
func since(at, now time.Time) string {
	switch days := now.Sub(at).Hours() / 24; {
	case at.Format(time.DateOnly) == now.Format(time.DateOnly):
		return at.Format("15:04 today")
	case days < 6:
		return at.Format("Monday, 15:04")
	case at.Year() == now.Year():
		return at.Format("2 January, 15:04")
	}
	return at.Format("2 January 2006")
}
