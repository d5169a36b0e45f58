package webhook

import (
	"net/http"
	"testing"
	"time"
)

func TestDeliveriesAreTriedAgainForThreeDays(t *testing.T) {
	var least, most time.Duration
	for attempts := 0; ; attempts++ {
		low, more := pause(schedule, attempts, 0, 0)
		high, _ := pause(schedule, attempts, 0, 0.999999)
		if !more {
			if attempts != 10 {
				t.Errorf("%d attempts", attempts)
			}
			break
		}
		if attempts == 0 && (low != 0 || high != 0) {
			t.Error("the first is not made at once")
		}
		least, most = least+low, most+high
	}
	if least < 60*time.Hour || least > 61*time.Hour || most < 90*time.Hour || most > 91*time.Hour {
		t.Errorf("between %v and %v in all", least, most)
	}
}

func TestAServerSaysWhenItIsTriedAgain(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "120": 2 * time.Minute, "0": 0, "-5": 0, "soon": 0, "1.5": 0, "99999999999999999999": 0,
		"Sun, 01 Mar 2026 12:10:00 GMT": 10 * time.Minute, "Sun, 01 Mar 2026 11:00:00 GMT": 0,
		"Sunday, 01-Mar-26 12:00:30 GMT": 30 * time.Second,
	} {
		if got := retryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("%q: %v instead of %v", text, got, want)
		}
	}
	for _, test := range []struct{ asked, want time.Duration }{
		{time.Second, 5 * time.Second}, {time.Hour, time.Hour}, {1000 * time.Hour, 24 * time.Hour},
	} {
		if got, more := pause(schedule, 1, test.asked, 0.5); got != test.want || !more {
			t.Errorf("asked for %v: %v", test.asked, got)
		}
	}
}
