package query

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Payments is how payments are listed.
var Payments = Listing{Table: "payments", Fields: []ListField{
	{Name: "number", Column: byNumber, Type: CodeField, Few: true, Sort: true},
	{Name: "status", Type: TextField},
	{Name: "direction", Type: TextField},
	{Name: "method", Type: TextField, Sort: true},
	{Name: "provider", Type: WordsField},
	{Name: "provider_ref", Type: TextField},
	{Name: "booking_id", Type: TextField, Few: true},
	{Name: "customer_id", Type: TextField, Few: true},
	{Name: "vehicle_id", Type: TextField, Few: true},
	{Name: "currency", Type: WordsField},
	{Name: "received_at", Type: TimeField, Range: true, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"number", "provider", "provider_ref"}, Related: []Related{ofBooking, ofCustomer, ofVehicle}}

// Expenses is how expenses are listed.
var Expenses = Listing{Table: "expenses", Fields: []ListField{
	{Name: "status", Type: TextField, Sort: true},
	{Name: "category", Type: WordsField, Sort: true},
	{Name: "vehicle_id", Type: TextField, Few: true},
	{Name: "booking_id", Type: TextField, Few: true},
	{Name: "owner_customer_id", Type: TextField},
	{Name: "recurring_cost_id", Column: "scheduled_by", Type: TextField},
	{Name: "schedule", Type: WordsField, Sort: true},
	{Name: "vendor", Type: WordsField, Sort: true},
	{Name: "currency", Type: WordsField},
	{Name: "incurred_on", Type: TextField, Range: true, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"vendor", "description", "category"}, Related: []Related{ofVehicle, ofBooking}}

// Paid is what moved for a booking, in minor units of the currency: Received came in, Refunded went back of it.
type Paid struct {
	Received int64
	Refunded int64
	Currency string // "" if nothing ever moved
}

// PaidOf returns what was paid for bookings; those for which nothing was are left out. Pending and failed
// payments do not count.
func PaidOf(ctx context.Context, db driver.Conn, account fleet.AccountID, bookings []uint64) (map[uint64]Paid, error) {
	paid := make(map[uint64]Paid, len(bookings))
	if len(bookings) == 0 {
		return paid, nil
	}
	ids := make([]string, len(bookings))
	for i, id := range bookings {
		ids[i] = fleet.FormatID(fleet.BookingPrefix, id)
	}
	err := schemas.EachRow(ctx, db, "read what was paid", schemas.Query("payments_paid"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("bookings", ids),
	}, func(row schemas.Row) error {
		var text string
		var p Paid
		if err := row.Scan(&text, &p.Currency, &p.Received, &p.Refunded); err != nil {
			return err
		}
		id, err := fleet.ParseID(fleet.BookingPrefix, text)
		if err != nil {
			return err
		}
		paid[id] = p
		return nil
	})
	return paid, err
}

// PaymentsOf returns the ids of a booking's payments, in no order, none as an empty list.
func PaymentsOf(ctx context.Context, db driver.Conn, account fleet.AccountID, booking uint64) ([]uint64, error) {
	return PaymentsBy(ctx, db, account, fleet.FormatID(fleet.BookingPrefix, booking), "")
}

// PaymentsBy returns the ids of the payments of a booking or, if that is "", of a customer, in no order.
func PaymentsBy(ctx context.Context, db driver.Conn, account fleet.AccountID,
	booking, customer string) ([]uint64, error) {
	ids := []uint64{}
	args := []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("booking", booking),
		clickhouse.Named("customer", customer),
	}
	err := schemas.EachRow(ctx, db, fmt.Sprintf("read the payments of %s%s", booking, customer),
		schemas.Query("payments_by"), args,
		func(row schemas.Row) error {
			var id uint64
			if err := row.Scan(&id); err != nil {
				return err
			}
			ids = append(ids, id)
			return nil
		})
	return ids, err
}

// WriteOff is what was given up of what a booking owes.
type WriteOff struct {
	Sum      int64    // minor units
	Expenses []uint64 // by which it was
}

// WrittenOff returns what was given up of what bookings owe; those of which nothing was are left out.
func WrittenOff(ctx context.Context, db driver.Conn, account fleet.AccountID,
	bookings []uint64) (map[uint64]WriteOff, error) {
	lost := map[uint64]WriteOff{}
	names := make([]string, len(bookings))
	for i, id := range bookings {
		names[i] = fleet.FormatID(fleet.BookingPrefix, id)
	}
	err := schemas.EachRow(ctx, db, "read what was written off", schemas.Query("bookings_written_off"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("bookings", names),
	}, func(row schemas.Row) error {
		var name string
		var w WriteOff
		if err := row.Scan(&name, &w.Sum, &w.Expenses); err != nil {
			return err
		}
		if id, err := fleet.ParseID(fleet.BookingPrefix, name); err == nil {
			lost[id] = w
		}
		return nil
	})
	return lost, err
}
