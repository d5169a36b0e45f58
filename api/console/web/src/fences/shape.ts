import type { Feature, LineString, Polygon, Position } from 'geojson';
import type { Schemas } from '../lib/api';

// The shapes of fences, between what /v1 takes and what is drawn. A drawing has rings without any role: one that lies
// within another is a hole of it, and one within a hole is a part again. So polygons with holes, and of several parts,
// are drawn with rings alone.

export type Geometry = Schemas['Geometry'];
export type Form = 'polygon' | 'circle' | 'corridor';

/** What is drawn of a fence. Rings are open: their first position does not come again at the end. */
export type Drawing =
	| { form: 'polygon'; rings: Position[][] }
	| { form: 'circle'; center: Position | null; radius: number } // metres
	| { form: 'corridor'; line: Position[]; width: number };

export function emptyDrawing(form: Form): Drawing {
	if (form === 'polygon') return { form, rings: [] };
	return form === 'circle' ? { form, center: null, radius: 200 } : { form, line: [], width: 50 };
}

export function isEmpty(d: Drawing): boolean {
	if (d.form === 'polygon') return d.rings.length === 0;
	return d.form === 'circle' ? d.center === null : d.line.length < 2;
}

const open = (ring: Position[]) => {
	const [first, last] = [ring[0], ring[ring.length - 1]];
	return ring.length > 1 && first && last && first[0] === last[0] && first[1] === last[1] ? ring.slice(0, -1) : ring;
};
const flat = (at: Position): Position => [at[0] ?? 0, at[1] ?? 0];

export function drawingOf(g: Geometry): Drawing {
	if (g.type === 'Circle') return { form: 'circle', center: g.center ? flat(g.center) : null, radius: g.radius_m ?? 0 };
	if (g.type === 'Corridor') return { form: 'corridor', line: (g.coordinates as Position[]).map(flat), width: g.width_m ?? 0 };
	const polygons = g.type === 'Polygon' ? [g.coordinates as Position[][]] : (g.coordinates as Position[][][]);
	return { form: 'polygon', rings: polygons.flat().map((ring) => open(ring).map(flat)) };
}

/** What /v1 takes for a drawing; null while there is nothing. */
export function geometryOf(d: Drawing): Geometry | null {
	if (isEmpty(d)) return null;
	if (d.form === 'circle') return { type: 'Circle', center: d.center as number[], radius_m: d.radius };
	if (d.form === 'corridor') return { type: 'Corridor', coordinates: d.line, width_m: d.width };
	const polygons = partsOf(d.rings);
	const [first] = polygons;
	return polygons.length === 1 && first ? { type: 'Polygon', coordinates: first } : { type: 'MultiPolygon', coordinates: polygons };
}

/** The polygons that rings make: each an outer ring and its holes, all closed. */
export function partsOf(rings: Position[][]): Position[][][] {
	const all = rings.filter((ring) => ring.length >= 3).map((ring) => ({ ring, size: Math.abs(twiceArea(ring)), depth: 0, part: -1 }));
	all.sort((a, b) => b.size - a.size);
	const parts: Position[][][] = [];
	for (const [i, one] of all.entries()) {
		// The smallest of the larger ones around it is the one it lies in directly.
		const around = all.slice(0, i).reverse().find((other) => one.ring.every((at) => within(at, other.ring)));
		one.depth = around ? around.depth + 1 : 0;
		const closed = [...one.ring, one.ring[0] as Position];
		if (one.depth % 2 === 0 || !around) {
			one.part = parts.length;
			parts.push([closed]);
		} else {
			one.part = around.part;
			parts[around.part]?.push(closed);
		}
	}
	return parts;
}

function twiceArea(ring: Position[]): number {
	let sum = 0;
	ring.forEach(([x1 = 0, y1 = 0], i) => {
		const [x2 = 0, y2 = 0] = ring[(i + 1) % ring.length] ?? [];
		sum += x1 * y2 - x2 * y1;
	});
	return sum;
}

/** Whether a place lies within a ring, or on its edge. */
function within([x = 0, y = 0]: Position, ring: Position[]): boolean {
	let inside = false;
	for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
		const [x1 = 0, y1 = 0] = ring[i] ?? [], [x2 = 0, y2 = 0] = ring[j] ?? [];
		const side = (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1);
		if (side === 0 && Math.min(x1, x2) <= x && x <= Math.max(x1, x2) && Math.min(y1, y2) <= y && y <= Math.max(y1, y2)) return true;
		if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
	}
	return inside;
}

/** Which of some rings is the smallest around a place; -1 if none is. */
export function smallestAround(at: Position, rings: Position[][]): number {
	const size = (i: number) => Math.abs(twiceArea(rings[i] ?? []));
	const [first = -1] = [...rings.keys()].filter((i) => within(at, rings[i] ?? [])).sort((a, b) => size(a) - size(b));
	return first;
}

const earth = 6_371_008.8; // m
const radians = Math.PI / 180;

