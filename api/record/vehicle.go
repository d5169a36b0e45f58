package record

import (
	"cmp"

	"github.com/motorpool/fleet"
)

// VehicleFields are what callers write of a vehicle.
type VehicleFields struct {
	Make  string `json:"make" maxLength:"100" doc:"Manufacturer." example:"Tesla"`
	Model string `json:"model" maxLength:"100" example:"Model 3"`
	Year  int    `json:"year,omitempty" minimum:"1885" maximum:"2100" doc:"Model year." example:"2024"`
	VIN   string `json:"vin,omitempty" maxLength:"32" doc:"Vehicle identification number; unique within the account." example:"5YJ3E1EA2KF317000"`

	Trim            string   `json:"trim,omitempty" maxLength:"100"`
	BodyType        string   `json:"body_type,omitempty" maxLength:"50" example:"sedan"`
	Color           string   `json:"color,omitempty" maxLength:"50"`
	Doors           int      `json:"doors,omitempty" minimum:"0" maximum:"20"`
	Seats           int      `json:"seats,omitempty" minimum:"0" maximum:"200"`
	Transmission    string   `json:"transmission,omitempty" enum:"automatic,manual"`
	Drivetrain      string   `json:"drivetrain,omitempty" maxLength:"20" example:"awd"`
	FuelType        string   `json:"fuel_type,omitempty" enum:"gasoline,diesel,hybrid,plug_in_hybrid,electric,hydrogen,cng,lpg,other"`
	FuelCapacityGal *float64 `json:"fuel_capacity_gal,omitempty" minimum:"0" maximum:"2000" doc:"What the tank holds, US gallons." example:"15.5"`
	BatteryKwh      *float64 `json:"battery_kwh,omitempty" minimum:"0" maximum:"2000" doc:"Usable energy of the traction battery." example:"75"`
	LicensePlate    string   `json:"license_plate,omitempty" maxLength:"32" doc:"Unique within the account, together with plate_region." example:"ABC1234"`
	PlateRegion     string   `json:"plate_region,omitempty" maxLength:"32" example:"TX"`
	PlateCountry    string   `json:"plate_country,omitempty" pattern:"^[A-Z]{2}$" doc:"ISO 3166-1 alpha-2." example:"US"`
	Nickname        string   `json:"nickname,omitempty" maxLength:"100"`
	FleetNumber     string   `json:"fleet_number,omitempty" maxLength:"50"`
	Tags            []string `json:"tags,omitempty" maxItems:"50" nullable:"false"`
	Photos          []string `json:"photos,omitempty" maxItems:"50" nullable:"false" doc:"Addresses of pictures."`
	Timezone        string   `json:"timezone,omitempty" maxLength:"64" doc:"IANA time zone; the account's unless given." example:"America/Chicago"`

	ClassID           string   `json:"vehicle_class_id,omitempty" doc:"What it is rented as." example:"vcl_1234"`
	CategoryIDs       []string `json:"category_ids,omitempty" maxItems:"20" nullable:"false"`
	HomeLocationID    string   `json:"home_location_id,omitempty" doc:"Where it belongs." example:"loc_1234"`
	CurrentLocationID string   `json:"current_location_id,omitempty" doc:"Where it is: its home unless given. Returns and transfers change it when they end, and a booking is given a vehicle only that will be where it begins." example:"loc_1234"`
	RatePlanID        string   `json:"rate_plan_id,omitempty" doc:"Instead of what its class has." example:"rat_1234"`
	DepositAmount     *Money   `json:"deposit_amount,omitempty" doc:"Instead of what class or rate plan say."`
	OwnerCustomerID   string   `json:"owner_customer_id,omitempty" doc:"Whose it is, if it is consigned." example:"cus_1234"`

	TripSettings *TripSettings `json:"trip_settings,omitempty" doc:"How its trips are found; what is left out is as the account says."`

	DailyRate           *Money   `json:"daily_rate,omitempty"`
	MinRentalDays       int      `json:"min_rental_days,omitempty" minimum:"0" maximum:"3650"`
	MaxRentalDays       int      `json:"max_rental_days,omitempty" minimum:"0" maximum:"3650"`
	IncludedMilesPerDay *int     `json:"included_miles_per_day,omitempty" minimum:"0" doc:"Unlimited if absent."`
	ExtraMileFee        *Money   `json:"extra_mile_fee,omitempty"`
	InstantBook         bool     `json:"instant_book,omitempty"`
	LeadTimeMinHours    int      `json:"lead_time_min_hours,omitempty" minimum:"0" maximum:"8760"`
	BufferBeforeMinutes int      `json:"buffer_before_minutes,omitempty" minimum:"0" maximum:"43200"`
	BufferAfterMinutes  int      `json:"buffer_after_minutes,omitempty" minimum:"0" maximum:"43200"`
	Channels            []string `json:"channels,omitempty" maxItems:"20" nullable:"false" example:"[\"direct\",\"turo\"]"`

	Ownership            string `json:"ownership,omitempty" enum:"owned,leased,financed,consigned,customer"`
	OwnerShareBP         *int64 `json:"owner_share_bp,omitempty" minimum:"0" maximum:"10000" doc:"What the owner gets, in basis points: 7000 is 70 %."`
	AcquiredOn           string `json:"acquired_on,omitempty" format:"date"`
	AcquisitionCost      *Money `json:"acquisition_cost,omitempty"`
	AcquisitionMileageMi *int   `json:"acquisition_mileage_mi,omitempty" minimum:"0" maximum:"3000000"`
	InServiceOn          string `json:"in_service_on,omitempty" format:"date" doc:"From this day on it is in the fleet: it can be rented, and reports count its time. Reports take acquired_on unless given, or else the day on which its record was made; so of a consigned vehicle say since when you have it."`
	OutOfServiceOn       string `json:"out_of_service_on,omitempty" format:"date"`
	DisposalOn           string `json:"disposal_on,omitempty" format:"date" doc:"The day on which it was sold or scrapped. From its beginning on the vehicle is not in the fleet: what costs by schedule ends, what is left of its loan is paid back, and it is taken out of service."`
	DisposalPrice        *Money `json:"disposal_price,omitempty"`
	ResidualValue        *Money `json:"residual_value,omitempty"`
	UsefulLifeMonths     int    `json:"useful_life_months,omitempty" minimum:"0" maximum:"1200"`
	ExpectedLifeMi       *int   `json:"expected_life_mi,omitempty" minimum:"0"`
	DepreciationMethod   string `json:"depreciation_method,omitempty" enum:"straight_line,declining,units_of_production,market_value,none"`

	Financing             *Financing `json:"financing,omitempty"`
	Insurance             *Insurance `json:"insurance,omitempty"`
	RegistrationExpiresOn string     `json:"registration_expires_on,omitempty" format:"date"`
	InspectionExpiresOn   string     `json:"inspection_expires_on,omitempty" format:"date"`
	WarrantyEndsOn        string     `json:"warranty_ends_on,omitempty" format:"date"`
	WarrantyEndsMi        *int       `json:"warranty_ends_mi,omitempty" minimum:"0"`

	ExternalRefs []ExternalRef     `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`
	Metadata     map[string]string `json:"metadata,omitempty" maxProperties:"50" doc:"Yours to use; at most 50 members."`
	CustomFields map[string]any    `json:"custom_fields,omitempty" maxProperties:"50" doc:"Yours to use: texts, numbers up to 9007199254740991, lists and objects, at most 100 deep."`
}

