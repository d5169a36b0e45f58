package codec

import (
	"math"

	"github.com/motorpool/fleet"
)

// traccarObject reads what Traccar's forwarders write: {"position": {...}, "device": {...}}, or a bare position that
// carries a uniqueId beside its members. The device is known by its unique id, of which there
// is one, wherever it stands; Traccar's own numeric id means nothing to us.
func (d *Decoder) traccarObject(r *fleet.Report) {
	r.Positioned = true // whether or not the coordinates are there
	outdated := false
	s := &d.scan
	s.open()
	for first := true; s.more(first, '}'); first = false {
		switch key := s.key(); string(key) {
		case "position":
			if s.peek() != '{' {
				s.skip()
				continue
			}
			s.open()
			for first := true; s.more(first, '}'); first = false {
				d.traccarMember(r, s.key(), &outdated)
			}
		case "device":
			d.traccarDevice(r)
		case "uniqueId":
			d.setID(r)
		default:
			d.traccarMember(r, key, &outdated)
		}
	}
	if outdated {
		// Traccar filled in the place and time of an older fix: only the measurements are news.
		r.Positioned, r.FixTime = false, 0
	}
}

func (d *Decoder) traccarDevice(r *fleet.Report) {
	s := &d.scan
	if s.peek() != '{' {
		s.skip()
		return
	}
	s.open()
	for first := true; s.more(first, '}'); first = false {
		if string(s.key()) == "uniqueId" {
			d.setID(r)
		} else {
			s.skip()
		}
	}
}

func (d *Decoder) traccarMember(r *fleet.Report, key []byte, outdated *bool) {
	s := &d.scan
	switch string(key) {
	case "fixTime":
		setTime(&r.FixTime, s.clock())
	case "deviceTime":
		setTime(&r.DeviceTime, s.clock())
	case "latitude":
		set(&r.Lat, s.float())
	case "longitude":
		set(&r.Lng, s.float())
	case "altitude":
		set(&r.Altitude, s.float())
	case "speed":
		set(&r.Speed, s.float()*fleet.MetresPerKnot)
	case "course":
		set(&r.Course, s.float())
	case "accuracy":
		if v := s.float(); v != 0 { // 0 is Traccar's "unknown"
			set(&r.Accuracy, v)
		}
	case "valid":
		if t := s.readTri(); t != fleet.Unknown {
			r.Invalid = t == fleet.No
		}
	case "outdated": // not written by the forwarders of today, but part of the object
		setBool(outdated, s.readTri())
	case "attributes":
		d.traccarAttributes(r)
	default:
		s.skip()
	}
}

func (d *Decoder) traccarAttributes(r *fleet.Report) {
	s := &d.scan
	if s.peek() != '{' {
		s.skip()
		return
	}
	obdOdometer := math.NaN()
	s.open()
	for first := true; s.more(first, '}'); first = false {
		switch key := s.key(); string(key) {
		case "ignition":
			setTri(&r.Ignition, s.readTri())
		case "motion":
			setTri(&r.Motion, s.readTri())
		case "odometer":
			set(&r.Odometer, s.float())
		case "obdOdometer":
			obdOdometer = s.float()
		case "sat":
			setCount(&r.Satellites, s.float())
		case "approximate":
			setBool(&r.Approximate, s.readTri())
		case "mock":
			setBool(&r.Mock, s.readTri())
		case "alarm":
			d.setAlarm(r)
		case "driverUniqueId":
			d.setDriver(r)
		case "rssi":
			// Protocols put anything here, from bars to CSQ steps; only negative values can be dBm.
			if v := s.float(); v < 0 {
				d.addSignal(r, signalRSSI, v)
			}
		default:
			d.traccarMeasure(r, key)
		}
	}
	if math.IsNaN(r.Odometer) {
		r.Odometer = obdOdometer
	}
}

