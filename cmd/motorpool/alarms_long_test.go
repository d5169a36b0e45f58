//go:build long

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestWhatDevicesAndSensorsSayRaisesAlerts has rules written, reports sent and alerts listed, all over HTTP: a call for
// help, a word that no list has, a temperature, and fuel that is taken out.
func TestWhatDevicesAndSensorsSayRaisesAlerts(t *testing.T) {
	m := newMachine(t)
	m.up()
	c := m.tenant("Acme").withTracker()
	for _, rule := range []string{
		`{"name":"help","kind":"sos"}`,
		`{"name":"words","kind":"device_alarm","alarms":["x-ray"]}`,
		`{"name":"warm","kind":"signal","signal":{"name":"temp1_c","is":"above","value":8}}`,
		`{"name":"thief","kind":"fuel_drop","severity":"critical"}`,
	} {
		c.posts(http.StatusCreated, "/v1/alert_rules", rule)
	}
	begin := time.Now()
	report := func(after time.Duration, rest string) {
		t.Helper()
		c.sends(http.StatusAccepted, http.MethodPost, "/v1/positions",
			fmt.Sprintf(`{"unique_id":%q,"fix_at":%d,"lat":30.27,"lng":-97.74,"speed_mps":0,%s}`,
				c.uniqueID, begin.Add(after).UnixMilli(), rest))
	}
	alerts := func() []string {
		var listed struct {
			Data []struct {
				Kind, Severity   string
				Subject          *string
				Unit             *string
				Value, Threshold *float64
				Before, After    *float64
			}
		}
		if err := json.Unmarshal(c.sends(http.StatusOK, http.MethodGet, "/v1/alerts?sort=from", ""), &listed); err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, a := range listed.Data {
			text, _ := json.Marshal([]any{a.Kind, a.Severity, a.Subject, a.Unit, a.Value, a.Threshold, a.Before, a.After})
			all = append(all, string(text))
		}
		return all
	}
	wants := func(kind string, want ...string) error {
		all := alerts()
		for _, line := range want {
			if !strings.Contains(strings.Join(all, "\n"), line) {
				return fmt.Errorf("%s: want %s among %q", kind, line, all)
			}
		}
		return nil
	}
	n := time.Duration(0) // the rules are known to the pipeline a moment after they were written
	m.eventually("a call for help is told, whatever comes with it", func() error {
		n += 100 * time.Millisecond
		report(n, `"alarm":"lowBattery,sos"`)
		return wants("sos", `["sos","critical","sos",null,null,null,null,null]`)
	})
	report(n+time.Second, `"ignition":false,"alarm":"x-ray","signals":{"temp1_c":9.5,"fuel_level_pct":60}`)
	report(n+2*time.Second, `"ignition":false,"signals":{"temp1_c":6,"fuel_level_pct":40}`)
	m.eventually("the alarm and the temperature are told", func() error {
		return wants("word and signal", `["device_alarm","warning","x-ray",null,null,null,null,null]`,
			`["signal","warning","temp1_c","°C",9.5,8,null,null]`)
	})
	later := n + 2*time.Second + 5*time.Minute // which a clock may be ahead of ours
	m.eventually("fuel that stays away is told, with before and after", func() error {
		if time.Since(begin)+5*time.Minute > later {
			report(later, `"ignition":false,"signals":{"fuel_level_pct":40}`)
		}
		return wants("fuel", `["fuel_drop","critical","standing","percent",20,10,60,40]`)
	})
	m.interrupt()
}
