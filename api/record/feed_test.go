package record_test

import (
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas"
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
	columnsAreMembers(t, db, "bookings", 20,
		map[string]string{"cancelled_at": "cancellation", "cancelled_by": "cancellation",
			"deposit_status": "deposit", "deposit_expires_at": "deposit"})
}

// columnsAreMembers holds the columns of a table, read as they stand, against the members of the records beside them. A
// column is of the member of its name; one that is within another member has that, by which its name may begin. Not
// known is empty or 1970.
func columnsAreMembers(t *testing.T, db driver.Conn, table string, atLeast int, within map[string]string) {
	t.Helper()
	compared := map[string]bool{}
	err := schemas.EachRow(t.Context(), db, "compare columns with members",
		"SELECT body, formatRow('JSONEachRow', * EXCEPT (body, account, id, revision, created_at, updated_at, archived_at)) FROM "+table+" FINAL",
		nil, func(row schemas.Row) error {
			var body, line string
			if err := row.Scan(&body, &line); err != nil {
				return err
			}
			var object, columns map[string]any
			if err := errors.Join(json.Unmarshal([]byte(body), &object), json.Unmarshal([]byte(line), &columns)); err != nil {
				return err
			}
			for name, got := range columns {
				member, ok := object[name]
				if outer := within[name]; outer != "" {
					inner, _ := object[outer].(map[string]any)
					if member, ok = inner[name]; !ok {
						member, ok = inner[strings.TrimPrefix(name, outer+"_")]
					}
				}
				text, isText := got.(string)
				want, _ := member.(string)
				if at, err := time.Parse("2006-01-02 15:04:05.000", text); err == nil {
					said, _ := time.Parse(time.RFC3339Nano, want)
					if want == "" {
						said = time.Unix(0, 0)
					}
					text, want = at.UTC().Format(time.RFC3339Nano), said.UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano)
				}
				if _, other := member.(string); !isText || ok && member != nil && !other {
					continue
				}
				if ok || want == "" && within[name] != "" {
					if compared[name] = true; text != want {
						t.Errorf("%s is %q in the table, %q in %s", name, text, want, body)
					}
				}
			}
			return nil
		})
	if err != nil || len(compared) < atLeast {
		t.Errorf("%d columns of %s were compared, %v: %v", len(compared), table, slices.Sorted(maps.Keys(compared)), err)
	}
}

// newStoreID is an id of some time after 2020.
func newStoreID(rng *rand.Rand) uint64 {
	return uint64(rng.Int64N(6*365*24*3600*1000))<<22 + rng.Uint64N(1<<22)
}
