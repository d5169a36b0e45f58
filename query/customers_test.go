package query_test

import (
	"maps"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

// Of several accounts that are asked about together, each has its own do-not-rent list or none.
func TestAnAccountHasTheListOfItsOwnCustomers(t *testing.T) {
	db := schematest.Open(t)
	exec(t, db, `INSERT INTO customers (account, id, revision, body)
		SELECT 1 + number % 4, number, 1, if(number = 1, '{"do_not_rent":{"reason":"damage"},"risk_level":"blocked"}', '{}')
		FROM numbers(30)`)
	got, err := query.AnyListed(t.Context(), db, []fleet.AccountID{1, 2, 3})
	if err != nil || !maps.Equal(got, map[fleet.AccountID]bool{2: true}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err = query.AnyListed(t.Context(), db, []fleet.AccountID{4}); err != nil || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
}
