package desk

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk/audit"
	"github.com/motorpool/fleet/api/desk/fact"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// told keeps the events that are published.
type told []fleet.Event

func (e *told) PublishEvents(_ context.Context, events []fleet.Event) error {
	*e = append(*e, events...)
	return nil
}

// business makes a rental that is over and one that is out, with deposits and payments, a trip over midnight and a
// charge, and their facts. The clock of the desk stands hours after that.
func business(t *testing.T) (*Desk, *told) {
	t.Helper()
	l := openLot(t, 2)
	d := l.desks[0]
	at := func(hour int) {
		d.Now = func() time.Time { return start.Add(time.Duration(hour) * time.Hour) }
		d.Holds.OpenCalendars(calendar.Config{Abandoned: 10 * time.Minute, Kept: 24 * time.Hour})
	}
	var booked []uint64
	for i, car := range l.cars {
		rec, err := l.book(t.Context(), d, car, 0, 26+20*i)
		if err != nil {
			t.Fatal(err)
		}
		booked = append(booked, rec.ID)
	}
	for i, id := range booked {
		o := Order{By: by, Account: account, Booking: id}
		at(0)
		for _, order := range []rental.DepositOrder{{Action: rental.Authorize, Amount: 30000}, {Action: rental.Capture}} {
			order.At = d.Now()
			if _, err := d.SetDeposit(t.Context(), o, order); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := d.Pickup(t.Context(), o, Handover{}); err != nil {
			t.Fatal(err)
		}
		put(t, d, d.Payments, record.Payment{Status: record.PaymentSucceeded, PaymentFields: record.PaymentFields{
			Method: "card", BookingID: fleet.FormatID(fleet.BookingPrefix, id), Amount: *usd(9000)}})
		if i > 0 {
			continue
		}
		at(26)
		if _, err := d.Return(t.Context(), o, Handover{}); err != nil {
			t.Fatal(err)
		}
		if _, err := d.SetDeposit(t.Context(), o,
			rental.DepositOrder{Action: rental.Release, Amount: 20000, At: d.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	car, err := fleet.ParseID(fleet.VehiclePrefix, l.cars[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`INSERT INTO trips
		(account, vehicle, id, revision, start_at, end_at, updated_at, distance_m, body)
		VALUES (%d, %d, 1, 1, '%s', '%s', '%s', 1234.567, '{"fuel_used_l":3.5}')`,
		`INSERT INTO charges (account, vehicle, id, revision, start_at, end_at, updated_at, energy_kwh)
		VALUES (%d, %d, 2, 1, '%s', '%s', '%s', 42.5)`,
		`INSERT INTO visits (account, vehicle, id, revision, start_at, end_at, updated_at, geofence)
		VALUES (%d, %d, 3, 1, '%s', '%s', '%s', 6)`} {
		begun, over := start.Add(30*time.Minute), start.Add(17*time.Hour)
		if err := d.DB.Exec(t.Context(), fmt.Sprintf(text, uint64(account), car, begun.Format(time.DateTime),
			over.Format(time.DateTime), time.Now().UTC().Format(time.DateTime))); err != nil {
			t.Fatal(err)
		}
	}
	at(36)
	events := &told{}
	d.Audit.Apart, d.Audit.To = time.Millisecond, events
	from := ledger.DayOf(start.Add(-48*time.Hour), time.UTC)
	if err := d.Facts.Make(t.Context(), account, from, from+6, func(fact.Made) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return d, events
}

// While facts may not know yet that a vehicle runs on something else, what electric vehicles drove is not compared.
func TestElectricMilesAreComparedUnlessAFuelTypeWasChanged(t *testing.T) {
	t.Parallel()
	d, _ := business(t)
	d.Now = time.Now // by which the log tells when something was written
	if err := d.DB.Exec(t.Context(),
		"INSERT INTO fleet_days SELECT * REPLACE (electric_m + 1 AS electric_m) FROM fleet_days FINAL"); err != nil {
		t.Fatal(err)
	}
	told := func() bool {
		t.Helper()
		drifts, err := d.Audit.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(drifts, func(drift audit.Drift) bool { return drift.What == "fleet electric_mm" })
	}
	if !told() {
		t.Error("electric miles that are wrong are not told")
	}
	var id uint64
	if err := d.DB.QueryRow(t.Context(), "SELECT min(id) FROM vehicles FINAL").Scan(&id); err != nil {
		t.Fatal(err)
	}
	for _, fuel := range []string{"electric", ""} { // there and back is still on its way
		if _, err := d.Vehicles.Update(t.Context(), by, account, id, 0, func(r *record.Record[record.Vehicle]) error {
			r.Body.FuelType = fuel
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if told() {
			t.Errorf("a vehicle that runs on %q is told of", fuel)
		}
	}
}

// While facts may not know yet that a vehicle's days are those of another zone, what is told by its days is not
// compared.
func TestDaysOfAVehicleAreComparedUnlessItsZoneWasChanged(t *testing.T) {
	t.Parallel()
	d, _ := business(t)
	d.Now = time.Now // by which the log tells when something was written
	told := func() (drifts []audit.Drift) {
		t.Helper()
		drifts, err := d.Audit.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(drifts, func(drift audit.Drift) bool { return drift.Check != audit.Driven })
	}
	var visited uint64
	if err := d.DB.QueryRow(t.Context(), "SELECT any(vehicle) FROM visits").Scan(&visited); err != nil {
		t.Fatal(err)
	}
	zone := "Pacific/Kiritimati" // in which what began then began on the next day, or else on the day before
	if start.Hour() < 11 {
		zone = "Pacific/Pago_Pago"
	}
	if _, err := d.Vehicles.Update(t.Context(), by, account, visited, 0, func(r *record.Record[record.Vehicle]) error {
		r.Body.Timezone = zone
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if drifts := told(); len(drifts) > 0 {
		t.Errorf("told of %v", drifts)
	}
	d.Now = func() time.Time { return time.Now().Add(2 * time.Hour) } // and nothing was made again in two hours
	for _, what := range []string{"driven_mm", "energy_wh", "inside_s"} {
		if drifts := told(); !slices.ContainsFunc(drifts, func(drift audit.Drift) bool { return drift.What == what }) {
			t.Errorf("%s is not told of among %v", what, drifts)
		}
	}
}

// Each check finds what has drifted, it is told, and after the repair nothing is left of it.
func TestWhatDriftsIsFoundToldAndRepaired(t *testing.T) {
	t.Parallel()
	d, events := business(t)
	if drifts, err := d.Audit.Look(t.Context()); err != nil || len(drifts) > 0 {
		t.Fatalf("%v of books that are right, %v", drifts, err)
	}
	if err := d.Audit.Reconcile(t.Context()); err != nil || len(*events) > 0 {
		t.Fatalf("%d events of books that are right, %v", len(*events), err)
	}
	const entries = "ALTER TABLE ledger_entries DELETE WHERE %s SETTINGS mutations_sync = 2"
	type drifted struct {
		check, what string
		by          []string
	}
	for _, together := range [][]drifted{{
		{audit.Counts, "bookings", []string{"ALTER TABLE bookings DELETE WHERE true SETTINGS mutations_sync = 2"}},
		{audit.Counts, "payments", []string{"ALTER TABLE payments DELETE WHERE true SETTINGS mutations_sync = 2"}},
		{audit.Rollups, "ledger_months entries", []string{"INSERT INTO ledger_months SELECT * FROM ledger_months"}},
		{audit.Rollups, "ledger_flows debits", []string{"INSERT INTO ledger_flows SELECT * FROM ledger_flows"}},
	}, {
		{audit.Deposits, "deposit", []string{
			"ALTER TABLE ledger_transactions DELETE WHERE kind = 'booking' SETTINGS mutations_sync = 2",
			fmt.Sprintf(entries, "kind = 'booking'")}},
		{audit.Transactions, "incomplete", []string{fmt.Sprintf(entries, "kind = 'payment' AND entry_no = 1")}},
		{audit.Transactions, "unbalanced", nil},
		{audit.Rollups, "ledger_days amount", nil},
		{audit.Facts, "revenue_time", nil},
		{audit.Rentals, "rented seconds", []string{
			"INSERT INTO rental_days SELECT * REPLACE (0 AS rented_s) FROM rental_days FINAL"}},
		{audit.Rentals, "billed days", []string{
			"INSERT INTO rental_days SELECT * REPLACE (7 AS billed_days) FROM rental_days FINAL"}},
		{audit.Rentals, "rental sums", []string{"ALTER TABLE rental_sums DELETE WHERE true SETTINGS mutations_sync = 2"}},
		{audit.Rentals, "bookings on the books", []string{
			"ALTER TABLE booking_sums DELETE WHERE true SETTINGS mutations_sync = 2"}},
		{audit.Driven, "driven_mm", []string{
			"INSERT INTO vehicle_days SELECT * REPLACE (driven_m + 1 AS driven_m) FROM vehicle_days FINAL"}},
		{audit.Driven, "energy_wh", []string{
			"INSERT INTO charges SELECT * REPLACE (2 AS revision, 43 AS energy_kwh) FROM charges FINAL"}},
		{audit.Driven, "inside_s", []string{
			"INSERT INTO geofence_days SELECT * REPLACE (inside_s + 1 AS inside_s) FROM geofence_days FINAL"}},
		{audit.Months, "fleet_s", []string{
			`INSERT INTO vehicle_months SELECT * REPLACE (fleet_s + 1 AS fleet_s,
				arrayMap(n -> n + 1, rented_by_day) AS rented_by_day) FROM vehicle_months FINAL`}},
		{audit.Months, "rented_by_day 31", nil},
		{audit.Months, "fleet rented_s", []string{
			"INSERT INTO fleet_days SELECT * REPLACE (rented_s + 1 AS rented_s, electric_m + 1 AS electric_m) FROM fleet_days FINAL"}},
		{audit.Months, "fleet electric_mm", nil},
	}, {
		{audit.Rentals, "rental revenue", []string{`INSERT INTO rental_sums SELECT * REPLACE (revenue + 1 AS revenue,
			contribution - 1 AS contribution, arrayMap(d -> (d.1, d.2 + 1), gps_by_day) AS gps_by_day,
			computed_at + INTERVAL 1 SECOND AS computed_at) FROM rental_sums FINAL`}},
		{audit.Rentals, "rental contribution", nil},
		{audit.Rentals, "agreed", []string{`INSERT INTO booking_sums SELECT * REPLACE (arrayPushBack(agreed, 1) AS agreed,
			computed_at + INTERVAL 1 SECOND AS computed_at) FROM booking_sums FINAL`}},
		{audit.Rentals, "income of customers", []string{`INSERT INTO customer_sums SELECT * REPLACE (
			arrayMap(sum -> sum + 1, income) AS income, computed_at + INTERVAL 1 SECOND AS computed_at) FROM customer_sums FINAL`}},
		{audit.Driven, "rental metres", nil},
	}, {
		{audit.Rentals, "rental sums", []string{`INSERT INTO rental_sums SELECT * REPLACE (
			(SELECT min(id) FROM bookings FINAL WHERE status = 'active') AS booking) FROM rental_sums FINAL LIMIT 1`}},
	}, {
		{audit.Transactions, "doubled", []string{"SYSTEM STOP MERGES ledger_entries",
			"INSERT INTO ledger_entries SELECT * FROM ledger_entries LIMIT 2", "SYSTEM START MERGES ledger_entries"}},
		{audit.Rollups, "ledger_months ids", nil},
		{audit.Calendars, "held seconds", []string{
			"INSERT INTO rental_days SELECT * REPLACE (rented_s + 7200 AS rented_s) FROM rental_days FINAL"}},
		{audit.Facts, "cost_energy", []string{
			"INSERT INTO vehicle_days SELECT * REPLACE (5 AS cost_energy) FROM vehicle_days FINAL LIMIT 1"}},
		{audit.Months, "cost_energy", nil},
		{audit.Months, "fleet cost_energy", nil},
		{audit.Driven, "fuel_ml", []string{
			"INSERT INTO vehicle_days SELECT * REPLACE (fuel_l + 1 AS fuel_l) FROM vehicle_days FINAL"}},
		{audit.Driven, "driven_mm", []string{
			"INSERT INTO trips SELECT * REPLACE (2 AS revision, true AS deleted) FROM trips FINAL"}},
		{audit.Driven, "visit_s", []string{
			"INSERT INTO visits SELECT * REPLACE (2 AS revision, true AS deleted) FROM visits FINAL"}},
	}} {
		*events = nil
		for _, c := range together {
			for _, text := range c.by {
				if err := d.DB.Exec(t.Context(), text); err != nil {
					t.Fatalf("%s %s: %v", c.check, c.what, err)
				}
			}
		}
		drifts, err := d.Audit.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Audit.Reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, c := range together {
			if !slices.ContainsFunc(drifts, func(f audit.Drift) bool {
				return f.Check == c.check && f.What == c.what && f.Account == account && f.Expected != f.Found && f.Key != ""
			}) {
				t.Errorf("%s %s is not among the drifts %v", c.check, c.what, drifts)
			}
			if !slices.ContainsFunc(*events, func(e fleet.Event) bool {
				body := string(e.Body)
				return e.Type == fleet.EventBooksDrift && e.Account == account && json.Valid(e.Body) &&
					strings.Contains(body, `"check":"`+c.check) && strings.Contains(body, audit.RepairCommand)
			}) {
				t.Errorf("%s %s was not told: %v", c.check, c.what, *events)
			}
		}
		for range 2 { // one may lie behind another
			if drifts, err = d.Audit.Repair(t.Context(), drifts); err != nil {
				t.Fatal(err)
			}
		}
		if len(drifts) > 0 {
			t.Fatalf("after the repair there is %v", drifts)
		}
	}
}

// What is found twice on a day is told under one id, and another drift under another.
func TestADriftIsToldOnceADay(t *testing.T) {
	t.Parallel()
	d, events := business(t)
	drift := func(text string) uint64 {
		t.Helper()
		if err := d.DB.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		*events = nil
		if err := d.Audit.Reconcile(t.Context()); err != nil || len(*events) != 1 {
			t.Fatalf("%d events, %v", len(*events), err)
		}
		return (*events)[0].ID
	}
	first := drift("INSERT INTO vehicle_months SELECT * REPLACE (5 AS cost_energy) FROM vehicle_months FINAL")
	if again := drift("SELECT 1"); again != first {
		t.Errorf("the same is told under %d and %d", first, again)
	}
	other := drift("INSERT INTO vehicle_months SELECT * REPLACE (6 AS cost_energy) FROM vehicle_months FINAL")
	if other == first {
		t.Error("another difference is told under the same id")
	}
}

// A check that cannot run is told as an error, and keeps nobody from being told what the others find.
func TestACheckThatFailsSilencesNoOther(t *testing.T) {
	t.Parallel()
	d, events := business(t)
	for _, text := range []string{"RENAME TABLE bookings TO bookings_elsewhere",
		"INSERT INTO vehicle_months SELECT * REPLACE (5 AS cost_energy) FROM vehicle_months FINAL"} {
		if err := d.DB.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	err := d.Audit.Reconcile(t.Context())
	if err == nil || !strings.Contains(err.Error(), "audit "+audit.Counts) {
		t.Errorf("without a table the audit says %v", err)
	}
	if !slices.ContainsFunc(*events, func(e fleet.Event) bool {
		return strings.Contains(string(e.Body), `"check":"`+audit.Months)
	}) {
		t.Errorf("the drift was not told: %v", *events)
	}
}
