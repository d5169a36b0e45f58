package record

// PriceBasis is what a price is worked out for, besides terms and taxes. It is frozen with the price, so that an
// extension is priced as the rental was.
type PriceBasis struct {
	PickupAt           Instant       `json:"pickup_at"`
	AgreedPickupAt     Instant       `json:"agreed_pickup_at,omitzero" doc:"The pickup that was agreed, of a rental that was picked up before it and costs more days for that; by it discounts for booking early go."`
	EarlyDays          int           `json:"early_days,omitempty" doc:"How many days such a pickup added to a price that was kept when the booking was moved."`
	ReturnAt           Instant       `json:"return_at"`
	BookedAt           Instant       `json:"booked_at" doc:"By it discounts for booking early and promotions go."`
	Channel            string        `json:"channel,omitempty"`
	Extras             []BookedExtra `json:"extras,omitempty" nullable:"false"`
	ProtectionPlan     string        `json:"protection_plan,omitempty"`
	PromoCode          string        `json:"promo_code,omitempty"`
	AdditionalDrivers  int           `json:"additional_drivers,omitempty"`
	YoungDriver        bool          `json:"young_driver,omitempty" doc:"Whether a driver is younger than the rate plan's young_driver_age at pickup."`
	ExpectedMi         *int          `json:"expected_mi,omitempty"`
	CustomerDiscountBP int64         `json:"customer_discount_bp,omitempty"`

	// What vehicle or class have instead of the terms.
	DailyRate           *Money `json:"daily_rate,omitempty" doc:"Of the vehicle or its class: all that the terms say of time is in proportion to it."`
	DailyRateOf         string `json:"daily_rate_of,omitempty" doc:"vehicle or vehicle class."`
	IncludedMilesPerDay *int   `json:"included_miles_per_day,omitempty"`
	ExtraMileFee        *Money `json:"extra_mile_fee,omitempty"`
	DepositAmount       *Money `json:"deposit_amount,omitempty"`

	OneWayFee   *Money `json:"one_way_fee,omitempty" doc:"If the location of return is another than that of pickup: of the rate plan, the account or the location of return."`
	DeliveryFee *Money `json:"delivery_fee,omitempty" doc:"Of the location of pickup, if there is a delivery address."`
}
