package recording

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/motorpool/fleet"
)

// traccarRows reads Traccar's JSON: an array of objects or one object after the other, each either as the server
// forwards it ({"position": {…}, "device": {…}}) or as its /api/positions gives it (the position alone, whose deviceId
// is then the identifier).
type traccarRows struct {
	decoder *json.Decoder
	budget  *budget
	array   bool
	started bool
	first   bool
}

func newTraccar(b *budget) *traccarRows {
	decoder := json.NewDecoder(b)
	return &traccarRows{decoder: decoder, budget: b, first: true}
}

// line is where reading has come to, which is a little after the object in hand.
func (t *traccarRows) line() int { return t.budget.lines + 1 }

func (t *traccarRows) next(r *fleet.Report) error {
	t.budget.renew()
	if !t.started {
		t.started = true
		if err := t.open(); err != nil {
			return err
		}
	}
	if t.array && !t.decoder.More() {
		if _, err := t.decoder.Token(); err != nil { // the closing bracket
			return cutShort(err)
		}
		return io.EOF
	}
	var value any
	if err := t.decoder.Decode(&value); err != nil {
		if err == io.EOF && !t.array {
			return io.EOF
		}
		return cutShort(err)
	}
	object, _ := value.(map[string]any)
	if t.first && !traccarShaped(object) {
		return fmt.Errorf("%w: JSON, but not positions as Traccar writes them", ErrNotRecording)
	}
	t.first = false
	readTraccar(object, r)
	return nil
}

// open finds out whether the objects stand in an array. The decoder cannot peek, so it is made again over what it has
// buffered.
func (t *traccarRows) open() error {
	token, err := t.decoder.Token()
	if err != nil {
		return cutShort(err)
	}
	switch token {
	case json.Delim('['):
		t.array = true
	case json.Delim('{'):
		t.decoder = json.NewDecoder(io.MultiReader(strings.NewReader("{"), t.decoder.Buffered(), t.budget))
	}
	return nil
}