/** Metres between two places. */
export function metres([lng1 = 0, lat1 = 0]: Position, [lng2 = 0, lat2 = 0]: Position): number {
	const a = Math.sin(((lat2 - lat1) * radians) / 2) ** 2 +
		Math.cos(lat1 * radians) * Math.cos(lat2 * radians) * Math.sin(((lng2 - lng1) * radians) / 2) ** 2;
	return 2 * earth * Math.asin(Math.min(1, Math.sqrt(a)));
}

const corners = 64;

/** A circle as a ring, open. */
export function ringOf(center: Position, radius: number): Position[] {
	const [lng = 0, lat = 0] = center;
	const far = radius / earth, sin = Math.sin(lat * radians), cos = Math.cos(lat * radians);
	return Array.from({ length: corners }, (_, i) => {
		const course = (2 * Math.PI * i) / corners;
		const y = Math.asin(sin * Math.cos(far) + cos * Math.sin(far) * Math.cos(course));
		const x = Math.atan2(Math.sin(course) * Math.sin(far) * cos, Math.cos(far) - sin * Math.sin(y));
		return [rounded(lng + x / radians), rounded(y / radians)];
	});
}

/** The circle that a drawn ring is meant to be. */
export function circleOf(ring: Position[]): { center: Position; radius: number } {
	const lats = ring.map(([, lat = 0]) => lat), lngs = ring.map(([lng = 0]) => lng);
	const center = [rounded((Math.min(...lngs) + Math.max(...lngs)) / 2), rounded((Math.min(...lats) + Math.max(...lats)) / 2)];
	const radius = ring.reduce((sum, at) => sum + metres(center, at), 0) / Math.max(1, ring.length);
	return { center, radius: Math.max(1, Math.round(radius)) };
}

/** A coordinate to a centimetre, and so few digits that a drawing takes it. */
export const rounded = (degrees: number) => Math.round(degrees * 1e7) / 1e7;

/** How a shape is shown on a map: polygons, or for a corridor its line, with what makes a width of it in pixels. */
export function shown(g: Geometry, properties: Record<string, unknown>): Feature<Polygon | LineString>[] {
	const polygon = (coordinates: Position[][]): Feature<Polygon> => ({ type: 'Feature', properties, geometry: { type: 'Polygon', coordinates } });
	if (g.type === 'Circle') {
		const ring = g.center ? ringOf(g.center, g.radius_m ?? 0) : [];
		return ring.length ? [polygon([[...ring, ring[0] as Position]])] : [];
	}
	if (g.type === 'Corridor') {
		const line = (g.coordinates ?? []) as Position[];
		const [, lat = 0] = line[0] ?? [];
		// Pixels at zoom 0, where the Earth is 512 pixels around.
		const wide = ((g.width_m ?? 0) * 512) / (2 * Math.PI * earth * Math.cos(lat * radians));
		return line.length > 1 ? [{ type: 'Feature', properties: { ...properties, wide }, geometry: { type: 'LineString', coordinates: line } }] : [];
	}
	if (g.type === 'Polygon') return [polygon((g.coordinates ?? []) as Position[][])];
	return ((g.coordinates ?? []) as Position[][][]).map(polygon);
}

/** The places that a shape is drawn with, or that bound it. */
export function placesOf(g: Geometry): [number, number][] {
	return shown(g, {}).flatMap((f) => (f.geometry.type === 'Polygon' ? f.geometry.coordinates.flat() : f.geometry.coordinates))
		.map(([lng = 0, lat = 0]) => [lng, lat]);
}

/** Where the name of a shape stands; null if it has no places. */
export function middleOf(g: Geometry): Position | null {
	const places = placesOf(g);
	if (g.type === 'Corridor' || places.length === 0) return places[Math.floor(places.length / 2)] ?? null;
	const middle = (all: number[]) => (Math.min(...all) + Math.max(...all)) / 2;
	return [middle(places.map(([lng]) => lng)), middle(places.map(([, lat]) => lat))];
}

/** Places as people write them: a latitude and a longitude in each line, rings with an empty line between them. */
export function written(rings: Position[][]): string {
	return rings.map((ring) => ring.map(([lng, lat]) => `${lat}, ${lng}`).join('\n')).join('\n\n');
}

/** What somebody wrote as places; the number of the first line that is none, if there is one. */
export function placesIn(text: string): { rings: Position[][]; wrong: number } {
	const rings: Position[][] = [[]];
	for (const [i, raw] of text.split('\n').entries()) {
		const line = raw.trim();
		if (!line) {
			if (rings[rings.length - 1]?.length) rings.push([]);
			continue;
		}
		const found = /^(-?\d+(?:\.\d+)?)[,;\s]+(-?\d+(?:\.\d+)?)$/.exec(line);
		const [lat, lng] = [Number(found?.[1]), Number(found?.[2])];
		if (!found || Math.abs(lat) > 90 || Math.abs(lng) > 180) return { rings: [], wrong: i + 1 };
		rings[rings.length - 1]?.push([rounded(lng), rounded(lat)]);
	}
	return { rings: rings.filter((ring) => ring.length > 0), wrong: 0 };
}
