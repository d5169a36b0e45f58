//go:build long

package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
)

// The demo agrees with itself from the first second: who has a booking has the vehicle, what nobody has stands at its
// place, and what is in the workshop has a work order. What the odometer says at pickup and return is what was driven
// between.
func TestTheDemoAgreesWithItself(t *testing.T) {
	m := newMachine(t)
	m.up("--demo")
	word, err := os.ReadFile(filepath.Join(m.data, demoKeyFile))
	if err != nil {
		t.Fatal(err)
	}
	c := &clerk{m, strings.TrimSpace(string(word))}
	rentals, err := loadRentals()
	if err != nil {
		t.Fatal(err)
	}
	since := map[string]time.Time{}
	m.within(4*time.Minute, "the business stands", func() error {
		out := c.agree(since)
		if !strings.Contains(m.said(), "has two years of bookings") {
			return fmt.Errorf("%d bookings are active", out)
		}
		if out < 6 {
			t.Fatalf("%d bookings are active", out)
		}
		return nil
	})
	vehicles := c.vehicles()
	if len(vehicles) != len(rentals.vehicles) {
		t.Fatalf("%d vehicles, want %d", len(vehicles), len(rentals.vehicles))
	}
	states := map[string]int{}
	for _, v := range vehicles {
		states[v.Status]++
		if v.ClassID == nil || v.Home == nil || v.Plate == "" || v.Nickname == "" || v.Mileage == nil {
			t.Errorf("incomplete: %+v", v)
		}
	}
	if states["maintenance"] == 0 || states["available"] == 0 {
		t.Errorf("vehicles are %v", states)
	}
	c.standAtHome()
	m.within(4*time.Minute, "a rental of the last days is over", func() error {
		c.agree(since)
		if n := c.odometers(); n == 0 {
			return errors.New("none is listed")
		}
		return nil
	})
	m.interrupt()
}

// standAtHome waits until each vehicle has been heard of just now, and wants those that nobody has at their branch.
func (c *clerk) standAtHome() {
	c.t.Helper()
	type place struct {
		ID  string  `json:"id"`
		Lat float64 `json:"lat"`
		Lng float64 `json:"lng"`
	}
	type position struct {
		VehicleID string    `json:"vehicle_id"`
		At        time.Time `json:"fix_at"`
		Lat       float64   `json:"lat"`
		Lng       float64   `json:"lng"`
		Speed     *float64  `json:"speed_mph"`
	}
	branches := all(c, "/v1/locations", func(p *place) string { return p.ID })
	c.within(4*time.Minute, "all vehicles are heard of", func() error {
		before := c.vehicles()
		latest := all(c, "/v1/positions/latest?per_page=100", func(p *position) string { return p.VehicleID })
		for id, v := range c.vehicles() {
			p := latest[id]
			if p == nil || time.Since(p.At) > time.Duration(2*demoHeartbeat)*time.Millisecond {
				return fmt.Errorf("%s was heard of at %v", v.Nickname, p)
			}
			if v.Status == "rented" || before[id].Status == "rented" {
				continue
			}
			home := branches[*v.Home]
			if off := fleet.Distance(p.Lat, p.Lng, home.Lat, home.Lng); off > 150 || p.Speed == nil || *p.Speed != 0 {
				c.t.Errorf("%s is %s and %.0f m from %s", v.Nickname, v.Status, off, *v.Home)
			}
		}
		return nil
	})
}

// odometers compares what was driven in rentals that are over with their odometers, and returns how many there were.
// Those that began before the vehicle's tracker was heard of are passed over.
func (c *clerk) odometers() int {
	c.t.Helper()
	n := 0
	for _, b := range c.bookings("completed") {
		if time.Since(b.PickedUp) > 70*time.Hour || b.ReturnMileage == nil || b.PickupMileage == nil {
			continue
		}
		path := fmt.Sprintf("/v1/trips?vehicle_id=%s&per_page=100&from=%s&until=%s",
			b.VehicleID, b.PickedUp.Format(time.RFC3339), b.Returned.Format(time.RFC3339))
		trips := all(c, path, func(t *struct {
			ID       string  `json:"id"`
			Distance float64 `json:"distance_mi"`
		}) string {
			return t.ID
		})
		driven, told := 0.0, *b.ReturnMileage-*b.PickupMileage
		for _, trip := range trips {
			driven += trip.Distance
		}
		if n++; math.Abs(driven-told) > 1.5+told*0.04 {
			c.t.Errorf("%s was driven %.1f miles, and the odometer says %v", b.ID, driven, told)
		}
	}
	return n
}
