package books

import (
	"context"
	"fmt"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// JournalFor completes an entry by hand: it notes under what each of its lines stands in the ledger, so that it is
// reversed as it was posted. An id of no record of the account, and a day on which the books are closed, are a
// *fleet.Error of the code fleet.CodeValidation.
func (d *Books) JournalFor(ctx context.Context, account fleet.AccountID, j *record.JournalEntry) error {
	if err := d.Open(ctx, account, "/on", j.On); err != nil {
		return err
	}
	var refs []record.Ref
	ref := func(kind, prefix, text string) {
		if id, err := fleet.ParseID(prefix, text); err == nil {
			refs = append(refs, record.Ref{Kind: kind, ID: id})
		}
	}
	for i := range j.Lines {
		ref(d.Vehicles.Kind().Name, fleet.VehiclePrefix, j.Lines[i].VehicleID)
		ref(d.Customers.Kind().Name, fleet.CustomerPrefix, j.Lines[i].CustomerID)
		ref(d.Locations.Kind().Name, fleet.LocationPrefix, j.Lines[i].LocationID)
	}
	seen, err := d.Store.See(ctx, account, refs...)
	if err != nil {
		return err
	}
	var faults []fleet.FieldError
	there := func(noun, prefix, text, pointer string) (id uint64) {
		if text == "" {
			return 0
		}
		id, err := fleet.ParseID(prefix, text)
		if _, ok := seen.Body(record.Ref{Kind: noun, ID: id}); err != nil || !ok {
			faults = append(faults, fleet.NoSuch(pointer, noun, prefix, text))
			return 0
		}
		return id
	}
	j.BookedFor = make([]record.BookedFor, len(j.Lines))
	for i := range j.Lines {
		l, f, at := &j.Lines[i], &j.BookedFor[i], fmt.Sprintf("/lines/%d", i)
		f.VehicleID, f.CustomerID, f.LocationID = l.VehicleID, l.CustomerID, l.LocationID
		there(d.Customers.Kind().Name, fleet.CustomerPrefix, l.CustomerID, at+"/customer_id")
		there(d.Locations.Kind().Name, fleet.LocationPrefix, l.LocationID, at+"/location_id")
		id := there(d.Vehicles.Kind().Name, fleet.VehiclePrefix, l.VehicleID, at+"/vehicle_id")
		if id == 0 {
			continue
		}
		v, _, err := d.Vehicles.In(seen, account, id)
		if err != nil {
			return err
		}
		if f.ClassID = v.Body.ClassID; f.LocationID == "" {
			f.LocationID = v.Body.HomeLocationID
		}
	}
	if faults != nil {
		return fleet.Invalid(faults...)
	}
	return nil
}

// Open refuses a local day on which an account's books are closed, so that what is written by hand counts on the day
// that it says. It looks before the write: where the books are closed between the two, the entries count on the first
// open day, as those of all records do, and nothing that was closed changes.
func (d *Books) Open(ctx context.Context, account fleet.AccountID, pointer, text string) error {
	_, closed, err := d.booksOf(ctx, account)
	if err != nil {
		return err
	}
	if day, err := ledger.ParseDay(text); err == nil && closed != 0 && day <= closed {
		return fleet.Invalid(fleet.FieldError{Pointer: pointer, Code: "books_closed", Detail: fmt.Sprintf(
			"the books are closed through %s; give %s or a later day, or reopen them with POST /v1/ledger/reopen", closed,
			closed+1)})
	}
	return nil
}
