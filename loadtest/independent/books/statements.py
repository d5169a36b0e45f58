"""Works out again what statements say: profit and loss, balance sheet, deposits, ageing, taxes, damage, the return on
vehicles, why revenue changed, and what rentals earned. Of the entries of the ledger, bookings, vehicles and trips alone,
by the definitions of the figures."""

import collections
import datetime
import decimal

from activity import whole
from recount import DAY, instant, local, measure, second, worked_out

RESULT = ("revenue", "cost")
OWED = ("accounts_receivable", "platform_receivable")
AGES = [("not_due", 0, 0), ("days_1_30", 1, 30), ("days_31_60", 31, 60), ("days_61_90", 61, 90), ("days_over_90", 91, 10 ** 6)]


def half_away(numerator, denominator):
    """A quotient rounded once, halves away from zero."""
    size = (2 * abs(numerator) + abs(denominator)) // (2 * abs(denominator))
    return size if (numerator < 0) == (denominator < 0) else -size


def months_before(day, months):
    """The first day of the month so many months before that of a day."""
    at = day.year * 12 + day.month - 1 - months
    return datetime.date(at // 12, at % 12 + 1, 1)


class Statements:
    """What statements are made of, fetched once."""

    def __init__(self, client, books, activity):
        self.books, self.activity = books, activity
        self.types = {a["ledger_account"]: a["type"] for a in client.get("/v1/ledger/accounts")["data"]}
        self.reports = {
            "profit_and_loss": self.profit_and_loss, "balance_sheet": self.balance_sheet, "damage_recovery": self.damage,
            "deposits_held": self.deposits, "receivables_ageing": self.ageing, "tax_summary": self.taxes,
            "fleet_roi": self.returns, "revenue_bridge": self.bridge, "rental_economics": self.economics,
            "driver_score": self.driving, "pace": self.pace,
        }

    def figures(self, report, group, since, until, currency):
        """The figures of a report by the keys of a group, and how much each may be wrong by."""
        return self.reports[report](group, since, until, currency)

    # Entries

    def entries(self, until, currency):
        """The entries in a currency through a day, with their days and amounts; debits are positive."""
        for e in self.books.entries:
            day = datetime.date.fromisoformat(e["local_on"])
            if day <= until and e["amount"]["currency"] == currency:
                yield e, day, e["amount"]["amount"]

    def keys_of(self, group, e, day):
        return self.books.keys(group, day, e["vehicle_id"] or "", e["channel"] or "", e["customer_id"] or "")

    def profit_and_loss(self, group, since, until, currency):
        out = collections.defaultdict(collections.Counter)
        for e, day, amount in self.entries(until, currency):
            if day >= since and self.types[e["ledger_account"]] in RESULT:
                for key in [e["ledger_account"]] if group == "account" else self.keys_of(group, e, day):
                    out[key].update(amount=-amount, entries=1)
        return {key: (sums, {}) for key, sums in out.items()}

    def balance_sheet(self, group, since, until, currency):
        out = collections.defaultdict(collections.Counter)
        for e, day, amount in self.entries(until, currency):
            account = "result" if self.types[e["ledger_account"]] in RESULT else e["ledger_account"]
            out["" if group == "total" else account].update(
                {"balance": amount, "opening" if day < since else "movement": amount})
        return {key: (sums, {}) for key, sums in out.items()}

    def damage(self, group, since, until, currency):
        out = collections.defaultdict(collections.Counter)
        for e, day, amount in self.entries(until, currency):
            if day >= since and e["ledger_account"] in ("revenue.damage", "cost.repair"):
                name = "recovered" if e["ledger_account"] == "revenue.damage" else "repair_cost"
                for key in self.keys_of(group, e, day):
                    out[key].update({name: -amount if name == "recovered" else amount, "unrecovered": amount})
        return {key: (sums, {}) for key, sums in out.items()}

    def deposits(self, group, since, until, currency):
        out = collections.defaultdict(collections.Counter)
        for e, day, amount in self.entries(until, currency):
            if e["ledger_account"] == "deposits_held":
                key = "" if group == "total" else e[group + "_id"] or ""
                name = "opening" if day < since else "given" if amount > 0 else "taken"
                out[key].update({"held": -amount, name: amount if name == "given" else -amount})
        return {key: (sums, {}) for key, sums in out.items() if any(sums.values())}

    def ageing(self, group, since, until, currency):
        """Who owes what: what was paid counts against what was billed first. A bill is what one record adds on a day."""
        owed, bills = collections.Counter(), collections.defaultdict(collections.Counter)
        for e, day, amount in self.entries(until, currency):
            if e["ledger_account"] not in OWED:
                continue
            channel = e["channel"] or "" if group == "channel" or not e["booking_id"] else ""
            whose = (e["ledger_account"], e["booking_id"] or "", e["customer_id"] or "", channel)
            owed[whose] += amount
            bills[whose][day, e["kind"], e["source_id"], e["purpose"] == "deposit"] += amount
        out = collections.defaultdict(collections.Counter)
        for whose, balance in owed.items():
            account, booking, customer, channel = whose
            sums = out[{"booking": booking, "customer": customer, "channel": channel, "total": ""}[group]]
            sums.update({"balance": balance, "from_customers" if account == OWED[0] else "from_channels": balance,
                         "overpaid": min(balance, 0)})
            left = max(balance, 0)
            for (day, *_), billed in sorted(bills[whose].items(), reverse=True):
                if billed > 0 and left:
                    age = (until - day).days
                    part = min(billed, left)
                    sums[next(name for name, low, high in AGES if low <= age <= high)] += part
                    left -= part
            sums["days_over_90"] += left
        return {key: (sums, {}) for key, sums in out.items() if any(sums.values())}

    def taxes(self, group, since, until, currency):
        out = collections.defaultdict(collections.Counter)
        for e, day, amount in self.entries(until, currency):
            if day < since or e["ledger_account"] not in ("tax_payable", "tax_receivable"):
                continue
            purpose = e["purpose"] or ""
            name = purpose.removeprefix("tax, ") if purpose.startswith("tax, ") else (
                "" if e["kind"] == "journal_entry" else purpose)
            place = e["location_id"] or ""
            keys = {"category": [name], "jurisdiction": [f"{place} {name}".strip()], "location": [place]}.get(group)
            for key in keys or self.keys_of(group, e, day):
                sums = out[key]
                if e["ledger_account"] == "tax_receivable":
                    sums.update(input_tax=amount, balance=-amount)
                    continue
                sums.update(owed=-amount, balance=-amount, entries=1)
                if e["kind"] in ("expense", "journal_entry"):
                    sums["paid"] += amount
                else:
                    sums.update({"tax": -amount, "charged" if amount < 0 else "taken_back": abs(amount)})
        return {key: (sums, {}) for key, sums in out.items()}

    # Vehicles

    def returns(self, group, since, until, currency):
        """What became of the money that was put into vehicles of whose records it is known."""
        year, out = months_before(until, 11), collections.defaultdict(collections.Counter)
        sums, last = (collections.defaultdict(collections.Counter) for _ in range(2))
        for e, day, amount in self.entries(until, currency):
            name = measure(e["ledger_account"])
            if name is None:
                continue
            for of, there in ((sums, True), (last, day >= year)):
                if there:
                    of[e["vehicle_id"]][name] += -amount if name in REVENUES else amount
        for vehicle, v in self.books.vehicles.items():
            cost = v.get("acquisition_cost")
            if not cost or cost["currency"] != currency or (v.get("acquired_on") or "") > until.isoformat():
                continue
            gone = bool(v.get("disposal_on")) and v["disposal_on"] <= until.isoformat()
            price = v.get("disposal_price") if gone else None
            whole, recent = worked_out(sums[vehicle]), worked_out(last[vehicle])
            said = {
                "acquisition_cost": cost["amount"], "net_cash": whole["net_profit"] + sums[vehicle]["depreciation"],
                "sold_for": price["amount"] if price and price["currency"] == currency else 0,
                "depreciated": sums[vehicle]["depreciation"], "profit_12": recent["net_profit"], "revenue_12": recent["revenue"],
            }
            said["current_value"] = 0 if gone else cost["amount"] - said["depreciated"]
            said["gain"] = said["net_cash"] + said["sold_for"] + said["current_value"] - cost["amount"]
            for key in self.books.keys(group, until, vehicle):
                out[key].update(said)
        return {key: (said, {}) for key, said in out.items()}

    def bridge(self, group, since, until, currency):
        """Of the span and of the one before, which is as long."""
        days = until - since + DAY
        now, before = (self.books.figures(group, since - shift, until - shift, currency) for shift in (0 * DAY, days))
        out = {}
        for key in {*now, *before}:
            one, two = worked_out(now[key]), worked_out(before[key])
            v0, v1, a0, a1, r0, r1 = (two["revenue"], one["revenue"], two["rentable_s"], one["rentable_s"],
                                      two.get("rented_s", 0), one.get("rented_s", 0))
            by_size = half_away(v0 * a1, a0) if a0 else v1
            by_use = (half_away(v0 * r1, r0) if r0 else v1) if a0 else v1
            out[key] = ({
                "revenue": v1, "revenue_before": v0, "change": v1 - v0, "fleet_size_effect": by_size - v0,
                "utilization_effect": by_use - by_size, "rate_effect": v1 - by_use, "rentable_s": a1, "rentable_before_s": a0,
                "rented_s": r1, "rented_before_s": r0,
            }, {})
        return out

    # Rentals

    def of_rental(self, currency):
        """What each booking earned and cost, whenever that was."""
        found = collections.defaultdict(collections.Counter)
        for e in self.books.entries:
            name = measure(e["ledger_account"])
            if name and e["booking_id"] and e["amount"]["currency"] == currency:
                found[e["booking_id"]][name] += e["amount"]["amount"] * (-1 if name in REVENUES else 1)
        return found

    def seen(self):
        """The miles that trackers saw during each rental: a trip counts by the share of its time."""
        found, trips = collections.defaultdict(lambda: [decimal.Decimal(0), 0]), collections.defaultdict(list)
        for t in self.activity.trips:
            since = second(instant(t["from"]))
            trips[t["vehicle_id"]].append((since, max(second(instant(t["until"])), since + 1), t["distance_mi"]))
        for leg in self.books.legs:
            for since, until, miles in trips[leg["vehicle"]]:
                inside = min(until, leg["until"]) - max(since, leg["since"])
                if inside > 0:
                    row = found[leg["booking"]["id"]]
                    row[0] += decimal.Decimal(str(miles)) * inside / (until - since)
                    row[1] += 1
        return found

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
            adds = {"rentals": 1, "rented_s": max(0, back - second(instant(b["actual_pickup_at"]))),
                    "billed_days": b["billed_days"], "revenue": sums["revenue"], "contribution": sums["contribution"],
                    "gps_mi": miles}
            for key in self.keys_of_booking(group, b, day):
                for name, value in adds.items():
                    out[key][0][name] += value
                out[key][1].update(gps_mi=trips)
        if group not in ("booking", "channel", "customer"):
            for (day, vehicle), (miles, on_rent, trips) in self.activity.driven("distance_mi").items():
                if since <= day <= until:
                    for key in self.books.keys(group, day, vehicle):
                        out[key][0]["driven_mi"] += miles
                        out[key][0]["outside_mi"] += miles - on_rent
                        out[key][1].update(driven_mi=trips, outside_mi=trips)
        else:
            for sums, _ in out.values():
                sums.update(dict.fromkeys(("driven_mi", "outside_mi"), None))  # of vehicles, and of no booking
        return dict(out)

    def pace(self, group, since, until, currency):
        """The billed days on the books of each day."""
        out = collections.defaultdict(collections.Counter)
        for b in self.books.bookings:
            if b["status"] not in ("confirmed", "active", "completed"):
                continue
            for d in (b.get("rate_snapshot") or {}).get("days") or []:
                day = datetime.date.fromisoformat(d["date"])
                if since <= day <= until:
                    for key in self.keys_of_booking(group, b, day):
                        out[key].update(days_on_books=1, priced_days=int(self.books.currency_of(b) == currency))
        return {key: (sums, {}) for key, sums in out.items()}

    def keys_of_booking(self, group, b, day):
        if group == "booking":
            return [b["id"]]
        if group in ("class", "location"):
            return [b.get({"class": "vehicle_class_id", "location": "pickup_location_id"}[group]) or ""]
        return self.books.keys(group, day, b.get("vehicle_id") or "", b["channel"], b.get("customer_id") or "")

    def driving(self, group, since, until, currency):
        out = collections.defaultdict(lambda: (collections.Counter(), collections.Counter()))
        for t in self.activity.trips:
            day = self.activity.on(t)
            if t["unrecorded"] or not since <= day <= until:
                continue
            for key in self.books.keys(group, day, t["vehicle_id"]):
                out[key][0].update(trips=1, moving_s=whole(t["moving_s"]))
        return dict(out)


# What adds to earnings; all else that has a measure is a cost.
REVENUES = {"time", "mileage", "extras", "protection", "fees", "damage", "discounts", "refunds", "toll_recharge"}
