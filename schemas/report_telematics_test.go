package schemas_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
)

// Vehicle 1 is in Chicago, where the clocks went forward on Sunday, 8 March 2026, and vehicle 2 in Berlin; 3 is
// another account's. The trips, in UTC and by the clocks there:
//
//	1: 8 March 05:30, the 7th at 23:30 in Chicago; 10,000 m, 1,000 of them estimated
//	1: 8 March 12:00, the 8th; a way of 3,000 m that nobody saw
//	1: 9 March 05:10, the 9th at 00:10, as the clocks have gone forward: else it were the 8th; 5,000 m
//	2: 7 March 23:30, the 8th at 00:30 in Berlin; 20,000 m
func TestTripsAreOfTheDayOfTheirVehicle(t *testing.T) {
	db := openReports(t)
	record(t, db, "vehicles", 7, 1, "2026-01-01 00:00:00", `{"make":"Ford","model":"Focus","fuel_type":"gasoline","tags":["a","b"]}`)
	record(t, db, "vehicles", 7, 2, "2026-01-01 00:00:00", `{"make":"Tesla","model":"3","fuel_type":"electric","timezone":"Europe/Berlin"}`)
	record(t, db, "vehicles", 8, 3, "2026-01-01 00:00:00", `{"make":"Ford","model":"Focus"}`)
	put(t, db, `INSERT INTO trips (account, vehicle, id, revision, start_at, end_at, deleted, distance_m, distance_estimated_m, moving_s, unrecorded, idle_s, max_speed_mps, body) VALUES
		(7, 1, 11, 1, '2026-03-08 05:30:00', '2026-03-08 05:50:00', false, 10000, 1000, 900, false, 100, 20, '{}'),
		(7, 1, 12, 1, '2026-03-08 12:00:00', '2026-03-08 13:00:00', false, 3000, 3000, 0, true, 0, 0, '{}'),
		(7, 1, 13, 1, '2026-03-09 05:10:00', '2026-03-09 05:20:00', false, 5000, 0, 500, false, 0, 10, '{}'),
		(7, 1, 14, 1, '2026-03-09 08:00:00', '2026-03-09 09:00:00', true, 99000, 0, 500, false, 0, 99, '{}'),
		(7, 2, 21, 1, '2026-03-07 23:30:00', '2026-03-08 00:00:00', false, 20000, 0, 1000, false, 50, 40, '{}'),
		(8, 3, 31, 1, '2026-03-08 12:00:00', '2026-03-08 13:00:00', false, 77000, 0, 1000, false, 50, 50, '{}')`)
	days := ask(t, db, "trips", "day", "from", "2026-03-07", "to", "2026-03-09")
	want(t, days, "2026-03-07", "trips 1, trips_mi 6.2137, duration_s 1200, moving_s 900, idle_s 100, unrecorded_trips 0, max_speed_mph 44.7387")
	want(t, days, "2026-03-08", "trips 1, trips_mi 12.4274, unrecorded_trips 1, unrecorded_mi 1.8641, max_speed_mph 89.4775")
	want(t, days, "2026-03-09", "trips 1, trips_mi 3.1069, moving_s 500")
	// 35,000 m of three trips, and the way
	want(t, ask(t, db, "trips", "total"), "", "trips 3, trips_mi 21.7480, duration_s 3600, unrecorded_trips 1, unrecorded_mi 1.8641")
	want(t, ask(t, db, "trips", "total", "from", "2026-03-08", "to", "2026-03-08", "vehicles", "[1]"), "",
		"trips 0, unrecorded_trips 1, max_speed_mph null")
	tags := ask(t, db, "trips", "tag")
	want(t, tags, "a", "trips 2")
	want(t, tags, "b", "trips 2")
	want(t, tags, "", "trips 1")
	want(t, ask(t, db, "trips", "total", "makes", "['Tesla']"), "", "trips 1, trips_mi 12.4274")

	// Two stops: 600 s of vehicle 1, and 60 s of the electric one, which burns nothing. 700 s at 0.16 gallons an hour are
	// 0.0311 gallons; at 4.00 a gallon 0.12.
	put(t, db, `INSERT INTO stops (account, vehicle, id, revision, start_at, end_at, idle_s, body) VALUES
		(7, 1, 41, 1, '2026-03-08 05:50:00', '2026-03-08 12:00:00', 600, '{}'), (7, 2, 42, 1, '2026-03-08 00:00:00', '2026-03-08 12:00:00', 60, '{}')`)
	want(t, ask(t, db, "idling", "total"), "", "idle_s 810, trip_idle_s 150, stop_idle_s 660, moving_s 2400, engine_s 3210, burning_s 700, idle_gal 0.0311, idle_fuel 12")
	want(t, ask(t, db, "idling", "day"), "2026-03-07", "idle_s 700, engine_s 1600")
	want(t, ask(t, db, "idling", "total", "currency", "EUR"), "", "idle_s 810, idle_fuel null")
	want(t, ask(t, db, "idling", "total", "from", "2026-03-08", "to", "2026-03-08", "vehicles", "[1]"), "",
		"engine_s 0, idle_fuel null")

	// A score is what fleet.Score says of the same sums, and there is none of 5,000 m.
	put(t, db, `INSERT INTO driving_events (account, vehicle, id, revision, start_at, end_at, what, body) VALUES
		(7, 1, 51, 1, '2026-03-08 05:31:00', '2026-03-08 05:31:00', 'harsh_braking', '{}'),
		(7, 1, 52, 1, '2026-03-08 05:32:00', '2026-03-08 05:33:00', 'speeding', '{}'),
		(7, 2, 53, 1, '2026-03-07 23:31:00', '2026-03-07 23:31:00', 'harsh_cornering', '{}'),
		(8, 3, 54, 1, '2026-03-08 12:31:00', '2026-03-08 12:31:00', 'crash', '{}')`)
	scores := ask(t, db, "driver_score", "vehicle")
	want(t, scores, "1", "trips 2, braking 1, speeding 1, speeding_s 60, harsh 1, moving_s 1400")
	want(t, ask(t, db, "driver_score", "day"), "2026-03-09", "trips 1, score null")
	for key, in := range map[string]fleet.ScoreInput{
		"1": {Distance: 14_000, Driving: 1_400_000, Speeding: 60_000, Braking: 1},
		"2": {Distance: 20_000, Driving: 1_000_000, Cornering: 1},
	} {
		is, ok := fleet.Score(in)
		if got := scores[key]["score"]; !ok || got == nil || math.Abs(*got-is) > 1e-9 {
			t.Errorf("vehicle %s: a score of %s, and fleet.Score says %f", key, show(got), is)
		}
	}
}

