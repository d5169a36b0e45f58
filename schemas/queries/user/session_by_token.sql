-- The session whose cookie has a secret with a hash, of whatever account: this is how a request of a browser finds its
-- person.
SELECT account, user, id, max(token), max(factors), max(began_at), max(seen_at), max(ended_at), max(address), max(agent)
FROM sessions
WHERE (account, user, id) IN (SELECT account, user, id FROM sessions WHERE token = {token:String})
GROUP BY account, user, id
LIMIT 1
