package desk

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// stale is a memory that has records as they stood when they were put into it.
type stale map[record.Ref]query.Stored

func (s stale) recall(_ context.Context, _ fleet.AccountID, kind string, id uint64) (query.Stored, bool) {
	stored, ok := s[record.Ref{Kind: kind, ID: id}]
	return stored, ok
}

// keep puts a record as it stands into a memory.
func keep[T any](t *testing.T, s stale, log *record.Log[T], id uint64) {
	t.Helper()
	rec, err := log.Get(t.Context(), account, id)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(rec.Body)
	if err != nil {
		t.Fatal(err)
	}
	s[record.Ref{Kind: log.Kind().Name, ID: id}] = query.Stored{ID: id, Revision: rec.Revision, CreatedAt: rec.CreatedAt,
		UpdatedAt: rec.UpdatedAt, Body: string(body)}
}

func TestAMemoryThatIsBehindNeitherRefusesNorAllowsABooking(t *testing.T) {
	l := openLot(t, 4)
	d, other := l.desks[0], l.desks[1] // two processes
	memory := stale{}
	d.Store.Remember(memory.recall)
	class, customer := number(fleet.ClassPrefix, l.class), number(fleet.CustomerPrefix, l.customer)
	keep(t, memory, d.Accounts, uint64(account))
	keep(t, memory, d.Classes, class)
	keep(t, memory, d.Customers, customer)
	car := func(i int) uint64 { return number(fleet.VehiclePrefix, l.cars[i]) }
	setStatus := func(id uint64, status string) {
		t.Helper()
		if _, err := other.Vehicles.Update(t.Context(), by, account, id, 0, func(r *record.Record[record.Vehicle]) error {
			r.Body.Status = status
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	// What memory has is what a booking goes by.
	keep(t, memory, d.Vehicles, car(0))
	rec, err := l.book(t.Context(), d, l.cars[0], 0, 10)
	if err != nil || rec.Body.VehicleClassID != l.class {
		t.Fatalf("by memory: %+v, %v", rec.Body, err)
	}
	// What it refuses is looked at again.
	setStatus(car(1), record.VehicleOutOfService)
	keep(t, memory, d.Vehicles, car(1))
	if _, err := l.book(t.Context(), d, l.cars[1], 0, 10); !refusal(err) {
		t.Errorf("a vehicle that is out of service was booked: %v", err)
	}
	setStatus(car(1), record.VehicleAvailable)
	if _, err := l.book(t.Context(), d, l.cars[1], 0, 10); err != nil {
		t.Errorf("a vehicle that came back into service was refused: %v", err)
	}
	// A vehicle that another process has archived since is not booked: its calendar is taken.
	keep(t, memory, d.Vehicles, car(2))
	leaving := other.Yard.Leave(by, account, car(2))
	_, err = other.Vehicles.Archive(t.Context(), by, account, car(2), 0, func(r *record.Record[record.Vehicle]) error {
		return leaving.MayArchive(t.Context(), r)
	})
	leaving.Done(t.Context(), err)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.book(t.Context(), d, l.cars[2], 0, 10); !refusal(err) {
		t.Errorf("a vehicle that was archived since was booked: %v", err)
	}
	// Nor is anything rented to somebody whom another process has put on the do-not-rent list since.
	keep(t, memory, d.Vehicles, car(3))
	if _, err := other.Customers.Update(t.Context(), by, account, customer, 0,
		func(r *record.Record[record.Customer]) error {
			r.Body.DoNotRent = &record.DoNotRent{Active: true, ReasonCode: "smoked"}
			return nil
		}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.book(t.Context(), d, l.cars[3], 0, 10); !refusal(err) {
		t.Errorf("a vehicle was rented to somebody who is on the list: %v", err)
	}
}

func TestAQuoteIsNotRefusedByAMemoryThatIsBehind(t *testing.T) {
	l := openLot(t, 1)
	d := l.desks[0]
	memory := stale{}
	d.Store.Remember(memory.recall)
	id := number(fleet.VehiclePrefix, l.cars[0])
	set := func(day string) {
		t.Helper()
		if _, err := l.desks[1].Vehicles.Update(t.Context(), by, account, id, 0,
			func(r *record.Record[record.Vehicle]) error {
				r.Body.InServiceOn = day
				return nil
			}); err != nil {
			t.Fatal(err)
		}
	}
	set("2190-01-01")
	keep(t, memory, d.Vehicles, id)
	if _, err := d.Quote(t.Context(), account, l.fields(l.cars[0], 0, 10)); err == nil {
		t.Error("a vehicle that is not in the fleet yet was quoted")
	}
	set("")
	if q, err := d.Quote(t.Context(), account, l.fields(l.cars[0], 0, 10)); err != nil || q.VehicleID != l.cars[0] {
		t.Errorf("a vehicle that is in the fleet by now: %+v, %v", q.BookingFields, err)
	}
}
