package record

import "github.com/motorpool/fleet"

// VehicleClass is a sort of vehicles that are rented as one: the customer books the class, and gets one of them.
type VehicleClass struct {
	Name                string   `json:"name" minLength:"1" maxLength:"100" example:"Compact"`
	Code                string   `json:"code,omitempty" maxLength:"20" doc:"Short name, for example an ACRISS code; unique within the account." example:"CCAR"`
	Description         string   `json:"description,omitempty" maxLength:"1000"`
	Rank                int      `json:"rank,omitempty" minimum:"0" maximum:"1000" doc:"A higher one is an upgrade."`
	RatePlanID          string   `json:"rate_plan_id,omitempty" example:"rat_1234"`
	DailyRate           *Money   `json:"daily_rate,omitempty" doc:"Where no rate plan says otherwise."`
	MinRentalDays       int      `json:"min_rental_days,omitempty" minimum:"0" maximum:"3650"`
	MaxRentalDays       int      `json:"max_rental_days,omitempty" minimum:"0" maximum:"3650"`
	IncludedMilesPerDay *int     `json:"included_miles_per_day,omitempty" minimum:"0"`
	ExtraMileFee        *Money   `json:"extra_mile_fee,omitempty"`
	DepositAmount       *Money   `json:"deposit_amount,omitempty"`
	MinDriverAge        int      `json:"min_driver_age,omitempty" minimum:"0" maximum:"120"`
	LeadTimeMinHours    int      `json:"lead_time_min_hours,omitempty" minimum:"0" maximum:"8760"`
	BufferBeforeMinutes int      `json:"buffer_before_minutes,omitempty" minimum:"0" maximum:"43200"`
	BufferAfterMinutes  int      `json:"buffer_after_minutes,omitempty" minimum:"0" maximum:"43200"`
	OverbookingBP       int      `json:"overbooking_bp,omitempty" minimum:"0" maximum:"10000" doc:"By what share of its vehicles, in basis points: 1000 is a tenth. How far bookings of the class may exceed its vehicles."`
	Photos              []string `json:"photos,omitempty" maxItems:"50" nullable:"false"`

	ExternalRefs []ExternalRef     `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`
	Metadata     map[string]string `json:"metadata,omitempty" maxProperties:"50"`
	CustomFields map[string]any    `json:"custom_fields,omitempty" maxProperties:"50"`
}

// VehicleClasses describes the kind.
var VehicleClasses = Kind[VehicleClass]{Name: "vehicle_class", Prefix: fleet.ClassPrefix,
	Claims: func(c *VehicleClass) []Claim {
		claims := refClaims("vehicle_class", c.ExternalRefs)
		if code := plain(c.Code); code != "" {
			claims = append(claims, Claim{Field: "vehicle_class.code", Value: code, Says: "/code"})
		}
		return claims
	}}

// Location is a place where vehicles are picked up and returned.
type Location struct {
	Name         string        `json:"name" minLength:"1" maxLength:"100" example:"Austin Airport"`
	Code         string        `json:"code,omitempty" maxLength:"20" doc:"Unique within the account." example:"AUS"`
	Timezone     string        `json:"timezone,omitempty" maxLength:"64" doc:"IANA time zone; the account's unless given." example:"America/Chicago"`
	Address      *Address      `json:"address,omitempty"`
	Lat          *float64      `json:"lat,omitempty" minimum:"-90" maximum:"90"`
	Lng          *float64      `json:"lng,omitempty" minimum:"-180" maximum:"180"`
	Phone        string        `json:"phone,omitempty" maxLength:"32"`
	OpeningHours []OpenHours   `json:"opening_hours,omitempty" maxItems:"50" nullable:"false" doc:"When vehicles are picked up and returned here; always if absent. A booking for another time is a 422 with the code closed in errors; one that a channel sold is not refused, nor one that is delivered for its pickup, and a handover that has taken place never is."`
	Taxes        []TaxRate     `json:"taxes,omitempty" maxItems:"10" nullable:"false" doc:"What is due on rentals that begin here."`
	OneWayFee    *Money        `json:"one_way_fee,omitempty" doc:"For vehicles that were picked up elsewhere and are returned here, where neither the rate plan nor the account has a fee for the two locations (one_way_fees)."`
	DeliveryFee  *Money        `json:"delivery_fee,omitempty"`
	ExternalRefs []ExternalRef `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`

	Metadata     map[string]string `json:"metadata,omitempty" maxProperties:"50"`
	CustomFields map[string]any    `json:"custom_fields,omitempty" maxProperties:"50"`
}

