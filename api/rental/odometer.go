package rental

import (
	"fmt"
	"math"
	"time"
)

// Reading is what an odometer showed.
type Reading struct {
	At       time.Time
	Mi       float64
	Acquired bool // as it was noted when the vehicle was acquired
}

// Nobody types an odometer to the mile, and meters of trackers differ from those on the dashboard: so much is believed
// in any case. Beyond it so much is believed for each day between two readings, which few drive for long, and in all no
// more than what no vehicle is left unread for.
const (
	slackMi  = 1_000
	perDayMi = 500
	mostMi   = 100_000
)

// Doubtful says in words why what was read off an odometer is to be believed only if somebody says so again: it is far
// from what the vehicle's odometer showed last before, or first after. It is "" for what may well be. Readings that
// nobody knows are nil.
func Doubtful(is Reading, before, after *Reading) string {
	if before != nil {
		if text := far(is.Mi-before.Mi, is.At.Sub(before.At)); text != "" {
			return fmt.Sprintf("%s, %s than the %s that it showed %s", miles(is.Mi), text, miles(before.Mi),
				before.when(is.At.Sub(before.At), "before"))
		}
	}
	if after != nil {
		if text := far(after.Mi-is.Mi, after.At.Sub(is.At)); text != "" {
			return fmt.Sprintf("%s, which does not go with the %s that it showed %s", miles(is.Mi), miles(after.Mi),
				after.when(after.At.Sub(is.At), "after"))
		}
	}
	return ""
}

// far says by how much an odometer has gone too far in some time, or back; "" if neither.
func far(driven float64, within time.Duration) string {
	switch most := min(slackMi+perDayMi*within.Hours()/24, mostMi); {
	case driven > most:
		return miles(driven) + " more"
	case driven < -slackMi:
		return miles(-driven) + " less"
	}
	return ""
}

// miles writes a distance.
func miles(mi float64) string { return fmt.Sprintf("%.0f mi", math.Round(mi)) }

// when says in words when a reading was, so long before or after another.
func (r *Reading) when(d time.Duration, side string) string {
	switch {
	case r.Acquired:
		return "when it was acquired"
	case d < time.Minute:
		return "just " + side
	}
	return about(d) + " " + side
}
