"""Finds the stops and trips of real recordings without any code of Motorpool, for pipeline/trip to be compared with.

Stops are those of movingpandas' TrajectoryStopDetector: at least 180 s within a diameter of 100 m. It looks at places
and times only, never at speed. A recording is first cut at silences of an hour, and at those of more than 300 s that end nearer
than one walks in that time. Trips are the parts between, if they get
200 m away from where they begin or end. Distances are haversine sums of this file's own, without legs of more than 300 s;
moving time is that of legs of at most 300 s that were driven at 2 km/h or more.

    trips.py DATA OUT    reads the recordings under DATA and writes the JSON file OUT
"""

import json
import re
import sys
import warnings
from datetime import timedelta
from pathlib import Path

import geopandas
import movingpandas
import numpy
import pandas

RECORDINGS = {
    "omaha": "omaha-naturalistic-driving/drives.csv.gz",
    "muenster": "muenster-envirocar-obd/tracks.csv.gz",
    "dublin e-bike": "dublin-ebike-escooter/e-bike.csv.gz",
    "dublin e-scooter": "dublin-ebike-escooter/e-scooter.csv.gz",
    "austin 2016-05-30": "austin-buses/2016-05-30.csv.gz",
    "austin 2015-09-06": "austin-buses/2015-09-06.csv.gz",
}
# Of the big recordings, the vehicles whose number is a multiple of this: the detector needs minutes for all.
EVERY = {"austin 2015-09-06": 5}

STOP = timedelta(seconds=180)
DIAMETER = 100  # m
SPLIT = timedelta(seconds=3600)
NO_DATA = 300  # s
AWAY = 200  # m
STANDING = 2 / 3.6  # m/s
WALKING = 5 / 3.6  # m/s
RADIUS = 6371008.8  # m


def haversine(lat1, lng1, lat2, lng2):
    lat1, lng1, lat2, lng2 = map(numpy.radians, (lat1, lng1, lat2, lng2))
    h = numpy.sin((lat2 - lat1) / 2) ** 2 + numpy.cos(lat1) * numpy.cos(lat2) * numpy.sin((lng2 - lng1) / 2) ** 2
    return 2 * RADIUS * numpy.arcsin(numpy.sqrt(numpy.minimum(1, h)))


def load(path, every):
    rows = pandas.read_csv(path, dtype={"vehicle": str}, low_memory=False)
    rows["t"] = pandas.to_datetime(rows["timestamp"], utc=True, errors="coerce", format="ISO8601").dt.tz_localize(None)
    rows = rows[rows.t.notna() & rows.lat.between(-90, 90) & rows.lng.between(-180, 180)]
    rows = rows[(rows.lat != 0) | (rows.lng != 0)]
    if "gps_fix" in rows:
        rows = rows[~(rows.gps_fix < 2)]
    if every:
        rows = rows[pandas.to_numeric(rows.vehicle) % every == 0]
    return rows.drop_duplicates(["vehicle", "t"]).sort_values(["vehicle", "t"], kind="stable")


def pieces(rows):
    """The vehicle's rows, cut where it was silent for SPLIT or longer, or for longer than NO_DATA and found where one walks to."""
    span = rows.t.diff()
    lat, lng = rows.lat.to_numpy(), rows.lng.to_numpy()
    leg = numpy.concatenate([[0], haversine(lat[:-1], lng[:-1], lat[1:], lng[1:])])
    seconds = span.dt.total_seconds().to_numpy()
    cut = (span >= SPLIT) | (seconds > NO_DATA) & (leg < WALKING * seconds)
    return [piece for _, piece in rows.groupby(cut.cumsum())]


def stops_of(rows):
    """Stops as (start, end), at fixes."""
    if len(rows) < 2 or rows.t.iloc[-1] - rows.t.iloc[0] < STOP:
        return []
    frame = geopandas.GeoDataFrame(rows[["t"]], geometry=geopandas.points_from_xy(rows.lng, rows.lat), crs=4326)
    trajectory = movingpandas.Trajectory(frame.set_index("t"), 1)
    ranges = movingpandas.TrajectoryStopDetector(trajectory).get_stop_time_ranges(max_diameter=DIAMETER, min_duration=STOP)
    return [(r.t_0, r.t_n) for r in ranges]


def measure(rows, start, end):
    part = rows[(rows.t >= start) & (rows.t <= end)]
    if len(part) < 2:
        return None
    lat, lng = part.lat.to_numpy(), part.lng.to_numpy()
    far = max(haversine(lat[0], lng[0], lat, lng).max(), haversine(lat[-1], lng[-1], lat, lng).max())
    if far < AWAY:
        return None
    leg = haversine(lat[:-1], lng[:-1], lat[1:], lng[1:])
    span = numpy.diff(part.t.to_numpy()) / numpy.timedelta64(1, "s")
    heard = span <= NO_DATA
    return {
        "start": millis(start), "end": millis(end), "distance_m": round(float(leg[heard].sum())),
        "moving_s": round(float(span[heard & (leg >= STANDING * span)].sum())),
    }


def millis(t):
    return round(t.timestamp() * 1000)


def main():
    warnings.filterwarnings("ignore")
    data, out = Path(sys.argv[1]), Path(sys.argv[2])
    result = {"recordings": {}}
    for name, file in RECORDINGS.items():
        vehicles = {}
        for vehicle, rows in load(data / file, EVERY.get(name)).groupby("vehicle"):
            trips, stops = [], []
            for piece in pieces(rows):
                found = stops_of(piece)
                stops += [[millis(a), millis(b)] for a, b in found]
                edges = [piece.t.iloc[0]] + [edge for stop in found for edge in stop] + [piece.t.iloc[-1]]
                trips += [trip for a, b in zip(edges[::2], edges[1::2]) if (trip := measure(piece, a, b))]
            vehicles[vehicle] = {"trips": trips, "stops": stops}
        result["recordings"][name] = {"file": file, "every": EVERY.get(name, 0), "vehicles": vehicles}
        print(name, sum(len(v["trips"]) for v in vehicles.values()), "trips", sum(len(v["stops"]) for v in vehicles.values()), "stops", file=sys.stderr)
    out.write_text(re.sub(r"\n {5,}", " ", json.dumps(result, indent=1)) + "\n")  # a vehicle a line


if __name__ == "__main__":
    main()
