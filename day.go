package fleet

import (
	"path"
	"sync"
	"time"
)

// ZoneOf is the first of some time zones, by their names, that there is; UTC if there is none.
func ZoneOf(names ...string) *time.Location {
	for _, name := range names {
		if zone, err := Zone(name); name != "" && err == nil {
			return zone
		}
	}
	return time.UTC
}

// zones are those that were read, by their names: as many as there are files of them.
var zones sync.Map

// Zone is time.LoadLocation, which reads and decodes a file each time, of what was not read before. A zone may be
// called in endless ways that have more strokes than are needed; of these none is remembered.
func Zone(name string) (*time.Location, error) {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location), nil
	}
	zone, err := time.LoadLocation(name)
	if err == nil && path.Clean(name) == name {
		zones.Store(name, zone)
	}
	return zone, err
}

// NextDay is the first instant after t whose date, in t's time zone, is a later one. It always moves on, where
// time.Date may not: some zones change their clocks at midnight, so that a day begins at 01:00 (Santiago, Havana, the
// Azores), or has midnight twice, or is left out as a whole (Samoa in 2011).
func NextDay(t time.Time) time.Time {
	y, m, d := t.Date()
	for at := t; ; {
		_, offset := at.Zone()
		midnight := time.Date(y, m, d+1, 0, 0, 0, 0, time.FixedZone("", offset)).In(t.Location())
		_, change := at.ZoneBounds()
		switch {
		case !midnight.After(at): // the clocks jumped over it
			return at
		case change.IsZero() || midnight.Before(change):
			return midnight
		}
		at = change
	}
}
