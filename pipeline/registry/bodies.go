package registry

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
)

// The members of stored records that policies are made of, as callers wrote them. What api/record stores is read here
// with few words of its own, because the pipeline knows no package of the interface.

// fenceBody is of a geofence.
type fenceBody struct {
	Name        string          `json:"name"`
	Geometry    json.RawMessage `json:"geometry"`
	Scope       *scopeBody      `json:"scope"`
	Schedule    *scheduleBody   `json:"schedule"`
	DwellS      float64         `json:"dwell_s"`
	SpeedLimit  float64         `json:"speed_limit_mph"`
	ExitMargin  float64         `json:"exit_margin_m"`
	Confirm     int             `json:"confirm_fixes"`
	AppliesFrom *time.Time      `json:"applies_from"`
	Backfill    string          `json:"backfill_job_id"`
}

// ruleBody is of an alert rule; its threshold is read by the name that its kind gives it.
type ruleBody struct {
	Kind        fleet.AlertKind `json:"kind"`
	Severity    string          `json:"severity"`
	Enabled     *bool           `json:"enabled"`
	MinDuration float64         `json:"min_duration_s"`
	CoolDown    float64         `json:"cooldown_s"`
	Schedule    *scheduleBody   `json:"schedule"`
	Scope       *scopeBody      `json:"scope"`
	GeofenceIDs []string        `json:"geofence_ids"`
	Alarms      []string        `json:"alarms"`
	Signal      *signalBody     `json:"signal"`
	Relation    string          `json:"relation"`
	AppliesFrom *time.Time      `json:"applies_from"`
}

// signalBody is what a rule asks of a signal.
type signalBody struct {
	Name       string   `json:"name"`
	Is         string   `json:"is"`
	Value      float64  `json:"value"`
	From       float64  `json:"from"`
	To         float64  `json:"to"`
	Hysteresis *float64 `json:"hysteresis"`
}

// test makes what the rule asks of a signal.
func (b *signalBody) test() (*fleet.SignalTest, error) {
	if b == nil {
		return nil, nil
	}
	signal, ok := fleet.SignalNamed(b.Name)
	if !ok {
		return nil, fmt.Errorf("there is no signal %q", b.Name)
	}
	t := &fleet.SignalTest{Signal: signal, Is: b.Is, Low: b.Value, High: b.Value, Hysteresis: signal.Hysteresis()}
	if b.Is == fleet.SignalBetween || b.Is == fleet.SignalOutside {
		t.Low, t.High = b.From, b.To
	}
	if b.Hysteresis != nil {
		t.Hysteresis = *b.Hysteresis
	}
	return t, nil
}

type scopeBody struct {
	VehicleIDs []string `json:"vehicle_ids"`
	Tags       []string `json:"tags"`
}

type scheduleBody struct {
	Timezone string `json:"timezone"`
	Windows  []struct {
		Days  []string `json:"days"`
		From  string   `json:"from"`
		Until string   `json:"until"`
	} `json:"windows"`
}

type tripBody struct {
	StopAfterS     *float64 `json:"stop_after_s"`
	StartDistanceM *float64 `json:"start_distance_m"`
	StartAfterS    *float64 `json:"start_after_s"`
	NoDataS        *float64 `json:"no_data_s"`
	SplitS         *float64 `json:"split_s"`
	StartSpeedMph  *float64 `json:"start_speed_mph"`
	StopSpeedMph   *float64 `json:"stop_speed_mph"`
	UseIgnition    *bool    `json:"use_ignition"`
}

type accountBody struct {
	Timezone string    `json:"timezone"`
	Trip     *tripBody `json:"trip_settings"`
}

type vehicleBody struct {
	Tags         []string  `json:"tags"`
	Timezone     string    `json:"timezone"`
	BodyType     string    `json:"body_type"`
	FuelCapacity float64   `json:"fuel_capacity_gal"`
	Battery      float64   `json:"battery_kwh"`
	Trip         *tripBody `json:"trip_settings"`
	Registration string    `json:"registration_expires_on"`
	Inspection   string    `json:"inspection_expires_on"`
	Warranty     string    `json:"warranty_ends_on"`
	Insurance    *struct {
		EndsOn string `json:"until"`
	} `json:"insurance"`
}

