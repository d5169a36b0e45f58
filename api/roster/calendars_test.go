package roster

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

// hold is one of a calendar, by when it begins and ends, in hours from now.
type hold struct {
	ref         string
	from, until int
}

// putCalendar writes a revision of a calendar.
func putCalendar(t *testing.T, db driver.Conn, account uint64, kind string, id, revision uint64, holds ...hold) {
	t.Helper()
	all := []map[string]any{}
	for _, h := range holds {
		at := func(hours int) string {
			return time.Now().Add(time.Duration(hours) * time.Hour).UTC().Format("2006-01-02T15:04:05.000Z")
		}
		all = append(all, map[string]any{"ref": h.ref, "from": at(h.from), "until": at(h.until)})
	}
	body, err := json.Marshal(map[string]any{"holds": all})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Exec(t.Context(), fmt.Sprintf("INSERT INTO calendars (account, kind, id, revision, updated_at, body) VALUES (%d, '%s', %d, %d, now64(3), '%s')",
		account, kind, id, revision, body)); err != nil {
		t.Fatal(err)
	}
}

// refs are the calendars of an id, by whether they are a class's, and who holds something in them.
func refs(t *testing.T, c *Calendars[query.Calendar], account fleet.AccountID, id uint64) map[bool][]string {
	t.Helper()
	find, ok := c.Of(context.WithoutCancel(t.Context()), account)
	if !ok {
		t.Fatal("memory cannot tell of calendars")
	}
	found := map[bool][]string{}
	find(id, func(one *query.Calendar) {
		for _, h := range one.Holds {
			found[one.OfClass] = append(found[one.OfClass], h.Ref)
		}
	})
	return found
}

func TestCalendarsInMemoryAreThoseOfTheStore(t *testing.T) {
	db := schematest.Open(t)
	r := open(t, db)
	c := NewCalendars(r, time.Now, func(c query.Calendar) query.Calendar { return c })
	putCalendar(t, db, 7, "calendar", 1, 1, hold{"bkg_1", -2000, -1900}, hold{"bkg_2", -48, -24}, hold{"bkg_3", 24, 48})
	putCalendar(t, db, 7, "class_calendar", 1, 1, hold{"bkg_4", 24, 48}) // under the same id
	putCalendar(t, db, 7, "calendar", 2, 1, hold{"bkg_5", 1, 2})
	putCalendar(t, db, 8, "calendar", 1, 1, hold{"bkg_6", 1, 2})
	for _, want := range []struct {
		account fleet.AccountID
		id      uint64
		refs    map[bool][]string
	}{
		{7, 1, map[bool][]string{false: {"bkg_2", "bkg_3"}, true: {"bkg_4"}}}, {7, 2, map[bool][]string{false: {"bkg_5"}}},
		{7, 3, map[bool][]string{}}, {8, 1, map[bool][]string{false: {"bkg_6"}}}, {9, 1, map[bool][]string{}},
	} {
		if got := refs(t, c, want.account, want.id); !reflect.DeepEqual(got, want.refs) {
			t.Errorf("account %d, %d: %v, want %v", want.account, want.id, got, want.refs)
		}
	}
	// One more, all given back, and one that was not there.
	putCalendar(t, db, 7, "calendar", 1, 2, hold{"bkg_3", 24, 48}, hold{"bkg_7", 50, 60})
	putCalendar(t, db, 7, "calendar", 2, 2)
	putCalendar(t, db, 7, "calendar", 3, 1, hold{"bkg_8", 1, 2})
	r.Wrote(7, "calendar")
	for id, want := range map[uint64]map[bool][]string{1: {false: {"bkg_3", "bkg_7"}, true: {"bkg_4"}}, 2: {},
		3: {false: {"bkg_8"}}} {
		if got := refs(t, c, 7, id); !reflect.DeepEqual(got, want) {
			t.Errorf("after a write %d has %v, want %v", id, got, want)
		}
	}
}

// What there is no room for the store tells, and what is let go of is counted no more.
func TestMemoryOfCalendarsAndDecodedVehiclesHasABound(t *testing.T) {
	db := schematest.Open(t)
	r := open(t, db)
	c := NewCalendars(r, time.Now, func(c query.Calendar) query.Calendar { return c })
	body := func(_ fleet.AccountID, s query.Stored) (*string, error) { return &s.Body, nil }
	d := NewDecoded(r, &query.Vehicles, 2, body)
	putCalendar(t, db, 7, "calendar", 1, 1, hold{"bkg_1", 1, 2})
	put(t, db, row{7, 1, 1, false, "a"}, row{7, 2, 1, false, "b"}, row{8, 3, 1, false, "c"})
	refs(t, c, 7, 1)
	all, ok, err := d.All(t.Context(), 7)
	if err != nil || !ok || len(all) != 2 {
		t.Fatalf("%d vehicles are decoded, %v, %v", len(all), ok, err)
	}
	again, _, _ := d.All(t.Context(), 7)
	if again[0] != all[0] || again[1] != all[1] {
		t.Error("they are decoded again although nothing was written")
	}
	put(t, db, row{7, 2, 2, false, "b2"})
	r.Wrote(7, "vehicle")
	if again, _, _ = d.All(t.Context(), 7); again[0] != all[0] || again[1] == all[1] {
		t.Error("what was written is not what is decoded anew")
	}
	put(t, db, row{7, 4, 1, false, "d"})
	r.Wrote(7, "vehicle")
	if _, ok, err := d.All(t.Context(), 7); ok || err != nil {
		t.Errorf("more than there is room for are decoded: %v, %v", ok, err)
	}
	if other, ok, err := d.All(t.Context(), 8); err != nil || !ok || len(other) != 1 {
		t.Errorf("of the other account %d, %v, %v", len(other), ok, err)
	}
	mine := c.kept.byAccount[7]
	r.letGo(r.clock() + 1)
	if bytes := r.bytes.Load(); bytes != 0 {
		t.Errorf("%d bytes are left of what was let go of", bytes)
	}
	// Decoded records are let go of with those that they are of, as they have what was erased.
	if _, ok, err := d.All(t.Context(), 8); err != nil || !ok {
		t.Fatalf("%v, %v", ok, err)
	}
	for _, e := range r.names["vehicle"].all() {
		r.forget(e)
	}
	r.letGo(0)
	if bytes := r.bytes.Load(); bytes != 0 || len(d.of) != 0 {
		t.Errorf("%d bytes are left of %d accounts", bytes, len(d.of))
	}
	r.cfg.Memory = 100
	mine.whole = true // as a look says while somebody still has what was let go of
	if c.kept.readNow(mine, 7) || r.bytes.Load() != 0 {
		t.Errorf("what was let go of is read again, and takes %d bytes", r.bytes.Load())
	}
	if _, ok := c.Of(t.Context(), 7); ok || r.bytes.Load() != 0 || r.loading.Load() != 0 {
		t.Errorf("there is no room, and memory tells: %v, %d bytes, %d while loading", ok, r.bytes.Load(), r.loading.Load())
	}
}
