package rent

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
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// VehicleClassFields are what callers write of a class of vehicles.
type VehicleClassFields record.VehicleClass

// VehicleClass is a class of vehicles as it is answered.
type VehicleClass struct {
	ID string `json:"id" doc:"Identity." example:"vcl_1234"`

	VehicleClassFields

	Object string `json:"object" doc:"Always vehicle_class." example:"vehicle_class"`

	rest.Stamps
}

// LocationFields are what callers write of a location.
type LocationFields record.Location

// Location is a location as it is answered.
type Location struct {
	ID string `json:"id" doc:"Identity." example:"loc_1234"`

	LocationFields

	Object string `json:"object" doc:"Always location." example:"location"`

	rest.Stamps
}

// RatePlanFields are what callers write of a rate plan.
type RatePlanFields record.RatePlan

// RatePlan is a rate plan as it is answered.
type RatePlan struct {
	ID string `json:"id" doc:"Identity." example:"rat_1234"`

	RatePlanFields

	Object string `json:"object" doc:"Always rate_plan." example:"rate_plan"`

	rest.Stamps
}

// catalogueRoutes are those of what a rental business offers: classes, locations, rate plans.
func (a *API) catalogueRoutes() {
	plain(a, &rest.Resource[record.VehicleClass]{
		Log: a.desk.Classes, Listing: &query.VehicleClasses,
		Titles:   rest.Titles{Path: "/v1/vehicle_classes", Tag: "Catalogue", Noun: "vehicle class", Nouns: "vehicle classes"},
		Scope:    rest.Scopes{Read: auth.VehiclesRead, Write: auth.VehiclesWrite},
		Views:    rest.Views{View: VehicleClass{}, Fields: VehicleClassFields{}},
		Writable: func(c *record.VehicleClass) any { return (*VehicleClassFields)(c) },
		Prepare: func(r *http.Request, _ uint64, _, c *record.VehicleClass) error {
			if err := checkClass(c); err != nil {
				return err
			}
			return a.CheckExists(r, &query.RatePlans, fleet.RatePlanPrefix, c.RatePlanID, "/rate_plan_id", "rate plan")
		},
	}, func(rec record.Record[record.VehicleClass], id string) any {
		return VehicleClass{ID: id, VehicleClassFields: VehicleClassFields(rec.Body), Object: "vehicle_class",
			Stamps: rest.StampsOf(rec)}
	})
	plain(a, &rest.Resource[record.Location]{
		Log: a.desk.Locations, Listing: &query.Locations,
		Titles:   rest.Titles{Path: "/v1/locations", Tag: "Catalogue", Noun: "location", Nouns: "locations"},
		Scope:    rest.Scopes{Read: auth.VehiclesRead, Write: auth.VehiclesWrite},
		Views:    rest.Views{View: Location{}, Fields: LocationFields{}},
		Writable: func(l *record.Location) any { return (*LocationFields)(l) },
		Prepare:  func(_ *http.Request, _ uint64, _, l *record.Location) error { return checkLocation(l) },
	}, func(rec record.Record[record.Location], id string) any {
		return Location{ID: id, LocationFields: LocationFields(rec.Body), Object: "location", Stamps: rest.StampsOf(rec)}
	})
	plain(a, &rest.Resource[record.RatePlan]{
		Log: a.desk.RatePlans, Listing: &query.RatePlans,
		Titles:   rest.Titles{Path: "/v1/rate_plans", Tag: "Catalogue", Noun: "rate plan", Nouns: "rate plans"},
		Scope:    rest.Scopes{Read: auth.BookingsRead, Write: auth.FinanceWrite},
		Views:    rest.Views{View: RatePlan{}, Fields: RatePlanFields{}},
		Writable: func(p *record.RatePlan) any { return (*RatePlanFields)(p) },
		Prepare: func(r *http.Request, _ uint64, _, p *record.RatePlan) error {
			if err := checkRatePlan(p); err != nil {
				return err
			}
			return a.CheckAllExist(r, &query.VehicleClasses, fleet.ClassPrefix, p.ClassIDs, "/vehicle_class_ids/",
				"vehicle class")
		},
	}, func(rec record.Record[record.RatePlan], id string) any {
		return RatePlan{ID: id, RatePlanFields: RatePlanFields(rec.Body), Object: "rate_plan", Stamps: rest.StampsOf(rec)}
	})
}

