package track

import (
	"net/http"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/rest"
)

// scoreSpan reads the span of scores, which ends at now unless the caller says otherwise.
func scoreSpan(r *http.Request, now fleet.Millis) (from, to fleet.Millis, err error) {
	to = rest.TimeParam(r, "until", now)
	from = rest.TimeParam(r, "from", to.Add(-usualSpan))
	return from, to, rest.CheckSpan(from, to)
}

// usualSpan is the span of a score that names no from.
const usualSpan = 30 * 24 * time.Hour
