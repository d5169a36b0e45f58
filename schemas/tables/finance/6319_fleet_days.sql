-- Grain: vehicle_days of all vehicles of an account on one local day, in one currency, added up. Key: (account, local_date,
-- currency). Made again whenever a day of a vehicle is; the row that was made last counts: read with FINAL. Serves: reports
-- by time and in all that are of no vehicles in particular, which read a row for each day of ten years, and not 5,000.
CREATE TABLE IF NOT EXISTS fleet_days
(
    account             UInt64,
    local_date          Date32,
    currency            LowCardinality(String),
    computed_at         DateTime64(3, 'UTC'),
    day_s               UInt64,
    fleet_s             UInt64,
    down_s              UInt64,
    rented_s            UInt64,
    idle_s              UInt64,
    billed_days         UInt64,
    driven_m            Float64,
    rented_m            Float64,
    fuel_l              Float64,
    energy_kwh          Float64,
    revenue_time        Int64,
    revenue_mileage     Int64,
    revenue_extras      Int64,
    revenue_protection  Int64,
    revenue_fees        Int64,
    revenue_damage      Int64,
    discounts           Int64,
    refunds             Int64,
    toll_recharge       Int64,
    platform_fees       Int64,
    cost_energy         Int64,
    cost_maintenance    Int64,
    cost_other_variable Int64,
    cost_depreciation   Int64,
    cost_finance        Int64,
    cost_insurance      Int64,
    cost_other_fixed    Int64
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYear(local_date)
ORDER BY (account, local_date, currency)
SETTINGS non_replicated_deduplication_window = 10000
