package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// tenant is an account with a key and a vehicle.
type tenant struct {
	*machine
	key, vehicle string
	uniqueID     string // of its tracker, if it has one
}

func (m *machine) tenant(name string) *tenant {
	m.t.Helper()
	c := &tenant{machine: m, key: strings.TrimSpace(m.must("key", "create", "--account", name, "--scopes", "admin"))}
	c.vehicle = c.posts(http.StatusCreated, "/v1/vehicles", `{"make":"Ford","model":"Transit","year":2024}`)
	return c
}

// withTracker registers a tracker, which is on the tenant's vehicle.
func (c *tenant) withTracker() *tenant {
	c.t.Helper()
	c.uniqueID = "tracker-" + c.vehicle
	c.puts(c.posts(http.StatusCreated, "/v1/devices", fmt.Sprintf(`{"unique_id":%q}`, c.uniqueID)))
	return c
}

// call makes a request with the account's key; status 0 means that there was no answer.
func (c *tenant) call(ctx context.Context, method, path, body string) (int, []byte) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(body))
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
	status, body = c.call(ctx, http.MethodPost, "/v1/positions",
		fmt.Sprintf(`{"unique_id":%q,"fix_at":%d,"lat":30.27,"lng":-97.74}`, c.uniqueID, at))
	return at, status, body
}

// sends sends a request, which must be answered with a status, and returns the answer.
func (c *tenant) sends(status int, method, path, body string) []byte {
	c.t.Helper()
	got, answer, err := send(method, c.base+path, c.key, body)
	if err != nil || got != status {
		c.t.Fatalf("%s %s %s: %d %v, want %d\n%s", method, path, body, got, err, status, answer)
	}
	return answer
}

// posts sends what makes a record, and returns its id.
func (c *tenant) posts(status int, path, body string) string {
	c.t.Helper()
	var made struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(c.sends(status, http.MethodPost, path, body), &made); err != nil {
		c.t.Fatal(err)
	}
	return made.ID
}

// puts puts a device on the vehicle, and returns its id.
func (c *tenant) puts(device string) string {
	c.t.Helper()
	c.sends(http.StatusOK, http.MethodPost, "/v1/devices/"+device+"/assign", `{"vehicle_id":"`+c.vehicle+`"}`)
	return device
}

// count returns how many positions the vehicle has.
func (c *tenant) count() int {
	c.t.Helper()
	return len(c.track(c.key, c.vehicle))
}

// has says how many positions the vehicle has, if it is another number.
func (c *tenant) has(want int) error {
	if n := c.count(); n != want {
		return fmt.Errorf("%d positions, want %d", n, want)
	}
	return nil
}
