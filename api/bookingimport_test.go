package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/record"
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
	file := head +
		"1,Ada Smith,,5YJ3E1EA7KF317000,2026-01-05 10:00 AM,2026-01-07 10:00 AM,Completed,100,300,$200.00,$10.00,$150.00\n" +
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
	for member, want := range map[string]any{"status": "completed", "channel": "turo", "external_reservation_id": "1",
		"vehicle_id": car, "miles_driven": 200.0, "conflict": false} {
		wantEqual(t, member, past[member], want)
	}
	wantEqual(t, "by the clocks of the account", past["pickup_at"], "2026-01-05T16:00:00.000Z")
	wantEqual(t, "total", minor(past["total"]), 21000.0)
	wantEqual(t, "kept by the channel", minor(past["platform_fee"]), 5000.0)
	w.do("POST", "/v1/bookings/"+fmt.Sprint(rows[0]["id"])+"/payments",
		`{"method":"platform","amount":{"amount":16000,"currency":"USD"}}`).ok(201)
	paid := w.do("GET", "/v1/bookings/"+fmt.Sprint(rows[0]["id"]), "").ok(200).object()
	wantEqual(t, "what the channel passed on is all that is owed",
		fmt.Sprint(paid["payment_status"], " ", minor(paid["balance_due"])), "paid 0")
	guest := w.do("GET", "/v1/customers/"+fmt.Sprint(paid["customer_id"])+"?expand=stats",
		"").ok(200).object()["stats"].(map[string]any)
	wantEqual(t, "by the guest", minor(guest["balance_due"].([]any)[0]), 0.0)
	wantEqual(t, "guest", past["customer"].(map[string]any)["first_name"], "Ada")
	wantEqual(t, "vehicle", past["vehicle"].(map[string]any)["nickname"], "Zippy")
	wantEqual(t, "a conflict", rows[1]["conflict"], true)
	doDuty(t, w, "bookings: overlaps")
	wantEqual(t, "the other one", w.do("GET", own, "").ok(200).object()["conflict"], true)

	wantEqual(t, "again", sums(send(file)), "0 0 2 2 1")
	changed := strings.Replace(strings.Replace(file, "$200.00", "$220.00", 1), "Bob,Zippy,,"+from+","+until+",Upcoming",
		"Bob,Zippy,,"+from+","+until+",Guest cancellation", 1)
	wantEqual(t, "changed", sums(send(changed)), "0 2 0 2 0")
	past = w.do("GET", "/v1/bookings/"+fmt.Sprint(rows[0]["id"]), "").ok(200).object()
	wantEqual(t, "new total", minor(past["total"]), 23000.0)
	wantEqual(t, "cancelled",
		w.do("GET", "/v1/bookings/"+fmt.Sprint(rows[1]["id"]), "").ok(200).object()["status"], "cancelled")
	doDuty(t, w, "bookings: overlaps")
	wantEqual(t, "no conflict any more", w.do("GET", own, "").ok(200).object()["conflict"], false)
	wantEqual(t, "guests", w.do("GET", "/v1/customers?q=Ada", "").ok(200).pagination().Total, 2) // one is the lot's own

	send("a,b\n1,2\n").problem(422, "validation_failed")
	w.do("POST", "/v1/bookings/import", file, "Content-Type", "text/csv").problem(400, "invalid_request")
}

