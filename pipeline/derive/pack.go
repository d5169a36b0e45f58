package derive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"slices"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/alert"
)

// Signals are those that the detectors use, whatever rules there are.
var Signals = signalsOf(
	"ignition", "motion", "engine_rpm", "soc_pct", "charging", "charge_power_kw", "energy_used_kwh", "fuel_used_l",
	"fuel_level_l", "fuel_level_pct", "battery_v", "ecu_speed_mps", "speed_limit_mps",
)

// Wanted returns the signals that are derived from under some rules: those of Signals, and what the rules
// watch besides.
func Wanted(rules *alert.Engine) fleet.SignalSet {
	wanted := base
	rules.AddSignals(&wanted)
	return wanted
}

// base has those of Signals.
var base = func() (set fleet.SignalSet) {
	for _, s := range Signals {
		set[s] = true
	}
	return set
}()

func signalsOf(names ...string) []fleet.Signal {
	all := make([]fleet.Signal, len(names))
	for i, name := range names {
		all[i] = fleet.MustSignal(name)
	}
	return all
}

// Packer writes inputs of one vehicle, some twenty bytes each, as they are when they come back from the store: rounded
// to its units. The zero value is empty.
//
// What it writes is, little-endian and in varints:
//
//	version (8 bytes, of the format and of the names of all signals), fixes, measurements
//	then for each, in the order in which they were added,
//	    0, the differences of its quantities to those of the fix before, see fields, and the length of its alarm and
//	    the alarm, if it is none of fleet.Alarms
//	    or the place of its signal in fleet.Signals from 1 on, the difference of its time to the input before,
//	    its value XOR the one before of the signal, with the bytes turned round
type Packer struct {
	body   []byte
	fixes  int
	others int
	last   memory
}

// memory is what differences are taken to, on either side.
type memory struct {
	at     int64
	fields fields
	values [len(fleet.Signals)]uint64 // The bits of the values.
}

// fields are the quantities of a fix as fleet.StoredPosition has them.
type fields [15]int64

const (
	fieldFixTime = iota
	fieldReceived
	fieldDeviceTime
	fieldDevice
	fieldCell // turned, so that the cells of neighbours differ in low bits
	fieldLat
	fieldLng
	fieldAltitude
	fieldSpeed
	fieldCourse
	fieldAccuracy
	fieldOdometer
	fieldSatellites
	fieldFlags
	fieldStates // ignition, motion, place of the alarm in fleet.Alarms from 1 on; otherAlarm: it follows
)

// otherAlarm is the place of alarms that are not in fleet.Alarms.
var otherAlarm = int64(len(fleet.Alarms) + 1)

// cellTurn is how many bits of an H3 index of resolution 9 are the same in all.
const cellTurn = 18

// packVersion tells what this program packs from what another might.
var packVersion = func() uint64 {
	h := fnv.New64a()
	h.Write([]byte("2"))
	for _, s := range fleet.Signals {
		h.Write([]byte(" " + s.Name))
	}
	for _, alarm := range fleet.Alarms {
		h.Write([]byte(" " + alarm))
	}
	return h.Sum64()
}()

// Reset empties the packer and keeps some of its memory.
func (p *Packer) Reset() {
	if cap(p.body) > 1<<14 {
		p.body = nil
	}
	p.body, p.fixes, p.others = p.body[:0], 0, 0
	p.last = memory{}
}

// Len returns how many bytes have been packed.
func (p *Packer) Len() int { return len(p.body) }

// Fix adds a position.
func (p *Packer) Fix(f *fleet.Position) {
	p.fixes++
	now := fieldsOf(f)
	p.body = append(p.body, 0)
	for i, v := range now {
		if i == fieldCell {
			p.body = binary.AppendUvarint(p.body, uint64(v)^uint64(p.last.fields[i]))
		} else {
			p.body = binary.AppendVarint(p.body, v-p.last.fields[i])
		}
	}
	if now[fieldStates]>>4 == otherAlarm {
		p.body = binary.AppendUvarint(p.body, uint64(len(f.Alarm)))
		p.body = append(p.body, f.Alarm...)
	}
	p.last.fields, p.last.at = now, now[fieldFixTime]
}

// Signal adds a measurement. Whether any rule wants it is not known here.
func (p *Packer) Signal(at fleet.Millis, s fleet.SignalValue) {
	p.others++
	value := math.Float64bits(s.Value)
	p.body = append(p.body, uint8(s.Signal+1))
	p.body = binary.AppendVarint(p.body, int64(at)-p.last.at)
	p.body = binary.AppendUvarint(p.body, bits.ReverseBytes64(value^p.last.values[s.Signal]))
	p.last.at, p.last.values[s.Signal] = int64(at), value
}

// Bytes returns a copy of what was packed.
func (p *Packer) Bytes() []byte {
	b := make([]byte, 0, len(p.body)+16)
	b = binary.LittleEndian.AppendUint64(b, packVersion)
	b = binary.AppendUvarint(b, uint64(p.fixes))
	b = binary.AppendUvarint(b, uint64(p.others))
	return append(b, p.body...)
}

