CREATE TABLE accounts
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
    `body` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE addresses
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

CREATE TABLE alert_acks
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

CREATE TABLE alert_rules
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

CREATE TABLE alerts
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
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE api_keys
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

CREATE TABLE backup_files
(
    `name` String,
    `path` String,
    `data` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
PARTITION BY name
ORDER BY (name, path)
SETTINGS non_replicated_deduplication_window = 100, index_granularity = 8192;

CREATE TABLE backups
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

CREATE TABLE blocks
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
    INDEX vehicle_bloom vehicle_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE bookings
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
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1,
    INDEX pickup_at_minmax pickup_at TYPE minmax GRANULARITY 1,
    INDEX return_at_minmax return_at TYPE minmax GRANULARITY 1,
    INDEX blocked_until_minmax blocked_until TYPE minmax GRANULARITY 1,
    INDEX customer_bloom customer_id TYPE bloom_filter GRANULARITY 1,
    INDEX reservation_bloom external_reservation_id TYPE bloom_filter GRANULARITY 1,
    INDEX listed_customers_bloom listed_customer_ids TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toStartOfQuarter(fromUnixTimestamp64Milli(toInt64(bitShiftRight(id, 22) + 1577836800000), 'UTC'))
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 256, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1, merge_selector_base = 12;

CREATE TABLE calendars
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

CREATE TABLE charges
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
    `body` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(start_at)
ORDER BY (account, vehicle, start_at, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE checkpoints
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

CREATE TABLE claim_log
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

CREATE TABLE customer_notes
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

CREATE TABLE customers
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

CREATE TABLE dead_letters
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

CREATE TABLE derivations
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

CREATE TABLE device_commands
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

CREATE TABLE device_outcomes
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

CREATE TABLE device_owners
(
    `unique_id` String,
    `account` UInt64,
    `kept` Bool,
    `at` DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(at)
ORDER BY unique_id
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE devices
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

CREATE TABLE dirty_spans
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

CREATE TABLE document_files
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

CREATE TABLE documents
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

CREATE TABLE driver_tags
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

CREATE TABLE driving_events
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
    `body` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(start_at)
ORDER BY (account, vehicle, start_at, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE events
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

CREATE TABLE expenses
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
    INDEX vehicle_id_bloom vehicle_id TYPE bloom_filter GRANULARITY 1,
    INDEX booking_id_bloom booking_id TYPE bloom_filter GRANULARITY 1,
    INDEX updated_at_minmax updated_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE geofences
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

CREATE TABLE heard
(
    `account` UInt64,
    `device` UInt64,
    `vehicle` UInt64,
    `heard_at` DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(heard_at)
ORDER BY (account, device, vehicle)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE heard_hours
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

CREATE TABLE ingest_holds
(
    `id` String,
    `at` DateTime64(3, 'UTC') DEFAULT now64(3),
    `until` DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(at)
ORDER BY id
TTL toDateTime(until) + toIntervalDay(1)
SETTINGS non_replicated_deduplication_window = 100, index_granularity = 8192;

CREATE TABLE ingest_outcomes
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

CREATE TABLE inspections
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

CREATE TABLE issues
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

CREATE TABLE job_errors
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

CREATE TABLE job_input
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

CREATE TABLE job_output
(
    `account` UInt64,
    `job` UInt64,
    `attempt` UInt32,
    `row` UInt32,
    `at` DateTime('UTC'),
    `body` String CODEC(ZSTD(3))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (account, job, attempt, row)
TTL at + toIntervalDay(30)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE job_steps
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

CREATE TABLE jobs
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

CREATE TABLE key_uses
(
    `account` UInt64,
    `key` UInt64,
    `at` DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(at)
ORDER BY (account, key)
TTL toDateTime(at) + toIntervalYear(2)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 8192;

CREATE TABLE ledger_entries
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
    INDEX transaction_bloom transaction TYPE bloom_filter GRANULARITY 1,
    INDEX booking_bloom booking TYPE bloom_filter GRANULARITY 1,
    INDEX vehicle_bloom vehicle TYPE bloom_filter GRANULARITY 1,
    INDEX customer_bloom customer TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(local_date)
ORDER BY (account, local_date, ledger_account, transaction, entry_no)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE ledger_transactions
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

CREATE TABLE locations
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

CREATE TABLE maintenance_schedules
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

CREATE TABLE meter_readings
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

CREATE TABLE meters
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

CREATE TABLE pair_marks
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

CREATE TABLE pair_watches
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

CREATE TABLE payments
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

CREATE TABLE positions
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
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE positions_by_cell
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

CREATE TABLE quotes
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

CREATE TABLE rate_plans
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

CREATE TABLE record_log
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

CREATE TABLE record_settled
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

CREATE TABLE reminders
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
    INDEX vehicle_bloom vehicle_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE TABLE retention_cuts
(
    `account` UInt64,
    `done` Bool,
    `cut_at` DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(cut_at)
ORDER BY (account, done)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE retention_keeps
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

CREATE TABLE route_plans
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

CREATE TABLE route_runs
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
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE schema_versions
(
    `version` String,
    `checksum` String,
    `applied_at` DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(applied_at)
ORDER BY version
SETTINGS index_granularity = 8192;

CREATE TABLE service_tasks
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

CREATE TABLE stops
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
    `body` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(start_at)
ORDER BY (account, vehicle, start_at, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE sweep_texts
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

CREATE TABLE tag_reports
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

CREATE TABLE telemetry
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

CREATE TABLE telemetry_1d
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

CREATE TABLE telemetry_1h
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

CREATE TABLE telemetry_1m
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

CREATE TABLE telemetry_latest
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

CREATE TABLE tolls
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

CREATE TABLE trip_drivers
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

CREATE TABLE trips
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
    `body` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(start_at)
ORDER BY (account, vehicle, start_at, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE unregistered_reports
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

CREATE TABLE vehicle_classes
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

CREATE TABLE vehicle_mileage
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

CREATE TABLE vehicle_state
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

CREATE TABLE vehicles
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
    INDEX external_ids_bloom external_ids TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE visits
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
    `body` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(start_at)
ORDER BY (account, vehicle, start_at, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192;

CREATE TABLE work_orders
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
    INDEX vehicle_bloom vehicle_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (account, id)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 512;

CREATE MATERIALIZED VIEW alerts_feed TO alerts
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

CREATE MATERIALIZED VIEW charges_feed TO charges
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

CREATE MATERIALIZED VIEW device_outcomes_feed TO device_outcomes
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

CREATE MATERIALIZED VIEW driving_events_feed TO driving_events
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

CREATE MATERIALIZED VIEW positions_by_cell_feed TO positions_by_cell
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

CREATE MATERIALIZED VIEW route_runs_feed TO route_runs
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

CREATE MATERIALIZED VIEW stops_feed TO stops
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

CREATE MATERIALIZED VIEW telemetry_1d_feed TO telemetry_1d
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

CREATE MATERIALIZED VIEW telemetry_1h_feed TO telemetry_1h
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

CREATE MATERIALIZED VIEW telemetry_1m_feed TO telemetry_1m
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

CREATE MATERIALIZED VIEW telemetry_latest_feed TO telemetry_latest
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

CREATE MATERIALIZED VIEW trips_feed TO trips
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

CREATE MATERIALIZED VIEW visits_feed TO visits
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

INSERT INTO schema_versions (version, checksum) VALUES
    ('0010_record_log', '89b39d029d333e7c'),
    ('0012_claim_log', '1e9e6ec32b438d3c'),
    ('0014_record_settled', '55ba678a17cebc56'),
    ('0016_sweep_texts', '6518eb000e89c728'),
    ('0020_vehicles', '32149da64514214e'),
    ('0022_api_keys', '38b5087f936d0ca4'),
    ('0023_accounts', 'fa65bfbb640b813c'),
    ('0026_jobs', 'c3490d884a43522a'),
    ('0030_key_uses', 'bbf9a597c55e3f9a'),
    ('0040_job_steps', '8e8cffaa20ad7204'),
    ('0044_job_input', '17fa19784c63cb2e'),
    ('0048_job_output', 'e87587e06eeb33c9'),
    ('0052_job_errors', 'b2a3e496a1e864a3'),
    ('0080_events', 'bb21d222017c6718'),
    ('1010_positions', '61f65f62d0de8888'),
    ('1020_positions_by_cell', 'e672b171e323ccfd'),
    ('1030_telemetry', '7b0208eb93a760f4'),
    ('1040_telemetry_1m', '5330fc5db9adac9e'),
    ('1050_telemetry_1h', '52b23b2b13071ab7'),
    ('1060_telemetry_1d', '79dcb03d25ead7d5'),
    ('1070_telemetry_latest', '0e7b7b2e93f68367'),
    ('1080_vehicle_state', '29ecebf75191480a'),
    ('1090_vehicle_mileage', 'fa04c6a8bbf443b0'),
    ('1100_tag_reports', '2f5127f547026f03'),
    ('1110_heard', '2b69ea9c4c5126eb'),
    ('1120_heard_hours', '2c0cdaa6edbc8c53'),
    ('1130_dead_letters', 'e54993d18cabcea9'),
    ('1140_unregistered_reports', '881a60bf9445b904'),
    ('1150_ingest_outcomes', '1a469a20f58df879'),
    ('1160_device_outcomes', 'd854ee62cb7da5b5'),
    ('1170_device_owners', '82bc700e16907844'),
    ('1180_ingest_holds', '65f0d18371d640e4'),
    ('1210_devices', '581dc86499af1d12'),
    ('1220_device_commands', '0ee1c9ccdaf56f4f'),
    ('1510_positions_by_cell_feed', '7a386fd866871ddd'),
    ('1520_telemetry_1m_feed', '46319ece513ef50a'),
    ('1530_telemetry_1h_feed', 'a1a2375e9e318a87'),
    ('1540_telemetry_1d_feed', '224a076186bba94a'),
    ('1550_telemetry_latest_feed', 'f568111b37841056'),
    ('1560_device_outcomes_feed', '0656add4f3d0d28a'),
    ('2010_derivations', 'c6f814eb09b651d7'),
    ('2020_trips', '3eebca14929308b0'),
    ('2030_stops', '0f7ba908d10a31dc'),
    ('2040_charges', '2e8c20b98fddf125'),
    ('2050_visits', 'd7a42253684c0f88'),
    ('2060_driving_events', '4463368c4c12a131'),
    ('2070_alerts', '5b76fad61f0340a6'),
    ('2080_route_runs', '910c36bc3df5184d'),
    ('2090_checkpoints', '69fe5e66d4272a2d'),
    ('2100_dirty_spans', '48ac966da78b0cfc'),
    ('2110_pair_watches', '70b655a961c5c003'),
    ('2120_pair_marks', '14753ff278cf7370'),
    ('2130_addresses', '2864e55d66112841'),
    ('2210_geofences', '11bbcd9d6726818c'),
    ('2220_alert_rules', '632bf5854d02a4b0'),
    ('2230_route_plans', '0b4677a27853c3e0'),
    ('2240_driver_tags', '74d55741b79740b4'),
    ('2250_trip_drivers', '54855f7be5eb773f'),
    ('2260_alert_acks', '6d355f30d6cd0690'),
    ('2510_trips_feed', '3e28538d5acb7107'),
    ('2520_stops_feed', '95b5244784c33a39'),
    ('2530_charges_feed', '58dc631a035b951e'),
    ('2540_visits_feed', '23a6cdf24763bcf6'),
    ('2550_driving_events_feed', '08961c928020b530'),
    ('2560_alerts_feed', '902776f4c492e0a7'),
    ('2570_route_runs_feed', '6b97bb2751c5b540'),
    ('3010_ledger_transactions', '9c775ed52063c598'),
    ('3020_ledger_entries', '00516b6390b7b84e'),
    ('3030_document_files', '65bfe1f004cc0247'),
    ('3110_calendars', '617ac6c29a956050'),
    ('3120_vehicle_classes', 'd55aabcd5ca1efc4'),
    ('3130_locations', 'e4aa58bb2c22ec6a'),
    ('3140_rate_plans', '1a89693cd231e970'),
    ('3150_quotes', '031075ae6abe0c25'),
    ('3160_bookings', '7805b7402eab45e3'),
    ('3170_customers', 'b0be4bcb24351fe9'),
    ('3180_customer_notes', 'ca5770278595a9f6'),
    ('3190_documents', '3d8dd06f823ecb8a'),
    ('3200_tolls', 'c996867417736586'),
    ('3210_meter_readings', '699557a01937d10b'),
    ('3220_meters', 'bbc119e4ea04368a'),
    ('3230_blocks', 'fe5c0b43163e0fab'),
    ('3240_payments', '76e165ff0b1aebc8'),
    ('3250_expenses', '46e48e4931049842'),
    ('3260_service_tasks', 'b134da3a887ec214'),
    ('3270_maintenance_schedules', '00858580474deaa1'),
    ('3280_reminders', 'f735863e3dd66d67'),
    ('3290_work_orders', 'ba7e3c6aa1246e92'),
    ('3300_issues', '0a7f6d67b8e4e925'),
    ('3310_inspections', 'a0612f1c3c94ea84'),
    ('4010_backups', 'c635af345d6a1fd2'),
    ('4020_backup_files', '59b5b8060011b36c'),
    ('4030_retention_cuts', '37f858583df2356d'),
    ('4040_retention_keeps', '2fa7cd955ed32da9');
