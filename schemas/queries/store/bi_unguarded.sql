-- What the users for analysts can read without a policy of their own, and rights that name no single table.
WITH policies AS
(
    SELECT database, table, arrayJoin(apply_to_list) AS user
    FROM system.row_policies
    WHERE select_filter != '' AND select_filter NOT IN ('1', 'true') AND NOT is_restrictive
)
SELECT DISTINCT concat(user_name, ' reads ', ifNull(database, '*'), '.', ifNull(table, '*')) AS what
FROM system.grants
WHERE startsWith(ifNull(user_name, ''), {prefix:String})
    AND access_type NOT LIKE 'SHOW%'
    AND (access_type != 'SELECT' OR table IS NULL
        OR (database, table, user_name) NOT IN (SELECT database, table, user FROM policies))
ORDER BY what
