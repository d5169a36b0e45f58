// Package driver finds out who drove, and how long drivers drove and rested. It is pure: what it says is a function of
// what trackers, bookings and people said, in order of event time.
package driver

import (
	"cmp"
	"slices"
	"sort"

	"github.com/motorpool/fleet"
)

// Source is what says who drove.
type Source string

// The sources. A person's word on a trip stands above what was found out: it is a correction, until it is taken back.
// Of the rest the tag at the wheel counts before the booking, which says who was to have the vehicle.
const (
	Manual  Source = "manual"
	Tag     Source = "tag"
	Booking Source = "booking"
)

// Hold is how long a report of a tag counts by itself: so long it is a login, and a trip that begins within it is
// driven by whoever logged in. On a trip it counts until another tag or a logout is reported. Readers ask again each
// time that the ignition is switched on, or tell the tag with every fix.
const Hold = fleet.Millis(15 * 60 * 1000)

// Evidence is what was said of who drove some vehicles.
type Evidence struct {
	Manual   []fleet.Driven                // by people
	Bookings []fleet.Driven                // by bookings, for the time that they had the vehicle
	Reports  []fleet.TagReport             // by trackers
	Holders  map[string][]fleet.TagHolder  // whose the tags are
	sorted   map[fleet.VehicleID]*evidence // by vehicle, in order
}

// evidence is what was said of one vehicle.
type evidence struct {
	manual, bookings []fleet.Driven // the one that counts first
	reports          []fleet.TagReport
}

// Part is a part of a trip with one driver; an empty one is nobody who is known. Tag is what the tracker said.
type Part struct {
	From, To fleet.Millis
	Driver   string
	Source   Source
	Tag      string
}

// Drive is who drove a trip: the driver of most of it, and its parts in order, which fill it.
type Drive struct {
	Part
	Parts []Part
}

// of gives what was said of a vehicle.
func (e *Evidence) of(vehicle fleet.VehicleID) *evidence {
	if e.sorted == nil {
		e.sort()
	}
	if one := e.sorted[vehicle]; one != nil {
		return one
	}
	return &evidence{}
}

func (e *Evidence) sort() {
	e.sorted = map[fleet.VehicleID]*evidence{}
	at := func(vehicle fleet.VehicleID) *evidence {
		one := e.sorted[vehicle]
		if one == nil {
			one = &evidence{}
			e.sorted[vehicle] = one
		}
		return one
	}
	for _, d := range e.Manual {
		one := at(d.Vehicle)
		one.manual = append(one.manual, d)
	}
	for _, d := range e.Bookings {
		one := at(d.Vehicle)
		one.bookings = append(one.bookings, d)
	}
	for _, r := range e.Reports {
		one := at(r.Vehicle)
		one.reports = append(one.reports, r)
	}
	newest := func(a, b fleet.Driven) int {
		return cmp.Or(cmp.Compare(b.ID, a.ID), cmp.Compare(b.From, a.From), cmp.Compare(b.To, a.To),
			cmp.Compare(a.Driver, b.Driver))
	}
	for _, one := range e.sorted {
		slices.SortFunc(one.manual, newest)
		slices.SortFunc(one.bookings, newest)
		slices.SortFunc(one.reports, func(a, b fleet.TagReport) int {
			return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Tag, b.Tag))
		})
	}
}

// Who says who drove a vehicle on a trip.
func (e *Evidence) Who(vehicle fleet.VehicleID, start, end fleet.Millis) Drive {
	one := e.of(vehicle)
	if by := holding(one.manual, start, end); by != nil && by.Driver != "" {
		p := Part{From: start, To: end, Driver: by.Driver, Source: Manual}
		return Drive{Part: p, Parts: []Part{p}}
	}
	parts := e.logins(one, start, end)
	for i := range parts {
		p := &parts[i]
		if p.Driver != "" {
			continue
		}
		if by := holding(one.bookings, p.From, p.To); by != nil && by.Driver != "" {
			p.Driver, p.Source = by.Driver, Booking
		}
	}
	parts = joined(parts)
	return Drive{Part: most(parts), Parts: parts}
}

