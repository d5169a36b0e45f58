package query_test

import (
	"maps"
	"slices"
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

// However customers were merged, one into another in turn, families that are asked for together are those that are
// asked for one by one.
func TestFamiliesOfCustomersAreTheSameTogetherAndAlone(t *testing.T) {
	db := schematest.Open(t)
	// Each third stands for itself; the others were merged into one with a smaller id, and some into one another.
	exec(t, db, `INSERT INTO customers (account, id, revision, merged_into, body)
		SELECT 1 + number % 2, intDiv(number, 2) + 1 AS customer, 1, multiIf(customer >= 38, concat('cus_', toString(79 - customer)),
			customer % 3 = 0 OR customer = 1, '', concat('cus_', toString(intDiv(customer, 2)))), '{}'
		FROM numbers(80)`)
	ids, large := []uint64{}, 0
	for id := range uint64(44) {
		ids = append(ids, id)
	}
	for account := fleet.AccountID(1); account <= 2; account++ {
		together, err := query.CustomerFamilies(t.Context(), db, account, ids)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			alone, err := query.CustomerFamily(t.Context(), db, account, id)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.Sorted(slices.Values(together[id]))
			if slices.Sort(alone); !slices.Equal(got, alone) {
				t.Errorf("%d of account %d: %v together, %v alone", id, account, got, alone)
			}
			if len(alone) > 4 {
				large++
			}
		}
	}
	if large < 4 {
		t.Errorf("%d large families, which tells little", large)
	}
}
