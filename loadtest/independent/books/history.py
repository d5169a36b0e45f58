"""Makes up a business over the interface, with all that befalls one: amendments, reversals, refunds, swaps, vehicles that
are down, books that are closed, days of 23 and 25 hours, and a second currency. The same seed makes the same history of
the same days; what the interface refuses is counted and left."""

import collections
import datetime
import random
import zoneinfo

from client import Client, Refused

UTC = datetime.timezone.utc
CHANNELS = ["direct", "phone", "website", "turo", "getaround"]
COSTS = ["fuel", "charging", "maintenance", "repair", "tires", "cleaning", "insurance", "registration", "tax", "parking",
         "toll", "fine", "telematics", "lease", "loan_interest", "marketing", "salary", "other"]


def text(at):
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class History:
    """One account's history over some months, which ended days ago."""

    def __init__(self, client: Client, seed, zone, currency, other, first, days):
        self.client, self.rng = client, random.Random(seed)
        self.zone, self.currency, self.other = zoneinfo.ZoneInfo(zone), currency, other
        self.first, self.days = first, days
        self.done = collections.Counter()
        self.refused = collections.Counter()
        client.call("PATCH", "/v1/account", {"timezone": zone, "currency": currency})

    def money(self, low, high, currency=None):
        return {"amount": self.rng.randrange(low, high), "currency": currency or self.currency}

    def at(self, day, hour):
        """A moment of a day, on the minute."""
        date = self.first + datetime.timedelta(days=day)
        noon = datetime.datetime.combine(date, datetime.time(), self.zone) + datetime.timedelta(hours=hour)
        return noon.replace(minute=self.rng.randrange(60))

    def date(self, day):
        return (self.first + datetime.timedelta(days=day)).isoformat()

    def do(self, what, method, path, body=None):
        """One step; a refusal is noted and is no failure, as random steps often make no sense."""
        try:
            answer = self.client.call(method, path, {} if body is None else body)
        except Refused as refusal:
            if refusal.status >= 500:
                raise
            self.refused[what] += 1
            return None
        self.done[what] += 1
        return answer

    def lay_down(self):
        """The fleet, its rates and its customers."""
        c, rng = self.client, self.rng
        self.plans = {currency: c.post("/v1/rate_plans", {
            "name": "Standard " + currency, "currency": currency, "daily_rate": self.money(3000, 9000, currency),
            "tiers": [{"days": 7, "price": self.money(15000, 40000, currency)}],
            "included_miles_per_day": 150, "extra_mile_fee": self.money(10, 60, currency), "deposit_method": "none",
        })["id"] for currency in (self.currency, self.other)}
        places = [c.post("/v1/locations", {"name": name, "timezone": zone})["id"]
                  for name, zone in (("Home", str(self.zone)), ("Airport", str(self.zone)))]
        classes = [c.post("/v1/vehicle_classes", {"name": name, "rate_plan_id": self.plans[self.currency]})["id"]
                   for name in ("Compact", "Van")]
        owners = [c.post("/v1/customers", {"first_name": "Owner", "last_name": str(i)})["id"] for i in range(2)]
        self.customers = [c.post("/v1/customers", {"first_name": "Renter", "last_name": str(i)})["id"] for i in range(5)]
        self.places, self.odometer, self.vehicles = places, {}, []
        for i in range(5):
            v = c.post("/v1/vehicles", {
                "make": rng.choice(["Ford", "Kia"]), "model": rng.choice(["A", "B"]), "license_plate": f"R{i}",
                "vehicle_class_id": classes[i % 2], "home_location_id": places[i % 2], "current_location_id": places[0],
                "tags": rng.sample(["city", "winter", "premium"], rng.randrange(3)),
                "owner_customer_id": rng.choice(owners + [""]) or None,
                "in_service_on": self.date(rng.randrange(10)),
                **({"timezone": "America/Los_Angeles"} if i == 4 else {}),
            })["id"]
            self.vehicles.append(v)
            self.odometer[v] = 10_000

    def rent(self, day):
        """A rental with what may befall it."""
        rng = self.rng
        vehicle, length = rng.choice(self.vehicles), rng.choice([1, 1, 2, 3, 5, 9])
        since, until = self.at(day, rng.randrange(24)), self.at(day + length, rng.randrange(24))
        booking = self.do("book", "POST", "/v1/bookings", {
            "customer_id": rng.choice(self.customers), "vehicle_id": vehicle, "channel": rng.choice(CHANNELS),
            "pickup_at": text(since), "return_at": text(until), "pickup_location_id": self.places[0],
            "backdated": True, "confirm": True, "elsewhere": True,
            "rate_plan_id": self.plans[self.other if rng.random() < 0.2 else self.currency],
        })
        if booking is None:
            return
        path = "/v1/bookings/" + booking["id"]
        fate = rng.random()
        if fate < 0.08:
            self.do("cancel", "POST", path + "/cancel", {"reason_code": "customer"})
            return
        if fate < 0.12:
            self.do("no show", "POST", path + "/no_show")
            return
        start = self.odometer[vehicle] + 150 * day  # so that it rises, whatever is written down first
        if self.do("pick up", "POST", path + "/pickup", {"at": text(since), "mileage_mi": start}) is None:
            return
        if rng.random() < 0.15:
            until += datetime.timedelta(hours=rng.randrange(2, 30))
            self.do("extend", "POST", path + "/extend", {"return_at": text(until)})
        elif rng.random() < 0.2:
            until += datetime.timedelta(hours=rng.randrange(-10, 10))
        back = start + rng.randrange(10, 149) * max(1, length - 1)
        self.do("return", "POST", path + "/return", {"at": text(until), "mileage_mi": back})
        self.after(path, booking)

    def after(self, path, booking):
        """What comes of a rental when it is over."""
        rng, currency = self.rng, booking["currency"]
        if rng.random() < 0.4:
            charge = self.do("charge", "POST", path + "/charges", {
                "type": rng.choice(["cleaning", "damage", "refuel", "smoking", "extra", "adjustment"]),
                "description": "found afterwards", "unit_price": self.money(500, 20000, currency)})
            if charge and rng.random() < 0.3:
                self.do("reverse", "POST", f"{path}/charges/{charge['id']}/reverse", {"reason": "it was not theirs"})
        if rng.random() < 0.2:
            self.do("discount", "POST", path + "/charges", {"type": "discount", "unit_price": self.money(100, 1500, currency)})
        if rng.random() < 0.15:
            self.do("favour", "POST", path + "/charges",
                    {"type": "adjustment", "unit_price": {"amount": -rng.randrange(100, 900), "currency": currency}})
        if rng.random() < 0.15:
            self.do("correct", "POST", path + "/correct", {"reason": "misread", "return": {
                "mileage_mi": self.client.get(path)["return_mileage_mi"] + rng.randrange(1, 30)}})
        if rng.random() < 0.7:
            due = self.client.get(path)
            amount = due["balance_due"]["amount"]
            if amount > 0:
                paid = self.do("pay", "POST", "/v1/payments", {
                    "booking_id": booking["id"], "method": "card", "received_at": due["actual_return_at"] or due["return_at"],
                    "amount": {"amount": amount, "currency": currency}})
                if paid and rng.random() < 0.2:
                    self.do("refund", "POST", f"/v1/payments/{paid['id']}/refund",
                            {"amount": {"amount": max(1, amount // 3), "currency": currency}})

    def spend(self, day):
        """A cost, of one day or of many, some of them taken back or in the other currency."""
        rng = self.rng
        body = {
            "category": rng.choice(COSTS), "incurred_on": self.date(day),
            "amount": self.money(500, 40000, self.other if rng.random() < 0.15 else None),
        }
        if rng.random() < 0.8:
            body["vehicle_id"] = rng.choice(self.vehicles)
        if rng.random() < 0.4:
            body["service_period"] = {"from": self.date(day), "until": self.date(day + rng.randrange(1, 60))}
        expense = self.do("spend", "POST", "/v1/expenses", body)
        if expense is None:
            return
        if expense["status"] == "draft":
            self.do("post", "POST", f"/v1/expenses/{expense['id']}/post")
        if rng.random() < 0.15:
            self.do("void", "POST", f"/v1/expenses/{expense['id']}/void", {"reason": "twice"})

    def block(self, day):
        vehicle, length = self.rng.choice(self.vehicles), self.rng.randrange(1, 4)
        self.do("block", "POST", f"/v1/vehicles/{vehicle}/blocks", {
            "from": text(self.at(day, 8)), "until": text(self.at(day + length, 18)), "reason": "brakes",
            "kind": self.rng.choice(["maintenance", "repair", "owner_use"])})

    def play(self, steps):
        """The whole history; in its midst the books are closed, and what comes after corrects closed days."""
        self.lay_down()
        for step in range(steps):
            day = self.rng.randrange(self.days)
            self.rng.choices([self.rent, self.spend, self.block], [6, 3, 1])[0](day)
            if step == steps * 2 // 3:
                self.do("close", "POST", "/v1/ledger/close", {"through": self.date(self.days // 2)})
        return self
