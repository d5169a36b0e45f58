package systemtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/motorpool/fleet/loadtest/system"
)

// LayDown makes an account with geofences around a place and alert rules, through the interface of a "serve" that runs,
// and dates the rules back to since, so that they hold for a recording of before. A pipeline that was started earlier
// does not see that. It returns the account's id.
func LayDown(t *testing.T, s *system.System, account string, since time.Time, lat, lng float64) string {
	t.Helper()
	text, err := s.Output("key", "create", "--account", account, "--scopes", "admin", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var key struct {
		AccountID string `json:"account_id"`
		Key       string
	}
	if err := json.Unmarshal([]byte(text), &key); err != nil {
		t.Fatal(err)
	}
	from := since.UTC().Format(time.RFC3339)
	square := func(south, west, size float64) string {
		return fmt.Sprintf(
			`{"type":"Polygon","coordinates":[[[%[2]f,%[1]f],[%[4]f,%[1]f],[%[4]f,%[3]f],[%[2]f,%[3]f],[%[2]f,%[1]f]]]}`,
			south, west, south+size, west+size)
	}
	fences := []string{
		fmt.Sprintf(`"name":"centre","geometry":{"type":"Circle","center":[%f,%f],"radius_m":3000},"dwell_s":600`, lng, lat),
		`"name":"north","geometry":` + square(lat+0.03, lng-0.03, 0.05) + `,"speed_limit_mph":30`,
		`"name":"south","geometry":` + square(lat-0.08, lng-0.02, 0.04) + `,"confirm_fixes":2,"dwell_s":120`,
		`"name":"west","geometry":` + square(lat-0.01, lng-0.06, 0.02) +
			`,"schedule":{"timezone":"America/Chicago","windows":[{"days":["mon","tue","wed","thu","fri","sat","sun"],"from":"00:00","until":"12:00"}]}`,
	}
	for _, fence := range fences {
		post(t, s, key.Key, "/v1/geofences", `{`+fence+`,"applies_from":"`+from+`"}`)
	}
	for _, rule := range []string{
		`"kind":"speeding","threshold_mph":70`,
		`"kind":"geofence_speeding","cooldown_s":300`,
		`"kind":"geofence_enter"`,
		`"kind":"geofence_dwell"`,
		`"kind":"battery_low","threshold_pct":30`,
		`"kind":"device_offline","threshold_s":3600`,
	} {
		_, name, _ := strings.Cut(rule, `"kind":"`)
		name, _, _ = strings.Cut(name, `"`)
		post(t, s, key.Key, "/v1/alert_rules", `{"name":"`+name+`",`+rule+`}`)
	}
	err = s.DB.Exec(t.Context(), fmt.Sprintf("ALTER TABLE record_log UPDATE at = fromUnixTimestamp64Milli(toInt64(%d), 'UTC') WHERE kind = 'alert_rule' SETTINGS mutations_sync = 1", since.UnixMilli()))
	if err != nil {
		t.Fatal(err)
	}
	return key.AccountID
}

// post makes a record through the interface, which may have to be waited for.
func post(t *testing.T, s *system.System, key, path, body string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+key)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if errors.Is(err, syscall.ECONNREFUSED) {
			time.Sleep(20 * time.Millisecond) // it is starting
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != http.StatusCreated {
			t.Fatalf("POST %s: %s %s", path, response.Status, text)
		}
		return
	}
}
