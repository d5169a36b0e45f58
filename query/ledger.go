package query

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// LedgerFilter says which part of an account's ledger is wanted. Empty lists mean any.
type LedgerFilter struct {
	Account fleet.AccountID
	// days of the books, of transactions those on which they became known; both inclusive, "" for no bound
	From, To     string
	Accounts     []string
	Transactions []uint64
	Kinds        []string // of the records that were the cause
	Sources      []uint64 // their ids
	Bookings     []uint64
	Customers    []uint64
	Vehicles     []uint64
	// of entries alone; 0 and "" are those that have none
	Currencies, Channels       []string
	Classes, Locations, Owners []uint64 // of the vehicle, as it is now
	Tags, Makes, Models        []string // of the vehicle; a model with its make
	Pickups                    []uint64 // locations at which their bookings begin
	Purposes                   []string
	Capital                    string // "true" for what was paid for vehicles and loans, "false" for all else, "" for both

	Descending    bool
	Limit, Offset int
}

// The days that the tables of the ledger can hold.
const firstDate, lastDate = "1970-01-01", "2199-12-31"

func (f *LedgerFilter) named(more ...any) []any {
	from, to := f.From, f.To
	if from < firstDate {
		from = firstDate
	}
	if to == "" || to > lastDate {
		to = lastDate
	}
	if from > lastDate {
		from, to = lastDate, firstDate // nothing lies there
	}
	if to < firstDate {
		from, to = lastDate, firstDate
	}
	return append(more, clickhouse.Named("account", uint64(f.Account)), clickhouse.Named("from", from),
		clickhouse.Named("to", to), clickhouse.Named("accounts", texts(f.Accounts)),
		clickhouse.Named("transactions", ids(f.Transactions)), clickhouse.Named("ids", ids(f.Transactions)),
		clickhouse.Named("pickups", ids(f.Pickups)), clickhouse.Named("purposes", texts(f.Purposes)),
		clickhouse.Named("capital", f.Capital), clickhouse.Named("kinds", texts(f.Kinds)),
		clickhouse.Named("sources", ids(f.Sources)),
		clickhouse.Named("bookings", ids(f.Bookings)), clickhouse.Named("customers", ids(f.Customers)),
		clickhouse.Named("vehicles", ids(f.Vehicles)),
		clickhouse.Named("currencies", texts(f.Currencies)), clickhouse.Named("channels", texts(f.Channels)),
		clickhouse.Named("classes", ids(f.Classes)), clickhouse.Named("locations", ids(f.Locations)),
		clickhouse.Named("owners", ids(f.Owners)), clickhouse.Named("tags", texts(f.Tags)),
		clickhouse.Named("makes", texts(f.Makes)), clickhouse.Named("models", texts(f.Models)),
		clickhouse.Named("limit", uint32(f.Limit)),
		clickhouse.Named("offset", uint32(f.Offset)))
}

// text is a query of the ledger in the direction that is wanted.
func (f *LedgerFilter) text(name string) string {
	if !f.Descending {
		return schemas.Query(name)
	}
	return strings.NewReplacer(">/*behind*/", "<", "ASC/*order*/", "DESC").Replace(schemas.Query(name))
}

// LedgerTransaction is what one revision of a record changed in the books.
type LedgerTransaction struct {
	ID         uint64
	Kind       string // of the record
	Source     uint64 // its id
	Revision   uint64
	OccurredAt time.Time // when the revision was written
	PostedAt   time.Time
	KnownOn    time.Time // a date: the local day of OccurredAt
	Actor      string
	RequestID  string
	Booking    uint64
	Customer   uint64
	Vehicles   []uint64
	Currencies []string
	Debits     []int64 // of each currency, in minor units; the credits are as much
	Entries    int
}

// LedgerTransactions returns one page of transactions by PostedAt and id, behind the one of after, nil for
// the beginning.
func LedgerTransactions(ctx context.Context, db driver.Conn, f LedgerFilter,
	after *LedgerTransaction) ([]LedgerTransaction, error) {
	afterMs, afterID := int64(firstMillis), uint64(0)
	if f.Descending {
		afterMs = lastMillis
	}
	if after != nil {
		afterMs, afterID = min(max(after.PostedAt.UnixMilli(), firstMillis), lastMillis), after.ID
	}
	args := f.named(clickhouse.Named("after_ms", afterMs), clickhouse.Named("after_id", afterID))
	return schemas.AllRows(ctx, db, "list ledger_transactions", f.text("ledger_transactions_list"), args,
		func(t *LedgerTransaction, row schemas.Row) error {
			var entries uint32
			if err := row.Scan(&t.ID, &t.Kind, &t.Source, &t.Revision, &t.OccurredAt, &t.PostedAt, &t.KnownOn, &t.Actor,
				&t.RequestID, &t.Booking, &t.Customer, &t.Vehicles, &t.Currencies, &t.Debits, &entries); err != nil {
				return err
			}
			t.Entries = int(entries)
			return nil
		})
}

// LedgerEntry is an entry of a transaction.
type LedgerEntry struct {
	On          time.Time // a date: the day of the books
	Account     string
	Transaction uint64
	Number      uint32
	ID          uint64
	Amount      int64 // in minor units; a debit is positive
	Currency    string
	Used        time.Time // a date: the day to which it belongs
	Vehicle     uint64
	Class       uint64
	Booking     uint64
	Customer    uint64
	Location    uint64
	Channel     string
	Kind        string // of the record that was the cause
	Source      uint64 // its id
	OccurredAt  time.Time
	Purpose     string // in words, where the account and the record do not say
}

