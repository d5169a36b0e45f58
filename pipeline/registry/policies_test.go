package registry_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/registry"
	"github.com/motorpool/fleet/schemas/schematest"
)

// policyWorld writes revisions of records as api/record does, and reads policies of them.
type policyWorld struct {
	t        *testing.T
	db       driver.Conn
	policies *registry.Policies
	at       time.Time // of the next write
}

func newPolicyWorld(t *testing.T) *policyWorld {
	db := schematest.Open(t)
	return &policyWorld{t: t, db: db, policies: registry.NewPolicies(db), at: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
}

// write adds a revision, an hour after the one before.
func (w *policyWorld) write(kind string, account, id, revision uint64, body string) {
	w.t.Helper()
	w.at = w.at.Add(time.Hour)
	schematest.Write(w.t, w.db, kind, account, id, revision, w.at, body)
}

// policy reads what is new and returns account 7's policy.
func (w *policyWorld) policy() *fleet.Policy {
	w.t.Helper()
	if err := w.policies.Refresh(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return w.policies.Of(7)
}

// fences writes the versions of geofences as lines: id r<revision> [from, to) name, in hours since the first write.
func (w *policyWorld) fences() string {
	w.t.Helper()
	var lines []string
	hour := func(m fleet.Millis) string {
		if m == 0 {
			return "on"
		}
		return fmt.Sprint(int(m.Time().Sub(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)).Hours()))
	}
	for _, f := range w.policy().Fences {
		lines = append(lines, fmt.Sprintf("%d r%d %s-%s %s", f.ID, f.Revision, hour(f.From), hour(f.To), f.Name))
	}
	return strings.Join(lines, "; ")
}

func (w *policyWorld) want(what, got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("%s: %s, want %s", what, got, want)
	}
}

func TestVersionsOfAGeofenceAreItsRevisions(t *testing.T) {
	w := newPolicyWorld(t)
	const small, large = `"geometry":{"type":"Circle","radius_m":100}`, `"geometry":{"type":"Circle","radius_m":200}`
	w.write("geofence", 7, 1, 1, `{"name":"a",`+small+`}`) // 1
	w.want("made", w.fences(), "1 r1 1-on a")
	w.write("geofence", 7, 1, 2, `{"name":"b",`+small+`,"metadata":{"x":"y"}}`) // 2
	w.want("renamed: no other version", w.fences(), "1 r1 1-on b")
	w.write("geofence", 7, 1, 3, `{"name":"b",`+large+`}`) // 3
	w.want("another shape", w.fences(), "1 r1 1-3 b; 1 r3 3-on b")
	w.write("geofence", 7, 1, 4, `{"name":"b",`+large+`,"applies_from":"2026-03-01T02:00:00Z","dwell_s":60}`) // 4
	w.want("applies from before", w.fences(), "1 r1 1-2 a; 1 r4 2-on b")
	w.write("geofence", 7, 1, 5, `{"name":"b",`+small+`,"applies_from":"2026-03-01T02:00:00Z","dwell_s":60}`) // 5
	w.want("carried along", w.fences(), "1 r1 1-2 a; 1 r4 2-5 b; 1 r5 5-on b")
	w.write("geofence", 7, 1, 6, `{"name":"b",`+small+
		`,"applies_from":"2026-03-01T02:00:00Z","dwell_s":60,"backfill_job_id":"job_1"}`)
	w.want("brought again by a backfill", w.fences(), "1 r1 1-2 a; 1 r6 2-on b")
	w.write("geofence", 7, 1, 7, `{"name":"b",`+small+
		`,"applies_from":"2026-02-28T23:00:00Z","dwell_s":60,"backfill_job_id":"job_2"}`)
	w.want("from before it was made", w.fences(), "1 r7 -1-on b")
	// 8
	w.write("geofence", 7, 1, 8,
		`{"name":"b","geometry":{},"applies_from":"2026-03-01T02:00:00Z","speed_limit_mph":"fast"}`)
	w.want("one that cannot be read", w.fences(), "1 r7 -1-on b")
	w.write("geofence", 7, 1, 9, "archived") // 9
	w.want("archived", w.fences(), "1 r7 -1-9 b")
	w.write("geofence", 8, 2, 1, `{"name":"other"}`)
	w.want("of another account", w.fences(), "1 r7 -1-9 b")
	if n := w.policies.Skipped(); n != 1 {
		t.Errorf("skipped %d", n)
	}
	// Whoever comes later reads the same.
	w.policies = registry.NewPolicies(w.db)
	w.want("read at once", w.fences(), "1 r7 -1-9 b")
}

