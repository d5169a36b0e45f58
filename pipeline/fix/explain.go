package fix

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/motorpool/fleet"
)

// Explain says in words, with the values at fault, why a report was refused, for whoever looks at what became of it.
// taken is the fix time of its position, if it came to have one.
func Explain(reason fleet.Refusal, r *fleet.Report, taken fleet.Millis) string {
	at := cmp.Or(taken, r.FixTime, r.DeviceTime)
	when := at.Time().UTC().Format(time.RFC3339)
	switch reason {
	case fleet.RefusedNoDevice:
		return "The report names no device."
	case fleet.RefusedMissingTime:
		return "The report has no time, or none that can be read."
	case fleet.RefusedImplausibleTime:
		if at >= fleet.EarliestFix/1000 && at < latest/1000 {
			return "The report is of " + when + ": a time in seconds where milliseconds are wanted, or a clock that was not set."
		}
		return "The report is of " + when + ": the clock of the device was not set."
	case fleet.RefusedMissingCoordinates:
		return "The report lacks " + missing(r) + "."
	case fleet.RefusedBadCoordinates:
		return fmt.Sprintf("There is no place at latitude %g and longitude %g.", r.Lat, r.Lng)
	case fleet.RefusedZeroCoordinates:
		return "Latitude and longitude are 0: the device had no fix."
	case fleet.RefusedUnassigned:
		return "The device was on no vehicle at " + when + "."
	case fleet.RefusedEmpty:
		return "The report holds neither a place nor a signal that is known."
	}
	return ""
}

// missing names the coordinates that a report does not have.
func missing(r *fleet.Report) string {
	switch {
	case !math.IsNaN(r.Lat):
		return "a longitude"
	case !math.IsNaN(r.Lng):
		return "a latitude"
	}
	return "latitude and longitude"
}
