-- All tables and views as they stand after the last migration, as the server writes them: what a new database is made of.
-- "make newest" writes this file. What each is for, the migrations say.
CREATE TABLE IF NOT EXISTS accounts
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `name` String DEFAULT JSONExtractString(body, 'name'),
    `timezone` LowCardinality(String) DEFAULT JSONExtractString(body, 'timezone'),
    `retention_days` UInt32 DEFAULT toUInt32(JSONExtractUInt(body, 'retention_days')),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    `ledger_chart` Map(String, Tuple(
        number String,
        name String)) DEFAULT JSONExtract(body, 'ledger_chart', 'Map(String, Tuple(number String, name String))')
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS addresses
(
    `provider` LowCardinality(String),
    `cell` UInt64,
    `at` DateTime64(3, 'UTC'),
    `address` String
)
ENGINE = ReplacingMergeTree(at)
ORDER BY (provider, cell)
TTL toDateTime(at) + toIntervalDay(180)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS alert_acks
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `actor` String,
    `note` String DEFAULT JSONExtractString(body, 'note'),
    `body` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS alert_rules
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `name` String DEFAULT JSONExtractString(body, 'name'),
    `description` String DEFAULT JSONExtractString(body, 'description'),
    `kind` LowCardinality(String) DEFAULT JSONExtractString(body, 'kind'),
    `severity` LowCardinality(String) DEFAULT JSONExtractString(body, 'severity'),
    `enabled` Bool DEFAULT JSONExtractBool(body, 'enabled'),
    `tags` Array(String) DEFAULT JSONExtract(body, 'scope', 'tags', 'Array(String)'),
    `geofence_ids` Array(String) DEFAULT JSONExtract(body, 'geofence_ids', 'Array(String)'),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS alerts
