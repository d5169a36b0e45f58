package webhook

import "time"

// Bounds of circuits.
const (
	openAfter    = 5               // failures in a row
	firstPause   = 5 * time.Second // of an open circuit; it doubles with each probe that fails
	longestPause = 5 * time.Minute
	throttled    = time.Second // how long a server rests that is too busy, and asks for nothing
)

// circuit says how many requests an endpoint is sent at once:
//
//	        openAfter failures in a row,              the pause is over
//	closed ─────────────────────────────────► open ─────────────────────► half open: one probe
//	   ▲      or the server asks to rest        ▲                             │         │
//	   │                                        └──────── it fails: longer ───┘         │
//	   └───────────── it succeeds: from one at once, doubling with each success ────────┘
//
// The zero circuit is closed.
type circuit struct {
	failures int           // in a row
	until    time.Time     // the end of the pause; zero while it is closed
	pause    time.Duration // the present one
	ramp     int           // how many at once, on the way up; 0: all
}

// limit returns how many requests may be under way, of most, and from when on.
func (c *circuit) limit(most int) (int, time.Time) {
	switch {
	case !c.until.IsZero():
		return 1, c.until
	case c.ramp > 0:
		return min(c.ramp, most), time.Time{}
	}
	return most, time.Time{}
}

func (c *circuit) state(now time.Time) string {
	switch {
	case c.until.IsZero():
		return "closed"
	case now.Before(c.until):
		return "open"
	}
	return "half_open"
}

func (c *circuit) succeed(most int, now time.Time) {
	if now.Before(c.until) {
		return // it was sent before the others failed
	}
	if !c.until.IsZero() {
		*c = circuit{ramp: 1}
		return
	}
	c.failures = 0
	if c.ramp > 0 {
		if c.ramp *= 2; c.ramp >= most {
			c.ramp = 0
		}
	}
}

// fail notes a failure of what began at a time, with chance in [0, 1). A busy server rests for at least as long as it
// asks to.
func (c *circuit) fail(began, now time.Time, busy bool, asked time.Duration, chance float64) {
	c.failures++
	rest := time.Duration(0)
	switch {
	case began.Before(c.until): // it is no probe
	case !c.until.IsZero():
		c.pause = min(max(2*c.pause, firstPause), longestPause)
		rest = c.pause
	case c.failures >= openAfter:
		c.pause, rest = firstPause, firstPause
	}
	if busy {
		rest = max(rest, throttled, min(asked, longestWait))
	}
	if rest > 0 {
		until := now.Add(time.Duration(float64(rest) * (1 + jitter*chance)))
		if until.After(c.until) {
			c.until = until
		}
	}
}
