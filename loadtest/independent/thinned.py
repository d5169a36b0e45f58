"""Thins real recordings and says how far the vehicles went and when they paused, without any code of Motorpool.

A recording is rid of places at whole degrees, whose digits were lost (nyc), and of those that are more than 1 km from the place
before and would have had to be driven to at 300 km/h. It is thinned to a fix each so many seconds: the first is kept, and each that comes so much later than the one kept
before. Distances are those of trips.py with its stops taken out, but every leg of a trip counts, however long nothing was
heard: straight on. So does the leg across a silence that parts two trips, if it led 200 m away. Where the wheels' own speed
was recorded and places stand still (rabat), the distance as recorded is the integral of that speed.

When drives begin and end is taken from what was recorded, all of it: where the vehicle first and last stood in a stop, within
30 m of its middle (the median of its places) and slower than 1 m/s by the recorded speed, or by the leg to the fix if none was
recorded; and likewise where a recording begins or ends with standing of 20 s and more. Pauses are such stops, and silences
across which trips.py cuts a recording, of ten minutes and more, that lie between two drives.

    thinned.py DATA OUT    reads the recordings under DATA and writes the JSON file OUT
"""

import json
import re
import sys
import warnings
from pathlib import Path

import numpy
import pandas

from trips import AWAY, EVERY, RECORDINGS, haversine, load, millis, pieces, stops_of

MORE = {
    "rabat": "rabat-twizy-ev/*.csv.gz",
    "nyc": "nyc-bus-traces/traces.csv.gz",
}
WHEELS = {"rabat"}  # speed_kmh is that of the wheels
INTERVALS = [0, 10, 30, 60, 300, 600, 900]  # s; 0 for all that was recorded
NEAR = 30  # m
LEAP = 300 / 3.6  # m/s
LEAPT = 1000  # m
PAUSE = 600  # s
STANDS = 1  # m/s
RUN = 20  # s
QUIET = 60  # s, across which a speed is believed


def thin(rows, every):
    if not every:
        return rows
    kept, last = [], None
    for i, t in enumerate(rows.t.to_numpy().astype("datetime64[ms]").astype(int)):
        if last is None or t - last >= every * 1000:
            kept.append(i)
            last = t
    return rows.iloc[kept]


def plausible(rows):
    """The rows without those that nobody drove to."""
    rows = rows[(rows.lat % 1 != 0) & (rows.lng % 1 != 0)]
    kept = []
    for i, (t, lat, lng) in enumerate(zip(rows.t, rows.lat, rows.lng)):
        if kept:
            leg = haversine(last[1], last[2], lat, lng)
            if leg > LEAPT and leg > LEAP * (t - last[0]).total_seconds():
                continue
        kept.append(i)
        last = t, lat, lng
    return rows.iloc[kept]


def legs(rows):
    lat, lng = rows.lat.to_numpy(), rows.lng.to_numpy()
    return haversine(lat[:-1], lng[:-1], lat[1:], lng[1:])


def spans(rows):
    return numpy.diff(rows.t.to_numpy()) / numpy.timedelta64(1, "s")


def away(part):
    lat, lng = part.lat.to_numpy(), part.lng.to_numpy()
    return max(haversine(lat[0], lng[0], lat, lng).max(), haversine(lat[-1], lng[-1], lat, lng).max()) >= AWAY


def near(part, lat, lng):
    return haversine(lat, lng, part.lat.to_numpy(), part.lng.to_numpy()) <= NEAR


def speed(rows):
    """m/s at each fix: as recorded, or else of the leg to it."""
    own = rows.speed_kmh.to_numpy() / 3.6 if "speed_kmh" in rows else numpy.full(len(rows), numpy.nan)
    leg = numpy.append(numpy.nan, legs(rows) / spans(rows))
    return numpy.where(numpy.isnan(own), leg, own)


def standing(part):
    """The part of a standing without the way to its place and from it."""
    slow = part[speed(part) < STANDS]
    return slow if len(slow) else part


def core(rows, stop):
    """From when to when a stop's vehicle stood."""
    part = rows[(rows.t >= stop[0]) & (rows.t <= stop[1])]
    part = part[near(part, part.lat.median(), part.lng.median())]
    if not len(part):
        return stop
    part = standing(part)
    return part.t.iloc[0], part.t.iloc[-1]


