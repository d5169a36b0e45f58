-- What the users for analysts can read without a policy of their own, and rights that name no single table. A
-- permissive policy is one only where no other shows all rows: permissive ones are joined by OR, and what comes out by
-- AND with the restrictive ones.
WITH
    policies AS
    (
        SELECT database, table, is_restrictive, apply_to_all, apply_to_list,
            select_filter NOT IN ('', '1', 'true') AS narrow
        FROM system.row_policies
    ),
    guards AS
    (
        SELECT database, table, arrayJoin(apply_to_list) AS user
        FROM policies
        WHERE narrow AND (is_restrictive
            OR (database, table) NOT IN
                (SELECT database, table FROM policies WHERE NOT is_restrictive AND (apply_to_all OR NOT narrow)))
    )
SELECT DISTINCT concat(user_name, ' reads ', ifNull(database, '*'), '.', ifNull(table, '*')) AS what
FROM system.grants
WHERE startsWith(ifNull(user_name, ''), {prefix:String})
    AND access_type NOT LIKE 'SHOW%'
    AND (access_type != 'SELECT' OR table IS NULL
        OR (database, table, user_name) NOT IN (SELECT database, table, user FROM guards))
ORDER BY what
