"""Holds every report against an independent recomputation.

    check.py URL MOTORPOOL [--key KEY | --account NAME] [--days N] [--seed N] [--steps N] [--reports NAME,…]

With --key the account of that key is checked as it is, and with --account that of a name, for which a key is made with
`MOTORPOOL key create`. Without, accounts are made, each with a random history in a zone and a currency of its own, and
checked when the facts have caught up with it.
"""

import argparse
import collections
import datetime
import decimal
import subprocess
import sys
import time
import urllib.parse

import activity
import history
import owners
import recount
import rentals
import statements
from client import Client

# Zones with days of 23 and 25 hours at different times, one without; currencies with two decimals and with none.
ACCOUNTS = [("America/Chicago", "USD", "EUR"), ("Europe/Berlin", "EUR", "USD"), ("Asia/Tokyo", "JPY", "USD")]
REPORTS = ["revenue", "profitability", "utilization", "cost_per_mile", "maintenance_costs", "take_rate"]
ALIASES = {
    "time": "time", "revenue_time": "time", "mileage": "mileage", "revenue_mileage": "mileage", "extras": "extras",
    "revenue_extras": "extras", "revenue_protection": "protection", "revenue_fees": "fees", "revenue_damage": "damage",
    "cost_energy": "energy", "cost_maintenance": "maintenance", "gross": "revenue",
}
# What has another name, or means something narrower, in one report.
OF_REPORT = {("maintenance_costs", "total"): "maintenance", ("maintenance_costs", "maintenance"): "of one account",
             ("utilization", "billed_days"): "all_billed_days", ("utilization", "rented_s"): "all_rented_s"}
# What is not known, and no 0, where there is nothing that it could be of.
UNKNOWN = {"max_speed_mph", "lifetime_net", "idle_fuel", "score", "recent_cash", "payback_months"}


def rounded(value):
    return int(value.to_integral_value(rounding=decimal.ROUND_HALF_UP)) if value is not None else None


