package query

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// NotOver are the statuses of bookings that are not over.
var NotOver = []string{"pending", "confirmed", "active"}

// Bookings is how bookings are listed.
var Bookings = Listing{Table: "bookings", Fields: []ListField{
	{Name: "number", Column: byNumber, Type: CodeField, Few: true, Sort: true},
	{Name: "status", Type: TextField, Sort: true, FewOf: NotOver},
	{Name: "vehicle_id", Type: TextField, Few: true},
	{Name: "vehicle_class_id", Type: TextField},
	{Name: "customer_id", Type: TextField, Few: true},
	{Name: "driver_ids", Type: TagsField},
	{Name: "channel", Type: TextField, Sort: true},
	{Name: "external_reservation_id", Type: TextField, Few: true, Sort: true},
	{Name: "rate_plan_id", Type: TextField},
	{Name: "pickup_location_id", Type: TextField},
	{Name: "return_location_id", Type: TextField},
	{Name: "location_ids", Type: TagsField},
	{Name: "is_overdue", Type: TextField, Passes: true},
	{Name: "conflict", Type: TextField},
	{Name: "has_damage", Type: TextField},
	{Name: "deposit_status", Type: TextField},
	{Name: "do_not_rent_check", Type: TextField},
	{Name: "payment_status", Type: TextField, Sort: true,
		Values: []string{"nothing_due", "unpaid", "partially_paid", "paid", "overpaid", "refunded"}, Join: joinPaid,
		Column: "multiIf(" + paidMinor + " > owed_minor, 'overpaid', " + paidMinor +
			" = 0 AND paid.given_back > 0, 'refunded', " + paidMinor + " = 0 AND owed_minor = 0, 'nothing_due', " + paidMinor +
			" = owed_minor, 'paid', " + paidMinor +
			" <= 0, 'unpaid', 'partially_paid')"},
	{Name: "balance_due", Type: NumberField, Range: true, Sort: true, Join: joinPaid,
		Column: "(owed_minor - " + paidMinor + ")"},
	{Name: "due_for", Type: TextField},
	{Name: "due_at", Type: TimeField, Range: true, Sort: true, Few: true},
	{Name: "due_location_id", Type: TextField},
	{Name: "pickup_at", Type: TimeField, Range: true, Sort: true, Few: true},
	{Name: "return_at", Type: TimeField, Range: true, Sort: true, Few: true},
	{Name: "actual_pickup_at", Type: TimeField, Range: true, Sort: true, Few: true},
	{Name: "actual_return_at", Type: TimeField, Range: true, Sort: true, Few: true},
	{Name: "blocked_from", Type: TimeField, Range: true, Sort: true, Few: true},
	{Name: "blocked_until", Type: TimeField, Range: true, Sort: true, Few: true},
	{Name: "total", Column: "total_minor", Type: NumberField, Range: true, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"number", "external_reservation_id"}, Related: []Related{ofCustomer, ofVehicle}}

// paidMinor is what was paid of a booking: by payments, less refunds, and of its deposit.
const paidMinor = "(paid.received - paid.given_back + applied_minor)"

// What several kinds of records name.
var (
	ofCustomer = Related{Field: "customer_id", Prefix: fleet.CustomerPrefix, To: &Customers}
	ofVehicle  = Related{Field: "vehicle_id", Prefix: fleet.VehiclePrefix, To: &Vehicles}
	ofBooking  = Related{Field: "booking_id", Prefix: fleet.BookingPrefix, To: &Bookings}
)

// AccountBooking names a booking over all accounts.
type AccountBooking struct {
	Account fleet.AccountID
	ID      uint64
}

func (b *AccountBooking) scan(row schemas.Row) error { return row.Scan((*uint64)(&b.Account), &b.ID) }

// DueBookings is what bookings may be due for.
type DueBookings string

// What bookings may be due for.
const (
	BookingsLapsed        DueBookings = "lapsed"  // pending, and the hold has run out
	BookingsNotPickedUp   DueBookings = "no_show" // confirmed, and the grace after the pickup is over
	BookingsOverdue       DueBookings = "overdue" // active after the return, and not noted yet
	BookingsDepositLapsed DueBookings = "deposit" // whose deposit is authorized no longer
)

// due says which bookings are due for what. Of those that a channel sold, and that are known by its reservation, the
// channel says whether somebody came.
var due = map[DueBookings]string{
	BookingsLapsed: "status = 'pending' AND hold_expires_at <= fromUnixTimestamp64Milli({now:Int64}, 'UTC')",
	BookingsNotPickedUp: "status = 'confirmed' AND no_show_at <= fromUnixTimestamp64Milli({now:Int64}, 'UTC') AND " +
		"NOT (channel IN ('turo', 'getaround', 'ota', 'partner') AND external_reservation_id != '')",
	BookingsOverdue: "status = 'active' AND return_at < fromUnixTimestamp64Milli({now:Int64}, 'UTC') AND " +
		"toUnixTimestamp64Milli(overdue_noted_at) = 0",
	BookingsDepositLapsed: "deposit_status = 'authorized' AND toUnixTimestamp64Milli(deposit_expires_at) != 0 AND " +
		"deposit_expires_at <= fromUnixTimestamp64Milli({now:Int64}, 'UTC')",
}

// DueBooking is a booking that is due, with its place in the order of those that are.
type DueBooking struct {
	AccountBooking
	by int64
}

// BookingsDue returns the next bookings of all accounts that are due at an instant, the longest due first: those after
// the one given, the first ones if it is nil, at most so many.
func BookingsDue(ctx context.Context, db driver.Conn, what DueBookings, now time.Time, after *DueBooking,
	most int) ([]DueBooking, error) {
	if after == nil {
		after = &DueBooking{by: math.MinInt64}
	}
	text := strings.ReplaceAll(schemas.Query("bookings_due"), "/*due*/", due[what])
	return schemas.AllRows(ctx, db, "find bookings that are "+string(what), text, []any{
		clickhouse.Named("now", now.UnixMilli()),
		clickhouse.Named("after_due", after.by), clickhouse.Named("after_account", uint64(after.Account)),
		clickhouse.Named("after_id", after.ID), clickhouse.Named("limit", uint32(most)),
	}, func(b *DueBooking, row schemas.Row) error {
		var account uint64
		if err := row.Scan(&account, &b.ID, &b.by); err != nil {
			return err
		}
		b.Account = fleet.AccountID(account)
		return nil
	})
}

// BookingsDueOn returns the bookings of an account whose pickup or return is due on a day, in the zone of the place
// where that is to be. Where the day has come, and is not over, those that ought to have come before are among them.
func BookingsDueOn(ctx context.Context, db driver.Conn, account fleet.AccountID, day, now time.Time) ([]uint64, error) {
	zones, begins, ends := []string{}, []int64{}, []int64{}
	err := schemas.EachRow(ctx, db, "read bookings_due_zones", schemas.Query("bookings_due_zones"), []any{
		clickhouse.Named("account", uint64(account)),
	}, func(row schemas.Row) error {
		var name string
		if err := row.Scan(&name); err != nil {
			return err
		}
		zone, err := ZoneNamed(name, time.UTC)
		if err != nil {
			zone = time.UTC
		}
		begin, end := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, zone),
			time.Date(day.Year(), day.Month(), day.Day()+1, 0, 0, 0, 0, zone)
		if !now.Before(begin) && now.Before(end) {
			begin = time.UnixMilli(1)
		}
		zones, begins, ends = append(zones, name), append(begins, begin.UnixMilli()), append(ends, end.UnixMilli())
		return nil
	})
	if err != nil || len(zones) == 0 {
		return []uint64{}, err
	}
	ids, err := readIDs(ctx, db, "bookings_due_on", clickhouse.Named("account", uint64(account)),
		clickhouse.Named("zones", zones), clickhouse.Named("begins", begins), clickhouse.Named("ends", ends))
	return append([]uint64{}, ids...), err
}

