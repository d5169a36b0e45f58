package rent

import (
	"cmp"
	"context"
	"encoding/csv"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/sheet"
	"github.com/motorpool/fleet/query"
)

// The ledger as a sheet is for people: accounts by number and name, vehicles by plate, bookings by number, amounts with
// decimals. Who reads it with a program takes the other formats, or the columns behind, which say the same by ids.

// ledgerColumns are the columns of the sheet.
var ledgerColumns = []string{"local_on", "account_number", "account_name", "description", "debit", "credit",
	"amount", "currency", "license_plate", "vehicle_name", "booking_number", "customer_number", "customer_name",
	"used_on", "known_on", "ledger_account", "kind", "source_id", "vehicle_id", "booking_id", "customer_id",
	"transaction_id", "id"}

// sheetRows is for how many entries names are looked up at a time.
const sheetRows = 500

// writeLedgerSheet writes entries as a sheet.
func (a *API) writeLedgerSheet(r *http.Request, db driver.Conn, to io.Writer,
	entries iter.Seq2[query.LedgerEntry, error]) error {
	p := auth.From(r.Context())
	rec, err := a.accounts.Get(r.Context(), p.Account, uint64(p.Account))
	if err != nil {
		return err
	}
	zone := fleet.ZoneOf(rec.Body.Timezone)
	names := &ledgerNames{db: db, account: p.Account, may: p.Has}
	sheet := csv.NewWriter(to)
	if err := sheet.Write(ledgerColumns); err != nil {
		return err
	}
	some := make([]query.LedgerEntry, 0, sheetRows)
	flush := func() error {
		if err := names.learn(r.Context(), some); err != nil {
			return err
		}
		for i := range some {
			if err := sheet.Write(ledgerRow(&some[i], rec.Body.LedgerChart, names, zone)); err != nil {
				return err
			}
		}
		some = some[:0]
		sheet.Flush()
		return sheet.Error()
	}
	for e, err := range entries {
		if err != nil {
			return err
		}
		if some = append(some, e); len(some) == sheetRows {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// ledgerRow is an entry as the sheet has it.
func ledgerRow(e *query.LedgerEntry, chart map[string]record.LedgerLabel, names *ledgerNames,
	zone *time.Location) []string {
	label, view := labelOf(chart, e.Account), showLedgerEntry(e, chart)
	decimal := func(amount int64) string {
		if amount == 0 {
			return ""
		}
		return price.Decimal(record.Money{Amount: amount, Currency: e.Currency})
	}
	car, customer := names.of(fleet.VehiclePrefix, e.Vehicle), names.of(fleet.CustomerPrefix, e.Customer)
	if !names.may(auth.CustomersRead) {
		customer.text = ""
	}
	row := []string{view.LocalOn, label.Number, label.Name, names.of(e.Kind, e.Source).description(e.Purpose),
		"", "", decimal(e.Amount), e.Currency, car.number, car.text, names.of(fleet.BookingPrefix, e.Booking).number,
		customer.number, customer.text, view.UsedOn, e.OccurredAt.In(zone).Format(time.DateOnly),
		e.Account, e.Kind, view.SourceID}
	if e.Amount > 0 {
		row[4] = decimal(e.Amount)
	} else {
		row[5] = decimal(-e.Amount)
	}
	for _, id := range []*string{view.VehicleID, view.BookingID, view.CustomerID} {
		text := ""
		if id != nil {
			text = *id
		}
		row = append(row, text)
	}
	row = append(row, view.TransactionID, view.ID)
	for i := range row {
		if i < 4 || i > 6 { // amounts are no text
			row[i] = sheet.InertCell(row[i])
		}
	}
	return row
}

// ledgerName is what people call a record.
type ledgerName struct {
	text, number string
	more         []string // of what entries are for
}

// description says what an entry is for: "Payment P-1004: refund, card".
func (n ledgerName) description(purpose string) string {
	said := slices.DeleteFunc(append([]string{purpose}, n.more...), func(part string) bool { return part == "" })
	if len(said) == 0 {
		return n.text
	}
	return n.text + ": " + strings.Join(said, ", ")
}

// ledgerNames knows what the records are called that entries are about, by the prefixes of their ids, and what entries
// of a kind of record are for, by the kind.
type ledgerNames struct {
	db      driver.Conn
	account fleet.AccountID
	may     func(auth.Scope) bool
	known   map[string]map[uint64]ledgerName
	count   int // of what is known
}

// mostNames bounds how many names are remembered.
const mostNames = 100_000

func (n *ledgerNames) of(sort string, id uint64) ledgerName { return n.known[sort][id] }

// learn looks up what is not known yet of what some entries are about.
func (n *ledgerNames) learn(ctx context.Context, entries []query.LedgerEntry) error {
	if n.known == nil || n.count > mostNames {
		n.known, n.count = map[string]map[uint64]ledgerName{}, 0
	}
	wanted := map[string][]uint64{}
	want := func(sort string, id uint64) {
		if n.known[sort] == nil {
			n.known[sort] = map[uint64]ledgerName{}
		}
		if _, ok := n.known[sort][id]; !ok && id != 0 {
			n.known[sort][id] = ledgerName{}
			n.count++
			wanted[sort] = append(wanted[sort], id)
		}
	}
	for i := range entries {
		e := &entries[i]
		if n.may(auth.VehiclesRead) {
			want(fleet.VehiclePrefix, e.Vehicle)
		}
		want(fleet.BookingPrefix, e.Booking)
		want(fleet.CustomerPrefix, e.Customer)
		if e.Kind != record.WorkOrders.Name || n.may(auth.MaintenanceRead) {
			want(e.Kind, e.Source)
		}
	}
	for _, sort := range ledgerSorts {
		found, err := query.RecordsByID(ctx, n.db, sort.from, n.account, wanted[sort.name])
		if err != nil {
			return err
		}
		for id, stored := range found {
			if n.known[sort.name][id], err = sort.call(n.account, stored); err != nil {
				return err
			}
		}
	}
	return nil
}

// ledgerSorts says where the records are that entries are about, and what they are called.
var ledgerSorts = []struct {
	name string
	from *query.Listing
	call func(fleet.AccountID, query.Stored) (ledgerName, error)
}{
	{fleet.VehiclePrefix, &query.Vehicles, nameFrom(func(v *record.Vehicle) ledgerName {
		return ledgerName{text: cmp.Or(v.Nickname, strings.TrimSpace(v.Make+" "+v.Model)),
			number: cmp.Or(v.LicensePlate, v.FleetNumber)}
	})},
	{fleet.BookingPrefix, &query.Bookings, nameFrom(func(b *record.Booking) ledgerName {
		return ledgerName{number: b.Number}
	})},
	{fleet.CustomerPrefix, &query.Customers, nameFrom(func(c *record.Customer) ledgerName {
		return ledgerName{text: cmp.Or(strings.TrimSpace(c.FirstName+" "+c.LastName), c.CompanyName), number: c.Number}
	})},
	{record.Bookings.Name, &query.Bookings, nameFrom(func(b *record.Booking) ledgerName {
		return described("Booking " + b.Number)
	})},
	{record.Payments.Name, &query.Payments, nameFrom(func(p *record.Payment) ledgerName {
		what := "Payment " + p.Number
		if p.Direction == "out" {
			what += " to the customer"
		}
		return described(what, strings.ReplaceAll(p.Method, "_", " "), p.Provider, p.ProviderRef)
	})},
	{record.Expenses.Name, &query.Expenses, nameFrom(func(e *record.Expense) ledgerName {
		return described("Expense", strings.ReplaceAll(e.Category, "_", " "), e.Vendor, e.Description)
	})},
	{record.WorkOrders.Name, &query.WorkOrders, nameFrom(func(w *record.WorkOrder) ledgerName {
		return described("Work order "+w.Number, w.Title, w.Vendor)
	})},
	{record.Tolls.Name, &query.Tolls, nameFrom(func(t *record.Toll) ledgerName {
		what := "Toll"
		if t.Kind == "fine" {
			what = "Fine"
		}
		return described(what, t.Agency, t.Place, t.Reference)
	})},
	{record.JournalEntries.Name, &query.JournalEntries, nameFrom(func(j *record.JournalEntry) ledgerName {
		return described("Journal entry "+j.Number, j.Memo)
	})},
}

// nameFrom gives the name of a record that is stored.
func nameFrom[T any](name func(*T) ledgerName) func(fleet.AccountID, query.Stored) (ledgerName, error) {
	return func(account fleet.AccountID, stored query.Stored) (ledgerName, error) {
		rec, err := rest.FromStored[T](account, stored)
		return name(&rec.Body), err
	}
}

// described is what entries are for: "Expense", and "insurance", "Acme Mutual".
func described(what string, parts ...string) ledgerName {
	return ledgerName{text: what, more: parts}
}

// downloadLedgerSheet answers with entries as a sheet.
func (a *API) downloadLedgerSheet(w http.ResponseWriter, r *http.Request, db driver.Conn, f query.LedgerFilter) error {
	return a.Download(w, r, export.CSV, "ledger-entries", func(w http.ResponseWriter) error {
		return a.writeLedgerSheet(r, db, w, query.LedgerEntries(r.Context(), db, f, nil))
	})
}
