//go:build rental

package api

import (
	"fmt"
	"strings"
	"testing"
)

func TestTripsOfAChannelAreImportedAndBroughtUpToDate(t *testing.T) {
	w := newLot(t)
	car := w.vehicle(`{"make":"Tesla","model":"Model 3","year":2024,"vin":"5YJ3E1EA7KF317000","nickname":"Zippy"}`)
	// A booking of our own is in the way of the second trip.
	w.car = car
	own := w.book(0, 200, `,"confirm":true`)
	day := func(hours float64) string { return strings.Replace(strings.TrimSuffix(w.in(hours), "Z"), "T", " ", 1) }
	from, until := day(50), day(70)
	head := "Reservation ID,Guest,Vehicle,VIN,Trip start,Trip end,Trip status,Check-in odometer,Check-out odometer,Trip price,Sales tax,Total earnings\n"
	file := head + "1,Ada Smith,,5YJ3E1EA7KF317000,2026-01-05 10:00 AM,2026-01-07 10:00 AM,Completed,100,300,$200.00,$10.00,$150.00\n" +
		"2,Bob,Zippy,," + from + "," + until + ",Upcoming,,,$100.00,,\n" +
		"3,Ada Smith,Nobody's,," + from + "," + until + ",Upcoming,,,,,\n" +
		"4,,Zippy,,never,,,,,,,\n"
	send := func(file string) *reply {
		t.Helper()
		return w.do("POST", "/v1/bookings/import?format=turo", file, "Content-Type", "text/csv")
	}
	sums := func(r *reply) string {
		t.Helper()
		v := r.ok(200).object()
		return fmt.Sprint(v["created"], v["updated"], v["unchanged"], v["rejected"], v["conflicts"])
	}
	first := send(file)
	wantEqual(t, "first", sums(first), "2 0 0 2 1")
	rows := first.data()
	past := w.do("GET", "/v1/bookings/"+fmt.Sprint(rows[0]["id"])+"?expand=customer,vehicle", "").ok(200).object()
	for member, want := range map[string]any{"status": "completed", "channel": "turo", "external_reservation_id": "1", "vehicle_id": car, "miles_driven": 200.0, "conflict": false} {
		wantEqual(t, member, past[member], want)
	}
	wantEqual(t, "by the clocks of the account", past["pickup_at"], "2026-01-05T16:00:00.000Z")
	wantEqual(t, "total", minor(past["total"]), 21000.0)
	wantEqual(t, "kept by the channel", minor(past["platform_fee"]), 5000.0)
	wantEqual(t, "guest", past["customer"].(map[string]any)["first_name"], "Ada")
	wantEqual(t, "vehicle", past["vehicle"].(map[string]any)["nickname"], "Zippy")
	wantEqual(t, "a conflict", rows[1]["conflict"], true)
	doDuty(t, w, "bookings: overlaps")
	wantEqual(t, "the other one", w.do("GET", own, "").ok(200).object()["conflict"], true)

	wantEqual(t, "again", sums(send(file)), "0 0 2 2 1")
	changed := strings.Replace(strings.Replace(file, "$200.00", "$220.00", 1), "Bob,Zippy,,"+from+","+until+",Upcoming", "Bob,Zippy,,"+from+","+until+",Guest cancellation", 1)
	wantEqual(t, "changed", sums(send(changed)), "0 2 0 2 0")
	past = w.do("GET", "/v1/bookings/"+fmt.Sprint(rows[0]["id"]), "").ok(200).object()
	wantEqual(t, "new total", minor(past["total"]), 23000.0)
	wantEqual(t, "cancelled", w.do("GET", "/v1/bookings/"+fmt.Sprint(rows[1]["id"]), "").ok(200).object()["status"], "cancelled")
	doDuty(t, w, "bookings: overlaps")
	wantEqual(t, "no conflict any more", w.do("GET", own, "").ok(200).object()["conflict"], false)
	wantEqual(t, "guests", w.do("GET", "/v1/customers?q=Ada", "").ok(200).pagination().Total, 2) // one is the lot's own

	send("a,b\n1,2\n").problem(422, "validation_failed")
	w.do("POST", "/v1/bookings/import", file, "Content-Type", "text/csv").problem(400, "invalid_request")
}
