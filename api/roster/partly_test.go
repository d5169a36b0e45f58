package roster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

// desk writes bookings at random, each to the log and then to the table.
type desk struct {
	t         *testing.T
	db        driver.Conn
	random    *rand.Rand
	now       time.Time
	revisions map[[2]uint64]uint64
}

func (d *desk) write(account uint64, ids ...uint64) {
	d.t.Helper()
	log, err := d.db.PrepareBatch(context.WithoutCancel(d.t.Context()),
		"INSERT INTO record_log (account, kind, id, revision, at, created_at, body)")
	if err != nil {
		d.t.Fatal(err)
	}
	table, err := d.db.PrepareBatch(context.WithoutCancel(d.t.Context()),
		"INSERT INTO bookings (account, id, revision, archived_at, status, pickup_at, return_at, customer_id, body)")
	if err != nil {
		d.t.Fatal(err)
	}
	states := []string{"pending", "confirmed", "active", "completed", "completed", "completed", "cancelled", "no_show"}
	for _, id := range ids {
		key := [2]uint64{account, id}
		d.revisions[key]++
		pickup := d.now.Add(time.Duration(d.random.IntN(4000)-2000) * time.Hour)
		var archived *time.Time
		if d.random.IntN(20) == 0 {
			archived = &d.now
		}
		body := fmt.Sprintf(`{"revision":%d}`, d.revisions[key])
		if err := log.Append(account, "booking", id, d.revisions[key], d.now, d.now, body); err != nil {
			d.t.Fatal(err)
		}
		if err := table.Append(account, id, d.revisions[key], archived, states[d.random.IntN(len(states))], pickup,
			pickup.Add(time.Duration(d.random.IntN(200))*time.Hour), fmt.Sprint("cus_", id%5), body); err != nil {
			d.t.Fatal(err)
		}
	}
	for _, batch := range []driver.Batch{log, table} {
		if err := batch.Send(); err != nil {
			d.t.Fatal(err)
		}
	}
}

func upTo(from, to uint64) (ids []uint64) {
	for id := from; id < to; id++ {
		ids = append(ids, id)
	}
	return ids
}