// What was noted here of a rental that a channel sold stays, whatever the channel's file says of it; what only the file
// says is brought up to date by the next one.
func TestAnImportKeepsAHandoverMadeHere(t *testing.T) {
	w := newLot(t)
	w.car = w.vehicle(`{"make":"Tesla","model":"Model 3","vin":"5YJ3E1EA7KF317000","buffer_after_minutes":60}`)
	at := func(hours float64) string { return strings.Replace(strings.TrimSuffix(w.in(hours), "Z"), "T", " ", 1) }
	zone := `{"timezone":"UTC"}`
	w.do("PATCH", "/v1/account", zone).ok(200)
	from, until := at(1), at(25)
	trip := func(status, start, end, miles, price string) map[string]any {
		t.Helper()
		row := w.do("POST", "/v1/bookings/import?format=turo",
			"Reservation ID,Guest,Vehicle,VIN,Trip start,Trip end,Trip status,Check-in odometer,Check-out odometer,Trip price\n"+
				"1,Ada,,5YJ3E1EA7KF317000,"+start+","+end+","+status+","+miles+",$"+price+"\n", "Content-Type",
			"text/csv").ok(200).data()[0]
		return w.do("GET", "/v1/bookings/"+fmt.Sprint(row["id"]), "").ok(200).object()
	}
	path := "/v1/bookings/" + fmt.Sprint(trip("Upcoming", from, until, ",", "100")["id"])
	w.pass(30 * time.Minute)
	taken := w.do("POST", path+"/pickup", `{"mileage_mi":1000}`).ok(200).object()
	again := trip("In progress", from, until, "1,", "110")
	for _, member := range []string{"status", "actual_pickup_at", "pickup_mileage_mi", "blocked_from", "blocked_until"} {
		wantEqual(t, "while it is out: "+member, again[member], taken[member])
	}
	wantEqual(t, "the price follows all the same", minor(again["total"]), 11000.0)
	w.pass(20 * time.Hour)
	back := w.do("POST", path+"/return", `{"mileage_mi":1200}`).ok(200).object()
	again = trip("Completed", from, until, "1,2", "120")
	for _, member := range []string{"status", "actual_pickup_at", "actual_return_at", "pickup_mileage_mi",
		"return_mileage_mi", "blocked_from", "blocked_until"} {
		wantEqual(t, "when it is back: "+member, again[member], back[member])
	}

	// Reopened and returned by the file alone: the next file may correct it.
	w.do("POST", path+"/reopen", "").ok(200)
	wantEqual(t, "as the file says", trip("Completed", from, until, "1,1300", "120")["return_mileage_mi"], 1300.0)
	again = trip("Completed", from, until, "1,1400", "120")
	wantEqual(t, "as the next one says", again["return_mileage_mi"], 1400.0)
	wantEqual(t, "the pickup was here", again["pickup_mileage_mi"], 1000.0)
	wantEqual(t, "the return is the file's", again["actual_return_at"], again["return_at"])
}

