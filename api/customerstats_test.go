package api

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
)

// counted counts how often a query is asked.
type counted struct {
	driver.Conn
	text string
	n    atomic.Int64
}

func (a *counted) Query(ctx context.Context, text string, args ...any) (driver.Rows, error) {
	if text == a.text {
		a.n.Add(1)
	}
	return a.Conn.Query(ctx, text, args...)
}

// What customers have booked is asked once for a page of them, and counts for each into whom somebody was merged.
func TestAPageOfCustomersWithWhatTheyBooked(t *testing.T) {
	w := newLot(t)
	var all []string
	for i := range 5 {
		w.customer = w.world.customer(fmt.Sprintf(`{"first_name":"C%d"}`, i))
		all = append(all, w.customer)
		if i < 4 {
			w.car = w.newCar()
			w.do("POST", "/v1/bookings", w.booking(float64(24+i), 48, `,"confirm":true`)).ok(201)
		}
	}
	for i := range 2 { // the first into the second, and that into the third
		w.do("POST", "/v1/customers/"+all[i]+"/merge", `{"into":"`+all[i+1]+`"}`).ok(200)
	}
	counting := &counted{Conn: w.api.DB, text: schemas.Query("customer_stats")}
	w.api.DB = counting
	rows := w.do("GET", "/v1/customers?expand=stats&archived=all&sort=created_at&q=C", "").data()
	wantEqual(t, "asked", counting.n.Load(), int64(1))
	var booked, due []string
	for _, row := range rows {
		stats := row["stats"].(map[string]any)
		booked = append(booked, fmt.Sprint(row["first_name"], stats["bookings_count"]))
		for _, m := range stats["balance_due"].([]any) {
			due = append(due, fmt.Sprint(minor(m)/minor(w.do("GET", "/v1/bookings?customer_id="+all[3], "").data()[0]["total"])))
		}
		if row["id"] == all[2] {
			first := w.do("GET", "/v1/bookings?customer_id="+all[0], "").data()[0]
			wantEqual(t, "the first of all", stats["first_booking_at"], first["pickup_at"])
			one := w.do("GET", "/v1/customers/"+all[2]+"?expand=stats", "").ok(200).member("stats")
			wantEqual(t, "alone", one, row["stats"])
		}
	}
	wantEqual(t, "bookings", strings.Join(booked, " "), "Ada0 C01 C12 C23 C31 C40")
	wantEqual(t, "due, in bookings", strings.Join(due, " "), "1 2 3 1")
}
