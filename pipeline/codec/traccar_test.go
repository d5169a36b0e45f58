package codec

import (
	"os"
	"strings"
	"testing"

	"github.com/motorpool/fleet"
)

// traccarMessage is the documented example: what Traccar's Kafka forwarder sends for a tracker on the CAN bus.
func traccarMessage(t interface{ Fatal(...any) }) []byte {
	message, err := os.ReadFile(topics + "/examples/traccar.json")
	if err != nil {
		t.Fatal(err)
	}
	return message
}

func measured(name string, v float64) fleet.SignalValue {
	return fleet.SignalValue{Signal: fleet.MustSignal(name), Value: v}
}

func TestTraccarForwardedPosition(t *testing.T) {
	d := NewDecoder()
	got, err := d.Decode(Traccar, traccarMessage(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	knot, kmh := 1852.0/3600, 1.0/3.6
	want := reportOf(func(r *fleet.Report) {
		r.UniqueID = "352093081234567"
		r.FixTime, r.DeviceTime = 1769850901500, 1769850902000
		r.Positioned, r.Invalid = true, true
		r.Lat, r.Lng, r.Altitude = 48.1371543, 11.5754016, 519
		r.Speed, r.Course = 27.5*knot, 271
		r.Odometer, r.Satellites = 84211337, 14
		r.Ignition, r.Motion = fleet.Yes, fleet.Yes
		r.Alarm = "hardCornering,overspeed"
		r.Signals = []fleet.SignalValue{
			measured("pdop", 1.4), measured("hdop", 0.9), measured("battery_v", 13.871), measured("device_battery_v", 4.064),
			measured("device_battery_pct", 95), measured("device_charging", 0), measured("engine_hours_s", 7384000),
			measured("ecu_speed_mps", 52*(1000.0/3600.0)), measured("engine_rpm", 1874.5), measured("throttle_pct", 22),
			measured("engine_load_pct", 41), measured("coolant_temp_c", 88), measured("fuel_level_l", 31.5),
			measured("fuel_level_pct", 63), measured("fuel_used_l", 10422.75), measured("fuel_rate_lph", 6.25),
			measured("temp1_c", -18.4), measured("speed_limit_mps", 26.997840172786177*knot),
		}
	})
	sameReports(t, got, []fleet.Report{want})
	if d.DroppedSignals != 1 { // temp2 at 512 °C
		t.Errorf("%d values dropped, want 1", d.DroppedSignals)
	}
	if v := want.Signals[7].Value; v < 52*kmh-1e-9 || v > 52*kmh+1e-9 {
		t.Errorf("52 km/h became %v m/s", v)
	}
}

func TestTraccarShapes(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want func(*fleet.Report)
	}{
		"bare position, as to Redis": {`{"id":0,"latitude":1,"longitude":2,"accuracy":0}`, func(r *fleet.Report) {
			r.Positioned, r.Lat, r.Lng = true, 1, 2
		}},
		"bare position with its device": {`{"latitude":1,"longitude":2,"uniqueId":"a"}`, func(r *fleet.Report) {
			r.UniqueID, r.Positioned, r.Lat, r.Lng = "a", true, 1, 2
		}},
		"device first": {`{"device":{"uniqueId":"a"},"position":{"accuracy":12}}`, func(r *fleet.Report) {
			r.UniqueID, r.Positioned, r.Accuracy = "a", true, 12
		}},
		"nothing of use":   {`{}`, func(r *fleet.Report) { r.Positioned = true }},
		"nulls everywhere": {`{"position":null,"device":null}`, func(r *fleet.Report) { r.Positioned = true }},
		"attributes null": {`{"position":{"attributes":null,"network":null}}`,
			func(r *fleet.Report) { r.Positioned = true }},
		"location copied from before": {
			`{"position":{"outdated":true,"fixTime":"2026-01-31T09:15:02Z","deviceTime":"2026-01-31T10:15:02Z",
			"latitude":1,"longitude":2,"attributes":{"batteryLevel":7}}}`, func(r *fleet.Report) {
				r.DeviceTime, r.Lat, r.Lng = 1769854502000, 1, 2
				r.Signals = []fleet.SignalValue{measured("device_battery_pct", 7)}
			}},
		"OBD odometer": {`{"attributes":{"obdOdometer":5}}`, func(r *fleet.Report) {
			r.Positioned, r.Odometer = true, 5
		}},
		"odometer before OBD": {`{"attributes":{"odometer":7,"obdOdometer":5}}`, func(r *fleet.Report) {
			r.Positioned, r.Odometer = true, 7
		}},
		"only negative rssi is dBm": {`{"attributes":{"rssi":-87}}`, func(r *fleet.Report) {
			r.Positioned, r.Signals = true, []fleet.SignalValue{measured("rssi_dbm", -87)}
		}},
		"cell location of a phone": {`{"attributes":{"approximate":true,"mock":true}}`, func(r *fleet.Report) {
			r.Positioned, r.Approximate, r.Mock = true, true, true
		}},
		"own name for state of charge": {`{"attributes":{"evBatteryLevel":61.5}}`, func(r *fleet.Report) {
			r.Positioned, r.Signals = true, []fleet.SignalValue{measured("soc_pct", 61.5)}
		}},
		"attribute named as a signal": {`{"attributes":{"range_m":212000,"charging":true,"odometer_m":9}}`,
			func(r *fleet.Report) {
				r.Positioned, r.Odometer = true, 9
				r.Signals = []fleet.SignalValue{measured("range_m", 212000), measured("charging", 1)}
			}},
		"texts are not measured": {`{"attributes":{"fuel":"31.5","door":"front"}}`,
			func(r *fleet.Report) { r.Positioned = true }},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder()
			got, err := d.Decode(Traccar, []byte(test.text), nil)
			if err != nil {
				t.Fatal(err)
			}
			sameReports(t, got, []fleet.Report{reportOf(test.want)})
			if d.DroppedSignals != 0 || d.UnknownSignals != 0 {
				t.Errorf("dropped %d, unknown %d; want none", d.DroppedSignals, d.UnknownSignals)
			}
		})
	}
}

func TestTraccarBatch(t *testing.T) {
	message := string(traccarMessage(t))
	got, err := NewDecoder().Decode(Traccar, []byte("["+strings.Repeat(message+",", 9)+message+"]"), nil)
	if err != nil || len(got) != 10 || got[9].UniqueID != "352093081234567" || len(got[9].Signals) != 18 {
		t.Fatalf("%d reports, %v", len(got), err)
	}
}

// Traccar puts the driver's tag among the attributes of a position, as the reader wrote it.
func TestTheTagOfADriverComesThroughTraccar(t *testing.T) {
	text := `{"position":{"fixTime":"2026-01-31T12:00:00Z","latitude":48,"longitude":11,"attributes":{"driverUniqueId":"1a0000011d2a5c01"}},"device":{"uniqueId":"t1"}}`
	got, err := NewDecoder().Decode(Traccar, []byte(text), nil)
	if err != nil || len(got) != 1 || got[0].Driver != "1A0000011D2A5C01" {
		t.Fatalf("got %+v, %v", got, err)
	}
}
