package schemas_test

import "testing"

// Booking 101 was billed 100.00 at its pickup and 50.00 at its return, when 100.00 were paid: that pays the first bill,
// and the second is left. Of booking 102 a line of 30.00 was posted and taken back on the day on which 40.00 of the
// older 90.00 were paid: 50.00 are left of these. A payment of booking 103 failed, and was taken back on its own day;
// one that was given back later is owed since then.
func TestWhatIsPaidOnTheDayOfABillPaysTheFirst(t *testing.T) {
	db := openReports(t)
	put(t, db, `INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency, kind, booking, customer, source, purpose, occurred_at) VALUES
		(7, '2026-03-01', 'accounts_receivable', 1, 1, 1, 10000, 'USD', 'booking', 101, 1, 101, '', now64(3)),
		(7, '2026-03-31', 'accounts_receivable', 2, 1, 2, 5000, 'USD', 'booking', 101, 1, 101, '', now64(3)),
		(7, '2026-03-31', 'accounts_receivable', 3, 1, 3, -10000, 'USD', 'payment', 101, 1, 1, '', now64(3)),
		(7, '2026-02-01', 'accounts_receivable', 4, 1, 4, 9000, 'USD', 'booking', 102, 2, 102, '', now64(3)),
		(7, '2026-03-30', 'accounts_receivable', 5, 1, 5, 3000, 'USD', 'booking', 102, 2, 102, '', now64(3)),
		(7, '2026-03-30', 'accounts_receivable', 6, 1, 6, -3000, 'USD', 'booking', 102, 2, 102, '', now64(3)),
		(7, '2026-03-30', 'accounts_receivable', 7, 1, 7, -4000, 'USD', 'booking', 102, 2, 102, 'deposit', now64(3)),
		(7, '2026-02-01', 'accounts_receivable', 8, 1, 8, 7000, 'USD', 'booking', 103, 3, 103, '', now64(3)),
		(7, '2026-02-03', 'accounts_receivable', 9, 1, 9, -7000, 'USD', 'payment', 103, 3, 2, '', now64(3)),
		(7, '2026-03-20', 'accounts_receivable', 10, 1, 10, -7000, 'USD', 'payment', 103, 3, 3, '', now64(3)),
		(7, '2026-03-20', 'accounts_receivable', 11, 1, 11, 7000, 'USD', 'payment', 103, 3, 3, '', now64(3)),
		(7, '2026-03-25', 'accounts_receivable', 12, 1, 12, 7000, 'USD', 'payment', 103, 3, 2, 'refund', now64(3))`)
	owed := ask(t, db, "receivables_ageing", "booking")
	want(t, owed, "101", "balance 5000, not_due 5000, days_1_30 0")
	want(t, owed, "102", "balance 5000, not_due 0, days_1_30 0, days_31_60 5000")
	want(t, owed, "103", "balance 7000, not_due 0, days_1_30 7000, days_31_60 0")
}
