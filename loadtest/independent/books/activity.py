"""Works out again what reports say of bookings, customers and trackers, from what anybody can fetch: bookings, quotes,
customers, trips, stops, charging sessions, visits and alerts. Written from the definitions of the figures alone.

Each report is a list of things that happened on a local day: what they add, of what a quantile is taken, and whom they
count once. `figures` sums them under the keys of a group."""

import collections
import datetime
import decimal

from recount import DAY, REVENUE, bounds, days_of, instant, local, measure, second

# What a rental is agreed to come to is made of these: neither taxes nor what is only known later.
AGREED = {"time", "mileage", "discount", "promo", "extra", "protection", "delivery", "one_way", "young_driver",
          "additional_driver"}
LEADS = [("lead_0_days", 0, 0), ("lead_1_2_days", 1, 2), ("lead_3_6_days", 3, 6), ("lead_7_13_days", 7, 13),
         ("lead_14_29_days", 14, 29), ("lead_30_89_days", 30, 89), ("lead_90_days", 90, 10 ** 6)]
LENGTHS = [("length_1_day", 0, 1), ("length_2_3_days", 2, 3), ("length_4_6_days", 4, 6), ("length_7_13_days", 7, 13),
           ("length_14_29_days", 14, 29), ("length_30_days", 30, 10 ** 6)]
# What customers bring.
BROUGHT = {*REVENUE.values(), "platform_fees"}
# What a vehicle may do on a day; the first that is so counts.
STATES = ("rented", "booked", "blocked", "free")
# Quantiles: the figure, the list that it is of, which quantile.
QUANTILES = {
    "lead_median_days": ("lead", "0.5"), "lead_p90_days": ("lead", "0.9"), "length_median_days": ("length", "0.5"),
    "ready_median_hours": ("ready", "0.5"), "ready_p90_hours": ("ready", "0.9"), "gap_median_hours": ("gap", "0.5"),
    "gap_p90_hours": ("gap", "0.9"),
}

def ms(text):
    return round(instant(text).timestamp() * 1000) if text else None


def half_away(value):
    return int(value.to_integral_value(rounding=decimal.ROUND_HALF_UP))