(
    `account` UInt64,
    `vehicle` UInt64,
    `id` UInt64,
    `revision` UInt32,
    `start_at` DateTime64(3, 'UTC'),
    `end_at` DateTime64(3, 'UTC'),
    `local_date` Date,
    `open` Bool,
    `deleted` Bool,
    `late` Bool,
    `updated_at` DateTime64(3, 'UTC'),
    `rule` UInt64,
    `alert_kind` LowCardinality(String),
    `severity` LowCardinality(String),
    `geofence` UInt64,
    `resolved_reason` LowCardinality(String),
    `body` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(start_at)
ORDER BY (account, vehicle, start_at, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 256, min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1, enable_max_bytes_limit_for_min_age_to_force_merge = 1;

CREATE TABLE IF NOT EXISTS api_keys
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `name` String DEFAULT JSONExtractString(body, 'name'),
    `token_id` String DEFAULT JSONExtractString(body, 'token_id'),
    `scopes` Array(String) DEFAULT JSONExtract(body, 'scopes', 'Array(String)'),
    `expires_at` Nullable(DateTime64(3, 'UTC')) DEFAULT parseDateTime64BestEffortOrNull(JSONExtractString(body, 'expires_at'), 3, 'UTC'),
    `revoked_at` Nullable(DateTime64(3, 'UTC')) DEFAULT parseDateTime64BestEffortOrNull(JSONExtractString(body, 'revoked_at'), 3, 'UTC'),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    INDEX token_id_bloom token_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS backup_files
(
    `name` String,
    `path` String,
    `data` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
PARTITION BY name
ORDER BY (name, path)
SETTINGS non_replicated_deduplication_window = 100, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS backups
(
    `target` String,
    `name` String,
    `at` DateTime64(3, 'UTC') DEFAULT now64(3),
    `base` String,
    `done` Bool,
    `manifest` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(at)
ORDER BY (target, name)
SETTINGS non_replicated_deduplication_window = 100, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS blocks
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `vehicle_id` String DEFAULT JSONExtractString(body, 'vehicle_id'),
    `from` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'from'), 3, 'UTC'),
    `until` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'until'), 3, 'UTC'),
    `kind` LowCardinality(String) DEFAULT JSONExtractString(body, 'kind'),
    `reason` String DEFAULT JSONExtractString(body, 'reason'),
    `source_id` String DEFAULT JSONExtractString(body, 'source_id'),
    `to_location_id` String DEFAULT JSONExtractString(body, 'to_location_id'),
    `external_ids` Array(String) DEFAULT [],
    `body` String CODEC(ZSTD(3)),
    INDEX until_range until TYPE minmax GRANULARITY 1,
    INDEX vehicle_bloom vehicle_id TYPE bloom_filter GRANULARITY 1,
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS booking_sums
(
    `account` UInt64,
    `booking` UInt64,
    `computed_at` DateTime64(3, 'UTC'),
    `on_books` Bool,
    `vehicle` UInt64,
    `class` UInt64,
    `location` UInt64,
    `channel` LowCardinality(String),
    `customer` UInt64,
    `currency` LowCardinality(String),
    `confirmed_on` Date32,
    `ended_on` Date32,
    `first` Date32,
    `last` Date32,
    `days` Array(Date32),
    `agreed` Array(Int64),
    `agreed_time` Array(Int64),
    `months` Array(Date32),
    `month_days` Array(Int64),
    `month_agreed` Array(Int64),
    INDEX first_minmax first TYPE minmax GRANULARITY 1,
    INDEX last_minmax last TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYear(fromUnixTimestamp64Milli(toInt64(bitShiftRight(booking, 22) + 1577836800000), 'UTC'))
ORDER BY (account, booking)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS bookings
(
    `account` UInt64,
    `id` UInt64 CODEC(NONE),
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `number` String DEFAULT JSONExtractString(body, 'number'),
    `status` LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    `status_since` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_since'), 3, 'UTC'),
    `channel` LowCardinality(String) DEFAULT JSONExtractString(body, 'channel'),
    `external_reservation_id` String DEFAULT JSONExtractString(body, 'external_reservation_id'),
    `customer_id` String DEFAULT JSONExtractString(body, 'customer_id'),
    `driver_ids` Array(String) DEFAULT arrayMap(driver -> JSONExtractString(driver, 'customer_id'), JSONExtractArrayRaw(body, 'drivers')),
    `vehicle_id` LowCardinality(String) DEFAULT JSONExtractString(body, 'vehicle_id'),
    `vehicle_class_id` LowCardinality(String) DEFAULT JSONExtractString(body, 'vehicle_class_id'),
    `pickup_location_id` LowCardinality(String) DEFAULT JSONExtractString(body, 'pickup_location_id'),
    `return_location_id` LowCardinality(String) DEFAULT JSONExtractString(body, 'return_location_id'),
    `rate_plan_id` LowCardinality(String) DEFAULT JSONExtractString(body, 'rate_plan_id'),
    `pickup_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'pickup_at'), 3, 'UTC'),
    `return_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'return_at'), 3, 'UTC'),
    `blocked_from` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'blocked_from'), 3, 'UTC'),
    `blocked_until` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'blocked_until'), 3, 'UTC'),
    `hold_expires_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'hold_expires_at'), 3, 'UTC'),
    `no_show_at` DateTime64(3, 'UTC') DEFAULT if(JSONExtractBool(body, 'backdated'), toDateTime64('2201-01-01 00:00:00', 3, 'UTC'), greatest(pickup_at, confirmed_at) + toIntervalMinute(ifNull(JSONExtract(body, 'rate_snapshot', 'rate', 'no_show_grace_minutes', 'Nullable(Int64)'), 1440))),
    `actual_pickup_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'actual_pickup_at'), 3, 'UTC'),
    `actual_return_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'actual_return_at'), 3, 'UTC'),
    `confirmed_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'confirmed_at'), 3, 'UTC'),
    `cancelled_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'cancellation', 'cancelled_at'), 3, 'UTC'),
    `cancelled_by` LowCardinality(String) DEFAULT JSONExtractString(body, 'cancellation', 'cancelled_by'),
    `overdue_noted_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'overdue_noted_at'), 3, 'UTC'),
    `timezone` LowCardinality(String) DEFAULT JSONExtractString(body, 'timezone'),
    `conflict` LowCardinality(String) DEFAULT if(JSONExtractBool(body, 'conflict'), 'true', 'false'),
    `has_damage` LowCardinality(String) DEFAULT if(notEmpty(JSONExtractArrayRaw(body, 'damages')), 'true', 'false'),
    `billed_days` UInt32 DEFAULT JSONExtractUInt(body, 'billed_days'),
    `currency` LowCardinality(String) DEFAULT JSONExtractString(body, 'currency'),
    `total_minor` Int64 DEFAULT arraySum(l -> if(JSONExtractString(l, 'type') = 'platform_fee', 0, JSONExtractInt(l, 'amount', 'amount')), lines),
    `platform_minor` Int64 DEFAULT arraySum(l -> if(JSONExtractString(l, 'type') = 'platform_fee', JSONExtractInt(l, 'amount', 'amount'), 0), lines),
    `deposit_status` LowCardinality(String) DEFAULT JSONExtractString(body, 'deposit', 'status'),
    `deposit_expires_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'deposit', 'expires_at'), 3, 'UTC'),
    `tax_minor` Int64 DEFAULT arraySum(l -> if(JSONExtractString(l, 'type') = 'tax', JSONExtractInt(l, 'amount', 'amount'), 0), lines),
    `applied_minor` Int64 DEFAULT JSONExtractInt(body, 'deposit', 'applied', 'amount'),
    `do_not_rent_check` LowCardinality(String) DEFAULT multiIf(arrayExists(m -> (JSONExtractString(m, 'do_not_rent_check') = 'do_not_rent'), matches), 'do_not_rent', notEmpty(matches), 'unsure', 'clear'),
    `listed_customer_ids` Array(String) DEFAULT arrayMap(m -> JSONExtractString(m, 'listed_customer_id'), matches),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `lines` Array(String) EPHEMERAL JSONExtractArrayRaw(body, 'charges'),
    `matches` Array(String) EPHEMERAL JSONExtractArrayRaw(body, 'do_not_rent_matches'),
    `body` String CODEC(ZSTD(3)),
    `is_overdue` LowCardinality(String) ALIAS if((status = 'active') AND (return_at < now64(3)), 'true', 'false'),
    `owed_minor` Int64 ALIAS total_minor + if((channel IN ('turo', 'getaround', 'ota', 'partner')), platform_minor, 0),
    `location_ids` Array(String) ALIAS [pickup_location_id, return_location_id],
    `due_for` LowCardinality(String) ALIAS multiIf((status IN ('pending', 'confirmed')), 'pickup', status = 'active', 'return', ''),
    `due_at` DateTime64(3, 'UTC') ALIAS multiIf((status IN ('pending', 'confirmed')), pickup_at, status = 'active', return_at, fromUnixTimestamp64Milli(toInt64(0), 'UTC')),
    `due_location_id` String ALIAS multiIf((status IN ('pending', 'confirmed')), pickup_location_id, status = 'active', return_location_id, ''),
    `swaps` Array(String) DEFAULT arrayFilter(s -> (JSONExtractString(s, 'from') != ''), JSONExtractArrayRaw(body, 'vehicle_history')),
    `leg_vehicles` Array(UInt64) DEFAULT arrayMap(v -> toUInt64OrZero(substring(v, 5)), arrayPushBack(arrayMap(s -> JSONExtractString(s, 'vehicle_id'), swaps), vehicle_id)),
    `leg_from_ms` Array(Int64) DEFAULT arrayMap(t -> toUnixTimestamp64Milli(parseDateTime64BestEffortOrZero(t, 3, 'UTC')), arrayPushBack(arrayMap(s -> JSONExtractString(s, 'from'), swaps), if(empty(swaps), JSONExtractString(body, 'actual_pickup_at'), JSONExtractString(swaps[-1], 'until')))),
    `leg_until_ms` Array(Int64) DEFAULT arrayMap(t -> toUnixTimestamp64Milli(parseDateTime64BestEffortOrZero(t, 3, 'UTC')), arrayPushBack(arrayMap(s -> JSONExtractString(s, 'until'), swaps), JSONExtractString(body, 'actual_return_at'))),
    `agreed_minor` Int64 DEFAULT arraySum(l -> if((JSONExtractString(l, 'reversal_of') = '') AND (JSONExtractString(l, 'type') IN ('time', 'mileage', 'discount', 'promo', 'extra', 'protection', 'delivery', 'one_way', 'young_driver', 'additional_driver')), JSONExtractInt(l, 'amount', 'amount'), 0), if(JSONHas(body, 'rate_snapshot', 'lines'), JSONExtractArrayRaw(body, 'rate_snapshot', 'lines'), JSONExtractArrayRaw(body, 'charges'))),
    `returned_on` Date32 DEFAULT toDate32(formatDateTime(if((timezone IN ('UTC', 'America/Anchorage', 'America/Argentina/Buenos_Aires', 'America/Bogota', 'America/Boise', 'America/Cancun', 'America/Caracas', 'America/Chicago', 'America/Costa_Rica', 'America/Denver', 'America/Detroit', 'America/Edmonton', 'America/Guatemala', 'America/Halifax', 'America/Indiana/Indianapolis', 'America/Jamaica', 'America/Lima', 'America/Los_Angeles', 'America/Mexico_City', 'America/Monterrey', 'America/Montevideo', 'America/New_York', 'America/Panama', 'America/Phoenix', 'America/Puerto_Rico', 'America/Regina', 'America/Santiago', 'America/Santo_Domingo', 'America/Sao_Paulo', 'America/St_Johns', 'America/Tijuana', 'America/Toronto', 'America/Vancouver', 'America/Winnipeg', 'Africa/Algiers', 'Africa/Cairo', 'Africa/Casablanca', 'Africa/Johannesburg', 'Africa/Lagos', 'Africa/Nairobi', 'Africa/Tunis', 'Asia/Amman', 'Asia/Baku', 'Asia/Bangkok', 'Asia/Beirut', 'Asia/Dubai', 'Asia/Ho_Chi_Minh', 'Asia/Hong_Kong', 'Asia/Jakarta', 'Asia/Jerusalem', 'Asia/Karachi', 'Asia/Kathmandu', 'Asia/Kolkata', 'Asia/Kuala_Lumpur', 'Asia/Kuwait', 'Asia/Makassar', 'Asia/Manila', 'Asia/Nicosia', 'Asia/Qatar', 'Asia/Riyadh', 'Asia/Seoul', 'Asia/Shanghai', 'Asia/Singapore', 'Asia/Taipei', 'Asia/Tbilisi', 'Asia/Tokyo', 'Asia/Yerevan', 'Atlantic/Azores', 'Atlantic/Canary', 'Atlantic/Madeira', 'Atlantic/Reykjavik', 'Australia/Adelaide', 'Australia/Brisbane', 'Australia/Darwin', 'Australia/Hobart', 'Australia/Melbourne', 'Australia/Perth', 'Australia/Sydney', 'Europe/Amsterdam', 'Europe/Athens', 'Europe/Belgrade', 'Europe/Berlin', 'Europe/Bratislava', 'Europe/Brussels', 'Europe/Bucharest', 'Europe/Budapest', 'Europe/Copenhagen', 'Europe/Dublin', 'Europe/Helsinki', 'Europe/Istanbul', 'Europe/Lisbon', 'Europe/Ljubljana', 'Europe/London', 'Europe/Luxembourg', 'Europe/Madrid', 'Europe/Malta', 'Europe/Oslo', 'Europe/Paris', 'Europe/Prague', 'Europe/Riga', 'Europe/Rome', 'Europe/Sarajevo', 'Europe/Skopje', 'Europe/Sofia', 'Europe/Stockholm', 'Europe/Tallinn', 'Europe/Vienna', 'Europe/Vilnius', 'Europe/Warsaw', 'Europe/Zagreb', 'Europe/Zurich', 'Indian/Mauritius', 'Pacific/Auckland', 'Pacific/Fiji', 'Pacific/Honolulu')) AS known, actual_return_at, toDateTime64(0, 3, 'UTC')), '%F', if(known, timezone, 'UTC'))),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1,
    INDEX pickup_at_minmax pickup_at TYPE minmax GRANULARITY 1,
    INDEX return_at_minmax return_at TYPE minmax GRANULARITY 1,
    INDEX blocked_until_minmax blocked_until TYPE minmax GRANULARITY 1,
    INDEX customer_bloom customer_id TYPE bloom_filter GRANULARITY 1,
    INDEX reservation_bloom external_reservation_id TYPE bloom_filter GRANULARITY 1,
    INDEX listed_customers_bloom listed_customer_ids TYPE bloom_filter GRANULARITY 1,
    INDEX status_set status TYPE set(16) GRANULARITY 1,
    INDEX deposit_status_set deposit_status TYPE set(16) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toStartOfQuarter(fromUnixTimestamp64Milli(toInt64(bitShiftRight(id, 22) + 1577836800000), 'UTC'))
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 256, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1, merge_selector_base = 12;

CREATE TABLE IF NOT EXISTS calendars
(
    `account` UInt64,
    `kind` LowCardinality(String),
    `id` UInt64,
    `revision` UInt64,
    `updated_at` DateTime64(3, 'UTC'),
    `hold_refs` Array(String) DEFAULT tupleElement(holds, 'ref'),
    `hold_from` Array(DateTime64(3, 'UTC')) DEFAULT arrayMap(t -> parseDateTime64BestEffortOrZero(t, 3, 'UTC'), tupleElement(holds, 'from')),
    `hold_until` Array(DateTime64(3, 'UTC')) DEFAULT arrayMap(t -> parseDateTime64BestEffortOrZero(t, 3, 'UTC'), tupleElement(holds, 'until')),
    `hold_expires` Array(DateTime64(3, 'UTC')) DEFAULT arrayMap(t -> parseDateTime64BestEffortOrZero(t, 3, 'UTC'), tupleElement(holds, 'expires')),
    `hold_conflict` Array(Bool) DEFAULT tupleElement(holds, 'conflict'),
    `hold_open` Array(Bool) DEFAULT tupleElement(holds, 'open'),
    `hold_begins` Array(String) DEFAULT tupleElement(holds, 'begins'),
    `hold_ends` Array(String) DEFAULT tupleElement(holds, 'ends'),
    `body` String EPHEMERAL,
    `holds` Array(Tuple(
        ref String,
        `from` String,
        until String,
        expires String,
        conflict Bool,
        open Bool,
        begins String,
        ends String)) EPHEMERAL JSONExtract(body, 'holds', 'Array(Tuple(ref String, `from` String, until String,\n        expires String, conflict Bool, open Bool, begins String, ends String))')
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, kind, id)
SETTINGS non_replicated_deduplication_window = 10000, merge_selector_base = 12, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS charges
(
    `account` UInt64,
    `vehicle` UInt64,
    `id` UInt64,
    `revision` UInt32,
    `start_at` DateTime64(3, 'UTC'),
    `end_at` DateTime64(3, 'UTC'),
    `local_date` Date,
    `open` Bool,
    `deleted` Bool,
    `late` Bool,
    `updated_at` DateTime64(3, 'UTC'),
    `soc_start_pct` Nullable(Float64),
    `soc_end_pct` Nullable(Float64),
    `energy_kwh` Nullable(Float64),
    `body` String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(start_at)
ORDER BY (account, vehicle, start_at, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 256, min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1, enable_max_bytes_limit_for_min_age_to_force_merge = 1;

CREATE TABLE IF NOT EXISTS checkpoints
(
    `account` UInt64,
    `vehicle` UInt64,
    `day` Date,
    `version` UInt64,
    `at` DateTime64(3, 'UTC'),
    `wake_at` Nullable(DateTime64(3, 'UTC')),
    `format` UInt32,
    `dropped` Bool,
    `state` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (account, vehicle, day)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS claim_log
(
    `account` UInt64,
    `field` LowCardinality(String),
    `value` String,
    `revision` UInt64,
    `write_id` UInt64,
    `owner` UInt64,
    `at` DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC'),
    `expires_at` Nullable(DateTime64(3, 'UTC')),
    `detail` String CODEC(ZSTD(3))
)
ENGINE = MergeTree
ORDER BY (account, field, value, revision)
TTL toDateTime(ifNull(expires_at, toDateTime('2100-01-01 00:00:00', 'UTC'))) + toIntervalDay(3)
SETTINGS non_replicated_deduplication_window = 10000, finished_mutations_to_keep = 1, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS credential_audit
(
    `account` UInt64,
    `at` DateTime64(3, 'UTC'),
    `credential` String,
    `kind` LowCardinality(String),
    `act` LowCardinality(String),
    `reason` LowCardinality(String),
    `actor` String,
    `client` String,
    `item` UInt64,
    `process` UInt64,
    `first_at` DateTime64(3, 'UTC'),
    `last_at` DateTime64(3, 'UTC'),
    `count` UInt64
)
ENGINE = ReplacingMergeTree(count)
PARTITION BY toYYYYMM(at)
ORDER BY (account, at, credential, act, reason, actor, client, item, process)
TTL toDateTime(at) + toIntervalDay(400)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024;

CREATE TABLE IF NOT EXISTS customer_notes
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `customer_id` String DEFAULT JSONExtractString(body, 'customer_id'),
    `text` String DEFAULT JSONExtractString(body, 'text'),
    `author` String DEFAULT JSONExtractString(body, 'author'),
    `pinned` LowCardinality(String) DEFAULT if(JSONExtractBool(body, 'pinned'), 'true', 'false'),
    `external_ids` Array(String) DEFAULT [],
    `body` String CODEC(ZSTD(3)),
    INDEX customer_id_bloom customer_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS customer_sums
(
    `account` UInt64,
    `currency` LowCardinality(String),
    `customer` UInt64,
    `computed_at` DateTime64(3, 'UTC'),
    `months` Array(Date32),
    `income` Array(Int64)
)
ENGINE = ReplacingMergeTree(computed_at)
ORDER BY (account, currency, customer)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS customers
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `number` String DEFAULT JSONExtractString(body, 'number'),
    `type` LowCardinality(String) DEFAULT JSONExtractString(body, 'type'),
    `display_name` String DEFAULT JSONExtractString(body, 'display_name'),
    `first_name` String DEFAULT JSONExtractString(body, 'first_name'),
    `last_name` String DEFAULT JSONExtractString(body, 'last_name'),
    `company_name` String DEFAULT JSONExtractString(body, 'company_name'),
    `email` String DEFAULT JSONExtractString(body, 'email'),
    `phone` String DEFAULT JSONExtractString(body, 'phone'),
    `date_of_birth` String DEFAULT JSONExtractString(body, 'date_of_birth'),
    `city` String DEFAULT JSONExtractString(body, 'address', 'city'),
    `region` String DEFAULT JSONExtractString(body, 'address', 'region'),
    `country` LowCardinality(String) DEFAULT JSONExtractString(body, 'address', 'country'),
    `lifecycle` LowCardinality(String) DEFAULT JSONExtractString(body, 'lifecycle'),
    `risk_level` LowCardinality(String) DEFAULT JSONExtractString(body, 'risk_level'),
    `assigned_to` String DEFAULT JSONExtractString(body, 'assigned_to'),
    `tags` Array(String) DEFAULT JSONExtract(body, 'tags', 'Array(String)'),
    `do_not_rent` LowCardinality(String) DEFAULT if(JSONExtractBool(body, 'do_not_rent', 'active'), 'true', 'false'),
    `licence_country` LowCardinality(String) DEFAULT JSONExtractString(body, 'licence', 'country'),
    `licence_expires_on` String DEFAULT JSONExtractString(body, 'licence', 'expires_on'),
    `licence_verification` LowCardinality(String) DEFAULT JSONExtractString(body, 'licence_verification', 'status'),
    `merged_into` String DEFAULT JSONExtractString(body, 'merged_into'),
    `possible_duplicate_of` String DEFAULT JSONExtractString(body, 'possible_duplicate_of'),
    `possible_duplicates` LowCardinality(String) DEFAULT if(possible_duplicate_of != '', 'true', 'false'),
    `erasing` LowCardinality(String) DEFAULT if(JSONExtractString(body, 'erasing_since') != '', 'true', 'false'),
    `email_key` UInt64 DEFAULT if(email = '', 0, cityHash64(lowerUTF8(trimBoth(email)))),
    `phone_key` UInt64 DEFAULT if(phone = '', 0, cityHash64(replaceRegexpAll(phone, '[^0-9]', ''))),
    `licence_number` String EPHEMERAL upperUTF8(replaceRegexpAll(JSONExtractString(body, 'licence', 'number'), '[^\\pL\\pN]', '')),
    `licence_number_key` UInt64 DEFAULT if(licence_number = '', 0, cityHash64(licence_number)),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    INDEX email_key_bloom email_key TYPE bloom_filter GRANULARITY 1,
    INDEX phone_key_bloom phone_key TYPE bloom_filter GRANULARITY 1,
    INDEX merged_into_bloom merged_into TYPE bloom_filter GRANULARITY 1,
    INDEX external_ids_bloom external_ids TYPE bloom_filter GRANULARITY 1,
    INDEX erasing_set erasing TYPE set(2) GRANULARITY 1,
    INDEX licence_number_key_bloom licence_number_key TYPE bloom_filter GRANULARITY 1,
    INDEX do_not_rent_set do_not_rent TYPE set(2) GRANULARITY 1,
    INDEX risk_level_set risk_level TYPE set(4) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS dead_letters
(
    `account` UInt64,
    `id` UInt64,
    `at` DateTime64(3, 'UTC'),
    `reason` LowCardinality(String),
    `detail` String,
    `unique_id` String,
    `source_topic` LowCardinality(String),
    `source_partition` UInt16,
    `source_offset` UInt64,
    `source_index` UInt32,
    `format` LowCardinality(String),
    `payload` String CODEC(ZSTD(3)),
    `payload_bytes` UInt64
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (account, at, id)
TTL toDateTime(at) + toIntervalDay(90)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS derivations
(
    `account` UInt64 CODEC(Delta(8), ZSTD(1)),
    `vehicle` UInt64 CODEC(Delta(8), ZSTD(1)),
    `kind` LowCardinality(String),
    `id` UInt64,
    `revision` UInt32,
    `recognised_at` DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    `start_at` DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    `end_at` DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    `local_date` Date,
    `open` Bool,
    `deleted` Bool,
    `late` Bool,
    `digest` UInt64,
    `written_at` DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    `body` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, vehicle, kind, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS device_commands
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `status` LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    `type` LowCardinality(String) DEFAULT JSONExtractString(body, 'type'),
    `transport` LowCardinality(String) DEFAULT JSONExtractString(body, 'transport'),
    `device_id` String DEFAULT JSONExtractString(body, 'device_id'),
    `vehicle_id` String DEFAULT JSONExtractString(body, 'vehicle_id'),
    `requested_by` String DEFAULT JSONExtractString(body, 'requested_by'),
    `expires_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'expires_at'), 3, 'UTC'),
    `try_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'try_at'), 3, 'UTC'),
    `status_since` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_since'), 3, 'UTC'),
    `external_ids` Array(String) DEFAULT [],
    `body` String CODEC(ZSTD(3)),
    INDEX device_id_bloom device_id TYPE bloom_filter GRANULARITY 1,
    INDEX expires_at_minmax expires_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS device_outcomes
(
    `account` UInt64,
    `device` UInt64,
    `quarter` DateTime('UTC'),
    `outcome` LowCardinality(String),
    `run` String,
    `topic` LowCardinality(String),
    `partition` UInt16,
    `first_offset` UInt64,
    `n` UInt32
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(quarter)
ORDER BY (account, device, quarter, outcome, run, topic, partition, first_offset)
TTL quarter + toIntervalYear(2)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS device_owners
(
    `unique_id` String,
    `account` UInt64,
    `kept` Bool,
    `at` DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(at)
ORDER BY unique_id
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS devices
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `unique_id` String DEFAULT JSONExtractString(body, 'unique_id'),
    `name` String DEFAULT JSONExtractString(body, 'name'),
    `protocol` LowCardinality(String) DEFAULT JSONExtractString(body, 'protocol'),
    `model` String DEFAULT JSONExtractString(body, 'model'),
    `vehicle_ids` Array(String) DEFAULT arrayMap(a -> JSONExtractString(a, 'vehicle_id'), JSONExtractArrayRaw(body, 'assignments')),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1,
    INDEX unique_id_bloom unique_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS dirty_spans
(
    `account` UInt64,
    `vehicle` UInt64,
    `version` UInt64,
    `from_at` Nullable(DateTime64(3, 'UTC')),
    `jobs` Array(UInt64)
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (account, vehicle)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS document_files
(
    `account` UInt64,
    `customer` UInt64,
    `document` UInt64,
    `upload` UInt64,
    `chunk` UInt32,
    `data` String CODEC(NONE)
)
ENGINE = MergeTree
PARTITION BY customer % 16
ORDER BY (account, document, upload, chunk)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 64;

CREATE TABLE IF NOT EXISTS documents
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `customer_id` String DEFAULT JSONExtractString(body, 'customer_id'),
    `kind` LowCardinality(String) DEFAULT JSONExtractString(body, 'kind'),
    `name` String DEFAULT JSONExtractString(body, 'name'),
    `expires_on` String DEFAULT JSONExtractString(body, 'expires_on'),
    `content_type` LowCardinality(String) DEFAULT JSONExtractString(body, 'content_type'),
    `size_bytes` UInt64 DEFAULT JSONExtractUInt(body, 'size_bytes'),
    `external_ids` Array(String) DEFAULT [],
    `body` String CODEC(ZSTD(3)),
    INDEX customer_id_bloom customer_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS driver_tags
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `tag` String DEFAULT JSONExtractString(body, 'tag'),
    `medium` LowCardinality(String) DEFAULT JSONExtractString(body, 'medium'),
    `label` String DEFAULT JSONExtractString(body, 'label'),
    `driver_id` Array(String) DEFAULT arrayMap(h -> JSONExtractString(h, 'driver_id'), JSONExtractArrayRaw(body, 'holders')),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS driving_days
(
    `account` UInt64,
    `local_date` Date32,
    `vehicle` UInt64,
    `computed_at` DateTime64(3, 'UTC'),
    `trips` UInt32,
    `ways` UInt32,
    `distance_m` Int64,
    `ways_m` Int64,
    `estimated_m` Int64,
    `recorded_m` Int64,
    `duration_s` Int64,
    `moving_s` Int64,
    `idle_s` Int64,
    `stop_idle_s` Int64,
    `max_speed_mps` Float64,
    `braking` UInt32,
    `acceleration` UInt32,
    `cornering` UInt32,
    `speeding` UInt32,
    `speeding_s` Int64,
    `crashes` UInt32
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(local_date)
ORDER BY (account, local_date, vehicle)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS driving_events
(
    `account` UInt64,
    `vehicle` UInt64,
    `id` UInt64,
    `revision` UInt32,
    `start_at` DateTime64(3, 'UTC'),
    `end_at` DateTime64(3, 'UTC'),
    `local_date` Date,
    `open` Bool,
    `deleted` Bool,
    `late` Bool,
    `updated_at` DateTime64(3, 'UTC'),
    `what` LowCardinality(String),
    `source` LowCardinality(String),
    `value` Float64,
    `speed_mps` Float64,
    `lat` Float64,
    `lng` Float64,
    `body` String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(start_at)
ORDER BY (account, vehicle, start_at, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 256, min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1, enable_max_bytes_limit_for_min_age_to_force_merge = 1;

CREATE TABLE IF NOT EXISTS driving_months
(
    `account` UInt64,
    `month` Date32,
    `vehicle` UInt64,
    `computed_at` DateTime64(3, 'UTC'),
    `trips` UInt32,
    `ways` UInt32,
    `distance_m` Int64,
    `ways_m` Int64,
    `estimated_m` Int64,
    `recorded_m` Int64,
    `duration_s` Int64,
    `moving_s` Int64,
    `idle_s` Int64,
    `stop_idle_s` Int64,
    `max_speed_mps` Float64,
    `braking` UInt32,
    `acceleration` UInt32,
    `cornering` UInt32,
    `speeding` UInt32,
    `speeding_s` Int64,
    `crashes` UInt32
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYear(month)
ORDER BY (account, month, vehicle)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS events
(
    `account` UInt64,
    `sequence` UInt64,
    `id` UInt64,
    `type` LowCardinality(String),
    `vehicle` UInt64,
    `at` DateTime64(3, 'UTC'),
    `noted_at` DateTime64(3, 'UTC'),
    `late` Bool,
    `kind` LowCardinality(String),
    `object` UInt64,
    `revision` UInt32,
    `body` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
ORDER BY (account, sequence)
TTL toDateTime(noted_at) + toIntervalDay(30)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS expenses
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `status` LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    `category` LowCardinality(String) DEFAULT JSONExtractString(body, 'category'),
    `vehicle_id` String DEFAULT JSONExtractString(body, 'vehicle_id'),
    `booking_id` String DEFAULT JSONExtractString(body, 'booking_id'),
    `vendor` String DEFAULT JSONExtractString(body, 'vendor'),
    `description` String DEFAULT JSONExtractString(body, 'description'),
    `amount` Int64 DEFAULT JSONExtractInt(body, 'amount', 'amount'),
    `tax` Int64 DEFAULT JSONExtractInt(body, 'tax', 'amount'),
    `currency` LowCardinality(String) DEFAULT JSONExtractString(body, 'amount', 'currency'),
    `incurred_on` String DEFAULT JSONExtractString(body, 'incurred_on'),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    `scheduled_by` String DEFAULT JSONExtractString(body, 'scheduled', 'by'),
    `schedule` LowCardinality(String) DEFAULT JSONExtractString(body, 'scheduled', 'what'),
    `owner_customer_id` String DEFAULT JSONExtractString(body, 'owner_customer_id'),
    INDEX vehicle_id_bloom vehicle_id TYPE bloom_filter GRANULARITY 1,
    INDEX booking_id_bloom booking_id TYPE bloom_filter GRANULARITY 1,
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1,
    INDEX scheduled_by_bloom scheduled_by TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS fact_runs
(
    `version` UInt32,
    `account` UInt64,
    `local_date` Date32,
    `made_at` DateTime64(3, 'UTC'),
    `records_until` DateTime64(3, 'UTC'),
    `entries_until` DateTime64(3, 'UTC'),
    `vehicles` UInt32,
    `took_ms` UInt32
)
ENGINE = MergeTree
ORDER BY (version, account, local_date, made_at)
TTL toDateTime(made_at) + toIntervalDay(31) WHERE account = 0
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS fleet_days
(
    `account` UInt64,
    `local_date` Date32,
    `currency` LowCardinality(String),
    `computed_at` DateTime64(3, 'UTC'),
    `day_s` UInt64,
    `fleet_s` UInt64,
    `down_s` UInt64,
    `rented_s` UInt64,
    `idle_s` UInt64,
    `billed_days` UInt64,
    `driven_m` Float64,
    `rented_m` Float64,
    `fuel_l` Float64,
    `energy_kwh` Float64,
    `driven_days` UInt64,
    `fuelled_m` Float64,
    `electric_m` Float64,
    `electric_kwh` Float64,
    `revenue_time` Int64,
    `revenue_mileage` Int64,
    `revenue_extras` Int64,
    `revenue_protection` Int64,
    `revenue_fees` Int64,
    `revenue_damage` Int64,
    `discounts` Int64,
    `refunds` Int64,
    `toll_recharge` Int64,
    `platform_fees` Int64,
    `cost_energy` Int64,
    `cost_maintenance` Int64,
    `cost_other_variable` Int64,
    `cost_depreciation` Int64,
    `cost_finance` Int64,
    `cost_insurance` Int64,
    `cost_other_fixed` Int64
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYear(local_date)
ORDER BY (account, local_date, currency)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS geofence_days
(
    `account` UInt64,
    `local_date` Date32,
    `vehicle` UInt64,
    `geofence` UInt64,
    `computed_at` DateTime64(3, 'UTC'),
    `stays` UInt32,
    `visits` UInt32,
    `inside_s` Int64,
    `visit_s` Int64
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(local_date)
ORDER BY (account, local_date, vehicle, geofence)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS geofences
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `name` String DEFAULT JSONExtractString(body, 'name'),
    `description` String DEFAULT JSONExtractString(body, 'description'),
    `shape` LowCardinality(String) DEFAULT lower(JSONExtractString(body, 'geometry', 'type')),
    `tags` Array(String) DEFAULT JSONExtract(body, 'scope', 'tags', 'Array(String)'),
    `vehicle_ids` Array(String) DEFAULT JSONExtract(body, 'scope', 'vehicle_ids', 'Array(String)'),
    `south` Float64 DEFAULT ifNull(JSONExtract(body, 'bounds', 'south', 'Nullable(Float64)'), 90),
    `west` Float64 DEFAULT JSONExtractFloat(body, 'bounds', 'west'),
    `north` Float64 DEFAULT ifNull(JSONExtract(body, 'bounds', 'north', 'Nullable(Float64)'), -90),
    `east` Float64 DEFAULT JSONExtractFloat(body, 'bounds', 'east'),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS heard
(
    `account` UInt64,
    `device` UInt64,
    `vehicle` UInt64,
    `heard_at` DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(heard_at)
ORDER BY (account, device, vehicle)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS heard_hours
(
    `account` UInt64,
    `device` UInt64,
    `hour` DateTime('UTC'),
    `minutes` SimpleAggregateFunction(groupBitOr, UInt64)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (account, device, hour)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS ingest_holds
(
    `id` String,
    `at` DateTime64(3, 'UTC') DEFAULT now64(3),
    `until` DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(at)
ORDER BY id
TTL toDateTime(until) + toIntervalDay(1)
SETTINGS non_replicated_deduplication_window = 100, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS ingest_outcomes
(
    `account` UInt64,
    `run` String,
    `topic` LowCardinality(String),
    `partition` UInt16,
    `first_offset` UInt64,
    `last_offset` UInt64,
    `at` DateTime64(3, 'UTC'),
    `read` Int64,
    `stored` Int64,
    `signals` Int64,
    `refused` Map(LowCardinality(String), Int64),
    `outcome_devices` Array(UInt64),
    `outcome_quarters` Array(DateTime('UTC')),
    `outcome_names` Array(LowCardinality(String)),
    `outcome_counts` Array(UInt32)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (run, topic, partition, first_offset, account)
TTL toDateTime(at) + toIntervalYear(2)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS inspections
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `vehicle_id` String DEFAULT JSONExtractString(body, 'vehicle_id'),
    `type` LowCardinality(String) DEFAULT JSONExtractString(body, 'type'),
    `template` LowCardinality(String) DEFAULT JSONExtractString(body, 'template'),
    `status` LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    `status_since` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_since'), 3, 'UTC'),
    `submitted_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'submitted_at'), 3, 'UTC'),
    `booking_id` String DEFAULT JSONExtractString(body, 'booking_id'),
    `signed_by` String DEFAULT JSONExtractString(body, 'signed_by'),
    `notes` String DEFAULT JSONExtractString(body, 'notes'),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    INDEX vehicle_bloom vehicle_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS issues
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `vehicle_id` String DEFAULT JSONExtractString(body, 'vehicle_id'),
    `severity` LowCardinality(String) DEFAULT JSONExtractString(body, 'severity'),
    `category` LowCardinality(String) DEFAULT JSONExtractString(body, 'category'),
    `status` LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    `status_since` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_since'), 3, 'UTC'),
    `description` String DEFAULT JSONExtractString(body, 'description'),
    `reported_by` String DEFAULT JSONExtractString(body, 'reported_by'),
    `booking_id` String DEFAULT JSONExtractString(body, 'booking_id'),
    `work_order_id` String DEFAULT JSONExtractString(body, 'work_order_id'),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    INDEX vehicle_bloom vehicle_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS job_errors
