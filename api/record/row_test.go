package record_test

import (
	"math/rand/v2"
	"testing"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas/schematest"
)

// The rows that bookings make of themselves are those that their feed makes of the log.
func TestBookingsMakeTheRowsOfTheirFeed(t *testing.T) {
	const n = 100
	db := schematest.Open(t)
	log := record.NewLog(newStore(t, db, 1), record.Kind[record.Booking]{Name: record.Bookings.Name, Prefix: record.Bookings.Prefix, Row: record.Bookings.Row})
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
}

// newStoreID is an id of some time after 2020.
func newStoreID(rng *rand.Rand) uint64 {
	return uint64(rng.Int64N(6*365*24*3600*1000))<<22 + rng.Uint64N(1<<22)
}
