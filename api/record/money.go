package record

import "github.com/motorpool/fleet"

// ExpenseFields are what callers write of an expense.
type ExpenseFields struct {
	VehicleID          string     `json:"vehicle_id,omitempty" example:"veh_1234"`
	BookingID          string     `json:"booking_id,omitempty" example:"bkg_1234"`
	Category           string     `json:"category" enum:"fuel,charging,maintenance,repair,tires,cleaning,insurance,registration,tax,parking,loan_interest,lease,depreciation,platform_fee,toll,fine,telematics,marketing,salary,other,payment_fee,bad_debt,sales_tax,vehicle_purchase,vehicle_sale,loan_principal,owner_share,owner_payout" doc:"sales_tax is what was paid over of the taxes that customers paid, vehicle_purchase what a vehicle was bought for, and loan_principal what was paid back of a loan: no costs. vehicle_sale follows from the disposal_on and disposal_price of a vehicle, and nobody writes it; nor owner_share, which is what the owner of a vehicle gets of a month. owner_payout is what was paid to an owner, and no cost besides. bad_debt is what a customer will never pay of a booking, which no money is moved for. tax is what is due for vehicles."`
	Vendor             string     `json:"vendor,omitempty" maxLength:"200"`
	Description        string     `json:"description,omitempty" maxLength:"1000"`
	Amount             Money      `json:"amount" doc:"With tax."`
	Tax                *Money     `json:"tax,omitempty" doc:"Of the amount."`
	TaxRecoverable     bool       `json:"tax_recoverable,omitempty" doc:"The tax is given back by the authority, and so no part of the cost."`
	IncurredOn         string     `json:"incurred_on" format:"date"`
	PaidOn             string     `json:"paid_on,omitempty" format:"date" doc:"The day on which the money moves; the day it was incurred unless given, or unless it is unpaid."`
	Unpaid             bool       `json:"unpaid,omitempty" doc:"It is a bill that nobody has paid yet: it stands among accounts payable until it is paid."`
	ServicePeriod      *DateRange `json:"service_period,omitempty" doc:"The days over which the cost is spread; the day it was incurred unless given."`
	PaymentMethod      string     `json:"payment_method,omitempty" maxLength:"50"`
	ReceiptDocumentID  string     `json:"receipt_document_id,omitempty"`
	Financed           *Money     `json:"financed,omitempty" doc:"Of a vehicle_purchase: what a loan has paid of the amount. It is owed to the lender until loan_principal pays it back."`
	OwnerCustomerID    string     `json:"owner_customer_id,omitempty" doc:"Of an owner_payout: to which owner of vehicles it was paid." example:"cus_1234"`
	BillableToCustomer bool       `json:"billable_to_customer,omitempty" doc:"When it is posted the booking is charged for it, once, and no more when it is voided."`

	ExternalRefs []ExternalRef     `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`
	Metadata     map[string]string `json:"metadata,omitempty" maxProperties:"50"`
	CustomFields map[string]any    `json:"custom_fields,omitempty" maxProperties:"50"`
}

// DateRange is a range of local days, both ends included.
type DateRange struct {
	From string `json:"from" format:"date"`
	To   string `json:"until" format:"date"`
}

// BookedFor is what money is for, as it was known when the money was noted: the dimensions under which it stands in the
// ledger. It is kept with the record, so that what the ledger ought to hold follows from the record alone.
type BookedFor struct {
	VehicleID  string `json:"vehicle_id,omitempty"`
	ClassID    string `json:"vehicle_class_id,omitempty"`
	CustomerID string `json:"customer_id,omitempty"`
	LocationID string `json:"location_id,omitempty"`
	Channel    string `json:"channel,omitempty"`
	Timezone   string `json:"timezone,omitempty"` // local days are its
	BilledOn   string `json:"billed_on,omitempty" format:"date" doc:"Of a payment: the local day from which on its booking is billed. What was paid before is a prepayment until then."`
}

// Expense is an expense as it is stored.
type Expense struct {
	ExpenseFields
	BookedFor BookedFor `json:"booked_for"`
	Status    string    `json:"status"`           // draft, posted, voided
	Billed    bool      `json:"billed,omitempty"` // the booking was charged for it
	// the schedule that made it; nil for what people wrote
	Scheduled *Scheduled `json:"scheduled,omitempty"`
	Sold      *Sold      `json:"sold,omitempty"`       // of a vehicle_sale
	OwnerDays []OwnerDay `json:"owner_days,omitempty"` // of an owner_share
	Refunded  *Refunded  `json:"refunded,omitempty"`
	// the owner's statement whose payout it is
	StatementID string `json:"owner_statement_id,omitempty"`
	// all statements that this payout counts; empty for payouts that an older version posted
	StatementIDs []string `json:"settles,omitempty"`

	PostedAt   Instant `json:"posted_at"`
	VoidedAt   Instant `json:"voided_at"`
	VoidReason string  `json:"void_reason,omitempty"`
}

// The states of an expense.
const (
	ExpenseDraft  = "draft"
	ExpensePosted = "posted"
	ExpenseVoided = "voided"
)

// Expenses describes the kind.
var Expenses = Kind[Expense]{Name: "expense", Prefix: fleet.ExpensePrefix, Claims: func(e *Expense) []Claim {
	return refClaims("expense", e.ExternalRefs)
}}

