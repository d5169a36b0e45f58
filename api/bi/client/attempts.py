"""Makes the attempts of testdata/attempts.txt with clickhouse-connect, as a user for analysts would from a notebook.

Usage: attempts.py HOST PORT USER HASTY_USER PASSWORD FILE MARK...

A line of the file says what is expected: refused, fails=<code>, own, own=<answer> or stopped. Whatever is answered, be it an error,
none of the marks of the other account's rows may be in it. Then the views are read as a notebook reads them, through
pandas and Arrow.
"""

import decimal
import sys
import time
import urllib.parse

import clickhouse_connect
from clickhouse_connect.driver.exceptions import ClickHouseError, ProgrammingError

host, port, user, hasty, password, path, *marks = sys.argv[1:]
client = clickhouse_connect.get_client(host=host, port=int(port), username=user, password=password)
# Of the same account, with a limit of a second: what is to be stopped is waited for.
hurried = clickhouse_connect.get_client(host=host, port=int(port), username=hasty, password=password)
tried, wrong = 0, []


def attempt(line, expect, params, sql):
    began, kept_back = time.monotonic(), False
    try:
        through = hurried if expect == "stopped" else client
        answer, failed = through.raw_query(sql, settings=params).decode(errors="replace"), False
    except ProgrammingError as error:  # the client knows that the server would refuse a setting, and sends nothing
        answer, failed, kept_back = str(error), True, True
    except (ClickHouseError, OSError) as error:
        answer, failed = str(error), True
    failed = failed or "DB::Exception" in answer
    for mark in marks:
        if mark in answer:
            wrong.append(f"line {line}: {sql} answers {mark!r}")
    kind, exact, value = expect.partition("=")
    fits = {
        "refused": kept_back or failed and any(f"Code: {code}." in answer for code in (497, 164, 452, 392)),
        "fails": failed and f"Code: {value}." in answer,
        "own": not failed and (not exact or answer.strip() == value),
        "stopped": failed and time.monotonic() - began < 30,
    }[kind]
    if not fits:
        wrong.append(f"line {line}: {expect}: {sql} answers {answer[:200]!r}")


for number, line in enumerate(open(path, encoding="utf-8"), 1):
    line = line.strip()
    if not line or line.startswith("#"):
        continue
    expect, _, sql = line.partition(" ")
    params = {}
    if sql.startswith("?"):
        query, _, sql = sql[1:].partition(" ")
        params = dict(urllib.parse.parse_qsl(query))
    tried += 1
    attempt(number, expect, params, sql)

views = [row[0] for row in client.query("SELECT name FROM system.tables WHERE database = 'bi' ORDER BY name").result_rows]
for view in views:
    frame = client.query_df(f"SELECT * FROM bi.{view}")
    table = client.query_arrow(f"SELECT * FROM bi.{view}")
    if len(frame) == 0 or len(frame) != table.num_rows or list(frame.columns) != table.column_names:
        wrong.append(f"{view}: {len(frame)} rows in pandas, {table.num_rows} in Arrow")
    if set(frame["account_id"]) != {"acc_7"}:
        wrong.append(f"{view} shows {set(frame['account_id'])}")
amount = client.query("SELECT amount, amount_minor FROM bi.payments LIMIT 1").result_rows[0]
if not isinstance(amount[0], decimal.Decimal) or amount[0] * 100 != amount[1]:
    wrong.append(f"money is {amount!r}")

print(f"{tried} attempts, {len(views)} views through pandas and Arrow, {len(wrong)} are not as expected")
print("\n".join(wrong))
sys.exit(bool(wrong))
