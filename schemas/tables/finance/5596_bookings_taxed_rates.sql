-- What a booking's charges were taxed on, as 5531 says it, by the rates of which anything stands at each of its lines: one that was taken
-- back, as when the booking moved to where the tax of that name has another rate, is none of the tax any more. Of a line that leaves
-- nothing of a tax it is by all rates that the tax had.
ALTER TABLE bookings MODIFY COLUMN taxed Array(Tuple(name String, rate_bp Int64, tax Int64, base Int64)) DEFAULT arrayFlatten(arrayMap(
    cs -> arrayMap(
        (name, rates, tax, net) -> (name, arraySum(rates), tax, multiIf(
            abs(tax * 10000 - net * arraySum(rates)) <= 5000 * length(rates), net,
            arraySum(rates) = 0, 0,
            toInt64(round(tax * 10000 / arraySum(rates))))),
        arrayMap(i -> cs[i].2, arrayFilter(i -> cs[i].1 = 'tax', arrayEnumerate(cs)) AS places),
        arrayMap((had, stand) -> if(empty(stand), had, stand),
            arrayMap(i -> arrayDistinct(arrayMap(c -> c.3, arrayFilter(c -> c.1 = 'tax' AND c.2 = cs[i].2, cs))), places),
            arrayMap(i -> arrayFilter(
                rate -> arraySum(arrayMap(c -> if(c.1 = 'tax' AND c.2 = cs[i].2 AND c.3 = rate, c.5.1, 0), arraySlice(cs, 1, i))) != 0,
                arrayDistinct(arrayMap(c -> c.3, arrayFilter(c -> c.1 = 'tax' AND c.2 = cs[i].2, cs)))), places)),
        arrayMap(i -> arraySum(arrayMap(c -> if(c.1 = 'tax' AND c.2 = cs[i].2, c.5.1, 0), arraySlice(cs, 1, i))), places),
        arrayMap(i -> greatest(0, arraySum(arrayMap(c -> if(c.4 AND c.1 NOT IN ('tax', 'platform_fee'), c.5.1, 0), arraySlice(cs, 1, i)))), places)),
    [JSONExtract(body, 'charges', 'Array(Tuple(type String, description String, tax_rate_bp Int64, taxable Bool, amount Tuple(amount Int64)))')]))
