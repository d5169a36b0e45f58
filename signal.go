package fleet

// Signal is a quantity that vehicles and trackers report over time. Its value is an index into Signals and is not
// stable between releases: what is stored, sent and shown is the name.
type Signal uint16

// SignalValue is one measurement.
type SignalValue struct {
	Signal Signal
	Value  float64
}

// SignalSpec documents a signal. Name carries the unit as its suffix. A value outside [Min, Max] is refused and
// counted. VSS is the matching path of the COVESA Vehicle Signal Specification, empty where there is none. A boolean
// signal is 0 or 1.
type SignalSpec struct {
	Name     string
	Unit     string
	Min, Max float64
	VSS      string
	About    string
}

// Signals is the catalogue, which schemas/signals/README.md repeats for people. To add a signal, follow the recipe in
// ARCHITECTURE.md.
var Signals = [...]SignalSpec{
	{"soc_pct", "percent", 0, 100, "Vehicle.Powertrain.TractionBattery.StateOfCharge.Displayed",
		"state of charge of the traction battery"},
	{"soh_pct", "percent", 0, 100, "Vehicle.Powertrain.TractionBattery.StateOfHealth",
		"state of health of the traction battery"},
	{"charging", "bool", 0, 1, "Vehicle.Powertrain.TractionBattery.Charging.IsCharging",
		"the traction battery is being charged"},
	{"charge_power_kw", "kW", -500, 1000, "Vehicle.Powertrain.TractionBattery.Charging.ChargeRate",
		"power into the traction battery"},
	{"traction_voltage_v", "V", 0, 1500, "Vehicle.Powertrain.TractionBattery.CurrentVoltage",
		"voltage of the traction battery"},
	{"traction_current_a", "A", -5000, 5000, "Vehicle.Powertrain.TractionBattery.CurrentCurrent",
		"current of the traction battery, positive when charging"},
	{"energy_used_kwh", "kWh", 0, 1e9, "Vehicle.Powertrain.TractionBattery.AccumulatedConsumedEnergy",
		"energy used, accumulated"},
	{"range_m", "m", 0, 5e6, "Vehicle.Powertrain.Range", "remaining range as the vehicle states it"},
	{"fuel_level_pct", "percent", 0, 100, "Vehicle.Powertrain.FuelSystem.RelativeLevel",
		"fuel in the tank, of its capacity"},
	{"fuel_level_l", "l", 0, 5000, "Vehicle.Powertrain.FuelSystem.AbsoluteLevel", "fuel in the tank"},
	{"fuel_used_l", "l", 0, 1e9, "Vehicle.Powertrain.FuelSystem.AccumulatedConsumption", "fuel used, accumulated"},
	{"fuel_rate_lph", "l/h", 0, 1000, "Vehicle.OBD.FuelRate", "fuel rate"},
	{"odometer_m", "m", 0, 4e9, "Vehicle.TraveledDistance", "odometer as the vehicle reports it; may reset"},
	{"trip_odometer_m", "m", 0, 4e9, "Vehicle.TripMeterReading", "distance since the trip counter was reset"},
	{"engine_hours_s", "s", 0, 4e9, "Vehicle.Powertrain.CombustionEngine.EngineHours",
		"time the engine has run, accumulated"},
	{"ignition", "bool", 0, 1, "Vehicle.LowVoltageSystemState", "ignition on or vehicle ready"},
	{"motion", "bool", 0, 1, "Vehicle.IsMoving", "the device judges that it moves"},
	{"ecu_speed_mps", "m/s", 0, 150, "Vehicle.Speed", "speed as the vehicle reports it"},
	{"speed_limit_mps", "m/s", 0, 100, "", "speed limit of the road as reported"},
	{"engine_rpm", "1/min", 0, 25000, "Vehicle.Powertrain.CombustionEngine.Speed", "engine speed"},
	{"engine_load_pct", "percent", 0, 100, "Vehicle.OBD.EngineLoad", "calculated engine load"},
	{"throttle_pct", "percent", 0, 100, "Vehicle.OBD.ThrottlePosition", "throttle position"},
	{"coolant_temp_c", "°C", -60, 300, "Vehicle.OBD.CoolantTemperature", "coolant temperature"},
	{"intake_temp_c", "°C", -60, 300, "Vehicle.OBD.IntakeTemp", "intake air temperature"},
	{"ambient_temp_c", "°C", -90, 90, "Vehicle.Exterior.AirTemperature", "outside air temperature"},
	{"device_temp_c", "°C", -90, 150, "", "temperature of the tracker"},
	{"temp1_c", "°C", -200, 500, "", "temperature probe 1"},
	{"temp2_c", "°C", -200, 500, "", "temperature probe 2"},
	{"temp3_c", "°C", -200, 500, "", "temperature probe 3"},
	{"temp4_c", "°C", -200, 500, "", "temperature probe 4"},
	{"humidity_pct", "percent", 0, 100, "Vehicle.Exterior.Humidity", "relative humidity of the air"},
	{"intake_pressure_kpa", "kPa", 0, 1000, "Vehicle.OBD.MAP", "intake manifold pressure"},
	{"maf_gps", "g/s", 0, 10000, "Vehicle.OBD.MAF", "mass air flow"},
	{"co2_kgph", "kg/h", 0, 1000, "", "carbon dioxide emitted"},
	{"battery_v", "V", 0, 100, "Vehicle.LowVoltageBattery.CurrentVoltage", "voltage of the starter battery or supply"},
	{"device_battery_pct", "percent", 0, 100, "", "charge of the tracker's own battery"},
	{"device_battery_v", "V", 0, 100, "", "voltage of the tracker's own battery"},
	{"device_charging", "bool", 0, 1, "", "the tracker or phone is being charged"},
	{"rssi_dbm", "dBm", -200, 100, "", "strength of the radio signal"},
	{"hdop", "1", 0, 100, "Vehicle.CurrentLocation.GNSSReceiver.HDOP", "horizontal dilution of precision"},
	{"vdop", "1", 0, 100, "", "vertical dilution of precision"},
	{"pdop", "1", 0, 100, "", "position dilution of precision"},
	{"accel_x_mps2", "m/s²", -200, 200, "Vehicle.Acceleration.Longitudinal", "acceleration forward"},
	{"accel_y_mps2", "m/s²", -200, 200, "Vehicle.Acceleration.Lateral", "acceleration to the left"},
	{"accel_z_mps2", "m/s²", -200, 200, "Vehicle.Acceleration.Vertical", "acceleration upward"},
	{"roll_deg", "°", -360, 360, "Vehicle.AngularVelocity.Roll", "roll angle"},
	{"pitch_deg", "°", -360, 360, "Vehicle.AngularVelocity.Pitch", "pitch angle"},
	{"door_open", "bool", 0, 1, "", "a door is open"},
	{"armed", "bool", 0, 1, "", "the alarm system is armed"},
	{"blocked", "bool", 0, 1, "", "the starter is blocked"},
	{"driving_time_s", "s", 0, 1e7, "", "time driven since the last rest"},
	{"cadence_rpm", "1/min", 0, 250, "", "pedal cadence"},
	{"heart_rate_bpm", "1/min", 0, 300, "", "heart rate of the rider"},
	{"steps", "1", 0, 1e9, "", "steps counted by the device"},
}

var signalByName = func() map[string]Signal {
	byName := make(map[string]Signal, len(Signals))
	for i, spec := range Signals {
		byName[spec.Name] = Signal(i)
	}
	return byName
}()

// SignalNamed finds a signal of the catalogue by its name.
func SignalNamed(name string) (Signal, bool) {
	s, ok := signalByName[name]
	return s, ok
}

// SignalNamedBytes is SignalNamed for a name in a buffer; it does not allocate.
func SignalNamedBytes(name []byte) (Signal, bool) {
	s, ok := signalByName[string(name)]
	return s, ok
}

// MustSignal finds a signal that the program itself names, and panics if the catalogue lacks it.
func MustSignal(name string) Signal {
	s, ok := signalByName[name]
	if !ok {
		panic("no signal " + name + " in the catalogue")
	}
	return s
}

// Spec returns the documentation of the signal.
func (s Signal) Spec() *SignalSpec { return &Signals[s] }

// String returns the signal's name.
func (s Signal) String() string { return Signals[s].Name }

// Accepts says whether v is a possible value of the signal; NaN and infinities are not.
func (s Signal) Accepts(v float64) bool { return v >= Signals[s].Min && v <= Signals[s].Max }
