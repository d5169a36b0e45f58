"""Holds every report against an independent recomputation.

    check.py URL MOTORPOOL [--key KEY] [--seed N] [--steps N]

With --key the account of that key is checked as it is. Without, accounts are made with `MOTORPOOL key create`, each with a
random history in a zone and a currency of its own, and checked when the facts have caught up with it.
"""

import argparse
import datetime
import decimal
import subprocess
import sys
import time
import urllib.parse

import history
import recount
from client import Client, Refused

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


def rounded(value):
    return int(value.to_integral_value(rounding=decimal.ROUND_HALF_UP)) if value is not None else None


class Check:
    """One account's reports against one recomputation."""

    def __init__(self, client):
        self.client, self.books = client, recount.Books(client)
        self.compared, self.wrong, self.left = 0, [], set()

    def same(self, where, got, want):
        self.compared += 1
        if got != want:
            self.wrong.append(f"{where}: the report says {got}, the recomputation {want}")

    def report(self, name, group, since, until, currency):
        try:
            answer = self.client.get(f"/v1/reports/{name}", **{
                "from": since.isoformat(), "to": until.isoformat(), "group_by": group, "currency": currency,
                "limit": 10000})
        except Refused as refusal:
            if refusal.status == 400 and "group_by" in str(refusal):
                return
            raise
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

    def ratio(self, where, column, figures, values):
        """A ratio by its formula, of the raw figures that stand beside it; they are exact where they are whole."""
        above, _, below = column["formula"].partition(" / ")
        try:
            top, bottom = (decimal.Decimal(eval(part, {"__builtins__": {}}, values)) for part in (above, below))
        except (NameError, TypeError):
            return  # of something that the report does not show, or that is null
        want = recount.ratio(top, bottom, 100 if column["unit"] == "percent" else 1)
        got = figures[column["name"]]
        if want is None or got is None:
            self.same(where, got, want)
        elif column["unit"] == "money":
            self.same(where, got, rounded(want))
        else:
            self.compared += 1
            if abs(decimal.Decimal(str(got)) - want) > decimal.Decimal("0.005"):  # it is rounded to two decimals
                self.wrong.append(f"{where}: the report says {got}, the recomputation {want}")

    def run(self, first, last):
        month = first.replace(day=1)
        spans = [(first, last), (month, (month + datetime.timedelta(days=62)).replace(day=1) - recount.DAY),
                 (first + 40 * recount.DAY, first + 47 * recount.DAY)]
        currencies = sorted({e["amount"]["currency"] for e in self.books.entries} | {self.books.currency})
        for name in REPORTS:
            groups = self.client.get(f"/v1/reports/{name}/definition")["groups"]
            for group in groups:
                self.report(name, group, first, last, self.books.currency)
            for group in ("total", "month", "vehicle"):
                for since, until in spans[1:]:
                    self.report(name, group, since, until, self.books.currency)
            for currency in currencies:
                self.report(name, "month", first, last, currency)
        for group in ("total", "month", "vehicle"):
            self.links(group, first, last)

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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("motorpool", help="the program, which makes accounts")
    parser.add_argument("--key", help="check the account of this key, and make none")
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--steps", type=int, default=120, help="of each history")
    args = parser.parse_args()
    today = datetime.datetime.now(recount.UTC).date()
    days = 330
    first = today - datetime.timedelta(days=days + 2)
    wrong = 0
    for i, (zone, currency, other) in enumerate(ACCOUNTS[:1] if args.key else ACCOUNTS):
        key = args.key
        if not key:
            key = subprocess.run([args.motorpool, "key", "create", "--account", f"History {args.seed} {zone}", "--scopes",
                                  "admin"], check=True, capture_output=True, text=True).stdout.strip()
        client = Client(args.url, key)
        if not args.key:
            told = history.History(client, args.seed + i, zone, currency, other, first, days - 62).play(args.steps)
            print(f"{zone}: {dict(told.done)}; refused: {dict(told.refused)}", flush=True)
            caught_up(client, datetime.datetime.now(recount.UTC))
        check = Check(client)
        check.run(first, today - recount.DAY)
        print(f"{zone if not args.key else 'the account'}: {check.compared} figures compared, {len(check.wrong)} differ; "
              f"not worked out again: {', '.join(sorted(check.left)) or 'none'}", flush=True)
        for line in check.wrong[:40]:
            print("  " + line)
        wrong += len(check.wrong)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
