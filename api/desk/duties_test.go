//go:build long

package desk

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// A duty that fails with all bookings that it reads at first, however often, comes to the one behind them.
func TestADutyComesToWhatIsBehindThoseThatFail(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	d := open(t, func() time.Time { return now })
	d.DuePage = 10
	if _, _, err := d.Accounts.Create(t.Context(), by, account, uint64(account), record.Account{Name: "A"}); err != nil {
		t.Fatal(err)
	}
	at := func(hour int) record.Instant { return record.InstantOf(now.Add(time.Duration(hour) * time.Hour)) }
	late := put(t, d, d.Bookings, record.Booking{BookingFields: record.BookingFields{PickupAt: at(-5), ReturnAt: at(-1)},
		Status: record.BookingActive})
	broken(t, d, fmt.Sprintf(`INSERT INTO bookings (account, id, revision, status, return_at)
		SELECT 7, number + 1, 1, 'active', fromUnixTimestamp64Milli(%d, 'UTC') FROM numbers(%d)`, at(-2).UnixMilli(), d.DuePage))
	err := d.Duty(t.Context(), "bookings: overdue")
	if err == nil || strings.Count(err.Error(), "There is no booking") != d.DuePage {
		t.Errorf("%.200v, want so many failures", err)
	}
	id, _ := fleet.ParseID(fleet.BookingPrefix, late)
	if rec, err := d.Bookings.Get(t.Context(), account, id); err != nil || rec.Body.OverdueNotedAt.IsZero() {
		t.Errorf("the one behind was not noted: %v", err)
	}
}

// The overlap audit, too, goes through all of what it finds.
func TestTheAuditComesToWhatIsBehindThoseThatFail(t *testing.T) {
	d := open(t, time.Now)
	d.DuePage = 10
	broken(t, d, fmt.Sprintf(`INSERT INTO bookings (account, id, revision, status, conflict) SELECT 7, number + 1, 1, 'cancelled', 'true' FROM numbers(%d)`, d.DuePage))
	last := put(t, d, d.Bookings, record.Booking{Status: record.BookingCancelled, Conflict: true})
	if err := d.Duty(t.Context(), "bookings: overlaps"); err == nil {
		t.Error("nothing failed")
	}
	id, _ := fleet.ParseID(fleet.BookingPrefix, last)
	if rec, err := d.Bookings.Get(t.Context(), account, id); err != nil || rec.Body.Conflict {
		t.Errorf("the flag of the one behind stands: %v", err)
	}
}

// One vehicle that cannot be moved keeps no other from being moved.
func TestOneBadVehicleKeepsNoOtherWaiting(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	d := open(t, func() time.Time { return now })
	var all []uint64
	for i := range 3 {
		v := put(t, d, d.Vehicles,
			record.Vehicle{Status: record.VehicleTurnaround, StatusUntil: record.InstantOf(now.Add(-time.Minute))})
		if i == 1 {
			broken(t, d, fmt.Sprintf("INSERT INTO vehicles SELECT * REPLACE ('wo_999' AS status_cause, revision + 1 AS revision) FROM vehicles WHERE concat('veh_', toString(id)) = '%s'", v))
		}
		id, _ := fleet.ParseID(fleet.VehiclePrefix, v)
		all = append(all, id)
	}
	err := d.Duty(t.Context(), "vehicle states")
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("vehicle %d: ", all[1])) {
		t.Errorf("%v, want that the second one failed", err)
	}
	for _, i := range []int{0, 2} {
		if rec, err := d.Vehicles.Get(t.Context(), account, all[i]); err != nil ||
			rec.Body.Status != record.VehicleAvailable {
			t.Errorf("vehicle %d is %s: %v", i, rec.Body.Status, err)
		}
	}
}

// One erasure that cannot be done keeps no other waiting.
func TestOneBadErasureKeepsNoOtherWaiting(t *testing.T) {
	now := time.Now()
	d := open(t, func() time.Time { return now })
	var all []uint64
	for range 2 {
		text := put(t, d, d.Customers, record.Customer{CustomerFields: record.CustomerFields{FirstName: "Quuxina"},
			ErasingSince: record.InstantOf(now.Add(-time.Hour))})
		id, _ := fleet.ParseID(fleet.CustomerPrefix, text)
		all = append(all, id)
	}
	broken(t, d, "INSERT INTO customers (account, id, revision, erasing) VALUES (1, 1, 1, 'true')")
	if err := d.Duty(t.Context(), "erase customers"); err == nil || !strings.Contains(err.Error(), "erase customer 1: ") {
		t.Errorf("%v, want that the first one failed", err)
	}
	for _, id := range all {
		if rec, err := d.Customers.Get(t.Context(), account, id); err != nil || rec.Body.ErasedAt.IsZero() {
			t.Errorf("customer %d is not erased: %v", id, err)
		}
	}
}

// Reminders of an account that cannot be read keep those of no other account waiting.
func TestOneBadAccountKeepsNoOtherWaiting(t *testing.T) {
	d := open(t, time.Now)
	days := 30
	for _, one := range []fleet.AccountID{account, account + 1, account - 1} {
		if one == account {
			if _, _, err := d.Accounts.Create(t.Context(), by, one, uint64(one),
				record.Account{Name: "A", Timezone: "UTC"}); err != nil {
				t.Fatal(err)
			}
		}
		create := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		vehicle, task := d.Store.NextID(), d.Store.NextID()
		_, _, err := d.Vehicles.Create(t.Context(), by, one, vehicle, record.Vehicle{Status: record.VehicleAvailable})
		create(err)
		_, _, err = d.Tasks.Create(t.Context(), by, one, task, record.ServiceTask{Name: "Oil", EveryDays: &days})
		create(err)
		_, _, err = d.Schedules.Create(t.Context(), by, one, d.Store.NextID(),
			record.MaintenanceSchedule{MaintenanceScheduleFields: record.MaintenanceScheduleFields{
				TaskID: fleet.FormatID(fleet.TaskPrefix, task), VehicleID: fleet.FormatID(fleet.VehiclePrefix, vehicle)}})
		create(err)
	}
	if err := d.Workshop.Remind(t.Context(), false); err == nil || strings.Count(err.Error(), "reminders of ") != 2 {
		t.Errorf("%v, want two accounts that failed", err)
	}
	var made uint64
	if err := d.DB.QueryRow(t.Context(), "SELECT count() FROM reminders WHERE account = 7").Scan(&made); err != nil ||
		made != 1 {
		t.Errorf("%d reminders were made: %v", made, err)
	}
}
