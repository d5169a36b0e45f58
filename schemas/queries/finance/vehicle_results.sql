-- What each vehicle of an account earned and cost in a span of local days, in one currency, with the days that it was billed in it and the seconds that it was rented and
-- rentable, how many days of it are known, and whether it is gone: disposed of on the day today or before, or archived. Sums are those of reports.
-- EXPLAIN indexes=1: vehicle_months by account and month and vehicle_days by account and day, vehicles by account.
SELECT known.vehicle AS vehicle, t.license_plate, t.nickname, t.make, t.model,
    t.disposal_on != '' AND t.disposal_on <= {today:String} OR known.vehicle IN (
        SELECT id FROM vehicles FINAL WHERE account = {account:UInt64} AND archived_at IS NOT NULL) AS gone,
    known.days, toInt64(f.money_days), toInt64(f.rented_s), toInt64(f.fleet_s) - toInt64(f.down_s) AS rentable_s,
    f.revenue_time + f.revenue_mileage + f.revenue_extras + f.revenue_protection + f.revenue_fees + f.revenue_damage + f.discounts + f.refunds AS revenue,
    f.platform_fees, f.cost_energy, f.cost_maintenance, f.cost_other_variable, f.toll_recharge, f.cost_depreciation, f.cost_finance, f.cost_insurance, f.cost_other_fixed
FROM
(
    SELECT vehicle, toInt64(sum(bitCount(of_month))) AS days, max(has_money) AS mine
    FROM
    (
        SELECT vehicle, month, groupBitOr(of_row) AS of_month, max(currency = {currency:String} AND of_row != 0) AS has_money
        FROM
        (
            SELECT vehicle, month, currency, bitShiftLeft(toUInt64(1), greatest(0, toInt32({from:Date32}) - toInt32(month))) AS first_bit,
                bitShiftLeft(toUInt64(1), least(30, toInt32({to:Date32}) - toInt32(month)) + 1) AS beyond, bitAnd(days_known, beyond - first_bit) AS of_row
            FROM vehicle_months FINAL
            WHERE account = {account:UInt64} AND month > addMonths({from:Date32}, -1) AND month <= {to:Date32} AND vehicle != 0
        )
        GROUP BY vehicle, month
    )
    GROUP BY vehicle
    HAVING days > 0
) AS known
INNER JOIN (/*query vehicle_facts*/) AS f ON f.key = toString(known.vehicle)
LEFT JOIN vehicle_traits AS t ON t.account = {account:UInt64} AND t.vehicle = known.vehicle
WHERE f.fleet_s > 0 OR known.mine
ORDER BY vehicle
SETTINGS do_not_merge_across_partitions_select_final = 1