// traccarMeasure takes an attribute that is a measurement: one of Traccar's standard keys, or one that an administrator
// has named as our catalogue does.
func (d *Decoder) traccarMeasure(r *fleet.Report, key []byte) {
	attribute, known := traccarAttributes[string(key)]
	if !known {
		signal, named := fleet.SignalNamedBytes(key)
		if !named {
			d.scan.skip()
			return
		}
		attribute = traccarAttribute{signal: signal, factor: 1}
	}
	if v := d.scan.measure(); !math.IsNaN(v) {
		d.addSignal(r, attribute.signal, v*attribute.factor)
	}
}

var signalRSSI = fleet.MustSignal("rssi_dbm")

// traccarAttribute says which signal an attribute is, and what to multiply it with to get the signal's unit.
type traccarAttribute struct {
	signal fleet.Signal
	factor float64
}

// traccarAttributes maps the attribute keys of org.traccar.model.Position whose unit Traccar fixes, or whose unit is
// plain from the quantity, to signals. Left out on purpose: distance and totalDistance, which Traccar computes (wrongly
// after a late fix); acceleration, axleWeight, drivingTime and the numbered adc, io and count, whose unit depends on
// the protocol. State of charge has no standard key; the last ones are what people use.
var traccarAttributes = map[string]traccarAttribute{
	"hours":           {fleet.MustSignal("engine_hours_s"), 1e-3},
	"obdSpeed":        {fleet.MustSignal("ecu_speed_mps"), fleet.MetresPerKmh},
	"speedLimit":      {fleet.MustSignal("speed_limit_mps"), fleet.MetresPerKnot},
	"tripOdometer":    {fleet.MustSignal("trip_odometer_m"), 1},
	"power":           {fleet.MustSignal("battery_v"), 1},
	"battery":         {fleet.MustSignal("device_battery_v"), 1},
	"batteryLevel":    {fleet.MustSignal("device_battery_pct"), 1},
	"charge":          {fleet.MustSignal("device_charging"), 1},
	"deviceTemp":      {fleet.MustSignal("device_temp_c"), 1},
	"fuel":            {fleet.MustSignal("fuel_level_l"), 1},
	"fuelLevel":       {fleet.MustSignal("fuel_level_pct"), 1},
	"fuelUsed":        {fleet.MustSignal("fuel_used_l"), 1},
	"fuelConsumption": {fleet.MustSignal("fuel_rate_lph"), 1},
	"rpm":             {fleet.MustSignal("engine_rpm"), 1},
	"throttle":        {fleet.MustSignal("throttle_pct"), 1},
	"engineLoad":      {fleet.MustSignal("engine_load_pct"), 1},
	"coolantTemp":     {fleet.MustSignal("coolant_temp_c"), 1},
	"temp1":           {fleet.MustSignal("temp1_c"), 1},
	"temp2":           {fleet.MustSignal("temp2_c"), 1},
	"temp3":           {fleet.MustSignal("temp3_c"), 1},
	"temp4":           {fleet.MustSignal("temp4_c"), 1},
	"humidity":        {fleet.MustSignal("humidity_pct"), 1},
	"hdop":            {fleet.MustSignal("hdop"), 1},
	"vdop":            {fleet.MustSignal("vdop"), 1},
	"pdop":            {fleet.MustSignal("pdop"), 1},
	"door":            {fleet.MustSignal("door_open"), 1},
	"armed":           {fleet.MustSignal("armed"), 1},
	"blocked":         {fleet.MustSignal("blocked"), 1},
	"heartRate":       {fleet.MustSignal("heart_rate_bpm"), 1},
	"steps":           {fleet.MustSignal("steps"), 1},
	"soc":             {fleet.MustSignal("soc_pct"), 1},
	"stateOfCharge":   {fleet.MustSignal("soc_pct"), 1},
	"evBattery":       {fleet.MustSignal("soc_pct"), 1},
	"evBatteryLevel":  {fleet.MustSignal("soc_pct"), 1},
	"soh":             {fleet.MustSignal("soh_pct"), 1},
}
