-- report: Take rate
-- about: What platforms keep of what rentals earn, by the channel that they came through.
-- bases: accrual
-- groups: channel total day week month quarter year vehicle make model class location customer owner tag
-- figure gross money [ledger minus revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage, discounts, refunds]: What
--   was earned, net of discounts and refunds, without taxes, deposits and recharged tolls.
-- figure platform_fees money [ledger platform_fees]: What platforms keep of it.
-- ratio take_rate percent = platform_fees / gross: What platforms keep of what was earned.
-- Class and location are those of vehicles now. EXPLAIN indexes=1: as entry_facts.sql.
SELECT f.key AS key, f.revenue_time + f.revenue_mileage + f.revenue_extras + f.revenue_protection + f.revenue_fees
        + f.revenue_damage + f.discounts + f.refunds AS gross,
    f.platform_fees AS platform_fees
FROM (/*query entry_facts*/) AS f
