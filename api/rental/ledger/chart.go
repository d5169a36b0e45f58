package ledger

import "slices"

// Account is an account of the books, by its code, which never changes. The set is closed.
type Account string

// The accounts that are no costs. Assets and costs are debits, liabilities and revenue credits.
const (
	Cash                    Account = "cash"
	Receivable              Account = "accounts_receivable"
	PlatformReceivable      Account = "platform_receivable" // what channels owe that collect for the fleet
	Unbilled                Account = "unbilled_receivable" // what is earned before it is billed
	InputTax                Account = "tax_receivable"      // what the authority gives back
	PrepaidExpenses         Account = "prepaid_expenses"    // what is paid and not used up yet
	FixedAsset              Account = "fixed_asset"
	AccumulatedDepreciation Account = "accumulated_depreciation"
	Payable                 Account = "accounts_payable" // what is used and not paid yet
	DepositsHeld            Account = "deposits_held"
	Prepayments             Account = "customer_prepayments" // what customers paid before they were billed
	DeferredRevenue         Account = "deferred_revenue"     // what is billed and not earned yet
	TaxPayable              Account = "tax_payable"
	LoansPayable            Account = "loans_payable"  // what lenders have paid for vehicles and get back
	OwnersPayable           Account = "owners_payable" // what owners of vehicles get of what these brought
	RevenueTime             Account = "revenue.time"
	RevenueMileage          Account = "revenue.mileage"
	RevenueExtras           Account = "revenue.extras"
	RevenueProtection       Account = "revenue.protection"
	RevenueFees             Account = "revenue.fees"
	RevenueDamage           Account = "revenue.damage"
	RevenueToll             Account = "revenue.toll_recharge"
	Discount                Account = "contra.discount"
	ContraRefund            Account = "contra.refund"    // adjustments in the customer's favour
	DisposalGain            Account = "gain_on_disposal" // what vehicles were sold for, less their book value; a credit
	FX                      Account = "fx"
	OwnersShare             Account = "cost.owner_share"
	BorneVariable           Account = "owner_borne.variable" // variable costs that owners bear; a credit
	BorneFixed              Account = "owner_borne.fixed"    // fixed costs that owners bear; a credit

	cost = "cost." // and the category of an expense
)

// The accounts of equity, which are credits. Nothing but entries by hand is posted on them; the profit since the first
// day of the books is on none: it is what stands on revenue and cost.
const (
	Equity           Account = "equity"            // what owners have put in, less what they have taken out
	RetainedEarnings Account = "retained_earnings" // what was earned before the books begin, and left in the business
	OpeningBalance   Account = "opening_balance"   // against which balances are opened in parts; nothing in the end
)

// The types of accounts. What lessens revenue is of its type.
const (
	Asset     = "asset"
	Liability = "liability"
	Revenue   = "revenue"
	Cost      = "cost"
)

// OwnersPart is the type of the accounts of equity: what is left for owners of assets less liabilities.
const OwnersPart = "equity"

// Line is an account of the chart of accounts, with the number and the name that it has until somebody gives it others.
type Line struct {
	Account Account
	Type    string
	Number  string
	Name    string
	Measure string // the column of vehicle_days that it is added to; "" of what is neither revenue nor cost
}

