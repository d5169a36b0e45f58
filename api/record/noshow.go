package record

import "time"

// defaultGrace is after which nobody picks a booking up any more, where its rate does not say.
const defaultGrace = 24 * time.Hour

// never is after all that bookings may say.
var never = time.Date(2201, 1, 1, 0, 0, 0, 0, time.UTC)

// NoShowAt is when nobody will come for a confirmed booking any more: the grace of its rate after the pickup, or after
// it was confirmed if that was later. One that was written down afterwards waits for nobody. The table of bookings has
// it too, as no_show_at.
func (b *Booking) NoShowAt() time.Time {
	if b.Backdated {
		return never
	}
	grace := defaultGrace
	if s := b.RateSnapshot; s != nil && s.Rate != nil && s.Rate.NoShowGraceMinutes != nil {
		grace = time.Duration(*s.Rate.NoShowGraceMinutes) * time.Minute
	}
	from := b.PickupAt.Time
	if b.ConfirmedAt.After(from) {
		from = b.ConfirmedAt.Time
	}
	return from.Add(grace)
}
