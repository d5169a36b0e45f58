package track

import (
	"cmp"
	"context"
	"maps"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/units"
	"github.com/motorpool/fleet/query"
)

// DeviceQuality is how well a tracker reports.
type DeviceQuality struct {
	Object    string         `json:"object" doc:"Always device_quality." example:"device_quality"`
	DeviceID  string         `json:"device_id" example:"dev_1234"`
	UniqueID  string         `json:"unique_id" example:"352093081452251"`
	Name      string         `json:"name,omitempty"`
	VehicleID *string        `json:"vehicle_id" nullable:"true" doc:"The vehicle that it is on now." example:"veh_1234"`
	From      record.Instant `json:"from"`
	To        record.Instant `json:"until"`
	HeardState
	ReportIntervalS *int64         `json:"report_interval_s" nullable:"true" doc:"As of the device." example:"600"`
	MayBeSilentS    int64          `json:"may_be_silent_s" doc:"A silence that is longer is a gap, and offline." example:"1800"`
	NeedsHand       float64        `json:"needs_hand" doc:"0 to 100: how much it needs a hand, by its issues." example:"60"`
	Verdict         string         `json:"verdict" doc:"The same in words." example:"Reports each 10 minutes; silent since Tuesday 17 November, 14:05."`
	Issues          []QualityIssue `json:"issues" nullable:"false" doc:"What is wrong with it, the worst first."`
	QualityFigures
	Days []QualityDay `json:"days,omitempty" nullable:"false" doc:"By local day of the account, if one device is asked for."`
}

// QualityDay is the quality of a local day.
type QualityDay struct {
	DayOn string `json:"day_on" format:"date"`
	QualityFigures
}

// QualityFigures are what quality is judged by. Positions count for the time of their fix, all other reports for that
// of their receipt.
type QualityFigures struct {
	Received           int64            `json:"received" doc:"stored and refused."`
	Stored             int64            `json:"stored" doc:"Reports of which a position, or at least a measurement, is stored."`
	Refused            map[string]int64 `json:"refused" nullable:"false" doc:"Reports that are not, by reason; by whole quarters of an hour. Those that were refused over HTTP already are not among them."`
	FlaggedShare       map[string]int64 `json:"flagged_share_bp" nullable:"false" doc:"Of the positions that are stored, by flag, in basis points: 1300 is 13 %."`
	MovingIntervalS    *float64         `json:"moving_interval_s" nullable:"true" doc:"Between fixes while driving: the median."`
	MovingInterval95S  *float64         `json:"moving_interval_p95_s" nullable:"true" doc:"The 95th percentile."`
	StandingIntervalS  *float64         `json:"standing_interval_s" nullable:"true" doc:"Between fixes while standing: the median."`
	StandingInterval95 *float64         `json:"standing_interval_p95_s" nullable:"true" doc:"The 95th percentile."`
	Gaps               int              `json:"gaps" doc:"Silences of more than may_be_silent_s, on the day on which they begin."`
	LongestGapS        int64            `json:"longest_gap_s"`
	GapsS              int64            `json:"gaps_s" doc:"All of them, each day its part."`
	DelayS             *float64         `json:"delay_s" nullable:"true" doc:"From fix to receipt: the median. Negative for a clock that is ahead."`
	Delay95S           *float64         `json:"delay_p95_s" nullable:"true" doc:"The 95th percentile."`
	Satellites         *float64         `json:"satellites" nullable:"true" doc:"The median, if the tracker tells them."`
	AccuracyM          *float64         `json:"accuracy_m" nullable:"true" doc:"The median, if the tracker tells it."`
	DeviceBatteryPct   *float64         `json:"device_battery_min_pct" nullable:"true" doc:"The lowest charge of the tracker's own battery, if told; of all trackers of the vehicle that it is on now, also before it was, by whole hours."`
	DeviceBatteryV     *float64         `json:"device_battery_min_v" nullable:"true" doc:"Its lowest voltage."`
	BatteryV           *float64         `json:"battery_min_v" nullable:"true" doc:"The lowest voltage of the supply."`
}

// usualQuality is the span of quality that names no from, and longestQuality what may be asked for.
const (
	usualQuality   = 7 * 24 * time.Hour
	longestQuality = 92 * 24 * time.Hour
	longestFleet   = 31 * 24 * time.Hour
)

func (a *API) qualityRoutes() {
	span := rest.SpanParams("7 days")
	const about = "Reports received, stored and refused, shares of doubtful positions, intervals while driving and standing, " +
		"silences, delays, satellites and power, and what is wrong in words. "
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/devices/{id}/quality", ID: "getDeviceQuality", Tag: "Devices",
		Scope:   auth.TelematicsRead,
		Summary: "How well a tracker reports, by days", About: about + "Of 92 days at most.",
		Params: span, Reply: DeviceQuality{},
	}, a.deviceQuality)
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/devices/quality", ID: "listDeviceQuality", Tag: "Devices",
		Scope:   auth.TelematicsRead,
		Summary: "Which trackers need a hand",
		About:   about + "Of 31 days at most, without the days; archived devices are left out.",
		Params: slices.Concat(span, []rest.Param{{Name: "sort", Enum: []string{"needs_hand", "-needs_hand"},
			About: "`-needs_hand`, which is usual, begins with those that need a hand most."}}, rest.PageParams),
		Reply: rest.List[DeviceQuality]{},
	}, a.listQuality)
}

