package api

import (
	"net/http"
	"time"

	"github.com/motorpool/fleet"
)

// scoreSpan reads the span of scores, which ends at now unless the caller says otherwise.
func scoreSpan(r *http.Request, now fleet.Millis) (from, to fleet.Millis, err error) {
	to = timeParam(r, "until", now)
	from = timeParam(r, "from", to.Add(-usualSpan))
	return from, to, checkSpan(from, to)
}

// usualSpan is the span of a score that names no from.
const usualSpan = 30 * 24 * time.Hour