// Of two vehicles, one of them electric: 12,000 m of which 4,000 on rent, and 20,000 m on rent. Ten litres were
// burnt on the only day on which fuel is known, of 8,000 m, and 4 kWh charged. Costs in euros are none in dollars.
func TestMilesOnRentAndOutsideAndWhatTheyTook(t *testing.T) {
	db := openReports(t)
	record(t, db, "vehicles", 7, 1, "2026-01-01 00:00:00", `{"make":"Ford","fuel_type":"gasoline"}`)
	record(t, db, "vehicles", 7, 2, "2026-01-01 00:00:00", `{"make":"Tesla","fuel_type":"electric"}`)
	put(t, db, `INSERT INTO vehicle_days (account, local_date, vehicle, currency, computed_at, driven_m, rented_m, fuel_l, energy_kwh, cost_energy) VALUES
		(7, '2026-03-07', 1, 'USD', '2026-03-08 00:00:00', 1, 1, 1, 1, 1),
		(7, '2026-03-07', 1, 'USD', '2026-03-09 00:00:00', 8000, 4000, 10, 0, 300),
		(7, '2026-03-07', 1, 'EUR', '2026-03-09 00:00:00', 0, 0, 0, 0, 5000),
		(7, '2026-03-08', 1, 'USD', '2026-03-09 00:00:00', 4000, 0, 0, 0, 0),
		(7, '2026-03-08', 2, 'USD', '2026-03-09 00:00:00', 20000, 20000, 0, 4, 120),
		(7, '2026-03-09', 2, 'USD', '2026-03-09 00:00:00', 0, 0, 0, 0, 0),
		(7, '2026-04-01', 2, 'USD', '2026-04-09 00:00:00', 9000, 0, 0, 0, 0),
		(8, '2026-03-08', 3, 'USD', '2026-03-09 00:00:00', 7000, 0, 0, 0, 0)`,
		`INSERT INTO trips (account, vehicle, id, revision, start_at, end_at, distance_m, distance_estimated_m, unrecorded, body) VALUES
		(7, 1, 11, 1, '2026-03-07 12:00:00', '2026-03-07 13:00:00', 8000, 500, false, '{}'),
		(7, 1, 12, 1, '2026-03-08 12:00:00', '2026-03-08 13:00:00', 4000, 4000, true, '{}')`,
		`INSERT INTO charges (account, vehicle, id, revision, start_at, end_at, energy_kwh, body) VALUES
		(7, 2, 61, 1, '2026-03-08 12:00:00', '2026-03-08 12:30:00', 4, '{}'), (7, 2, 62, 1, '2026-03-09 12:00:00', '2026-03-09 12:10:00', NULL, '{}')`)
	want(t, ask(t, db, "distance", "total"), "",
		"driven_mi 19.8839, rented_mi 14.9129, outside_mi 4.9710, estimated_mi 2.7962, unrecorded_mi 2.4855, trips 1, driven_days 3")
	want(t, ask(t, db, "distance", "make"), "Ford", "driven_mi 7.4565, rented_mi 2.4855, outside_mi 4.9710, driven_days 2")
	want(t, ask(t, db, "energy", "total"), "",
		"fuel_gal 2.6417, fuelled_mi 4.9710, charged_kwh 4, electric_mi 12.4274, electric_kwh 4, charges 2, charging_s 2400, unmetered_charges 1, driven_mi 19.8839, energy_cost 420")
	want(t, ask(t, db, "energy", "total", "currency", "EUR"), "", "fuel_gal 2.6417, energy_cost 5000")
}

