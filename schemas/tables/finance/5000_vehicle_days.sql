-- Grain: what one vehicle did, earned and cost on one local day, in one currency. Key: (account, local_date, vehicle,
-- currency). A function of bookings, blocks, states of the vehicle, trips, charges and entries of the ledger as they
-- stand; made again for days of which one of them changed, and the row that was made last counts: read with FINAL.
-- vehicle is 0 for money that is of no vehicle. Seconds, miles and energy stand in the row of the account's own
-- currency alone, so that they are summed over all currencies and money over one. A day is that of the vehicle's zone
-- and has 23, 24 or 25 hours. fleet_s: in the fleet, from in_service_on to disposal. down_s: in maintenance or out of
-- service. rented_s: from pickup to return. Rentable are fleet_s - down_s, idle those less rented_s. billed_days: days
-- that are billed. Money is in minor units, revenue and costs as positive numbers; discounts and refunds are negative.
-- Which account of the ledger goes into which column is said in the chart of accounts (measure). Serves: reports.
CREATE TABLE IF NOT EXISTS vehicle_days
(
    account             UInt64,
    local_date          Date32,
    vehicle             UInt64,
    currency            LowCardinality(String),
    computed_at         DateTime64(3, 'UTC'),
    day_s               UInt32,
    fleet_s             UInt32,
    down_s              UInt32,
    rented_s            UInt32,
    idle_s              UInt32,
    billed_days         UInt32,
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
PARTITION BY toYYYYMM(local_date)
ORDER BY (account, local_date, vehicle, currency)
SETTINGS non_replicated_deduplication_window = 10000
