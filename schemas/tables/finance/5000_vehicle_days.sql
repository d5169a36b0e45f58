-- Grain: what one vehicle did, earned and cost on one local day, in one currency. Key: (account, local_date, vehicle,
-- currency). A function of rental_days, blocks, states of the vehicle, trips, charges and entries of the ledger as they
-- stand; made again for days of which one of them changed. Only what differs is written; the row that was made last
-- counts, and one that has nothing any more stands with zeros: read with FINAL. vehicle is 0 for what is of no vehicle.
-- Seconds, miles and energy stand in the row of the account's own currency alone, so that they are summed over all
-- currencies and money over one. A day is that of the vehicle's zone and has 23, 24 or 25 hours (day_s, of days on which
-- it was in the fleet or had something to do); one that is not over counts to the present. Instants count by their
-- whole second. fleet_s: in the fleet, from the beginning of in_service_on (else acquired_on, else when its record was
-- made) to that of disposal_on or of a later out_of_service_on, or till it was archived. rented_s: out with a renter,
-- and once if two bookings say so. down_s: of fleet_s in maintenance or out of service, by its state or by a block, once
-- if both say so, and not while it was rented. Rentable are fleet_s - down_s; idle_s are those less rented_s, at least 0.
-- billed_days: days that are billed. driven_m, fuel_l: of trips, by day in proportion to time where one passes midnight;
-- rented_m: likewise what of it lies in rented_s. energy_kwh: charged, by the day on which the session began. Of days
-- whose trips the account does not keep any more these four stand as they were.
-- Money is in minor units, revenue and costs as positive numbers; discounts and refunds are negative.
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