// Address is a postal address.
type Address struct {
	Line1      string `json:"line1,omitempty" maxLength:"200"`
	Line2      string `json:"line2,omitempty" maxLength:"200"`
	City       string `json:"city,omitempty" maxLength:"100"`
	Region     string `json:"region,omitempty" maxLength:"100"`
	PostalCode string `json:"postal_code,omitempty" maxLength:"20"`
	Country    string `json:"country,omitempty" pattern:"^[A-Z]{2}$"`
}

// OpenHours are hours of some days of the week, in local time. Those past midnight are two entries.
type OpenHours struct {
	Days  []string `json:"days" minItems:"1" maxItems:"7" nullable:"false" doc:"mon to sun." example:"[\"mon\",\"tue\"]"`
	From  string   `json:"from" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" example:"08:00"`
	Until string   `json:"until" pattern:"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$" doc:"The last minute of it; after from. Hours past midnight are two entries: until 24:00, and from 00:00 of the next day." example:"18:00"`
}

// TaxRate is a tax on what is taxable.
type TaxRate struct {
	Name   string `json:"name" minLength:"1" maxLength:"100" example:"Texas motor vehicle rental tax"`
	RateBP int64  `json:"rate_bp" minimum:"0" maximum:"100000" doc:"In hundredths of a percent: 825 is 8.25 %." example:"1000"`
}

// OneWayFee is what it costs to return a vehicle elsewhere than it was picked up.
type OneWayFee struct {
	PickupLocationID string `json:"pickup_location_id,omitempty" doc:"For rentals from there; from anywhere if absent." example:"loc_1234"`
	ReturnLocationID string `json:"return_location_id,omitempty" doc:"For returns there; anywhere else if absent." example:"loc_1234"`
	Fee              Money  `json:"fee" doc:"A rental; 0 for nothing."`
}

// For says whether the fee is for rentals from one location to another.
func (f *OneWayFee) For(pickup, back string) bool {
	return (f.PickupLocationID == "" || f.PickupLocationID == pickup) &&
		(f.ReturnLocationID == "" || f.ReturnLocationID == back)
}

// Locations describes the kind.
var Locations = Kind[Location]{Name: "location", Prefix: fleet.LocationPrefix, Claims: func(l *Location) []Claim {
	claims := refClaims("location", l.ExternalRefs)
	if code := plain(l.Code); code != "" {
		claims = append(claims, Claim{Field: "location.code", Value: code, Says: "/code"})
	}
	return claims
}}

// RatePlan is how rentals are priced.
type RatePlan struct {
	Name      string   `json:"name" minLength:"1" maxLength:"100" example:"Standard 2026"`
	Enabled   *bool    `json:"enabled,omitempty" doc:"True unless given."`
	Channels  []string `json:"channels,omitempty" maxItems:"20" nullable:"false" doc:"For bookings of these channels; any if absent."`
	ClassIDs  []string `json:"vehicle_class_ids,omitempty" maxItems:"100" nullable:"false" doc:"For these classes; any if absent."`
	ValidFrom string   `json:"valid_from,omitempty" format:"date" doc:"For pickups from this day on."`
	ValidTo   string   `json:"valid_until,omitempty" format:"date" doc:"For pickups up to this day."`
	Priority  int      `json:"priority,omitempty" minimum:"0" maximum:"1000" doc:"Of several that fit, the highest holds; then the newest."`

	RatePlanTerms

	ExternalRefs []ExternalRef     `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`
	Metadata     map[string]string `json:"metadata,omitempty" maxProperties:"50"`
	CustomFields map[string]any    `json:"custom_fields,omitempty" maxProperties:"50"`
}

