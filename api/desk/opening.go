package desk

import (
	"context"
	"fmt"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// closed says when the vehicle would be picked up or returned at a place that is closed then. What is delivered is not
// picked up there, and what a channel has sold is taken as it was sold.
func (r *Resolved) closed() []fleet.FieldError {
	if ledger.Collects(r.Fields.Channel) {
		return nil
	}
	var faults []fleet.FieldError
	if r.Fields.DeliveryAddress == "" && r.Pickup != nil {
		faults = closedAt(&r.Pickup.Body, r.Zone, r.Fields.PickupAt.Time, "/pickup_at")
	}
	if r.Return != nil {
		faults = append(faults, closedAt(&r.Return.Body, r.Zone, r.Fields.ReturnAt.Time, "/return_at")...)
	}
	return faults
}

// closedAt says that a location is closed at an instant, and when it opens; nil if it is open. Its hours are those of
// its own zone, or else of the booking's.
func closedAt(l *record.Location, zone *time.Location, at time.Time, pointer string) []fleet.FieldError {
	if at = at.In(ledger.ZoneOf(l.Timezone, zone)); rental.Open(l.OpeningHours, at) {
		return nil
	}
	opens := "is never open"
	if next := rental.NextOpening(l.OpeningHours, at); !next.IsZero() {
		opens = "opens next at " + next.Format(time.RFC3339)
	}
	return []fleet.FieldError{{Pointer: pointer, Code: "closed",
		Detail: fmt.Sprintf("is %s at %s, which is closed then and %s", at.Format("Monday 15:04"), l.Name, opens)}}
}

// openForReturn refuses to plan the return of a booking for when its location is closed.
func (d *Desk) openForReturn(ctx context.Context, account fleet.AccountID, b *record.Booking) error {
	var place *record.Record[record.Location]
	if err := follow(ctx, account, d.Locations, b.ReturnLocationID, &place); err != nil || place == nil {
		return err
	}
	if faults := closedAt(&place.Body, fleet.ZoneOf(b.Timezone), b.ReturnAt.Time, "/return_at"); faults != nil {
		return unfit(faults)
	}
	return nil
}