// A charging session is of the day of its vehicle on which it began, wherever that is, also where the clocks jump over
// midnight or a day is left out, and on both sides of the beginning and the end of what is asked.
func TestChargingSessionsAreOfTheDayOnWhichTheyBegan(t *testing.T) {
	for name, around := range map[string]string{
		"Africa/Cairo": "2026-04-24", "America/Havana": "2026-11-01", "Pacific/Apia": "2011-12-30",
		"Pacific/Kiritimati": "2026-01-01", "Pacific/Pago_Pago": "2026-01-01", "Asia/Kathmandu": "2026-01-01",
	} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		db := openReports(t)
		record(t, db, "vehicles", 7, 1, "2011-01-01 00:00:00", `{"make":"Tesla","timezone":"`+name+`"}`)
		middle, err := time.Parse(time.DateOnly, around)
		if err != nil {
			t.Fatal(err)
		}
		from, to := middle.AddDate(0, 0, -1).Format(time.DateOnly), middle.AddDate(0, 0, 1).Format(time.DateOnly)
		began, sessions := map[string]int{}, []string{}
		for at := middle.AddDate(0, 0, -3); at.Before(middle.AddDate(0, 0, 4)); at = at.Add(15 * time.Minute) {
			for _, start := range []time.Time{at, at.Add(-time.Millisecond)} {
				sessions = append(sessions, fmt.Sprintf("(7, 1, %d, 1, '%s', '%[2]s', '{}')", len(sessions)+1,
					start.Format("2006-01-02 15:04:05.000")))
				if day := start.In(zone).Format(time.DateOnly); day >= from && day <= to {
					began[day]++
				}
			}
		}
		put(t, db, "INSERT INTO charges (account, vehicle, id, revision, start_at, end_at, body) VALUES "+
			strings.Join(sessions, ", "))
		days := ask(t, db, "energy", "day", "from", from, "to", to)
		for day := middle.AddDate(0, 0, -3); day.Before(middle.AddDate(0, 0, 4)); day = day.AddDate(0, 0, 1) {
			key, found := day.Format(time.DateOnly), 0
			if got := days[key]["charges"]; got != nil {
				found = int(*got)
			}
			if found != began[key] {
				t.Errorf("%d sessions of %s in %s, %d began on it", found, key, name, began[key])
			}
		}
	}
}