// BookingConflict is a booking that overlaps another booking or block of its vehicle, or is flagged to.
type BookingConflict struct {
	AccountBooking
	Vehicle  fleet.VehicleID
	Overlaps bool // whether it does, by the tables
}

// BookingConflicts is the overlap audit: it returns bookings of all accounts that overlap another booking or block of
// their vehicle and those that are flagged. Bookings that ended more than a month ago are left as they are. They come
// in the order of accounts and ids, those after the one given, at most so many.
func BookingConflicts(ctx context.Context, db driver.Conn, now time.Time, after AccountBooking,
	most int) ([]BookingConflict, error) {
	return schemas.AllRows(ctx, db, "audit overlaps", schemas.Query("booking_conflicts"), []any{
		clickhouse.Named("now", now.UnixMilli()), clickhouse.Named("after_account", uint64(after.Account)),
		clickhouse.Named("after_id", after.ID), clickhouse.Named("limit", uint32(most)),
	}, func(c *BookingConflict, row schemas.Row) error {
		var account, id, vehicle uint64
		if err := row.Scan(&account, &id, &vehicle, &c.Overlaps); err != nil {
			return err
		}
		c.AccountBooking, c.Vehicle = AccountBooking{fleet.AccountID(account), id}, fleet.VehicleID(vehicle)
		return nil
	})
}

