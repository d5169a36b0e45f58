package schematest

import (
	"maps"
	"math"
	"strconv"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
)

// MakeBooked makes the facts of an account's bookings and customers that reports read, of its bookings and its ledger
// as they stand. Parameters of it are account, zone, accounts and measures, as those queries have them.
func MakeBooked(t testing.TB, db driver.Conn, of clickhouse.Parameters) {
	t.Helper()
	of = maps.Clone(of)
	maps.Copy(of, clickhouse.Parameters{"first": "0", "last": "18446744073709551615", "customers": "[]",
		"since": "1970-01-01", "kept": "1970-01-01"})
	account, err := strconv.ParseUint(of["account"], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := schemas.ChosenAmong(t.Context(), db, account, 0, math.MaxUint64)
	if err != nil {
		t.Fatal(err)
	}
	ctx := clickhouse.Context(t.Context(), clickhouse.WithParameters(of), chosen)
	for _, name := range []string{"facts_rental_sums", "facts_tax_bases", "facts_booking_sums", "facts_customer_sums"} {
		if err := db.Exec(ctx, schemas.Query(name)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// MakeFleetDays makes the days of an account's fleet, which reports read, of the days of its vehicles as they stand.
func MakeFleetDays(t testing.TB, db driver.Conn, account uint64) {
	t.Helper()
	if err := db.Exec(t.Context(), schemas.Query("facts_fleet_days"), clickhouse.Named("account", account),
		clickhouse.Named("from", "1970-01-01"), clickhouse.Named("to", "2199-12-31")); err != nil {
		t.Fatal(err)
	}
}

// MakeGeofenceDays makes the days of an account's vehicles in geofences, which reports read, of its visits from 2024 to
// 2027 as they stand. Parameters of it are account and zone.
func MakeGeofenceDays(t testing.TB, db driver.Conn, of clickhouse.Parameters) {
	t.Helper()
	of = maps.Clone(of)
	maps.Copy(of, clickhouse.Parameters{"from": "2024-01-01", "to": "2027-12-31", "vehicles": "[]", "kept": "1970-01-01"})
	ctx := clickhouse.Context(t.Context(), clickhouse.WithParameters(of))
	if err := db.Exec(ctx, schemas.Query("facts_geofence_days")); err != nil {
		t.Fatal(err)
	}
}
