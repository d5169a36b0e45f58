"""Draws areas and places with a seed and asks shapely (polygons) and plain vector geometry (circles, corridors) which place
is in which area. The answers, written to golden.json.gz, are those that query/area must give; TestShapely reads them.

    python3 -m venv /tmp/area && /tmp/area/bin/pip install -r requirements.txt && /tmp/area/bin/python check.py

Places closer than a micrometre to the edge of a circle or corridor are left out, as the last digit of a sine differs from
one library to another. Nothing of the sort is done for polygons: their places on edges and corners must be in.

With two arguments, fixes (lines of "latitude longitude") and a GeoJSON file of districts, it writes for each fix the
numbers of the districts that cover it instead, after a line with those that shapely finds invalid. TestRecordings of
pipeline/geofence compares them.
"""

import gzip
import json
import math
import random
import sys
from pathlib import Path

import numpy as np
import shapely
from shapely.geometry import Polygon

RADIUS = 6371008.8
SHAPES = 1600
PLACES = 200


def unwrap(ring):
    """The ring with each edge going the shorter way, as query/area reads it."""
    out = [tuple(ring[0])]
    for x, y in ring[1:]:
        while x - out[-1][0] > 180:
            x -= 360
        while x - out[-1][0] < -180:
            x += 360
        out.append((x, y))
    return out


def shifts(geometry, lng):
    west, _, east, _ = geometry.bounds
    return [s for s in (0.0, 360.0, -360.0) if west <= lng + s <= east]


def move(ring, west, east):
    """A hole moved by whole turns under its shell."""
    for s in (0, 360, -360):
        if min(x for x, _ in ring) + s >= west and max(x for x, _ in ring) + s <= east:
            return [(x + s, y) for x, y in ring]
    return ring


def polygon(rings):
    shell = unwrap(rings[0])
    west, east = min(x for x, _ in shell), max(x for x, _ in shell)
    return Polygon(shell, [move(unwrap(r), west, east) for r in rings[1:]])


def vector(lat, lng):
    lat, lng = math.radians(lat), math.radians(lng)
    return np.array([math.cos(lat) * math.cos(lng), math.cos(lat) * math.sin(lng), math.sin(lat)])


def distance(lat1, lng1, lat2, lng2):
    """By the angle between vectors, which is neither the haversine formula nor a chord."""
    a, b = vector(lat1, lng1), vector(lat2, lng2)
    return RADIUS * math.atan2(np.linalg.norm(np.cross(a, b)), float(np.dot(a, b)))


def to_arc(p, a, b):
    """The distance from a place to a great-circle arc: turn the arc onto the equator and read off the latitude."""
    n = np.cross(a, b)
    n /= np.linalg.norm(n)
    east, end = np.cross(n, a), math.atan2(float(np.dot(b, np.cross(n, a))), float(np.dot(b, a)))
    along = math.atan2(float(np.dot(p, east)), float(np.dot(p, a)))
    if 0 <= along <= end:
        return RADIUS * abs(math.atan2(float(np.dot(p, n)), math.hypot(float(np.dot(p, a)), float(np.dot(p, east)))))
    return min(RADIUS * math.atan2(float(np.linalg.norm(np.cross(p, e))), float(np.dot(p, e))) for e in (a, b))


def wrap(lng):
    while lng > 180:
        lng -= 360
    while lng < -180:
        lng += 360
    return lng


