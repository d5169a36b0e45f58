package api

// tracked gives the vehicles of a business what trackers and customers would have made: a trip, a stop, a charge, a
// visit, a driving event and an alert a day, and for each booking a quote, and
// another booking that was cancelled.
func (b *business) tracked() {
	b.t.Helper()
	days := ` FROM vehicles AS v FINAL CROSS JOIN numbers(120) AS d`
	at := `toDateTime64('2026-01-01 15:00:00', 3, 'UTC') + toIntervalDay(d.number)`
	span := `) SELECT v.account, v.id, d.number + 1, 1, ` + at + `, ` + at + ` + INTERVAL 1 HOUR, '{}'`
	for table, more := range map[string][2]string{
		"trips":          {", distance_m, moving_s, idle_s, max_speed_mps", ", 30000 + d.number, 3000, 100, 20"},
		"stops":          {", idle_s", ", 77"},
		"charges":        {", energy_kwh", ", 11"},
		"visits":         {", geofence", ", d.number % 3 + 1"},
		"driving_events": {", what", ", 'harsh_braking'"},
		"alerts":         {", alert_kind, severity", ", 'speeding', 'warning'"},
	} {
		b.exec(`INSERT INTO ` + table + ` (account, vehicle, id, revision, start_at, end_at, body` + more[0] + span +
			more[1] + days)
	}
	b.exec(`INSERT INTO bookings (account, id, revision, created_at, updated_at, body)
		SELECT account, id + 1, 1, pickup_at, pickup_at, concat('{"status":"cancelled","pickup_at":"2026-07-01T00:00:00Z","vehicle_id":"',
			vehicle_id, '","customer_id":"', customer_id, '"}')
		FROM bookings FINAL`)
	b.exec(`INSERT INTO quotes (account, id, revision, created_at, updated_at, body)
		SELECT account, id, 1, pickup_at, pickup_at, body FROM bookings FINAL`)
}

func (b *business) exec(statement string) {
	b.t.Helper()
	if err := b.db.Exec(b.t.Context(), statement); err != nil {
		b.t.Fatal(err)
	}
}
