package follow

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/schemas"
)

// Sizes of a packed fix, but for an alarm that is none of fleet.Alarms, and of a measurement, see
// schemas/queries/derived: follow_fixes.sql and follow_signals.sql.
const (
	fixBytes    = 85
	signalBytes = 17
)

// window is what is wanted of a vehicle: its inputs in (after, until].
type window struct {
	key          fleet.VehicleKey
	after, until fleet.Millis
}

// pull returns the inputs of several vehicles, each in order.
func (f *Follower) pull(ctx context.Context, windows []window) (map[fleet.VehicleKey][]derive.Input, error) {
	found := make(map[fleet.VehicleKey][]derive.Input, len(windows))
	if len(windows) == 0 {
		return found, nil
	}
	read := func(name string, list any,
		add func(key fleet.VehicleKey, packed string, into []derive.Input) []derive.Input) error {
		table, bounds, err := spans(windows)
		if err != nil {
			return err
		}
		with := clickhouse.Context(ctx, clickhouse.WithExternalTable(table))
		args := append(bounds, list)
		return schemas.EachRow(with, f.deps.DB, "read "+name, schemas.Query(name), args, func(row schemas.Row) error {
			var account, vehicle uint64
			var packed string
			if err := row.Scan(&account, &vehicle, &packed); err != nil {
				return err
			}
			key := fleet.VehicleKey{Account: fleet.AccountID(account), Vehicle: fleet.VehicleID(vehicle)}
			found[key] = add(key, packed, found[key])
			return nil
		})
	}
	if err := read("follow_fixes", clickhouse.Named("alarms", fleet.Alarms), unpackFixes); err != nil {
		return nil, fmt.Errorf("pull fixes of %d vehicles: %w", len(windows), err)
	}
	signals, names := f.wanted(windows...)
	err := read("follow_signals", clickhouse.Named("signals", names),
		func(_ fleet.VehicleKey, packed string, into []derive.Input) []derive.Input {
			return unpackSignals(packed, signals, into)
		})
	if err != nil {
		return nil, fmt.Errorf("pull signals of %d vehicles: %w", len(windows), err)
	}
	for key, inputs := range found {
		found[key] = arrange(inputs)
	}
	return found, nil
}

// pullSome returns inputs of one vehicle from the beginning of a window on, in order, and up to what time they are all
// that there is: the end of the window, or less if there is more than a chunk.
func (f *Follower) pullSome(ctx context.Context, w window) ([]derive.Input, fleet.Millis, error) {
	limit := f.cfg.ChunkRows
	wanted, names := f.wanted(w)
	read := func(name string, until fleet.Millis, limit int, list any) (string, error) {
		var packed string
		err := f.deps.DB.QueryRow(ctx, schemas.Query(name), clickhouse.Named("account", uint64(w.key.Account)),
			clickhouse.Named("vehicle", uint64(w.key.Vehicle)), clickhouse.Named("after", int64(max(w.after, 0))),
			clickhouse.Named("until", int64(until)), clickhouse.Named("limit", uint64(limit)), list).Scan(&packed)
		return packed, err
	}
	for {
		until := w.until
		packed, err := read("follow_fixes_of", until, limit, clickhouse.Named("alarms", fleet.Alarms))
		if err != nil {
			return nil, 0, fmt.Errorf("pull fixes of %s: %w", w.key.Vehicle, err)
		}
		inputs := unpackFixes(w.key, packed, nil)
		if len(inputs) >= limit {
			until = newest(inputs) - 1 // more may have the newest time
		}
		if packed, err = read("follow_signals_of", until, limit, clickhouse.Named("signals", names)); err != nil {
			return nil, 0, fmt.Errorf("pull signals of %s: %w", w.key.Vehicle, err)
		}
		signals := unpackSignals(packed, wanted, nil)
		if len(signals) >= limit {
			until = min(until, newest(signals)-1)
		}
		if until <= w.after { // a whole chunk of one time
			limit *= 4
			continue
		}
		inputs = slices.DeleteFunc(append(inputs, signals...), func(in derive.Input) bool { return in.At > until })
		return arrange(inputs), until, nil
	}
}

func newest(inputs []derive.Input) fleet.Millis {
	t := fleet.Millis(0)
	for i := range inputs {
		t = max(t, inputs[i].At)
	}
	return t
}