func TestAGeofenceMayApplySinceEver(t *testing.T) {
	w := newPolicyWorld(t)
	const body = `{"name":"a","geometry":{"type":"Circle","radius_m":100},"applies_from":"%s"}`
	for i, since := range []string{"1970-01-01T00:00:00Z", "1700-01-01T00:00:00Z", "1970-01-01T00:00:00.001Z"} {
		w.write("geofence", 7, uint64(1+i), 1, fmt.Sprintf(body, since))
		if all := w.policy().Fences; len(all) != 1+i || all[i].From != 1 || all[i].To != 0 {
			t.Errorf("since %s: %+v", since, all)
		}
	}
}

func TestARuleIsReadInSIUnits(t *testing.T) {
	w := newPolicyWorld(t)
	w.write("account", 7, 7, 1, `{"timezone":"America/Chicago"}`)
	w.write("alert_rule", 7, 3, 1,
		`{"kind":"speeding","severity":"warning","enabled":true,"threshold_mph":75,"min_duration_s":30,"cooldown_s":600,
		"geofence_ids":["geo_9"],"scope":{"vehicle_ids":["veh_5"],"tags":["vans"]},"schedule":{"windows":[{"days":["fri","sat"],"from":"22:00","until":"06:30"},{"from":"00:00","until":"24:00"}]}}`)
	w.write("alert_rule", 7, 4, 1, `{"kind":"document_expiring","threshold_days":14}`)
	w.write("alert_rule", 7, 5, 1, `{"kind":"tow","enabled":false}`)
	w.write("alert_rule", 7, 6, 1, `{"kind":"tow","schedule":{"windows":[{"from":"noon","until":"06:30"}]}}`)
	rules := w.policy().Rules
	if len(rules) != 2 || w.policies.Skipped() != 1 {
		t.Fatalf("rules %+v, skipped %d", rules, w.policies.Skipped())
	}
	r := rules[0]
	if r.ID != 3 || r.Kind != fleet.AlertSpeeding || r.Threshold != 75*fleet.MetresPerMph || r.MinDuration != 30_000 ||
		r.CoolDown != 600_000 || r.Fences[0] != 9 || r.Scope.Vehicles[0] != 5 || r.Scope.Tags[0] != "vans" ||
		r.Schedule.Zone.String() != "America/Chicago" ||
		r.Schedule.Windows[0] != (fleet.Window{Days: 0b110000, From: 22 * 60, To: 6*60 + 30}) ||
		r.Schedule.Windows[1] != (fleet.Window{Days: 0b1111111, To: 24 * 60}) {
		t.Errorf("rule %+v with %+v", r, r.Schedule)
	}
	if d := rules[1]; d.Threshold != 14*86400 || d.Severity != fleet.SeverityWarning {
		t.Errorf("rule %+v", d)
	}
	w.write("alert_rule", 7, 3, 2, `{"kind":"speeding","enabled":false,"threshold_mph":75}`)
	if r := w.policy().Rules[0]; r.To != fleet.MillisOf(w.at) || r.Revision != 1 {
		t.Errorf("switched off at %v: %+v", w.at, r)
	}
}

func TestACurfewEndsWithTheLastOfItsGeofences(t *testing.T) {
	w := newPolicyWorld(t)
	const shape = `{"name":"a","geometry":{"type":"Circle","radius_m":100}}`
	w.write("geofence", 7, 1, 1, shape)
	w.write("geofence", 7, 2, 1, shape)
	w.write("alert_rule", 7, 3, 1, `{"kind":"geofence_curfew","enabled":true,"geofence_ids":["geo_1","geo_2"]}`)
	w.write("geofence", 7, 1, 2, "archived")
	if r := w.policy().Rules[0]; r.To != 0 {
		t.Errorf("one of two is left, and it ends at %v", r.To)
	}
	w.write("geofence", 7, 2, 2, "archived")
	if r := w.policy().Rules[0]; r.To != fleet.MillisOf(w.at) {
		t.Errorf("the last was archived at %v, and it ends at %v", w.at, r.To)
	}
}

