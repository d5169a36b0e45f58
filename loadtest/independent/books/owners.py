"""What owners of vehicles get, worked out again of the entries of the ledger: for each vehicle and month of the books
its share of revenue less what channels keep, rounded half away from zero, and the costs that owners bear unless the
account says otherwise. For vehicles that had one owner and one share from the beginning."""

import collections
import time

import recount

BORNE = {"cost.maintenance", "cost.repair", "cost.tires", "cost.insurance", "cost.registration", "cost.tax"}


def portion(amount, share_bp):
    part = (abs(amount) * share_bp + 5000) // 10000
    return part if amount >= 0 else -part


def differences(vehicles, entries):
    """Where the books and the recomputation differ, in words, by vehicle and currency."""
    basis, want, got = collections.Counter(), collections.Counter(), collections.Counter()
    for e in entries:
        vehicle, account, amount = e["vehicle_id"] or "", e["ledger_account"], e["amount"]["amount"]
        of = (vehicle, e["amount"]["currency"])
        if account == "cost.owner_share":
            got[of + ("share",)] += amount
        elif account.startswith("owner_borne."):
            got[of + ("borne",)] -= amount
        elif account == "owners_payable":
            got[of + ("owed",)] -= amount
        if not (vehicles.get(vehicle) or {}).get("owner_customer_id"):
            continue
        if account in recount.REVENUE or account == "cost.platform_fee":
            basis[of + (e["local_on"][:7],)] -= amount
        elif account in BORNE:
            want[of + ("borne",)] += amount
            want[of + ("owed",)] -= amount
    for (vehicle, currency, _), amount in basis.items():
        share_bp = vehicles[vehicle].get("owner_share_bp")
        part = portion(amount, 10000 if share_bp is None else share_bp)
        want[vehicle, currency, "share"] += part
        want[vehicle, currency, "owed"] += part
    return [f"{what} of the owner of {vehicles.get(vehicle, {}).get('license_plate', vehicle)!r} in {currency}: the books "
            f"say {got[vehicle, currency, what]}, the recomputation {want[vehicle, currency, what]}"
            for vehicle, currency, what in sorted(want.keys() | got.keys())
            if want[vehicle, currency, what] != got[vehicle, currency, what]]


def posted(client):
    """Waits until what owners get stands in the books, which takes a minute or two, and returns what differs then."""
    until = time.monotonic() + 300
    vehicles = {v["id"]: v for v in client.all("/v1/vehicles")}
    while True:
        wrong = differences(vehicles, client.entries())
        if not wrong or time.monotonic() > until:
            return wrong
        time.sleep(2)
