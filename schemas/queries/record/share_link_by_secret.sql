-- The share link with a secret, of whatever account: this is how somebody who opens a link finds it.
SELECT account, id
FROM share_links FINAL
WHERE secret_sha256 = {hash:String} AND archived_at IS NULL
LIMIT 1
