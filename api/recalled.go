package api

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/roster"
	"github.com/motorpool/fleet/query"
)

// recalled is what the desk reads of the store, with what memory has from there.
type recalled struct {
	base.Stored
	server    *rest.Server
	vehicles  *roster.Decoded[record.Record[record.Vehicle]]
	calendars *roster.Calendars[calendarOf]
}

// mostVehicles bounds the vehicles of an account that are kept decoded: of more, a search reads them from the store.
const mostVehicles = 5000

// calendarOf is what a calendar in memory holds.
type calendarOf struct {
	calendar.Series      // of which the holds say when they lapse, and whether they are open
	class, fixed    bool // fixed: none lapses, and none is open
}

func newRecalled(s *rest.Server) recalled {
	return recalled{base.NewStored(s.DB, s.Store.Moment), s,
		roster.NewDecoded(s.Roster, &query.Vehicles, mostVehicles, base.Decoded[record.Vehicle]),
		roster.NewCalendars(s.Roster, s.Now, func(c query.Calendar) calendarOf {
			h := calendarOf{calendar.NewSeries(base.HoldsFrom(c.Holds)), c.OfClass, true}
			for i, kept := range c.Holds {
				h.Holds[i].Expires, h.Holds[i].Open = record.InstantOf(kept.Expires), kept.Open
				h.fixed = h.fixed && kept.Expires.IsZero() && !kept.Open
			}
			return h
		})}
}

// Rentable returns those of the vehicles in memory that base.CanBeRented.
func (r recalled) Rentable(ctx context.Context, account fleet.AccountID,
	classes []string) ([]*record.Record[record.Vehicle], error) {
	all, ok, err := r.vehicles.All(ctx, account)
	if err != nil {
		return nil, err
	}
	if !ok {
		defer r.server.Roster.Showed(account, &query.Vehicles)
		return r.Stored.Rentable(ctx, account, classes)
	}
	some := make([]*record.Record[record.Vehicle], 0, len(all))
	for _, v := range all {
		if base.CanBeRented(&v.Body) && (classes == nil || slices.Contains(classes, v.Body.ClassID)) {
			some = append(some, v)
		}
	}
	return some, nil
}

// RecordsByID is query.RecordsByID.
func (r recalled) RecordsByID(ctx context.Context, l *query.Listing, account fleet.AccountID,
	ids []uint64) (map[uint64]query.Stored, error) {
	return r.server.RecordsByID(ctx, l, account, ids)
}

// Busy finds what memory has of calendars, or reads those of the store.
func (r recalled) Busy(ctx context.Context, account fleet.AccountID, from, now time.Time) (base.Busy, error) {
	if inMemory(from, now) {
		if find, ok := r.calendars.Of(ctx, account); ok {
			return busy(find, from, now), nil
		}
	}
	defer r.calendars.Showed(account)
	return r.Stored.Busy(ctx, account, from, now)
}

// Recalled finds what memory has of calendars.
func (r recalled) Recalled(ctx context.Context, account fleet.AccountID, from, now time.Time) (base.Busy, bool) {
	if !inMemory(from, now) {
		return base.Busy{}, false
	}
	find, ok := r.calendars.Recall(ctx, account)
	return busy(find, from, now), ok
}

// inMemory says that calendars in memory have what ends after an instant.
func inMemory(from, now time.Time) bool { return !from.Before(now.Add(-roster.HeldSince)) }

// busy looks through calendars in memory.
func busy(find func(uint64, func(*calendarOf)), from, now time.Time) base.Busy {
	of := func(class bool) func(uint64) calendar.Series {
		return func(id uint64) (held calendar.Series) {
			find(id, func(h *calendarOf) {
				if h.class == class {
					held = h.standing(from, now)
				}
			})
			return held
		}
	}
	return base.Busy{Vehicle: of(false), Class: of(true)}
}

// standing are those of the holds that end after an instant and have not lapsed at another.
func (h *calendarOf) standing(from, now time.Time) calendar.Series {
	if h.fixed && h.Tidy {
		return h.EndingAfter(from)
	}
	var left []calendar.Hold
	for i := range h.Holds {
		if one := h.Holds[i].Lasting(now); !one.Lapsed(now) && one.Until.After(from) {
			left = append(left, one)
		}
	}
	return calendar.NewSeries(left)
}

// mostPlans bounds the rate plans that are looked through in memory.
const mostPlans = 200

// PlansInUse is query.PlansInUse.
func (r recalled) PlansInUse(ctx context.Context, account fleet.AccountID) ([]query.PlanInUse, error) {
	all, ok := r.server.Roster.All(ctx, account, record.RatePlans.Name, mostPlans)
	if !ok {
		return r.Stored.PlansInUse(ctx, account)
	}
	type ranked struct {
		query.PlanInUse
		priority int
	}
	found := make([]ranked, 0, len(all))
	for _, stored := range all {
		var p record.RatePlan
		if err := json.Unmarshal([]byte(stored.Body), &p); err != nil {
			return nil, err
		}
		if p.Enabled == nil || *p.Enabled {
			found = append(found, ranked{query.PlanInUse{ID: stored.ID, Classes: p.ClassIDs, Channels: p.Channels,
				ValidFrom: p.ValidFrom, ValidTo: p.ValidTo}, p.Priority})
		}
	}
	slices.SortFunc(found, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(b.ID, a.ID))
	})
	plans := make([]query.PlanInUse, len(found))
	for i := range found {
		plans[i] = found[i].PlanInUse
	}
	return plans, nil
}
