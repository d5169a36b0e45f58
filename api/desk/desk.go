// Package desk is the rental desk: what takes more than one record to do. A booking takes its vehicle's calendar, a price and
// a customer; a return moves the vehicle on; a work order blocks a calendar. The handlers of package api, the timers and the
// demo fleet all come through here, so that there is one way to do a thing.
//
// A command decides on one record, by compare-and-set, and that decision is the command's outcome. What it needs first (a hold
// in a calendar) it takes first, in a form that lapses by itself if the decision never comes. What follows from it (postings,
// events, the vehicle's state) hangs on the written revision as a record.Consequence, so that a process that dies in between
// leaves nothing undone.
//
// Duties are what the passing of time does: holds lapse, rentals become overdue. Any number of processes do them at once; each
// decision is compare-and-set, so that each is made once.
package desk

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
	"github.com/motorpool/fleet/api/traccar"
	"github.com/motorpool/fleet/schemas"
)

// Desk does the business of all accounts. It is safe for concurrent use.
type Desk struct {
	DB    driver.Conn
	Store *record.Store
	Log   *slog.Logger
	Now   func() time.Time

	// Past says that what is done was over long ago, and that the vehicles are where later events have brought them: their states are neither
	// asked nor changed. A booking may be backdated although it is still to come by the desk's clock. For who makes up a past; it is not set
	// while something is being done.
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
	Tolls     *record.Log[record.Toll]
	Blocks    *record.Log[record.Block]
	Readings  *record.Log[record.MeterReading]
	Tasks     *record.Log[record.ServiceTask]
	Schedules *record.Log[record.MaintenanceSchedule]
	Reminders *record.Log[record.Reminder]
	Work      *record.Log[record.WorkOrder]
	Issues    *record.Log[record.Issue]

	Devices  *record.Log[record.Device]
	Commands *record.Log[record.DeviceCommand] // to trackers
	Traccar  *traccar.Client                   // sends them; nil: there is none
	waits    *commandWaits                     // commands that wait

	Inspections *record.Log[record.VehicleInspection] // outside handovers; those are in their booking

	wants       map[string]wants // by the prefix of who holds something
	duties      []Duty
	duePage     int           // how many records a duty reads at a time
	writeWithin time.Duration // that a revision is written for which a hold was taken
	mayRun      time.Duration // that a command tries again when others write the same booking first
}

// Duty is something that must be done from time to time.
type Duty struct {
	Name  string
	Every time.Duration
	Do    func(ctx context.Context) error
}

// New opens a desk over a store and has its consequences follow from what the store writes.
func New(store *record.Store, db driver.Conn, now func() time.Time, log *slog.Logger) *Desk {
	d := &Desk{wants: map[string]wants{},
		DB: db, Store: store, Log: log, Now: now, duePage: 1000, mayRun: 10 * time.Second,
		Accounts: record.NewLog(store, record.Accounts), Vehicles: record.NewLog(store, record.Vehicles),
		Classes: record.NewLog(store, record.VehicleClasses), Locations: record.NewLog(store, record.Locations),
		Tags:      record.NewLog(store, record.DriverTags),
		RatePlans: record.NewLog(store, record.RatePlans), Quotes: record.NewLog(store, record.Quotes),
		Bookings: record.NewLog(store, record.Bookings), Customers: record.NewLog(store, record.Customers),
		Notes: record.NewLog(store, record.Notes), Documents: record.NewLog(store, record.Documents),
		Payments: record.NewLog(store, record.Payments), Expenses: record.NewLog(store, record.Expenses),
		Tolls: record.NewLog(store, record.Tolls), Blocks: record.NewLog(store, record.Blocks),
		Readings: record.NewLog(store, record.MeterReadings), Tasks: record.NewLog(store, record.ServiceTasks),
		Schedules: record.NewLog(store, record.MaintenanceSchedules), Reminders: record.NewLog(store, record.Reminders),
		Work: record.NewLog(store, record.WorkOrders), Issues: record.NewLog(store, record.Issues),
		Inspections: record.NewLog(store, record.Inspections),
		Devices:     record.NewLog(store, record.Devices), Commands: record.NewLog(store, record.DeviceCommands), waits: &commandWaits{},
	}
	d.openCalendars(calendar.DefaultConfig())
	// One line a subject: each registers its consequences (Store.Then) and duties (d.duty), in a file of its own.
	d.duty("settle", 10*time.Second, store.Settle)
	d.duty("mend", time.Minute, store.Mend)
	d.duty("retention", 10*time.Minute, func(ctx context.Context) error { return schemas.Retain(ctx, db, now()) })
	d.mergeCustomers()
	d.dropFiles()
	d.keepBooks()
	d.prepayments()
	d.tolls()
	d.expenses()
	d.bookings()
	d.doNotRent()
	d.eraseCustomers()
	d.maintenance()
	d.inspections()
	d.alerts()
	d.vehicles()
	d.readings()
	d.deviceCommands()
	return d
}

// duty adds a duty.
func (d *Desk) duty(name string, every time.Duration, do func(ctx context.Context) error) {
	d.duties = append(d.duties, Duty{name, every, do})
}

// Duty does the duty of a name once, at once.
func (d *Desk) Duty(ctx context.Context, name string) error {
	for _, duty := range d.duties {
		if duty.Name == name {
			return duty.Do(ctx)
		}
	}
	return fmt.Errorf("there is no duty %q", name)
}

// Run does the duties until ctx ends, each in a goroutine of its own: one that takes long keeps none of the others.
func (d *Desk) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, duty := range d.duties {
		all.Go(func() { d.do(ctx, duty) })
	}
	all.Wait()
	return nil
}

// do does a duty at once, again after some part of its time, and from then on whenever it is due: so duties, and those of other processes, do
// not all come at one moment.
func (d *Desk) do(ctx context.Context, duty Duty) {
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

// Duties returns what Run does.
func (d *Desk) Duties() []Duty { return d.duties }
