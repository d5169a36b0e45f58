-- Papers of all accounts that are sealed and have no number yet, as of an instant, the oldest first.
SELECT account, kind, id
FROM papers FINAL
WHERE status = 'issuing' AND updated_at <= {until:DateTime64(3)}
ORDER BY updated_at, account, id
LIMIT {limit:UInt32}
