package query_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// What people know a record by finds it, however they write it: a booking by its customer, plate and number, a customer
// by the address or telephone in any form, what is late by a time before which nothing else is.
func TestRecordsAreFoundByWhatPeopleKnowThemBy(t *testing.T) {
	db := schematest.Open(t)
	at := func(hours int) string { return day.Add(time.Duration(hours) * time.Hour).Format(time.RFC3339) }
	put := func(kind string, id uint64, body map[string]any) { logRecord(t, db, kind, 7, id, 1, day, false, body) }
	put("customer", 1, map[string]any{"display_name": "Ada O'Neil", "email": "Ada@Example.com", "phone": "+15125550100",
		"licence": map[string]any{"expires_on": "2026-02-01"}})
	put("customer", 2, map[string]any{"display_name": "Bob Ünal", "email": "bob@example.com"})
	logRecord(t, db, "customer", 8, 3, 1, day, false, map[string]any{"display_name": "Ada O'Neil"})
	put("vehicle", 1,
		map[string]any{"make": "Kia", "model": "Niro", "license_plate": "ABC-123", "vin": "5YJ3E1EA7KF317000"})
	put("vehicle", 2, map[string]any{"make": "Kia", "model": "Rio", "license_plate": "XYZ 9"})
	put("vehicle", 3, map[string]any{"make": "Kia", "model": "Rio"})
	booking := func(id, customer, vehicle uint64, status string, more map[string]any) {
		body := map[string]any{"status": status, "customer_id": fmt.Sprintf("cus_%d", customer),
			"vehicle_id": fmt.Sprintf("veh_%d", vehicle), "channel": "direct",
			"currency": "USD", "pickup_at": at(0), "return_at": at(24),
			"charges": []any{map[string]any{"type": "time", "amount": map[string]any{"amount": 10000}}}}
		for name, value := range more {
			body[name] = value
		}
		put("booking", id, body)
	}
	booking(1, 1, 1, "confirmed", map[string]any{"external_reservation_id": "HM-77"})
	booking(2, 2, 1, "active", nil)
	booking(3, 1, 2, "completed",
		map[string]any{"actual_return_at": at(30), "deposit": map[string]any{"applied": map[string]any{"amount": 4000}}})
	booking(4, 2, 2, "completed", map[string]any{"channel": "turo", "actual_return_at": at(40),
		"charges": []any{map[string]any{"type": "time", "amount": map[string]any{"amount": 10000}},
			map[string]any{"type": "platform_fee", "amount": map[string]any{"amount": -2500}}}})
	logRecord(t, db, "booking", 8, 5, 1, day, false, map[string]any{"customer_id": "cus_1", "vehicle_id": "veh_1"})
	paid := func(id, booking uint64, status, direction string, amount, refunded int) {
		put("payment", id, map[string]any{"booking_id": fmt.Sprintf("bkg_%d", booking), "status": status,
			"direction": direction, "provider": "Stripe",
			"amount":  map[string]any{"amount": amount, "currency": "USD"},
			"refunds": []any{map[string]any{"amount": map[string]any{"amount": refunded}}}})
	}
	paid(1, 1, "succeeded", "in", 10000, 0)
	paid(2, 2, "failed", "in", 10000, 0)
	paid(3, 3, "succeeded", "in", 5000, 0)
	paid(4, 4, "succeeded", "in", 9000, 0)
	paid(5, 4, "refunded", "in", 300, 300)

	if err := schemas.Fill(t.Context(), db, "customer", "vehicle", "booking", "payment"); err != nil {
		t.Fatal(err)
	}

	all := []string{"customers", "vehicles", "bookings"}
	is := func(field, op string, values ...string) query.ListRequest {
		return query.ListRequest{Filters: []query.Filter{{Field: field, Op: op, Values: values}}}
	}
	for _, c := range []struct {
		name string
		of   *query.Listing
		req  query.ListRequest
		want string
	}{
		{"bookings of a name", &query.Bookings, query.ListRequest{Search: "o'neil ADA", Related: all}, "1 3"},
		{"of a name, by who may not know it", &query.Bookings,
			query.ListRequest{Search: "ada", Related: []string{"vehicles"}}, ""},
		{"of a name and a plate", &query.Bookings, query.ListRequest{Search: "ünal abc123", Related: all}, "2"},
		{"of a plate as it is", &query.Bookings, query.ListRequest{Search: "ABC-123", Related: all}, "1 2"},
		{"of a plate with a blank", &query.Bookings, query.ListRequest{Search: "abc 123", Related: all}, "1 2"},
		{"of a telephone", &query.Bookings, query.ListRequest{Search: "(512) 555-0100", Related: all}, "1 3"},
		{"of a reservation", &query.Bookings, query.ListRequest{Search: "hm-77", Related: all}, "1"},
		{"of nobody", &query.Bookings, query.ListRequest{Search: "Carol", Related: all}, ""},
		{"payments of a name", &query.Payments, query.ListRequest{Search: "hm-77 stripe", Related: all}, "1"},
		{"an address", &query.Customers, is("email", "eq", "ADA@example.COM "), "1"},
		{"a telephone", &query.Customers, is("phone", "eq", "1 (512) 555-0100"), "1"},
		{"no letter nor digit", &query.Customers, is("phone", "eq", "-"), ""},
		{"a plate", &query.Vehicles, is("license_plate", "eq", "abc 123", "xyz-9"), "1 2"},
		{"a VIN", &query.Vehicles, is("vin", "eq", "5yj3e1ea7kf317000"), "1"},
		{"a make", &query.Vehicles, is("make", "eq", "KIA"), "1 2 3"},
		{"back before", &query.Bookings, is("actual_return_at", "lt", at(36)), "3"},
		{"licences that expire", &query.Customers, is("licence_expires_on", "lt", "2026-03-01"), "1"},
		{"unpaid", &query.Bookings, is("payment_status", "eq", "unpaid"), "2"},
		{"paid", &query.Bookings, is("payment_status", "eq", "paid"), "1"},
		{"paid in part, and too much", &query.Bookings, is("payment_status", "eq", "partially_paid", "overpaid"), "3 4"},
		{"something due", &query.Bookings, is("balance_due", "gt", "0"), "2 3"},
		{"so much due", &query.Bookings, is("balance_due", "eq", "1000"), "3"},
		{"too much paid", &query.Bookings, is("balance_due", "lt", "0"), "4"},
		{"by what is due", &query.Bookings,
			query.ListRequest{Sort: []query.SortKey{{Field: "balance_due", Desc: true}}}, "2 3 1 4"},
		{"behind one of them", &query.Bookings,
			query.ListRequest{Sort: []query.SortKey{{Field: "balance_due", Desc: true}}, After: []string{"1000", "3"}}, "1 4"},
		{"to be picked up", &query.Bookings, is("due_for", "eq", "pickup"), "1"},
		{"due before", &query.Bookings, is("due_at", "lte", at(24)), "1 2"},
	} {
		c.req.Account, c.req.Limit = 7, 10
		page, err := query.List(t.Context(), db, c.of, c.req)
		if err != nil || ids(page) != c.want {
			t.Errorf("%s: %q, want %q, %v", c.name, ids(page), c.want, err)
		}
	}
}

