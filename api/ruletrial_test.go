package api

import (
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/uber/h3-go/v4"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/pipeline/follow"
	"github.com/motorpool/fleet/pipeline/registry"
	"github.com/motorpool/fleet/schemas/schematest"
)

// race stores a drive of a vehicle an hour before noon: a fix each ten seconds for ten minutes on a line north, 180 m
// apart, at 18 m/s, and from the fourth to the sixth minute at 30 m/s.
func (w *world) race(account fleet.AccountID, vehicle string) {
	w.t.Helper()
	cells := make([]uint64, 60) // by which geofences are found
	for i := range cells {
		cell, err := h3.LatLngToCell(h3.NewLatLng(30.2+float64(i)*0.00162, -97.74306), fleet.CellResolution)
		if err != nil {
			w.t.Fatal(err)
		}
		cells[i] = uint64(cell)
	}
	w.exec(`INSERT INTO positions (account, vehicle, fix_time, device, device_time, received_at, lat7, lng7, speed_cms,
			ignition, motion, alarm, cell, flags)
		SELECT {account:UInt64}, {vehicle:UInt64}, fromUnixTimestamp64Milli({from:Int64} + toInt64(number) * 10000, 'UTC') AS fix_time, 7, fix_time, fix_time,
			302000000 + number * 16200, -977430600, if(number BETWEEN 24 AND 35, 3000, 1800), 'on', 'unknown', '',
			{cells:Array(UInt64)}[number + 1], 0
		FROM numbers(60)`,
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicle", vehicleID(w.t, vehicle)),
		clickhouse.Named("from", int64(noon)-3_600_000), clickhouse.Named("cells", cells))
}

func TestARuleIsTriedAgainstThePast(t *testing.T) {
	db := schematest.Open(t)
	w := newWorld(t, func(_ *rest.Config, d *Deps) {
		d.DB = db
		d.Trials = &follow.Trials{Derive: derive.DefaultConfig(), DB: db, Policies: registry.NewPolicies(db), Log: d.Log,
			Most: 10_000}
	})
	v := w.vehicle(`{"make":"Gillig","model":"Low Floor","tags":["bus"]}`)
	w.race(w.account, v)
	other := w.newAccount("Other")
	theirs := *w
	theirs.key = w.newKey(other, auth.Admin)
	w.race(other, theirs.vehicle(`{"make":"A","model":"B"}`))
	const span = `"from":"2026-01-31T10:00:00Z","until":"2026-01-31T12:00:00Z"`
	try := func(rule string) map[string]any {
		t.Helper()
		return w.do("POST", "/v1/alert_rules/try", `{"rule":{"name":"Try",`+rule+`},`+span+`}`).ok(200).object()
	}

	fast := try(`"kind":"speeding","threshold_mph":60`)
	alerts := fast["data"].([]any)
	if fast["alerts"] != 1.0 || fast["vehicles"] != 1.0 || len(alerts) != 1 {
		t.Fatalf("fast: %v", fast)
	}
	a := alerts[0].(map[string]any)
	wantEqual(t, "the alert", fmt.Sprintf("%v %v %v %v %v %v %v %v", a["vehicle_id"] == v, a["kind"], a["severity"],
		a["from"], a["until"], a["value"], a["unit"], a["goes_on"]),
		"true speeding warning 2026-01-31T11:04:00.000Z 2026-01-31T11:06:00.000Z 67.1 mph false")
	for rule, want := range map[string]float64{
		`"kind":"speeding","threshold_mph":70`:                                  0,
		`"kind":"speeding","threshold_mph":60,"min_duration_s":300`:             0,
		`"kind":"speeding","threshold_mph":60,"enabled":false`:                  1, // it is tried before it is turned on
		`"kind":"speeding","threshold_mph":60,"scope":{"tags":["bus"]}`:         1,
		`"kind":"speeding","threshold_mph":60,"scope":{"tags":["van"]}`:         0,
		`"kind":"device_offline","threshold_s":1800`:                            1, // after the drive
		`"kind":"signal","signal":{"name":"engine_rpm","is":"above","value":1}`: 0,
		`"kind":"geofence_enter"`:                                               0, // there is none yet
	} {
		wantEqual(t, rule, try(rule)["alerts"], want)
	}
	// A geofence that is drawn today counts as if it had always been there.
	fence := w.do("POST", "/v1/geofences",
		`{"name":"Depot","geometry":{"type":"Circle","center":[-97.74306,30.25],"radius_m":600}}`).ok(201).id()
	for rule, want := range map[string]float64{`"kind":"geofence_enter"`: 1, `"kind":"geofence_exit"`: 1,
		`"kind":"speeding","threshold_mph":60,"geofence_ids":["` + fence + `"]`: 1,
		`"kind":"geofence_enter","geofence_ids":["` + fence + `"]`:              1} {
		wantEqual(t, rule, try(rule)["alerts"], want)
	}
	// Nothing was written.
	wantEqual(t, "rules", len(w.do("GET", "/v1/alert_rules", "").ok(200).data()), 0)
	wantEqual(t, "alerts", len(w.do("GET", "/v1/alerts", "").ok(200).data()), 0)
	// Whoever may not see the vehicles sees none of them here, and nobody tries with what another account has.
	wantEqual(t, "another account", theirs.do("POST", "/v1/alert_rules/try",
		`{"rule":{"name":"Try","kind":"speeding","threshold_mph":60,"geofence_ids":["`+fence+`"]},`+span+`}`).faults(),
		"/rule/geofence_ids/0")
	wantEqual(t, "another account", theirs.do("POST", "/v1/alert_rules/try",
		`{"rule":{"name":"Try","kind":"speeding","threshold_mph":60,"scope":{"vehicle_ids":["`+v+`"]}},`+span+`}`).faults(),
		"/rule/scope/vehicle_ids/0")
	ahead := `"from":"` + w.later(0) + `","until":"` + w.later(time.Hour) + `"`
	for body, want := range map[string]string{
		`{"rule":{"name":"Try","kind":"speeding","threshold_mph":1000},` + span + `}`:                            "/rule/threshold_mph",
		`{"rule":{"name":"Try","kind":"speeding"},"from":"2026-01-02T00:00:00Z","until":"2026-01-01T00:00:00Z"}`: "/until",
		`{"rule":{"name":"Try","kind":"speeding"},"from":"2025-01-02T00:00:00Z","until":"2026-01-01T00:00:00Z"}`: "/until",
		`{"rule":{"name":"Try","kind":"speeding"},` + ahead + `}`:                                                "/until",
		`{"rule":{"name":"Try","kind":"proximity","threshold_m":50,"scope":{"tags":["bus"]}},` + span + `}`:      "/rule/kind",
	} {
		wantEqual(t, body, w.do("POST", "/v1/alert_rules/try", body).faults(), want)
	}
}

func TestATrialThatIsTooLargeIsRefused(t *testing.T) {
	db := schematest.Open(t)
	w := newWorld(t, func(_ *rest.Config, d *Deps) {
		d.DB = db
		d.Trials = &follow.Trials{Derive: derive.DefaultConfig(), DB: db, Policies: registry.NewPolicies(db), Log: d.Log,
			Most: 59}
	})
	w.race(w.account, w.vehicle(`{"make":"A","model":"B"}`))
	got := w.do("POST", "/v1/alert_rules/try", `{"rule":{"name":"Try","kind":"speeding"},"from":"2026-01-31T00:00:00Z","until":"2026-02-01T00:00:00Z"}`)
	wantEqual(t, "too large", got.faults(), "/until")
}
