package record

import (
	"time"

	"github.com/motorpool/fleet"
)

// BookingFields are what callers write of a booking.
type BookingFields struct {
	CustomerID            string        `json:"customer_id,omitempty" doc:"Who rents. A hold may be made without; it cannot be confirmed without." example:"cus_1234"`
	Drivers               []Driver      `json:"drivers,omitempty" maxItems:"10" nullable:"false" doc:"Who drives. The customer, unless somebody is named."`
	Channel               string        `json:"channel,omitempty" enum:"direct,phone,website,turo,getaround,ota,partner,api" doc:"Where it came from; direct unless given."`
	ExternalReservationID string        `json:"external_reservation_id,omitempty" maxLength:"200" doc:"Its name at the channel; unique within the account and channel."`
	SourceCampaign        string        `json:"source_campaign,omitempty" maxLength:"200"`
	VehicleClassID        string        `json:"vehicle_class_id,omitempty" doc:"What was rented; that of the vehicle unless given." example:"vcl_1234"`
	VehicleID             string        `json:"vehicle_id,omitempty" doc:"Null until a vehicle is assigned." example:"veh_1234"`
	PickupAt              Instant       `json:"pickup_at" doc:"As planned."`
	ReturnAt              Instant       `json:"return_at" doc:"As planned."`
	PickupLocationID      string        `json:"pickup_location_id,omitempty" example:"loc_1234"`
	ReturnLocationID      string        `json:"return_location_id,omitempty" doc:"Where it was picked up, unless given. Another one makes it a one-way rental, with a fee (one_way_fees)."`
	Elsewhere             bool          `json:"elsewhere,omitempty" doc:"The vehicle may be one that will be at another location at pickup_at, because somebody brings it. Without it such a vehicle is a 409 (conflict) with the code elsewhere in errors, and a class counts only what will be at pickup_location_id."`
	DeliveryAddress       string        `json:"delivery_address,omitempty" maxLength:"500"`
	RatePlanID            string        `json:"rate_plan_id,omitempty" doc:"The one that the channel, class and date lead to, unless given."`
	Extras                []BookedExtra `json:"extras,omitempty" maxItems:"50" nullable:"false"`
	ProtectionPlan        string        `json:"protection_plan,omitempty" maxLength:"100" doc:"The code of an extra of kind protection."`
	PromoCode             string        `json:"promo_code,omitempty" maxLength:"50"`
	ExpectedMi            *int          `json:"expected_mi,omitempty" minimum:"0" maximum:"1000000" doc:"For the price of miles beyond those included."`
	Backdated             bool          `json:"backdated,omitempty" doc:"The rental is written down afterwards. A pickup_at more than an hour ago is refused without it, but in a file that is imported, where it is so unless the row says false; and nothing is charged by itself for what lay in the past: no fee if it is cancelled, and such a booking never becomes a no-show unless somebody says so. If return_at has passed by as well when the pickup is noted, the vehicle is held until return_at only, and its present state is neither asked nor changed. False again when pickup_at is moved to a time to come."`

	ExternalRefs []ExternalRef     `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`
	Metadata     map[string]string `json:"metadata,omitempty" maxProperties:"50"`
	CustomFields map[string]any    `json:"custom_fields,omitempty" maxProperties:"50"`
	Notes        string            `json:"notes,omitempty" maxLength:"5000" doc:"For the staff."`
}

// Driver is somebody who drives.
type Driver struct {
	CustomerID string `json:"customer_id" doc:"Drivers are customers, with a licence." example:"cus_1234"`
	Role       string `json:"role,omitempty" enum:"primary,additional"`
}

// BookedExtra is an extra of the rate plan, so many of it.
type BookedExtra struct {
	Code     string `json:"code" minLength:"1" maxLength:"50" example:"child_seat"`
	Quantity int    `json:"quantity,omitempty" minimum:"1" maximum:"100" doc:"1 unless given."`
}