// holding returns the first of some spans that holds the middle of a trip, or begins with it.
func holding(all []fleet.Driven, start, end fleet.Millis) *fleet.Driven {
	middle := start + (end-start)/2
	for i := range all {
		if d := &all[i]; d.From == start || d.From <= middle && middle < d.To {
			return d
		}
	}
	return nil
}

// logins cuts a trip where the tag at the wheel changed. Who logs in soon after moving off drove off as well.
func (e *Evidence) logins(one *evidence, start, end fleet.Millis) []Part {
	reports := one.reports
	first := sort.Search(len(reports), func(i int) bool { return reports[i].At > start })
	now := Part{From: start, To: end}
	if first > 0 && reports[first-1].At >= start-Hold {
		now.Tag = reports[first-1].Tag
	} else if first < len(reports) && reports[first].At <= min(end, start+Hold) {
		now.Tag = reports[first].Tag
	}
	e.name(&now, start)
	var parts []Part
	for _, r := range reports[first:] {
		if r.At > end {
			break
		}
		if r.Tag == now.Tag {
			continue
		}
		if now.To = r.At; now.To > now.From {
			parts = append(parts, now)
		}
		now = Part{From: r.At, To: end, Tag: r.Tag}
		e.name(&now, r.At)
	}
	if now.To > now.From || len(parts) == 0 {
		parts = append(parts, now)
	}
	return parts
}

// name says whose the tag of a part was.
func (e *Evidence) name(p *Part, at fleet.Millis) {
	if p.Driver = e.holder(p.Tag, at); p.Driver != "" {
		p.Source = Tag
	}
}

// holder returns whose a tag was.
func (e *Evidence) holder(tag string, at fleet.Millis) string {
	for _, h := range e.Holders[tag] {
		if h.From <= at && (h.To == 0 || at < h.To) {
			return h.Driver
		}
	}
	return ""
}

// joined makes one of neighbours that say the same.
func joined(parts []Part) []Part {
	var all []Part
	for _, p := range parts {
		if n := len(all); n > 0 && all[n-1].Driver == p.Driver && all[n-1].Source == p.Source && all[n-1].Tag == p.Tag {
			all[n-1].To = p.To
			continue
		}
		all = append(all, p)
	}
	return all
}

// most returns the part that stands for a trip: of the driver who drove longest, the first of equals, and of that
// driver's parts the longest. Nobody stands for a trip only if nobody is known.
func most(parts []Part) Part {
	drove := map[string]fleet.Millis{}
	for _, p := range parts {
		drove[p.Driver] += p.To - p.From + 1 // a trip of one fix has a driver too
	}
	best := 0
	for i, p := range parts {
		b := parts[best]
		switch {
		case p.Driver == b.Driver:
			if p.To-p.From > b.To-b.From {
				best = i
			}
		case p.Driver != "" && (b.Driver == "" || drove[p.Driver] > drove[b.Driver]):
			best = i
		}
	}
	return parts[best]
}

// Logins returns when a driver was logged in by a tag to any vehicle that was on no trip: from each report on for Hold,
// until another tag or a logout is reported there. Trips are those of the vehicles, whoever drove.
func (e *Evidence) Logins(driver string, trips map[fleet.VehicleID][]Span) []Span {
	if e.sorted == nil {
		e.sort()
	}
	var all []Span
	for vehicle, one := range e.sorted {
		var here []Span
		for i, r := range one.reports {
			if r.Tag == fleet.NoDriver || e.holder(r.Tag, r.At) != driver {
				continue
			}
			to := r.At + Hold
			if i+1 < len(one.reports) {
				to = min(to, one.reports[i+1].At)
			}
			here = append(here, Span{r.At, to})
		}
		all = append(all, Without(Union(here), trips[vehicle])...)
	}
	return Union(all)
}
