// Package desk is the rental desk: what takes more than one record to do. A booking takes its vehicle's calendar, a
// price and a customer; a return moves the vehicle on; a work order blocks a calendar. The rooms of the interface,
// the duties and the demo all come through here, so that there is one way to do a thing.
//
// A command decides on one record, by compare-and-set, and that decision is the command's outcome. What it needs first
// (a hold in a calendar) it takes first, in a form that lapses by itself if the decision never comes. What follows from
// it (postings, events, the vehicle's state) hangs on the written revision as a record.Consequence, so that a process
// that dies in between leaves nothing undone.
//
// Duties are what the passing of time does: holds lapse, rentals become overdue. Any number of processes do them at
// once; each decision is compare-and-set, so that each is made once.
//
// The desk has rooms, each a package below that knows those under it and none beside or above:
//
//	base      the logs of records, the clock, the duties
//	person    customers: who is who, who may rent, their documents, their erasure
//	books     money: payments, the ledger, what is billed when
//	paper     invoices, statements and agreements: what stands on them, and their numbers
//	cost      what costs by schedule: depreciation, loans, insurance, recurring costs
//	holding   places in the calendars of vehicles and classes
//	yard      vehicles: their states, blocks, meters and inspections
//	workshop  maintenance: reminders, work orders, issues of alerts
//	fact      what reports stand on: facts of vehicles and rentals by local day
//	audit     reconciliation: what is stored twice, held against each other and repaired
//	desk      bookings, and what they need and cost; here all are opened, and their duties begin
package desk

import (
	"context"
	"log/slog"
	"runtime"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/api/command"
	"github.com/motorpool/fleet/api/desk/audit"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/desk/books"
	"github.com/motorpool/fleet/api/desk/cost"
	"github.com/motorpool/fleet/api/desk/fact"
	"github.com/motorpool/fleet/api/desk/holding"
	"github.com/motorpool/fleet/api/desk/paper"
	"github.com/motorpool/fleet/api/desk/person"
	"github.com/motorpool/fleet/api/desk/workshop"
	"github.com/motorpool/fleet/api/desk/yard"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas"
)

// Desk does the business of all accounts: it has the rooms, and does bookings itself. It is safe for concurrent use.
type Desk struct {
	*base.Base
	Persons  *person.Persons
	Books    *books.Books
	Papers   *paper.Papers
	Costs    *cost.Costs
	Holds    *holding.Holds
	Yard     *yard.Yard
	Workshop *workshop.Workshop
	Facts    *fact.Facts
	Audit    *audit.Audit
	Sender   *command.Sender // of commands to trackers, whose duty is done with those of the desk

	searches chan struct{} // those that look through vehicles at a time
}

// New opens a desk over a store and has its consequences follow from what the store writes.
func New(store *record.Store, db driver.Conn, now func() time.Time, log *slog.Logger) *Desk {
	b := base.New(store, db, now, log)
	d := &Desk{Base: b, Persons: person.New(b), Books: books.New(b), Papers: paper.New(b),
		Holds:  holding.New(b),
		Sender: command.New(store, db, now), searches: make(chan struct{}, runtime.GOMAXPROCS(0))}
	d.Costs = cost.New(b, d.Books)
	d.Yard = yard.New(b, d.Holds)
	d.Workshop = workshop.New(b, d.Books, d.Holds, d.Yard)
	d.Facts = fact.New(b)
	d.Audit = audit.New(b, d.Books, d.Holds, d.Facts)
	// Each registers its consequences (Store.Then) and duties (AddDuty). Of two consequences of one kind of record the
	// first is done first.
	d.AddDuty("settle", 10*time.Second, store.SettleConsequences)
	d.AddDuty("mend", time.Minute, store.Mend)
	d.AddDuty("retention", 10*time.Minute, func(ctx context.Context) error { return schemas.Retain(ctx, db, now()) })
	d.AddDuty("checkpoints", 24*time.Hour, func(ctx context.Context) error {
		return schemas.ThinCheckpoints(ctx, db, now())
	})
	d.Persons.Register()
	d.Books.Register()
	d.Papers.Register()
	d.Costs.Register()
	d.registerTolls()
	d.expenses()
	d.Holds.Register()
	d.bookingDuties()
	d.Workshop.Register()
	d.Yard.Register()
	d.Facts.Register()
	d.Audit.Register()
	d.AddDuty("commands to trackers", command.Every, d.Sender.Tend)
	return d
}