// Rental is a time for which a booking had a vehicle.
type Rental struct {
	Number      string // of the booking
	From, Until time.Time
}

// RentalWith returns when another booking of an account had a vehicle, by what was noted at handovers, at some moment
// from an instant until another: the first one, nil if none had. Until is zero if the vehicle is out with it.
func RentalWith(ctx context.Context, db driver.Conn, account fleet.AccountID, vehicle, but uint64,
	from, until time.Time) (*Rental, error) {
	found, err := schemas.AllRows(ctx, db, "look who had a vehicle", schemas.Query("booking_rentals"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicle", vehicle),
		clickhouse.Named("but", but), clickhouse.Named("from", from.UnixMilli()),
		clickhouse.Named("until", until.UnixMilli()),
	}, func(r *Rental, row schemas.Row) error {
		var begins, ends int64
		if err := row.Scan(&r.Number, &begins, &ends); err != nil {
			return err
		}
		if r.From = time.UnixMilli(begins).UTC(); ends != 0 {
			r.Until = time.UnixMilli(ends).UTC()
		}
		return nil
	})
	if len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// ClassVehicle is a vehicle of a class.
type ClassVehicle struct {
	ID    uint64
	Place string    // the location where it is, its home unless somebody said; empty if nobody knows
	Since time.Time // what ended until then has brought it there

	Timezone, InServiceOn, DisposalOn string // as the vehicle says them; empty if it does not
}

// ClassVehicles returns the vehicles of a class that can be rented, now or after what is being done to them.
func ClassVehicles(ctx context.Context, db driver.Conn, account fleet.AccountID, class uint64) ([]ClassVehicle, error) {
	return schemas.AllRows(ctx, db, "read the vehicles of a class", schemas.Query("class_vehicles"), []any{
		clickhouse.Named("account", uint64(account)),
		clickhouse.Named("class", fleet.FormatID(fleet.ClassPrefix, class)),
	}, func(v *ClassVehicle, row schemas.Row) error {
		return row.Scan(&v.ID, &v.Place, &v.Since, &v.Timezone, &v.InServiceOn, &v.DisposalOn)
	})
}

// CompletedBookings returns those of some bookings of an account that are completed.
func CompletedBookings(ctx context.Context, db driver.Conn, account fleet.AccountID, ids []uint64) ([]uint64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return readIDs(ctx, db, "bookings_completed", clickhouse.Named("account", uint64(account)),
		clickhouse.Named("ids", ids))
}

// BookingsComing returns the bookings of an account that are not over and are of some customers, as who rents or
// drives, or are marked for one that is on the do-not-rent list.
func BookingsComing(ctx context.Context, db driver.Conn, account fleet.AccountID, customers []uint64,
	listed uint64) ([]uint64, error) {
	names := make([]string, len(customers))
	for i, id := range customers {
		names[i] = fleet.FormatID(fleet.CustomerPrefix, id)
	}
	return readIDs(ctx, db, "bookings_coming", clickhouse.Named("account", uint64(account)),
		clickhouse.Named("customers", names),
		clickhouse.Named("listed", fleet.FormatID(fleet.CustomerPrefix, listed)))
}

// BookingsChecked returns bookings of all accounts that are not over and of which somebody is, or may be, on the
// do-not-rent list, in the order of accounts and ids: those after the one given, at most so many.
func BookingsChecked(ctx context.Context, db driver.Conn, after AccountBooking, most int) ([]AccountBooking, error) {
	return schemas.AllRows(ctx, db, "find bookings of the do-not-rent list", schemas.Query("bookings_checked"), []any{
		clickhouse.Named("after_account", uint64(after.Account)), clickhouse.Named("after_id", after.ID),
		clickhouse.Named("limit", uint32(most)),
	}, (*AccountBooking).scan)
}

// OpenTolls returns the tolls and fines that were matched to some bookings and are not billed yet, by the booking.
func OpenTolls(ctx context.Context, db driver.Conn, account fleet.AccountID,
	bookings []uint64) (map[uint64][]uint64, error) {
	names := make([]string, len(bookings))
	for i, id := range bookings {
		names[i] = fleet.FormatID(fleet.BookingPrefix, id)
	}
	open := map[uint64][]uint64{}
	err := schemas.EachRow(ctx, db, "read open tolls", schemas.Query("bookings_open_tolls"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("bookings", names),
	}, func(row schemas.Row) error {
		var booking uint64
		var tolls []uint64
		err := row.Scan(&booking, &tolls)
		open[booking] = tolls
		return err
	})
	return open, err
}
