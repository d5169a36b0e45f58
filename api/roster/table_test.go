package roster

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"pgregory.net/rapid"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

// heldRows reads rows as EachHeld does, in the order of their ids and revisions.
func heldRows(t *testing.T, db driver.Conn) []*query.Held {
	t.Helper()
	var all []*query.Held
	err := query.Vehicles.EachHeld(t.Context(), db, query.HeldOf{Accounts: []uint64{7}, Block: 1},
		func(_ fleet.AccountID, h *query.Held, _ bool) error {
			all = append(all, h)
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b *query.Held) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Revision, b.Revision))
	})
	return all
}

// However a table came to be, it has and finds what one has that is made of the same records at once.
func TestATableAfterChangesIsAsOneMadeAnew(t *testing.T) {
	db := schematest.Open(t)
	const ids, revisions = 3000, 3
	var rows []row
	for id := range uint64(ids) {
		for revision := range uint64(revisions) {
			rows = append(rows, row{7, id + 1, revision + 1, false, strconv.FormatUint((id*7+revision*3)%11, 10)})
		}
	}
	// Rows of an id in one insert would be merged at once.
	for revision := range uint64(revisions) {
		put(t, db, slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.revision != revision+1 })...)
	}
	all := heldRows(t, db)
	if len(all) != ids*revisions {
		t.Fatalf("%d rows", len(all))
	}
	requests := []query.ListRequest{
		{Account: 7, Limit: 50, Sort: []query.SortKey{{Field: "nickname", Desc: true}}},
		{Account: 7, Limit: 50, Filters: []query.Filter{{Field: "nickname", Op: "eq", Values: []string{"3", "5"}}}},
		{Account: 7, Limit: 50, Search: "m1"},
	}
	rapid.Check(t, func(rt *rapid.T) {
		model := map[uint64]*query.Held{}
		first := rapid.IntRange(0, ids).Draw(rt, "first")
		for i := range first {
			model[all[i*revisions].ID] = all[i*revisions]
		}
		values := func() (some []*query.Held) {
			for _, h := range model {
				some = append(some, h)
			}
			return some
		}
		tab := newTable(values())
		for range rapid.IntRange(1, 6).Draw(rt, "rounds") {
			changes := map[uint64]change{}
			begin := rapid.IntRange(0, ids-1).Draw(rt, "begin")
			step := rapid.IntRange(1, 40).Draw(rt, "step")
			for n := range rapid.IntRange(1, 400).Draw(rt, "changes") {
				id := uint64((begin+n*step)%ids) + 1
				c := change{id: id, was: model[id]}
				if rapid.IntRange(0, 3).Draw(rt, "what") > 0 {
					c.now = all[int(id-1)*revisions+rapid.IntRange(0, revisions-1).Draw(rt, "revision")]
				}
				if changes[id] = c; c.was == nil && c.now == nil {
					delete(changes, id)
				}
			}
			var some []change
			for id, c := range changes {
				if some = append(some, c); c.now == nil {
					delete(model, id)
				} else {
					model[id] = c.now
				}
			}
			tab = tab.with(some)
			if rapid.Bool().Draw(rt, "unasked") {
				continue
			}
			anew := newTable(values())
			if tab.count != anew.count || tab.bytes != anew.bytes || tab.odd != anew.odd {
				rt.Fatalf("%d records of %d bytes, want %d of %d", tab.count, tab.bytes, anew.count, anew.bytes)
			}
			for id := range uint64(ids) {
				if tab.get(id+1) != model[id+1] {
					rt.Fatalf("record %d is %v, want %v", id+1, tab.get(id+1), model[id+1])
				}
			}
			for _, req := range requests {
				got, ok, err := tab.list(&query.Vehicles, req)
				want, _, _ := anew.list(&query.Vehicles, req)
				if err != nil || !ok || !reflect.DeepEqual(got, want) {
					rt.Fatalf("%+v: %v %v\n%+v\n%+v", req, ok, err, got, want)
				}
			}
		}
	})
}
