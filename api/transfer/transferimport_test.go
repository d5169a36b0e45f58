package transfer

import (
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
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
