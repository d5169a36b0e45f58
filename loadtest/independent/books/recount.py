"""Works out again what reports say, from what anybody can fetch: bookings, vehicles, blocks, trips and entries of the
ledger. Nothing here is taken from the program: formulas are those of the definitions, amounts are whole minor units, and
what is divided is divided as decimals. Days are cut by Python's own zones."""

import collections
import datetime
import decimal
import zoneinfo

UTC = datetime.timezone.utc
DAY = datetime.timedelta(days=1)
METRES_PER_MILE = decimal.Decimal("1609.344")

# Which account of the books counts as what, and with which sign a debit does.
REVENUE = {
    "revenue.time": "time", "revenue.mileage": "mileage", "revenue.extras": "extras", "revenue.protection": "protection",
    "revenue.fees": "fees", "revenue.damage": "damage", "contra.discount": "discounts", "contra.refund": "refunds",
}
ENERGY = {"cost.fuel", "cost.charging"}
MAINTENANCE = {"cost.maintenance", "cost.repair", "cost.tires"}
OTHER_VARIABLE = {"cost.cleaning", "cost.toll", "cost.fine", "cost.payment_fee", "cost.owner_share",
                  "owner_borne.variable"}
FINANCE = {"cost.lease", "cost.loan_interest"}

MEASURES = {*REVENUE.values(), "toll_recharge", "platform_fees", "energy", "maintenance", "other_variable", "finance",
            "depreciation", "insurance", "other_fixed", "billed_days", "rented_s", "all_billed_days", "all_rented_s", "fleet_s",
            "down_s", "idle_s"}


def measure(account):
    """The measure that an account adds to, None for what is neither revenue nor cost."""
    if account in REVENUE:
        return REVENUE[account]
    if account == "revenue.toll_recharge":
        return "toll_recharge"
    if account == "cost.platform_fee":
        return "platform_fees"
    if account in ENERGY:
        return "energy"
    if account in MAINTENANCE:
        return "maintenance"
    if account in OTHER_VARIABLE:
        return "other_variable"
    if account in FINANCE:
        return "finance"
    if account in ("cost.depreciation", "gain_on_disposal"):
        return "depreciation"
    if account == "cost.insurance":
        return "insurance"
    if account.startswith("cost.") or account in ("fx", "owner_borne.fixed"):
        return "other_fixed"
    return None


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) if text else None


