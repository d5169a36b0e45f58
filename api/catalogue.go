package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/query"
)

// VehicleClassFields are what callers write of a class of vehicles.
type VehicleClassFields record.VehicleClass

// VehicleClass is a class of vehicles as it is answered.
type VehicleClass struct {
	ID string `json:"id" doc:"Identity." example:"vcl_1234"`

	VehicleClassFields

	Object string `json:"object" doc:"Always vehicle_class." example:"vehicle_class"`

	Stamps
}

// LocationFields are what callers write of a location.
type LocationFields record.Location

// Location is a location as it is answered.
type Location struct {
	ID string `json:"id" doc:"Identity." example:"loc_1234"`

	LocationFields

	Object string `json:"object" doc:"Always location." example:"location"`

	Stamps
}

// RatePlanFields are what callers write of a rate plan.
type RatePlanFields record.RatePlan

// RatePlan is a rate plan as it is answered.
type RatePlan struct {
	ID string `json:"id" doc:"Identity." example:"rat_1234"`

	RatePlanFields

	Object string `json:"object" doc:"Always rate_plan." example:"rate_plan"`

	Stamps
}

// catalogueRoutes are those of what a rental business offers: classes, locations, rate plans.
func (a *API) catalogueRoutes() {
	plain(a, &resource[record.VehicleClass]{
		log: a.desk.Classes, listing: &query.VehicleClasses,
		titles:   titles{path: "/v1/vehicle_classes", tag: "Catalogue", noun: "vehicle class", nouns: "vehicle classes"},
		scope:    scopes{read: auth.VehiclesRead, write: auth.VehiclesWrite},
		views:    views{view: VehicleClass{}, fields: VehicleClassFields{}},
		writable: func(c *record.VehicleClass) any { return (*VehicleClassFields)(c) },
		prepare: func(r *http.Request, _ uint64, _, c *record.VehicleClass) error {
			if err := checkClass(c); err != nil {
				return err
			}
			return a.existsOne(r, &query.RatePlans, fleet.RatePlanPrefix, c.RatePlanID, "/rate_plan_id", "rate plan")
		},
	}, func(rec record.Record[record.VehicleClass], id string) any {
		return VehicleClass{ID: id, VehicleClassFields: VehicleClassFields(rec.Body), Object: "vehicle_class", Stamps: stampsOf(rec)}
	})
	plain(a, &resource[record.Location]{
		log: a.desk.Locations, listing: &query.Locations,
		titles:   titles{path: "/v1/locations", tag: "Catalogue", noun: "location", nouns: "locations"},
		scope:    scopes{read: auth.VehiclesRead, write: auth.VehiclesWrite},
		views:    views{view: Location{}, fields: LocationFields{}},
		writable: func(l *record.Location) any { return (*LocationFields)(l) },
		prepare:  func(_ *http.Request, _ uint64, _, l *record.Location) error { return checkLocation(l) },
	}, func(rec record.Record[record.Location], id string) any {
		return Location{ID: id, LocationFields: LocationFields(rec.Body), Object: "location", Stamps: stampsOf(rec)}
	})
	plain(a, &resource[record.RatePlan]{
		log: a.desk.RatePlans, listing: &query.RatePlans,
		titles:   titles{path: "/v1/rate_plans", tag: "Catalogue", noun: "rate plan", nouns: "rate plans"},
		scope:    scopes{read: auth.BookingsRead, write: auth.FinanceWrite},
		views:    views{view: RatePlan{}, fields: RatePlanFields{}},
		writable: func(p *record.RatePlan) any { return (*RatePlanFields)(p) },
		prepare: func(r *http.Request, _ uint64, _, p *record.RatePlan) error {
			if err := checkRatePlan(p); err != nil {
				return err
			}
			return a.exist(r, &query.VehicleClasses, fleet.ClassPrefix, p.ClassIDs, "/vehicle_class_ids/", "vehicle class")
		},
	}, func(rec record.Record[record.RatePlan], id string) any {
		return RatePlan{ID: id, RatePlanFields: RatePlanFields(rec.Body), Object: "rate_plan", Stamps: stampsOf(rec)}
	})
}

// plain registers a resource of which callers write everything, and that is not archived while something uses it.
func plain[T any](a *API, s *resource[T], show func(rec record.Record[T], id string) any) {
	s.api = a
	s.show = each(func(rec record.Record[T]) any { return show(rec, fleet.FormatID(s.log.Kind().Prefix, rec.ID)) })
	s.mayArchive = onlyIf(func(r *http.Request, rec *record.Record[T]) error {
		return a.unused(r.Context(), rec.Account, s.noun, fleet.FormatID(s.log.Kind().Prefix, rec.ID))
	})
	s.register()
}

