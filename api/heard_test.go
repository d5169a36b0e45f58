package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
)

// tracker creates a device on a vehicle since ever (on none if that is empty) and returns its id.
func (w *world) tracker(uniqueID, vehicle string) string {
	w.t.Helper()
	id := w.do("POST", "/v1/devices", `{"unique_id":"`+uniqueID+`"}`).ok(201).id()
	if vehicle != "" {
		w.do("POST", "/v1/devices/"+id+"/assign", `{"vehicle_id":"`+vehicle+`"}`).ok(200)
	}
	return id
}

// hear stores that a device was heard of, on a vehicle or on none, at first and then each while up to last.
func (w *world) hear(device, vehicle string, first, last time.Time, every time.Duration) {
	w.t.Helper()
	id, err := fleet.ParseID(fleet.DevicePrefix, device)
	if err != nil {
		w.t.Fatal(err)
	}
	on := uint64(0)
	if vehicle != "" {
		on = vehicleID(w.t, vehicle)
	}
	times := fmt.Sprintf("(SELECT fromUnixTimestamp64Milli(%d + number * %d, 'UTC') AS at FROM numbers(%d))",
		first.UnixMilli(), every.Milliseconds(), last.Sub(first)/every+1)
	args := []any{clickhouse.Named("account", uint64(w.account)), clickhouse.Named("device", id),
		clickhouse.Named("vehicle", on)}
	w.exec("INSERT INTO heard SELECT {account:UInt64}, {device:UInt64}, {vehicle:UInt64}, at FROM "+times, args...)
	w.exec("INSERT INTO heard_hours SELECT {account:UInt64}, {device:UInt64}, toStartOfHour(at), bitShiftLeft(toUInt64(1), toMinute(at)) FROM "+times, args...)
}

// names are the members of a list, by the names that they have.
func names(of map[string]string, data []map[string]any) string {
	var all []string
	for _, d := range data {
		all = append(all, of[d["id"].(string)])
	}
	return strings.Join(all, " ")
}

// Four trackers: one reports each ten minutes, and did four minutes ago; one did so until two days ago; one
// reports each minute for an hour of driving and then each hour, and is silent for 100 minutes now; nothing ever
// came of the last.
func TestWhoIsOnlineFollowsTheIntervalOfEachTracker(t *testing.T) {
	w := newWorld(t)
	now := time.Now().UTC().Truncate(time.Minute)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	cars := map[string]string{}
	for _, name := range []string{"steady", "silent", "parked", "never"} {
		cars[name] = w.vehicle(`{"make":"A","model":"` + name + `"}`)
	}
	steady, silent, parked, never := w.tracker("1", cars["steady"]), w.tracker("2", cars["silent"]),
		w.tracker("3", cars["parked"]), w.tracker("4", cars["never"])
	of := map[string]string{steady: "steady", silent: "silent", parked: "parked", never: "never"}
	for name, id := range cars {
		of[id] = name
	}
	w.hear(steady, cars["steady"], ago(3*24*time.Hour+4*time.Minute), ago(4*time.Minute), 10*time.Minute)
	w.hear(silent, cars["silent"], ago(4*24*time.Hour), ago(2*24*time.Hour), 10*time.Minute)
	for day := range 3 {
		back := time.Duration(day) * 24 * time.Hour
		w.hear(parked, cars["parked"], ago(back+24*time.Hour+40*time.Minute),
			ago(back+23*time.Hour+40*time.Minute), time.Minute)
		w.hear(parked, cars["parked"], ago(back+23*time.Hour+40*time.Minute), ago(back+100*time.Minute), time.Hour)
	}

	get := func(id string) map[string]any { return w.do("GET", "/v1/devices/"+id, "").ok(200).object() }
	for id, want := range map[string]string{steady: "true 600", silent: "false 600", parked: "true 3600",
		never: "false <nil>"} {
		d := get(id)
		wantEqual(t, of[id], fmt.Sprint(d["online"], " ", d["report_interval_s"]), want)
	}
	wantEqual(t, "last heard", get(steady)["last_heard_at"], ago(4*time.Minute).Format("2006-01-02T15:04:05.000Z"))
	wantEqual(t, "never heard", get(never)["last_heard_at"], nil)

	for _, path := range []string{"/v1/devices", "/v1/vehicles"} {
		for query, want := range map[string]string{
			"online=false&sort=-last_heard_at":                                         "silent never",
			"online=true&sort=last_heard_at":                                           "parked steady",
			"online=true,false&sort=last_heard_at":                                     "never silent parked steady",
			"sort=-online,last_heard_at":                                               "parked steady never silent",
			"sort=id&last_heard_at%5Blt%5D=" + ago(24*time.Hour).Format(time.RFC3339):  "silent never",
			"sort=id&last_heard_at%5Bgte%5D=" + ago(24*time.Hour).Format(time.RFC3339): "steady parked",
		} {
			wantEqual(t, path+"?"+query, names(of, w.do("GET", path+"?"+query, "").data()), want)
		}
		page := w.do("GET", path+"?sort=last_heard_at&per_page=3", "").ok(200)
		wantEqual(t, "first page", names(of, page.data()), "never silent parked")
		wantEqual(t, "total", page.pagination().Total, 4)
		next := w.do("GET", path+"?sort=last_heard_at&per_page=3&cursor="+page.pagination().NextCursor, "")
		wantEqual(t, "second page", names(of, next.data()), "steady")
	}
	wantEqual(t, "the vehicle", w.do("GET", "/v1/vehicles/"+cars["parked"], "").ok(200).object()["online"], true)

	// What is set stands above what is learnt, the device's above the account's.
	w.do("PATCH", "/v1/account", `{"online_within_s":3600}`).ok(200)
	wantEqual(t, "by the account", fmt.Sprint(get(steady)["online"], get(parked)["online"]), "true false")
	w.do("PATCH", "/v1/devices/"+parked, `{"online_within_s":7200}`).ok(200)
	wantEqual(t, "by the device", get(parked)["online"], true)
	wantEqual(t, "the vehicle by its device", w.do("GET", "/v1/vehicles?online=true&sort=id", "").data()[1]["id"],
		cars["parked"])
	w.do("PATCH", "/v1/devices/"+parked, `{"online_within_s":5}`).problem(422, "validation_failed")

	// On another vehicle it is heard of there.
	w.do("POST", "/v1/devices/"+parked+"/assign", `{"vehicle_id":"`+cars["never"]+`"}`).ok(200)
	w.hear(parked, cars["never"], now, now, time.Minute)
	wantEqual(t, "heard of on another", w.do("GET", "/v1/vehicles/"+cars["never"], "").ok(200).object()["last_heard_at"],
		now.Format("2006-01-02T15:04:05.000Z"))
	wantEqual(t, "not on the first", w.do("GET", "/v1/vehicles/"+cars["parked"], "").ok(200).object()["last_heard_at"],
		ago(100*time.Minute).Format("2006-01-02T15:04:05.000Z"))

	stranger := w.newKey(w.newAccount("Second"), auth.Admin)
	wantEqual(t, "a stranger's list",
		len(w.do("GET", "/v1/devices?online=true", "", "Authorization", "Bearer "+stranger).data()), 0)
}