// What is due on a day is so by the clocks of the place where it is due; what is late is due today.
func TestWhatIsDueOnADayGoesByTheClockOfItsPlace(t *testing.T) {
	db := schematest.Open(t)
	for id, zone := range map[uint64]string{1: "Asia/Tokyo", 2: "America/Denver"} {
		logRecord(t, db, "location", 7, id, 1, day, false, map[string]any{"name": zone, "timezone": zone})
	}
	booking := func(id uint64, status, from, until string, more map[string]any) {
		body := map[string]any{"status": status, "pickup_at": from, "return_at": until, "timezone": "UTC"}
		for name, value := range more {
			body[name] = value
		}
		logRecord(t, db, "booking", 7, id, 1, day, false, body)
	}
	tokyo, denver := map[string]any{"pickup_location_id": "loc_1"}, map[string]any{"pickup_location_id": "loc_2"}
	oneWay := map[string]any{"pickup_location_id": "loc_1", "return_location_id": "loc_2"}
	booking(1, "confirmed", "2026-11-22T15:30:00Z", "2026-11-25T00:00:00Z", tokyo)  // 00:30 on the 23rd
	booking(2, "confirmed", "2026-11-23T15:30:00Z", "2026-11-25T00:00:00Z", tokyo)  // 00:30 on the 24th
	booking(3, "pending", "2026-11-24T05:00:00Z", "2026-11-25T00:00:00Z", denver)   // 22:00 on the 23rd
	booking(4, "active", "2026-11-20T00:00:00Z", "2026-11-24T01:00:00Z", oneWay)    // back in Denver at 18:00 on the 23rd
	booking(5, "active", "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z", nil)       // late
	booking(6, "confirmed", "2026-11-23T23:59:00Z", "2026-11-25T00:00:00Z", nil)    // nowhere
	booking(7, "completed", "2026-11-23T12:00:00Z", "2026-11-23T18:00:00Z", denver) // over
	logRecord(t, db, "booking", 8, 8, 1, day, false,
		map[string]any{"status": "confirmed", "pickup_at": "2026-11-23T12:00:00Z", "timezone": "UTC"})
	if err := schemas.Fill(t.Context(), db, "location", "booking"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ on, now, want string }{
		{"2026-11-23", "2026-11-23T12:00:00Z", "[1 3 4 5 6]"},
		{"2026-11-23", "2026-11-22T12:00:00Z", "[1 3 4 6]"}, // tomorrow: who is late today is not due again
		{"2026-11-24", "2026-11-23T12:00:00Z", "[2]"},
		{"2026-11-24", "2026-11-23T18:00:00Z", "[1 2]"}, // it is the 24th in Tokyo already
		{"2026-11-21", "2026-11-23T12:00:00Z", "[5]"},
		{"0001-01-01", "2026-11-23T12:00:00Z", "[]"},
	} {
		on, _ := time.Parse(time.DateOnly, c.on)
		now, _ := time.Parse(time.RFC3339, c.now)
		found, err := query.BookingsDueOn(t.Context(), db, 7, on, now)
		if err != nil || fmt.Sprint(found) != c.want {
			t.Errorf("on %s, asked at %s: %v, want %s, %v", c.on, c.now, found, c.want, err)
		}
	}
}
