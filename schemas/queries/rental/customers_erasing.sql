-- Customers of all accounts whose erasure was decided; among them may be some that are done.
SELECT DISTINCT account, id
FROM customers
WHERE erasing = 'true'
