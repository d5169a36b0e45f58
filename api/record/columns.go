package record

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// column is a column of a table of current records whose DEFAULT expression is left to whoever writes such records, who
// works it out and hands it over: to plan the expressions of a wide table takes the server longer than everything else
// of an insert. What a column is, its expression says; a test holds the two against each other. What only the server
// knows (its text of a swap, the day of a return) is not told here but left to it, as is what an expression makes of
// what no desk writes (a vehicle's id that is none, a day that cannot be read).
type column[T any] struct {
	name string
	of   func(*T) (value any, told bool)
}

// fieldColumns are those of what bookings and quotes have alike.
var fieldColumns = []column[BookingFields]{
	{"customer_id", func(b *BookingFields) (any, bool) { return b.CustomerID, true }},
	{"vehicle_class_id", func(b *BookingFields) (any, bool) { return b.VehicleClassID, true }},
	{"vehicle_id", func(b *BookingFields) (any, bool) { return b.VehicleID, true }},
	{"rate_plan_id", func(b *BookingFields) (any, bool) { return b.RatePlanID, true }},
	{"pickup_location_id", func(b *BookingFields) (any, bool) { return b.PickupLocationID, true }},
	{"channel", func(b *BookingFields) (any, bool) { return b.Channel, true }},
	{"pickup_at", func(b *BookingFields) (any, bool) { return instantOf(b.PickupAt) }},
	{"return_at", func(b *BookingFields) (any, bool) { return instantOf(b.ReturnAt) }},
	{"external_ids", func(b *BookingFields) (any, bool) {
		return each(b.ExternalRefs, func(r ExternalRef) string { return r.ID }), true
	}},
}

// withFields are columns of what has the fields of a booking: those of the fields, and its own.
func withFields[T any](fields func(*T) *BookingFields, own ...column[T]) []column[T] {
	return append(each(fieldColumns, func(c column[BookingFields]) column[T] {
		return column[T]{c.name, func(of *T) (any, bool) { return c.of(fields(of)) }}
	}), own...)
}

// bookingColumns are all of the table of bookings.
var bookingColumns = withFields(func(b *Booking) *BookingFields { return &b.BookingFields }, []column[Booking]{
	{"number", func(b *Booking) (any, bool) { return b.Number, true }},
	{"status", func(b *Booking) (any, bool) { return b.Status, true }},
	{"status_since", func(b *Booking) (any, bool) { return instantOf(b.StatusSince) }},
	{"external_reservation_id", func(b *Booking) (any, bool) { return b.ExternalReservationID, true }},
	{"driver_ids", func(b *Booking) (any, bool) {
		return each(b.Drivers, func(d Driver) string { return d.CustomerID }), true
	}},
	{"return_location_id", func(b *Booking) (any, bool) { return b.ReturnLocationID, true }},
	{"blocked_from", func(b *Booking) (any, bool) { return instantOf(b.BlockedFrom) }},
	{"blocked_until", func(b *Booking) (any, bool) { return instantOf(b.BlockedUntil) }},
	{"hold_expires_at", func(b *Booking) (any, bool) { return instantOf(b.HoldExpiresAt) }},
	{"no_show_at", func(b *Booking) (any, bool) { return b.noShowAt() }},
	{"actual_pickup_at", func(b *Booking) (any, bool) { return instantOf(b.ActualPickupAt) }},
	{"actual_return_at", func(b *Booking) (any, bool) { return instantOf(b.ActualReturnAt) }},
	{"confirmed_at", func(b *Booking) (any, bool) { return instantOf(b.ConfirmedAt) }},
	{"cancelled_at", func(b *Booking) (any, bool) { return instantOf(b.cancelled().At) }},
	{"cancelled_by", func(b *Booking) (any, bool) { return b.cancelled().By, true }},
	{"overdue_noted_at", func(b *Booking) (any, bool) { return instantOf(b.OverdueNotedAt) }},
	{"timezone", func(b *Booking) (any, bool) { return b.Timezone, true }},
	{"conflict", func(b *Booking) (any, bool) { return strconv.FormatBool(b.Conflict), true }},
	{"has_damage", func(b *Booking) (any, bool) { return strconv.FormatBool(len(b.Damages) > 0), true }},
	{"billed_days", func(b *Booking) (any, bool) {
		return uint32(b.BilledDays), 0 <= b.BilledDays && b.BilledDays <= math.MaxUint32
	}},
	{"currency", func(b *Booking) (any, bool) { return b.Currency, true }},
	{"total_minor", func(b *Booking) (any, bool) {
		return sumOf(b.Charges, func(c *Charge) bool { return c.Type != "platform_fee" }), true
	}},
	{"platform_minor", func(b *Booking) (any, bool) {
		return sumOf(b.Charges, func(c *Charge) bool { return c.Type == "platform_fee" }), true
	}},
	{"deposit_status", func(b *Booking) (any, bool) { return b.Deposit.Status, true }},
	{"deposit_expires_at", func(b *Booking) (any, bool) { return instantOf(b.Deposit.ExpiresAt) }},
	{"tax_minor", func(b *Booking) (any, bool) {
		return sumOf(b.Charges, func(c *Charge) bool { return c.Type == "tax" }), true
	}},
	{"applied_minor", func(b *Booking) (any, bool) { return b.Deposit.Applied.Amount, true }},
	{"do_not_rent_check", func(b *Booking) (any, bool) { return b.ListCheck(), true }},
	{"listed_customer_ids", func(b *Booking) (any, bool) {
		return each(b.Listed, func(m ListedMatch) string { return m.ListedID }), true
	}},
	// Swaps are texts as the server writes them.
	{"swaps", func(b *Booking) (any, bool) { return []string{}, len(b.drivenSwaps()) == 0 }},
	{"leg_vehicles", func(b *Booking) (any, bool) { return b.legVehicles() }},
	{"leg_from_ms", func(b *Booking) (any, bool) {
		swaps, last := b.drivenSwaps(), b.ActualPickupAt
		if len(swaps) > 0 {
			last = swaps[len(swaps)-1].Until
		}
		return millisOf(append(each(swaps, func(s VehicleSwap) Instant { return s.From }), last))
	}},
	{"leg_until_ms", func(b *Booking) (any, bool) {
		return millisOf(append(each(b.drivenSwaps(), func(s VehicleSwap) Instant { return s.Until }), b.ActualReturnAt))
	}},
	{"agreed_minor", func(b *Booking) (any, bool) { return b.agreed(), true }},
	{"returned_on", func(b *Booking) (any, bool) { return b.returnedOn() }},
}...)

