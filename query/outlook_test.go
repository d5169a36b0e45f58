package query_test

import (
	"fmt"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// After an upgrade what is made of facts is refused to an account until its own are made again, however long those of
// others take. Where facts were never made there is nothing of another version.
func TestFactsOfAnotherVersionAreRefusedUntilTheAccountHasItsOwn(t *testing.T) {
	db := schematest.Open(t)
	made := func(version uint32, account int) {
		t.Helper()
		if err := db.Exec(t.Context(), fmt.Sprintf(`INSERT INTO fact_runs (version, account, local_date, made_at, records_until, entries_until)
			VALUES (%d, %d, '2026-11-01', now64(3), now64(3), now64(3))`, version, account)); err != nil {
			t.Fatal(err)
		}
	}
	want := func(when string, seven, eight bool) {
		t.Helper()
		for account, refused := range map[fleet.AccountID]bool{7: seven, 8: eight} {
			err := query.FactsAreMade(t.Context(), db, account)
			if refused != (fleet.CodeOf(err) == fleet.CodeUnavailable) || !refused && err != nil {
				t.Errorf("%s: account %d is told %v", when, account, err)
			}
		}
	}
	want("never made", false, false)
	made(schemas.FactsVersion-1, 0)
	want("of the version before", true, true)
	made(schemas.FactsVersion, 7)
	want("those of one are made", false, true)
	made(schemas.FactsVersion, 0)
	want("those of all are made", false, false)
}
