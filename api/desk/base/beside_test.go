package base_test

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

// Many ask at once, of two accounts whose bookings have the same ids: each gets what is known of its own, and nothing
// of a booking of which nothing is.
func TestWhatIsReadTogetherBesideBookingsIsOfTheirAccount(t *testing.T) {
	const bookings = 30
	db := schematest.Open(t)
	amount := func(account, id int) int64 { return int64(1000*account + id) }
	fill := func(table string, account, id int, format string, args ...any) {
		t.Helper()
		body := fmt.Sprintf(`{"booking_id":%q,`, fleet.FormatID(fleet.BookingPrefix, uint64(id))) +
			fmt.Sprintf(format, args...) + "}"
		if err := db.Exec(t.Context(), fmt.Sprintf("INSERT INTO %s (account, id, revision, body) VALUES (%d, %d, 1, '%s')",
			table, account, id, body)); err != nil {
			t.Fatal(err)
		}
	}
	for account := 1; account <= 2; account++ {
		for id := account; id < bookings; id += 2 + account {
			fill("payments", account, id, `"status":"succeeded","direction":"in","amount":{"amount":%d,"currency":"USD"}`,
				amount(account, id))
			fill("expenses", account, id, `"status":"posted","category":"bad_debt","amount":{"amount":%d,"currency":"USD"}`,
				amount(account, id)+7)
			fill("tolls", account, id, `"status":"matched"`)
		}
	}
	beside := base.NewBesideBookings(db)
	var all errgroup.Group
	for n := range 60 {
		all.Go(func() error {
			account, first := 1+n%2, n%bookings
			ids := []uint64{uint64(first), uint64((first + 1) % bookings), 1_000_000}
			found, err := beside.Of(t.Context(), fleet.AccountID(account), ids)
			if err != nil {
				return err
			}
			for _, id := range ids {
				b, has := found[id]
				known := int(id) < bookings && int(id) >= account && (int(id)-account)%(2+account) == 0
				want := amount(account, int(id))
				if has != known || known && (len(b.OpenTolls) != 1 || b.Paid.Received != want || b.WrittenOff.Sum != want+7) {
					t.Errorf("of booking %d of account %d: %+v", id, account, b)
				}
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	if found, err := beside.Of(t.Context(), 1, nil); err != nil || len(found) != 0 {
		t.Errorf("of no booking: %+v, %v", found, err)
	}
}
