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