// Booking is a booking as it is stored: what callers write, and what only actions change.
type Booking struct {
	BookingFields
	Numbered
	Status        string  `json:"status"`
	StatusSince   Instant `json:"status_since"`
	HoldExpiresAt Instant `json:"hold_expires_at"` // of a pending one
	// of the pickup location, the vehicle or the account: local days are its
	Timezone string `json:"timezone"`
	// it overlaps others: it was imported, or what an overdue rental or maintenance runs into
	Conflict bool `json:"conflict"`

	// BlockedFrom and BlockedUntil are the period for which it holds its vehicle, with buffers.
	BlockedFrom  Instant       `json:"blocked_from"`
	BlockedUntil Instant       `json:"blocked_until"`
	VehicleSwaps []VehicleSwap `json:"vehicle_history,omitempty"`
	// AgreedReturnID is where it was to be returned, of one that was returned elsewhere: "" if nothing was agreed. Nil
	// for all others.
	AgreedReturnID *string `json:"agreed_return_location_id,omitempty"`
	ElsewhereFee   *Money  `json:"elsewhere_fee,omitempty"` // what the two locations cost then; nil for nothing
	UpgradedFrom   string  `json:"upgrade_from_class_id,omitempty"`

	ActualPickupAt  Instant  `json:"actual_pickup_at"`
	ActualReturnAt  Instant  `json:"actual_return_at"`
	PickupMileageMi *int     `json:"pickup_mileage_mi"`
	PickupMeterMi   *float64 `json:"pickup_meter_mi,omitempty"` // what the vehicle's meter had before, if that is more
	ReturnMileageMi *int     `json:"return_mileage_mi"`
	PickupFuelPct   *float64 `json:"pickup_fuel_pct"`
	ReturnFuelPct   *float64 `json:"return_fuel_pct"`
	PickupBattery   *int     `json:"pickup_battery_level"`
	ReturnBattery   *int     `json:"return_battery_level"`
	// the pickup is as an import said, and may be corrected by the next
	ImportedPickup bool `json:"imported_pickup,omitempty"`
	ImportedReturn bool `json:"imported_return,omitempty"`

	Currency     string        `json:"currency"`
	RateSnapshot *RateSnapshot `json:"rate_snapshot"` // the frozen price: rates, and how every line came to be
	BilledDays   int           `json:"billed_days"`
	Charges      []Charge      `json:"charges,omitempty"` // posted lines; never edited, only reversed
	Deposit      Deposit       `json:"deposit"`
	Inspections  []Inspection  `json:"inspections,omitempty"`
	Damages      []Damage      `json:"damages,omitempty"`

	// Listed are those on the do-not-rent list whom a customer or driver of it is, or may be, as somebody has looked last.
	Listed []ListedMatch `json:"do_not_rent_matches,omitempty"`

	ConfirmedAt      Instant       `json:"confirmed_at"`
	LicenceCheckedAt Instant       `json:"licence_checked_at"`
	Cancellation     *Cancellation `json:"cancellation"`
	OverdueNotedAt   Instant       `json:"overdue_noted_at"` // when its event was told
	DuplicateOf      string        `json:"duplicate_of,omitempty"`
	QuoteID          string        `json:"quote_id,omitempty"` // whose price was agreed
	// what was owed when it was handed over: the books date it by then
	PickupCharges []string     `json:"pickup_charge_ids,omitempty"`
	ReturnCharges []string     `json:"return_charge_ids,omitempty"` // what the return added: reopening takes it back
	Corrections   []Correction `json:"corrections,omitempty"`
}

// The states of a booking. Those of HoldingStates hold the vehicle.
const (
	BookingPending   = "pending"
	BookingConfirmed = "confirmed"
	BookingActive    = "active"
	BookingCompleted = "completed"
	BookingCancelled = "cancelled"
	BookingNoShow    = "no_show"
	BookingExpired   = "expired"
)

// Holding says whether a booking in its state holds its vehicle. A completed one held it until BlockedUntil.
func (b *Booking) Holding() bool {
	return b.Status == BookingPending || b.Status == BookingConfirmed || b.Status == BookingActive ||
		b.Status == BookingCompleted
}

// Bygone says whether a rental was over, as it was planned, when somebody wrote down that it had begun: it has its
// vehicle for that time alone, wherever the vehicle is by now, until its return is written down as well. That its
// return is noted as overdue is said of what is out after all.
func (b *Booking) Bygone() bool {
	return b.Status == BookingActive && b.Backdated && b.ReturnAt.Before(b.StatusSince.Time)
}

