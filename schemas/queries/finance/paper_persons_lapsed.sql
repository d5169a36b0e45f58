-- Customers who were erased and of whom papers still speak that need not be kept any longer, of all accounts.
SELECT DISTINCT p.account AS account, c.id AS id
FROM
(
    SELECT account, arrayJoin(customers) AS id
    FROM paper_persons
    WHERE keep_until < {today:Date32}
) AS p
INNER JOIN (SELECT account, id FROM customers FINAL WHERE archived_at IS NOT NULL AND JSONExtractString(body, 'erased_at') != '') AS c
    ON c.account = p.account AND c.id = p.id
