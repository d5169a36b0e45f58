package api

import (
	"net/http"

	"github.com/motorpool/fleet"
)

// checkSpan refuses a span that ends before it begins.
func checkSpan(from, to fleet.Millis) error {
	if to != 0 && from >= to {
		return invalidParam("until", "must be later than from")
	}
	return nil
}

// scoreSpan reads the span of scores, which ends at now unless the caller says otherwise.
func scoreSpan(r *http.Request, now fleet.Millis) (from, to fleet.Millis, err error) {
	to = timeParam(r, "until", now)
	from = timeParam(r, "from", to.Add(-usualSpan))
	return from, to, checkSpan(from, to)
}