// ListedMatch is somebody on the do-not-rent list whom a customer or driver of a booking is, or may be.
type ListedMatch struct {
	CustomerID string   `json:"customer_id" doc:"Who rents or drives." example:"cus_1234"`
	ListedID   string   `json:"listed_customer_id" doc:"Who is on the list, or blocked: the same customer, or a record of somebody with the same marks." example:"cus_5678"`
	Check      string   `json:"do_not_rent_check" enum:"do_not_rent,unsure" doc:"do_not_rent: it is the same person, as far as the licence, email and phone tell. unsure: it may be."`
	Reasons    []string `json:"reasons" nullable:"false" doc:"What the two have in common: customer (it is the very record), licence, email, phone, name_and_date_of_birth, name. More may be added."`
}

// What a look at the do-not-rent list says.
const (
	ListClear     = "clear"
	ListUnsure    = "unsure"
	ListDoNotRent = "do_not_rent"
)

// SameCustomer is the reason of a match that is the very record.
const SameCustomer = "customer"

// ListCheck is what the look at the do-not-rent list says of the whole booking.
func (b *Booking) ListCheck() string {
	check := ListClear
	for _, m := range b.Listed {
		if m.Check == ListDoNotRent {
			return ListDoNotRent
		}
		check = ListUnsure
	}
	return check
}

// VehicleSwap is a vehicle that the booking had before.
type VehicleSwap struct {
	VehicleID       string   `json:"vehicle_id"`
	From            Instant  `json:"from"` // when it was driven off; null if it never was
	Until           Instant  `json:"until"`
	Reason          string   `json:"reason,omitempty"`
	PickupMileageMi *int     `json:"pickup_mileage_mi,omitempty"`
	PickupMeterMi   *float64 `json:"pickup_meter_mi,omitempty"` // as Booking has it
	MileageMi       *int     `json:"mileage_mi,omitempty"`      // when it was given back

	PickupFuelPct *float64 `json:"pickup_fuel_pct,omitempty"`
	PickupBattery *int     `json:"pickup_battery_level,omitempty"`
	FuelPct       *float64 `json:"fuel_pct,omitempty"` // when it was given back, as that of the battery
	Battery       *int     `json:"battery_level,omitempty"`
}

// Correction is what was corrected at once of what was noted wrongly when vehicles of a booking changed hands.
type Correction struct {
	At      Instant     `json:"at"`
	Actor   string      `json:"actor" doc:"Who corrected it, as the timeline has it." example:"key_1234"`
	Reason  string      `json:"reason"`
	Changes []Corrected `json:"changes" nullable:"false"`
}

// Corrected is one thing that was noted wrongly, with what stood there before.
type Corrected struct {
	Handover  string `json:"handover" enum:"pickup,swap,return" doc:"At which it was noted."`
	VehicleID string `json:"vehicle_id" doc:"The vehicle that was handed over." example:"veh_1234"`
	What      string `json:"what" enum:"at,mileage_mi,fuel_pct,battery_level,inspection_id,return_location_id"`
	Was       any    `json:"was" doc:"What stood there; null for nothing."`
	Is        any    `json:"is"`
}

// Charge is one line of a bill. Amount is signed, and always Quantity times UnitPrice: discounts and reversals
// are negative. Tax lines are charges of type tax. A line of type platform_fee is what the channel keeps of the
// host's share: it is negative, and no part of what the customer owes; price.Totals leaves it out of the total
// and shows it apart.
type Charge struct {
	ID          string  `json:"id" example:"chg_1234"`
	Type        string  `json:"type" enum:"time,mileage,extra,protection,delivery,one_way,young_driver,additional_driver,cleaning,smoking,refuel,recharge,late_return,toll,fine,damage,impound,discount,promo,cancellation_fee,no_show_fee,platform_fee,tax,adjustment,expense"`
	Description string  `json:"description,omitempty" maxLength:"300"`
	Quantity    int64   `json:"quantity" doc:"Of units; 1 where there is nothing to count."`
	UnitPrice   Money   `json:"unit_price"`
	Amount      Money   `json:"amount"`
	Taxable     bool    `json:"taxable"`
	TaxRateBP   int64   `json:"tax_rate_bp,omitempty" doc:"Of a tax line: the rate in hundredths of a percent."`
	Source      string  `json:"source" enum:"auto,manual,import"`
	ReversalOf  string  `json:"reversal_of,omitempty" doc:"The charge that this one takes back."`
	TollID      string  `json:"toll_id,omitempty"`
	ExpenseID   string  `json:"expense_id,omitempty" doc:"The cost that is passed on." example:"exp_1234"`
	PostedAt    Instant `json:"posted_at"`
	At          Instant `json:"at,omitzero" doc:"When it came about, if that was said: it counts in the books then, and else when it was posted."`
	Explanation string  `json:"explanation,omitempty" doc:"How the amount came to be, in words."`
}

