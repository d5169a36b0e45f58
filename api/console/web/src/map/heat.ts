import type { Feature, FeatureCollection, Polygon } from 'geojson';
import { answered, api, Failure } from '../lib/api';
import { number } from '../lib/format';
import { say } from '../lib/settings.svelte';

// Heat of a period of any length. The interface answers 31 days at most, so a longer one is asked for in parts, whose cells are added up.

export interface Cell {
	h3: string;
	lat: number;
	lng: number;
	fixes: number;
	vehicles: number;
	seconds: number;
}
export type Hexagons = FeatureCollection<Polygon, Cell>;
type Part = [from: number, until: number];

const longest = 31 * 86_400_000; // of a part
const atOnce = 2; // of an account's share of long requests, which its downloads have too
const most = 200_000; // cells, as the interface has it for one part

/** The parts of a period: always one at least, so that a period that is none is refused by the interface, in its words. */
export function partsOf(from: number, until: number): Part[] {
	const parts: Part[] = [];
	for (let at = from; at < until || parts.length === 0; at += longest) parts.push([at, Math.min(at + longest, until)]);
	return parts;
}

/**
 * The cells of all parts. Positions add up. So does time, but for at most 300 s of each vehicle where one part ends and the next
 * begins, as nothing counts for the last position of a part. Different vehicles do not add up: a cell has those of the part that
 * had most of them, which is the least that there were.
 */
export async function heatOf(parts: Part[], query: { resolution: number; vehicle_id?: string }, signal: AbortSignal, came: (parts: number) => void): Promise<Hexagons> {
	const sum = new Map<string, Feature<Polygon, Cell>>();
	let next = 0, done = 0;
	const ask = async () => {
		for (let part = parts[next++]; part; part = parts[next++]) {
			const span = { from: new Date(part[0]).toISOString(), until: new Date(part[1]).toISOString() };
			const asked = api.GET('/v1/heatmap', { params: { query: { ...query, ...span, format: 'geojson' } }, signal });
			const found = await answered(asked as Promise<{ data?: unknown; error?: unknown; response: Response }>);
			for (const hexagon of (found as Hexagons).features) {
				const cell = hexagon.properties, before = sum.get(cell.h3)?.properties;
				if (!before) sum.set(cell.h3, hexagon);
				else {
					before.fixes += cell.fixes;
					before.seconds += cell.seconds;
					before.vehicles = Math.max(before.vehicles, cell.vehicles);
				}
			}
			if (sum.size > most) throw new Failure(0, { detail: say('heatTooMany', { n: number(most) }) });
			came(++done);
		}
	};
	await Promise.all(Array.from({ length: atOnce }, ask));
	return { type: 'FeatureCollection', features: [...sum.values()] };
}