class Check:
    """One account's reports against one recomputation."""

    def __init__(self, client, reports=None):
        self.client, self.books = client, recount.Books(client)
        self.activity = activity.Activity(client, self.books)
        self.statements = statements.Statements(client, self.books, self.activity)
        self.compared, self.wrong, self.left = 0, [], set()
        known = {*REPORTS, *self.activity.reports, "customer_cohorts", *self.statements.reports}
        chosen = {name.strip() for name in reports.split(",")} if reports else known
        if chosen - known:
            sys.exit(f"there is no report {', '.join(sorted(chosen - known))}")
        self.wanted = chosen.__contains__

    def same(self, where, got, want):
        self.compared += 1
        if got != want:
            self.wrong.append(f"{where}: the report says {got}, the recomputation {want}")

    def told_days(self):
        """What was said to have taken place on a day belongs to that day: fees of what came to nothing, single lines, deposits."""
        found = collections.defaultdict(collections.Counter)
        for e in self.books.entries:
            if e["kind"] == "booking" and e["ledger_account"] in ("deposits_held", "revenue.fees"):
                found[e["source_id"], e["ledger_account"]][e["used_on"]] += e["amount"]["amount"]
        for b in self.books.bookings:
            zone = self.books.zone_of(b["timezone"])
            day = lambda at: str(recount.local(recount.second(recount.instant(at)), zone))
            held, fees, said = collections.Counter(), collections.Counter(), True
            for m in b["deposit"].get("moves") or []:
                held[day(m["at"])] += m["amount"]["amount"] * (-1 if m["action"] == "capture" else 1)
            over = day(b["cancellation"]["cancelled_at"]) if b["status"] in ("cancelled", "no_show") else ""
            for c in self.client.all(f"/v1/bookings/{b['id']}/charges") if over else []:
                if c["type"] in ("cancellation_fee", "no_show_fee"):
                    fees[max(over, day(c.get("at") or c["posted_at"]))] -= c["amount"]["amount"]
                else:
                    said = said and c["type"] in ("time", "tax", "discount", "promo", "platform_fee")
            for account, want in (("deposits_held", held), ("revenue.fees", fees)):
                if account == "revenue.fees" and not (over and said):
                    continue  # of a rental, or with fees of other kinds
                got = found[b["id"], account]
                for day_of in {*got, *want}:
                    self.same(f"{account} of {b['id']} on {day_of}", got[day_of], want[day_of])

    def answer(self, name, group, since, until, currency):
        return self.client.get(f"/v1/reports/{name}", **{
            "from": since.isoformat(), "to": until.isoformat(), "group_by": group, "currency": currency, "limit": 10000})

    def report(self, name, group, since, until, currency):
        answer = self.answer(name, group, since, until, currency)
        sums = self.books.figures(group, since, until, currency)
        if group != "total":
            keys = {row["key"] for row in answer["rows"]}
            shown = [OF_REPORT.get((name, c["name"])) or ALIASES.get(c["name"], c["name"]) for c in answer["columns"]]
            for key in sums:
                said = {n: v for n, v in recount.worked_out(sums[key]).items() if n in shown and v}
                if key not in keys and said:
                    self.wrong.append(f"{name} by {group}: there is no row {key!r} for {said}")
            for row in answer["rows"]:
                self.row(f"{name} by {group}, {row['label'] or row['key']!r}, {since} to {until}", answer, row["figures"],
                         recount.worked_out(sums[row["key"]]))
        total = self.books.figures("total", since, until, currency)[""]
        self.row(f"{name}, total by {group}, {since} to {until}", answer, answer["totals"]["figures"],
                 recount.worked_out(total))

    def row(self, where, answer, figures, want):
        values = {}
        for column in answer["columns"]:
            name, got = column["name"], figures[column["name"]]
            if column["formula"]:
                continue
            known = OF_REPORT.get((answer["name"], name)) or ALIASES.get(name, name)
            if got is None or isinstance(got, str):
                continue
            values[name] = decimal.Decimal(str(got))
            if known in want or known in recount.MEASURES:
                self.same(f"{where}: {name}", values[name], want.get(known, 0))
            else:
                self.left.add(name)
        for column in answer["columns"]:
            if not column["formula"]:
                continue
            self.ratio(f"{where}: {column['name']}", column, figures, values)

    def happened(self, name, group, since, until, currency):
        """A report of bookings or trackers."""
        answer = self.answer(name, group, since, until, currency)
        if name == "customer_cohorts":
            today = recount.local(self.books.now, self.books.zone)
            sums = {key: (said, {}) for key, said in
                    self.activity.cohorts(group, since, until, currency, today).items()}
        elif name in self.statements.reports:
            sums = self.statements.figures(name, group, since, until, currency)
        else:
            sums = self.activity.figures(name, group, since, until, currency)
        where = f"{name} by {group}, {since} to {until}"
        nothing = self.statements.rentals.unknown(group, currency) if name == "rental_economics" else {}
        rows = {row["key"]: row["figures"] for row in answer["rows"]}
        for key in sums.keys() - rows.keys():
            if any(sums[key][0].values()) and group != "total":
                self.wrong.append(f"{where}: there is no row {key!r} for {sums[key][0]}")
        for key, figures in rows.items():
            self.tell(f"{where}, {key!r}", answer, figures, *sums.get(key, (nothing, {})))

    def tell(self, where, answer, figures, want, blurs):
        """A row of such a report: exact, but for miles, gallons and kilowatt-hours, which can be fetched with three decimals."""
        values = {}
        for column in answer["columns"]:
            name, got = column["name"], figures[column["name"]]
            if column["formula"]:
                continue
            if got is not None and column["unit"] not in ("text", "date"):
                values[name] = decimal.Decimal(str(got))
            said = want.get(name, None if name in activity.QUANTILES or name in UNKNOWN else 0)
            if column["unit"] in ("text", "date"):
                self.same(f"{where}: {name}", got, said or None)
            elif name in activity.QUANTILES or name == "score" or name.endswith(("_mi", "_gal", "_kwh", "_mph")):
                blur = decimal.Decimal("0.08" if name == "score" else "0.06" if name.endswith("_mph") else
                                       "0.006" if name in activity.QUANTILES else "0.003")
                self.compared += 1
                if (got is None) != (said is None) or got is not None and (
                        abs(values[name] - said) > blur + blurs.get(name, 0) * decimal.Decimal("0.001")):
                    self.wrong.append(f"{where}: {name}: the report says {got}, the recomputation {said}")
            else:
                self.same(f"{where}: {name}", values.get(name), said)
        for column in answer["columns"]:
            if column["formula"]:
                self.ratio(f"{where}: {column['name']}", column, figures, values, blurred=bool(blurs))

    def ratio(self, where, column, figures, values, blurred=False):
        """A ratio by its formula, of the raw figures that stand beside it: exact where they are whole; where they are
        blurred, as they were rounded to three decimals, by what that may come to."""
        above, _, below = column["formula"].partition(" / ")
        try:
            top, bottom = (decimal.Decimal(eval(part, {"__builtins__": {}}, values)) for part in (above, below))
        except (NameError, TypeError):
            return  # of something that the report does not show, or that is null
        scale = 100 if column["unit"] == "percent" else 1
        want = recount.ratio(top, bottom, scale)
        got = figures[column["name"]]
        if want is None or got is None:
            self.same(where, got, want)
        elif column["unit"] in ("money", "seconds") and not blurred:
            self.same(where, got, rounded(want))
        else:
            self.compared += 1
            within = decimal.Decimal({"seconds": "0.5", "mph": "0.05", "months": "0.05"}.get(column["unit"], "0.005"))  # by its decimals
            if blurred:
                within += (abs(want) + scale * 3600) * decimal.Decimal("0.001") / abs(bottom)
            if abs(decimal.Decimal(str(got)) - want) > within:
                self.wrong.append(f"{where}: the report says {got}, the recomputation {want}")

    def run(self, first, last, goes_on=False):
        """Every report over three spans: those of money, and those of bookings and trackers. Of an account whose vehicles go
        on driving only reports that look ahead have days that are not over."""
        month = first.replace(day=1)
        spans = [(month, (month + datetime.timedelta(days=62)).replace(day=1) - recount.DAY),
                 (first + 40 * recount.DAY, first + 47 * recount.DAY)]
        if goes_on:
            spans = [(since, min(until, last)) for since, until in spans if since <= last]
        self.told_days()
        self.money(first, last, spans)
        self.activities(first, last, spans, last if goes_on else last + 2 * recount.DAY)

    def money(self, first, last, others):
        currencies = sorted({e["amount"]["currency"] for e in self.books.entries} | {self.books.currency})
        for name in filter(self.wanted, REPORTS):
            groups = self.client.get(f"/v1/reports/{name}/definition")["groups"]
            for group in groups:
                self.report(name, group, first, last, self.books.currency)
            for group in ("total", "month", "vehicle"):
                for since, until in others:
                    self.report(name, group, since, until, self.books.currency)
            for currency in currencies:
                self.report(name, "month", first, last, currency)
        for group in ("total", "month", "vehicle") if self.wanted("profitability") else ():
            self.links(group, first, last)

    def activities(self, first, last, others, end):
        ahead = last + 60 * recount.DAY
        for name in filter(self.wanted, [*self.activity.reports, "customer_cohorts", *self.statements.reports]):
            groups = self.client.get(f"/v1/reports/{name}/definition")["groups"]
            long = ahead if name in ("pickups", "occupancy_calendar") else end
            if name in ("depreciation", "revenue_bridge"):  # they have seconds of days that are not over
                long = last
            for group in groups:
                if group == "calendar":  # a row for each vehicle and day
                    self.happened(name, group, last - 10 * recount.DAY, last + 30 * recount.DAY, self.books.currency)
                else:
                    self.happened(name, group, first, long, self.books.currency)
            if name == "pace":  # the days of the next year have all of these as those of a year before
                for group in groups:
                    self.happened(name, group, rentals.a_year_later(first), rentals.a_year_later(last), self.books.currency)
            for since, until in others:
                for group in groups[:2]:
                    self.happened(name, group, since, until, self.books.currency)

    def links(self, group, first, last):
        """From every figure of money to its entries: their sum is the figure."""
        answer = self.client.get("/v1/reports/profitability", **{
            "from": first.isoformat(), "to": last.isoformat(), "group_by": group})
        for row in answer["rows"][:10] + [answer["totals"]]:
            for name, link in row["links"].items():
                path, _, query = link.partition("?")
                entries = self.client.all(path, **dict(urllib.parse.parse_qsl(query, keep_blank_values=True)))
                total = sum(e["amount"]["amount"] for e in entries)
                self.compared += 1
                if abs(total) != abs(row["figures"][name]):
                    self.wrong.append(f"{name} of {row['label']!r}: {row['figures'][name]}, its entries {total}: {link}")