// Since is when a charge came about: as somebody said, else when it was posted.
func (c *Charge) Since() time.Time {
	if !c.At.IsZero() {
		return c.At.Time
	}
	return c.PostedAt.Time
}

// RateSnapshot is the price that was agreed: a frozen copy, which later changes of rates do not touch.
type RateSnapshot struct {
	RatePlanID   string  `json:"rate_plan_id"`
	RatePlanName string  `json:"rate_plan_name"`
	RateRevision uint64  `json:"rate_plan_revision"`
	QuotedAt     Instant `json:"quoted_at"`
	Currency     string  `json:"currency"`
	Timezone     string  `json:"timezone"`
	BilledDays   int     `json:"billed_days"`
	DayRounding  string  `json:"day_rounding"`

	Days          []DayPrice     `json:"days" nullable:"false" doc:"The price of each billed day, by local date."`
	IncludedMi    *int           `json:"included_mi" doc:"Null for unlimited."`
	ExtraMileFee  *Money         `json:"extra_mile_fee"`
	LateFeePerDay *Money         `json:"late_fee_per_day"`
	Cancellation  []CancelStep   `json:"cancellation_steps,omitempty"`
	NoShowFeeBP   int64          `json:"no_show_fee_bp"`
	Taxes         []TaxRate      `json:"taxes,omitempty"`
	Lines         []Charge       `json:"lines" nullable:"false"`
	Totals        Totals         `json:"totals"`
	DepositAmount Money          `json:"deposit_amount"`
	DepositMethod string         `json:"deposit_method"`
	Steps         []string       `json:"steps,omitempty" doc:"How the price was found, in order, in words."`
	Rate          *RatePlanTerms `json:"rate,omitempty" doc:"The terms it was worked out by; an extension goes by them too."`
	Basis         PriceBasis     `json:"basis"`
}

// DayPrice is what one billed day costs.
type DayPrice struct {
	Date   string `json:"date" format:"date"`
	Amount Money  `json:"amount"`
}

// Totals are the sums of charges. Subtotal is before discounts and taxes, Total is what is owed.
type Totals struct {
	Subtotal    Money `json:"subtotal"`
	Discounts   Money `json:"discounts_total" doc:"Negative or zero."`
	Fees        Money `json:"fees_total" doc:"Those of the subtotal that are not time, mileage, extras or protection."`
	Taxes       Money `json:"taxes_total"`
	Total       Money `json:"total" doc:"What the customer owes: subtotal, discounts and taxes."`
	PlatformFee Money `json:"platform_fee" doc:"What the channel keeps; positive, and no part of the total."`
	NetToHost   Money `json:"net_to_host" doc:"The total without taxes and platform fee."`
}

// Deposit is the security of a booking.
type Deposit struct {
	Method       string  `json:"method" enum:"hold,charge,none"`
	Amount       Money   `json:"amount"`
	Status       string  `json:"status" enum:"none,required,authorized,captured,released,applied,expired" doc:"applied: all that was captured pays what the customer owes. More may be added."`
	Captured     Money   `json:"captured" doc:"Of the amount what was taken from the customer."`
	Released     Money   `json:"released" doc:"What the customer has again: the authorization that was given up, or of what was captured the part that was given back."`
	Applied      Money   `json:"applied" doc:"Of what was captured the part that pays what the customer owes."`
	AuthorizedAt Instant `json:"authorized_at"`
	ExpiresAt    Instant `json:"expires_at"` // of the authorization
	ProviderRef  string  `json:"provider_ref,omitempty"`
	ChangedAt    Instant `json:"changed_at"`

	Moves []DepositMove `json:"moves,omitempty" nullable:"false" doc:"What was done with its money, in order. It counts in the books then; of what was done before this was kept nothing is said, and it counts when it was written down."`
}

