package desk

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// MatchToll finds the vehicle that bore the plate when a toll was due, and the booking that had it then: from its
// actual pickup until its actual return, or until now. What is not found, or not told apart, stays empty, and the
// toll says why.
func (d *Desk) MatchToll(ctx context.Context, account fleet.AccountID, t *record.Toll) error {
	t.VehicleID, t.BookingID, t.Unmatched, t.Status = "", "", "", record.TollUnmatched
	at := fleet.MillisOf(t.OccurredAt.Time)
	vehicles, err := query.VehiclesWithPlate(ctx, d.DB, account, t.Plate, t.Region, at)
	if err != nil {
		return err
	}
	switch plate := strings.TrimSpace(t.Plate + " " + t.Region); {
	case len(vehicles) == 0:
		t.Unmatched = "no vehicle had the plate " + plate + " at that time"
		return nil
	case len(vehicles) > 1:
		t.Unmatched = fmt.Sprintf("%d vehicles had the plate %s at that time; give the region", len(vehicles), plate)
		return nil
	}
	t.VehicleID = fleet.FormatID(fleet.VehiclePrefix, vehicles[0])
	out, err := query.BookingsOut(ctx, d.DB, account, vehicles[0], at)
	if err != nil {
		return err
	}
	var found []string
	for _, stored := range out {
		var b record.Booking
		if err := json.Unmarshal([]byte(stored.Body), &b); err != nil {
			return fmt.Errorf("decode booking %d: %w", stored.ID, err)
		}
		if VehicleAt(&b, t.OccurredAt.Time) == t.VehicleID {
			found = append(found, fleet.FormatID(fleet.BookingPrefix, stored.ID))
		}
	}
	switch {
	case t.OccurredAt.After(d.Now()):
		t.Unmatched = "the time has not come yet"
	case len(found) == 0:
		t.Unmatched = "nobody had picked up the vehicle " + t.VehicleID + " and not returned it at that time"
	case len(found) > 1:
		t.Unmatched = "more than one booking had the vehicle at that time: " + strings.Join(found, ", ")
	default:
		t.BookingID, t.Status = found[0], record.TollMatched
	}
	return nil
}

// VehicleAt is the vehicle that a booking had at a time, empty if it has none.
func VehicleAt(b *record.Booking, at time.Time) string {
	for _, swap := range b.VehicleSwaps {
		if at.Before(swap.Until.Time) {
			return swap.VehicleID
		}
	}
	return b.VehicleID
}

// registerTolls has the charge of a toll that is billed follow from it.
func (d *Desk) registerTolls() {
	d.Store.Then(record.Tolls.Name, "charges", d.chargeToll)
}

// BillToll charges a matched toll, and the fee for handling it, to its booking. That it is billed is decided by
// the toll alone, so that it is billed once; the charges follow from that. check may refuse the revision that
// it is done upon.
func (d *Desk) BillToll(ctx context.Context, by record.Author, account fleet.AccountID, id uint64,
	check func(*record.Record[record.Toll]) error) (record.Record[record.Toll], error) {
	rec, err := d.Tolls.Get(ctx, account, id)
	if err != nil {
		return rec, err
	}
	if err := billed(&rec, check); err != nil {
		return d.Tolls.AlreadyDone(ctx, err, by, account, id)
	}
	order, lines, err := d.tollLines(ctx, by, &rec)
	if err != nil {
		return rec, err
	}
	if err := d.mayCharge(ctx, order, lines); err != nil {
		return rec, err
	}
	matched := rec.Body.BookingID
	rec, err = d.Tolls.Update(ctx, by, account, id, 0, func(r *record.Record[record.Toll]) error {
		if r.Body.BookingID != matched {
			return fleet.NewError(fleet.CodeConflict, "The toll was matched with another booking meanwhile.")
		}
		return billed(r, check)
	})
	if err != nil {
		return rec, err
	}
	if rec, err = d.Tolls.Get(ctx, account, id); err == nil && rec.Body.ChargeID == "" {
		err = fleet.NewError(fleet.CodeConflict,
			"The booking "+matched+" took no charges any more when the toll was to be billed.")
	}
	return rec, err
}

// billed makes a toll billed.
func billed(r *record.Record[record.Toll], check func(*record.Record[record.Toll]) error) error {
	if err := check(r); err != nil {
		return err
	}
	t := &r.Body
	if t.ChargeID == "" && t.BookingID != "" && t.Status == record.TollDisputed {
		t.Status = record.TollMatched // the dispute is over: it is charged all the same
	}
	if err := t.Move(fleet.FormatID(fleet.TollPrefix, r.ID), record.TollBilled); err != nil {
		return err
	}
	t.ChargeID = chargeOf("toll", r.ID, "toll")
	return nil
}