def second(at):
    return int(at.timestamp() // 1)


def bounds(day, zone):
    """The first second of a local day and the first after it."""
    first = datetime.datetime.combine(day, datetime.time(), zone)
    after = datetime.datetime.combine(day + DAY, datetime.time(), zone)
    return second(first), second(after)


def local(seconds, zone):
    return datetime.datetime.fromtimestamp(seconds, zone).date()


def days_of(since, until, zone):
    """The local days of an interval, with the seconds of it on each."""
    day, last = local(since, zone), local(until - 1, zone) if until > since else local(since, zone)
    while day <= last:
        first, after = bounds(day, zone)
        begins, ends = max(first, since), min(after, until)
        if ends > begins:
            yield day, begins, ends
        day += DAY


def union(spans):
    """Intervals with nothing twice."""
    out = []
    for since, until in sorted(s for s in spans if s[1] > s[0]):
        if out and since <= out[-1][1]:
            out[-1][1] = max(out[-1][1], until)
        else:
            out.append([since, until])
    return out


def minus(spans, others):
    """What of intervals lies outside of others; both have nothing twice."""
    out = []
    for since, until in spans:
        at = since
        for s, e in others:
            if e <= at or s >= until:
                continue
            if s > at:
                out.append([at, s])
            at = max(at, e)
        if at < until:
            out.append([at, until])
    return out


class Books:
    """All of an account, fetched once."""

    def __init__(self, client):
        self.account = client.get("/v1/account")
        self.zone = zoneinfo.ZoneInfo(self.account["timezone"])
        self.currency = self.account["currency"]
        self.vehicles = {v["id"]: v for v in client.all("/v1/vehicles")}
        self.bookings = list(client.all("/v1/bookings", per_page=100))
        self.entries = list(client.entries())
        self.blocks = {}  # of each vehicle, from when until when, whatever they are for
        self.downs = {v: self.down(client, v) for v in self.vehicles}
        self.now = int(datetime.datetime.now(UTC).timestamp())
        self.legs = [leg for b in self.bookings for leg in self.of_booking(b)]
        self.billed = [row for b in self.bookings for row in self.billed_days(b)]

    def currency_of(self, booking):
        return booking.get("currency") or self.currency

    def zone_of(self, name):
        return zoneinfo.ZoneInfo(name) if name else self.zone

    def down(self, client, vehicle):
        """When a vehicle was down, by its states and by blocks."""
        states = []  # (since, status), each overruling what was before from then on
        for revision in sorted(client.all(f"/v1/vehicles/{vehicle}/history"), key=lambda r: r["revision"]):
            said = {c["field"]: c["new"] for c in revision["changes"]}
            if "/status" in said or "/status_since" in said:
                since = instant(said.get("/status_since")) or instant(revision["at"])
                status = said.get("/status", states[-1][1] if states else None)
                states = [s for s in states if s[0] < second(since)] + [(second(since), status)]
        spans = [(s, states[i + 1][0] if i + 1 < len(states) else 1 << 40)
                 for i, (s, status) in enumerate(states) if status in ("maintenance", "out_of_service")]
        self.blocks[vehicle] = []
        for b in client.all(f"/v1/vehicles/{vehicle}/blocks"):
            if not b.get("archived_at"):
                span = (second(instant(b["from"])), second(instant(b["until"])))
                self.blocks[vehicle].append(span)
                if b.get("kind") in ("maintenance", "repair"):
                    spans.append(span)
        return union(spans)

    def of_booking(self, b):
        """The legs of a rental: which vehicle was out from when to when."""
        if b["status"] not in ("active", "completed"):
            return
        since = instant(b["actual_pickup_at"]) or instant(b["pickup_at"])
        until = datetime.datetime.now(UTC)
        if b["status"] == "completed":
            until = min(until, instant(b["actual_return_at"]) or instant(b["return_at"]))
        elif b.get("backdated") and instant(b["return_at"]) < instant(b["status_since"]):
            until = instant(b["return_at"])
        at = second(since)
        for swap in b.get("vehicle_history") or []:
            ends = second(instant(swap["until"]))
            yield {"booking": b, "vehicle": swap["vehicle_id"], "since": at, "until": min(ends, second(until))}
            at = max(at, ends)
        yield {"booking": b, "vehicle": b.get("vehicle_id") or "", "since": at, "until": second(until)}

    def billed_days(self, b):
        """The days that a rental is billed for, and the vehicle it had when each began."""
        if b["status"] not in ("active", "completed"):
            return
        zone = self.zone_of(b["timezone"])
        since = second(instant(b["actual_pickup_at"]) or instant(b["pickup_at"]))
        days = [datetime.date.fromisoformat(d["date"]) for d in (b.get("rate_snapshot") or {}).get("days") or []]
        if not days:
            until = max(since + 1, int(-(-instant(b["return_at"]).timestamp() // 1)))
            days = [day for day, _, _ in days_of(since, until, zone)]
        for day in days:
            at = max(bounds(day, zone)[0], since)
            vehicle = b.get("vehicle_id") or ""
            for swap in b.get("vehicle_history") or []:
                if at < second(instant(swap["until"])):
                    vehicle = swap["vehicle_id"]
                    break
            yield {"booking": b, "vehicle": vehicle, "day": day}

    def traits(self, vehicle, group):
        v = self.vehicles.get(vehicle)
        if v is None:
            return [""]
        if group == "tag":
            return v.get("tags") or [""]
        return [{
            "vehicle": vehicle, "make": v["make"], "model": (v["make"] + " " + v["model"]).strip(),
            "class": v.get("vehicle_class_id") or "", "location": v.get("home_location_id") or "",
            "owner": v.get("owner_customer_id") or "",
        }[group]]

    def keys(self, group, day, vehicle, channel="", customer=""):
        """The keys of a group that something on a day counts under."""
        if group == "total":
            return [""]
        if group in ("day", "week", "month", "quarter", "year"):
            first = {"day": day, "week": day - datetime.timedelta(days=day.weekday()), "month": day.replace(day=1),
                     "quarter": day.replace(day=1, month=(day.month - 1) // 3 * 3 + 1),
                     "year": day.replace(day=1, month=1)}[group]
            return [first.isoformat()]
        if group == "channel":
            return [channel]
        if group == "customer":
            return [customer]
        return self.traits(vehicle, group)

    def figures(self, group, since, until, currency):
        """The sums of every measure by the keys of a group, over local days, both included. Money is of the currency, and so
        are billed_days and rented_s, over which it is divided; those of all rentals are all_billed_days and all_rented_s."""
        sums = collections.defaultdict(collections.Counter)

        def add(keys, name, value):
            for key in keys:
                sums[key][name] += value

        for e in self.entries:
            day = datetime.date.fromisoformat(e["local_on"])
            if not since <= day <= until or e["amount"]["currency"] != currency:
                continue
            name = measure(e["ledger_account"])
            if name is None:
                continue
            amount = e["amount"]["amount"]
            if name in REVENUE.values() or name == "toll_recharge":
                amount = -amount
            add(self.keys(group, day, e["vehicle_id"] or "", e["channel"] or "", e["customer_id"] or ""), name, amount)
        for row in self.billed:
            if since <= row["day"] <= until:
                b = row["booking"]
                keys = self.keys(group, row["day"], row["vehicle"], b["channel"], b.get("customer_id") or "")
                add(keys, "all_billed_days", 1)
                add(keys, "billed_days", int(self.currency_of(b) == currency))
        if group in ("channel", "customer"):
            for leg in self.legs:
                b = leg["booking"]
                for day, begins, ends in days_of(leg["since"], leg["until"], self.zone_of(b["timezone"])):
                    if since <= day <= until and self.currency_of(b) == currency:
                        add(self.keys(group, day, leg["vehicle"], b["channel"], b.get("customer_id") or ""), "rented_s",
                            ends - begins)
        else:
            self.times(group, since, until, currency, add)
        return sums

    def rented(self):
        """When each vehicle was out with a renter, each moment once."""
        rented = collections.defaultdict(list)
        for leg in self.legs:
            if leg["vehicle"]:
                rented[leg["vehicle"]].append((leg["since"], leg["until"]))
        return collections.defaultdict(list, {vehicle: union(spans) for vehicle, spans in rented.items()})

    def in_service(self, v):
        """From which second until which a vehicle is in the fleet, as far as its record says; until None for ever."""
        zone = self.zone_of(v.get("timezone"))
        came = v.get("in_service_on") or v.get("acquired_on")
        out, gone = v.get("out_of_service_on"), v.get("disposal_on")
        if out and out > (came or ""):
            gone = min(gone or out, out)
        begins = bounds(datetime.date.fromisoformat(came), zone)[0] if came else second(instant(v["created_at"]))
        return begins, bounds(datetime.date.fromisoformat(gone), zone)[0] if gone else None

    def rented_in(self, legs, currency):
        """When a vehicle was rented in a currency. Where two rentals say so at once, that counts which began first on its day."""
        parts = sorted((begins, ends, self.currency_of(leg["booking"])) for leg in legs
                       for _, begins, ends in days_of(leg["since"], leg["until"], self.zone_of(leg["booking"]["timezone"])))
        out, at = [], 0
        for begins, ends, of in parts:
            if of == currency and ends > max(begins, at):
                out.append((max(begins, at), ends))
            at = max(at, ends)
        return out

    def times(self, group, since, until, currency, add):
        """Seconds of vehicles: in the fleet, rented, down, idle."""
        rented, legs = self.rented(), collections.defaultdict(list)
        for leg in self.legs:
            legs[leg["vehicle"]].append(leg)
        for vehicle, v in self.vehicles.items():
            zone, spans = self.zone_of(v.get("timezone")), rented[vehicle]
            spans_in = self.rented_in(legs[vehicle], currency)
            begins, ends = self.in_service(v)
            ends = min(self.now, ends or self.now)
            down = minus(self.downs[vehicle], spans)
            day = since
            while day <= until:
                first, after = bounds(day, zone)
                fleet = (max(first, begins), min(after, ends))
                overlap = lambda all: sum(max(0, min(e, fleet[1]) - max(s, fleet[0])) for s, e in all)
                fleet_s = max(0, fleet[1] - fleet[0])
                on_day = lambda all: sum(max(0, min(e, after, self.now) - max(s, first)) for s, e in all)
                rented_s = on_day(spans)
                down_s = overlap(down)
                keys = self.keys(group, day, vehicle)
                add(keys, "fleet_s", fleet_s)
                add(keys, "all_rented_s", rented_s)
                add(keys, "rented_s", on_day(spans_in))
                add(keys, "down_s", down_s)
                add(keys, "idle_s", max(0, fleet_s - down_s - rented_s))
                day += DAY


def worked_out(s):
    """The figures of reports that follow from the sums of measures."""
    revenue = sum(s[name] for name in REVENUE.values())
    variable = s["energy"] + s["maintenance"] + s["other_variable"] - s["toll_recharge"]
    fixed = s["depreciation"] + s["finance"] + s["insurance"] + s["other_fixed"]
    contribution = revenue - s["platform_fees"] - variable
    rate = s["time"] + s["mileage"] + s["discounts"]
    return {
        **s, "revenue": revenue, "variable_cost": variable, "fixed_cost": fixed, "contribution": contribution,
        "net_profit": contribution - fixed, "time_revenue": rate, "rentable_s": s["fleet_s"] - s["down_s"],
    }


def ratio(numerator, denominator, scale=1):
    """A ratio of exact sums, None where there is nothing to divide by."""
    if not denominator:
        return None
    return decimal.Decimal(numerator) * scale / decimal.Decimal(denominator)
