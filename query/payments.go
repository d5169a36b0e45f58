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

// PaidOf returns what was paid for bookings; those for which nothing was are left out. Pending and failed payments do not count.
func PaidOf(ctx context.Context, db driver.Conn, account fleet.AccountID, bookings []uint64) (map[uint64]Paid, error) {
	paid := make(map[uint64]Paid, len(bookings))
	if len(bookings) == 0 {
		return paid, nil
	}
	ids := make([]string, len(bookings))
	for i, id := range bookings {
		ids[i] = fleet.FormatID(fleet.BookingPrefix, id)
	}
	rows, err := db.Query(ctx, schemas.Query("payments_paid"), clickhouse.Named("account", uint64(account)), clickhouse.Named("bookings", ids))
	if err != nil {
		return nil, fmt.Errorf("read what was paid: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		var p Paid
		if err := rows.Scan(&text, &p.Currency, &p.Received, &p.Refunded); err != nil {
			return nil, fmt.Errorf("read what was paid: %w", err)
		}
		id, err := fleet.ParseID(fleet.BookingPrefix, text)
		if err != nil {
			return nil, fmt.Errorf("read what was paid: %w", err)
		}
		paid[id] = p
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read what was paid: %w", err)
	}
	return paid, nil
}

// PaymentsOf returns the ids of a booking's payments, in no order, none as an empty list.
func PaymentsOf(ctx context.Context, db driver.Conn, account fleet.AccountID, booking uint64) ([]uint64, error) {
	rows, err := db.Query(ctx, schemas.Query("payments_of"), clickhouse.Named("account", uint64(account)),
		clickhouse.Named("booking", fleet.FormatID(fleet.BookingPrefix, booking)))
	if err != nil {
		return nil, fmt.Errorf("read the payments of booking %d: %w", booking, err)
	}
	defer rows.Close()
	ids := []uint64{}
	for rows.Next() {
		var id uint64
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("read the payments of booking %d: %w", booking, err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the payments of booking %d: %w", booking, err)
	}
	return ids, nil
}
