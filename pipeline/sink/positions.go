package sink

import (
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
)

// fixes is the columns that positions and vehicle_state have in common.
type fixes struct {
	account, vehicle, device      []uint64
	fixTime, deviceTime, received []int64
	lat7, lng7                    []int32
	altitudeDM                    optional[int32]
	speedCMS, courseCDeg          optional[uint16]
	accuracyDM, odometerM         optional[uint32]
	satellites                    optional[uint8]
	ignition, motion              []int8
	alarm, topic                  words
	cell, offset                  []uint64
	flags                         []uint32
	partition                     []uint16
	box                           box
}

func (f *fixes) add(p *fleet.Position, from Source) {
	f.account = append(f.account, uint64(p.Account))
	f.vehicle = append(f.vehicle, uint64(p.Vehicle))
	f.device = append(f.device, uint64(p.Device))
	f.fixTime = append(f.fixTime, millis(p.FixTime))
	f.deviceTime = append(f.deviceTime, millis(p.DeviceTime))
	f.received = append(f.received, millis(p.ReceivedTime))
	f.lat7 = append(f.lat7, degrees7(p.Lat))
	f.lng7 = append(f.lng7, degrees7(p.Lng))
	number(&f.altitudeDM, p.Altitude, 10)
	number(&f.speedCMS, p.Speed, 100)
	number(&f.courseCDeg, p.Course, 100)
	number(&f.accuracyDM, p.Accuracy, 10)
	number(&f.odometerM, p.Odometer, 1)
	f.satellites.add(uint8(min(max(p.Satellites, 0), 255)), p.Satellites >= 0)
	f.ignition = append(f.ignition, int8(min(max(p.Ignition, fleet.Unknown), fleet.Yes)))
	f.motion = append(f.motion, int8(min(max(p.Motion, fleet.Unknown), fleet.Yes)))
	alarm, ok := boxedAlarms[p.Alarm]
	if !ok {
		alarm = boxedAlarms["general"]
	}
	f.alarm = append(f.alarm, alarm)
	f.cell = append(f.cell, uint64(p.Cell))
	f.flags = append(f.flags, uint32(p.Flags))
	f.topic = append(f.topic, f.box.of(from.Topic))
	f.partition = append(f.partition, uint16(from.Partition))
	f.offset = append(f.offset, uint64(from.Offset))
}

func (f *fixes) reset() {
	f.account, f.vehicle, f.device = f.account[:0], f.vehicle[:0], f.device[:0]
	f.fixTime, f.deviceTime, f.received = f.fixTime[:0], f.deviceTime[:0], f.received[:0]
	f.lat7, f.lng7 = f.lat7[:0], f.lng7[:0]
	f.altitudeDM.reset()
	f.speedCMS.reset()
	f.courseCDeg.reset()
	f.accuracyDM.reset()
	f.odometerM.reset()
	f.satellites.reset()
	f.ignition, f.motion, f.alarm, f.topic = f.ignition[:0], f.motion[:0], f.alarm[:0], f.topic[:0]
	f.cell, f.offset, f.flags, f.partition = f.cell[:0], f.offset[:0], f.flags[:0], f.partition[:0]
}

const fixColumns = `account, vehicle, device, fix_time, device_time, received_at, lat7, lng7,
	altitude_dm, speed_cms, course_cdeg, accuracy_dm, odometer_m, satellites, ignition, motion, alarm, cell, flags,
	source_topic, source_partition, source_offset`

func (f *fixes) all() []any {
	return []any{
		f.account, f.vehicle, f.device, f.fixTime, f.deviceTime, f.received, f.lat7, f.lng7,
		f.altitudeDM.column(), f.speedCMS.column(), f.courseCDeg.column(), f.accuracyDM.column(), f.odometerM.column(),
		f.satellites.column(), f.ignition, f.motion, f.alarm, f.cell, f.flags,
		f.topic, f.partition, f.offset,
	}
}

// positions is the rows of the table positions.
type positions struct{ fixes }

// AddPosition adds an accepted fix.
func (s *Sink) AddPosition(p *fleet.Position, from Source) { s.positions.add(p, from) }

func (*positions) name() string                   { return "positions" }
func (*positions) insert() string                 { return "INSERT INTO positions (" + fixColumns + ")" }
func (t *positions) rows() int                    { return len(t.vehicle) }
func (t *positions) columns(b driver.Batch) error { return fill(b, t.all()...) }

// telemetry is the rows of the table telemetry.
type telemetry struct {
	account, vehicle []uint64
	signal           words
	time             []int64
	value            []float64
}

// AddSignal adds a measurement; a value that the signal does not accept is left out and false returned.
func (s *Sink) AddSignal(account fleet.AccountID, vehicle fleet.VehicleID, at fleet.Millis, v fleet.SignalValue) bool {
	if int(v.Signal) >= len(fleet.Signals) || !v.Signal.Accepts(v.Value) {
		return false
	}
	t := &s.telemetry
	t.account = append(t.account, uint64(account))
	t.vehicle = append(t.vehicle, uint64(vehicle))
	t.signal = append(t.signal, boxedSignals[v.Signal])
	t.time = append(t.time, millis(at))
	t.value = append(t.value, v.Value+0) // +0 makes -0 the same value as 0
	return true
}

func (*telemetry) name() string { return "telemetry" }
func (*telemetry) insert() string {
	return "INSERT INTO telemetry (account, vehicle, signal, time, value)"
}
func (t *telemetry) rows() int { return len(t.vehicle) }
func (t *telemetry) columns(b driver.Batch) error {
	return fill(b, t.account, t.vehicle, t.signal, t.time, t.value)
}

func (t *telemetry) reset() {
	t.account, t.vehicle, t.signal = t.account[:0], t.vehicle[:0], t.signal[:0]
	t.time, t.value = t.time[:0], t.value[:0]
}
