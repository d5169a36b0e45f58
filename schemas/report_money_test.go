package schemas_test

import (
	"slices"
	"testing"
)

// A car was sold for 400.00 more than its book value: a gain, which lessens what it lost in value, however one asks.
func TestAGainOnDisposalIsAlikeByVehicleAndByChannel(t *testing.T) {
	db := openReports(t)
	has(t, db, 1)
	put(t, db, `INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency, kind, vehicle) VALUES
		(7, '2026-03-05', 'gain_on_disposal', 1, 1, 1, -40000, 'USD', 'expense', 1), (7, '2026-03-05', 'fixed_asset', 1, 2, 2, 40000, 'USD', 'expense', 1),
		(7, '2026-03-01', 'cost.depreciation', 2, 1, 3, 9000, 'USD', 'expense', 1)`,
		`INSERT INTO vehicle_days (account, local_date, vehicle, currency, computed_at, cost_depreciation) VALUES
		(7, '2026-03-01', 1, 'USD', '2026-03-09 00:00:00', 9000), (7, '2026-03-05', 1, 'USD', '2026-03-09 00:00:00', -40000)`)
	chart := []string{"accounts", `['cash','fixed_asset','cost.depreciation','gain_on_disposal']`,
		"measures", `['','','cost_depreciation','cost_depreciation']`}
	ask := func(group string, more ...string) map[string]figures {
		return ask(t, db, "profitability", group, slices.Concat(chart, []string{"by", group, "to", "2026-03-30"}, more)...)
	}
	want(t, ask("vehicle"), "1", "depreciation -31000, net_profit 31000")
	want(t, ask("channel"), "", "depreciation -31000, net_profit 31000")
	want(t, ask("total", "channels", "['']"), "", "depreciation -31000, net_profit 31000")
}

// In March a customer paid 100.00 and left a deposit of 300.00, of which 80.00 were kept and 220.00 given back; a
// repair cost 30.00. A van was bought for 9,000.00 and paid on another day than it was delivered, 500.00 of a loan were
// paid back, with 20.00 of interest, and another van was sold for 4,000.00: neither earned nor spent.
func TestTheCashBasisKnowsDepositsAndCapital(t *testing.T) {
	db := openReports(t)
	has(t, db, 1)
	for id, category := range map[int]string{1: "repair", 2: "vehicle_purchase", 3: "loan_principal", 4: "loan_interest",
		5: "vehicle_sale"} {
		record(t, db, "expenses", 7, id, "2026-03-01 12:00:00", `{"category":"`+category+`"}`)
	}
	record(t, db, "expenses", 8, 1, "2026-03-01 12:00:00", `{"category":"vehicle_purchase"}`)
	put(t, db, `INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency, kind, source, vehicle) VALUES
		(7, '2026-03-01', 'cash', 1, 1, 1, 10000, 'USD', 'payment', 1, 1), (7, '2026-03-01', 'accounts_receivable', 1, 2, 2, -10000, 'USD', 'payment', 1, 1),
		(7, '2026-03-02', 'cash', 2, 1, 3, 30000, 'USD', 'booking', 1, 0), (7, '2026-03-02', 'deposits_held', 2, 2, 4, -30000, 'USD', 'booking', 1, 0),
		(7, '2026-03-09', 'cash', 3, 1, 5, -22000, 'USD', 'booking', 1, 0), (7, '2026-03-09', 'deposits_held', 3, 2, 6, 30000, 'USD', 'booking', 1, 0),
		(7, '2026-03-09', 'accounts_receivable', 3, 3, 7, -8000, 'USD', 'booking', 1, 0),
		(7, '2026-03-10', 'cash', 4, 1, 8, -3000, 'USD', 'expense', 1, 1), (7, '2026-03-10', 'cost.repair', 4, 2, 9, 3000, 'USD', 'expense', 1, 1),
		(7, '2026-03-11', 'fixed_asset', 5, 1, 10, 900000, 'USD', 'expense', 2, 1), (7, '2026-03-11', 'accounts_payable', 5, 2, 11, -900000, 'USD', 'expense', 2, 1),
		(7, '2026-03-12', 'cash', 6, 1, 12, -900000, 'USD', 'expense', 2, 1), (7, '2026-03-12', 'accounts_payable', 6, 2, 13, 900000, 'USD', 'expense', 2, 1),
		(7, '2026-03-13', 'cash', 7, 1, 14, -50000, 'USD', 'expense', 3, 1), (7, '2026-03-13', 'loans_payable', 7, 2, 15, 50000, 'USD', 'expense', 3, 1),
		(7, '2026-03-13', 'cash', 8, 1, 16, -2000, 'USD', 'expense', 4, 1), (7, '2026-03-13', 'cost.loan_interest', 8, 2, 17, 2000, 'USD', 'expense', 4, 1),
		(7, '2026-03-14', 'cash', 9, 1, 18, 400000, 'USD', 'expense', 5, 1), (7, '2026-03-14', 'fixed_asset', 9, 2, 19, -400000, 'USD', 'expense', 5, 1)`)
	cash := []string{"basis", "cash", "by", "total"}
	want(t, ask(t, db, "profitability", "total", cash...), "",
		"revenue 18000, paid 5000, capital 550000, net_profit 13000")
	want(t, ask(t, db, "revenue", "total", cash...), "", "revenue 18000")
	// What was left on one day and given back on another is nothing until then.
	days := ask(t, db, "profitability", "day", cash...)
	want(t, days, "2026-03-02", "revenue 0, net_profit 0")
	want(t, days, "2026-03-12", "paid 0, capital 900000, net_profit 0")
	want(t, ask(t, db, "profitability", "vehicle", cash...), "1", "revenue 10000, paid 5000, net_profit 5000")
	want(t, ask(t, db, "profitability", "channel", "by", "channel"), "", "capital null, paid null")
}
