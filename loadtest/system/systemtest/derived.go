package systemtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/motorpool/fleet/loadtest/system"
	"github.com/motorpool/fleet/schemas"
)

// AwaitDerived returns when the pipeline has worked through everything, has nothing to derive again, and silence has
// ended what it ends: trips whose last fix is an hour old, and where there is a rule for it, each vehicle is found
// offline. It is for recordings of the past.
func AwaitDerived(t *testing.T, ctx context.Context, s *system.System) {
	t.Helper()
	const left = `SELECT
		(SELECT count() FROM dirty_spans FINAL WHERE from_at IS NOT NULL),
		(SELECT count() FROM trips FINAL WHERE open AND NOT deleted AND end_at < now() - INTERVAL 1 HOUR),
		(SELECT uniqExact(vehicle) FROM positions
		 WHERE account IN (SELECT account FROM alert_rules FINAL WHERE kind = 'device_offline')
		   AND (account, vehicle) NOT IN (SELECT account, vehicle FROM alerts FINAL WHERE alert_kind = 'device_offline' AND open AND NOT deleted))`
	for {
		var dirty, open, heard uint64
		lag, err := s.Lag(ctx)
		if err == nil && lag == 0 {
			err = s.DB.QueryRow(ctx, left).Scan(&dirty, &open, &heard)
			if err == nil && dirty+open+heard == 0 {
				return
			}
		}
		select {
		case <-ctx.Done():
			t.Logf("trips that stay open, and what is derived of them: %v",
				scalar[[]string](t, s, `SELECT groupArray(format('{} {} revision {} of {}, ends {} and {}',
				toString(t.vehicle), toString(t.id), toString(t.revision), toString(d.revision), toString(t.end_at), toString(d.end_at)))
				FROM (SELECT * FROM trips FINAL WHERE open AND NOT deleted) AS t LEFT JOIN (SELECT * FROM derivations FINAL WHERE kind = 'trip') AS d ON d.id = t.id`))
			t.Fatalf(
				"not settled: %d records to go, %d vehicles to be derived again, %d trips open, %d vehicles not found silent; %v",
				lag, dirty, open, heard, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Derived returns what is derived in an account, sorted, a line each in words that hold for any account that has
// vehicles of the same external references, and geofences and rules of the same names.
func Derived(t *testing.T, s *system.System, account string) []string {
	t.Helper()
	id := scalar[uint64](t, s, fmt.Sprintf("SELECT id FROM accounts FINAL WHERE name = '%s'", account))
	names := map[string]map[string]string{
		"geofence": namesOf(t, s, fmt.Sprintf("SELECT id, name FROM geofences FINAL WHERE account = %d", id)),
		"rule":     namesOf(t, s, fmt.Sprintf("SELECT id, name FROM alert_rules FINAL WHERE account = %d", id)),
	}
	vehicles := namesOf(t, s, fmt.Sprintf(
		"SELECT id, JSONExtractString(body, 'external_refs', 1, 'id') FROM vehicles FINAL WHERE account = %d", id))
	var all []string
	text := fmt.Sprintf(`SELECT toString(vehicle), toString(kind), start_at, end_at, recognised_at, local_date, open, body
		FROM derivations FINAL WHERE account = %d AND NOT deleted`, id)
	err := schemas.EachRow(t.Context(), s.DB, "read what is derived", text, nil, func(row schemas.Row) error {
		var vehicle, kind, text string
		var start, end, recognised, day time.Time
		var open bool
		if err := row.Scan(&vehicle, &kind, &start, &end, &recognised, &day, &open, &text); err != nil {
			return err
		}
		var body map[string]any
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Fatal(err)
		}
		delete(body, "device")
		for member, known := range names {
			if id, ok := body[member].(string); ok {
				body[member] = known[id]
			}
		}
		words, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all,
			fmt.Sprintf("%s %s %s – %s, known %s, on %s, open %v: %s", vehicles[vehicle], kind, start.Format(time.RFC3339Nano),
				end.Format(time.RFC3339Nano), recognised.Format(time.RFC3339Nano), day.Format(time.DateOnly), open, words))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// SameDerived compares what is derived in two accounts and says how much there is of each kind.
func SameDerived(t *testing.T, s *system.System, account, other string) {
	t.Helper()
	a, b := Derived(t, s, account), Derived(t, s, other)
	CountDerived(t, s, account)
	if len(a) == 0 {
		t.Errorf("nothing is derived in %s", account)
	}
	const most = 6
	for _, c := range []struct {
		name string
		only []string
	}{{account, without(a, b)}, {other, without(b, a)}} {
		if len(c.only) > 0 {
			t.Errorf("%d of %d derived only in %s:", len(c.only), len(a), c.name)
			for _, line := range c.only[:min(most, len(c.only))] {
				t.Log(line)
			}
		}
	}
}

// without returns the lines of all that are not in others; both are sorted.
func without(all, others []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(line string) bool {
		_, found := slices.BinarySearch(others, line)
		return found
	})
}

// CountDerived logs how much of each kind is derived in an account, and returns it.
func CountDerived(t *testing.T, s *system.System, account string) map[string]uint64 {
	t.Helper()
	counts, said := map[string]uint64{}, ""
	text := fmt.Sprintf(`SELECT toString(kind), countIf(NOT deleted), countIf(deleted)
		FROM derivations FINAL WHERE account IN (SELECT id FROM accounts FINAL WHERE name = '%s') GROUP BY kind ORDER BY kind`, account)
	err := schemas.EachRow(t.Context(), s.DB, "count what is derived", text, nil, func(row schemas.Row) error {
		var kind string
		var there, deleted uint64
		if err := row.Scan(&kind, &there, &deleted); err != nil {
			return err
		}
		counts[kind] = there
		said += fmt.Sprintf(" %s %d (%d deleted)", kind, there, deleted)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s:%s", account, said)
	return counts
}

func scalar[T any](t *testing.T, s *system.System, query string) T {
	t.Helper()
	var v T
	if err := s.DB.QueryRow(t.Context(), query).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

// namesOf reads pairs of an id and a name.
func namesOf(t *testing.T, s *system.System, query string) map[string]string {
	t.Helper()
	names := map[string]string{}
	err := schemas.EachRow(t.Context(), s.DB, "read names", query, nil, func(row schemas.Row) error {
		var id uint64
		var name string
		if err := row.Scan(&id, &name); err != nil {
			return err
		}
		names[fmt.Sprint(id)] = name
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
