package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"
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

// agree fails the test if states have not agreed for a while: a vehicle follows its booking a moment later. It returns
// how many are out.
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