// DepositMove is something that was done with the money of a deposit.
type DepositMove struct {
	Action string  `json:"action" enum:"capture,release,apply"`
	Amount Money   `json:"amount"`
	At     Instant `json:"at"`
}

// The states of a deposit. One whose money is given back, all or the rest of it, is released; one whose money is used
// up is applied.
const (
	DepositNone       = "none"
	DepositRequired   = "required"
	DepositAuthorized = "authorized"
	DepositCaptured   = "captured"
	DepositReleased   = "released"
	DepositApplied    = "applied"
	DepositExpired    = "expired"
)

// Inspection is a look at a vehicle at its handing over.
type Inspection struct {
	ID        string           `json:"id" example:"ins_1234"`
	Type      string           `json:"type" enum:"pickup,return,periodic,dvir"`
	Status    string           `json:"status" enum:"draft,submitted"`
	Items     []InspectionItem `json:"items,omitempty" maxItems:"200" nullable:"false"`
	MileageMi *int             `json:"mileage_mi,omitempty" minimum:"0"`
	FuelPct   *float64         `json:"fuel_pct,omitempty" minimum:"0" maximum:"100"`
	SignedBy  string           `json:"signed_by,omitempty" maxLength:"200"`
	Notes     string           `json:"notes,omitempty" maxLength:"2000"`
	At        Instant          `json:"at"`

	SupersededBy string `json:"superseded_by,omitempty" doc:"The inspection by which it was corrected." example:"ins_1235"`
}

// InspectionItem is one point of an inspection.
type InspectionItem struct {
	Point  string   `json:"point" minLength:"1" maxLength:"100" example:"front bumper"`
	Result string   `json:"result" enum:"pass,fail,na"`
	Note   string   `json:"note,omitempty" maxLength:"500"`
	Photos []string `json:"photos,omitempty" maxItems:"20" nullable:"false"`

	Severity string `json:"severity,omitempty" enum:"low,medium,high,safety_critical" doc:"How bad it is that it failed: of the issue that follows from an inspection outside a handover, medium unless given."`
}

// Damage is damage found.
type Damage struct {
	ID          string   `json:"id" example:"dmg_1234"`
	Description string   `json:"description" minLength:"1" maxLength:"1000"`
	Severity    string   `json:"severity" enum:"cosmetic,minor,major,unroadworthy"`
	Place       string   `json:"place,omitempty" maxLength:"100"`
	Photos      []string `json:"photos,omitempty" maxItems:"20" nullable:"false"`
	Estimate    *Money   `json:"estimate,omitempty"`
	Status      string   `json:"status" enum:"reported,assessed,charged,waived,repaired,closed"`
	ChargeID    string   `json:"charge_id,omitempty"`
	At          Instant  `json:"at"`
}

// Cancellation says how a booking came to nothing.
type Cancellation struct {
	At         Instant `json:"cancelled_at"`
	By         string  `json:"cancelled_by" enum:"customer,host,operator,system"`
	ReasonCode string  `json:"reason_code,omitempty" maxLength:"50"`
	Note       string  `json:"note,omitempty" maxLength:"1000"`
	Fee        *Money  `json:"fee" doc:"What it costs; null where no policy holds."`
}

// Bookings describes the kind. The name that a channel has for a booking is unique within account and channel.
var Bookings = Kind[Booking]{Name: "booking", Prefix: fleet.BookingPrefix, Letter: "B",
	Claims: func(b *Booking) []Claim {
		var claims []Claim
		if b.ExternalReservationID != "" {
			claims = append(claims, Claim{Field: "booking.external_reservation",
				Value: b.Channel + "\x1f" + b.ExternalReservationID, Says: "/external_reservation_id"})
		}
		return append(claims, refClaims("booking", b.ExternalRefs)...)
	}}