func TestTraitsAreTheAccountsAndThenTheVehiclesOwn(t *testing.T) {
	w := newPolicyWorld(t)
	if p := w.policy(); p.Version != 0 || p.TraitsOf(1).Zone != time.UTC {
		t.Errorf("empty policy %+v", p)
	}
	w.write("account", 7, 7, 1,
		`{"timezone":"America/Chicago","trip_settings":{"stop_after_s":300,"start_speed_mph":5,"use_ignition":false}}`)
	w.write("vehicle", 7, 5, 1,
		`{"tags":["vans"],"body_type":"van","fuel_capacity_gal":10,"battery_kwh":75,"trip_settings":{"stop_after_s":120,"no_data_s":900},
		"registration_expires_on":"2026-11-01","insurance":{"until":"2026-05-31"}}`)
	w.write("vehicle", 7, 6, 1, `{"timezone":"Nowhere/Land","tags":["x"]}`)
	p := w.policy()
	v := p.TraitsOf(5)
	if v.Archived != 0 {
		t.Errorf("archived since %v", v.Archived)
	}
	if *v.Trip.StopAfter != 120_000 || *v.Trip.NoData != 900_000 || *v.Trip.StartSpeed != 5*fleet.MetresPerMph ||
		*v.Trip.UseIgnition || v.Trip.Split != nil || v.Tags[0] != "vans" || v.Class != "van" ||
		v.FuelCapacity != 37.85411784 || v.Battery != 75 ||
		v.Zone.String() != "America/Chicago" {
		t.Errorf("traits %+v", v)
	}
	// They hold to the end of the day in Chicago, before and after daylight saving time began.
	want := []fleet.Obligation{
		{Kind: "document", Ref: "insurance", To: fleet.MillisOf(time.Date(2026, 6, 1, 5, 0, 0, 0, time.UTC))},
		{Kind: "document", Ref: "registration", To: fleet.MillisOf(time.Date(2026, 11, 2, 6, 0, 0, 0, time.UTC))},
	}
	if fmt.Sprint(v.Obligations) != fmt.Sprint(want) {
		t.Errorf("obligations %v, want %v", v.Obligations, want)
	}
	if d := p.TraitsOf(6); d != &p.Default || *d.Trip.StopAfter != 300_000 || w.policies.Skipped() != 1 {
		t.Errorf("a vehicle that cannot be read: %+v", d)
	}
	// What changes nothing here makes no other policy.
	w.write("vehicle", 7, 5, 2,
		`{"color":"red","tags":["vans"],"body_type":"van","fuel_capacity_gal":10,"battery_kwh":75,"trip_settings":{"stop_after_s":120,"no_data_s":900},
		"registration_expires_on":"2026-11-01","insurance":{"until":"2026-05-31"}}`)
	if again := w.policy(); again != p {
		t.Errorf("version %d after %d for a color", again.Version, p.Version)
	}
	w.write("vehicle", 7, 5, 3, `{"tags":["cars"]}`)
	if again := w.policy(); again.Version != p.Version+1 || again.TraitsOf(5).Tags[0] != "cars" || p.TraitsOf(5) != v {
		t.Errorf("version %d after %d for a tag", again.Version, p.Version)
	}
	before := w.policy()
	w.write("device", 7, 9, 1, `{"unique_id":"a"}`)
	if again := w.policy(); again != before {
		t.Errorf("version %d after %d for a device without settings", again.Version, before.Version)
	}
	w.write("device", 7, 9, 2, `{"unique_id":"a","no_data_s":1200}`)
	if silence := w.policy().Devices[9].NoData; silence == nil || *silence != 1_200_000 {
		t.Errorf("the silence of a device is %v", silence)
	}
	w.write("device", 7, 9, 3, `{"unique_id":"a"}`)
	if own := w.policy().Devices; len(own) != 0 {
		t.Errorf("settings of devices: %v", own)
	}
	w.write("vehicle", 7, 5, 4, "archived")
	if at := w.policy().TraitsOf(5).Archived; at != fleet.MillisOf(w.at) {
		t.Errorf("archived since %v, want %v", at, fleet.MillisOf(w.at))
	}
}

