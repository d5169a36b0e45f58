-- Grain: vehicle_days of one vehicle and currency, summed over one month, which is named by its first day. Key: (account,
-- month, vehicle, currency). Made again whenever a day of the month is; the row that was made last counts: read with
-- FINAL. Serves: reports over long spans.
CREATE TABLE IF NOT EXISTS vehicle_months
(
    account             UInt64,
    month               Date32,
    vehicle             UInt64,
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
    cost_other_fixed    Int64,
    revenue             Int64 ALIAS revenue_time + revenue_mileage + revenue_extras + revenue_protection + revenue_fees
        + revenue_damage + discounts + refunds,
    variable_cost       Int64 ALIAS cost_energy + cost_maintenance + cost_other_variable - toll_recharge,
    fixed_cost          Int64 ALIAS cost_depreciation + cost_finance + cost_insurance + cost_other_fixed
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYear(month)
ORDER BY (account, month, vehicle, currency)
SETTINGS non_replicated_deduplication_window = 10000
