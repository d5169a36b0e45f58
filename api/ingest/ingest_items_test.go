package ingest

import (
	"context"
	"encoding/json"
	"math"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/rest"
)

// A few bytes an item are many bytes in memory, if all are made before they are counted.
func TestABatchOfTooManyItemsCostsLittle(t *testing.T) {
	body := []byte("[" + strings.Repeat("1,", 2<<20) + "1]")
	if _, err := splitBatch(body); fleet.CodeOf(err) != fleet.CodeTooLarge {
		t.Fatalf("answered %v", err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _ = splitBatch(body)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 4*uint64(len(body)) {
		t.Errorf("%d bytes for a body of %d", used, len(body))
	}
}

// An alarm without bound would make records that Kafka refuses, and a client that sends them again for ever.
func TestAnAlarmIsShort(t *testing.T) {
	long := strings.Repeat("x", maxAlarm+1)
	var it item
	if f := readPosition(json.RawMessage(`{"unique_id":"u","fix_at":1769860800000,"lat":1,"lng":1,"alarm":"`+long+`"}`),
		&it); f == nil || f.Pointer != "/alarm" {
		t.Errorf("answered %+v", f)
	}
	r := httptest.NewRequest("GET", "/osmand?id=u&lat=1&lon=1&alarm="+long, nil)
	r = r.WithContext(context.WithValue(r.Context(), rest.ExchangeKey{}, &rest.Exchange{}))
	if report, _, err := readOsmand(r, time.Now()); err != nil || report.Alarm != "" {
		t.Errorf("%q, %v", report.Alarm, err)
	}
}

// Whatever a phone sends, reading it gives a report that Kafka's native form can hold, or an error for the caller.
func FuzzReadOsmand(f *testing.F) {
	f.Add("id=1&lat=30.5&lon=-97.5&timestamp=1769860800&speed=10&batt=55", "application/x-www-form-urlencoded")
	f.Add(`{"device_id":"1","location":{"timestamp":"2026-01-31T12:00:00Z","coords":{"latitude":1e308,"longitude":-97.5},"battery":{"level":1e300},"extras":{"soc":80}}}`,
		"application/json")
	f.Add("id=1&lat=nan&lon=inf&timestamp=-5&odometer=1e400&sat=1e9", "text/plain")
	f.Fuzz(func(t *testing.T, body, mediaType string) {
		r := httptest.NewRequest("POST", "/osmand", nil)
		r.Header.Set("Content-Type", mediaType)
		r = r.WithContext(context.WithValue(r.Context(), rest.ExchangeKey{}, &rest.Exchange{Body: []byte(body)}))
		report, _, err := readOsmand(r, time.UnixMilli(1769860800000))
		if err != nil {
			if fleet.CodeOf(err) != fleet.CodeInvalid {
				t.Fatal(err)
			}
			return
		}
		if report.UniqueID == "" || report.FixTime < 0 || report.Speed < 0 || report.Satellites < -1 ||
			math.IsInf(report.Odometer, 0) {
			t.Fatalf("%q gives %+v", body, report)
		}
		for _, s := range report.Signals {
			if !s.Signal.Accepts(s.Value) {
				t.Fatalf("%q gives signal %v", body, s)
			}
		}
	})
}

// A batch is split or refused; its items are read or refused.
func FuzzIngest(f *testing.F) {
	f.Add(`{"data":[{"unique_id":"1","fix_at":1,"lat":1,"lng":1,"speed_mph":3,"signals":{"soc_pct":true}}]}`)
	f.Add(`[{"device_id":"dev_1","at":"2026-01-31T12:00:00Z","signals":{"soc_pct":8}}, 7, null]`)
	f.Fuzz(func(t *testing.T, body string) {
		items, err := splitBatch([]byte(body))
		if err != nil {
			if fleet.CodeOf(err) == "" {
				t.Fatal(err)
			}
			return
		}
		for _, raw := range items {
			var position, measurements item
			if refused := readPosition(raw, &position); refused == nil &&
				!(math.Abs(position.report.Lat) <= 90 && position.report.FixTime > 0) {
				t.Fatalf("%q gives %+v", raw, position.report)
			}
			if refused := readMeasurements(raw, &measurements); refused == nil &&
				(len(measurements.report.Signals) == 0 || measurements.report.FixTime <= 0) {
				t.Fatalf("%q gives %+v", raw, measurements.report)
			}
		}
	})
}