def whole(value):
    return int((decimal.Decimal(str(value)) + decimal.Decimal("0.5")) // 1)


def quantile(values, share):
    """As a spreadsheet's PERCENTILE.INC: between the two nearest."""
    ordered = sorted(values)
    if not ordered:
        return None
    at = decimal.Decimal(share) * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def bucket(buckets, number):
    return next(name for name, low, high in buckets if low <= number <= high)


class Happened:
    """Something that counts on a local day."""

    def __init__(self, day, vehicle, adds, of=None, once=None, lists=None, most=None, trips=1):
        self.day, self.vehicle, self.adds = day, vehicle, adds
        self.of = of        # the booking or quote whose class, location, channel and customer count
        self.once = once or {}    # whom a figure counts once
        self.lists = lists or {}  # of what quantiles are taken
        self.most = most or {}    # of what the highest is told
        self.trips = trips        # of how many its miles and the like are the sum, each rounded by itself


class Activity:
    """All that reports of bookings and trackers are made of, fetched once."""

    def __init__(self, client, books):
        self.books = books
        self.quotes = list(client.all("/v1/quotes"))
        self.trips, self.stops, self.charges, self.visits, self.alerts = (
            list(client.all(path)) for path in ("/v1/trips", "/v1/stops", "/v1/charging_sessions", "/v1/visits", "/v1/alerts"))
        self.available = {v: self.availability(client, v) for v in books.vehicles}
        self.takings = None  # as taken says, once asked for
        self.reports = {
            "bookings": self.bookings, "pickups": self.pickups, "quotes": self.quoted, "turnaround": self.turnaround,
            "customers": self.customers, "distance": self.distance, "trips": self.travelled, "idling": self.idling,
            "energy": self.energy, "geofence_time": self.geofences, "alerts": self.alerted,
            "occupancy_calendar": self.calendar, "depreciation": self.depreciation,
        }

    def availability(self, client, vehicle):
        """The instants since which a vehicle was available, as its revisions say."""
        said, states = {}, {}
        for revision in sorted(client.all(f"/v1/vehicles/{vehicle}/history"), key=lambda r: r["revision"]):
            said.update({c["field"]: c["new"] for c in revision["changes"]})
            states[ms(said.get("/status_since")) or ms(revision["at"])] = said.get("/status")
        return sorted(since for since, status in states.items() if status == "available")

    # What reports say

    def keys(self, report, group, h):
        if group == "geofence":
            return [h.once["geofence"]]
        if group == "calendar":
            return [f"{h.vehicle} {h.day}"]
        if group == "category":
            return [h.once["category"]]
        if h.of is not None and group in ("class", "location"):
            return [h.of.get({"class": "vehicle_class_id", "location": "pickup_location_id"}[group]) or ""]
        said = h.of or {}
        return self.books.keys(group, h.day, h.vehicle, said.get("channel") or "direct", said.get("customer_id") or "")

    def figures(self, report, group, since, until, currency):
        """The figures of a report by the keys of a group, and how much each may be wrong by."""
        found = collections.defaultdict(lambda: (collections.Counter(), collections.defaultdict(list),
                                                 collections.defaultdict(set), {}, collections.Counter()))
        for h in self.reports[report](since, until, currency):
            if not since <= h.day <= until:
                continue
            for key in self.keys(report, group, h):
                sums, lists, sets, most, blurs = found[key]
                for name, value in h.adds.items():
                    sums[name] += value
                    if name.endswith(("_mi", "_gal", "_kwh")) and value:
                        blurs[name] += h.trips
                for name, value in h.lists.items():
                    lists[name].append(value)
                for name, value in h.once.items():
                    sets[name].add(value)
                for name, value in h.most.items():
                    most[name] = max(most.get(name, value), value)
        out = {}
        for key, (sums, lists, sets, most, blurs) in found.items():
            said = {**sums, **most}
            said.update({name: len(values) for name, values in sets.items() if name not in ("geofence", "category")})
            said.update({name: quantile(lists[source], share) for name, (source, share) in QUANTILES.items()
                         if source in lists})
            out[key] = (said, blurs)
        if report == "customers":
            self.of_customers(group, since, until, currency, out)
        if report == "idling":
            gallon = (self.books.account.get("energy_costs") or {}).get("gallon")
            for said, _ in out.values():
                known = gallon and gallon["currency"] == currency and said["engine_s"]
                said["idle_fuel"] = half_away(said["idle_gal"] * gallon["amount"]) if known else None
        if report == "depreciation":
            for key, sums in self.books.figures(group, since, until, currency).items():
                out.setdefault(key, ({}, {}))[0]["fleet_s"] = sums["fleet_s"]
        if report == "occupancy_calendar" and group == "calendar":
            for key, (said, _) in out.items():
                vehicle, day = key.split(" ")
                said["state"] = next(state for state in STATES if said.get(state))
                said["booking_id"] = self.first_of(said["state"], vehicle, datetime.date.fromisoformat(day))
        return out

    # Bookings

    def zone(self, b):
        return self.books.zone_of(b.get("timezone"))

    def day(self, at, zone):
        return local(second(instant(at)), zone)

    def agreed(self, b):
        lines = (b.get("rate_snapshot") or {}).get("lines")
        return sum(line["amount"]["amount"] for line in (lines if lines is not None else b.get("charges") or [])
                   if line["type"] in AGREED and not line.get("reversal_of"))

    def bookings(self, since, until, currency):
        for b in self.books.bookings:
            status, adds, lists = b["status"], collections.Counter(made=1), {}
            if status == "expired":
                adds["lapsed"] += 1
            elif status == "pending":
                adds["pending"] += 1
            else:
                value = self.agreed(b) if b["currency"] == currency else 0
                adds.update(bookings=1, value=value)
                if status == "cancelled":
                    adds.update({"cancelled": 1, "cancelled_value": value,
                                 "cancelled_by_" + b["cancellation"]["cancelled_by"]: 1})
                lead = ms(b["pickup_at"]) - ms(b["created_at"])
                if lead >= 0:
                    adds.update({"led": 1, "lead_s": (lead + 500) // 1000, bucket(LEADS, lead // 86400000): 1})
                    lists["lead"] = decimal.Decimal(lead) / 86400000
            yield Happened(self.day(b["created_at"], self.zone(b)), b.get("vehicle_id") or "", adds, of=b, lists=lists)

    def pickups(self, since, until, currency):
        for b in self.books.bookings:
            status, adds, lists = b["status"], collections.Counter(planned=1), {}
            if status not in ("confirmed", "active", "completed", "no_show"):
                continue
            if status == "confirmed":
                adds["to_come"] += 1
            elif status == "no_show":
                adds.update(no_shows=1, expected=1)
            else:
                billed = b["billed_days"]
                adds.update({"rentals": 1, "expected": 1, "billed_days": billed, bucket(LENGTHS, billed): 1})
                lists["length"] = decimal.Decimal(billed)
            yield Happened(self.day(b["pickup_at"], self.zone(b)), b.get("vehicle_id") or "", adds, of=b, lists=lists)

    def quoted(self, since, until, currency):
        sure = {b["id"] for b in self.books.bookings
                if b.get("confirmed_at") or b["status"] in ("confirmed", "active", "completed", "no_show")}
        for q in self.quotes:
            accepted = bool(q.get("booking_id"))
            confirmed = accepted and q["booking_id"] in sure
            value = q["total"]["amount"] if q["total"]["currency"] == currency else 0
            yield Happened(self.day(q["created_at"], self.books.zone), "", {
                "quotes": 1, "accepted": int(accepted), "confirmed": int(confirmed),
                "expired": int(not accepted and second(instant(q["expires_at"])) < self.books.now),
                "value": value, "confirmed_value": value if confirmed else 0}, of=q)

    def legs(self):
        """Which vehicle was out from when to when, in milliseconds; until is None while it is."""
        for b in self.books.bookings:
            if b["status"] not in ("active", "completed"):
                continue
            at = ms(b["actual_pickup_at"])
            for swap in b.get("vehicle_history") or []:
                if swap.get("from"):
                    yield b, swap["vehicle_id"], ms(swap["from"]), ms(swap["until"]), False
                    at = ms(swap["until"])
            yield b, b.get("vehicle_id") or "", at, ms(b["actual_return_at"]), True

    def turnaround(self, since, until, currency):
        begun = collections.defaultdict(list)
        for _, vehicle, at, _, _ in self.legs():
            begun[vehicle].append(at or 0)
        for b, vehicle, at, back, last in self.legs():
            if not last or b["status"] != "completed":
                continue
            adds, lists = collections.Counter(returns=1), {}
            then = min((other for other in begun[vehicle] if other > (at or 0)), default=None)
            if then is not None:
                adds.update(repicked=1, gap_s=(then - back + 500) // 1000)
                lists["gap"] = decimal.Decimal(then - back) / 3600000
            ready = next((s for s in self.available.get(vehicle, []) if s >= back), None)
            if ready is not None and (then is None or ready <= then):
                adds.update(readied=1, ready_s=(ready - back + 500) // 1000)
                lists["ready"] = decimal.Decimal(ready - back) / 3600000
            yield Happened(self.day(b["actual_return_at"], self.zone(b)), vehicle, adds, of=b, lists=lists)

    def ended(self):
        """The rentals of customers that are over, in the order in which they ended."""
        return sorted((b for b in self.books.bookings if b["status"] == "completed" and b.get("customer_id")),
                      key=lambda b: (ms(b["actual_return_at"]), int(b["id"].split("_")[1])))

    def net(self, b, currency):
        return b["total"]["amount"] - b["taxes_total"]["amount"] if b["currency"] == currency else 0

    def customers(self, since, until, currency):
        seen = set()
        for b in self.ended():
            first = b["customer_id"] not in seen
            seen.add(b["customer_id"])
            yield Happened(self.day(b["actual_return_at"], self.zone(b)), b.get("vehicle_id") or "",
                           {"rentals": 1, "returning_rentals": int(not first), "billed": self.net(b, currency)}, of=b,
                           once={"customers": b["customer_id"]})

    def brought(self, until, currency):
        """What the books have of each customer of whom they have something, through a day."""
        found = collections.Counter()
        for e in self.books.entries:
            if (e["customer_id"] and e["amount"]["currency"] == currency and measure(e["ledger_account"]) in BROUGHT
                    and datetime.date.fromisoformat(e["local_on"]) <= until):
                found[e["customer_id"]] -= e["amount"]["amount"]
        return dict(found)

    def of_customers(self, group, since, until, currency, out):
        """Customers who came again, or for the first time, and what they brought: by the rentals of each row."""
        brought = self.brought(until, currency)
        rows = collections.defaultdict(collections.Counter)
        new, seen = collections.defaultdict(set), set()
        for b in self.ended():
            customer, first = b["customer_id"], b["customer_id"] not in seen
            seen.add(customer)
            h = Happened(self.day(b["actual_return_at"], self.zone(b)), b.get("vehicle_id") or "", {}, of=b)
            if since <= h.day <= until:
                for key in self.keys("customers", group, h):
                    rows[key][customer] += 1
                    if first:
                        new[key].add(customer)
        for key, (said, _) in out.items():
            said["repeat_customers"] = sum(n > 1 for n in rows[key].values())
            said["new_customers"] = len(new[key])
            said["returning_customers"] = len(rows[key]) - len(new[key])
            paying = rows[key].keys() & brought.keys()
            said["paying_customers"] = len(paying)
            said["lifetime_net"] = sum(brought[customer] for customer in paying) if paying else None

    def cohorts(self, group, since, until, currency, today):
        """Customers by the month of their first rental, and how many of them came again in each of the next twelve."""
        month = lambda day: day.year * 12 + day.month
        firsts, came = {}, collections.defaultdict(lambda: collections.defaultdict(int))
        for b in self.ended():
            day = self.day(b["actual_return_at"], self.zone(b))
            firsts.setdefault(b["customer_id"], (day, b))
            came[b["customer_id"]][month(day) - month(firsts[b["customer_id"]][0])] += self.net(b, currency)
        out = collections.defaultdict(collections.Counter)
        for customer, (day, b) in firsts.items():
            if not since <= day <= until:
                continue
            for key in self.keys("customer_cohorts", group, Happened(day, "", {}, of=b)):
                sums = out[key]
                sums.update(customers=1, first_billed=came[customer][0])
                for k in range(1, 13):
                    sums[f"reached_m{k}"] += month(day) + k <= month(today)
                    sums[f"active_m{k}"] += k in came[customer]
                    sums[f"billed_m{k}"] += came[customer].get(k, 0)
        return out

    # The fleet

    def fleet(self, since, until):
        """Each vehicle and day on which it was in the fleet."""
        for vehicle, v in self.books.vehicles.items():
            for day in (since + n * DAY for n in range((until - since).days + 1)):
                first, after = bounds(day, self.zone_of(vehicle))
                begins, ends = self.books.in_service(v)
                if after > begins and (ends is None or first < ends):
                    yield vehicle, v, day

    def taken(self):
        """The bookings that have or will have a vehicle on a day, by both: those that are rented, and those that are booked."""
        rented, booked = (collections.defaultdict(set) for _ in range(2))
        today = local(self.books.now, self.books.zone)
        for leg in self.books.legs:
            for day, _, _ in days_of(leg["since"], leg["until"], self.zone(leg["booking"])):
                rented[leg["vehicle"], day].add(leg["booking"]["id"])
        for b in self.books.bookings:
            if b["status"] in ("confirmed", "active"):
                for day, _, _ in days_of(second(instant(b["pickup_at"])), -(-ms(b["return_at"]) // 1000), self.books.zone):
                    if day >= today:
                        booked[b.get("vehicle_id") or "", day].add(b["id"])
        return {"rented": rented, "booked": booked}

    def first_of(self, state, vehicle, day):
        """The booking that a vehicle is rented or booked for on a day, of several the one that was made first."""
        if self.takings is None:
            self.takings = self.taken()
        return min(self.takings.get(state, {}).get((vehicle, day), ()), key=lambda id: int(id.split("_")[1]), default=None)

    def calendar(self, since, until, currency):
        blocked, taken = collections.defaultdict(set), self.taken()
        for vehicle, spans in self.books.blocks.items():
            for begins, ends in spans:
                blocked[vehicle].update(day for day, _, _ in days_of(begins, ends, self.books.zone))
        for vehicle, spans in self.books.downs.items():
            zone = self.books.zone_of(self.books.vehicles[vehicle].get("timezone"))
            for begins, ends in spans:
                blocked[vehicle].update(day for day, _, _ in days_of(begins, min(ends, self.books.now), zone))
        for vehicle, v, day in self.fleet(since, until):
            state = ("rented" if (vehicle, day) in taken["rented"] else "booked" if (vehicle, day) in taken["booked"]
                     else "blocked" if day in blocked[vehicle] else "free")
            yield Happened(day, vehicle, {state: 1, "vehicle_days": 1, "occupied": int(state in ("rented", "booked"))})

    def depreciation(self, since, until, currency):
        for e in self.books.entries:
            day, amount = datetime.date.fromisoformat(e["local_on"]), e["amount"]["amount"]
            if e["amount"]["currency"] != currency or day > until:
                continue
            vehicle, account = e["vehicle_id"] or "", e["ledger_account"]
            if account in ("cost.depreciation", "gain_on_disposal") and day >= since:
                yield Happened(day, vehicle, {"depreciation": amount})
            if account == "accumulated_depreciation":
                yield Happened(until, vehicle, {"accumulated": -amount})
            if account == "fixed_asset":
                yield Happened(until, vehicle, {"booked_cost": amount})
            if account == "accumulated_depreciation" and self.cost_of(vehicle, until, currency) is not None:
                yield Happened(until, vehicle, {"book_value": amount})
        for vehicle in self.books.vehicles:
            cost = self.cost_of(vehicle, until, currency)
            if cost is not None:
                yield Happened(until, vehicle, {"acquisition_cost": cost, "book_value": cost})

    def cost_of(self, vehicle, day, currency):
        """What a vehicle cost that is held on a day, None of others and of those that cost something in another currency."""
        v = self.books.vehicles.get(vehicle) or {}
        cost, on = v.get("acquisition_cost"), day.isoformat()
        if not cost or cost["currency"] != currency or (v.get("acquired_on") or "") > on or (v.get("disposal_on") or "9") <= on:
            return None
        return cost["amount"]

    # Trackers

    def zone_of(self, vehicle):
        return self.books.zone_of((self.books.vehicles.get(vehicle) or {}).get("timezone"))

    def on(self, thing):
        return self.day(thing["from"], self.zone_of(thing["vehicle_id"]))

    def seconds(self, thing):
        return (ms(thing["until"]) - ms(thing["from"]) + 500) // 1000

    def driven(self, field):
        """What was driven or burnt on each day of each vehicle, all and on rent, trips divided by time. A way that nobody saw
        may last as long as a tracker was silent: one of more than 62 days counts on its first 62."""
        out = collections.defaultdict(lambda: [0, 0, 0])
        rented = self.books.rented()
        for t in self.trips:
            amount = decimal.Decimal(str(t.get(field) or 0))
            since, until = ms(t["from"]) // 1000, ms(t["until"]) // 1000
            until = min(max(until, since + 1), since + 62 * 86400)
            for day, begins, ends in days_of(since, until, self.zone_of(t["vehicle_id"])):
                on_rent = sum(max(0, min(e, ends) - max(s, begins)) for s, e in rented[t["vehicle_id"]])
                row = out[day, t["vehicle_id"]]
                row[0] += amount * (ends - begins) / (until - since)
                row[1] += amount * on_rent / (until - since)
                row[2] += 1
        return out

    def distance(self, since, until, currency):
        for (day, vehicle), (miles, on_rent, trips) in self.driven("distance_mi").items():
            yield Happened(day, vehicle, {"driven_mi": miles, "rented_mi": on_rent, "outside_mi": miles - on_rent,
                                          "driven_days": int(miles > 0)}, trips=trips)
        for t in self.trips:
            estimated = decimal.Decimal(str(t["distance_estimated_mi"]))
            adds = {"estimated_mi": estimated, "trips": int(not t["unrecorded"])}
            if t["unrecorded"]:
                adds["unrecorded_mi"] = decimal.Decimal(str(t["distance_mi"]))
            yield Happened(self.on(t), t["vehicle_id"], adds)

    def travelled(self, since, until, currency):
        for t in self.trips:
            miles = decimal.Decimal(str(t["distance_mi"]))
            if t["unrecorded"]:
                yield Happened(self.on(t), t["vehicle_id"], {"unrecorded_trips": 1, "unrecorded_mi": miles})
                continue
            yield Happened(self.on(t), t["vehicle_id"], {
                "trips": 1, "trips_mi": miles, "duration_s": self.seconds(t), "moving_s": whole(t["moving_s"]),
                "idle_s": whole(t["idle_s"])}, most={"max_speed_mph": decimal.Decimal(str(t["max_speed_mph"]))})

    def idling(self, since, until, currency):
        for thing, name in [(t, "trip_idle_s") for t in self.trips if not t["unrecorded"]] + [
                (s, "stop_idle_s") for s in self.stops]:
            idle = whole(thing["idle_s"])
            moving = whole(thing["moving_s"]) if name == "trip_idle_s" else 0
            fuel = (self.books.vehicles.get(thing["vehicle_id"]) or {}).get("fuel_type")
            burning = 0 if fuel in ("electric", "hydrogen") else idle
            yield Happened(self.on(thing), thing["vehicle_id"], {
                name: idle, "idle_s": idle, "moving_s": moving, "engine_s": moving + idle, "burning_s": burning,
                "idle_gal": decimal.Decimal(burning) / 3600 * decimal.Decimal("0.16")})

    def energy(self, since, until, currency):
        fuel, energy = self.driven("fuel_used_gal"), collections.Counter()
        electric = {v for v, said in self.books.vehicles.items() if said.get("fuel_type") == "electric"}
        for c in self.charges:
            kwh = c.get("energy_kwh")
            yield Happened(self.on(c), c["vehicle_id"], {
                "charges": 1, "charging_s": self.seconds(c), "unmetered_charges": int(kwh is None),
                "charged_kwh": decimal.Decimal(str(kwh or 0)),
                "electric_kwh": decimal.Decimal(str(kwh or 0)) if c["vehicle_id"] in electric else 0})
        for (day, vehicle), (miles, _, trips) in self.driven("distance_mi").items():
            burnt = fuel[day, vehicle][0]
            yield Happened(day, vehicle, {
                "driven_mi": miles, "electric_mi": miles if vehicle in electric else 0, "fuel_gal": burnt,
                "fuelled_mi": miles if burnt else 0}, trips=trips)
        for e in self.books.entries:
            if e["ledger_account"] in ("cost.fuel", "cost.charging") and e["amount"]["currency"] == currency:
                yield Happened(datetime.date.fromisoformat(e["local_on"]), e["vehicle_id"] or "",
                               {"energy_cost": e["amount"]["amount"]})

    def geofences(self, since, until, currency):
        """Visits are from one whole second to another, so that what is inside on its days adds up to them."""
        for v in self.visits:
            once = {"geofence": v["geofence_id"], "visitors": v["vehicle_id"]}
            came, left = ((ms(v[end]) + 500) // 1000 for end in ("from", "until"))
            yield Happened(self.on(v), v["vehicle_id"], {"visits": 1, "visit_s": left - came}, once=once)
            for day, begins, ends in days_of(came, left, self.zone_of(v["vehicle_id"])):
                yield Happened(day, v["vehicle_id"], {"inside_s": ends - begins}, once=once)

    def alerted(self, since, until, currency):
        grave = {"critical": "critical", "warning": "warnings", "info": "infos"}
        for a in self.alerts:
            yield Happened(self.on(a), a["vehicle_id"], {
                "alerts": 1, grave[a["severity"]]: 1, "acknowledged": int(bool(a["acknowledged_at"])),
                "still_open": int(a["provisional"]), "lasted_s": whole(a["duration_s"])},
                once={"alerted_vehicles": a["vehicle_id"], "category": a["kind"]})