// quoteColumns are all of the table of quotes.
var quoteColumns = withFields(func(q *Quote) *BookingFields { return &q.BookingFields }, []column[Quote]{
	{"number", func(q *Quote) (any, bool) { return q.Number, true }},
	{"expires_at", func(q *Quote) (any, bool) { return instantOf(q.ExpiresAt) }},
	{"booking_id", func(q *Quote) (any, bool) { return q.BookingID, true }},
	{"total_amount", func(q *Quote) (any, bool) { return q.Snapshot.Totals.Total.Amount, true }},
	{"currency", func(q *Quote) (any, bool) { return q.Snapshot.Currency, true }},
}...)

// workOut returns the columns of a table that can be told of all revisions, and what they are of each.
func workOut(table string, all []*revision) (columns []string, values [][]any) {
	switch table {
	case "bookings":
		return workOutOf(bookingColumns, all)
	case "quotes":
		return workOutOf(quoteColumns, all)
	default:
		return nil, make([][]any, len(all))
	}
}

func workOutOf[T any](of []column[T], all []*revision) (columns []string, values [][]any) {
	values = make([][]any, len(all))
	bodies := make([]*T, len(all))
	for i, r := range all {
		if bodies[i] = bodyWritten[T](r); bodies[i] == nil {
			return nil, values
		}
	}
	for _, c := range of {
		some := make([]any, len(all))
		told := true
		for i := 0; i < len(all) && told; i++ {
			some[i], told = c.of(bodies[i])
		}
		if !told {
			continue
		}
		columns = append(columns, c.name)
		for i, value := range some {
			values[i] = append(values[i], value)
		}
	}
	return columns, values
}

// bodyWritten returns what a revision was made of; nil if that cannot be told of what it says.
func bodyWritten[T any](r *revision) *T {
	if r.kept != nil {
		if body, ok := r.kept.made.(*T); ok {
			return body
		}
	}
	return asWritten[T](r.body)
}

// asWritten reads a body; nil if it is not written as it would be now, since of another the server may read what we
// would not.
func asWritten[T any](text string) *T {
	body := new(T)
	if json.Unmarshal([]byte(text), body) != nil {
		return nil
	}
	if again, err := json.Marshal(body); err != nil || string(again) != text {
		return nil
	}
	return body
}

