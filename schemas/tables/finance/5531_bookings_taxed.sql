-- What a booking's charges were taxed on, for each of its tax lines in order: the name of the tax, its rate in hundredths of a percent
-- (0 if nobody knows it, as of imported bookings), what it came to so far, and the net amount on which that is charged, in minor units.
-- That is all that is taxable of the lines so far where the tax is that of it, else, where somebody waived tax, what the tax that is left
-- is charged on. Serves: the tax summary, which knows by entries when a tax came to how much.
ALTER TABLE bookings ADD COLUMN IF NOT EXISTS taxed Array(Tuple(name String, rate_bp Int64, tax Int64, base Int64)) DEFAULT arrayFlatten(arrayMap(
    cs -> arrayMap(
        (i, name, rates, tax, net) -> (name, arraySum(rates), tax, multiIf(
            abs(tax * 10000 - net * arraySum(rates)) <= 5000 * length(rates), net,
            arraySum(rates) = 0, 0,
            toInt64(round(tax * 10000 / arraySum(rates))))),
        arrayFilter(i -> cs[i].1 = 'tax', arrayEnumerate(cs)) AS places,
        arrayMap(i -> cs[i].2, places),
        arrayMap(i -> arrayDistinct(arrayMap(c -> c.3, arrayFilter(c -> c.1 = 'tax' AND c.2 = cs[i].2, cs))), places),
        arrayMap(i -> arraySum(arrayMap(c -> if(c.1 = 'tax' AND c.2 = cs[i].2, c.5.1, 0), arraySlice(cs, 1, i))), places),
        arrayMap(i -> greatest(0, arraySum(arrayMap(c -> if(c.4 AND c.1 NOT IN ('tax', 'platform_fee'), c.5.1, 0), arraySlice(cs, 1, i)))), places)),
    [JSONExtract(body, 'charges', 'Array(Tuple(type String, description String, tax_rate_bp Int64, taxable Bool, amount Tuple(amount Int64)))')]))
