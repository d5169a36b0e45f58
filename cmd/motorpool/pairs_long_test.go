//go:build long

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"
)

// TestARuleTellsOfTwoVehiclesThatMeet has vehicles of two accounts report the same place over HTTP. The rule of the one
// account tells of its own pair, and neither account hears of the other's vehicle.
func TestARuleTellsOfTwoVehiclesThatMeet(t *testing.T) {
	m := newMachine(t)
	m.up()
	van, stranger := m.tenant("Acme").withTracker(), m.tenant("Other").withTracker()
	truck := *van
	truck.vehicle = van.posts(http.StatusCreated, "/v1/vehicles", `{"make":"Ford","model":"Cargo","tags":["cash"]}`)
	truck.withTracker()
	for _, c := range []*tenant{van, stranger} {
		c.sends(http.StatusOK, http.MethodPatch, "/v1/vehicles/"+c.vehicle, `{"tags":["cash"]}`)
		c.posts(http.StatusCreated, "/v1/alert_rules",
			`{"name":"meeting","kind":"proximity","threshold_m":200,"scope":{"tags":["cash"]}}`)
	}
	type listed struct {
		Data []struct {
			Kind, Status, Subject string
			Vehicle               string `json:"vehicle_id"`
			Peak                  float64
		}
	}
	alerts := func(c *tenant) (all listed) {
		t.Helper()
		if err := json.Unmarshal(c.sends(http.StatusOK, http.MethodGet, "/v1/alerts?kind=proximity", ""), &all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	reports := func(lat float64) {
		t.Helper()
		for _, c := range []*tenant{van, &truck, stranger} {
			place := lat
			if c == &truck {
				place = 30.27
			}
			c.sends(http.StatusAccepted, http.MethodPost, "/v1/positions",
				fmt.Sprintf(`{"unique_id":%q,"fix_at":%d,"lat":%.5f,"lng":-97.74,"speed_mps":5}`,
					c.uniqueID, time.Now().UnixMilli(), place))
		}
	}
	m.eventually("the meeting is told", func() error {
		reports(30.2705)
		all := alerts(van)
		if len(all.Data) != 1 || all.Data[0].Status != "raised" {
			return fmt.Errorf("alerts %+v", all)
		}
		a := all.Data[0]
		if pair := a.Vehicle + a.Subject; pair != van.vehicle+truck.vehicle && pair != truck.vehicle+van.vehicle ||
			a.Peak < 50 || a.Peak > 60 {
			t.Fatalf("alert %+v", a)
		}
		return nil
	})
	m.eventually("its end is told", func() error {
		reports(30.2730)
		if all := alerts(van); len(all.Data) != 1 || all.Data[0].Status != "resolved" {
			return fmt.Errorf("alerts %+v", all)
		}
		return nil
	})
	if all := alerts(stranger); len(all.Data) != 0 {
		t.Errorf("the other account is told %+v", all)
	}
	m.interrupt()
}
