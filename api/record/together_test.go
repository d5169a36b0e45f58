package record_test

import (
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// TestWhatIsReadTogetherIsOfItsAccount has many read at once, of two accounts whose records have the same ids: some
// with several revisions, some archived, some not there. Each gets what it would get alone.
func TestWhatIsReadTogetherIsOfItsAccount(t *testing.T) {
	store, _, _ := twoStores(t)
	log := record.NewLog(store, record.Vehicles)
	accounts := []fleet.AccountID{account, account + 1}
	const ids = 12
	id := func(i int) uint64 { return uint64(1000 + i) }
	want := func(of fleet.AccountID, i int) string { return fmt.Sprintf("%d of %d, the newest", i, of) }
	for n, of := range accounts {
		for i := range ids {
			if i%4 == 3 && n == 0 {
				continue // it is the other account's alone
			}
			v := vehicle(fmt.Sprintf("VIN%d-%02d", n, i))
			if _, _, err := log.Ensure(t.Context(), by, of, id(i), v); err != nil {
				t.Fatal(err)
			}
			for turn := range i % 5 {
				if _, err := log.Update(t.Context(), by, of, id(i), 0, func(r *record.Record[record.Vehicle]) error {
					r.Body.Nickname = fmt.Sprint("turn ", turn)
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := log.Update(t.Context(), by, of, id(i), 0, func(r *record.Record[record.Vehicle]) error {
				r.Body.Nickname = want(of, i)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if i%4 == 2 {
				if _, err := log.Archive(t.Context(), by, of, id(i), 0, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	check := func(of fleet.AccountID, i int, got record.Record[record.Vehicle], err error) {
		if i%4 == 3 && of == accounts[0] {
			if fleet.CodeOf(err) != fleet.CodeNotFound {
				t.Errorf("%d of %d, which is another account's: %+v, %v", i, of, got, err)
			}
			return
		}
		if err != nil || got.Account != of || got.ID != id(i) || got.Body.Nickname != want(of, i) ||
			got.Archived() != (i%4 == 2) {
			t.Errorf("%d of %d: %+v, %v", i, of, got, err)
		}
	}
	var group errgroup.Group
	for range 3 {
		for _, of := range accounts {
			for i := range ids {
				group.Go(func() error {
					got, err := log.Get(t.Context(), of, id(i))
					check(of, i, got, err)
					return nil
				})
			}
			group.Go(func() error {
				refs := make([]record.Ref, ids)
				for i := range refs {
					refs[i] = record.Ref{Kind: record.Vehicles.Name, ID: id(i)}
				}
				seen, err := store.See(t.Context(), of, refs...)
				if err != nil {
					return err
				}
				for i := range ids {
					got, ok, err := log.In(seen, of, id(i))
					if !ok {
						t.Errorf("%d of %d was not read", i, of)
					}
					check(of, i, got, err)
				}
				return nil
			})
		}
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}