def ended(rows):
    """When a recording begins, and when it ends, but for the standing there."""
    edges = []
    for side, order in ((0, 1), (-1, -1)):
        place = rows.iloc[side]
        run = near(rows, place.lat, place.lng)[::order]
        count = len(run) if run.all() else int(numpy.argmin(run))
        part = rows[::order][:count][::order]
        if part.t.iloc[-1] - part.t.iloc[0] >= pandas.Timedelta(seconds=RUN):
            part = standing(part)
            edges.append(part.t.iloc[-1 - side])
        else:
            edges.append(place.t)
    return edges


def trips(rows, refine):
    """The trips of a vehicle as parts of its rows, and what came between two of them: (start, end) of each stop and silence."""
    found, between = [], []
    last = None
    for piece in pieces(rows):
        stops, (first, end) = stops_of(piece), (piece.t.iloc[0], piece.t.iloc[-1])
        if refine:
            stops, (first, end) = [core(piece, s) for s in stops], ended(piece)
        if last is not None:
            between.append((last, piece.t.iloc[0]))
        between += stops
        edges = [first] + [edge for stop in stops for edge in stop] + [end]
        for a, b in zip(edges[::2], edges[1::2]):
            part = piece[(piece.t >= a) & (piece.t <= b)]
            if len(part) > 1 and away(part):
                found.append(part)
        last = piece.t.iloc[-1]
    return found, between


def across(rows):
    """How far it was across the silences between trips."""
    parts = pieces(rows)
    return sum(leg for a, b in zip(parts, parts[1:]) if (leg := legs(pandas.concat([a.iloc[-1:], b.iloc[:1]]))[0]) >= AWAY)


def length(rows):
    """How far a vehicle went, straight on between the fixes of its trips and across the silences between them."""
    return sum(legs(part).sum() for part in trips(rows, False)[0]) + across(rows)


def wheels(rows):
    """The same by the speed of its wheels, but for the silences."""
    span, own = spans(rows), rows.speed_kmh.to_numpy() / 3.6
    heard = (span <= QUIET) & ~numpy.isnan(own[:-1] + own[1:])
    return (span * (own[:-1] + own[1:]) / 2)[heard].sum() + across(rows)


def pauses(drives, between):
    """What lies between two drives for PAUSE or longer."""
    if not drives:
        return []
    first, last = drives[0].t.iloc[0], drives[-1].t.iloc[-1]
    long = sorted((a, b) for a, b in between if (b - a).total_seconds() >= PAUSE and a >= first and b <= last)
    merged = []
    for a, b in long:
        if merged and a <= merged[-1][1]:
            merged[-1][1] = max(b, merged[-1][1])
        else:
            merged.append([a, b])
    return merged


def main():
    warnings.filterwarnings("ignore")
    data, out = Path(sys.argv[1]), Path(sys.argv[2])
    result = {"intervals_s": INTERVALS, "recordings": {}}
    for name, pattern in (RECORDINGS | MORE).items():
        files = sorted(data.glob(pattern))
        rows = pandas.concat([load(file, EVERY.get(name)) for file in files])
        rows = rows.drop_duplicates(["vehicle", "t"]).sort_values(["vehicle", "t"], kind="stable")
        vehicles = {}
        for vehicle, own in rows.groupby("vehicle"):
            own = plausible(own)
            drives, between = trips(own, True)
            lengths, before = {}, None
            for every in INTERVALS:
                kept = thin(own, every)
                if before is None or len(kept) != before:
                    metres = length(kept) if len(kept) > 1 else 0
                lengths[str(every)], before = round(float(metres)), len(kept)
            if name in WHEELS:
                lengths["0"] = round(float(wheels(own)))
            vehicles[vehicle] = {
                "distance_m": lengths,
                "drives": [[millis(d.t.iloc[0]), millis(d.t.iloc[-1])] for d in drives],
                "pauses": [[millis(a), millis(b)] for a, b in pauses(drives, between)],
            }
        result["recordings"][name] = {"files": [str(f.relative_to(data)) for f in files], "every": EVERY.get(name, 0), "vehicles": vehicles}
        print(name, *(f"{every} s {sum(v['distance_m'][str(every)] for v in vehicles.values()) / 1000:.1f} km" for every in INTERVALS),
              sum(len(v["drives"]) for v in vehicles.values()), "drives", sum(len(v["pauses"]) for v in vehicles.values()), "pauses", file=sys.stderr)
    out.write_text(re.sub(r"\n {5,}", " ", json.dumps(result, indent=1)) + "\n")  # a vehicle a line


if __name__ == "__main__":
    main()
