package fleet

import "math"

// StoredPosition is a Position as it is stored: whole numbers of small units, which compress two to three times better than
// floats. Whose position it is, its account and vehicle, stands beside it. A quantity that is absent is -1, and an absent
// altitude is NoAltitude, since -1 is an altitude.
type StoredPosition struct {
	Device       DeviceID
	FixTime      Millis
	DeviceTime   Millis
	ReceivedTime Millis
	Lat, Lng     int32 // steps of CoordinateUnit
	Altitude     int32 // dm
	Speed        int32 // cm/s
	Course       int32 // hundredths of a degree
	Accuracy     int64 // dm
	Odometer     int64 // m
	Satellites   int16
	Ignition     Tri
	Motion       Tri
	Alarm        string
	Cell         Cell
	Flags        Flags
}

// NoAltitude is the Altitude of a StoredPosition whose altitude is not known.
const NoAltitude = math.MinInt32

// StoredColumns names the columns of a StoredPosition in the tables positions and vehicle_state, in the order in which they
// are inserted, and in which every query selects them. Queries select absent quantities as a StoredPosition has them.
const StoredColumns = "device, fix_time, device_time, received_at, lat7, lng7, altitude_dm, speed_cms, course_cdeg, accuracy_dm, " +
	"odometer_m, satellites, ignition, motion, alarm, cell, flags"

// Columns returns where the values of StoredColumns go when a row is scanned, with times in milliseconds and truth values as
// numbers.
func (s *StoredPosition) Columns() []any {
	return []any{
		(*uint64)(&s.Device), (*int64)(&s.FixTime), (*int64)(&s.DeviceTime), (*int64)(&s.ReceivedTime), &s.Lat, &s.Lng, &s.Altitude,
		&s.Speed, &s.Course, &s.Accuracy, &s.Odometer, &s.Satellites, (*int8)(&s.Ignition), (*int8)(&s.Motion), &s.Alarm,
		(*uint64)(&s.Cell), (*uint32)(&s.Flags),
	}
}

// Stored returns the position as it is stored: rounded to the units, and what is beyond the range of a column at its end.
func (p *Position) Stored() StoredPosition {
	return StoredPosition{
		Device: p.Device, FixTime: p.FixTime, DeviceTime: p.DeviceTime, ReceivedTime: p.ReceivedTime,
		Lat: StoredCoordinate(p.Lat), Lng: StoredCoordinate(p.Lng),
		Altitude:   int32(stored(p.Altitude, 10, NoAltitude+1, math.MaxInt32, NoAltitude)),
		Speed:      int32(stored(p.Speed, 100, 0, math.MaxUint16, -1)),
		Course:     int32(stored(p.Course, 100, 0, math.MaxUint16, -1)),
		Accuracy:   stored(p.Accuracy, 10, 0, math.MaxUint32, -1),
		Odometer:   stored(p.Odometer, 1, 0, math.MaxUint32, -1),
		Satellites: int16(max(-1, min(math.MaxUint8, p.Satellites))),
		Ignition:   p.Ignition, Motion: p.Motion, Alarm: p.Alarm, Cell: p.Cell, Flags: p.Flags,
	}
}

// Restore gives a position all that is stored of it. Its account and vehicle stay as they are.
func (s *StoredPosition) Restore(p *Position) {
	p.Device, p.FixTime, p.DeviceTime, p.ReceivedTime = s.Device, s.FixTime, s.DeviceTime, s.ReceivedTime
	p.Lat, p.Lng = CoordinateOf(s.Lat), CoordinateOf(s.Lng)
	p.Altitude = restored(int64(s.Altitude), 10, NoAltitude)
	p.Speed, p.Course = restored(int64(s.Speed), 100, -1), restored(int64(s.Course), 100, -1)
	p.Accuracy, p.Odometer = restored(s.Accuracy, 10, -1), restored(s.Odometer, 1, -1)
	p.Satellites, p.Ignition, p.Motion = int(s.Satellites), s.Ignition, s.Motion
	p.Alarm, p.Cell, p.Flags = s.Alarm, s.Cell, s.Flags
}

// StoredCoordinate returns degrees in whole steps of CoordinateUnit. Beyond half a turn it is that; what is no number is 0.
func StoredCoordinate(deg float64) int32 { return int32(stored(deg, 1e7, -180e7, 180e7, 0)) }

// CoordinateOf returns steps of CoordinateUnit in degrees. The division makes it the float nearest to the decimal number, so
// that it is written with seven decimals.
func CoordinateOf(steps int32) float64 { return float64(steps) / 1e7 }

// stored returns v in units of 1/scale, rounded and not beyond low and high, and absent for NaN.
func stored(v, scale, low, high float64, absent int64) int64 {
	if math.IsNaN(v) {
		return absent
	}
	return int64(math.Round(max(low, min(high, v*scale))))
}

// restored returns units of 1/scale as a plain number, and NaN for those that are absent.
func restored(v int64, scale float64, absent int64) float64 {
	if v == absent {
		return math.NaN()
	}
	return float64(v) / scale
}