// Chart is the chart of accounts, by number.
var Chart = []Line{
	{Cash, Asset, "1000", "Cash and bank", ""},
	{Receivable, Asset, "1100", "Accounts receivable", ""},
	{PlatformReceivable, Asset, "1110", "Platform receivables", ""},
	{Unbilled, Asset, "1120", "Unbilled receivables", ""},
	{InputTax, Asset, "1300", "Input tax receivable", ""},
	{PrepaidExpenses, Asset, "1400", "Prepaid expenses", ""},
	{FixedAsset, Asset, "1500", "Vehicles", ""},
	{AccumulatedDepreciation, Asset, "1590", "Accumulated depreciation", ""},
	{Payable, Liability, "2000", "Accounts payable", ""},
	{DepositsHeld, Liability, "2100", "Customer deposits", ""},
	{Prepayments, Liability, "2200", "Customer prepayments", ""},
	{DeferredRevenue, Liability, "2300", "Deferred revenue", ""},
	{TaxPayable, Liability, "2400", "Taxes payable", ""},
	{LoansPayable, Liability, "2500", "Vehicle loans", ""},
	{OwnersPayable, Liability, "2600", "Owed to owners of vehicles", ""},
	{Equity, OwnersPart, "3000", "Owner's equity", ""},
	{RetainedEarnings, OwnersPart, "3100", "Retained earnings", ""},
	{OpeningBalance, OwnersPart, "3900", "Opening balances", ""},
	{RevenueTime, Revenue, "4000", "Rental", "revenue_time"},
	{RevenueMileage, Revenue, "4010", "Mileage", "revenue_mileage"},
	{RevenueExtras, Revenue, "4020", "Extras", "revenue_extras"},
	{RevenueProtection, Revenue, "4030", "Protection", "revenue_protection"},
	{RevenueFees, Revenue, "4100", "Fees", "revenue_fees"},
	{RevenueDamage, Revenue, "4200", "Damage charged", "revenue_damage"},
	{RevenueToll, Revenue, "4300", "Tolls and fines charged", "toll_recharge"},
	{Discount, Revenue, "4800", "Discounts", "discounts"},
	{ContraRefund, Revenue, "4900", "Refunds and allowances", "refunds"},
	{cost + "fuel", Cost, "5000", "Fuel", "cost_energy"},
	{cost + "charging", Cost, "5010", "Charging", "cost_energy"},
	{cost + "maintenance", Cost, "5100", "Maintenance", "cost_maintenance"},
	{cost + "repair", Cost, "5110", "Repairs", "cost_maintenance"},
	{cost + "tires", Cost, "5120", "Tires", "cost_maintenance"},
	{cost + "cleaning", Cost, "5130", "Cleaning", "cost_other_variable"},
	{cost + "insurance", Cost, "5200", "Insurance", "cost_insurance"},
	{cost + "registration", Cost, "5210", "Registration", "cost_other_fixed"},
	{cost + "tax", Cost, "5220", "Vehicle taxes", "cost_other_fixed"},
	{cost + "parking", Cost, "5230", "Parking", "cost_other_fixed"},
	{cost + "toll", Cost, "5240", "Tolls", "cost_other_variable"},
	{cost + "fine", Cost, "5250", "Fines", "cost_other_variable"},
	{cost + "telematics", Cost, "5260", "Telematics", "cost_other_fixed"},
	{cost + "lease", Cost, "5300", "Leases", "cost_finance"},
	{cost + "loan_interest", Cost, "5310", "Interest", "cost_finance"},
	{cost + "depreciation", Cost, "5400", "Depreciation", "cost_depreciation"},
	{DisposalGain, Cost, "5410", "Gains and losses on disposal", "cost_depreciation"},
	{cost + "platform_fee", Cost, "5500", "Platform fees", "platform_fees"},
	{cost + "payment_fee", Cost, "5510", "Payment fees", "cost_other_variable"},
	{OwnersShare, Cost, "5520", "Owners' shares", "cost_other_variable"},
	{BorneVariable, Cost, "5530", "Running costs borne by owners", "cost_other_variable"},
	{BorneFixed, Cost, "5540", "Fixed costs borne by owners", "cost_other_fixed"},
	{cost + "marketing", Cost, "5600", "Marketing", "cost_other_fixed"},
	{cost + "salary", Cost, "5700", "Salaries", "cost_other_fixed"},
	{cost + "bad_debt", Cost, "5800", "Bad debts", "cost_other_fixed"},
	{cost + "other", Cost, "5900", "Other costs", "cost_other_fixed"},
	{FX, Cost, "7000", "Exchange differences", "cost_other_fixed"},
}

// lines are those of Chart by their accounts.
var lines = func() map[Account]Line {
	all := make(map[Account]Line, len(Chart))
	for _, l := range Chart {
		all[l.Account] = l
	}
	return all
}()

// LineOf returns an account's line of the chart, and whether there is such an account.
func LineOf(a Account) (Line, bool) {
	l, ok := lines[a]
	return l, ok
}

// Type is the type of the account, "" if there is no such account.
func (a Account) Type() string { return lines[a].Type }

// noCost are the accounts of those categories of expenses that are no costs.
var noCost = map[string]Account{
	"sales_tax": TaxPayable, "vehicle_purchase": FixedAsset, "vehicle_sale": FixedAsset, "loan_principal": LoansPayable,
	OwnerPayout: OwnersPayable,
}

// OwnerPayout is the category of expenses that are paid to owners of vehicles, and no cost: that is their share.
// OwnerShare is the category of what the books owe them, which is worked out and nobody writes.
const (
	OwnerPayout = "owner_payout"
	OwnerShare  = "owner_share"
)

// Borne is the account on which a cost that an owner bears is taken off again, of what is variable or of what is fixed
// as the cost itself is; so contribution and profit of a vehicle are those of the fleet.
func Borne(of Account) Account {
	switch lines[of].Measure {
	case "cost_energy", "cost_maintenance", "cost_other_variable":
		return BorneVariable
	}
	return BorneFixed
}

// CostOf returns the account of a category of expenses.
func CostOf(category string) Account {
	if account, ok := noCost[category]; ok {
		return account
	}
	return Account(cost + category)
}

// Categories lists those of expenses.
var Categories = func() []string {
	var all []string
	for _, l := range Chart {
		if category := string(l.Account); len(category) > len(cost) && category[:len(cost)] == cost {
			all = append(all, category[len(cost):])
		}
	}
	for category := range noCost {
		all = append(all, category)
	}
	slices.Sort(all)
	return all
}()

// Earned lists the accounts of what was earned: of revenue, with discounts and refunds, without tolls that are passed
// on, which lessen costs.
func Earned() []string {
	var all []string
	for _, l := range Chart {
		if l.Type == Revenue && l.Account != RevenueToll {
			all = append(all, string(l.Account))
		}
	}
	return all
}

// Accounts lists every account.
func Accounts() []Account {
	all := make([]Account, len(Chart))
	for i, l := range Chart {
		all[i] = l.Account
	}
	return all
}