// arrange sorts inputs by time, positions before signals, and leaves one of several positions of a time and one of
// several values of a signal. Which one depends on their content alone.
func arrange(inputs []derive.Input) []derive.Input {
	if !slices.IsSortedFunc(inputs, compareInputs) {
		slices.SortFunc(inputs, compareInputs)
	}
	kept := inputs[:0]
	for _, in := range inputs {
		n := len(kept) - 1
		switch {
		case n < 0 || in.At != kept[n].At || (in.Position == nil) != (kept[n].Position == nil) ||
			in.Position == nil && in.Signal.Signal != kept[n].Signal.Signal:
			kept = append(kept, in)
		case in.Position != nil && compareInputs(in, kept[n]) == 0 &&
			(in.Position.Flags^kept[n].Position.Flags)&fleet.FlagJump != 0:
			kept[n].Unsure = true
		}
	}
	return kept
}

func compareInputs(a, b derive.Input) int {
	if a.At != b.At {
		return cmp.Compare(a.At, b.At)
	}
	switch {
	case a.Position != nil && b.Position != nil:
		p, q := a.Position, b.Position
		return cmp.Or(cmp.Compare(p.Device, q.Device), cmp.Compare(p.ReceivedTime, q.ReceivedTime), cmp.Compare(p.Lat, q.Lat),
			cmp.Compare(p.Lng, q.Lng))
	case a.Position != nil:
		return -1
	case b.Position != nil:
		return 1
	}
	return cmp.Or(cmp.Compare(a.Signal.Signal, b.Signal.Signal), cmp.Compare(a.Signal.Value, b.Signal.Value))
}

func le64(s string, at int) uint64 {
	_ = s[at+7]
	return uint64(s[at]) | uint64(s[at+1])<<8 | uint64(s[at+2])<<16 | uint64(s[at+3])<<24 |
		uint64(s[at+4])<<32 | uint64(s[at+5])<<40 | uint64(s[at+6])<<48 | uint64(s[at+7])<<56
}

func le32(s string, at int) uint32 {
	_ = s[at+3]
	return uint32(s[at]) | uint32(s[at+1])<<8 | uint32(s[at+2])<<16 | uint32(s[at+3])<<24
}

// unpackFixes appends packed fixes in the order they come.
func unpackFixes(key fleet.VehicleKey, packed string, into []derive.Input) []derive.Input {
	n := len(packed) / fixBytes
	into = slices.Grow(into, n)
	positions := make([]fleet.Position, n)
	for i := 0; len(packed) >= fixBytes; i++ {
		s, p := packed[:fixBytes], &positions[i]
		packed = packed[fixBytes:]
		stored := fleet.StoredPosition{
			FixTime:      fleet.Millis(le64(s, 0)),
			ReceivedTime: fleet.Millis(le64(s, 8)),
			DeviceTime:   fleet.Millis(le64(s, 16)),
			Device:       fleet.DeviceID(le64(s, 24)),
			Cell:         fleet.Cell(le64(s, 32)),
			Lat:          int32(le32(s, 40)),
			Lng:          int32(le32(s, 44)),
			Altitude:     int32(le32(s, 48)),
			Speed:        int32(le32(s, 52)),
			Course:       int32(le32(s, 56)),
			Accuracy:     int64(le64(s, 60)),
			Odometer:     int64(le64(s, 68)),
			Satellites:   int16(uint16(s[76]) | uint16(s[77])<<8),
			Flags:        fleet.Flags(le32(s, 78)),
			Ignition:     fleet.Tri(s[82]),
			Motion:       fleet.Tri(s[83]),
		}
		switch alarm := int(s[84]); {
		case alarm == 255:
			end := 1 + int(packed[0])
			stored.Alarm, packed = strings.Clone(packed[1:end]), packed[end:]
		case alarm > 0 && alarm <= len(fleet.Alarms):
			stored.Alarm = fleet.Alarms[alarm-1]
		}
		p.Account, p.Vehicle = key.Account, key.Vehicle
		stored.Restore(p)
		into = append(into, derive.Input{At: p.FixTime, Position: p})
	}
	return into
}

// unpackSignals appends packed measurements in the order they come; places are those in signals.
func unpackSignals(packed string, signals []fleet.Signal, into []derive.Input) []derive.Input {
	n := len(packed) / signalBytes
	into = slices.Grow(into, n)
	for i := range n {
		s := packed[i*signalBytes : (i+1)*signalBytes]
		if place := int(s[8]); place > 0 && place <= len(signals) {
			value := fleet.SignalValue{Signal: signals[place-1], Value: math.Float64frombits(le64(s, 9))}
			into = append(into, derive.Input{At: fleet.Millis(le64(s, 0)), Signal: value})
		}
	}
	return into
}
