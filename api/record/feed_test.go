package record_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas/schematest"
)

// What writers of bookings bring to their table is what its feed makes of the log.
func TestTheTableOfBookingsIsAsItsFeedMakesIt(t *testing.T) {
	const n = 100
	db := schematest.Open(t)
	free := record.Kind[record.Booking]{Name: record.Bookings.Name, Prefix: record.Bookings.Prefix} // it claims nothing
	log := record.NewLog(newStore(t, db, 1), free)
	rng := rand.New(rand.NewPCG(11, 12))
	var ids []uint64
	var all []record.Booking
	for range n {
		var b record.Booking
		schematest.Fill(rng, &b)
		ids, all = append(ids, newStoreID(rng)), append(all, b)
	}
	for i, err := range log.CreateMany(t.Context(), by, account, ids, all) {
		if err != nil {
			t.Fatal(i, err)
		}
	}
	for i, id := range ids {
		if i%3 == 0 {
			continue
		}
		if _, err := log.Update(t.Context(), by, account, id, 0, func(r *record.Record[record.Booking]) error {
			r.Body = record.Booking{}
			schematest.Fill(rng, &r.Body)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if i%3 == 1 {
			if _, err := log.Archive(t.Context(), by, account, id, 0, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	schematest.FeedAgrees(t, db, "bookings", n)

	// What the table works out of a booking is what the desk does.
	rows, err := db.Query(t.Context(), `SELECT body, no_show_at, do_not_rent_check, total_minor, platform_minor, driver_ids
		FROM bookings FINAL`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	read := 0
	for ; rows.Next(); read++ {
		var body, check string
		var noShow time.Time
		var total, platform int64
		var drivers []string
		var b record.Booking
		if err := rows.Scan(&body, &noShow, &check, &total, &platform, &drivers); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(body), &b); err != nil {
			t.Fatal(err)
		}
		for _, line := range b.Charges {
			if line.Type == "platform_fee" {
				platform -= line.Amount.Amount
			} else {
				total -= line.Amount.Amount
			}
		}
		known := !b.PickupAt.IsZero() && !b.ConfirmedAt.IsZero() || b.Backdated // others count from 1970 there
		if known && !noShow.Equal(b.NoShowAt()) || check != b.ListCheck() {
			t.Errorf("%s, %s: %s", noShow, check, body)
		}
		if total != 0 || platform != 0 || len(drivers) != len(b.Drivers) {
			t.Errorf("off by %d and %d, drivers %v: %s", total, platform, drivers, body)
		}
	}
	if err := rows.Err(); err != nil || read != n {
		t.Errorf("%d bookings, %v", read, err)
	}
}

// newStoreID is an id of some time after 2020.
func newStoreID(rng *rand.Rand) uint64 {
	return uint64(rng.Int64N(6*365*24*3600*1000))<<22 + rng.Uint64N(1<<22)
}
