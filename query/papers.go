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

// OwnerDay is whose a vehicle is from a day on, "" for nobody, and for which share.
type OwnerDay struct {
	Vehicle uint64
	Day     time.Time
	Owner   string
	ShareBP int64
}

// OwnerDays returns of the vehicles that were ever an owner's what each day on which they were written says, by vehicle
// and day. Days are those of a time zone.
func OwnerDays(ctx context.Context, db driver.Conn, account fleet.AccountID, owner, zone string) ([]OwnerDay, error) {
	return schemas.AllRows(ctx, db, "read whose vehicles were", schemas.Query("owner_days"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("owner", owner), clickhouse.Named("zone", zone),
	}, func(d *OwnerDay, row schemas.Row) error { return row.Scan(&d.Vehicle, &d.Day, &d.Owner, &d.ShareBP) })
}

// OwnerSpan is a span of days, both of which count, in which a vehicle is an owner's for a share.
type OwnerSpan struct {
	Vehicle     uint64
	Owner       string
	From, Until string
	ShareBP     int64
}

// OwnerEntry is what stands in the ledger because of a vehicle on a day: the sum of its entries of one account and
// booking, of costs of one record.
type OwnerEntry struct {
	Vehicle, Booking uint64
	ShareBP          int64
	Account          string
	Cost             uint64 // the record that a cost is of; 0 for what a booking brought
	Kind             string // of the record that was posted
	Currency         string
	Amount           int64 // a debit is positive
	On               time.Time
}

// OwnerLedger returns what stands on some accounts because of vehicles, in spans of days of the books, of which those
// of a vehicle do not overlap, in one currency or, if that is "", in all.
func OwnerLedger(ctx context.Context, db driver.Conn, account fleet.AccountID, spans []OwnerSpan, currency string,
	accounts []string) ([]OwnerEntry, error) {
	if len(spans) == 0 {
		return nil, nil
	}
	var vehicles []uint64
	var since, until []string
	var shares []int64
	for _, s := range spans {
		vehicles, shares = append(vehicles, s.Vehicle), append(shares, s.ShareBP)
		since, until = append(since, s.From), append(until, s.Until)
	}
	return schemas.AllRows(ctx, db, "read the ledger of an owner", schemas.Query("owner_ledger"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicles", vehicles),
		clickhouse.Named("since", since), clickhouse.Named("until", until), clickhouse.Named("shares", shares),
		clickhouse.Named("from", slices.Min(since)), clickhouse.Named("to", slices.Max(until)),
		clickhouse.Named("currency", currency), clickhouse.Named("accounts", accounts),
	}, func(e *OwnerEntry, row schemas.Row) error {
		return row.Scan(&e.Vehicle, &e.ShareBP, &e.Booking, &e.Account, &e.Cost, &e.Kind, &e.Currency, &e.Amount, &e.On)
	})
}
