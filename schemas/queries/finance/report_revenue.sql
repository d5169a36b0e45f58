-- report: Revenue
-- about: What rentals earned, by kind, without taxes, deposits and tolls that are passed on. On the accrual basis it is
--   earned on the days of use; on the cash basis it is what came in, on the days on which money moved, but by
--   journal entries by hand: what owners put in is no income.
-- bases: accrual cash
-- groups: total day week month quarter year vehicle make model class location channel customer owner tag
-- figure revenue money [ledger minus revenue_time, revenue_mileage, revenue_extras, revenue_protection, revenue_fees, revenue_damage, discounts, refunds] [cash cash, deposits_held of payment, booking]: All
--   revenue, net of discounts and refunds. On the cash basis, what payments brought in less what they gave back and what
--   providers and channels kept of them, and what was kept of deposits, taxes included.
-- figure revenue_time money [ledger minus revenue_time]: For the time of rental.
-- figure revenue_mileage money [ledger minus revenue_mileage]: For miles.
-- figure revenue_extras money [ledger minus revenue_extras]: For extras.
-- figure revenue_protection money [ledger minus revenue_protection]: For protection.
-- figure revenue_fees money [ledger minus revenue_fees]: Fees: late, cleaning, cancellation and others.
-- figure revenue_damage money [ledger minus revenue_damage]: Damage that was charged.
-- figure discounts money [ledger minus discounts]: Discounts; negative.
-- figure refunds money [ledger minus refunds]: Refunds and allowances; negative.
-- figure time_and_mileage money [ledger minus revenue_time, revenue_mileage, discounts]: Revenue for time and miles, net of
--   discounts: what the daily rate is worked out of.
-- figure toll_recharge money [ledger minus toll_recharge]: Tolls and fines passed on to customers; no revenue, beside it.
-- figure platform_fees money [ledger platform_fees]: What channels keep; a cost, beside it.
-- figure billed_days days: Days that rentals in the currency are billed for.
-- figure rented_s seconds: Seconds on rent of rentals in the currency. By channel and customer each rental counts whole, so that of two
--   which overlap on one vehicle each has its seconds; in the other groups such a second counts once.
-- ratio adr money = time_and_mileage / billed_days: Average daily rate: time and miles for each billed day.
-- ratio adr_total money = revenue / billed_days: All revenue for each billed day.
-- ratio take_rate percent = platform_fees / revenue: What channels keep of the revenue.
-- Kinds of revenue and days are null on the cash basis: nobody pays for one alone.
SELECT f.key AS key, if({basis:String} = 'cash', f.received, f.revenue_time + f.revenue_mileage + f.revenue_extras
        + f.revenue_protection + f.revenue_fees + f.revenue_damage + f.discounts + f.refunds) AS revenue,
    if({basis:String} = 'cash', NULL, f.revenue_time) AS revenue_time,
    if({basis:String} = 'cash', NULL, f.revenue_mileage) AS revenue_mileage,
    if({basis:String} = 'cash', NULL, f.revenue_extras) AS revenue_extras,
    if({basis:String} = 'cash', NULL, f.revenue_protection) AS revenue_protection,
    if({basis:String} = 'cash', NULL, f.revenue_fees) AS revenue_fees,
    if({basis:String} = 'cash', NULL, f.revenue_damage) AS revenue_damage,
    if({basis:String} = 'cash', NULL, f.discounts) AS discounts,
    if({basis:String} = 'cash', NULL, f.refunds) AS refunds,
    if({basis:String} = 'cash', NULL, f.revenue_time + f.revenue_mileage + f.discounts) AS time_and_mileage,
    if({basis:String} = 'cash', NULL, f.toll_recharge) AS toll_recharge,
    if({basis:String} = 'cash', NULL, f.platform_fees) AS platform_fees,
    if({basis:String} = 'cash', NULL, f.billed_days) AS billed_days,
    if({basis:String} = 'cash', NULL, f.rented_s) AS rented_s
FROM (/*query finance_facts*/) AS f
