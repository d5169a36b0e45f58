package query_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestVehiclesAreBusyWhileTheyAreHeld(t *testing.T) {
	db := schematest.Open(t)
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	hour := func(h int) time.Time { return at.Add(time.Duration(h) * time.Hour) }
	hold := func(ref string, from, until int, expires time.Time) map[string]any {
		h := map[string]any{"ref": ref, "from": hour(from).Format("2006-01-02T15:04:05.000Z"),
			"until": hour(until).Format("2006-01-02T15:04:05.000Z")}
		if !expires.IsZero() {
			h["expires"] = expires.Format("2006-01-02T15:04:05.000Z")
		}
		return h
	}
	put := func(kind string, account, id, revision uint64, body map[string]any) {
		putRecord(t, db, kind, account, id, revision, at, false, body)
	}
	for id, class := range map[uint64]string{1: "vcl_5", 2: "vcl_5", 3: "vcl_6", 4: "vcl_5"} {
		put("vehicle", 7, id, 1, map[string]any{"make": "A", "vehicle_class_id": class})
	}
	put("calendar", 7, 1, 1, map[string]any{"holds": []any{hold("bkg_9", 0, 100, time.Time{})}}) // replaced
	put("calendar", 7, 1, 2,
		map[string]any{"holds": []any{hold("bkg_1", 0, 10, time.Time{}), hold("bkg_2", 20, 30, time.Time{})}})
	put("calendar", 7, 2, 1, map[string]any{"holds": []any{hold("bkg_3", 5, 15, hour(2))}}) // lapses at 2
	put("calendar", 7, 3, 1, map[string]any{"holds": []any{hold("blk_1", 0, 50, time.Time{})}})
	driven := hold("bkg_5", 60, 70, time.Time{})
	driven["open"] = true
	// out since 60, and not back
	put("calendar", 7, 4, 1, map[string]any{"holds": []any{driven}})
	put("calendar", 8, 1, 1, map[string]any{"holds": []any{hold("bkg_4", 0, 100, time.Time{})}}) // another account
	tests := map[string]struct {
		class            uint64
		ids              []uint64
		from, until, now int
		want             string
	}{
		"all":               {0, nil, 9, 10, 1, "1:bkg_1 2:bkg_3 3:blk_1"},
		"half open":         {0, nil, 10, 20, 3, "3:blk_1"},
		"lapsed":            {0, nil, 9, 10, 2, "1:bkg_1 3:blk_1"},
		"out, before":       {0, nil, 70, 80, 65, ""},
		"out, overdue":      {0, nil, 75, 80, 76, "4:bkg_5"},
		"out, later":        {0, nil, 77, 80, 76, ""},
		"several":           {0, []uint64{1}, 0, 100, 1, "1:bkg_1 1:bkg_2"},
		"of a class":        {5, nil, 0, 8, 1, "1:bkg_1 2:bkg_3"},
		"of no vehicle":     {0, []uint64{}, 0, 100, 1, ""},
		"of a class and id": {5, []uint64{2, 3}, 0, 100, 1, "2:bkg_3"},
	}
	for name, c := range tests {
		busy, err := query.BusyVehicles(t.Context(), db, 7, c.class, c.ids, hour(c.from), hour(c.until), hour(c.now))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for id, holds := range busy {
			for _, h := range holds {
				got = append(got, fmt.Sprintf("%d:%s", id, h.Ref))
			}
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}