func TestWhatWasWrittenBeforeRefreshNowIsKnownAfterIt(t *testing.T) {
	w := newPolicyWorld(t)
	w.at = time.Now() // within what a poll looks back
	for revision := range uint64(5) {
		w.write("geofence", 7, 1, revision+1, fmt.Sprintf(`{"name":"%d","geometry":{"radius_m":%d}}`, revision, revision))
		if err := w.policies.RefreshNow(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(w.policies.Of(7).Fences); n != int(revision)+1 {
			t.Errorf("%d versions after %d writes", n, revision+1)
		}
	}
}

// bound writes what vehicle 5 is bound by as lines: kind ref from-to, in hours since the first write, and
// when it was done.
func (w *policyWorld) bound() string {
	w.t.Helper()
	hour := func(m fleet.Millis) string {
		if m == 0 {
			return ""
		}
		return fmt.Sprint(m.Time().Sub(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)).Hours())
	}
	var lines []string
	for _, o := range w.policy().TraitsOf(5).Obligations {
		line := fmt.Sprintf("%s %s %s-%s", o.Kind, o.Ref, hour(o.From), hour(o.To))
		if o.Done {
			line += " done " + hour(o.DoneAt)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}

func TestAVehicleIsBoundByItsBookings(t *testing.T) {
	w := newPolicyWorld(t)
	w.at = time.Now().UTC().Truncate(time.Hour) // what ended long ago is left out
	first := w.at
	hour := func(n float64) string {
		return first.Add(time.Duration(n * float64(time.Hour))).Format("2006-01-02T15:04:05.000Z")
	}
	shift := first.Sub(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)).Hours()
	want := func(what, want string, args ...any) {
		t.Helper()
		for i := range args {
			args[i] = args[i].(float64) + shift
		}
		w.want(what, w.bound(), fmt.Sprintf(want, args...))
	}
	booking := func(revision uint64, status, vehicle, more string) {
		w.write("booking", 7, 1, revision, `{"status":"`+status+`","vehicle_id":"`+vehicle+`","pickup_at":"`+hour(10)+
			`","return_at":"`+hour(20)+`","blocked_from":"`+hour(9)+`","blocked_until":"`+hour(22)+`"`+more+`}`)
	}
	w.write("vehicle", 7, 5, 1, `{"tags":["vans"]}`)
	w.write("vehicle", 7, 6, 1, `{}`)
	before := w.policy()
	booking(1, "pending", "veh_5", "")
	want("nobody may drive it for a pending one", "")
	booking(2, "confirmed", "veh_5", "")
	want("confirmed: never overdue", "booking bkg_1 %v-%v done %v", 9.0, 20.0, 20.0)
	if now := w.policy(); now.TraitsOf(6) != before.TraitsOf(6) || now.Version <= before.Version {
		t.Error("another vehicle's traits were made again, or the policy has no new version")
	}
	booking(3, "active", "veh_5", `,"actual_pickup_at":"`+hour(8.5)+`"`)
	want("picked up early", "booking bkg_1 %v-%v", 8.5, 20.0)
	booking(4, "active", "veh_5", `,"actual_pickup_at":"`+hour(8.5)+`","conflict":true`)
	created := w.at.Sub(first).Hours()
	want("in conflict", "booking bkg_1 %v-%v; conflict bkg_1 %v-%v", 8.5, 20.0, created, 20.0)
	booking(5, "active", "veh_5", `,"actual_pickup_at":"`+hour(8.5)+`","backdated":true,"status_since":"`+hour(21)+`"`)
	want("written down when it was over", "booking bkg_1 %v-%v done %v", 8.5, 20.0, 20.0)
	booking(6, "active", "veh_5", `,"actual_pickup_at":"`+hour(8.5)+`","backdated":true,"status_since":"`+hour(21)+
		`","overdue_noted_at":"`+hour(22)+`"`)
	want("and not back after all", "booking bkg_1 %v-%v", 8.5, 20.0)
	booking(7, "completed", "veh_5", `,"actual_pickup_at":"`+hour(8.5)+`","actual_return_at":"`+hour(21)+`"`)
	want("back, and in its buffer", "booking bkg_1 %v-%v done %v; booking bkg_1 after %v-%v done %v", 8.5, 20.0, 21.0,
		21.0, 22.0, 22.0)
	w.policies = registry.NewPolicies(w.db)
	want("read at once", "booking bkg_1 %v-%v done %v; booking bkg_1 after %v-%v done %v", 8.5, 20.0, 21.0,
		21.0, 22.0, 22.0)
	booking(8, "cancelled", "veh_5", "")
	want("cancelled", "")
	booking(9, "active", "veh_5", "")
	booking(10, "active", "veh_6", "")
	want("read after it was swapped", "")

	w.write("block", 7, 2, 1, `{"vehicle_id":"veh_5","from":"`+hour(30)+`","until":"`+hour(31)+
		`","kind":"relocation","reason":"x"}`)
	want("a block", "booking blk_2 %v-%v done %v", 30.0, 31.0, 31.0)
	w.write("block", 7, 2, 2, "archived")
	w.write("reminder", 7, 3, 1, `{"vehicle_id":"veh_5","stage":"upcoming","stage_since":"`+hour(1)+
		`","due_on":"2026-03-02","forecast_due_on":"2026-03-04"}`)
	w.want("maintenance", w.bound(), "maintenance rem_3 -48")
	w.write("reminder", 7, 3, 2, `{"vehicle_id":"veh_5","stage":"due","stage_since":"`+hour(1)+`","due_mi":5000}`)
	want("due by miles", "maintenance rem_3 -%v", 1.0)
	w.write("reminder", 7, 3, 3, `{"vehicle_id":"veh_5","stage":"resolved","stage_since":"`+hour(2)+
		`","due_on":"2026-03-02"}`)
	w.want("resolved", w.bound(), fmt.Sprintf("maintenance rem_3 -48 done %v", 2.0+shift))
	w.write("vehicle", 7, 5, 2, "archived")
	want("archived", "")
}