func fieldsOf(p *fleet.Position) (f fields) {
	s := p.Stored()
	f[fieldFixTime], f[fieldReceived], f[fieldDeviceTime] = int64(s.FixTime), int64(s.ReceivedTime), int64(s.DeviceTime)
	f[fieldDevice], f[fieldCell] = int64(s.Device), int64(bits.RotateLeft64(uint64(s.Cell), -cellTurn))
	f[fieldLat], f[fieldLng], f[fieldAltitude] = int64(s.Lat), int64(s.Lng), int64(s.Altitude)
	f[fieldSpeed], f[fieldCourse] = int64(s.Speed), int64(s.Course)
	f[fieldAccuracy], f[fieldOdometer] = s.Accuracy, s.Odometer
	f[fieldSatellites], f[fieldFlags] = int64(s.Satellites), int64(s.Flags)
	alarm := int64(slices.Index(fleet.Alarms, s.Alarm) + 1)
	if alarm == 0 && s.Alarm != "" {
		alarm = otherAlarm
	}
	f[fieldStates] = int64(s.Ignition) | int64(s.Motion)<<2 | alarm<<4
	return f
}

// position makes a position of fields.
func (f *fields) position(key fleet.VehicleKey, p *fleet.Position) {
	s := fleet.StoredPosition{
		Device:       fleet.DeviceID(f[fieldDevice]),
		FixTime:      fleet.Millis(f[fieldFixTime]),
		DeviceTime:   fleet.Millis(f[fieldDeviceTime]),
		ReceivedTime: fleet.Millis(f[fieldReceived]),
		Lat:          int32(f[fieldLat]),
		Lng:          int32(f[fieldLng]),
		Altitude:     int32(f[fieldAltitude]),
		Speed:        int32(f[fieldSpeed]),
		Course:       int32(f[fieldCourse]),
		Accuracy:     f[fieldAccuracy],
		Odometer:     f[fieldOdometer],
		Satellites:   int16(f[fieldSatellites]),
		Ignition:     fleet.Tri(f[fieldStates] & 3),
		Motion:       fleet.Tri(f[fieldStates] >> 2 & 3),
		Cell:         fleet.Cell(bits.RotateLeft64(uint64(f[fieldCell]), cellTurn)),
		Flags:        fleet.Flags(f[fieldFlags]),
	}
	if alarm := f[fieldStates] >> 4; alarm > 0 && alarm <= int64(len(fleet.Alarms)) {
		s.Alarm = fleet.Alarms[alarm-1]
	}
	p.Account, p.Vehicle = key.Account, key.Vehicle
	s.Restore(p)
}

// Errors of Unpack. In either case the inputs can be had from the store.
var (
	ErrPackVersion = errors.New("inputs were packed by another version")
	errPack        = errors.New("packed inputs are damaged")
)

// minFixBytes is the least that a packed fix takes, and a measurement no less than three.
const minFixBytes = 1 + len(fields{})

// Unpack appends what a Packer has packed, in that order, and of the measurements those that are wanted.
func Unpack(key fleet.VehicleKey, packed []byte, wanted *fleet.SignalSet, into []Input) ([]Input, error) {
	if len(packed) < 8 || binary.LittleEndian.Uint64(packed) != packVersion {
		return into, ErrPackVersion
	}
	r := unpacker{rest: packed[8:]}
	fixes, others := r.uvarint(), r.uvarint()
	if r.bad || fixes > uint64(len(packed)/minFixBytes) || others > uint64(len(packed)/3) {
		return into, errPack
	}
	into = slices.Grow(into, int(fixes))
	positions := make([]fleet.Position, 0, fixes)
	for range fixes + others {
		switch place := r.byte(); {
		case r.bad || int(place) > len(fleet.Signals) || place == 0 && len(positions) == cap(positions):
			return into, errPack
		case place == 0:
			positions = append(positions, fleet.Position{})
			p := &positions[len(positions)-1]
			r.fix()
			r.last.fields.position(key, p)
			if r.last.fields[fieldStates]>>4 == otherAlarm {
				p.Alarm = r.text()
			}
			into = append(into, Input{At: p.FixTime, Position: p})
		default:
			s := fleet.Signal(place - 1)
			if value := r.signal(s); wanted[s] {
				into = append(into, Input{At: fleet.Millis(r.last.at), Signal: fleet.SignalValue{Signal: s, Value: value}})
			}
		}
	}
	if r.bad || len(r.rest) > 0 {
		return into, fmt.Errorf("%w: %d bytes are left", errPack, len(r.rest))
	}
	return into, nil
}

// unpacker reads what was packed; bad says that there is less than there ought to be.
type unpacker struct {
	rest []byte
	last memory
	bad  bool
}

func (r *unpacker) byte() uint8 {
	if len(r.rest) == 0 {
		r.bad = true
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *unpacker) uvarint() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 {
		v := r.rest[0]
		r.rest = r.rest[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *unpacker) text() string {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.bad = true
		return ""
	}
	text := string(r.rest[:n])
	r.rest = r.rest[n:]
	return text
}

func (r *unpacker) varint() int64 {
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (r *unpacker) fix() {
	f := &r.last.fields
	for i := range f {
		if i == fieldCell {
			f[i] ^= int64(r.uvarint())
		} else {
			f[i] += r.varint()
		}
	}
	r.last.at = f[fieldFixTime]
}

func (r *unpacker) signal(s fleet.Signal) float64 {
	r.last.at += r.varint()
	value := bits.ReverseBytes64(r.uvarint()) ^ r.last.values[s]
	r.last.values[s] = value
	return math.Float64frombits(value)
}
