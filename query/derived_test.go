package query_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// derivedRow is a row of alerts as a reading with FINAL has it.
type derivedRow struct {
	vehicle, id, geofence, rule uint64
	revision                    uint32
	start, end, updated         int64
	open, deleted, late         bool
	kind, severity              string
}

// repairs writes revisions of random alerts of a vehicle as repairs do: some go on, some are withdrawn or stand again,
// and what differs in its key is another row. They lie in three months, in many parts.
type repairs struct {
	random   *rand.Rand
	revision map[[3]uint64]uint32
	clock    int64
}

func (r *repairs) write(t *testing.T, db driver.Conn, n int) {
	t.Helper()
	var values []string
	seen := map[[3]uint64]bool{}
	for range n {
		account, vehicle, id := 1+r.random.Uint64N(2), 1+r.random.Uint64N(4), 1+r.random.Uint64N(90)
		key := [3]uint64{account, vehicle, id}
		if seen[key] {
			continue // two revisions of a row never come in one insert
		}
		seen[key] = true
		r.revision[key]++
		r.clock += r.random.Int64N(3)                               // so that several have one time of writing
		start := int64(noon) + int64(id/3)*86_400_000 + int64(id%2) // some begin at once
		values = append(values, fmt.Sprintf("(%d, %d, %d, %d, %d, %d, %t, %t, %t, %d, %d, '%s', '%s', %d, '{\"subject\":\"%d\"}')",
			account, vehicle, id, r.revision[key], start, start+r.random.Int64N(3*86_400_000), r.random.IntN(5) == 0,
			r.random.IntN(4) == 0, r.random.IntN(3) == 0, r.clock, 1+r.random.IntN(3),
			[]string{"speed", "idling", "offline"}[r.random.IntN(3)], []string{"info", "warning"}[r.random.IntN(2)],
			r.random.IntN(3), r.revision[key]))
	}
	exec(t, db, `INSERT INTO alerts (account, vehicle, id, revision, start_at, end_at, open, deleted, late, updated_at, rule,
		alert_kind, severity, geofence, body) VALUES `+strings.Join(values, ", "))
}

// all reads what holds with FINAL, and nothing else: what lists are held against.
func all(t *testing.T, db driver.Conn) []derivedRow {
	t.Helper()
	rows, err := schemas.AllRows(t.Context(), db, "read all", `SELECT vehicle, id, geofence, rule, revision,
			toUnixTimestamp64Milli(start_at), toUnixTimestamp64Milli(end_at), toUnixTimestamp64Milli(updated_at), open, deleted,
			late, alert_kind, severity FROM alerts FINAL WHERE account = 1`, nil,
		func(r *derivedRow, row schemas.Row) error {
			return row.Scan(&r.vehicle, &r.id, &r.geofence, &r.rule, &r.revision, &r.start, &r.end, &r.updated, &r.open,
				&r.deleted, &r.late, &r.kind, &r.severity)
		})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// wants says whether a filter lets a row through.
func wants(f *query.DerivedFilter, r *derivedRow) bool {
	status := "resolved"
	if r.deleted {
		status = "withdrawn"
	} else if r.open {
		status = "raised"
	}
	among := func(some bool, found bool) bool { return !some || found }
	return among(len(f.Vehicles) > 0, slices.Contains(f.Vehicles, fleet.VehicleID(r.vehicle))) &&
		(f.To == 0 || r.start < int64(f.To)) &&
		(f.From == 0 || r.end > int64(f.From) || r.start >= int64(f.From) || r.open) &&
		r.updated >= int64(f.Since) && (f.Deleted || !r.deleted) &&
		among(f.Open != fleet.Unknown, fleet.TriOf(r.open) == f.Open) &&
		among(f.Late != fleet.Unknown, fleet.TriOf(r.late) == f.Late) &&
		among(len(f.Fences) > 0, slices.Contains(f.Fences, fleet.FenceID(r.geofence))) &&
		among(len(f.Rules) > 0, slices.Contains(f.Rules, fleet.RuleID(r.rule))) &&
		among(len(f.Kinds) > 0, slices.Contains(f.Kinds, r.kind)) &&
		among(len(f.Severities) > 0, slices.Contains(f.Severities, r.severity)) &&
		among(len(f.Statuses) > 0, slices.Contains(f.Statuses, status))
}

// wanted are the rows that a filter lets through, in its order.
func wanted(f *query.DerivedFilter, rows []derivedRow) []derivedRow {
	var found []derivedRow
	for _, r := range rows {
		if wants(f, &r) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b derivedRow) int {
		order := cmp.Compare(a.start, b.start)
		if f.ByUpdate {
			order = cmp.Compare(a.updated, b.updated)
		}
		order = cmp.Or(order, cmp.Compare(a.id, b.id), cmp.Compare(a.vehicle, b.vehicle))
		if f.Ascending {
			return order
		}
		return -order
	})
	return found
}

// randomFilter is a filter of a few conditions.
func randomFilter(random *rand.Rand) query.DerivedFilter {
	f := query.DerivedFilter{Account: mine, Deleted: random.IntN(3) == 0, Ascending: random.IntN(2) == 0,
		ByUpdate: random.IntN(3) == 0, Limit: 1 + random.IntN(30)}
	one := func() bool { return random.IntN(4) == 0 }
	if random.IntN(4) > 0 {
		f.Vehicles = []fleet.VehicleID{1 + fleet.VehicleID(random.IntN(5))}
	}
	if one() {
		f.From = noon + fleet.Millis(random.Int64N(30*86_400_000))
	}
	if one() {
		f.To = noon + fleet.Millis(random.Int64N(30*86_400_000))
	}
	if one() {
		f.Since = noon + fleet.Millis(random.IntN(400))
	}
	if one() {
		f.Open = fleet.TriOf(random.IntN(2) == 0)
	}
	if one() {
		f.Late = fleet.TriOf(random.IntN(2) == 0)
	}
	if one() {
		f.Fences = []fleet.FenceID{1, 2}
	}
	if one() {
		f.Rules = []fleet.RuleID{fleet.RuleID(1 + random.IntN(3))}
	}
	if one() {
		f.Kinds = []string{"speed", "offline"}
	}
	if one() {
		f.Severities = []string{"warning"}
	}
	if one() {
		f.Statuses, f.Deleted = []string{"raised", "withdrawn"}, true
	}
	return f
}

