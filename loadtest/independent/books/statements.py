"""Works out again what statements say: profit and loss, balance sheet, deposits, ageing, taxes, damage, the return on
vehicles, why revenue changed, and how vehicles were driven. Of the entries of the ledger, bookings, vehicles and trips
alone, by the definitions of the figures."""

import collections
import datetime
import decimal

from activity import whole
from recount import DAY, METRES_PER_MILE, instant, measure, worked_out
from rentals import REVENUES, Rentals

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


def payback(came, cost):
    """By the end of which month what came had reached the cost, and how many months that took from the first one on."""
    so_far = 0
    for month in sorted(came):
        so_far += came[month]
        if so_far >= cost:
            first = min(came)
            return {"payback_month": month.isoformat(),
                    "payback_months": (month.year - first.year) * 12 + month.month - first.month + 1}
    return {"payback_month": None, "payback_months": None}


def number(identity):
    return int(identity.split("_")[1])


def lines_of(b, name):
    """For each line of a tax: its rate, what the tax came to so far, and the net amount that is of. That is all that is taxable
    so far, where the tax is that of it; where somebody waived tax, what is left divided by the rate."""
    tax, taxable, by_rate = 0, 0, collections.Counter()
    had = list(dict.fromkeys(c.get("tax_rate_bp", 0) for c in b["charges"] if c["type"] == "tax" and c["description"] == name))
    for c in b["charges"]:
        amount = c["amount"]["amount"]
        if c["type"] == "tax" and c["description"] == name:
            tax += amount
            by_rate[c.get("tax_rate_bp", 0)] += amount
            rates = [rate for rate, stands in by_rate.items() if stands] or had
            base = max(taxable, 0)
            if abs(tax * 10000 - base * sum(rates)) > 5000 * len(rates):
                base = half_away(tax * 10000, sum(rates)) if sum(rates) else 0
            yield sum(rates), tax, base
        elif c["taxable"] and c["type"] not in ("tax", "platform_fee"):
            taxable += amount


def net(amount, points):
    """The net amount of what a tax came to, by the points that its lines make."""
    if not amount or not points:
        return 0
    for rate, tax, base in reversed(points):
        if tax == amount:
            return base
    return half_away(amount * 10000, points[0][0]) if points[0][0] else 0


