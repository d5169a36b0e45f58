package api

import (
	"encoding/csv"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// counter is a desk in the morning, in Chicago: one car is out and was to be back yesterday, one is fetched this
// evening, one later.
type counter struct {
	*lotWorld
	zone               *time.Location
	morning            time.Time // two days after the first booking
	late, today, later string    // the bookings
}

func newCounter(t *testing.T) *counter {
	t.Helper()
	w := &counter{lotWorld: newLot(t)}
	var err error
	if w.zone, err = time.LoadLocation("America/Chicago"); err != nil {
		t.Fatal(err)
	}
	w.morning = w.api.Now().UTC().Truncate(24 * time.Hour).Add(38 * time.Hour) // 8 or 9 o'clock there
	w.pass(w.morning.Sub(w.api.Now()))
	book := func(name, plate string, from, until time.Duration, more string) string {
		car := made(w.lotWorld, w.api.desk.Vehicles,
			record.Vehicle{VehicleFields: record.VehicleFields{Make: "Kia", Model: "Niro", Year: 2024, LicensePlate: plate,
				ClassID: w.class, HomeLocationID: w.place}, Status: record.VehicleAvailable})
		customer := w.do("POST", "/v1/customers", fmt.Sprintf(
			`{"first_name":%q,"last_name":"Smith","email":"%s@Example.com"}`, name, strings.Trim(name, "="))).ok(201).id()
		return w.do("POST", "/v1/bookings",
			fmt.Sprintf(`{"vehicle_id":%q,"customer_id":%q,"pickup_at":%q,"return_at":%q,"confirm":true%s}`, car, customer,
				w.morning.Add(from).Format(time.RFC3339), w.morning.Add(until).Format(time.RFC3339), more)).ok(201).id()
	}
	w.late = book("Bob", "ABC-123", time.Hour, 25*time.Hour, "")
	w.do("POST", "/v1/bookings/"+w.late+"/pickup", `{"mileage_mi":20000}`).ok(200)
	w.pass(48 * time.Hour)
	w.morning = w.morning.Add(48 * time.Hour)
	w.today = book("=Carol", "XYZ 9", 10*time.Hour, 34*time.Hour,
		fmt.Sprintf(`,"pickup_location_id":%q,"custom_fields":{"po":"-7"}`, w.place))
	w.later = book("Dan", "QQQ", 40*time.Hour, 64*time.Hour, `,"external_reservation_id":"HM-77","channel":"turo"`)
	return w
}

// day is the date of the desk, so many hours after this morning.
func (w *counter) day(hours int) string {
	return w.morning.Add(time.Duration(hours) * time.Hour).In(w.zone).Format(time.DateOnly)
}

// clock is the desk's clock, so many hours after this morning.
func (w *counter) clockAt(hours int) string {
	return w.morning.Add(time.Duration(hours) * time.Hour).In(w.zone).Format("2006-01-02 15:04")
}

// A clerk looks for a booking by what somebody at the counter says: a name, a plate, who owes, who comes today. Who may
// not see customers or vehicles does not learn of them by asking.
func TestABookingIsFoundByWhatIsSaidAtTheCounter(t *testing.T) {
	w := newCounter(t)
	late, today, later := w.late, w.today, w.later
	w.do("POST", "/v1/payments",
		fmt.Sprintf(`{"booking_id":%q,"amount":{"amount":1000,"currency":"USD"},"method":"cash"}`, today)).ok(201)
	whole := int64(minor(w.do("GET", "/v1/bookings/"+late, "").object()["total"]))
	w.do("POST", "/v1/payments",
		fmt.Sprintf(`{"booking_id":%q,"amount":{"amount":%d,"currency":"USD"},"method":"cash"}`, late, whole)).ok(201)
	clerk := []string{"Authorization", "Bearer " + w.newKey(w.account, auth.BookingsRead)}
	for _, c := range []struct {
		query, want string
		as          []string
	}{
		{"q=bob", late, nil}, {"q=smith+carol", today, nil}, {"q=ABC+123", late, nil}, {"q=abc123", late, nil},
		{"q=xyz-9", today, nil}, {"q=hm-77", later, nil}, {"q=BOB@example", late, nil},
		{"q=smith", late + " " + today + " " + later, nil}, {"q=smith&status=active", late, nil}, {"q=bob", "", clerk},
		{"q=abc123", "", clerk}, {"q=hm-77", later, clerk}, {"payment_status=paid", late, nil},
		{"payment_status=unpaid", later, nil},
		{"payment_status=unpaid,partially_paid&sort=balance_due", today + " " + later, nil},
		{"balance_due[gt]=0&sort=-balance_due", later + " " + today, nil}, {"balance_due[lte]=0", late, nil},
		{"due_on=" + w.day(0) + "&sort=due_at", late + " " + today, nil}, {"due_on=" + w.day(-23), late, nil},
		{"due_on=" + w.day(40), later, nil}, {"due_on=" + w.day(0) + "&due_for=pickup", today, nil},
		{"due_on=" + w.day(0) + "&due_location_id=" + w.place,
			late + " " + today, nil}, {"due_on=" + w.day(0) + "&due_location_id=loc_1", "", nil}, {"due_for=return", late, nil},
	} {
		var found []string
		for _, b := range w.do("GET", "/v1/bookings?"+c.query, "", c.as...).data() {
			found = append(found, b["id"].(string))
		}
		if got := strings.Join(found, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.query, got, c.want)
		}
	}
	for _, c := range w.do("GET", "/v1/bookings", "").data() {
		number := c["number"].(string) // "B-1042"
		for _, path := range []string{"/v1/bookings?q=" + number, "/v1/bookings?q=" +
			strings.ToLower(strings.ReplaceAll(number, "-", "")), "/v1/bookings?number=" + strings.ToLower(number)} {
			if found := w.do("GET", path, "").data(); len(found) != 1 || found[0]["id"] != c["id"] {
				t.Errorf("%s: %d bookings", path, len(found))
			}
		}
	}
	for _, b := range w.do("GET", "/v1/bookings", "").data() { // what is shown is what it is found by
		path := fmt.Sprintf("/v1/bookings?payment_status=%v&balance_due=%d&due_for=%v", b["payment_status"],
			int64(minor(b["balance_due"])), b["due_for"])
		if found := w.do("GET", path, "").data(); len(found) != 1 || found[0]["id"] != b["id"] {
			t.Errorf("%s: %d bookings", path, len(found))
		}
	}
	wantEqual(t, "by address", len(w.do("GET", "/v1/customers?email=BOB@EXAMPLE.com", "").data()), 1)
	wantEqual(t, "by plate", len(w.do("GET", "/v1/vehicles?license_plate=abc%20123", "").data()), 1)
	wantEqual(t, "payments by name", len(w.do("GET", "/v1/payments?q=carol", "").data()), 1)
	for _, wrong := range []string{"payment_status=owing", "balance_due[gt]=much", "due_on=today", "vehicle_id=ABC-123",
		"customer_id=Bob", "deposit_status=here", "due_for=nothing"} {
		if r := w.do("GET", "/v1/bookings?"+wrong, ""); r.status != 400 {
			t.Errorf("%s: status %d", wrong, r.status)
		}
	}
}