class Draw:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def where(self):
        """A middle and a size, in degrees, of an area: everyday places, the antimeridian, high latitudes."""
        r = self.r
        size = 10 ** r.uniform(-3.7, 0.5)
        kind = r.randrange(5)
        if kind == 0:
            return r.uniform(-60, 60), r.uniform(-170, 170), size
        if kind == 1:
            return r.uniform(-70, 70), wrap(180 + r.gauss(0, size)), size
        if kind == 2:
            return r.choice((-1, 1)) * r.uniform(70, 89.9 - min(size, 5)), r.uniform(-180, 180), min(size, 5)
        if kind == 3:
            return r.choice((-1, 1)) * (89.95 - 1.2 * min(size, 0.5)), r.uniform(-180, 180), min(size, 0.5)
        return round(r.uniform(-50, 50)), round(r.uniform(-170, 170)), 2.0 ** r.randint(-6, 1)

    def star(self, lat, lng, size, low=0.4, points=None):
        r = self.r
        n = points or r.choice((3, 4, 5, 8, 13, 34, 89))
        k = max(0.02, math.cos(math.radians(lat)))
        turn = r.uniform(0, 2 * math.pi)
        ring = []
        for i in range(n):
            a, d = turn + 2 * math.pi * i / n, size * r.uniform(low, 1)
            ring.append([wrap(lng + d * math.cos(a) / k), max(-89.99, min(89.99, lat + d * math.sin(a)))])
        return ring + [ring[0]] if r.random() < 0.8 else ring

    def round(self, rings, digits):
        return [[[round(x, digits), round(y, digits)] for x, y in ring] for ring in rings]

    def shape(self, i):
        r = self.r
        lat, lng, size = self.where()
        kind = i % 8
        digits = r.choice((2, 3, 5, 7, 15)) if size > 0.05 else r.choice((7, 15))
        if kind == 0:
            return {"type": "Polygon", "coordinates": self.round([self.star(lat, lng, size)], digits)}
        if kind == 1:
            return {"type": "Polygon", "coordinates": self.round([self.star(lat, lng, size, 0.7, 21), self.star(lat, lng, 0.5 * size, 0.3)], digits)}
        if kind == 2:  # an area drawn on a grid, whose edges run along parallels and meridians
            w, h = r.randint(1, 5), r.randint(1, 5)
            step = size / 8
            k = max(0.02, math.cos(math.radians(lat)))
            x = [wrap(lng + step * i / k) for i in range(w + 3)]
            y = [lat + step * i for i in range(h + 3)]
            ring = [[x[0], y[0]], [x[-1], y[0]], [x[-1], y[1]], [x[1], y[1]], [x[1], y[-1]], [x[0], y[-1]], [x[0], y[0]]]
            return {"type": "Polygon", "coordinates": self.round([ring], max(digits, 5))}
        if kind == 3:  # a sliver
            a = r.uniform(0, math.pi)
            k = max(0.02, math.cos(math.radians(lat)))
            dx, dy, thin = size * math.cos(a), size * math.sin(a), size * 10 ** r.uniform(-6, -2)
            ends = [(-1, 0), (0.3 * r.random(), -thin / size), (1, 0), (0.2, thin / size)]
            ring = [[wrap(lng + (u * dx - v * dy) / k), lat + u * dy + v * dx] for u, v in ends]
            return {"type": "Polygon", "coordinates": self.round([ring + ring[:1]], 15)}
        if kind == 4:
            k = max(0.02, math.cos(math.radians(lat)))
            parts = [[self.star(lat, wrap(lng + d * 1.1 * size / k), 0.5 * size)] for d in (-1, 0, 1)]
            return {"type": "MultiPolygon", "coordinates": [self.round(p, digits) for p in parts]}
        if kind == 5:  # cut at the antimeridian
            half = min(size, 1.0)
            lat = max(-85, min(85, lat))
            east = [[180 - half, lat - half], [180, lat - half], [180, lat + half], [180 - half, lat + r.uniform(-0.5, 1) * half], [180 - half, lat - half]]
            west = [[-180, lat - half], [-180 + half, lat - 0.3 * half], [-180 + half, lat + half], [-180, lat + half], [-180, lat - half]]
            return {"type": "MultiPolygon", "coordinates": [self.round([east], 7), self.round([west], 7)]}
        if kind == 6:
            if r.random() < 0.1:
                lat = r.choice((-90, 90, 89.99999, -89.9))
            return {"type": "Circle", "center": [lng, lat], "radius_m": round(10 ** r.uniform(1, 5.6), 3)}
        k = max(0.02, math.cos(math.radians(lat)))
        line, x, y = [], lng, lat
        for _ in range(r.choice((2, 3, 9, 40))):
            line.append([wrap(x), max(-90, min(90, y))])
            x, y = x + r.gauss(0, size / 3) / k, y + r.gauss(0, size / 3)
        return {"type": "Corridor", "coordinates": line, "width_m": round(10 ** r.uniform(0.3, 4), 3)}


