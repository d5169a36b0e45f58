-- The accounts of the ledger that ledger_flows has, as ledger_flows_feed says them. A part of the queries that compare it with the entries.
SELECT arrayJoin(['cash', 'accounts_receivable', 'platform_receivable', 'deposits_held', 'tax_payable', 'tax_receivable'])
