package record

import "github.com/motorpool/fleet"

// Account is a tenant. Its id is its account.
type Account struct {
	Name          string            `json:"name" minLength:"1" maxLength:"100"`
	Timezone      string            `json:"timezone,omitempty" doc:"IANA time zone." example:"America/Chicago"`
	Currency      string            `json:"currency,omitempty" pattern:"^[A-Z]{3}$" example:"USD"`
	Country       string            `json:"country,omitempty" pattern:"^[A-Z]{2}$" doc:"ISO 3166-1 alpha-2. Telephone numbers without a country code are of it; US unless given, if the currency is USD." example:"US"`
	RetentionDays uint32            `json:"retention_days,omitempty" maximum:"36500" doc:"For how many days what vehicles report is kept, by its own time; 30 at least, or 0 for ever. Older fixes are refused, and what is older is deleted for good once a day: PATCH /v1/account says what."`
	TripSettings  *TripSettings     `json:"trip_settings,omitempty" doc:"How trips are found, unless a vehicle says otherwise."`
	OnlineWithin  int               `json:"online_within_s,omitempty" minimum:"60" maximum:"604800" doc:"For how many seconds a device may be silent and still be online, unless it says otherwise itself; three times the interval in which it has reported lately unless given, at least 5 minutes and at most 26 hours." example:"3600"`
	DrivingRules  *DrivingRules     `json:"driving_rules,omitempty" doc:"What the hours of drivers are held against; nothing unless given."`
	BooksClosed   string            `json:"books_closed_through,omitempty" format:"date" doc:"The last day of the books that nothing is posted on any more; POST /v1/ledger/close and /v1/ledger/reopen change it."`
	ExternalRefs  []ExternalRef     `json:"external_refs,omitempty" nullable:"false"`
	Metadata      map[string]string `json:"metadata,omitempty"`
	Bookings      *BookingSettings  `json:"booking_settings,omitempty" doc:"How bookings are handled."`

	Papers      *PaperSettings `json:"papers,omitempty" doc:"What is printed on invoices, statements and agreements, and how they are numbered."`
	EnergyCosts *EnergyCosts   `json:"energy_costs,omitempty" doc:"What fuel and electricity cost the account. Reports say by them what idling burnt, and what rentals left missing."`

	RateLimit *int `json:"rate_limit,omitempty" minimum:"0" maximum:"1000000000" doc:"How many reads, and as many requests of trackers, each credential of the account may make in a minute, with a fifth as many writes; 0 is no limit, and unless given that of the server holds. Whoever runs the server sets it."`

	LedgerChart map[string]LedgerLabel `json:"ledger_chart,omitempty" doc:"The numbers and names of accounts of the ledger that are not the usual ones; PATCH /v1/ledger/chart changes them."`
}

// EnergyCosts are what an account pays for what vehicles run on; nil for what nobody said.
type EnergyCosts struct {
	Gallon       *Money `json:"gallon,omitempty" doc:"For a US gallon of fuel."`
	KilowattHour *Money `json:"kwh,omitempty" doc:"For a kilowatt-hour of electricity."`
}

// LedgerLabel is how an account calls an account of its ledger; what is empty is as usual.
type LedgerLabel struct {
	Number string `json:"number,omitempty"`
	Name   string `json:"name,omitempty"`
}

// BookingSettings are how an account handles its bookings.
type BookingSettings struct {
	HoldMinutes int    `json:"hold_minutes,omitempty" minimum:"1" maximum:"43200" doc:"How long a pending booking holds its vehicle; 30 unless given."`
	QuoteDays   int    `json:"quote_days,omitempty" minimum:"1" maximum:"365" doc:"For how many days a quote may be accepted; 7 unless given."`
	DepositDue  string `json:"deposit_due,omitempty" enum:"never,confirm,pickup" doc:"Before what a deposit must be authorized; never unless given: then nothing waits for it."`
	DoNotRent   string `json:"do_not_rent,omitempty" enum:"warn,block,block_unsure" doc:"What comes of a booking that is made, changed, confirmed, extended or picked up for somebody on the do-not-rent list. block, unless given: it is refused for who is on it, or has the licence, email or phone of somebody on it; who only may be that person is a warning. block_unsure refuses those too. warn refuses none."`

	OneWayFees []OneWayFee `json:"one_way_fees,omitempty" maxItems:"200" nullable:"false" doc:"What a return at another location than that of pickup costs, where the rate plan has no fee for it; the first that fits holds."`
}

// What comes of a booking for somebody who is, or may be, on the do-not-rent list.
const (
	DoNotRentWarn        = "warn"
	DoNotRentBlock       = "block"
	DoNotRentBlockUnsure = "block_unsure"
)

// Accounts describes the kind; a name is unique.
var Accounts = Kind[Account]{
	Name: "account", Prefix: fleet.AccountPrefix,
	Claims: func(a *Account) []Claim {
		return []Claim{{Field: "account.name", Value: a.Name, Global: true, Says: "/name"}}
	},
}