// RatePlanTerms are the terms of a rate plan by which prices are worked out.
type RatePlanTerms struct {
	Currency            string       `json:"currency" pattern:"^[A-Z]{3}$" example:"USD"`
	DailyRate           Money        `json:"daily_rate" doc:"Where no season, tier or vehicle says otherwise."`
	DayRounding         string       `json:"day_rounding,omitempty" enum:"calendar_day,24h,24h_with_grace" doc:"What a day is; 24h_with_grace unless given."`
	GraceMinutes        *int         `json:"grace_minutes,omitempty" minimum:"0" maximum:"1440" doc:"29 unless given."`
	TierPolicy          string       `json:"tier_policy,omitempty" enum:"cheapest_combination,longest_fit" doc:"How tiers are put together; cheapest_combination unless given."`
	Tiers               []RateTier   `json:"tiers,omitempty" maxItems:"50" nullable:"false" doc:"Prices for several days at once."`
	Seasons             []RateSeason `json:"seasons,omitempty" maxItems:"100" nullable:"false"`
	WeekdayFactors      []DayFactor  `json:"weekday_factors,omitempty" maxItems:"7" nullable:"false"`
	Holidays            []DateFactor `json:"holidays,omitempty" maxItems:"400" nullable:"false"`
	LengthDiscounts     []LengthOff  `json:"length_discounts,omitempty" maxItems:"20" nullable:"false" doc:"The longest that fits holds."`
	EarlyBirdDiscounts  []EarlyOff   `json:"early_bird_discounts,omitempty" maxItems:"20" nullable:"false"`
	Promotions          []Promotion  `json:"promotions,omitempty" maxItems:"200" nullable:"false"`
	IncludedMilesPerDay *int         `json:"included_miles_per_day,omitempty" minimum:"0" doc:"Unlimited if absent."`
	ExtraMileFee        *Money       `json:"extra_mile_fee,omitempty"`
	Extras              []Extra      `json:"extras,omitempty" maxItems:"100" nullable:"false"`
	YoungDriverAge      int          `json:"young_driver_age,omitempty" minimum:"0" maximum:"120"`
	YoungDriverFee      *Money       `json:"young_driver_fee,omitempty" doc:"A day."`
	AdditionalDriverFee *Money       `json:"additional_driver_fee,omitempty" doc:"A day and driver."`
	LateFeePerDay       *Money       `json:"late_fee_per_day,omitempty" doc:"For each billed day beyond the agreed ones; the price of a day unless given."`
	OneWayFees          []OneWayFee  `json:"one_way_fees,omitempty" maxItems:"200" nullable:"false" doc:"For returns at another location than that of pickup; the first that fits holds. If none does, the first of the account's booking_settings, and then the one_way_fee of the location of return."`
	RefuelFee           *Money       `json:"refuel_fee,omitempty" doc:"For each percent of the tank or battery that is missing at return."`
	CancelSteps         []CancelStep `json:"cancellation_steps,omitempty" maxItems:"20" nullable:"false"`
	NoShowFeeBP         *int64       `json:"no_show_fee_bp,omitempty" minimum:"0" maximum:"10000" doc:"Share of the total, in basis points; all of it, 10000, unless given."`
	NoShowGraceMinutes  *int         `json:"no_show_grace_minutes,omitempty" minimum:"0" maximum:"43200" doc:"After which a booking that nobody picked up is a no-show; 1440 unless given."`
	DepositAmount       *Money       `json:"deposit_amount,omitempty"`
	DepositMethod       string       `json:"deposit_method,omitempty" enum:"hold,charge,none" doc:"hold unless given."`
	PlatformFeeBP       int64        `json:"platform_fee_bp,omitempty" minimum:"0" maximum:"10000" doc:"What the channel keeps, in hundredths of a percent of the subtotal less discounts."`
	MinRentalDays       int          `json:"min_rental_days,omitempty" minimum:"0" maximum:"3650"`
	MaxRentalDays       int          `json:"max_rental_days,omitempty" minimum:"0" maximum:"3650"`
}

// RateTier is a price for several days at once.
type RateTier struct {
	Days  int   `json:"days" minimum:"1" maximum:"366" example:"7"`
	Price Money `json:"price" doc:"For all of those days."`
}

