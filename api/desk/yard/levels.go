package yard

import (
	"context"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
)

// levels are how full the tank and the traction battery of a vehicle were, as one record tells; nil where it does not.
type levels struct{ fuel, battery *record.LevelReading }

// levelsOf are the newest levels that a booking tells of a vehicle: those with which it was given back, or else those
// with which it was taken.
func levelsOf(ref, vehicle string, b *record.Booking) levels {
	var l levels
	tell := func(source string, at record.Instant, fuel *float64, battery *int) {
		if fuel != nil {
			l.fuel = &record.LevelReading{Pct: *fuel, At: at, Source: source, SourceID: ref}
		}
		if battery != nil {
			l.battery = &record.LevelReading{Pct: float64(*battery), At: at, Source: source, SourceID: ref}
		}
	}
	for _, leg := range rental.Legs(b) {
		if leg.VehicleID != vehicle {
			continue
		}
		if !leg.From.IsZero() {
			tell("pickup", leg.From, *leg.Fuel[0], *leg.Battery[0])
		}
		if !leg.Until.IsZero() {
			tell("return", leg.Until, *leg.Fuel[1], *leg.Battery[1])
		}
	}
	return l
}

// note has a vehicle know the levels that a record tells, unless it knows newer ones of others. What the record told
// before and does not tell any more is forgotten. It may be repeated, and come late.
func (l levels) note(v *record.Vehicle, ref string) {
	for _, n := range []struct {
		known **record.LevelReading
		told  *record.LevelReading
	}{{&v.FuelRead, l.fuel}, {&v.BatteryRead, l.battery}} {
		was := *n.known
		if was != nil && was.SourceID == ref || n.told != nil && (was == nil || !n.told.At.Before(was.At.Time)) {
			*n.known = n.told
		}
	}
}

// inspectionLevels has a vehicle know how full its tank was when it was inspected.
func (d *Yard) inspectionLevels(ctx context.Context, w record.Written) error {
	_, i, err := record.Bodies[record.VehicleInspection](w)
	if err != nil || i.Status != rental.InspectionSubmitted || i.FuelPct == nil {
		return err
	}
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, i.VehicleID)
	if err != nil {
		return err
	}
	ref := fleet.FormatID(fleet.InspectionPrefix, w.ID)
	return d.follow(ctx, w.System(), w.Account, vehicle, func(r *record.Record[record.Vehicle]) error {
		levels{fuel: &record.LevelReading{Pct: *i.FuelPct, At: i.SubmittedAt, Source: "manual", SourceID: ref}}.note(&r.Body,
			ref)
		return nil
	})
}