func cutShort(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func traccarShaped(object map[string]any) bool {
	for _, member := range []string{"position", "deviceId", "uniqueId", "fixTime"} {
		if _, ok := object[member]; ok {
			return true
		}
	}
	return false
}

// readTraccar translates one object. Its speeds are knots, but for obdSpeed (km/h); its hours are milliseconds; an
// accuracy of 0 means that none is known.
func readTraccar(object map[string]any, r *fleet.Report) {
	r.Positioned = true
	position := object
	if inner, ok := object["position"].(map[string]any); ok {
		position = inner
	}
	device, _ := object["device"].(map[string]any)
	r.UniqueID = firstText(device["uniqueId"], object["uniqueId"], position["uniqueId"], position["deviceId"])
	r.FixTime, r.DeviceTime = traccarTime(position["fixTime"]), traccarTime(position["deviceTime"])
	r.Lat, r.Lng = float(position["latitude"]), float(position["longitude"])
	r.Altitude, r.Course = float(position["altitude"]), float(position["course"])
	r.Speed = float(position["speed"]) * fleet.MetresPerKnot
	if accuracy := float(position["accuracy"]); accuracy != 0 {
		r.Accuracy = accuracy
	}
	if valid, ok := position["valid"].(bool); ok {
		r.Invalid = !valid
	}
	attributes, _ := position["attributes"].(map[string]any)
	if attributes == nil {
		return
	}
	r.Approximate, _ = attributes["approximate"].(bool)
	r.Ignition, r.Motion = tri(attributes["ignition"]), tri(attributes["motion"])
	if sat := float(attributes["sat"]); sat >= 0 && sat <= 255 {
		r.Satellites = int(sat)
	}
	r.Odometer = float(attributes["odometer"])
	if math.IsNaN(r.Odometer) {
		r.Odometer = float(attributes["obdOdometer"])
	}
	alarm, _ := attributes["alarm"].(string)
	r.Alarm = fleet.AlarmOf(alarm)
	tag, _ := attributes["driverUniqueId"].(string)
	r.Driver = fleet.DriverTag(tag)
	for _, a := range traccarSignals {
		v := float(attributes[a.attribute])
		if b, ok := attributes[a.attribute].(bool); ok {
			v = 0
			if b {
				v = 1
			}
		}
		if !math.IsNaN(v) {
			addSignal(r, a.signal, v*a.factor)
		}
	}
}

// traccarSignals are the attributes that are signals. batteryLevel is the charge of the tracker, not of the vehicle.
var traccarSignals = []struct {
	attribute string
	signal    fleet.Signal
	factor    float64
}{
	{"soc", fleet.MustSignal("soc_pct"), 1},
	{"batteryLevel", fleet.MustSignal("device_battery_pct"), 1},
	{"battery", fleet.MustSignal("device_battery_v"), 1},
	{"power", fleet.MustSignal("battery_v"), 1},
	{"charge", fleet.MustSignal("device_charging"), 1},
	{"tripOdometer", fleet.MustSignal("trip_odometer_m"), 1},
	{"hours", fleet.MustSignal("engine_hours_s"), 1e-3},
	{"obdSpeed", fleet.MustSignal("ecu_speed_mps"), fleet.MetresPerKmh},
	{"speedLimit", fleet.MustSignal("speed_limit_mps"), fleet.MetresPerKnot},
	{"fuel", fleet.MustSignal("fuel_level_l"), 1},
	{"fuelLevel", fleet.MustSignal("fuel_level_pct"), 1},
	{"fuelUsed", fleet.MustSignal("fuel_used_l"), 1},
	{"fuelConsumption", fleet.MustSignal("fuel_rate_lph"), 1},
	{"rpm", fleet.MustSignal("engine_rpm"), 1},
	{"engineLoad", fleet.MustSignal("engine_load_pct"), 1},
	{"throttle", fleet.MustSignal("throttle_pct"), 1},
	{"coolantTemp", fleet.MustSignal("coolant_temp_c"), 1},
	{"deviceTemp", fleet.MustSignal("device_temp_c"), 1},
	{"temp1", fleet.MustSignal("temp1_c"), 1},
	{"temp2", fleet.MustSignal("temp2_c"), 1},
	{"temp3", fleet.MustSignal("temp3_c"), 1},
	{"temp4", fleet.MustSignal("temp4_c"), 1},
	{"humidity", fleet.MustSignal("humidity_pct"), 1},
	{"rssi", fleet.MustSignal("rssi_dbm"), 1},
	{"hdop", fleet.MustSignal("hdop"), 1},
	{"vdop", fleet.MustSignal("vdop"), 1},
	{"pdop", fleet.MustSignal("pdop"), 1},
	{"door", fleet.MustSignal("door_open"), 1},
	{"armed", fleet.MustSignal("armed"), 1},
	{"blocked", fleet.MustSignal("blocked"), 1},
	{"drivingTime", fleet.MustSignal("driving_time_s"), 1},
	{"heartRate", fleet.MustSignal("heart_rate_bpm"), 1},
	{"steps", fleet.MustSignal("steps"), 1},
}

func float(v any) float64 {
	if f, ok := v.(float64); ok {
		return f
	}
	return math.NaN()
}

func tri(v any) fleet.Tri {
	if b, ok := v.(bool); ok {
		return fleet.TriOf(b)
	}
	return fleet.Unknown
}

func firstText(values ...any) string {
	for _, v := range values {
		switch v := v.(type) {
		case string:
			if v != "" {
				return v
			}
		case float64:
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	return ""
}

// traccarTime reads both forms of time that Traccar has written: ISO 8601 with a numeric zone, with or without its
// colon, and milliseconds since 1970.
func traccarTime(v any) fleet.Millis {
	switch v := v.(type) {
	case float64:
		if v > 0 && v < 1<<53 {
			return fleet.Millis(v)
		}
	case string:
		t, err := fleet.ParseTime(v)
		if err != nil {
			t, err = time.Parse("2006-01-02T15:04:05.999999999-0700", v)
		}
		if err == nil {
			return fleet.MillisOf(t)
		}
	}
	return 0
}
