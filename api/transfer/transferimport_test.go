package transfer

import (
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// The rows of an import have ids that no two of them share, all of the hour in which it was asked for, and the same
// each time; one that an older version began goes on under the ids that it gave.
func TestRowsOfAnImportHaveIDsOfItsHour(t *testing.T) {
	asked := time.Date(2026, 11, 26, 10, 30, 0, 0, time.UTC)
	job := &record.Record[record.Job]{ID: fleet.IDOf(asked) | 4711, CreatedAt: asked,
		Body: record.Job{Transfer: &record.Transfer{RowsOfItsTime: true}}}
	seen := map[uint64]bool{}
	for row := 1; row <= 100_000; row++ {
		id := RowID(job, row)
		away := int64(id>>22) - int64(fleet.IDOf(asked)>>22)
		if seen[id] || id != RowID(job, row) || max(away, -away) > 75*60_000 {
			t.Fatalf("row %d has the id %d, %v from when it was asked for", row, id, time.Duration(away)*time.Millisecond)
		}
		seen[id] = true
	}
	job.Body.Transfer.RowsOfItsTime = false
	if id := RowID(job, 1); seen[id] || id>>44 == fleet.IDOf(asked)>>44 {
		t.Errorf("a row of an import of before has the id %d", id)
	}
}

// Rows are brought in lots, two at a time, of which no two have a row of one vehicle: those of a vehicle are in turn.
func TestLotsThatAreBroughtAtOnceShareNoVehicle(t *testing.T) {
	for _, of := range []struct {
		most           int
		vehicles, lots string
	}{
		{4, "", ""},
		{4, "aab", "aab"},
		{4, "aabb", "aabb"},
		{4, "aabbc", "aabb|c"},
		{4, "aaabbb", "aaa|bbb"},
		{4, "abbbccdd", "abbb|ccdd"},
		{4, "abbbbcc", "abbb;bcc"}, // the first would be less than half full without the second's vehicle
		{4, "aaaaaab", "aaaa;aab"}, // more of one than a lot has
		{4, "abcdefghijk", "abcd|efgh;ijk"},
		{1, "aabc", "a;a|b;c"},
	} {
		values, rows := map[uint32]string{}, []query.InputRow{}
		for i, v := range of.vehicles {
			rows, values[uint32(i)] = append(rows, query.InputRow{Row: uint32(i)}), string(v)
		}
		var turns []string
		for len(rows) > 0 {
			var lots [][]query.InputRow
			lots, rows = nextLots(rows, of.most, values)
			var atOnce []string
			for _, lot := range lots {
				text := ""
				for _, row := range lot {
					text += values[row.Row]
				}
				atOnce = append(atOnce, text)
			}
			turns = append(turns, strings.Join(atOnce, "|"))
		}
		if is := strings.Join(turns, ";"); is != of.lots {
			t.Errorf("%s is brought as %s, want %s", of.vehicles, is, of.lots)
		}
	}
}
