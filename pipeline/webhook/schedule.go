package webhook

import (
	"net/http"
	"strconv"
	"time"
)

// schedule is when a delivery that failed is tried again: so long after the attempt before, about 75 hours in all. It
// is the one that Standard Webhooks suggests.
var schedule = []time.Duration{0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}

// scheduleOfPlaces is that of locations, which are of no use once there is a newer one.
var scheduleOfPlaces = []time.Duration{0, 5 * time.Second, 50 * time.Second}

// jitter is how much of a pause is left to chance, to either side, so that what failed at once does not come back at
// once.
const jitter = 0.2

// longestWait is how far off a server may ask to be left alone.
const longestWait = 24 * time.Hour

// pause returns how long a delivery rests after so many attempts, with chance in [0, 1), and whether there is another
// attempt. A server that asked to be left alone for longer is.
func pause(steps []time.Duration, attempts int, asked time.Duration, chance float64) (time.Duration, bool) {
	if attempts >= len(steps) {
		return 0, false
	}
	rest := time.Duration(float64(steps[attempts]) * (1 - jitter + 2*jitter*chance))
	return max(rest, min(asked, longestWait)), true
}

// retryAfter reads the head Retry-After of an answer, in seconds or as a date; 0 if it asks for nothing.
func retryAfter(head http.Header, now time.Time) time.Duration {
	text := head.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