def caught_up(client, since):
    """Waits until the facts are of a moment after an instant."""
    until = time.monotonic() + 300
    while time.monotonic() < until:
        today = datetime.date.today()
        as_of = client.get("/v1/reports/revenue", **{"from": str(today), "to": str(today)})["data_as_of"]
        if as_of and recount.instant(as_of) > since:
            return
        time.sleep(1)
    sys.exit("the facts did not catch up with what was written within five minutes")


def costs_posted(client, vehicles):
    """Waits until what vehicles cost by schedule has been posted, which may take ten minutes, and nothing more comes."""
    until, before = time.monotonic() + 900, -1
    while time.monotonic() < until:
        entries = list(client.entries())
        bought = {e["vehicle_id"] for e in entries if e["ledger_account"] == "fixed_asset"}
        if len(bought) >= vehicles and len(entries) == before:
            return
        before = len(entries)
        time.sleep(20)
    sys.exit("what the vehicles were bought for was not posted within a quarter of an hour")


def over_everywhere(now):
    """The last local day that is over in every zone: the day before the one that it is in UTC-12, where days end last.
    Seconds of a day that is not over are counted to the present, which for the facts and the recount is not the same."""
    return (now - datetime.timedelta(hours=12)).date() - recount.DAY


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("motorpool", help="the program, which makes accounts")
    parser.add_argument("--key", help="check the account of this key, and make none")
    parser.add_argument("--account", help="likewise the account of this name, such as that of a demo that runs")
    parser.add_argument("--days", type=int, default=330, help="how far back the longest span goes")
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--steps", type=int, default=120, help="of each history")
    parser.add_argument("--reports", help="check no others than these, separated by commas")
    args = parser.parse_args()
    now = datetime.datetime.now(recount.UTC)
    today = now.date()
    days = args.days
    first = today - datetime.timedelta(days=days + 2)
    wrong, clients = 0, []
    stands = args.key or args.account
    for i, (zone, currency, other) in enumerate(ACCOUNTS[:1] if stands else ACCOUNTS):
        key = args.key
        if not key:
            account = args.account or f"History {args.seed} {zone}"
            key = subprocess.run([args.motorpool, "key", "create", "--account", account, "--scopes", "admin"],
                                 check=True, capture_output=True, text=True).stdout.strip()
        client = Client(args.url, key)
        if not stands:
            told = history.History(client, args.seed + i, zone, currency, other, first, days - 62).play(args.steps)
            print(f"{zone}: {dict(told.done)}; refused: {dict(told.refused)}", flush=True)
        clients.append((zone if not stands else "the account", client))
    for name, client in clients:
        if not stands:
            costs_posted(client, history.VEHICLES)
            not_shared = owners.posted(client)
            caught_up(client, datetime.datetime.now(recount.UTC))
        check = Check(client, args.reports)
        if not stands:
            check.wrong += not_shared
        check.run(first, over_everywhere(now), goes_on=bool(args.account))
        print(f"{name}: {check.compared} figures compared, {len(check.wrong)} differ; "
              f"not worked out again: {', '.join(sorted(check.left)) or 'none'}", flush=True)
        of = collections.defaultdict(list)
        for line in check.wrong:
            where, _, what = line.partition(": ")
            of[where.split(" by ")[0], what.partition(":")[0]].append(line)
        for lines in of.values():
            print(f"  {len(lines)} like {lines[0]}")
            for line in lines[1:4]:
                print("    " + line)
        wrong += len(check.wrong)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