// plain registers a resource of which callers write everything, and that is not archived while something uses it.
func plain[T any](a *API, s *rest.Resource[T], show func(rec record.Record[T], id string) any) {
	s.Server = a.Server
	s.Show = rest.ShowEach(func(rec record.Record[T]) any {
		return show(rec, fleet.FormatID(s.Log.Kind().Prefix, rec.ID))
	})
	s.MayArchive = rest.ArchiveIf(func(r *http.Request, rec *record.Record[T]) error {
		return a.unused(r.Context(), rec.Account, s.Noun, fleet.FormatID(s.Log.Kind().Prefix, rec.ID))
	})
	s.Register()
}

// prefixOf is the prefix of the ids of what may use a part of the catalogue.
var prefixOf = map[string]string{"vehicle": fleet.VehiclePrefix, "vehicle class": fleet.ClassPrefix,
	"rate plan": fleet.RatePlanPrefix, "booking": fleet.BookingPrefix}

// unused refuses to archive what something uses, and says what does. Nothing holds it in place: a booking that is made
// at the same moment may name what is archived then, and goes on without it.
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
		fields = append(fields,
			fleet.FieldError{Pointer: "", Code: "in_use", Detail: "is used by the " + u.Noun + " " + name})
	}
	return fleet.NewError(fleet.CodeConflict,
		fmt.Sprintf("The %s %s is in use and cannot be archived: by %s. Give those another, or wait until the bookings among them are over.",
			noun, id, strings.Join(names, ", ")), fields...)
}

func checkClass(c *record.VehicleClass) error {
	faults := rest.FeeFaults(price.Limit, map[string]*record.Money{"/daily_rate": c.DailyRate,
		"/extra_mile_fee": c.ExtraMileFee, "/deposit_amount": c.DepositAmount})
	if c.MaxRentalDays != 0 && c.MaxRentalDays < c.MinRentalDays {
		faults = append(faults, fleet.FieldError{Pointer: "/max_rental_days", Code: "out_of_range",
			Detail: "must not be less than min_rental_days"})
	}
	return rest.ValidationError(faults)
}

// weekdays are the days of the week as they are written.
var weekdays = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

func checkLocation(l *record.Location) error {
	faults := rest.FeeFaults(price.Limit,
		map[string]*record.Money{"/one_way_fee": l.OneWayFee, "/delivery_fee": l.DeliveryFee})
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
			add(fmt.Sprintf("/opening_hours/%d/until", i), "out_of_range",
				"must be after from; hours past midnight are two entries")
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
	return rest.CheckZone(l.Timezone)
}

// channels are those over which bookings come.
var channels = []string{"direct", "phone", "website", "turo", "getaround", "ota", "partner", "api"}

func checkRatePlan(p *record.RatePlan) error {
	faults := price.Faults(&p.RatePlanTerms)
	if p.ValidFrom != "" && p.ValidTo != "" && p.ValidFrom > p.ValidTo {
		faults = append(faults,
			fleet.FieldError{Pointer: "/valid_until", Code: "out_of_range", Detail: "must not be before valid_from"})
	}
	for i, c := range p.Channels {
		if !slices.Contains(channels, c) {
			faults = append(faults, fleet.FieldError{Pointer: fmt.Sprintf("/channels/%d", i), Code: "invalid",
				Detail: "must be one of " + strings.Join(channels, ", ")})
		}
	}
	return rest.ValidationError(faults)
}
