-- record_log to api_keys.
CREATE MATERIALIZED VIEW IF NOT EXISTS api_keys_feed TO api_keys AS
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'name') AS name,
    JSONExtractString(body, 'token_id') AS token_id,
    JSONExtract(body, 'scopes', 'Array(String)') AS scopes,
    parseDateTime64BestEffortOrNull(JSONExtractString(body, 'expires_at'), 3, 'UTC') AS expires_at,
    parseDateTime64BestEffortOrNull(JSONExtractString(body, 'revoked_at'), 3, 'UTC') AS revoked_at,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE kind = 'api_key'
