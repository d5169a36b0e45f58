-- steps: 1
-- 200,000 customers, and 200 owners after them.
INSERT INTO customers (account, id, revision, created_at, updated_at, body)
SELECT 7, number + 1, 1, '2020-01-01 00:00:00', '2020-01-01 00:00:00',
    concat('{"number":"C-', toString(number + 1), '","type":"person","display_name":"Customer ', toString(number + 1), '","first_name":"First",',
        '"last_name":"Last ', toString(number + 1), '","email":"c', toString(number + 1), '@example.com","phone":"+1555', toString(1000000 + number),
        '","address":{"city":"Springfield","region":"IL","country":"US"},"lifecycle":"customer"}')
FROM numbers(200200)
