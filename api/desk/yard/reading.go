package yard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/query"
)

// readings has meter readings count again that were voided because of one that is voided now.
func (d *Yard) readings() {
	d.Store.Then(record.MeterReadings.Name, "meter readings", d.readingsStand)
}

// Note writes a meter reading under an id, as Read does. An odometer that is far from what is known of it must be
// confirmed: see DoubtError.
func (d *Yard) Note(
	ctx context.Context, by record.Author, account fleet.AccountID, id uint64, m record.MeterReading, confirmed []string,
) (record.Record[record.MeterReading], error) {
	if err := d.doubtReading(ctx, account, id, &m, confirmed); err != nil {
		return record.Record[record.MeterReading]{}, err
	}
	return d.Read(ctx, by, account, id, m)
}

// doubtReading is a *DoubtError of an odometer that is far from what is known of it.
func (d *Yard) doubtReading(ctx context.Context, account fleet.AccountID, id uint64, m *record.MeterReading,
	confirmed []string) error {
	if m.Meter != query.Odometer {
		return nil
	}
	miles := int(m.Value)
	near, err := d.Near(ctx, account, m.VehicleID, m.RecordedAt.Time, &miles, id)
	q := Doubts{Confirmed: confirmed}
	q.Odometer(m.VehicleID, m.RecordedAt.Time, &miles, "/value", near)
	return cmp.Or(err, q.Err())
}

// Read writes a meter reading under an id. A meter does not run backwards: a reading below a valid one before it, or
// above a valid one after it, is written as voided, and says why.
func (d *Yard) Read(ctx context.Context, by record.Author, account fleet.AccountID, id uint64,
	m record.MeterReading) (record.Record[record.MeterReading], error) {
	if err := d.judgeReading(ctx, account, id, &m); err != nil {
		return record.Record[record.MeterReading]{}, err
	}
	rec, _, err := d.Readings.Create(ctx, by, account, id, m)
	return rec, err
}

// judgeReading says whether a reading counts beside those that do.
func (d *Yard) judgeReading(ctx context.Context, account fleet.AccountID, id uint64, m *record.MeterReading) error {
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, m.VehicleID)
	if err != nil {
		return err
	}
	near, err := d.Reads.MetersAround(ctx, account, vehicle, m.Meter, m.RecordedAt.Time, id)
	if err != nil {
		return err
	}
	m.Voided, m.VoidReason, m.VoidedBy = false, "", ""
	contradicts := func(n *query.MeterNeighbour, why string) {
		m.Voided, m.VoidedBy = true, fleet.FormatID(fleet.MeterReadingPrefix, n.ID)
		m.VoidReason = fmt.Sprintf("%s: %s, %v at %s", why, m.VoidedBy, n.Value, n.At.UTC().Format(time.RFC3339))
	}
	switch {
	case near.Before != nil && m.Value < near.Before.Value:
		contradicts(near.Before, "is lower than the reading before it")
	case near.After != nil && m.Value > near.After.Value:
		contradicts(near.After, "is higher than the reading after it")
	}
	return nil
}

// readingsStand looks again at the readings that were voided because they contradict one, when that one is voided. It
// goes by how they stand by now, so that it may be repeated.
func (d *Yard) readingsStand(ctx context.Context, w record.Written) error {
	before, after, err := record.Bodies[record.MeterReading](w)
	if err != nil || before == nil || before.Voided || !after.Voided {
		return err
	}
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, after.VehicleID)
	if err != nil {
		return nil
	}
	ids, err := query.VoidedMeters(ctx, d.DB, w.Account, vehicle, after.Meter)
	if err != nil {
		return err
	}
	name := fleet.FormatID(fleet.MeterReadingPrefix, w.ID)
	for _, id := range ids {
		rec, err := d.Readings.Get(ctx, w.Account, id)
		if err != nil || rec.Body.VoidedBy != name {
			if err != nil {
				return err
			}
			continue
		}
		if _, err := d.Readings.Update(ctx, w.System(), w.Account, id, 0, func(r *record.Record[record.MeterReading]) error {
			if r.Body.VoidedBy != name {
				return nil
			}
			err := d.doubtReading(ctx, w.Account, id, &r.Body, nil)
			if fleet.CodeOf(err) == fleet.CodeConfirm {
				return nil // nobody has said that it is right: it may have been the wrong one of the two
			}
			return cmp.Or(err, d.judgeReading(ctx, w.Account, id, &r.Body))
		}); err != nil {
			return err
		}
	}
	return nil
}

// VoidReading takes a reading back. Voiding one that was taken back changes nothing; one that is voided because it
// contradicts another does not count again, whatever becomes of that.
func (d *Yard) VoidReading(ctx context.Context, by record.Author, account fleet.AccountID, id uint64, reason string,
	check func(*record.Record[record.MeterReading]) error) (record.Record[record.MeterReading], error) {
	return d.Readings.Update(ctx, by, account, id, 0, func(r *record.Record[record.MeterReading]) error {
		if err := check(r); err != nil || r.Body.Voided && r.Body.VoidedBy == "" {
			return err
		}
		r.Body.Voided, r.Body.VoidReason, r.Body.VoidedBy = true, reason, ""
		return nil
	})
}

// told is a reading that a booking, a work order or an inspection tells.
type told struct {
	slot
	miles int
}

// slot is where a reading belongs: one record tells one at most.
type slot struct {
	source, vehicle string
	at              fleet.Millis
}