// RateSeason is a time of the year with its own rates. Later ones in the list win where seasons overlap.
type RateSeason struct {
	Name      string     `json:"name" minLength:"1" maxLength:"100"`
	From      string     `json:"from" format:"date"`
	To        string     `json:"until" format:"date" doc:"The last day of it."`
	DailyRate *Money     `json:"daily_rate,omitempty"`
	Tiers     []RateTier `json:"tiers,omitempty" maxItems:"50" nullable:"false"`
	FactorBP  *int64     `json:"factor_bp,omitempty" minimum:"1" maximum:"100000" doc:"In basis points of the price otherwise: 12000 is a fifth more. Instead of a rate."`
}

// DayFactor makes a day of the week dearer or cheaper.
type DayFactor struct {
	Day      string `json:"day" enum:"mon,tue,wed,thu,fri,sat,sun"`
	FactorBP int64  `json:"factor_bp" minimum:"1" maximum:"100000" doc:"In basis points: 12000 is a fifth more."`
}

// DateFactor makes a date dearer or cheaper; it stands instead of that of the day of the week.
type DateFactor struct {
	Date     string `json:"date" format:"date"`
	FactorBP int64  `json:"factor_bp" minimum:"1" maximum:"100000" doc:"In basis points: 15000 is half as much again."`
}

// LengthOff is a discount for long rentals.
type LengthOff struct {
	MinDays    int   `json:"min_days" minimum:"1" maximum:"3650"`
	DiscountBP int64 `json:"discount_bp" minimum:"1" maximum:"10000" doc:"In basis points: 1000 is a tenth."`
}

// EarlyOff is a discount for bookings made early.
type EarlyOff struct {
	MinDaysAhead int   `json:"min_days_ahead" minimum:"1" maximum:"3650"`
	DiscountBP   int64 `json:"discount_bp" minimum:"1" maximum:"10000" doc:"In basis points: 1000 is a tenth."`
}

// Promotion is a discount for those who know its code.
type Promotion struct {
	Code       string `json:"code" minLength:"1" maxLength:"50"`
	DiscountBP int64  `json:"discount_bp,omitempty" minimum:"0" maximum:"10000" doc:"In basis points: 1000 is a tenth. Instead of an amount."`
	Amount     *Money `json:"amount,omitempty"`
	From       string `json:"from,omitempty" format:"date" doc:"For bookings made from this day on."`
	To         string `json:"until,omitempty" format:"date"`
}

// Extra is something that is rented along, or a protection plan.
type Extra struct {
	Code     string `json:"code" minLength:"1" maxLength:"50" example:"child_seat"`
	Name     string `json:"name" minLength:"1" maxLength:"100"`
	Kind     string `json:"kind,omitempty" enum:"extra,protection" doc:"extra unless given."`
	Per      string `json:"per,omitempty" enum:"day,rental" doc:"rental unless given."`
	Price    Money  `json:"price"`
	MaxPrice *Money `json:"max_price,omitempty" doc:"For one of it, however long the rental is."`
	Taxable  *bool  `json:"taxable,omitempty" doc:"True unless given."`
}

// CancelStep is what cancelling costs that late.
type CancelStep struct {
	HoursBefore int   `json:"hours_before" minimum:"0" maximum:"8760" doc:"For cancellations less than so many hours before pickup; the smallest that fits holds."`
	FeeBP       int64 `json:"fee_bp" minimum:"0" maximum:"10000" doc:"Share of the total, in basis points: 5000 is half of it."`
}

// RatePlans describes the kind.
var RatePlans = Kind[RatePlan]{Name: "rate_plan", Prefix: fleet.RatePlanPrefix, Claims: func(p *RatePlan) []Claim {
	return refClaims("rate_plan", p.ExternalRefs)
}}

// Quote is a price for something that nobody holds.
type Quote struct {
	BookingFields
	Numbered
	ExpiresAt Instant      `json:"expires_at"`
	Snapshot  RateSnapshot `json:"rate_snapshot"`
	Reserved  string       `json:"reserved_booking_id"`  // the id that a booking of it gets, so that there is one at most
	BookingID string       `json:"booking_id,omitempty"` // what came of it
}

// Quotes describes the kind.
var Quotes = Kind[Quote]{Name: "quote", Prefix: fleet.QuotePrefix, Letter: "Q"}
