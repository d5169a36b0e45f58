package place

import (
	"cmp"
	"slices"
	"time"

	"github.com/motorpool/fleet"
)

// Rule says how often is told where a vehicle is: once in Every, or as soon as it is Moved metres from where it
// was told to be. Zero Moved means that only time counts.
type Rule struct {
	Every time.Duration
	Moved float64
}

// placesKept is how long a vehicle of which nothing comes is remembered at least.
const placesKept = 10 * time.Minute

// thinned thins out where vehicles are: what comes too soon is withheld until it is due, and only the newest of it is
// told then. So who listens is never behind by more than Every, and a vehicle that falls silent was told at its last
// place. It belongs to whoever holds the lock of its handler.
type thinned struct {
	vehicles map[fleet.VehicleKey]*place
	waiting  map[fleet.VehicleKey]struct{} // of which something is withheld
	cleaned  time.Time
}

// place is what is known of one vehicle.
type place struct {
	every    time.Duration // as was said last
	told     fleet.Live
	at       time.Time   // when it was told
	withheld *fleet.Live // newer than what was told; nil if nothing is
}

// moved is a vehicle's place that is to be told.
type moved struct {
	vehicle fleet.VehicleKey
	live    fleet.Live
}

// newThinned begins without a vehicle: the first place of each is told at once.
func newThinned() *thinned {
	return &thinned{vehicles: map[fleet.VehicleKey]*place{}, waiting: map[fleet.VehicleKey]struct{}{}}
}

// take hears where a vehicle is and says whether that is to be told at once. A fix that is not newer than what was told
// or is withheld is none of news. live may be kept.
func (p *thinned) take(vehicle fleet.VehicleKey, live *fleet.Live, rule Rule, now time.Time) bool {
	known := p.vehicles[vehicle]
	if known == nil {
		p.vehicles[vehicle] = &place{every: rule.Every, told: *live, at: now}
		return true
	}
	if live.FixTime <= known.told.FixTime || known.withheld != nil && live.FixTime <= known.withheld.FixTime {
		return false
	}
	known.every = rule.Every
	far := rule.Moved > 0 && fleet.Distance(known.told.Lat, known.told.Lng, live.Lat, live.Lng) >= rule.Moved
	if far || now.Sub(known.at) >= rule.Every {
		known.told, known.at, known.withheld = *live, now, nil
		delete(p.waiting, vehicle)
		return true
	}
	known.withheld = live
	p.waiting[vehicle] = struct{}{}
	return false
}

// due returns what was withheld and is to be told now, by vehicle.
func (p *thinned) due(now time.Time) []moved {
	var due []moved
	for vehicle := range p.waiting {
		known := p.vehicles[vehicle]
		if now.Sub(known.at) < known.every {
			continue
		}
		known.told, known.at, known.withheld = *known.withheld, now, nil
		delete(p.waiting, vehicle)
		due = append(due, moved{vehicle, known.told})
	}
	slices.SortFunc(due, func(a, b moved) int { return cmp.Compare(a.vehicle.Vehicle, b.vehicle.Vehicle) })
	p.forget(now)
	return due
}

// withheld returns all that is withheld, by vehicle, as told.
func (p *thinned) withheld() []moved {
	return p.due(time.Unix(1<<40, 0))
}

// again takes back that a place was told: it is due at once, unless a newer one was told since.
func (p *thinned) again(m moved) {
	known := p.vehicles[m.vehicle]
	if known == nil || known.told.FixTime > m.live.FixTime {
		return
	}
	if known.withheld == nil {
		known.withheld = &m.live
	}
	known.told.FixTime, known.at = 0, time.Time{}
	p.waiting[m.vehicle] = struct{}{}
}

// forget drops vehicles of which nothing has come for so long that their next place is told at once in any case.
func (p *thinned) forget(now time.Time) {
	if now.Sub(p.cleaned) < placesKept {
		return
	}
	p.cleaned = now
	for vehicle, known := range p.vehicles {
		if known.withheld == nil && now.Sub(known.at) >= max(known.every, placesKept) {
			delete(p.vehicles, vehicle)
		}
	}
}
