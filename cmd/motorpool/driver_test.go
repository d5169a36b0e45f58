package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestATagAtTheWheelBecomesHoursOfADriver sends what a tracker and a reader of keys say to a running program, by the
// two ways that trackers have over HTTP, and reads who drove, and for how long.
func TestATagAtTheWheelBecomesHoursOfADriver(t *testing.T) {
	m := newMachine(t)
	m.up()
	c := m.tenant("Acme")
	c.uniqueID = "tracker-" + c.vehicle
	device := "/v1/devices/" + c.posts(http.StatusCreated, "/v1/devices", fmt.Sprintf(`{"unique_id":%q}`, c.uniqueID))
	c.sends(http.StatusOK, http.MethodPost, device+"/assign", `{"vehicle_id":"`+c.vehicle+`","from":null}`)
	var phone struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal(c.sends(http.StatusCreated, http.MethodPost, device+"/osmand_token", ""),
		&phone); err != nil {
		t.Fatal(err)
	}
	ada := c.posts(http.StatusCreated, "/v1/customers", `{"display_name":"Ada"}`)

	// An hour's drive three hours ago; the key is shown a minute before. Then an hour of standing.
	begin := time.Now().Add(-3 * time.Hour).Truncate(time.Hour).UTC()
	stamp := func(after time.Duration) string { return begin.Add(after).Format(time.RFC3339) }
	c.sends(http.StatusAccepted, http.MethodPost, "/v1/telemetry",
		fmt.Sprintf(`{"unique_id":%q,"at":%q,"driver_tag":"1a-2b"}`, c.uniqueID, stamp(-time.Minute)))
	var fixes []string
	for minute := range 120 {
		speed, lat := 54, 30+float64(minute)*0.008
		if minute >= 60 {
			speed, lat = 0, 30+60*0.008
		}
		fixes = append(fixes, fmt.Sprintf(`{"unique_id":%q,"fix_at":%q,"lat":%.4f,"lng":-97,"speed_kmh":%d,"ignition":%t}`,
			c.uniqueID, stamp(time.Duration(minute)*time.Minute), lat, speed, minute < 60))
	}
	c.sends(http.StatusAccepted, http.MethodPost, "/v1/positions", "["+strings.Join(fixes, ",")+"]")

	var trips struct {
		Data []struct {
			DriverID *string   `json:"driver_id"`
			Source   *string   `json:"driver_source"`
			StartAt  time.Time `json:"from"`
			EndAt    time.Time `json:"until"`
		}
	}
	read := func(path string, into any) {
		if err := json.Unmarshal(c.sends(http.StatusOK, http.MethodGet, path, ""), into); err != nil {
			t.Fatal(err)
		}
	}
	m.eventually("the trip is over", func() error {
		read("/v1/trips?provisional=false", &trips)
		if len(trips.Data) != 1 {
			return fmt.Errorf("%d trips", len(trips.Data))
		}
		return nil
	})
	if trip := trips.Data[0]; trip.DriverID != nil || trip.Source != nil {
		t.Fatalf("somebody is known: %+v", trip)
	}
	var unknown struct{ Data []struct{ Tag string } }
	read("/v1/driver_tags/unknown", &unknown)
	if len(unknown.Data) != 1 || unknown.Data[0].Tag != "1A2B" {
		t.Fatalf("unknown tags are %+v", unknown)
	}
	c.posts(http.StatusCreated, "/v1/driver_tags",
		fmt.Sprintf(`{"tag":%q,"holders":[{"driver_id":%q}]}`, unknown.Data[0].Tag, ada))
	read("/v1/trips?driver="+ada, &trips)
	if len(trips.Data) != 1 || trips.Data[0].DriverID == nil || *trips.Data[0].DriverID != ada ||
		*trips.Data[0].Source != "tag" {
		t.Fatalf("the trip of the driver: %+v", trips.Data)
	}
	drove := trips.Data[0].EndAt.Sub(trips.Data[0].StartAt).Seconds()

	// The key is still there when the vehicle stands: told by the protocol of phones.
	c.sends(http.StatusOK, http.MethodPost,
		"/v1/osmand?"+url.Values{"id": {c.uniqueID}, "token": {phone.Token}, "timestamp": {stamp(90 * time.Minute)},
			"lat": {"30.48"}, "lon": {"-97"}, "speed": {"0"}, "driverUniqueId": {"1A2B"}}.Encode(), "")
	m.eventually("the login counts", func() error {
		var hours struct {
			Driving float64 `json:"driving_s"`
			Other   float64 `json:"other_s"`
			Rest    float64 `json:"rest_s"`
			Rules   string
		}
		read("/v1/drivers/"+ada+"/hours?rules=eu_561_2006&from="+stamp(-time.Hour)+"&until="+stamp(2*time.Hour), &hours)
		// 15 minutes, and one
		if hours.Driving != drove || hours.Driving+hours.Other+hours.Rest != 3*3600 || hours.Other != 16*60 {
			return fmt.Errorf("hours are %+v of a drive of %v s", hours, drove)
		}
		return nil
	})
	m.interrupt()
}
