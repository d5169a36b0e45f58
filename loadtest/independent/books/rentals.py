"""Works out again what rentals earned and drove, what of it was not billed, and what stands on the books of each day. Of bookings,
vehicles, trips and entries of the ledger alone, by the definitions of the figures."""

import collections
import datetime
import decimal

from recount import DAY, instant, local, measure, second, worked_out

# What adds to earnings; all else that has a measure is a cost.
REVENUES = {"time", "mileage", "extras", "protection", "fees", "damage", "discounts", "refunds", "toll_recharge"}
OVER = {"cancelled", "no_show", "expired"}  # what a booking is that was given up


def half_up(value):
    """A number that is not negative, rounded to a whole one."""
    return int((value + decimal.Decimal("0.5")) // 1)


def a_year_later(day):
    """The same date of the next year; of a 29th of February the 28th."""
    return day.replace(year=day.year + 1, day=28) if (day.month, day.day) == (2, 29) else day.replace(year=day.year + 1)


def a_year_before(day):
    return day.replace(year=day.year - 1, day=28) if (day.month, day.day) == (2, 29) else day.replace(year=day.year - 1)


def readings(b):
    """What was read of each vehicle of a rental, when it was taken and when it was given back: miles, tank, battery."""
    for swap in b.get("vehicle_history") or []:
        if swap.get("from"):
            yield (swap["vehicle_id"], (swap.get("pickup_mileage_mi"), swap.get("mileage_mi")),
                   (swap.get("pickup_fuel_pct"), swap.get("fuel_pct")),
                   (swap.get("pickup_battery_level"), swap.get("battery_level")))
    yield (b.get("vehicle_id") or "", (b["pickup_mileage_mi"], b["return_mileage_mi"]),
           (b["pickup_fuel_pct"], b["return_fuel_pct"]), (b["pickup_battery_level"], b["return_battery_level"]))


class Rentals:
    """Rentals and bookings of an account."""

    def __init__(self, books, activity):
        self.books, self.activity = books, activity
        self.costs = books.account.get("energy_costs") or {}

    # What they earned and drove

    def of_rental(self, currency):
        """What each booking earned and cost, whenever that was."""
        found = collections.defaultdict(collections.Counter)
        for e in self.books.entries:
            name = measure(e["ledger_account"])
            if name and e["booking_id"] and e["amount"]["currency"] == currency:
                found[e["booking_id"]][name] += e["amount"]["amount"] * (-1 if name in REVENUES else 1)
        return found

    def seen(self):
        """The miles that trackers saw during each rental: a trip counts by the share of its time, a way of more than 62 days
        on which the tracker was silent on its first 62."""
        found, trips = collections.defaultdict(lambda: [decimal.Decimal(0), 0]), collections.defaultdict(list)
        for t in self.activity.trips:
            since = second(instant(t["from"]))
            trips[t["vehicle_id"]].append((since, min(max(second(instant(t["until"])), since + 1), since + 62 * 86400), t["distance_mi"]))
        for leg in self.books.legs:
            for since, until, miles in trips[leg["vehicle"]]:
                inside = min(until, leg["until"]) - max(since, leg["since"])
                if inside > 0:
                    row = found[leg["booking"]["id"]]
                    row[0] += decimal.Decimal(str(miles)) * inside / (until - since)
                    row[1] += 1
        return found

    def charged(self, b, kind):
        """What is left of the charges of a kind."""
        return sum(c["amount"]["amount"] for c in b["charges"] if c["type"] == kind)

    def odometers(self, b):
        """The miles of a rental by its odometers, None unless all were read at both ends."""
        miles = 0
        for _, (took, gave), _, _ in readings(b):
            if took is None or gave is None:
                return None
            miles += gave - took
        return miles

    def miles_not_billed(self, b, miles):
        """Of the miles beyond what the rate includes: all, and those that were not charged for, with their price."""
        snapshot = b.get("rate_snapshot") or {}
        included, fee = snapshot.get("included_mi"), (snapshot.get("extra_mile_fee") or {}).get("amount", 0)
        if miles is None or included is None:
            return 0, 0, 0
        late = sum(c["quantity"] for c in b["charges"] if c["type"] == "late_return")
        if late > 0:  # a line of one price for all late days says 1
            behind = instant(b["actual_return_at"]) - instant(b["return_at"])
            late = max(late, -(-int(behind.total_seconds() // 1) // 86400))
        late = max(late, 0)
        if b["billed_days"]:
            included += included * late // b["billed_days"]
        over = max(miles - included, 0)
        unbilled = max(over - int(decimal.Decimal(self.charged(b, "mileage")) / fee), 0) if fee > 0 else 0
        return over, unbilled, unbilled * fee

    def missing(self, b, which, size):
        """What was in tanks or batteries when they were taken and not when they were given back, in thousandths."""
        total = decimal.Decimal(0)
        for vehicle, *read in readings(b):
            took, gave = read[which]
            holds = (self.books.vehicles.get(vehicle) or {}).get(size)
            if took is not None and gave is not None and holds and took > gave:
                total += (decimal.Decimal(str(took)) - decimal.Decimal(str(gave))) * decimal.Decimal(str(holds)) * 10
        return half_up(total)

    def price(self, unit, currency):
        said = self.costs.get(unit)
        return said["amount"] if said and said["currency"] == currency else None

    def not_billed(self, b, currency):
        """The fuel and energy that a rental left missing, what of it was charged nothing for, and what it costs the account."""
        out = {}
        for which, size, unit, kind, names in (
                (1, "fuel_capacity_gal", "gallon", "refuel", ("missing_gal", "unbilled_gal", "unbilled_fuel")),
                (2, "battery_kwh", "kwh", "recharge", ("missing_kwh", "unbilled_kwh", "unbilled_charging"))):
            missing, charged, price = self.missing(b, which, size), self.charged(b, kind), self.price(unit, currency)
            out[names[0]] = decimal.Decimal(missing) / 1000
            out[names[1]] = decimal.Decimal(0 if charged > 0 else missing) / 1000
            if price is not None:
                out[names[2]] = max(half_up(decimal.Decimal(missing * price) / 1000) - max(charged, 0), 0)
        return out

    def economics(self, group, since, until, currency):
        earned, seen = self.of_rental(currency), self.seen()
        out = collections.defaultdict(lambda: (collections.defaultdict(int), collections.Counter()))
        for b in self.books.bookings:
            zone = self.books.zone_of(b["timezone"])
            if b["status"] != "completed" or self.books.currency_of(b) != currency:
                continue
            back = second(instant(b["actual_return_at"]))
            day = local(back, zone)
            if not since <= day <= until:
                continue
            sums = worked_out(earned[b["id"]])
            miles, trips = seen[b["id"]]
            metered = self.odometers(b)
            over, unbilled, fee = self.miles_not_billed(b, metered)
            adds = {"rentals": 1, "rented_s": max(0, back - second(instant(b["actual_pickup_at"]))),
                    "billed_days": b["billed_days"], "revenue": sums["revenue"], "contribution": sums["contribution"],
                    "gps_mi": miles, "compared_gps_mi": miles if metered is not None else 0, "odometer_mi": metered or 0,
                    "over_mi": over, "unbilled_mi": unbilled, "unbilled_mileage": fee, **self.not_billed(b, currency)}
            for key in self.keys(group, b, day):
                for name, value in adds.items():
                    out[key][0][name] += value
                out[key][1].update(gps_mi=trips, compared_gps_mi=trips)
        if group not in ("booking", "channel", "customer"):
            for (day, vehicle), (miles, on_rent, trips) in self.activity.driven("distance_mi").items():
                if since <= day <= until:
                    for key in self.books.keys(group, day, vehicle):
                        out[key][0]["driven_mi"] += miles
                        out[key][0]["outside_mi"] += miles - on_rent
                        out[key][1].update(driven_mi=trips, outside_mi=trips)
        for sums, _ in out.values():
            sums.update(self.unknown(group, currency))
        return dict(out)

    def unknown(self, group, currency):
        """The figures that nobody knows: what costs nobody says what, and of bookings what their vehicles drove."""
        names = [name for unit, name in (("gallon", "unbilled_fuel"), ("kwh", "unbilled_charging"))
                 if self.price(unit, currency) is None]
        if group in ("booking", "channel", "customer"):
            names += ["driven_mi", "outside_mi"]
        return dict.fromkeys(names)

    def keys(self, group, b, day):
        if group == "booking":
            return [b["id"]]
        if group in ("class", "location"):
            return [b.get({"class": "vehicle_class_id", "location": "pickup_location_id"}[group]) or ""]
        return self.books.keys(group, day, b.get("vehicle_id") or "", b["channel"], b.get("customer_id") or "")

    # What is on the books

    def billed(self, b):
        """The days that a booking is billed for, with what was agreed for each: in proportion to their prices, or evenly."""
        days = (b.get("rate_snapshot") or {}).get("days") or []
        dates, prices = [datetime.date.fromisoformat(d["date"]) for d in days], [d["amount"]["amount"] for d in days]
        if not days:
            pickup, back = instant(b["pickup_at"]), instant(b["return_at"])
            first = local(second(pickup), self.books.zone_of(b["timezone"]))
            dates = [first + n * DAY for n in range(max(1, b["billed_days"] or (back - pickup).days))]
        if not prices or min(prices) < 0 or not sum(prices):
            prices = [1] * len(dates)
        agreed, so_far, told = self.activity.agreed(b), 0, 0
        for date, price in zip(dates, prices):
            so_far += price
            whole = int(decimal.Decimal(agreed * so_far) / sum(prices))  # what is left over goes to later days
            yield date, whole - told
            told = whole

    def stood(self, b, day):
        """Whether a booking was on the books at the end of a day where it is."""
        after = datetime.datetime.combine(day + DAY, datetime.time(), self.books.zone_of(b["timezone"]))
        confirmed = instant(b.get("confirmed_at") or b["created_at"])
        ended = None
        if b["status"] in OVER:
            ended = instant((b.get("cancellation") or {}).get("cancelled_at") or b["status_since"])
        return confirmed < after and (ended is None or ended >= after)

    def pace(self, group, since, until, currency):
        """The billed days on the books of each day, and those of the same date of the year before: of then, and of now."""
        today = local(self.books.now, self.books.zone)
        out = collections.defaultdict(collections.Counter)
        for b in self.books.bookings:
            if not b.get("confirmed_at") and b["status"] not in ("confirmed", "active", "completed"):
                continue
            of_then, of_now = self.stood(b, a_year_before(today)), self.stood(b, today)
            priced = self.books.currency_of(b) == currency
            for day, minor in self.billed(b):
                money = minor if priced else 0
                if of_now and since <= day <= until:
                    for key in self.pace_keys(group, b, day):
                        out[key].update(days_on_books=1, revenue_on_books=money, priced_days=int(priced))
                later = a_year_later(day)
                if not since <= later <= until:
                    continue
                for key in self.pace_keys(group, b, later):
                    if of_then:
                        out[key].update(days_last_year=1, revenue_last_year=money, priced_days_last_year=int(priced))
                    if of_now:
                        out[key].update(days_final_last_year=1, revenue_final_last_year=money)
        return {key: (sums, {}) for key, sums in out.items()}

    def pace_keys(self, group, b, day):
        """As of other reports, but that a booking of no class counts in that of its vehicle."""
        if group == "class" and not b.get("vehicle_class_id"):
            return self.books.traits(b.get("vehicle_id") or "", "class")
        return self.keys(group, b, day)