// Financing is how a vehicle is paid for.
type Financing struct {
	Lender         string `json:"lender,omitempty" maxLength:"100"`
	Principal      *Money `json:"principal,omitempty"`
	MonthlyPayment *Money `json:"monthly_payment,omitempty"`
	APR            *int64 `json:"apr_bp,omitempty" minimum:"0" maximum:"100000" doc:"Interest a year, in basis points: 650 is 6.5 %."`
	FirstPaymentOn string `json:"first_payment_on,omitempty" format:"date"`
	TermMonths     int    `json:"term_months,omitempty" minimum:"0" maximum:"600"`
}

// Insurance is how a vehicle is insured.
type Insurance struct {
	Provider     string `json:"provider,omitempty" maxLength:"100"`
	PolicyNumber string `json:"policy_number,omitempty" maxLength:"100"`
	Premium      *Money `json:"premium,omitempty"`
	Period       string `json:"period,omitempty" enum:"month,quarter,half_year,year"`
	StartsOn     string `json:"from,omitempty" format:"date"`
	EndsOn       string `json:"until,omitempty" format:"date"`
}

// Vehicle is a vehicle as it is stored: what callers write, and what only actions change.
type Vehicle struct {
	VehicleFields
	Status       string  `json:"status"`
	StatusReason string  `json:"status_reason,omitempty"`
	StatusSince  Instant `json:"status_since"`
	// the booking, block or work order that put it there; empty if a person did
	StatusCause string  `json:"status_cause,omitempty"`
	StatusUntil Instant `json:"status_until,omitzero"` // when the state ends by itself, if it does

	// what ended until then has brought it to its current location; rentals and transfers that end later move it
	LocatedAt Instant `json:"located_at,omitzero"`

	FuelRead    *LevelReading `json:"fuel_read,omitempty"`    // the newest that somebody told; trackers tell besides
	BatteryRead *LevelReading `json:"battery_read,omitempty"` // of the traction battery
}

// Place is the location where the vehicle is, its home unless somebody said; empty if nobody knows.
func (v *Vehicle) Place() string { return cmp.Or(v.CurrentLocationID, v.HomeLocationID) }

// Left notes that something that ends at an instant leaves the vehicle at a location, unless something later is known.
// Empty for wherever it is.
func (v *Vehicle) Left(location string, until Instant) {
	if location != "" && v.LocatedAt.Before(until.Time) {
		v.CurrentLocationID, v.LocatedAt = location, until
	}
}

// LevelReading is how full a tank or a traction battery was when somebody looked.
type LevelReading struct {
	Pct      float64 `json:"pct"`
	At       Instant `json:"at"`
	Source   string  `json:"source" enum:"pickup,return,manual"` // manual for an inspection
	SourceID string  `json:"source_id"`                          // the booking or inspection that tells it
}

// The states of a vehicle. A reservation in the future is not a state.
const (
	VehicleAvailable    = "available"
	VehicleRented       = "rented"
	VehicleTurnaround   = "turnaround"
	VehicleMaintenance  = "maintenance"
	VehicleOutOfService = "out_of_service"
	VehicleInactive     = "inactive"
	VehicleRetired      = "retired"
)

// Vehicles describes the kind. A VIN, a plate with its region, and an external reference are unique in an account.
var Vehicles = Kind[Vehicle]{Name: "vehicle", Prefix: fleet.VehiclePrefix, Claims: vehicleClaims}

func vehicleClaims(v *Vehicle) []Claim {
	var claims []Claim
	if vin := plain(v.VIN); vin != "" {
		claims = append(claims, Claim{Field: "vehicle.vin", Value: vin, Says: "/vin"})
	}
	if plate := plain(v.LicensePlate); plate != "" {
		claims = append(claims,
			Claim{Field: "vehicle.plate", Value: plain(v.PlateRegion) + "/" + plate, Says: "/license_plate"})
	}
	return append(claims, refClaims("vehicle", v.ExternalRefs)...)
}