// A vehicle in Chicago is in geofence 5 from 7 March, 12:00 UTC, which is 06:00 there, for three days: 18 hours of
// the 7th, 23 of the 8th, when the clocks go forward, 24 of the 9th, and until 07:00 of the 10th.
func TestTimeInGeofencesIsThatOfEachDay(t *testing.T) {
	db := openReports(t)
	record(t, db, "vehicles", 7, 1, "2026-01-01 00:00:00", `{"make":"Ford"}`)
	put(t, db, `INSERT INTO visits (account, vehicle, id, revision, start_at, end_at, deleted, geofence, body) VALUES
		(7, 1, 71, 1, '2026-03-07 12:00:00', '2026-03-10 12:00:00', false, 5, '{}'),
		(7, 1, 72, 1, '2026-03-08 12:00:00', '2026-03-08 12:00:00', false, 6, '{}'),
		(7, 1, 73, 1, '2026-03-08 12:00:00', '2026-03-08 13:00:00', true, 5, '{}'),
		(8, 3, 74, 1, '2026-03-08 12:00:00', '2026-03-08 13:00:00', false, 5, '{}')`)
	days := ask(t, db, "geofence_time", "day", "from", "2026-03-01", "to", "2026-03-31")
	want(t, days, "2026-03-07", "visits 1, inside_s 64800, visit_s 259200, visitors 1")
	want(t, days, "2026-03-08", "visits 1, inside_s 82800, visit_s 0, visitors 1") // the passing of geofence 6
	want(t, days, "2026-03-09", "visits 0, inside_s 86400")
	want(t, days, "2026-03-10", "visits 0, inside_s 25200")
	want(t, ask(t, db, "geofence_time", "geofence", "from", "2026-03-08", "to", "2026-03-09"), "5",
		"visits 0, inside_s 169200, visitors 1")
	want(t, ask(t, db, "geofence_time", "total"), "", "visits 2, inside_s 259200")

	put(t, db, `INSERT INTO alerts (account, vehicle, id, revision, start_at, end_at, open, alert_kind, severity, body) VALUES
		(7, 1, 81, 1, '2026-03-08 12:00:00', '2026-03-08 12:01:00', false, 'speeding', 'warning', '{}'),
		(7, 1, 82, 1, '2026-03-08 13:00:00', '2026-03-08 13:10:00', true, 'offline', 'critical', '{}'),
		(8, 3, 83, 1, '2026-03-08 13:00:00', '2026-03-08 13:10:00', true, 'offline', 'critical', '{}')`)
	record(t, db, "alert_acks", 7, 81, "2026-03-08 14:00:00", `{}`)
	record(t, db, "alert_acks", 8, 82, "2026-03-08 14:00:00", `{}`)
	want(t, ask(t, db, "alerts", "total"), "", "alerts 2, critical 1, warnings 1, infos 0, acknowledged 1, still_open 1, lasted_s 660, alerted_vehicles 1")
	want(t, ask(t, db, "alerts", "category"), "speeding", "alerts 1, acknowledged 1, lasted_s 60")
}

// Parts of a visit add up to it, whatever fractions of a second it begins and ends with, and whether it is cut at
// midnights or at months.
func TestPartsOfAVisitAddUpToIt(t *testing.T) {
	db := openReports(t)
	has(t, db, 1)
	put(t, db, `INSERT INTO visits (account, vehicle, id, revision, start_at, end_at, deleted, geofence, body) VALUES
		(7, 1, 71, 1, '2026-03-31 04:59:58.300', '2026-04-02 05:00:01.300', false, 5, '{}'),
		(7, 1, 72, 1, '2026-02-10 12:00:00.600', '2026-05-10 12:00:00.100', false, 6, '{}')`)
	for group, rows := range map[string]int{"total": 1, "day": 80, "week": 12, "month": 4, "quarter": 2, "year": 1,
		"vehicle": 1, "geofence": 2} {
		got := ask(t, db, "geofence_time", group, "from", "2026-02-20", "to", "2026-05-31")
		seconds := 0.
		for _, row := range got {
			seconds += *row["inside_s"]
		}
		// of the second visit 79 days and seven hours, less the hour of summer time
		if whole := 172803. + 79*86400 + 6*3600; len(got) != rows || seconds != whole {
			t.Errorf("by %s %d rows and %.0f seconds, and ought to be %d and %.0f", group, len(got), seconds, rows, whole)
		}
	}
	months := ask(t, db, "geofence_time", "month", "from", "2026-03-01", "to", "2026-04-30")
	want(t, months, "2026-03-01", "visits 1, visit_s 172803, inside_s 2761202, visitors 1")
	want(t, months, "2026-04-01", "visits 0, inside_s 2678401, visitors 1")
}
