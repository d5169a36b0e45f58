package query

import (
	"context"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Customers is how customers are listed.
var Customers = Listing{Table: "customers", Fields: []ListField{
	{Name: "number", Column: byNumber, Type: CodeField, Few: true, Sort: true},
	{Name: "type", Type: TextField, Sort: true},
	{Name: "display_name", Type: WordsField, Sort: true},
	{Name: "last_name", Type: WordsField, Sort: true},
	{Name: "company_name", Type: WordsField, Sort: true},
	{Name: "email", Type: WordsField, Sort: true},
	{Name: "phone", Type: CodeField},
	{Name: "date_of_birth", Type: TextField},
	{Name: "city", Type: WordsField, Sort: true},
	{Name: "country", Type: WordsField, Sort: true},
	{Name: "lifecycle", Type: TextField, Sort: true},
	{Name: "risk_level", Type: TextField, Sort: true},
	{Name: "assigned_to", Type: WordsField, Sort: true},
	{Name: "tags", Type: TagsField},
	{Name: "do_not_rent", Type: TextField},
	{Name: "licence_country", Type: WordsField},
	{Name: "licence_expires_on", Type: TextField, Range: true, Sort: true},
	{Name: "licence_verification", Type: TextField, Sort: true},
	{Name: "merged_into", Type: TextField},
	{Name: "possible_duplicate_of", Type: TextField},
	{Name: "possible_duplicates", Type: TextField},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"number", "display_name", "first_name", "last_name", "company_name", "email", "phone", "tags"}}

// CustomerNotes is how notes are listed.
var CustomerNotes = Listing{Table: "customer_notes", Fields: []ListField{
	{Name: "customer_id", Type: TextField, Few: true},
	{Name: "author", Type: TextField},
	{Name: "pinned", Type: TextField, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"text"}}

// Documents is how documents are listed.
var Documents = Listing{Table: "documents", Fields: []ListField{
	{Name: "customer_id", Type: TextField, Few: true},
	{Name: "kind", Type: TextField, Sort: true},
	{Name: "expires_on", Type: TextField, Range: true, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"name"}}

// AnyListed says in which of some accounts any customer is on the do-not-rent list, or was until lately.
func AnyListed(ctx context.Context, db driver.Conn, accounts []fleet.AccountID) (map[fleet.AccountID]bool, error) {
	ids := make([]uint64, len(accounts))
	for i, account := range accounts {
		ids[i] = uint64(account)
	}
	found, err := readIDs(ctx, db, "customers_listed_in", clickhouse.Named("accounts", ids))
	listed := make(map[fleet.AccountID]bool, len(found))
	for _, account := range found {
		listed[fleet.AccountID(account)] = true
	}
	return listed, err
}

// Known is what somebody on the do-not-rent list is known by.
type Known struct {
	Licence bool // its number
	Birth   bool // name and birth date
	Email   bool
	Phone   bool
}

// ListedKnown returns by what an account's customers are known that are on the do-not-rent list at an instant: each set
// of what is known once.
func ListedKnown(ctx context.Context, db driver.Conn, account fleet.AccountID, now time.Time) ([]Known, error) {
	return schemas.AllRows(ctx, db, "read what the do-not-rent list tells", schemas.Query("customers_listed"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("now", now.UnixMilli()),
	}, func(k *Known, row schemas.Row) error {
		return row.Scan(&k.Licence, &k.Birth, &k.Email, &k.Phone)
	})
}

// ListedLately returns the customers of all accounts that are on the do-not-rent list and were written
// since an instant.
func ListedLately(ctx context.Context, db driver.Conn, since time.Time) ([]CustomerRef, error) {
	return schemas.AllRows(ctx, db, "read who came on the do-not-rent list",
		schemas.Query("customers_listed_lately"), []any{
			clickhouse.Named("since", since.UnixMilli()),
		}, (*CustomerRef).scan)
}

// CustomerFamily returns customers with all that were merged into them, directly or not.
func CustomerFamily(ctx context.Context, db driver.Conn, account fleet.AccountID, ids ...uint64) ([]uint64, error) {
	family, _, err := mergedFamily(ctx, db, "customers_merged", account, ids)
	return family, err
}

// CustomerFamilies is CustomerFamily of each of some customers.
func CustomerFamilies(ctx context.Context, db driver.Conn, account fleet.AccountID,
	ids []uint64) (map[uint64][]uint64, error) {
	all, into, err := mergedFamily(ctx, db, "customers_merged", account, ids)
	families := make(map[uint64][]uint64, len(ids))
	for _, id := range ids {
		families[id] = []uint64{}
	}
	for _, member := range all {
		seen := map[uint64]bool{}
		for at, merged := member, true; merged && !seen[at]; at, merged = into[at], into[at] != 0 {
			seen[at] = true
			if of, asked := families[at]; asked {
				families[at] = append(of, member)
			}
		}
	}
	return families, err
}

// WholeCustomerFamily is CustomerFamily with those whose merge the table of customers does not know yet. It reads all
// customers of the account: it is for what must miss none.
func WholeCustomerFamily(ctx context.Context, db driver.Conn, account fleet.AccountID, id uint64) ([]uint64, error) {
	family, _, err := mergedFamily(ctx, db, "customers_merged_log", account, []uint64{id})
	return family, err
}

// mergedFamily follows the merges that a query tells, from the customers that stayed. It returns all of them, and into
// whom those were merged that were.
func mergedFamily(ctx context.Context, db driver.Conn, query string, account fleet.AccountID,
	ids []uint64) (family []uint64, into map[uint64]uint64, err error) {
	family, into = []uint64{}, map[uint64]uint64{}
	seen := map[uint64]bool{}
	for next := ids; len(next) > 0; {
		var names []string
		for _, id := range next {
			if !seen[id] {
				seen[id] = true
				family, names = append(family, id), append(names, fleet.FormatID(fleet.CustomerPrefix, id))
			}
		}
		if len(names) == 0 {
			break
		}
		if next, err = mergedInto(ctx, db, query, account, names, into); err != nil {
			return nil, nil, err
		}
	}
	return family, into, nil
}

// mergedInto returns the customers that were merged into some, and notes of each into whom.
func mergedInto(ctx context.Context, db driver.Conn, query string, account fleet.AccountID, names []string,
	into map[uint64]uint64) ([]uint64, error) {
	return schemas.AllRows(ctx, db, "read "+query, schemas.Query(query), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("into", names),
	}, func(id *uint64, row schemas.Row) error {
		var name string
		if err := row.Scan(id, &name); err != nil {
			return err
		}
		other, err := fleet.ParseID(fleet.CustomerPrefix, name)
		into[*id] = other
		return err
	})
}

// CustomerRef names a customer of an account.
type CustomerRef struct {
	Account fleet.AccountID
	ID      uint64
}

// CustomersErasing returns the customers of all accounts whose erasure was decided; among them may be some
// that are done.
func CustomersErasing(ctx context.Context, db driver.Conn) ([]CustomerRef, error) {
	return schemas.AllRows(ctx, db, "find customers to erase", schemas.Query("customers_erasing"), nil,
		(*CustomerRef).scan)
}

func (r *CustomerRef) scan(row schemas.Row) error { return row.Scan((*uint64)(&r.Account), &r.ID) }

// CustomerParts returns the notes and documents of customers, deleted ones too, and those that no list knows yet.
func CustomerParts(ctx context.Context, db driver.Conn, account fleet.AccountID,
	customers []string) (notes, documents []uint64, err error) {
	err = schemas.EachRow(ctx, db, "read notes and documents of customers", schemas.Query("customer_parts"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("customers", customers),
	}, func(row schemas.Row) error {
		var kind string
		var id uint64
		if err := row.Scan(&kind, &id); err != nil {
			return err
		}
		if kind == "document" {
			documents = append(documents, id)
		} else {
			notes = append(notes, id)
		}
		return nil
	})
	return notes, documents, err
}

// CustomersSharing returns which of some texts, in small letters, are the name, email address or phone number of
// customers other than some.
func CustomersSharing(ctx context.Context, db driver.Conn, account fleet.AccountID, but []uint64,
	words []string) (map[string]bool, error) {
	shared := map[string]bool{}
	if len(words) == 0 {
		return shared, nil
	}
	err := schemas.EachRow(ctx, db, "find customers that share something", schemas.Query("customers_sharing"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("but", but), clickhouse.Named("words", words),
	}, func(row schemas.Row) error {
		var text string
		if err := row.Scan(&text); err != nil {
			return err
		}
		shared[strings.ToLower(text)] = true
		return nil
	})
	return shared, err
}
