package query

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// PendingShare is a month of the books of a vehicle that must be looked at for what its owner gets.
type PendingShare struct {
	Account fleet.AccountID
	Vehicle uint64
	Month   time.Time // its first day; 1970-01-01 where it is only to be noted that the vehicle is known
	Basis   uint64    // fingerprint of what is to be looked at
}

// SharesSince is since when what was written is looked at for what owners get: records and entries of the ledger, each
// by the clock of who writes them. The zero value is for all.
type SharesSince struct{ Records, Entries time.Time }

// millis is an instant as queries have it, 0 for none.
func millis(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMilli()
}

// OwnerSharesPending notes which vehicles have become somebody's, and returns what must be looked at of an account, 0
// for all, at most limit of it; what was looked at longest ago comes first. accounts are those of the ledger that
// matter.
func OwnerSharesPending(ctx context.Context, db driver.Conn, account fleet.AccountID, since SharesSince,
	accounts []string, limit int) ([]PendingShare, error) {
	if err := db.Exec(ctx, schemas.Query("owner_shares_known"),
		clickhouse.Named("account", uint64(account)), clickhouse.Named("since", millis(since.Records))); err != nil {
		return nil, fmt.Errorf("note vehicles of owners: %w", err)
	}
	return schemas.AllRows(ctx, db, "read pending shares of owners", schemas.Query("owner_shares_pending"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("records", millis(since.Records)),
		clickhouse.Named("entries", millis(since.Entries)), clickhouse.Named("accounts", accounts),
		clickhouse.Named("limit", uint32(limit)),
	}, func(p *PendingShare, row schemas.Row) error {
		return row.Scan((*uint64)(&p.Account), &p.Vehicle, &p.Month, &p.Basis)
	})
}

// OwnersOfVehicles returns of some vehicles what each day on which they were written says, by vehicle and day. Days are
// those of a time zone.
func OwnersOfVehicles(ctx context.Context, db driver.Conn, account fleet.AccountID, vehicles []uint64,
	zone string) ([]OwnerDay, error) {
	return schemas.AllRows(ctx, db, "read whose vehicles were", schemas.Query("owners_of_vehicles"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicles", vehicles),
		clickhouse.Named("zone", zone),
	}, func(d *OwnerDay, row schemas.Row) error { return row.Scan(&d.Vehicle, &d.Day, &d.Owner, &d.ShareBP) })
}

// OwnerSharesMade returns the expenses by which shares of owners stand in the books, of some vehicles and of the month
// of a number, counted from the year 0.
func OwnerSharesMade(ctx context.Context, db driver.Conn, account fleet.AccountID, vehicles []string,
	month int) ([]Stored, error) {
	return schemas.AllRows(ctx, db, "read shares of owners", schemas.Query("owner_shares_made"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicles", vehicles),
		clickhouse.Named("month", int64(month)),
	}, func(s *Stored, row schemas.Row) error { return row.Scan(&s.ID, &s.Revision, &s.Body) })
}

// NoteSharesLooked notes months of vehicles that were looked at. What is not noted is looked at again. The context may
// carry a token of the insert.
func NoteSharesLooked(ctx context.Context, db driver.Conn, looked []PendingShare, at time.Time) error {
	if len(looked) == 0 {
		return nil
	}
	batch, err := db.PrepareBatch(ctx, "INSERT INTO owner_share_looks (account, vehicle, month, at, basis)")
	if err != nil {
		return fmt.Errorf("note shares of owners: %w", err)
	}
	for _, l := range looked {
		if err := batch.Append(uint64(l.Account), l.Vehicle, l.Month, at, l.Basis); err != nil {
			batch.Abort()
			return fmt.Errorf("note shares of owners: %w", err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("note shares of owners: %w", err)
	}
	return nil
}
