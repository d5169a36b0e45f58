package track

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// VehicleFacts are the members of a vehicle that follow from other records, and from today.
type VehicleFacts struct {
	StatusCause      string          `json:"status_cause,omitempty" doc:"The booking, block or work order that put it there; absent if a person did." example:"bkg_1234"`
	StatusUntil      record.Instant  `json:"status_until" doc:"When the status ends by itself; null if it does not, as while an open issue keeps the vehicle."`
	IsRentable       bool            `json:"is_rentable" doc:"It could be handed over now: available, not archived, nothing holds it, and no open issue is critical to safety."`
	CurrentBookingID *string         `json:"current_booking_id" doc:"The booking that it is out with." example:"bkg_1234"`
	NextBookingID    *string         `json:"next_booking_id" doc:"The booking that holds it next, or now without having been picked up." example:"bkg_1234"`
	NextAvailableAt  record.Instant  `json:"next_available_at" doc:"When what holds it now is over; null if it is free now, or if nobody knows."`
	BookValue        *record.Money   `json:"book_value" doc:"What it is worth in the books today by its depreciation_method: straight_line by days of useful_life_months; declining twice that rate of what is left, each whole month; units_of_production by miles of expected_life_mi; never below residual_value. Null if that cannot be told."`
	Compliance       []rental.Paper  `json:"compliance" nullable:"false" doc:"Its papers and warranties that end."`
	Warnings         []string        `json:"warnings" nullable:"false" doc:"What looks wrong and is accepted all the same."`
	VehicleClass     *VehicleRelated `json:"vehicle_class,omitempty" doc:"With expand=vehicle_class."`
	HomeLocation     *VehicleRelated `json:"home_location,omitempty" doc:"With expand=home_location."`
	CurrentLocation  *VehicleRelated `json:"current_location,omitempty" doc:"With expand=current_location."`
}

// VehicleRelated is a class or a location that a vehicle names.
type VehicleRelated struct {
	ID       string `json:"id" example:"vcl_1234"`
	Name     string `json:"name" example:"Compact"`
	Code     string `json:"code,omitempty"`
	Timezone string `json:"timezone,omitempty"`
}

// movingFacts are those members that change without a new revision of the vehicle.
var movingFacts = []string{"status_until", "is_rentable", "current_booking_id", "next_booking_id", "next_available_at",
	"book_value", "compliance", "warnings", "vehicle_class", "home_location", "current_location"}

// addFacts fills in what follows for vehicles, which are one account's, from other records and from today. It tells of
// which, by their places, bookings have been looked at.
func (a *API) addFacts(ctx context.Context, account fleet.AccountID, views []Vehicle, all []*known, now time.Time,
	expand []string) (map[int]bool, error) {
	for i := range views {
		v, k := &views[i], all[i]
		today := localDate(now, v.Timezone, k.home)
		var odometer *int
		if v.CurrentMileageMi != nil {
			odometer = rest.WholeOrNull(float64(*v.CurrentMileageMi))
		}
		v.BookValue, v.Compliance = rental.BookValue(&v.VehicleFields, today, odometer),
			rental.Papers(&v.VehicleFields, today, odometer)
		v.Warnings = vehicleWarnings(&v.VehicleFields)
		if !v.StatusUntil.After(now) {
			v.StatusUntil = record.Instant{} // it did not end by itself then
		}
		v.addHolds(query.HoldsAt(k.rare.holds, now), k.rare.over, now)
		v.addFleet(now, k.home)
		// The warning speaks of the issue by its id, which NameIDs has in words: what the issue is called is in no fact. So
		// what has such a warning is never kept ready, and shownUntil says so of it.
		for _, issue := range k.rare.unsafe {
			v.IsRentable = false
			v.Warnings = append(v.Warnings, "the issue "+fleet.FormatID(fleet.IssuePrefix, issue)+
				" is open and critical to safety: the vehicle is not handed over")
		}
	}
	stranded, err := a.addStranded(ctx, account, views, all, now)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(views, func(v Vehicle) bool { return len(v.Warnings) > 0 }) {
		var texts []*string
		for i := range views {
			for n := range views[i].Warnings {
				texts = append(texts, &views[i].Warnings[n])
			}
		}
		a.NameIDs(ctx, account, rest.MayHear(ctx), texts...)
	}
	for _, name := range expand {
		if err := a.expandVehicles(ctx, account, views, name); err != nil {
			return nil, err
		}
	}
	return stranded, nil
}

