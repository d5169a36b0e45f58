//go:build long

package desk

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/workshop"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

func any1[T any](*record.Record[T]) error { return nil }

// newToll writes a toll that was matched with a booking.
func newToll(t *testing.T, d *Desk, booking uint64, amount int64) uint64 {
	t.Helper()
	text := put(t, d, d.Tolls, record.Toll{TollFields: record.TollFields{Kind: "toll", Plate: "A", Agency: "TxTag",
		Amount: *usd(amount), AdminFee: usd(500),
		OccurredAt: record.InstantOf(time.Now().Add(-time.Hour))}, Status: record.TollMatched, BookingID: name(booking)})
	id, err := fleet.ParseID(fleet.TollPrefix, text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// tolled are the amounts that a booking is charged for tolls.
func tolled(t *testing.T, d *Desk, booking uint64) string {
	t.Helper()
	rec, err := d.Bookings.Get(t.Context(), account, booking)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, c := range rec.Body.Charges {
		if c.TollID != "" {
			words = append(words, fmt.Sprint(c.Amount.Amount))
		}
	}
	return strings.Join(words, " ")
}

// A process that dies after it has decided to bill a toll leaves neither a lost bill nor a second one: the toll can be
// matched with no other booking any more, and the charges follow.
func TestABillIsNeitherLostNorDoubled(t *testing.T) {
	db := schematest.Open(t)
	before := func() time.Time { return time.Now().Add(-5 * time.Minute) }
	d := deskOn(t, db, db, before)
	if _, _, err := d.Accounts.Create(t.Context(), by, account, uint64(account),
		record.Account{Name: "A", Timezone: "UTC", Currency: "USD"}); err != nil {
		t.Fatal(err)
	}
	active := func() uint64 {
		id, _ := fleet.ParseID(fleet.BookingPrefix,
			put(t, d, d.Bookings, record.Booking{Status: record.BookingActive, Currency: "USD"}))
		return id
	}
	one, other := active(), active()
	toll := newToll(t, d, one, 450)

	// The desk of a process that dies after the decision: nothing follows from what it writes.
	mute, err := record.NewStore(record.Config{Deadline: time.Minute, Abandoned: 2 * time.Minute}, db,
		fleet.NewIDSource(9, time.Now), before)
	if err != nil {
		t.Fatal(err)
	}
	dying, below := *d, *d.Base
	dying.Base = &below
	dying.Tolls, dying.Bookings = record.NewLog(mute, record.Tolls), record.NewLog(mute, record.Bookings)
	if _, err := dying.BillToll(t.Context(), by, account, toll, any1); err != nil {
		t.Fatal(err)
	}
	if got := tolled(t, d, one); got != "" {
		t.Fatalf("it did not die in between: %q", got)
	}
	if _, err := d.Tolls.Update(t.Context(), by, account, toll, 0, func(r *record.Record[record.Toll]) error {
		return r.Body.Move("toll", record.TollMatched)
	}); fleet.CodeOf(err) != fleet.CodeTransition {
		t.Errorf("it can be matched anew: %v", err)
	}
	if _, err := d.BillToll(t.Context(), by, account, toll, any1); fleet.CodeOf(err) != fleet.CodeTransition {
		t.Errorf("billed once more: %v", err)
	}
	for range 2 {
		if err := deskOn(t, db, db, time.Now).Store.SettleConsequences(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := tolled(t, d, one); got != "450 500" {
		t.Errorf("charged %q", got)
	}

	// A booking that takes no charges refuses the bill, also when it comes to that in between.
	toll = newToll(t, d, other, 700)
	if _, err := dying.BillToll(t.Context(), by, account, toll, any1); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Bookings.Update(t.Context(), by, account, other, 0, func(r *record.Record[record.Booking]) error {
		r.Body.Status = record.BookingExpired
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := deskOn(t, db, db, time.Now).Store.SettleConsequences(t.Context()); err != nil {
		t.Fatal(err)
	}
	rec, err := d.Tolls.Get(t.Context(), account, toll)
	if err != nil || rec.Body.Status != record.TollMatched || rec.Body.ChargeID != "" {
		t.Errorf("the toll is %s with charge %q: %v", rec.Body.Status, rec.Body.ChargeID, err)
	}
	_, err = d.BillToll(t.Context(), by, account, toll, any1)
	if refused, ok := errors.AsType[*record.TransitionError](err); !ok || refused.Current != record.BookingExpired {
		t.Errorf("billed to a booking that has expired: %v", err)
	}
}

// What follows from a bill, repeated after the booking has come to its end, leaves the toll billed whose charge stands.
func TestABillThatIsRepeatedLateStands(t *testing.T) {
	d := open(t, time.Now)
	if _, _, err := d.Accounts.Create(t.Context(), by, account, uint64(account),
		record.Account{Name: "A", Timezone: "UTC", Currency: "USD"}); err != nil {
		t.Fatal(err)
	}
	booking := number(fleet.BookingPrefix,
		put(t, d, d.Bookings, record.Booking{Status: record.BookingActive, Currency: "USD"}))
	toll := newToll(t, d, booking, 450)
	rec, err := d.BillToll(t.Context(), by, account, toll, any1)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(rec.Body)
	if err != nil {
		t.Fatal(err)
	}
	written := record.Written{Account: account, Kind: record.Tolls.Name, ID: toll, Revision: rec.Revision, Actor: by.Actor,
		RequestID: by.RequestID, After: body}
	if _, err := d.Bookings.Archive(t.Context(), by, account, booking, 0, nil); err != nil {
		t.Fatal(err)
	}
	if err := d.chargeToll(t.Context(), written); err != nil {
		t.Error(err)
	}
	if rec, err = d.Tolls.Get(t.Context(), account, toll); err != nil || rec.Body.Status != record.TollBilled ||
		rec.Body.ChargeID == "" {
		t.Errorf("the toll is %s with charge %q: %v", rec.Body.Status, rec.Body.ChargeID, err)
	}
	if got := tolled(t, d, booking); got != "450 500" {
		t.Errorf("charged %q", got)
	}
}

// Whatever becomes of vehicles and of the account between posting and reversing, nothing is left: of no account, day,
// vehicle, class or place.
func TestWhatIsReversedLeavesNothing(t *testing.T) {
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 10))
		now := time.Date(2026, 3, 1, 3, 30, 0, 0, time.UTC)
		d := open(t, func() time.Time { return now })
		if _, _, err := d.Accounts.Create(t.Context(), by, account, uint64(account),
			record.Account{Name: "A", Timezone: "UTC", Currency: "USD"}); err != nil {
			t.Fatal(err)
		}
		h := &history{t: t, d: d, rng: rng}
		classes := []string{"", put(t, d, d.Classes, record.VehicleClass{Name: "A"}),
			put(t, d, d.Classes, record.VehicleClass{Name: "B"})}
		places := []string{"", put(t, d, d.Locations, record.Location{Name: "A"}),
			put(t, d, d.Locations, record.Location{Name: "B"})}
		for range 4 { // the last one is worked on, and not rented
			h.vehicles = append(h.vehicles, put(t, d, d.Vehicles, record.Vehicle{
				VehicleFields: record.VehicleFields{ClassID: classes[rng.IntN(3)]}, Status: record.VehicleAvailable}))
		}
		turn := func() { // vehicles get other classes and places, the account another zone
			id, _ := fleet.ParseID(fleet.VehiclePrefix, h.vehicles[rng.IntN(4)])
			changed(h, d.Vehicles, []uint64{id}, func(r *record.Record[record.Vehicle]) error {
				r.Body.ClassID, r.Body.HomeLocationID = classes[rng.IntN(3)], places[rng.IntN(3)]
				return nil
			})
			changed(h, d.Accounts, []uint64{uint64(account)}, func(r *record.Record[record.Account]) error {
				r.Body.Timezone = []string{"UTC", "America/Chicago", "Asia/Tokyo", "Pacific/Auckland"}[rng.IntN(4)]
				return nil
			})
			now = now.Add(7 * time.Hour)
		}
		var tolls, work, bookings []uint64
		for range 4 {
			vehicle := h.vehicles[rng.IntN(3)]
			booking := created(h, d.Bookings, record.Booking{BookingFields: record.BookingFields{VehicleID: vehicle,
				PickupAt: record.InstantOf(now), ReturnAt: record.InstantOf(now.Add(50 * time.Hour))},
				Status: record.BookingActive, Timezone: "Asia/Tokyo", Currency: "USD",
				Charges: []record.Charge{{ID: "chg_1", Type: "time", Amount: *usd(10_001), PostedAt: record.InstantOf(now)}}})
			bookings = append(bookings, booking)
			toll := record.Toll{TollFields: record.TollFields{Kind: "toll", Agency: "T", Amount: *usd(450),
				OccurredAt: record.InstantOf(now.Add(-time.Hour))}, Status: record.TollMatched,
				VehicleID: vehicle, BookingID: name(booking)}
			if err := d.Books.BookedNow(t.Context(), account, &toll.BookedFor, vehicle); err != nil {
				t.Fatal(err)
			}
			tolls = append(tolls, created(h, d.Tolls, toll))
			id := d.Store.NextID()
			if _, err := d.Workshop.OpenWork(t.Context(), by, account, id, record.WorkOrderFields{VehicleID: h.vehicles[3],
				Lines: []record.WorkLine{{Kind: "part", UnitCost: *usd(999)}}}); err != nil {
				t.Fatal(err)
			}
			for _, action := range []rental.WorkAction{rental.ScheduleWork, rental.StartWork, rental.CompleteWork} {
				if _, err := d.Workshop.MoveWork(t.Context(), by, account, id, workshop.WorkMove{Action: action,
					Start: record.InstantOf(now), End: record.InstantOf(now.Add(time.Hour))}, nil); err != nil {
					t.Fatal(err)
				}
			}
			work = append(work, id)
			turn()
			if _, err := d.BillToll(t.Context(), by, account, tolls[len(tolls)-1], any1); err != nil {
				t.Fatal(err)
			}
			turn()
		}
		if len(dims(t, d)) == 0 {
			t.Fatal("nothing was posted")
		}
		for i := range tolls {
			turn()
			changed(h, d.Tolls, tolls[i:i+1], func(r *record.Record[record.Toll]) error {
				return r.Body.Move("toll", record.TollDisputed)
			})
			changed(h, d.Work, work[i:i+1], func(r *record.Record[record.WorkOrder]) error {
				r.Body.Status = record.WorkCancelled
				return nil
			})
			rec, err := d.Bookings.Get(t.Context(), account, bookings[i])
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range rec.Body.Charges {
				if _, err := d.ReverseCharge(t.Context(), Order{By: by, Account: account, Booking: bookings[i]}, c.ID,
					"chg_"+c.ID[4:]+"9", ""); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, left := range dims(t, d) {
			if !strings.HasPrefix(left, "booking ") {
				t.Errorf("seed %d: %s", seed, left)
			}
		}
		var accounts uint64
		if err := d.DB.QueryRow(t.Context(), `SELECT count() FROM (SELECT ledger_account FROM ledger_entries
			GROUP BY ledger_account, currency, vehicle, class, location HAVING sum(amount) != 0)`).Scan(&accounts); err != nil || accounts != 0 {
			t.Errorf("seed %d: something is left on %d accounts: %v", seed, accounts, err)
		}
		audited(t, d.DB)
	}
}

// dims are what stands in the books, broken down by all that an entry says. A charge is taken back on the day on which
// it is, so that of bookings something may be left on days.
func dims(t *testing.T, d *Desk) (all []string) {
	t.Helper()
	text := `SELECT concat(kind, ' ', toString(source), ' ', ledger_account, ' ', toString(use_date), ' ', toString(vehicle), ' ',
		toString(class), ' ', toString(location), ' ', toString(sum(amount))) FROM ledger_entries
		GROUP BY kind, source, ledger_account, currency, use_date, vehicle, class, booking, location HAVING sum(amount) != 0 ORDER BY ALL`
	err := schemas.EachRow(t.Context(), d.DB, "read entries", text, nil, func(row schemas.Row) error {
		var line string
		if err := row.Scan(&line); err != nil {
			return err
		}
		all = append(all, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