// each returns what there is of each of all, never nil.
func each[T, R any](all []T, of func(T) R) []R {
	made := make([]R, 0, len(all)+1)
	for _, one := range all {
		made = append(made, of(one))
	}
	return made
}

// sumOf sums the amounts of some lines.
func sumOf(lines []Charge, which func(*Charge) bool) (sum int64) {
	for i := range lines {
		if which(&lines[i]) {
			sum += lines[i].Amount.Amount
		}
	}
	return sum
}

// drivenSwaps are the vehicles that it drove off with and gave back for another.
func (b *Booking) drivenSwaps() []VehicleSwap {
	return slices.DeleteFunc(slices.Clone(b.VehicleSwaps), func(s VehicleSwap) bool { return s.From.IsZero() })
}

func (b *Booking) legVehicles() (vehicles []uint64, told bool) {
	for _, text := range append(each(b.drivenSwaps(), func(s VehicleSwap) string { return s.VehicleID }), b.VehicleID) {
		id, err := fleet.ParseID(fleet.VehiclePrefix, text)
		if err != nil && text != "" {
			return nil, false
		}
		vehicles = append(vehicles, id)
	}
	return vehicles, true
}

// Years in which what the server makes of a time is what we do, with room for what is counted on from it.
const (
	firstYear = 1970
	lastYear  = 2199
)

// inYears says whether times, those that are known, are of years that can be told.
func inYears(times ...time.Time) bool {
	return !slices.ContainsFunc(times, func(t time.Time) bool {
		return !t.IsZero() && (t.UTC().Year() < firstYear || t.UTC().Year() > lastYear)
	})
}

// instantOf returns a time as a column of instants has it, 1970 for not known.
func instantOf(t Instant) (at time.Time, told bool) {
	if t.IsZero() {
		return time.Unix(0, 0), true
	}
	return t.Time, inYears(t.Time)
}

// millisOf returns times in milliseconds since 1970, 0 for not known.
func millisOf(times []Instant) (all []int64, told bool) {
	for _, t := range times {
		ms := int64(0)
		if !t.IsZero() {
			ms = t.UnixMilli()
		}
		all, told = append(all, ms), true
		if !inYears(t.Time) {
			return nil, false
		}
	}
	return all, told
}

// cancelled is its cancellation, an empty one if there is none.
func (b *Booking) cancelled() Cancellation {
	if b.Cancellation == nil {
		return Cancellation{}
	}
	return *b.Cancellation
}

// noShowAt is NoShowAt of a booking whose times and grace are such as desks write.
func (b *Booking) noShowAt() (at time.Time, told bool) {
	const mostGrace = 1_000_000 // minutes, about two years
	if s := b.RateSnapshot; s != nil && s.Rate != nil && s.Rate.NoShowGraceMinutes != nil {
		if grace := *s.Rate.NoShowGraceMinutes; grace < 0 || grace > mostGrace {
			return at, false
		}
	}
	return b.NoShowAt(), !b.PickupAt.IsZero() && inYears(b.PickupAt.Time, b.ConfirmedAt.Time)
}

// agreedTypes are the types of lines that are agreed.
var agreedTypes = []string{"time", "mileage", "discount", "promo", "extra", "protection", "delivery", "one_way",
	"young_driver", "additional_driver"}

// agreed sums what was agreed: by the lines of the frozen price, else by the charges.
func (b *Booking) agreed() int64 {
	lines := b.Charges
	if b.RateSnapshot != nil {
		lines = b.RateSnapshot.Lines
	}
	return sumOf(lines, func(c *Charge) bool { return c.ReversalOf == "" && slices.Contains(agreedTypes, c.Type) })
}

// returnedOn is the day that stands for none, in the zone of a booking that has not ended. Of one that has the server
// says the day, by what it knows of the zone.
func (b *Booking) returnedOn() (time.Time, bool) {
	none := time.Unix(0, 0).UTC()
	switch zone, err := fleet.Zone(b.Timezone); {
	case !b.ActualReturnAt.IsZero():
		return none, false
	case !schemas.ReturnZones()[b.Timezone]:
		return none, true
	case err != nil:
		return none, false
	default:
		year, month, day := none.In(zone).Date()
		return time.Date(year, month, day, 0, 0, 0, 0, time.UTC), true
	}
}