// prefixOf is the prefix of the ids of what may use a part of the catalogue.
var prefixOf = map[string]string{"vehicle": fleet.VehiclePrefix, "vehicle class": fleet.ClassPrefix, "rate plan": fleet.RatePlanPrefix, "booking": fleet.BookingPrefix}

// unused refuses to archive what something uses, and says what does. Nothing holds it in place: a booking that is made at the same moment may
// name what is archived then, and goes on without it.
func (a *API) unused(ctx context.Context, account fleet.AccountID, noun, id string) error {
	users, err := query.CatalogueUsers(ctx, a.DB, account, id)
	if err != nil || len(users) == 0 {
		return err
	}
	var names []string
	var fields []fleet.FieldError
	for _, u := range users {
		name := fleet.FormatID(prefixOf[u.Noun], u.ID)
		names = append(names, u.Noun+" "+name)
		fields = append(fields, fleet.FieldError{Pointer: "", Code: "in_use", Detail: "is used by the " + u.Noun + " " + name})
	}
	return fleet.NewError(fleet.CodeConflict, fmt.Sprintf("The %s %s is in use and cannot be archived: by %s. Give those another, or wait until the bookings among them are over.", noun, id, strings.Join(names, ", ")), fields...)
}

func checkClass(c *record.VehicleClass) error {
	faults := fees(price.Limit, map[string]*record.Money{"/daily_rate": c.DailyRate, "/extra_mile_fee": c.ExtraMileFee, "/deposit_amount": c.DepositAmount})
	if c.MaxRentalDays != 0 && c.MaxRentalDays < c.MinRentalDays {
		faults = append(faults, fleet.FieldError{Pointer: "/max_rental_days", Code: "out_of_range", Detail: "must not be less than min_rental_days"})
	}
	return faultsOf(faults)
}

// weekdays are the days of the week as they are written.
var weekdays = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

func checkLocation(l *record.Location) error {
	faults := fees(price.Limit, map[string]*record.Money{"/one_way_fee": l.OneWayFee, "/delivery_fee": l.DeliveryFee})
	add := func(pointer, code, detail string) {
		faults = append(faults, fleet.FieldError{Pointer: pointer, Code: code, Detail: detail})
	}
	if (l.Lat == nil) != (l.Lng == nil) {
		add("/lat", "required", "and lng go together")
	}
	for i, h := range l.OpeningHours {
		for n, day := range h.Days {
			pointer := fmt.Sprintf("/opening_hours/%d/days/%d", i, n)
			if !slices.Contains(weekdays, day) {
				add(pointer, "invalid", "must be one of "+strings.Join(weekdays, ", "))
			} else if slices.Contains(h.Days[:n], day) {
				add(pointer, "not_unique", "is there already")
			}
		}
		if h.From >= h.Until {
			add(fmt.Sprintf("/opening_hours/%d/until", i), "out_of_range", "must be after from; hours past midnight are two entries")
		}
	}
	for i, t := range l.Taxes {
		if slices.ContainsFunc(l.Taxes[:i], func(other record.TaxRate) bool { return other.Name == t.Name }) {
			add(fmt.Sprintf("/taxes/%d/name", i), "not_unique", "is there already")
		}
	}
	if faults != nil {
		return fleet.Invalid(faults...)
	}
	return checkZone(l.Timezone)
}

// channels are those over which bookings come.
var channels = []string{"direct", "phone", "website", "turo", "getaround", "ota", "partner", "api"}

func checkRatePlan(p *record.RatePlan) error {
	faults := price.Faults(&p.RatePlanTerms)
	if p.ValidFrom != "" && p.ValidTo != "" && p.ValidFrom > p.ValidTo {
		faults = append(faults, fleet.FieldError{Pointer: "/valid_until", Code: "out_of_range", Detail: "must not be before valid_from"})
	}
	for i, c := range p.Channels {
		if !slices.Contains(channels, c) {
			faults = append(faults, fleet.FieldError{Pointer: fmt.Sprintf("/channels/%d", i), Code: "invalid", Detail: "must be one of " + strings.Join(channels, ", ")})
		}
	}
	return faultsOf(faults)
}
