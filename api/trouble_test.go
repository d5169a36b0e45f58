package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/rest"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// The errors are ClickHouse's own, each brought about by a limit.
func TestAStoreThatCannotNowIsA503AndNoFaultOfOurs(t *testing.T) {
	w := newWorld(t)
	w.exec("CREATE TABLE full (n UInt64) ENGINE = MergeTree ORDER BY n SETTINGS min_free_disk_bytes_to_perform_insert = 1000000000000000")
	w.exec("CREATE TABLE scattered (n UInt64) ENGINE = MergeTree ORDER BY n SETTINGS parts_to_throw_insert = 1, parts_to_delay_insert = 1, max_avg_part_size_for_too_many_parts = 0")
	w.exec("SYSTEM STOP MERGES scattered")
	w.exec("INSERT INTO scattered VALUES (1)")
	busy, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- w.db.Exec(busy, "SELECT sleepEachRow(1) FROM numbers(600) FORMAT Null SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 0")
	}()
	const heavy = "SELECT length(groupArray(number)) FROM numbers(30000000)"
	for _, test := range []struct {
		code   int32
		sql    string
		status int
		word   string
	}{
		{rest.ClickHouseTimeout, "SELECT sleepEachRow(0.1) FROM numbers(100) SETTINGS max_execution_time = 1, max_block_size = 1, function_sleep_max_microseconds_per_block = 0",
			503, "unavailable"},
		{rest.ClickHouseTooManyQueries, "SELECT 1 SETTINGS max_concurrent_queries_for_user = 1", 503, "unavailable"},
		{rest.ClickHouseMemory, heavy + " SETTINGS max_memory_usage = 20000000", 422, "question_too_large"},
		{rest.ClickHouseMemory, heavy + " SETTINGS max_memory_usage_for_user = 20000000", 503, "unavailable"},
		{rest.ClickHouseNoSpace, "INSERT INTO full SELECT 1", 503, "unavailable"},
		{rest.ClickHouseTooManyParts, "INSERT INTO scattered SELECT 2", 503, "unavailable"},
		{60, "SELECT * FROM nowhere", 500, "internal_error"},
	} {
		err := w.db.Exec(t.Context(), test.sql)
		for err == nil && t.Context().Err() == nil { // the one that keeps it busy may not run yet
			err = w.db.Exec(t.Context(), test.sql)
		}
		if said, ok := errors.AsType[*clickhouse.Exception](err); !ok || said.Code != test.code {
			t.Errorf("%s: %v, want code %d", test.sql, err, test.code)
			continue
		}
		if p, _ := rest.ProblemOf(fmt.Errorf("read vehicles: %w", err)); p.Code != test.word {
			t.Errorf("code %d: %s", test.code, p.Code)
		}
		failed := fmt.Errorf("read vehicles: %w", err)
		server := httptest.NewServer(w.api.Observe(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			w.api.WriteProblem(out, r, failed)
		})))
		res, err := http.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		// Who asked for a write is not told to repeat it: it may be done.
		written, err := http.Post(server.URL, "application/json", nil)
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(written.Body)
		written.Body.Close()
		server.Close()
		wanted := test.status
		if test.code == rest.ClickHouseNoSpace { // a write is known not to be done
			wanted = http.StatusInsufficientStorage
		}
		if err != nil || written.StatusCode != wanted || strings.Contains(string(said), "Look whether") != (wanted == 503) ||
			wanted == 503 && strings.Contains(string(said), "Try again") ||
			(written.Header.Get("Retry-After") != "") != (wanted == 503 || wanted == 507) {
			t.Errorf("code %d, of a write: %d %s, %v", test.code, written.StatusCode, said, err)
		}
		if res.StatusCode != test.status || (res.Header.Get("Retry-After") != "") != (test.status == 503) {
			t.Errorf("code %d: %d, Retry-After %q", test.code, res.StatusCode, res.Header.Get("Retry-After"))
		}
	}
	stop()
	<-ended
}

// What takes more memory than a question may have is told to ask for less, and everybody else is answered.
func TestAHeatMapThatTakesTooMuchIsRefusedInWords(t *testing.T) {
	w := newWorld(t, func(c *rest.Config, _ *Deps) { c.QueryMemory = 2 << 20 })
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	w.exec(`INSERT INTO positions (account, cell, fix_time, vehicle, lat7, lng7)
		SELECT {a:UInt64}, geoToH3(30 + (number % 100000) / 1e4, -97., 9), fromUnixTimestamp64Milli({at:Int64} + number, 'UTC'), number % 1000, 300000000, -970000000
		FROM numbers(300000)`, clickhouse.Named("a", uint64(w.account)), clickhouse.Named("at", day.UnixMilli()))
	ask := func(from, to time.Time) *reply {
		return w.do("GET",
			fmt.Sprintf("/v1/heatmap?resolution=9&from=%s&until=%s", from.Format(time.RFC3339), to.Format(time.RFC3339)), "")
	}
	ask(day, day.AddDate(0, 0, 1)).problem(422, "question_too_large")
	ask(day, day.Add(time.Second)).ok(200)
	w.do("GET", "/v1/vehicles", "").ok(200)
}
