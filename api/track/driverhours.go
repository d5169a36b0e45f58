package track

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/driver"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// HourSums are how long a driver did what, in seconds.
type HourSums struct {
	DrivingS float64 `json:"driving_s" doc:"On trips, from their first fix to their last; two vehicles at once count once."`
	OtherS   float64 `json:"other_s" doc:"Logged in by a tag while the vehicle is on no trip, whoever drives it: other work, or waiting. A login lasts until another tag or a logout is reported, and at most 15 minutes after the last report of the tag."`
	RestS    float64 `json:"rest_s" doc:"Neither."`
	LongestS float64 `json:"longest_continuous_driving_s" doc:"The longest driving without a break that counts by the rules; of a day, what began on it."`
}

// HourBreak is a pause in driving.
type HourBreak struct {
	From      record.Instant `json:"from"`
	To        record.Instant `json:"until"`
	DurationS float64        `json:"duration_s"`
}

// HourDay is what a driver did on a local day.
type HourDay struct {
	Date string         `json:"date" format:"date"`
	From record.Instant `json:"from"`
	To   record.Instant `json:"until" doc:"The days of the clocks' change have 23 or 25 hours."`
	HourSums
	Breaks []HourBreak `json:"breaks" nullable:"false" doc:"Pauses of 15 minutes or more that begin on it and are no daily rest."`
}

// HourFinding is a limit that was not kept.
type HourFinding struct {
	Rule    string         `json:"rule" enum:"continuous_driving,daily_driving,weekly_driving,fortnightly_driving,daily_rest,duty_window,duty_cycle"`
	At      record.Instant `json:"at" doc:"From when on."`
	LimitS  float64        `json:"limit_s"`
	ActualS float64        `json:"actual_s"`
}

// DriverHours are a driver's hours of driving and rest.
type DriverHours struct {
	Object   string         `json:"object" doc:"Always driver_hours." example:"driver_hours"`
	DriverID string         `json:"driver_id" example:"cus_1234"`
	From     record.Instant `json:"from"`
	To       record.Instant `json:"until" doc:"At most now."`
	Timezone string         `json:"timezone" doc:"Whose days and weeks they are." example:"America/Chicago"`
	Rules    string         `json:"rules" doc:"That the findings are about." example:"eu_561_2006"`
	HourSums
	OverlapS float64       `json:"overlap_s" doc:"Driving of two vehicles at once: a tag that was left in one, or a wrong assignment."`
	Days     []HourDay     `json:"days" nullable:"false"`
	Findings []HourFinding `json:"findings" nullable:"false" doc:"In order of time; information, and no proof."`
}

// maxHours is the longest period of hours.
const maxHours = 92 * 24 * time.Hour

func (a *API) driverHourRoutes() {
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/drivers/{id}/hours", ID: "getDriverHours", Tag: "Drivers",
		Scope:   auth.TelematicsRead,
		Summary: "Hours of driving and rest of a driver",
		About: "Of the trips whose driver the customer was, or for a part of them (see `driver_source` of a trip), and of its logins by tags, each of which lasts at most 15 minutes after the last report of the tag. Driving, other and rest add up to the period. " +
			"**This is information and no tachograph or electronic logging device**: it knows trips and tags, and nothing of vehicles without a tracker, of work elsewhere, or of what somebody did while logged in. " +
			"Standing within a trip is driving. The rules are `rules`, else `driving_rules` of the account, else none. EU 561/2006 here: 4.5 hours without a break of 45 minutes (or 15, then 30), 9 hours a day, twice a week 10, 56 a week, " +
			"90 in two, and 11 hours of rest within 24 hours, thrice a week 9. US 395: 11 hours after 10 off, none after the 14th, 30 minutes after 8, and 60 hours of work in 7 days or 70 in 8. " +
			"Weekly rests, crews, ferries, sleeper berths, exceptions and restarts are not judged.",
		Params: []rest.Param{
			{Name: "from", Format: "date-time",
				About: "Instant from which, inclusive; 7 days before `until` unless given. At most 92 days."},
			{Name: "until", Format: "date-time", About: "Instant up to which, exclusive; now unless given."},
			{Name: "timezone", About: "IANA time zone of the days; the account's unless given."},
			{Name: "rules", Enum: []string{"none", "eu_561_2006", "us_395_70_8", "us_395_60_7"},
				About: "The rules to hold the hours against."},
		},
		Reply: DriverHours{},
	}, a.driverHours)
}