func (s *scopeBody) scope() (fleet.Scope, error) {
	if s == nil {
		return fleet.Scope{}, nil
	}
	scope := fleet.Scope{Tags: s.Tags}
	for _, text := range s.VehicleIDs {
		id, err := fleet.ParseID(fleet.VehiclePrefix, text)
		if err != nil {
			return scope, err
		}
		scope.Vehicles = append(scope.Vehicles, fleet.VehicleID(id))
	}
	return scope, nil
}

// daysOfWeek are the days as windows name them, in the order of their bits.
var daysOfWeek = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

func (s *scheduleBody) schedule(zone *time.Location) (*fleet.Schedule, error) {
	if s == nil {
		return nil, nil
	}
	zone, err := query.ZoneNamed(s.Timezone, zone)
	if err != nil {
		return nil, err
	}
	schedule := &fleet.Schedule{Zone: zone}
	for _, w := range s.Windows {
		window := fleet.Window{}
		for _, name := range w.Days {
			day := slices.Index(daysOfWeek, name)
			if day < 0 {
				return nil, fmt.Errorf("there is no day %q", name)
			}
			window.Days |= 1 << day
		}
		if len(w.Days) == 0 {
			window.Days = 1<<len(daysOfWeek) - 1
		}
		if window.From, err = clockMinutes(w.From); err != nil {
			return nil, err
		}
		if window.To, err = clockMinutes(w.Until); err != nil {
			return nil, err
		}
		schedule.Windows = append(schedule.Windows, window)
	}
	return schedule, nil
}

// clockMinutes reads "22:30" as minutes after midnight; "24:00" is the end of the day.
func clockMinutes(text string) (int, error) {
	hours, minutes, ok := strings.Cut(text, ":")
	h, err := strconv.Atoi(hours)
	m, wrong := strconv.Atoi(minutes)
	if !ok || err != nil || wrong != nil || h < 0 || m < 0 || m > 59 || h*60+m > 24*60 {
		return 0, fmt.Errorf("%q is not a time of day", text)
	}
	return h*60 + m, nil
}

// over puts the settings in place of those of base that they give.
func (t *tripBody) over(base fleet.TripSettings) fleet.TripSettings {
	if t == nil {
		return base
	}
	span := func(at **fleet.Millis, s *float64) {
		if s != nil {
			ms := seconds(*s)
			*at = &ms
		}
	}
	scaled := func(at **float64, v *float64, scale float64) {
		if v != nil {
			si := *v * scale
			*at = &si
		}
	}
	span(&base.StopAfter, t.StopAfterS)
	span(&base.StartAfter, t.StartAfterS)
	span(&base.NoData, t.NoDataS)
	span(&base.Split, t.SplitS)
	scaled(&base.StartDistance, t.StartDistanceM, 1)
	scaled(&base.StartSpeed, t.StartSpeedMph, fleet.MetresPerMph)
	scaled(&base.StopSpeed, t.StopSpeedMph, fleet.MetresPerMph)
	if t.UseIgnition != nil {
		base.UseIgnition = t.UseIgnition
	}
	return base
}

func seconds(s float64) fleet.Millis { return fleet.Millis(s * 1000) }

// traits makes the traits of a vehicle upon those of its account.
func (v *vehicleBody) traits(base *fleet.Traits) (*fleet.Traits, error) {
	zone, err := query.ZoneNamed(v.Timezone, base.Zone)
	if err != nil {
		return nil, err
	}
	t := &fleet.Traits{Tags: v.Tags, Zone: zone, Class: v.BodyType, FuelCapacity: v.FuelCapacity * fleet.LitresPerGal,
		Battery: v.Battery, Trip: v.Trip.over(base.Trip)}
	insurance := ""
	if v.Insurance != nil {
		insurance = v.Insurance.EndsOn
	}
	for _, document := range []struct{ name, until string }{
		{"registration", v.Registration}, {"inspection", v.Inspection}, {"insurance", insurance}, {"warranty", v.Warranty},
	} {
		if document.until == "" {
			continue
		}
		last, err := time.ParseInLocation(time.DateOnly, document.until, zone)
		if err != nil {
			return nil, err
		}
		// It holds to the end of its last day, where the vehicle is.
		t.Obligations = append(t.Obligations,
			fleet.Obligation{Kind: "document", Ref: document.name, To: fleet.MillisOf(last.AddDate(0, 0, 1))})
	}
	slices.SortStableFunc(t.Obligations, func(a, b fleet.Obligation) int { return cmp.Compare(a.To, b.To) })
	return t, nil
}