// addHolds says what holds the vehicle now and next. Holds are those that are not over; of some of them that have
// begun, over, nothing is left but the buffer after a rental that is.
func (v *Vehicle) addHolds(holds []query.Hold, over []string, now time.Time) {
	slices.SortFunc(holds, func(a, b query.Hold) int { return a.From.Compare(b.From) })
	free := now
	for _, h := range holds {
		if !h.From.After(free) && h.Until.After(free) {
			free = h.Until
		}
		if v.NextBookingID == nil && strings.HasPrefix(h.Ref, fleet.BookingPrefix) && h.Ref != v.StatusCause &&
			(h.From.After(now) || !slices.Contains(over, h.Ref)) {
			v.NextBookingID = &h.Ref
		}
	}
	if v.Status == record.VehicleRented && v.StatusCause != "" {
		v.CurrentBookingID = &v.StatusCause
	}
	v.IsRentable = v.Status == record.VehicleAvailable && v.ArchivedAt.IsZero() && free.Equal(now)
	if v.StatusUntil.After(free) {
		free = v.StatusUntil.Time
	}
	switch v.Status {
	case record.VehicleOutOfService, record.VehicleInactive, record.VehicleRetired:
	default:
		if free.After(now) && v.ArchivedAt.IsZero() {
			v.NextAvailableAt = record.InstantOf(free)
		}
	}
}