class Statements:
    """What statements are made of, fetched once."""

    def __init__(self, client, books, activity):
        self.books, self.activity = books, activity
        self.types = {a["ledger_account"]: a["type"] for a in client.get("/v1/ledger/accounts")["data"]}
        self.events = list(client.all("/v1/driving_events"))
        self.rentals = Rentals(books, activity)
        self.reports = {
            "profit_and_loss": self.profit_and_loss, "balance_sheet": self.balance_sheet, "damage_recovery": self.damage,
            "deposits_held": self.deposits, "receivables_ageing": self.ageing, "tax_summary": self.taxes,
            "fleet_roi": self.returns, "revenue_bridge": self.bridge, "rental_economics": self.rentals.economics,
            "driver_score": self.driving, "pace": self.rentals.pace,
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
        out, turnover = collections.defaultdict(collections.Counter), self.turnover(until, currency)
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
                    base, known = turnover.get(e["id"], (0, 0))
                    sums.update(taxable=base, known_tax=known)
        return {key: (sums, {}) for key, sums in out.items()}

    def turnover(self, until, currency):
        """What each entry of a tax of a booking was charged on, by its id, and of what the net amount is known. The entries of a tax,
        in the order in which they became known and what is taken back first, come to the sums that its lines come to."""
        found = collections.defaultdict(list)
        for e in self.books.entries:
            name = (e["purpose"] or "").removeprefix("tax, ")
            if (e["kind"] == "booking" and e["ledger_account"] == "tax_payable" and name != e["purpose"]
                    and e["amount"]["currency"] == currency):
                found[e["booking_id"], name].append(e)
        bookings, out = {b["id"]: b for b in self.books.bookings}, {}
        for (booking, name), entries in found.items():
            entries.sort(key=lambda e: (instant(e["occurred_at"]), number(e["transaction_id"]), e["amount"]["amount"] < 0,
                                        e["local_on"], number(e["id"])))
            points, so_far = list(lines_of(bookings[booking], name)), 0
            for e in entries:
                posted = -e["amount"]["amount"]
                so_far += posted
                out[e["id"]] = (net(so_far, points) - net(so_far - posted, points), posted if points and points[0][0] else 0)
        return out

    # Vehicles

    def returns(self, group, since, until, currency):
        """What became of the money that was put into vehicles of whose records it is known."""
        year, out = months_before(until, 11), collections.defaultdict(collections.Counter)
        sums, last, lately, months, came = (collections.defaultdict(collections.Counter) for _ in range(5))
        by_month, recent_from = collections.defaultdict(lambda: collections.defaultdict(collections.Counter)), months_before(until, 2)
        for e, day, amount in self.entries(until, currency):
            name = measure(e["ledger_account"])
            if name is None:
                continue
            adds = {name: -amount if name in REVENUES else amount}
            for of, there in ((sums, True), (last, day >= year), (lately, day >= recent_from)):
                if there:
                    of[e["vehicle_id"]].update(adds)
            by_month[e["vehicle_id"]][day.replace(day=1)].update(adds)
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
            if not gone or v["disposal_on"] >= year.isoformat():
                said["acquisition_12"] = cost["amount"]
                said["capital_12"] = cost["amount"] - (sums[vehicle]["depreciation"] - last[vehicle]["depreciation"])
            if not gone:
                three = lately[vehicle]
                said["recent"] = worked_out(three)["net_profit"] + three["depreciation"]
            for month, cash in by_month[vehicle].items():
                came[vehicle][month] += worked_out(cash)["net_profit"] + cash["depreciation"]
            if said["sold_for"]:
                came[vehicle][months_before(datetime.date.fromisoformat(v["disposal_on"]), 0)] += said["sold_for"]
            for key in self.books.keys(group, until, vehicle):
                out[key].update(said)
                months[key].update(came[vehicle])
        return {key: ({
            **said, "capital_12": said["capital_12"] + said["current_value"],
            "remaining": max(said["acquisition_cost"] - said["net_cash"] - said["sold_for"], 0),
            "recent_cash": said["recent"] if said["recent"] > 0 else None,
            **payback(months[key], said["acquisition_cost"]),
        }, {}) for key, said in out.items()}

    def bridge(self, group, since, until, currency):
        """Of the span and of the one before: as many months, if the span is of whole ones, else as many days."""
        earlier = since - (until - since + DAY)
        if since.day == (until + DAY).day == 1:
            earlier = months_before(since, 12 * (until.year - since.year) + until.month - since.month + 1)
        now, before = (self.books.figures(group, *span, currency) for span in ((since, until), (earlier, since - DAY)))
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

    # Trackers

    def driving(self, group, since, until, currency):
        out = collections.defaultdict(lambda: (collections.Counter(), collections.Counter()))

        def add(thing, **adds):
            day = self.activity.on(thing)
            if since <= day <= until:
                for key in self.books.keys(group, day, thing["vehicle_id"]):
                    out[key][0].update(adds)
                    out[key][1].update(scored_mi=adds.get("trips", 0))

        for t in self.activity.trips:
            if not t["unrecorded"]:
                miles = decimal.Decimal(str(t["distance_mi"])) - decimal.Decimal(str(t["distance_estimated_mi"]))
                add(t, trips=1, moving_s=whole(t["moving_s"]), scored_mi=miles)
        for e in self.events:
            name = {"crash": "crashes", "speeding": "speeding"}.get(e["kind"], e["kind"].removeprefix("harsh_"))
            add(e, **{name: 1}, **({"harsh": 1} if e["kind"].startswith("harsh_") else {}),
                **({"speeding_s": self.activity.seconds(e)} if e["kind"] == "speeding" else {}))
        for said, _ in out.values():
            said["score"] = score(said)
        return dict(out)


def score(said):
    """A hundred less points by incidents in 100 km and by the share of time above the limit; None below 10 km."""
    km = said["scored_mi"] * METRES_PER_MILE / 1000
    if km < 10:
        return None
    points = 10 * said["braking"] + 8 * said["acceleration"] + 8 * said["cornering"] + 100 * said["crashes"]
    loss = points * 100 / decimal.Decimal(km)
    if said["moving_s"]:
        loss += 100 * min(decimal.Decimal(1), decimal.Decimal(said["speeding_s"]) / said["moving_s"])
    return max(decimal.Decimal(0), 100 - loss)
