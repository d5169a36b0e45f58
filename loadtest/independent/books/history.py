"""Makes up a business over the interface, with all that befalls one: amendments, reversals, refunds, swaps in mid-rental,
vehicles that are down, drives, quotes, books that are closed, days of 23 and 25 hours, and a second currency. The same seed
makes the same history of the same days; what the interface refuses is counted and left."""

import collections
import datetime
import random
import zoneinfo

from client import Client, Refused

UTC = datetime.timezone.utc
CHANNELS = ["direct", "phone", "website", "turo", "getaround"]
VEHICLES = 7
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
        client.call("PATCH", "/v1/account", {"timezone": zone, "currency": currency, "energy_costs": {
            "gallon": self.money(200, 600), **({} if currency == "JPY" else {"kwh": self.money(10, 60)})}})

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
            "cancellation_steps": [{"hours_before": 72, "fee_bp": 5000}],
        })["id"] for currency in (self.currency, self.other)}
        places = [c.post("/v1/locations", {"name": name, "timezone": str(self.zone), "taxes": taxes})["id"] for name, taxes in (
            ("Home", [{"name": "State tax", "rate_bp": 825}, {"name": "City tax", "rate_bp": 200}]),
            ("Airport", [{"name": "City tax", "rate_bp": 350}]))]
        classes = [c.post("/v1/vehicle_classes", {"name": name, "rate_plan_id": self.plans[self.currency]})["id"]
                   for name in ("Compact", "Van")]
        owners = [c.post("/v1/customers", {"first_name": "Owner", "last_name": str(i)})["id"] for i in range(2)]
        self.customers = [c.post("/v1/customers", {"first_name": "Renter", "last_name": str(i)})["id"] for i in range(5)]
        self.places, self.classes, self.odometer, self.vehicles, self.trackers = places, classes, {}, [], []
        for i in range(3):  # where the drives of the first three vehicles begin, and somewhere on the way
            c.post("/v1/geofences", {"name": f"Yard {i}", "geometry": {
                "type": "Circle", "center": [9.0, 40 + i + 0.1 * (i > 1)], "radius_m": 3000},
                "applies_from": self.date(0) + "T00:00:00Z"})
        c.post("/v1/alert_rules", {"name": "Fast", "kind": "speeding", "threshold_mph": 50})
        for i in range(VEHICLES):  # the last two are those of swaps
            v = c.post("/v1/vehicles", {
                "make": rng.choice(["Ford", "Kia"]), "model": rng.choice(["A", "B"]), "license_plate": f"R{i}",
                "vehicle_class_id": classes[i % 2], "home_location_id": places[i % 2], "current_location_id": places[0],
                "tags": rng.sample(["city", "winter", "premium"], rng.randrange(3)),
                "owner_customer_id": rng.choice(owners + [""]) or None, "owner_share_bp": [7000, None, 3333][i % 3],
                "fuel_type": "electric" if i == 3 else "gasoline",
                "acquired_on" if i == 2 else "in_service_on": self.date(rng.randrange(10) if i < 5 else 1),
                "acquisition_cost": self.money(1_000_000, 3_000_000) if i != 1 else self.money(20_000, 40_000),  # soon paid back
                "residual_value": self.money(100_000, 900_000) if i != 1 else self.money(1_000, 9_000),
                **({"battery_kwh": 75} if i == 3 else {"fuel_capacity_gal": 13.2}),
                "useful_life_months": rng.randrange(24, 80),
                **({"timezone": "America/Los_Angeles"} if i == 4 else {}),
            })["id"]
            self.vehicles.append(v)
            self.odometer[v] = 10_000
            self.trackers.append(f"{v}-tracker")
            device = c.post("/v1/devices", {"unique_id": self.trackers[-1]})["id"]
            c.post(f"/v1/devices/{device}/assign", {"vehicle_id": v})

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
            at = since - datetime.timedelta(hours=rng.randrange(1, 100))
            self.do("cancel", "POST", path + "/cancel", {"reason_code": "customer", "at": text(at)})
            return
        if fate < 0.12:
            self.do("no show", "POST", path + "/no_show", {"at": text(since + datetime.timedelta(hours=1))})
            return
        deposit = self.money(5000, 30000, booking["currency"]) if rng.random() < 0.25 else None
        if deposit:
            self.do("authorize", "POST", path + "/deposit/authorize", {"amount": deposit})
            self.do("capture", "POST", path + "/deposit/capture", {"at": text(since)})
        start = self.odometer[vehicle] + 300 * day  # so that it rises, whatever is written down first
        full, left = self.levels(vehicle, 70, 101), self.levels(vehicle, 20, 101)
        if self.do("pick up", "POST", path + "/pickup", {"at": text(since), "mileage_mi": start, **full}) is None:
            return
        if rng.random() < 0.15:
            until += datetime.timedelta(hours=rng.randrange(2, 30))
            self.do("extend", "POST", path + "/extend", {"return_at": text(until)})
        elif rng.random() < 0.2:
            until += datetime.timedelta(hours=rng.randrange(-10, 10))
        back = start + rng.randrange(10, 290) * max(1, length - 1)
        self.do("return", "POST", path + "/return", {"at": text(until), "mileage_mi": back, **left})
        if deposit:
            self.do("release", "POST", path + "/deposit/release", {"at": text(until + datetime.timedelta(hours=rng.randrange(30)))})
        self.after(path, booking, until)

    def levels(self, vehicle, low, high):
        """What is read of the tank or the battery of a vehicle, of some never."""
        if self.rng.random() < 0.2:
            return {}
        return {"battery_level" if vehicle == self.vehicles[3] else "fuel_pct": self.rng.randrange(low, high)}

    def swaps(self):
        """Rentals with another vehicle in their midst. It is swapped now, while they are out, and dated back then."""
        for n in range(4):
            vehicle, other = self.spares[n % 2], self.spares[1 - n % 2]
            since, swapped, until = (self.at(20 + 15 * n + d, self.rng.randrange(24)) for d in (0, 2, 5))
            booking = self.do("book", "POST", "/v1/bookings", {
                "customer_id": self.rng.choice(self.customers), "vehicle_id": vehicle, "pickup_at": text(since),
                "return_at": text(datetime.datetime.now(UTC) + datetime.timedelta(days=1)), "backdated": True, "confirm": True,
                "elsewhere": True, "rate_plan_id": self.plans[self.currency]})
            path = "/v1/bookings/" + booking["id"]
            mile = 20_000 + 1000 * n
            self.do("pick up", "POST", path + "/pickup", {"at": text(since), "mileage_mi": mile})
            self.do("swap", "POST", path + "/swap_vehicle", {
                "vehicle_id": other, "reason": "flat tire", "mileage_mi": mile + 90, "pickup_mileage_mi": mile,
                "elsewhere": True})
            self.do("date back", "POST", path + "/correct",
                    {"reason": "written down late", "swaps": [{"swap": 0, "at": text(swapped)}]})
            self.do("return", "POST", path + "/return", {"at": text(until), "mileage_mi": mile + 200})

    def ahead(self, day):
        """A booking of the days to come, some of a class alone, some mere holds, some cancelled by somebody."""
        rng = self.rng
        since = datetime.datetime.now(UTC) + datetime.timedelta(hours=rng.randrange(2, 24 * 100))
        booking = self.do("book ahead", "POST", "/v1/bookings", {
            "customer_id": rng.choice(self.customers), "channel": rng.choice(CHANNELS), "pickup_at": text(since),
            "return_at": text(since + datetime.timedelta(hours=rng.randrange(20, 200))), "elsewhere": True,
            "pickup_location_id": rng.choice(self.places), "rate_plan_id": self.plans[self.currency], "confirm": rng.random() < 0.8,
            **rng.choice([{"vehicle_id": rng.choice(self.vehicles)}, {"vehicle_class_id": rng.choice(self.classes)}])})
        if booking and rng.random() < 0.4:
            self.do("cancel", "POST", f"/v1/bookings/{booking['id']}/cancel",
                    {"reason_code": "other", "cancelled_by": rng.choice(["customer", "host", "operator"])})

    def quote(self, day):
        """A quote that may become a booking."""
        rng = self.rng
        since = datetime.datetime.now(UTC) + datetime.timedelta(hours=rng.randrange(2, 24 * 100))
        quote = self.do("quote", "POST", "/v1/quotes", {
            "customer_id": rng.choice(self.customers), "channel": rng.choice(CHANNELS), "pickup_at": text(since),
            "return_at": text(since + datetime.timedelta(hours=rng.randrange(20, 200))), "elsewhere": True,
            "pickup_location_id": rng.choice(self.places), "rate_plan_id": self.plans[self.currency],
            "vehicle_class_id": rng.choice(self.classes)})
        if quote and rng.random() < 0.6:
            self.do("accept", "POST", f"/v1/quotes/{quote['id']}/accept", {"confirm": rng.random() < 0.7})

    def drive(self, day):
        """A drive with a wait in it, often over midnight, and the engine on for a while after it."""
        rng, n = self.rng, self.rng.randrange(len(self.vehicles))
        at, odd = self.at(day, rng.choice([9, 14, 23, 23])), rng.randrange(1000) / 1000
        lat, lng, speed = 40 + n, 9.0, rng.randrange(8, 28)
        fixes, level, soc = [], rng.randrange(50, 90), rng.randrange(40, 90)

        def fix(seconds, moving, ignition=True, **signals):
            nonlocal at, lat, lng
            at += datetime.timedelta(seconds=seconds + odd)
            if moving:
                lat += speed * seconds / 111_195
            fixes.append({"unique_id": self.trackers[n], "fix_at": text(at), "lat": round(lat, 6), "lng": lng,
                          "speed_mps": speed if moving else 0, "ignition": ignition, "signals": signals})

        for _ in range(rng.randrange(20, 120)):
            fix(30, True, fuel_used_l=1000 + day * 10 + len(fixes) * 0.05)
        for _ in range(rng.randrange(3)):
            fix(30, False)
        for _ in range(rng.randrange(10, 40)):
            fix(30, True, fuel_used_l=1000 + day * 10 + len(fixes) * 0.05)
        for alarm in rng.sample(["hardBraking", "hardAcceleration", "hardCornering"], rng.randrange(4)):
            fix(30, True)
            fixes[-1]["alarm"] = alarm
        for _ in range(rng.randrange(2, 12)):
            fix(60, False)
        for _ in range(12):
            fix(60, False, ignition=False)
        if n == 3:
            for i in range(12):
                fix(300, False, ignition=False, charging=True, soc_pct=min(100, soc + i), charge_power_kw=7.4)
            fix(300, False, ignition=False, charging=False, soc_pct=min(100, soc + 12))
        self.do("drive", "POST", "/v1/positions", {"data": fixes})

    def after(self, path, booking, over):
        """What comes of a rental when it is over."""
        rng, currency = self.rng, booking["currency"]
        if rng.random() < 0.4:
            charge = self.do("charge", "POST", path + "/charges", {
                "type": rng.choice(["cleaning", "damage", "refuel", "smoking", "extra", "adjustment"]),
                "description": "found afterwards", "unit_price": self.money(500, 20000, currency),
                **rng.choice([{}, {"at": text(over + datetime.timedelta(days=1))}])})
            if charge and rng.random() < 0.3:
                self.do("reverse", "POST", f"{path}/charges/{charge['id']}/reverse", {
                    "reason": "it was not theirs", **({"at": text(over + datetime.timedelta(days=2))} if "at" in charge else {})})
        for line in self.client.get(path)["charges"]:
            if line["type"] in ("mileage", "refuel", "recharge", "late_return") and rng.random() < 0.3:
                self.do("let go", "POST", f"{path}/charges/{line['id']}/reverse", {"reason": "as a favour"})
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
        self.spares, self.vehicles = self.vehicles[5:], self.vehicles[:5]
        self.swaps()
        for step in range(steps):
            day = self.rng.randrange(self.days)
            self.rng.choices([self.rent, self.spend, self.block, self.ahead, self.quote, self.drive], [12, 6, 2, 2, 2, 4])[0](day)
            if step == steps * 2 // 3:
                self.do("close", "POST", "/v1/ledger/close", {"through": self.date(self.days // 2)})
        return self
