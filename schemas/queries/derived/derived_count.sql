-- How many rows of what was derived for an account a filter lets through. The marks table and filters are filled by query/derived.go,
-- whose conditions are those of derived_page.sql.
SELECT count()
FROM /*table*/ FINAL
WHERE account = {account:UInt64} /*filters*/
SETTINGS do_not_merge_across_partitions_select_final = 1
