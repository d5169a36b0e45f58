package query

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Papers is how papers are listed; the interface chooses among their kinds.
var Papers = Listing{Table: "papers", Fields: []ListField{
	{Name: "kind", Type: TextField},
	{Name: "number", Type: CodeField, Few: true, Sort: true},
	{Name: "status", Type: TextField},
	{Name: "booking_id", Type: TextField, Few: true},
	{Name: "customer_id", Type: TextField, Few: true},
	{Name: "payment_id", Type: TextField, Few: true},
	{Name: "invoice_id", Type: TextField, Few: true},
	{Name: "month", Type: TextField, Range: true, Sort: true},
	{Name: "currency", Type: WordsField},
	{Name: "issued_on", Type: TextField, Range: true, Sort: true},
	{Name: "due_on", Type: TextField, Range: true, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"number"}, Related: []Related{ofBooking, ofCustomer}}

// StoredPaper is a paper with the name of its kind.
type StoredPaper struct {
	Stored
	Kind string
}

// PapersOfBooking returns the papers of some kinds of a booking, archived or not.
func PapersOfBooking(ctx context.Context, db driver.Conn, account fleet.AccountID, booking string,
	kinds ...string) ([]StoredPaper, error) {
	return papersOf(ctx, db, account, kinds, booking, "", "")
}

// PapersOfOwner returns the papers of a kind of an owner in a currency, archived or not.
func PapersOfOwner(ctx context.Context, db driver.Conn, account fleet.AccountID, kind, owner,
	currency string) ([]StoredPaper, error) {
	return papersOf(ctx, db, account, []string{kind}, "", owner, currency)
}

func papersOf(ctx context.Context, db driver.Conn, account fleet.AccountID, kinds []string,
	booking, owner, currency string) ([]StoredPaper, error) {
	return schemas.AllRows(ctx, db, "read papers", schemas.Query("papers_of"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("kinds", kinds),
		clickhouse.Named("booking", booking), clickhouse.Named("owner", owner), clickhouse.Named("currency", currency),
	}, func(p *StoredPaper, row schemas.Row) error {
		return row.Scan(&p.ID, &p.Kind, &p.Revision, &p.CreatedAt, &p.UpdatedAt, &p.ArchivedAt, &p.Body)
	})
}

// PaperRef names a paper.
type PaperRef struct {
	Account fleet.AccountID
	Kind    string
	ID      uint64
}

// PapersIssuing returns papers of all accounts that were sealed until an instant and have no number yet.
func PapersIssuing(ctx context.Context, db driver.Conn, until time.Time, limit int) ([]PaperRef, error) {
	return schemas.AllRows(ctx, db, "read papers without a number", schemas.Query("papers_issuing"), []any{
		clickhouse.Named("until", until), clickhouse.Named("limit", uint32(limit)),
	}, func(p *PaperRef, row schemas.Row) error {
		return row.Scan((*uint64)(&p.Account), &p.Kind, &p.ID)
	})
}

// PaperPersons returns who some papers name, as JSON, by paper; sealings are those of which they speak. Of whom nothing
// is kept any more is left out.
func PaperPersons(ctx context.Context, db driver.Conn, account fleet.AccountID,
	sealings map[uint64]uint64) (map[uint64]string, error) {
	found := map[uint64]string{}
	if len(sealings) == 0 {
		return found, nil
	}
	err := schemas.EachRow(ctx, db, "read who papers name", schemas.Query("paper_persons_of"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("papers", slices.Sorted(maps.Keys(sealings))),
		clickhouse.Named("sealings", slices.Sorted(maps.Values(sealings))),
	}, func(row schemas.Row) error {
		var paper, sealing uint64
		var body string
		if err := row.Scan(&paper, &sealing, &body); err != nil {
			return err
		}
		if sealings[paper] == sealing {
			found[paper] = body
		}
		return nil
	})
	return found, err
}

// PaperPersonsLapsed returns customers who were erased and of whom papers speak that need not be kept on a day.
func PaperPersonsLapsed(ctx context.Context, db driver.Conn, today time.Time) ([]CustomerRef, error) {
	return schemas.AllRows(ctx, db, "read of whom papers need not speak any more", schemas.Query("paper_persons_lapsed"),
		[]any{clickhouse.Named("today", today.Format(time.DateOnly))},
		func(c *CustomerRef, row schemas.Row) error { return row.Scan((*uint64)(&c.Account), &c.ID) })
}

// OwnerEntry is what stands in the ledger because of a vehicle: the sum of its entries of one account and booking, of
// costs of one record.
type OwnerEntry struct {
	Vehicle, Booking uint64
	Account          string
	Cost             uint64 // the record that a cost is of; 0 for what a booking brought
	Kind             string // of the record that was posted
	Amount           int64  // a debit is positive
	FirstOn          time.Time
}

// OwnerLedger returns what stands on some accounts because of some vehicles, in a span of days of the books.
func OwnerLedger(ctx context.Context, db driver.Conn, account fleet.AccountID, vehicles []uint64, currency, from,
	until string, accounts []string) ([]OwnerEntry, error) {
	return schemas.AllRows(ctx, db, "read the ledger of an owner", schemas.Query("owner_ledger"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicles", vehicles),
		clickhouse.Named("currency", currency), clickhouse.Named("from", from), clickhouse.Named("to", until),
		clickhouse.Named("accounts", accounts),
	}, func(e *OwnerEntry, row schemas.Row) error {
		return row.Scan(&e.Vehicle, &e.Booking, &e.Account, &e.Cost, &e.Kind, &e.Amount, &e.FirstOn)
	})
}

// OwnerVehicles returns the vehicles that are an owner's.
func OwnerVehicles(ctx context.Context, db driver.Conn, account fleet.AccountID, owner string) ([]uint64, error) {
	return schemas.AllRows(ctx, db, "read the vehicles of an owner", schemas.Query("owner_vehicles"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("owner", owner),
	}, func(id *uint64, row schemas.Row) error { return row.Scan(id) })
}