// The table of bookings is for people: a row a booking, names, amounts that add up with a decimal point, times by the
// clock of the place.
func TestTheTableOfBookingsIsForPeople(t *testing.T) {
	w := newCounter(t)
	late, today := w.late, w.today
	read := func(text string) (header []string, rows map[string]map[string]string) {
		all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(all) == 0 {
			t.Fatal(err, text)
		}
		rows = map[string]map[string]string{}
		for _, cells := range all[1:] {
			row := map[string]string{}
			for i, cell := range cells {
				row[all[0][i]] = cell
			}
			rows[row["id"]] = row
		}
		return all[0], rows
	}
	header, rows := read(string(w.do("GET", "/v1/bookings?format=csv", "").ok(200).body))
	if len(rows) != 3 || len(header) < 28 || len(header) > 36 {
		t.Fatalf("%d rows, columns %v", len(rows), header)
	}
	row := rows[today]
	for name, want := range map[string]string{
		"status": "confirmed", "customer_name": "'=Carol Smith", "license_plate": "XYZ 9", "vehicle_name": "2024 Kia Niro",
		"vehicle_class_name":   "Compact",
		"pickup_location_name": "Airport", "pickup_at": w.clockAt(10), "return_at": w.clockAt(34), "actual_pickup_at": "",
		"billed_days": "1",
		"currency":    "USD", "rental_amount": "50.00", "taxes_total": "5.00", "total": "55.00", "platform_fee": "0.00",
		"net_to_host": "50.00", "amount_paid": "0.00", "balance_due": "55.00", "deposit_amount": "200.00",
	} {
		wantEqual(t, name, row[name], want)
	}
	wantEqual(t, "mileage out", rows[late]["pickup_mileage_mi"], "20000")
	for id, row := range rows {
		sum := new(big.Rat)
		for _, name := range []string{"rental_amount", "extras_amount", "fees_total", "discounts_total", "taxes_total"} {
			part, ok := new(big.Rat).SetString(row[name])
			if !ok {
				t.Fatalf("%s of %s is %q", name, id, row[name])
			}
			sum.Add(sum, part)
		}
		wantEqual(t, "sum of "+id, sum.FloatString(2), row["total"])
	}
	wantEqual(t, "first of all the number", header[0]+" "+row["number"],
		"number "+w.do("GET", "/v1/bookings/"+today, "").object()["number"].(string))
	morning := string(w.do("GET", "/v1/bookings?format=csv&due_on="+w.day(0)+
		"&sort=due_at&fields=due_for,due_at,customer_name,license_plate,custom_fields.po", "").ok(200).body)
	wantEqual(t, "morning", morning, "due_for,due_at,customer_name,license_plate,custom_fields.po\n"+
		"return,"+w.clockAt(-23)+",Bob Smith,ABC-123,\npickup,"+w.clockAt(10)+",'=Carol Smith,XYZ 9,-7\n")

	clerk := []string{"Authorization", "Bearer " + w.newKey(w.account, auth.BookingsRead)}
	if text := string(w.do("GET", "/v1/bookings?format=csv", "", clerk...).ok(200).body); strings.Contains(text,
		"Carol") || strings.Contains(text, "XYZ") || strings.Contains(text, "Compact") || strings.Contains(text, "Airport") {
		t.Errorf("names for who may not see them: %s", text)
	}
	w.do("GET", "/v1/bookings?format=csv&fields=customer_name", "", clerk...).problem(403, "insufficient_scope")
	w.do("GET", "/v1/bookings?format=csv&fields=nonsense", "").problem(400, "invalid_request")
	w.do("GET", "/v1/bookings?format=csv&page=2", "").problem(400, "invalid_request")
	w.do("POST", "/v1/exports?kind=bookings&format=jsonl&fields=id", "").problem(400, "invalid_request")

	job := w.do("POST", "/v1/exports?kind=bookings&format=csv&status=confirmed&sort=pickup_at&fields=id,customer_name,total", "").ok(202).id()
	open, err := query.OpenTransfers(t.Context(), w.db, w.api.Now())
	if err != nil || len(open) != 1 {
		t.Fatal(open, err)
	}
	w.api.transfer.WorkOn(t.Context(), open[0])
	file := string(w.do("GET", "/v1/jobs/"+job+"/result", "").ok(200).body)
	if !strings.HasPrefix(file, "id,customer_name,total\n"+today+",'=Carol Smith,55.00\n") {
		t.Errorf("exported: %s", file)
	}
	w.do("GET", "/v1/jobs/"+job+"/result", "", clerk...).problem(403, "insufficient_scope")
}