// Of an account with very many bookings those are kept that are not over, or were not long ago: what memory says of
// them is what the store says, whatever is written and however parts are merged, and of others it says nothing.
func TestOfVeryManyBookingsThoseThatAreNotOverAreKept(t *testing.T) {
	db := schematest.Open(t)
	r := open(t, db)
	r.names["booking"].partly.most = 1000
	d := &desk{t, db, rand.New(rand.NewPCG(42, 3)), time.Now().UTC().Truncate(time.Second), map[[2]uint64]uint64{}}
	next := [9]uint64{7: 2000, 8: 500}
	d.write(7, upTo(0, next[7])...)
	d.write(8, upTo(0, next[8])...)
	at := func(days int) []string { return []string{d.now.AddDate(0, 0, days).Format(time.RFC3339)} }
	tells := []query.ListRequest{
		{Filters: []query.Filter{{Field: "status", Op: "eq", Values: []string{"confirmed"}}}},
		{Filters: []query.Filter{{Field: "status", Op: "eq", Values: []string{"pending", "active"}}},
			Sort: []query.SortKey{{Field: "pickup_at", Desc: true}}, Offset: 3},
		{Filters: []query.Filter{{Field: "return_at", Op: "gte", Values: at(-40)}}},
		{Filters: []query.Filter{{Field: "pickup_at", Op: "gt", Values: at(-44)},
			{Field: "customer_id", Op: "eq", Values: []string{"cus_3"}}}, Sort: []query.SortKey{{Field: "return_at"}}},
	}
	cannot := []query.ListRequest{
		{},
		{Filters: []query.Filter{{Field: "customer_id", Op: "eq", Values: []string{"cus_3"}}}},
		{Filters: []query.Filter{{Field: "status", Op: "eq", Values: []string{"confirmed", "completed"}}}},
		{Filters: []query.Filter{{Field: "return_at", Op: "gte", Values: at(-50)}}},
		{Filters: []query.Filter{{Field: "return_at", Op: "lt", Values: at(10)}}},
		{Filters: []query.Filter{{Field: "is_overdue", Op: "eq", Values: []string{"true"}}}},
		{Only: &[]uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
	}
	found := 0
	same := func(account fleet.AccountID, req query.ListRequest) {
		t.Helper()
		req.Account, req.Limit = account, 50
		got, ok, err := r.List(t.Context(), &query.Bookings, req)
		if err != nil || !ok {
			t.Fatalf("%+v from memory: %v, %v", req, ok, err)
		}
		want, err := query.List(t.Context(), db, &query.Bookings, req)
		if err != nil {
			t.Fatal(err)
		}
		if found += len(want.Records); !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v\nmemory %+v\nstore  %+v", req, got, want)
		}
	}
	some := func(account int) (ids []uint64) {
		seen := map[uint64]bool{}
		for range 1 + d.random.IntN(30) {
			if id := uint64(d.random.IntN(int(next[account]))); !seen[id] {
				ids, seen[id] = append(ids, id), true
			}
		}
		return ids
	}
	for round := range 30 {
		switch d.random.IntN(4) {
		case 0:
			d.write(7, upTo(next[7], next[7]+5)...)
			next[7] += 5
		case 1: // what is new stands among thousands
			d.write(7, some(7)...)
			if err := db.Exec(t.Context(), "OPTIMIZE TABLE bookings FINAL"); err != nil {
				t.Fatal(err)
			}
		default:
			d.write(7, some(7)...)
		}
		d.write(8, some(8)...)
		r.Wrote(7, "booking")
		r.Wrote(8, "booking")
		for _, req := range tells {
			same(7, req)
		}
		same(8, cannot[round%5])
		for _, req := range cannot {
			req.Account, req.Limit = 7, 50
			if page, ok, err := r.List(t.Context(), &query.Bookings, req); ok || err != nil {
				t.Fatalf("of %+v memory says %+v, %v", req, page, err)
			}
		}
	}
	if e := r.kinds[&query.Bookings].entry(7); e.share.Load() == nil || e.view.Load().table.count > 1700 {
		t.Error("all bookings are kept")
	}
	// What is outside and was written is known to the table, and the log is ahead by nothing.
	d.write(7, upTo(0, 60)...)
	r.Wrote(7, "booking")
	same(7, tells[0])
	if n := len(r.kinds[&query.Bookings].entry(7).view.Load().ahead); n > 0 {
		t.Errorf("the log is said to be ahead by %d bookings", n)
	}
	if found < 5000 {
		t.Errorf("%d bookings were found, which tells little", found)
	}
	d.write(8, upTo(next[8], 2300)...)
	r.Wrote(8, "booking")
	same(8, tells[0])
	if page, ok, err := r.List(t.Context(), &query.Bookings, query.ListRequest{Account: 8, Limit: 1}); ok || err != nil {
		t.Errorf("when there were many, memory said %+v of all, %v", page, err)
	}
	if _, rest := r.ByID(t.Context(), &query.Bookings, 7, upTo(0, 200)); len(rest) < 20 || len(rest) > 180 {
		t.Errorf("memory knows all but %d of 200", len(rest))
	}
}

// Where even those that are not over are far too many none are kept, and the store tells.
func TestOfFarTooManyBookingsNoneAreKept(t *testing.T) {
	db := schematest.Open(t)
	r := open(t, db)
	r.names["booking"].partly.most = 50
	d := &desk{t, db, rand.New(rand.NewPCG(42, 4)), time.Now().UTC().Truncate(time.Second), map[[2]uint64]uint64{}}
	d.write(7, upTo(0, 400)...)
	req := query.ListRequest{Account: 7, Limit: 1, Filters: []query.Filter{
		{Field: "status", Op: "eq", Values: []string{"pending"}}}}
	for range 2 {
		if page, ok, err := r.List(t.Context(), &query.Bookings, req); ok || err != nil {
			t.Errorf("memory says %+v, %v", page, err)
		}
	}
	if r.bytes.Load() != 0 || r.loading.Load() != 0 {
		t.Errorf("%d bytes are kept, and %d are being loaded", r.bytes.Load(), r.loading.Load())
	}
}