// TollFields are what callers write of a toll or a fine.
type TollFields struct {
	Kind       string   `json:"kind" enum:"toll,fine"`
	Plate      string   `json:"plate" minLength:"1" maxLength:"32" example:"ABC1234"`
	Region     string   `json:"region,omitempty" maxLength:"32" example:"TX"`
	OccurredAt Instant  `json:"occurred_at"`
	Place      string   `json:"location,omitempty" maxLength:"200"`
	Agency     string   `json:"agency,omitempty" maxLength:"200"`
	Reference  string   `json:"reference,omitempty" maxLength:"100" doc:"The agency's number; unique within agency and account."`
	Amount     Money    `json:"amount"`
	PaidOn     string   `json:"paid_on,omitempty" format:"date" doc:"The day on which the agency was paid; the day of occurred_at unless given."`
	AdminFee   *Money   `json:"admin_fee,omitempty" doc:"What is charged for the handling."`
	Evidence   []string `json:"evidence,omitempty" maxItems:"20" nullable:"false"`

	ExternalRefs []ExternalRef     `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`
	Metadata     map[string]string `json:"metadata,omitempty" maxProperties:"50"`
}

// Toll is a toll or a fine as it is stored.
type Toll struct {
	TollFields
	BookedFor BookedFor `json:"booked_for,omitzero"`
	Status    string    `json:"status"` // imported, matched, billed, paid, unmatched, disputed, waived
	VehicleID string    `json:"vehicle_id,omitempty"`
	BookingID string    `json:"booking_id,omitempty"`
	Unmatched string    `json:"unmatched_because,omitempty"` // in words
	ChargeID  string    `json:"charge_id,omitempty"`
	Reason    string    `json:"reason,omitempty"` // of the dispute or waiver
}

// Tolls describes the kind.
var Tolls = Kind[Toll]{Name: "toll", Prefix: fleet.TollPrefix, Claims: func(t *Toll) []Claim {
	claims := refClaims("toll", t.ExternalRefs)
	if t.Reference != "" {
		claims = append(claims, Claim{Field: "toll.reference", Value: t.Agency + "\x1f" + t.Reference, Says: "/reference"})
	}
	return claims
}}

// PaymentFields are what callers write of a payment.
type PaymentFields struct {
	BookingID   string  `json:"booking_id,omitempty" example:"bkg_1234"`
	CustomerID  string  `json:"customer_id,omitempty" doc:"That of the booking unless given." example:"cus_1234"`
	Direction   string  `json:"direction,omitempty" enum:"in,out" doc:"in unless given."`
	Method      string  `json:"method" enum:"card,cash,bank_transfer,check,wallet,platform,other"`
	Provider    string  `json:"provider,omitempty" maxLength:"50"`
	ProviderRef string  `json:"provider_ref,omitempty" maxLength:"200" doc:"The provider's name for it; unique within provider and account."`
	Amount      Money   `json:"amount"`
	Fee         *Money  `json:"fee,omitempty" doc:"What the provider keeps of it."`
	ReceivedAt  Instant `json:"received_at,omitzero" doc:"Now unless given."`
	Pending     bool    `json:"pending,omitempty" doc:"It has not arrived yet."`

	PaymentNotes
}

// PaymentNotes are what may be changed of a payment by hand.
type PaymentNotes struct {
	ExternalRefs []ExternalRef     `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`
	Metadata     map[string]string `json:"metadata,omitempty" maxProperties:"50"`
}

// Payment is a payment as it is stored.
type Payment struct {
	PaymentFields
	Numbered
	BookedFor  BookedFor `json:"booked_for"`
	Status     string    `json:"status"` // pending, succeeded, failed, refunded, partially_refunded
	Refunds    []Refund  `json:"refunds,omitempty"`
	FailReason string    `json:"fail_reason,omitempty"`
	// one for each time that it took money out again, as "bkg_12/3": of what, and the how manieth
	Turns   []string `json:"turns,omitempty"`
	Confirm []string `json:"-"` // of the request that makes it
}

// The states of a payment.
const (
	PaymentPending           = "pending"
	PaymentSucceeded         = "succeeded"
	PaymentFailed            = "failed"
	PaymentRefunded          = "refunded"
	PaymentPartiallyRefunded = "partially_refunded"
)

// Refunded is the sum of what was given back.
func (p *Payment) Refunded() int64 {
	var sum int64
	for _, r := range p.Refunds {
		sum += r.Amount.Amount
	}
	return sum
}

// Refund is money given back.
type Refund struct {
	ID          string  `json:"id" example:"rfd_1234"`
	Amount      Money   `json:"amount"`
	At          Instant `json:"at"`
	Reason      string  `json:"reason,omitempty"`
	ProviderRef string  `json:"provider_ref,omitempty"`
}

// Payments describes the kind.
var Payments = Kind[Payment]{Name: "payment", Prefix: fleet.PaymentPrefix, Letter: "P",
	Claims: func(p *Payment) []Claim {
		claims := refClaims("payment", p.ExternalRefs)
		if p.ProviderRef != "" {
			claims = append(claims,
				Claim{Field: "payment.provider_ref", Value: p.Provider + "\x1f" + p.ProviderRef, Says: "/provider_ref"})
		}
		for _, turn := range p.Turns {
			claims = append(claims, Claim{Field: "payment.turn", Value: turn, Says: "/turns"})
		}
		return claims
	}}