// qualitySpan reads the span of quality, which ends at now at the latest.
func qualitySpan(r *http.Request, now fleet.Millis, longest time.Duration) (from, to fleet.Millis, err error) {
	to = min(rest.TimeParam(r, "until", now), now)
	from = rest.TimeParam(r, "from", to.Add(-usualQuality))
	if err := rest.CheckSpan(from, to); err != nil {
		return from, to, err
	}
	if to.Sub(from) > longest {
		return from, to, rest.InvalidParam("from", "must be at most "+spell(longest)+" before until")
	}
	return from, to, nil
}

func (a *API) deviceQuality(w http.ResponseWriter, r *http.Request) error {
	id, err := rest.PathID(r, "device", fleet.DevicePrefix)
	if err != nil {
		return err
	}
	from, to, err := qualitySpan(r, fleet.MillisOf(a.Now()), longestQuality)
	if err != nil {
		return err
	}
	account := auth.From(r.Context()).Account
	rec, err := a.devices.Get(r.Context(), account, id)
	if err != nil {
		return err
	}
	db, err := a.LongTurn(w, r)
	if err != nil {
		return err
	}
	devices := []record.Record[record.Device]{rec}
	all, err := a.qualities(r.Context(), db, account, devices, []uint64{id}, from, to, true)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, all[0])
}

func (a *API) listQuality(w http.ResponseWriter, r *http.Request) error {
	order := rest.TextParam(r, "sort", "-needs_hand")
	list := r.URL.Path + "?" + order
	p, err := rest.PageOf(r, list)
	if err != nil {
		return err
	}
	begin, now, err := a.PartOf(p)
	if err != nil {
		return err
	}
	from, to, err := qualitySpan(r, now, longestFleet)
	if err != nil {
		return err
	}
	account := auth.From(r.Context()).Account
	db, err := a.LongTurn(w, r)
	if err != nil {
		return err
	}
	stored, err := query.DevicesInUse(r.Context(), db, account)
	if err != nil {
		return err
	}
	devices := make([]record.Record[record.Device], len(stored))
	for i, row := range stored {
		if devices[i], err = rest.FromStored[record.Device](account, row); err != nil {
			return err
		}
	}
	all, err := a.qualities(r.Context(), db, account, devices, nil, from, to, false)
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(x, y DeviceQuality) int {
		if order == "needs_hand" {
			return cmp.Compare(x.NeedsHand, y.NeedsHand)
		}
		return cmp.Compare(y.NeedsHand, x.NeedsHand)
	})
	return rest.WritePart(w, r, list, p, all, begin, to)
}

// qualities works out the quality of devices of an account, in their order; only names them to the store, or
// is nil for all.
func (a *API) qualities(ctx context.Context, db driver.Conn, account fleet.AccountID,
	devices []record.Record[record.Device],
	only []uint64, from, to fleet.Millis, daily bool) ([]DeviceQuality, error) {
	owner, err := a.accounts.Get(ctx, account, uint64(account))
	if err != nil && fleet.CodeOf(err) != fleet.CodeNotFound {
		return nil, err
	}
	zone := fleet.ZoneOf(owner.Body.Timezone)
	heard, err := query.DevicesHeard(ctx, db, account, only, a.Now())
	if err != nil {
		return nil, err
	}
	expected := expectations(devices, heard)
	f := query.QualityFilter{Account: account, Devices: only, Vehicles: carriers(devices), From: from, To: to}
	silences, err := query.Silences(ctx, db, f, expected)
	if err != nil {
		return nil, err
	}
	whole, err := readFigures(ctx, db, f)
	if err != nil {
		return nil, err
	}
	var byDay *figures
	if daily {
		f.Zone = zone.String()
		if byDay, err = readFigures(ctx, db, f); err != nil {
			return nil, err
		}
	}
	all := make([]DeviceQuality, len(devices))
	for i, rec := range devices {
		d := showDevice(rec, a.Now())
		q := &all[i]
		*q = DeviceQuality{Object: "device_quality", DeviceID: d.ID, UniqueID: d.UniqueID, Name: d.Name,
			VehicleID: d.VehicleID,
			From:      rest.Instant(from), To: rest.Instant(to), HeardState: heardState(heard[rec.ID]),
			MayBeSilentS: int64(expected[rec.ID].Within / time.Second)}
		if every := int64(heard[rec.ID].Interval / time.Second); every > 0 {
			q.ReportIntervalS = &every
		}
		q.QualityFigures = whole.of(rec.ID, "", d.VehicleID)
		q.addGaps(silences[rec.ID], from.Time(), to.Time())
		if daily {
			q.Days = byDay.days(rec.ID, d.VehicleID, silences[rec.ID], from.Time().In(zone), to.Time().In(zone))
		}
		q.judge(whole.quality[query.DeviceDay{Device: rec.ID}], a.Now().In(zone))
	}
	return all, nil
}

