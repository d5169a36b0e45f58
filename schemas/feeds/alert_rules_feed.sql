-- record_log to alert_rules: the columns that lists filter and sort by, taken from the record. The kind of the rule hides that of
-- the record, which is why the condition names the table.
INSERT INTO alert_rules
    (account, id, revision, created_at, updated_at, archived_at, name, description, kind, severity, enabled, tags, geofence_ids,
     external_ids, body)
SELECT
    account, id, revision, created_at, at AS updated_at, archived_at,
    JSONExtractString(body, 'name') AS name,
    JSONExtractString(body, 'description') AS description,
    JSONExtractString(body, 'kind') AS kind,
    JSONExtractString(body, 'severity') AS severity,
    JSONExtractBool(body, 'enabled') AS enabled,
    JSONExtract(body, 'scope', 'tags', 'Array(String)') AS tags,
    JSONExtract(body, 'geofence_ids', 'Array(String)') AS geofence_ids,
    arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')) AS external_ids,
    body
FROM record_log
WHERE record_log.kind = 'alert_rule'