func (a *API) driverHours(w http.ResponseWriter, r *http.Request) error {
	id, err := rest.PathID(r, "customer", fleet.CustomerPrefix)
	if err != nil {
		return err
	}
	account := auth.From(r.Context()).Account
	if _, err := a.desk.Customers.Get(r.Context(), account, id); err != nil {
		return err
	}
	now := fleet.MillisOf(a.Now())
	period := driver.Span{To: min(rest.TimeParam(r, "until", now), now)}
	period.From = rest.TimeParam(r, "from", period.To.Add(-7*24*time.Hour))
	if err := rest.CheckSpan(period.From, period.To); err != nil {
		return err
	}
	if period.Length() > fleet.Millis(maxHours/time.Millisecond) {
		return rest.InvalidParam("until", "must be at most 92 days after from, and from must not be in the future")
	}
	owner, err := a.accounts.Get(r.Context(), account, uint64(account))
	if err != nil {
		return err
	}
	zone, err := time.LoadLocation(rest.TextParam(r, "timezone", cmp.Or(owner.Body.Timezone, "UTC")))
	if err != nil || zone == time.Local {
		return rest.InvalidParam("timezone", "is not an IANA time zone")
	}
	set, rules := rulesOf(rest.TextParam(r, "rules", ""), owner.Body.DrivingRules)
	who := fleet.FormatID(fleet.CustomerPrefix, id)
	begin := period.From - driver.Lead
	driving, logins, err := a.worked(r.Context(), account, who, begin, period.To)
	if err != nil {
		return err
	}
	view := showHours(driver.Hours(driving, logins, period, zone, rules))
	view.DriverID, view.Timezone, view.Rules = who, zone.String(), set
	return rest.WriteJSON(w, r, http.StatusOK, view)
}

// worked returns when somebody drove at any time of [from, to), and was logged in to a vehicle that was on no trip.
func (a *API) worked(
	ctx context.Context, account fleet.AccountID, who string, from, to fleet.Millis,
) (driving, logins []driver.Span, err error) {
	vehicles, err := mayHaveDriven(ctx, a.DB, account, who, from, to)
	if err != nil {
		return nil, nil, err
	}
	for some := range slices.Chunk(vehicles, vehiclesAtOnce) {
		trips, err := query.TripSpans(ctx, a.DB, account, some, from, to, false, 0)
		if err != nil {
			return nil, nil, err
		}
		first, last := from, to
		for _, t := range trips {
			first, last = min(first, t.From), max(last, t.To)
		}
		e, err := a.evidence(ctx, a.DB, account, some, first, last)
		if err != nil {
			return nil, nil, err
		}
		away := map[fleet.VehicleID][]driver.Span{}
		for _, t := range trips {
			away[t.Vehicle] = append(away[t.Vehicle], driver.Span{From: t.From, To: t.To})
			for _, p := range e.Who(t.Vehicle, t.From, t.To).Parts {
				if p.Driver == who && !t.Unrecorded { // when somebody drove in a silence, nobody knows
					driving = append(driving, driver.Span{From: p.From, To: p.To})
				}
			}
		}
		logins = append(logins, e.Logins(who, away)...)
	}
	return driving, logins, nil
}

// rulesOf returns the rules of a name, else those of the account with its changes.
func rulesOf(set string, own *record.DrivingRules) (string, driver.Rules) {
	if set != "" || own == nil {
		return cmp.Or(set, "none"), driver.RuleSets[set]
	}
	rules := driver.RuleSets[own.Set]
	change := func(limit *fleet.Millis, seconds int) bool {
		if seconds > 0 {
			*limit = fleet.Millis(seconds) * 1000
		}
		return seconds > 0
	}
	change(&rules.Continuous, own.ContinuousS)
	change(&rules.Weekly, own.WeeklyS)
	if change(&rules.Break, own.BreakS) {
		rules.BreakParts = [2]fleet.Millis{}
	}
	if change(&rules.Daily, own.DailyS) {
		rules.Extensions = 0
	}
	if change(&rules.Rest, own.RestS) {
		rules.Reduced, rules.Reductions = rules.Rest, 0
	}
	return own.Set, rules
}

func showHours(h driver.Report) DriverHours {
	sums := func(s driver.Sums, longest fleet.Millis) HourSums {
		return HourSums{DrivingS: rest.Seconds(s.Driving), OtherS: rest.Seconds(s.Other), RestS: rest.Seconds(s.Rest),
			LongestS: rest.Seconds(longest)}
	}
	var longest fleet.Millis
	for _, s := range h.Stretches {
		longest = max(longest, s.Driving)
	}
	view := DriverHours{Object: "driver_hours", From: rest.Instant(h.From), To: rest.Instant(h.To),
		HourSums: sums(h.Sums, longest), OverlapS: rest.Seconds(h.Overlap),
		Days: make([]HourDay, len(h.Days)), Findings: make([]HourFinding, len(h.Findings))}
	for i, d := range h.Days {
		view.Days[i] = HourDay{Date: d.Date, From: rest.Instant(d.From), To: rest.Instant(d.To),
			HourSums: sums(d.Sums, d.Longest), Breaks: make([]HourBreak, len(d.Breaks))}
		for n, b := range d.Breaks {
			view.Days[i].Breaks[n] = HourBreak{From: rest.Instant(b.From), To: rest.Instant(b.To),
				DurationS: rest.Seconds(b.Length())}
		}
	}
	for i, f := range h.Findings {
		view.Findings[i] = HourFinding{Rule: f.Rule, At: rest.Instant(f.At), LimitS: rest.Seconds(f.Limit),
			ActualS: rest.Seconds(f.Actual)}
	}
	return view
}