// LedgerEntries gives entries by day, ledger account, transaction and number, behind the one of after, nil for the
// beginning. What goes wrong is the last that it gives.
func LedgerEntries(ctx context.Context, db driver.Conn, f LedgerFilter,
	after *LedgerEntry) iter.Seq2[LedgerEntry, error] {
	anywhere := bit(after == nil)
	if after == nil {
		after = &LedgerEntry{On: time.Unix(0, 0).UTC()}
	}
	return func(yield func(LedgerEntry, error) bool) {
		args := f.named(clickhouse.Named("anywhere", anywhere),
			clickhouse.Named("after_date", after.On.Format(time.DateOnly)), clickhouse.Named("after_account", after.Account),
			clickhouse.Named("after_transaction", after.Transaction), clickhouse.Named("after_entry", after.Number))
		text := f.text("ledger_entries_list")
		err := schemas.EachRow(ctx, db, "list ledger_entries", text, args, func(row schemas.Row) error {
			var e LedgerEntry
			if err := row.Scan(&e.On, &e.Account, &e.Transaction, &e.Number, &e.ID, &e.Amount, &e.Currency, &e.Used,
				&e.Vehicle, &e.Class, &e.Booking, &e.Customer, &e.Location, &e.Channel, &e.Kind, &e.Source, &e.OccurredAt,
				&e.Purpose); err != nil {
				return err
			}
			if !yield(e, nil) {
				return schemas.ErrEnough
			}
			return nil
		})
		if err != nil {
			yield(LedgerEntry{}, err)
		}
	}
}

// LedgerCount returns how many transactions or entries there are on all pages; of is "ledger_transactions"
// or "ledger_entries".
func LedgerCount(ctx context.Context, db driver.Conn, of string, f LedgerFilter) (int, error) {
	var n uint64
	if err := db.QueryRow(ctx, schemas.Query(of+"_count"), f.named()...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count %s: %w", of, err)
	}
	return int(n), nil
}

// LedgerSums returns what the entries that are wanted come to, by currency.
func LedgerSums(ctx context.Context, db driver.Conn, f LedgerFilter) ([]LedgerBalance, error) {
	return schemas.AllRows(ctx, db, "sum ledger entries", schemas.Query("ledger_entries_sums"), f.named(),
		func(b *LedgerBalance, row schemas.Row) error { return row.Scan(&b.Currency, &b.Amount, &b.Entries) })
}

// PostedEntries returns the entries of a transaction as JSON, and the numbers, from one on, of those that are not in
// the table of entries; "" if there is no such transaction.
func PostedEntries(
	ctx context.Context, db driver.Conn, account fleet.AccountID, id uint64,
) (entries string, missing []int, err error) {
	var n uint32
	var present []uint32
	err = db.QueryRow(ctx, schemas.Query("ledger_transaction"), clickhouse.Named("account", uint64(account)),
		clickhouse.Named("id", id)).Scan(&entries, &n, &present)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, fmt.Errorf("read ledger transaction %d: %w", id, err)
	}
	for no := uint32(1); no <= n; no++ {
		if !slices.Contains(present, no) {
			missing = append(missing, int(no))
		}
	}
	return entries, missing, nil
}

// LedgerBalance is what an account of the ledger, or several, comes to in one currency.
type LedgerBalance struct {
	Account  string // "" of several
	Currency string
	Amount   int64 // in minor units; debits are positive
	Entries  uint64
}

// LedgerBalances returns what all accounts come to that were booked on between the days of the filter, of its vehicles.
func LedgerBalances(ctx context.Context, db driver.Conn, f LedgerFilter) ([]LedgerBalance, error) {
	return schemas.AllRows(ctx, db, "read ledger balances", schemas.Query("ledger_balances"), f.named(),
		func(b *LedgerBalance, row schemas.Row) error {
			return row.Scan(&b.Account, &b.Currency, &b.Amount, &b.Entries)
		})
}

// LedgerFaults are counts of what must not be: see ledger_audit.sql.
type LedgerFaults struct{ Unbalanced, Incomplete, Doubled uint64 }

// LedgerAudit looks through the whole ledger of all accounts.
func LedgerAudit(ctx context.Context, db driver.Conn) (LedgerFaults, error) {
	var f LedgerFaults
	if err := db.QueryRow(ctx, schemas.Query("ledger_audit")).Scan(&f.Unbalanced, &f.Incomplete, &f.Doubled); err != nil {
		return f, fmt.Errorf("audit the ledger: %w", err)
	}
	return f, nil
}

// LedgerSampled is a record as it is, with what its entries sum to.
type LedgerSampled struct {
	Account fleet.AccountID
	Kind    string
	ID      uint64
	Body    string
	Sums    map[string]int64 // by "<ledger account> <currency>", in minor units
}

// LedgerSample returns the records of the newest so many transactions of all accounts, but those that have
// just been written.
func LedgerSample(ctx context.Context, db driver.Conn, limit int) ([]LedgerSampled, error) {
	return schemas.AllRows(ctx, db, "read a sample of the ledger", schemas.Query("ledger_sample"), []any{
		clickhouse.Named("limit", uint32(limit)),
	}, func(v *LedgerSampled, row schemas.Row) error {
		var account uint64
		var names []string
		var sums []int64
		s := LedgerSampled{Sums: map[string]int64{}}
		if err := row.Scan(&account, &s.Kind, &s.ID, &s.Body, &names, &sums); err != nil {
			return err
		}
		s.Account = fleet.AccountID(account)
		for i, name := range names {
			s.Sums[name] = sums[i]
		}
		*v = s
		return nil
	})
}