class Dice:
    """splitmix64, so that the Go test draws the same places and the file need not hold them."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & (2**64 - 1)
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
        return z ^ (z >> 31)

    def below(self, n):
        return self.next() % n

    def share(self):
        return (self.next() >> 11) * 2.0**-53


def places(shape, seed):
    """Places about a shape: anywhere near it, at corners, on edges or as near as numbers allow, and across the world."""
    dice = Dice(seed)
    if shape["type"] == "Circle":
        lng, lat = shape["center"]
        for n in range(PLACES):
            f, g = dice.share(), dice.share()
            d = 1.4 * f if n % 4 else 1 + (f - 0.5) * 10.0 ** -(n // 4 % 8 + 1)
            yield destination(lat, lng, 2 * math.pi * g, shape["radius_m"] * d)
        return
    if shape["type"] == "Corridor":
        line, half = shape["coordinates"], shape["width_m"] / 2
        for n in range(PLACES):
            i, f, g = dice.below(len(line) - 1), dice.share(), dice.share()
            a, b = vector(line[i][1], line[i][0]), vector(line[i + 1][1], line[i + 1][0])
            t = 1.2 * dice.share() - 0.1 if n % 2 else float(n // 2 % 2)
            v = a + t * (b - a)
            d = 1.5 * f if n % 4 else 1 + (f - 0.5) * 10.0 ** -(n // 4 % 6 + 1)
            yield destination(*latlng(v), 2 * math.pi * g, half * d)
        return
    rings = shape["coordinates"] if shape["type"] == "Polygon" else [ring for p in shape["coordinates"] for ring in p]
    edges = [(u[i], u[(i + 1) % len(u)]) for ring in rings for u in [unwrap(ring)] for i in range(len(u))]
    west, east = min(e[0][0] for e in edges), max(e[0][0] for e in edges)
    south, north = min(e[0][1] for e in edges), max(e[0][1] for e in edges)
    for n in range(PLACES):
        p, q = edges[dice.below(len(edges))]
        f, g, odd = dice.share(), dice.share(), dice.below(2) == 1
        kind = n % 8
        if kind < 3:
            x, y = west + f * (east - west), south + g * (north - south)
        elif kind == 3:
            x, y = p
        elif kind == 4:  # on the edge up to rounding, and quite so along parallels and meridians
            f = 0.5 if odd else f
            x, y = p[0] + f * (q[0] - p[0]), p[1] + f * (q[1] - p[1])
        elif kind == 5:  # the next number beside a place on the edge
            x, y = p[0] + f * (q[0] - p[0]), p[1] + f * (q[1] - p[1])
            x = math.nextafter(x, 1e9 if odd else -1e9)
        elif kind == 6:  # level with a corner, or above or below one
            x, y = (west + f * (east - west), p[1]) if odd else (p[0], south + g * (north - south))
        else:
            f = 3 * f - 1
            x, y = p[0] + f * (q[0] - p[0]), p[1] + f * (q[1] - p[1])
            x, y = math.floor(x * 1e7 + 0.5) / 1e7, math.floor(y * 1e7 + 0.5) / 1e7
        if n % 40 == 39:
            x, y = 360 * f - 180, 180 * g - 90
        yield max(-90.0, min(90.0, y)), wrap(x)


def latlng(v):
    return math.degrees(math.atan2(v[2], math.hypot(v[0], v[1]))), math.degrees(math.atan2(v[1], v[0]))


def destination(lat, lng, course, d):
    p = vector(lat, lng)
    east = np.array([-math.sin(math.radians(lng)), math.cos(math.radians(lng)), 0.0])
    north = np.cross(p, east)
    a = d / RADIUS
    v = math.cos(a) * p + math.sin(a) * (math.cos(course) * north + math.sin(course) * east)
    return latlng(v)


def judge(shape):
    """A function that says whether a place is in the shape: True, False, or None if it is too near to the edge to tell."""
    if shape["type"] in ("Polygon", "MultiPolygon"):
        parts = [polygon(p) for p in ([shape["coordinates"]] if shape["type"] == "Polygon" else shape["coordinates"])]
        if not all(p.is_valid and p.area > 0 for p in parts):
            return None
        for p in parts:
            shapely.prepare(p)
        return lambda lat, lng: any(p.covers(shapely.Point(lng + s, lat)) for p in parts for s in shifts(p, lng))
    if shape["type"] == "Circle":
        lng, lat = shape["center"]
        limit, far = shape["radius_m"], lambda a, o: distance(lat, lng, a, o)
    else:
        line = [vector(y, x) for x, y in shape["coordinates"]]
        if any(np.linalg.norm(a - b) * RADIUS < 1 for a, b in zip(line, line[1:])):
            return None
        limit = shape["width_m"] / 2
        far = lambda a, o: min(to_arc(vector(a, o), s, e) for s, e in zip(line, line[1:]))

    def answer(lat, lng):
        d = far(lat, lng)
        return None if abs(d - limit) < 1e-6 else d <= limit

    return answer


def golden():
    draw = Draw(20261120)
    kept, i = [], 0
    while len(kept) < SHAPES:
        shape = draw.shape(i)
        i += 1
        inside = judge(shape)
        if inside is None:
            continue
        seed = len(kept)
        answers = [inside(lat, lng) for lat, lng in places(shape, seed)]
        # A character for each place: 1 in, 0 out, - too near to tell.
        kept.append({"shape": shape, "in": "".join("-" if a is None else str(int(a)) for a in answers)})
    text = json.dumps({"shapely": shapely.__version__, "geos": shapely.geos_version_string, "cases": kept}, separators=(",", ":"))
    out = Path(__file__).parent / "golden.json.gz"
    out.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{len(kept)} shapes, {out.stat().st_size} bytes")


def recordings(fixes, districts):
    features = json.loads(Path(districts).read_text())["features"]
    points = np.loadtxt(fixes, ndmin=2)
    hits, invalid = [[] for _ in points], []
    for n, f in enumerate(features):
        g = f["geometry"]
        try:
            parts = [polygon(p) for p in ([g["coordinates"]] if g["type"] == "Polygon" else g["coordinates"])]
        except (ValueError, shapely.errors.GEOSException):
            parts = []
        if not parts or not all(p.is_valid and p.area > 0 for p in parts):
            invalid.append(n)
            continue
        covered = np.zeros(len(points), bool)
        for p in parts:
            shapely.prepare(p)
            covered |= shapely.covers(p, shapely.points(points[:, 1], points[:, 0]))
        for i in np.nonzero(covered)[0]:
            hits[i].append(n)
    print(*invalid)
    for h in hits:
        print(*h)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        recordings(sys.argv[1], sys.argv[2])
    else:
        golden()
