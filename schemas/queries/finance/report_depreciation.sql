-- report: Depreciation
-- about: What vehicles lost in value by the books, what they cost when they were bought, and what is left of that: their book
--   value at the end of the span.
-- bases: accrual
-- groups: total vehicle make model class location owner tag
-- figure depreciation money [ledger cost_depreciation]: Depreciation of the span.
-- figure accumulated money [ledger minus standing accumulated_depreciation]: Depreciation until the end of the span, all that
--   stands against the vehicles in the books.
-- figure booked_cost money [ledger standing fixed_asset]: What stands in the books for the vehicles, at the end of the span.
-- figure acquisition_cost money: What was paid for the vehicles, as their records say now, of those that are not disposed of at
--   the end of the span.
-- figure book_value money: Acquisition cost less accumulated depreciation of these vehicles.
-- figure fleet_s seconds: Seconds in the fleet.
-- ratio per_unit_month money = depreciation * 2629800 / fleet_s: Depreciation of a vehicle in a month of 30.4375 days. Time in the
--   fleet is of no currency: it is right of vehicles whose money is of one.
-- ratio depreciated percent = accumulated / acquisition_cost: How much of what was paid is written off.
-- EXPLAIN indexes=1: vehicle_facts by account and days; ledger_months by account, month and ledger_account, and
-- ledger_entries by account and local_date, of the last month.
WITH makeDate32(toYear({to:Date32}), toMonth({to:Date32}), 1) AS last_month,
facts AS (/*query vehicle_facts*/),
standing AS (
    SELECT vehicle, -sumIf(amount, ledger_account = 'accumulated_depreciation') AS accumulated,
        sumIf(amount, ledger_account = 'fixed_asset') AS booked
    FROM (
        SELECT vehicle, ledger_account, currency, amount
        FROM ledger_months
        WHERE account = {account:UInt64} AND month < last_month
        UNION ALL
        SELECT vehicle, ledger_account, currency, amount
        FROM ledger_entries FINAL
        WHERE account = {account:UInt64} AND local_date BETWEEN last_month AND {to:Date32}
    )
    WHERE currency = {currency:String} AND ledger_account IN ('accumulated_depreciation', 'fixed_asset')
        AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        /*if chosen*/AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
            OR vehicle IN (/*query vehicles_chosen*/))/*end chosen*/
    GROUP BY vehicle
),
cost AS (
    SELECT vehicle, acquisition_cost
    FROM vehicle_traits
    WHERE account = {account:UInt64} AND acquisition_currency = {currency:String}
        AND (disposal_on = '' OR disposal_on > toString({to:Date32})) AND (acquired_on = '' OR acquired_on <= toString({to:Date32}))
        AND (empty({vehicles:Array(UInt64)}) OR vehicle IN {vehicles:Array(UInt64)})
        /*if chosen*/AND (empty({classes:Array(UInt64)}) AND empty({locations:Array(UInt64)}) AND empty({owners:Array(UInt64)})
                AND empty({tags:Array(String)}) AND empty({makes:Array(String)}) AND empty({models:Array(String)})
            OR vehicle IN (/*query vehicles_chosen*/))/*end chosen*/
)
SELECT key, sum(f_depreciation) AS depreciation, sum(s_accumulated) AS accumulated, sum(s_booked) AS booked_cost,
    sum(c_cost) AS acquisition_cost, sum(c_left) AS book_value, sum(f_fleet) AS fleet_s
FROM (
    SELECT facts.key AS key, facts.cost_depreciation AS f_depreciation, toInt64(0) AS s_accumulated, toInt64(0) AS s_booked,
        toInt64(0) AS c_cost, toInt64(0) AS c_left, facts.fleet_s AS f_fleet
    FROM facts
    UNION ALL
    SELECT if({group:String} = 'total', '', if({group:String} = 'vehicle', toString(v.vehicle), ''/*if by_traits*/ || ifNull(keys.key, '')/*end by_traits*/)), 0,
        v.accumulated, v.booked, v.paid, if(v.bought, v.paid - v.accumulated, 0), 0
    FROM (
        SELECT vehicle, sum(a) AS accumulated, sum(b) AS booked, sum(c) AS paid, max(d) AS bought
        FROM (
            SELECT vehicle, accumulated AS a, booked AS b, toInt64(0) AS c, 0 AS d FROM standing
            UNION ALL
            SELECT vehicle, 0, 0, acquisition_cost, 1 FROM cost
        )
        GROUP BY vehicle
    ) AS v
    /*if by_traits*/LEFT JOIN (/*query vehicle_keys*/) AS keys ON keys.vehicle = v.vehicle/*end by_traits*/
)
GROUP BY key