// carriers are the vehicles that devices are or were on.
func carriers(devices []record.Record[record.Device]) []fleet.VehicleID {
	seen := map[fleet.VehicleID]bool{}
	for _, rec := range devices {
		for _, assignment := range rec.Body.Assignments {
			if id, err := fleet.ParseID(fleet.VehiclePrefix, assignment.VehicleID); err == nil {
				seen[fleet.VehicleID(id)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// expectations are since when and how often devices are to report. Those of which nothing ever came may be
// silent for an hour.
func expectations(devices []record.Record[record.Device], heard map[uint64]query.Heard) map[uint64]query.Patience {
	all := make(map[uint64]query.Patience, len(devices))
	for _, rec := range devices {
		p := query.Patience{Since: rec.CreatedAt, Within: time.Hour}
		if h, ok := heard[rec.ID]; ok {
			p.Within = h.Within
		}
		all[rec.ID] = p
	}
	return all
}

// figures are what was read of some devices.
type figures struct {
	quality map[query.DeviceDay]*query.Quality
	power   map[fleet.VehicleID]map[string]query.Power
}

func readFigures(ctx context.Context, db driver.Conn, f query.QualityFilter) (*figures, error) {
	quality, err := query.QualityOf(ctx, db, f)
	if err != nil {
		return nil, err
	}
	power, err := query.PowerOf(ctx, db, f)
	return &figures{quality: quality, power: power}, err
}

// of returns the figures of a device and day but for its gaps.
func (f *figures) of(device uint64, day string, vehicle *string) QualityFigures {
	shown := QualityFigures{Refused: map[string]int64{}, FlaggedShare: map[string]int64{}}
	if vehicle != nil {
		id, _ := fleet.ParseID(fleet.VehiclePrefix, *vehicle)
		power := f.power[fleet.VehicleID(id)][day]
		for signal, to := range map[string]**float64{"device_battery_pct": &shown.DeviceBatteryPct,
			"device_battery_v": &shown.DeviceBatteryV, "battery_v": &shown.BatteryV} {
			if v, ok := power[signal]; ok {
				*to = &v
			}
		}
	}
	q := f.quality[query.DeviceDay{Device: device, Day: day}]
	if q == nil {
		return shown
	}
	shown.Stored = int64(q.Positions) + q.Measured
	shown.Received = shown.Stored
	for reason, n := range q.Refused {
		shown.Refused[reason] = n
		shown.Received += n
	}
	for flag, n := range q.Flagged {
		shown.FlaggedShare[flag] = *rest.BasisPoints(float64(n), float64(q.Positions))
	}
	for _, one := range []struct {
		to    **float64
		value float64
	}{{&shown.MovingIntervalS, q.MovingEvery}, {&shown.MovingInterval95S, q.MovingEvery95},
		{&shown.StandingIntervalS, q.StandingEvery}, {&shown.StandingInterval95, q.StandingEvery95}, {&shown.DelayS, q.Delay},
		{&shown.Delay95S, q.Delay95}, {&shown.Satellites, q.Satellites}, {&shown.AccuracyM, q.Accuracy}} {
		if !math.IsNaN(one.value) {
			v := units.Rounded(one.value, 3)
			*one.to = &v
		}
	}
	return shown
}

// addGaps adds the silences as far as they lie between two instants; those that begin there count.
func (q *QualityFigures) addGaps(silences []query.Silence, from, to time.Time) {
	for _, s := range silences {
		begin, end := s.From, s.To
		if begin.Before(from) {
			begin = from
		} else if begin.Before(to) {
			q.Gaps++
			q.LongestGapS = max(q.LongestGapS, int64(s.To.Sub(s.From)/time.Second))
		}
		if end.After(to) {
			end = to
		}
		q.GapsS += max(0, int64(end.Sub(begin)/time.Second))
	}
}

// days are the figures of a device by the local days of a span.
func (f *figures) days(device uint64, vehicle *string, silences []query.Silence, from, to time.Time) []QualityDay {
	all := []QualityDay{}
	for begin := from; begin.Before(to); {
		end := fleet.NextDay(begin)
		if end.After(to) {
			end = to
		}
		day := QualityDay{DayOn: begin.Format(time.DateOnly)}
		day.QualityFigures = f.of(device, day.DayOn, vehicle)
		day.addGaps(silences, begin, end)
		all = append(all, day)
		begin = end
	}
	return all
}
