package record

import (
	"time"
)

// defaultGrace is after which nobody picks a booking up any more, where its rate does not say.
const defaultGrace = 24 * time.Hour

// never is after all that bookings may say.
var never = time.Date(2201, 1, 1, 0, 0, 0, 0, time.UTC)

// NoShowAt is when nobody will come for a confirmed booking any more: the grace of its rate after the pickup, or after it was confirmed if
// that was later. One that was written down afterwards waits for nobody.
func (b *Booking) NoShowAt() time.Time {
	if b.Backdated {
		return never
	}
	grace := defaultGrace
	if s := b.RateSnapshot; s != nil && s.Rate != nil && s.Rate.NoShowGraceMinutes != nil {
		grace = time.Duration(*s.Rate.NoShowGraceMinutes) * time.Minute
	}
	from := Stored(b.PickupAt)
	if confirmed := Stored(b.ConfirmedAt); confirmed.After(from) {
		from = confirmed
	}
	return from.Add(grace)
}

// bookingRow is the row of a booking, as bookings_feed.sql has it.
func bookingRow(r *Record[Booking], body string) []Cell {
	b := &r.Body
	drivers, refs := make([]string, len(b.Drivers)), make([]string, len(b.ExternalRefs))
	for i, d := range b.Drivers {
		drivers[i] = d.CustomerID
	}
	for i, ref := range b.ExternalRefs {
		refs[i] = ref.ID
	}
	var cancelled Cancellation
	if b.Cancellation != nil {
		cancelled = *b.Cancellation
	}
	var total, platform int64
	for _, line := range b.Charges {
		if line.Type == "platform_fee" {
			platform += line.Amount.Amount
		} else {
			total += line.Amount.Amount
		}
	}
	return []Cell{
		{"account", uint64(r.Account)}, {"id", r.ID}, {"revision", r.Revision},
		{"created_at", r.CreatedAt}, {"updated_at", r.UpdatedAt}, {"archived_at", archived(r.ArchivedAt)},
		{"status", b.Status}, {"status_since", Stored(b.StatusSince)},
		{"channel", b.Channel}, {"external_reservation_id", b.ExternalReservationID},
		{"customer_id", b.CustomerID}, {"driver_ids", drivers},
		{"vehicle_id", b.VehicleID}, {"vehicle_class_id", b.VehicleClassID},
		{"pickup_location_id", b.PickupLocationID}, {"return_location_id", b.ReturnLocationID}, {"rate_plan_id", b.RatePlanID},
		{"pickup_at", Stored(b.PickupAt)}, {"return_at", Stored(b.ReturnAt)},
		{"blocked_from", Stored(b.BlockedFrom)}, {"blocked_until", Stored(b.BlockedUntil)},
		{"hold_expires_at", Stored(b.HoldExpiresAt)}, {"no_show_at", b.NoShowAt()},
		{"actual_pickup_at", Stored(b.ActualPickupAt)}, {"actual_return_at", Stored(b.ActualReturnAt)},
		{"confirmed_at", Stored(b.ConfirmedAt)}, {"cancelled_at", Stored(cancelled.At)}, {"cancelled_by", cancelled.By},
		{"overdue_noted_at", Stored(b.OverdueNotedAt)}, {"timezone", b.Timezone},
		{"conflict", yes(b.Conflict)}, {"has_damage", yes(len(b.Damages) > 0)},
		{"billed_days", uint32(b.BilledDays)}, {"currency", b.Currency}, {"total_minor", total}, {"platform_minor", platform},
		{"deposit_status", b.Deposit.Status}, {"deposit_expires_at", Stored(b.Deposit.ExpiresAt)},
		{"external_ids", refs}, {"body", body},
	}
}

// yes writes a flag as tables hold it.
func yes(is bool) string {
	if is {
		return "true"
	}
	return "false"
}