// tollLines are the lines by which a toll is charged, and where. Who reads the bill reads the time that the
// clocks showed there.
func (d *Desk) tollLines(ctx context.Context, by record.Author,
	r *record.Record[record.Toll]) (Order, []record.Charge, error) {
	t := &r.Body
	booking, err := fleet.ParseID(fleet.BookingPrefix, t.BookingID)
	if err != nil {
		return Order{}, nil, fmt.Errorf("toll %d is %s: %w", r.ID, t.Status, err)
	}
	zone, err := d.zoneOn(ctx, r.Account, booking, t.BookedFor.Timezone)
	if err != nil {
		return Order{}, nil, err
	}
	line := func(what, text string, amount record.Money) record.Charge {
		return record.Charge{ID: chargeOf("toll", r.ID, what), Type: t.Kind, Description: text, Quantity: 1,
			UnitPrice: amount, Amount: amount, Source: "import",
			TollID: fleet.FormatID(fleet.TollPrefix, r.ID)}
	}
	lines := []record.Charge{line("toll",
		strings.TrimSpace(t.Agency+" "+t.OccurredAt.In(zone).Format("2006-01-02 15:04 MST")), t.Amount)}
	if fee := t.AdminFee; fee != nil && fee.Amount > 0 {
		lines = append(lines, line("fee", "Handling fee", *fee))
	}
	return Order{By: by, Account: r.Account, Booking: booking}, lines, nil
}

// zoneOn is the zone of a booking's bill: that of the booking, else another one by its name, else UTC.
func (d *Desk) zoneOn(ctx context.Context, account fleet.AccountID, booking uint64,
	other string) (*time.Location, error) {
	rec, err := d.Bookings.Get(ctx, account, booking)
	if err != nil && fleet.CodeOf(err) != fleet.CodeNotFound {
		return nil, err
	}
	return fleet.ZoneOf(rec.Body.Timezone, other), nil
}

// chargeToll charges a toll that was billed to its booking. It goes by how the toll stands now. A booking that takes
// no charges any more (it lapsed just now, or was archived) leaves the toll to be matched again, unless it was
// charged before.
func (d *Desk) chargeToll(ctx context.Context, w record.Written) error {
	before, after, err := record.Bodies[record.Toll](w)
	if err != nil || after.ChargeID == "" || before != nil && before.ChargeID != "" {
		return err
	}
	now, err := d.Tolls.Get(ctx, w.Account, w.ID)
	if err != nil || now.Body.ChargeID == "" {
		return err
	}
	order, lines, err := d.tollLines(ctx, record.Author{Actor: w.Actor, RequestID: w.RequestID}, &now)
	if err != nil {
		return err
	}
	if took, err := d.chargeFor(ctx, order, lines...); err != nil || took {
		return err
	}
	return d.unbill(ctx, w.System(), w.Account, w.ID)
}

// chargeFor charges what follows from a record that was billed to a booking, once, and says whether the booking has the
// lines: one that takes no charges any more has them only if it took them before.
func (d *Desk) chargeFor(ctx context.Context, o Order, lines ...record.Charge) (bool, error) {
	_, err := d.AddCharge(ctx, o, lines...)
	switch fleet.CodeOf(err) {
	case fleet.CodeTransition, fleet.CodeConflict, fleet.CodeValidation, fleet.CodeNotFound:
		// This may be a repetition, and the booking have come to its end since it was charged.
		charged, asked := d.charged(ctx, o, lines[0].ID)
		if asked == nil && !charged {
			d.Log.WarnContext(ctx, "a booking took no charge for what was billed to it", "booking", name(o.Booking), "charge",
				lines[0].ID, "error", err)
		}
		return charged, asked
	}
	return err == nil, err
}

// charged says whether a booking has a line.
func (d *Desk) charged(ctx context.Context, o Order, line string) (bool, error) {
	rec, err := d.Bookings.Get(ctx, o.Account, o.Booking)
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return false, nil
	}
	return slices.ContainsFunc(rec.Body.Charges, func(c record.Charge) bool { return c.ID == line }), err
}

// unbill takes back that a toll was billed.
func (d *Desk) unbill(ctx context.Context, by record.Author, account fleet.AccountID, id uint64) error {
	_, err := d.Tolls.Update(ctx, by, account, id, 0, func(r *record.Record[record.Toll]) error {
		if r.Body.ChargeID = ""; r.Body.Status == record.TollBilled {
			r.Body.Status = record.TollMatched
		}
		return nil
	})
	return err
}

// chargeOf names a charge of a record by what it is.
func chargeOf(kind string, id uint64, what string) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d %s", kind, id, what)
	return fleet.FormatID(fleet.ChargePrefix, max(h.Sum64()>>1, 1))
}