// localDate is the date at an instant in the first of the zones that there is, as midnight UTC.
func localDate(now time.Time, zones ...string) time.Time {
	y, m, d := now.In(fleet.ZoneOf(zones...)).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// addFleet says that a vehicle cannot be rented before it comes into service and after it has left the fleet.
func (v *Vehicle) addFleet(now time.Time, home string) {
	from, until := record.InFleet(&v.VehicleFields, v.Timezone, home)
	if gone := !until.IsZero() && !now.Before(until); gone || now.Before(from) {
		v.IsRentable = false
	}
	if next := v.NextAvailableAt; !until.IsZero() && !next.IsZero() && !next.Before(until) {
		v.NextAvailableAt = record.Instant{}
	} else if from.After(now) && (next.IsZero() || next.Before(from)) && v.Status != record.VehicleInactive &&
		v.Status != record.VehicleRetired && v.Status != record.VehicleOutOfService && v.ArchivedAt.IsZero() {
		v.NextAvailableAt = record.InstantOf(from)
	}
}

// addStranded says which bookings still have vehicles for times at which those are not in the fleet any more, or not
// yet. It tells of which vehicles, by their places, bookings have been looked at.
func (a *API) addStranded(ctx context.Context, account fleet.AccountID, views []Vehicle, all []*known,
	now time.Time) (map[int]bool, error) {
	near := map[int][]uint64{} // by the place in views
	var named []uint64
	for i := range views {
		k := all[i]
		from, until := record.InFleet(&views[i].VehicleFields, views[i].Timezone, k.home)
		for _, h := range query.HoldsAt(k.rare.holds, now) {
			id, err := fleet.ParseID(fleet.BookingPrefix, h.Ref)
			if err == nil && (!until.IsZero() && h.Until.After(until) || from.After(now) && h.From.Before(from)) {
				near[i], named = append(near[i], id), append(named, id)
			}
		}
	}
	if named == nil {
		return nil, nil
	}
	found, err := query.RecordsByID(ctx, a.DB, &query.Bookings, account, named)
	if err != nil {
		return nil, err
	}
	looked := map[int]bool{}
	for i, some := range near {
		v := &views[i]
		looked[i] = true
		for _, id := range some {
			b, err := rest.FromStored[record.Booking](account, found[id])
			if err != nil {
				return nil, err
			}
			if b.Body.Status == record.BookingCompleted {
				continue
			}
			fault := record.NotInFleet(&v.VehicleFields, b.Body.PickupAt.Time, b.Body.ReturnAt.Time, now, v.Timezone,
				all[i].home)
			if fault != nil {
				v.Warnings = append(v.Warnings, "the booking "+fleet.FormatID(fleet.BookingPrefix, id)+" has the vehicle, and its "+
					strings.TrimPrefix(fault.Pointer, "/")+" "+fault.Detail+": give it another vehicle, or other times")
			}
		}
	}
	return looked, nil
}

// expandVehicles answers what vehicles name in full.
func (a *API) expandVehicles(ctx context.Context, account fleet.AccountID, views []Vehicle, name string) error {
	listing, prefix := &query.Locations, fleet.LocationPrefix
	var of func(v *Vehicle) (string, **VehicleRelated)
	switch name {
	case "vehicle_class":
		listing, prefix = &query.VehicleClasses, fleet.ClassPrefix
		of = func(v *Vehicle) (string, **VehicleRelated) { return v.ClassID, &v.VehicleClass }
	case "home_location":
		of = func(v *Vehicle) (string, **VehicleRelated) { return v.HomeLocationID, &v.HomeLocation }
	case "current_location":
		of = func(v *Vehicle) (string, **VehicleRelated) { return v.CurrentLocationID, &v.CurrentLocation }
	default:
		return nil
	}
	var ids []uint64
	for i := range views {
		text, _ := of(&views[i])
		if id, err := fleet.ParseID(prefix, text); err == nil {
			ids = append(ids, id)
		}
	}
	found, err := a.RecordsByID(ctx, listing, account, ids)
	if err != nil {
		return err
	}
	for i := range views {
		text, at := of(&views[i])
		id, err := fleet.ParseID(prefix, text)
		if stored, ok := found[id]; err == nil && ok {
			rec, err := rest.FromStored[VehicleRelated](account, stored)
			if err != nil {
				return err
			}
			rec.Body.ID = text
			*at = &rec.Body
		}
	}
	return nil
}

// vehicleWarnings says what of a vehicle looks wrong. A VIN outside North America need not have a check digit.
func vehicleWarnings(v *record.VehicleFields) []string {
	warnings := []string{}
	vin := strings.ToUpper(v.VIN)
	switch {
	case vin == "":
	case len(vin) != 17:
		warnings = append(warnings, "vin has "+strconv.Itoa(len(vin))+" characters, and 17 are usual since 1981")
	case strings.ContainsAny(vin, "IOQ"):
		warnings = append(warnings, "vin has an I, O or Q, which are not used in one")
	case !vinChecks(vin):
		warnings = append(warnings,
			"vin does not match its check digit; that is usual outside North America, and elsewhere a typing error")
	}
	return warnings
}

// vinChecks says whether the ninth character of a VIN is the check digit of the others (49 CFR 565.15).
func vinChecks(vin string) bool {
	const letters, values = "ABCDEFGHJKLMNPRSTUVWXYZ", "12345678123457923456789"
	weights := [17]int{8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2}
	sum := 0
	for i := range 17 {
		digit := int(vin[i] - '0')
		if at := strings.IndexByte(letters, vin[i]); at >= 0 {
			digit = int(values[at] - '0')
		} else if digit < 0 || digit > 9 {
			return false
		}
		sum += weights[i] * digit
	}
	return vin[8] == "0123456789X"[sum%11]
}

// checkVehicle refuses what the schema of a vehicle cannot.
func checkVehicle(v *record.Vehicle) error {
	faults := v.TripSettings.Faults()
	after := func(later, member, earlier, other string) {
		if later != "" && earlier != "" && later < earlier {
			faults = append(faults,
				fleet.FieldError{Pointer: "/" + member, Code: "invalid", Detail: "must not be before " + other})
		}
	}
	after(v.DisposalOn, "disposal_on", v.AcquiredOn, "acquired_on")
	after(v.DisposalOn, "disposal_on", v.InServiceOn, "in_service_on")
	after(v.OutOfServiceOn, "out_of_service_on", v.InServiceOn, "in_service_on")
	if v.Insurance != nil {
		after(v.Insurance.EndsOn, "insurance/until", v.Insurance.StartsOn, "from")
	}
	if v.MinRentalDays > 0 && v.MaxRentalDays > 0 && v.MaxRentalDays < v.MinRentalDays {
		faults = append(faults,
			fleet.FieldError{Pointer: "/max_rental_days", Code: "invalid", Detail: "must not be less than min_rental_days"})
	}
	for _, m := range []struct {
		member string
		money  *record.Money
	}{
		{"daily_rate", v.DailyRate}, {"extra_mile_fee", v.ExtraMileFee}, {"deposit_amount", v.DepositAmount},
		{"acquisition_cost", v.AcquisitionCost}, {"disposal_price", v.DisposalPrice}, {"residual_value", v.ResidualValue},
	} {
		if m.money != nil && m.money.Amount < 0 {
			faults = append(faults, fleet.FieldError{Pointer: "/" + m.member, Code: "invalid", Detail: "must not be negative"})
		}
	}
	if c, r := v.AcquisitionCost, v.ResidualValue; c != nil && r != nil &&
		(c.Currency != r.Currency || r.Amount > c.Amount) {
		faults = append(faults, fleet.FieldError{Pointer: "/residual_value", Code: "invalid",
			Detail: "must be in the currency of acquisition_cost, and not more"})
	}
	if faults != nil {
		return fleet.Invalid(faults...)
	}
	return rest.CheckZone(v.Timezone)
}

// vehicleRefers refuses a vehicle that names records which the account does not have.
func (a *API) vehicleRefers(r *http.Request, v *record.Vehicle) error {
	var faults []fleet.FieldError
	for _, named := range []struct {
		listing              *query.Listing
		prefix, member, what string
		id                   string
	}{
		{&query.VehicleClasses, fleet.ClassPrefix, "vehicle_class_id", "vehicle class", v.ClassID},
		{&query.Locations, fleet.LocationPrefix, "home_location_id", "location", v.HomeLocationID},
		{&query.Locations, fleet.LocationPrefix, "current_location_id", "location", v.CurrentLocationID},
		{&query.RatePlans, fleet.RatePlanPrefix, "rate_plan_id", "rate plan", v.RatePlanID},
		{&query.Customers, fleet.CustomerPrefix, "owner_customer_id", "customer", v.OwnerCustomerID},
	} {
		if named.id == "" {
			continue
		}
		id, err := fleet.ParseID(named.prefix, named.id)
		if err == nil {
			found, err := a.RecordsByID(r.Context(), named.listing, auth.From(r.Context()).Account, []uint64{id})
			if err != nil {
				return err
			}
			if _, ok := found[id]; ok {
				continue
			}
		}
		faults = append(faults, fleet.NoSuch("/"+named.member, named.what, named.prefix, named.id))
	}
	if faults != nil {
		return fleet.Invalid(faults...)
	}
	return nil
}
