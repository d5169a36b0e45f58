-- Whose an address is, over all accounts; archived people have none.
SELECT account, id
FROM users FINAL
WHERE email = {email:String} AND archived_at IS NULL
LIMIT 1
