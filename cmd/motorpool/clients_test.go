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
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
)

// tenant is an account with a key, a vehicle and a tracker on it.
type tenant struct {
	m            *machine
	key, vehicle string
	uniqueID     string
}

func (m *machine) tenant(name string) *tenant {
	m.t.Helper()
	c := &tenant{m: m, key: strings.TrimSpace(m.must("key", "create", "--account", name, "--scopes", "admin")), uniqueID: "tracker-" + name}
	var made struct{ ID string }
	for _, step := range []struct {
		path, body string
		status     int
	}{{"/v1/vehicles", `{"make":"Ford","model":"Focus"}`, 201}, {"/v1/devices", fmt.Sprintf(`{"unique_id":%q}`, c.uniqueID), 201}} {
		status, body := c.call(m.t.Context(), http.MethodPost, step.path, step.body)
		if err := json.Unmarshal(body, &made); err != nil || status != step.status {
			m.t.Fatalf("POST %s: %d %s", step.path, status, body)
		}
		if c.vehicle == "" {
			c.vehicle = made.ID
		}
	}
	if status, body := c.call(m.t.Context(), http.MethodPost, "/v1/devices/"+made.ID+"/assign", fmt.Sprintf(`{"vehicle_id":%q}`, c.vehicle)); status != 200 {
		m.t.Fatalf("assign: %d %s", status, body)
	}
	return c
}

// call makes a request with the account's key; status 0 means that there was no answer.
func (c *tenant) call(ctx context.Context, method, path, body string) (int, []byte) {
	request, err := http.NewRequestWithContext(ctx, method, c.m.base+path, strings.NewReader(body))
	if err != nil {
		return 0, []byte(err.Error())
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, []byte(err.Error())
	}
	return response.StatusCode, text
}

// send reports a fix of now and returns its instant.
func (c *tenant) send(ctx context.Context) (at int64, status int, body []byte) {
	at = time.Now().UnixMilli()
	status, body = c.call(ctx, http.MethodPost, "/v1/positions", fmt.Sprintf(`{"unique_id":%q,"fix_at":%d,"lat":30.27,"lng":-97.74}`, c.uniqueID, at))
	return at, status, body
}

// store is a connection to the machine's ClickHouse.
func (m *machine) store() driver.Conn {
	m.t.Helper()
	config := query.DefaultConfig()
	config.PasswordFile = filepath.Join(m.data, appPasswordFile)
	for _, setting := range m.env {
		if addr, ok := strings.CutPrefix(setting, "MOTORPOOL_CLICKHOUSE="); ok {
			config.Addrs = []string{addr}
		}
	}
	db, err := query.Open(m.t.Context(), config)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = db.Close() })
	return db
}

// fill stores a year of fixes of the account's vehicle.
func (c *tenant) fill(db driver.Conn, fixes int) {
	c.m.t.Helper()
	var account struct{ ID string }
	if status, body := c.call(c.m.t.Context(), http.MethodGet, "/v1/account", ""); status != 200 || json.Unmarshal(body, &account) != nil {
		c.m.t.Fatalf("GET /v1/account: %d %s", status, body)
	}
	owner, err := fleet.ParseID(fleet.AccountPrefix, account.ID)
	if err != nil {
		c.m.t.Fatal(err)
	}
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, c.vehicle)
	if err != nil {
		c.m.t.Fatal(err)
	}
	if err := db.Exec(c.m.t.Context(), `INSERT INTO positions (account, vehicle, fix_time, lat7, lng7)
		SELECT $1, $2, toDateTime64('2020-01-01 00:00:00', 3, 'UTC') + number * 2, 302700000 + rand(1) % 100000, -977400000 + rand(2) % 100000
		FROM numbers($3)`, owner, vehicle, fixes); err != nil {
		c.m.t.Fatal(err)
	}
}

// TestClientsThatStandStillStopOnlyThemselves opens more large downloads than there are connections to the store, and
// reads none of them. What others ask and send goes on as if they were not there, and in the end they are cut off.
func TestClientsThatStandStillStopOnlyThemselves(t *testing.T) {
	m := newMachine(t)
	m.env = append(m.env, "MOTORPOOL_CLIENT_STALL=6s", "MOTORPOOL_MAX_DOWNLOADS=6")
	m.up()
	slow, other := m.tenant("Slow"), m.tenant("Other")
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
		if status, body := other.call(ctx, http.MethodGet, "/v1/vehicles/"+other.vehicle+"/positions?format=csv", ""); status != 200 {
			t.Fatalf("another account's download after %v: %d %s", time.Since(opened), status, body)
		}
		slowest = max(slowest, time.Since(began))
		time.Sleep(100 * time.Millisecond)
	}
	if slowest > 15*time.Second { // the machine may be busy; without pools each of the three is a 503
		t.Errorf("a list, a fix and a download of another account took %v", slowest)
	}
	m.eventually("the last fix stored", func() error {
		status, body := other.call(ctx, http.MethodGet, "/v1/vehicles/"+other.vehicle+"/positions?sort=-fix_at&per_page=1", "")
		if want := time.UnixMilli(last).UTC().Format("2006-01-02T15:04:05.000Z"); status != 200 || !strings.Contains(string(body), want) {
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
	if err := db.QueryRow(t.Context(), `SELECT count() FROM system.processes WHERE query LIKE '%FROM positions FINAL%' AND query NOT LIKE '%system.processes%'`).Scan(&n); err != nil {
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
	target, err := url.Parse(c.m.base)
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
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nAuthorization: Bearer %s\r\n\r\n", path, c.key); err != nil {
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
