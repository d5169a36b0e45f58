package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
)

// clerk is somebody who looks at the demo through the interface.
type clerk struct {
	*machine
	key string
}

type seenBooking struct {
	ID            string    `json:"id"`
	VehicleID     string    `json:"vehicle_id"`
	Status        string    `json:"status"`
	PickedUp      time.Time `json:"actual_pickup_at"`
	Returned      time.Time `json:"actual_return_at"`
	PickupMileage *float64  `json:"pickup_mileage_mi"`
	ReturnMileage *float64  `json:"return_mileage_mi"`
}

type seenVehicle struct {
	ID       string   `json:"id"`
	Nickname string   `json:"nickname"`
	Plate    string   `json:"license_plate"`
	ClassID  *string  `json:"vehicle_class_id"`
	Home     *string  `json:"home_location_id"`
	Status   string   `json:"status"`
	Booking  *string  `json:"current_booking_id"`
	Mileage  *float64 `json:"current_mileage_mi"`
	Read     *float64 `json:"odometer_read_mi"`
}

// all reads what a path lists, by id.
func all[T any](c *clerk, path string, id func(*T) string) map[string]*T {
	c.t.Helper()
	status, body, err := get(c.base+path, c.key)
	if err != nil || status != 200 {
		c.t.Fatalf("GET %s: %d %v %s\n%s", path, status, err, body, c.said())
	}
	var page struct{ Data []*T }
	if err := json.Unmarshal(body, &page); err != nil {
		c.t.Fatalf("GET %s: %v\n%s", path, err, body)
	}
	found := make(map[string]*T, len(page.Data))
	for _, one := range page.Data {
		found[id(one)] = one
	}
	return found
}

func (c *clerk) bookings(status string) map[string]*seenBooking {
	return all(c, "/v1/bookings?per_page=100&sort=-pickup_at&status="+status, func(b *seenBooking) string { return b.ID })
}

func (c *clerk) vehicles() map[string]*seenVehicle {
	return all(c, "/v1/vehicles?per_page=100", func(v *seenVehicle) string { return v.ID })
}

// agree fails the test if states have not agreed for a while: a vehicle follows its booking a moment later. It returns how many are out.
func (c *clerk) agree(since map[string]time.Time) int {
	c.t.Helper()
	active, vehicles := c.bookings("active"), c.vehicles()
	work := all(c, "/v1/maintenance/work_orders?per_page=100&status=in_progress", func(w *struct {
		VehicleID string `json:"vehicle_id"`
	}) string {
		return w.VehicleID
	})
	now, wrong := time.Now(), map[string]time.Time{}
	note := func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		if wrong[text] = now; !since[text].IsZero() {
			wrong[text] = since[text]
		}
		if now.Sub(wrong[text]) > 5*time.Second {
			c.t.Error(text)
		}
	}
	for id, v := range vehicles {
		if v.Status == "rented" && (v.Booking == nil || active[*v.Booking] == nil) {
			note("%s is rented, and its booking is not active", v.Nickname)
		}
		if v.Status == "maintenance" && work[id] == nil {
			note("%s is in maintenance without a work order", v.Nickname)
		}
	}
	for id, b := range active {
		if v := vehicles[b.VehicleID]; v.Status != "rented" || v.Booking == nil || *v.Booking != id {
			note("%s is active, and its vehicle %s is %s", id, v.Nickname, v.Status)
		}
	}
	clear(since)
	maps.Copy(since, wrong)
	return len(active)
}

// The demo agrees with itself from the first second: who has a booking has the vehicle, what nobody has stands at its place, and
// what is in the workshop has a work order. What the odometer says at pickup and return is what was driven between.
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
	m.eventually("the vehicles are with who has them", func() error {
		out := c.agree(since)
		if !strings.Contains(m.said(), "with who has them") {
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
	m.eventually("a rental of the last days is over", func() error {
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
	c.eventually("all vehicles are heard of", func() error {
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

// odometers compares what was driven in rentals that are over with their odometers, and returns how many there were. Those that began before
// the vehicle's tracker was heard of are passed over.
func (c *clerk) odometers() int {
	c.t.Helper()
	n := 0
	for _, b := range c.bookings("completed") {
		if time.Since(b.PickedUp) > 70*time.Hour || b.ReturnMileage == nil || b.PickupMileage == nil {
			continue
		}
		trips := all(c, fmt.Sprintf("/v1/trips?vehicle_id=%s&per_page=100&from=%s&to=%s", b.VehicleID, b.PickedUp.Format(time.RFC3339), b.Returned.Format(time.RFC3339)), func(t *struct {
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
