-- One row an account of the chart of accounts, with the number and name that the business gave it.
-- Reads accounts: account, ledger_chart
CREATE OR REPLACE VIEW /*bi*/ledger_accounts
(
    account_id String COMMENT 'the account; a user of this database sees one',
    ledger_account String COMMENT 'its code, which never changes',
    number String COMMENT 'its number',
    name String COMMENT 'its name',
    type String COMMENT 'asset, liability, equity, revenue or cost',
    measure String COMMENT 'the column of vehicle_days it is added to; empty of what is neither revenue nor cost'
)
SQL SECURITY INVOKER AS
SELECT
    concat('acc_', toString(account)) AS account_id,
    line.1 AS ledger_account,
    if(empty(ledger_chart[line.1].1), line.2, ledger_chart[line.1].1) AS number,
    if(empty(ledger_chart[line.1].2), line.3, ledger_chart[line.1].2) AS name,
    line.4 AS type,
    line.5 AS measure
FROM accounts AS r FINAL
ARRAY JOIN /*chart*/ AS line
