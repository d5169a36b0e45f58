package systemtest

import (
	"testing"

	"github.com/motorpool/fleet/loadtest/system"
)

// SoundEvents holds the table of events against what is derived, in all accounts of the system (a shared broker may
// carry others'): no gap in the sequences; one beginning of a thing, and one more after each deletion, under one
// identity each however often it was told; and what was told last of a thing that is over is what is stored.
func SoundEvents(t *testing.T, s *system.System) {
	t.Helper()
	for _, c := range []struct{ what, query string }{
		{"sequences of events are missing",
			"SELECT toUInt64(max(sequence) - min(sequence) + 1 - uniqExact(sequence)) FROM events"},
		{"events have two types or objects under one identity",
			"SELECT count() FROM (SELECT id FROM events GROUP BY id HAVING uniqExact(type, object, account, vehicle) > 1)"},
		{"things began more often than they were deleted", `SELECT count() FROM (
			SELECT account, vehicle, kind, object FROM events WHERE account IN (SELECT id FROM accounts) GROUP BY ALL
			HAVING uniqExactIf(id, type LIKE '%.started' OR type IN ('geofence.entered', 'alert.raised')) > 1 + uniqExactIf(id, type LIKE '%.deleted' OR type = 'alert.withdrawn'))`},
		{"things have no event", `SELECT count() FROM derivations FINAL
			WHERE NOT deleted AND (account, vehicle, kind, id) NOT IN (SELECT account, vehicle, kind, object FROM events)`},
		{"things that are over are not what was told last", `SELECT count() FROM (
			SELECT account, vehicle, kind, id, body FROM derivations FINAL WHERE NOT deleted AND NOT open) AS stored
			INNER JOIN (SELECT account, vehicle, kind, object AS id, argMax(body, sequence) AS told FROM events GROUP BY ALL) AS said
			USING (account, vehicle, kind, id) WHERE body != told`},
	} {
		if n := scalar[uint64](t, s, c.query); n != 0 {
			t.Errorf("%d %s", n, c.what)
		}
	}
	t.Logf("%d events", scalar[uint64](t, s, "SELECT uniqExact(sequence) FROM events"))
}

// Unrevoked counts the things that were told of, do not hold, and were not told to be gone. Without kills there is
// none. A pipeline that is killed between telling and writing what silence made of a vehicle leaves one behind, if by
// then a fix has broken the silence.
func Unrevoked(t *testing.T, s *system.System) uint64 {
	t.Helper()
	return scalar[uint64](t, s, `SELECT count() FROM
		(SELECT account, vehicle, kind, object AS id, argMax(type, sequence) AS last FROM events
		 WHERE account IN (SELECT id FROM accounts) AND kind IN (SELECT kind FROM derivations) GROUP BY ALL) AS said
		WHERE NOT (last LIKE '%.deleted' OR last = 'alert.withdrawn')
		  AND (account, vehicle, kind, id) NOT IN (SELECT account, vehicle, kind, id FROM derivations FINAL WHERE NOT deleted)`)
}
