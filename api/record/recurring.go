package record

import "github.com/motorpool/fleet"

// RecurringCostFields are what callers write of a cost that comes again. Each of its periods makes an expense.
type RecurringCostFields struct {
	VehicleID     string `json:"vehicle_id,omitempty" doc:"What it is for; neither this nor location_id if it is for the business as a whole." example:"veh_1234"`
	LocationID    string `json:"location_id,omitempty" example:"loc_1234"`
	Category      string `json:"category" enum:"fuel,charging,maintenance,repair,tires,cleaning,insurance,registration,tax,parking,loan_interest,lease,platform_fee,toll,fine,telematics,marketing,salary,other,payment_fee"`
	Vendor        string `json:"vendor,omitempty" maxLength:"200"`
	Description   string `json:"description,omitempty" maxLength:"1000"`
	Amount        Money  `json:"amount" doc:"Of each period, with tax. A period that until cuts short costs its share by days; of one that the disposal of the vehicle cuts short the rest is refunded on that day."`
	Every         string `json:"every" enum:"month,quarter,half_year,year" doc:"How long a period is. It is incurred on the first day, and its cost is spread over all of them."`
	From          string `json:"from" format:"date" doc:"The first day of the first period."`
	Until         string `json:"until,omitempty" format:"date" doc:"The last day; it goes on unless given."`
	PaymentMethod string `json:"payment_method,omitempty" maxLength:"50"`
	Unpaid        bool   `json:"unpaid,omitempty" doc:"Its expenses are bills that somebody pays later; else they are paid on the day on which they are incurred."`

	ExternalRefs []ExternalRef     `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`
	Metadata     map[string]string `json:"metadata,omitempty" maxProperties:"50"`
}

// RecurringCost is a recurring cost as it is stored.
type RecurringCost struct{ RecurringCostFields }

// RecurringCosts describes the kind.
var RecurringCosts = Kind[RecurringCost]{Name: "recurring_cost", Prefix: fleet.RecurringCostPrefix,
	Claims: func(r *RecurringCost) []Claim { return refClaims("recurring_cost", r.ExternalRefs) }}

// Scheduled says by what schedule an expense was made.
type Scheduled struct {
	By     string `json:"by"`     // the id of the vehicle, of the recurring cost, or of the owner who has a share
	What   string `json:"what"`   // of the vehicle's schedules
	Number int    `json:"number"` // of the period
	// voided because the schedule does not ask for it any more, and not because somebody said so
	Withdrawn bool `json:"withdrawn,omitempty"`
}

// Refunded is what comes back of an expense because what it was paid for ended before its service period was over.
type Refunded struct {
	On     string `json:"on" format:"date" doc:"The first day that is not paid for any more; the money comes back on it, or when the bill is paid if that is later. Of a bill that is unpaid that much less is owed."`
	Amount Money  `json:"amount" doc:"The share of the days that were left, by largest remainder."`
}

// Sold is what leaves the books with a vehicle that is sold.
type Sold struct {
	Cost        Money `json:"cost"`        // what it was bought for
	Depreciated Money `json:"depreciated"` // what it has lost in value since
}

// OwnerDay is what the owner of a vehicle gets and bears of a day of the books, in minor units of the expense's
// currency. What is taken back of an earlier day is negative.
type OwnerDay struct {
	On       string `json:"on"`
	Share    int64  `json:"share,omitempty"`    // of what the vehicle brought
	Variable int64  `json:"variable,omitempty"` // costs that the owner bears
	Fixed    int64  `json:"fixed,omitempty"`
}