// Of a trip the channel says whether somebody came: no timer does. One that an earlier version made a no-show goes on
// as the channel says.
func TestNoTimerEndsWhatAChannelHasSold(t *testing.T) {
	w := newLot(t)
	w.car = w.vehicle(`{"make":"Tesla","model":"Model 3","vin":"5YJ3E1EA7KF317000"}`)
	w.do("PATCH", "/v1/account", `{"timezone":"UTC"}`).ok(200)
	at := func(hours float64) string { return strings.Replace(strings.TrimSuffix(w.in(hours), "Z"), "T", " ", 1) }
	from, until := at(1), at(100)
	trip := func(status string) map[string]any {
		t.Helper()
		row := w.do("POST", "/v1/bookings/import?format=turo",
			"Reservation ID,Guest,Vehicle,VIN,Trip start,Trip end,Trip status,Trip price\n"+
				"1,Ada,,5YJ3E1EA7KF317000,"+from+","+until+","+status+",$100\n", "Content-Type", "text/csv").ok(200).data()[0]
		return w.do("GET", "/v1/bookings/"+fmt.Sprint(row["id"]), "").ok(200).object()
	}
	sold := trip("Upcoming")
	w.car = w.newCar()
	own := w.book(1, 100, `,"confirm":true`)
	w.pass(30 * time.Hour)
	doDuty(t, w, "bookings: nobody came")
	path := "/v1/bookings/" + fmt.Sprint(sold["id"])
	wantEqual(t, "our own", w.do("GET", own, "").ok(200).member("status"), "no_show")
	wantEqual(t, "the channel's", w.do("GET", path, "").ok(200).member("status"), "confirmed")

	id, err := fleet.ParseID(fleet.BookingPrefix, fmt.Sprint(sold["id"]))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.api.desk.NoShow(t.Context(),
		desk.Order{By: record.Author{Actor: "system"}, Account: w.account, Booking: id}, false); err != nil {
		t.Fatal(err)
	}
	still := trip("Upcoming")
	wantEqual(t, "not taken back", still["status"], "no_show")
	wantEqual(t, "nothing is owed", minor(still["total"]), 0.0)
	out := trip("In progress")
	wantEqual(t, "it goes on", out["status"], "active")
	wantEqual(t, "owed again", minor(out["total"]), 10000.0)
	wantEqual(t, "it was not cancelled", out["cancellation"], nil)
	wantEqual(t, "and comes to its end", trip("Completed")["status"], "completed")

	// A person's word stands.
	other := w.do("POST", "/v1/bookings/import?format=turo", "Reservation ID,Guest,Vehicle,VIN,Trip start,Trip end,Trip status\n"+
		"2,Ada,,5YJ3E1EA7KF317000,"+at(200)+","+at(210)+",Upcoming\n", "Content-Type",
		"text/csv").ok(200).data()[0]["id"].(string)
	w.pass(201 * time.Hour)
	w.do("POST", "/v1/bookings/"+other+"/no_show", "").ok(200)
	w.do("POST", "/v1/bookings/import?format=turo", "Reservation ID,Guest,Vehicle,VIN,Trip start,Trip end,Trip status\n"+
		"2,Ada,,5YJ3E1EA7KF317000,"+at(-1)+","+at(9)+",In progress\n", "Content-Type", "text/csv").ok(200)
	wantEqual(t, "by hand", w.do("GET", "/v1/bookings/"+other, "").ok(200).member("status"), "no_show")
}

// A trip is of the vehicle whose VIN or plate it says, however that is written; one of another plate is not meant,
// whatever its name is.
func TestATripIsOfTheVehicleThatItsPlateSays(t *testing.T) {
	w := newLot(t)
	first := w.vehicle(`{"make":"Renault","model":"Twizy","nickname":"Ana's Renault","license_plate":"DEMO 085"}`)
	second := w.vehicle(`{"make":"Renault","model":"Twizy","license_plate":"DEMO 086"}`)
	w.vehicle(`{"make":"Kia","model":"Niro","license_plate":"K 1"}`)
	w.vehicle(`{"make":"Kia","model":"Niro","license_plate":"K 2"}`)
	file := "Reservation ID,Guest,Vehicle,License plate,Vehicle name,Trip start,Trip end,Trip status\n"
	for i, vehicle := range []string{"Ana's Renault (MA #DEMO 086),,", "(TX #demo-086),,", "Any,DEMO086,",
		"Ana's Renault (TX #DEMO 099),,Ana's Renault", "Kia Niro,,", "Ana's Renault,,"} {
		file += fmt.Sprintf("%d,Ada,%s,2027-01-%02d 10:00 AM,2027-01-%02d 09:00 PM,Upcoming\n", i, vehicle, i+1, i+1)
	}
	rows := w.do("POST", "/v1/bookings/import?format=turo", file, "Content-Type", "text/csv").ok(200).data()
	for i, want := range []string{second, second, second, "", "", first} {
		if want == "" {
			wantEqual(t, fmt.Sprint("row ", i), rows[i]["status"], "rejected")
			continue
		}
		got := w.do("GET", fmt.Sprintf("/v1/bookings/%v", rows[i]["id"]), "").ok(200).object()["vehicle_id"]
		wantEqual(t, fmt.Sprint("vehicle of row ", i), got, want)
	}
	for i, want := range map[int]string{3: `plate "DEMO 099"`, 4: `2 vehicles have the make and model`} {
		if said := fmt.Sprint(rows[i]); !strings.Contains(said, want) {
			t.Errorf("row %d says %s; want %s", i, said, want)
		}
	}
}