// ids that several vehicles have would make an order of start and id ambiguous, as they never do: an identity is made
// of the vehicle too.
func vehicleIDs(rows []query.Derived[*fleet.Alert]) []string {
	var all []string
	for i := range rows {
		d := &rows[i]
		all = append(all, fmt.Sprintf("%d/%d@%d revision %d of %s, %t", d.Vehicle, d.ID(), d.Entity.Start, d.Revision,
			d.Entity.Subject, d.Deleted))
	}
	return all
}

// Pages of what was derived, read by where the rows stand, are those that a reading of everything with FINAL gives:
// whatever was repaired or withdrawn, in however many parts it lies, by cursor and by number, with the true total.
func TestPagesOfWhatIsDerivedAreThoseOfFinal(t *testing.T) {
	db := schematest.Open(t)
	random := rand.New(rand.NewPCG(20, 26))
	r := &repairs{random: random, revision: map[[3]uint64]uint32{}, clock: int64(noon)}
	names := query.StoredZoneNames(t.Context(), db, mine)
	exec(t, db, "SYSTEM STOP MERGES alerts")
	for round := range 12 {
		for range 3 {
			r.write(t, db, 60)
		}
		if round == 8 {
			exec(t, db, "SYSTEM START MERGES alerts")
			exec(t, db, "OPTIMIZE TABLE alerts FINAL")
			continue // and what stands is asked for with the next revisions beside it
		}
		rows := all(t, db)
		for range 12 {
			f := randomFilter(random)
			if len(f.Vehicles) == 0 {
				continue // ids are those of a vehicle here
			}
			find := func(rows []derivedRow) []string {
				var list []string
				for _, r := range rows {
					list = append(list, fmt.Sprintf("%d/%d@%d revision %d of %d, %t", r.vehicle, r.id, r.start, r.revision,
						r.revision, r.deleted))
				}
				return list
			}
			want := find(wanted(&f, rows))
			n, err := query.Alerts.Count(t.Context(), db, f)
			if err != nil || n != len(want) {
				t.Fatalf("round %d, %+v: counted %d, %v, want %d", round, f, n, err, len(want))
			}
			var byCursor, byNumber []string
			for g := f; ; {
				page, err := query.Alerts.Page(t.Context(), db, g, names)
				if err != nil || page.Total != len(want) {
					t.Fatalf("round %d, %+v: total %d, %v, want %d", round, g, page.Total, err, len(want))
				}
				byCursor = append(byCursor, vehicleIDs(page.Rows)...)
				if g.AfterTime, g.AfterID = page.AfterTime, page.AfterID; g.AfterID == 0 {
					break
				}
			}
			for g := f; g.Offset <= len(want); g.Offset += g.Limit {
				page, err := query.Alerts.Page(t.Context(), db, g, names)
				if err != nil || page.Total != len(want) || (page.AfterID != 0) != (g.Offset+g.Limit < len(want)) {
					t.Fatalf("round %d, %+v: %d rows, total %d, next %d, %v, want %d", round, g, len(page.Rows), page.Total,
						page.AfterID, err, len(want))
				}
				byNumber = append(byNumber, vehicleIDs(page.Rows)...)
			}
			var listed []query.Derived[*fleet.Alert]
			f.Limit = 0
			for d, err := range query.Alerts.List(t.Context(), db, f) {
				if err != nil {
					t.Fatal(err)
				}
				listed = append(listed, d)
			}
			for how, got := range map[string][]string{"by cursor": byCursor, "by number": byNumber,
				"as a list": vehicleIDs(listed)} {
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Fatalf("round %d, %+v, %s: %s", round, f, how, diff)
				}
			}
		}
	}
}

// Who follows cursors while repairs go on meets every row that they leave alone exactly once.
func TestCursorsOfWhatIsDerivedHoldWhileItIsRepaired(t *testing.T) {
	db := schematest.Open(t)
	random := rand.New(rand.NewPCG(1, 2))
	r := &repairs{random: random, revision: map[[3]uint64]uint32{}, clock: int64(noon)}
	names := query.StoredZoneNames(t.Context(), db, mine)
	for range 5 {
		r.write(t, db, 120)
	}
	before := all(t, db)
	met := map[uint64]int{}
	f := query.DerivedFilter{Account: mine, Vehicles: []fleet.VehicleID{2}, Limit: 4}
	for pages := 0; pages == 0 || f.AfterID != 0; pages++ {
		page, err := query.Alerts.Page(t.Context(), db, f, names)
		if err != nil {
			t.Fatal(err)
		}
		for i := range page.Rows {
			met[page.Rows[i].ID()]++
		}
		f.AfterTime, f.AfterID = page.AfterTime, page.AfterID
		r.write(t, db, 3)
	}
	after := all(t, db)
	alone := 0
	for _, row := range before {
		if row.vehicle != 2 || row.deleted || !slices.Contains(after, row) {
			continue
		}
		if alone++; met[row.id] != 1 {
			t.Errorf("row %d was on %d pages", row.id, met[row.id])
		}
	}
	if alone < 10 {
		t.Errorf("only %d rows were left alone: this test would not see it", alone)
	}
}
