// Package base is what all rooms of the rental desk stand on: the logs of its records, the calendars, the clock, the
// duties, and what a command remembers of the records that it has read. It knows no room.
package base

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/record"
)

// Base holds what the rooms of the desk share; each of them embeds it. It is safe for concurrent use.
type Base struct {
	DB    driver.Conn
	Reads Reads // what is not read from single records
	Fleet Fleet // what is looked through to find what is free
	Store *record.Store
	Log   *slog.Logger
	Now   func() time.Time

	// Past says that what is done was over long ago, and that the vehicles are where later events have brought them: their
	// states are neither asked nor changed. A booking may be backdated although it is still to come by the desk's clock.
	// For who makes up a past; it is not set while something is being done.
	Past bool

	Calendars      *calendar.Calendars // of vehicles
	ClassCalendars *calendar.Calendars // what was booked of classes without a vehicle

	Accounts  *record.Log[record.Account]
	Vehicles  *record.Log[record.Vehicle]
	Classes   *record.Log[record.VehicleClass]
	Locations *record.Log[record.Location]
	Tags      *record.Log[record.DriverTag]
	RatePlans *record.Log[record.RatePlan]
	Quotes    *record.Log[record.Quote]
	Bookings  *record.Log[record.Booking]
	Customers *record.Log[record.Customer]
	Notes     *record.Log[record.Note]
	Documents *record.Log[record.Document]
	Payments  *record.Log[record.Payment]
	Expenses  *record.Log[record.Expense]
	Recurring *record.Log[record.RecurringCost]
	Journal   *record.Log[record.JournalEntry]
	Tolls     *record.Log[record.Toll]
	Blocks    *record.Log[record.Block]
	Readings  *record.Log[record.MeterReading]
	Tasks     *record.Log[record.ServiceTask]
	Schedules *record.Log[record.MaintenanceSchedule]
	Reminders *record.Log[record.Reminder]
	Work      *record.Log[record.WorkOrder]
	Issues    *record.Log[record.Issue]

	Inspections *record.Log[record.VehicleInspection] // outside handovers; those are in their booking

	duties      []Duty
	DuePage     int           // how many records a duty reads at a time
	WriteWithin time.Duration // that a revision is written for which a hold was taken
	MayRun      time.Duration // that a command tries again when others write the same booking first
}

// Duty is something that must be done from time to time.
type Duty struct {
	Name  string
	Every time.Duration
	Do    func(ctx context.Context) error
}

// New opens the logs of a store. The calendars are opened by the room that knows who holds something in them.
func New(store *record.Store, db driver.Conn, now func() time.Time, log *slog.Logger) *Base {
	stored := NewStored(db, store.Moment)
	return &Base{
		DB: db, Reads: stored, Fleet: stored, Store: store, Log: log, Now: now, DuePage: 1000, MayRun: 10 * time.Second,
		Accounts: record.NewLog(store, record.Accounts), Vehicles: record.NewLog(store, record.Vehicles),
		Classes: record.NewLog(store, record.VehicleClasses), Locations: record.NewLog(store, record.Locations),
		Tags:      record.NewLog(store, record.DriverTags),
		RatePlans: record.NewLog(store, record.RatePlans), Quotes: record.NewLog(store, record.Quotes),
		Bookings: record.NewLog(store, record.Bookings), Customers: record.NewLog(store, record.Customers),
		Notes: record.NewLog(store, record.Notes), Documents: record.NewLog(store, record.Documents),
		Payments: record.NewLog(store, record.Payments), Expenses: record.NewLog(store, record.Expenses),
		Recurring: record.NewLog(store, record.RecurringCosts),
		Journal:   record.NewLog(store, record.JournalEntries),
		Tolls:     record.NewLog(store, record.Tolls), Blocks: record.NewLog(store, record.Blocks),
		Readings: record.NewLog(store, record.MeterReadings), Tasks: record.NewLog(store, record.ServiceTasks),
		Schedules: record.NewLog(store, record.MaintenanceSchedules), Reminders: record.NewLog(store, record.Reminders),
		Work: record.NewLog(store, record.WorkOrders), Issues: record.NewLog(store, record.Issues),
		Inspections: record.NewLog(store, record.Inspections),
	}
}

// AddDuty adds a duty. It goes by all that this process has said to be written before it begins.
func (d *Base) AddDuty(name string, every time.Duration, do func(ctx context.Context) error) {
	d.duties = append(d.duties, Duty{name, every, func(ctx context.Context) error {
		if err := d.Store.AwaitAll(ctx); err != nil {
			return err
		}
		return do(ctx)
	}})
}

// Duty does the duty of a name once, at once.
func (d *Base) Duty(ctx context.Context, name string) error {
	for _, duty := range d.duties {
		if duty.Name == name {
			return duty.Do(ctx)
		}
	}
	return fmt.Errorf("there is no duty %q", name)
}

// Run does the duties until ctx ends, each in a goroutine of its own: one that takes long keeps none of the others.
func (d *Base) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, duty := range d.duties {
		all.Go(func() { d.do(ctx, duty) })
	}
	all.Wait()
	return nil
}

// do does a duty at once, again after some part of its time, and from then on whenever it is due: so duties, and those
// of other processes, do not all come at one moment.
func (d *Base) do(ctx context.Context, duty Duty) {
	ticker := time.NewTicker(rand.N(duty.Every) + 1)
	defer ticker.Stop()
	for {
		if err := duty.Do(ctx); err != nil && ctx.Err() == nil {
			d.Log.WarnContext(ctx, "a duty failed and is tried again", "duty", duty.Name, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			ticker.Reset(duty.Every)
		}
	}
}