(
    `account` UInt64,
    `job` UInt64,
    `row` UInt32,
    `at` DateTime('UTC'),
    `code` LowCardinality(String),
    `detail` String,
    `errors` String
)
ENGINE = ReplacingMergeTree(at)
ORDER BY (account, job, row)
TTL at + toIntervalDay(30)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS job_input
(
    `account` UInt64,
    `job` UInt64,
    `row` UInt32,
    `at` DateTime('UTC'),
    `body` String CODEC(ZSTD(3)),
    `fault` String
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (account, job, row)
TTL at + toIntervalDay(30)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS job_output
(
    `account` UInt64,
    `job` UInt64,
    `attempt` UInt32,
    `row` UInt32,
    `at` DateTime('UTC'),
    `body` String CODEC(ZSTD(3)),
    `keep_days` UInt16 DEFAULT 30
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (account, job, attempt, row)
TTL at + toIntervalDay(keep_days)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS job_steps
(
    `account` UInt64,
    `job` UInt64,
    `step` UInt64,
    `at` DateTime64(3, 'UTC'),
    `error` String
)
ENGINE = ReplacingMergeTree(at)
ORDER BY (account, job, step)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS jobs
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `kind` LowCardinality(String) DEFAULT JSONExtractString(body, 'kind'),
    `subject` String DEFAULT JSONExtractString(body, 'subject'),
    `external_ids` Array(String) DEFAULT [],
    `body` String CODEC(ZSTD(3)),
    `subject_id` String ALIAS subject
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS journal_entries
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `number` String DEFAULT JSONExtractString(body, 'number'),
    `status` LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    `entry_on` String DEFAULT JSONExtractString(body, 'on'),
    `reversed_on` String DEFAULT JSONExtractString(body, 'reversed_on'),
    `memo` String DEFAULT JSONExtractString(body, 'memo'),
    `opening` Bool DEFAULT JSONExtractBool(body, 'opening'),
    `ledger_account` Array(LowCardinality(String)) DEFAULT arrayMap(l -> JSONExtractString(l, 'ledger_account'), JSONExtractArrayRaw(body, 'lines')),
    `vehicle_id` Array(String) DEFAULT arrayFilter(v -> (v != ''), arrayMap(l -> JSONExtractString(l, 'vehicle_id'), JSONExtractArrayRaw(body, 'lines'))),
    `customer_id` Array(String) DEFAULT arrayFilter(v -> (v != ''), arrayMap(l -> JSONExtractString(l, 'customer_id'), JSONExtractArrayRaw(body, 'lines'))),
    `location_id` Array(String) DEFAULT arrayFilter(v -> (v != ''), arrayMap(l -> JSONExtractString(l, 'location_id'), JSONExtractArrayRaw(body, 'booked_for'))),
    `total_minor` Int64 DEFAULT arraySum(l -> JSONExtractInt(l, 'debit', 'amount'), JSONExtractArrayRaw(body, 'lines')),
    `currency` LowCardinality(String) DEFAULT arrayMax(l -> concat(JSONExtractString(l, 'debit', 'currency'), JSONExtractString(l, 'credit', 'currency')), JSONExtractArrayRaw(body, 'lines')),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS key_uses
(
    `account` UInt64,
    `key` UInt64,
    `at` DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(at)
ORDER BY (account, key)
TTL toDateTime(at) + toIntervalYear(2)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS ledger_days
(
    `account` UInt64,
    `local_date` Date32,
    `ledger_account` LowCardinality(String),
    `currency` LowCardinality(String),
    `class` UInt64,
    `location` UInt64,
    `channel` LowCardinality(String),
    `amount` SimpleAggregateFunction(sum, Int64),
    `entries` SimpleAggregateFunction(sum, Int64),
    `checksum` SimpleAggregateFunction(sum, UInt64),
    `repair` SimpleAggregateFunction(max, UInt64)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(local_date)
ORDER BY (account, local_date, ledger_account, currency, class, location, channel)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS ledger_entries
(
    `account` UInt64,
    `local_date` Date32,
    `ledger_account` LowCardinality(String),
    `transaction` UInt64,
    `entry_no` UInt32,
    `id` UInt64,
    `amount` Int64,
    `currency` LowCardinality(String),
    `use_date` Date32,
    `vehicle` UInt64,
    `class` UInt64,
    `booking` UInt64,
    `customer` UInt64,
    `location` UInt64,
    `channel` LowCardinality(String),
    `purpose` LowCardinality(String),
    `kind` LowCardinality(String),
    `source` UInt64,
    `occurred_at` DateTime64(3, 'UTC'),
    `entered_at` DateTime64(3, 'UTC') DEFAULT toDateTime64(0, 3, 'UTC'),
    INDEX transaction_bloom transaction TYPE bloom_filter GRANULARITY 1,
    INDEX booking_bloom booking TYPE bloom_filter GRANULARITY 1,
    INDEX vehicle_bloom vehicle TYPE bloom_filter GRANULARITY 1,
    INDEX customer_bloom customer TYPE bloom_filter GRANULARITY 1,
    INDEX entered_at_minmax entered_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(local_date)
ORDER BY (account, local_date, ledger_account, transaction, entry_no)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS ledger_flows
(
    `account` UInt64,
    `ledger_account` LowCardinality(String),
    `local_date` Date32,
    `currency` LowCardinality(String),
    `kind` LowCardinality(String),
    `source` UInt64,
    `booking` UInt64,
    `vehicle` UInt64,
    `location` UInt64,
    `channel` LowCardinality(String),
    `customer` UInt64,
    `purpose` LowCardinality(String),
    `amount` SimpleAggregateFunction(sum, Int64),
    `debits` SimpleAggregateFunction(sum, Int64),
    `entries` SimpleAggregateFunction(sum, Int64),
    `checksum` SimpleAggregateFunction(sum, UInt64),
    `repair` SimpleAggregateFunction(max, UInt64)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(local_date)
PRIMARY KEY (account, ledger_account, local_date)
ORDER BY (account, ledger_account, local_date, currency, kind, source, booking, vehicle, location, channel, customer, purpose)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS ledger_months
(
    `account` UInt64,
    `month` Date32,
    `ledger_account` LowCardinality(String),
    `currency` LowCardinality(String),
    `vehicle` UInt64,
    `class` UInt64,
    `location` UInt64,
    `channel` LowCardinality(String),
    `customer` UInt64,
    `amount` SimpleAggregateFunction(sum, Int64),
    `entries` SimpleAggregateFunction(sum, Int64),
    `checksum` SimpleAggregateFunction(sum, UInt64),
    `repair` SimpleAggregateFunction(max, UInt64)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(month)
ORDER BY (account, month, ledger_account, currency, vehicle, class, location, channel, customer)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS ledger_transactions
(
    `account` UInt64,
    `id` UInt64,
    `write_id` UInt64,
    `kind` LowCardinality(String),
    `source` UInt64,
    `revision` UInt64,
    `occurred_at` DateTime64(3, 'UTC'),
    `posted_at` DateTime64(3, 'UTC'),
    `known_on` Date32,
    `actor` String,
    `request_id` String,
    `booking` UInt64,
    `customer` UInt64,
    `vehicles` Array(UInt64),
    `currencies` Array(LowCardinality(String)),
    `debits` Array(Int64),
    `entry_count` UInt32,
    `entries` String CODEC(ZSTD(3)),
    INDEX source_bloom source TYPE bloom_filter GRANULARITY 1,
    INDEX booking_bloom booking TYPE bloom_filter GRANULARITY 1,
    INDEX customer_bloom customer TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS locations
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `name` String DEFAULT JSONExtractString(body, 'name'),
    `code` String DEFAULT JSONExtractString(body, 'code'),
    `timezone` LowCardinality(String) DEFAULT JSONExtractString(body, 'timezone'),
    `line1` String DEFAULT JSONExtractString(body, 'address', 'line1'),
    `city` String DEFAULT JSONExtractString(body, 'address', 'city'),
    `region` String DEFAULT JSONExtractString(body, 'address', 'region'),
    `country` LowCardinality(String) DEFAULT JSONExtractString(body, 'address', 'country'),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS maintenance_schedules
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `task_id` String DEFAULT JSONExtractString(body, 'task_id'),
    `task` UInt64 DEFAULT toUInt64OrZero(extract(JSONExtractString(body, 'task_id'), '[0-9]+')),
    `vehicle_id` String DEFAULT JSONExtractString(body, 'vehicle_id'),
    `vehicle_class_id` String DEFAULT JSONExtractString(body, 'vehicle_class_id'),
    `tag` String DEFAULT JSONExtractString(body, 'tag'),
    `repeat` LowCardinality(String) DEFAULT JSONExtractString(body, 'repeat'),
    `fixed_due_on` String DEFAULT JSONExtractString(body, 'fixed_due_on'),
    `intervals` Bool DEFAULT (JSONExtractInt(body, 'every_mi') > 0) OR (JSONExtractInt(body, 'every_days') > 0) OR (JSONExtractInt(body, 'every_months') > 0) OR (JSONExtractInt(body, 'every_engine_hours') > 0),
    `paused` Bool DEFAULT JSONExtractBool(body, 'paused'),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS meter_readings
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `vehicle_id` String DEFAULT JSONExtractString(body, 'vehicle_id'),
    `kind` LowCardinality(String) DEFAULT JSONExtractString(body, 'kind'),
    `value` Float64 DEFAULT JSONExtractFloat(body, 'value'),
    `recorded_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'recorded_at'), 3, 'UTC'),
    `source` LowCardinality(String) DEFAULT JSONExtractString(body, 'source'),
    `source_id` String DEFAULT JSONExtractString(body, 'source_id'),
    `voided` Bool DEFAULT JSONExtractBool(body, 'voided'),
    `external_ids` Array(String) DEFAULT [],
    `body` String CODEC(ZSTD(3)),
    INDEX vehicle_bloom vehicle_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS meters
(
    `account` UInt64,
    `vehicle` UInt64 DEFAULT toUInt64OrZero(substring(JSONExtractString(body, 'vehicle_id'), 5)),
    `kind` LowCardinality(String) DEFAULT JSONExtractString(body, 'kind'),
    `recorded_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'recorded_at'), 3, 'UTC'),
    `id` UInt64,
    `revision` UInt64,
    `value` Float64 DEFAULT JSONExtractFloat(body, 'value'),
    `source` LowCardinality(String) DEFAULT JSONExtractString(body, 'source'),
    `voided` Bool DEFAULT JSONExtractBool(body, 'voided'),
    `body` String EPHEMERAL
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, vehicle, kind, recorded_at, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS oauth_clients
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `name` String DEFAULT JSONExtractString(body, 'name'),
    `type` LowCardinality(String) DEFAULT JSONExtractString(body, 'type'),
    `status` LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    `external_ids` Array(String) DEFAULT [],
    `body` String CODEC(ZSTD(3)),
    INDEX id_bloom id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS oauth_grants
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `client_id` String DEFAULT JSONExtractString(body, 'client_id'),
    `user_id` String DEFAULT JSONExtractString(body, 'user_id'),
    `external_ids` Array(String) DEFAULT [],
    `body` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS owner_share_looks
(
    `account` UInt64,
    `vehicle` UInt64,
    `month` Date32,
    `at` DateTime64(3, 'UTC'),
    `basis` UInt64
)
ENGINE = ReplacingMergeTree(at)
ORDER BY (account, vehicle, month)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS pair_marks
(
    `account` UInt64,
    `vehicle` UInt64,
    `number` UInt64,
    `from_ms` Int64,
    `again_at` Int64,
    `done` Bool,
    `at` DateTime('UTC') DEFAULT now('UTC')
)
ENGINE = ReplacingMergeTree(done)
ORDER BY (account, vehicle, number)
TTL at + toIntervalDay(1) WHERE done
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS pair_watches
(
    `account` UInt64,
    `rule` UInt64,
    `rule_revision` UInt64,
    `vehicle` UInt64,
    `other` UInt64,
    `from_ms` Int64,
    `until_ms` Int64
)
ENGINE = ReplacingMergeTree(until_ms)
ORDER BY (account, rule, rule_revision, vehicle, other, from_ms)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS paper_persons
(
    `account` UInt64,
    `paper` UInt64,
    `sealing` UInt64,
    `customers` Array(UInt64),
    `keep_until` Date32,
    `body` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
ORDER BY (account, paper, sealing)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 256;

CREATE TABLE IF NOT EXISTS papers
(
    `account` UInt64,
    `kind` LowCardinality(String),
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `status` LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    `number` String DEFAULT JSONExtractString(body, 'number'),
    `series` LowCardinality(String) DEFAULT JSONExtractString(body, 'series'),
    `booking_id` String DEFAULT JSONExtractString(body, 'booking_id'),
    `customer_id` String DEFAULT JSONExtractString(body, 'customer_id'),
    `payment_id` String DEFAULT JSONExtractString(body, 'payment_id'),
    `invoice_id` String DEFAULT JSONExtractString(body, 'invoice_id'),
    `month` LowCardinality(String) DEFAULT JSONExtractString(body, 'month'),
    `place` UInt32 DEFAULT JSONExtractUInt(body, 'place'),
    `currency` LowCardinality(String) DEFAULT JSONExtractString(body, 'currency'),
    `issued_on` String DEFAULT JSONExtractString(body, 'issued_on'),
    `due_on` String DEFAULT JSONExtractString(body, 'due_on'),
    `total` Int64 DEFAULT JSONExtractInt(body, 'total', 'amount'),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    INDEX booking_id_bloom booking_id TYPE bloom_filter GRANULARITY 1,
    INDEX customer_id_bloom customer_id TYPE bloom_filter GRANULARITY 1,
    INDEX status_set status TYPE set(8) GRANULARITY 1,
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS payments
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `number` String DEFAULT JSONExtractString(body, 'number'),
    `status` LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    `direction` LowCardinality(String) DEFAULT JSONExtractString(body, 'direction'),
    `method` LowCardinality(String) DEFAULT JSONExtractString(body, 'method'),
    `provider` LowCardinality(String) DEFAULT JSONExtractString(body, 'provider'),
    `provider_ref` String DEFAULT JSONExtractString(body, 'provider_ref'),
    `booking_id` String DEFAULT JSONExtractString(body, 'booking_id'),
    `customer_id` String DEFAULT JSONExtractString(body, 'customer_id'),
    `vehicle_id` String DEFAULT JSONExtractString(body, 'booked_for', 'vehicle_id'),
    `amount` Int64 DEFAULT JSONExtractInt(body, 'amount', 'amount'),
    `refunded` Int64 DEFAULT toInt64(arraySum(r -> JSONExtractInt(r, 'amount', 'amount'), JSONExtractArrayRaw(body, 'refunds'))),
    `fee` Int64 DEFAULT JSONExtractInt(body, 'fee', 'amount'),
    `currency` LowCardinality(String) DEFAULT JSONExtractString(body, 'amount', 'currency'),
    `received_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'received_at'), 3, 'UTC'),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    INDEX booking_id_bloom booking_id TYPE bloom_filter GRANULARITY 1,
    INDEX customer_id_bloom customer_id TYPE bloom_filter GRANULARITY 1,
    INDEX received_at_minmax received_at TYPE minmax GRANULARITY 1,
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS positions
(
    `account` UInt64 CODEC(Delta(8), ZSTD(1)),
    `vehicle` UInt64 CODEC(Delta(8), ZSTD(1)),
    `fix_time` DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    `device` UInt64 CODEC(Delta(8), ZSTD(1)),
    `device_time` DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    `received_at` DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    `lat7` Int32 CODEC(Delta(4), ZSTD(1)),
    `lng7` Int32 CODEC(Delta(4), ZSTD(1)),
    `altitude_dm` Nullable(Int32) CODEC(Delta(4), ZSTD(1)),
    `speed_cms` Nullable(UInt16) CODEC(Delta(2), ZSTD(1)),
    `course_cdeg` Nullable(UInt16) CODEC(Delta(2), ZSTD(1)),
    `accuracy_dm` Nullable(UInt32) CODEC(ZSTD(1)),
    `odometer_m` Nullable(UInt32) CODEC(Delta(4), ZSTD(1)),
    `satellites` Nullable(UInt8) CODEC(ZSTD(1)),
    `ignition` Enum8('unknown' = 0, 'off' = 1, 'on' = 2) CODEC(ZSTD(1)),
    `motion` Enum8('unknown' = 0, 'still' = 1, 'moving' = 2) CODEC(ZSTD(1)),
    `alarm` String CODEC(ZSTD(1)),
    `cell` UInt64 CODEC(Delta(8), ZSTD(1)),
    `flags` UInt32 CODEC(ZSTD(1)),
    `source_topic` String CODEC(ZSTD(1)),
    `source_partition` UInt16 CODEC(ZSTD(1)),
    `source_offset` UInt64 CODEC(Delta(8), ZSTD(1)),
    `lat` Float64 ALIAS lat7 / 10000000.,
    `lng` Float64 ALIAS lng7 / 10000000.,
    `altitude_m` Nullable(Float64) ALIAS altitude_dm / 10,
    `speed_mps` Nullable(Float64) ALIAS speed_cms / 100,
    `course_deg` Nullable(Float64) ALIAS course_cdeg / 100,
    `accuracy_m` Nullable(Float64) ALIAS accuracy_dm / 10
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(fix_time)
ORDER BY (account, vehicle, fix_time)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192, min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1, enable_max_bytes_limit_for_min_age_to_force_merge = 1;

CREATE TABLE IF NOT EXISTS positions_by_cell
(
    `account` UInt64 CODEC(Delta(8), ZSTD(1)),
    `cell` UInt64 CODEC(Delta(8), ZSTD(1)),
    `fix_time` DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    `vehicle` UInt64 CODEC(ZSTD(1)),
    `lat7` Int32 CODEC(T64, ZSTD(1)),
    `lng7` Int32 CODEC(T64, ZSTD(1)),
    `flags` UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(fix_time)
ORDER BY (account, cell, fix_time, vehicle)
SETTINGS index_granularity = 2048, non_replicated_deduplication_window = 10000, min_bytes_for_wide_part = 1099511627776;

CREATE TABLE IF NOT EXISTS quotes
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `number` String DEFAULT JSONExtractString(body, 'number'),
    `customer_id` String DEFAULT JSONExtractString(body, 'customer_id'),
    `vehicle_class_id` String DEFAULT JSONExtractString(body, 'vehicle_class_id'),
    `vehicle_id` String DEFAULT JSONExtractString(body, 'vehicle_id'),
    `rate_plan_id` String DEFAULT JSONExtractString(body, 'rate_plan_id'),
    `pickup_location_id` String DEFAULT JSONExtractString(body, 'pickup_location_id'),
    `channel` LowCardinality(String) DEFAULT JSONExtractString(body, 'channel'),
    `pickup_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'pickup_at'), 3, 'UTC'),
    `return_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'return_at'), 3, 'UTC'),
    `expires_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'expires_at'), 3, 'UTC'),
    `booking_id` String DEFAULT JSONExtractString(body, 'booking_id'),
    `total_amount` Int64 DEFAULT JSONExtractInt(body, 'rate_snapshot', 'totals', 'total', 'amount'),
    `currency` LowCardinality(String) DEFAULT JSONExtractString(body, 'rate_snapshot', 'currency'),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    INDEX customer_id_bloom customer_id TYPE bloom_filter GRANULARITY 1,
    INDEX pickup_at_minmax pickup_at TYPE minmax GRANULARITY 1,
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS rate_plans
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `name` String DEFAULT JSONExtractString(body, 'name'),
    `enabled` Bool DEFAULT (NOT JSONHas(body, 'enabled')) OR JSONExtractBool(body, 'enabled'),
    `channels` Array(String) DEFAULT JSONExtract(body, 'channels', 'Array(String)'),
    `vehicle_class_ids` Array(String) DEFAULT JSONExtract(body, 'vehicle_class_ids', 'Array(String)'),
    `valid_from` String DEFAULT JSONExtractString(body, 'valid_from'),
    `valid_to` String DEFAULT JSONExtractString(body, 'valid_until'),
    `priority` UInt16 DEFAULT toUInt16(JSONExtractUInt(body, 'priority')),
    `currency` LowCardinality(String) DEFAULT JSONExtractString(body, 'currency'),
    `daily_rate` Int64 DEFAULT JSONExtractInt(body, 'daily_rate', 'amount'),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS record_log
(
    `account` UInt64,
    `kind` LowCardinality(String),
    `id` UInt64,
    `revision` UInt64,
    `write_id` UInt64,
    `action` LowCardinality(String),
    `at` DateTime64(3, 'UTC'),
    `created_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `actor` String,
    `request_id` String,
    `body` String CODEC(ZSTD(3)),
    INDEX at_minmax at TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
ORDER BY (account, kind, id, revision)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity_bytes = 524288, merge_selector_base = 12, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS record_settled
(
    `account` UInt64,
    `kind` LowCardinality(String),
    `id` UInt64,
    `revision` UInt64,
    `at` DateTime64(3, 'UTC'),
    `marked_at` DateTime DEFAULT now()
)
ENGINE = MergeTree
ORDER BY (at, account, kind, id, revision)
TTL marked_at + toIntervalDay(7)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS recurring_costs
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `category` LowCardinality(String) DEFAULT JSONExtractString(body, 'category'),
    `vehicle_id` String DEFAULT JSONExtractString(body, 'vehicle_id'),
    `location_id` String DEFAULT JSONExtractString(body, 'location_id'),
    `vendor` String DEFAULT JSONExtractString(body, 'vendor'),
    `description` String DEFAULT JSONExtractString(body, 'description'),
    `every` LowCardinality(String) DEFAULT JSONExtractString(body, 'every'),
    `starts_on` String DEFAULT JSONExtractString(body, 'from'),
    `ends_on` String DEFAULT JSONExtractString(body, 'until'),
    `amount` Int64 DEFAULT JSONExtractInt(body, 'amount', 'amount'),
    `currency` LowCardinality(String) DEFAULT JSONExtractString(body, 'amount', 'currency'),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS reminders
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `schedule_id` String DEFAULT JSONExtractString(body, 'schedule_id'),
    `schedule` UInt64 DEFAULT toUInt64OrZero(extract(JSONExtractString(body, 'schedule_id'), '[0-9]+')),
    `task_id` String DEFAULT JSONExtractString(body, 'task_id'),
    `vehicle_id` String DEFAULT JSONExtractString(body, 'vehicle_id'),
    `vehicle` UInt64 DEFAULT toUInt64OrZero(extract(JSONExtractString(body, 'vehicle_id'), '[0-9]+')),
    `cycle` UInt32 DEFAULT toUInt32(JSONExtractInt(body, 'cycle')),
    `stage` LowCardinality(String) DEFAULT JSONExtractString(body, 'stage'),
    `stage_since` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'stage_since'), 3, 'UTC'),
    `due_on` String DEFAULT JSONExtractString(body, 'due_on'),
    `forecast_due_on` String DEFAULT JSONExtractString(body, 'forecast_due_on'),
    `due_mi` Nullable(Float64) DEFAULT JSONExtract(body, 'due_mi', 'Nullable(Float64)'),
    `due_engine_hours` Nullable(Float64) DEFAULT JSONExtract(body, 'due_engine_hours', 'Nullable(Float64)'),
    `snoozed_until` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'snoozed_until'), 3, 'UTC'),
    `work_order_id` String DEFAULT JSONExtractString(body, 'work_order_id'),
    `resolved_by_work_order_id` String DEFAULT JSONExtractString(body, 'resolved_by_work_order_id'),
    `watch_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'watch_at'), 3, 'UTC'),
    `watch_mi` Nullable(Float64) DEFAULT JSONExtract(body, 'watch_mi', 'Nullable(Float64)'),
    `watch_engine_hours` Nullable(Float64) DEFAULT JSONExtract(body, 'watch_engine_hours', 'Nullable(Float64)'),
    `basis` Array(UInt64) DEFAULT JSONExtract(body, 'basis', 'Array(UInt64)'),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    INDEX vehicle_bloom vehicle_id TYPE bloom_filter GRANULARITY 1,
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS rental_days
(
    `account` UInt64,
    `local_date` Date32,
    `booking` UInt64,
    `computed_at` DateTime64(3, 'UTC'),
    `vehicle` UInt64,
    `class` UInt64,
    `customer` UInt64,
    `location` UInt64,
    `channel` LowCardinality(String),
    `status` LowCardinality(String),
    `currency` LowCardinality(String),
    `rented_s` UInt32,
    `billed_days` UInt32,
    `spells` Array(Tuple(
        begins Int64,
        ends Int64)),
    INDEX booking_bloom booking TYPE bloom_filter GRANULARITY 1,
    INDEX computed_at_minmax computed_at TYPE minmax GRANULARITY 1,
    INDEX booking_minmax booking TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(local_date)
ORDER BY (account, local_date, booking, vehicle)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS rental_sums
(
    `account` UInt64,
    `booking` UInt64,
    `computed_at` DateTime64(3, 'UTC'),
    `gps_m` Int64,
    `revenue` Int64,
    `contribution` Int64,
    `gps_by_day` Array(Tuple(
        Date32,
        Int64)),
    `completed` Bool,
    `day` Date32,
    `vehicle` UInt64,
    `class` UInt64,
    `location` UInt64,
    `channel` LowCardinality(String),
    `customer` UInt64,
    `currency` LowCardinality(String),
    `rented_s` Int64,
    `billed_days` UInt32,
    `metered` Bool,
    `odometer_mi` Int64,
    `over_mi` Int64,
    `unbilled_mi` Int64,
    `extra_mile_fee` Int64,
    `missing` Array(Tuple(
        vehicle UInt64,
        fuel_pct Float64,
        battery_pct Float64)),
    `refuel_charged` Int64,
    `recharge_charged` Int64,
    `returned_at` DateTime64(3, 'UTC'),
    `billed` Int64,
    INDEX day_minmax day TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYear(fromUnixTimestamp64Milli(toInt64(bitShiftRight(booking, 22) + 1577836800000), 'UTC'))
ORDER BY (account, booking)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS retention_cuts
(
    `account` UInt64,
    `done` Bool,
    `cut_at` DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(cut_at)
ORDER BY (account, done)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS retention_keeps
(
    `turn` UInt64,
    `account` UInt64,
    `vehicle` UInt64,
    `id` UInt64,
    `at` DateTime('UTC') DEFAULT now('UTC')
)
ENGINE = MergeTree
ORDER BY (turn, account, vehicle, id)
TTL at + toIntervalDay(7)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS rollup_looks
(
    `sums` LowCardinality(String),
    `until` DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(until)
ORDER BY sums
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS route_plans
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `name` String DEFAULT JSONExtractString(body, 'name'),
    `description` String DEFAULT JSONExtractString(body, 'description'),
    `vehicle_id` String DEFAULT JSONExtractString(body, 'vehicle_id'),
    `starts_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'from'), 3, 'UTC'),
    `ends_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'until'), 3, 'UTC'),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1,
    INDEX ends_at_minmax ends_at TYPE minmax GRANULARITY 1,
    INDEX vehicle_bloom vehicle_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS route_runs
(
    `account` UInt64,
    `vehicle` UInt64,
    `id` UInt64,
    `revision` UInt32,
    `start_at` DateTime64(3, 'UTC'),
    `end_at` DateTime64(3, 'UTC'),
    `local_date` Date,
    `open` Bool,
    `deleted` Bool,
    `late` Bool,
    `updated_at` DateTime64(3, 'UTC'),
    `plan` UInt64,
    `stops` UInt16,
    `reached` UInt16,
    `missed` UInt16,
    `off_ms` Int64,
    `closed_reason` LowCardinality(String),
    `body` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(start_at)
ORDER BY (account, vehicle, start_at, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 256, min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1, enable_max_bytes_limit_for_min_age_to_force_merge = 1;

CREATE TABLE IF NOT EXISTS saved_reports
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `name` String DEFAULT JSONExtractString(body, 'name'),
    `report` LowCardinality(String) DEFAULT JSONExtractString(body, 'report'),
    `next_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'next_at'), 3, 'UTC'),
    `external_ids` Array(String) DEFAULT [],
    `body` String CODEC(ZSTD(3)),
    `next_run_at` DateTime64(3, 'UTC') ALIAS next_at,
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS schedule_looks
(
    `account` UInt64,
    `subject` String,
    `at` DateTime64(3, 'UTC'),
    `basis` UInt64,
    `next_at` DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(at)
ORDER BY (account, subject)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS service_tasks
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `name` String DEFAULT JSONExtractString(body, 'name'),
    `category` LowCardinality(String) DEFAULT JSONExtractString(body, 'category'),
    `description` String DEFAULT JSONExtractString(body, 'description'),
    `intervals` Bool DEFAULT (JSONExtractInt(body, 'every_mi') > 0) OR (JSONExtractInt(body, 'every_days') > 0) OR (JSONExtractInt(body, 'every_months') > 0) OR (JSONExtractInt(body, 'every_engine_hours') > 0),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS sessions
(
    `account` UInt64,
    `user` UInt64,
    `id` UInt64,
    `token` SimpleAggregateFunction(max, String),
    `factors` SimpleAggregateFunction(max, UInt8),
    `began_at` SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
    `seen_at` SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
    `ended_at` SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
    `address` SimpleAggregateFunction(max, String),
    `agent` SimpleAggregateFunction(max, String),
    `at` SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
    INDEX token_bloom token TYPE bloom_filter GRANULARITY 1
)
ENGINE = AggregatingMergeTree
ORDER BY (account, user, id)
TTL toDateTime(at) + toIntervalDay(30)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS share_links
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `vehicle_id` String DEFAULT JSONExtractString(body, 'vehicle_id'),
    `booking_id` String DEFAULT JSONExtractString(body, 'booking_id'),
    `expires_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'expires_at'), 3, 'UTC'),
    `note` String DEFAULT JSONExtractString(body, 'note'),
    `secret_sha256` String DEFAULT JSONExtractString(body, 'secret_sha256'),
    `external_ids` Array(String) DEFAULT [],
    `body` String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1,
    INDEX secret_bloom secret_sha256 TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS stops
(
    `account` UInt64,
    `vehicle` UInt64,
    `id` UInt64,
    `revision` UInt32,
    `start_at` DateTime64(3, 'UTC'),
    `end_at` DateTime64(3, 'UTC'),
    `local_date` Date,
    `open` Bool,
    `deleted` Bool,
    `late` Bool,
    `updated_at` DateTime64(3, 'UTC'),
    `lat` Float64,
    `lng` Float64,
    `idle_s` Float64,
    `closed_reason` LowCardinality(String),
    `body` String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(start_at)
ORDER BY (account, vehicle, start_at, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 256, min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1, enable_max_bytes_limit_for_min_age_to_force_merge = 1;

CREATE TABLE IF NOT EXISTS sweep_texts
(
    `sweep` UInt64,
    `hash` UInt64,
    `text` String CODEC(ZSTD(3)),
    `at` DateTime('UTC') DEFAULT now('UTC')
)
ENGINE = MergeTree
PARTITION BY sweep
ORDER BY (sweep, hash)
TTL at + toIntervalDay(1)
SETTINGS non_replicated_deduplication_window = 10000, ttl_only_drop_parts = 1, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS tag_reports
(
    `account` UInt64 CODEC(Delta(8), ZSTD(1)),
    `vehicle` UInt64 CODEC(Delta(8), ZSTD(1)),
    `time` DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    `tag` LowCardinality(String) CODEC(ZSTD(1)),
    INDEX tag_set tag TYPE set(64) GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(time)
ORDER BY (account, vehicle, time, tag)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS tax_bases
(
    `account` UInt64,
    `booking` UInt64,
    `local_date` Date32,
    `name` LowCardinality(String),
    `location` UInt64,
    `channel` LowCardinality(String),
    `currency` LowCardinality(String),
    `computed_at` DateTime64(3, 'UTC'),
    `base` Int64,
    `known` Int64,
    INDEX local_date_minmax local_date TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYear(fromUnixTimestamp64Milli(toInt64(bitShiftRight(booking, 22) + 1577836800000), 'UTC'))
ORDER BY (account, booking, local_date, name, location, channel, currency)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS telemetry
(
    `account` UInt64 CODEC(Delta(8), ZSTD(1)),
    `vehicle` UInt64 CODEC(Delta(8), ZSTD(1)),
    `signal` LowCardinality(String) CODEC(ZSTD(1)),
    `time` DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    `value` Float64 CODEC(Gorilla(8), ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(time)
ORDER BY (account, vehicle, signal, time)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS telemetry_1d
(
    `account` UInt64,
    `vehicle` UInt64,
    `signal` LowCardinality(String),
    `bucket` DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    `min_value` SimpleAggregateFunction(min, Float64),
    `max_value` SimpleAggregateFunction(max, Float64),
    `first_value` AggregateFunction(argMin, Float64, DateTime64(3, 'UTC')),
    `last_value` AggregateFunction(argMax, Float64, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(bucket)
ORDER BY (account, vehicle, signal, bucket)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS telemetry_1h
(
    `account` UInt64,
    `vehicle` UInt64,
    `signal` LowCardinality(String),
    `bucket` DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    `min_value` SimpleAggregateFunction(min, Float64),
    `max_value` SimpleAggregateFunction(max, Float64),
    `first_value` AggregateFunction(argMin, Float64, DateTime64(3, 'UTC')),
    `last_value` AggregateFunction(argMax, Float64, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(bucket)
ORDER BY (account, vehicle, signal, bucket)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS telemetry_1m
(
    `account` UInt64,
    `vehicle` UInt64,
    `signal` LowCardinality(String),
    `bucket` DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    `min_value` SimpleAggregateFunction(min, Float64),
    `max_value` SimpleAggregateFunction(max, Float64),
    `first_value` AggregateFunction(argMin, Float64, DateTime64(3, 'UTC')),
    `last_value` AggregateFunction(argMax, Float64, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(bucket)
ORDER BY (account, vehicle, signal, bucket)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS telemetry_latest
(
    `account` UInt64,
    `vehicle` UInt64,
    `signal` LowCardinality(String),
    `time` DateTime64(3, 'UTC'),
    `value` Float64
)
ENGINE = ReplacingMergeTree(time)
ORDER BY (account, vehicle, signal)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS tolls
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `kind` LowCardinality(String) DEFAULT JSONExtractString(body, 'kind'),
    `status` LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    `plate` String DEFAULT JSONExtractString(body, 'plate'),
    `region` LowCardinality(String) DEFAULT JSONExtractString(body, 'region'),
    `agency` String DEFAULT JSONExtractString(body, 'agency'),
    `reference` String DEFAULT JSONExtractString(body, 'reference'),
    `vehicle_id` String DEFAULT JSONExtractString(body, 'vehicle_id'),
    `booking_id` String DEFAULT JSONExtractString(body, 'booking_id'),
    `currency` LowCardinality(String) DEFAULT JSONExtractString(body, 'amount', 'currency'),
    `amount` Int64 DEFAULT JSONExtractInt(body, 'amount', 'amount'),
    `admin_fee` Int64 DEFAULT JSONExtractInt(body, 'admin_fee', 'amount'),
    `occurred_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'occurred_at'), 3, 'UTC'),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    INDEX booking_id_bloom booking_id TYPE bloom_filter GRANULARITY 1,
    INDEX vehicle_id_bloom vehicle_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS trip_drivers
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `vehicle` UInt64 DEFAULT toUInt64OrZero(substring(JSONExtractString(body, 'vehicle_id'), 5)),
    `from_at` DateTime64(3, 'UTC') DEFAULT fromUnixTimestamp64Milli(JSONExtractInt(body, 'from_ms'), 'UTC'),
    `to_at` DateTime64(3, 'UTC') DEFAULT fromUnixTimestamp64Milli(JSONExtractInt(body, 'to_ms'), 'UTC'),
    `driver` String DEFAULT JSONExtractString(body, 'driver'),
    `body` String CODEC(ZSTD(3)),
    INDEX driver_bloom driver TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, vehicle, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS trips
(
    `account` UInt64,
    `vehicle` UInt64,
    `id` UInt64,
    `revision` UInt32,
    `start_at` DateTime64(3, 'UTC'),
    `end_at` DateTime64(3, 'UTC'),
    `local_date` Date,
    `open` Bool,
    `deleted` Bool,
    `late` Bool,
    `updated_at` DateTime64(3, 'UTC'),
    `device` UInt64,
    `start_lat` Float64,
    `start_lng` Float64,
    `end_lat` Float64,
    `end_lng` Float64,
    `distance_m` Float64,
    `distance_estimated_m` Float64 DEFAULT JSONExtractFloat(body, 'distance_estimated_m'),
    `moving_s` Float64,
    `unrecorded_s` Float64 DEFAULT JSONExtractFloat(body, 'unrecorded_ms') / 1000,
    `unrecorded` Bool DEFAULT JSONExtractBool(body, 'unrecorded'),
    `idle_s` Float64,
    `max_speed_mps` Float64,
    `closed_reason` LowCardinality(String),
    `body` String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1,
    INDEX end_at_minmax end_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(start_at)
ORDER BY (account, vehicle, start_at, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 256, min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1, enable_max_bytes_limit_for_min_age_to_force_merge = 1;

CREATE TABLE IF NOT EXISTS unregistered_reports
(
    `unique_id` String,
    `at` DateTime64(3, 'UTC'),
    `source_topic` LowCardinality(String),
    `source_partition` UInt16,
    `source_offset` UInt64,
    `source_index` UInt32,
    `run` LowCardinality(String),
    `report` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(at)
ORDER BY (unique_id, source_topic, source_partition, source_offset, source_index)
TTL toDateTime(at) + toIntervalDay(7)
SETTINGS non_replicated_deduplication_window = 10000, ttl_only_drop_parts = 1, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS users
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `name` String DEFAULT JSONExtractString(body, 'name'),
    `email` String DEFAULT lowerUTF8(JSONExtractString(body, 'email')),
    `role` LowCardinality(String) DEFAULT JSONExtractString(body, 'role'),
    `disabled` Bool DEFAULT JSONExtractBool(body, 'disabled'),
    `external_ids` Array(String) DEFAULT [],
    `body` String CODEC(ZSTD(3)),
    INDEX email_bloom email TYPE bloom_filter GRANULARITY 1,
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS vehicle_classes
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `name` String DEFAULT JSONExtractString(body, 'name'),
    `code` String DEFAULT JSONExtractString(body, 'code'),
    `description` String DEFAULT JSONExtractString(body, 'description'),
    `rank` UInt16 DEFAULT toUInt16(JSONExtractUInt(body, 'rank')),
    `rate_plan_id` String DEFAULT JSONExtractString(body, 'rate_plan_id'),
    `daily_rate` Int64 DEFAULT JSONExtractInt(body, 'daily_rate', 'amount'),
    `currency` LowCardinality(String) DEFAULT JSONExtractString(body, 'daily_rate', 'currency'),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS vehicle_days
(
    `account` UInt64,
    `local_date` Date32,
    `vehicle` UInt64,
    `currency` LowCardinality(String),
    `computed_at` DateTime64(3, 'UTC'),
    `day_s` UInt32,
    `fleet_s` UInt32,
    `down_s` UInt32,
    `rented_s` UInt32,
    `idle_s` UInt32,
    `billed_days` UInt32,
    `driven_m` Float64,
    `rented_m` Float64,
    `fuel_l` Float64,
    `energy_kwh` Float64,
    `revenue_time` Int64,
    `revenue_mileage` Int64,
    `revenue_extras` Int64,
    `revenue_protection` Int64,
    `revenue_fees` Int64,
    `revenue_damage` Int64,
    `discounts` Int64,
    `refunds` Int64,
    `toll_recharge` Int64,
    `platform_fees` Int64,
    `cost_energy` Int64,
    `cost_maintenance` Int64,
    `cost_other_variable` Int64,
    `cost_depreciation` Int64,
    `cost_finance` Int64,
    `cost_insurance` Int64,
    `cost_other_fixed` Int64,
    `revenue` Int64 ALIAS ((((((revenue_time + revenue_mileage) + revenue_extras) + revenue_protection) + revenue_fees) + revenue_damage) + discounts) + refunds,
    `variable_cost` Int64 ALIAS ((cost_energy + cost_maintenance) + cost_other_variable) - toll_recharge,
    `fixed_cost` Int64 ALIAS ((cost_depreciation + cost_finance) + cost_insurance) + cost_other_fixed
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(local_date)
ORDER BY (account, local_date, vehicle, currency)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS vehicle_mileage
(
    `account` UInt64,
    `vehicle` UInt64,
    `time` DateTime64(3, 'UTC'),
    `raw_m` UInt32,
    `base_m` UInt32,
    `before_m` UInt32
)
ENGINE = ReplacingMergeTree(time)
ORDER BY (account, vehicle)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS vehicle_months
(
    `account` UInt64,
    `month` Date32,
    `vehicle` UInt64,
    `currency` LowCardinality(String),
    `computed_at` DateTime64(3, 'UTC'),
    `day_s` UInt64,
    `fleet_s` UInt64,
    `down_s` UInt64,
    `rented_s` UInt64,
    `idle_s` UInt64,
    `billed_days` UInt64,
    `driven_m` Float64,
    `rented_m` Float64,
    `fuel_l` Float64,
    `energy_kwh` Float64,
    `revenue_time` Int64,
    `revenue_mileage` Int64,
    `revenue_extras` Int64,
    `revenue_protection` Int64,
    `revenue_fees` Int64,
    `revenue_damage` Int64,
    `discounts` Int64,
    `refunds` Int64,
    `toll_recharge` Int64,
    `platform_fees` Int64,
    `cost_energy` Int64,
    `cost_maintenance` Int64,
    `cost_other_variable` Int64,
    `cost_depreciation` Int64,
    `cost_finance` Int64,
    `cost_insurance` Int64,
    `cost_other_fixed` Int64,
    `revenue` Int64 ALIAS ((((((revenue_time + revenue_mileage) + revenue_extras) + revenue_protection) + revenue_fees) + revenue_damage) + discounts) + refunds,
    `variable_cost` Int64 ALIAS ((cost_energy + cost_maintenance) + cost_other_variable) - toll_recharge,
    `fixed_cost` Int64 ALIAS ((cost_depreciation + cost_finance) + cost_insurance) + cost_other_fixed,
    `driven_days` UInt32,
    `fuelled_m` Float64,
    `days_known` UInt32,
    `rented_by_day` Array(UInt32),
    `rentable_by_day` Array(Int64),
    `billed_by_day` Array(UInt32),
    `sold_by_day` Array(Int64),
    `running_by_day` Array(Int64)
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYear(month)
ORDER BY (account, month, vehicle, currency)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS vehicle_state
(
    `account` UInt64,
    `vehicle` UInt64,
    `version` UInt64,
    `device` UInt64,
    `fix_time` DateTime64(3, 'UTC'),
    `device_time` DateTime64(3, 'UTC'),
    `received_at` DateTime64(3, 'UTC'),
    `lat7` Int32,
    `lng7` Int32,
    `altitude_dm` Nullable(Int32),
    `speed_cms` Nullable(UInt16),
    `course_cdeg` Nullable(UInt16),
    `accuracy_dm` Nullable(UInt32),
    `odometer_m` Nullable(UInt32),
    `satellites` Nullable(UInt8),
    `ignition` Enum8('unknown' = 0, 'off' = 1, 'on' = 2),
    `motion` Enum8('unknown' = 0, 'still' = 1, 'moving' = 2),
    `alarm` LowCardinality(String),
    `cell` UInt64,
    `flags` UInt32,
    `source_topic` LowCardinality(String),
    `source_partition` UInt16,
    `source_offset` UInt64,
    `newest_time` DateTime64(3, 'UTC'),
    `candidate_time` Nullable(DateTime64(3, 'UTC')),
    `candidate_lat7` Int32,
    `candidate_lng7` Int32,
    `still_goes_ms` Int64,
    `still_same_ms` Int64,
    `still_speed_mps` Float64,
    `still_way_m` Float64,
    `still_mute_ms` Int64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (account, vehicle)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS vehicle_statuses
(
    `account` UInt64,
    `vehicle` UInt64,
    `since` DateTime64(3, 'UTC'),
    `revision` UInt64,
    `status` LowCardinality(String)
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, vehicle, since)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS vehicles
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `make` String DEFAULT JSONExtractString(body, 'make'),
    `model` String DEFAULT JSONExtractString(body, 'model'),
    `year` UInt16 DEFAULT toUInt16(JSONExtractUInt(body, 'year')),
    `vin` String DEFAULT JSONExtractString(body, 'vin'),
    `status` LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    `license_plate` String DEFAULT JSONExtractString(body, 'license_plate'),
    `plate_region` String DEFAULT JSONExtractString(body, 'plate_region'),
    `nickname` String DEFAULT JSONExtractString(body, 'nickname'),
    `fleet_number` String DEFAULT JSONExtractString(body, 'fleet_number'),
    `fuel_type` LowCardinality(String) DEFAULT JSONExtractString(body, 'fuel_type'),
    `body_type` LowCardinality(String) DEFAULT JSONExtractString(body, 'body_type'),
    `tags` Array(String) DEFAULT JSONExtract(body, 'tags', 'Array(String)'),
    `vehicle_class_id` LowCardinality(String) DEFAULT JSONExtractString(body, 'vehicle_class_id'),
    `home_location_id` LowCardinality(String) DEFAULT JSONExtractString(body, 'home_location_id'),
    `current_location_id` LowCardinality(String) DEFAULT JSONExtractString(body, 'current_location_id'),
    `rate_plan_id` LowCardinality(String) DEFAULT JSONExtractString(body, 'rate_plan_id'),
    `owner_customer_id` String DEFAULT JSONExtractString(body, 'owner_customer_id'),
    `ownership` LowCardinality(String) DEFAULT JSONExtractString(body, 'ownership'),
    `transmission` LowCardinality(String) DEFAULT JSONExtractString(body, 'transmission'),
    `drivetrain` LowCardinality(String) DEFAULT JSONExtractString(body, 'drivetrain'),
    `seats` UInt16 DEFAULT toUInt16(JSONExtractUInt(body, 'seats')),
    `status_since` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_since'), 3, 'UTC'),
    `status_cause` String DEFAULT JSONExtractString(body, 'status_cause'),
    `status_until` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_until'), 3, 'UTC'),
    `located_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'located_at'), 3, 'UTC'),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    `terms` UInt64 DEFAULT if(JSONHas(body, 'acquisition_cost') OR JSONHas(body, 'financing') OR JSONHas(body, 'insurance') OR (JSONExtractString(body, 'depreciation_method') NOT IN ('', 'none', 'market_value')), cityHash64(JSONExtractRaw(body, 'ownership'), JSONExtractRaw(body, 'acquired_on'), JSONExtractRaw(body, 'acquisition_cost'), JSONExtractRaw(body, 'in_service_on'), JSONExtractRaw(body, 'disposal_on'), JSONExtractRaw(body, 'disposal_price'), JSONExtractRaw(body, 'residual_value'), JSONExtractRaw(body, 'useful_life_months'), JSONExtractRaw(body, 'expected_life_mi'), JSONExtractRaw(body, 'depreciation_method'), JSONExtractRaw(body, 'financing'), JSONExtractRaw(body, 'insurance'), JSONExtractRaw(body, 'timezone')), 0),
    `disposal_on` String DEFAULT JSONExtractString(body, 'disposal_on'),
    INDEX external_ids_bloom external_ids TYPE bloom_filter GRANULARITY 1,
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS visits
(
    `account` UInt64,
    `vehicle` UInt64,
    `id` UInt64,
    `revision` UInt32,
    `start_at` DateTime64(3, 'UTC'),
    `end_at` DateTime64(3, 'UTC'),
    `local_date` Date,
    `open` Bool,
    `deleted` Bool,
    `late` Bool,
    `updated_at` DateTime64(3, 'UTC'),
    `geofence` UInt64,
    `geofence_revision` UInt64,
    `initial` Bool,
    `crossed` Bool,
    `exit_reason` LowCardinality(String),
    `body` String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1,
    INDEX end_at_minmax end_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(start_at)
ORDER BY (account, vehicle, start_at, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 256, min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1, enable_max_bytes_limit_for_min_age_to_force_merge = 1;

CREATE TABLE IF NOT EXISTS webhook_asked
(
    `account` UInt64,
    `endpoint` UInt64,
    `id` UInt64,
    `kind` LowCardinality(String),
    `asked_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `step` UInt8,
    `done` Bool
)
ENGINE = ReplacingMergeTree(step)
ORDER BY (account, endpoint, id)
TTL toDateTime(asked_at) + toIntervalDay(30)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS webhook_attempts
(
    `account` UInt64,
    `endpoint` UInt64,
    `at` DateTime64(3, 'UTC'),
    `delivery` UInt64,
    `number` UInt16,
    `event` UInt64,
    `type` LowCardinality(String),
    `url` String CODEC(ZSTD(3)),
    `request_head` String CODEC(ZSTD(3)),
    `request_bytes` UInt32,
    `succeeded` Bool,
    `response_status` UInt16,
    `response_head` String CODEC(ZSTD(3)),
    `response_body` String CODEC(ZSTD(3)),
    `duration_ms` UInt32,
    `error` String CODEC(ZSTD(3)),
    INDEX delivery_bloom delivery TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(at)
ORDER BY (account, endpoint, at, delivery)
TTL toDateTime(at) + toIntervalDay(30)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024, ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS webhook_deliveries
(
    `account` UInt64,
    `endpoint` UInt64,
    `sequence` UInt64,
    `id` UInt64,
    `version` UInt32,
    `event` UInt64,
    `type` LowCardinality(String),
    `vehicle` UInt64,
    `replay` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `status` LowCardinality(String),
    `attempts` UInt16,
    `tries` UInt16,
    `next_at` DateTime64(3, 'UTC'),
    `response_status` UInt16,
    `duration_ms` UInt32,
    `error` String CODEC(ZSTD(3)),
    INDEX id_bloom id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(created_at)
ORDER BY (account, endpoint, sequence, id)
TTL toDateTime(created_at) + toIntervalDay(30)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024, ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS webhook_endpoints
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `url` String DEFAULT JSONExtractString(body, 'url'),
    `description` String DEFAULT JSONExtractString(body, 'description'),
    `status` LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    `external_ids` Array(String) DEFAULT [],
    `body` String CODEC(ZSTD(3)),
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE IF NOT EXISTS webhook_health
(
    `account` UInt64,
    `endpoint` UInt64,
    `version` UInt64,
    `updated_at` DateTime64(3, 'UTC'),
    `failing_since` DateTime64(3, 'UTC'),
    `failures` UInt32,
    `warned` UInt8,
    `last_success_at` DateTime64(3, 'UTC'),
    `last_failure_at` DateTime64(3, 'UTC'),
    `last_status` UInt16,
    `last_error` String CODEC(ZSTD(3)),
    `circuit` LowCardinality(String),
    `open_until` DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (account, endpoint)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS work_orders
(
    `account` UInt64,
    `id` UInt64,
    `revision` UInt64,
    `created_at` DateTime64(3, 'UTC'),
    `updated_at` DateTime64(3, 'UTC'),
    `archived_at` Nullable(DateTime64(3, 'UTC')),
    `number` String DEFAULT JSONExtractString(body, 'number'),
    `vehicle_id` String DEFAULT JSONExtractString(body, 'vehicle_id'),
    `type` LowCardinality(String) DEFAULT JSONExtractString(body, 'type'),
    `priority` LowCardinality(String) DEFAULT JSONExtractString(body, 'priority'),
    `status` LowCardinality(String) DEFAULT JSONExtractString(body, 'status'),
    `status_since` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'status_since'), 3, 'UTC'),
    `title` String DEFAULT JSONExtractString(body, 'title'),
    `description` String DEFAULT JSONExtractString(body, 'description'),
    `vendor` String DEFAULT JSONExtractString(body, 'vendor'),
    `assignee` String DEFAULT JSONExtractString(body, 'assignee'),
    `invoice_ref` String DEFAULT JSONExtractString(body, 'invoice_ref'),
    `scheduled_start` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'scheduled_from'), 3, 'UTC'),
    `scheduled_end` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'scheduled_until'), 3, 'UTC'),
    `started_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'started_at'), 3, 'UTC'),
    `completed_at` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'completed_at'), 3, 'UTC'),
    `blocked_until` DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(JSONExtractString(body, 'blocked_until'), 3, 'UTC'),
    `total_amount` Int64 DEFAULT JSONExtractInt(body, 'total', 'amount'),
    `currency` LowCardinality(String) DEFAULT JSONExtractString(body, 'total', 'currency'),
    `downtime_minutes` UInt32 DEFAULT toUInt32(JSONExtractInt(body, 'downtime_minutes')),
    `warranty_claim` Bool DEFAULT JSONExtractBool(body, 'warranty_claim'),
    `external_ids` Array(String) DEFAULT arrayMap(r -> JSONExtractString(r, 'id'), JSONExtractArrayRaw(body, 'external_refs')),
    `body` String CODEC(ZSTD(3)),
    INDEX vehicle_bloom vehicle_id TYPE bloom_filter GRANULARITY 1,
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE MATERIALIZED VIEW IF NOT EXISTS alerts_feed TO alerts
(
    `account` UInt64,
    `vehicle` UInt64,
    `id` UInt64,
    `revision` UInt32,
    `start_at` DateTime64(3, 'UTC'),
    `end_at` DateTime64(3, 'UTC'),
    `local_date` Date,
    `open` Bool,
    `deleted` Bool,
    `late` Bool,
    `updated_at` DateTime64(3, 'UTC'),
    `rule` UInt64,
    `alert_kind` String,
    `severity` String,
    `geofence` UInt64,
    `resolved_reason` String,
    `body` String
)
AS SELECT
    account,
    vehicle,
    id,
    revision,
    start_at,
    end_at,
    local_date,
    open,
    deleted,
    late,
    written_at AS updated_at,
    toUInt64OrZero(JSONExtractString(body, 'rule')) AS rule,
    JSONExtractString(body, 'alert_kind') AS alert_kind,
    JSONExtractString(body, 'severity') AS severity,
    toUInt64OrZero(JSONExtractString(body, 'geofence')) AS geofence,
    JSONExtractString(body, 'resolved_reason') AS resolved_reason,
    body
FROM derivations
WHERE kind = 'alert';

CREATE MATERIALIZED VIEW IF NOT EXISTS charges_feed TO charges
(
    `account` UInt64,
    `vehicle` UInt64,
    `id` UInt64,
    `revision` UInt32,
    `start_at` DateTime64(3, 'UTC'),
    `end_at` DateTime64(3, 'UTC'),
    `local_date` Date,
    `open` Bool,
    `deleted` Bool,
    `late` Bool,
    `updated_at` DateTime64(3, 'UTC'),
    `soc_start_pct` Nullable(Float64),
    `soc_end_pct` Nullable(Float64),
    `energy_kwh` Nullable(Float64),
    `body` String
)
AS SELECT
    account,
    vehicle,
    id,
    revision,
    start_at,
    end_at,
    local_date,
    open,
    deleted,
    late,
    written_at AS updated_at,
    JSONExtract(body, 'soc_start_pct', 'Nullable(Float64)') AS soc_start_pct,
    JSONExtract(body, 'soc_end_pct', 'Nullable(Float64)') AS soc_end_pct,
    JSONExtract(body, 'energy_kwh', 'Nullable(Float64)') AS energy_kwh,
    body
FROM derivations
WHERE kind = 'charge';

CREATE MATERIALIZED VIEW IF NOT EXISTS device_outcomes_feed TO device_outcomes
(
    `account` UInt64,
    `device` UInt64,
    `quarter` DateTime('UTC'),
    `outcome` LowCardinality(String),
    `run` String,
    `topic` LowCardinality(String),
    `partition` UInt16,
    `first_offset` UInt64,
    `n` UInt32
)
AS SELECT
    account,
    device,
    quarter,
    outcome,
    run,
    topic,
    partition,
    first_offset,
    n
FROM ingest_outcomes
ARRAY JOIN
    outcome_devices AS device,
    outcome_quarters AS quarter,
    outcome_names AS outcome,
    outcome_counts AS n;

CREATE MATERIALIZED VIEW IF NOT EXISTS driving_events_feed TO driving_events
(
    `account` UInt64,
    `vehicle` UInt64,
    `id` UInt64,
    `revision` UInt32,
    `start_at` DateTime64(3, 'UTC'),
    `end_at` DateTime64(3, 'UTC'),
    `local_date` Date,
    `open` Bool,
    `deleted` Bool,
    `late` Bool,
    `updated_at` DateTime64(3, 'UTC'),
    `what` String,
    `source` String,
    `value` Float64,
    `speed_mps` Float64,
    `lat` Float64,
    `lng` Float64,
    `body` String
)
AS SELECT
    account,
    vehicle,
    id,
    revision,
    start_at,
    end_at,
    local_date,
    open,
    deleted,
    late,
    written_at AS updated_at,
    JSONExtractString(body, 'what') AS what,
    JSONExtractString(body, 'source') AS source,
    JSONExtractFloat(body, 'value') AS value,
    JSONExtractFloat(body, 'speed_mps') AS speed_mps,
    JSONExtractFloat(body, 'place', 'lat') AS lat,
    JSONExtractFloat(body, 'place', 'lng') AS lng,
    body
FROM derivations
WHERE kind = 'driving_event';

CREATE MATERIALIZED VIEW IF NOT EXISTS ledger_days_feed TO ledger_days
(
    `account` UInt64,
    `local_date` Date32,
    `ledger_account` LowCardinality(String),
    `currency` LowCardinality(String),
    `class` UInt64,
    `location` UInt64,
    `channel` LowCardinality(String),
    `amount` Int64,
    `entries` Int64,
    `checksum` UInt64,
    `repair` UInt64
)
AS SELECT
    account,
    local_date,
    ledger_account,
    currency,
    class,
    location,
    channel,
    sum(amount) AS amount,
    toInt64(count()) AS entries,
    sum(id) AS checksum,
    toUInt64(0) AS repair
FROM ledger_entries
GROUP BY
    account,
    local_date,
    ledger_account,
    currency,
    class,
    location,
    channel;

CREATE MATERIALIZED VIEW IF NOT EXISTS ledger_flows_feed TO ledger_flows
(
    `account` UInt64,
    `ledger_account` LowCardinality(String),
    `local_date` Date32,
    `currency` LowCardinality(String),
    `kind` LowCardinality(String),
    `source` UInt64,
    `booking` UInt64,
    `vehicle` UInt64,
    `location` UInt64,
    `channel` LowCardinality(String),
    `customer` UInt64,
    `purpose` LowCardinality(String),
    `amount` Int64,
    `debits` Int64,
    `entries` Int64,
    `checksum` UInt64,
    `repair` UInt64
)
AS SELECT
    account,
    ledger_account,
    local_date,
    currency,
    kind,
    source,
    booking,
    vehicle,
    location,
    channel,
    customer,
    purpose,
    sum(e.amount) AS amount,
    sum(greatest(e.amount, 0)) AS debits,
    toInt64(count()) AS entries,
    sum(id) AS checksum,
    toUInt64(0) AS repair
FROM ledger_entries AS e
WHERE ledger_account IN ('cash', 'accounts_receivable', 'platform_receivable', 'deposits_held', 'tax_payable', 'tax_receivable')
GROUP BY
    account,
    ledger_account,
    local_date,
    currency,
    kind,
    source,
    booking,
    vehicle,
    location,
    channel,
    customer,
    purpose;

CREATE MATERIALIZED VIEW IF NOT EXISTS ledger_months_feed TO ledger_months
(
    `account` UInt64,
    `month` Date32,
    `ledger_account` LowCardinality(String),
    `currency` LowCardinality(String),
    `vehicle` UInt64,
    `class` UInt64,
    `location` UInt64,
    `channel` LowCardinality(String),
    `customer` UInt64,
    `amount` Int64,
    `entries` Int64,
    `checksum` UInt64,
    `repair` UInt64
)
AS SELECT
    account,
    addDays(local_date, 1 - toDayOfMonth(local_date)) AS month,
    ledger_account,
    currency,
    vehicle,
    class,
    location,
    channel,
    customer,
    sum(amount) AS amount,
    toInt64(count()) AS entries,
    sum(id) AS checksum,
    toUInt64(0) AS repair
FROM ledger_entries
GROUP BY
    account,
    month,
    ledger_account,
    currency,
    vehicle,
    class,
    location,
    channel,
    customer;

CREATE MATERIALIZED VIEW IF NOT EXISTS positions_by_cell_feed TO positions_by_cell
(
    `account` UInt64,
    `cell` UInt64,
    `fix_time` DateTime64(3, 'UTC'),
    `vehicle` UInt64,
    `lat7` Int32,
    `lng7` Int32,
    `flags` UInt32
)
AS SELECT
    account,
    cell,
    fix_time,
    vehicle,
    lat7,
    lng7,
    flags
FROM positions;

CREATE MATERIALIZED VIEW IF NOT EXISTS route_runs_feed TO route_runs
(
    `account` UInt64,
    `vehicle` UInt64,
    `id` UInt64,
    `revision` UInt32,
    `start_at` DateTime64(3, 'UTC'),
    `end_at` DateTime64(3, 'UTC'),
    `local_date` Date,
    `open` Bool,
    `deleted` Bool,
    `late` Bool,
    `updated_at` DateTime64(3, 'UTC'),
    `plan` UInt64,
    `stops` UInt16,
    `reached` UInt16,
    `missed` UInt16,
    `off_ms` Int64,
    `closed_reason` String,
    `body` String
)
AS SELECT
    account,
    vehicle,
    id,
    revision,
    start_at,
    end_at,
    local_date,
    open,
    deleted,
    late,
    written_at AS updated_at,
    toUInt64OrZero(JSONExtractString(body, 'plan')) AS plan,
    toUInt16(JSONLength(body, 'stops')) AS stops,
    toUInt16(arrayCount(s -> JSONHas(s, 'arrived_ms'), JSONExtractArrayRaw(body, 'stops'))) AS reached,
    toUInt16(arrayCount(s -> JSONHas(s, 'missed_ms'), JSONExtractArrayRaw(body, 'stops'))) AS missed,
    JSONExtractInt(body, 'off_ms') AS off_ms,
    JSONExtractString(body, 'closed_reason') AS closed_reason,
    body
FROM derivations
WHERE kind = 'route_run';

CREATE MATERIALIZED VIEW IF NOT EXISTS stops_feed TO stops
(
    `account` UInt64,
    `vehicle` UInt64,
    `id` UInt64,
    `revision` UInt32,
    `start_at` DateTime64(3, 'UTC'),
    `end_at` DateTime64(3, 'UTC'),
    `local_date` Date,
    `open` Bool,
    `deleted` Bool,
    `late` Bool,
    `updated_at` DateTime64(3, 'UTC'),
    `lat` Float64,
    `lng` Float64,
    `idle_s` Float64,
    `closed_reason` String,
    `body` String
)
AS SELECT
    account,
    vehicle,
    id,
    revision,
    start_at,
    end_at,
    local_date,
    open,
    deleted,
    late,
    written_at AS updated_at,
    JSONExtractFloat(body, 'place', 'lat') AS lat,
    JSONExtractFloat(body, 'place', 'lng') AS lng,
    JSONExtractFloat(body, 'idle_ms') / 1000 AS idle_s,
    JSONExtractString(body, 'closed_reason') AS closed_reason,
    body
FROM derivations
WHERE kind = 'stop';

CREATE MATERIALIZED VIEW IF NOT EXISTS telemetry_1d_feed TO telemetry_1d
(
    `account` UInt64,
    `vehicle` UInt64,
    `signal` LowCardinality(String),
    `bucket` DateTime('UTC'),
    `min_value` Float64,
    `max_value` Float64,
    `first_value` AggregateFunction(argMin, Float64, DateTime64(3, 'UTC')),
    `last_value` AggregateFunction(argMax, Float64, DateTime64(3, 'UTC'))
)
AS SELECT
    account,
    vehicle,
    signal,
    toDateTime(toStartOfDay(time), 'UTC') AS bucket,
    min(value) AS min_value,
    max(value) AS max_value,
    argMinState(value, time) AS first_value,
    argMaxState(value, time) AS last_value
FROM telemetry
GROUP BY
    account,
    vehicle,
    signal,
    bucket;

CREATE MATERIALIZED VIEW IF NOT EXISTS telemetry_1h_feed TO telemetry_1h
(
    `account` UInt64,
    `vehicle` UInt64,
    `signal` LowCardinality(String),
    `bucket` DateTime('UTC'),
    `min_value` Float64,
    `max_value` Float64,
    `first_value` AggregateFunction(argMin, Float64, DateTime64(3, 'UTC')),
    `last_value` AggregateFunction(argMax, Float64, DateTime64(3, 'UTC'))
)
AS SELECT
    account,
    vehicle,
    signal,
    toStartOfHour(time) AS bucket,
    min(value) AS min_value,
    max(value) AS max_value,
    argMinState(value, time) AS first_value,
    argMaxState(value, time) AS last_value
FROM telemetry
GROUP BY
    account,
    vehicle,
    signal,
    bucket;

CREATE MATERIALIZED VIEW IF NOT EXISTS telemetry_1m_feed TO telemetry_1m
(
    `account` UInt64,
    `vehicle` UInt64,
    `signal` LowCardinality(String),
    `bucket` DateTime('UTC'),
    `min_value` Float64,
    `max_value` Float64,
    `first_value` AggregateFunction(argMin, Float64, DateTime64(3, 'UTC')),
    `last_value` AggregateFunction(argMax, Float64, DateTime64(3, 'UTC'))
)
AS SELECT
    account,
    vehicle,
    signal,
    toStartOfMinute(time) AS bucket,
    min(value) AS min_value,
    max(value) AS max_value,
    argMinState(value, time) AS first_value,
    argMaxState(value, time) AS last_value
FROM telemetry
GROUP BY
    account,
    vehicle,
    signal,
    bucket;

CREATE MATERIALIZED VIEW IF NOT EXISTS telemetry_latest_feed TO telemetry_latest
(
    `account` UInt64,
    `vehicle` UInt64,
    `signal` LowCardinality(String),
    `time` DateTime64(3, 'UTC'),
    `value` Float64
)
AS SELECT
    account,
    vehicle,
    signal,
    max(t.time) AS time,
    argMax(t.value, t.time) AS value
FROM telemetry AS t
GROUP BY
    account,
    vehicle,
    signal;

CREATE MATERIALIZED VIEW IF NOT EXISTS trips_feed TO trips
(
    `account` UInt64,
    `vehicle` UInt64,
    `id` UInt64,
    `revision` UInt32,
    `start_at` DateTime64(3, 'UTC'),
    `end_at` DateTime64(3, 'UTC'),
    `local_date` Date,
    `open` Bool,
    `deleted` Bool,
    `late` Bool,
    `updated_at` DateTime64(3, 'UTC'),
    `device` UInt64,
    `start_lat` Float64,
    `start_lng` Float64,
    `end_lat` Float64,
    `end_lng` Float64,
    `distance_m` Float64,
    `moving_s` Float64,
    `idle_s` Float64,
    `max_speed_mps` Float64,
    `closed_reason` String,
    `body` String
)
AS SELECT
    account,
    vehicle,
    id,
    revision,
    start_at,
    end_at,
    local_date,
    open,
    deleted,
    late,
    written_at AS updated_at,
    toUInt64OrZero(JSONExtractString(body, 'device')) AS device,
    JSONExtractFloat(body, 'start_place', 'lat') AS start_lat,
    JSONExtractFloat(body, 'start_place', 'lng') AS start_lng,
    JSONExtractFloat(body, 'end_place', 'lat') AS end_lat,
    JSONExtractFloat(body, 'end_place', 'lng') AS end_lng,
    JSONExtractFloat(body, 'distance_m') AS distance_m,
    JSONExtractFloat(body, 'moving_ms') / 1000 AS moving_s,
    JSONExtractFloat(body, 'idle_ms') / 1000 AS idle_s,
    JSONExtractFloat(body, 'max_speed_mps') AS max_speed_mps,
    JSONExtractString(body, 'closed_reason') AS closed_reason,
    body
FROM derivations
WHERE kind = 'trip';

CREATE VIEW IF NOT EXISTS vehicle_traits
(
    `account` UInt64,
    `vehicle` UInt64,
    `make` String,
    `model` String,
    `year` UInt16,
    `license_plate` String,
    `nickname` String,
    `status` LowCardinality(String),
    `fuel_type` LowCardinality(String),
    `ownership` LowCardinality(String),
    `tags` Array(String),
    `class` UInt64,
    `location` UInt64,
    `owner` UInt64,
    `acquisition_cost` Int64,
    `acquisition_currency` String,
    `acquired_on` String,
    `in_service_on` String,
    `out_of_service_on` String,
    `disposal_on` String,
    `timezone` String
)
SQL SECURITY INVOKER
AS SELECT
    account,
    id AS vehicle,
    make,
    model,
    year,
    license_plate,
    nickname,
    status,
    fuel_type,
    ownership,
    tags,
    toUInt64OrZero(splitByChar('_', vehicle_class_id)[2]) AS class,
    toUInt64OrZero(splitByChar('_', home_location_id)[2]) AS location,
    toUInt64OrZero(splitByChar('_', owner_customer_id)[2]) AS owner,
    JSONExtractInt(body, 'acquisition_cost', 'amount') AS acquisition_cost,
    JSONExtractString(body, 'acquisition_cost', 'currency') AS acquisition_currency,
    JSONExtractString(body, 'acquired_on') AS acquired_on,
    JSONExtractString(body, 'in_service_on') AS in_service_on,
    JSONExtractString(body, 'out_of_service_on') AS out_of_service_on,
    JSONExtractString(body, 'disposal_on') AS disposal_on,
    JSONExtractString(body, 'timezone') AS timezone
FROM vehicles
FINAL;

CREATE MATERIALIZED VIEW IF NOT EXISTS visits_feed TO visits
(
    `account` UInt64,
    `vehicle` UInt64,
    `id` UInt64,
    `revision` UInt32,
    `start_at` DateTime64(3, 'UTC'),
    `end_at` DateTime64(3, 'UTC'),
    `local_date` Date,
    `open` Bool,
    `deleted` Bool,
    `late` Bool,
    `updated_at` DateTime64(3, 'UTC'),
    `geofence` UInt64,
    `geofence_revision` UInt64,
    `initial` UInt8,
    `crossed` UInt8,
    `exit_reason` String,
    `body` String
)
AS SELECT
    account,
    vehicle,
    id,
    revision,
    start_at,
    end_at,
    local_date,
    open,
    deleted,
    late,
    written_at AS updated_at,
    toUInt64OrZero(JSONExtractString(body, 'geofence')) AS geofence,
    JSONExtractUInt(body, 'geofence_revision') AS geofence_revision,
    JSONExtractBool(body, 'initial') AS initial,
    JSONExtractBool(body, 'crossed') AS crossed,
    JSONExtractString(body, 'exit_reason') AS exit_reason,
    body
FROM derivations
WHERE kind = 'visit';