// retracted is why a reading is voided that its booking or work order does not tell any more.
const retracted = "is not told any more by what it came from"

// toldBy are the readings that a booking tells: when each of its vehicles was taken, and given back.
func toldBy(b *record.Booking) []told {
	var all []told
	add := func(source, vehicle string, at record.Instant, miles *int) {
		if miles != nil && vehicle != "" {
			if at.IsZero() {
				at = b.StatusSince
			}
			all = append(all, told{slot{source, vehicle, fleet.MillisOf(at.Time)}, *miles})
		}
	}
	for _, l := range rental.Legs(b) {
		add("pickup", l.VehicleID, l.From, *l.Taken)
		add("return", l.VehicleID, l.Until, *l.Back)
	}
	return all
}

// toldByWork are those of a work order: what was read when it was completed.
func toldByWork(w *record.WorkOrder) []told {
	if w.Status != record.WorkCompleted || w.MileageMi == nil {
		return nil
	}
	return []told{{slot{"work_order", w.VehicleID, fleet.MillisOf(w.CompletedAt.Time)}, *w.MileageMi}}
}

// toldByInspection are those of an inspection: what was read off the vehicle, as of when it was submitted.
func toldByInspection(i *record.VehicleInspection) []told {
	if i.Status != rental.InspectionSubmitted || i.MileageMi == nil {
		return nil
	}
	return []told{{slot{"manual", i.VehicleID, fleet.MillisOf(i.SubmittedAt.Time)}, *i.MileageMi}}
}

// BookingReads writes the odometer as it was told when vehicles were handed over.
func (d *Yard) BookingReads(ctx context.Context, w record.Written) error {
	return reads(ctx, d, d.Bookings, w, toldBy)
}

// workReads writes the odometer as a work order tells it when it is completed.
func (d *Yard) workReads(ctx context.Context, w record.Written) error {
	return reads(ctx, d, d.Work, w, toldByWork)
}

// reads has the readings that a record tells follow it: what it told and does not tell any more is voided, what it
// tells is written. It goes by how the record stands now, and looks again until that has not changed meanwhile, so that
// it may be repeated, late and at once.
func reads[T any](ctx context.Context, d *Yard, log *record.Log[T], w record.Written, tells func(*T) []told) error {
	before, after, err := record.Bodies[T](w)
	if err != nil {
		return err
	}
	var had []told
	if before != nil {
		had = tells(before)
	}
	is := tells(after)
	same := func(all []told) func(told) bool {
		return func(t told) bool { return slices.Contains(all, t) }
	}
	gone, fresh := slices.DeleteFunc(slices.Clone(had), same(is)), slices.DeleteFunc(slices.Clone(is), same(had))
	ref := fleet.FormatID(log.Kind().Prefix, w.ID)
	for seen := uint64(0); len(gone)+len(fresh) > 0; {
		now, err := log.Get(ctx, w.Account, w.ID)
		if err != nil || now.Revision == seen {
			return err
		}
		seen = now.Revision
		says := map[slot]*int{}
		for _, t := range tells(&now.Body) {
			says[t.slot] = &t.miles
		}
		// What is wrong goes first, so that what is right is not held against it.
		for _, t := range append(slices.Clone(gone), fresh...) {
			if err := d.tell(ctx, w, ref, t.slot, says[t.slot], false); err != nil {
				return err
			}
		}
		for _, t := range fresh {
			if miles := says[t.slot]; miles != nil {
				if err := d.tell(ctx, w, ref, t.slot, miles, true); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// tell makes the readings of a slot say what is told there, nil for nothing. Readings are never changed: those that
// say something else are voided, and what is told is written under the first name of the slot that is free, if
// nothing says it yet.
func (d *Yard) tell(ctx context.Context, w record.Written, ref string, s slot, miles *int, write bool) error {
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, s.vehicle)
	if err != nil {
		return nil
	}
	said := miles == nil
	for n := 0; ; n++ {
		id := readingID(w, vehicle, s, n)
		rec, err := d.Readings.Get(ctx, w.Account, id)
		if fleet.CodeOf(err) == fleet.CodeNotFound {
			if said || !write {
				return nil
			}
			rec, err = d.Read(ctx, w.System(), w.Account, id,
				record.MeterReading{VehicleID: s.vehicle, Meter: query.Odometer, Value: float64(*miles),
					RecordedAt: record.InstantOf(s.at.Time()), Source: s.source, SourceID: ref})
		}
		if err != nil {
			return err
		}
		switch m := &rec.Body; {
		case !said && m.Value == float64(*miles) && m.VoidReason != retracted:
			said = true // and may be void all the same: by somebody's hand, or because a meter does not run backwards
		case !m.Voided || m.VoidedBy != "":
			if _, err := d.VoidReading(ctx, w.System(), w.Account, id, retracted,
				func(*record.Record[record.MeterReading]) error { return nil }); err != nil {
				return err
			}
		}
	}
}

// readingID names the n-th reading of a slot, by what tells it.
func readingID(w record.Written, vehicle uint64, s slot, n int) uint64 {
	kind := "meter_reading." + s.source
	if n > 0 {
		kind = fmt.Sprintf("%s %d", kind, n)
	}
	return fleet.DerivedID(fleet.Kind(kind),
		fleet.VehicleKey{Account: w.Account, Vehicle: fleet.VehicleID(vehicle)}, s.at, w.ID)
}
