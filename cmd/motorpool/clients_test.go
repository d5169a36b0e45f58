package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
)

// fill stores a year of fixes of the account's vehicle.
func (c *tenant) fill(db driver.Conn, fixes int) {
	c.t.Helper()
	var account struct{ ID string }
	if status, body := c.call(c.t.Context(), http.MethodGet, "/v1/account", ""); status != 200 ||
		json.Unmarshal(body, &account) != nil {
		c.t.Fatalf("GET /v1/account: %d %s", status, body)
	}
	owner, err := fleet.ParseID(fleet.AccountPrefix, account.ID)
	if err != nil {
		c.t.Fatal(err)
	}
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, c.vehicle)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := db.Exec(c.t.Context(), `INSERT INTO positions (account, vehicle, fix_time, lat7, lng7)
		SELECT $1, $2, toDateTime64('2020-01-01 00:00:00', 3, 'UTC') + number * 2, 302700000 + rand(1) % 100000, -977400000 + rand(2) % 100000
		FROM numbers($3)`, owner, vehicle, fixes); err != nil {
		c.t.Fatal(err)
	}
}

// TestClientsThatStandStillStopOnlyThemselves opens more large downloads than there are connections to the store, and
// reads none of them. What others ask and send goes on as if they were not there, and in the end they are cut off.
func TestClientsThatStandStillStopOnlyThemselves(t *testing.T) {
	m := newMachine(t)
	m.env = append(m.env, "MOTORPOOL_CLIENT_STALL=6s", "MOTORPOOL_MAX_DOWNLOADS=6")
	m.up()
	slow, other := m.tenant("Slow").withTracker(), m.tenant("Other").withTracker()
	db := m.store()
	slow.fill(db, 1_000_000)

	const clients = 24
	forms := []string{"ndjson", "csv", "arrow", "parquet", "geojson", "gpx"}
	opened := time.Now()
	var standing sync.WaitGroup
	refused := make([]error, clients)
	over := make(chan struct{})
	for i := range clients {
		conn := stand(t, slow, "/v1/vehicles/"+slow.vehicle+"/positions?format="+forms[i%len(forms)])
		standing.Go(func() { refused[i] = conn.ending(over) })
	}
	m.eventually("downloads under way", func() error {
		if running := downloadsRunning(t, db); running == 0 {
			return errors.New("none")
		}
		return nil
	})

	// Longer than a request waits for a connection to the store.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var slowest time.Duration
	var last int64
	for time.Since(opened) < 8*time.Second {
		began := time.Now()
		if status, body := other.call(ctx, http.MethodGet, "/v1/vehicles", ""); status != 200 {
			t.Fatalf("another account's list after %v: %d %s", time.Since(opened), status, body)
		}
		var status int
		var body []byte
		if last, status, body = other.send(ctx); status != 202 {
			t.Fatalf("another account's fix after %v: %d %s", time.Since(opened), status, body)
		}
		if status, body := other.call(ctx, http.MethodGet, "/v1/vehicles/"+other.vehicle+"/positions?format=csv",
			""); status != 200 {
			t.Fatalf("another account's download after %v: %d %s", time.Since(opened), status, body)
		}
		slowest = max(slowest, time.Since(began))
		time.Sleep(100 * time.Millisecond)
	}
	if slowest > 15*time.Second { // the machine may be busy; without pools each of the three is a 503
		t.Errorf("a list, a fix and a download of another account took %v", slowest)
	}
	m.eventually("the last fix stored", func() error {
		status, body := other.call(ctx, http.MethodGet,
			"/v1/vehicles/"+other.vehicle+"/positions?sort=-fix_at&per_page=1", "")
		if want := time.UnixMilli(last).UTC().Format("2006-01-02T15:04:05.000Z"); status != 200 ||
			!strings.Contains(string(body), want) {
			return fmt.Errorf("no %s in %d %s", want, status, body)
		}
		return nil
	})
	m.eventually("all downloads ended", func() error {
		if running := downloadsRunning(t, db); running > 0 {
			return fmt.Errorf("%d go on after %v", running, time.Since(opened))
		}
		return nil
	})
	took := time.Since(opened)
	close(over)
	standing.Wait()
	for _, err := range refused {
		if err != nil {
			t.Error(err)
		}
	}
	t.Logf("slowest round %v, all cut off after %v", slowest, took)
}

// downloadsRunning is how many tracks the store is reading.
func downloadsRunning(t *testing.T, db driver.Conn) (n uint64) {
	t.Helper()
	if err := db.QueryRow(t.Context(),
		`SELECT count() FROM system.processes WHERE query LIKE '%FROM positions FINAL%' AND query NOT LIKE '%system.processes%'`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// still is a client that has asked for a download and reads no more than the head of the answer.
type still struct {
	conn net.Conn
	head *bufio.Reader
}

func stand(t *testing.T, c *tenant, path string) *still {
	t.Helper()
	target, err := url.Parse(c.base)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", target.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn,
		"GET %s HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nAuthorization: Bearer %s\r\n\r\n", path, c.key); err != nil {
		t.Fatal(err)
	}
	return &still{conn: conn, head: bufio.NewReaderSize(conn, 16)}
}

// ending reads nothing until over, and returns what is wrong with how the answer ended: it must be a refusal that says
// when to come again, or cut short.
func (s *still) ending(over <-chan struct{}) error {
	<-over
	_ = s.conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	response, err := http.ReadResponse(s.head, nil)
	if err != nil {
		return nil // the head itself was lost when the connection was cut
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	switch {
	case slices.Contains([]int{429, 503}, response.StatusCode):
		if after, bad := strconv.Atoi(response.Header.Get("Retry-After")); bad != nil || after < 1 {
			return fmt.Errorf("a %d without Retry-After", response.StatusCode)
		}
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errors.New("a client that stood still for so long is still served")
	case err == nil:
		return fmt.Errorf("a client that stood still has got the whole answer, %d", response.StatusCode)
	}
	return nil
}
